"""Parses source text into a syntax tree and runs queries on it. The only module that imports tree_sitter.

It is imported with the first parse, because most verdicts come from the cache.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING

from holdfast.codeindex.language import Language

if TYPE_CHECKING:
    from tree_sitter import Language as Grammar
    from tree_sitter import Node, Query, Tree

MATCH_LIMIT = 4_096
"""Patterns a query may have under way at once; more are dropped, so that odd files take bounded memory."""

_LETTERS = {0xDC00 + byte: ord("a") + byte % 26 for byte in range(0x80, 0x100)}
"""A letter for each byte that is not UTF-8, which Python decodes as 0xDC00 and the byte."""


def parse(language: Language, content: bytes) -> Tree:
    """Return the syntax tree of the content; broken code has a tree with error nodes."""
    from tree_sitter import Parser

    content = _decodable(content)
    return Parser(_grammar(language)).parse(_masked(language, content) if language.masked else content)


def iter_matches(language: Language, root: Node) -> Iterator[dict[str, list[Node]]]:
    """Return what the language's query captures below the node, match by match."""
    return _captured(_query(language), root)


def iter_members(language: Language, root: Node) -> Iterator[dict[str, list[Node]]]:
    """Return the same for the language's query of members."""
    return _captured(_members_query(language), root) if language.members else iter(())


def _captured(query: Query, root: Node) -> Iterator[dict[str, list[Node]]]:
    from tree_sitter import QueryCursor

    cursor = QueryCursor(query)
    cursor.match_limit = MATCH_LIMIT
    for _, captures in cursor.matches(root):
        yield captures


def iter_errors(root: Node) -> Iterator[int]:
    """Yield the first byte of every error and of every token that the parser inserted."""
    cursor = root.walk()
    while True:
        node = cursor.node
        assert node is not None
        if node.is_error or node.is_missing:
            yield node.start_byte
        if node.has_error and not node.is_error and cursor.goto_first_child():
            continue
        while not cursor.goto_next_sibling():
            if not cursor.goto_parent():
                return


def is_within(root: Node, start: int, kinds: Sequence[str]) -> bool:
    """Return whether the byte is in a node of one of those kinds."""
    node = root.descendant_for_byte_range(start, start + 1)
    while node is not None and node.type not in kinds:
        node = node.parent
    return node is not None


def text(node: Node) -> str:
    """Return the node's source; bytes that are not UTF-8 are replaced."""
    return (node.text or b"").decode("utf-8", "replace")


def _decodable(content: bytes) -> bytes:
    """Return the content with bytes that are not UTF-8 replaced by letters: queries on text fail on such bytes."""
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return content.decode("utf-8", "surrogateescape").translate(_LETTERS).encode()
    return content


def _masked(language: Language, content: bytes) -> bytes:
    """Return the content with masked parts blanked out; every byte keeps its position."""

    def blank(match: re.Match[bytes]) -> bytes:
        whole = bytearray(match[0])
        for start, end in filter(lambda span: span[0] >= 0, map(match.span, range(1, len(match.groups()) + 1))):
            whole[start - match.start() : end - match.start()] = b" " * (end - start)
        return bytes(whole)

    return re.sub(language.masked.encode(), blank, content)


@cache
def _grammar(language: Language) -> Grammar:
    from tree_sitter import Language as Grammar

    return Grammar(getattr(import_module(language.grammar_module), language.grammar_function)())


@cache
def _query(language: Language) -> Query:
    from tree_sitter import Query

    return Query(_grammar(language), language.query)


@cache
def _members_query(language: Language) -> Query:
    from tree_sitter import Query

    return Query(_grammar(language), language.members)
