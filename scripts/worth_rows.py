"""Labelled sentences for the judge of worth: sessions in fetched repositories, and the labels beside this file.

Labels hold no words of anybody: the repository, the transcript's git blob, and for each label a digest of the event's
text and the span in it.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from holdfast.detectors.statements import _turn
from holdfast.detectors.statements._features import describe_session
from holdfast.detectors.statements._worth import describe
from holdfast.domain.event import Event
from holdfast.wiring import SystemClock, load_host

LABELS = Path(__file__).with_name("worth_labels.jsonl")
GOOD = 2
"""Least grade of a lesson that is worth keeping; grade 1 is neither good nor bad and is left out of training."""
SHARE = 0.6
"""Share of a sentence's words, or of the label's, that makes them the same statement."""
WORD = re.compile(r"[a-z0-9_]{3,}")


class Row(NamedTuple):
    """One sentence of one session."""

    repository: str
    session: str
    role: str
    text: str
    words: tuple[str, ...]
    features: dict[str, float]
    grade: int
    kind: str
    label: str
    """The label it belongs to; several sentences may state one lesson."""


def load_blob(mirror: Path, repository: str, blob: str) -> str:
    """A file's text from the bare copy of a repository, `mirror/<owner>+<name>/repo`."""
    folder = mirror / repository.replace("/", "+") / "repo"
    done = subprocess.run(["git", f"--git-dir={folder}", "cat-file", "blob", blob], capture_output=True, check=True)
    return done.stdout.decode("utf-8", "replace")


def parse_events(text: str, session: str, host: str) -> list[Event]:
    """The session's events as the product reads them."""
    clock, adapter = SystemClock(), load_host(host)
    if adapter.profile.grows_by_lines:
        return list(adapter.parse_transcript(text.splitlines(), session, clock.new_id))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ".specstory" / "history" / "2026-01-01_00-00Z-session.md"
        path.parent.mkdir(parents=True)
        path.write_text(text, "utf-8")
        return list(adapter.read_transcript(str(path), clock.new_id))


def find_span(events: list[Event], quote: str) -> tuple[int, int, int] | None:
    """Event number, start and end of the quote in a prompt or reply, letter for letter but for blanks."""
    words = quote.split()
    if not words:
        return None
    pattern = re.compile(r"\s+".join(map(re.escape, words)))
    for number, event in enumerate(events):
        if event.kind in ("prompt", "reply") and (match := pattern.search(event.text)):
            return number, match.start(), match.end()
    return None


def digest_of(text: str) -> str:
    """A short digest of a span, blanks left out."""
    return hashlib.sha256("".join(text.split()).encode()).hexdigest()[:12]


def rows_of(
    events: list[Event],
    repository: str,
    session: str,
    labels: list[dict[str, Any]],
    shown: frozenset[int] | None = None,
) -> Iterator[Row]:
    """A row for every sentence that a person or the session's agent said, in the events with these numbers."""
    own = [event for event in events if not event.agent]
    numbers = [number for number, event in enumerate(events) if not event.agent]
    spans: dict[int, list[dict[str, Any]]] = {}
    for label in labels:
        spans.setdefault(label["event"], []).append(label)
    described = describe_session([_turn(event) for event in own])
    for number, event, place in zip(numbers, own, described, strict=True):
        if place is None or (shown is not None and number not in shown):
            continue
        utterance, turn_features = place
        for at, sentence in enumerate(utterance.reading.sentences):
            text = event.text[sentence.start : sentence.end]
            best = _best(text, (sentence.start, sentence.end), spans.get(number, ()), event.text)
            yield Row(
                repository, session, "user" if event.kind == "prompt" else "agent", text, sentence.words,
                describe(utterance, turn_features, at, event.text), best["grade"] if best else 0,
                best["kind"] if best else "", best["id"] if best else "",
            )  # fmt: skip


def _best(text: str, span: tuple[int, int], labels: Iterable[dict[str, Any]], whole: str) -> dict[str, Any] | None:
    """The label of the highest grade whose span overlaps the sentence enough."""
    words = set(WORD.findall(text.lower()))
    fits = []
    for label in labels:
        quoted = set(WORD.findall(whole[label["start"] : label["end"]].lower()))
        overlap = min(span[1], label["end"]) - max(span[0], label["start"])
        shared = len(words & quoted)
        if overlap > 0 and shared >= SHARE * max(1, min(len(words), len(quoted))):
            fits.append(label)
    return max(fits, key=lambda label: label["grade"], default=None)


def load_sessions() -> list[dict[str, Any]]:
    """The labelled sessions: `repo`, `blob`, `host`, `labels`, a list that may be empty, and `shown`.

    `shown` holds digests of the events that the readers saw; sentences of other events are no negatives.
    """
    return [json.loads(line) for line in LABELS.read_text("utf-8").splitlines()]
