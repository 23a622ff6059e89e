"""The line at a session's start on what earlier sessions left failing on its branch."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from holdfast import Memory
from holdfast.domain.records import OpenFailure
from holdfast.domain.statefamilies import OPEN_THREADS
from holdfast.domain.vocabulary import EventId, SessionId
from holdfast.lean.plain import to_plain
from holdfast.lean.texts import dumps
from holdfast.recall.openfailures import day_of, failures_line, parse_failures
from tests.recall.test_moments import deliver, keep
from tests.stories import Story, play

NOW = datetime(2026, 3, 6, 9, tzinfo=UTC)  # a Friday
FAILURE = OpenFailure(
    session=SessionId("s0"), event=EventId("e0"), text="tests/test_api.py::test_retry", error="KeyError: 'id'",
    branch="work", first_at=NOW - timedelta(days=3), last_at=NOW - timedelta(days=1), runs=3,
)  # fmt: skip


def line(*failures: OpenFailure, branch: str = "work", leave_out: tuple[SessionId, ...] = ()) -> str:
    return failures_line(failures, branch=branch, now=NOW, leave_out=leave_out)


def test_it_says_since_when_what_fails_how_and_how_often() -> None:
    assert line(FAILURE) == "open since Tuesday: tests/test_api.py::test_retry fails with KeyError: 'id' (3 tries)"
    assert line(replace(FAILURE, runs=1, error="")) == "open since Tuesday: tests/test_api.py::test_retry fails"
    assert line(replace(FAILURE, more=2)).endswith("test_retry and 2 more fail (3 tries)")


def test_only_its_branch_and_only_young_ones_and_only_two() -> None:
    assert line(FAILURE, branch="main") == ""
    assert line(replace(FAILURE, last_at=NOW - timedelta(days=8))) == ""
    assert line(FAILURE, leave_out=(SessionId("s0"),)) == ""
    assert line(FAILURE, FAILURE, FAILURE).count("open since") == 2
    assert "\n" not in line(replace(FAILURE, text="a\nb", error="x" * 500))
    assert len(line(replace(FAILURE, text="a" * 500, error="x" * 500))) < 260


def test_days_are_named_as_people_do() -> None:
    days = [day_of(NOW - timedelta(days=days), NOW) for days in (0, 1, 2, 6, 7)]
    assert days == ["today", "yesterday", "Wednesday", "Saturday", "27 February"]


def test_what_cannot_be_read_is_left_out() -> None:
    assert parse_failures("{") == parse_failures("[1, {}]") == parse_failures("") == parse_failures("{}") == []
    assert parse_failures(dumps([{}, to_plain(FAILURE)])) == [FAILURE]


def store(memory: Memory, **changes: object) -> None:
    now = memory.services.clock.now()
    failure = replace(FAILURE, branch=memory.location.branch, first_at=now, last_at=now, **changes)  # type: ignore[arg-type]
    memory.services.store.set_state(OPEN_THREADS, memory.location.project.id, dumps([to_plain(failure)]))


def test_a_session_is_told_once_at_its_start(memory: Memory) -> None:
    keep(memory, "Write plain sentences.")
    store(memory)
    briefing = deliver(memory, "session_start")
    assert briefing.text.count("open since today: tests/test_api.py::test_retry fails") == 1
    assert "open since" not in deliver(memory, "after_compaction").text
    assert "open since" not in deliver(memory, "session_start", agent="a1", session="s2").text


def test_it_is_told_without_any_lesson_too(memory: Memory) -> None:
    store(memory)
    assert "test_retry fails" in deliver(memory, "session_start").text


def test_a_session_is_not_told_its_own_failures(memory: Memory) -> None:
    store(memory, session=SessionId("s1"))
    assert "open since" not in deliver(memory, "session_start", session="s1").text
    assert "open since" in deliver(memory, "session_start", session="s2").text


def test_a_teams_server_names_none(memory: Memory) -> None:
    store(memory)
    served = memory.with_services(replace(memory.services, serves_team=True))
    assert "open since" not in deliver(served, "session_start").text


def test_what_a_session_left_failing_is_told_to_the_next_one_on_its_branch_until_it_passes(memory: Memory) -> None:
    branch = memory.location.branch
    here = play(memory, Story("s0", branch=branch).red().edited("pkg/a.go").red())
    assert "open since today: TestLate fails with expected 3, got 1 (2 tries)" in deliver(here, "session_start").text
    here = play(memory, Story("s1", 0.1, branch=branch).green())
    assert "open since" not in deliver(here, "session_start", session="s2").text
