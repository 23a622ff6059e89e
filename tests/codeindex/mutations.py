"""The mutation matrix: one small source per language, changed in every way that matters, and what the verdict must be.

A language writes `tests/codeindex/matrix/<name>.py` with `MATRIX = Matrix(...)`; `test_mutations.py` runs them all
through the real verdict: a git repository, a commit, anchors, the mutation in the work tree, the index refreshed.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import NamedTuple

from holdfast.codeindex.local import LocalCodeIndex
from holdfast.codeindex.source import outline
from holdfast.domain.lesson import Anchor
from holdfast.domain.project import Location
from holdfast.domain.symbol import Verdict
from holdfast.ports.codeindex import FileState
from holdfast.rendering.verdicts import verdict_words
from holdfast.wiring import SystemClock
from holdfast.workspace.local import LocalWorkspace
from tests.contract.memoryindex import MemoryIndexStore
from tests.contract.memorystore import MemoryStore

REQUIRED = (
    "rename", "move", "reformat", "comment", "documentation", "body", "parameter", "default", "decorator", "delete",
    "split", "swap", "overload", "nested", "syntax_error", "conflict",
)  # fmt: skip
"""Mutations every language shows; one a language does not have (decorators in C) is named in `Matrix.without`."""


class Mutation(NamedTuple):
    """Files after the change (None: deleted), and per symbol what the verdict must be.

    An expectation is `fresh`, `drifted`, …, optionally followed by `: words` that the verdict's words must contain,
    and by `-> path::symbol` where it must have been followed to.
    """

    files: Mapping[str, str | None]
    expect: Mapping[str, str]


class Matrix(NamedTuple):
    """A language's cases. `source` is the file `path` before every mutation."""

    path: str
    source: str
    mutations: Mapping[str, Mutation]
    without: tuple[str, ...] = ()
    others: Mapping[str, str] = {}
    """Further files before every mutation."""

    def edit(self, old: str, new: str, **expect: str) -> Mutation:
        """The source with one text replaced; symbols are named with `__` for a dot."""
        assert self.source.count(old) == 1, f"{old!r} is in the source {self.source.count(old)} times"
        return Mutation({self.path: self.source.replace(old, new)}, dotted(expect))


def dotted(expect: Mapping[str, str]) -> dict[str, str]:
    """Expectations with the symbols' real names: `Store__put` is `Store.put`."""
    return {name.replace("__", "."): verdict for name, verdict in expect.items()}


def matrices() -> dict[str, Matrix]:
    """Every language's matrix by the language's name."""
    files = (Path(__file__).parent / "matrix").glob("*.py")
    names = sorted(file.stem for file in files if not file.stem.startswith("_"))
    return {name: import_module(f"tests.codeindex.matrix.{name}").MATRIX for name in names}


class Ground:
    """A scratch repository with the real workspace and the real code index, the index kept in memory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workspace = LocalWorkspace(MemoryStore(), SystemClock(), timeout_scale=20)
        self.store = MemoryIndexStore()
        self.code = LocalCodeIndex(self.workspace, lambda location: self.store, SystemClock(), search_s=60)
        self.git("init", "-q", "-b", "main")

    @property
    def location(self) -> Location:
        return self.workspace.locate(str(self.folder))

    def git(self, *arguments: str) -> str:
        ran = subprocess.run(["git", *arguments], cwd=self.folder, check=True, capture_output=True, text=True)
        return ran.stdout.strip()

    def write(self, files: Mapping[str, str | bytes | None]) -> None:
        """Write or delete files and index the tree as it is now."""
        for name, text in files.items():
            file = self.folder / name
            if text is None:
                file.unlink()
                continue
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_bytes(text if isinstance(text, bytes) else text.encode())
        self.reindex()

    def commit(self, words: str = "change") -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", words)
        return self.git("rev-parse", "HEAD")

    def reindex(self) -> None:
        root = self.location.root
        self.store.drop(root, list(self.store.files(root)))
        for file in sorted(self.folder.rglob("*")):
            name = file.relative_to(self.folder).as_posix()
            if file.is_file() and not name.startswith(".git/"):
                outlined = outline(name, file.read_bytes())
                self.store.put(root, [outlined], {name: FileState(blob=outlined.blob, size=0, mtime_ns=0)})

    def anchor(self, path: str, symbol: str = "") -> Anchor:
        """The one anchor for a symbol, or for the file."""
        anchors = self.code.anchors(self.location, path, [symbol] if symbol else [], None)
        assert [anchor.symbol for anchor in anchors] == [symbol], f"{symbol!r} in {path}: {anchors}"
        return anchors[0]

    def verdict(self, anchor: Anchor) -> Verdict:
        return self.code.verdict(self.location, anchor)


def clear_git(environment: dict[str, str], folder: Path) -> dict[str, str]:
    """What git needs to commit the same way everywhere."""
    config = folder / "gitconfig"
    config.write_text("[user]\n name = Ada\n email = ada@example.com\n")
    others = {name: value for name, value in environment.items() if not name.startswith("GIT_")}
    return {**others, "GIT_CONFIG_GLOBAL": str(config), "GIT_CONFIG_NOSYSTEM": "1"}


def check(ground: Ground, matrix: Matrix, mutation: Mutation, committed: bool) -> list[str]:
    """What the verdicts get wrong, one line a symbol; the mutation is committed or only in the work tree."""
    ground.write({matrix.path: matrix.source, **matrix.others})
    ground.commit()
    anchors = {name: ground.anchor(matrix.path, name) for name in mutation.expect}
    ground.write(mutation.files)
    if committed:
        ground.commit()
    verdicts = {name: ground.verdict(anchor) for name, anchor in anchors.items()}
    return [f"{name}: {wrong}" for name, wanted in mutation.expect.items() if (wrong := _wrong(wanted, verdicts[name]))]


def _wrong(expected: str, verdict: Verdict) -> str:
    state, _, target = expected.partition(" -> ")
    freshness, _, words = state.partition(": ")
    at = f"{verdict.anchor.path}::{verdict.anchor.symbol}"
    right = verdict.freshness == freshness and words in verdict_words(verdict) and target in ("", at)
    return "" if right else f"expected {expected}, got {verdict.freshness}: {verdict_words(verdict)} -> {at}"


def environment(folder: Path) -> dict[str, str]:
    """The environment for a scratch repository in that folder."""
    return clear_git(dict(os.environ), folder)
