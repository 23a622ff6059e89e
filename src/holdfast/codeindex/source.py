"""Sources: one file's content, parsed once, with its definitions and their fingerprints; and a work tree's files.

`SourceSnapshots` has the files now and at earlier commits. A *group* is all definitions of one file that share a
qualified name, treated as one symbol: overloads, a property's getter and setter, both branches of an `#ifdef`.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from hashlib import blake2b, sha1
from itertools import pairwise
from typing import TYPE_CHECKING

from holdfast.codeindex import fingerprint, languages
from holdfast.codeindex.definitions import Captures, Definition, find_definitions, find_members
from holdfast.codeindex.fingerprint import BODY_VERSION, HASH_BYTES, SIGNATURE_VERSION, Tokens, hash_tokens, read_tokens
from holdfast.codeindex.language import CONTAINER_KINDS, Language
from holdfast.codeindex.parsing import is_within, iter_errors, iter_matches, iter_members, parse
from holdfast.domain.project import Location
from holdfast.domain.symbol import Outline, Symbol
from holdfast.lean.cached import cached_property
from holdfast.ports.workspace import History, Workspace
from holdfast.redaction import redact

if TYPE_CHECKING:
    from tree_sitter import Node

SIZE_LIMIT = 1_000_000
"""Bytes of a file that are still parsed."""

LINE_LIMIT = 20_000
"""Bytes per line, on average, from which a file is taken as minified."""

SIGNATURE_LIMIT = 300
SIGNATURE_READ = 3_000
"""Characters of a head that are looked at: a secret across the end of the line that is kept is seen whole."""
_LITERAL_MARKS = ("'", '"', "`", "=")

COMMONPLACE = frozenset({"self", "this", "return", "def", "function", "func", "fn", "public", "static", "const", "let"})
"""Words that do not distinguish definitions."""

_CONFLICT = re.compile(rb"^<{7} .*?^={7}\r?$.*?^>{7} [^\n]*", re.DOTALL | re.MULTILINE)
_MARKER = re.compile(rb"^(?:<{7} |={7}\r?$|>{7} |\|{7} )[^\r\n]*", re.MULTILINE)

GROUP = "group"
"""The kind of an anchor that means all definitions of its name."""
_PARTS = re.compile(r"[^\W_]+")
"""A test's title is spelt differently from its name, but has the same words."""
KEPT_BYTES = 3_000_000
"""Bytes of source whose parsed form is kept in memory; what was used longest ago goes first."""


class ParsedSource:
    """A parsed file. If `obstacle` says why it was not parsed, it has no definitions."""

    def __init__(self, language: Language, path: str, content: bytes) -> None:
        self.language = language
        self.path = path
        self.content = content
        self.obstacle = _obstacle(content)
        self._parts: dict[tuple[int, int], Tokens] = {}
        self._words: dict[int, Counter[str]] = {}

    @cached_property
    def root(self) -> Node:
        """The syntax tree's root. The marks of a merge conflict are read as empty lines, so both sides are there."""
        if self.obstacle:
            return parse(self.language, b"").root_node
        unmarked = _MARKER.sub(_blank, self.content) if self.markers else self.content
        return parse(self.language, unmarked).root_node

    @cached_property
    def markers(self) -> list[int]:
        """Where the marks of merge conflicts start, unless one is in a string or comment: then they are all text."""
        if self.obstacle or b"<<<<<<< " not in self.content or not _CONFLICT.search(self.content):
            return []
        text = (*self.language.strings, *self.language.exact, *self.language.ignored)
        root = parse(self.language, self.content).root_node
        positions = [match.start() for match in _MARKER.finditer(self.content)]
        return [] if any(is_within(root, start, text) for start in positions) else positions

    @cached_property
    def matches(self) -> list[Captures]:
        """The matches of the language's query."""
        return list(iter_matches(self.language, self.root))

    @cached_property
    def definitions(self) -> list[Definition]:
        """Every definition, in the order of the file."""
        return find_definitions(self.language, self.matches)

    @cached_property
    def members(self) -> list[Definition]:
        """Fields and blocks of tests, in the order of the file; they can be anchored but are not indexed."""
        return find_members(self.language, list(iter_members(self.language, self.root)), self.definitions)

    @cached_property
    def tokens(self) -> Tokens:
        """The whole file's significant tokens."""
        return read_tokens(self.language, self.root)

    def tokens_in(self, start: int, end: int) -> Tokens:
        """Return the significant tokens between two bytes, and perhaps more: a part is cheaper than the whole."""
        if "tokens" in self.__dict__:
            return self.tokens
        if (start, end) not in self._parts:
            self._parts[start, end] = read_tokens(self.language, self.root, (start, end))
        return self._parts[start, end]

    @cached_property
    def by_name(self) -> dict[str, list[Definition]]:
        """Definitions and members by qualified name without number: overloads and redefinitions are together."""
        groups: dict[str, list[Definition]] = {}
        for definition in (*self.definitions, *self.members):
            groups.setdefault(unnumbered(definition.name), []).append(definition)
        return groups

    @cached_property
    def error_starts(self) -> list[int]:
        """Where the parser failed, or inserted a token, in order."""
        return sorted(iter_errors(self.root)) if self.root.has_error else []

    def is_broken(self, definition: Definition) -> bool:
        """Return whether a syntax error is in the definition, or cuts it short, so that its tokens are unreliable."""
        end = definition.end
        while end < len(self.content) and self.content[end : end + 1].isspace():
            end += 1
        marked = any(definition.start <= start < definition.end for start in self.markers)
        first = bisect_left(self.error_starts, definition.start)
        return marked or (first < len(self.error_starts) and self.error_starts[first] <= end)

    @property
    def note(self) -> str:
        """Why it is incomplete, in words; empty if it is complete."""
        if self.obstacle:
            return self.obstacle
        if self.markers or self.root.has_error:
            return "syntax error"
        try:
            self.content.decode("utf-8")
        except UnicodeDecodeError:
            return "not UTF-8"
        return ""

    def symbols(self) -> list[Symbol]:
        """Return all definitions with their fingerprints."""
        if self.definitions:
            _ = self.tokens  # once for all of them
        return [self.symbol(definition) for definition in self.definitions]

    def symbol(self, definition: Definition) -> Symbol:
        """Return the definition with its fingerprints."""
        tokens = self.tokens_in(definition.start, definition.end)
        head, body = self._head_and_body(definition, tokens)
        return Symbol(
            path=self.path,
            name=definition.name,
            kind=definition.kind,
            start_line=definition.start_line,
            end_line=definition.end_line,
            start_byte=definition.start,
            end_byte=definition.end,
            signature=self.signature_line(definition),
            signature_hash=hash_tokens(fingerprint.SIGNATURE_VERSION, tokens, head, definition.own_name),
            body_hash=hash_tokens(fingerprint.BODY_VERSION, tokens, body, definition.own_name),
            tokens=len(head) + len(body),
        )

    def _head_and_body(self, definition: Definition, tokens: Tokens) -> tuple[list[int], list[int]]:
        """Return the indexes of a definition's head and body tokens.

        Definitions in a class or module are left out, and so are a suite's tests: each has its own fingerprint, and a
        class stays the same if only a method changed.
        """
        name_at = {index for start, end in definition.name_spans for index in tokens.between(start, end)}
        # the end of a block that ends with the body belongs to it, unless the block is around the definition
        within = tokens.of_member if definition.body_end < definition.end else tokens.between
        span = within(definition.body_start, definition.body_end)
        head = [
            *tokens.between(definition.start, definition.body_start),
            *range(span.stop, tokens.between(definition.start, definition.end).stop),
        ]
        body: Sequence[int] = span
        if definition.kind in CONTAINER_KINDS or definition.kind == "test":
            inner = self.members if definition.kind == "test" else self.definitions
            members = (tokens.of_member(other.start, other.end) for other in inner if other.inside is definition)
            left_out = {index for span in members for index in span}
            body = [index for index in body if index not in left_out]
        return [index for index in head if index not in name_at], list(body)

    def words(self, definition: Definition) -> Counter[str]:
        """Count each word, and each pair of words in a row, in the definition, members included.

        Signs, annotations and its own name are left out, since they occur everywhere.
        """
        if definition.start not in self._words:
            tokens = self.tokens
            indexes = (index for index in tokens.between(definition.start, definition.end) if tokens.bare[index])
            words = [text for index in indexes if (text := tokens.texts[index]) != definition.own_name and _tells(text)]
            self._words[definition.start] = Counter(words) + Counter(map(" ".join, pairwise(words)))
        return self._words[definition.start]

    def own_texts(self, definition: Definition) -> list[str]:
        """Return the tokens of its head and body without annotations, with its own name masked as in fingerprints."""
        tokens = self.tokens_in(definition.start, definition.end)
        head, body = self._head_and_body(definition, tokens)
        texts = (tokens.texts[index] for index in sorted((*head, *body)) if tokens.bare[index])
        return [fingerprint.OWN_NAME if text == definition.own_name else text for text in texts]

    def body_size(self, definition: Definition) -> int:
        """Return the number of tokens of its body."""
        return len(self._head_and_body(definition, self.tokens_in(definition.start, definition.end))[1])

    def signature_line(self, definition: Definition) -> str:
        """Return the head in one line for people, redacted, without decorators, at most 300 characters."""
        end = definition.end if definition.kind == "type" else definition.body_start
        head = self.content[definition.head_start : end].decode("utf-8", "replace")
        if definition.name_spans[0][0] >= end:
            head += " " + definition.own_name
        shown = " ".join(head[:SIGNATURE_READ].split()).rstrip(" {:=")
        if any(mark in shown for mark in _LITERAL_MARKS):  # most heads have no defaults, and need no search
            shown = redact(shown)
        return shown[:SIGNATURE_LIMIT]


def read_source(path: str, content: bytes) -> ParsedSource | None:
    """Return the file's content as source; None if its language is unknown."""
    language = languages.for_path(path)
    return ParsedSource(language, path, content) if language else None


def blob_of(content: bytes) -> str:
    """Return `git1:` and git's blob id of the content."""
    return "git1:" + sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def unnumbered(name: str) -> str:
    """Return the qualified name without `#2`."""
    return name.partition("#")[0]


def last_part(name: str) -> str:
    """Return `put` for `Store.put#2`."""
    return unnumbered(name).rpartition(".")[2]


def _tells(text: str) -> bool:
    return text not in COMMONPLACE and any(char.isalnum() or char == "_" for char in text)


def _blank(match: re.Match[bytes]) -> bytes:
    return b" " * len(match[0])


def _obstacle(content: bytes) -> str:
    """Return why the content cannot be parsed at all; empty if it can."""
    if len(content) > SIZE_LIMIT:
        return f"too large: {len(content):,} bytes"
    if b"\0" in content[:8_000]:
        return "binary"
    if len(content) > LINE_LIMIT and len(content) > LINE_LIMIT * (content.count(b"\n") + 1):
        return "minified"
    return ""


def group_symbol(source: ParsedSource, definitions: Sequence[Definition]) -> Symbol:
    """Return all definitions of one name as one symbol; a single definition can be a group too."""
    symbols = [source.symbol(definition) for definition in definitions]
    pairs = [(symbol.signature_hash, symbol.body_hash) for symbol in symbols]
    return replace(
        symbols[0],
        name=unnumbered(symbols[0].name),
        kind=GROUP,
        end_line=symbols[-1].end_line,
        end_byte=symbols[-1].end_byte,
        signature_hash=_hash_all(SIGNATURE_VERSION, [(head,) for head, _ in pairs]),
        body_hash=_hash_all(BODY_VERSION, pairs),
        tokens=sum(symbol.tokens for symbol in symbols),
    )


def _hash_all(version: str, rows: Sequence[Sequence[str]]) -> str:
    """Return `<version>:<full>.<bare>` over the hashes of several definitions, in any order."""
    full, bare = [], []
    for row in rows:
        parts = [text.partition(":")[2].partition(".") for text in row]
        full.append(" ".join(whole for whole, _, _ in parts))
        bare.append(" ".join(short for _, _, short in parts))
    return f"{version}:{_digest(full)}.{_digest(bare)}"


def _digest(texts: Sequence[str]) -> str:
    return blake2b("\0".join(sorted(texts)).encode(), digest_size=HASH_BYTES).hexdigest()


class ParsedFiles:
    """Sources by content, shared by all snapshots of a process."""

    def __init__(self) -> None:
        self._kept: dict[tuple[str, str], ParsedSource] = {}
        self._size = 0

    def read(self, path: str, content: bytes) -> ParsedSource | None:
        """Return the content as source; None when its language is not known."""
        key = (path, blob_of(content))
        source = self._kept.pop(key, None)
        if source is None:
            source = read_source(path, content)
            self._size += len(content) if source is not None else 0
        if source is not None:
            self._kept[key] = source
        while self._size > KEPT_BYTES and len(self._kept) > 1:
            self._size -= len(self._kept.pop(next(iter(self._kept))).content)
        return source


class SourceSnapshots:
    """One work tree's files, now and at earlier commits."""

    def __init__(self, workspace: Workspace, location: Location, parsed: ParsedFiles) -> None:
        self.workspace = workspace
        self.location = location
        self.history: History = workspace.history(location)
        self._parsed = parsed

    def current(self, path: str) -> ParsedSource | None:
        """Return the file as it is on the disk; None if it is missing or its language is unknown."""
        return self._source(path, self.workspace.read(self.location, path))

    def at_commit(self, commit: str, path: str) -> ParsedSource | None:
        """Return the file as it was in the commit; for an empty commit as it is in the work tree."""
        return self._source(path, self.history.file(commit, path)) if commit else self.current(path)

    def at_blob(self, path: str, blob: str) -> ParsedSource | None:
        """Return the file with that blob, if git has it."""
        return self._source(path, self.history.blob(blob)) if blob else None

    def mentions(self, commit: str, path: str, word: str) -> bool:
        """Return whether the word may be in the file then, by a search for its longest part. Cheaper than parsing."""
        part = max(_PARTS.findall(word), key=len, default=word)
        return part.encode() in (self.history.file(commit, path) or b"")

    def _source(self, path: str, content: bytes | None) -> ParsedSource | None:
        return None if content is None else self._parsed.read(path, content)


def outline(path: str, content: bytes, *, members: bool = False) -> Outline:
    """Return the definitions of a file's content, on request with its members and groups."""
    source = read_source(path, content)
    if source is None:
        return Outline(path=path, blob=blob_of(content))
    return Outline(
        path=path,
        blob=blob_of(content),
        language=source.language.name,
        symbols=(*source.symbols(), *(_more(source) if members else ())),
        note=source.note,
    )


def _more(source: ParsedSource) -> Iterator[Symbol]:
    """Yield what can be anchored but is not indexed: fields, tests, and definitions that share a name as one symbol."""
    yield from map(source.symbol, source.members)
    for group in source.by_name.values():
        if len(group) > 1:
            yield group_symbol(source, group)
