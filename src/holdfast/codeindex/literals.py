"""Turns string literals into tokens without what a formatter may change: quotes, prefixes, adjacent pieces."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from holdfast.codeindex.language import Language

if TYPE_CHECKING:
    from tree_sitter import Node


_LITERAL = re.compile(r"""([A-Za-z0-9]*)('''|\"\"\"|'|")(.*)\2""", re.DOTALL)
_ESCAPED = re.compile(r"\\(x[\da-fA-F]{2}|u[\da-fA-F]{4}|u\{[\da-fA-F]+\}|U[\da-fA-F]{8}|.)", re.DOTALL)
_SELF_SHOWING = re.compile(r"(?<![=!<>])=\s*$")
"""The end of `{name = }`, which prints its own text."""
PLAIN = ("string", "string_literal")


def literal_token(language: Language, node: Node) -> str:
    """Return the literal, or the adjacent literals that are joined, as one text."""
    source = _outdented(_text(node)) if node.type in language.indented else _text(node)
    if language.expanding and _is_inert(language, source):
        return f'"{source[1:-1]}"'
    joins = bool(language.joined_strings) and node.type in (*PLAIN, *language.joined_strings)
    if not (language.alike_quotes or joins):
        return source
    parts = [source] if node.type in PLAIN else [_text(child) for child in node.named_children] or [source]
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


def _text(node: Node) -> str:
    return (node.text or b"").decode("utf-8", "replace").replace("\r\n", "\n")
