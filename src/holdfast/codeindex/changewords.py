"""Describes in a few words how a definition differs from its recorded form."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING

from holdfast.codeindex.definitions import Definition
from holdfast.codeindex.source import ParsedSource

if TYPE_CHECKING:
    from tree_sitter import Node


Part = tuple[ParsedSource, Definition]
Parameters = dict[str, tuple[str, str]]

HEAD_DEPTH = 4
"""How deep in a head its parameters lie: `const f = (a) => …`, or a C declarator within another."""

SHOWN = 3
"""Differences that are named; more are counted."""


def signature_words(then: Part, now: Part) -> str:
    """Return the differences in a head: `signature: timeout added, default of retries changed`.

    Returns `signature changed` if no difference is found.
    """
    details = [*_parameter_words(_parameters(then), _parameters(now)), *_decorator_words(then, now)]
    if not details:
        return "signature changed"
    more = f" and {len(details) - SHOWN} more" if len(details) > SHOWN else ""
    return "signature: " + ", ".join(details[:SHOWN]) + more


def _parameter_words(then: Parameters, now: Parameters) -> list[str]:
    details = [f"{name} added" for name in now if name not in then]
    details += [f"{name} removed" for name in then if name not in now]
    shared = [name for name in now if name in then]
    for name in shared:
        if then[name][0] != now[name][0]:
            details.append(f"default of {name} {_how(then[name][0], now[name][0])}")
        elif then[name][1] != now[name][1]:
            details.append(f"{name} changed")
    if not details and shared != [name for name in then if name in now]:
        details.append("parameters in another order")
    return details


def _how(then: str, now: str) -> str:
    return "added" if not then else "changed" if now else "removed"


def _decorator_words(then: Part, now: Part) -> list[str]:
    old, new = _decorators(then), _decorators(now)
    details = ["decorator added"] if [decorator for decorator in new if decorator not in old] else []
    details += ["decorator removed"] if [decorator for decorator in old if decorator not in new] else []
    before, after = _modifiers(then), _modifiers(now)
    details += [f"{word} added" for word in after if word not in before]
    return details + [f"{word} removed" for word in before if word not in after]


def _parameters(part: Part) -> Parameters:
    """Return for each parameter its name, and its default and other text (without annotation), in order."""
    source, definition = part
    parameters = {}
    for group in _groups(_lists(source, definition)):
        named = [node for node in takewhile(_is_no_default, group) if node.is_named and _counts(source, node)]
        if named:
            parameters[_name(source, named[-1])] = _default_and_rest(source, group, named[-1])
    return parameters


def _lists(source: ParsedSource, definition: Definition) -> list[Node]:
    """Return the nodes that hold the definition's parameters; several if it is curried."""
    for node in _in_head(definition, definition.core, HEAD_DEPTH):
        lists = [
            parameter_list
            for name in source.language.parameter_fields
            for parameter_list in node.children_by_field_name(name)
        ]
        if lists or node.type in source.language.parameter_lists:
            return [parameter_list for parameter_list in lists if parameter_list.type != "type_parameters"] or [node]
    return []


def _groups(lists: Sequence[Node]) -> Iterator[list[Node]]:
    """Yield the nodes between commas, inside the brackets if there are any: a parameter, its modifiers, its default."""
    for parameter_list in lists:
        opened = next((index + 1 for index, node in enumerate(parameter_list.children) if node.type in ("(", "[")), 0)
        group: list[Node] = []
        for node in parameter_list.children[opened:]:
            if node.type in (")", "]"):
                break
            if node.type == ",":
                yield group
                group = []
            else:
                group.append(node)
        yield group


def _is_no_default(node: Node) -> bool:
    return node.type != "="


def _in_head(definition: Definition, node: Node, depth: int) -> Iterator[Node]:
    """Yield the node and its descendants down to that depth, as far as they begin before the definition's body."""
    yield node
    for child in node.named_children if depth else ():
        if child.start_byte < definition.body_start:
            yield from _in_head(definition, child, depth - 1)


def _counts(source: ParsedSource, node: Node) -> bool:
    return node.type not in source.language.ignored and any(map(str.isalpha, _text(source, node)))


def _name(source: ParsedSource, parameter: Node) -> str:
    fields = (parameter.child_by_field_name(name) for name in source.language.parameter_names)
    node = next((node for node in fields if node is not None), parameter)
    while node.named_child_count and "identifier" not in node.type:
        inner = node.named_child(0)
        if inner is None:
            break
        node = inner
    return _text(source, node)


def _default_and_rest(source: ParsedSource, group: Sequence[Node], parameter: Node) -> tuple[str, str]:
    fields = (parameter.child_by_field_name(name) for name in source.language.default_fields)
    default = next((node for node in fields if node is not None), None)
    default = default or _after_equals(group) or _after_equals(parameter.children)
    end = default.start_byte if default is not None else group[-1].end_byte
    tokens = source.tokens_in(group[0].start_byte, end)
    span = tokens.between(group[0].start_byte, end)
    rest = [tokens.texts[index] for index in span if tokens.bare[index]]
    return (_text(source, default) if default is not None else ""), " ".join(rest).removesuffix(" =")


def _after_equals(nodes: Sequence[Node]) -> Node | None:
    return next((after for node, after in pairwise(nodes) if node.type == "="), None)


def _decorators(part: Part) -> list[str]:
    source, definition = part
    wanted = source.language.decorators + source.language.attributes
    before = [node for node in _before(definition.node) if node.start_byte >= definition.start]
    nodes = [node for node in (*before, *_in_head(definition, definition.node, 2)) if node.type in wanted]
    return [_text(source, node) for node in nodes]


def _modifiers(part: Part) -> list[str]:
    """Return the definition's modifiers one by one: `public`, `static`."""
    source, definition = part
    nodes = [node for node in _in_head(definition, definition.node, 2) if node.type in source.language.modifiers]
    single = (inner for node in nodes for inner in (node.children or [node]))
    return [_text(source, node) for node in single if node.type not in source.language.decorators]


def _before(node: Node) -> Iterator[Node]:
    while (before := node.prev_sibling) is not None:
        yield before
        node = before


def _text(source: ParsedSource, node: Node) -> str:
    tokens = source.tokens_in(node.start_byte, node.end_byte)
    return " ".join(tokens.texts[index] for index in tokens.between(node.start_byte, node.end_byte))
