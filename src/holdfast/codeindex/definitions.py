"""The definitions in a syntax tree: where each begins and ends, its head, its body and its qualified name."""

from __future__ import annotations

from holdfast.codeindex.captures import Capture
from holdfast.codeindex.language import MEMBER_KINDS, Language

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tree_sitter import Node

    from holdfast.codeindex.captures import Captures


DEEPEST = 50
"""Definitions within definitions that are still told apart; nobody writes deeper ones."""
TITLE_LIMIT = 120
_NAME_SIGNS = str.maketrans(".#", "__")


class Definition:
    """One definition, or a scope that only lends its name. Bytes count from 0, lines from 1; ends are exclusive."""

    def __init__(self, found: Capture) -> None:
        node, body = found.node, found.body
        self.kind = found.kind
        self.only_declared = found.only_declared
        self.core = node
        """The definition's own node."""
        self.node = node
        """The outermost node that belongs to it: the core, or a wrapper around it."""
        self.owner, self.own_name = found.owner, found.own_name
        self.name_spans = tuple((one.start_byte, one.end_byte) for one in found.name_nodes)
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
    """The definitions among a query's matches, as in the source, qualified; a repeated name has `#2`, `#3`, … added."""
    found = list(_unwrapped(sorted(_iter_captured(language, matches), key=lambda one: (one.start, -one.end))))
    _qualify(found)
    defined = {one.name for one in found if not one.only_declared}
    kept = [one for one in found if one.kind != "scope" and not (one.only_declared and one.name in defined)]
    _number(kept)
    return kept


def find_members(language: Language, matches: Sequence[Captures], around: Sequence[Definition]) -> list[Definition]:
    """Fields and tests, qualified by the definitions around them; without those that are definitions already."""
    found = sorted(_iter_captured(language, matches, by_name=True), key=lambda one: (one.start, -one.end))
    spans = {(one.start, one.end) for one in around}
    names = {one.name.partition("#")[0] for one in around}
    open_tests: list[Definition] = []
    kept = []
    for one in found:
        if one.kind == "test":
            one.own_name = title(one.own_name)
        while open_tests and open_tests[-1].end <= one.start:
            open_tests.pop()
        one.inside = _innermost(around, one)
        if open_tests and one.kind == "test" and (one.inside is None or one.inside.start < open_tests[-1].start):
            one.inside = open_tests[-1]
        one.name = f"{one.inside.name.partition('#')[0]}.{one.own_name}" if one.inside else one.own_name
        if one.kind == "test":
            open_tests.append(one)
        if (one.start, one.end) not in spans and one.name not in names:
            kept.append(one)
    _number(kept)
    return kept


def title(words: str) -> str:
    """A test's title as a name: without the signs that part names, at most 120 characters."""
    return " ".join(words.translate(_NAME_SIGNS).split())[:TITLE_LIMIT]


def _innermost(around: Sequence[Definition], one: Definition) -> Definition | None:
    holding = [other for other in around if other.start <= one.start and one.end <= other.end]
    return min(holding, key=lambda other: other.end - other.start, default=None)


def _iter_captured(language: Language, matches: Sequence[Captures], *, by_name: bool = False) -> Iterator[Definition]:
    """The definition of each match; of one node only the first, or the first of each name."""
    taken = set()
    for captures in matches:
        found = Capture(language, captures)
        if not found.kind:
            continue
        key = (found.node.start_byte, found.node.end_byte, found.own_name if by_name else "")
        if key in taken:
            continue
        taken.add(key)
        one = Definition(found)
        _widen(language, one)
        yield one


def _written_end(node: Node) -> int:
    """Where the node ends, the white space at its end left out."""
    text = node.text or b""
    return node.end_byte - (len(text) - len(text.rstrip()))


def _last_line(node: Node) -> int:
    """The last line with some of the node on it."""
    return node.start_point[0] + 1 + (node.text or b"").rstrip().count(b"\n")


def _widen(language: Language, one: Definition) -> None:
    """Let the definition begin with its decorators, attributes and wrappers."""
    node: Node | None = one.node
    wrappers = (*language.wrappers, *language.lone_wrappers)
    while wrappers and node is not None and (node := node.parent) is not None:
        if node.type not in wrappers or (node.type in language.lone_wrappers and not _is_alone(language, node)):
            break
        if node.type in language.lone_wrappers:
            one.head_start = node.start_byte
        one.start, one.end, one.node = node.start_byte, _written_end(node), node
        one.end_line = _last_line(node)
    before = one.node.prev_sibling if language.attributes else None
    while before is not None and before.type in language.attributes + language.ignored:
        if before.type in language.attributes:
            one.start = before.start_byte
            one.start_line = before.start_point[0] + 1
        before = before.prev_sibling
    if one.start == one.node.start_byte:
        one.start_line = one.node.start_point[0] + 1


def _is_alone(language: Language, wrapper: Node) -> bool:
    return sum(child.type not in language.ignored for child in wrapper.named_children) == 1


def _unwrapped(found: list[Definition]) -> Iterator[Definition]:
    """Without those that have the very body of one around them: a struct that a typedef names."""
    bodies = set()
    for one in found:
        body = (one.body_start, one.body_end)
        if one.body_start == one.body_end or body not in bodies:
            yield one
        bodies.add(body)


def _qualify(found: list[Definition]) -> None:
    """Give each its qualified name and what it is inside of; a function among members becomes a method."""
    around: list[Definition] = []
    for one in found:
        while around and around[-1].end <= one.start:
            around.pop()
        one.inside = around[-1] if around else None
        if len(around) >= DEEPEST:
            one.kind = "scope"
            continue
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
