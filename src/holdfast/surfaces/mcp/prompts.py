"""The MCP prompts, which a user can call from a host's menu: brief, recall, remember, checkpoint."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from mcp_types import Prompt, PromptArgument

from holdfast.errors import InvalidValueError
from holdfast.surfaces.mcp import render, resources
from holdfast.surfaces.mcp.callers import Caller

LIMIT = 8
"""Lessons that the prompt `recall` brings."""
SAID_LIMIT = 4_000
"""Characters of an argument that are put into a prompt: the longest that can be one lesson."""

Arguments = Mapping[str, str]


class MemoryPrompt(NamedTuple):
    """One prompt; `says` returns the user's message."""

    name: str
    title: str
    does: str
    argument: str
    """The argument's name; empty for a prompt without one."""
    about: str
    required: bool
    says: Callable[[Caller, str], str]

    def declare(self) -> Prompt:
        """Return the prompt as clients list it."""
        argument = PromptArgument(name=self.argument, description=self.about, required=self.required)
        arguments = [argument] if self.argument else []
        return Prompt(name=self.name, title=self.title, description=self.does, arguments=arguments)

    def render(self, caller: Caller, arguments: Arguments) -> str:
        """Return the message. Raises InvalidValueError if a required argument is missing."""
        return self.says(caller, self.read(arguments))

    def read(self, arguments: Arguments) -> str:
        """Return the prompt's argument. Raises InvalidValueError if a required one is missing."""
        text = arguments.get(self.argument, "").strip()[:SAID_LIMIT]
        if self.required and not text:
            raise InvalidValueError(f"the prompt {self.name} needs {self.argument!r}", hint=self.about)
        return text


def _brief(caller: Caller, _text: str) -> str:
    return brief_message(resources.read(caller, resources.BRIEF))


def _recall(caller: Caller, query: str) -> str:
    briefing = caller.memory.recall(query, limit=LIMIT)
    if not caller.gone.is_set():
        caller.memory.note_recall(briefing, caller.call("prompt", query))
    return recall_message(query, render.briefing(briefing))


def brief_message(brief: str) -> str:
    """Return the message of the prompt `brief`."""
    return f"What memory holds about this project:\n\n{brief}"


def recall_message(query: str, answer: str) -> str:
    """Return the message of the prompt `recall`."""
    return f"What memory holds about: {query}\n\n{answer}"


def remember_message(insight: str) -> str:
    """Return the message of the prompt `remember`."""
    return (
        "Save this for later sessions with Holdfast's `remember` tool. State it as one rule, with its reason, the "
        f"files it is about, and as quote the exact words behind it.\n\n{insight or 'What we have just found out.'}"
    )


def checkpoint_message(goal: str) -> str:
    """Return the message of the prompt `checkpoint`."""
    return (
        "Save the state of this task with Holdfast's `checkpoint` tool: the goal, what is done, what comes next, open "
        f"questions and the files of the task.{f' The goal: {goal}' if goal else ''}"
    )


PROMPTS = (
    MemoryPrompt("brief", "Brief", "Get the lessons that matter most in this project", "", "", False, _brief),
    MemoryPrompt(
        "recall", "Recall", "Get what earlier sessions learnt about a subject", "query",
        "The subject: a question, an error, a file", True, _recall,
    ),
    MemoryPrompt(
        "remember", "Remember this", "Save a lesson for later sessions", "insight",
        "What to remember; by default, what was just found out", False, lambda _caller, text: remember_message(text),
    ),
    MemoryPrompt(
        "checkpoint", "Save a checkpoint", "Save the state of the task for the next session", "goal",
        "The goal of the task; by default, the agent states it", False, lambda _caller, text: checkpoint_message(text),
    ),
)  # fmt: skip
