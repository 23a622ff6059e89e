"""What a command that changed one lesson prints: the lesson, as it is now, and what it contradicts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.domain.ids import short_id
from holdfast.surfaces.cli.call import Call, answer_json, note, say
from holdfast.surfaces.cli.rows import lesson_json, summary_lines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.lesson import Lesson


def print_written(call: Call, lesson: Lesson, rivals: Sequence[Lesson] = ()) -> None:
    """The lesson's line, or all of it as JSON; `rivals` are active lessons that say the opposite."""
    if call.as_json:
        answer_json(lesson_json(lesson) | ({"contradicts": [rival.id for rival in rivals]} if rivals else {}))
        return
    for line in summary_lines(lesson, lesson.state):
        say(line)
    for rival in rivals:
        short = short_id(rival.id)
        note(f"note: it contradicts {short}, which is active too: {rival.title}")
        note(f"hint: holdfast forget {short}, if this one replaces it")
