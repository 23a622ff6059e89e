"""Finds where else a definition may be now. The index names candidates, and the current files confirm them."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.codeindex.group import group_symbol
from holdfast.codeindex.likeness import TELLING_TOKENS, sort_of
from holdfast.codeindex.snapshots import SourceSnapshots
from holdfast.codeindex.source import unnumbered
from holdfast.domain.lesson import Anchor
from holdfast.domain.symbol import Symbol
from holdfast.ports.indexstore import IndexStore


def same_body(snapshots: SourceSnapshots, index: IndexStore | None, anchor: Anchor) -> Symbol | None:
    """Return the only definition with the anchor's body that was not there when the anchor was made.

    None if there are none or several, or if the body is short, since many definitions share short bodies.
    """
    candidates = _candidates(snapshots, index, anchor, "body_hash")
    same = [symbol for symbol in candidates if symbol.body_hash == anchor.body_hash]
    return _only(
        [symbol for symbol in same if _is_distinctive(snapshots, symbol, anchor) and _is_new(snapshots, anchor, symbol)]
    )


def same_head(snapshots: SourceSnapshots, index: IndexStore | None, anchor: Anchor) -> Symbol | None:
    """Return the only definition with the anchor's qualified name and head that was not there before, or None."""
    name = unnumbered(anchor.symbol)
    candidates = _candidates(snapshots, index, anchor, "signature_hash")
    namesakes = [symbol for symbol in candidates if unnumbered(symbol.name) == name]
    same = [symbol for symbol in namesakes if symbol.signature_hash == anchor.signature_hash]
    return _only([symbol for symbol in same if _is_new(snapshots, anchor, symbol)])


def same_group(snapshots: SourceSnapshots, index: IndexStore | None, anchor: Anchor) -> Symbol | None:
    """Return the group in the only other file whose definitions of that name equal the anchored group, or None."""
    name = unnumbered(anchor.symbol)
    symbols = index.symbols(snapshots.location.root, "name", name) if index is not None else []
    groups = []
    for path in dict.fromkeys(symbol.path for symbol in symbols if symbol.path != anchor.path):
        source = snapshots.current(path)
        group = source.by_name.get(name) if source is not None else None
        if source is not None and group and group_symbol(source, group).body_hash == anchor.body_hash:
            groups.append(group_symbol(source, group))
    return _only([symbol for symbol in groups if _is_new(snapshots, anchor, symbol)])


def _candidates(snapshots: SourceSnapshots, index: IndexStore | None, anchor: Anchor, by: str) -> Iterable[Symbol]:
    """Yield current definitions in the anchor's file and in files that have that hash in the index."""
    wanted = anchor.body_hash if by == "body_hash" else anchor.signature_hash
    indexed = index.symbols(snapshots.location.root, by, wanted) if index is not None and wanted else []
    for path in dict.fromkeys((anchor.path, *(symbol.path for symbol in indexed))):
        source = snapshots.current(path)
        names = {unnumbered(symbol.name) for symbol in indexed if symbol.path == path}
        for symbol in source.symbols() if source else ():
            if path == anchor.path or unnumbered(symbol.name) in names:
                yield symbol


def _is_distinctive(snapshots: SourceSnapshots, symbol: Symbol, anchor: Anchor) -> bool:
    source = snapshots.current(symbol.path)
    definitions = source.definitions if source is not None else ()
    definition = next((candidate for candidate in definitions if candidate.name == symbol.name), None)
    if source is None or definition is None or sort_of(definition.kind) != sort_of(anchor.symbol_kind):
        return False
    return source.body_size(definition) >= TELLING_TOKENS


def _is_new(snapshots: SourceSnapshots, anchor: Anchor, symbol: Symbol) -> bool:
    """Return whether the symbol did not exist yet when the anchor was made."""
    if not anchor.commit:
        return True
    then = snapshots.at_commit(anchor.commit, symbol.path)
    return then is None or unnumbered(symbol.name) not in then.by_name


def _only(symbols: list[Symbol]) -> Symbol | None:
    return symbols[0] if len(symbols) == 1 else None
