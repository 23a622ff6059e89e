from __future__ import annotations

from holdfast.codeindex.history import EPOCH_S, neighbours
from holdfast.domain.symbol import Neighbour
from holdfast.stores.sqlite.indexfile import SqliteIndex
from tests.codeindex.conftest import WorkTree


def ask(index: SqliteIndex, tree: WorkTree, path: str) -> dict[str, Neighbour]:
    return {
        f"{neighbour.relation} {neighbour.path}": neighbour for neighbour in neighbours(index, str(tree.root), path)
    }


def test_files_edited_together_and_read_before_are_neighbours_while_they_are_there(
    index: SqliteIndex, tree: WorkTree
) -> None:
    tree.write({"a": "1", "b": "1", "c": "1"})
    pairs = {("a", "a"): 4.0, ("a", "b"): 3.0, ("a", "gone"): 3.5}
    index.put_pairs("edited_together", pairs, f"c1@{EPOCH_S}")
    index.put_pairs("read_before", {("c", "a"): 2.0}, "")
    linked = ask(index, tree, "a")
    assert sorted(linked) == ["edited_together b", "read_before c"]
    assert 0.5 < linked["edited_together b"].weight < 0.75
    assert linked["read_before c"].weight == 0.5


def test_the_closest_come_first_and_no_more_than_the_limit(index: SqliteIndex, tree: WorkTree) -> None:
    tree.write({"a": "1", "b": "1", "c": "1"})
    index.put_pairs("read_before", {("a", "b"): 1.0, ("c", "a"): 2.0}, "")
    assert [neighbour.path for neighbour in neighbours(index, str(tree.root), "a")] == ["c", "b"]
    assert [neighbour.path for neighbour in neighbours(index, str(tree.root), "a", limit=1)] == ["c"]


def test_an_unknown_file_has_no_neighbours(index: SqliteIndex, tree: WorkTree) -> None:
    assert ask(index, tree, "never.py") == {}
