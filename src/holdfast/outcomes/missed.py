"""Missed needs: things that a session had to find out, or be told, although a lesson in memory says them.

Three things show a need: the user states a rule that memory has, something fails whose answer memory has, or a search
ends at the file that a lesson names for the searched word. Only lessons that were known when the session began count.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log

from holdfast.compare.sameness import same
from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import EventId, Moment
from holdfast.outcomes.judge import StatedRules
from holdfast.outcomes.story import Story, clipped, is_reading, lint_rules_in, signatures_of
from holdfast.outcomes.tuning import CLOSE_SEARCHES, LEAST_SHARE, LEAST_WORDS
from holdfast.ranking.relevance import lesson_stems, stems_of
from holdfast.text.signature import alike

_IDENTIFIER = re.compile(r"[A-Za-z_]\w{5,60}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """A lesson that would have helped, the position from which on, and the event that shows it."""

    lesson: Lesson
    at: int
    event: EventId
    words: str
    moment: Moment
    """When it should have been told."""
    trigger: str = ""


class Library:
    """The lessons that memory had when a session began, with how common their words are among them."""

    def __init__(self, lessons: Sequence[Lesson]) -> None:
        self.lessons = list(lessons)
        self._stems = [lesson_stems(lesson) for lesson in self.lessons]
        counts = Counter(stem for stems in self._stems for stem in stems)
        total = len(self.lessons) + 1
        self._weights = {stem: log(total / count) for stem, count in counts.items()}
        self._unknown = log(total)
        self._identifiers = [frozenset(_IDENTIFIER.findall(_text(lesson))) for lesson in self.lessons]

    def saying(self, rule: str) -> list[Lesson]:
        """Return lessons that say what the rule says, the nearest first, at most two.

        They have the same words, or most of their weight; a word that many lessons have weighs little.
        """
        wanted = stems_of(rule)
        weight = sum(self._weights.get(stem, self._unknown) for stem in wanted)
        nearest = []
        for lesson, stems in zip(self.lessons, self._stems, strict=True):
            shared = wanted & stems
            share = sum(self._weights[stem] for stem in shared) / weight if weight else 0.0
            if same(rule, lesson.insight):
                share = 1.0
            if share >= LEAST_SHARE and len(shared) >= LEAST_WORDS:
                nearest.append((-share, lesson.id, lesson))
        return [lesson for _, _, lesson in sorted(nearest, key=lambda entry: entry[:2])[:2]]

    def naming(self, words: frozenset[str]) -> list[tuple[Lesson, str]]:
        """Return (lesson, word) of each lesson that has one of those identifiers."""
        pairs = zip(self.lessons, self._identifiers, strict=True)
        return [(lesson, min(words & names)) for lesson, names in pairs if words & names]


def needs_of(story: Story, rules: StatedRules, library: Library) -> Iterator[Need]:
    """Yield every need that the session shows, in no particular order; a lesson may be needed more than once."""
    for at, rule, event in rules.stated:
        for lesson in library.saying(rule):
            yield Need(lesson=lesson, at=at, event=event, words=clipped(rule), moment="prompt")
    yield from _failures(story, library)
    yield from _searches(story, library)


def _failures(story: Story, library: Library) -> Iterator[Need]:
    """Yield failures with a signature that a lesson answers, or with a linter's rule that a lesson names."""
    for at, event in story.failures():
        signature, target = signatures_of(event)
        for rule in sorted(lint_rules_in(event)):
            for lesson, word in library.naming(frozenset((rule,))):
                yield Need(
                    lesson=lesson, at=at, event=event.id, words=f"reported: {word}", moment="before_command",
                    trigger=target,
                )  # fmt: skip
        for lesson in library.lessons if signature else ():
            if lesson.error_signature and alike(signature, lesson.error_signature):
                yield Need(
                    lesson=lesson, at=at, event=event.id, words=clipped(signature), moment="after_failure",
                    trigger=target,
                )  # fmt: skip


def _searches(story: Story, library: Library) -> Iterator[Need]:
    """Yield searches that soon ended in an edit of the file that a lesson with the searched name is about."""
    for action in story.actions:
        event = action.event
        if event.kind == "file_edit" or not (is_reading(event) and event.tool not in ("Read", "LS")):
            continue
        searched = frozenset(_IDENTIFIER.findall(event.command))
        ended = {
            file
            for edit in story.edits
            if action.at < edit.at <= action.at + CLOSE_SEARCHES
            for file in edit.event.files
        }
        for lesson, word in library.naming(searched) if ended else ():
            if ended.intersection(lesson.paths) and not ended.intersection(event.files):
                yield Need(
                    lesson=lesson, at=action.at, event=event.id, words=f"searched for {word}", moment="before_file",
                    trigger=word,
                )  # fmt: skip


def _text(lesson: Lesson) -> str:
    return f"{lesson.title} {lesson.insight} {lesson.how}"
