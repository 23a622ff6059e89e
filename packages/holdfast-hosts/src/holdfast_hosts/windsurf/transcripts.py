"""Turns Windsurf's transcripts into events: `~/.windsurf/transcripts/<trajectory>.jsonl`.

Windsurf writes them, the newest 100, if a hook `post_cascade_response_with_transcript` is set up. A step is `{status,
type, <type>: {...}}`. There are neither times nor the folder, so the first file's folder is used. Sources:
docs.windsurf.com on Cascade hooks, others' confirmed readings; 2026-11-21. Not run here.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from holdfast.domain.event import Event
from holdfast.hosts.sdk.adapter import Adapter
from holdfast.hosts.sdk.files import find_files, instant, path_of_uri, read_lines, written_at
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay, as_it_is, failure

PATHS = ("path", "file_path", "absolute_path", "absolute_path_uri", "file_uri", "cwd")


def find(host: Adapter, home: str) -> list[str]:
    """Return the transcripts that Windsurf kept."""
    return find_files(os.path.join(home, ".windsurf", "transcripts"), (".jsonl",))


def read(host: Adapter, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
    """Yield events of a trajectory. Raises OSError."""
    telling = TranscriptReplay(host, os.path.basename(path).removesuffix(".jsonl"), new_id, as_it_is)
    folders = (os.path.dirname(file) for entry in read_lines(path) if (file := _path(_about(entry))))
    telling.stand(at=written_at(path), cwd=next(folders, ""))
    for entry in read_lines(path):
        telling.stand(at=instant(entry.get("timestamp")))
        yield from _step(telling, text_of(entry.get("type")), _about(entry), entry.get("status"))


def _about(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    return fields_of(entry.get(text_of(entry.get("type"))))


def _path(about: Mapping[str, Any]) -> str:
    return path_of_uri(next((text_of(about[name]) for name in PATHS if text_of(about.get(name))), ""))


def _step(telling: TranscriptReplay, kind: str, about: Mapping[str, Any], status: object) -> Iterator[Event]:
    if kind == "user_input":
        yield from telling.prompt(text_of(about.get("user_response")))
    elif kind == "planner_response":
        yield from telling.reply(text_of(about.get("response")))
    elif kind == "code_action":
        arguments = {"file_path": _path(about), "content": text_of(about.get("new_content"))}
        response = {"originalFile": text_of(about.get("old_content"))}
        yield from telling.call("Write", arguments, response) if arguments["file_path"] else ()
    elif kind == "view_file":
        yield from telling.call("Read", {"file_path": _path(about)}, {})
    elif kind == "run_command":
        yield from _command(telling, about, status)


def _command(telling: TranscriptReplay, about: Mapping[str, Any], status: object) -> Iterator[Event]:
    command = text_of(about.get("command_line")) or text_of(about.get("command"))
    output = text_of(about.get("output")) or text_of(about.get("combined_output"))
    code = about.get("exit_code")
    response = {"stdout": output, **({} if isinstance(code, int) else UNANSWERED)}
    error = failure(code, output) or (output or "failed" if status == "error" else "")
    if command:
        yield from telling.call("Bash", {"command": command}, response, "", error)
