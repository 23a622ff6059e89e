"""Several processes on one file, one of them killed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.domain.query import Query
from holdfast.domain.records import Delivery
from holdfast.errors import StaleWriteError
from holdfast.ports.store import EventFilter, LessonFilter, LogFilter
from holdfast.stores.sqlite import make
from holdfast.testing.builders import PROJECT, make_lesson, next_version

WRITER = str(Path(__file__).with_name("writer.py"))
PROCESSES, WRITES = 8, 30


def start(path: Path, name: str, count: int) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, WRITER, f"sqlite://{path}", name, str(count)], stdout=subprocess.PIPE, text=True
    )


def test_what_was_acknowledged_is_there_although_a_writer_was_killed(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    victim = start(path, "victim", 100_000)
    others = [start(path, f"writer{i}", WRITES) for i in range(PROCESSES - 1)]
    assert victim.stdout is not None
    lines = [victim.stdout.readline() for _ in range(25)]
    victim.kill()  # SIGKILL: in the middle of whatever it does
    lines += victim.communicate()[0].splitlines(keepends=True)
    for other in others:
        lines += other.communicate()[0].splitlines(keepends=True)
    assert [other.returncode for other in others] == [0] * (PROCESSES - 1)
    records = [line.split() for line in lines if line.endswith("\n") and " " in line]
    acknowledged = {kind: {id_ for what, id_ in records if what == kind} for kind, _ in records}
    with make({"url": f"sqlite://{path}"}) as store:
        assert store.check() == []
        lessons = store.find(LessonFilter(project=PROJECT, limit=100_000))
        assert acknowledged["lesson"] <= {lesson.id for lesson in lessons}
        assert acknowledged["pinned"] <= {lesson.id for lesson in lessons if lesson.pinned}
        events = store.find_events(EventFilter(limit=100_000))
        assert acknowledged["event"] <= {event.id for _, event in events}
        deliveries = store.find_records(Delivery, LogFilter(limit=100_000))
        assert acknowledged["delivery"] <= {delivery.id for delivery in deliveries}
        assert len(lessons) >= (PROCESSES - 1) * WRITES
        assert store.match_text(Query(project=PROJECT, text="victim"), 5, 0).matches


def test_of_two_processes_that_revise_one_lesson_one_is_stale(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    lesson = make_lesson(id="shared")
    code = (
        "import sys\n"
        "from holdfast.errors import StaleWriteError\n"
        "from holdfast.stores.sqlite import make\n"
        "from holdfast.testing.builders import next_version\n"
        "with make({'url': 'sqlite://' + sys.argv[1]}) as store:\n"
        "    (lesson,) = store.get(['shared'])\n"
        "    print('ready', flush=True)\n"
        "    sys.stdin.readline()\n"
        "    try:\n"
        "        store.put([next_version(lesson, why=sys.argv[2])], {lesson.id: lesson.recorded_at})\n"
        "        print('written ' + sys.argv[2])\n"
        "    except StaleWriteError:\n"
        "        print('stale')\n"
    )
    with make({"url": f"sqlite://{path}"}) as store:
        store.put([lesson], {})
        both = [
            subprocess.Popen(
                [sys.executable, "-c", code, str(path), name], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            for name in ("one", "two")
        ]
        for running in both:
            assert running.stdout is not None
            assert running.stdout.readline() == "ready\n"
        for running in both:
            assert running.stdin is not None
            running.stdin.write("\n")
            running.stdin.flush()
        answers = sorted(running.communicate()[0].strip() for running in both)
        assert answers[0] == "stale"
        assert answers[1].startswith("written")
        assert store.get([lesson.id])[0].why == answers[1].split()[1]


def test_two_stores_in_one_process_do_not_overwrite_each_other(tmp_path: Path) -> None:
    lesson = make_lesson()
    url = {"url": f"sqlite://{tmp_path}/memory.db"}
    with make(url) as first, make(url) as second:
        first.put([lesson], {})
        second.put([next_version(lesson, why="two")], {lesson.id: lesson.recorded_at})
        with pytest.raises(StaleWriteError):
            first.put([next_version(lesson, 90, why="one")], {lesson.id: lesson.recorded_at})
        assert first.get([lesson.id])[0].why == "two"
