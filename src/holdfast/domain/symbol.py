"""What the code index knows of a file: its definitions, what it imports, and verdicts on anchors."""

from __future__ import annotations

from holdfast.domain.frozen import Frozen
from holdfast.domain.lesson import Anchor
from holdfast.domain.vocabulary import Freshness


class Symbol(Frozen):
    """One definition: a function, method, class, and so on. Lines count from 1, bytes from 0; ends are exclusive."""

    path: str
    name: str
    """Qualified within the file, e.g. `Store.put`; further definitions of one name are `Store.put#2`, `#3`, …"""
    kind: str
    """function, method, class, interface, struct, enum, trait, module, type or constant."""
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
    """Tokens of head and body: very short definitions have no telling body."""


class Import(Frozen):
    """One import of a file: as written, and the file of the project it leads to (empty: outside, or ambiguous)."""

    module: str
    target: str = ""
    names: tuple[str, ...] = ()


class Outline(Frozen, nested={"symbols": Symbol, "imports": Import}):
    """A file's definitions and imports. `language` is empty for a file that is only known as a whole."""

    path: str
    blob: str
    language: str = ""
    symbols: tuple[Symbol, ...] = ()
    imports: tuple[Import, ...] = ()
    note: str = ""
    """Why it is incomplete: a syntax error, too large, too deep; empty when it is whole."""


class Verdict(Frozen, nested={"anchor": Anchor}):
    """An anchor's state against the code now, in a word and in words, and the anchor as it would be written now."""

    freshness: Freshness
    words: str = ""
    """What changed: `signature: timeout added`, `renamed to …`, `moved to …`, `annotations only`; empty: nothing."""
    anchor: Anchor


class Neighbour(Frozen):
    """A file linked to another one. `weight` is in (0, 1], decayed by hops."""

    path: str
    relation: str
    """imports, imported_by, edited_together or read_before."""
    weight: float
    hops: int = 1


class IndexReport(Frozen):
    """What a refresh of the code index did."""

    files: int = 0
    parsed: int = 0
    removed: int = 0
    symbols: int = 0
    skipped: tuple[tuple[str, str], ...] = ()
    """(path, reason) of files that were left out, at most 100."""
    complete: bool = True
    """False: stopped at a limit or a deadline; the next refresh goes on."""
