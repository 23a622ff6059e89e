"""Source text to a syntax tree, and the query's finds in it. The only module that imports tree_sitter."""

from __future__ import annotations

from functools import cache
from importlib import import_module

from tree_sitter import Language as Grammar
from tree_sitter import Parser, Query, QueryCursor

from holdfast.codeindex.language import Language

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from tree_sitter import Node, Tree

MATCH_LIMIT = 4_096
"""Patterns a query may have under way at once; more are dropped, so that odd files take bounded memory."""


def parse(language: Language, content: bytes) -> Tree:
    """The syntax tree of the content; broken code has a tree with error nodes."""
    return Parser(_grammar(language)).parse(content)


def iter_matches(language: Language, root: Node) -> Iterator[dict[str, list[Node]]]:
    """What the language's query captures below the node, match by match."""
    cursor = QueryCursor(_query(language))
    cursor.match_limit = MATCH_LIMIT
    for _, captures in cursor.matches(root):
        yield captures


def text(node: Node) -> str:
    """The node's source; bytes that are not UTF-8 are replaced."""
    return (node.text or b"").decode("utf-8", "replace")


@cache
def _grammar(language: Language) -> Grammar:
    made = getattr(import_module(language.grammar_module), language.grammar_function)()
    return Grammar(made)


@cache
def _query(language: Language) -> Query:
    return Query(_grammar(language), language.query)
