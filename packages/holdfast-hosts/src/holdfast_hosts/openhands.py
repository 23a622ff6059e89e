"""Reads OpenHands' trajectories: a JSON list of events, actions of the agent and their observations.

Folders are its sandbox's, so `--project` must name the project. Source: the public repository All-Hands-AI/OpenHands,
exported trajectories of version 0; 2026-11-21.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.domain.event import Event
from holdfast.hosts.sdk.files import find_files, instant, read_json, written_at
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay, failure
from holdfast.ports.host import Host, HostProfile
from holdfast_hosts._recorded import Recorded

SAID = frozenset({"message", "finish", "think"})
SANDBOX = "/workspace"


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return OpenHands()


class OpenHands(Recorded):
    """The adapter for OpenHands; implements `ports.host.Host`."""

    name = "openhands"
    folders = (".openhands",)

    @property
    def profile(self) -> HostProfile:
        """Where its trajectories are."""
        return HostProfile(
            title="OpenHands",
            transcripts="~/.openhands/trajectories, and exported ones: `holdfast backfill FILE --project DIR`",
            grows_by_lines=False,
            transcript_files=("trajectories/*.json", "*trajectory*.json"),
            transcript_marks=(('[{"id":', '"source":"user"', '"action":"message"'),),
            sources=("github.com/All-Hands-AI/OpenHands, 2026-11-21", "not run"),
        )

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return the trajectories in its folder."""
        return find_files(os.path.join(home, ".openhands", "trajectories"), (".json",))

    def read_transcript(self, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Yield events of a trajectory. Raises OSError or HostConfigError."""
        trajectory = read_json(path)
        events = fields_of(trajectory).get("history") or fields_of(trajectory).get("trajectory") or trajectory
        telling = TranscriptReplay(self, os.path.splitext(os.path.basename(path))[0], new_id)
        telling.stand(at=written_at(path), cwd=SANDBOX)
        for event in map(fields_of, events if isinstance(events, list) else ()):
            telling.stand(at=instant(event.get("timestamp")))
            yield from _event(telling, event)


def _event(telling: TranscriptReplay, event: Mapping[str, Any]) -> Iterator[Event]:
    action, args = text_of(event.get("action")), fields_of(event.get("args"))
    if action == "message" and event.get("source") == "user":
        yield from telling.prompt(text_of(args.get("content")) or text_of(event.get("message")))
    elif action in SAID:
        texts = (args.get(name) for name in ("content", "final_thought", "thought"))
        yield from telling.reply(next(filter(None, map(text_of, texts)), ""))
    elif action:
        yield from telling.reply(text_of(args.get("thought")))
        telling.open(str(event.get("id")), *_call(action, args))
    elif "observation" in event:
        yield from _seen(telling, event)


def _call(action: str, args: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Return the call by Claude Code's names."""
    path = {"file_path": text_of(args.get("path"))}
    if action in ("run", "run_ipython"):
        return "Bash", {"command": text_of(args.get("command")) or text_of(args.get("code"))}
    if action == "write" or (action == "edit" and args.get("command") == "create"):
        return "Write", {**path, "content": text_of(args.get("content")) or text_of(args.get("file_text"))}
    if action == "edit":
        new = text_of(args.get("new_str")) or text_of(args.get("content"))
        return "Edit", {**path, "old_string": text_of(args.get("old_str")), "new_string": new}
    return ("Read", path) if action == "read" else (action, dict(args))


def _seen(telling: TranscriptReplay, event: Mapping[str, Any]) -> Iterator[Event]:
    output, extras = text_of(event.get("content")), fields_of(event.get("extras"))
    code = fields_of(extras.get("metadata")).get("exit_code", extras.get("exit_code"))
    error = failure(code, output) or (output or "failed" if event.get("observation") == "error" else "")
    known = isinstance(code, int) and code >= 0
    response = {"stdout": output, "content": output, **({} if known else UNANSWERED)}
    yield from telling.close(str(event.get("cause")), response, error)
