"""MemoryIndexStore: a code index that lives as long as the process, for one-shot use without a file."""

from __future__ import annotations

from holdfast.codeindex.source import last_part

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Self

    from holdfast.domain.symbol import Import, Outline, Symbol
    from holdfast.ports.indexstore import FileState


class MemoryIndexStore:
    """As `ports/indexstore.py` says, in dictionaries."""

    def __init__(self) -> None:
        self._outlines: dict[tuple[str, str], Outline] = {}
        self._states: dict[str, dict[str, FileState]] = {}
        self._pairs: dict[str, Mapping[tuple[str, str], float]] = {}
        self._marks: dict[str, str] = {}
        self._by: dict[str, dict[str, list[Symbol]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def files(self, root: str) -> dict[str, FileState]:
        """What was indexed under that work tree's root, by path."""
        return dict(self._states.get(root, {}))

    def outlined(self, blobs: Sequence[str]) -> set[str]:
        """Those of the blobs that have an outline."""
        return {blob for _, blob in self._outlines}.intersection(blobs)

    def put(self, root: str, outlines: Sequence[Outline], states: Mapping[str, FileState]) -> None:
        """Keep outlines and which blob each path has now."""
        self._outlines.update({(one.path, one.blob): one for one in outlines})
        self._states.setdefault(root, {}).update(states)
        self._by.clear()

    def drop(self, root: str, paths: Sequence[str]) -> None:
        """Forget paths that are gone."""
        for path in paths:
            self._states.get(root, {}).pop(path, None)
        self._by.clear()

    def symbols(self, root: str, by: str, value: str) -> list[Symbol]:
        """Definitions in the work tree by path, name, last_name, body_hash or signature_hash."""
        key = f"{root}\0{by}"
        if key not in self._by:
            table: dict[str, list[Symbol]] = {}
            for symbol in self._iter_symbols(root):
                name = last_part(symbol.name) if by == "last_name" else str(getattr(symbol, by))
                table.setdefault(name, []).append(symbol)
            self._by[key] = table
        return list(self._by[key].get(value, ()))

    def imports(self, root: str, path: str) -> list[Import]:
        """What the file imports, resolved."""
        return [one for outline in self._iter_outlines(root) if outline.path == path for one in outline.imports]

    def importers(self, root: str, path: str) -> list[str]:
        """Files that import the file."""
        outlines = self._iter_outlines(root)
        return sorted({one.path for one in outlines if any(held.target == path for held in one.imports)})

    def put_pairs(self, relation: str, pairs: Mapping[tuple[str, str], float], upto: str) -> None:
        """Replace a relation's weighted pairs of paths."""
        self._pairs[relation] = dict(pairs)
        self._marks[f"pairs:{relation}"] = upto

    def pairs(self, relation: str, path: str) -> list[tuple[str, float]]:
        """The other path and the weight of each pair of that relation, heaviest first."""
        held = self._pairs.get(relation, {})
        found = [(a if b == path else b, weight) for (a, b), weight in held.items() if path in (a, b)]
        return sorted(found, key=lambda one: (-one[1], one[0]))

    def mark(self, key: str, value: str | None = None) -> str:
        """A small named value: sets it when given; returns what is kept now."""
        if value is not None:
            self._marks[key] = value
        return self._marks.get(key, "")

    def _iter_outlines(self, root: str) -> Iterator[Outline]:
        for path, state in self._states.get(root, {}).items():
            outline = self._outlines.get((path, state.blob))
            if outline is not None:
                yield outline

    def _iter_symbols(self, root: str) -> Iterator[Symbol]:
        for outline in self._iter_outlines(root):
            yield from outline.symbols
