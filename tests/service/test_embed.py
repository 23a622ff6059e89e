"""Embedding what waits: batch by batch, resumable, never with a stale text, never with a secret."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from holdfast.domain.errors import EmbedderError
from holdfast.domain.query import Query
from holdfast.ports.store import LessonFilter
from holdfast.service.embed import BATCH, count_pending, embed_pending, embed_question, embedding_text
from holdfast.service.parts import Parts
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import PROJECT, FixedClock, make_lesson, next_version

KEY = "gh" + "p_" + "a1B2" * 9


class LetterEmbedder:
    """Places a text by its share of vowels; fails at the calls it is told to, and runs `before` each."""

    def __init__(self, name: str = "letters#2", fail_at: Sequence[int] = ()) -> None:
        self.id = name
        self.dimension = 2
        self.texts: list[str] = []
        self.calls = 0
        self._fail_at = fail_at
        self.before: Any = None

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.calls += 1
        if self.before:
            self.before()
        if self.calls in self._fail_at:
            raise EmbedderError("the endpoint went away")
        self.texts += texts
        return [self._place(text) for text in texts]

    def _place(self, text: str) -> list[float]:
        share = sum(char in "aeiou" for char in text) / max(1, len(text))
        return [share, (1 - share**2) ** 0.5]


def parts_with(store: SqliteStore, embedder: LetterEmbedder | None) -> Parts:
    unused: Any = None
    return Parts(
        store=store, workspace=unused, clock=FixedClock(), host=unused, detectors=tuple, embedder=lambda: embedder
    )


def put(store: SqliteStore, count: int) -> None:
    lessons = [
        make_lesson(insight=f"Rule number {number} about tides", project=f"p{number % 3}") for number in range(count)
    ]
    store.put(lessons, {lesson.id: None for lesson in lessons})


def waiting(store: SqliteStore, embedder: LetterEmbedder) -> int:
    return len(store.find(LessonFilter(all_projects=True, without_vector=embedder.id)))


def test_every_lesson_of_every_project_gets_a_vector_once(store: SqliteStore) -> None:
    put(store, 2 * BATCH + 5)
    embedder = LetterEmbedder()
    parts = parts_with(store, embedder)
    seen: list[int] = []
    assert embed_pending(parts, kept=seen.append) == 2 * BATCH + 5
    assert seen == [BATCH, BATCH, 5]
    assert embed_pending(parts) == 0
    assert embedder.calls == 3


def test_no_more_than_the_limit_is_embedded_at_once(store: SqliteStore) -> None:
    put(store, 10)
    parts = parts_with(store, LetterEmbedder())
    assert [embed_pending(parts, 4), embed_pending(parts, 4), embed_pending(parts, 4)] == [4, 4, 2]


def test_without_an_embedder_nothing_happens(store: SqliteStore) -> None:
    put(store, 2)
    parts = parts_with(store, None)
    assert embed_pending(parts) == 0
    assert embed_question(parts, "tides") == ((), "")
    assert count_pending(parts) == (2, 2)


def test_what_was_embedded_before_a_failure_stays(store: SqliteStore) -> None:
    put(store, BATCH + 3)
    embedder = LetterEmbedder(fail_at=[2])
    parts = parts_with(store, embedder)
    with pytest.raises(EmbedderError):
        embed_pending(parts)
    assert waiting(store, embedder) == 3
    assert embed_pending(parts) == 3


def test_another_embedder_embeds_anew_and_search_works_meanwhile(store: SqliteStore) -> None:
    put(store, 3)
    old, new = LetterEmbedder("old#2"), LetterEmbedder("new#2")
    embed_pending(parts_with(store, old))
    assert count_pending(parts_with(store, new)) == (3, 3)
    vector = (0.6, 0.8)
    asked = Query(project=PROJECT, text="tides", vector=vector, embedder_id=new.id, all_projects=True)
    assert store.search("vector", asked, 5) == []
    assert len(store.search("text", asked, 5)) == 3
    embed_pending(parts_with(store, new))
    assert len(store.search("vector", asked, 5)) == 3


def test_a_lesson_revised_while_the_endpoint_thinks_does_not_get_the_old_vector(store: SqliteStore) -> None:
    lesson = make_lesson(insight="Old words")
    store.put([lesson], {lesson.id: None})
    embedder = LetterEmbedder()

    def revise() -> None:
        embedder.before = None
        store.put([next_version(lesson, insight="New words")], {lesson.id: lesson.recorded_at})

    embedder.before = revise
    parts = parts_with(store, embedder)
    assert embed_pending(parts) == 0
    assert embed_pending(parts) == 1
    assert "New words" in embedder.texts[-1]


def test_a_lesson_purged_while_the_endpoint_thinks_is_left_out(store: SqliteStore) -> None:
    put(store, 2)
    embedder = LetterEmbedder()

    def purge() -> None:
        store.purge([store.find(LessonFilter(all_projects=True))[0].id])

    embedder.before = purge
    assert embed_pending(parts_with(store, embedder)) == 1


def test_a_lesson_is_embedded_by_its_rule_reason_remedy_and_paths() -> None:
    lesson = make_lesson(
        title="Login tests", insight="Seed the clock", why="midnight", how="freeze it", path="src/app.py"
    )
    assert embedding_text(lesson) == "Login tests\nSeed the clock\nmidnight\nfreeze it\nsrc/app.py"


def test_a_title_made_of_the_insight_is_not_said_twice() -> None:
    assert embedding_text(make_lesson(insight="Seed the clock")) == "Seed the clock"
    assert embedding_text(make_lesson(insight="word " * 40)).count("word") == 40


def test_no_secret_is_sent_to_an_embedder(store: SqliteStore) -> None:
    lesson = make_lesson(insight=f"Use {KEY}")
    store.put([lesson], {lesson.id: None})
    embedder = LetterEmbedder()
    parts = parts_with(store, embedder)
    embed_pending(parts)
    vector, name = embed_question(parts, f"what is {KEY}?")
    assert (len(vector), name) == (2, "letters#2")
    assert not any(KEY in text for text in embedder.texts)
    assert embed_question(parts, "  ") == ((), "")
