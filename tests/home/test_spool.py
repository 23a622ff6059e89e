"""The spool and the errands: what waits for the store and for the learner, and what becomes of it."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.backfill.transcripts import read_errands
from holdfast.domain.hookcall import HookCall
from holdfast.domain.records import Checkpoint, Delivery
from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.errors import ProjectUnknownError, StoreError, StoreFullError
from holdfast.home.runfiles import DROPPED, LATE, SPOOLED, count, leave_errand, read_counts, take_errands
from holdfast.home.spool import FILES_LIMIT, Spool, drain, unreadable, waiting
from holdfast.ports.store import EventFilter, LogFilter
from holdfast.testing.builders import make_event


@pytest.fixture
def memory(home: Path, tmp_path: Path) -> Iterator[Memory]:
    folder = tmp_path / "harbour"
    (folder / "src").mkdir(parents=True)
    with Memory(str(folder)) as opened:
        yield opened


def prompt(memory: Memory, text: str = "chart the harbour", session: str = "s1", **fields: object) -> HookCall:
    event = make_event(session=session, key=text, text=text, cwd=memory.folder, project="", **fields)
    return HookCall(host="codex", name="Prompt", session=SessionId(session), cwd=memory.folder, events=(event,))


def events(memory: Memory, session: str = "s1") -> list[tuple[str, str]]:
    numbered = memory.services.store.find_events(EventFilter(session=SessionId(session)))
    return [(event.project, event.text) for _, event in numbered]


def spool(memory: Memory) -> Spool:
    return Spool(memory.settings.run_path, "codex")


def run_path(memory: Memory) -> str:
    return memory.settings.run_path


@pytest.mark.parametrize("located", [True, False])
def test_events_are_put_into_the_store_with_their_project(memory: Memory, located: bool) -> None:
    call = prompt(memory, files=(f"{memory.folder}/src/tides.py",))
    spool(memory).keep_events(memory.services, memory.location if located else None, call)
    assert drain(memory, run_path(memory)) == 1
    assert events(memory) == [(memory.location.project.id, "chart the harbour")]
    assert memory.services.store.find_events(EventFilter())[0][1].files == ("src/tides.py",)
    assert waiting(run_path(memory)) == []


def test_an_event_of_a_sub_folder_keeps_its_path_from_the_root(memory: Memory) -> None:
    (Path(memory.folder) / ".git" / "objects").mkdir(parents=True)
    (Path(memory.folder) / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    below = replace(prompt(memory), cwd=f"{memory.folder}/src")
    event = replace(below.events[0], cwd=below.cwd, files=("tides.py",))
    spool(memory).keep_events(memory.services, None, replace(below, events=(event,)))
    drain(memory, run_path(memory))
    assert memory.services.store.find_events(EventFilter())[0][1].files == ("src/tides.py",)


def test_what_is_already_there_is_stored_once(memory: Memory) -> None:
    for _ in range(2):
        spool(memory).keep_events(memory.services, memory.location, prompt(memory))
    assert drain(memory, run_path(memory)) == 1
    assert len(events(memory)) == 1


def test_two_that_drain_at_once_keep_each_event_once(memory: Memory) -> None:
    texts = sorted(f"prompt {number}" for number in range(40))
    for text in texts:
        spool(memory).keep_events(memory.services, memory.location, prompt(memory, text))
    new: list[int] = []

    def work() -> None:
        with Memory(memory.folder, settings=memory.settings) as own:
            new.append(drain(own, run_path(own)))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(new) == len(texts)
    assert sorted(text for _, text in events(memory)) == texts
    assert (waiting(run_path(memory)), unreadable(run_path(memory))) == ([], 0)


def test_a_folder_that_is_gone_leaves_its_events_to_the_sessions_project(memory: Memory, tmp_path: Path) -> None:
    memory.append([prompt(memory, "before").events[0]])
    gone = replace(prompt(memory, "after"), cwd=str(tmp_path / "gone"))
    spool(memory).keep_events(memory.services, None, gone)
    drain(memory, run_path(memory))
    assert {project for project, _ in events(memory)} == {memory.location.project.id}


def test_a_project_that_cannot_be_determined_yet_stays_in_the_spool(memory: Memory) -> None:
    class Workspace:
        def locate(self, folder: str) -> None:
            raise ProjectUnknownError("git did not answer in time")

    spool(memory).keep_events(memory.services, None, prompt(memory, "first"))
    spool(memory).keep_events(memory.services, memory.location, prompt(memory, "second"))
    services = memory.services
    memory.services = replace(services, workspace=Workspace())
    assert drain(memory, run_path(memory)) == 1
    memory.services = services
    assert drain(memory, run_path(memory)) == 1
    assert sorted(text for _, text in events(memory)) == ["first", "second"]


def test_a_store_that_takes_nothing_leaves_all_in_the_spool(memory: Memory) -> None:
    class Store:
        def append_events(self, _: object) -> int:
            raise StoreFullError("no space left")

    spool(memory).keep_events(memory.services, memory.location, prompt(memory))
    services = memory.services
    memory.services = replace(services, store=Store())
    with pytest.raises(StoreError):
        drain(memory, run_path(memory))
    memory.services = services
    assert drain(memory, run_path(memory)) == 1


def test_no_time_left_leaves_all_in_the_spool(memory: Memory) -> None:
    spool(memory).keep_events(memory.services, memory.location, prompt(memory))
    assert drain(memory, run_path(memory), until_s=0.0) == 0
    assert len(waiting(run_path(memory))) == 1


def test_deliveries_are_logged_once(memory: Memory) -> None:
    shown = Delivery(
        id="d1",
        at=datetime(2026, 11, 22, tzinfo=UTC),
        project=memory.location.project.id,
        session=SessionId("s1"),
        host="codex",
        moment="prompt",
        lesson=LessonId("l1"),
        rank=1,
        score=1.0,
        reason="names it",
    )
    for _ in range(2):
        spool(memory).keep_deliveries([shown])
    drain(memory, run_path(memory))
    assert memory.log() == [shown]


def test_a_compaction_that_was_spooled_still_leaves_a_checkpoint(memory: Memory) -> None:
    memory.append(
        [
            make_event(
                session="s1", key="p", kind="prompt", text="chart the harbour by Friday", cwd=memory.folder, project=""
            )
        ]
    )
    spool(memory).keep_events(memory.services, memory.location, prompt(memory, "auto", kind="compaction"))
    drain(memory, run_path(memory))
    assert memory.services.store.find_records(Checkpoint, LogFilter(session=SessionId("s1")))


@pytest.mark.parametrize(
    "content", ["", "{", "[]", "{}", '{"events":[{}],"deliveries":[]}', '{"events":7,"deliveries":[]}']
)
def test_what_cannot_be_read_is_set_aside_and_not_deleted(memory: Memory, content: str) -> None:
    spool(memory).keep_events(memory.services, memory.location, prompt(memory))
    folder = Path(run_path(memory), "spool")
    (folder / "00000000000000000000-1-1.jsonl").write_text(content)
    assert drain(memory, run_path(memory)) == 1
    assert unreadable(run_path(memory)) == 1
    assert waiting(run_path(memory)) == []


def test_a_spool_that_is_full_takes_no_more(memory: Memory) -> None:
    folder = Path(run_path(memory), "spool")
    folder.mkdir(parents=True)
    for number in range(FILES_LIMIT):
        (folder / f"{number:020d}-1-1.jsonl").touch()
    with pytest.raises(StoreFullError):
        spool(memory).keep_events(memory.services, memory.location, prompt(memory))
    assert read_counts(run_path(memory)) == {"codex": {DROPPED: 1}}


# Counts


def test_counts_are_reported_by_host_and_day(tmp_path: Path) -> None:
    for host, what in (("codex", LATE), ("codex", LATE), ("a b\tc", SPOOLED), ("codex", "something else")):
        count(str(tmp_path), host, what)
    assert read_counts(str(tmp_path)) == {"codex": {LATE: 2}, "a b c": {SPOOLED: 1}}
    assert read_counts(str(tmp_path), since="2999-01-01") == {}
    assert read_counts(str(tmp_path / "none")) == {}


# Errands


def ended(memory: Memory, session: str = "s1", **fields: object) -> HookCall:
    call = HookCall(
        host="claude-code", name="Stop", session=SessionId(session), cwd=memory.folder, transcript="/nowhere/s1.jsonl"
    )
    return replace(call, **fields)


def names(memory: Memory) -> list[str]:
    return os.listdir(Path(run_path(memory), "errands"))


def test_a_session_has_one_errand_however_many_turns_it_has(memory: Memory) -> None:
    for _ in range(3):
        leave_errand(run_path(memory), ended(memory))
    leave_errand(run_path(memory), ended(memory, "s2"))
    (first, second) = take_errands(run_path(memory))
    assert {first.call.session, second.call.session} == {"s1", "s2"}
    assert (first.call.host, first.call.cwd, first.call.transcript) == (
        "claude-code",
        memory.folder,
        "/nowhere/s1.jsonl",
    )


def test_an_errand_is_gone_when_it_was_carried_out_and_only_then(memory: Memory) -> None:
    leave_errand(run_path(memory), ended(memory))
    (errand,) = take_errands(run_path(memory))
    with pytest.raises(StoreError), errand:
        raise StoreError("locked")
    assert len(names(memory)) == 1
    for errand in take_errands(run_path(memory)):
        with errand as call:
            assert call.session == "s1"
    assert names(memory) == []


def test_a_turn_that_ends_while_the_transcript_is_read_is_an_errand_of_its_own(memory: Memory) -> None:
    leave_errand(run_path(memory), ended(memory))
    for errand in take_errands(run_path(memory)):
        with errand:
            leave_errand(run_path(memory), ended(memory))
    assert len(names(memory)) == 1


def test_an_errand_that_never_ends_well_is_given_up(memory: Memory) -> None:
    leave_errand(run_path(memory), ended(memory))
    complaints: list[Exception] = []
    memory.services = replace(memory.services, host=lambda name: 1 / 0)
    for _ in range(9):
        read_errands(memory, run_path(memory), complaints.append)
    assert names(memory) == []
    assert 0 < len(complaints) < 9


def test_only_the_named_sessions_errand_is_taken(memory: Memory) -> None:
    for session in ("s1", "s2", "../s3\t\n\0\ud800"):
        leave_errand(run_path(memory), ended(memory, session))
    done = read_errands(memory, run_path(memory), pytest.fail, ended(memory, "s2"))  # type: ignore[arg-type]
    assert [call.session for call in done] == ["s2"]
    assert len(names(memory)) == 2
