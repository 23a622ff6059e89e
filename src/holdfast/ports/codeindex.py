"""CodeIndex: the definitions of a project's code as it is now, and verdicts on anchors."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from holdfast.domain.lesson import Anchor
from holdfast.domain.project import Location
from holdfast.domain.symbol import IndexReport, Neighbour, Outline, Symbol, Verdict


class CodeIndex(Protocol):
    """The structure of a project's code. The index is derived and may lag or be lost: no verdict rests on it alone."""

    def outline(self, path: str, content: bytes) -> Outline:
        """Return the definitions of one file's content. Never raises for odd content."""

    def anchors(
        self, location: Location, path: str, names: Sequence[str], lines: tuple[int, int] | None
    ) -> list[Anchor]:
        """Return anchors in that file for the named definitions, or for the innermost definitions over those lines.

        Names are resolved in scope (`put`, `Store.put`); an ambiguous name is left out. Without names and lines, or
        when nothing is found, the answer is one anchor for the whole file; it is empty if there is no such file.
        """

    def verdict(self, location: Location, anchor: Anchor) -> Verdict:
        """Return the anchor's state now, by the rules of freshness; never raises for the state of the disk or git."""

    def refresh(self, location: Location, progress: Callable[[int, int], None] | None = None) -> IndexReport:
        """Bring the index up to the work tree and parse only changed files; `progress(done, total)` counts files."""

    def find(self, location: Location, name: str) -> list[Symbol]:
        """Return the indexed definitions with that qualified name, or with that name as their last part.

        A name may begin with the name of its module: `flask.helpers.url_for`.
        """

    def search(self, location: Location, name: str) -> list[Symbol]:
        """Return the same, and members, from the files in which git finds the name: it needs git but no index."""

    def neighbours(self, location: Location, path: str) -> list[Neighbour]:
        """Return linked files, closest first: edited together in git's history, or read before an edit."""

    def put_pairs(self, location: Location, relation: str, pairs: Mapping[tuple[str, str], float], upto: str) -> bool:
        """Replace a relation's weighted pairs of paths; return False when there is no index."""

    def add_pairs(
        self, location: Location, relation: str, pairs: Mapping[tuple[str, str], float], since: str, upto: str
    ) -> bool:
        """Add weighted pairs of paths to a relation that is complete up to `since`, and mark it complete up to `upto`.

        Return False and store nothing when the relation is complete up to something else, or there is no index.
        """

    def pairs_upto(self, location: Location, relation: str) -> str:
        """Return the position up to which the relation's pairs are complete; empty if it has none."""
