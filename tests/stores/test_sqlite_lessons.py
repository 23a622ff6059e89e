"""How versions are read: in several statements, by topic and path, and never a negative number of them."""

from __future__ import annotations

from datetime import timedelta

import pytest

from holdfast.domain.lesson import in_state
from holdfast.domain.vocabulary import LessonId
from holdfast.errors import LessonNotFoundError
from holdfast.ports.store import LessonFilter
from holdfast.stores.sqlite import lessons as reading
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import PROJECT, START, make_lesson

pytestmark = pytest.mark.needs_file("it is about rows of the file")


def test_ids_are_requested_in_several_statements(store: SqliteStore, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "ASKED_AT_ONCE", 2)
    lessons = [make_lesson() for _ in range(5)]
    store.put(lessons, {})
    for count in range(6):
        ids = [lesson.id for lesson in lessons[:count]]
        assert [lesson.id for lesson in store.get(ids)] == ids
    with pytest.raises(LessonNotFoundError, match="no lesson nope"):
        store.get([lessons[0].id, LessonId("nope")])
    with pytest.raises(LessonNotFoundError, match=r"no lesson nope as of 2026-03-01 09:00:00 UTC"):
        store.get([LessonId("nope")], START)


def test_a_topic_is_found_by_its_key_and_lessons_without_one_by_none(store: SqliteStore) -> None:
    lesson = make_lesson(topic_key="db/engine")
    store.put([lesson, make_lesson()], {})
    assert store.find(LessonFilter(project=PROJECT, topic_key="db/engine")) == [lesson]
    assert store.find(LessonFilter(project=PROJECT, topic_key="db")) == []


def test_a_glob_is_no_path_that_a_lesson_is_anchored_to(store: SqliteStore) -> None:
    lesson = make_lesson(globs=("docs/**",))
    gone = in_state(lesson, "forgotten", at=START + timedelta(minutes=1))
    store.put([lesson], {})
    assert store.find(LessonFilter(project=PROJECT, path="docs/**")) == []
    store.put([gone], {lesson.id: lesson.recorded_at})
    assert store.find(LessonFilter(project=PROJECT, path="docs/**", states=("forgotten",))) == []
