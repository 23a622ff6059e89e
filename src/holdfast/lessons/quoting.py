"""Finds the words that a lesson rests on in the events of its session, exactly but for white space."""

from __future__ import annotations

import re
from collections.abc import Iterable

from holdfast.domain.event import Event
from holdfast.domain.lesson import Evidence
from holdfast.errors import InvalidValueError
from holdfast.lessons.tuning import SHORTEST_QUOTE


def find_quote(quote: str, events: Iterable[Event]) -> tuple[Event, Evidence]:
    """Return the first event whose text, command or written text holds the quote, and the span there.

    Raises InvalidValueError for a quote that is too short or that no event holds.
    """
    words = quote.split()
    if len(quote) < SHORTEST_QUOTE or not words:
        raise InvalidValueError("the quote is missing or too short")
    pattern = re.compile(r"\s+".join(map(re.escape, words)))
    for event in events:
        for text in (event.text, event.command, event.new):
            if match := pattern.search(text):
                return event, Evidence(event=event.id, quote=match.group(), start=match.start(), end=match.end())
    raise InvalidValueError("the quote does not occur in the session")
