"""Finds rules that persons stated in three sessions or more, in whatever words, and that no rules file says.

Lessons that mean nearly the same are one rule: all of them are near the one in their middle, by the vectors of an
embedder on this machine, else by their words.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence

from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.ports.services import Services
from holdfast.ranking.relevance import EVERYDAY, stems_of
from holdfast.recall.written import is_written, passages_of, rules_texts
from holdfast.rendering.lines import safe_title
from holdfast.reports.advice import Suggestion
from holdfast.reports.tuning import (
    ALIKE_BY_VECTOR,
    ALIKE_BY_WORDS,
    COMMAND_BEGINNING,
    SENTENCE_WORDS,
    SHARED_STEMS,
    STATED_SESSIONS,
)
from holdfast.text.occasions import CARDS, linters_in
from holdfast.text.phrases import words_in

Near = Callable[[str, str], bool]


def find_repeated_rules(services: Services, location: Location, lessons: Sequence[Lesson]) -> list[Suggestion]:
    """Return the advice to write such rules into a rules file, the one stated in most sessions first."""
    texts = list(rules_texts(services, location))
    lines = [line for text in texts for line in map(_strip, text.splitlines()) if _is_sentence(line)]
    rules = [lesson for lesson in lessons if _may_be_rule(lesson)]
    if not rules:
        return []
    is_near = _nearness(services, [*map(_words, rules), *lines])
    passages = passages_of(texts)

    def is_said(lesson: Lesson) -> bool:
        stems = stems_of(_words(lesson))
        shared = [line for line in lines if len(stems & stems_of(line)) >= SHARED_STEMS]
        by_meaning = any(is_near(_words(lesson), line) for line in shared)
        return by_meaning or is_written(lesson, passages) or _command_in(lesson, texts)

    groups = _groups(rules, is_near)
    advice = [_advice(group) for group in groups if not any(map(is_said, group))]
    return sorted(advice, key=lambda each: -each.weight)


def _advice(group: Sequence[Lesson]) -> Suggestion:
    sessions = sessions_of(group)
    return Suggestion(
        kind="rules_file",
        title=f"Write into a rules file: {safe_title(group[0])}",
        why=_why(group, sessions),
        rule=group[0].insight,
        lessons=tuple(lesson.id for lesson in group),
        sessions=sessions,
        weight=len(sessions),
    )


def sessions_of(lessons: Collection[Lesson]) -> tuple[SessionId, ...]:
    """Return the sessions in which one of the lessons was learnt or seen again, newest first."""
    newest = sorted(lessons, key=lambda lesson: lesson.recorded_at, reverse=True)
    seen = (session for lesson in newest for session in (*reversed(lesson.sessions_seen), lesson.provenance.session))
    return tuple(dict.fromkeys(session for session in seen if session))


def _may_be_rule(lesson: Lesson) -> bool:
    """Return whether it is a rule for everybody's work: stated by a person, or a command that was run again and again.

    What a linter demands is written in its own configuration.
    """
    profile = profile_of(lesson.kind)
    if lesson.topic_key.startswith(CARDS):
        return True
    if linters_in(f"{lesson.title} {lesson.insight}"):
        return False
    is_stated = lesson.trust == "person" or lesson.provenance.quotes_person
    return profile.may_stand and is_stated and lesson.scope.level != "user" and not lesson.private


def _groups(rules: Sequence[Lesson], is_near: Near) -> list[list[Lesson]]:
    """Return lessons that mean nearly the same and come from enough sessions, the one in the middle first."""
    near: dict[LessonId, list[Lesson]] = {
        lesson.id: [other for other in rules if other.id != lesson.id and is_near(_words(lesson), _words(other))]
        for lesson in rules
    }
    groups: list[list[Lesson]] = []
    taken: set[LessonId] = set()
    for lesson in sorted(rules, key=lambda rule: (-len(near[rule.id]), rule.id)):
        group = [lesson, *(other for other in near[lesson.id] if other.id not in taken)]
        if lesson.id not in taken and len(sessions_of(group)) >= STATED_SESSIONS:
            taken |= {each.id for each in group}
            groups.append(group)
    return groups


def _strip(line: str) -> str:
    return line.strip().lstrip("-*+#> ")


def _is_sentence(line: str) -> bool:
    """Return whether a line of a rules file is more than a heading, a path or a part of a drawing."""
    return line[:1].isascii() and len({*words_in(line)} - {""}) >= SENTENCE_WORDS


def _words(lesson: Lesson) -> str:
    return f"{lesson.title}. {lesson.insight}"


def _nearness(services: Services, texts: Sequence[str]) -> Near:
    """Return a function that says whether two of the texts mean nearly the same."""
    embedder = services.embedder()
    if embedder is not None and getattr(embedder, "is_local", False):
        unique = list(dict.fromkeys(texts))
        vectors = dict(zip(unique, embedder.embed_documents(unique), strict=True))
        return lambda text, other: _cosine(vectors[text], vectors[other]) >= ALIKE_BY_VECTOR
    stems = {text: _telling(text) for text in texts}
    return lambda text, other: _overlap(stems[text], stems[other]) >= ALIKE_BY_WORDS


def _cosine(vector: Sequence[float], other: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(vector, other, strict=True))


def _telling(text: str) -> frozenset[str]:
    return frozenset(stem for stem in stems_of(text) if stem not in EVERYDAY)


def _overlap(stems: frozenset[str], other: frozenset[str]) -> float:
    return len(stems & other) / len(stems | other) if stems and other else 0.0


def _command_in(lesson: Lesson, texts: Collection[str]) -> bool:
    """Return whether the files name the beginning of a command that the lesson is about."""
    pieces = [piece.split() for piece in lesson.insight.split("`")[1::2]]
    commands = [" ".join(words[:COMMAND_BEGINNING]) for words in pieces if len(words) > 1]
    return any(command in text for command in commands for text in texts)


def _why(group: Sequence[Lesson], sessions: Sequence[SessionId]) -> str:
    people = sorted({lesson.provenance.person_name for lesson in group} - {""})
    by = f" by {' and '.join(people)}" if people else ""
    stated = f"{len(group)} lessons of" if len(group) > 1 else "a lesson that was seen again in"
    verb = "say" if len(group) > 1 else "says"
    return f"{stated} {len(sessions)} sessions{by} {verb} so, and no rules file does"
