"""Reads lessons with what ranking needs of their words, and keeps both in the process, version by version.

A recall reads some sixty lessons to tell three. To parse their documents and to cut their texts into stems took most
of its time, although a version never changes. So a lesson that was read before is looked up by id and `recorded_at`;
only versions that are not known are read. A store that another process changes is asked each time which versions are
current, so an answer never rests on an old one.

Each entry belongs to one content (`StoreCare.content`), so no organisation of a server sees another one's. The memory
is bounded by KNOWN_CHARACTERS. A purged lesson leaves it at once, and a read that had begun before does not bring it
back.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from datetime import datetime
from sys import intern
from threading import Lock

from holdfast.compare.claims import read_claim
from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import LessonId
from holdfast.lessons.tuning import ADMITTED_WHEN_FULL, KNOWN_CHARACTERS, KNOWN_OVERHEAD, STEMS_FACTOR
from holdfast.ports.store import Store, get_readable
from holdfast.ranking.ranker import head_of
from holdfast.ranking.relevance import forget_words, lesson_stems, stems_of


class LessonWords:
    """A version of a lesson with the stems of its words and of its beginning, which are made when they are asked for.

    They are kept as tuples, which take an eighth of a set's memory.
    """

    __slots__ = ("_head", "_words", "lesson")

    def __init__(self, lesson: Lesson) -> None:
        self.lesson = lesson
        self._words: tuple[str, ...] | None = None
        self._head: tuple[str, ...] | None = None

    @property
    def stems(self) -> frozenset[str]:
        """The stems of the lesson's words."""
        if self._words is None:
            self._words = _interned(lesson_stems(self.lesson))
        return frozenset(self._words)

    @property
    def head(self) -> tuple[str, ...]:
        """The stems of its beginning, for the ranker."""
        if self._head is None:
            self._head = _interned(stems_of(head_of(self.lesson)))
        return self._head


def _interned(stems: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(intern, stems))


class KeptLessons:
    """Versions of lessons that were read, of all contents of this process; the threads of a server share it."""

    def __init__(self, most: int = KNOWN_CHARACTERS) -> None:
        self._most = most
        self._lock = Lock()
        self._entries: dict[tuple[Hashable, LessonId], LessonWords] = {}
        self._size = 0
        self._refused = 0
        self._purges = 0

    @property
    def size(self) -> int:
        """Characters of the lessons that are kept, overhead included."""
        return self._size

    def holds_any(self, content: Hashable, ids: Iterable[LessonId]) -> bool:
        """Return whether a version of any of the lessons is known, be it current or not."""
        entries = self._entries
        return any((content, id_) in entries for id_ in ids)

    def current(self, content: Hashable, versions: Mapping[LessonId, datetime]) -> dict[LessonId, LessonWords]:
        """Return the known lessons among those whose current version was recorded then."""
        known: dict[LessonId, LessonWords] = {}
        with self._lock:
            for id_, recorded_at in versions.items():
                entry = self._entries.get((content, id_))
                if entry is not None and entry.lesson.recorded_at == recorded_at:
                    known[id_] = entry
        return known

    def begin(self) -> int:
        """Return a mark to take before reading what is to be kept."""
        return self._purges

    def keep(self, content: Hashable, lessons: Iterable[LessonWords], begun: int) -> None:
        """Keep the lessons, unless some lesson was purged since `begin` returned that mark."""
        with self._lock:
            if begun != self._purges:
                return
            for known in lessons:
                key = content, known.lesson.id
                self._remove(key)
                if self._admits(_size(known)):
                    self._entries[key] = known
                    self._size += _size(known)

    def purge(self, content: Hashable, ids: Iterable[LessonId]) -> None:
        """Drop the lessons, also those that another thread has read and not kept yet."""
        with self._lock:
            self._purges += 1
            for id_ in ids:
                self._remove((content, id_))

    def _admits(self, size: int) -> bool:
        """Make room for an entry; return False where it may not have any.

        When all room is taken only every ADMITTED_WHEN_FULL-th new lesson replaces old ones. Otherwise questions that
        go round through more lessons than fit would find none of them here.
        """
        if self._size + size <= self._most:
            return True
        self._refused += 1
        if size > self._most or self._refused % ADMITTED_WHEN_FULL:
            return False
        while self._size + size > self._most:
            self._remove(next(iter(self._entries)))
        return True

    def _remove(self, key: tuple[Hashable, LessonId]) -> None:
        known = self._entries.pop(key, None)
        if known is not None:
            self._size -= _size(known)


def _size(known: LessonWords) -> int:
    lesson = known.lesson
    texts = len(lesson.title) + len(lesson.insight) + len(lesson.why) + len(lesson.how) + sum(map(len, lesson.snippets))
    quotes = sum(len(evidence.quote) for evidence in lesson.provenance.evidence)
    return KNOWN_OVERHEAD + quotes + STEMS_FACTOR * texts


_KEPT = KeptLessons()
"""Of the whole process: a server makes services for each request, and they find the same lessons again."""


def read_known(store: Store, ids: Sequence[LessonId], as_of: datetime | None = None) -> list[LessonWords]:
    """Return the lessons that can be read, in order, as known at that instant; see `ports.store.get_readable`.

    What was known in the past is read anew each time.
    """
    if as_of is not None or not ids:
        return [LessonWords(lesson) for lesson in (get_readable(store, ids, as_of) if ids else ())]
    content = store.content()
    begun = _KEPT.begin()
    known: dict[LessonId, LessonWords] = {}
    if _KEPT.holds_any(content, ids):
        versions = store.current_versions(ids)
        known = _KEPT.current(content, {id_: recorded_at for id_, (_, recorded_at) in versions.items()})
    unknown = [id_ for id_ in ids if id_ not in known]
    if unknown:
        fresh = [LessonWords(lesson) for lesson in get_readable(store, unknown)]
        _KEPT.keep(content, fresh, begun)
        known.update((entry.lesson.id, entry) for entry in fresh)
    return [known[id_] for id_ in ids if id_ in known]


def forget_purged(store: Store, ids: Sequence[LessonId]) -> None:
    """Erase the lessons, and every word that ranking and comparing keep, from this process's memory."""
    _KEPT.purge(store.content(), ids)
    forget_words()
    read_claim.cache_clear()
