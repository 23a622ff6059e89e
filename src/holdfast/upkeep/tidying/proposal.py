"""Proposal: the steps by which a memory becomes smaller, as a record, as stored text and as a diff of lessons."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from hashlib import sha256

from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import LessonId
from holdfast.lean.plain import from_plain, to_plain
from holdfast.lean.texts import dumps, loads, short_id

VERSION = "1"
"""What a stored proposal begins with; one that begins otherwise is made anew."""

RULE = "rule"
"""Who proposes a step that needed no model."""

DIGITS = 12
"""Hexadecimal digits of a digest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One thing to do: merge lessons into one that stays, give one a better title, or retire one."""

    verb: str
    """`merge`, `retitle` or `retire`."""
    lesson: LessonId
    """The lesson that stays, is retitled or is retired."""
    replaces: tuple[LessonId, ...] = ()
    """Lessons that are superseded by the one that stays."""
    title: str = ""
    """The new title; empty: it keeps its own."""
    reason: str = ""
    by: str = RULE
    """`rule`, or the id of the model that proposed it."""
    words: tuple[str, ...] = ()
    """Digests of what `ids` said when it was proposed; empty before it is checked."""

    @property
    def ids(self) -> tuple[LessonId, ...]:
        """Every lesson that the step is about."""
        return (self.lesson, *self.replaces)

    @property
    def closes(self) -> tuple[LessonId, ...]:
        """The lessons that the step supersedes or retires."""
        return (self.lesson,) if self.verb == "retire" else self.replaces

    def replacing(self, lessons: Container[LessonId]) -> Step:
        """Return the step that replaces only those of its lessons."""
        words = dict(zip(self.ids, self.words, strict=False))
        ids = (self.lesson, *(id_ for id_ in self.replaces if id_ in lessons))
        return replace(self, replaces=ids[1:], words=tuple(words[id_] for id_ in ids if id_ in words))


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """The checked steps, and why others were refused."""

    at: datetime
    living: int
    """Living lessons before the steps."""
    steps: tuple[Step, ...] = ()
    refused: tuple[str, ...] = ()
    failure: str = ""
    """Why the model did not answer, or not in full; empty if it did, or was not to be asked."""

    @property
    def counts(self) -> str:
        """What the steps do, in words: `41 merged, 12 retired, 3 retitled`."""
        merged = sum(len(step.replaces) for step in self.steps)
        retired = sum(step.verb == "retire" for step in self.steps)
        retitled = sum(bool(step.title) for step in self.steps)
        parts = ((merged, "merged"), (retired, "retired"), (retitled, "retitled"))
        return ", ".join(f"{count:,} {word}" for count, word in parts if count) or "nothing"

    def limited_to(self, lessons: Container[LessonId]) -> Proposal:
        """Return the proposal without what it does to other lessons than these."""
        steps = [step.replacing(lessons) for step in self.steps if step.lesson in lessons]
        return replace(self, steps=tuple(step for step in steps if step.verb != "merge" or step.replaces))


def words_of(step: Step, lessons: Mapping[LessonId, Lesson]) -> tuple[str, ...]:
    """Return a digest of the words of each of the step's lessons, by which a later change is noticed."""
    fields = ("title", "insight", "why", "how")
    words = ([getattr(lessons[id_], name) for name in fields] for id_ in step.ids)
    return tuple(sha256(dumps(texts).encode("utf-8", "replace")).hexdigest()[:DIGITS] for texts in words)


def dump(proposal: Proposal) -> str:
    """Return the proposal as text for the store.

    It is no JSON, so that a purge of one of its lessons empties it as a whole: reasons may repeat a lesson's words.
    """
    return f"{VERSION} {dumps(to_plain(proposal))}"


def load(text: str) -> Proposal | None:
    """Return the stored proposal; None without one, or for one that another version wrote."""
    version, _, document = text.partition(" ")
    try:
        return from_plain(Proposal, loads(document)) if version == VERSION else None
    except (KeyError, TypeError, ValueError):
        return None


def render_diff(
    proposal: Proposal, lessons: Mapping[LessonId, Lesson], files: Mapping[LessonId, str] | None = None
) -> Iterator[str]:
    """Yield the proposal as a diff of lessons: `-` what goes, `+` what it becomes, ` ` what stays.

    A lesson is named by the end of its id, or of the name of its file if `files` has one.
    """

    def row(mark: str, lesson: Lesson, title: str) -> str:
        file = (files or {}).get(lesson.id, "").removesuffix(".md")
        return f"{mark} {file.rpartition('-')[2] or short_id(lesson.id)} {title}"

    for step in proposal.steps:
        if any(id_ not in lessons for id_ in step.ids):
            continue
        yield f"@@ {step.verb} ({step.by}): {step.reason}"
        stays = lessons[step.lesson]
        if step.verb == "retire":
            yield row("-", stays, stays.title)
            continue
        yield from (row("-", lessons[id_], lessons[id_].title) for id_ in step.replaces)
        if step.title:
            yield row("-", stays, stays.title)
            yield row("+", stays, step.title)
        else:
            yield row(" ", stays, stays.title)
