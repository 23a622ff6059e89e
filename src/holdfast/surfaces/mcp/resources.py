"""What a client can attach by name: the project's brief, its open checkpoint, and any lesson by its id."""

from __future__ import annotations

from mcp_types import Resource, ResourceTemplate

from holdfast.errors import LessonNotFoundError
from holdfast.lean.texts import short_id
from holdfast.surfaces.mcp import render
from holdfast.surfaces.mcp.callers import Asked

BRIEF = "holdfast://brief"
CHECKPOINT = "holdfast://checkpoint"
LESSON = "holdfast://lesson/"
MIME = "text/plain"

BRIEF_LESSONS, BRIEF_TOKENS = 10, 1_000
"""Most lessons and tokens of the brief as a resource: who attaches it wants more than a session's start gets."""
COMPLETIONS = 20
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


def read(asked: Asked, uri: str) -> str:
    """The resource's text. Raises LessonNotFoundError for a lesson, or a whole URI, that is not there."""
    if uri == BRIEF:
        found = asked.memory.recall(limit=BRIEF_LESSONS, budget_tokens=BRIEF_TOKENS, states=("active",))
        if not asked.gone.is_set():
            asked.memory.note_recall(found, asked.call("resource", uri))
        return found.text or "There are no lessons about this project yet."
    if uri == CHECKPOINT:
        return render.checkpoint(asked.memory.checkpoint())
    if uri.startswith(LESSON):
        held = asked.own(uri.removeprefix(LESSON))
        return render.lesson(held, asked.memory.verdicts([held])[0])
    raise LessonNotFoundError(f"no resource {uri!r}", hint=f"{BRIEF}, {CHECKPOINT} or {LESSON}<id>")


def complete_id(asked: Asked, begun: str) -> list[str]:
    """Ids of lessons that begin or end so, else of those whose title holds what was typed; newest first."""
    wanted = begun.strip().lower()
    lessons = asked.memory.lessons(limit=LOOKED_AT)
    named = [held for held in lessons if held.id.startswith(wanted) or short_id(held.id).startswith(wanted)]
    titled = [held for held in lessons if wanted in held.title.lower()]
    return [short_id(held.id) for held in (named or titled)[:COMPLETIONS]]


def complete_query(asked: Asked, begun: str) -> list[str]:
    """Titles of lessons that hold every word typed so far, newest first."""
    words = begun.lower().split()
    titles = (held.title for held in asked.memory.lessons(limit=LOOKED_AT))
    return list(dict.fromkeys(title for title in titles if all(word in title.lower() for word in words)))[:COMPLETIONS]
