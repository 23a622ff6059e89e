"""Makes the digest of a session for a model: its words and turning points, in at most 6,000 tokens.

Deterministic: the same events give the same digest. Texts are redacted when they are captured, and again here, because
the digest leaves the machine. Each line begins with the number by which the answer must cite it.
"""

from __future__ import annotations

import re

from holdfast.lean.records import Frozen
from holdfast.learning.tuning import DIGEST_LINES, DIGEST_SCALES, DIGEST_TOKENS
from holdfast.rendering.budget import count_tokens
from holdfast.text.redaction import redact
from holdfast.text.window import failed, spoken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from holdfast.domain.event import Event
    from holdfast.domain.vocabulary import EventId


_COMMIT = re.compile(r"\bgit\s+(?:-\S+\s+\S+\s+)*commit\b|\bgh\s+pr\s+(?:create|edit|comment|review)\b")
_TELLING = re.compile(
    r"assert|error|fail|panic|exception|denied|not found|cannot|can't|undefined|expected|unexpected|refused|fatal",
    re.IGNORECASE,
)
_BLANKS = re.compile(r"[ \t]+")


class DigestLine(Frozen):
    """A line that may become part of a digest."""

    event: EventId
    label: str
    text: str
    worth: float
    """Lines of higher worth are chosen first."""


class Digest(Frozen):
    """The digest's text, and the events of its numbered lines."""

    text: str
    events: tuple[EventId, ...]
    """The event of line n is `events[n]`."""
    tokens: int


def make_digest(
    events: Sequence[Event], worth_of_reply: Callable[[Sequence[Event]], Sequence[float]], budget: int = DIGEST_TOKENS
) -> Digest:
    """Return the digest of a session's events, in the order in which they happened.

    `worth_of_reply` returns a number from 0 to 1 for each event; it is called once, and only the numbers of the agent's
    replies are used.
    """
    worth = worth_of_reply(events)
    lines: list[DigestLine] = []
    for scale in DIGEST_SCALES:
        lines = list(_lines(events, worth, scale))
        if sum(map(_cost, lines)) <= budget:
            break
    chosen = _choose(lines, budget)
    rows = [f"[{number}] {line.label}: {line.text}" for number, line in enumerate(chosen)]
    text = "\n".join(rows)
    return Digest(text=text, events=tuple(line.event for line in chosen), tokens=count_tokens(text))


def _choose(lines: Sequence[DigestLine], budget: int) -> list[DigestLine]:
    order = sorted(range(len(lines)), key=lambda at: (-lines[at].worth, at))
    taken: set[int] = set()
    left = budget
    for at in order:
        cost = _cost(lines[at])
        if cost <= left:
            taken.add(at)
            left -= cost
    return [lines[at] for at in sorted(taken)]


def _cost(line: DigestLine) -> int:
    return count_tokens(line.text) + 5


def _lines(events: Sequence[Event], worth: Sequence[float], scale: int) -> Iterator[DigestLine]:
    pending = edited = ""
    for event, value in zip(events, worth, strict=True):
        if event.agent:
            continue
        if failed(event):
            pending = event.command
            yield _line(event, "FAILED", _failure(event), 1.2 if event.command else 0.3, scale)
        elif pending and event.exit_code == 0 and _program(event.command) == _program(pending):
            pending = ""
            yield _line(event, "PASSED", event.command, 1.1, scale)
        elif event.kind == "file_edit" and event.files and event.files[0] != edited:
            edited = event.files[0]
            yield _line(event, "EDIT", edited, 0.2, scale)
        else:
            yield from _words(event, value, scale)


def _words(event: Event, worth_of_reply: float, scale: int) -> Iterator[DigestLine]:
    """Yield what somebody said in this event, or wrote to be kept."""
    if spoken(event):
        yield _line(event, "USER", spoken(event), 3.0, scale)
    elif event.kind == "reply":
        yield _line(event, "AGENT", event.text, worth_of_reply, scale)
    elif event.kind == "compaction" and event.text:
        yield _line(event, "SUMMARY", event.text, 2.0, scale)
    elif event.command and _COMMIT.search(event.command):
        yield _line(event, "COMMIT", event.command, 2.0, scale)


def _line(event: Event, label: str, text: str, worth: float, scale: int) -> DigestLine:
    clean = _BLANKS.sub(" ", redact(text)).strip()
    limit = DIGEST_LINES[label] * scale
    if len(clean) > limit:
        clean = clean[: limit * 2 // 3] + " […] " + clean[-limit // 3 :]
    return DigestLine(event=event.id, label=label, text=clean, worth=worth if len(clean) > 25 else worth / 4)


def _failure(event: Event) -> str:
    """Return the command and the lines of its output that say what went wrong."""
    rows = [row.strip() for row in event.text.splitlines() if row.strip()]
    telling = [row for row in rows if _TELLING.search(row)] or rows[-2:]
    return (
        f"$ {event.command[:160]}\n" + "\n".join(row[:160] for row in telling[:3])
        if event.command
        else "\n".join(telling[:2])
    )


def _program(command: str) -> str:
    return " ".join(command.split()[:2])
