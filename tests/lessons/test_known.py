"""What a process keeps of lessons: versions read once, one content apart from another, nothing of a purged one."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from threading import Thread

import pytest

from holdfast.bootstrap import Memory
from holdfast.compare.claims import read_claim
from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import LessonId
from holdfast.lessons import known as known_lessons
from holdfast.lessons.known import KeptLessons, LessonWords, forget_purged, read_known
from holdfast.lessons.tuning import ADMITTED_WHEN_FULL
from holdfast.ranking import relevance
from holdfast.ranking.ranker import head_of
from holdfast.ranking.relevance import lesson_stems, stems_of
from holdfast.settings import load_settings
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import START, make_lesson
from holdfast.text import words


class WatchedStore(SqliteStore):
    """Notes the lessons whose documents are read."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.read: list[LessonId] = []
        self.after_reading: Callable[[], None] = lambda: None

    def get(self, ids: Sequence[LessonId], as_of: datetime | None = None) -> list[Lesson]:
        self.read += ids
        lessons = super().get(ids, as_of)
        self.after_reading()
        return lessons


@pytest.fixture
def open_store(tmp_path: Path) -> Iterator[Callable[[str], WatchedStore]]:
    with ExitStack() as stack:
        yield lambda name: stack.enter_context(WatchedStore(str(tmp_path / f"{name}.db")))


@pytest.fixture
def watched(open_store: Callable[[str], WatchedStore]) -> WatchedStore:
    return open_store("memory")


def kept(entries: KeptLessons) -> list[LessonId]:
    return [id_ for _, id_ in entries._entries]


def test_a_version_is_read_once_and_has_the_stems_of_its_words(watched: WatchedStore) -> None:
    lessons = [make_lesson(path="src/ledger.py"), make_lesson(insight="Round the cents half even.")]
    watched.put(lessons, {})
    ids = [lesson.id for lesson in lessons]
    first, again = read_known(watched, ids), read_known(watched, list(reversed(ids)))
    assert watched.read == ids
    assert [entry.lesson for entry in first] == lessons
    assert again == [first[1], first[0]]
    assert [entry.stems for entry in first] == list(map(lesson_stems, lessons))
    assert [set(entry.head) for entry in first] == [set(stems_of(head_of(lesson))) for lesson in lessons]


def test_another_process_revises_a_lesson_and_the_new_version_is_read(watched: WatchedStore) -> None:
    lesson = make_lesson(insight="Round the cents half even.")
    watched.put([lesson], {})
    read_known(watched, [lesson.id])
    revised = replace(lesson, insight="Round the cents half up.", recorded_at=lesson.recorded_at + timedelta(days=1))
    with SqliteStore(watched.path) as other:
        other.put([revised], {lesson.id: lesson.recorded_at})
    assert [entry.lesson for entry in read_known(watched, [lesson.id])] == [revised]
    assert watched.read == [lesson.id, lesson.id]


def test_the_past_is_read_anew_and_does_not_replace_the_present(watched: WatchedStore) -> None:
    lesson = make_lesson(insight="Round the cents half even.")
    revised = replace(lesson, insight="Round the cents half up.", recorded_at=lesson.recorded_at + timedelta(days=1))
    watched.put([lesson], {})
    watched.put([revised], {lesson.id: lesson.recorded_at})
    read_known(watched, [lesson.id])
    assert [entry.lesson.insight for entry in read_known(watched, [lesson.id], START)] == [lesson.insight]
    assert [entry.lesson for entry in read_known(watched, [lesson.id])] == [revised]


def test_a_lesson_that_is_gone_or_unknown_is_left_out(watched: WatchedStore) -> None:
    lesson, other = make_lesson(), make_lesson()
    watched.put([lesson, other], {})
    read_known(watched, [lesson.id, other.id])
    watched.purge([lesson.id])
    assert [entry.lesson for entry in read_known(watched, [lesson.id, make_lesson().id, other.id])] == [other]
    assert read_known(watched, []) == []


def test_two_contents_with_the_same_version_do_not_see_each_others_words(
    open_store: Callable[[str], WatchedStore],
) -> None:
    mine, theirs = open_store("mine"), open_store("theirs")
    lesson = make_lesson(insight="Round the cents half even.")
    secret = replace(lesson, insight="Merge with Contoso closes in May.")
    mine.put([lesson], {})
    theirs.put([secret], {})
    for store, own in ((theirs, secret), (mine, lesson), (theirs, secret), (mine, lesson)):
        assert [entry.lesson.insight for entry in read_known(store, [lesson.id])] == [own.insight]


def test_a_restored_copy_is_another_content(watched: WatchedStore, tmp_path: Path) -> None:
    before = watched.content()
    watched.write_copy(str(tmp_path / "copy.db"))
    assert watched.content() == before
    watched.take_copy(str(tmp_path / "copy.db"))
    assert watched.content() != before


def test_nothing_of_a_purged_lesson_stays_in_memory(tmp_path: Path) -> None:
    (tmp_path / "shop").mkdir()
    settings = load_settings({"HOME": str(tmp_path), "HOLDFAST_HOME": str(tmp_path / "home")})
    rule = "The vault opens with xyzzyplugh before zorkmid."
    with Memory(str(tmp_path / "shop"), settings=settings) as memory:
        id_ = memory.remember(rule).id
        assert [item.lesson.id for item in memory.recall("vault xyzzyplugh zorkmid").items] == [id_]
        read_claim(rule)
        assert id_ in kept(known_lessons._KEPT)
        assert "xyzzyplugh" in relevance._KNOWN
        memory.purge(id_)
        assert not any("xyzzyplugh" in chunk for chunk in relevance._KNOWN)
        assert not any("xyzzyplugh" in chunk for chunk in words._TERMS)
        assert read_claim.cache_info().currsize == 0
        assert memory.recall("vault zorkmid").items == ()
        gc.collect()
        assert [thing.id for thing in gc.get_objects() if isinstance(thing, Lesson) and thing.id == id_] == []
        assert id_ not in kept(known_lessons._KEPT)
        assert not any("xyzzyplugh" in chunk for chunk in relevance._KNOWN)


def test_a_read_that_began_before_a_purge_does_not_bring_the_lesson_back(watched: WatchedStore) -> None:
    lesson, other = make_lesson(), make_lesson()
    watched.put([lesson, other], {})

    def purge() -> None:
        watched.after_reading = lambda: None
        watched.purge([lesson.id])
        forget_purged(watched, [lesson.id])

    watched.after_reading = purge
    assert [entry.lesson for entry in read_known(watched, [lesson.id, other.id])] == [lesson, other]
    assert lesson.id not in kept(known_lessons._KEPT)
    assert [entry.lesson for entry in read_known(watched, [lesson.id, other.id])] == [other]
    assert lesson.id not in kept(known_lessons._KEPT)
    assert other.id in kept(known_lessons._KEPT)


def entries(count: int, letters: int) -> list[LessonWords]:
    return [LessonWords(make_lesson(why="x" * letters)) for _ in range(count)]


def test_the_memory_is_bounded_and_a_pass_over_more_lessons_does_not_empty_it() -> None:
    room = KeptLessons(most=60_000)
    for entry in entries(15, 100):
        room.keep("shop", [entry], room.begin())
    first = kept(room)
    assert room.size <= 60_000
    for entry in entries(2 * ADMITTED_WHEN_FULL, 100):
        room.keep("shop", [entry], room.begin())
        assert room.size <= 60_000
    assert len(set(first) & set(kept(room))) >= len(first) - 4
    assert set(kept(room)) - set(first)
    huge = entries(ADMITTED_WHEN_FULL, 30_000)
    room.keep("shop", huge, room.begin())
    assert not set(kept(room)) & {entry.lesson.id for entry in huge}
    room.purge("shop", kept(room))
    assert room.size == 0


def test_a_new_version_takes_the_place_of_the_old_one() -> None:
    room = KeptLessons()
    lesson = make_lesson()
    revised = replace(lesson, recorded_at=lesson.recorded_at + timedelta(days=1))
    room.keep("shop", [LessonWords(lesson)], room.begin())
    size = room.size
    room.keep("shop", [LessonWords(revised)], room.begin())
    assert room.size == size
    assert room.current("shop", {lesson.id: lesson.recorded_at}) == {}
    assert room.current("other shop", {lesson.id: revised.recorded_at}) == {}
    assert room.current("shop", {lesson.id: revised.recorded_at})[lesson.id].lesson is not None


def test_threads_share_it() -> None:
    room = KeptLessons(most=40_000)
    drawn = entries(40, 200)

    def work() -> None:
        for turn in range(30):
            room.keep("shop", drawn[turn % 3 :: 3], room.begin())
            room.current("shop", {entry.lesson.id: entry.lesson.recorded_at for entry in drawn})
            room.purge("shop", [drawn[turn].lesson.id])

    threads = [Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert room.size == sum(map(known_lessons._size, room._entries.values())) <= 40_000
