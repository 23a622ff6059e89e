"""The facts about each kind of lesson, one row a kind. To add a kind, add its name to `LessonKind` and a row here.

Detectors and importers choose the kind of a candidate; all other code reads the facts from the row.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.domain.vocabulary import LessonKind, MemoryType
from holdfast.errors import InvalidValueError


@dataclass(frozen=True, slots=True, kw_only=True)
class KindProfile:
    """The facts about one kind of lesson."""

    kind: LessonKind
    memory_type: MemoryType
    """Whether it says what is true, how to do something, or what happened."""
    half_life_days: float
    """Days until half of a lesson's recency is gone: rules age more slowly than records of events."""
    family: str = ""
    """Detectors may assign different kinds of one family to the same words; empty for a kind without a family."""
    tasks: tuple[str, ...] = ()
    """Tasks for which this kind comes first."""
    questions: tuple[str, ...] = ()
    """Names in `ranking/aim` of questions that ask for this kind."""
    is_instruction: bool = False
    """It says what to do or not to do; other kinds describe or record."""
    may_stand: bool = False
    """A person's lesson of this kind is a standing rule if it names no code."""
    may_forbid_text: bool = False
    """Text that a person's lesson of this kind forbids is searched for in code."""
    is_personal: bool = False
    """It belongs to the person who stated it: two persons may differ without a contradiction."""
    is_working_state: bool = False
    """It is the state of a task: it is not published, not shared and not proposed by a model."""
    is_stated_by_agents: bool = True
    """An agent may state a lesson of this kind through a tool."""
    is_staged_unanchored: bool = False
    """Unless a person stated it, it is staged with its branch even without an anchor."""
    names_failure: bool = False
    """Its command may be a command that failed."""
    tells_command: bool = False
    """Its command is a command to run."""
    tells_failure_class: bool = False
    """Its own words may name a class of failures when it has no signature."""
    is_told_at_prompt: bool = True
    """It is delivered at a prompt even if it is not pinned."""
    is_told_at_command: bool = True
    """It is delivered before the command that it names."""
    is_told_at_failure: bool = True
    """It is delivered after the command that it names has failed."""
    fits_beside_code: bool = False
    """It says something about a place in the code that a comment there could say to who reads it."""
    outlives_code: bool = False
    """It may say why code is gone, so it holds without its code."""
    rules_order: int = 0
    """Position in a rules file, from 1; 0 for a kind that is no rule for people who work in the project."""


KIND_PROFILES: dict[LessonKind, KindProfile] = {
    row.kind: row
    for row in (
        KindProfile(
            kind="decision", fits_beside_code=True, memory_type="semantic", half_life_days=720, family="rule",
            tasks=("refactor", "feature"), questions=("decisions",), may_forbid_text=True, is_staged_unanchored=True,
            outlives_code=True, rules_order=2, is_told_at_command=False, is_told_at_failure=False,
        ),
        KindProfile(
            kind="constraint", fits_beside_code=True, memory_type="semantic", half_life_days=720, family="rule",
            tasks=("refactor", "review", "operate", "feature"), questions=("constraints",), is_instruction=True,
            tells_failure_class=True, rules_order=1,
        ),
        KindProfile(
            kind="convention", memory_type="semantic", half_life_days=720, family="rule",
            tasks=("test", "refactor", "review", "feature"), questions=("conventions",), is_instruction=True,
            may_stand=True, tells_failure_class=True, rules_order=3,
        ),
        KindProfile(
            kind="bug_cause", fits_beside_code=True, memory_type="semantic", half_life_days=360, family="cause",
            tasks=("fix",), questions=("failures", "causes"), names_failure=True, tells_failure_class=True,
            rules_order=7,
        ),
        KindProfile(
            kind="preference", memory_type="semantic", half_life_days=720, family="rule",
            tasks=("review",), questions=("preferences", "conventions"), is_instruction=True, may_stand=True,
            is_personal=True, rules_order=4,
        ),
        KindProfile(
            kind="tooling", memory_type="procedural", half_life_days=240, family="rule",
            tasks=("test", "operate"), questions=("commands",), is_instruction=True, names_failure=True,
            tells_command=True, tells_failure_class=True, rules_order=5,
        ),
        KindProfile(
            kind="fix", memory_type="procedural", half_life_days=240, family="cause",
            tasks=("fix", "test", "operate"), questions=("failures", "causes"), is_instruction=True, names_failure=True,
            tells_failure_class=True, rules_order=8,
        ),
        KindProfile(
            kind="failed_approach", fits_beside_code=True, memory_type="episodic", half_life_days=180,
            tasks=("fix",), questions=("failures",), is_instruction=True, names_failure=True, tells_failure_class=True,
            outlives_code=True, rules_order=6,
        ),
        KindProfile(
            kind="exploration", fits_beside_code=True, memory_type="episodic", half_life_days=60,
            is_stated_by_agents=False, is_told_at_prompt=False, is_told_at_failure=False,
        ),
        KindProfile(
            kind="checkpoint", memory_type="episodic", half_life_days=14, is_working_state=True,
            is_stated_by_agents=False, is_told_at_command=False, is_told_at_failure=False,
        ),
    )
}  # fmt: skip

LESSON_KINDS: tuple[LessonKind, ...] = tuple(KIND_PROFILES)


def profile_of(kind: LessonKind) -> KindProfile:
    """Return the facts about a kind. Raises InvalidValueError for an unknown name."""
    profile = KIND_PROFILES.get(kind)
    if profile is None:
        raise InvalidValueError(f"unknown kind {kind!r}", hint=f"one of {', '.join(KIND_PROFILES)}")
    return profile


def family_of(kind: LessonKind) -> str:
    """Return the family of a kind: detectors may assign different kinds of one family to the same words."""
    return profile_of(kind).family or kind
