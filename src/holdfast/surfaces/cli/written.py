"""What a command that changed one lesson prints: the lesson, as it is now."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.surfaces.cli.call import Call, answer_json, say
from holdfast.surfaces.cli.rows import lesson_cells, lesson_json, table

if TYPE_CHECKING:
    from holdfast.domain.lesson import Lesson


def print_written(call: Call, lesson: Lesson) -> None:
    """The lesson's line, or all of it as JSON."""
    if call.as_json:
        answer_json(lesson_json(lesson))
    else:
        say(table([lesson_cells(lesson, lesson.state)])[0])
