from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.codeindex import refresh as module
from holdfast.codeindex import refresh as workers
from holdfast.codeindex.refresh import refresh
from holdfast.domain.symbol import IndexReport
from holdfast.errors import InvalidValueError
from holdfast.stores.sqlite.indexfile import SqliteIndex
from tests.codeindex.conftest import WorkTree

SHOP = {
    "shop/__init__.py": "",
    "shop/cart.py": "from .money import Cents\n\n\nclass Cart:\n    def total(self):\n        return Cents(1)\n",
    "shop/money.py": "class Cents(int):\n    pass\n",
    "notes.txt": "hello\n",
}


def run(index: SqliteIndex, tree: WorkTree, only: list[str] | None = None) -> IndexReport:
    return refresh(index, str(tree.root), only)


def test_a_tree_is_indexed_with_its_symbols(index: SqliteIndex, repository: WorkTree) -> None:
    repository.commit(SHOP)
    report = run(index, repository)
    assert (report.files, report.parsed, report.symbols, report.complete) == (4, 4, 3, True)
    root = str(repository.root)
    assert [symbol.path for symbol in index.symbols(root, "name", "Cart.total")] == ["shop/cart.py"]


def test_a_second_run_reads_nothing(index: SqliteIndex, repository: WorkTree, monkeypatch: pytest.MonkeyPatch) -> None:
    repository.commit(SHOP)
    run(index, repository)
    monkeypatch.setattr(module, "_read", None)
    report = run(index, repository)
    assert (report.files, report.parsed, report.removed) == (4, 0, 0)


def test_only_what_changed_is_parsed(index: SqliteIndex, repository: WorkTree) -> None:
    repository.commit(SHOP)
    run(index, repository)
    repository.write({"shop/money.py": "class Euro(int):\n    pass\n"}, old=False)
    report = run(index, repository)
    assert report.parsed == 1
    assert [symbol.name for symbol in index.symbols(str(repository.root), "path", "shop/money.py")] == ["Euro"]


def test_a_change_within_one_tick_of_the_clock_is_seen(index: SqliteIndex, tree: WorkTree) -> None:
    tree.write({"a.py": "def one(): pass\n"}, old=False)
    before = os.stat(tree.root / "a.py")
    run(index, tree)
    (tree.root / "a.py").write_text("def two(): pass\n")
    os.utime(tree.root / "a.py", ns=(before.st_atime_ns, before.st_mtime_ns))
    assert run(index, tree).parsed == 1
    assert [symbol.name for symbol in index.symbols(str(tree.root), "path", "a.py")] == ["two"]


def test_a_touched_file_is_not_parsed_again(index: SqliteIndex, repository: WorkTree) -> None:
    repository.commit(SHOP)
    run(index, repository)
    os.utime(repository.root / "shop/cart.py", ns=(5, 5))
    assert run(index, repository).parsed == 0


def test_files_that_are_gone_are_forgotten(index: SqliteIndex, repository: WorkTree) -> None:
    repository.commit(SHOP)
    run(index, repository)
    repository.remove("shop/money.py")
    assert run(index, repository).removed == 1
    assert index.symbols(str(repository.root), "name", "Cents") == []


def test_a_branch_switched_back_is_not_parsed_again(index: SqliteIndex, repository: WorkTree) -> None:
    repository.commit(SHOP)
    run(index, repository)
    repository.git("checkout", "-q", "-b", "side")
    repository.commit({"shop/cart.py": "class Basket: pass\n"})
    assert run(index, repository).parsed == 1
    repository.git("checkout", "-q", "main")
    assert run(index, repository).parsed == 0
    assert len(index.symbols(str(repository.root), "name", "Cart")) == 1


def test_a_work_tree_shares_what_was_parsed(index: SqliteIndex, repository: WorkTree, tmp_path: Path) -> None:
    repository.commit(SHOP)
    run(index, repository)
    repository.git("worktree", "add", "-q", str(tmp_path / "second"), "-b", "second")
    report = refresh(index, str(tmp_path / "second"))
    assert (report.files, report.parsed) == (4, 0)


def test_a_run_that_was_stopped_is_gone_on_with(
    index: SqliteIndex, tree: WorkTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_FILES", 2)
    tree.write({f"m{n}.py": f"import m{n + 1}\n" for n in range(7)})
    first = refresh(index, str(tree.root), stop=lambda: True)
    assert not first.complete
    assert len(index.files(str(tree.root))) == 2
    second = run(index, tree)
    assert second.complete
    assert first.parsed + second.parsed == 7


def test_progress_counts_the_files_to_read(index: SqliteIndex, tree: WorkTree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BATCH_FILES", 2)
    tree.write({f"m{n}.py": f"{n}" for n in range(5)})
    progress: list[tuple[int, int]] = []
    refresh(index, str(tree.root), progress=lambda done, total: progress.append((done, total)))
    assert progress == [(0, 5), (2, 5), (4, 5), (5, 5)]


def test_some_files_are_refreshed_without_a_walk(index: SqliteIndex, repository: WorkTree) -> None:
    repository.commit(SHOP)
    run(index, repository)
    repository.write({"shop/cart.py": "class Basket: pass\n", "shop/new.py": "class New: pass\n"}, old=False)
    repository.remove("shop/money.py")
    report = run(index, repository, ["shop/cart.py", "shop/new.py", "shop/money.py", "never.py"])
    assert (report.parsed, report.removed) == (2, 1)
    root = str(repository.root)
    assert sorted(index.files(root)) == ["notes.txt", "shop/__init__.py", "shop/cart.py", "shop/new.py"]
    assert len(index.symbols(root, "name", "Basket")) == 1


def test_outlines_made_by_other_rules_are_made_again(
    index: SqliteIndex, repository: WorkTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.commit(SHOP)
    run(index, repository)
    index.keep_verdict("x", "fresh")
    monkeypatch.setattr(module, "rules_version", lambda: "newer")
    assert run(index, repository).parsed == 4
    assert index.verdict("x") == ""


def test_a_big_tree_is_parsed_by_workers_to_the_same_end(
    index: SqliteIndex, tree: WorkTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_FILES", 5)
    monkeypatch.setattr(workers, "worth", lambda files: 2)
    tree.write({f"m{n}.py": f"import m{n + 1}\ndef f{n}(): pass\n" for n in range(23)})
    report = run(index, tree)
    assert (report.parsed, report.symbols, report.complete) == (23, 23, True)


def test_a_worker_that_dies_leaves_its_files_to_the_next_run(
    index: SqliteIndex, tree: WorkTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "BATCH_FILES", 5)
    monkeypatch.setattr(workers, "worth", lambda files: 2)
    monkeypatch.setattr(workers.sys, "executable", "/bin/false")
    tree.write({f"m{n}.py": f"def f{n}(): pass\n" for n in range(23)})
    first = run(index, tree)
    assert not first.complete
    monkeypatch.setattr(workers, "worth", lambda files: 0)
    second = run(index, tree)
    assert second.complete
    assert first.parsed + second.parsed == 23


def test_workers_are_used_for_many_files_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers.os, "sched_getaffinity", lambda pid: set(range(16)), raising=False)
    assert [workers.worth(files) for files in (0, 399, 400, 1_000, 50_000)] == [0, 0, 2, 5, 8]
    monkeypatch.setattr(workers.os, "sched_getaffinity", lambda pid: {0}, raising=False)
    assert workers.worth(50_000) == 0


ODD: dict[str, str | bytes] = {
    "minified.js": b"a=1;" * 200_000, "latin.py": "# caf\xe9\ndef f(): pass\n".encode("latin-1"), "nul.py": b"x\0" * 9,
    "broken.py": "def f(:\n  <<<<<<< HEAD\n", "deep.py": "(" * 50_000, "empty.py": "",
    "crlf.py": "def f():\r\n  pass\r\n",
    "made.go": "// Code generated by x. DO NOT EDIT.\npackage a\nfunc F() {}\n",
    "bom.py": b"\xef\xbb\xbfdef g(): pass\n",
}  # fmt: skip


def test_odd_files_are_indexed_as_far_as_they_go(index: SqliteIndex, tree: WorkTree) -> None:
    tree.write(ODD)
    report = run(index, tree)
    assert report.complete
    assert report.files == len(ODD)
    root = str(tree.root)
    assert len(index.symbols(root, "path", "latin.py")) == 1
    assert index.symbols(root, "path", "nul.py") == index.symbols(root, "path", "made.go") == []


def test_a_file_that_cannot_be_read_is_reported(
    index: SqliteIndex, tree: WorkTree, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.write({"a.py": "1", "b.py": "2"})
    read = module._read
    monkeypatch.setattr(module, "_read", lambda whole: None if whole.endswith("a.py") else read(whole))
    report = run(index, tree)
    assert report.skipped == (("a.py", "cannot be read"),)
    assert (report.files, report.complete) == (1, True)


def test_a_folder_replaced_by_a_file_and_back(index: SqliteIndex, tree: WorkTree) -> None:
    tree.write({"a/b.py": "1"})
    run(index, tree)
    tree.remove("a/b.py")
    (tree.root / "a").rmdir()
    tree.write({"a": "text"})
    assert run(index, tree).removed == 1
    tree.remove("a")
    tree.write({"a/b.py": "1"})
    assert sorted(index.files(str(tree.root))) == ["a"]
    run(index, tree)
    assert sorted(index.files(str(tree.root))) == ["a/b.py"]


def test_a_folder_that_is_gone_is_refused_and_its_index_preserved(index: SqliteIndex, tree: WorkTree) -> None:
    tree.write({"a.py": "1"})
    run(index, tree)
    tree.root.rename(tree.root.with_name("away"))
    with pytest.raises(InvalidValueError):
        run(index, tree)
    assert list(index.files(str(tree.root))) == ["a.py"]
