"""How far the SQLite store looks: bounds of cost, which may not hide what a question is answered with."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.domain.query import Query
from holdfast.stores.sqlite import matching
from holdfast.stores.sqlite import matching as visible
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import PROJECT, make_lesson


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with SqliteStore(str(tmp_path / "memory.sqlite")) as opened:
        yield opened


def test_of_a_token_that_too_many_share_the_newest_are_reported_and_all_are_counted(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(matching, "MOST_ALIKE", 3)
    lessons = [make_lesson(insight=f"the_config of case {i}") for i in range(5)]
    store.put(lessons, {})
    (match,) = store.match_tokens(Query(project=PROJECT, text="the_config"))
    assert [id_ for _, id_ in match.lessons] == [lesson.id for lesson in lessons[:1:-1]]
    assert match.sharing == 5


def test_newer_lessons_that_may_not_be_seen_do_not_hide_older_ones(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(visible, "LOOKED_UP", 2)
    seen = [make_lesson(path="src/a.py") for _ in range(3)]
    hidden = [make_lesson(path="src/a.py", state="candidate") for _ in range(30)]
    store.put([*seen, *hidden], {})
    query = Query(project=PROJECT, paths=("src/a.py",))
    (by_file, beside) = store.match_paths(query, 2)
    assert [id_ for _, id_ in by_file.lessons] == [seen[2].id, seen[1].id]
    assert by_file.lessons == beside.lessons
