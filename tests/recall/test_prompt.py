"""What is told with a prompt: the nearest in full or by title, or nothing."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Briefing, Memory
from holdfast.domain.lesson import Provenance
from holdfast.recall.deliver import inject
from holdfast.recall.moments import own_words, shares_subject
from holdfast.testing.builders import START
from tests.recall.test_moments import PLAIN, briefed, deliver, keep, shown
from tests.recall.test_turn import QUEUE, told_before, turn_of

QUESTION = "why does the retry queue lose jobs at shutdown?"
PORTUGAL = "What is the capital of Portugal?"
NOTHING = "<system-reminder>" + "word " * 120 + "</system-reminder>"


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("short", "short"),
        ("  Implement the following plan: x", "  Implement the following plan: x"),
        ("[SYSTEM NOTIFICATION] " + "x" * 600, "[SYSTEM NOTIFICATION] " + "x" * 578),
        ("y" * 599, "y" * 599),
        ("why  so\nlong " + "word " * 120, " ".join(["why", "so", "long", *["word"] * 120])),
        ("Why? " + "\n" + NOTHING, "Why?"),
    ],
)
def test_a_prompt_is_about_what_a_person_typed_or_what_a_program_says_first(text: str, own: str) -> None:
    assert own_words(text) == own


def test_a_prompt_without_own_words_brings_nothing(memory: Memory) -> None:
    keep(memory, QUEUE, kind="constraint", trust="agent")
    assert deliver(memory, "prompt", prompt="  ").items == ()
    assert shown(deliver(memory, "prompt", prompt=QUESTION)) == [QUEUE]


@pytest.mark.parametrize(("kind", "is_told"), [("constraint", True), ("decision", True), ("exploration", False)])
def test_a_prompt_brings_kinds_that_are_delivered_at_prompts(memory: Memory, kind: str, is_told: bool) -> None:
    keep(memory, QUEUE, trust="agent", kind=kind)
    assert bool(deliver(memory, "prompt", prompt=QUESTION).items) is is_told


@pytest.mark.parametrize("others", [2, 29, 299])
def test_a_question_about_something_else_brings_nothing_however_many_lessons_there_are(
    memory: Memory, others: int
) -> None:
    rules = (
        f"Captain {number} charts basin number {number} by hand before the tide of month {number} sets in."
        for number in range(others)
    )
    for insight in (QUEUE, *rules):
        keep(memory, insight, kind="constraint", trust="agent")
    assert deliver(memory, "prompt", prompt=PORTUGAL) == Briefing(moment="prompt")


def test_a_question_brings_the_one_lesson_that_answers_it(memory: Memory) -> None:
    rule = memory.remember("remember that release tags are cut from stable")
    briefing = deliver(memory, "prompt", prompt="How do I cut a release tag?")
    assert [item.lesson.id for item in briefing.items] == [rule.id]


def of_queues(memory: Memory, count: int) -> None:
    for number in range(count):
        words = f"The retry queue {number} loses jobs of ledger {number} at shutdown when harbour {number} is closed."
        keep(memory, words, kind="constraint", trust="agent")


def test_a_later_prompt_brings_titles_and_in_full_what_clearly_leads(memory: Memory) -> None:
    of_queues(memory, 4)
    told_before(memory, "l1", 1, moment="prompt")
    titles = deliver(memory, "prompt", prompt=QUESTION)
    assert "- [" not in titles.text
    assert 0 < titles.tokens <= 100
    rule = "Dredge the basin at spring tide; the sluice gate jams in silt."
    keep(memory, rule, kind="constraint", trust="agent")
    briefing = deliver(memory, "prompt", prompt="the sluice gate of the basin jams in silt, why?")
    assert shown(briefing)[0] == rule
    assert rule in briefing.text
    assert briefing.tokens <= 100


def test_a_lesson_learnt_on_the_branch_is_nearer(memory: Memory) -> None:
    here = replace(memory.location, branch="topic/quay")
    keep(memory, "The retry queue loses jobs at shutdown, says ada.", kind="constraint", trust="agent")
    keep(
        memory, "The retry queue loses jobs at shutdown, says bob.", kind="constraint", trust="agent",
        provenance=Provenance(branch="topic/quay"),
    )  # fmt: skip
    briefing = inject(memory.services, here, turn_of(memory, prompt=QUESTION).call)
    assert shown(briefing)[0].endswith("bob.")


class Host:
    """A host that is told something at those moments."""

    def __init__(self, memory: Memory, *moments: Any) -> None:
        self.profile = replace(memory.services.host("claude-code").profile, moments=moments)


@pytest.mark.parametrize(
    ("moments", "earlier", "gets_brief"),
    [(("session_start", "prompt"), False, False), (("prompt",), False, True), (("prompt",), True, False)],
)
def test_a_host_without_a_start_is_shown_the_brief_with_its_first_prompt(
    memory: Memory, moments: tuple[str, ...], earlier: bool, gets_brief: bool
) -> None:
    services = replace(memory.services, host=lambda name: Host(memory, *moments))
    for number in range(3):
        keep(memory, f"Standing rule of captain {number} and all.", valid_from=START + timedelta(seconds=number))
    if earlier:
        told_before(memory, "l", 1, moment="before_file")
    briefing = inject(services, memory.location, turn_of(memory, prompt="go on").call)
    assert len(briefing.entries) == (3 if gets_brief else 0)
    assert briefing.moment == "prompt"


def test_after_a_brief_with_the_first_prompt_the_next_one_is_a_later_one(memory: Memory) -> None:
    services = replace(memory.services, host=lambda name: Host(memory, "prompt"))
    keep(memory, PLAIN)
    first = inject(services, memory.location, turn_of(memory, prompt="go on").call)
    assert briefed(memory, first) == [PLAIN]
    assert inject(services, memory.location, turn_of(memory, prompt="go on").call).text == ""


@pytest.mark.parametrize(
    ("prompt", "task", "goes_on"),
    [
        ("carry on", "dredge the basin at the quay in spring", True),
        ("Pick up where it stopped", "dredge", True),
        ("dredge basin quay", "dredge basin quay spring", True),
        ("dredge basin", "dredge basin quay spring", False),
        ("dredge basin", "dredge the basin", True),
        ("dredge", "dredge the basin", False),
        ("anything", "go up to it", False),
        ("go up to it", "go up to it", False),
    ],
)
def test_a_task_goes_on_by_three_of_its_telling_words_or_all_of_fewer(prompt: str, task: str, goes_on: bool) -> None:
    assert shares_subject(prompt, task) is goes_on
