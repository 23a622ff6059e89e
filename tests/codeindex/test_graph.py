from __future__ import annotations

from holdfast.codeindex.graph import EXPANDED, HUB, neighbours
from holdfast.codeindex.history import EPOCH_S
from holdfast.domain.symbol import Import, Neighbour
from holdfast.stores.sqlite.indexfile import SqliteIndex
from tests.codeindex.conftest import WorkTree
from tests.contract.index_contract import keep, make_outline


def link(index: SqliteIndex, tree: WorkTree, *edges: tuple[str, str]) -> None:
    """Files that import each other."""
    root = str(tree.root)
    files = sorted({file for edge in edges for file in edge})
    tree.write(dict.fromkeys(files, "1"))
    keep(index, *(make_outline(file, f"git1:{file}") for file in files), root=root)
    index.link(
        root,
        {file: [Import(module=target, target=target) for source, target in edges if source == file] for file in files},
    )


def ask(index: SqliteIndex, tree: WorkTree, path: str) -> dict[str, Neighbour]:
    return {
        f"{neighbour.relation} {neighbour.path}": neighbour for neighbour in neighbours(index, str(tree.root), path)
    }


def test_imports_and_importers_are_neighbours(index: SqliteIndex, tree: WorkTree) -> None:
    link(index, tree, ("a", "b"), ("c", "a"))
    linked = ask(index, tree, "a")
    assert sorted(linked) == ["imported_by c", "imports b"]
    assert all(0 < neighbour.weight <= 1 and neighbour.hops == 1 for neighbour in linked.values())


def test_two_hops_count_less_than_one_and_three_do_not_count(index: SqliteIndex, tree: WorkTree) -> None:
    link(index, tree, ("a", "b"), ("b", "c"), ("c", "d"))
    linked = ask(index, tree, "a")
    assert sorted(linked) == ["imports b", "imports c"]
    assert linked["imports c"].hops == 2
    assert linked["imports c"].weight <= linked["imports b"].weight / 2


def test_a_file_reached_in_one_hop_is_not_told_again_for_two(index: SqliteIndex, tree: WorkTree) -> None:
    link(index, tree, ("a", "b"), ("b", "c"), ("a", "c"))
    assert sorted(ask(index, tree, "a")) == ["imports b", "imports c"]
    assert ask(index, tree, "a")["imports c"].hops == 1


def test_circles_end(index: SqliteIndex, tree: WorkTree) -> None:
    link(index, tree, ("a", "b"), ("b", "a"), ("b", "c"), ("c", "a"))
    assert "a" not in {neighbour.path for neighbour in ask(index, tree, "a").values()}


def test_a_file_that_everybody_imports_links_nobody(index: SqliteIndex, tree: WorkTree) -> None:
    link(index, tree, *((f"f{n}", "hub") for n in range(HUB + 1)))
    assert sorted(ask(index, tree, "f1")) == ["imports hub"]
    assert ask(index, tree, "hub") == {}


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


def test_the_closest_come_first_and_few_are_expanded(index: SqliteIndex, tree: WorkTree) -> None:
    link(index, tree, *(("a", f"b{n}") for n in range(30)), *((f"b{n}", f"c{n}") for n in range(30)))
    linked = neighbours(index, str(tree.root), "a", limit=100)
    assert [neighbour.weight for neighbour in linked] == sorted(
        (neighbour.weight for neighbour in linked), reverse=True
    )
    assert sum(neighbour.hops == 2 for neighbour in linked) <= EXPANDED
    assert len(neighbours(index, str(tree.root), "a", limit=5)) == 5


def test_an_unknown_file_has_no_neighbours(index: SqliteIndex, tree: WorkTree) -> None:
    assert ask(index, tree, "never.py") == {}
