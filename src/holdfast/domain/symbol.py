"""What the code index knows about a file: its definitions, and verdicts on anchors."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.domain.lesson import Anchor
from holdfast.domain.vocabulary import Freshness


@dataclass(frozen=True, slots=True, kw_only=True)
class Symbol:
    """One definition: a function, method, class, and so on. Lines count from 1, bytes from 0; ends are exclusive."""

    path: str
    name: str
    """Qualified within the file, e.g. `Store.put`; further definitions of a name are `Store.put#2`, `#3`, …"""
    kind: str
    """function, method, class, interface, struct, enum, trait, module, type or constant; field, test; or a group."""
    start_line: int
    end_line: int
    start_byte: int
    end_byte: int
    signature: str = ""
    """The head in one line, for people: name, parameters, result; at most 300 characters."""
    signature_hash: str = ""
    """`s1:` + hash of the head's tokens without the name + `.` + the same without type annotations."""
    body_hash: str = ""
    """`b1:` + hash of the body's tokens, without comments, layout, docstring, own name + `.` + without annotations."""
    tokens: int = 0
    """Tokens of head and body: very short definitions have no distinctive body."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outline:
    """A file's definitions. `language` is empty for a file that is not parsed."""

    path: str
    blob: str
    language: str = ""
    symbols: tuple[Symbol, ...] = ()
    note: str = ""
    """Why it is incomplete: a syntax error, too large, too deep; empty when it is whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """An anchor's state against the code now, the reason for it, and the anchor with its present fingerprints."""

    freshness: Freshness
    reason: str = "same"
    """A key of `rendering.verdicts.REASONS`. Code decides by this field, never by the words."""
    detail: str = ""
    """Details for the reason's words besides the anchor: a commit, an obstacle, what changed in a signature."""
    where: str = ""
    """The present location, when it differs: `renamed to …`, `moved to …`."""
    hides: str = ""
    """For an unverified anchor from another branch: the reason that would have counted on this one."""
    share: float = 1.0
    """For a change: how much of the code changed, above 0 and at most 1; also 1 where that is not known."""
    anchor: Anchor


@dataclass(frozen=True, slots=True, kw_only=True)
class Neighbour:
    """A file linked to another one. `weight` is in (0, 1]."""

    path: str
    relation: str
    """edited_together or read_before."""
    weight: float


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexReport:
    """The result of refreshing the code index."""

    files: int = 0
    parsed: int = 0
    removed: int = 0
    symbols: int = 0
    skipped: tuple[tuple[str, str], ...] = ()
    """(path, reason) of files that were left out, at most 100."""
    complete: bool = True
    """False: it stopped at a limit or a deadline; the next refresh continues."""
