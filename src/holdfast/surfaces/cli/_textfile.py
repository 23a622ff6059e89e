"""A block of ours in a text of the user's, between markers; and whole files of ours."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.domain.errors import HostConfigError
from holdfast.ports.host import BlockEdit, OwnFile

BEGIN, END = "<!-- holdfast:begin (kept by holdfast; edits here are lost) -->", "<!-- holdfast:end -->"


def insert_block(text: str, edits: Sequence[BlockEdit]) -> str:
    """The text with the block where it stands, else at the end after a blank line."""
    newline = "\r\n" if "\r\n" in text else "\n"
    for edit in edits:
        block = newline.join((BEGIN, *edit.text.strip("\n").split("\n"), END))
        start, end = _span(text)
        if end:
            text = text[:start] + block + text[end:]
        else:
            text += _gap(text, newline) + block + newline
    return text


def remove_block(text: str, edits: Sequence[BlockEdit], before: str = "") -> str:
    """The text without the block and the blank line set before it; `before` tells how the text ended without us."""
    start, end = _span(text)
    if not end:
        return text
    rest = text[end:].removeprefix("\r\n").removeprefix("\n")
    head = text[:start]
    if not rest:
        newline = "\r\n" if "\r\n" in text else "\n"
        gap = _gap(before, newline)
        return head.removesuffix(gap) if before else head
    return head + rest


def insert_own(text: str, edits: Sequence[OwnFile]) -> str:
    """Our file. Raises HostConfigError when somebody else's is there."""
    for edit in edits:
        if text.strip() and edit.ours not in text:
            raise HostConfigError("is there already and is not ours", hint=f"rename or remove {edit.file}")
        text = edit.text
    return text


def remove_own(text: str, edits: Sequence[OwnFile], before: str = "") -> str:
    """Nothing, when it is our file."""
    return "" if any(edit.ours in text for edit in edits) else text


def _gap(text: str, newline: str) -> str:
    """What goes between a text and our block: the end of its last line, and a blank line."""
    if not text:
        return ""
    return newline if text.endswith("\n") else newline * 2


def _span(text: str) -> tuple[int, int]:
    """Where the block begins and ends, by the markers' stable parts; zeros without one, or with half of one."""
    start = text.find(BEGIN[: BEGIN.index("(")])
    end = text.find(END, start) if start >= 0 else -1
    return (start, end + len(END)) if end >= 0 else (0, 0)
