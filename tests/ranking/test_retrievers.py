"""What facts are worth, each retriever by itself. The numbers themselves are held by test_tuning."""

from __future__ import annotations

from math import log, log2
from typing import Any

import pytest

from holdfast.domain.query import Query
from holdfast.domain.symbol import Neighbour
from holdfast.domain.vocabulary import LessonId
from holdfast.ports.store import (
    ErrorMatches,
    LinkedMatch,
    PathMatch,
    PinnedMatch,
    RecentMatch,
    TextMatch,
    TextMatches,
    TokenMatch,
    TriggerMatch,
    VectorMatch,
)
from holdfast.ranking.retrievers import (
    Hit,
    score_exact,
    score_linked,
    score_occasions,
    score_paths,
    score_pinned,
    score_recent,
    score_text,
    score_triggers,
    score_vector,
)
from holdfast.ranking.tuning import NEARBY_HITS
from holdfast.testing.builders import START

NO_ERRORS = ErrorMatches()


def lessons(*numbers: int) -> tuple[tuple[int, LessonId], ...]:
    return tuple((number, LessonId(f"lesson-{number}")) for number in numbers)


def scores(hits: list[Hit]) -> dict[int, float]:
    """The scores by the lessons' numbers, in the order of the hits."""
    return {int(hit.id.removeprefix("lesson-")): hit.score for hit in hits}


def token(name: str, source: Any, sharing: int, *numbers: int) -> TokenMatch:
    return TokenMatch(token=name, source=source, sharing=sharing, lessons=lessons(*numbers))


# Exact


@pytest.mark.parametrize(
    ("source", "score"),
    [("error", 1.0), ("command", 1.0), ("topic", 1.0), ("symbol", 0.9), ("path", 0.8), ("file", 0.6), ("mention", 0.5),
     ("part", 0.4)],
)  # fmt: skip
def test_a_token_of_one_lesson_scores_by_what_of_the_lesson_it_is(source: str, score: float) -> None:
    assert scores(score_exact([token("x", source, 1, 1)], NO_ERRORS, 5)) == {1: score}


def test_a_name_that_lessons_share_is_worth_less_and_an_error_is_not() -> None:
    assert scores(score_exact([token("a", "symbol", 2, 1)], NO_ERRORS, 5)) == {1: pytest.approx(0.9 / 1.25)}
    shared = [token("a", "symbol", 16, 1), token("error b", "error", 16, 2)]
    assert scores(score_exact(shared, NO_ERRORS, 5)) == pytest.approx({2: 1.0, 1: 0.9 / (1 + log2(16) / 4)})


@pytest.mark.parametrize(("sharing", "is_found"), [(4, True), (5, False)])
def test_a_name_that_many_lessons_share_points_at_none(sharing: int, is_found: bool) -> None:
    numbers = range(1, sharing + 1)
    assert bool(score_exact([token("the_config", "mention", sharing, *numbers)], NO_ERRORS, 50)) is is_found


def test_tokens_of_one_lesson_add_up_as_independent_chances_do() -> None:
    scored = scores(score_exact([token("a", "mention", 1, 1), token("b", "part", 1, 1)], NO_ERRORS, 5))
    assert scored[1] == pytest.approx(1 - 0.5 * 0.6)
    assert scores(score_exact([token("error a", "error", 1, 1), token("b", "part", 1, 1)], NO_ERRORS, 5)) == {1: 1.0}


def near(signature: str, *signatures: str) -> dict[int, float]:
    numbered = lessons(*range(1, len(signatures) + 1))
    return scores(
        score_exact([], ErrorMatches(signature=signature, lessons=tuple(zip(signatures, numbered, strict=True))), 9)
    )


def test_an_error_of_nearly_the_same_words_scores_by_the_share_of_them() -> None:
    signature = "brokererror refused login queue"
    scored = near(signature, signature, "brokererror refused login queue service", "brokererror refused login mirror")
    assert scored == {1: 0.9, 2: pytest.approx(0.9 * 4 / 5), 3: pytest.approx(0.9 * 3 / 5)}


def test_an_equal_error_counts_as_equal_and_not_as_near() -> None:
    equal = token("error brokererror refused login", "error", 1, 1)
    errors = ErrorMatches(
        signature="brokererror refused login", lessons=(("brokererror refused login", lessons(1)[0]),)
    )
    assert scores(score_exact([equal], errors, 5)) == {1: 1.0}


def test_a_score_of_just_the_least_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.ranking.retrievers.EXACT_LEAST", 0.5)
    hits = score_exact([token("a", "mention", 1, 1), token("b", "part", 1, 2)], NO_ERRORS, 5)
    assert scores(hits) == {1: 0.5}


# Text


def text(*matches: TextMatch, terms: tuple[tuple[str, int], ...] = (("walrus", 1),), **more: Any) -> TextMatches:
    return TextMatches(matches=matches, terms=terms, lessons=more.pop("lessons", 20), **more)


def match(number: int, score: float, session: str = "", after: int = 0) -> TextMatch:
    following = lessons(after)[0] if after else None
    return TextMatch(lesson=lessons(number)[0], score=score, session=session, after=following)


def idf(count: int, of: int) -> float:
    return log((of - count + 0.5) / (count + 0.5))


def test_a_text_score_is_the_share_of_what_the_questions_terms_could_give_known_or_not() -> None:
    most = 2.2 * (idf(1, 20) + idf(0, 20))
    (hit,) = score_text(text(match(1, 3.0), terms=(("walrus", 1), ("zebra", 0))), 5)
    assert hit.score == pytest.approx(3.0 / most)
    assert hit.weight == 3.0


def test_a_term_that_most_lessons_have_still_counts_as_queried() -> None:
    for count in (19, 20, 21):
        (hit,) = score_text(text(match(1, 0.11), terms=(("the_term", count),)), 5)
        assert hit.score == pytest.approx(0.11 / (2.2 * 0.1))


def test_a_backend_that_tells_shares_gets_the_same_scores_as_one_that_tells_bm25() -> None:
    terms = (("walrus", 1), ("zebra", 0))
    most = 2.2 * (idf(1, 20) + idf(0, 20))
    (bm25,) = score_text(text(match(1, 3.0), terms=terms), 5)
    (share,) = score_text(text(match(1, 3.0 / most), terms=terms, kind="share"), 5)
    assert (share.score, share.weight) == (pytest.approx(bm25.score), pytest.approx(bm25.weight))


def test_the_lesson_learnt_next_and_the_session_take_shares_of_a_hit() -> None:
    alone = scores(score_text(text(match(1, 2.0)), 5))[1]
    scored = score_text(text(match(1, 2.0, "s", after=2), match(3, 1.0)), 5)
    assert scores(scored) == pytest.approx({1: alone * 1.2, 3: alone / 2, 2: alone * (0.3 + 0.2)})
    assert [hit.weight for hit in scored] == [2.0, 1.0, 0.0]


def test_a_session_counts_by_the_best_of_its_hits_whatever_their_order() -> None:
    own_score = scores(score_text(text(match(9, 1.0)), 5))[9]
    scored = scores(score_text(text(*(match(n, float(n), "s") for n in (2, 4, 1, 3))), 5))
    assert scored == pytest.approx({n: own_score * (n + 0.2 * (4 + 3 + 2)) for n in range(4, 0, -1)})


def test_a_store_without_lessons_or_terms_gives_no_odd_scores() -> None:
    (hit,) = score_text(text(match(1, 0.11), terms=(("zebra", 0),), lessons=0), 5)
    assert hit.score == pytest.approx(0.11 / (2.2 * 0.1))
    assert scores(score_text(text(match(1, 3.0), terms=()), 5)) == {1: 3.0}


def test_only_the_best_hits_give_something_to_what_is_near_them() -> None:
    matches = [match(n, 5.0) for n in range(100, 100 + NEARBY_HITS - 1)]
    scored = scores(score_text(text(*matches, match(2, 2.0, "s", after=3), match(4, 1.0, "t", after=5)), 200))
    assert 3 in scored
    assert 5 not in scored


# Places


@pytest.mark.parametrize(
    ("relation", "levels", "score"),
    [("file", 0, 1.0), ("glob", 0, 0.8), ("folder", 0, 0.6), ("folder", 1, 0.42), ("folder", 2, 0.294),
     ("beside", 0, 0.4), ("beside", 1, 0.2), ("beside", 2, 0.1)],
)  # fmt: skip
def test_a_place_scores_by_its_relation_and_how_far_up_it_is(relation: Any, levels: int, score: float) -> None:
    place = PathMatch(path="a/b/c.py", relation=relation, levels=levels, lessons=lessons(1))
    assert scores(score_paths([place], 5)) == {1: pytest.approx(score)}


def test_a_lesson_of_several_places_counts_once_by_the_nearest() -> None:
    places = [
        PathMatch(path="a/y.py", relation="beside", lessons=lessons(2, 1)),
        PathMatch(path="a/y.py", relation="file", lessons=lessons(1)),
        PathMatch(path="a/x.py", relation="folder", lessons=lessons(1)),
    ]
    assert scores(score_paths(places, 5)) == {1: 1.0, 2: 0.4}


def test_equal_scores_come_newest_first_and_the_limit_cuts_after_scoring() -> None:
    places = [
        PathMatch(path="a/y.py", relation="beside", lessons=lessons(9, 8, 7)),
        PathMatch(path="a/y.py", relation="file", lessons=lessons(1)),
    ]
    assert list(scores(score_paths(places, 9))) == [1, 9, 8, 7]
    assert list(scores(score_paths(places, 2))) == [1, 9]
    assert score_paths(places, 0) == score_paths(places, -1) == []


def test_linked_files_score_by_their_heaviest_link_and_below_a_file_queried() -> None:
    links = (("c.py", 0.2), ("a.py", 0.7), ("b.py", 0.3), ("a.py", 0.1))
    linked = tuple(Neighbour(path=path, relation="imports", weight=weight) for path, weight in links)
    matches = [
        LinkedMatch(path="a.py", lessons=lessons(1)), LinkedMatch(path="b.py", lessons=lessons(2)),
        LinkedMatch(path="c.py", lessons=lessons(2)),
    ]  # fmt: skip
    assert scores(score_linked(matches, Query(linked=linked), 5)) == {1: 0.7, 2: 0.3}
    all_matches = [*matches, LinkedMatch(path="d.py", lessons=lessons(3))]
    assert scores(score_linked(all_matches, Query(linked=linked, paths=("d.py",)), 5)) == {3: 1.0, 1: 0.7, 2: 0.3}


# Triggers and lists


def test_a_literal_counts_more_than_a_command_and_that_more_than_a_place() -> None:
    kinds: list[Any] = ["symbol", "path", "command", "literal"]
    matches = [TriggerMatch(kind=kind, lessons=lessons(n)) for n, kind in enumerate(kinds, start=1)]
    assert scores(score_triggers(matches, 9)) == {4: 1.0, 3: 0.95, 2: 0.9, 1: 0.9}
    both = [TriggerMatch(kind="path", lessons=lessons(1)), TriggerMatch(kind="literal", lessons=lessons(1))]
    assert scores(score_triggers(both, 9)) == {1: 1.0}


def test_a_list_keeps_its_order_and_the_fact_is_the_score() -> None:
    first, second = LessonId("lesson-1"), LessonId("lesson-2")
    assert scores(score_occasions([second, first])) == {2: 1.0, 1: 1.0}
    assert scores(score_vector([VectorMatch(id=first, cosine=0.6), VectorMatch(id=second, cosine=-1.0)])) == {
        1: 0.6,
        2: -1,
    }
    assert scores(score_pinned([PinnedMatch(id=second, salience=0.9)])) == {2: 0.9}
    assert scores(score_recent([RecentMatch(id=first, recorded_at=START)])) == {1: START.timestamp()}
