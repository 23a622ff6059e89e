"""The words of a question in a text: which pieces of the text they are, and the part of a long text that has them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.ranking.relevance import stem
from holdfast.reports.tuning import EXCERPT_BEFORE, EXCERPT_SHOWN
from holdfast.text import words

_WORD = re.compile(r"\w+")
_SPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")
"""Letters of scripts that are written without spaces: a run of them is no word."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedPiece:
    """A piece of a text, and whether it is a word of the question."""

    text: str
    is_match: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Marks:
    """What is marked in texts: stems of words, and runs of letters in scripts without spaces."""

    stems: frozenset[str] = frozenset()
    runs: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.stems or self.runs)


def marks_of(question: str) -> Marks:
    """Return what a question marks in texts: its words, whatever their ending, without words such as `the`."""
    runs = tuple(dict.fromkeys(run for run in _WORD.findall(question) if _SPACED.search(run)))
    stems = {stem(word.rstrip("*")) for word in words.terms(question) if not _SPACED.search(word)}
    return Marks(stems=frozenset(stems - {""}), runs=runs)


def mark(text: str, marks: Marks) -> tuple[MarkedPiece, ...]:
    """Return the text in pieces, those that are words of the question marked."""
    pieces: list[MarkedPiece] = []
    end = 0
    for start, stop in _matches(text, marks):
        if start > end:
            pieces.append(MarkedPiece(text=text[end:start]))
        pieces.append(MarkedPiece(text=text[start:stop], is_match=True))
        end = stop
    if end < len(text) or not pieces:
        pieces.append(MarkedPiece(text=text[end:]))
    return tuple(pieces)


def excerpt(text: str, marks: Marks, length: int = EXCERPT_SHOWN) -> str:
    """Return the part of a text that has the first word of the question, on one line, cut at words."""
    line = " ".join(text.split())
    if len(line) <= length:
        return line
    first = next(_matches(line, marks), (0, 0))[0]
    start = max(0, min(first - EXCERPT_BEFORE, len(line) - length))
    start = 0 if start < EXCERPT_BEFORE else line.rfind(" ", 0, start) + 1 or start
    part = line[start : start + length]
    if start + length < len(line):
        part = part[: part.rfind(" ")] if " " in part else part
        part += " …"
    return f"… {part}" if start else part


def _matches(text: str, marks: Marks) -> Iterator[tuple[int, int]]:
    if not marks:
        return
    for match in _WORD.finditer(text):
        word, start = match[0], match.start()
        if _SPACED.search(word):
            yield from ((start + at, start + at + len(run)) for at, run in _runs_in(word, marks.runs))
        elif not marks.stems.isdisjoint(map(stem, words.terms(word))):
            yield start, match.end()


def _runs_in(word: str, runs: tuple[str, ...]) -> list[tuple[int, str]]:
    """Return where the runs stand in a word, in order, without those that overlap an earlier one."""
    places: list[tuple[int, str]] = []
    end = 0
    for at, run in sorted((word.find(run), run) for run in runs if run in word):
        if at >= end:
            places.append((at, run))
            end = at + len(run)
    return places
