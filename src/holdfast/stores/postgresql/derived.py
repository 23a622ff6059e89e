"""The rows derived from lesson versions: anchors, tokens, triggers, words, postings, and facets of current ones.

Those of current versions are `live`. Those of earlier versions stay until the lesson is purged, so that a question
about the past costs no more than one about now. Vectors are of current versions only.

A row has the number of its scope in the place of the owner's name, because postings are most of the store.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.domain.lesson import Lesson
from holdfast.ranking.tuning import TEXT_COLUMN_WEIGHTS
from holdfast.stores._shared.derived import FACET_ROWS, SEARCHABLE, anchors_of, tokens_of, trigger_keys
from holdfast.stores.postgresql.rows import SESSION_CODE, SOURCE_CODES, key, scope_number
from holdfast.stores.postgresql.tenant import Sql
from holdfast.stores.postgresql.terms import stems_of
from holdfast.text.searchkeys import facet_values, text_columns

ERROR = "!"
"""Before the terms of an error's signature, which are searched by themselves too; no stem begins with it."""
ERROR_COLUMN = len(TEXT_COLUMN_WEIGHTS) - 1
MOST_COUNTED = 32_767
"""What a `smallint` holds."""
SCOPE_WORDS = 1
"""FTS5 counts the word that stands for the scope into a lesson's length, and so do we, for equal scores."""
TABLES = ("anchors", "tokens", "triggers")


def index_rows(sql: Sql, row: int, lesson: Lesson, owner: str) -> None:
    """Write the rows of a new current version; a tombstone has none."""
    if lesson.state not in SEARCHABLE:
        return
    version = (sql.org, scope_number(owner), row)
    _insert_anchors(sql, version, lesson)
    _insert_tokens(sql, version, lesson)
    _insert_triggers(sql, version, lesson)
    insert_facets(sql, version, lesson)
    _insert_words(sql, version, lesson)


def close_rows(sql: Sql, row: int) -> None:
    """Mark the rows of a version that another one replaced, and delete its facets and vectors."""
    for table in TABLES:
        sql.execute(f"UPDATE {table} SET live = false WHERE org = %s AND lesson = %s", (sql.org, row))
    sql.execute(
        "UPDATE postings SET live = false WHERE org = %s AND live AND term = ANY(%s) AND scope = ANY(%s)"
        " AND lesson = %s",
        (sql.org, *_indexed_under(sql, row), row),
    )
    sql.execute("UPDATE words SET live = false WHERE org = %s AND lesson = %s", (sql.org, row))
    _drop_facets_and_vectors(sql, row)


def drop_rows(sql: Sql, row: int) -> None:
    """Delete the rows and the vectors of a version."""
    for table in TABLES:
        sql.execute(f"DELETE FROM {table} WHERE org = %s AND lesson = %s", (sql.org, row))
    sql.execute(
        "DELETE FROM postings WHERE org = %s AND live = ANY('{t,f}') AND term = ANY(%s) AND scope = ANY(%s)"
        " AND lesson = %s",
        (sql.org, *_indexed_under(sql, row), row),
    )
    sql.execute("DELETE FROM words WHERE org = %s AND lesson = %s", (sql.org, row))
    _drop_facets_and_vectors(sql, row)


def reindex_rows(sql: Sql, row: int, lesson: Lesson, owner: str) -> None:
    """Write the rows of a current version anew; its vectors stay."""
    vectors = sql.execute(
        "SELECT embedder, owner, dimension, embedding::text FROM vectors WHERE org = %s AND lesson = %s", (sql.org, row)
    ).fetchall()
    drop_rows(sql, row)
    index_rows(sql, row, lesson, owner)
    sql.executemany(
        "INSERT INTO vectors (org, lesson, embedder, owner, dimension, embedding) VALUES (%s, %s, %s, %s, %s, %s)",
        [(sql.org, row, *vector) for vector in vectors],
    )


def columns_of(lesson: Lesson) -> list[list[str]]:
    """Return the stems of each column of the lesson's text, in order."""
    return [stems_of(text) for text in text_columns(lesson)]


def joined(columns: Sequence[Sequence[str]]) -> str:
    """Return the stems of all columns as one text, in which `phrase` finds neighbours."""
    return "\n".join(f"  {'  '.join(stems)}  " for stems in columns)


def phrase(stems: Sequence[str]) -> str:
    """Return what stands in a text of `joined` where these stems are neighbours."""
    return f" {'  '.join(stems)} "


def weights_of(columns: Sequence[Sequence[str]]) -> dict[str, int]:
    """Return each term and how often it occurs, each time as often as the weight of its column."""
    weights: Counter[str] = Counter()
    for weight, stems in zip(TEXT_COLUMN_WEIGHTS, columns, strict=True):
        for term, count in Counter(stems).items():
            weights[term] += round(weight) * count
    weights.update({ERROR + term: count for term, count in Counter(columns[ERROR_COLUMN]).items()})
    return {term: min(weight, MOST_COUNTED) for term, weight in weights.items()}


def terms_in(stems: str) -> list[str]:
    """Return the terms under which a version with that text of `joined` has postings."""
    columns = stems.split("\n")
    errors = columns[ERROR_COLUMN].split() if len(columns) > ERROR_COLUMN else []
    return [*dict.fromkeys(stems.split()), *dict.fromkeys(ERROR + term for term in errors)]


def _insert_anchors(sql: Sql, version: tuple[int, int, int], lesson: Lesson) -> None:
    rows = {key(path): (key(folder), path if is_glob else "") for path, folder, is_glob in anchors_of(lesson)}
    folders, globs = [folder for folder, _ in rows.values()], [glob for _, glob in rows.values()]
    _insert(sql, "anchors", version, {"path": list(rows), "folder": folders, "glob": globs})


def _insert_tokens(sql: Sql, version: tuple[int, int, int], lesson: Lesson) -> None:
    codes: dict[str, int] = {}
    for token, source in tokens_of(lesson):
        codes.setdefault(key(token), SESSION_CODE if source is None else SOURCE_CODES[source])
    _insert(sql, "tokens", version, {"token": list(codes), "source": list(codes.values())})


def _insert_triggers(sql: Sql, version: tuple[int, int, int], lesson: Lesson) -> None:
    rows = list(dict.fromkeys(trigger_keys(lesson)))
    columns: dict[str, list[Any]] = {
        "kind": [kind for kind, _, _ in rows], "key": [key(word) for _, word, _ in rows], "number": [*range(len(rows))],
        "value": [value for _, _, value in rows],
    }  # fmt: skip
    _insert(sql, "triggers", version, columns)


def insert_facets(sql: Sql, version: tuple[int, int, int], lesson: Lesson) -> None:
    """Write the facets of a current version that no column and no other table has: its areas and its tags."""
    if lesson.state not in SEARCHABLE:
        return
    org, scope, row = version
    values = [(facet, key(value)) for facet in FACET_ROWS for value in facet_values(lesson, facet)]
    sql.executemany(
        "INSERT INTO facets (org, facet, value, scope, lesson) VALUES (%s, %s, %s, %s, %s) ON CONFLICT DO NOTHING",
        [(org, *value, scope, row) for value in values],
    )


def _insert_words(sql: Sql, version: tuple[int, int, int], lesson: Lesson) -> None:
    org, _, row = version
    columns = columns_of(lesson)
    length = sum(map(len, columns)) + SCOPE_WORDS
    sql.execute(
        "INSERT INTO words (org, live, lesson, length, stems) VALUES (%s, true, %s, %s, %s)",
        (org, row, length, joined(columns)),
    )
    weights = weights_of(columns)
    lengths = [min(length, MOST_COUNTED)] * len(weights)
    _insert(sql, "postings", version, {"term": list(weights), "weight": list(weights.values()), "length": lengths})


TYPES = {"number": "smallint", "source": "smallint", "weight": "smallint", "length": "smallint"}


def _insert(sql: Sql, table: str, version: tuple[int, int, int], columns: Mapping[str, Sequence[Any]]) -> None:
    """Insert one row for each element of the columns, in one statement."""
    if not any(columns.values()):
        return
    arrays = ", ".join(f"%s::{TYPES.get(name, 'text')}[]" for name in columns)
    sql.execute(
        f"INSERT INTO {table} (org, live, scope, lesson, {', '.join(columns)})"
        f" SELECT %s, true, %s, %s, * FROM unnest({arrays})",
        (*version, *columns.values()),
    )


def _indexed_under(sql: Sql, row: int) -> tuple[list[str], list[int]]:
    """Return the terms and the scope of a version's postings."""
    indexed = sql.execute(
        "SELECT w.stems, l.owner FROM words w JOIN lessons l ON l.org = w.org AND l.row = w.lesson"
        " WHERE w.org = %s AND w.lesson = %s",
        (sql.org, row),
    ).fetchone()
    return (terms_in(indexed[0]), [scope_number(indexed[1])]) if indexed else ([], [])


def _drop_facets_and_vectors(sql: Sql, row: int) -> None:
    for table in ("facets", "vectors"):
        sql.execute(f"DELETE FROM {table} WHERE org = %s AND lesson = %s", (sql.org, row))
