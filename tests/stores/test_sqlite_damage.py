"""A damaged row is left out, told of and set aside; it never ends an answer, and no error is another than ours."""

from __future__ import annotations

import random
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

from holdfast.domain.query import Query
from holdfast.domain.records import Change, Delivery
from holdfast.domain.statefamilies import LEARNED_POSITION
from holdfast.errors import HoldfastError, LessonNotFoundError
from holdfast.ports.store import EventFilter, LessonFilter, LogFilter
from holdfast.recall.retrieve import RETRIEVERS
from holdfast.stores.sqlite import make
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import (
    PROJECT,
    START,
    make_change,
    make_checkpoint,
    make_delivery,
    make_event,
    make_lesson,
    next_version,
)

BROKEN = {
    "no JSON": b"{",
    "not UTF-8": b'{"insight":"\xff"}',
    "no object": b"[1]",
    "a field is gone": b'{"kind":"fix"}',
}


def fill(path: Path) -> list[str]:
    """A store with some of everything; ids of its lessons, newest first."""
    with make({"url": f"sqlite://{path}"}) as store:
        lessons = [make_lesson(insight=f"Berth {n} is for pilots", path="src/berths.py") for n in range(12)]
        store.put(lessons, {}, make_change(lessons=tuple(lesson.id for lesson in lessons)))
        store.put([next_version(lessons[0], why="measured")], {lessons[0].id: lessons[0].recorded_at})
        store.append_events([make_event(text=f"prompt {n}") for n in range(12)])
        store.record([make_delivery(lesson=lesson.id) for lesson in lessons] + [make_checkpoint()])
        store.set_state(LEARNED_POSITION, "", "3")
        return [lesson.id for lesson in store.find(LessonFilter(project=PROJECT))]


def break_row(path: Path, table: str, column: str, row: int, doc: bytes) -> None:
    sql = sqlite3.connect(path)
    with sql:
        sql.execute(f"UPDATE {table} SET doc = CAST(? AS TEXT) WHERE {column} = ?", (doc, row))
    sql.close()


@pytest.mark.parametrize("doc", BROKEN.values(), ids=BROKEN.keys())
def test_damaged_rows_are_left_out_of_every_answer_and_counted(tmp_path: Path, doc: bytes) -> None:
    path = tmp_path / "memory.db"
    ids = fill(path)
    for table, column in (("lessons", "row"), ("events", "position"), ("deliveries", "position")):
        break_row(path, table, column, 5, doc)
    with make({"url": f"sqlite://{path}"}) as store:
        readable = [lesson.id for lesson in store.find(LessonFilter(project=PROJECT))]
        assert len(readable) == 11
        pages = [store.find(LessonFilter(project=PROJECT, limit=4, offset=offset)) for offset in (0, 4, 8)]
        assert [lesson.id for page in pages for lesson in page] == readable
        assert [position for position, _ in store.find_events(EventFilter(limit=6))] == [1, 2, 3, 4, 6, 7]
        assert len(store.find_records(Delivery, LogFilter())) == 11
        assert store.left_out() == 3
        (damaged,) = set(ids) - set(readable)
        with pytest.raises(LessonNotFoundError, match="damaged"):
            store.get([damaged])
        assert len(store.list_recent(Query(project=PROJECT, as_of=START), 50)) == 11
        store.erase_event_texts(START)
        assert [problem.mend for problem in store.check()] == ["holdfast doctor --mend"]


def test_setting_aside_moves_the_rows_byte_for_byte_and_leaves_a_sound_store(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    fill(path)
    doc = BROKEN["not UTF-8"]
    break_row(path, "lessons", "row", 5, doc)
    break_row(path, "changes", "position", 1, doc)
    with make({"url": f"sqlite://{path}"}) as store:
        assert store.set_aside() == {"lessons": 1, "changes": 1}
        assert store.check() == []
        assert store.left_out() == 0
        assert len(store.find(LessonFilter(project=PROJECT))) == 11
        assert store.find_records(Change, LogFilter()) == []
        rows = store._connection.sql.execute("SELECT source, row, doc FROM set_aside ORDER BY position").fetchall()
        assert rows == [("lessons", 5, doc), ("changes", 1, doc)]
        assert store.set_aside() == {}


def test_a_damaged_lesson_can_be_stated_again(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    fill(path)
    break_row(path, "lessons", "row", 5, BROKEN["no JSON"])
    with make({"url": f"sqlite://{path}"}) as store:
        again = make_lesson(insight="Berth 4 is for pilots")
        store.put([again], {})
        assert store.get([again.id]) == [again]


def use(store: SqliteStore) -> int:
    """Ask everything a surface asks; the lessons that could be read."""
    answered = 0
    query = Query(project=PROJECT, text="berth pilots", paths=("src/berths.py",), symbols=("x",), states=("active",))
    jobs = [
        *(lambda retrieve=retrieve: retrieve(store, query, 20) for retrieve in RETRIEVERS.values()),
        lambda: store.find_events(EventFilter()),
        lambda: store.find_records(Delivery, LogFilter()),
        lambda: store.find_records(Change, LogFilter()),
        lambda: store.get_state(LEARNED_POSITION),
        lambda: store.append_events([make_event()]),
        lambda: store.put([make_lesson()], {}, make_change()),
        store.extent,
        store.check,
        store.set_aside,
    ]
    with suppress(HoldfastError):
        answered = len(store.find(LessonFilter(project=PROJECT)))
    for job in jobs:
        try:
            job()
        except HoldfastError:
            continue
    return answered


def test_randomly_damaged_files_never_raise_anything_but_our_errors(tmp_path: Path) -> None:
    path = tmp_path / "sound.db"
    fill(path)
    sound = path.read_bytes()
    documents = [at for at in range(len(sound)) if sound.startswith(b'{"id":', at)]
    answered = []
    for seed in range(30):
        chance = random.Random(seed)
        damaged = bytearray(sound)
        for _ in range(chance.randint(1, 30)):
            at = (
                chance.choice(documents) + chance.randrange(300)
                if chance.random() < 0.7
                else chance.randrange(len(sound))
            )
            damaged[min(at, len(sound) - 1)] ^= 1 << chance.randrange(8)
        broken = tmp_path / f"{seed}.db"
        broken.write_bytes(damaged)
        try:
            with make({"url": f"sqlite://{broken}", "timeout_s": "5"}) as store:
                answered.append(use(store))
        except HoldfastError:
            answered.append(0)
    assert sum(count > 0 for count in answered) >= 20, answered
