"""Where else a definition may be now, told from the index and confirmed in the files as they are."""

from __future__ import annotations

from holdfast.codeindex.group import group_symbol
from holdfast.codeindex.likeness import TELLING_TOKENS, sort_of
from holdfast.codeindex.source import unnumbered
from holdfast.domain.symbol import Symbol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.codeindex.views import Views
    from holdfast.domain.lesson import Anchor
    from holdfast.ports.indexstore import IndexStore


def same_body(views: Views, index: IndexStore | None, anchor: Anchor) -> Symbol | None:
    """The one definition with the anchor's telling body that was not there when the anchor was made.

    None when there are none or several, or when the body is short: many definitions have such a body.
    """
    found = [one for one in _candidates(views, index, anchor, "body_hash") if one.body_hash == anchor.body_hash]
    return _only([one for one in found if _is_telling(views, one, anchor) and _is_new(views, anchor, one)])


def same_head(views: Views, index: IndexStore | None, anchor: Anchor) -> Symbol | None:
    """The one definition with the anchor's qualified name and head that was not there before; None if not just one."""
    name = unnumbered(anchor.symbol)
    found = [one for one in _candidates(views, index, anchor, "signature_hash") if unnumbered(one.name) == name]
    same = [one for one in found if one.signature_hash == anchor.signature_hash]
    return _only([one for one in same if _is_new(views, anchor, one)])


def same_group(views: Views, index: IndexStore | None, anchor: Anchor) -> Symbol | None:
    """The one other file whose definitions of the anchor's name are the anchored group; None if not just one."""
    name = unnumbered(anchor.symbol)
    symbols = index.symbols(views.place.root, "name", name) if index is not None else []
    found = []
    for path in dict.fromkeys(one.path for one in symbols if one.path != anchor.path):
        source = views.now(path)
        group = source.by_name.get(name) if source is not None else None
        if source is not None and group and group_symbol(source, group).body_hash == anchor.body_hash:
            found.append(group_symbol(source, group))
    return _only([one for one in found if _is_new(views, anchor, one)])


def _candidates(views: Views, index: IndexStore | None, anchor: Anchor, by: str) -> Iterable[Symbol]:
    """Definitions as they are now in the anchor's file and in files where the index has one with that hash."""
    wanted = anchor.body_hash if by == "body_hash" else anchor.signature_hash
    told = index.symbols(views.place.root, by, wanted) if index is not None and wanted else []
    for path in dict.fromkeys((anchor.path, *(one.path for one in told))):
        source = views.now(path)
        names = {unnumbered(one.name) for one in told if one.path == path}
        for one in source.symbols() if source else ():
            if path == anchor.path or unnumbered(one.name) in names:
                yield one


def _is_telling(views: Views, one: Symbol, anchor: Anchor) -> bool:
    source = views.now(one.path)
    definition = next((held for held in source.definitions if held.name == one.name), None) if source else None
    if source is None or definition is None or sort_of(definition.kind) != sort_of(anchor.symbol_kind):
        return False
    return source.body_size(definition) >= TELLING_TOKENS


def _is_new(views: Views, anchor: Anchor, one: Symbol) -> bool:
    """Whether it was not already there, beside the anchored one, when the anchor was made."""
    if not anchor.commit:
        return True
    then = views.then(anchor.commit, one.path)
    return then is None or unnumbered(one.name) not in then.by_name


def _only(found: list[Symbol]) -> Symbol | None:
    return found[0] if len(found) == 1 else None
