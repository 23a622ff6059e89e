"""What is true of each kind of lesson, one row a kind: adding a kind is its name in `LessonKind` and its row here.

Detectors and importers choose the kind of what they find; everybody else reads it from the row.
"""

from __future__ import annotations

from holdfast.errors import InvalidValueError
from holdfast.lean.records import Frozen

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.vocabulary import LessonKind, MemoryType


class KindProfile(Frozen):
    """The facts about one kind of lesson."""

    kind: LessonKind
    memory_type: MemoryType
    """What it remembers: what is true, how to do it, or what happened."""
    half_life_days: float
    """Days until half of a lesson's recency is gone: rules age slower than what happened."""
    rediscovery_minutes: float
    """Minutes of finding it out again that a heeded lesson is taken to spare: an assumption, not a measurement."""
    family: str = ""
    """Detectors may give kinds of one family to the same words; empty for a kind that stands alone."""
    tasks: tuple[str, ...] = ()
    """Tasks that ask for this kind first."""
    questions: tuple[str, ...] = ()
    """Questions for lessons that this kind answers, by their names in `ranking/aim`."""
    is_instruction: bool = False
    """It says what to do or not to do, rather than how something is or came about."""
    may_stand: bool = False
    """A person's lesson of this kind is a standing rule where it names no code."""
    may_forbid_text: bool = False
    """What a person's lesson of this kind denies is looked for in the text that code holds."""
    is_personal: bool = False
    """It belongs to the person who stated it: two persons may differ, and neither is wrong."""
    is_working_state: bool = False
    """It is the state of a task: neither published nor shared, nor found by a model."""
    is_stated_by_agents: bool = True
    """An agent may state it through a tool."""
    is_staged_unanchored: bool = False
    """One that no person stated is staged with its branch even without an anchor."""
    names_failure: bool = False
    """Its command may be one that failed."""
    tells_command: bool = False
    """Its command is one to run."""
    tells_failure_class: bool = False
    """Its own words may name a class of failures, where it has no signature."""
    is_told_at_prompt: bool = True
    """It is told at a prompt even where it is not pinned."""
    is_told_at_command: bool = True
    """It is told before the command that it names."""
    is_told_at_failure: bool = True
    """It is told when the command that it names has failed."""
    rules_order: int = 0
    """Its place in a rules file, from 1; 0 for a kind that is no rule to whoever works here."""
    skill_order: int = 0
    """Its place in a skill, from 1; 0 for a kind that does not say how to do something."""
    is_pitfall: bool = False
    """A skill lists it among what did not work."""


KIND_PROFILES: dict[LessonKind, KindProfile] = {
    row.kind: row
    for row in (
        KindProfile(
            kind="decision", memory_type="semantic", half_life_days=720, rediscovery_minutes=3, family="rule",
            tasks=("refactor", "feature"), questions=("decisions",), may_forbid_text=True, is_staged_unanchored=True,
            rules_order=2, is_told_at_command=False, is_told_at_failure=False,
        ),
        KindProfile(
            kind="constraint", memory_type="semantic", half_life_days=720, rediscovery_minutes=3, family="rule",
            tasks=("refactor", "review", "operate", "feature"), questions=("constraints",), is_instruction=True,
            tells_failure_class=True, rules_order=1,
        ),
        KindProfile(
            kind="convention", memory_type="semantic", half_life_days=720, rediscovery_minutes=2, family="rule",
            tasks=("test", "refactor", "review", "feature"), questions=("conventions",), is_instruction=True,
            may_stand=True, tells_failure_class=True, rules_order=3, skill_order=1,
        ),
        KindProfile(
            kind="bug_cause", memory_type="semantic", half_life_days=360, rediscovery_minutes=6, family="cause",
            tasks=("fix",), questions=("failures", "causes"), names_failure=True, tells_failure_class=True,
            rules_order=7,
        ),
        KindProfile(
            kind="preference", memory_type="semantic", half_life_days=720, rediscovery_minutes=1, family="rule",
            tasks=("review",), questions=("preferences", "conventions"), is_instruction=True, may_stand=True,
            is_personal=True, rules_order=4,
        ),
        KindProfile(
            kind="tooling", memory_type="procedural", half_life_days=240, rediscovery_minutes=3, family="rule",
            tasks=("test", "operate"), questions=("commands",), is_instruction=True, names_failure=True,
            tells_command=True, tells_failure_class=True, rules_order=5, skill_order=2,
        ),
        KindProfile(
            kind="fix", memory_type="procedural", half_life_days=240, rediscovery_minutes=4, family="cause",
            tasks=("fix", "test", "operate"), questions=("failures", "causes"), is_instruction=True, names_failure=True,
            tells_failure_class=True, rules_order=8, skill_order=3,
        ),
        KindProfile(
            kind="failed_approach", memory_type="episodic", half_life_days=180, rediscovery_minutes=6,
            tasks=("fix",), questions=("failures",), is_instruction=True, names_failure=True, tells_failure_class=True,
            rules_order=6, skill_order=4, is_pitfall=True,
        ),
        KindProfile(
            kind="exploration", memory_type="episodic", half_life_days=60, rediscovery_minutes=3,
            is_stated_by_agents=False, is_told_at_prompt=False, is_told_at_failure=False,
        ),
        KindProfile(
            kind="checkpoint", memory_type="episodic", half_life_days=14, rediscovery_minutes=0, is_working_state=True,
            is_stated_by_agents=False, is_told_at_command=False, is_told_at_failure=False,
        ),
    )
}  # fmt: skip

LESSON_KINDS: tuple[LessonKind, ...] = tuple(KIND_PROFILES)


def profile_of(kind: LessonKind) -> KindProfile:
    """The facts about a kind. Raises InvalidValueError for a name that is none."""
    profile = KIND_PROFILES.get(kind)
    if profile is None:
        raise InvalidValueError(f"unknown kind {kind!r}", hint=f"one of {', '.join(KIND_PROFILES)}")
    return profile


def family_of(kind: LessonKind) -> str:
    """The kinds of one family may be given to the same words by different detectors."""
    return profile_of(kind).family or kind
