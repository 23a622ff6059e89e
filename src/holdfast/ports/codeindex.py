"""CodeIndex: the definitions of a project's code as it is now, verdicts on anchors; and its storage."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from holdfast.domain.lesson import Anchor
from holdfast.domain.project import Location
from holdfast.domain.symbol import IndexReport, Neighbour, Outline, Symbol, Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class FileState:
    """A file as last indexed: enough to see, without reading it, that it is unchanged."""

    blob: str
    size: int
    mtime_ns: int


class IndexStore(Protocol):
    """One project's index. Outlines are stored by blob, so that work trees and branches share them."""

    def __enter__(self) -> Self: ...
    def __exit__(self, *exc: object) -> None: ...

    def files(self, root: str) -> dict[str, FileState]:
        """Return what was indexed under that work tree's root, by path."""

    def outlined(self, blobs: Sequence[str]) -> set[str]:
        """Return those of the blobs that have an outline."""

    def put(self, root: str, outlines: Sequence[Outline], states: Mapping[str, FileState]) -> None:
        """Store outlines (new blobs only) and the current blob of each path, in one transaction.

        A state whose blob has no outline is left out.
        """

    def drop(self, root: str, paths: Sequence[str]) -> None:
        """Drop deleted paths and the outlines that only they used."""

    def rules(self) -> str:
        """Return the rules by which its outlines were made, as passed to `clear`; empty for a new index."""

    def clear(self, rules: str) -> None:
        """Drop everything. Later outlines are made by these rules; outlines by other rules must not be mixed in."""

    def symbols(self, root: str, by: str, value: str) -> list[Symbol]:
        """Return definitions in the work tree; `by` is path, name, last_name, body_hash or signature_hash."""

    def put_pairs(self, relation: str, pairs: Mapping[tuple[str, str], float], upto: str) -> None:
        """Replace a relation's weighted pairs of paths (edited_together, read_before).

        `upto` is the commit or position up to which they are complete.
        """

    def add_pairs(self, relation: str, pairs: Mapping[tuple[str, str], float], since: str, upto: str) -> bool:
        """Add weighted pairs to a relation that is complete up to exactly `since`, and mark it complete up to `upto`.

        Return False and store nothing when the relation is complete up to something else.
        """

    def pairs_upto(self, relation: str) -> str:
        """Return the position up to which the relation's pairs are complete; empty if it has none."""

    def pairs(self, relation: str, path: str) -> list[tuple[str, float]]:
        """Return the other path and the weight of each pair of that relation, in either order, heaviest first."""

    def verdict(self, key: str) -> str:
        """Return the verdict stored under that key; empty if there is none."""

    def keep_verdict(self, key: str, verdict: str) -> None:
        """Store a verdict under that key; the oldest verdicts are dropped when there are many."""


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

    def sizes(self, location: Location) -> Mapping[str, int]:
        """Return the bytes of each file of the work tree that is worth indexing, by path.

        An answer may be as old as the last commit, checkout or change of git's index.
        """

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
