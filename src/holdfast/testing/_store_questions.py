"""What the parts of the store's contract share: lessons made to be found, and questions that find them."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from holdfast.domain.lesson import Lesson, Triggers
from holdfast.domain.query import Query
from holdfast.domain.symbol import Neighbour
from holdfast.domain.vocabulary import ProjectId
from holdfast.ports.store import Store
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


def minutes(count: float) -> datetime:
    """So long after START."""
    return START + timedelta(minutes=count)


def found(store: Store, lane: str, limit: int = 10, **asked: Any) -> list[str]:
    """The ids a lane answers with for a query in PROJECT."""
    return [hit.id for hit in store.search(lane, Query(**{"project": PROJECT, **asked}), limit)]


def every_lane(lesson: Lesson) -> dict[str, dict[str, Any]]:
    """For each lane, a question that the lesson made by `reachable` answers."""
    return {
        "exact": {"text": "what about Engine.connect?"},
        "text": {"text": "sqlalchemy engine"},
        "path": {"paths": ("src/db/engine.py",)},
        "symbol": {"paths": ("src/db/engine.py",), "symbols": ("Engine.connect",)},
        "graph": {"linked": (Neighbour(path="src/db/engine.py", relation="imports", weight=0.6),)},
        "recent": {},
        "pinned": {},
        "vector": {"vector": (1.0, 0.0, 0.0), "embedder_id": EMBEDDER},
        "trigger": {"code": "engine = create_engine(url)"},
        "occasion": {"occasions": ("standing",)},
    }


def reachable(store: Store, **over: Any) -> Lesson:
    """A stored lesson that every lane can find, with a vector."""
    identity = over.pop("id", "") or make_id()
    lesson = make_lesson(
        id=identity, insight=over.pop("insight", f"Make the SQLAlchemy engine once for the whole program {identity}"),
        path="src/db/engine.py", symbol="Engine.connect", pinned=True,
        when=Triggers(literals=("create_engine(",), standing=True), **over,
    )  # fmt: skip
    store.put([lesson], {})
    store.put_vectors(EMBEDDER, {lesson.id: (1.0, 0.0, 0.0)})
    return lesson


def assert_in_lanes(store: Store, lesson: Lesson, expected: bool, **asked: Any) -> None:
    """The lesson is found, or is not, by every lane."""
    for lane, question in every_lane(lesson).items():
        ids = found(store, lane, **{**question, **asked})
        assert (lesson.id in ids) is expected, lane
