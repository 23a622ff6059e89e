"""Computes fingerprints of code that only a change of meaning changes: not comments, layout, docstrings or a formatter.

Source text becomes tokens. The tokens of a definition's head and body are hashed twice: in full, and bare, without type
annotations. A hash starts with its version (`s1:`, `b1:`); hashes of two versions are never compared.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import blake2b
from typing import TYPE_CHECKING

from holdfast.codeindex.language import Language

if TYPE_CHECKING:
    from tree_sitter import Node

_LITERAL = re.compile(r"""([A-Za-z0-9]*)('''|\"\"\"|'|")(.*)\2""", re.DOTALL)
_ESCAPED = re.compile(r"\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|u\{[\da-fA-F]+\}|U[\da-fA-F]{8}|.)", re.DOTALL)
_SELF_SHOWING = re.compile(r"(?<![=!<>])=\s*$")
"""The end of `{name = }`, which prints its own text."""
PLAIN = ("string", "string_literal")

SIGNATURE_VERSION = "s1"
BODY_VERSION = "b1"
HASH_BYTES = 12
"""96 bits: a collision by chance among a million definitions has odds of one in 10^17."""
BLOCK_START, BLOCK_END = "\x02", "\x03"
OPENED = "\x04"
OWN_NAME = "\x01"
OWN_OBJECTS = frozenset({"self", "this", "cls", "$this", "Self", "static"})
TYPED = 1_000_000
"""A depth that nested annotations never reach."""
CLOSERS = frozenset(")]}>")
BRACKETS = frozenset("(){}")
DIGITS = frozenset(".0123456789")
_POINT = re.compile(r"(?<=\d)\.(?=$|[ejf])")
_UNPARSED = re.compile(r"""/\*.*?\*/|//[^\n]*|\\\r?\n|("(?:\\.|[^"\\])*"|\w+|[^\w\s])""", re.DOTALL)
"""Comments and continued lines; the group matches what counts: strings, words and signs."""


def literal_token(language: Language, node: Node) -> str:
    """Return the literal, or the adjacent literals that are joined, as one text."""
    source = _outdented(_source_text(node)) if node.type in language.indented else _source_text(node)
    if language.expanding and _is_inert(language, source):
        return f'"{source[1:-1]}"'
    joins = bool(language.joined_strings) and node.type in (*PLAIN, *language.joined_strings)
    if not (language.alike_quotes or joins):
        return source
    parts = [source] if node.type in PLAIN else [_source_text(child) for child in node.named_children] or [source]
    if node.type not in language.joined_strings and not _LITERAL.fullmatch(source):
        return source
    return " ".join(_joined(parts))


def _is_inert(language: Language, source: str) -> bool:
    """Return whether it would mean the same in the other quotes."""
    return source[:1] in ("'", '"') and not any(sign in source[1:-1] for sign in ("'", '"', *language.expanding))


def _outdented(source: str) -> str:
    """Return the text without the common indentation of all lines after the first."""
    first, *lines = source.split("\n")
    depths = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    return "\n".join((first, *(line[min(depths, default=0) :] for line in lines)))


def unquoted(source: str) -> str:
    """Return the content of a quoted name; as a literal if it needs the quotes."""
    inside = source[1:-1]
    return inside if inside.isidentifier() else f'"{inside}"'


def _joined(parts: Sequence[str]) -> list[str]:
    """Return the parts, with adjacent literals of one kind joined; plain ones and f-strings are joined too."""
    pieces: list[str | tuple[str, str]] = []
    for part in parts:
        match = _LITERAL.fullmatch(part)
        now = _literal(match) if match else part
        before = pieces[-1] if pieces else ""
        if (
            isinstance(now, tuple)
            and isinstance(before, tuple)
            and (now[0] == before[0] or {now[0], before[0]} == {"", "f"})
        ):
            prefix = max(now[0], before[0])
            pieces[-1] = (prefix, _in_terms_of(prefix, *before) + _in_terms_of(prefix, *now))
        else:
            pieces.append(now)
    return [f'{piece[0]}"{piece[1]}"' if isinstance(piece, tuple) else piece for piece in pieces]


def _literal(match: re.Match[str]) -> tuple[str, str]:
    """Return prefix letters and content of a literal; escaped quotes become plain ones, since either may delimit."""
    prefix = "".join(sorted(match[1].lower().replace("u", "")))
    content = match[3] if "r" in prefix else _ESCAPED.sub(_plain_escape, match[3])
    return prefix, _tidy_fields(content) if "f" in prefix else content


def _plain_escape(match: re.Match[str]) -> str:
    if match[1] in "'\"":
        return match[1]
    return match[0].lower() if match[1][:1] in "xu" else match[0]


def _tidy_fields(content: str) -> str:
    """Return an f-string's content with layout and quotes in its fields normalised."""
    pieces, at = [], 0
    while (start := content.find("{", at)) >= 0:
        if content.startswith("{{", start):
            pieces.append(content[at : start + 2])
            at = start + 2
            continue
        end = _field_end(content, start + 1)
        pieces += [content[at : start + 1], _tidy_field(content[start + 1 : end])]
        at = end
    return "".join(pieces) + content[at:]


def _tidy_field(field: str) -> str:
    return field if _SELF_SHOWING.search(field) else "".join(field.split()).replace("'", '"')


def _field_end(content: str, start: int) -> int:
    """Return where a field's expression ends: at its format or closing brace, outside of brackets and strings."""
    depth, quote = 0, ""
    for at in range(start, len(content)):
        sign = content[at]
        if quote:
            quote = "" if sign == quote else quote
        elif sign in "'\"":
            quote = sign
        elif depth == 0 and (sign == "}" or (sign == ":" and content[at + 1 : at + 2] != "=")):
            return at
        else:
            depth += (sign in "([{") - (sign in ")]}")
    return len(content)


def _in_terms_of(wanted: str, prefix: str, content: str) -> str:
    """Return a plain literal's content as an f-string needs it, if it is joined to one."""
    return content.replace("{", "{{").replace("}", "}}") if wanted and not prefix else content


def _source_text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace").replace("\r\n", "\n")


class Tokens:
    """The significant tokens of a syntax tree in order: start, text, and whether it belongs to the bare half."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.texts: list[str] = []
        self.bare: list[bool] = []

    def between(self, start: int, end: int) -> range:
        """Return the indexes of tokens that start within those bytes; block ends at the very end are not included."""
        return range(bisect_left(self.starts, start), bisect_left(self.starts, end))

    def of_member(self, start: int, end: int) -> range:
        """Return the same with the block ends that follow directly: all that would disappear with the member."""
        stop = bisect_left(self.starts, end)
        while stop < len(self.starts) and self.starts[stop] == end and self.texts[stop] == BLOCK_END:
            stop += 1
        return range(bisect_left(self.starts, start), stop)


def read_tokens(language: Language, root: Node, span: tuple[int, int] | None = None) -> Tokens:
    """Return the normalised tokens below a node: all, or at least those that start within a span of bytes.

    Works at any depth, since the walk keeps its own stack.
    """
    return _Walk(language).read(root, span)


def hash_tokens(version: str, tokens: Tokens, wanted: Iterable[int], own_name: str) -> str:
    """Return `<version>:<full>.<bare>` of those tokens. A recursive call's name becomes a fixed word."""
    full, bare = [], []
    for index in wanted:
        text = tokens.texts[index]
        shown = OWN_NAME if text == own_name and _calls_itself(tokens.texts, index) else text
        full.append(shown)
        if tokens.bare[index]:
            bare.append(shown)
    return f"{version}:{_digest(full)}.{_digest(bare)}"


def _calls_itself(texts: Sequence[str], index: int) -> bool:
    """Return whether that token calls the name, alone or on its own object; elsewhere it names another thing."""
    if texts[index + 1 : index + 2] != ["("]:
        return False
    return index == 0 or texts[index - 1] != "." or texts[index - 2] in OWN_OBJECTS


def _digest(words: Sequence[str]) -> str:
    return blake2b("\0".join(words).encode("utf-8", "replace"), digest_size=HASH_BYTES).hexdigest()


class _Walk:
    """One pass over a tree. `kinds` and `commas` are stacks: the open nodes' types, and the commas directly in each."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._ignored = frozenset(language.ignored)
        self._strings = frozenset((*language.strings, *language.joined_strings))
        self._annotations = frozenset(language.annotations)
        self._declarations = frozenset(language.declarations)
        self._blocks = frozenset(language.blocks)
        self._compounds = frozenset(language.compounds)
        self._no_op = frozenset(language.no_op_statements)
        self._loose = frozenset(language.loose_parents)
        self._loose_brackets = frozenset(language.optional_brackets)
        self._empty_nodes = frozenset(language.empty_nodes)
        self._ignored_in = frozenset(kind for kind in language.ignored if ">" in kind[1:])
        self._exact = frozenset(language.exact)
        self._text = frozenset(language.unparsed + language.prose)
        self._typed = frozenset(language.typed)
        self._spaces = frozenset(language.spaces)
        self._opening = frozenset(language.opening)
        self._minded = _minded(language)
        self._tokens = Tokens()
        self._kinds: list[str] = [""]
        self._commas: list[int] = [0]
        self._chains: list[tuple[str, bool]] = [("", False)]
        self._annotates: list[bool] = [False]
        self._source, self._offset = b"", 0
        self._annotated = 0
        """How many annotations are open; far below zero in nodes whose subject is the annotations."""

    def read(self, root: Node, span: tuple[int, int] | None) -> Tokens:
        self._source, self._offset = root.text or b"", root.start_byte
        minded, cursor = self._minded, root.walk()
        while True:
            node = cursor.node
            assert node is not None
            kind = node.type
            if span is not None and not _touches(node, span):
                pass
            elif kind in minded:
                if self._enter(node, kind) and cursor.goto_first_child():
                    continue
            elif cursor.goto_first_child():
                self._open(node, kind, False)
                continue
            else:
                self._leaf(node, kind)
            while not cursor.goto_next_sibling():
                if not cursor.goto_parent():
                    return self._tokens
                self._leave(cursor.node)

    def _enter(self, node: Node, kind: str) -> bool:
        """Process a node that a rule is about; return whether to visit its children (then `_leave` follows)."""
        if kind in self._ignored or self._says_nothing(node, kind):
            return False
        if self._ignored_in and f"{self._kinds[-1]}>{kind}" in self._ignored_in:
            return False
        annotates = kind in self._annotations or (kind in self._declarations and self._only_declares(node))
        if annotates and self._annotated == 0:
            self._mark_before()
        opened = kind in self._strings and self._is_opened(node)
        if not opened and (kind in self._exact or kind in self._strings or kind in self._text or node.child_count == 0):
            self._annotated += annotates
            self._one(node, kind)
            self._annotated -= annotates
            return False
        if opened:
            self._emit(node.start_byte, OPENED + "\0".join(_between(node)))
        if kind in self._blocks:
            # one byte before the node, so that a definition at the block's beginning does not include the block's start
            self._emit(node.start_byte - 1, BLOCK_START)
        self._open(node, kind, annotates)
        return True

    def _open(self, node: Node, kind: str, annotates: bool) -> None:
        if self._compounds:
            self._chains.append(self._chain(node, kind))
            if self._chains[-1][1]:
                self._emit(node.start_byte, BLOCK_START)
        self._kinds.append(kind)
        self._commas.append(0)
        self._annotates.append(annotates)
        if annotates or kind in self._typed:
            self._annotated += annotates - TYPED * (kind in self._typed)

    def _leave(self, node: Node | None) -> None:
        assert node is not None
        kind = self._kinds.pop()
        self._commas.pop()
        annotates = self._annotates.pop()
        if annotates or kind in self._typed:
            self._annotated -= annotates - TYPED * (kind in self._typed)
        if self._compounds and self._chains.pop()[1]:
            self._emit(max(node.start_byte, node.end_byte - 1), BLOCK_END)
        if kind in self._blocks:
            # at the end, and so outside of a definition that ends there: the ends of outer blocks are not its own.
            # The end of the text counts, since some grammars include the empty lines after a block.
            self._emit(self._written_end(node), BLOCK_END)

    def _one(self, node: Node, kind: str) -> None:
        """Process a node whose children, if any, do not matter."""
        if kind in self._exact:
            self._emit(node.start_byte, _text(node))
        elif kind in self._text:
            prose = kind in self._language.prose
            for word in _text(node).split() if prose else filter(None, _UNPARSED.findall(_text(node))):
                self._emit(node.start_byte, word)
        elif kind not in self._strings:
            self._leaf(node, kind)
        elif self._kinds[-1] in self._language.quoted_names and node.prev_sibling is None:
            self._emit(node.start_byte, unquoted(_text(node)))
        else:
            self._emit(node.start_byte, literal_token(self._language, node))

    def _is_opened(self, node: Node) -> bool:
        return bool(self._opening) and any(child.type in self._opening for child in node.named_children)

    def _chain(self, node: Node, kind: str) -> tuple[str, bool]:
        """Return the chained operator whose operands are below that node, and whether the node's extent counts."""
        around = self._chains[-1][0]
        if kind not in self._compounds:
            return (around if kind in self._language.grouping else ""), False
        operator = node.child_by_field_name("operator") if self._language.chained else None
        own = operator.type if operator is not None and operator.type in self._language.chained else ""
        return own, not own or own != around

    def _only_declares(self, node: Node) -> bool:
        """Return whether the node gives a name a type and no value. Directly in a class that would be a field."""
        if node.child_by_field_name("right") is not None or node.child_by_field_name("type") is None:
            return False
        return len(self._kinds) < 3 or self._kinds[-3] != "class_definition"

    def _written_end(self, node: Node) -> int:
        end = node.end_byte
        while end > node.start_byte and self._source[end - 1 - self._offset : end - self._offset].isspace():
            end -= 1
        return end

    def _says_nothing(self, node: Node, kind: str) -> bool:
        if kind in self._no_op and node.child_count == 1:
            only = node.child(0)
            return only is not None and (only.type in self._strings or only.type == "ellipsis")
        if kind in self._spaces:
            return not any(
                _text(child).strip("{}'\" \t\r\n") for child in node.children if child.type not in self._ignored
            )
        return bool(self._empty_nodes) and node.child_count == 2 and f"{self._kinds[-1]}>{kind}" in self._empty_nodes

    def _leaf(self, node: Node, kind: str) -> None:
        start, end = node.start_byte, node.end_byte
        if end == start:
            return  # a token that the parser inserted
        if not node.is_named:
            self._sign(node, start, kind)
            return
        text = self._source[start - self._offset : end - self._offset].decode("utf-8", "replace").strip()
        if "\n" in text:
            text = " ".join(text.split())  # text that the grammar could not split
        if text:
            self._emit(start, _number(text) if text[0] in DIGITS and text.lstrip(".")[:1].isdigit() else text)

    def _sign(self, node: Node, start: int, kind: str) -> None:
        """Process a keyword or sign, whose type is its text."""
        if kind == ",":
            self._commas[-1] += 1
        elif kind in CLOSERS and self._commas[-1] and self._tokens.texts and self._tokens.texts[-1] == ",":
            self._drop_comma()
        if (kind in BRACKETS and self._is_loose(node)) or (kind == ";" and self._is_idle_end(node)):
            return
        if text := kind.strip():
            self._emit(start, text)

    def _is_loose(self, bracket: Node) -> bool:
        """Return whether brackets directly in the open node can go without a change of meaning."""
        kind = self._kinds[-1]
        if bracket.type in "{}":
            around = self._kinds[-2] if self._language.optional_braces else ""
            return f"{around}>{kind}" in self._language.optional_braces and self._holds_one(bracket.parent)
        if self._loose_brackets and f"{self._kinds[-2]}>{kind}" in self._loose_brackets:
            return bracket.parent is not None and bracket.parent.named_child_count > 0
        if kind in self._language.parenthesised:
            return len(self._kinds) > 1 and self._kinds[-2] in self._loose
        return kind in self._language.grouping

    def _is_idle_end(self, semicolon: Node) -> bool:
        before = semicolon.prev_sibling if self._language.ended_alike else None
        return before is not None and before.type in self._language.ended_alike

    def _holds_one(self, block: Node | None) -> bool:
        return block is not None and sum(child.type not in self._ignored for child in block.named_children) == 1

    def _drop_comma(self) -> None:
        if self._kinds[-1] in self._language.sole_comma and self._commas[-1] == 1:
            return
        for row in (self._tokens.starts, self._tokens.texts, self._tokens.bare):
            row.pop()

    def _mark_before(self) -> None:
        if self._tokens.texts and self._tokens.texts[-1] in self._language.annotation_marks:
            self._tokens.bare[-1] = False

    def _emit(self, start: int, text: str) -> None:
        self._tokens.starts.append(start)
        self._tokens.texts.append(text)
        self._tokens.bare.append(self._annotated <= 0)


@cache
def _minded(language: Language) -> frozenset[str]:
    """Return the node types that a rule of the language is about; others need no look at the rules."""
    rules = (
        language.ignored, language.strings, language.joined_strings, language.annotations, language.declarations,
        language.blocks, language.compounds, language.no_op_statements, language.empty_nodes, language.exact,
        language.unparsed, language.prose, language.typed, language.spaces, language.opening,
    )  # fmt: skip
    return frozenset(part for rule in rules for kind in rule for part in (kind, kind.rpartition(">")[2]))


def _number(text: str) -> str:
    """Return a number in lower case, with a digit on either side of the point and no plus in its exponent."""
    return _POINT.sub(".0", "0" * text.startswith(".") + text.lower()).replace("e+", "e")


def _between(node: Node) -> Iterator[str]:
    """Yield the text between the node's children, with their leading space: some grammars leave text out."""
    whole, at = node.text or b"", 0
    for child in node.children:
        start, end = child.start_byte - node.start_byte, child.end_byte - node.start_byte
        space = len(whole[start:end]) - len(whole[start:end].lstrip())
        yield whole[at : start + space].decode("utf-8", "replace")
        at = end
    yield whole[at:].decode("utf-8", "replace")


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def _touches(node: Node, span: tuple[int, int]) -> bool:
    return node.start_byte < span[1] and node.end_byte > span[0]
