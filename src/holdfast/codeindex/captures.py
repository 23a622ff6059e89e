"""Reads one match of a language's query: a definition's kind, its nodes, its name and its body.

Queries are shallow, because tree-sitter takes tens of milliseconds to prepare deep ones. Deeper parts are found here: a
name within C's declarators, or the function that a variable is bound to.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

from holdfast.codeindex.language import KINDS, Language
from holdfast.codeindex.parsing import text

if TYPE_CHECKING:
    from tree_sitter import Node


Captures = Mapping[str, list["Node"]]

PREFIX = "definition."
DECLARED = "declaration."
PLAIN_KINDS = ("constant", "type")

_TEMPLATE = re.compile(r"<[^<>]*>")
_CAST = re.compile(r"\boperator(\w+)(?:\(.*)?")


class Capture:
    """A definition as captured. It is none if it has no kind."""

    def __init__(self, language: Language, captures: Captures) -> None:
        key, nodes = next(((key, nodes) for key, nodes in captures.items() if _kind(key)), ("", []))
        self.only_declared = key.startswith(DECLARED)
        self.kind = _kind(key) if nodes and _stands_at_top(language, captures) else ""
        self.owner = self.own_name = ""
        if not self.kind:
            return
        self.node = nodes[0]
        self.body = captures.get("body") or _body(language, self.node) or fields(self.node, language.body_fields)
        if "value" in captures:
            self._bind(language, captures["value"][0])
        if "declarator" in captures:
            self._declare(language, captures["declarator"][0], captures.get("owner", []))
        else:
            self._called(captures.get("name", []), captures.get("owner", []))
        self.owner = ".".join(part for part in self.owner.split(".") if part not in language.silent_owners)

    def _bind(self, language: Language, value: Node) -> None:
        """Take the kind and body of what a name is bound to."""
        while value.type in language.grouping and value.named_child_count == 1:
            value = value.named_children[0]
        body = fields(value, language.body_fields)
        bound = dict(language.value_kinds).get(value.type, "") if body else ""
        plain = self.kind if self.kind in PLAIN_KINDS and value.type not in language.ignorable_values else ""
        if self.kind == "constant":
            self.kind = "" if bound else plain
        else:
            self.kind = bound or plain
        self.body = body if bound else [value]

    def _declare(self, language: Language, declarator: Node, owners: list[Node]) -> None:
        """Take the name from within a declarator; one of the wrong kind (a function, a value) is no definition."""
        node, around = declarator, ""
        while inner := _inner(language, node):
            around = around if node.type in language.name_wrappers else node.type
            node = inner
        callable_ = around in language.callable_declarators
        if not around and not self.only_declared:
            callable_ = node.type in language.callable_names
        if self.kind in ("function", "constant") and callable_ != (self.kind == "function"):
            self.kind = ""
        self._called([node], owners)

    def _called(self, names: list[Node], owners: list[Node]) -> None:
        self.name_nodes = names[:1] + owners[:1]
        if not names:
            self.kind = ""
        if names and self.kind == "test":
            self.own_name = clean(names[0])  # a sentence: its dots do not separate parts
        elif names:
            self.owner, self.own_name = _parted(clean(names[0]))
        if owners:
            self.owner = clean(owners[0]).rstrip("?")


def fields(node: Node, names: tuple[str, ...]) -> list[Node]:
    """Return the node's first child by one of those fields, if any."""
    return [child for name in names if (child := node.child_by_field_name(name)) is not None][:1]


def _body(language: Language, node: Node) -> list[Node]:
    return [child for child in node.children if child.type in language.body_nodes] if language.body_nodes else []


def _inner(language: Language, node: Node) -> Node | None:
    children = fields(node, language.name_fields) if node.type not in language.callable_names else []
    if not children and node.type in language.name_wrappers:
        children = [child for child in node.named_children if child.type not in language.ignored]
    return children[0] if children else None


def _kind(capture: str) -> str:
    if capture == "scope":
        return capture
    kind = capture.removeprefix(PREFIX).removeprefix(DECLARED)
    return kind if kind != capture and kind in KINDS else ""


def _stands_at_top(language: Language, captures: Captures) -> bool:
    parents = [node.parent.type if node.parent else "" for node in captures.get("top", ())]
    return all(parent in language.top_level for parent in parents)


def _parted(name: str) -> tuple[str, str]:
    """Return the owner in a qualified name, and the name's last part."""
    owner, _, own = name.rpartition(".")
    return (owner if "(" not in owner else "", own) if not _is_operator(name) else ("", name)


def clean(name: Node) -> str:
    """Return the name with dots between its parts and without layout, quotes, marks and template arguments."""
    written = text(name)
    if name.type.startswith("computed"):
        written = written.strip("[] ")  # JavaScript's `['name']()`
    if written[:1] in ("`", "'", '"'):
        return written.strip("`'\"")  # may be a sentence
    plain = "".join(written.split()).removeprefix("r#")
    if _is_operator(plain):
        return plain
    while "operator" not in plain and plain != (shorter := _TEMPLATE.sub("", plain)):
        plain = shorter
    return _CAST.sub(r"operator \1", plain).replace("::", ".").replace("\\", ".").strip(".*&#:\"'`")


def _is_operator(name: str) -> bool:
    """Return whether the name consists of signs only, such as `==` or `::` in languages whose operators are methods."""
    return not any(char.isalnum() or char == "_" for char in name)
