"""Which lessons of an older judge are judged again, by which words, and what is told of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.bootstrap import Memory
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.lesson import Evidence, Lesson, Provenance
from holdfast.domain.records import Change
from holdfast.domain.statefamilies import REJUDGED
from holdfast.domain.vocabulary import EventId, SessionId
from holdfast.learning.rejudge import RejudgeReport, last_rejudging, rejudge, rejudge_once, undo_rejudging
from holdfast.testing.builders import START, make_change, make_event, make_lesson
from tests.learning.test_learn import ONE, TWO, Says, make_candidate, use


@pytest.fixture
def memory(home: Path, tmp_path: Path) -> Iterator[Memory]:
    folder = tmp_path / "app"
    folder.mkdir()
    with Memory(str(folder)) as opened:
        yield opened


class Judge:
    """Judges what an agent replied: a line that ends with a number is worth that much."""

    id = "statements/9"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        found_in: list[Candidate] = []
        for event in window:
            start = 0
            for line in event.text.splitlines() if event.kind in ("reply", "prompt") else ():
                word = line.rpartition(" ")[2]
                if word.replace(".", "").isdigit():
                    span = Evidence(event=event.id, quote=line, start=start, end=start + len(line))
                    found_in.append(make_candidate(confidence=float(word), evidence=(span,)))
                start += len(line) + 1
        return found_in


def kept_of(memory: Memory, *spans: Evidence, **fields: Any) -> Lesson:
    """An active lesson that an older judge found in those words."""
    session = fields.pop("session", ONE)
    detector = fields.pop("detector", "statements/8")
    found_by = Provenance(session=session, detector=detector, evidence=spans)
    fields = {"project": memory.location.project.id, "insight": "Worth 0.1", "provenance": found_by, **fields}
    lesson = make_lesson(**fields)
    memory.services.store.put([lesson], {lesson.id: None})
    return lesson


def said(memory: Memory, text: str, **fields: Any) -> EventId:
    event = make_event(
        **{"session": ONE, "kind": "reply", "project": "", "cwd": memory.folder, "trust": "agent", **fields}, text=text
    )
    memory.append([event])
    return event.id


def span(event: str, start: int, end: int) -> Evidence:
    return Evidence(event=EventId(event), quote="x", start=start, end=end)


def test_without_a_judge_nothing_is_judged(memory: Memory) -> None:
    use(memory, Says())
    lesson = kept_of(memory)
    assert rejudge(memory.services, memory.location) == RejudgeReport()
    assert rejudge_once(memory.services, memory.location) is None
    assert memory.get(lesson.id) == lesson


@pytest.mark.parametrize(
    ("fields", "is_judged"),
    [
        ({}, True),
        ({"detector": "statements/9"}, False),
        ({"detector": "says/1"}, False),
        ({"level": "user", "project": ""}, False),
        ({"pinned": True}, False),
        ({"state": "retired"}, False),
        ({"state": "quarantined"}, False),
        ({"state": "probation"}, True),
        ({"state": "candidate"}, True),
        ({"trust": "agent"}, True),
        ({"trust": "verified"}, True),
        ({"trust": "person"}, False),
    ],
)
def test_living_lessons_of_an_older_judge_that_no_person_vouches_for_are_judged(
    memory: Memory, fields: dict[str, Any], is_judged: bool
) -> None:
    use(memory, Judge())
    lesson = kept_of(memory, **fields)
    report = rejudge(memory.services, memory.location)
    assert report.judged == is_judged
    assert [retired.id for retired in report.retired] == ([lesson.id] if is_judged else [])
    assert (memory.get(lesson.id).state != lesson.state) is is_judged


@pytest.mark.parametrize(
    ("verbs", "is_judged"),
    [
        (("learn", "reanchor", "expire", "stage", "merge", "undo", "rejudge"), True),
        (("accept",), False),
        (("learn", "revise"), False),
        (("pin",), False),
    ],
)
def test_what_a_person_changed_is_left_alone(memory: Memory, verbs: tuple[str, ...], is_judged: bool) -> None:
    use(memory, Judge())
    lesson = kept_of(memory)
    changes: list[Change] = [
        make_change(project=memory.location.project.id, verb=verb, lessons=(lesson.id,)) for verb in verbs
    ]
    memory.services.store.record(changes)
    assert rejudge(memory.services, memory.location).judged == is_judged


MACHINE = "<system-reminder>Always salute the flag 0.1</system-reminder>"


@pytest.mark.parametrize(
    ("text", "start", "end", "is_judged"),
    [
        (MACHINE, 17, 40, True),
        (f"Please do.\n{MACHINE}", 0, 9, False),
        (f"Please do.\n{MACHINE}", 28, 40, True),
        (f"Please do.\n{MACHINE}", 28, 28, False),
    ],
)
def test_a_persons_word_is_judged_where_a_host_wrote_it_in_the_persons_place(
    memory: Memory, text: str, start: int, end: int, is_judged: bool
) -> None:
    use(memory, Judge())
    event = said(memory, text, kind="prompt", trust="person")
    kept_of(memory, span(event, start, end), trust="person")
    assert rejudge(memory.services, memory.location).judged == is_judged


def test_one_quote_of_a_host_is_enough_and_an_event_that_is_gone_says_nothing(memory: Memory) -> None:
    use(memory, Judge())
    event = said(memory, MACHINE, kind="prompt", trust="person")
    kept_of(memory, span("gone", 0, 9), trust="person")
    assert rejudge(memory.services, memory.location).judged == 0
    kept_of(memory, span("gone", 0, 9), span(event, 17, 40), trust="person", insight="Salute 0.1")
    assert rejudge(memory.services, memory.location).judged == 1


TEXT = "First of these 0.9\nSecond of these 0.5"


@pytest.mark.parametrize(
    ("start", "end", "state"),
    [(0, 18, "active"), (19, 38, "probation"), (17, 20, "active"), (18, 19, "retired"), (38, 44, "retired")],
)
def test_a_lesson_is_worth_what_is_found_in_its_own_words(memory: Memory, start: int, end: int, state: str) -> None:
    use(memory, Judge())
    event = said(memory, TEXT)
    lesson = kept_of(memory, span(event, start, end), insight="Worth 0.8")
    rejudge(memory.services, memory.location)
    assert memory.get(lesson.id).state == state


def test_words_of_another_event_are_not_the_lessons_own(memory: Memory) -> None:
    use(memory, Judge())
    said(memory, TEXT)
    other = said(memory, "Nothing is said here of any number", at=START + timedelta(minutes=1))
    lesson = kept_of(memory, span(other, 0, 18), insight="Worth 0.8")
    rejudge(memory.services, memory.location)
    assert memory.get(lesson.id).state == "retired"


@pytest.mark.parametrize(("words", "state"), [("Worth 0.8", "active"), ("Worth 0.5", "probation"), ("No", "retired")])
def test_a_lesson_without_words_in_the_session_is_judged_by_its_own_as_a_reply(
    memory: Memory, words: str, state: str
) -> None:
    use(memory, Judge())
    said(memory, "Nothing")
    lesson = kept_of(memory, span("gone", 0, 9), insight=words)
    bare = kept_of(memory, insight=f"Berths: {words}")
    rejudge(memory.services, memory.location)
    assert [memory.get(each.id).state for each in (lesson, bare)] == [state, state]


def test_of_a_sessions_waiting_lessons_only_those_that_stay_take_room(memory: Memory) -> None:
    use(memory, Judge())
    waiting = [kept_of(memory, insight=f"Rule 0.3{n}", state="candidate") for n in range(6)]
    active = [kept_of(memory, insight=f"Rule 0.8{n}") for n in range(3)]
    weak = kept_of(memory, insight="Rule 0.1", state="candidate")
    other = kept_of(memory, insight="Rule 0.30 of two 0.30", state="candidate", session=TWO)
    report = rejudge(memory.services, memory.location)
    assert {lesson.id for lesson in report.retired} == {waiting[0].id, weak.id}
    assert all(memory.get(lesson.id).state == "active" for lesson in active)
    assert memory.get(other.id).state == "candidate"


# What is told of it


def test_the_last_time_is_told_until_it_is_taken_back(memory: Memory) -> None:
    use(memory, Judge())
    kept_of(memory, insight="Worth 0.1")
    kept_of(memory, insight="Worth 0.2")
    kept_of(memory, insight="Worth 0.5")
    assert last_rejudging(memory.services, memory.location) == (0, 0, "")
    assert rejudge(memory.services, memory.location, dry=True).judged == 3
    assert last_rejudging(memory.services, memory.location) == (0, 0, "")
    assert rejudge_once(memory.services, memory.location) is not None
    retired, demoted, at = last_rejudging(memory.services, memory.location)
    assert (retired, demoted) == (2, 1)
    assert at.startswith(f"{memory.services.clock.now().year}-")
    assert rejudge_once(memory.services, memory.location) is None
    undo_rejudging(memory.services, memory.location)
    assert last_rejudging(memory.services, memory.location) == (0, 0, "")


@pytest.mark.parametrize(
    "state", ["", "statements/9 1 1", "statements/9 x 1 2026", "statements/9 1 x 2026", "a 1 1 b c"]
)
def test_a_damaged_note_of_the_last_time_tells_nothing(memory: Memory, state: str) -> None:
    use(memory, Judge())
    kept_of(memory)
    rejudge(memory.services, memory.location)
    memory.services.store.set_state(REJUDGED, memory.location.project.id, state)
    assert last_rejudging(memory.services, memory.location) == (0, 0, "")


def test_an_older_judge_having_done_it_does_not_count(memory: Memory) -> None:
    use(memory, Judge())
    memory.services.store.set_state(REJUDGED, memory.location.project.id, "statements/8 1 1 2026-01-01T00:00:00Z")
    assert rejudge_once(memory.services, memory.location) is not None


def test_more_lessons_than_a_page_are_all_judged(memory: Memory) -> None:
    use(memory, Judge())
    lessons = [
        make_lesson(
            project=memory.location.project.id, insight=f"Rule {n} is worth 0.9",
            provenance=Provenance(session=SessionId(f"s{n % 3}"), detector="statements/8"),
        )
        for n in range(1_200)
    ]  # fmt: skip
    memory.services.store.put(lessons, {lesson.id: None for lesson in lessons})
    assert rejudge(memory.services, memory.location).judged == 1_200
