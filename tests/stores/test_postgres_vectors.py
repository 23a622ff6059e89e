"""The index of vectors on PostgreSQL finds what an exact search finds."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

import pytest
from benchmarks.seeded_lessons import Words, make_lesson
from tests.postgresql import Database

from holdfast import plugins
from holdfast.domain.query import Query
from holdfast.domain.vocabulary import ProjectId
from holdfast.ports.plugins import Embedder
from holdfast.ports.store import VectorMatch
from holdfast.stores._shared.rows import micros
from holdfast.stores.postgresql import make, vectors
from holdfast.stores.postgresql.cache import Cache
from holdfast.stores.postgresql.store import PostgresStore
from holdfast.stores.postgresql.tenant import Sql
from holdfast.testing.builders import PROJECT

LESSONS, QUESTIONS, WANTED = 2_000, 60, 20
OTHER = ProjectId("project-b")
LEAST_RECALL = 0.95


@pytest.fixture(scope="module")
def embedder() -> Embedder:
    made: Embedder = plugins.load("embedders", "static", {})
    return made


@pytest.fixture(scope="module")
def store(database: Database, embedder: Embedder) -> Iterator[PostgresStore]:
    """Lessons of two projects in turn with their vectors, without what else is derived from a lesson."""
    rng = random.Random(5)
    lessons = [make_lesson(number, rng, (PROJECT, OTHER)[number % 2])[0] for number in range(LESSONS)]
    with make({"url": database.store_url(77)}) as opened:

        def work(sql: Sql) -> None:
            sql.executemany(
                "INSERT INTO lessons (org, row, id, recorded_at, owner, level, state, kind, branch, path_prefix,"
                " pinned, salience, valid_from, topic_key, duplicate_key, files, doc)"
                " VALUES (%s, %s, %s, %s, %s, 'project', 'active', 'fix', '', '', false, 0.5, 0, '', '', '{}', '')",
                [
                    (sql.org, row, lesson.id, micros(lesson.recorded_at), lesson.scope.owner)
                    for row, lesson in enumerate(lessons)
                ],
            )
            embedded = embedder.embed_documents([f"{lesson.insight}\n{lesson.why}" for lesson in lessons])
            vectors.put_vectors(sql, embedder.id, dict(zip((lesson.id for lesson in lessons), embedded, strict=True)))

        opened.tenant.write(work)
        yield opened


class Explained(Sql):
    """A transaction that keeps the plans of its statements, and prefers an index to sorting."""

    def __init__(self, sql: Sql) -> None:
        super().__init__(sql.connection, sql.org, Cache())
        self.plans = ""
        super().execute("SET LOCAL enable_sort = off")

    def execute(self, statement: str, args: Sequence[Any] = ()) -> Any:
        self.plans += "\n".join(line for (line,) in super().execute(f"EXPLAIN {statement}", args))
        return super().execute(statement, args)


def test_the_index_finds_nearly_all_that_an_exact_search_finds(
    store: PostgresStore, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = random.Random(9)
    shares = []
    for number in range(QUESTIONS):
        words = Words(rng)
        text = f"why does the {words.noun} of {words.area} differ after {words.symbol}?"
        query = Query(
            project=PROJECT, all_projects=number % 3 == 0, vector=tuple(embedder.embed_query(text)),
            embedder_id=embedder.id,
        )  # fmt: skip

        def by_index(sql: Sql, query: Query = query) -> list[VectorMatch]:
            explained = Explained(sql)
            matches = vectors.match_vector(explained, query, WANTED)
            assert "embedding_idx" in explained.plans
            return matches

        exact = store.match_vector(query, WANTED)
        with monkeypatch.context() as patched:
            patched.setattr(vectors, "EXACT_BELOW", 1)
            matches = store.tenant.read(by_index)
        assert len(matches) == len(exact) == WANTED
        cosines = [match.cosine for match in matches]
        assert cosines == sorted(cosines, reverse=True)
        shares.append(len({match.id for match in matches} & {match.id for match in exact}) / WANTED)
    assert sum(shares) / len(shares) >= LEAST_RECALL


def test_where_the_index_finds_too_few_all_are_compared(
    store: PostgresStore, embedder: Embedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    query = Query(project=PROJECT, vector=tuple(embedder.embed_query("the harbour")), embedder_id=embedder.id)
    monkeypatch.setattr(vectors, "EXACT_BELOW", 1)

    def answer(sql: Sql) -> list[VectorMatch]:
        sql.execute("SET LOCAL hnsw.max_scan_tuples = 1")
        return vectors.match_vector(Explained(sql), query, LESSONS)

    assert len(store.tenant.read(answer)) == LESSONS / 2
