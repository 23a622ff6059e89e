"""Source: one file's content, parsed once: its definitions, and fingerprints of those that are asked for."""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from functools import cached_property
from hashlib import sha1

from holdfast.codeindex import fingerprint, languages
from holdfast.codeindex.definitions import Definition, find_definitions
from holdfast.codeindex.fingerprint import Tokens, hash_tokens, read_tokens
from holdfast.codeindex.language import CONTAINER_KINDS, Language
from holdfast.domain.symbol import Symbol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Node

SIZE_LIMIT = 1_000_000
"""Bytes of a file that are still parsed."""

LINE_LIMIT = 20_000
"""Bytes per line, on average, from which a file is taken as minified."""

SIGNATURE_LIMIT = 300


class Source:
    """A parsed file. `obstacle` says why it was not parsed at all: then it has no definitions."""

    def __init__(self, language: Language, path: str, content: bytes) -> None:
        self.language = language
        self.path = path
        self.content = content
        self.obstacle = _obstacle(content)

    @cached_property
    def root(self) -> Node:
        """The syntax tree's root."""
        from holdfast.codeindex.parsing import parse

        return parse(self.language, b"" if self.obstacle else self.content).root_node

    @cached_property
    def definitions(self) -> list[Definition]:
        """Every definition, in the order of the file."""
        return find_definitions(self.language, self.root)

    @cached_property
    def tokens(self) -> Tokens:
        """The whole file's telling tokens."""
        return read_tokens(self.language, self.root)

    @cached_property
    def by_name(self) -> dict[str, list[Definition]]:
        """Definitions by qualified name without number: overloads and redefinitions come together."""
        found: dict[str, list[Definition]] = {}
        for one in self.definitions:
            found.setdefault(unnumbered(one.name), []).append(one)
        return found

    @cached_property
    def error_starts(self) -> list[int]:
        """Where the parser could not go on, or made up a token, in order."""
        from holdfast.codeindex.parsing import iter_errors

        return sorted(iter_errors(self.root)) if self.root.has_error else []

    def is_broken(self, one: Definition) -> bool:
        """Whether a syntax error is in the definition, or cuts it short: then its tokens tell nothing."""
        end = one.end
        while end < len(self.content) and self.content[end : end + 1].isspace():
            end += 1
        first = bisect_left(self.error_starts, one.start)
        return first < len(self.error_starts) and self.error_starts[first] <= end

    @property
    def note(self) -> str:
        """Why it is incomplete, in words; empty when it is whole."""
        if self.obstacle:
            return self.obstacle
        if self.root.has_error:
            return "syntax error"
        try:
            self.content.decode("utf-8")
        except UnicodeDecodeError:
            return "not UTF-8"
        return ""

    def symbol(self, one: Definition) -> Symbol:
        """The definition with its fingerprints."""
        head, body = self.head_and_body(one)
        return Symbol(
            path=self.path,
            name=one.name,
            kind=one.kind,
            start_line=one.start_line,
            end_line=one.end_line,
            start_byte=one.start,
            end_byte=one.end,
            signature=self.signature_line(one),
            signature_hash=hash_tokens(fingerprint.SIGNATURE_VERSION, self.tokens, head, one.own_name),
            body_hash=hash_tokens(fingerprint.BODY_VERSION, self.tokens, body, one.own_name),
            tokens=len(head) + len(body),
        )

    def head_and_body(self, one: Definition) -> tuple[list[int], list[int]]:
        """The indexes of a definition's head and body tokens.

        What is defined in a class or module is left out: it has its own fingerprint, and a class whose method
        changed is the same class.
        """
        tokens = self.tokens
        name_at = {*tokens.between(one.name_start, one.name_end), *tokens.between(one.owner_start, one.owner_end)}
        head = [*tokens.between(one.start, one.body_start), *tokens.between(one.body_end, one.end)]
        body: Sequence[int] = tokens.between(one.body_start, one.body_end)
        if one.kind in CONTAINER_KINDS:
            members = (tokens.of_member(inner.start, inner.end) for inner in self.definitions if inner.inside is one)
            left_out = {index for span in members for index in span}
            body = [index for index in body if index not in left_out]
        return [index for index in head if index not in name_at], list(body)

    def words(self, one: Definition) -> Counter[str]:
        """How often each telling token is in the definition, members included, annotations and own name left out."""
        tokens, own = self.tokens, one.own_name
        span = tokens.between(one.start, one.end)
        return Counter(tokens.texts[index] for index in span if tokens.bare[index] and tokens.texts[index] != own)

    def signature_line(self, one: Definition) -> str:
        """The head in one line for people, without decorators, at most 300 characters."""
        head = self.content[one.head_start : one.body_start].decode("utf-8", "replace")
        return " ".join(head.split()).rstrip(" {:=")[:SIGNATURE_LIMIT]


def read_source(path: str, content: bytes) -> Source | None:
    """The file's content as source; None when its language is not known."""
    language = languages.for_path(path)
    return Source(language, path, content) if language else None


def blob_of(content: bytes) -> str:
    """`git1:` and git's blob id of the content."""
    return "git1:" + sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def unnumbered(name: str) -> str:
    """The qualified name without `#2`."""
    return name.partition("#")[0]


def last_part(name: str) -> str:
    """`put` of `Store.put#2`."""
    return unnumbered(name).rpartition(".")[2]


def _obstacle(content: bytes) -> str:
    """Why the content is not parsed at all; empty when it is."""
    if len(content) > SIZE_LIMIT:
        return f"too large: {len(content):,} bytes"
    if b"\0" in content[:8_000]:
        return "binary"
    if len(content) > LINE_LIMIT and len(content) > LINE_LIMIT * (content.count(b"\n") + 1):
        return "minified"
    return ""
