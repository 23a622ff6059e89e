"""Finds what an agent saved in its host's own memory, through a memory tool or in a memory file.

Claude Code's auto memory has one fact a file, with its reason and its use under labels; its index of one line a file is
left out. Memory tools take one sentence or a few.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from holdfast.domain.candidate import Candidate
from holdfast.domain.event import MEMORY_TOOL, Event
from holdfast.domain.lesson import Evidence
from holdfast.domain.vocabulary import LessonKind
from holdfast.text.kindwords import kind_of
from holdfast.text.window import capital, clip, opening

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
    r"|(?:lint|linting|build|ci) (?:passes|is clean|clean|green)|(?:done|completed?|fixed|resolved|verified"
    r"|thanks)\b[.!]?|\[[ xX]\]|generated with|co-authored-by|signed-off-by|reviewed-by|closes #|fixes #\d+\W*$|ref(?:s"
    r"|erences)? #|test plan\b|🤖|✅|user (?:asked|requested|confirmed|said|wants?ed|rejected|approved|chose)\b|(?:i"
    r"|we) (?:am|are|was|were|will|have|had|then|also|just|need)\b|let me\b|next step|waiting\b|pending\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W\d_]{2,}")
MOST_SYMBOLS = 8
_PATH = re.compile(r"(?<![\w/.~-])(?:\./)?((?:[\w@.-]{1,60}/){0,12}[\w@-][\w@.-]{0,80}\.[A-Za-z]\w{0,5})(?![\w/(])")
_SYMBOL = re.compile(
    r"(?<![\w/.-])(?:[A-Za-z_]\w{0,40}(?:\.|::|#)){0,4}"
    r"(?:[a-z]{1,40}[A-Z]\w{0,60}|[A-Z][a-z0-9]{1,40}[A-Z]\w{0,60}|[A-Za-z]\w{0,40}_\w{1,60}|[A-Za-z_]\w{0,60}(?=\(\)))"
)


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
            files=tuple(files_named(words, window))[:5],
            symbols=symbols_named(words),
            trust="agent",
            confidence=CONFIDENCE,
            salience=0.6,
            written=True,
        )
        if is_single:
            return


class TextPiece(NamedTuple):
    """A paragraph, list item or heading's text: characters [start, end) of the text it was read from."""

    start: int
    end: int
    text: str
    """The text on one line, without markdown."""
    above: tuple[str, ...]
    """Headings and list items above it, the nearest last."""


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
        yield TextPiece(lines[0].start, last.start + len(last.text.rstrip()), text, above)

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


def files_named(text: str, window: Sequence[Event]) -> list[str]:
    """Return the files that the text names: as the session spells them, or as written if that has a folder."""
    known: dict[str, str] = {}
    for event in window:
        for path in event.files:
            known.setdefault(path.rsplit("/", 1)[-1], path)
    named = []
    for written in dict.fromkeys(_PATH.findall(text)):
        name = written.rsplit("/", 1)[-1]
        if name in known:
            named.append(known[name])
        elif "/" in written and ".." not in written:
            named.append(written)
    return named


def symbols_named(text: str) -> tuple[str, ...]:
    """Return identifiers that the text names, without paths, at most MOST_SYMBOLS."""
    return tuple(dict.fromkeys(_SYMBOL.findall(_PATH.sub(" ", text))))[:MOST_SYMBOLS]
