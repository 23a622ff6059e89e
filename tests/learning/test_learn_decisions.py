"""What learning decides on once, what it closes again, and what it counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.bootstrap import Memory
from holdfast.domain.candidate import Candidate, CommandRuns
from holdfast.domain.event import Event
from holdfast.domain.lesson import Evidence, Lesson
from holdfast.domain.statefamilies import DECIDED, LEARNING_BEGUN, LEARNING_SET_ASIDE
from holdfast.domain.vocabulary import STATES, EventId, SessionId
from holdfast.learning.learn import LearnReport, admit_from, learn
from holdfast.testing.builders import START, make_event
from tests.learning.test_learn import ONE, RULE, TWO, Says, admitted, all_lessons, make_candidate, say, use


@pytest.fixture
def memory(home: Path, tmp_path: Path) -> Iterator[Memory]:
    folder = tmp_path / "app"
    folder.mkdir()
    with Memory(str(folder)) as opened:
        yield opened


class Proposes:
    """A detector that proposes what the test says, and keeps what it was shown."""

    id = "proposes/1"

    def __init__(self, *candidates: Candidate) -> None:
        self.candidates = list(candidates)
        self.window: Sequence[Event] = ()

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        self.window = window
        return self.candidates


def spanning(start: int, end: int, insight: str, event: str = "e1", detector: str = "proposes/1") -> Candidate:
    span = Evidence(event=EventId(event), quote="x", start=start, end=end)
    return make_candidate(insight=insight, evidence=(span,), detector=detector, files=())


FIRST, SECOND = "The berths of the harbour open at dawn", "The pilots of the harbour meet every ferry"


@pytest.mark.parametrize(
    ("first", "second", "is_new"),
    [
        ((0, 10), (10, 20), True),
        ((10, 20), (0, 10), True),
        ((0, 10), (9, 20), False),
        ((9, 20), (0, 10), False),
        ((0, 10), (2, 4), False),
        ((5, 5), (5, 9), False),
        ((5, 9), (5, 5), False),
        ((5, 5), (6, 9), True),
        ((3, 9), (1, 4), False),
        ((3, 9), (1, 3), True),
    ],
)
def test_what_overlaps_words_that_were_decided_on_is_not_decided_on_again(
    memory: Memory, first: tuple[int, int], second: tuple[int, int], is_new: bool
) -> None:
    say(memory, ONE, "x" * 40)
    use(memory, Proposes(spanning(*first, FIRST)))
    assert memory.learn(ONE).admitted == 1
    use(memory, Proposes(spanning(*second, SECOND)))
    assert memory.learn(ONE).admitted == is_new


@pytest.mark.parametrize(
    ("over", "is_new"),
    [
        ({}, False),
        ({"detector": "proposes/2"}, False),
        ({"detector": "other/1"}, True),
        ({"event": "e2"}, True),
    ],
)
def test_a_decision_is_one_of_a_detector_of_any_version_and_of_an_event(
    memory: Memory, over: dict[str, str], is_new: bool
) -> None:
    say(memory, ONE, "x" * 40)
    use(memory, Proposes(spanning(0, 9, FIRST)))
    memory.learn(ONE)
    use(memory, Proposes(spanning(0, 9, SECOND, **over)))
    report = memory.learn(ONE)
    assert (report.admitted, report.found) == (is_new, 1)


def test_what_rests_on_nothing_is_decided_on_once_by_its_words(memory: Memory) -> None:
    say(memory, ONE, "x")
    use(memory, Proposes(make_candidate(insight=FIRST, evidence=()), make_candidate(insight=SECOND, evidence=())))
    assert memory.learn(ONE).admitted == 2
    for lesson in memory.inbox():
        memory.purge(lesson.id)
    assert memory.learn(ONE).admitted == 0


def test_the_first_of_the_quotes_decides(memory: Memory) -> None:
    say(memory, ONE, "x")
    both = spanning(0, 9, FIRST).evidence + spanning(0, 9, FIRST, "e2").evidence
    use(memory, Proposes(make_candidate(insight=FIRST, evidence=both, detector="proposes/1")))
    memory.learn(ONE)
    use(memory, Proposes(spanning(0, 9, SECOND, "e2")))
    assert memory.learn(ONE).admitted == 1


@pytest.mark.parametrize("damage", ["d", "d:1", "d:1:x", "d:x:1", "d:\u00b2:1", "d:1:2:3", ":::"])
def test_damaged_entries_of_what_was_decided_are_left_out_and_stay_where_nothing_is_new(
    memory: Memory, damage: str
) -> None:
    say(memory, ONE, "x")
    use(memory, Proposes(spanning(0, 9, FIRST)))
    memory.learn(ONE)
    damaged = f"{damage} {memory.services.store.get_state(DECIDED, ONE)}"
    memory.services.store.set_state(DECIDED, ONE, damaged)
    assert memory.learn(ONE).admitted == 0
    assert memory.services.store.get_state(DECIDED, ONE) == damaged


def happened(memory: Memory, kind: str, text: str, **fields: Any) -> None:
    minutes = fields.pop("minutes", 0)
    event = make_event(
        kind=kind, text=text, project="", cwd=memory.folder, at=START + timedelta(minutes=minutes),
        **{"session": ONE, "trust": "person" if kind == "prompt" else "agent", **fields},
    )  # fmt: skip
    memory.append([event])


# What detectors see and how they are heard


def test_prompts_of_a_transcript_in_a_repository_read_like_a_persons_and_replies_do_not(memory: Memory) -> None:
    detector = Proposes()
    use(memory, detector)
    happened(memory, "prompt", "one", trust="repository")
    happened(memory, "reply", "two", trust="repository", minutes=1)
    happened(memory, "prompt", "three", trust="tool", minutes=2)
    happened(memory, "reply", "four", trust="agent", minutes=3)
    memory.learn(ONE)
    assert [event.trust for event in detector.window] == ["person", "repository", "tool", "agent"]


def test_commands_are_reported_as_admitted_and_then_as_merged(memory: Memory) -> None:
    runs = CommandRuns(purpose="test", line="pytest", passed=2)
    card = make_candidate(kind="tooling", topic_key="commands/test", runs=runs, evidence=())
    use(memory, Proposes(card))
    say(memory, ONE, "x")
    say(memory, TWO, "x")
    first, second = memory.learn(ONE), memory.learn(TWO)
    assert (first.found, first.admitted, first.merged, len(first.active)) == (1, 1, 0, 1)
    assert (second.found, second.admitted, second.merged, second.active) == (1, 0, 1, first.active)
    assert first.lessons == first.active


def test_a_report_tells_every_lesson_written_the_active_ones_first(memory: Memory) -> None:
    report = admitted(
        memory, make_candidate(insight=FIRST), make_candidate(insight=SECOND, explicit=True, trust="person")
    )
    [waiting] = memory.inbox()
    [active] = memory.lessons()
    assert (report.active, report.waiting) == ((active.id,), (waiting.id,))
    assert report.lessons == (active.id, waiting.id)


def test_a_lesson_names_the_host_that_the_session_ended_in(memory: Memory) -> None:
    events = [make_event(host="claude-code"), make_event(host="codex")]
    admit_from(memory.services, memory.location, [make_candidate(insight=FIRST)], ONE, events)
    use(memory, Says())
    happened(memory, "prompt", SECOND, host="claude-code")
    happened(memory, "prompt", "Later.", host="codex", minutes=1)
    memory.learn(ONE)
    assert {lesson.provenance.host for lesson in all_lessons(memory)} == {"codex"}


# Sessions that wait


def test_a_session_that_was_begun_once_and_did_not_end_is_tried_once_more(memory: Memory) -> None:
    use(memory, Says())
    say(memory, ONE, RULE)
    memory.services.store.set_state(LEARNING_BEGUN, "", f"{ONE} 1")
    assert memory.learn_pending().admitted == 1
    assert memory.services.store.get_state(LEARNING_BEGUN) == ""


@pytest.mark.parametrize(("begun", "is_set_aside"), [(f"{ONE} 2", True), (f"{TWO} 2", False), (f"{ONE} 1", False)])
def test_a_session_is_set_aside_after_two_attempts_of_its_own(memory: Memory, begun: str, is_set_aside: bool) -> None:
    use(memory, Says())
    say(memory, ONE, RULE)
    memory.services.store.set_state(LEARNING_SET_ASIDE, "", "\n".join(f"old-{n}" for n in range(100)))
    memory.services.store.set_state(LEARNING_BEGUN, "", begun)
    report = memory.learn_pending()
    assert (report.admitted, bool(report.failed)) == (not is_set_aside, is_set_aside)
    names = memory.services.store.get_state(LEARNING_SET_ASIDE).split("\n")
    assert (ONE in names, len(names)) == (is_set_aside, 100)
    assert names[0] == ("old-1" if is_set_aside else "old-0")


def test_a_session_of_another_project_in_this_folder_is_passed_over(memory: Memory) -> None:
    use(memory, Says())
    elsewhere = make_event(session=TWO, text=FIRST, project="another", cwd=memory.folder, trust="person")
    here = make_event(session=ONE, text=SECOND, project=memory.location.project.id, cwd=memory.folder, trust="person")
    memory.services.store.append_events([elsewhere, here])
    assert memory.learn_pending().admitted == 1
    assert [lesson.insight for lesson in memory.lessons(states=STATES)] == [SECOND]


def test_an_unknown_session_tells_which_detectors_failed_and_nothing_else(memory: Memory) -> None:
    use(memory, Proposes(spanning(0, 9, FIRST)))
    assert learn(memory.services, memory.location, SessionId("never")) == LearnReport()


def test_lessons_of_a_report_are_summed_over_sessions(memory: Memory) -> None:
    use(memory, Says())
    say(memory, ONE, FIRST)
    say(memory, TWO, FIRST, SECOND)
    report = memory.learn_pending()
    assert (report.found, report.admitted, report.merged, report.failed) == (3, 2, 1, ())
    lessons: list[Lesson] = memory.inbox()
    assert set(report.waiting) | set(report.active) >= {replace(lesson).id for lesson in lessons}
