"""BriefLine: one line of a brief, made from a lesson, in a form that the learner stores and a start hook reads quickly.

Rules and commands are told in full words, all other lessons by their title. Lines that say the same are one line.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from typing import Any

from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import FLOATED, LessonId, State
from holdfast.lean.plain import field_names
from holdfast.outcomes.standing import may_withhold
from holdfast.ranking.relevance import EVERYDAY, stems_of
from holdfast.recall.tuning import (
    EQUAL_TITLES,
    EQUAL_WORDS,
    GENERAL_WORTH,
    LEAST_ID,
    OUTCOME_WORTH,
    PERSON_WORTH,
    RULE_LIKE_WORTH,
    RULE_TOKENS,
    STALE_WORTH,
)
from holdfast.rendering.lines import clean, compile_line, count_tokens, safe_title, source_word
from holdfast.text.occasions import CARDS, COMMAND_KINDS, habit_of, is_standing, lint_languages, linters_in, occasions

COMMAND, RULE, TITLE = "command", "rule", "title"
"""Parts of a brief: commands of the project, rules in full words, titles."""
TOLD_STATES: tuple[State, ...] = ("active",)
"""States of lessons that are told unasked: the confirmed ones."""
STALE = ("drifted", "changed", "orphaned")
CHANGED = "code changed"
"""Mark of a line whose code is no longer as it was."""

AREAS = {
    "test": "tests", "lint": "lint", "commit": "commits", "pr": "pull requests", "review": "reviews",
    "release": "releases",
}  # fmt: skip
"""Areas of lessons that are useful at a kind of command."""
HABIT_AREAS = {
    "failing test first": "tests", "tests with the change": "tests", "reply to reviews": "reviews",
}  # fmt: skip
OTHER = "other"
"""Area of lessons that are about no file and no kind of command."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BriefLine:
    """A line that a brief may tell, and what decides whether it does."""

    id: LessonId
    recorded_at: str
    """The version of the lesson, as an ISO instant."""
    since: str
    """The instant since which the lesson holds."""
    part: str
    area: str
    title: str
    full: str
    """The whole line of a rule; empty for other lessons."""
    source: str
    """Who said it, in a word; empty for an agent."""
    worth: float
    """What the lesson's kind, source and freshness are worth; `brief` adds newness, branch and person."""
    is_fixed: bool = False
    """Chance never withholds it: a person stated or pinned it."""
    branch: str = ""
    person: str = ""
    """The author of a personal preference; empty for a lesson that concerns everybody."""
    prefix: str = ""
    session: str = ""
    """The session that taught it."""
    staged: bool = False
    """Only branches that contain it see it."""
    is_stale: bool = False
    also: tuple[LessonId, ...] = ()
    """Lessons that say the same, for which the line stands."""
    tokens: int = 0
    """Tokens of its title's line with an id of LEAST_ID characters."""
    full_tokens: int = 0
    """Tokens of the whole line of a rule."""


def may_be_told(lesson: Lesson) -> bool:
    """Return whether a brief may contain the lesson."""
    return lesson.state in TOLD_STATES and not profile_of(lesson.kind).is_working_state


def lines_of(
    lessons: Iterable[Lesson], stale: Iterable[LessonId] = (), factors: Mapping[LessonId, float] | None = None
) -> list[BriefLine]:
    """Return a line for each group of lessons that say the same; `factors` is what outcomes make of their worth."""
    stale = frozenset(stale)
    order = sorted(lessons, key=_foremost)
    leaders: list[tuple[Lesson, list[LessonId]]] = []
    by_key: dict[str, list[LessonId]] = {}
    titles: list[tuple[frozenset[str], list[LessonId]]] = []
    for lesson in order:
        keys, words = _keys(lesson), _telling(lesson.title)
        group = next((by_key[key] for key in keys if key in by_key), None) or _equal(words, titles)
        if group is not None:
            group.append(lesson.id)
            continue
        also: list[LessonId] = []
        leaders.append((lesson, also))
        by_key.update(dict.fromkeys(keys, also))
        titles.append((words, also))
    return [
        _line(lesson, tuple(also), lesson.id in stale, (factors or {}).get(lesson.id, 1.0)) for lesson, also in leaders
    ]


def _foremost(lesson: Lesson) -> tuple[bool, bool, float]:
    """Return the sort key that puts the one of a group first that stands for it."""
    newest = -lesson.validity.valid_from.timestamp()
    return not lesson.pinned, lesson.trust != "person", newest


def _keys(lesson: Lesson) -> tuple[str, ...]:
    """Return the names of the groups of equal statements that the lesson belongs to."""
    if lesson.topic_key.startswith(CARDS):
        return (lesson.topic_key,)
    if lint_languages(lesson):
        return tuple(f"linter {name}" for name in linters_in(lesson.title))
    habit = habit_of(lesson.insight) if profile_of(lesson.kind).may_stand else ""
    return (f"habit {habit}",) if habit else ()


def _telling(title: str) -> frozenset[str]:
    return frozenset(stem for stem in stems_of(title) if len(stem) > 2)


def _equal(words: frozenset[str], titles: Sequence[tuple[frozenset[str], list[LessonId]]]) -> list[LessonId] | None:
    """Return the group whose title has nearly the same words; None without one."""
    if len(words - EVERYDAY) < EQUAL_WORDS:
        return None
    for other, group in titles:
        if len(words & other) >= EQUAL_TITLES * len(words | other):
            return group
    return None


def _line(lesson: Lesson, also: tuple[LessonId, ...], is_stale: bool, factor: float) -> BriefLine:
    profile = profile_of(lesson.kind)
    is_floated = FLOATED in lesson.tags
    is_rule = lesson.pinned or (is_standing(lesson) and not is_floated)
    part = COMMAND if lesson.topic_key.startswith(CARDS) else RULE if is_rule else TITLE
    by_person = lesson.trust == "person" or profile.is_personal
    worth = PERSON_WORTH * by_person + RULE_LIKE_WORTH * profile.is_instruction - STALE_WORTH * (is_stale or is_floated)
    worth += GENERAL_WORTH * (not lesson.paths) + OUTCOME_WORTH * log2(factor)
    title, source = safe_title(lesson), _source(lesson)
    line = compile_line(lesson, "", RULE_TOKENS, places=False) if part == RULE else None
    if line is not None and not line.is_whole:
        part, line = TITLE, None  # a part of a rule says less than its title
    full = line.text if line is not None else ""
    return BriefLine(
        id=lesson.id, recorded_at=lesson.recorded_at.isoformat(), since=lesson.validity.valid_from.isoformat(),
        part=part, area=area_of(lesson), title=title, full=full, source=source, worth=round(worth, 4),
        is_fixed=not may_withhold(lesson), branch=branch_of(lesson),
        person=lesson.provenance.person if profile.is_personal else "",
        prefix=lesson.scope.path_prefix, session=lesson.provenance.session, staged=bool(lesson.scope.branch),
        is_stale=is_stale, also=also,
        tokens=count_tokens(title_line(lesson.id[-LEAST_ID:], title, source)), full_tokens=count_tokens(full),
    )  # fmt: skip


def _source(lesson: Lesson) -> str:
    """Return who said it, in a word; empty for an agent, who said most."""
    source = source_word(lesson)
    return "" if source == "agent" else source


def title_line(end_of_id: str, title: str, source: str = "", note: str = "") -> str:
    """Return the line of a title: `7ef3a user: Never push to main`."""
    head = " ".join(filter(None, (end_of_id, source)))
    return f"{head}: {title}" + (f" ({note})" if note else "")


def title_of_lesson(lesson: Lesson, is_stale: bool = False) -> str:
    """Return the line of a lesson's title outside of a brief."""
    return title_line(lesson.id[-LEAST_ID:], safe_title(lesson), _source(lesson), CHANGED if is_stale else "")


def branch_of(lesson: Lesson) -> str:
    """Return the branch on which the lesson was learnt; empty where it is not known."""
    branches = (lesson.provenance.branch, lesson.scope.branch, *(anchor.branch for anchor in lesson.anchors))
    return next(filter(None, branches), "")


def area_of(lesson: Lesson) -> str:
    """Return the heading under which a brief shows the lesson: a kind of work, or a folder."""
    if habit := HABIT_AREAS.get(habit_of(lesson.insight)):
        return habit
    kinds = occasions(lesson)
    for kind in COMMAND_KINDS:
        if kind in kinds:
            return AREAS[kind]
    if any(kind.startswith("edit ") for kind in kinds):
        return AREAS["lint"]
    if not lesson.paths:
        return OTHER
    folder, _, _ = lesson.paths[0].rpartition("/")
    return clean(folder.rpartition("/")[2]) + "/" if folder else OTHER


def to_row(line: BriefLine) -> list[Any]:
    """Return the line as a list that JSON can hold."""
    return [getattr(line, name) for name in field_names(BriefLine)]


def from_row(row: Sequence[Any]) -> BriefLine:
    """Return the line of a stored row. Raises ValueError or TypeError for a row of another shape."""
    fields = dict(zip(field_names(BriefLine), row, strict=True))
    fields["also"] = tuple(fields["also"])
    return BriefLine(**fields)
