"""Turns Junie's sessions into events: `~/.junie/sessions/<id>/events.jsonl`.

A step is written again under its id whenever it changes; the last form counts. Sources: others' measured notes on Junie
3110.7 and their readers' recordings; 2026-11-21.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from holdfast.domain.event import Event
from holdfast.hosts.sdk.files import find_files, instant, read_lines, written_at
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay, failure
from holdfast_hosts.junie import Junie

STEPS_LIMIT = 100_000
"""Steps of one session that are kept."""


def find(host: Junie, home: str) -> list[str]:
    """Return sessions."""
    return find_files(os.path.join(host.root(home), "sessions"), ("/events.jsonl",))


def read(host: Junie, path: str, new_id: Callable[[], str]) -> Iterator[Event]:
    """Yield events of a session. Raises OSError."""
    folder = os.path.dirname(path)
    session = os.path.basename(folder)
    telling = TranscriptReplay(host, session, new_id)
    telling.stand(at=written_at(path), cwd=_folder(os.path.join(os.path.dirname(folder), "index.jsonl"), session))
    for entry in _folded(path):
        telling.stand(at=instant(entry.get("timestampMs")))
        if entry.get("kind") == "UserPromptEvent":
            yield from telling.prompt(text_of(entry.get("prompt")))
        else:
            yield from _step(telling, _agent(entry))


def _folded(path: str) -> list[Mapping[str, Any]]:
    """Return the lines, with those of one step merged at its first line."""
    steps: dict[str, dict[str, Any]] = {}
    for number, entry in enumerate(read_lines(path)):
        step = text_of(_agent(entry).get("stepId")) or f"#{number}"
        if step in steps:
            agent = {**_agent(steps[step]), **_agent(entry)}
            steps[step] |= {"timestampMs": entry.get("timestampMs"), "event": {"agentEvent": agent}}
        elif len(steps) < STEPS_LIMIT:
            steps[step] = dict(entry)
    return list(steps.values())


def _agent(entry: Mapping[str, Any]) -> Mapping[str, Any]:
    return fields_of(fields_of(entry.get("event")).get("agentEvent"))


def _step(telling: TranscriptReplay, step: Mapping[str, Any]) -> Iterator[Event]:
    kind = text_of(step.get("kind")).rpartition(".")[2]
    if kind == "CurrentDirectoryUpdatedEvent":
        telling.stand(cwd="" if telling.cwd else text_of(step.get("currentDirectory")))
    elif kind == "TerminalBlockUpdatedEvent" and step.get("command"):
        yield from _command(telling, step)
    elif kind == "ViewFilesBlockUpdatedEvent":
        for file in _objects(step.get("files")):
            yield from telling.call("Read", {"file_path": text_of(file.get("relativePath"))}, {})
    elif kind == "FileChangesBlockUpdatedEvent":
        for change in _objects(step.get("changes")):
            yield from _changed(telling, change)
    elif kind == "MarkdownBlockUpdatedEvent":
        yield from telling.reply(text_of(step.get("text")) or text_of(step.get("markdown")))
    elif kind == "ResultBlockUpdatedEvent":
        yield from telling.reply(text_of(step.get("result")) or text_of(step.get("text")))


def _command(telling: TranscriptReplay, step: Mapping[str, Any]) -> Iterator[Event]:
    output = text_of(step.get("output")) or text_of(step.get("details"))
    code = step.get("exitCode")
    error = failure(code, output) or (output or "failed" if step.get("status") == "FAILED" else "")
    response = {"stdout": output, **({} if isinstance(code, int) else UNANSWERED)}
    yield from telling.call("Bash", {"command": text_of(step.get("command"))}, response, "", error)


def _changed(telling: TranscriptReplay, change: Mapping[str, Any]) -> Iterator[Event]:
    path = next((text_of(change[name]) for name in ("afterRelativePath", "relativePath", "beforeRelativePath", "path")
                 if change.get(name)), "")  # fmt: skip
    arguments = {"file_path": path, "old_string": _content(change, "before"), "new_string": _content(change, "after")}
    if path:
        yield from telling.call("Edit", arguments, {})


def _content(change: Mapping[str, Any], when: str) -> str:
    content = change.get(f"{when}Content")
    return text_of(content) or text_of(fields_of(content).get("text"))


def _folder(index: str, session: str) -> str:
    """Return the project's folder from the list of sessions."""
    try:
        entries = [entry for entry in read_lines(index) if entry.get("sessionId") == session]
    except OSError:
        return ""
    return text_of(entries[-1].get("projectDir")) if entries else ""


def _objects(value: object) -> list[Mapping[str, Any]]:
    return [fields_of(element) for element in value] if isinstance(value, list) else []
