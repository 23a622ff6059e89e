"""Makes anchors for parts of a file, and finds the definitions that a name means.

An anchor is for named definitions, for the innermost ones over some lines, or for the whole file. Without an index, git
lists the files that contain a name: `flask.helpers.url_for` is `url_for` in a file that ends in `flask/helpers`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from holdfast.codeindex.definitions import Definition, title
from holdfast.codeindex.language import UNINDEXED_KINDS
from holdfast.codeindex.source import ParsedSource, SourceSnapshots, blob_of, group_symbol, unnumbered
from holdfast.domain.lesson import Anchor
from holdfast.domain.symbol import Symbol

FILE_LIMIT = 60
"""Files with the name that are parsed, those first whose paths have most of its parts."""
PACKAGE_FILES = ("__init__", "index", "mod", "lib", "main")
"""Names of files that represent their folder."""

MAX_OVER_LINES = 4
"""Definitions that an edited span may touch and still be about them; a wider one is about the file."""


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
    return choose(list(_named_in(snapshots, nearest[:FILE_LIMIT], last, in_time)), wanted)


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


def _named_in(
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


def make_anchors(
    snapshots: SourceSnapshots, path: str, names: Sequence[str], lines: tuple[int, int] | None
) -> list[Anchor]:
    """Make the anchors that `ports/codeindex.py` describes. `lines` count from 1 and include the last."""
    content = snapshots.workspace.read(snapshots.location, path)
    if content is None:
        return []
    whole = Anchor(path=path, blob=blob_of(content), commit=snapshots.location.commit, branch=snapshots.location.branch)
    source = snapshots.current(path)
    if source is None or source.obstacle:
        return [whole]
    chosen = [group for name in names if (group := resolve(source, name))]
    if not chosen and lines is not None:
        chosen = [(definition,) for definition in innermost(source, *lines)]
    sound = [group for group in dict.fromkeys(chosen) if not any(map(source.is_broken, group))]
    return [_of_definitions(whole, source, group) for group in sound] or [whole]


def resolve(source: ParsedSource, name: str) -> tuple[Definition, ...]:
    """Return the definitions that a name means in the file: those of its qualified name, or of the only name ending so.

    `Store.put` means a class's `put`, and so does `put` if no other name in the file ends with it. A name means all
    definitions that share it; a numbered name (`put#2`) means only that one.
    """
    wanted = name.replace("::", ".").strip().removesuffix("()")
    if not wanted:
        return ()
    if "#" in wanted:
        every = (definition for group in source.by_name.values() for definition in group)
        numbered = [definition for definition in every if definition.name == wanted]
        if numbered:
            return tuple(numbered)
    if wanted in source.by_name:
        return tuple(source.by_name[wanted])
    ending = [group for qualified, group in source.by_name.items() if qualified.endswith("." + wanted)]
    indexed = [group for group in ending if group[0].kind not in UNINDEXED_KINDS]
    groups = indexed or ending or [group for group in source.by_name.values() if _is_titled(group[0], name)]
    return tuple(groups[0]) if len(groups) == 1 else ()


def _is_titled(definition: Definition, name: str) -> bool:
    """Return whether it is a test with that title, which may contain dots and other signs."""
    wanted = title(name.replace("::", "."))
    return definition.kind == "test" and wanted in (title(definition.name), title(definition.own_name))


def innermost(source: ParsedSource, first: int, last: int) -> list[Definition]:
    """Return the innermost definitions that together cover the lines, otherwise the definition around them.

    Empty if the lines are in no definition, or touch more than MAX_OVER_LINES with none around.
    """
    touched = [
        definition
        for definition in (*source.definitions, *source.members)
        if definition.start_line <= last and definition.end_line >= first
    ]
    around = [definition for definition in touched if definition.start_line <= first and last <= definition.end_line]
    smallest = min(around, key=lambda definition: definition.end - definition.start, default=None)
    partly = [definition for definition in touched if definition not in around]
    within = [definition for definition in partly if not any(_is_in(definition, other) for other in partly)]
    if within and len(within) <= MAX_OVER_LINES and (smallest is None or _cover(within, first, last)):
        return within
    return [smallest] if smallest is not None else []


def _is_in(definition: Definition, other: Definition) -> bool:
    """Return whether another of these definitions is around this one."""
    return other is not definition and other.start <= definition.start and definition.end <= other.end


def _cover(definitions: list[Definition], first: int, last: int) -> bool:
    """Return whether the lines begin and end in those definitions."""
    begin = min(definition.start_line for definition in definitions)
    end = max(definition.end_line for definition in definitions)
    return begin <= first and end >= last


def _of_definitions(whole: Anchor, source: ParsedSource, group: Sequence[Definition]) -> Anchor:
    symbol = source.symbol(group[0]) if len(group) == 1 else group_symbol(source, group)
    return Anchor(
        path=whole.path,
        symbol=symbol.name,
        symbol_kind=symbol.kind,
        blob=whole.blob,
        signature_hash=symbol.signature_hash,
        body_hash=symbol.body_hash,
        commit=whole.commit,
        branch=whole.branch,
    )
