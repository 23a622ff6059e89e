"""The words of purged lessons, and the records of their sessions without them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Checkpoint, Delivery, Outcome
from holdfast.errors import InvalidValueError
from holdfast.lean.texts import dumps, loads

Plain = dict[str, Any]
PURGED = "[purged]"
"""Replaces a removed sentence."""
SHORTEST_SENTENCE = 12
"""Characters of a sentence that is looked for elsewhere: shorter ones stand in many texts that say something else."""
RAW = ("text", "old", "new")
"""Fields of an event that hold what was said and written. Its other fields hold what was done to which file."""


class Purging:
    """The words of some lessons, in all versions, and the records without them. Pass the events first."""

    def __init__(self, versions: Iterable[Lesson]) -> None:
        sessions: set[str] = set()
        sentences: set[str] = set()
        files: set[tuple[str, str]] = set()
        self._quoted_events: set[str] = set()
        for lesson in versions:
            sessions |= {lesson.provenance.session, *lesson.sessions_seen}
            self._quoted_events |= {span.event for span in lesson.provenance.evidence}
            files.add((f"{lesson.scope.owner}\n", f"\n---\n\n{lesson.insight}\n"))
            sentences |= {lesson.insight, *(span.quote for span in lesson.provenance.evidence)}
        self.sessions = sorted(sessions - {""})
        """The sessions in which the lessons were seen; their records have to be cleaned."""
        self.files = sorted(files)
        """How the owners of rows that hold a lesson's file begin, and how these rows' values end: with the rule."""
        telling = (sentence for sentence in sentences if len(sentence) >= SHORTEST_SENTENCE)
        self._sentences = sorted(telling, key=lambda sentence: (-len(sentence), sentence))
        self._pattern = _pattern(self._sentences)
        self._emptied: list[str] = []

    def steps(self) -> list[tuple[str, type[Any], Callable[[Plain], Plain]]]:
        """Return the steps in order: what to count, the type of record, and the function that cleans a record."""
        return [
            ("event_texts", Event, self.event),
            ("checkpoint_texts", Checkpoint, self.checkpoint),
            ("delivery_triggers", Delivery, lambda plain: self.mention(plain, "trigger")),
            ("outcome_notes", Outcome, lambda plain: self.mention(plain, "trigger")),
            ("outcome_notes", Outcome, lambda plain: self.mention(plain, "note")),
        ]

    def event(self, plain: Plain) -> Plain:
        """Return the event without its raw texts if a lesson quotes it, otherwise without the lessons' sentences."""
        if plain.get("id") in self._quoted_events:
            self._emptied += [str(plain[name]) for name in RAW if name in plain]
            return {name: value for name, value in plain.items() if name not in RAW}
        return self.checkpoint(plain)

    def checkpoint(self, plain: Plain) -> Plain:
        """Return the record without the lessons' sentences in any field."""
        return {name: self._without(value) for name, value in plain.items()}

    def mention(self, plain: Plain, name: str) -> Plain:
        """Return the record with PURGED in the field if it begins erased text, else without the lessons' sentences."""
        text = str(plain.get(name, ""))
        if not text:
            return plain
        begun = " ".join(text.rstrip("…").split())
        sources = (" ".join(source.split()) for source in (*self._emptied, *self._sentences))
        is_said = len(begun) >= SHORTEST_SENTENCE and any(begun in source for source in sources)
        return {**plain, name: PURGED if is_said else self._without(text)}

    def moments(self, value: str) -> str:
        """Return a lesson's stored moments without those that rest on erased text, or say it or begin to say it."""
        try:
            entries = loads(value)
        except InvalidValueError:
            return ""
        if not isinstance(entries, list):
            return ""
        rest = [entry for entry in entries if isinstance(entry, dict) and not self._tells(entry)]
        return value if len(rest) == len(entries) else dumps(rest) if rest else ""

    def _tells(self, moment: Plain) -> bool:
        if moment.get("session") not in self.sessions:
            return False
        if moment.get("event") in self._quoted_events:
            return True
        texts = [str(moment.get(name, "")) for name in ("text", "error")]
        return any(self._pattern.search(text) or self._begins_at_end(text) for text in texts)

    def _begins_at_end(self, text: str) -> bool:
        """Return whether a text that was cut ends with the beginning of a sentence."""
        ends = {text[at:].casefold() for at in range(max(0, len(text) - SHORTEST_SENTENCE + 1))}
        return any(sentence.casefold().startswith(tuple(ends)) for sentence in self._sentences)

    def _without(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._pattern.sub(PURGED, value)
        return [self._without(item) for item in value] if isinstance(value, list) else value


def _pattern(sentences: Sequence[str]) -> re.Pattern[str]:
    """Return a pattern of the sentences in any case, with any white space, with or without their full stop."""
    bare = (sentence.strip().rstrip(".!?…;,: ") for sentence in sentences)
    spelt = [r"\s+".join(map(re.escape, text.split())) for text in bare if text]
    return re.compile("|".join(spelt) or r"(?!)", re.IGNORECASE)
