"""Which sessions are queued for the user's model, which are sent, how often, and what is told when it fails."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.backfill import distilrecord, endedsessions
from holdfast.backfill.distilling import distil_waiting, keep_trouble, learning_trouble, work_of
from holdfast.backfill.distilrecord import (
    begin_call,
    end_call,
    enqueue,
    fail_call,
    failing,
    given_up,
    is_settled,
    spent,
    waiting,
)
from holdfast.backfill.endedsessions import begin, queue_ended
from holdfast.bootstrap import Memory
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.domain.statefamilies import LEARNING_TROUBLE, SESSIONS_OPEN
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import AlreadyRunningError, InvalidValueError, ModelError, ModelUnavailableError
from holdfast.home.runfiles import RunLock, leave_errand, take_errands
from holdfast.learning.distil import DistilReport
from holdfast.settings import Settings, load_settings
from holdfast.testing.builders import make_event
from tests.hosts.golden import OTHERS

NOW = datetime(2026, 3, 1, tzinfo=UTC)
SESSION = SessionId("s1")


@pytest.fixture
def memory(home: Path, tmp_path: Path) -> Iterator[Memory]:
    (tmp_path / "app").mkdir()
    with Memory(str(tmp_path / "app")) as opened:
        yield opened


@pytest.fixture
def settings(home: Path) -> Settings:
    return load_settings()


def happen(
    memory: Memory, kind: str, key: str, *, session: str = "s1", ago: timedelta = timedelta(0), **more: Any
) -> None:
    at = memory.services.clock.now() - ago
    event = make_event(session=session, kind=kind, key=key, project="", cwd=memory.folder, at=at, text=key, **more)
    memory.append([event])


def queued(memory: Memory) -> list[str]:
    queue_ended(memory)
    return [entry.session for entry in waiting(memory.settings)]


# Sessions that have ended


def test_a_session_is_queued_when_its_end_is_reported_and_only_once(memory: Memory) -> None:
    begin(memory)
    happen(memory, "prompt", "p")
    assert queued(memory) == []
    happen(memory, "session_end", "e")
    assert queued(memory) == ["s1"]
    happen(memory, "session_start", "again")
    happen(memory, "session_end", "e2")
    assert queued(memory) == ["s1"]
    assert waiting(memory.settings)[0].folder == memory.folder


def test_a_session_that_goes_on_after_its_end_has_not_ended(memory: Memory) -> None:
    begin(memory)
    for number, kind in enumerate(("session_end", "session_start")):
        happen(memory, kind, f"k{number}")
    assert queued(memory) == []


def later(memory: Memory, monkeypatch: pytest.MonkeyPatch, span: timedelta) -> None:
    """Move the memory's clock."""
    now = memory.services.clock.now
    monkeypatch.setattr(memory.services.clock, "now", lambda: now() + span, raising=False)


def test_what_was_over_before_the_consent_is_not_queued(memory: Memory) -> None:
    happen(memory, "session_end", "e", session="before")
    begin(memory)
    happen(memory, "session_end", "old", session="read from a transcript", ago=timedelta(hours=2))
    happen(memory, "session_end", "e", session="after")
    assert queued(memory) == ["after"]


def test_a_configuration_edited_by_hand_counts_sessions_of_the_last_half_hour(memory: Memory) -> None:
    happen(memory, "session_end", "e", session="old", ago=timedelta(minutes=31))
    happen(memory, "session_end", "e", session="new", ago=timedelta(minutes=29))
    assert queued(memory) == ["new"]


@pytest.mark.parametrize("broken", ["not JSON", "{}", '{"position": 1, "since": "never", "open": {}}', "[]"])
def test_a_broken_state_of_open_sessions_is_begun_anew(memory: Memory, broken: str) -> None:
    memory.services.store.set_state(SESSIONS_OPEN, "", broken)
    happen(memory, "session_end", "e")
    assert queued(memory) == ["s1"]


def test_a_transcript_that_came_with_a_clone_is_never_queued(memory: Memory) -> None:
    begin(memory)
    happen(memory, "session_end", "e", trust="repository")
    assert queued(memory) == []


def test_a_session_whose_transcript_is_still_to_be_read_waits(memory: Memory) -> None:
    begin(memory)
    happen(memory, "session_end", "e", host="claude-code")
    call = HookCall(host="claude-code", name="", session=SESSION, cwd=memory.folder, transcript="/t.jsonl")
    leave_errand(memory.settings.run_path, call)
    assert queued(memory) == []
    for errand in take_errands(memory.settings.run_path):
        with errand:
            assert queued(memory) == []
    assert queued(memory) == ["s1"]


def test_the_sessions_heard_of_last_stay_open(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(endedsessions, "OPEN_MOST", 2)
    begin(memory)
    for number in range(3):
        happen(memory, "prompt", "p", session=f"s{number}")
    queue_ended(memory)
    assert set(json.loads(memory.services.store.get_state(SESSIONS_OPEN))["open"]) == {"s1", "s2"}


# Real work


def events_of(**counts: int) -> list[Event]:
    kinds = [kind for kind, count in counts.items() for _ in range(count)]
    return [make_event(kind=kind, key=f"{kind}{number}", text="x") for number, kind in enumerate(kinds)]


def test_a_commit_of_the_agent_is_work_and_a_sub_agents_prompt_is_none() -> None:
    replies = events_of(reply=2)
    commit = make_event(kind="tool_result", key="c", command="git commit -m x", text="x")
    assert work_of([*replies, commit]).is_real
    assert not work_of([*replies, *[replace(event, agent="a1") for event in events_of(prompt=3)]]).is_real


# Calls


def test_a_call_that_has_begun_is_not_made_twice(settings: Settings) -> None:
    """`distilrecord.IN_FLIGHT`."""
    begin_call(settings, SESSION, NOW)
    with pytest.raises(AlreadyRunningError):
        begin_call(settings, SESSION, NOW + timedelta(minutes=5, microseconds=-1))
    begin_call(settings, SESSION, NOW + timedelta(minutes=5))


def test_a_process_that_writes_the_record_is_waited_for(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distilrecord, "LOCK_S", 0.0)
    with RunLock(settings.run_path, "distil") as ours:
        assert ours
        with pytest.raises(AlreadyRunningError):
            begin_call(settings, SESSION, NOW)
    assert spent(settings, NOW).calls == 0


def test_the_limit_holds_for_calls_that_have_only_begun(settings: Settings) -> None:
    few = replace(settings, distil_calls_a_day=1)
    begin_call(few, SESSION, NOW)
    with pytest.raises(InvalidValueError, match="calls_a_day = 1"):
        begin_call(few, SessionId("s2"), NOW)


def test_what_another_process_has_read_meanwhile_is_not_sent_again(settings: Settings) -> None:
    begin_call(settings, SESSION, NOW)
    end_call(settings, SESSION, DistilReport(model="m"), NOW)
    with pytest.raises(AlreadyRunningError):
        begin_call(settings, SESSION, NOW)
    begin_call(settings, SESSION, NOW, again=True)


def test_a_killed_call_is_a_try_and_counts_once(settings: Settings) -> None:
    enqueue(settings, SESSION, "/app", NOW)
    for hours in (0, 1):
        begin_call(settings, SESSION, NOW + timedelta(hours=hours))
    (entry,) = waiting(settings)
    assert (entry.tries, entry.is_open) == (2, True)
    assert spent(settings, NOW + timedelta(hours=2)).calls == 2
    assert not entry.is_due(NOW + timedelta(hours=2, microseconds=-1))
    assert entry.is_due(NOW + timedelta(hours=2))
    assert not entry.is_due(NOW + timedelta(hours=1, minutes=4), again=True)
    assert entry.is_due(NOW + timedelta(hours=1, minutes=5), again=True)
    end_call(settings, SESSION, DistilReport(model="m"), NOW + timedelta(hours=2))
    assert waiting(settings) == []
    assert spent(settings, NOW + timedelta(hours=2)).calls == 2


def test_three_killed_calls_give_a_session_up(settings: Settings) -> None:
    enqueue(settings, SESSION, "/app", NOW)
    for hours in range(3):
        begin_call(settings, SESSION, NOW + timedelta(hours=hours))
    assert (waiting(settings), given_up(settings), is_settled(settings)(SESSION)) == ([], 1, True)
    assert failing(settings).reason == "the call was interrupted"


def test_a_model_that_cannot_be_queried_costs_no_try_and_no_call(settings: Settings) -> None:
    enqueue(settings, SESSION, "/app", NOW)
    for hours in range(9):
        at = NOW + timedelta(hours=hours)
        begin_call(settings, SESSION, at)
        fail_call(settings, SESSION, ModelUnavailableError("claude asks for a login"), "m", at)
    assert [entry.tries for entry in waiting(settings)] == [0]
    assert spent(settings, NOW + timedelta(hours=9)).calls == 0
    assert not is_settled(settings)(SESSION)


def test_a_reason_is_redacted_and_cut(settings: Settings) -> None:
    """`distilrecord.REASON_CHARACTERS`."""
    secret = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
    fail_call(settings, SESSION, ModelError(f"{secret} was refused " + "x" * 200), "m", NOW)
    reason = failing(settings).reason
    assert (len(reason), secret in reason, "was refused" in reason) == (160, False, True)


def test_a_line_that_a_full_disk_cut_off_spoils_only_itself(settings: Settings) -> None:
    enqueue(settings, SESSION, "/app", NOW)
    path = Path(settings.distil_path)
    path.write_text(path.read_text() + '{"at": "2026-03-01T00:00')
    enqueue(settings, SessionId("s2"), "/app", NOW)
    assert [entry.session for entry in waiting(settings)] == ["s1", "s2"]


def test_a_session_whose_folder_is_gone_stays_in_the_queue(memory: Memory) -> None:
    enqueue(memory.settings, SESSION, "/gone", NOW)
    assert list(distil_waiting(memory, memory.settings)) == []
    assert len(waiting(memory.settings)) == 1


# What is told


def learning(settings: Settings) -> Settings:
    return replace(settings, distil_model="agent", distil_after_sessions=True)


@pytest.mark.parametrize(("failures", "is_told"), [(2, False), (3, True)])
def test_three_sessions_that_failed_in_a_row_are_reported(memory: Memory, failures: int, is_told: bool) -> None:
    """`distilling.TOLD_AFTER`."""
    settings = learning(memory.settings)
    for number in range(failures):
        for _ in range(2):  # the same session twice is one session
            fail_call(settings, SessionId(f"s{number}"), ModelUnavailableError("claude asks for a login"), "m", NOW)
    keep_trouble(memory, settings)
    words = f"could not learn from the last {failures} sessions: claude asks for a login"
    assert learning_trouble(settings, NOW).words == words
    line = f"For the user: Holdfast {words} (holdfast learn)" if is_told else ""
    assert memory.services.store.get_state(LEARNING_TROUBLE) == line
    start = {"hook_event_name": "SessionStart", "session_id": "n", "cwd": memory.folder, "source": "startup"}
    assert (words in memory.answer_hook("claude-code", start)) is is_told
    assert words not in memory.answer_hook("claude-code", start | {"session_id": "c", "source": "compact"})
    end_call(settings, SESSION, DistilReport(model="m"), NOW)
    keep_trouble(memory, settings)
    assert memory.services.store.get_state(LEARNING_TROUBLE) == ""


def test_a_switch_that_is_off_tells_nothing(memory: Memory) -> None:
    for number in range(3):
        fail_call(memory.settings, SessionId(f"s{number}"), ModelError("no"), "m", NOW)
    keep_trouble(memory, memory.settings)
    assert learning_trouble(memory.settings, NOW).words == ""
    assert memory.services.store.get_state(LEARNING_TROUBLE) == ""


# A host that never reports an end


def test_recorded_hooks_of_a_host_without_an_end_are_queued_when_it_falls_silent(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("holdfast_hosts")
    begin(memory)
    for name in ("prompt", "after_write", "response", "response"):
        payload = json.loads((OTHERS / "windsurf" / name / "payload.json").read_text())
        memory.answer_hook("windsurf", payload)
    assert queued(memory) == []
    later(memory, monkeypatch, timedelta(minutes=31))
    assert len(queued(memory)) == 1
