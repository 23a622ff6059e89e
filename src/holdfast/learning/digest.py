"""Makes the digest of a session for a model: its words and turning points, in at most 5,800 tokens.

Deterministic: the same events give the same digest. Texts are redacted when they are captured, and again here, because
the digest leaves the machine. Each line begins with the number by which the answer must cite it. Of a long reply the
most telling sentences are shown; " […] " stands for what is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdfast.domain.event import Event
from holdfast.domain.vocabulary import EventId
from holdfast.learning.tuning import (
    DIGEST_LINES,
    DIGEST_TOKENS,
    LONG_SENTENCE,
    MARKED,
    REFERRED,
    SHORT_ANSWER,
    SHORT_SENTENCE,
    WORTH,
)
from holdfast.redaction import redact
from holdfast.rendering.lines import count_tokens
from holdfast.text.window import failed, said_on_refusal, spoken

CUT = " […] "
_COMMIT = re.compile(r"\bgit\s+(?:-\S+\s+\S+\s+)*commit\b|\bgh\s+pr\s+(?:create|edit|comment|review)\b")
_TELLING = re.compile(
    r"assert|error|fail|panic|exception|denied|not found|cannot|can't|undefined|unknown|expect|unexpected|refused"
    r"|fatal|must|should|missing|invalid|not allowed|duplicate|\(\w+\)$|^\[[\w:-]+\] \$ ",
    re.IGNORECASE,
)
_ITEM = re.compile(r"^(?:\W{0,4}\(?[\dA-Za-z]{1,2}[.):]|[-*•] )|\?\W*$")
_BLANKS = re.compile(r"[ \t]+")
_SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z`*\"\d-])|\n+")
_FENCE = re.compile(r"^\s*(?:```|~~~)")
_MARKS = {
    "cause": r"\b(?:because|since|so that|otherwise|due to|that's why|which means|this means|as a result|turns out"
    r"|root cause|caused?|causes|leads? to|the (?:issue|problem|bug|cause|reason|culprit|fix|solution)\b)",
    "norm": r"\b(?:must|should|never|always|only|needs? to|ha(?:s|ve) to|requires?|required|not allowed|forbid\w*"
    r"|by design|intentional\w*|deliberate\w*|expects?)\b",
    "negation": r"\b(?:not|no|never|without|cannot|nothing|missing)\b|n't\b",
    "contrast": r"\b(?:instead|but|however|rather than|although|even (?:if|when|though)|unless|except|actually|wait)\b",
    "condition": r"\b(?:when|if|once|after|before|until|during|while)\b",
    "failure": r"\b(?:fail\w*|error\w*|break\w*|broken|wrong\w*|conflict\w*|los(?:t|es)|stale|circular|cycle)\b",
    "code": r"`[^`]+`",
    "announcement":
    r"^\W*(?:let me|let's|i'll|i will|now (?:let me|i|add|update|run|check)|perfect|great|good|excellent|done"
    r"|looking|next|first, let me|i (?:need|want) to (?:read|check|look|see|find|update|add)|i (?:can )?see)\b",
    "status": r"\b(?:all (?:the )?tests? (?:pass|are)|tests? pass|passes|committed|pushed|completed?|changes made"
    r"|successfully)\b",
    "heading": r"^#",
    "table or question": r"^\||\?$",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestPiece:
    """A line of the digest, or one sentence of a reply's line."""

    event: EventId
    label: str
    text: str
    worth: float
    """Pieces of higher worth are chosen first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Digest:
    """The digest's text, and the events of its numbered lines."""

    text: str
    events: tuple[EventId, ...]
    """The event of line n is `events[n]`."""
    tokens: int


def make_digest(events: Sequence[Event], budget: int = DIGEST_TOKENS) -> Digest:
    """Return the digest of a session's events, in the order in which they happened."""
    chosen = _choose(list(_pieces([event for event in events if not event.agent])), budget)
    rows: list[str] = []
    lines: list[EventId] = []
    last = -2
    for at, piece in chosen:
        if lines and lines[-1] == piece.event:
            rows[-1] += (" " if at == last + 1 else CUT) + piece.text
        else:
            rows.append(f"[{len(lines)}] {piece.label}: {piece.text}")
            lines.append(piece.event)
        last = at
    text = "\n".join(rows)
    return Digest(text=text, events=tuple(lines), tokens=count_tokens(text))


def _choose(pieces: Sequence[DigestPiece], budget: int) -> list[tuple[int, DigestPiece]]:
    """Return the pieces of most worth within the budget, in order, each with its place among all pieces."""
    places = [at for at, piece in enumerate(pieces) if piece.text]
    order = sorted(places, key=lambda at: (-pieces[at].worth, at))
    taken: set[int] = set()
    labelled: set[str] = set()
    left = budget
    for at in order:
        piece = pieces[at]
        cost = count_tokens(piece.text) + (2 if piece.event in labelled else 6)
        if cost <= left:
            taken.add(at)
            labelled.add(piece.event)
            left -= cost
    return [(at, pieces[at]) for at in sorted(taken)]


def _pieces(events: Sequence[Event]) -> Iterator[DigestPiece]:
    pending = edited = ""
    ran: set[str] = set()
    for at, event in enumerate(events):
        if typed := spoken(event) or said_on_refusal(event):
            yield _line(event, "USER", typed)
        elif failed(event):
            pending = event.command
            yield _line(event, "FAILED", _failure(event), WORTH["FAILED" if event.command else "RAN"])
        elif pending and event.exit_code == 0 and _program(event.command) == _program(pending):
            pending = ""
            yield _line(event, "PASSED", event.command)
        elif event.kind == "file_edit" and event.files and event.files[0] != edited:
            edited = event.files[0]
            yield _line(event, "EDIT", edited)
        elif event.kind == "reply":
            yield from _sentences(event, "AGENT", is_referred_to=_is_answered_shortly(events, at))
        elif event.kind == "compaction" and event.text:
            yield from _sentences(event, "SUMMARY")
        elif event.command and _COMMIT.search(event.command):
            yield _line(event, "COMMIT", event.command)
        elif event.command and (program := _program(event.command)) not in ran:
            ran.add(program)
            yield _line(event, "RAN", event.command)


def _sentences(event: Event, label: str, *, is_referred_to: bool = False) -> Iterator[DigestPiece]:
    """Yield the sentences of what the agent wrote, each worth its rating and the gains that apply."""
    for sentence in sentences(redact(event.text)):
        gain = REFERRED if is_referred_to and _ITEM.search(sentence) else 0.0
        text = _cut(sentence, DIGEST_LINES[label])
        yield DigestPiece(event=event.id, label=label, text=text, worth=WORTH[label] + rate(sentence) + gain)


def _is_answered_shortly(events: Sequence[Event], at: int) -> bool:
    """Return whether the user's next words are so short that they only make sense beside this reply."""
    for event in events[at + 1 :]:
        if event.kind == "reply":
            return False
        if typed := spoken(event):
            return len(typed) <= SHORT_ANSWER
    return False


def _line(event: Event, label: str, text: str, worth: float | None = None) -> DigestPiece:
    clean = _cut(redact(text), DIGEST_LINES[label])
    return DigestPiece(event=event.id, label=label, text=clean, worth=WORTH[label] if worth is None else worth)


def _cut(text: str, limit: int) -> str:
    clean = _BLANKS.sub(" ", text).strip()
    return clean if len(clean) <= limit else clean[: limit * 2 // 3] + CUT + clean[-limit // 3 :]


def _failure(event: Event) -> str:
    """Return the command and the lines of its output that say what went wrong."""
    rows = list(dict.fromkeys(row.strip()[:200] for row in event.text.splitlines() if row.strip()))
    telling = [row for row in rows if _TELLING.search(row)][:5] or rows[-2:]
    return "\n".join(([f"$ {event.command[:160]}"] if event.command else []) + telling)


def _program(command: str) -> str:
    return " ".join(command.split()[:2])


def rate(sentence: str) -> float:
    """Return the rating of a sentence, about -3 to 6; the mean over all sentences is near 0.5."""
    rating = sum(MARKED[name] for name, mark in _MARKS.items() if re.search(mark, sentence, re.IGNORECASE))
    rating += MARKED["short"] * (len(sentence) < SHORT_SENTENCE)
    return rating + MARKED["long"] * (len(sentence) > LONG_SENTENCE)


def sentences(text: str) -> Iterator[str]:
    """Yield the sentences, list items and table rows of a reply, in order; a block of code is an empty sentence."""
    in_block = False
    for line in text.split("\n"):
        if _FENCE.match(line):
            in_block = not in_block
            if in_block:
                yield ""
        elif not in_block:
            yield from filter(None, map(str.strip, _SENTENCE_END.split(line)))
