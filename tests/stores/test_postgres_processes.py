"""Several processes on one database: one of them killed, or the server itself, in the middle of their writes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests.postgresql import Clusters, Database

from holdfast.domain.query import Query
from holdfast.domain.records import Delivery
from holdfast.ports.store import EventFilter, LessonFilter, LogFilter
from holdfast.stores.postgresql import make
from holdfast.stores.postgresql.store import PostgresStore
from holdfast.testing.builders import PROJECT, make_event, make_lesson

WRITER = str(Path(__file__).with_name("writer.py"))
PROCESSES, WRITES, UNTIL_KILLED = 3, 20, 25


def start(url: str, name: str, count: int = 100_000) -> subprocess.Popen[str]:
    command = [sys.executable, WRITER, url, name, str(count)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def first_lines(running: subprocess.Popen[str], count: int) -> list[str]:
    assert running.stdout is not None
    return [running.stdout.readline() for _ in range(count)]


def assert_all_is_there(store: PostgresStore, lines: list[str]) -> None:
    """Assert that all that the writers were told is stored, once, and that positions have no gaps."""
    records = [line.split() for line in lines if line.endswith("\n") and " " in line]
    acknowledged = {kind: [id_ for what, id_ in records if what == kind] for kind, _ in records}
    lessons = store.find(LessonFilter(project=PROJECT, limit=100_000))
    assert {*acknowledged["lesson"]} <= {lesson.id for lesson in lessons}
    assert {*acknowledged["pinned"]} <= {lesson.id for lesson in lessons if lesson.pinned}
    assert len({lesson.id for lesson in lessons}) == len(lessons)
    events = store.find_events(EventFilter(limit=100_000))
    assert {*acknowledged["event"]} <= {event.id for _, event in events}
    assert [position for position, _ in events] == [*range(1, len(events) + 1)]
    assert len({event.id for _, event in events}) == len(events)
    deliveries = [delivery.id for delivery in store.find_records(Delivery, LogFilter(limit=100_000))]
    assert {*acknowledged["delivery"]} <= {*deliveries}
    assert len({*deliveries}) == len(deliveries)
    assert store.match_text(Query(project=PROJECT, text="victim"), 5, 0).matches
    assert store.check() == []


def test_what_was_acknowledged_is_there_although_a_writer_was_killed(database: Database, organisation: int) -> None:
    url = database.store_url(organisation)
    with make({"url": url}) as store:
        victim = start(url, "victim")
        others = [start(url, f"writer{number}", WRITES) for number in range(PROCESSES)]
        lines = first_lines(victim, UNTIL_KILLED)
        victim.kill()
        lines += victim.communicate()[0].splitlines(keepends=True)
        for other in others:
            lines += other.communicate()[0].splitlines(keepends=True)
        assert [other.returncode for other in others] == [0] * PROCESSES
        assert_all_is_there(store, lines)


def test_what_was_acknowledged_is_there_although_the_server_was_killed(clusters: Clusters) -> None:
    cluster = clusters.start()
    database = cluster.create_database("memory")
    with make({"url": database.store_url()}) as store:
        writers = [start(database.store_url(), name) for name in ("victim", "other")]
        lines = [line for writer in writers for line in first_lines(writer, UNTIL_KILLED)]
        cluster.kill()
        for writer in writers:
            out, err = writer.communicate()
            lines += out.splitlines(keepends=True)
            assert writer.returncode == 1
            assert "holdfast.errors.Store" in err.splitlines()[-1]
        cluster.start()
        assert_all_is_there(store, lines)
        store.put([make_lesson(insight="after the crash")], {})
        assert store.append_events([make_event()]) == 1
    cluster.stop()


def test_positions_grow_in_the_order_in_which_they_become_readable(database: Database, organisation: int) -> None:
    """A reader that goes on after the last position it has seen misses nothing of what others write at once."""
    url = database.store_url(organisation)
    with make({"url": url}) as store:
        writers = [start(url, f"writer{number}", WRITES) for number in range(PROCESSES)]
        seen: list[str] = []
        last = 0
        while len(seen) < PROCESSES * WRITES and any(writer.poll() is None for writer in writers):
            for position, event in store.find_events(EventFilter(after=last)):
                seen.append(event.id)
                last = position
        for writer in writers:
            writer.communicate()
        seen += [event.id for _, event in store.find_events(EventFilter(after=last))]
        everything = [event.id for _, event in store.find_events(EventFilter())]
        assert len(everything) == PROCESSES * WRITES
        assert seen == everything
