"""IndexStore: where a project's code index is kept. Derived rows only: losing them costs a re-index."""

from __future__ import annotations

from holdfast.lean.records import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Protocol, Self

    from holdfast.domain.symbol import Import, Outline, Symbol
else:
    Protocol = object


class FileState(Frozen):
    """A file as last indexed: enough to tell, without reading it, that it is unchanged."""

    blob: str
    size: int
    mtime_ns: int


class IndexStore(Protocol):
    """One project's index. Outlines are kept by blob, so that work trees and branches share them."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *exc: object) -> None: ...

    def files(self, root: str) -> dict[str, FileState]:
        """What was indexed under that work tree's root, by path."""
        ...

    def outlined(self, blobs: Sequence[str]) -> set[str]:
        """Those of the blobs that have an outline."""
        ...

    def put(self, root: str, outlines: Sequence[Outline], states: Mapping[str, FileState]) -> None:
        """Keep outlines (new blobs only) and which blob each path has now, in one transaction.

        A state whose blob has no outline is left out. New and changed files, and those whose imports may lead
        elsewhere because of a new path, are `unlinked`.
        """
        ...

    def drop(self, root: str, paths: Sequence[str]) -> None:
        """Forget paths that are gone; outlines nothing refers to go too. Files that imported them are `unlinked`."""
        ...

    def rules(self) -> str:
        """The rules that its outlines were made by, as `clear` was told; empty for a new index."""
        ...

    def clear(self, rules: str) -> None:
        """Forget everything. From now on outlines are made by these rules: others are not to be mixed with them."""
        ...

    def unlinked(self, root: str, limit: int) -> dict[str, list[Import]]:
        """Files whose imports were not resolved since they last changed, and their imports as written."""
        ...

    def link(self, root: str, imports: Mapping[str, Sequence[Import]]) -> None:
        """Keep where those files' imports lead; an import may be given once for each file it leads to."""
        ...

    def symbols(self, root: str, by: str, value: str) -> list[Symbol]:
        """Definitions in the work tree; `by` is path, name, last_name, body_hash or signature_hash."""
        ...

    def imports(self, root: str, path: str) -> list[Import]:
        """What the file imports: the resolved ones first, then those that lead outside."""
        ...

    def importers(self, root: str, path: str) -> list[str]:
        """Files that import the file."""
        ...

    def put_pairs(self, relation: str, pairs: Mapping[tuple[str, str], float], upto: str) -> None:
        """Keep a relation's weighted pairs of paths (edited_together, read_before) in the place of those kept.

        `upto` is what they are complete up to: a commit, a position.
        """
        ...

    def add_pairs(self, relation: str, pairs: Mapping[tuple[str, str], float], since: str, upto: str) -> bool:
        """Add weighted pairs to those kept, if these are complete up to just `since`; then they are up to `upto`.

        False, and nothing is kept, when they are complete up to something else.
        """
        ...

    def pairs_upto(self, relation: str) -> str:
        """What the relation's pairs are complete up to; empty for none."""
        ...

    def pairs(self, relation: str, path: str) -> list[tuple[str, float]]:
        """The other path and the weight of each pair of that relation, either way round, heaviest first."""
        ...

    def verdict(self, key: str) -> str:
        """The verdict kept by that key; empty for none."""
        ...

    def keep_verdict(self, key: str, verdict: str) -> None:
        """Keep a verdict in the place of the one kept by that key; the oldest go when there are many."""
        ...
