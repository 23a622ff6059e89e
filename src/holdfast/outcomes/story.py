"""The events of one session, prepared for queries: actions, words and failures in order of time."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from holdfast.domain.event import Event
from holdfast.outcomes.tuning import WORDS_LIMIT
from holdfast.text.shell import command_target
from holdfast.text.signature import error_signature
from holdfast.text.window import failed, refused, spoken, unmasked

_LINTER_LINE = re.compile(r"^\S{3,200}:\d+(?::\d+)?:? [^\n]{4,400}\((?P<rule>[a-z][a-z0-9]{3,30})\)\s*$", re.M)
_RULE_CODE = re.compile(r"^\S{3,200}:\d+:\d+:? (?P<rule>[A-Z]{1,5}\d{3,4})\b", re.M)
_NOT_RULES = frozenset(("cached", "deprecated", "optional", "default", "typecheck", "tests", "test", "error"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """Something that the agent did: a command, an edit, a read or a search."""

    at: int
    """Position among the session's events."""
    event: Event
    written: str = ""
    """The lines that an edit added, or the command on one line."""
    taken: str = ""
    """The lines that an edit removed."""


class Story:
    """The events of one session in order of time."""

    def __init__(self, events: Sequence[Event]) -> None:
        self.events = [event for event in events if not event.agent or event.kind != "prompt"]
        self.actions = [action for at, event in enumerate(self.events) if (action := _action(at, event))]
        self.edits = [action for action in self.actions if action.event.kind == "file_edit"]
        self.commands = [action for action in self.actions if action.event.command and action.event.kind != "file_edit"]
        self.prompts = [(at, unmasked(words)) for at, event in enumerate(self.events) if (words := spoken(event))]
        self._texts = [text_of(event) for event in self.events]

    def position(self, at: datetime) -> int:
        """Return how many events happened up to that instant."""
        return sum(event.at <= at for event in self.events)

    def first_shown(self, words: str) -> int:
        """Return the position of the first event that contains the words, whoever wrote them; -1 for none."""
        return next((at for at, text in enumerate(self._texts) if has(text, words)), -1)

    def failures(self, after: int = 0) -> Iterator[tuple[int, Event]]:
        """Yield failures from the position on: reported by the host, or by a linter whose exit status a pipe hid."""
        for at, event in enumerate(self.events[after:], after):
            if (failed(event) and not refused(event)) or (_ran(event) and lint_rules_in(event)):
                yield at, event


def _ran(event: Event) -> bool:
    return event.kind in ("tool_result", "tool_failure") and bool(event.command) and not is_reading(event)


def _action(at: int, event: Event) -> Action | None:
    if event.kind == "file_edit" and event.files:
        old = frozenset(event.old.splitlines())
        new = [line for line in event.new.splitlines() if line not in old]
        written = frozenset(event.new.splitlines())
        gone = [line for line in event.old.splitlines() if line not in written]
        return Action(at=at, event=event, written="\n".join(new), taken="\n".join(gone))
    if event.kind in ("tool_result", "tool_failure") and not refused(event):
        return Action(at=at, event=event, written=" ".join(event.command.split()))
    return None


def text_of(event: Event) -> str:
    """Return everything that the event shows: prompts, replies, commands, their output, and edits."""
    return "\n".join((" ".join(event.command.split()), *event.files, event.text, event.old, event.new))


def has(text: str, words: str) -> bool:
    """Return whether the text contains the words as a whole: `mise run test` is no part of `mise run test:ci`."""
    at = text.find(words)
    while at >= 0:
        before, after = text[max(0, at - 1) : at], text[at + len(words) : at + len(words) + 1]
        opens = not (words[0].isalnum() and (before.isalnum() or before in ("_", "-")) and before)
        closes = not (words[-1].isalnum() and (after.isalnum() or after in ("_", ":", "-")) and after)
        if opens and closes:
            return True
        at = text.find(words, at + 1)
    return False


def is_reading(event: Event) -> bool:
    """Return whether the event is a read or a search; its command, if the host gives one, is a pattern."""
    return event.tool in ("Read", "Grep", "Glob", "Search", "LS", "WebFetch", "WebSearch")


def lint_rules_in(event: Event) -> frozenset[str]:
    """Return the rules that linters report in the event's output, at line ends as golangci-lint or as codes of ruff."""
    if not _ran(event):
        return frozenset()
    names = {match["rule"] for match in _LINTER_LINE.finditer(event.text)} - _NOT_RULES
    return frozenset(names | {match["rule"] for match in _RULE_CODE.finditer(event.text)})


def signatures_of(event: Event) -> tuple[str, str]:
    """Return the signature of the event's failure and the target of its command."""
    return error_signature(event.text), command_target(event.command)


def clipped(text: str) -> str:
    """Return the text on one line, short enough for an outcome's note."""
    line = " ".join(text.split())
    return line if len(line) <= WORDS_LIMIT else line[: WORDS_LIMIT - 1] + "…"
