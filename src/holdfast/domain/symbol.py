"""What the code index knows about a file: its definitions, its imports, and verdicts on anchors."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.domain.lesson import Anchor
from holdfast.domain.vocabulary import Freshness
from holdfast.errors import InvalidValueError


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


REASONS: dict[str, str] = {
    "same": "",
    "annotations": "annotations only",
    "layout": "comments or layout only",
    "body": "body changed{detail}",
    "declaration": "declaration changed{detail}",
    "definitions": "{detail}",
    "signature": "{detail}",
    "signature_and_body": "{detail}; body too",
    "moved": "",
    "moved_and_changed": "changed since",
    "file_changed": "{path} changed since",
    "file_gone": "{path} is gone",
    "gone": "{symbol} is gone from {path}",
    "deleted": "{symbol} deleted in commit {detail}",
    "deleted_here": "{symbol} deleted in the work tree",
    "unreadable": "{path} cannot be read as a file",
    "not_recorded": "how {path} was when this was learnt is not known",
    "no_fingerprint": "{path} has no fingerprint to compare with",
    "other_version": "its fingerprint is of another version",
    "unknown_language": "the language of {path} is not known",
    "not_parsed": "{path} is not parsed: {detail}",
    "syntax_error": "{path} has a syntax error in {detail}",
    "syntax_error_around": "{path} has a syntax error around {symbol}",
    "hidden_by_syntax_error": "{path} has a syntax error and {symbol} is not found in it",
    "no_time": "{symbol} is not in {path}; there was no time to look for it",
    "no_time_to_compare": "{path} changed since; there was no time to look closer",
    "not_compared": "{path} could not be compared: {detail}",
    "no_folder": "the project's folder does not exist",
    "other_project": "recorded in another project",
    "other_branch": "recorded on another branch{detail}",
    "unknown_commit": "git does not know commit {detail} it was recorded at",
}
"""Every reason for a verdict with the words for a person. No other code turns a reason into words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """An anchor's state against the code now, the reason for it, and the anchor with its present fingerprints."""

    freshness: Freshness
    reason: str = "same"
    """One of REASONS. Code decides by this field, never by the words."""
    detail: str = ""
    """Details for the reason's words besides the anchor: a commit, an obstacle, what changed in a signature."""
    where: str = ""
    """The present location, when it differs: `renamed to …`, `moved to …`."""
    hides: str = ""
    """For an unverified anchor from another branch: the reason that would have counted on this one."""
    share: float = 1.0
    """For a change: how much of the code changed, above 0 and at most 1; also 1 where that is not known."""
    anchor: Anchor

    def __post_init__(self) -> None:
        """Require reasons from REASONS; raise InvalidValueError otherwise."""
        if self.reason not in REASONS or (self.hides and self.hides not in REASONS):
            raise InvalidValueError(f"unknown reason {self.reason!r}", hint=f"one of {', '.join(REASONS)}")

    @property
    def words(self) -> str:
        """Say what changed: `signature: timeout added`, `moved to …; body changed`; empty when nothing changed."""
        template = REASONS[self.reason]
        text = template.format(path=self.anchor.path, symbol=self.anchor.symbol, detail=self.detail)
        return "; ".join(filter(None, (self.where, text)))


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
