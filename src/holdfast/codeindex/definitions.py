"""The definitions in a syntax tree: where each begins and ends, its head, its body and its qualified name."""

from __future__ import annotations

import re

from holdfast.codeindex.language import KINDS, MEMBER_KINDS, Language

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

PREFIX = "definition."
DECLARED = "declaration."

_TEMPLATE = re.compile(r"<[^<>]*>")


class Definition:
    """One definition, or a scope that only lends its name. Bytes count from 0, lines from 1; ends are exclusive."""

    def __init__(self, capture: str, node: Node, name: Node, owner: Node | None, body: Sequence[Node]) -> None:
        self.kind = _kind(capture)
        self.only_declared = capture.startswith(DECLARED)
        self.core = node
        """The definition's own node."""
        self.node = node
        """The outermost node that belongs to it: the core, or a wrapper around it."""
        self.owner, _, self.own_name = _clean(name).rpartition(".")
        if owner is not None:
            self.owner = _clean(owner)
        self.name_start, self.name_end = name.start_byte, name.end_byte
        self.owner_start, self.owner_end = (owner.start_byte, owner.end_byte) if owner else (self.name_end,) * 2
        self.start, self.end = node.start_byte, node.end_byte
        self.head_start = node.start_byte
        self.body_start, self.body_end = (body[0].start_byte, body[-1].end_byte) if body else (self.end, self.end)
        self.start_line, self.end_line = node.start_point[0] + 1, _last_line(node)
        self.name = ""
        self.inside: Definition | None = None
        """The definition or scope directly around it."""


def find_definitions(language: Language, root: Node) -> list[Definition]:
    """All definitions below the node in the order of the source, qualified; a repeated name has `#2`, `#3`, … added."""
    found = sorted(_iter_captured(language, root), key=lambda one: (one.start, -one.end))
    _qualify(found)
    defined = {one.name for one in found if not one.only_declared}
    kept = [one for one in found if one.kind != "scope" and not (one.only_declared and one.name in defined)]
    _number(kept)
    return kept


def _iter_captured(language: Language, root: Node) -> Iterator[Definition]:
    from holdfast.codeindex.parsing import iter_matches

    taken = set()
    for captures in iter_matches(language, root):
        capture, nodes = next(((key, nodes) for key, nodes in captures.items() if _kind(key)), ("", []))
        if not nodes or not captures.get("name") or (nodes[0].start_byte, nodes[0].end_byte) in taken:
            continue
        taken.add((nodes[0].start_byte, nodes[0].end_byte))
        body = captures.get("body") or _field(nodes[0], language.body_fields)
        one = Definition(capture, nodes[0], captures["name"][0], captures.get("owner", [None])[0], body)
        _widen(language, one)
        yield one


def _kind(capture: str) -> str:
    if capture == "scope":
        return capture
    kind = capture.removeprefix(PREFIX).removeprefix(DECLARED)
    return kind if kind != capture and kind in KINDS else ""


def _field(node: Node, names: tuple[str, ...]) -> list[Node]:
    return [child for name in names if (child := node.child_by_field_name(name)) is not None][:1]


def _last_line(node: Node) -> int:
    """The last line with some of the node on it; a line's end alone is none."""
    row, column = node.end_point
    return row + 1 if column or row == node.start_point[0] else row


def _widen(language: Language, one: Definition) -> None:
    """Let the definition begin with its decorators, attributes and wrappers."""
    node: Node | None = one.node
    while language.wrappers and node is not None and (node := node.parent) is not None:
        if node.type not in language.wrappers:
            break
        one.start, one.end, one.node = node.start_byte, node.end_byte, node
        one.end_line = _last_line(node)
    before = one.node.prev_sibling if language.attributes else None
    while before is not None and before.type in language.attributes + language.ignored:
        if before.type in language.attributes:
            one.start = before.start_byte
            one.start_line = before.start_point[0] + 1
        before = before.prev_sibling
    if one.start == one.node.start_byte:
        one.start_line = one.node.start_point[0] + 1


def _qualify(found: list[Definition]) -> None:
    """Give each its qualified name and what it is inside of; a function among members becomes a method."""
    around: list[Definition] = []
    for one in found:
        while around and around[-1].end <= one.start:
            around.pop()
        one.inside = around[-1] if around else None
        prefix = f"{one.inside.name}." if one.inside else ""
        owner = f"{one.owner}." if one.owner else ""
        one.name = prefix + owner + one.own_name
        if one.kind == "function" and (one.owner or (one.inside and one.inside.kind in {*MEMBER_KINDS, "scope"})):
            one.kind = "method"
        around.append(one)


def _number(found: list[Definition]) -> None:
    seen: dict[str, int] = {}
    for one in found:
        seen[one.name] = seen.get(one.name, 0) + 1
        if seen[one.name] > 1:
            one.name += f"#{seen[one.name]}"


def _clean(name: Node) -> str:
    """The name with dots between its parts and without layout, quotes, marks and template arguments."""
    from holdfast.codeindex.parsing import text

    plain = "".join(text(name).split()).removeprefix("r#")
    while "operator" not in plain and plain != (shorter := _TEMPLATE.sub("", plain)):
        plain = shorter
    return plain.replace("::", ".").replace("\\", ".").strip(".*&#\"'`")
