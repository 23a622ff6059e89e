"""CodeIndex: definitions, imports and verdicts on anchors, from the code as it is now."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Protocol

    from holdfast.domain.lesson import Anchor
    from holdfast.domain.project import Place
    from holdfast.domain.symbol import IndexReport, Neighbour, Outline, Symbol, Verdict
else:
    Protocol = object


class CodeIndex(Protocol):
    """The structure of a project's code. Derived: it may lag or be lost; verdicts never rest on it alone."""

    def outline(self, path: str, content: bytes) -> Outline:
        """The definitions and (unresolved) imports of one file's content. Never raises for odd content."""
        ...

    def anchors(self, place: Place, path: str, names: Sequence[str], lines: tuple[int, int] | None) -> list[Anchor]:
        """Anchors for what is meant in that file: the named definitions, or the innermost ones over those lines.

        Names are resolved in scope (`put`, `Store.put`); an ambiguous one is left out. Without names and lines, or
        when nothing is found, one anchor for the file; none when there is no such file.
        """
        ...

    def verdict(self, place: Place, anchor: Anchor) -> Verdict:
        """The anchor's state now, by the rules of freshness; never raises for the state of the disk or of git."""
        ...

    def refresh(self, place: Place, progress: Callable[[int, int], None] | None = None) -> IndexReport:
        """Bring the index up to the work tree, parsing only what changed; `progress(done, total)` counts files."""
        ...

    def find(self, place: Place, name: str) -> list[Symbol]:
        """Definitions in the project with that qualified name, or whose last part it is; from the index.

        A name may begin with its module's: `flask.helpers.url_for`.
        """
        ...

    def search(self, place: Place, name: str) -> list[Symbol]:
        """The same, members too, read from the files that git says have the name: no index is needed, git is."""
        ...

    def neighbours(self, place: Place, path: str) -> list[Neighbour]:
        """Files linked to the file, closest first: imports both ways, two hops, decayed; and edited together."""
        ...

    def put_pairs(self, place: Place, relation: str, pairs: Mapping[tuple[str, str], float], upto: str) -> bool:
        """Keep a relation's weighted pairs of paths in the place of those kept; False when there is no index."""
        ...

    def add_pairs(
        self, place: Place, relation: str, pairs: Mapping[tuple[str, str], float], since: str, upto: str
    ) -> bool:
        """Add weighted pairs of paths to a relation that is complete up to `since`; then it is up to `upto`.

        False, and nothing is kept, when it is complete up to something else, or there is no index.
        """
        ...

    def pairs_upto(self, place: Place, relation: str) -> str:
        """What the relation's pairs are complete up to; empty for none."""
        ...
