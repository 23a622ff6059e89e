"""Reads SWE-agent's trajectories: `*.traj`, a JSON object with each step's thought, action and observation.

Steps have neither times nor exit codes. Folders are the container's, so `--project` must name the project. Sources: the
public repository SWE-agent/SWE-agent and trajectories in it, tools `edit` and `str_replace_editor`; 2026-11-21.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from holdfast.domain.event import Event
from holdfast.hosts.sdk.files import parse_object, read_json, written_at
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay, blocks_of
from holdfast.ports.host import Host, HostProfile
from holdfast_hosts._recorded import Recorded

ISSUE = ("ISSUE:\n", "<pr_description>\n")
AFTER_ISSUE = ("\nINSTRUCTIONS:", "</pr_description>")
DEMONSTRATION = "--- DEMONSTRATION ---"
EDITOR = "str_replace_editor"
END_OF_EDIT = "\nend_of_edit"
NOT_DONE = ("Your proposed edit has introduced new syntax error", "No replacement was performed")


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return SweAgent()


class SweAgent(Recorded):
    """The adapter for SWE-agent; implements `ports.host.Host`."""

    name = "swe-agent"

    @property
    def profile(self) -> HostProfile:
        """The names of its trajectories, which are wherever it ran."""
        return HostProfile(
            title="SWE-agent",
            transcripts="*.traj where it ran: `holdfast backfill FILE --project DIR`",
            grows_by_lines=False,
            transcript_files=("*.traj",),
            transcript_marks=(('"trajectory":[{', '"observation":'),),
            sources=("github.com/SWE-agent/SWE-agent, 2026-11-21",),
        )

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Yield events of a trajectory. Raises OSError or HostConfigError."""
        trajectory = fields_of(read_json(path))
        telling = TranscriptReplay(self, os.path.splitext(os.path.basename(path))[0], new_id)
        entries = trajectory.get("trajectory")
        steps = [fields_of(step) for step in entries] if isinstance(entries, list) else []
        folder = next(filter(None, (text_of(_state(step).get("working_dir")) for step in steps)), "")
        telling.stand(at=written_at(path), cwd=folder)
        yield from telling.prompt(_issue(trajectory.get("history")))
        for number, step in enumerate(steps):
            telling.stand(cwd=text_of(_state(step).get("working_dir")))
            yield from telling.reply(text_of(step.get("thought")))
            yield from _action(telling, step, f"step-{number}")


def _state(step: Mapping[str, Any]) -> Mapping[str, Any]:
    state = step.get("state")
    return parse_object(state) if isinstance(state, str) else fields_of(state)


def _issue(history: object) -> str:
    """Return the task from the first user message that is no demonstration."""
    for message in map(fields_of, history if isinstance(history, list) else ()):
        text = "\n".join(text_of(block.get("text")) for block in blocks_of(message.get("content")))
        if message.get("role") == "user" and DEMONSTRATION not in text and not message.get("is_demo"):
            for mark in ISSUE:
                text = text.partition(mark)[2] or text
            for mark in AFTER_ISSUE:
                text = text.partition(mark)[0]
            return text.strip()
    return ""


def _action(telling: TranscriptReplay, step: Mapping[str, Any], use: str) -> Iterator[Event]:
    action, seen = text_of(step.get("action")).strip(), text_of(step.get("observation"))
    tool, arguments = _edit(action, text_of(_state(step).get("open_file")))
    if tool:
        error = seen if any(mark in seen for mark in NOT_DONE) else ""
        yield from telling.call(tool, arguments, {}, use, error)
    elif action and action not in ("submit", "exit_cost", "exit_format"):
        yield from telling.call("Bash", {"command": action}, {"stdout": seen, **UNANSWERED}, use)


def _edit(action: str, opened: str) -> tuple[str, dict[str, str]]:
    """Return the action as an edit by Claude Code's names; an empty name for another action."""
    name, _, rest = action.partition(" ")
    if name == "edit" and END_OF_EDIT in action and opened not in ("", "n/a"):
        return "Edit", {"file_path": opened, "new_string": action.partition("\n")[2].rpartition(END_OF_EDIT)[0]}
    if name == "create" and "\n" not in rest:
        return "Write", {"file_path": rest.strip(), "content": ""}
    if name != EDITOR:
        return "", {}
    try:
        command, path, *options = shlex.split(rest)
    except ValueError:
        return "", {}
    arguments = dict(zip(options[::2], options[1::2], strict=False))
    if command == "create":
        return "Write", {"file_path": path, "content": arguments.get("--file_text", "")}
    if command in ("str_replace", "insert"):
        old = arguments.get("--old_str", "")
        return "Edit", {"file_path": path, "old_string": old, "new_string": arguments.get("--new_str", "")}
    return ("Read", {"file_path": path}) if command == "view" else ("", {})
