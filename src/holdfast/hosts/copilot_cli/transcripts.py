"""Turns Copilot CLI's sessions into events: `~/.copilot/session-state/<id>/events.jsonl`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator

from holdfast.domain.event import Event
from holdfast.hosts.copilot_cli import CopilotCli
from holdfast.hosts.sdk.copilotevents import as_hook, tell_events
from holdfast.hosts.sdk.files import find_files
from holdfast.hosts.sdk.replay import TranscriptReplay


def find(host: CopilotCli, home: str) -> list[str]:
    """Return sessions."""
    root = host.root(home)
    return find_files(os.path.join(root, "session-state"), ("/events.jsonl",))


def parse(host: CopilotCli, lines: Iterable[str], session: str, new_id: Callable[[], str]) -> Iterator[Event]:
    """Return the events of a session's lines; without its first line, the session has its folder's name."""
    folder = os.path.basename(os.path.dirname(getattr(lines, "path", "")))
    return tell_events(TranscriptReplay(host, folder or session, new_id, as_hook(host.translate)), lines)
