"""Measures how much of a definition changed since it was recorded, as a share and in words.

Both texts are compared without annotations. In `2 of 85 tokens`, one of them has 2 tokens that the other lacks. If one
name replaces another everywhere and nothing else differs, the words say so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
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

Group = tuple[ParsedSource, Sequence[Definition]]
RENAME_SHARE = 0.01
"""What one name for another weighs, however often it is written."""
SHOWN_DEFINITIONS = 2
"""Definitions of a group whose change is told; more are counted."""
_NAME = re.compile(r"[A-Za-z_$][\w$]{0,60}")


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


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeChange:
    """How much changed, and in words."""

    share: float = 1.0
    """0 to 1; 1 if unknown."""
    words: str = ""

    @property
    def bracketed(self) -> str:
        """The words in brackets, to follow others: ` (2 of 85 tokens)`."""
        return f" ({self.words})" if self.words else ""


NO_CHANGE = CodeChange()
"""Used if the recorded definition is not available for a comparison."""


def change_of(then: Part, now: Part) -> CodeChange:
    """Return how much one definition changed."""
    old, new = then[0].own_texts(then[1]), now[0].own_texts(now[1])
    names = _renamed(old, new)
    if names:
        return CodeChange(share=RENAME_SHARE, words=f"{names[0]} is {names[1]} throughout")
    count, total = _count(old, new), max(len(old), len(new), 1)
    if not count:
        return CodeChange(share=RENAME_SHARE, words="in another order")
    return CodeChange(share=count / total, words=f"{count} of {total} tokens")


def group_change(then: Group, now: Group) -> CodeChange:
    """Return which definitions of a group changed: `definition 2 of 3: body changed`, `1 definition added`."""
    added, removed = _unlike(now, then), _unlike(then, now)
    words, counts = [], []
    for old in list(removed):
        new = _counterpart(then[0], old, now[0], added)
        if new is not None:
            removed.remove(old)
            added.remove(new)
            change = change_of((then[0], old), (now[0], new))
            counts.append(change.share * len(now[0].own_texts(new)))
            place = f"definition {list(now[1]).index(new) + 1} of {len(now[1])}"
            words.append(f"{place}: {_difference((then[0], old), (now[0], new))}{change.bracketed}")
    if len(words) > SHOWN_DEFINITIONS:
        words[SHOWN_DEFINITIONS:] = [f"{len(words) - SHOWN_DEFINITIONS} more changed"]
    for how, source, left in (("added", now[0], added), ("removed", then[0], removed)):
        counts += [len(source.own_texts(definition)) for definition in left]
        words += [f"{len(left)} {'definition' if len(left) == 1 else 'definitions'} {how}"] if left else []
    total = max(sum(len(source.own_texts(definition)) for definition in group) for source, group in (then, now))
    return CodeChange(share=min(1.0, sum(counts) / max(total, 1)), words=", ".join(words))


def _count(old: Iterable[str], new: Iterable[str]) -> int:
    """Return how many tokens one of them has that the other lacks: the larger of the two numbers."""
    then, now = Counter(old), Counter(new)
    return max((then - now).total(), (now - then).total())


def _renamed(old: Sequence[str], new: Sequence[str]) -> tuple[str, str] | None:
    """Return the pair of names if one name replaces another everywhere and nothing else differs; otherwise None."""
    pairs = {pair for pair in zip(old, new, strict=False) if pair[0] != pair[1]}
    if len(old) != len(new) or len(pairs) != 1:
        return None
    before, after = pairs.pop()
    fits = _NAME.fullmatch(before) and _NAME.fullmatch(after) and before not in new and after not in old
    return (before, after) if fits else None


def _counterpart(
    source: ParsedSource, definition: Definition, other: ParsedSource, among: Sequence[Definition]
) -> Definition | None:
    """Return what the definition became: one with the same head, else the same body, else the same name or number."""
    symbol = source.symbol(definition)
    for by in ("signature_hash", "body_hash", "name"):
        for candidate in among:
            if getattr(other.symbol(candidate), by) == getattr(symbol, by):
                return candidate
    return None


def _unlike(group: Group, other: Group) -> list[Definition]:
    """Return the definitions of one group that the other does not have unchanged."""
    there = {_hashes(other[0], definition) for definition in other[1]}
    return [definition for definition in group[1] if _hashes(group[0], definition) not in there]


def _hashes(source: ParsedSource, definition: Definition) -> tuple[str, str]:
    symbol = source.symbol(definition)
    return symbol.signature_hash, symbol.body_hash


def _difference(then: Part, now: Part) -> str:
    old, new = then[0].symbol(then[1]), now[0].symbol(now[1])
    return "body changed" if old.signature_hash == new.signature_hash else signature_words(then, now)
