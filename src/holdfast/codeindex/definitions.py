"""Finds the definitions in a syntax tree: extent, head, body and qualified name of each.

Queries are shallow, because tree-sitter takes tens of milliseconds to prepare deep ones. `Capture` finds deeper parts:
a name within C's declarators, or the function that a variable is bound to.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from holdfast.codeindex.language import KINDS, MEMBER_KINDS, Language
from holdfast.codeindex.parsing import text

if TYPE_CHECKING:
    from tree_sitter import Node

Captures = Mapping[str, list["Node"]]

PREFIX = "definition."
DECLARED = "declaration."
PLAIN_KINDS = ("constant", "type")

_TEMPLATE = re.compile(r"<[^<>]*>")
_CAST = re.compile(r"\boperator(\w+)(?:\(.*)?")

DEEPEST = 50
"""Definitions within definitions that are still told apart; nobody writes deeper ones."""
TITLE_LIMIT = 120
"""Characters of a test's title that are its name."""
_NAME_SIGNS = str.maketrans(".#", "__")


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


class Definition:
    """A definition, or a scope that only qualifies names. Bytes count from 0, lines from 1; byte ends are exclusive."""

    def __init__(self, capture: Capture) -> None:
        node, body = capture.node, capture.body
        self.kind = capture.kind
        self.only_declared = capture.only_declared
        self.core = node
        """The definition's own node."""
        self.node = node
        """The outermost node that belongs to it: the core, or a wrapper around it."""
        self.owner, self.own_name = capture.owner, capture.own_name
        self.name_spans = tuple((name_node.start_byte, name_node.end_byte) for name_node in capture.name_nodes)
        """Where its name is written, and its owner's when that is not around it."""
        self.name_start, self.name_end = self.name_spans[0]
        self.start, self.end = node.start_byte, _written_end(node)
        self.head_start = node.start_byte
        self.body_start, self.body_end = (body[0].start_byte, _written_end(body[-1])) if body else (self.end, self.end)
        self.start_line, self.end_line = node.start_point[0] + 1, _last_line(node)
        self.name = ""
        self.inside: Definition | None = None
        """The definition or scope directly around it."""


def find_definitions(language: Language, matches: Sequence[Captures]) -> list[Definition]:
    """Return the definitions among a query's matches, qualified, in source order; repeated names get `#2`, `#3`, …."""
    captured = sorted(_iter_captured(language, matches), key=_in_source_order)
    definitions = list(_unwrapped(captured))
    _qualify(definitions)
    defined = {definition.name for definition in definitions if not definition.only_declared}
    proper = [definition for definition in definitions if definition.kind != "scope"]
    counted = [definition for definition in proper if not (definition.only_declared and definition.name in defined)]
    _number(counted)
    return counted


def find_members(language: Language, matches: Sequence[Captures], around: Sequence[Definition]) -> list[Definition]:
    """Return fields and tests, qualified by the definitions around them, without those that are definitions already."""
    candidates = sorted(_iter_captured(language, matches, by_name=True), key=_in_source_order)
    spans = {(definition.start, definition.end) for definition in around}
    names = {definition.name.partition("#")[0] for definition in around}
    open_tests: list[Definition] = []
    members = []
    for member in candidates:
        if member.kind == "test":
            member.own_name = title(member.own_name)
        while open_tests and open_tests[-1].end <= member.start:
            open_tests.pop()
        member.inside = _innermost(around, member)
        around_test = open_tests[-1] if open_tests and member.kind == "test" else None
        if around_test and (member.inside is None or member.inside.start < around_test.start):
            member.inside = around_test
        member.name = f"{member.inside.name.partition('#')[0]}.{member.own_name}" if member.inside else member.own_name
        if member.kind == "test":
            open_tests.append(member)
        if (member.start, member.end) not in spans and member.name not in names:
            members.append(member)
    _number(members)
    return members


def title(words: str) -> str:
    """Return a test's title as a name: without the signs that separate names, at most 120 characters."""
    return " ".join(words.translate(_NAME_SIGNS).split())[:TITLE_LIMIT]


def _in_source_order(definition: Definition) -> tuple[int, int]:
    return definition.start, -definition.end


def _innermost(around: Sequence[Definition], definition: Definition) -> Definition | None:
    holding = [other for other in around if other.start <= definition.start and definition.end <= other.end]
    return min(holding, key=lambda other: other.end - other.start, default=None)


def _iter_captured(language: Language, matches: Sequence[Captures], *, by_name: bool = False) -> Iterator[Definition]:
    """Yield the definition of each match; for each node only the first, or the first of each name."""
    taken = set()
    for captures in matches:
        capture = Capture(language, captures)
        if not capture.kind:
            continue
        key = (capture.node.start_byte, capture.node.end_byte, capture.own_name if by_name else "")
        if key in taken:
            continue
        taken.add(key)
        definition = Definition(capture)
        _widen(language, definition)
        yield definition


def _written_end(node: Node) -> int:
    """Return where the node ends, without trailing white space."""
    text = node.text or b""
    return node.end_byte - (len(text) - len(text.rstrip()))


def _last_line(node: Node) -> int:
    """Return the last line that the node's text reaches."""
    return node.start_point[0] + 1 + (node.text or b"").rstrip().count(b"\n")


def _widen(language: Language, definition: Definition) -> None:
    """Extend the definition to its decorators, attributes and wrappers."""
    node: Node | None = definition.node
    wrappers = (*language.wrappers, *language.lone_wrappers)
    while wrappers and node is not None and (node := node.parent) is not None:
        if node.type not in wrappers or (node.type in language.lone_wrappers and not _is_alone(language, node)):
            break
        if node.type in language.lone_wrappers:
            definition.head_start = node.start_byte
        definition.start, definition.end, definition.node = node.start_byte, _written_end(node), node
        definition.end_line = _last_line(node)
    before = definition.node.prev_sibling if language.attributes else None
    while before is not None and before.type in language.attributes + language.ignored:
        if before.type in language.attributes:
            definition.start = before.start_byte
            definition.start_line = before.start_point[0] + 1
        before = before.prev_sibling
    if definition.start == definition.node.start_byte:
        definition.start_line = definition.node.start_point[0] + 1


def _is_alone(language: Language, wrapper: Node) -> bool:
    return sum(child.type not in language.ignored for child in wrapper.named_children) == 1


def _unwrapped(definitions: list[Definition]) -> Iterator[Definition]:
    """Yield definitions except those whose body an enclosing one has too: a struct named by a typedef."""
    bodies = set()
    for definition in definitions:
        body = (definition.body_start, definition.body_end)
        if definition.body_start == definition.body_end or body not in bodies:
            yield definition
        bodies.add(body)


def _qualify(definitions: list[Definition]) -> None:
    """Set each definition's qualified name and enclosing definition; a function among members becomes a method."""
    around: list[Definition] = []
    for definition in definitions:
        while around and around[-1].end <= definition.start:
            around.pop()
        definition.inside = around[-1] if around else None
        if len(around) >= DEEPEST:
            definition.kind = "scope"
            continue
        prefix = f"{definition.inside.name}." if definition.inside else ""
        owner = f"{definition.owner}." if definition.owner else ""
        definition.name = prefix + owner + definition.own_name
        if definition.kind == "function" and (
            definition.owner or (definition.inside and definition.inside.kind in {*MEMBER_KINDS, "scope"})
        ):
            definition.kind = "method"
        around.append(definition)


def _number(definitions: list[Definition]) -> None:
    seen: dict[str, int] = {}
    for definition in definitions:
        seen[definition.name] = seen.get(definition.name, 0) + 1
        if seen[definition.name] > 1:
            definition.name += f"#{seen[definition.name]}"
