"""The index in memory keeps what `ports/codeindex.py` promises, as far as verdicts use it."""

from __future__ import annotations

from holdfast.codeindex.source import outline
from holdfast.ports.codeindex import FileState
from tests.contract.memoryindex import MemoryIndexStore

CODE = b"class A:\n    def put(self):\n        return 1\n\n\ndef put():\n    return 2\n"


def filled() -> MemoryIndexStore:
    store = MemoryIndexStore()
    for name in ("a.py", "b.py"):
        outlined = outline(name, CODE)
        store.put("/r", [outlined], {name: FileState(blob=outlined.blob, size=1, mtime_ns=1)})
    return store


def test_definitions_are_found_by_path_name_last_name_and_hash() -> None:
    with filled() as store:
        named = store.symbols("/r", "name", "A.put")
        assert [symbol.path for symbol in named] == ["a.py", "b.py"]
        assert [symbol.name for symbol in store.symbols("/r", "path", "a.py")] == ["A", "A.put", "put"]
        assert len(store.symbols("/r", "last_name", "put")) == 4
        assert store.symbols("/r", "body_hash", named[0].body_hash) == named
        assert store.symbols("/other", "name", "A.put") == []


def test_what_is_dropped_is_not_found() -> None:
    store = filled()
    store.drop("/r", ["a.py", "never.py"])
    assert [symbol.path for symbol in store.symbols("/r", "name", "A.put")] == ["b.py"]
    assert list(store.files("/r")) == ["b.py"]


def test_verdicts_are_stored_until_it_is_cleared() -> None:
    store = filled()
    assert store.verdict("a") == store.rules() == ""
    store.keep_verdict("a", "fresh")
    assert store.verdict("a") == "fresh"
    store.clear("2")
    assert (store.verdict("a"), store.rules()) == ("", "2")


def test_pairs_are_added_only_to_what_is_complete_up_to_there() -> None:
    store = filled()
    store.put_pairs("edited_together", {("a", "b"): 1.0}, "1")
    assert not store.add_pairs("edited_together", {("a", "b"): 1.0}, "2", "3")
    assert store.add_pairs("edited_together", {("a", "b"): 1.0, ("a", "c"): 0.5}, "1", "2")
    assert store.pairs("edited_together", "a") == [("b", 2.0), ("c", 0.5)]
