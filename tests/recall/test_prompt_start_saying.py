"""What is told with a prompt and at a session's start, and what the session has said already."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Provenance
from holdfast.domain.project import Person
from holdfast.domain.records import Outcome
from holdfast.domain.vocabulary import SessionId
from holdfast.lean.records import replace
from holdfast.recall.inject import inject
from holdfast.recall.moments.prompt import own_words
from holdfast.recall.moments.saying import says_already
from holdfast.recall.moments.task import shares_subject
from holdfast.testing.builders import START, make_checkpoint, make_lesson
from tests.recall.test_moments import PLAIN, TESTS, deliver, happened, keep, shown
from tests.recall.test_turn import QUEUE, told_before, turn_of

QUESTION = "why does the retry queue lose jobs at shutdown?"


# With a prompt


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("short", "short"),
        ("  Implement the following plan: x", ""),
        ("[SYSTEM NOTIFICATION] x", ""),
        ("y" * 599, "y" * 599),
        ("why  so\nlong " + "word " * 120, " ".join(["why", "so", "long", *["word"] * 120])),
        ("<system-reminder>" + "word " * 120 + "</system-reminder>", ""),
        ("Why? " + "\n<system-reminder>" + "word " * 120 + "</system-reminder>", "Why?"),
    ],
)
def test_the_words_of_a_prompt_are_what_a_person_typed(text: str, own: str) -> None:
    assert own_words(text) == own


def test_a_prompt_without_own_words_brings_nothing(memory: Memory) -> None:
    keep(memory, QUEUE, kind="constraint", trust="agent")
    assert deliver(memory, "prompt", prompt="  ").items == ()
    assert shown(deliver(memory, "prompt", prompt=QUESTION)) == [QUEUE]


@pytest.mark.parametrize(
    ("fields", "is_told"),
    [({"kind": "constraint"}, True), ({"kind": "exploration"}, False), ({"kind": "exploration", "pinned": True}, True)],
)
def test_a_prompt_brings_kinds_that_are_told_at_prompts_and_pinned_lessons(
    memory: Memory, fields: dict[str, Any], is_told: bool
) -> None:
    keep(memory, QUEUE, trust="agent", **fields)
    assert bool(deliver(memory, "prompt", prompt=QUESTION).items) is is_told


@pytest.mark.parametrize(("told_lines", "lines"), [(4, 2), (5, 1), (6, 0)])
def test_prompts_of_a_session_bring_six_lessons_and_the_last_alone(memory: Memory, told_lines: int, lines: int) -> None:
    for n in range(40):
        keep(memory, f"Captain {n} charts basin number {n} by hand.", kind="constraint", trust="agent")
    keep(memory, "Drain the retry queue before shutdown; pending ledger jobs vanish.", kind="constraint", trust="agent")
    keep(
        memory, "A retry queue keeps its ledger jobs in order; shutdown flushes pending writes.", kind="decision",
        trust="agent",
    )  # fmt: skip
    for number in range(told_lines):
        told_before(memory, f"l{number}", number, moment="prompt")
    asked_for = "why do pending ledger jobs vanish from the retry queue at shutdown?"
    assert len(deliver(memory, "prompt", prompt=asked_for).items) == lines


class Host:
    """A host that is told something at those moments."""

    def __init__(self, memory: Memory, *moments: Any) -> None:
        self.profile = replace(memory.services.host("claude-code").profile, moments=moments)


@pytest.mark.parametrize(
    ("moments", "earlier", "count"),
    [(("session_start", "prompt"), False, 0), (("prompt",), False, 2), (("prompt",), True, 0)],
)
def test_a_host_without_a_start_is_told_two_standing_rules_with_its_first_prompt(
    memory: Memory, moments: tuple[str, ...], earlier: bool, count: int
) -> None:
    services = replace(memory.services, host=lambda name: Host(memory, *moments))
    for number in range(3):
        keep(memory, f"Standing rule of captain {number} and all.", valid_from=START + timedelta(seconds=number))
    if earlier:
        told_before(memory, "l", 1, moment="before_file")
    briefing = inject(services, memory.location, turn_of(memory, prompt="go on").call)
    assert len(briefing.items) == count


# At a session's start


def needed(memory: Memory, lesson: str, verdicts: tuple[Any, ...]) -> None:
    for n, verdict in enumerate(verdicts):
        memory.services.store.record([Outcome(
            id=f"{lesson}{n}", at=START, project=memory.location.project.id, session=SessionId(f"earlier{n}"),
            lesson=lesson, verdict=verdict,  # type: ignore[arg-type]
        )])  # fmt: skip


@pytest.mark.parametrize(
    ("verdicts", "is_first"),
    [
        (("heeded", "heeded", "heeded"), True),
        (("helped", "heeded", "helped"), True),
        (("heeded", "heeded"), False),
        (("heeded", "ignored", "helped"), False),
    ],
)
def test_a_rule_that_three_sessions_heeded_or_were_helped_by_goes_first(
    memory: Memory, verdicts: tuple[str, ...], is_first: bool
) -> None:
    keep(memory, PLAIN)
    young = keep(memory, "Ask before you rename.", recorded_at=START + timedelta(days=1))
    needed(memory, young.id, verdicts)
    assert (shown(deliver(memory, "session_start"))[0] == young.insight) is is_first


def test_of_rules_that_were_needed_the_one_of_more_sessions_goes_first(memory: Memory) -> None:
    first = keep(memory, PLAIN)
    second = keep(memory, "Ask before you rename.", recorded_at=START + timedelta(days=1))
    needed(memory, first.id, ("heeded",) * 3)
    needed(memory, second.id, ("heeded",) * 4)
    assert shown(deliver(memory, "session_start")) == [second.insight, PLAIN]


@pytest.mark.parametrize(
    ("kind", "stated_by", "present", "is_last"),
    [
        ("preference", "a", "b", True),
        ("preference", "a", "a", False),
        ("preference", "a", "", False),
        ("preference", "", "b", False),
        ("convention", "a", "b", False),
    ],
)
def test_another_persons_taste_is_told_behind_ones_own(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, kind: str, stated_by: str, present: str, is_last: bool
) -> None:
    monkeypatch.setattr(type(memory.services.workspace), "person", lambda workspace, place: Person(id=present))
    keep(memory, "Write plain sentences.", kind=kind, provenance=Provenance(person=stated_by))
    keep(memory, "Ask before you rename.", recorded_at=START + timedelta(days=1), provenance=Provenance(person=present))
    assert (shown(deliver(memory, "session_start"))[1] == "Write plain sentences.") is is_last


def test_who_is_there_is_asked_only_where_a_rule_names_a_person(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked_of: list[object] = []

    def person(workspace: object, place: object) -> Person:
        asked_of.append(place)
        return Person(id="b")

    monkeypatch.setattr(type(memory.services.workspace), "person", person)
    keep(memory, PLAIN)
    deliver(memory, "session_start")
    assert asked_of == []
    keep(memory, "Ask before you rename.", provenance=Provenance(person="a"))
    deliver(memory, "session_start", session="s2")
    assert len(asked_of) == 1


def test_a_group_is_one_line_at_the_start_and_two_groups_are_two(memory: Memory) -> None:
    keep(memory, TESTS)
    keep(memory, "New functionality is expected to come with tests.", recorded_at=START + timedelta(days=1))
    keep(memory, PLAIN, recorded_at=START + timedelta(days=2))
    assert shown(deliver(memory, "session_start")) == [TESTS, PLAIN]


def test_a_restored_task_brings_one_lesson_about_its_files_and_counts_the_rest(memory: Memory) -> None:
    task = make_checkpoint(
        project=memory.location.project.id, session=SessionId("s0"), at=memory.services.clock.now(),
        goal="chart the basin",
        files=("src/tides.py",),
    )  # fmt: skip
    memory.services.store.record([task])
    about = {"kind": "constraint", "trust": "agent"}
    keep(memory, "Tides are read at noon.", path="src/tides.py", **about)
    keep(memory, "Tides are kept in centimetres.", path="src/tides.py", **about)
    elsewhere = keep(memory, "Chart the basin by hand.", path="src/other.py", **about)
    briefing = deliver(memory, "session_start")
    assert len(briefing.items) == 1
    assert briefing.items[0].lesson.id != elsewhere.id
    assert briefing.items[0].why.words == "about a file of the task"
    assert briefing.more == 2
    assert deliver(memory, "after_compaction").more == 0


# What was said

RULE = "Harbour pilots announce every lighthouse beacon before sunset."
FOUR = "Harbour pilots announce beacons."


@pytest.mark.parametrize(
    ("insight", "prompt", "is_said"),
    [
        (RULE, RULE, True),
        (FOUR, FOUR, True),
        ("Harbour pilots announce.", "Harbour pilots announce.", False),
        ("Harbour pilots go up at it in an announce.", "Harbour pilots go up at it in an announce.", False),
        (RULE, f"first\nsecond\nthird\n{RULE}", True),
        (RULE, "harbour pilots\n\nannounce lighthouse\n\nbeacon sunset", True),
        (RULE, RULE.replace(".", "?"), False),
        (RULE, f"Is it so?\n{RULE}", True),
        ("Harbour pilots announce beacons at sunset.", "harbour pilots announce beacons", True),
        ("Harbour pilots announce beacons at sunset.", "harbour pilots announce", False),
        (RULE, "", False),
    ],
)
def test_a_session_has_said_a_rule_of_four_words_by_four_fifths_of_them(
    memory: Memory, insight: str, prompt: str, is_said: bool
) -> None:
    assert says_already(turn_of(memory, prompt=prompt), make_lesson(insight=insight)) is is_said


@pytest.mark.parametrize(("kind", "is_said"), [("prompt", True), ("reply", True), ("tool_result", False)])
def test_prompts_and_replies_say_and_tools_do_not(memory: Memory, kind: str, is_said: bool) -> None:
    happened(memory, kind, text=RULE)
    assert says_already(turn_of(memory), make_lesson(insight=RULE)) is is_said


def test_a_rules_file_says_a_rule_in_any_of_the_files_that_hosts_read(memory: Memory, project: Path) -> None:
    lesson = make_lesson(insight=RULE)
    (project / "CLAUDE.md").write_text(f"# Rules\n\n- {RULE}\n")
    assert says_already(turn_of(memory), lesson)
    (project / "CLAUDE.md").write_text("")
    (project / "NOTES.md").write_text(RULE)
    assert not says_already(turn_of(memory), lesson)


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
