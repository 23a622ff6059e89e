"""Reads written texts for the detectors: splits them into pieces, and tells which pieces make a statement.

A piece is a paragraph or list item with the headings and items above it, so that a lesson can name its subject. Only
the first `READ_LIMIT` characters are read, and every repetition in a pattern that could backtrack is bounded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.lesson import Evidence
from holdfast.text.leaning import opening

READ_LIMIT = 16_000
"""Characters of a text that are read."""
HEADING_LIMIT = 300
"""Characters of a heading that are read."""
SHORTEST, LONGEST = 40, 420
"""Characters of a lesson made of a written text."""
LEAST_WORDS = 7
"""Words of such a lesson."""
QUOTE_LIMIT = 400
"""Characters of evidence that are quoted."""
ALIKE = 0.7
"""Share of the shorter wording's words from which two are the same thing."""
FILES_LIMIT = 5
"""Files of a lesson."""

_FENCE = re.compile(r"\s*(?:```|~~~)")
_HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*$")
_ITEM = re.compile(r"(\s*)(?:[-*•+]|\d{1,3}[.)])\s+(?=\S)")
_TABLE = re.compile(r"\s*\|")
_MARKS = re.compile(r"\*\*|__(?=\S)|(?<=\S)__|~~|(?<![\w*])\*(?=[^\s*])|(?<=[^\s*])\*(?![\w*])")
_LINK = re.compile(r"!?\[([^\]\n]{1,200})\]\([^)\s]{0,400}\)")
_LEANING = opening(
    "previously|without (?:this|it|that)",
    "the (?:fix|issue|problem|bug|function|code|change|test|tests|old|new|previous|current|existing|former|latter"
    "|solution|root cause|cause|original|error)",
)
_STATUS = re.compile(
    r"(?:all|both|every|\d+) [\w\s]{0,40}\b(?:pass(?:es|ed|ing)?|green|clean)\b|tests? (?:pass|are passing|green)"
    r"|(?:lint|linting|build|ci) (?:passes|is clean|clean|green)"
    r"|(?:done|completed?|fixed|resolved|verified|thanks)\b[.!]?"
    r"|\[[ xX]\]|generated with|co-authored-by|signed-off-by|reviewed-by|closes #|fixes #\d+\W*$|ref(?:s|erences)? #"
    r"|test plan\b|🤖|✅|user (?:asked|requested|confirmed|said|wants?ed|rejected|approved|chose)\b"
    r"|(?:i|we) (?:am|are|was|were|will|have|had|then|also|just|need)\b|let me\b|next step|waiting\b|pending\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{2,}")


class TextPiece(NamedTuple):
    """A paragraph, list item or heading's text: characters [start, end) of the text it was read from."""

    start: int
    end: int
    text: str
    """The text on one line, without markdown."""
    above: tuple[str, ...]
    """Headings and list items above it, the nearest last."""
    is_item: bool


def read_pieces(text: str) -> list[TextPiece]:
    """Return the pieces of a markdown text in order; code blocks, tables and headings themselves are left out."""
    return list(_Reader(text[:READ_LIMIT]).pieces())


class _Line(NamedTuple):
    start: int
    text: str


class _Reader:
    """Joins lines into pieces and keeps the headings and items above."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._headings: list[tuple[int, str]] = []
        self._items: list[tuple[int, str]] = []

    def pieces(self) -> Iterator[TextPiece]:
        lines: list[_Line] = []
        indent = -1
        fenced = False
        at = 0
        for row in self._text.split("\n"):
            start, at = at, at + len(row) + 1
            item = _ITEM.match(row)
            if _FENCE.match(row):
                fenced = not fenced
                yield from self._piece(lines, indent)
                lines = []
            elif fenced or _TABLE.match(row):
                continue
            elif heading := _HEADING.match(row.strip()[:HEADING_LIMIT]):
                yield from self._piece(lines, indent)
                lines, indent = [], -1
                self._open_heading(len(heading[1]), plain(heading[2]))
            elif not row.strip():
                yield from self._piece(lines, indent)
                lines = []
            elif item:
                yield from self._piece(lines, indent)
                indent = len(item[1].expandtabs(4))
                lines = [_Line(start + item.end(), row[item.end() :])]
            else:
                inner = len(row) - len(row.lstrip())
                if not lines:
                    indent = inner if indent >= 0 and inner > 0 else -1
                lines.append(_Line(start + inner, row.strip()))
        yield from self._piece(lines, indent)

    def _piece(self, lines: Sequence[_Line], indent: int) -> Iterator[TextPiece]:
        if not lines:
            return
        text = plain(" ".join(line.text for line in lines))
        self._items = [item for item in self._items if indent >= 0 and item[0] < indent]
        above = (*(name for _, name in self._headings), *(name for _, name in self._items))
        if indent < 0 and text.endswith(":") and len(text) <= 120:
            self._items = [(-1, text.rstrip(":"))]
        elif indent >= 0:
            self._items.append((indent, text.rstrip(":")))
        last = lines[-1]
        yield TextPiece(lines[0].start, last.start + len(last.text.rstrip()), text, above, indent >= 0)

    def _open_heading(self, level: int, name: str) -> None:
        self._headings = [heading for heading in self._headings if heading[0] < level] + [(level, name)]
        self._items = []


def plain(text: str) -> str:
    """Return the text without markdown's marks, on one line; code spans keep their marks."""
    return " ".join(_MARKS.sub("", _LINK.sub(r"\1", text)).split())


def alike(wording: str, other: str) -> bool:
    """Return whether two wordings share most of their words."""
    a, b = ({word.lower() for word in _WORD.findall(text)} for text in (wording, other))
    return len(a & b) >= ALIKE * max(1, min(len(a), len(b)))


def best(candidates: Sequence[Candidate], most: int) -> list[Candidate]:
    """Return the first candidates, in their order; of equal statements only the first."""
    once: list[Candidate] = []
    for candidate in candidates:
        if not any(alike(earlier.insight, candidate.insight) for earlier in once):
            once.append(candidate)
    return once[:most]


def is_status(text: str) -> bool:
    """Return whether the text reports the state of work or a request, or is a trailer."""
    return bool(_STATUS.match(text.lstrip("-*•> ")))


def leans(text: str) -> bool:
    """Return whether the text opens with a word that refers to an earlier sentence."""
    return bool(_LEANING.match(text.lstrip("`\"'(")))


def is_whole(text: str) -> bool:
    """Return whether a text is a whole statement of a lesson's size."""
    whole = not text.endswith((":", "?", "…", "...")) and text.count("`") % 2 == 0
    return whole and SHORTEST <= len(text) <= LONGEST and len(_WORD.findall(text)) >= LEAST_WORDS


def joined(subject: str, text: str) -> str:
    """Return the text after its subject, unless it names the subject itself."""
    subject = subject.strip().rstrip(":.").strip()
    if not subject:
        return text
    named = {word.lower() for word in _WORD.findall(subject)} <= {word.lower() for word in _WORD.findall(text)}
    return text if named else f"{subject}: {text}"


def evidence_of(event: Event, source: str, start: int, end: int) -> Evidence:
    """Return the quoted span of the event's text, command or new text."""
    end = min(end, start + QUOTE_LIMIT)
    return Evidence(event=event.id, quote=source[start:end], start=start, end=end)
