"""How far triggers are looked for, and what is kept of them."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.domain.lesson import Lesson, Triggers
from holdfast.domain.query import Query
from holdfast.stores.sqlite import matching as triggers
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import PROJECT, make_lesson

pytestmark = pytest.mark.needs_file("how far a store looks for the sake of its speed is its own")


def kept(store: SqliteStore, **when: Any) -> Lesson:
    lesson = make_lesson(when=Triggers(**when))
    store.put([lesson], {})
    return lesson


def told(store: SqliteStore, limit: int = 9, **conditions: Any) -> dict[str, list[str]]:
    matches = store.match_triggers(Query(project=PROJECT, **conditions), limit)
    return {match.kind: [id_ for _, id_ in match.lessons] for match in matches}


def test_code_is_looked_through_as_far_as_its_first_characters(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = kept(store, literals=("walrus(",))
    monkeypatch.setattr(triggers, "CODE_LIMIT", 20)
    assert told(store, code="walrus(".rjust(20)) == {"literal": [lesson.id]}
    assert told(store, code="walrus(".rjust(21)) == {}


def test_a_literal_without_a_word_is_looked_for_in_any_code_and_in_none(store: SqliteStore) -> None:
    lesson = kept(store, literals=("=>",))
    assert told(store, code="a => b") == {"literal": [lesson.id]}
    assert told(store, command="a => b") == {}
    assert told(store, code="a = b") == {}


@pytest.mark.parametrize(
    ("command", "is_told"),
    [
        ("gh pr diff", True), ("gh pr diff 3", True), ("cd a && gh pr diff", True), ("gh pr", False),
        ("gh pr difference", False), ("echo gh pr diff", False), ("", False),
    ],
)  # fmt: skip
def test_a_command_is_recognised_by_how_one_of_the_commands_begins(
    store: SqliteStore, command: str, is_told: bool
) -> None:
    lesson = kept(store, commands=("gh pr diff",))
    assert told(store, command=command, code="x") == ({"command": [lesson.id]} if is_told else {})


def test_paths_and_symbols_are_reported_where_one_of_several_fits(store: SqliteStore) -> None:
    path, symbol = kept(store, paths=("src/*.py",)), kept(store, symbols=("Store.put",))
    assert told(store, paths=("a.md", "src/a.py")) == {"path": [path.id]}
    assert told(store, paths=("a.md", "src/a/b.py")) == {}
    assert told(store, symbols=("get", "Cache::put")) == {"symbol": [symbol.id]}
    assert told(store, symbols=("Store",)) == {}
