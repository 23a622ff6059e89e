"""The domain's closed sets of words, each defined once, with their order where they have one."""

from __future__ import annotations

from typing import Literal, NewType

EventId = NewType("EventId", str)
LessonId = NewType("LessonId", str)
ProjectId = NewType("ProjectId", str)
SessionId = NewType("SessionId", str)
LessonKind = Literal[
    "decision", "constraint", "convention", "bug_cause", "failed_approach",
    "fix", "tooling", "preference", "exploration", "checkpoint",
]  # fmt: skip
MemoryType = Literal["semantic", "procedural", "episodic"]
EventKind = Literal[
    "session_start", "prompt", "reply", "tool_use", "tool_result", "tool_failure",
    "file_edit", "compaction", "session_end", "commit",
]  # fmt: skip
Trust = Literal["person", "verified", "agent", "repository", "tool"]
State = Literal["candidate", "active", "superseded", "retired", "quarantined", "forgotten"]
Freshness = Literal["unanchored", "fresh", "moved", "drifted", "changed", "orphaned", "unverified"]
LinkKind = Literal["supersedes", "contradicts", "refines", "duplicates", "caused_by", "relates_to"]
ScopeLevel = Literal["user", "project", "team"]
Moment = Literal[
    "session_start", "prompt", "before_file", "before_command", "after_failure", "after_compaction",
    "before_end", "on_demand",
]  # fmt: skip
Verdict = Literal[
    "heeded", "ignored", "overridden", "failed", "unclear", "missed", "withheld", "helped", "hurt"
]  # fmt: skip

EVENT_KINDS: tuple[EventKind, ...] = (
    "session_start", "prompt", "reply", "tool_use", "tool_result", "tool_failure",
    "file_edit", "compaction", "session_end", "commit",
)  # fmt: skip

TRUSTS: tuple[Trust, ...] = ("person", "verified", "agent", "repository", "tool")
"""Sources of a lesson, most trusted first: a person, verified code, the agent, repository text, tool output or web."""

FLOATED, SHIPPED = "floated", "shipped"
"""Tags of a claim's status: only an idea so far; landed in a commit. Without either it is decided."""

FRESHNESSES: tuple[Freshness, ...] = ("unanchored", "fresh", "moved", "unverified", "drifted", "changed", "orphaned")
"""States of the code behind a lesson, the worst last. A lesson without an anchor has no code to check."""

TRANSITIONS: dict[State, tuple[State, ...]] = {
    "candidate": ("active", "quarantined", "retired", "superseded", "forgotten"),
    "active": ("superseded", "retired", "quarantined", "forgotten"),
    "superseded": ("active", "forgotten"),
    "retired": ("active", "candidate", "forgotten"),
    "quarantined": ("candidate", "active", "retired", "forgotten"),
    "forgotten": (),
}
"""The lesson's state machine. A superseded or retired lesson can become active again, a retired one may also
wait again. A tombstone stays one, unless `undo` restores the version before it."""

VERDICTS: dict[Verdict, str] = {
    "heeded": "the actions that followed did what it says",
    "ignored": "there was an occasion to follow it, and nothing did",
    "overridden": "the user or the agent said or did the opposite, and that stood",
    "failed": "the failure that it warns of came all the same",
    "unclear": "nothing that followed shows whether it mattered",
    "missed": "the session needed it and was not told",
    "withheld": "it was held back at random, to learn what happens without it",
    "helped": "somebody says that it helped",
    "hurt": "somebody says that it is wrong or did harm",
}
"""The possible effects of a lesson in a session."""

STATES: tuple[State, ...] = tuple(TRANSITIONS)
LIVING: tuple[State, ...] = ("active", "candidate", "quarantined")
"""States of a lesson that is in use or may come into use. Only one such lesson may state a given rule."""
