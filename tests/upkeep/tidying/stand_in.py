"""Lessons put into a memory, and a model that gives prepared answers."""

from __future__ import annotations

import json
import re
from typing import Any

from holdfast.bootstrap import Memory
from holdfast.domain.lesson import Lesson
from holdfast.errors import ModelError
from holdfast.lessons.ledger import write_change
from holdfast.ports.plugins import Completion
from holdfast.testing.builders import make_lesson

FLOATS = "Store amounts of money as integer cents in the ledger table, never as floats"
FLOATS_TOO = "Money amounts stay integer cents everywhere in the ledger table and never become floats"


def put(memory: Memory, *insights: str, **fields: Any) -> list[Lesson]:
    """The confirmed lessons of an agent, stored."""
    fields = {"trust": "agent", "confidence": 0.7, **fields}
    lessons = [make_lesson(insight=insight, project=memory.location.project.id, **fields) for insight in insights]
    write_change(memory.services, memory.location, "remember", lessons, dict.fromkeys(lesson.id for lesson in lessons))
    return lessons


def names(prompt: str) -> dict[str, str]:
    """By title, the name that the prompt gives a lesson."""
    return {title: name for name, title in re.findall(r"^(T\d+) \[[^]]*\] (.*)$", prompt, re.MULTILINE)}


class StandInModel:
    """Answers each prompt with what the function makes of the lessons' names, and keeps the prompts."""

    id = "stand-in"

    def __init__(self, answer: Any) -> None:
        self.prompts: list[str] = []
        self._answer = answer

    def complete(self, prompt: str, timeout_s: float) -> Completion:
        self.prompts.append(prompt)
        answer = self._answer(names(prompt)) if callable(self._answer) else self._answer
        if isinstance(answer, ModelError):
            raise answer
        return Completion(text=answer if isinstance(answer, str) else json.dumps(answer))
