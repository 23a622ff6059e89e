"""A hit shares its score with what was learnt beside it in the same session."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.domain.lesson import Lesson, Provenance
from holdfast.domain.query import Query
from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.ranking.retrievers import score_text
from holdfast.ranking.tuning import NEARBY_HITS
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import PROJECT, make_lesson, next_version


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(str(tmp_path / "memory.sqlite")) as opened:
        yield opened


def learnt(session: str, insight: str, **over: object) -> Lesson:
    return make_lesson(insight=insight, provenance=Provenance(session=SessionId(session)), **over)


def keep(store: SqliteStore, *lessons: Lesson) -> None:
    store.put(lessons, {lesson.id: None for lesson in lessons})


def scores(store: SqliteStore, text: str) -> dict[LessonId, float]:
    matches = store.match_text(Query(project=PROJECT, text=text), 10, NEARBY_HITS)
    return {hit.id: hit.score for hit in score_text(matches, 10)}


def test_the_lesson_after_a_hit_is_found_without_its_words(store: SqliteStore) -> None:
    before, hit, after, far = (
        learnt("s", text) for text in ("Oil the hinge.", "Walruses sink boats.", "Paint it green.", "Count the nails.")
    )
    keep(store, before, hit, after, far)
    assert list(scores(store, "walruses")) == [hit.id, after.id]


def test_lessons_of_other_sessions_and_without_one_get_nothing(store: SqliteStore) -> None:
    hit, other, none = learnt("s", "Walruses sink boats."), learnt("t", "Paint it."), make_lesson(insight="Oil it.")
    keep(store, hit, other, none)
    assert list(scores(store, "walruses")) == [hit.id]


def test_of_equal_hits_the_one_whose_session_has_more_comes_first(store: SqliteStore) -> None:
    alone = learnt("t", "Walruses sink boats.")
    first, second = learnt("s", "Walruses sink ships."), learnt("s", "Walruses sleep long.")
    keep(store, first, second, alone)
    scored = scores(store, "walruses sink")
    assert scored[first.id] > scored[alone.id]


def test_what_is_not_to_be_seen_is_not_found_beside_a_hit_either(store: SqliteStore) -> None:
    hit = learnt("s", "Walruses sink boats.")
    keep(store, hit, learnt("s", "Paint it.", state="candidate"), learnt("s", "Oil it.", project="elsewhere"))
    assert list(scores(store, "walruses")) == [hit.id]


def test_a_new_version_is_near_its_session_again(store: SqliteStore) -> None:
    hit, other = learnt("s", "Walruses sink boats."), learnt("s", "Paint it.")
    keep(store, hit, other)
    later = next_version(other, insight="Paint it blue.")
    store.put([later], {other.id: other.recorded_at})
    assert list(scores(store, "walruses")) == [hit.id, other.id]


def test_a_session_is_nothing_to_ask_for(store: SqliteStore) -> None:
    keep(store, learnt("s", "Walruses sink boats."))
    assert store.match_tokens(Query(project=PROJECT, text="session s")) == []
