"""Differences of two texts as rows and pieces that a page can show: code by lines, prose by words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import islice
from typing import Literal

from holdfast.reports.tuning import (
    CHANGED_TOGETHER,
    CONTEXT_LINES,
    CONTEXT_WORDS,
    HEAD_LINES,
    LEAST_ALIKE,
    LINE_LIMIT,
    MARKED_LINES,
    MATCHED_LINES,
    MATCHED_WORDS,
)

Sign = Literal["", "-", "+", "gap"]
Mark = Literal["", "removed", "added", "gap", "quote"]


_WORD = re.compile(r"\w+|\s+|[^\w\s]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """A part of a text: equal on both sides, only in the one before, only in the one after, or left out."""

    text: str
    mark: Mark = ""
    """`gap`: equal words were left out here, and the text is empty. `quote`: the words that a lesson rests on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedLines:
    """Lines of a file that are the subject of a lesson, and the lines around them."""

    lines: tuple[str, ...] = ()
    first: int = 1
    """The number of the first line, from 1."""
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DiffRow:
    """A row of a difference: one line, or a gap."""

    sign: Sign = ""
    """`-`: only then; `+`: only now; empty: the same on both sides; `gap`: equal lines are left out."""
    old: int = 0
    """The line number then; 0: there was no such line."""
    new: int = 0
    """The line number now; 0: there is no such line."""
    pieces: tuple[Piece, ...] = ()
    is_subject: bool = False
    """The line belongs to the definition that the lesson is about."""
    left_out: int = 0
    """Of a gap: how many equal lines it stands for."""

    @property
    def text(self) -> str:
        """The line."""
        return "".join(piece.text for piece in self.pieces)


def line_rows(then: NumberedLines, now: NumberedLines, *, context: int = CONTEXT_LINES) -> tuple[DiffRow, ...]:
    """Return the difference of two versions of some code, equal lines far from every change left out.

    Where nothing differs, the first HEAD_LINES lines are shown. The first line, which names a definition, is never
    left out. The lines around it are those of now; they are not compared.
    """
    rows = list(_all_rows(then, now))
    changed = [at for at, row in enumerate(rows) if row.sign]
    shown = {0} | {at + step for at in changed for step in range(-context, context + 1)}
    return _surrounded(now, True, _with_gaps(rows, shown if changed else set(range(HEAD_LINES))))


def one_side(code: NumberedLines, sign: Sign, *, is_now: bool) -> tuple[DiffRow, ...]:
    """Return code of which there is only one version, as it was then or as it is now: `-` where it is gone."""
    rows = [_row(sign, number, text, is_now) for number, text in enumerate(code.lines, code.first)]
    return _surrounded(code, is_now, _with_gaps(rows, set(range(HEAD_LINES))))


def _surrounded(code: NumberedLines, is_now: bool, rows: Iterable[DiffRow]) -> tuple[DiffRow, ...]:
    """Return the rows within the lines around the code."""
    first, last = code.first - len(code.before), code.first + len(code.lines)
    around = [*enumerate(code.before, first), *enumerate(code.after, last)]
    outer = [replace(_row("", number, text, is_now), is_subject=False) for number, text in around]
    return (*outer[: len(code.before)], *rows, *outer[len(code.before) :])


def _row(sign: Sign, number: int, text: str, is_now: bool) -> DiffRow:
    old, new = (0, number) if is_now else (number, 0)
    return DiffRow(sign=sign, old=old, new=new, pieces=_line(text), is_subject=True)


def _all_rows(then: NumberedLines, now: NumberedLines) -> Iterator[DiffRow]:
    for tag, i1, i2, j1, j2 in _opcodes(then.lines, now.lines):
        if tag == "equal":
            for at in range(i2 - i1):
                old, new = then.first + i1 + at, now.first + j1 + at
                yield DiffRow(old=old, new=new, pieces=_line(now.lines[j1 + at]), is_subject=True)
            continue
        yield from _changed(then, now, (i1, i2), (j1, j2))


def _changed(then: NumberedLines, now: NumberedLines, a: tuple[int, int], b: tuple[int, int]) -> Iterator[DiffRow]:
    """Yield lines that took each other's place: those of then first, in a long change a few at a time."""
    old_pieces, new_pieces = _changed_lines(then.lines[slice(*a)], now.lines[slice(*b)])
    old = [DiffRow(sign="-", old=n, pieces=p, is_subject=True) for n, p in enumerate(old_pieces, then.first + a[0])]
    new = [DiffRow(sign="+", new=n, pieces=p, is_subject=True) for n, p in enumerate(new_pieces, now.first + b[0])]
    step = CHANGED_TOGETHER if len(old) == len(new) else max(len(old), len(new), 1)
    for at in range(0, max(len(old), len(new)), step):
        yield from old[at : at + step]
        yield from new[at : at + step]


def _opcodes(a: Sequence[str], b: Sequence[str]) -> Iterator[tuple[str, int, int, int, int]]:
    """Yield as `SequenceMatcher.get_opcodes`; code in which very much changed is replaced as a whole."""
    start = 0
    while start < min(len(a), len(b)) and a[start] == b[start]:
        start += 1
    end = 0
    while end < min(len(a), len(b)) - start and a[-1 - end] == b[-1 - end]:
        end += 1
    mid_a, mid_b = a[start : len(a) - end], b[start : len(b) - end]
    if start:
        yield "equal", 0, start, 0, start
    if max(len(mid_a), len(mid_b)) > MATCHED_LINES:
        yield "replace", start, len(a) - end, start, len(b) - end
    else:
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, mid_a, mid_b, autojunk=False).get_opcodes():
            yield tag, i1 + start, i2 + start, j1 + start, j2 + start
    if end:
        yield "equal", len(a) - end, len(a), len(b) - end, len(b)


def _changed_lines(
    removed: Sequence[str], added: Sequence[str]
) -> tuple[list[tuple[Piece, ...]], list[tuple[Piece, ...]]]:
    """Return the pieces of lines that took each other's place; what differs in two similar lines is marked."""
    old, new = [_line(text) for text in removed], [_line(text) for text in added]
    for at, (before, after) in enumerate(islice(zip(removed, added, strict=False), MARKED_LINES)):
        if max(len(before), len(after)) > LINE_LIMIT:
            continue
        pieces = _word_diff(before, after)
        equal = sum(len(piece.text) for piece in pieces if not piece.mark)
        if 2 * equal >= LEAST_ALIKE * (len(before) + len(after)):
            old[at] = tuple(piece for piece in pieces if piece.mark != "added")
            new[at] = tuple(piece for piece in pieces if piece.mark != "removed")
    return old, new


def _line(text: str) -> tuple[Piece, ...]:
    text = text.expandtabs(4)
    return (Piece(text=text if len(text) <= LINE_LIMIT else text[: LINE_LIMIT - 1] + "…"),)


def _with_gaps(rows: Sequence[DiffRow], shown: set[int]) -> Iterator[DiffRow]:
    """Yield the rows that are shown, and a gap for each run of others; a run of one is shown."""
    at = 0
    while at < len(rows):
        if at in shown:
            yield rows[at]
            at += 1
            continue
        end = next((each for each in range(at, len(rows)) if each in shown), len(rows))
        if end - at == 1:
            yield rows[at]
        else:
            yield DiffRow(sign="gap", left_out=end - at)
        at = end


def cut_rows(rows: Sequence[DiffRow], most: int) -> tuple[tuple[DiffRow, ...], int]:
    """Return at most that many rows, and how many lines the others stand for."""
    rest = rows[most:]
    return tuple(rows[:most]), sum(row.left_out or 1 for row in rest)


# Prose


def word_pieces(before: str, after: str, *, context: int = CONTEXT_WORDS) -> tuple[Piece, ...]:
    """Return what differs between two texts, by words; long equal parts are left out but for some words around."""
    if not before or not after:
        pieces = [Piece(text=before, mark="removed")] if before else []
        return (*pieces, *([Piece(text=after, mark="added")] if after else []))
    pieces = _word_diff(before, after)
    shortened: list[Piece] = []
    for at, piece in enumerate(pieces):
        if piece.mark:
            shortened.append(piece)
        else:
            shortened += _shortened(piece.text, context, first=at == 0, last=at == len(pieces) - 1)
    return tuple(shortened)


def _word_diff(before: str, after: str) -> list[Piece]:
    a, b = _WORD.findall(before), _WORD.findall(after)
    if max(len(a), len(b)) > MATCHED_WORDS:
        return [Piece(text=before, mark="removed"), Piece(text=after, mark="added")]
    pieces: list[Piece] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag == "equal":
            pieces.append(Piece(text="".join(a[i1:i2])))
            continue
        pieces += [Piece(text="".join(a[i1:i2]), mark="removed")] if i2 > i1 else []
        pieces += [Piece(text="".join(b[j1:j2]), mark="added")] if j2 > j1 else []
    return list(_joined(pieces))


def _joined(pieces: Sequence[Piece]) -> Iterator[Piece]:
    """Yield changes with nothing but a blank between them as one change on each side."""
    removed, added = "", ""
    for at, piece in enumerate(pieces):
        is_blank = not piece.mark and not piece.text.strip() and 0 < at < len(pieces) - 1 and (removed or added)
        if piece.mark == "removed" or is_blank:
            removed += piece.text
        if piece.mark == "added" or is_blank:
            added += piece.text
        if piece.mark or is_blank:
            continue
        yield from _both(removed, added)
        removed, added = "", ""
        yield piece
    yield from _both(removed, added)


def _both(removed: str, added: str) -> Iterator[Piece]:
    if removed:
        yield Piece(text=removed, mark="removed")
    if added:
        yield Piece(text=added, mark="added")


def _shortened(text: str, context: int, *, first: bool, last: bool) -> Iterator[Piece]:
    """Yield an equal part: its first and last words where it is long, and a gap between them."""
    words = _WORD.findall(text)
    head, tail = (0 if first else context), (0 if last else context)
    if len(words) <= head + tail + context:
        yield Piece(text=text)
        return
    if head:
        yield Piece(text="".join(words[:head]))
    yield Piece(text="", mark="gap")
    if tail:
        yield Piece(text="".join(words[-tail:]))


# Quotes


def quoted_pieces(text: str, quotes: Sequence[str], most: int) -> tuple[Piece, ...]:
    """Return at most `most` characters of the text, around the first quote that occurs in it, the quotes marked.

    Blanks may differ between quote and text. Without a quote in it, the beginning of the text.
    """
    spans = sorted(span for quote in quotes for span in _occurrences(text, quote))
    start, end = _window(text, spans, most)
    pieces: list[Piece] = [Piece(text="", mark="gap")] if start else []
    at = start
    for begin, stop in spans:
        begin, stop = max(begin, at), min(stop, end)
        if begin >= stop:
            continue
        pieces += [Piece(text=text[at:begin])] if begin > at else []
        pieces.append(Piece(text=text[begin:stop], mark="quote"))
        at = stop
    pieces += [Piece(text=text[at:end])] if end > at else []
    return (*pieces, *([Piece(text="", mark="gap")] if end < len(text) else []))


def _occurrences(text: str, quote: str) -> Iterator[tuple[int, int]]:
    words = quote.split()
    if words:
        match = re.search(r"\s+".join(map(re.escape, words)), text)
        if match:
            yield match.span()


def _window(text: str, spans: Sequence[tuple[int, int]], most: int) -> tuple[int, int]:
    """Return the part of the text that is shown: whole lines where possible, a third of it before the first quote."""
    if len(text) <= most:
        return 0, len(text)
    start = max(0, min(spans[0][0] - most // 3, len(text) - most)) if spans else 0
    if start:
        line = text.find("\n", start, spans[0][0])
        start = line + 1 if line >= 0 else start
    return start, min(len(text), start + most)
