"""The contract of an IndexStore. An implementation's tests inherit `IndexContract` and provide a fixture `index`.

class TestMyIndex(IndexContract):
    @pytest.fixture
    def index(self): ...  # an open, empty IndexStore
"""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from holdfast.domain.symbol import Outline, Symbol
from holdfast.errors import InvalidValueError
from holdfast.ports.codeindex import FileState, IndexStore

ROOT = "/src/shop"
OTHER_ROOT = "/src/shop-worktree"


def make_symbol(name: str, path: str = "src/a.py", **over: Any) -> Symbol:
    """Return a function of that name; its hashes are derived from its name."""
    defaults: dict[str, Any] = {
        "path": path, "name": name, "kind": "function", "start_line": 1, "end_line": 3, "start_byte": 0,
        "end_byte": 40, "signature": f"def {name}()", "signature_hash": f"s1:{name}", "body_hash": f"b1:{name}",
        "tokens": 12,
    }  # fmt: skip
    return Symbol(**{**defaults, **over})


def make_outline(path: str = "src/a.py", blob: str = "git1:a", **over: Any) -> Outline:
    """Return an outline, by default with one function `f`."""
    defaults: dict[str, Any] = {"path": path, "blob": blob, "language": "python", "symbols": (make_symbol("f", path),)}
    return Outline(**{**defaults, **over})


def state_of(outline: Outline, size: int = 40, mtime_ns: int = 1_700_000_000_000_000_001) -> FileState:
    """Return the state of a file that has the outline's blob."""
    return FileState(blob=outline.blob, size=size, mtime_ns=mtime_ns)


def keep(index: IndexStore, *outlines: Outline, root: str = ROOT) -> None:
    """Put outlines and their files into the index."""
    index.put(root, outlines, {outline.path: state_of(outline) for outline in outlines})


def names(symbols: list[Symbol]) -> list[tuple[str, str]]:
    """Return (path, name) of each symbol."""
    return [(symbol.path, symbol.name) for symbol in symbols]


class _Files:
    def test_a_new_index_knows_nothing(self, index: IndexStore) -> None:
        assert index.files(ROOT) == {}
        assert index.outlined(["git1:a"]) == set()
        assert index.outlined([]) == set()
        assert index.symbols(ROOT, "name", "f") == []
        assert index.pairs("edited_together", "src/a.py") == []

    def test_files_come_back_as_they_were_put(self, index: IndexStore) -> None:
        outline = make_outline()
        state = state_of(outline, size=2**40, mtime_ns=2**62)
        index.put(ROOT, [outline], {"src/a.py": state})
        assert index.files(ROOT) == {"src/a.py": state}
        assert index.outlined(["git1:a", "git1:b"]) == {"git1:a"}

    def test_a_file_put_again_has_its_new_blob(self, index: IndexStore) -> None:
        keep(index, make_outline())
        keep(index, make_outline(blob="git1:b", symbols=(make_symbol("g"),)))
        assert index.files(ROOT)["src/a.py"].blob == "git1:b"
        assert names(index.symbols(ROOT, "path", "src/a.py")) == [("src/a.py", "g")]

    def test_a_state_without_an_outline_is_left_out(self, index: IndexStore) -> None:
        index.put(ROOT, [], {"src/a.py": state_of(make_outline())})
        assert index.files(ROOT) == {}

    def test_work_trees_share_outlines_and_nothing_else(self, index: IndexStore) -> None:
        keep(index, make_outline())
        index.put(OTHER_ROOT, [], {"lib/b.py": state_of(make_outline())})
        assert list(index.files(ROOT)) == ["src/a.py"]
        assert names(index.symbols(OTHER_ROOT, "name", "f")) == [("lib/b.py", "f")]

    def test_one_blob_at_two_paths_is_two_definitions(self, index: IndexStore) -> None:
        keep(index, make_outline(), make_outline("src/b.py"))
        assert names(index.symbols(ROOT, "name", "f")) == [("src/a.py", "f"), ("src/b.py", "f")]

    def test_a_dropped_path_takes_its_outline_along_unless_another_has_it(self, index: IndexStore) -> None:
        keep(index, make_outline(), make_outline("src/b.py"), make_outline("src/c.py", "git1:c"))
        index.drop(ROOT, ["src/a.py", "src/c.py", "src/never.py"])
        assert list(index.files(ROOT)) == ["src/b.py"]
        assert index.outlined(["git1:a", "git1:c"]) == {"git1:a"}
        index.drop(ROOT, ["src/b.py"])
        assert index.outlined(["git1:a"]) == set()

    def test_a_dropped_path_of_one_work_tree_stays_in_the_other(self, index: IndexStore) -> None:
        keep(index, make_outline())
        keep(index, make_outline(), root=OTHER_ROOT)
        index.drop(ROOT, ["src/a.py"])
        assert names(index.symbols(OTHER_ROOT, "path", "src/a.py")) == [("src/a.py", "f")]

    def test_clearing_leaves_a_new_index(self, index: IndexStore) -> None:
        keep(index, make_outline())
        index.put_pairs("edited_together", {("a", "b"): 1.0}, "c1")
        index.keep_verdict("k", "fresh")
        index.clear("2")
        self.test_a_new_index_knows_nothing(index)
        assert index.verdict("k") == index.pairs_upto("edited_together") == ""
        assert index.rules() == "2"

    def test_odd_text_does_not_break_it(self, index: IndexStore) -> None:
        odd = make_outline("src/\udce9.py", symbols=(make_symbol("f\0", signature="\ud800"),), note="\0")
        keep(index, odd)
        assert len(index.files(ROOT)) == 1
        assert len(index.symbols(ROOT, "path", "src/\udce9.py")) == 1
        index.drop(ROOT, list(index.files(ROOT)))
        assert index.files(ROOT) == {}


class _Symbols:
    def test_a_symbol_comes_back_whole(self, index: IndexStore) -> None:
        symbol = make_symbol("Store.put", kind="method", start_line=7, end_line=9, start_byte=100, end_byte=180)
        keep(index, make_outline(symbols=(symbol,)))
        for by, value in (
            ("path", "src/a.py"), ("name", "Store.put"), ("last_name", "put"), ("body_hash", "b1:Store.put"),
            ("signature_hash", "s1:Store.put"),
        ):  # fmt: skip
            assert index.symbols(ROOT, by, value) == [symbol], by

    def test_a_symbol_is_found_by_its_whole_name_or_its_last_part(self, index: IndexStore) -> None:
        inside = ("put", "Store.put", "Store.put#2", "Store.put_all", "Other.put")
        keep(index, make_outline(symbols=tuple(make_symbol(name) for name in inside)))
        assert names(index.symbols(ROOT, "name", "Store.put")) == [("src/a.py", "Store.put")]
        symbols = [symbol.name for symbol in index.symbols(ROOT, "last_name", "put")]
        assert symbols == ["put", "Store.put", "Store.put#2", "Other.put"]
        assert index.symbols(ROOT, "name", "Store") == []

    def test_symbols_of_a_file_are_in_its_order(self, index: IndexStore) -> None:
        keep(index, make_outline(symbols=tuple(make_symbol(name) for name in "zay")))
        assert [symbol.name for symbol in index.symbols(ROOT, "path", "src/a.py")] == ["z", "a", "y"]

    def test_an_unknown_way_of_asking_is_refused(self, index: IndexStore) -> None:
        with pytest.raises(InvalidValueError):
            index.symbols(ROOT, "colour", "red")

    def test_a_blob_known_already_keeps_its_outline(self, index: IndexStore) -> None:
        keep(index, make_outline())
        keep(index, make_outline(symbols=()))
        assert len(index.symbols(ROOT, "path", "src/a.py")) == 1


class _Pairs:
    TOGETHER = "edited_together"

    def test_pairs_are_found_from_either_side_heaviest_first(self, index: IndexStore) -> None:
        assert index.pairs_upto(self.TOGETHER) == ""
        index.put_pairs(self.TOGETHER, {("a", "b"): 1.0, ("c", "a"): 2.5, ("b", "c"): 4.0}, "c1")
        assert index.pairs(self.TOGETHER, "a") == [("c", 2.5), ("b", 1.0)]
        assert index.pairs("read_before", "a") == []
        assert index.pairs_upto(self.TOGETHER) == "c1"

    def test_both_ways_round_add_up_and_a_file_with_itself_counts_once(self, index: IndexStore) -> None:
        index.put_pairs(self.TOGETHER, {("a", "b"): 1.0, ("b", "a"): 2.0, ("a", "a"): 5.0}, "c1")
        assert index.pairs(self.TOGETHER, "a") == [("a", 5.0), ("b", 3.0)]

    def test_put_again_they_replace_the_old_ones_of_that_relation(self, index: IndexStore) -> None:
        index.put_pairs(self.TOGETHER, {("a", "b"): 1.0}, "c1")
        index.put_pairs("read_before", {("a", "x"): 1.0}, "")
        index.put_pairs(self.TOGETHER, {("a", "c"): 1.0}, "c2")
        assert index.pairs(self.TOGETHER, "a") == [("c", 1.0)]
        assert index.pairs("read_before", "a") == [("x", 1.0)]

    def test_what_came_since_is_added_once(self, index: IndexStore) -> None:
        index.put_pairs(self.TOGETHER, {("a", "b"): 1.0}, "c1")
        assert index.add_pairs(self.TOGETHER, {("a", "b"): 0.5, ("a", "c"): 0.25}, "c1", "c2")
        assert not index.add_pairs(self.TOGETHER, {("a", "b"): 0.5}, "c1", "c2")
        assert index.pairs(self.TOGETHER, "a") == [("b", 1.5), ("c", 0.25)]
        assert index.pairs_upto(self.TOGETHER) == "c2"


class _Verdicts:
    def test_a_verdict_is_empty_until_it_is_stored(self, index: IndexStore) -> None:
        assert index.verdict("k\0\ud800") == ""
        for verdict in ("fresh", "drifted", ""):
            index.keep_verdict("k\0\ud800", verdict)
            assert index.verdict("k\0\ud800") == verdict
        assert index.verdict("other") == ""


class IndexContract(_Files, _Symbols, _Pairs, _Verdicts):
    """The whole contract of an IndexStore."""

    def test_an_index_has_every_method_of_the_port(self, index: IndexStore) -> None:
        public = {name: member for name, member in vars(IndexStore).items() if not name.startswith("_")}
        assert len(public) > 10
        for name, member in public.items():
            expected = list(inspect.signature(member).parameters)[1:]
            assert list(inspect.signature(getattr(index, name)).parameters) == expected, name
