"""The store's contract: every lane's scope, states and time, and any text as a question."""

from __future__ import annotations

import pytest

from holdfast.domain.lesson import in_state
from holdfast.domain.query import LANES, Query
from holdfast.domain.symbol import Neighbour
from holdfast.domain.vocabulary import LessonId, ProjectId
from holdfast.errors import InvalidValueError
from holdfast.ports.store import LessonFilter, Store
from holdfast.testing._store_questions import (
    HOSTILE,
    OTHER,
    assert_in_lanes,
    every_lane,
    found,
    minutes,
    reachable,
)
from holdfast.testing.builders import (
    PROJECT,
    START,
    make_lesson,
    next_version,
)


class LaneContract:
    """What each index answers."""

    def test_every_lane_finds_a_lesson_made_for_it(self, store: Store) -> None:
        lesson = reachable(store)
        assert set(every_lane(lesson)) == set(LANES)
        assert_in_lanes(store, lesson, True)
        assert_in_lanes(store, lesson, True, as_of=minutes(1))

    def test_an_unknown_lane_is_refused(self, store: Store) -> None:
        with pytest.raises(InvalidValueError):
            store.search("psychic", Query(), 3)

    def test_a_lane_with_nothing_to_go_on_answers_nothing(self, store: Store) -> None:
        reachable(store)
        for lane in ("exact", "text", "path", "symbol", "graph", "vector"):
            assert found(store, lane) == []
            assert found(store, lane, text="the of and to") == []

    def test_every_lane_keeps_to_the_limit(self, store: Store) -> None:
        lessons = [reachable(store) for _ in range(6)]
        for lane, question in every_lane(lessons[0]).items():
            assert len(found(store, lane, limit=4, **question)) == 4
            assert found(store, lane, limit=0, **question) == []

    def test_every_lane_answers_best_first(self, store: Store) -> None:
        for i in range(5):
            reachable(store, recorded_at=minutes(i), salience=i / 5, insight="sqlalchemy " * (i + 1) + "engine x" * i)
        for lane, question in every_lane(make_lesson()).items():
            scores = [hit.score for hit in store.search(lane, Query(project=PROJECT, **question), 9)]
            assert len(scores) == 5
            assert scores == sorted(scores, reverse=True), lane

    def test_another_projects_lessons_are_out_of_every_lane(self, store: Store) -> None:
        lesson = reachable(store, project=OTHER)
        assert_in_lanes(store, lesson, False)
        assert_in_lanes(store, lesson, False, project="")
        assert_in_lanes(store, lesson, True, project=OTHER)
        assert_in_lanes(store, lesson, True, all_projects=True)

    def test_the_users_own_lessons_are_in_every_project(self, store: Store) -> None:
        lesson = reachable(store, level="user", project="")
        assert_in_lanes(store, lesson, True)
        assert_in_lanes(store, lesson, True, project="")
        assert_in_lanes(store, lesson, True, project="", as_of=minutes(1))

    def test_a_teams_lessons_are_in_its_project(self, store: Store) -> None:
        lesson = reachable(store, level="team")
        assert_in_lanes(store, lesson, True)
        assert_in_lanes(store, lesson, False, project=OTHER)

    def test_a_staged_lesson_is_seen_where_the_query_names_it(self, store: Store) -> None:
        lesson = reachable(store, branch="feature/x")
        assert_in_lanes(store, lesson, True)
        assert_in_lanes(store, lesson, True, staged=(lesson.id,))
        assert_in_lanes(store, lesson, False, staged=())
        assert_in_lanes(store, lesson, False, staged=(LessonId("another"),), as_of=minutes(1))
        assert_in_lanes(store, lesson, True, project=OTHER, staged=(), all_projects=True)
        assert store.find(LessonFilter(project=PROJECT, staged=True)) == [lesson]

    def test_a_part_of_the_project_sees_its_own_and_what_is_around_it(self, store: Store) -> None:
        lesson = reachable(store, prefix="packages/api")
        for prefix in ("", "packages", "packages/api", "packages/api/src"):
            assert_in_lanes(store, lesson, True, prefix=prefix)
        for prefix in ("packages/web", "packages/api2", "pack", "docs"):
            assert_in_lanes(store, lesson, False, prefix=prefix)

    def test_a_lesson_of_the_whole_project_is_seen_from_any_part(self, store: Store) -> None:
        assert_in_lanes(store, reachable(store), True, prefix="packages/api", staged=())

    def test_every_lane_keeps_to_the_states_asked(self, store: Store) -> None:
        lesson = reachable(store, state="candidate")
        assert_in_lanes(store, lesson, False)
        assert_in_lanes(store, lesson, True, states=("active", "candidate"))
        assert_in_lanes(store, lesson, False, states=())

    def test_a_tombstone_is_in_no_lane(self, store: Store) -> None:
        lesson = reachable(store)
        store.put([in_state(lesson, "forgotten", at=minutes(1))], {lesson.id: lesson.recorded_at})
        for lane in ("exact", "text", "path", "symbol", "graph", "vector"):
            question = every_lane(lesson)[lane]
            assert found(store, lane, states=("active", "forgotten"), **question) == []
        assert_in_lanes(store, lesson, False)

    def test_every_lane_keeps_to_the_kinds_asked(self, store: Store) -> None:
        lesson = reachable(store, kind="fix")
        assert_in_lanes(store, lesson, True, kinds=("fix", "decision"))
        assert_in_lanes(store, lesson, False, kinds=("decision",))

    def test_every_lane_leaves_the_excluded_out(self, store: Store) -> None:
        lesson = reachable(store)
        assert_in_lanes(store, lesson, False, exclude=(lesson.id,))
        assert_in_lanes(store, lesson, True, exclude=(LessonId("another"), LessonId("\ud800")))

    def test_an_old_version_is_found_as_of_its_time_only(self, store: Store) -> None:
        lesson = reachable(store, insight="prefer the elephant")
        new = next_version(lesson, insight="prefer the giraffe", title="prefer the giraffe")
        store.put([new], {lesson.id: lesson.recorded_at})
        assert found(store, "text", text="elephant") == []
        assert found(store, "text", text="elephant", as_of=START) == [lesson.id]
        assert found(store, "text", text="giraffe", as_of=START) == []
        assert found(store, "text", text="giraffe") == [lesson.id]

    def test_a_search_of_the_past_sees_what_is_written_afterwards(self, store: Store) -> None:
        first = reachable(store)
        assert found(store, "recent", as_of=minutes(9)) == [first.id]
        second = reachable(store, recorded_at=minutes(1), valid_from=START)
        assert found(store, "recent", as_of=minutes(9)) == [second.id, first.id]

    @pytest.mark.parametrize("text", HOSTILE, ids=ascii)
    def test_any_text_is_a_question(self, store: Store, text: str) -> None:
        reachable(store)
        for lane in LANES:
            store.search(
                lane,
                Query(
                    project=ProjectId(text), text=text, paths=(text,), symbols=(text,), command=text, error=text,
                    staged=(LessonId(text),), prefix=text, exclude=(LessonId(text),), vector=(1.0,), embedder_id=text,
                    linked=(Neighbour(path=text, relation="imports", weight=0.5),),
                ),
                5,
            )  # fmt: skip

    @pytest.mark.parametrize("text", [text for text in HOSTILE if text.strip()], ids=ascii)
    def test_any_text_is_a_lesson(self, store: Store, text: str) -> None:
        lesson = make_lesson(
            insight=text[:4000], title=text[:100], why=text, how=text, snippets=(text,), tags=(text,), topic_key=text,
            path=text, globs=(text,), symbol=text, error_signature=text, command=text, branch=text, prefix=text,
        )  # fmt: skip
        store.put([lesson], {})
        store.put([next_version(lesson)], {lesson.id: lesson.recorded_at})
        assert [kept.id for kept in store.find(LessonFilter(project=PROJECT))] == [lesson.id]
        assert store.check() == []
