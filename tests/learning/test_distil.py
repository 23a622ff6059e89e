"""What of a session is sent to a model, what it is shown of what is known, and what is told of the answer."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.vocabulary import SessionId
from holdfast.learning.distil import DistilReport, distil
from holdfast.ports.plugins import Completion
from holdfast.rendering.lines import source_word
from holdfast.testing.builders import make_event
from tests.learning.test_distillation import CAUSE, Scripted, lesson, story

RULE_QUOTE = "don't use floats for money"
AGENTS_QUOTE = "`make migrate` needs the database to be up first"


def distilled(memory: Memory, model: Any, session: str = "s1") -> DistilReport:
    return distil(memory.services, memory.location, SessionId(session), model)


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


@pytest.mark.parametrize(
    ("relation", "earlier", "trust", "quote", "state"),
    [
        ("refines", "The ledger counts the bill in cents", "agent", RULE_QUOTE, "superseded"),
        ("refines", "The ledger of 3 guests counts the bill in cents", "agent", RULE_QUOTE, "active"),
        ("refutes", "The ledger of 3 guests counts the bill in floats", "agent", RULE_QUOTE, "superseded"),
        ("refutes", "The ledger counts the bill in floats", "person", RULE_QUOTE, "superseded"),
        ("refutes", "The ledger counts the bill in floats", "person", AGENTS_QUOTE, "active"),
        ("refines", "The ledger counts the bill in cents", "person", AGENTS_QUOTE, "active"),
    ],
)
def test_a_later_lesson_closes_the_one_it_replaces_unless_that_loses_something_or_a_person_stated_it(
    memory: Memory, relation: str, earlier: str, trust: Any, quote: str, state: str
) -> None:
    memory.append(story())
    known = memory.remember(earlier, trust=trust)
    later = lesson(
        lesson="The ledger counts the bill in whole cents.", quote=quote, known={"relation": relation, "id": "K1"}
    )
    report = distilled(memory, Scripted({"lessons": [later]}))
    assert memory.get(known.id).state == state
    is_disputed = relation == "refutes" and state == "active"
    assert (len(report.active), len(report.waiting)) == ((0, 1) if is_disputed else (1, 0))
    [new] = [memory.get(id_) for id_ in (*report.active, *report.waiting)]
    kind = "supersedes" if state == "superseded" else "contradicts" if is_disputed else "refines"
    assert [(link.kind, link.target) for link in new.links] == [(kind, known.id)]


def test_an_idea_is_marked_as_floated_and_the_person_who_stated_it_is_its_source(memory: Memory) -> None:
    memory.append(story())
    floated = lesson(status="floated", kind="decision")
    decided = lesson(lesson=CAUSE, title="", quote=AGENTS_QUOTE, status="decided", kind="tooling")
    report = distilled(memory, Scripted({"lessons": [floated, decided]}))
    by_tags = {memory.get(id_).tags: memory.get(id_) for id_ in report.active}
    assert set(by_tags) == {("floated",), ()}
    assert [source_word(by_tags[tags]) for tags in (("floated",), ())] == ["from user", "agent"]
