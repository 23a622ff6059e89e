"""Finds what an agent saved in its host's own memory, through a memory tool or in a memory file.

Claude Code's auto memory has one fact a file, with its reason and its use under labels; its index of one line a file is
left out. Memory tools take one sentence or a few.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from holdfast.detectors._writing import (
    FILES_LIMIT,
    best,
    evidence_of,
    is_status,
    is_whole,
    joined,
    leans,
    read_pieces,
)
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import MEMORY_TOOL, Event
from holdfast.domain.vocabulary import LessonKind
from holdfast.text.kindwords import kind_of
from holdfast.text.mentions import files_named, symbols_named
from holdfast.text.window import capital, clip

MOST, MOST_PER_SESSION = 4, 12
"""Lessons of one write and of a session."""
CONFIDENCE = 0.7
"""Estimated share of such facts worth keeping: an agent chose to save them."""

_FRONT = re.compile(r"\A(?P<name>[^\n]*\n)(?P<front>---\n(?:[^\n]*\n){0,20}?---\n)")
_LABEL = re.compile(r"(why|reason|how(?: to apply)?|instead)[ :\u2014-]+(?=\S)", re.IGNORECASE)
_TYPE = re.compile(r"^[ \t]{0,8}type:[ \t]*(\w+)", re.MULTILINE)
_TITLE = re.compile(r"^[ \t]{0,8}description:[ \t]*(\S.{0,200})$", re.MULTILINE)
_POINTER = re.compile(r"\[[^\]\n]{1,120}\]\([^)\s]{1,200}\.md\)")
_KINDS: dict[str, LessonKind] = {"user": "preference", "feedback": "preference", "reference": "tooling"}
"""Kinds for Claude Code's memory types; a fact of type `project` may be of any kind."""


class HostMemory:
    """Finds what an agent saved for its later sessions."""

    id = "host_memory/1"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """Return the facts of each write, each wording once, in order."""
        candidates: list[Candidate] = []
        for event in window:
            if event.tool == MEMORY_TOOL and event.kind == "tool_result" and not event.agent:
                candidates += best(list(_facts(event, window)), MOST)
        return best(candidates, MOST_PER_SESSION)


def make(options: Mapping[str, str]) -> HostMemory:
    """Return the detector; it has no options."""
    return HostMemory()


def _facts(event: Event, window: Sequence[Event]) -> Iterator[Candidate]:
    name, _, _ = event.text.partition("\n")
    front = _FRONT.match(event.text)
    begin = front.end() if front else len(name) + 1
    kind = _KINDS.get(match[1].lower()) if front and (match := _TYPE.search(front["front"])) else None
    title = match[1].strip() if front and (match := _TITLE.search(front["front"])) else ""
    body = " " * begin + event.text[begin:]
    pieces = read_pieces(body)
    labels: dict[str, str] = {}
    for piece in pieces:
        if match := _LABEL.match(piece.text):
            labels.setdefault("why" if match[1].lower() in ("why", "reason") else "how", piece.text[match.end() :])
    is_single = bool(labels)  # a file with a reason holds one fact; its further paragraphs explain it
    for piece in pieces:
        if _LABEL.match(piece.text) or _POINTER.search(event.text[piece.start : piece.end]) or is_status(piece.text):
            continue
        subject = title or (piece.above[-1] if piece.above else "")
        insight = joined(subject, piece.text) if leans(piece.text) else piece.text
        if not is_whole(insight) or leans(insight):  # a memory belongs to this machine, so it may name its folders
            continue
        words = f"{insight} {' '.join(labels.values())}"
        yield Candidate(
            title=clip(title, 100) if is_single else "",
            kind=kind or kind_of(insight),
            insight=capital(insight),
            why=labels.get("why", ""),
            how=labels.get("how", ""),
            detector=HostMemory.id,
            evidence=(evidence_of(event, event.text, piece.start, piece.end),),
            files=tuple(files_named(words, window))[:FILES_LIMIT],
            symbols=symbols_named(words),
            trust="agent",
            confidence=CONFIDENCE,
            salience=0.6,
            written=True,
        )
        if is_single:
            return
