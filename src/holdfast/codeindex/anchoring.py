"""Anchors for what is meant in a file: named definitions, the innermost ones over some lines, or the file."""

from __future__ import annotations

from holdfast.codeindex.source import blob_of, unnumbered
from holdfast.domain.lesson import Anchor

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.codeindex.definitions import Definition
    from holdfast.codeindex.source import Source
    from holdfast.codeindex.views import Views

MAX_OVER_LINES = 4
"""Definitions that an edited span may touch and still be about them; a wider one is about the file."""


def make_anchors(views: Views, path: str, names: Sequence[str], lines: tuple[int, int] | None) -> list[Anchor]:
    """As `ports/codeindex.py` says. `lines` count from 1 and include the last."""
    content = views.workspace.read(views.place, path)
    if content is None:
        return []
    whole = Anchor(path=path, blob=blob_of(content), commit=views.place.commit, branch=views.place.branch)
    source = views.now(path)
    if source is None or source.obstacle:
        return [whole]
    chosen = [one for name in names if (one := resolve(source, name)) is not None]
    if not chosen and lines is not None:
        chosen = innermost(source, *lines)
    sound = [one for one in dict.fromkeys(chosen) if not source.is_broken(one)]
    return [_of_definition(whole, source, one) for one in sound] or [whole]


def resolve(source: Source, name: str) -> Definition | None:
    """The one definition a name means in the file: its qualified name, or the end of just one; else None.

    A class's `put` is meant by `Store.put`, and by `put` when nothing else in the file is called so. Of overloads
    and redefinitions only a numbered name (`put#2`) or an only one is meant.
    """
    wanted = name.replace("::", ".").strip().removesuffix("()")
    exact = [one for one in source.definitions if one.name == wanted]
    if exact and len(source.by_name[unnumbered(wanted)]) == 1:
        return exact[0]
    if exact and "#" in wanted:
        return exact[0]
    if exact or not wanted:
        return None
    ending = [one for one in source.definitions if unnumbered(one.name).endswith("." + wanted)]
    return ending[0] if len(ending) == 1 else None


def innermost(source: Source, first: int, last: int) -> list[Definition]:
    """The innermost definitions over the lines: those that hold them all together, else the one around them.

    None when the lines are in no definition, or in more than a few with nothing around.
    """
    touched = [one for one in source.definitions if one.start_line <= last and one.end_line >= first]
    around = [one for one in touched if one.start_line <= first and last <= one.end_line]
    smallest = min(around, key=lambda one: one.end - one.start, default=None)
    partly = [one for one in touched if one not in around]
    within = [one for one in partly if not any(_is_in(one, other) for other in partly)]
    if within and len(within) <= MAX_OVER_LINES and (smallest is None or _cover(within, first, last)):
        return within
    return [smallest] if smallest is not None else []


def _is_in(one: Definition, other: Definition) -> bool:
    """Whether another definition that the lines do not wholly lie in is around this one."""
    return other is not one and other.start <= one.start and one.end <= other.end


def _cover(found: list[Definition], first: int, last: int) -> bool:
    """Whether the lines begin and end in those definitions."""
    return min(one.start_line for one in found) <= first and max(one.end_line for one in found) >= last


def _of_definition(whole: Anchor, source: Source, one: Definition) -> Anchor:
    symbol = source.symbol(one)
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
