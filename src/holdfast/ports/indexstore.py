"""IndexStore: where a project's code index is kept. Derived rows only: losing them costs a re-index."""

from __future__ import annotations

from holdfast.domain.frozen import Frozen

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
        """Keep outlines (new blobs only) and which blob each path has now, in one transaction."""
        ...

    def drop(self, root: str, paths: Sequence[str]) -> None:
        """Forget paths that are gone; outlines nothing refers to go too."""
        ...

    def symbols(self, root: str, by: str, value: str) -> list[Symbol]:
        """Definitions in the work tree; `by` is path, name, last_name, body_hash or signature_hash."""
        ...

    def imports(self, root: str, path: str) -> list[Import]:
        """What the file imports, resolved."""
        ...

    def importers(self, root: str, path: str) -> list[str]:
        """Files that import the file."""
        ...

    def put_pairs(self, relation: str, pairs: Mapping[tuple[str, str], float], upto: str) -> None:
        """Replace a relation's weighted pairs of paths (edited_together, read_before), complete up to that commit."""
        ...

    def pairs(self, relation: str, path: str) -> list[tuple[str, float]]:
        """The other path and the weight of each pair of that relation, heaviest first."""
        ...

    def mark(self, key: str, value: str | None = None) -> str:
        """A small named value (cursors, cached verdicts): sets it when given; returns what is kept now."""
        ...
