"""What each retriever scores over the SQLite store, and how far it looks; the numbers are written out on purpose.

Facts and scores together: whoever moves one of them keeps these tests.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast.domain.lesson import Lesson, Provenance, Triggers
from holdfast.domain.query import Query
from holdfast.domain.vocabulary import SessionId
from holdfast.recall.retrieve import RETRIEVERS
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import PROJECT, START, make_lesson


def keep(store: SqliteStore, **fields: Any) -> Lesson:
    lesson = make_lesson(**fields)
    store.put([lesson], {lesson.id: None})
    return lesson


def scores(store: SqliteStore, retriever: str, limit: int = 20, **fields: Any) -> list[float]:
    return [hit.score for hit in RETRIEVERS[retriever](store, Query(project=PROJECT, **fields), limit)]


# Names


@pytest.mark.parametrize(
    ("lesson_fields", "query_fields", "score"),
    [
        ({"command": "make tide"}, {"command": "make tide"}, 1.0),
        ({"error_signature": "KeyError: tide"}, {"error": "KeyError: tide"}, 1.0),
        ({"topic_key": "tide tables"}, {"text": "Tide tables"}, 1.0),
        ({"symbol": "high_water", "path": "x.py"}, {"text": "what is high_water"}, 0.9),
        ({"path": "src/tide.py"}, {"text": "read src/tide.py now"}, 0.8),
        ({"path": "src/tide.py"}, {"text": "read tide.py now"}, 0.6),
        ({"insight": "Call `loadTide` first."}, {"text": "why loadTide"}, 0.5),
        ({"symbol": "Tide.load_all", "path": "x.py"}, {"text": "why load_all"}, 0.4),
        ({"symbol": "Tide.load_all#2", "path": "x.py"}, {"text": "why Tide.load_all"}, 0.9),
        ({"symbol": "Tide.load_all", "path": "x.py"}, {"symbols": ("Tide.load_all",)}, 1 - 0.1 * 0.6),
        ({"insight": "Quiet."}, {"text": "quiet"}, None),
    ],
)
def test_an_exact_hit_says_as_much_as_what_was_hit(
    store: SqliteStore, lesson_fields: dict[str, Any], query_fields: dict[str, Any], score: float | None
) -> None:
    keep(store, **{"insight": "Nothing of note here.", **lesson_fields})
    assert scores(store, "exact", **query_fields) == ([] if score is None else [pytest.approx(score)])


# Places


@pytest.mark.parametrize(
    ("path", "asked_path", "score"),
    [
        ("src/a/tide.py", "src/a/tide.py", 1.0),
        ("src/a", "src/a/tide.py", 0.6),
        ("src", "src/a/tide.py", 0.42),
        ("src/a/buoy.py", "src/a/tide.py", 0.4),
        ("src/buoy.py", "src/a/tide.py", 0.2),
        ("src/b/buoy.py", "src/a/tide.py", None),
        ("buoy.py", "tide.py", 0.4),
        ("buoy.py", "src/tide.py", None),
    ],
)
def test_a_place_scores_by_how_near_it_is(store: SqliteStore, path: str, asked_path: str, score: float | None) -> None:
    keep(store, path=path)
    assert scores(store, "path", paths=(asked_path,)) == ([] if score is None else [pytest.approx(score)])


@pytest.mark.parametrize(
    ("symbol", "asked_symbol", "score"),
    [
        ("Store.put", "Store.put", 1.0),
        ("put", "Store.put", 0.9),
        ("Store", "Store.put", 0.8),
        ("a", "a.b.c", 0.72),
        ("Store.flush", "flush", 0.75),
        ("Store.flush", "Store", 0.6),
        ("Storage.flush", "Store", None),
    ],
)
def test_a_symbol_of_the_file_queried_scores_by_what_it_is_to_the_one_in_play(
    store: SqliteStore, symbol: str, asked_symbol: str, score: float | None
) -> None:
    keep(store, path="src/tide.py", symbol=symbol)
    scored = scores(store, "symbol", paths=("src/tide.py",), symbols=(asked_symbol,))
    assert scored == ([] if score is None else [pytest.approx(score)])
    assert scores(store, "symbol", paths=("src/other.py",), symbols=(asked_symbol,)) == []


def test_a_symbol_without_a_file_is_requested_as_it_is(store: SqliteStore) -> None:
    keep(store, path="src/tide.py", symbol="Store.flush")
    assert scores(store, "symbol", symbols=("Store::flush",)) == [1.0]
    assert scores(store, "symbol", symbols=("flush",)) == []
    assert scores(store, "symbol", symbols=("Store",)) == []


# Triggers


@pytest.mark.parametrize(
    ("when", "query_fields", "score"),
    [
        (Triggers(literals=("load_tide(",)), {"code": "x = load_tide(3)"}, 1.0),
        (Triggers(commands=("make tide",)), {"command": "make tide --all"}, 0.95),
        (Triggers(paths=("src/**",)), {"paths": ("src/a.py",)}, 0.9),
        (Triggers(symbols=("Tide.load",)), {"symbols": ("Other.load",)}, 0.9),
        (Triggers(literals=("load_tide(",)), {"code": "x = load(3)"}, None),
        (Triggers(commands=("make tide",)), {"command": "make"}, None),
        (Triggers(literals=("load_tide(",), commands=("make tide",)),
         {"code": "load_tide(3)", "command": "make tide"}, 1.0),
    ],
)  # fmt: skip
def test_a_trigger_scores_by_its_kind_the_best_of_several(
    store: SqliteStore, when: Triggers, query_fields: dict[str, Any], score: float | None
) -> None:
    keep(store, when=when)
    assert scores(store, "trigger", **query_fields) == ([] if score is None else [score])


# Words


def test_what_was_learnt_next_in_a_session_takes_half_of_a_hits_score(store: SqliteStore) -> None:
    session = Provenance(session=SessionId("s1"))
    keep(store, insight="Zebra crossings are painted.", provenance=session)
    keep(store, insight="Buoys are lit.", provenance=session)
    keep(store, insight="Quays are swept.", provenance=session)
    keep(store, insight="Zebra herds graze.", provenance=Provenance(session=SessionId("s2")))
    hits = RETRIEVERS["text"](store, Query(project=PROJECT, text="zebra crossings"), 9)
    assert len(hits) == 3
    by_insight = {store.get([hit.id])[0].insight: hit for hit in hits}
    crossing, buoys = by_insight["Zebra crossings are painted."], by_insight["Buoys are lit."]
    assert buoys.score / crossing.score == pytest.approx(0.5 / 1.2)
    assert buoys.weight == 0.0 < crossing.weight


# Time


def test_the_time_in_question_is_half_open(store: SqliteStore) -> None:
    keep(store, valid_from=START)
    later = START + timedelta(seconds=1)
    assert scores(store, "recent", since=START, until=later) == [START.timestamp()]
    assert scores(store, "recent", since=later) == []
    assert scores(store, "recent", until=START) == []
