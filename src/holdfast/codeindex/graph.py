"""Finds files linked to a file: by imports in both directions, by common commits, and by reading before an edit.

Imports count over two hops. Weights are in (0, 1] and say how likely one file matters for work on the other. The
constants order the relations; they are not measured probabilities.
"""

from __future__ import annotations

import math
import os

from holdfast.codeindex.history import together
from holdfast.domain.symbol import Neighbour

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.ports.indexstore import IndexStore

IMPORTS = 0.8
"""Weight of a file that the file imports, where that is its only import."""
IMPORTED_BY = 0.7
"""Weight of a file that imports the file, where it is the only one."""
HOP_DECAY = 0.5
"""Factor of a second hop: the weights of both hops are multiplied with it."""
READ_BEFORE = "read_before"

EXPANDED = 12
"""Direct neighbours whose own neighbours are looked at."""

HUB = 60
"""Importers above which a file says nothing about its importers: nearly everything imports it."""

PARTNERS = 30
"""Files edited together with a file, and files read before it, that are looked at: the heaviest."""
FAINT = 0.02
"""Least weight of a link that is told."""


def neighbours(store: IndexStore, root: str, path: str, limit: int = 40) -> list[Neighbour]:
    """Return files linked to the file, closest first, each once for every relation; at most `limit`."""
    linked = [*_imported(store, root, path), *_paired(store, root, path)]
    linked = [neighbour for neighbour in linked if neighbour.path != path and neighbour.weight >= FAINT]
    linked.sort(key=lambda neighbour: (-neighbour.weight, neighbour.hops, neighbour.path, neighbour.relation))
    return linked[:limit]


def _imported(store: IndexStore, root: str, path: str) -> list[Neighbour]:
    """Return neighbours by imports: one hop, then a second from the closest of them, each file by its best path."""
    best: dict[str, Neighbour] = {}
    for neighbour in _hop(store, root, path):
        _keep_best(best, neighbour)
    for near in sorted(best.values(), key=lambda neighbour: (-neighbour.weight, neighbour.path))[:EXPANDED]:
        for far in _hop(store, root, near.path):
            if far.path != path:
                weight = near.weight * far.weight * HOP_DECAY
                relation = near.relation if near.relation == far.relation else "imports"
                _keep_best(best, Neighbour(path=far.path, relation=relation, weight=weight, hops=2))
    return list(best.values())


def _hop(store: IndexStore, root: str, path: str) -> Iterator[Neighbour]:
    targets = sorted({imported.target for imported in store.imports(root, path) if imported.target})
    for target in targets:
        yield Neighbour(path=target, relation="imports", weight=IMPORTS / math.log2(1 + len(targets)) ** 0.5)
    importers = store.importers(root, path)
    if len(importers) <= HUB:
        for importer in importers:
            weight = IMPORTED_BY / math.log2(1 + len(importers))
            yield Neighbour(path=importer, relation="imported_by", weight=weight)


def _keep_best(best: dict[str, Neighbour], neighbour: Neighbour) -> None:
    known = best.get(neighbour.path)
    if known is None or (neighbour.hops, -neighbour.weight) < (known.hops, -known.weight):
        best[neighbour.path] = neighbour


def _paired(store: IndexStore, root: str, path: str) -> Iterator[Neighbour]:
    """Yield neighbours by pairs of paths. Only existing files count, since history also has deleted ones."""
    for other, share in together(store, path)[:PARTNERS]:
        if os.path.isfile(os.path.join(root, other)):
            yield Neighbour(path=other, relation="edited_together", weight=min(1.0, share))
    for other, times in store.pairs(READ_BEFORE, path)[:PARTNERS]:
        if os.path.isfile(os.path.join(root, other)):
            yield Neighbour(path=other, relation=READ_BEFORE, weight=times / (times + 2))
