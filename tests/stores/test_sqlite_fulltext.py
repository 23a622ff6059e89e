from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing

import pytest

from holdfast.domain.query import Query
from holdfast.stores.sqlite import fulltext
from holdfast.stores.sqlite.fulltext import COMMON, count_terms
from holdfast.stores.sqlite.matching import visible
from holdfast.stores.sqlite.rows import scope_token
from holdfast.stores.sqlite.schema import build


@pytest.fixture
def sql() -> Iterator[sqlite3.Connection]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        build(made)
        yield made


def keep(sql: sqlite3.Connection, texts: list[str], owner: str = "p", error: str = "") -> None:
    """Lessons with nothing but an owner and a text."""
    (last,) = sql.execute("SELECT coalesce(max(row), 0) FROM lessons").fetchone()
    for row, text in enumerate(texts, start=last + 1):
        sql.execute(
            "INSERT INTO lessons VALUES (?, ?, 1, NULL, ?, 'active', 'fix', '', '', 0, 0.5, 1, NULL, '', '', '{}',"
            " '', '')",
            (row, f"id-{row}", owner),
        )
        sql.execute(
            "INSERT INTO lesson_text (rowid, title, insight, reason, expanded, error, scope)"
            " VALUES (?, '', ?, '', '', ?, ?)",
            (row, text, error, scope_token(owner)),
        )


def found(sql: sqlite3.Connection, *terms: str, limit: int = 30, **fields: object) -> list[int]:
    """Rows, best first."""
    query = Query(project="p", **fields)  # type: ignore[arg-type]
    bm25 = fulltext.search(sql, query, count_terms(sql, terms), visible(query), limit, max(limit, 60))
    return [row for row, _ in sorted(bm25, key=lambda lesson: (-bm25[lesson], -lesson[0]))]


def test_a_rare_word_chooses_and_a_common_one_ranks_what_it_chose(sql: sqlite3.Connection) -> None:
    keep(sql, ["tide"] * (COMMON + 50) + ["heron tide", "heron reed"] + ["reed"] * 400)
    assert found(sql, "tide", "heron", limit=2) == [COMMON + 51, COMMON + 52]


def scores(sql: sqlite3.Connection, *terms: str) -> dict[int, float]:
    query = Query(project="p")
    bm25 = fulltext.search(sql, query, count_terms(sql, terms), visible(query), 10_000, 10_000)
    return {row: score for (row, _), score in bm25.items()}


def test_a_rare_word_counts_the_same_beside_a_common_one_as_alone(sql: sqlite3.Connection) -> None:
    keep(sql, ["tide"] * (COMMON + 50) + ["heron", "heron tide"] + ["reed"] * 1_400)
    heron, both = COMMON + 51, COMMON + 52
    alone, beside, common = scores(sql, "heron"), scores(sql, "heron", "tide"), scores(sql, "tide")
    assert beside[heron] == pytest.approx(alone[heron])
    assert beside[both] == pytest.approx(alone[both] + common[both])


def test_common_words_choose_where_rare_ones_find_too_few(sql: sqlite3.Connection) -> None:
    keep(sql, ["tide pool"] * (COMMON + 50) + ["heron"] + ["reed"] * 400)
    rows = found(sql, "tide", "pool", "heron", limit=10)
    assert rows[0] == COMMON + 51
    assert len(rows) > 10


def test_the_rarest_words_choose_when_all_together_would_choose_too_many(
    sql: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fulltext, "CHOSEN", 5)
    keep(sql, ["tide"] * 4 + ["heron"] * 3 + ["heron tide"])
    assert set(found(sql, "tide", "heron", limit=1)) == {5, 6, 7, 8}


def test_words_that_too_many_lessons_have_are_left_out_of_the_count(
    sql: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fulltext, "COUNTED", 100)
    keep(sql, ["tide"] * (COMMON + 50) + ["heron tide", "heron reed"] + ["reed"] * 400)
    assert found(sql, "tide", "heron", limit=2) == [COMMON + 52, COMMON + 51]  # alike: newer first


@pytest.mark.parametrize("few", [0, 500])
@pytest.mark.parametrize("ours", [3, 400])
def test_a_small_and_a_large_project_find_their_own_and_the_users_lessons_only(
    sql: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch, ours: int, few: int
) -> None:
    monkeypatch.setattr(fulltext, "FEW_OTHERS", few)
    keep(sql, ["heron"] * 5, owner="other")
    keep(sql, ["reed"] * ours)
    keep(sql, ["heron"] * 3)
    keep(sql, ["heron"], owner="")
    assert len(found(sql, "heron")) == 4
    assert len(found(sql, "heron", all_projects=True)) == 9


def test_newer_lessons_of_another_project_do_not_hide_what_a_common_word_finds(
    sql: sqlite3.Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fulltext, "CHOSEN", 50)
    keep(sql, ["tide"] * (COMMON + 50))
    keep(sql, ["tide"] * 300, owner="other")
    assert len(found(sql, "tide")) >= 30


def test_errors_of_other_projects_are_not_near(sql: sqlite3.Connection) -> None:
    keep(sql, ["a"], owner="other", error="TideError: heron lost")
    keep(sql, ["b"], error="TideError: heron gone")
    keep(sql, ["TideError heron"])
    query = Query(project="p")
    near = fulltext.errors_with(sql, query, count_terms(sql, ["tideerror", "heron"]), visible(query), 20)
    assert near == [("TideError: heron gone", (2, "id-2"))]


def test_the_frequency_of_a_common_word_is_estimated_from_its_first_lessons(sql: sqlite3.Connection) -> None:
    keep(sql, ["tide", "reed"] * (2 * COMMON))
    counts = count_terms(sql, ["tide", "heron"])
    assert counts.lessons == {"tide": pytest.approx(2 * COMMON, abs=4)}
    assert counts.common == ("tide",)
