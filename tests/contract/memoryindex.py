"""MemoryIndexStore: a code index in memory, for single use without a file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Self

from holdfast.codeindex.source import last_part
from holdfast.domain.symbol import Outline, Symbol
from holdfast.ports.codeindex import FileState


class MemoryIndexStore:
    """Implements `ports/codeindex.py` in dictionaries."""

    def __init__(self) -> None:
        self._outlines: dict[tuple[str, str], Outline] = {}
        self._states: dict[str, dict[str, FileState]] = {}
        self._pairs: dict[str, Mapping[tuple[str, str], float]] = {}
        self._upto: dict[str, str] = {}
        self._verdicts: dict[str, str] = {}
        self._rules = ""
        self._by: dict[str, dict[str, list[Symbol]]] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def files(self, root: str) -> dict[str, FileState]:
        """Return what was indexed under that work tree's root, by path."""
        return dict(self._states.get(root, {}))

    def outlined(self, blobs: Sequence[str]) -> set[str]:
        """Return those of the blobs that have an outline."""
        return {blob for _, blob in self._outlines}.intersection(blobs)

    def put(self, root: str, outlines: Sequence[Outline], states: Mapping[str, FileState]) -> None:
        """Store outlines, and which blob each path has now."""
        self._outlines.update({(outline.path, outline.blob): outline for outline in outlines})
        self._states.setdefault(root, {}).update(states)
        self._by.clear()

    def drop(self, root: str, paths: Sequence[str]) -> None:
        """Forget paths that are gone."""
        for path in paths:
            self._states.get(root, {}).pop(path, None)
        self._by.clear()

    def rules(self) -> str:
        """Return the version of the rules by which its outlines were made."""
        return self._rules

    def clear(self, rules: str) -> None:
        """Remove everything; outlines are made by these rules from now on."""
        for table in (self._outlines, self._states, self._pairs, self._upto, self._verdicts, self._by):
            table.clear()
        self._rules = rules

    def symbols(self, root: str, by: str, value: str) -> list[Symbol]:
        """Return definitions in the work tree by path, name, last_name, body_hash or signature_hash."""
        key = f"{root}\0{by}"
        if key not in self._by:
            table: dict[str, list[Symbol]] = {}
            for symbol in self._iter_symbols(root):
                name = last_part(symbol.name) if by == "last_name" else str(getattr(symbol, by))
                table.setdefault(name, []).append(symbol)
            self._by[key] = table
        return list(self._by[key].get(value, ()))

    def put_pairs(self, relation: str, pairs: Mapping[tuple[str, str], float], upto: str) -> None:
        """Store a relation's weighted pairs in place of the stored ones."""
        self._pairs[relation] = dict(pairs)
        self._upto[relation] = upto

    def add_pairs(self, relation: str, pairs: Mapping[tuple[str, str], float], since: str, upto: str) -> bool:
        """Add weighted pairs to the stored ones, if these are complete up to exactly `since`; return whether."""
        if self.pairs_upto(relation) != since:
            return False
        weights = dict(self._pairs.get(relation, {}))
        for pair, weight in pairs.items():
            weights[pair] = weights.get(pair, 0.0) + weight
        self.put_pairs(relation, weights, upto)
        return True

    def pairs_upto(self, relation: str) -> str:
        """Return the mark up to which the relation's pairs are complete."""
        return self._upto.get(relation, "")

    def pairs(self, relation: str, path: str) -> list[tuple[str, float]]:
        """Return the other path and the weight of each pair of that relation, heaviest first."""
        weights = self._pairs.get(relation, {})
        partners = [(a if b == path else b, weight) for (a, b), weight in weights.items() if path in (a, b)]
        return sorted(partners, key=lambda partner: (-partner[1], partner[0]))

    def verdict(self, key: str) -> str:
        """Return the verdict stored under that key; empty if there is none."""
        return self._verdicts.get(key, "")

    def keep_verdict(self, key: str, verdict: str) -> None:
        """Store a verdict under that key, in place of an earlier one."""
        self._verdicts[key] = verdict

    def _iter_outlines(self, root: str) -> Iterator[Outline]:
        for path, state in self._states.get(root, {}).items():
            outline = self._outlines.get((path, state.blob))
            if outline is not None:
                yield outline

    def _iter_symbols(self, root: str) -> Iterator[Symbol]:
        for outline in self._iter_outlines(root):
            yield from outline.symbols
