"""Output of commands that change one lesson: the lesson as it is now, and what it contradicts."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.domain.lesson import Lesson
from holdfast.lean.texts import short_id
from holdfast.rendering.views import lesson_json
from holdfast.surfaces.cli.call import Call, answer_json, note, say
from holdfast.surfaces.cli.rows import summary_lines


def print_written(call: Call, lesson: Lesson, rivals: Sequence[Lesson] = ()) -> None:
    """Print the lesson as a line, or whole as JSON; `rivals` are active lessons that contradict it.

    A lesson that it superseded is named too, because a conflict may have been settled without asking.
    """
    if call.as_json:
        answer_json(lesson_json(lesson) | ({"contradicts": [rival.id for rival in rivals]} if rivals else {}))
        return
    for line in summary_lines(lesson, lesson.state):
        say(line)
    for link in lesson.links:
        if link.kind == "supersedes":
            note(f"it replaces {short_id(link.target)}; to bring that lesson back: holdfast undo")
    for rival in rivals:
        note(f"note: it contradicts {short_id(rival.id)}, which is active too: {rival.title}")
    if rivals and lesson.state == "active":
        note(f"hint: holdfast review --keep {short_id(lesson.id)}, if this one replaces it")
