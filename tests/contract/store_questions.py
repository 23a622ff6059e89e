"""Helpers that the modules of the store's contract share: lessons made to be found, and queries that find them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from holdfast.domain.lesson import Lesson, Triggers
from holdfast.domain.query import Query
from holdfast.domain.symbol import Neighbour
from holdfast.domain.vocabulary import LessonId, ProjectId
from holdfast.ports.store import ErrorMatches, Search, Store, TextMatches
from holdfast.testing.builders import (
    PROJECT,
    START,
    make_id,
    make_lesson,
)

OTHER = ProjectId("project-b")
EMBEDDER = "tiny/1/3"
HOSTILE = (
    '"', '""', "'", "*", "(", ")", "a AND", "NOT", "NEAR(a b)", "title:x", "a*", "^a", "-a", "{a b}: c", "a OR", "+",
    'x" OR "y', "%", "_", "\\", ";", "--", "'; DROP TABLE lessons; --", "\0", "a\0b", "\ud800", "\udfff x", "",
    " ", "\n",
    "😀", "👩‍👩‍👧‍👦 family", "数据库", "データベース", "데이터베이스", "é", "ﬁ", "\u202eabc", "a" * 5_000,
)  # fmt: skip
"""Texts that break a careless query."""


def id_of(text: str) -> str:
    """Return the text for a test's id without backslashes, which pytest escapes again for each inheriting class."""
    return ascii(text[:40]).replace("\\", "/")


def minutes(count: float) -> datetime:
    """Return the time that many minutes after START."""
    return START + timedelta(minutes=count)


def found(store: Search, method: str, limit: int = 10, **conditions: Any) -> list[LessonId]:
    """Return the ids that a method of the port returns for a query in PROJECT, each once, in order."""
    return ids_of(answer_of(store, method, Query(**{"project": PROJECT, **conditions}), limit))


def answer_of(store: Search, method: str, query: Query, limit: int) -> Any:
    """Return the answer of a method of the port."""
    more = {"match_tokens": (), "match_text": (limit, 0)}.get(method, (limit,))
    return getattr(store, method)(query, *more)


def ids_of(answer: Any) -> list[LessonId]:
    """Return the ids of the lessons in an answer, each once."""
    ids: list[LessonId] = []
    if isinstance(answer, TextMatches):
        ids = [match.lesson[1] for match in answer.matches]
    elif isinstance(answer, ErrorMatches):
        ids = [id_ for _, (_, id_) in answer.lessons]
    else:
        for match in answer:
            if isinstance(match, str):
                ids.append(LessonId(match))
            else:
                ids += [id_ for _, id_ in match.lessons] if hasattr(match, "lessons") else [match.id]
    return list(dict.fromkeys(ids))


BY_SUBJECT = (
    "match_tokens", "match_errors", "match_text", "match_paths", "match_symbols", "match_linked", "match_vector",
)  # fmt: skip
"""The methods that match by a lesson's subject."""


def every_method(lesson: Lesson) -> dict[str, dict[str, Any]]:
    """Return, for each method of the port, a query that matches the lesson made by `reachable`."""
    return {
        "match_tokens": {"text": "what about Engine.connect?"},
        "match_errors": {"error": "EngineError: the pool of connections overflowed"},
        "match_text": {"text": "sqlalchemy engine"},
        "match_paths": {"paths": ("src/db/engine.py",)},
        "match_symbols": {"paths": ("src/db/engine.py",), "symbols": ("Engine.connect",)},
        "match_linked": {"linked": (Neighbour(path="src/db/engine.py", relation="edited_together", weight=0.6),)},
        "match_vector": {"vector": (1.0, 0.0, 0.0), "embedder_id": EMBEDDER},
        "match_triggers": {"code": "engine = create_engine(url)"},
        "match_occasions": {"occasions": ("standing",)},
        "list_recent": {},
        "list_pinned": {},
    }


def reachable(store: Store, **over: Any) -> Lesson:
    """Store a lesson with a vector that every method can find, and return it."""
    identity = over.pop("id", "") or make_id()
    lesson = make_lesson(
        id=identity, insight=over.pop("insight", f"Make the SQLAlchemy engine once for the whole program {identity}"),
        path="src/db/engine.py", symbol="Engine.connect", pinned=True,
        error_signature=over.pop("error_signature", "EngineError: the pool of connections is empty"),
        when=Triggers(literals=("create_engine(",), standing=True), **over,
    )  # fmt: skip
    store.put([lesson], {})
    store.put_vectors(EMBEDDER, {lesson.id: (1.0, 0.0, 0.0)})
    return lesson


def assert_found(store: Store, lesson: Lesson, expected: bool, **conditions: Any) -> None:
    """Assert that every method finds the lesson, or that none does."""
    for method, question in every_method(lesson).items():
        ids = found(store, method, **{**question, **conditions})
        assert (lesson.id in ids) is expected, method
