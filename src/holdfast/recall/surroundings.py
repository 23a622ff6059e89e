"""The surroundings of the files in play: the definitions under an edit or a read, and the linked files.

It is lean and raises nothing: an answer that is not available is left out. It looks things up and indexes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from holdfast.domain.hookcall import HookCall
from holdfast.domain.project import Location
from holdfast.domain.symbol import Neighbour
from holdfast.errors import HoldfastError
from holdfast.ports.services import Services
from holdfast.recall.enclosing import TEXT_LIMIT, definitions_at, lines_of
from holdfast.recall.tuning import FILES_LIMIT, LINKED_LIMIT, SYMBOLS_LIMIT

RELATIONS = {"edited_together": "often edited with it", "read_before": "read and edited in turn with it"}


def symbols_at(services: Services, location: Location, path: str, call: HookCall) -> tuple[str, ...]:
    """Return the definitions that the call is about to edit or read, innermost first; empty for a whole file.

    They are guessed from the file's layout (`recall.enclosing`), so look them up only under that file.
    """
    if not call.excerpts and not call.lines[0]:
        return ()
    content = services.workspace.read(location, path)
    if not content or len(content) > TEXT_LIMIT:
        return ()
    text = content.decode("utf-8", "replace")
    spans = [call.lines] if call.lines[0] else [lines_of(text, excerpt) for excerpt in call.excerpts]
    names = (name for span in spans if span for name in definitions_at(path, text, *span))
    return tuple(dict.fromkeys(names))[:SYMBOLS_LIMIT]


def linked_files(services: Services, location: Location, paths: Sequence[str]) -> tuple[Neighbour, ...]:
    """Return the files linked to those, closest first, each once; weights combine as independent chances do.

    Empty where there is no code index or it does not answer.
    """
    index = services.codeindex()
    if index is None:
        return ()
    by_path: dict[str, Neighbour] = {}
    try:
        for path in paths[:FILES_LIMIT]:
            for neighbour in index.neighbours(location, path):
                known = by_path.get(neighbour.path)
                by_path[neighbour.path] = neighbour if known is None else _together(known, neighbour)
    except HoldfastError:
        return ()
    others = (neighbour for neighbour in by_path.values() if neighbour.path not in paths)
    return tuple(sorted(others, key=lambda neighbour: (-neighbour.weight, neighbour.path))[:LINKED_LIMIT])


def way_to(linked: Iterable[Neighbour], paths: Sequence[str]) -> str:
    """Describe the link of the closest of those paths: `about src/b.py, often edited with it`; empty without one."""
    for neighbour in linked:  # closest first
        if neighbour.path in paths:
            return f"about {neighbour.path}, {RELATIONS.get(neighbour.relation, 'linked to it')}"
    return ""


def _together(neighbour: Neighbour, other: Neighbour) -> Neighbour:
    closest = neighbour if neighbour.weight >= other.weight else other
    return replace(closest, weight=1 - (1 - neighbour.weight) * (1 - other.weight))
