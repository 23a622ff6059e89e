"""Every constant of ranking, held: most where they decide, all of them by a table that a change has to be written into.

What retrievers make of facts is in test_retrievers, what is told unasked in test_pushing.
"""

from __future__ import annotations

import ast
from datetime import timedelta
from math import exp, log, log1p
from pathlib import Path

import pytest
from tests.ranking.thresholds import meets_threshold

from holdfast.domain.briefing import RetrieverShare
from holdfast.ranking import ranker, tuning
from holdfast.ranking.aim import Aim, kinds_asked, task_of
from holdfast.ranking.diversify import Rival, diversify, likeness
from holdfast.ranking.fuse import EXACT_FLOOR, fuse
from holdfast.ranking.multipliers import HIGHEST, LOWEST, multipliers
from holdfast.ranking.names import TELLING, UNNAMED, naming, runs_of
from holdfast.ranking.relevance import LexicalOverlap, weigh
from holdfast.ranking.retrievers import Hit
from holdfast.ranking.threshold import (
    ASKED,
    PUSHED,
    UNKNOWN,
    CorpusSize,
    Threshold,
    is_certain,
    is_linked,
    is_sufficient_alone,
)
from holdfast.testing.builders import START, make_lesson

SOURCE = Path(tuning.__file__).parents[1]

TABLE: dict[str, object] = {
    "TOKEN_WORTH": {"error": 1.0, "command": 1.0, "topic": 1.0, "symbol": 0.9, "path": 0.8, "file": 0.6,
                    "mention": 0.5, "part": 0.4},
    "SURE_SOURCES": ("error", "command", "topic"),
    "SHARING_SCALE": 4, "EXACT_LEAST": 0.33, "NEAR_ERROR_LEAST": 0.6, "NEAR_ERROR_WORTH": 0.9, "NEAR_ERROR_WORDS": 3,
        "TEXT_COLUMN_WEIGHTS": (5.0, 3.0, 2.0, 2.0, 3.0),
    "TERM_MOST": 2.2, "IDF_LEAST": 0.1, "FAMILIAR": 100, "FAMILIAR_ENOUGH": 300, "FAMILIAR_MOST": 2.0,
    "NEARBY_HITS": 60, "AFTER_SHARE": 0.3, "SESSION_SHARE": 0.2, "SESSION_HITS": 3,
    "PATH_WORTH": {"file": 1.0, "glob": 0.8, "folder": 0.6, "beside": 0.4},
    "LEVEL_FACTORS": {"file": 1.0, "glob": 1.0, "folder": 0.7, "beside": 0.5},
    "NAME_WORTH": {"same": 1.0, "unqualified": 0.9, "around": 0.8, "inside": 0.6},
    "AROUND_FACTOR": 0.9, "NAMED_ONLY": 0.75, "ASKED_LINK": 1.0,
    "TRIGGER_WORTH": {"literal": 1.0, "command": 0.95, "path": 0.9, "symbol": 0.9},
    "RETRIEVER_WEIGHTS": {"vector": 1.0, "text": 0.4, "path": 0.35, "symbol": 0.15, "exact": 0.2, "graph": 0.1},
    "TEXT_POWER": 1.3, "TEXT_MOST": 3.0, "TIE": 0.2, "RRF_K": 60, "RETRIEVERS_AT_MOST": 12, "EXACT_THRESHOLD": 0.4,
    "SURE_EXACT": 0.8,
    "PUSHED_THRESHOLD": {"weighted_overlap": 0.22, "meaning": 0.24, "weight": 1.2, "coverage": 0.2, "short_weight": 0.9,
                   "short_coverage": 0.3, "weight_alone": 3.5},
    "ASKED_THRESHOLD": {"weighted_overlap": 0.13, "meaning": 0.19, "weight": 0.9, "coverage": 0.12, "short_weight": 0.6,
                  "short_coverage": 0.2, "weight_alone": 1.8},
    "MEANING_STEP": 0.068, "EXACT_WORTH": 0.7, "FEW_LESSONS": 10, "MANY": 4_000, "FEW_STEMS": 1_500,
    "DECISIVE_SCORES": {"exact": 0.4, "path": 0.6, "symbol": 0.6, "vector": 0.6}, "LINK_LEAST": 0.1,
    "BM25_UNIT": 30.0, "TELLING_WEIGHT": 2.0, "TELLING_COVERAGE": 0.3, "ALONE_COVERAGE": 0.5, "MEANING_LEAST": 0.3,
    "NAME_WEIGHT": 1.2, "WORD_WEIGHT": 1.0, "PAIR_WEIGHT": 0.6, "EVERYDAY_WEIGHT": 0.3, "KNOWN_CHUNKS": 20_000,
    "WEIGHED_TERMS": 120,
    "NAME_WORDS": 4, "NAME_CHARACTERS": 2_000, "SLIP_LEAST": 5, "SLIPS_AMONG": 40, "AIM_CHARACTERS": 400,
    "RANGES": {"freshness": (0.6, 1.0), "trust": (0.92, 1.04), "confidence": (0.95, 1.05), "salience": (0.95, 1.05),
               "recency": (0.94, 1.0), "time": (1.0, 1.3), "task": (1.0, 1.05)},
    "FRESHNESS": {"unanchored": 1.0, "fresh": 1.0, "moved": 1.0, "unverified": 0.95, "drifted": 0.8, "changed": 0.7,
                  "orphaned": 0.6},
    "MILD": {"drifted": 0.95, "changed": 0.9}, "REWRITTEN": 0.5,
    "TRUST": {"person": 1.04, "verified": 1.03, "agent": 1.0, "repository": 0.96, "tool": 0.92},
    "MMR_LAMBDA": 0.7, "SAME_SESSION": 0.15, "NEAR_COPY": 0.8, "WORTH_LEAST": 0.01,
    "WITH_VECTORS": (11.98, 16.09, 3.95, 3.43, 1.81, 4.72, 1.21, 0.24, 1.45, 0.54, -0.88),
    "WORDS_ALONE": (16.2, 0.0, 4.14, 4.51, 1.91, 4.73, 1.45, 0.0, 1.44, 0.44, -0.89),
    "WORDS_WITHOUT_PLACE": (16.2, 0.0, 4.14, 4.51, 1.91, 2.36, 4.0, 0.0, 1.44, 0.44, -0.44),
    "RANKED_LESSONS": 500, "RANKED_ANCHORED": 0.5, "RANK_OFFSET": 10, "SOFTNESS": 3.0, "HEAD_CHARACTERS": 200,
    "AGE_SCALE": 24,
    "MEANING_ALONE": 0.05, "COMMON_SHARE": 0.08, "COMMON_LEAST": 40, "TURN_PROMPT_WEIGHT": 2.0, "TURN_LEAST": 0.1,
    "TURN_WEIGHT": 0.6, "TURN_COVERAGE": 0.1, "PASSAGE_WEIGHT": 0.5, "TURN_VECTOR_WEIGHT": 0.5, "PASSAGE_WORDS": 60,
    "PASSAGE_LEAST_WORDS": 5, "SHORT_WORDS": 10, "SHORT_FACTOR": 0.8, "ASKING_FACTOR": 0.7, "PROMPT_FACTOR": 0.9,
    "SAME_SESSION_FACTOR": 0.7, "PASSAGE_COPY": 0.6,
}  # fmt: skip


def test_no_constant_moves_unnoticed() -> None:
    constants = {name: value for name, value in vars(tuning).items() if name.isupper() and name != "TYPE_CHECKING"}
    assert constants == TABLE


def test_every_constant_is_explained_and_used() -> None:
    tree = ast.parse(Path(tuning.__file__).read_text("utf-8"))
    for statement, following in zip(tree.body, [*tree.body[1:], None], strict=True):
        if isinstance(statement, ast.Assign | ast.AnnAssign) and "TYPE_CHECKING" not in ast.unparse(statement):
            pair = ast.unparse(statement).startswith("WITH_VECTORS")  # explained with the one that follows
            assert pair or isinstance(following, ast.Expr), ast.unparse(statement)
    modules = [path for room in ("ranking", "recall", "curation", "stores") for path in (SOURCE / room).rglob("*.py")]
    trees = [ast.parse(path.read_text("utf-8")) for path in modules if path.name != "tuning.py"]
    names = {node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)}
    assert set(TABLE) - names == set()


def test_ranking_keeps_its_numbers_in_one_place() -> None:
    numbers = [
        f"{path.name}: {ast.unparse(statement)}"
        for path in (SOURCE / "ranking").glob("*.py")
        if path.name != "tuning.py"
        for statement in ast.parse(path.read_text("utf-8")).body
        if isinstance(statement, ast.Assign) and any(_is_number(node) for node in ast.walk(statement.value))
    ]
    assert numbers == ["names.py: TELLING, EVERYDAY_NAME, UNNAMED = (2, 1, 0)"]  # an order, not a weight


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float) and node.value not in (True, False, 0, 1)


# Where they decide

THOUSANDS = CorpusSize(lessons=4_000, stems=30)


def shares(**scores: float) -> tuple[RetrieverShare, ...]:
    return tuple(RetrieverShare(lane=retriever, rank=1, raw=raw, share=0.1) for retriever, raw in scores.items())


def fused(name: str, score: float) -> float:
    (share,) = fuse({name: [Hit(id=make_lesson().id, score=score)]}).popitem()[1]
    return share.share - 0.2 / 61


@pytest.mark.parametrize(
    ("name", "score", "share"),
    [("path", 1.0, 0.35), ("path", 7.0, 0.35), ("symbol", 1.0, 0.15), ("graph", 0.5, 0.05), ("exact", 0.79, 0.158),
     ("text", 1.0, 0.4), ("text", 0.5, 0.4 * 0.5**1.3), ("text", 3.0, 0.4 * 3**1.3), ("text", 9.0, 0.4 * 3**1.3),
     ("pinned", 1.0, 0.0), ("unheard of", 1.0, 0.0)],
)  # fmt: skip
def test_what_a_retrievers_score_adds(name: str, score: float, share: float) -> None:
    assert fused(name, score) == pytest.approx(share)


def test_a_vector_adds_how_far_it_is_above_the_last() -> None:
    first, second = make_lesson().id, make_lesson().id
    best, last = fuse({"vector": [Hit(id=first, score=0.7), Hit(id=second, score=0.4)]}).values()
    assert best[0].share == pytest.approx(1.0 * 0.3 + 0.2 / 61)
    assert last[0].share == pytest.approx(0.2 / 62)


def test_the_floor_is_under_an_exact_match_from_four_fifths_on() -> None:
    assert fused("exact", 0.8) == pytest.approx(EXACT_FLOOR + 0.2 * 0.8)
    most = 3**1.3 * (1.0 + 0.4 + 0.35 + 0.15 + 0.2 + 0.1) + 12 * 0.2 / 61
    assert pytest.approx(most * HIGHEST / LOWEST) == EXACT_FLOOR


@pytest.mark.parametrize(("threshold", "told_share"), [(PUSHED, 0.22), (ASKED, 0.13)])
@pytest.mark.parametrize(("lessons", "counted"), [(1, 10), (10, 10), (200, 200), (4_000, 4_000), (90_000, 4_000)])
def test_the_words_asked_for_grow_with_the_logarithm_of_how_many_lessons_there_are(
    threshold: Threshold, told_share: float, lessons: int, counted: int
) -> None:
    least = told_share * log(1 + counted)
    long = CorpusSize(lessons=lessons, stems=2_000)
    assert meets_threshold(shares(text=least + 0.001), LexicalOverlap(weight=1.0), threshold, long)
    assert not meets_threshold(shares(text=least - 0.001), LexicalOverlap(weight=1.0), threshold, long)


def test_an_exact_name_adds_seven_tenths_of_its_score_to_the_words() -> None:
    least = 0.22 * log(1 + 4_000)
    text = least - 0.7 * 0.5
    assert meets_threshold(shares(text=text + 0.001, exact=0.5), LexicalOverlap(weight=1.0), PUSHED, THOUSANDS)
    assert not meets_threshold(shares(text=text - 0.001, exact=0.5), LexicalOverlap(weight=1.0), PUSHED, THOUSANDS)


def test_a_meaning_without_a_shared_word_has_to_be_nearer() -> None:
    corpus = CorpusSize(lessons=20, stems=2_000)
    least = 0.19 + 0.05 + 0.068 * log(21)
    assert meets_threshold(shares(vector=least + 0.001), LexicalOverlap(weight=0.9), ASKED, corpus)
    assert not meets_threshold(shares(vector=least - 0.001), LexicalOverlap(weight=0.9), ASKED, corpus)


@pytest.mark.parametrize(("threshold", "meaning"), [(PUSHED, 0.24), (ASKED, 0.19)])
def test_the_meaning_asked_for_grows_with_the_logarithm_of_how_many_lessons_there_are(
    threshold: Threshold, meaning: float
) -> None:
    for lessons in (10, 20):
        corpus = CorpusSize(lessons=lessons, stems=2_000)
        least = meaning + 0.068 * log(1 + lessons)
        assert meets_threshold(shares(vector=least + 0.001), LexicalOverlap(weight=1.0), threshold, corpus)
        assert not meets_threshold(shares(vector=least - 0.001), LexicalOverlap(weight=1.0), threshold, corpus)


@pytest.mark.parametrize(
    ("threshold", "strength", "coverage"),
    [(PUSHED, 1.2, 0.2), (PUSHED, 0.9, 0.3), (PUSHED, 3.5, 0.0), (ASKED, 0.9, 0.12), (ASKED, 0.6, 0.2),
     (ASKED, 1.8, 0.0)],
)  # fmt: skip
def test_where_little_is_kept_fixed_weights_are_enough(threshold: Threshold, strength: float, coverage: float) -> None:
    little, more = CorpusSize(lessons=50, stems=30), CorpusSize(lessons=50, stems=31)
    enough = LexicalOverlap(weight=strength, coverage=coverage)
    assert meets_threshold((), enough, threshold, little)
    assert not meets_threshold((), enough, threshold, more)
    assert not meets_threshold((), LexicalOverlap(weight=strength - 0.01, coverage=coverage), threshold, little)
    assert not coverage or not meets_threshold(
        (), LexicalOverlap(weight=strength, coverage=coverage - 0.01), threshold, little
    )


@pytest.mark.parametrize(("name", "least"), [("exact", 0.4), ("path", 0.6), ("symbol", 0.6), ("vector", 0.6)])
def test_a_score_that_is_a_reason_by_itself(name: str, least: float) -> None:
    assert is_sufficient_alone(shares(**{name: least})[0])
    assert not is_sufficient_alone(shares(**{name: least - 0.01})[0])


def test_among_many_a_name_has_to_be_the_very_thing_and_among_few_any_will_do() -> None:
    few, many = CorpusSize(lessons=15, stems=100), CorpusSize(lessons=16, stems=100)
    assert is_certain(shares(exact=0.4), few)
    assert not is_certain(shares(exact=0.39), few)
    assert not is_certain(shares(exact=0.79), many)
    assert is_certain(shares(exact=0.8), many)
    assert is_certain(shares(exact=0.4), UNKNOWN)  # nobody knows how many there are


def test_a_link_is_enough_from_a_tenth_on() -> None:
    assert is_linked(shares(graph=0.1))
    assert not is_linked(shares(graph=0.09))


def test_what_a_term_of_a_question_weighs() -> None:
    weights = {word: weight for _, weight, word in weigh("walrus get_walrus 数据 test 12 1234").stems}
    assert weights["walrus"] == 1.0
    assert weights["get_walrus"] == 1.2
    assert weights["数据"] == 0.6
    assert weights["test"] == 0.3
    assert weights["12"] == 0.3
    assert weights["1234"] == 1.2


def test_a_question_is_weighed_as_far_as_its_first_120_terms() -> None:
    words = [f"wal{a}{b}rus" for a in "abcdefghijklmn" for b in "abcdefghijklmn"]
    assert len(weigh(" ".join(words)).stems) == 120


def test_a_name_has_at_most_four_words_and_stands_in_the_first_2000_characters() -> None:
    def named(text: str, name: str) -> int:
        return naming(make_lesson(tags=(name,)), runs_of(text))

    assert named("the red green blue pink walrus", "red green blue pink") == TELLING
    assert named("the red green blue pink walrus", "red green blue pink walrus") == UNNAMED
    assert named("oil".rjust(2_000), "oil") == TELLING
    assert named("oil".rjust(2_001), "oil") == UNNAMED


def test_a_slip_is_forgiven_in_names_of_five_letters_and_questions_of_forty_words() -> None:
    def named(text: str, name: str) -> int:
        return naming(make_lesson(tags=(name,)), runs_of(text))

    assert named("kakfa", "kafka") == TELLING
    assert named("drat", "dart") == UNNAMED
    assert named("kakfa" + " word" * 39, "kafka") == TELLING
    assert named("kakfa" + " word" * 40, "kafka") == UNNAMED


def test_a_task_is_told_by_the_first_400_characters() -> None:
    assert task_of("fix".rjust(400)) == "fix"
    assert task_of("fix".rjust(401)) == ""
    assert kinds_asked("what failed before with " + "x" * 376)[0]
    assert not kinds_asked("what failed before with " + "x" * 377)[0]


@pytest.mark.parametrize(
    ("name", "least", "most"),
    [("confidence", 0.95, 1.05), ("salience", 0.95, 1.05)],
)
def test_what_is_learnt_stays_within_its_range(name: str, least: float, most: float) -> None:
    def factor(part: float) -> float:
        return dict(multipliers(make_lesson(**{name: part}), "fresh", START))[name]

    assert [factor(0.0), factor(0.5), factor(1.0)] == pytest.approx([least, 1.0, most])


def test_age_time_and_task_stay_within_their_ranges() -> None:
    lesson = make_lesson(kind="fix")
    old = dict(multipliers(lesson, "fresh", START + timedelta(days=240)))
    assert old["recency"] == pytest.approx(0.97)
    factors = dict(multipliers(lesson, "fresh", START, Aim(task="fix", since=START)))
    assert (factors["recency"], factors["time"], factors["task"]) == (1.0, 1.3, 1.05)
    assert (old["time"], old["task"]) == (1.0, 1.0)


def test_alike_lessons_of_one_session_and_near_copies() -> None:
    left, right = (Rival(score=1.0, terms=frozenset({word}), session="s") for word in "ab")
    assert likeness(left, right) == 0.15
    words = frozenset("abcdefghij")
    first, copy, other = (
        Rival(score=score, terms=frozenset(terms))
        for score, terms in ((1.0, words), (0.99, sorted(words)[:8]), (0.0, "z"))
    )
    assert diversify([first, copy, other], 3) == [(0, 0.7), (2, 0.01), (1, 0.01)]
    nearly = Rival(score=0.99, terms=frozenset(sorted(words)[:7]))
    assert [at for at, _ in diversify([first, nearly, other], 3)] == [0, 1, 2]


def test_the_ranker_is_asked_among_five_hundred_lessons_half_of_them_about_code() -> None:
    anchored, bare = make_lesson(path="a.py"), make_lesson()
    assert ranker.applies([anchored, bare], 500)
    assert not ranker.applies([anchored, bare], 499)
    assert not ranker.applies([anchored, bare, bare], 500)


def test_what_the_ranker_makes_of_ranks_heads_and_age() -> None:
    def row(insight: str) -> dict[str, float]:
        lesson = make_lesson(kind="decision", insight=insight)
        features = ranker.features(lesson, text, 0.0, 1.0, 1, {"heron", "seal"}, (), START + timedelta(days=30))
        return dict(zip(ranker.FEATURES, features, strict=True))

    text = (RetrieverShare(lane="text", rank=5, raw=0.5, share=0.1),)
    within, beyond = row("heron".ljust(196) + "seal"), row("heron".ljust(197) + "seal")
    assert within["text_rank"] == pytest.approx(1 / 15)
    assert within["age"] == pytest.approx(log1p(24 * 30 / 720))
    assert (within["head_overlap"], beyond["head_overlap"]) == (1.0, pytest.approx(1 / 3))


def test_a_worth_falls_by_a_third_of_the_difference() -> None:
    rows = [tuple(value if name == "text_rank" else 0.0 for name in ranker.FEATURES) for value in (0.09, 0.05)]
    assert ranker.judge(rows) == pytest.approx([1.0, exp(-16.2 * 0.04 / 3)])
