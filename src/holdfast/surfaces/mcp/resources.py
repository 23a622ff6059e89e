"""What a client can attach by name: the project's brief, its open checkpoint, and any lesson by its id."""

from __future__ import annotations

from mcp_types import Resource, ResourceTemplate

from holdfast.errors import LessonNotFoundError
from holdfast.lean.texts import short_id
from holdfast.surfaces.mcp import render
from holdfast.surfaces.mcp.callers import Caller

BRIEF = "holdfast://brief"
CHECKPOINT = "holdfast://checkpoint"
LESSON = "holdfast://lesson/"
MIME = "text/plain"

BRIEF_LESSONS, BRIEF_TOKENS = 10, 1_000
"""Most lessons and tokens of the brief as a resource: who attaches it wants more than a session's start gets."""
COMPLETIONS = 20
"""Completions that are offered."""
LOOKED_AT = 500
"""Newest lessons among which is looked for completions."""

RESOURCES = (
    Resource(
        uri=BRIEF, name="brief", title="Brief of this project", mime_type=MIME,
        description="The lessons that matter most in this project, checked against the code now",
    ),
    Resource(
        uri=CHECKPOINT, name="checkpoint", title="Checkpoint", mime_type=MIME,
        description="The working state of the task in hand: goal, done, next, open questions",
    ),
)  # fmt: skip
TEMPLATES = (
    ResourceTemplate(
        uri_template=f"{LESSON}{{id}}", name="lesson", title="A lesson in full", mime_type=MIME,
        description="One lesson with its reason, evidence and history",
    ),
)  # fmt: skip


def read(caller: Caller, uri: str) -> str:
    """The resource's text. Raises LessonNotFoundError for a lesson, or a whole URI, that is not there."""
    if uri == BRIEF:
        briefing = caller.memory.recall(limit=BRIEF_LESSONS, budget_tokens=BRIEF_TOKENS, states=("active",))
        if not caller.gone.is_set():
            caller.memory.note_recall(briefing, caller.call("resource", uri))
        return briefing.text or "There are no lessons about this project yet."
    if uri == CHECKPOINT:
        return render.checkpoint(caller.memory.checkpoint())
    if uri.startswith(LESSON):
        lesson = caller.own(uri.removeprefix(LESSON))
        return render.lesson(lesson, caller.memory.verdicts([lesson])[0])
    raise LessonNotFoundError(f"no resource {uri!r}", hint=f"{BRIEF}, {CHECKPOINT} or {LESSON}<id>")


def complete_id(caller: Caller, begun: str) -> list[str]:
    """Return ids of lessons that begin or end with the typed text, else of those whose title has it; newest first."""
    wanted = begun.strip().lower()
    lessons = caller.memory.lessons(limit=LOOKED_AT)
    named = [lesson for lesson in lessons if lesson.id.startswith(wanted) or short_id(lesson.id).startswith(wanted)]
    titled = [lesson for lesson in lessons if wanted in lesson.title.lower()]
    return [short_id(lesson.id) for lesson in (named or titled)[:COMPLETIONS]]


def complete_query(caller: Caller, begun: str) -> list[str]:
    """Titles of lessons that hold every word typed so far, newest first."""
    words = begun.lower().split()
    titles = (lesson.title for lesson in caller.memory.lessons(limit=LOOKED_AT))
    return list(dict.fromkeys(title for title in titles if all(word in title.lower() for word in words)))[:COMPLETIONS]
