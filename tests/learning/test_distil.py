"""What of a session is sent to a model, what it is shown of what is known, and what is told of the answer."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.vocabulary import SessionId
from holdfast.learning.distillation.distil import DistilReport, distil, prepare
from holdfast.ports.model import Completion
from holdfast.testing.builders import make_event, make_lesson
from tests.learning.test_distillation import CAUSE, Scripted, lesson, story, worth


def distilled(memory: Memory, model: Any, session: str = "s1") -> DistilReport:
    return distil(memory.services, memory.location, SessionId(session), model, worth)


class Timed(Scripted):
    """Keeps how long it may take."""

    timeout_s = 0.0

    def complete(self, prompt: str, timeout_s: float) -> Completion:
        self.timeout_s = timeout_s
        completion = super().complete(prompt, timeout_s)
        return Completion(text=completion.text, input_tokens=7, output_tokens=8, cost_usd=0.5)


@pytest.mark.parametrize(
    ("kinds", "is_sent"), [(("reply", "reply"), True), (("reply", "prompt", "prompt"), False), ((), False)]
)
def test_a_session_of_two_replies_is_sent(memory: Memory, kinds: tuple[str, ...], is_sent: bool) -> None:
    events = [make_event(session="s1", kind=kind, text=f"words {n}", project="", cwd=memory.folder, trust="agent")
              for n, kind in enumerate(kinds)]  # fmt: skip
    memory.append(events)
    model = Scripted({"lessons": []})
    report = distilled(memory, model)
    assert (len(model.prompts), report.skipped) == ((1, "") if is_sent else (0, "too short"))


def test_a_report_tells_what_was_proposed_and_what_it_cost(memory: Memory) -> None:
    memory.append(story())
    model = Timed({"lessons": [
        lesson(), lesson(quote="words that nobody said"),
        lesson(lesson="The ledger adds whole cents, never floats.", known={"relation": "repeats", "id": "K1"}),
    ]})  # fmt: skip
    memory.remember("Never use floats in the ledger: it adds cents")
    report = distilled(memory, model)
    assert model.timeout_s == 180.0
    assert (report.proposed, len(report.active), report.merged, report.skipped) == (3, 1, 0, "")
    assert report.dropped == ("the quote does not occur in the session", "the lesson is already known")
    assert (report.model, report.input_tokens, report.output_tokens, report.cost_usd) == ("scripted", 7, 8, 0.5)
    assert distilled(memory, Scripted({"lessons": []})) == DistilReport(
        model="scripted", input_tokens=100, output_tokens=10
    )
    assert DistilReport() == DistilReport(proposed=0, merged=0, input_tokens=0, output_tokens=0, cost_usd=None)


def test_a_link_that_refines_a_known_lesson_is_no_repetition(memory: Memory) -> None:
    memory.append(story())
    memory.remember("Never use floats in the ledger: it adds cents")
    refining = lesson(
        lesson="Amounts are whole cents in the ledger, always.", known={"relation": "refines", "id": "K1"}
    )
    report = distilled(memory, Scripted({"lessons": [refining]}))
    assert report.dropped == ()
    assert len(report.active) + len(report.waiting) + report.merged == 1


def test_known_lessons_are_active_ones_of_two_shared_words_most_first_then_by_id(memory: Memory) -> None:
    rules = {
        "three": ("Split the bill of guests.", "active"),
        "two": ("A bill has guests.", "active"),
        "other": ("The guests pay the bill.", "active"),
        "alone": ("Split wood.", "active"),
        "waiting": ("Split the bill of all guests.", "candidate"),
    }
    ids = {name: f"0000000{n}-0000-7000-8000-000000000000" for n, name in enumerate(("other", "two", "three", "alone",
                                                                                     "waiting"))}  # fmt: skip
    lessons = [
        make_lesson(id=ids[name], project=memory.location.project.id, insight=insight, state=state)
        for name, (insight, state) in rules.items()
    ]
    memory.services.store.put(lessons, {})
    _, known, prompt = prepare(memory.services, memory.location, story(), worth)
    assert [each.insight for each in known] == [rules[name][0] for name in ("three", "other", "two")]
    assert "K1: Split the bill of guests." in prompt
    assert CAUSE in prompt
