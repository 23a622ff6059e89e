"""What was told and what came of it, week by week; and how a memory grew and let go."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Lesson, in_state
from holdfast.domain.records import Delivery, Outcome
from holdfast.domain.vocabulary import SessionId, State
from holdfast.reports.growth import growth_of
from holdfast.reports.telling import TellingReport, monday, telling_of
from holdfast.reports.tuning import TELLING_RECORDS
from holdfast.testing.builders import FixedClock, make_delivery, make_lesson, make_outcome

NOW = datetime(2026, 6, 24, 15, tzinfo=UTC)
"""A Wednesday."""
DAY = timedelta(days=1)


@pytest.fixture
def timed(memory: Memory) -> Memory:
    """The memory of a project, on that Wednesday."""
    return memory.with_services(replace(memory.services, clock=FixedClock(NOW)))


def known(memory: Memory, **fields: Any) -> Lesson:
    """A lesson of the project that is stored."""
    lesson = make_lesson(project=memory.location.project.id, **fields)
    memory.services.store.put([lesson], {})
    return lesson


def log(memory: Memory, *entries: Delivery | Outcome) -> None:
    project = memory.location.project.id
    memory.services.store.record([replace(entry, project=project) for entry in entries])


def judged(lesson: Lesson, verdict: str, session: str, **fields: Any) -> Outcome:
    identity = f"judged:{lesson.id}:{session}:{fields.get('withheld', False)}"
    return make_outcome(
        **{"id": identity, "lesson": lesson.id, "verdict": verdict, "session": SessionId(session), "at": NOW - DAY}
        | fields
    )


def shown(lesson: Lesson, session: str, **fields: Any) -> Delivery:
    return make_delivery(**{"lesson": lesson.id, "session": SessionId(session), "at": NOW - DAY, "tokens": 30} | fields)


def report(memory: Memory, weeks: int = 4) -> TellingReport:
    return telling_of(memory.services, memory.location, weeks=weeks)


def test_weeks_begin_on_monday_and_hold_what_happened_in_them(timed: Memory) -> None:
    lesson = known(timed)
    log(
        timed,
        shown(lesson, "a", at=NOW - 8 * DAY), shown(lesson, "b"), shown(lesson, "b", tokens=12),
        judged(lesson, "heeded", "a", at=NOW - 8 * DAY), judged(lesson, "missed", "c"),
    )  # fmt: skip
    first, last = report(timed).weeks
    assert (first.begin, first.sessions, first.lessons, first.tokens, first.heeded) == (date(2026, 6, 15), 1, 1, 30, 1)
    assert (last.begin, last.sessions, last.lessons, last.tokens, last.missed) == (date(2026, 6, 22), 1, 2, 42, 1)


def test_a_quiet_week_between_two_others_is_shown(timed: Memory) -> None:
    lesson = known(timed)
    log(timed, shown(lesson, "a", at=NOW - 15 * DAY), shown(lesson, "b"))
    assert [week.lessons for week in report(timed).weeks] == [1, 0, 1]


def test_what_was_before_the_span_does_not_count(timed: Memory) -> None:
    lesson = known(timed)
    log(timed, shown(lesson, "a", at=monday(NOW) - timedelta(seconds=1)), shown(lesson, "b", at=monday(NOW)))
    telling = report(timed, weeks=1)
    assert (telling.stats.delivered, telling.since, telling.is_part) == (1, monday(NOW), False)
    assert report(timed, weeks=2).stats.delivered == 2


def test_deliveries_that_are_no_lessons_do_not_count(timed: Memory) -> None:
    log(timed, make_delivery(at=NOW - DAY))
    assert report(timed).stats.delivered == 0


def test_shares_are_by_kind_and_by_host(timed: Memory) -> None:
    fix, rule = known(timed, kind="fix"), known(timed, kind="convention")
    log(
        timed,
        shown(fix, "a", host="codex"), shown(rule, "a", host="codex"), shown(rule, "b", host="claude-code"),
        judged(fix, "heeded", "a"), judged(rule, "unclear", "a"), judged(rule, "heeded", "b"),
        judged(rule, "heeded", "c", withheld=True),
    )  # fmt: skip
    telling = report(timed)
    assert {group.name: (group.heeded.count, group.heeded.of) for group in telling.kinds} == {
        "convention": (1, 2), "fix": (1, 1),
    }  # fmt: skip
    assert {group.name: (group.heeded.count, group.heeded.of) for group in telling.hosts} == {
        "codex": (1, 2), "claude-code": (1, 1),
    }  # fmt: skip


def test_the_brief_is_compared_with_what_was_withheld(timed: Memory) -> None:
    lesson = known(timed)
    for number in range(12):
        log(
            timed,
            judged(lesson, "heeded", f"told-{number}", moment="session_start"),
            judged(lesson, "heeded" if number < 3 else "failed", f"not-{number}", withheld=True),
        )
    log(timed, judged(lesson, "heeded", "later", moment="before_file"))
    telling = report(timed)
    assert (telling.briefed.count, telling.briefed.of, telling.stats.heeded_without.count) == (12, 12, 3)
    assert telling.stats.effect_on_heeding is not None
    assert telling.stats.effect_on_heeding.difference == pytest.approx(0.75)
    assert telling.briefed_failed.count == 0


def test_a_report_of_many_records_reads_the_newest_and_says_so(timed: Memory) -> None:
    lesson = known(timed)
    every = [shown(lesson, "a", at=NOW - timedelta(minutes=number)) for number in range(TELLING_RECORDS + 50)]
    log(timed, *every, judged(lesson, "heeded", "a", at=NOW - 10 * DAY))
    telling = report(timed)
    assert telling.is_part
    assert telling.stats.delivered == TELLING_RECORDS
    assert telling.since == NOW - timedelta(minutes=TELLING_RECORDS - 1)
    assert telling.stats.heeded.of == 0


def test_without_records_there_is_one_week_of_nothing(timed: Memory) -> None:
    (week,) = report(timed).weeks
    assert (week.begin, week.lessons) == (date(2026, 6, 22), 0)


# Growth


def changed(memory: Memory, lesson: Lesson, state: State, at: datetime) -> Lesson:
    later = in_state(lesson, state, at=at)
    memory.services.store.put([later], {lesson.id: lesson.recorded_at})
    return later


def test_growth_counts_what_there_was_at_the_end_of_each_week(timed: Memory) -> None:
    first = known(timed, recorded_at=NOW - 15 * DAY)
    known(timed, recorded_at=NOW - 15 * DAY, state="candidate")
    known(timed, recorded_at=NOW - 8 * DAY)
    changed(timed, first, "retired", NOW - DAY)
    weeks = growth_of(timed.services, timed.location, weeks=4).weeks
    assert [(week.begin.day, week.confirmed, week.unconfirmed, week.ended) for week in weeks] == [
        (8, 1, 1, 0), (15, 2, 1, 0), (22, 1, 1, 1),
    ]  # fmt: skip
    assert [(week.learnt, week.let_go, week.versions) for week in weeks] == [(2, 0, 2), (1, 0, 1), (0, 1, 1)]


def test_a_lesson_that_came_back_was_not_let_go(timed: Memory) -> None:
    lesson = known(timed, recorded_at=NOW - 8 * DAY)
    retired = changed(timed, lesson, "retired", NOW - 2 * DAY)
    changed(timed, retired, "active", NOW - DAY)
    week = growth_of(timed.services, timed.location, weeks=4).weeks[-1]
    assert (week.confirmed, week.ended, week.let_go, week.learnt, week.versions) == (1, 0, 0, 0, 2)


def test_what_was_there_before_the_span_was_not_learnt_in_it(timed: Memory) -> None:
    known(timed, recorded_at=NOW - 60 * DAY)
    weeks = growth_of(timed.services, timed.location, weeks=4).weeks
    assert [(week.confirmed, week.learnt) for week in weeks] == [(1, 0)] * 4


def test_growth_names_kinds_and_states(timed: Memory) -> None:
    known(timed, kind="fix"), known(timed, kind="fix"), known(timed, kind="decision", state="candidate")
    growth = growth_of(timed.services, timed.location, weeks=4)
    assert growth.kinds == {"fix": 2}
    assert growth.states == {"active": 2, "candidate": 1}


def test_who_may_not_see_proposals_gets_no_count_of_them(timed: Memory) -> None:
    known(timed, recorded_at=NOW - DAY), known(timed, recorded_at=NOW - DAY, state="candidate")
    known(timed, recorded_at=NOW - DAY, state="quarantined")
    growth = growth_of(timed.services, timed.location, weeks=4, with_waiting=False)
    (week,) = growth.weeks
    assert (week.confirmed, week.unconfirmed, week.learnt, week.versions) == (1, 0, 1, 1)
    assert growth.states == {"active": 1}


def test_an_empty_memory_has_no_growth(timed: Memory) -> None:
    assert growth_of(timed.services, timed.location, weeks=4).weeks == ()
