"""Finds the definitions that a dotted name means, also without an index: git lists the files that contain the word.

`flask.helpers.url_for` is `url_for` in a file that ends in `flask/helpers`; `Store.put` is a member, in any file.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from holdfast.codeindex.language import UNINDEXED_KINDS
from holdfast.codeindex.snapshots import SourceSnapshots
from holdfast.codeindex.source import unnumbered
from holdfast.domain.symbol import Symbol

FILE_LIMIT = 60
"""Files with the name that are parsed, those first whose paths have most of its parts."""
PACKAGE_FILES = ("__init__", "index", "mod", "lib", "main")
"""Names of files that represent their folder."""


def plain_name(name: str) -> str:
    """Return the name with dots between its parts, for `pkg.mod:func` and `Store::put()` too."""
    return name.replace("::", ".").strip().removesuffix("()").replace(":", ".")


def search(snapshots: SourceSnapshots, name: str, in_time: Callable[[], bool]) -> list[Symbol]:
    """Return the definitions that the name means, from files in which git finds it; empty without git."""
    wanted = plain_name(name)
    last = wanted.rpartition(".")[2]
    if not last:
        return []
    paths = snapshots.workspace.mentioning(snapshots.location, last)
    parts = set(wanted.split("."))
    nearest = sorted(paths, key=lambda path: (-len(parts & set(_module(path))), len(path), path))
    return choose(list(_named(snapshots, nearest[:FILE_LIMIT], last, in_time)), wanted)


def choose(symbols: Sequence[Symbol], wanted: str) -> list[Symbol]:
    """Return, of symbols with the same last part, those a dotted name means; fields only if nothing else matches."""
    indexed = [symbol for symbol in symbols if symbol.kind not in UNINDEXED_KINDS]
    return _choose(indexed, wanted) or _choose(symbols, wanted)


def _choose(symbols: Sequence[Symbol], wanted: str) -> list[Symbol]:
    exact = [symbol for symbol in symbols if unnumbered(symbol.name) == wanted]
    ending = exact or [symbol for symbol in symbols if unnumbered(symbol.name).endswith("." + wanted)]
    parts = wanted.split(".")
    for count in range(1, len(parts)):
        if ending:
            break
        there = [symbol for symbol in symbols if unnumbered(symbol.name) == ".".join(parts[count:])]
        at_end = [symbol for symbol in there if _module(symbol.path)[-count:] == parts[:count]]
        ending = at_end or [symbol for symbol in there if _is_within(parts[:count], _module(symbol.path))]
    return ending


def _named(
    snapshots: SourceSnapshots, paths: Sequence[str], last: str, in_time: Callable[[], bool]
) -> Iterator[Symbol]:
    for path in paths:
        source = snapshots.current(path) if in_time() else None
        if source is None or source.obstacle:
            continue
        for name, group in source.by_name.items():
            if name == last or name.endswith("." + last):
                yield from map(source.symbol, group)


def _module(path: str) -> list[str]:
    """Return the parts of a path as an import names them."""
    folder, _, file = path.rpartition("/")
    stem = file.partition(".")[0]
    return [part for part in (*folder.split("/"), *([] if stem in PACKAGE_FILES else [stem])) if part]


def _is_within(parts: Sequence[str], module: Sequence[str]) -> bool:
    """Return whether the parts occur in the module's parts, in a row."""
    starts = range(len(module) - len(parts) + 1)
    return any(list(module[start : start + len(parts)]) == list(parts) for start in starts)
