"""The store's contract: scope, states and time in every search method, and arbitrary text as a query."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast.domain.event import Event, spoken_prefix
from holdfast.domain.lesson import Lesson, Provenance, in_state
from holdfast.domain.query import Query
from holdfast.domain.symbol import Neighbour
from holdfast.domain.vocabulary import STATES, EventKind, LessonId, ProjectId, SessionId, State
from holdfast.ports.store import LessonFilter, Search, Store
from holdfast.testing.builders import (
    PROJECT,
    START,
    make_event,
    make_lesson,
    next_version,
)

from .store_questions import (
    BY_SUBJECT,
    EMBEDDER,
    HOSTILE,
    OTHER,
    answer_of,
    assert_found,
    every_method,
    found,
    id_of,
    minutes,
    reachable,
)


class SearchContract:
    """The answers of each method."""

    def test_turns_are_found_by_their_words_also_those_stated_since_the_last_search(self, store: Store) -> None:
        query = Query(project=PROJECT, text="where is the harbour log?")
        assert store.search_turns(query, 5).matches == ()
        store.append_events([_said("prompt", 1, "Where is the harbour log?"), _said("prompt", 3, "Thanks")])
        store.append_events([_said("reply", 2, "In the cellar.\0"), _said("reply", 4, "Of the log?", OTHER)])
        (match,) = store.search_turns(query, 5).matches
        assert (match.turn.prompt, match.turn.reply) == ("Where is the harbour log?", "In the cellar.\ufffd")
        assert match.turn.at == minutes(1)
        assert match.turn.host == make_event().host
        assert dict(store.search_turns(query, 5).terms)["harbour"] == 1

    def test_turns_are_found_in_the_time_that_the_query_names(self, store: Store) -> None:
        store.append_events([_said("prompt", 1, "The harbour log is here.")])
        cases: list[tuple[dict[str, Any], int]] = [
            ({"since": minutes(2)}, 0),
            ({"until": minutes(1)}, 0),
            ({"as_of": minutes(1)}, 1),
        ]
        for fields, count in cases:
            query = Query(project=PROJECT, text="harbour log", **fields)
            assert len(store.search_turns(query, 5).matches) == count, fields

    @pytest.mark.parametrize("text", HOSTILE)
    def test_any_text_may_be_queried_of_turns(self, store: Store, text: str) -> None:
        store.append_events([_said("prompt", 1, "The harbour log is here." + text)])
        store.search_turns(Query(project=PROJECT, text=text), 5)

    def test_erased_texts_are_in_no_turn(self, store: Store) -> None:
        query = Query(project=PROJECT, text="harbour log")
        store.append_events([_said("prompt", 1, "The harbour log is here.")])
        assert store.search_turns(query, 5).matches
        store.erase_event_texts(minutes(2))
        assert store.search_turns(query, 5).matches == ()

    def test_every_method_finds_a_lesson_made_for_it(self, store: Store) -> None:
        lesson = reachable(store)
        methods = {name for name in vars(Search) if name.startswith(("match_", "list_"))}
        assert set(every_method(lesson)) == methods
        assert_found(store, lesson, True)
        assert_found(store, lesson, True, as_of=minutes(1))

    def test_a_method_with_nothing_to_go_on_answers_nothing(self, store: Store) -> None:
        reachable(store)
        for method in BY_SUBJECT:
            assert found(store, method) == []
            assert found(store, method, text="the of and to") == []

    def test_of_lessons_that_match_alike_the_newest_are_reported_first_and_no_fewer_than_the_limit(
        self, store: Store
    ) -> None:
        lessons = [reachable(store).id for _ in range(6)]
        for method in ("match_tokens", "match_paths", "match_symbols", "match_linked", "match_triggers"):
            ids = found(store, method, limit=4, **every_method(make_lesson())[method])
            assert ids[:4] == lessons[:1:-1], method

    def test_positions_grow_with_every_version_written(self, store: Store) -> None:
        first, second = reachable(store), reachable(store)
        store.put([next_version(first, insight="Another rule")], {first.id: first.recorded_at})
        (match,) = store.match_paths(Query(project=PROJECT, paths=first.paths), 5)[:1]
        assert [id_ for _, id_ in match.lessons] == [first.id, second.id]
        assert match.lessons[0][0] > match.lessons[1][0]

    @pytest.mark.parametrize("method", ["match_vector", "list_recent", "list_pinned", "match_occasions"])
    def test_a_list_has_no_more_than_the_limit(self, store: Store, method: str) -> None:
        lessons = [reachable(store) for _ in range(6)]
        question = every_method(lessons[0])[method]
        assert len(found(store, method, limit=4, **question)) == 4
        assert found(store, method, limit=0, **question) == []

    def test_texts_come_best_first_and_the_limit_holds_but_for_neighbours(self, store: Store) -> None:
        for i in range(5):
            reachable(store, insight="sqlalchemy " * (i + 1) + "engine x" * i)
        query = Query(project=PROJECT, text="sqlalchemy engine")
        scores = [match.score for match in store.match_text(query, 9, 0).matches]
        assert len(scores) == 5
        assert scores == sorted(scores, reverse=True)
        assert len(store.match_text(query, 2, 4).matches) >= 4

    def test_a_text_is_reported_how_many_lessons_have_each_of_its_terms(self, store: Store) -> None:
        store.put([make_lesson(insight=f"walrus number {i}") for i in range(3)], {})
        answer = store.match_text(Query(project=PROJECT, text="a walrus and a zebra"), 5, 0)
        assert dict(answer.terms) == {"walrus": 3, "zebra": 0}
        assert answer.lessons == 3
        assert answer.kind in ("bm25", "share")

    def test_a_terms_lessons_are_counted_whoever_may_see_them(self, store: Store) -> None:
        mine, theirs = make_lesson(insight="walrus here"), make_lesson(insight="walrus there", project=OTHER)
        store.put([mine, theirs, make_lesson(insight="A walrus waits", state="candidate")], {})
        answer = store.match_text(Query(project=PROJECT, text="walrus"), 5, 0)
        assert [match.lesson[1] for match in answer.matches] == [mine.id]
        assert (dict(answer.terms), answer.lessons) == ({"walrus": 3}, 3)

    def test_a_text_match_tells_its_session_and_what_was_learnt_next_in_it(self, store: Store) -> None:
        def learnt(session: str, insight: str, **over: Any) -> Lesson:
            return make_lesson(insight=insight, provenance=Provenance(session=SessionId(session)), **over)

        hit, after = learnt("s", "Herons sink"), learnt("s", "Paint it")
        hidden = learnt("t", "Oil it", state="candidate")
        other, alone = learnt("t", "A heron sleeps"), make_lesson(insight="The heron dives")
        store.put([hit, other, hidden, after, alone], {})
        matches = store.match_text(Query(project=PROJECT, text="heron"), 9, 9).matches
        beside = {match.lesson[1]: (match.session, match.after and match.after[1]) for match in matches}
        assert beside == {hit.id: ("s", after.id), other.id: ("t", None), alone.id: ("", None)}

    def test_lessons_are_counted_in_scope_and_state_up_to_a_number(self, store: Store) -> None:
        for state in ("active", "active", "candidate"):
            reachable(store, state=state)
        reachable(store, project=OTHER)
        assert store.count_lessons(Query(project=PROJECT), 9) == 2
        assert store.count_lessons(Query(project=PROJECT), 1) == 1
        assert store.count_lessons(Query(all_projects=True, states=("active", "candidate")), 9) == 4
        assert store.count_lessons(Query(project=PROJECT, as_of=START - timedelta(days=1)), 9) == 0

    def test_another_projects_lessons_are_out_of_every_method(self, store: Store) -> None:
        lesson = reachable(store, project=OTHER)
        assert_found(store, lesson, False)
        assert_found(store, lesson, False, project="")
        assert_found(store, lesson, True, project=OTHER)
        assert_found(store, lesson, True, all_projects=True)

    def test_the_users_own_lessons_are_in_every_project(self, store: Store) -> None:
        lesson = reachable(store, level="user", project="")
        assert_found(store, lesson, True)
        assert_found(store, lesson, True, project="")
        assert_found(store, lesson, True, project="", as_of=minutes(1))

    def test_a_teams_lessons_are_in_its_project(self, store: Store) -> None:
        lesson = reachable(store, level="team")
        assert_found(store, lesson, True)
        assert_found(store, lesson, False, project=OTHER)

    def test_a_staged_lesson_is_seen_where_the_query_names_it(self, store: Store) -> None:
        lesson = reachable(store, branch="feature/x")
        assert_found(store, lesson, True)
        assert_found(store, lesson, True, staged=(lesson.id,))
        assert_found(store, lesson, False, staged=())
        assert_found(store, lesson, False, staged=(LessonId("another"),), as_of=minutes(1))
        assert_found(store, lesson, True, project=OTHER, staged=(), all_projects=True)
        assert store.find(LessonFilter(project=PROJECT, staged=True)) == [lesson]

    def test_a_part_of_the_project_sees_its_own_and_what_is_around_it(self, store: Store) -> None:
        lesson = reachable(store, prefix="packages/api")
        for prefix in ("", "packages", "packages/api", "packages/api/src"):
            assert_found(store, lesson, True, prefix=prefix)
        for prefix in ("packages/web", "packages/api2", "pack", "docs"):
            assert_found(store, lesson, False, prefix=prefix)

    def test_a_lesson_of_the_whole_project_is_seen_from_any_part(self, store: Store) -> None:
        assert_found(store, reachable(store), True, prefix="packages/api", staged=())

    def test_every_method_keeps_to_the_states_requested(self, store: Store) -> None:
        lesson = reachable(store, state="candidate")
        assert_found(store, lesson, False)
        assert_found(store, lesson, True, states=("active", "candidate"))
        assert_found(store, lesson, False, states=())

    @pytest.mark.parametrize("state", [state for state in STATES if state != "forgotten"])
    def test_a_lesson_in_any_other_state_is_found_where_that_is_requested(self, store: Store, state: State) -> None:
        assert_found(store, reachable(store, state=state), True, states=(state,))

    def test_what_may_not_be_seen_makes_no_match(self, store: Store) -> None:
        lesson = reachable(store, state="candidate")
        for method, question in every_method(lesson).items():
            answer = answer_of(store, method, Query(project=PROJECT, **question), 5)
            matches = {"match_text": "matches", "match_errors": "lessons"}.get(method)
            assert list(getattr(answer, matches) if matches else answer) == [], method

    @pytest.mark.parametrize(
        ("fields", "minute", "is_true"),
        [
            ({"valid_to": minutes(5)}, 4, True), ({"valid_to": minutes(5)}, 5, False),
            ({"valid_to": minutes(5), "state": "superseded"}, 9, True),
            ({"valid_to": minutes(5), "state": "retired"}, 9, True),
            ({"valid_to": minutes(5), "state": "candidate"}, 9, False),
            ({"valid_from": minutes(5), "recorded_at": minutes(1)}, 4, False),
            ({"valid_from": minutes(5), "recorded_at": minutes(1)}, 5, True),
            ({"valid_from": minutes(5), "recorded_at": minutes(5)}, 4, True),
        ],
    )  # fmt: skip
    def test_every_method_keeps_to_what_is_true_at_the_time_of_asking(
        self, store: Store, fields: dict[str, Any], minute: int, is_true: bool
    ) -> None:
        lesson = reachable(store, **fields)
        assert_found(store, lesson, is_true, at=minutes(minute), states=(lesson.state,))
        assert_found(store, lesson, True, states=(lesson.state,))

    def test_a_tombstone_is_never_found(self, store: Store) -> None:
        lesson = reachable(store)
        store.put([in_state(lesson, "forgotten", at=minutes(1))], {lesson.id: lesson.recorded_at})
        for method in BY_SUBJECT:
            question = every_method(lesson)[method]
            assert found(store, method, states=("active", "forgotten"), **question) == []
        assert_found(store, lesson, False)

    def test_every_method_keeps_to_the_kinds_requested(self, store: Store) -> None:
        lesson = reachable(store, kind="fix")
        assert_found(store, lesson, True, kinds=("fix", "decision"))
        assert_found(store, lesson, False, kinds=("decision",))

    def test_every_method_leaves_the_excluded_out(self, store: Store) -> None:
        lesson = reachable(store)
        assert_found(store, lesson, False, exclude=(lesson.id,))
        assert_found(store, lesson, True, exclude=(LessonId("another"), LessonId("\ud800")))

    def test_an_old_version_is_found_as_of_its_time_only(self, store: Store) -> None:
        lesson = reachable(store, insight="prefer the elephant")
        new = next_version(lesson, insight="prefer the giraffe", title="prefer the giraffe")
        store.put([new], {lesson.id: lesson.recorded_at})
        assert found(store, "match_text", text="elephant") == []
        assert found(store, "match_text", text="elephant", as_of=START) == [lesson.id]
        assert found(store, "match_text", text="giraffe", as_of=START) == []
        assert found(store, "match_text", text="giraffe") == [lesson.id]

    def test_a_search_of_the_past_sees_what_is_written_afterwards(self, store: Store) -> None:
        first = reachable(store)
        assert found(store, "list_recent", as_of=minutes(9)) == [first.id]
        second = reachable(store, recorded_at=minutes(1), valid_from=START)
        assert found(store, "list_recent", as_of=minutes(9)) == [second.id, first.id]

    def test_vectors_of_now_and_of_the_past_are_queried_in_turn(self, store: Store) -> None:
        def near(**conditions: Any) -> list[LessonId]:
            return found(store, "match_vector", **every_method(lessons[0])["match_vector"], **conditions)

        lessons = [reachable(store) for _ in range(4)]
        for _ in range(2):
            assert near() == [lesson.id for lesson in lessons[::-1]]
            assert near(as_of=minutes(1)) == [lesson.id for lesson in lessons[::-1]]
        for lesson in lessons[:3]:
            store.put([in_state(lesson, "forgotten", at=minutes(5))], {lesson.id: lesson.recorded_at})
        assert near() == [lessons[3].id]
        assert near(as_of=minutes(9)) == [lessons[3].id]

    def test_a_vector_of_no_embedder_is_near_nothing(self, store: Store) -> None:
        reachable(store)
        assert found(store, "match_vector", vector=(1.0, 0.0, 0.0)) == []
        assert found(store, "match_vector", embedder_id=EMBEDDER) == []

    @pytest.mark.parametrize("text", HOSTILE, ids=id_of)
    def test_any_text_is_a_question(self, store: Store, text: str) -> None:
        lesson = reachable(store)
        for method in every_method(lesson):
            answer_of(
                store,
                method,
                Query(
                    project=ProjectId(text), text=text, paths=(text,), symbols=(text,), command=text, error=text,
                    code=text, staged=(LessonId(text),), prefix=text, exclude=(LessonId(text),), vector=(1.0,),
                    embedder_id=text, linked=(Neighbour(path=text, relation="edited_together", weight=0.5),),
                ),
                5,
            )  # fmt: skip

    @pytest.mark.parametrize("text", [text for text in HOSTILE if text.strip()], ids=id_of)
    def test_any_text_is_a_lesson(self, store: Store, text: str) -> None:
        lesson = make_lesson(
            insight=text[:4000], title=text[:100], why=text, how=text, snippets=(text,), tags=(text,), topic_key=text,
            path=text, globs=(text,), symbol=text, error_signature=text, command=text, branch=text, prefix=text,
        )  # fmt: skip
        store.put([lesson], {})
        store.put([next_version(lesson)], {lesson.id: lesson.recorded_at})
        assert [stored.id for stored in store.find(LessonFilter(project=PROJECT))] == [lesson.id]
        assert store.check() == []


def _said(kind: EventKind, minute: int, text: str, project: ProjectId = PROJECT) -> Event:
    key = f"{spoken_prefix(kind)}{minute}"
    return make_event(kind=kind, at=minutes(minute), key=key, text=text, project=project)
