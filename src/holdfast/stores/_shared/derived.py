"""The rows that are derived from a lesson, the same for each backend: exact tokens, anchors, triggers."""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import State
from holdfast.lean.plain import clean
from holdfast.ports.store import Facet, TokenSource
from holdfast.stores._shared.rows import SESSION_PREFIX
from holdfast.text.occasions import occasions
from holdfast.text.searchkeys import TOKEN_LIMIT, anchored_files, lesson_tokens
from holdfast.text.triggers import key_of, last_part, triggers_of

SEARCHABLE: tuple[State, ...] = ("candidate", "active", "superseded", "retired", "quarantined")
"""States whose lessons are in the indexes: all except tombstones."""

FACET_ROWS: tuple[Facet, ...] = ("area", "tag")
"""Facets of which a lesson may have several values, and for which no other derived rows are there."""


def tokens_of(lesson: Lesson) -> list[tuple[str, TokenSource | None]]:
    """Return the lesson's exact tokens with their sources; the session in which it was learnt has none."""
    tokens: list[tuple[str, TokenSource | None]] = []
    if lesson.provenance.session:
        tokens.append((SESSION_PREFIX + lesson.provenance.session, None))
    tokens += lesson_tokens(lesson).items()
    return tokens[:TOKEN_LIMIT]


def anchors_of(lesson: Lesson) -> Iterator[tuple[str, str, bool]]:
    """Yield (path, folder, is it a glob) of each file and glob that the lesson is anchored to."""
    for path in anchored_files(lesson):
        yield path, path.rpartition("/")[0], False
    for glob in lesson.globs:
        yield glob, "", True


def trigger_keys(lesson: Lesson) -> Iterator[tuple[str, str, str]]:
    """Yield (kind, key, value) of each trigger, and of each occasion, which the whole lesson implies."""
    when = triggers_of(lesson)
    for literal in map(clean, when.literals):
        yield "literal", key_of(literal), literal
    for command in map(clean, when.commands):
        yield "command", command.partition(" ")[0], command
    for glob in map(clean, (*when.paths, *lesson.globs)):
        yield "path", "", glob
    for symbol in map(clean, when.symbols):
        yield "symbol", last_part(symbol), symbol
    for work in when.work:
        yield "work", clean(work), ""
    for occasion in occasions(lesson):
        yield "occasion", clean(occasion), ""
