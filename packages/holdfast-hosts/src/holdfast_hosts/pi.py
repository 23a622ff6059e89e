"""Reads sessions of pi, the coding agent: `~/.pi/agent/sessions/<project>/*.jsonl`.

Source: sessions in the public repository badlogic/pi-mono; 2026-11-21.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from holdfast.domain.event import Event
from holdfast.hosts.sdk.files import find_files, instant, parse_line
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.replay import UNANSWERED, TranscriptReplay, blocks_of, failure
from holdfast.hosts.sdk.toolcalls import response_text
from holdfast.ports.host import Host, HostProfile
from holdfast_hosts._recorded import Recorded

TOOLS = {
    "bash": "Bash", "read": "Read", "edit": "Edit", "write": "Write", "grep": "Grep", "find": "Glob", "ls": "LS",
}  # fmt: skip
FIELDS = (("file_path", "path"), ("old_string", "oldText"), ("new_string", "newText"))


def make(options: Mapping[str, str]) -> Host:
    """Return the adapter; it has no options."""
    return Pi()


class Pi(Recorded):
    """The adapter for pi; implements `ports.host.Host`."""

    name = "pi"
    folders = (".pi",)

    @property
    def profile(self) -> HostProfile:
        """Where its sessions are."""
        return HostProfile(
            title="pi",
            transcripts="~/.pi/agent/sessions",
            transcript_files=(".pi/agent/sessions/*.jsonl",),
            transcript_marks=(('{"type":"session",', '"cwd":"'),),
            sources=("sessions in github.com/badlogic/pi-mono, 2026-11-21",),
        )

    def find_transcripts(self, home: str) -> Sequence[str]:
        """Return sessions of all projects."""
        return find_files(os.path.join(home, ".pi", "agent", "sessions"), (".jsonl",))

    def translate(self, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the call with Claude Code's names."""
        arguments = dict(fields_of(payload.get("tool_input")))
        arguments |= {name: arguments[own] for name, own in FIELDS if own in arguments}
        return {**payload, "tool_name": TOOLS.get(payload["tool_name"], payload["tool_name"]), "tool_input": arguments}

    def parse_transcript(self, lines: Iterable[str], session: str, new_id: Callable[[], str]) -> Iterator[Event]:
        """Yield events of a session's lines."""
        telling = TranscriptReplay(self, session, new_id)
        for line in lines:
            entry = parse_line(line)
            telling.stand(at=instant(entry.get("timestamp")))
            if entry.get("type") == "session":
                telling.stand(session=text_of(entry.get("id")), cwd=text_of(entry.get("cwd")))
            elif entry.get("type") == "compaction":
                yield from telling.compacted(text_of(entry.get("summary")))
            elif entry.get("type") == "message":
                yield from _message(telling, fields_of(entry.get("message")))


def _message(telling: TranscriptReplay, message: Mapping[str, Any]) -> Iterator[Event]:
    role, content = message.get("role"), response_text(message.get("content"))
    if role == "user":
        yield from telling.prompt(content)
    elif role == "assistant":
        telling.stand(model=text_of(message.get("model")))
        yield from telling.reply(content)
        for block in blocks_of(message.get("content")):
            if block.get("type") == "toolCall":
                telling.open(text_of(block.get("id")), text_of(block.get("name")), block.get("arguments"))
    elif role == "toolResult":
        error = (content or "failed") if message.get("isError") is True else ""
        yield from telling.close(
            text_of(message.get("toolCallId")), {"stdout": content, "content": content}, _coded(error)
        )
    elif role == "bashExecution":
        code, output = message.get("exitCode"), text_of(message.get("output"))
        response = {"stdout": output, **({} if isinstance(code, int) else UNANSWERED)}
        yield from telling.call(
            "bash", {"command": text_of(message.get("command"))}, response, "", failure(code, output)
        )


def _coded(error: str) -> str:
    """Return the error, with the exit code from its last line put first."""
    output, mark, code = error.rpartition("Command exited with code ")
    return failure(int(code), output.rstrip()) if mark and code.strip().isdecimal() else error
