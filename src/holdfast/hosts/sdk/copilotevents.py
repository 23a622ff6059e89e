"""What Copilot's programs share: where they read lessons, and how their events become ours.

The events are `events.jsonl` of the command line, and the transcripts of the VS Code extension.

Source: Copilot CLI 1.0.102 run with a mock model, and its `session-events.schema.json`; 2026-11-21.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from holdfast.domain.event import Event
from holdfast.hosts.sdk.files import instant, parse_line
from holdfast.hosts.sdk.payloads import fields_of, text_of
from holdfast.hosts.sdk.replay import TranscriptReplay, Translate, arguments_of
from holdfast.hosts.sdk.toolcalls import response_text
from holdfast.ports.host import RulesTarget

RULES = (
    RulesTarget(
        file=".github/instructions/holdfast-{slug}.instructions.md",
        front_matter='---\napplyTo: "{globs}"\ndescription: "{description}"\n---\n',
        always='---\napplyTo: "**"\ndescription: "{description}"\n---\n',
    ),
    RulesTarget(file="AGENTS.md"),
)
"""Where Copilot's command line and its VS Code extension read lessons."""


def tell_events(telling: TranscriptReplay, lines: Iterable[str]) -> Iterator[Event]:
    """Yield the events of a session's lines."""
    for line in lines:
        entry = parse_line(line)
        telling.stand(at=instant(entry.get("timestamp")))
        yield from _event(telling, text_of(entry.get("type")), fields_of(entry.get("data")))


def as_hook(translate: Translate) -> Callable[[Mapping[str, Any]], Mapping[str, Any]]:
    """Return a function that turns a call into the form of the command line's hooks and then translates it."""

    def translated(call: Mapping[str, Any]) -> Mapping[str, Any]:
        result = {"text_result_for_llm": call["error"] or response_text(call["tool_response"])}
        result["result_type"] = "failure" if call["error"] else "success"
        return translate({**call, "hook_event_name": "PostToolUse", "tool_result": result})

    return translated


def _event(telling: TranscriptReplay, kind: str, details: Mapping[str, Any]) -> Iterator[Event]:
    if kind in ("session.start", "session.resume", "session.context_changed"):
        _stand(telling, details)
    elif kind == "user.message":
        if details.get("source") in (None, "user", ""):
            yield from telling.prompt(text_of(details.get("content")))
    elif kind == "assistant.message":
        telling.stand(model=text_of(details.get("model")))
        yield from telling.reply(text_of(details.get("content")))
    elif kind == "tool.execution_start":
        telling.open(
            text_of(details.get("toolCallId")), text_of(details.get("toolName")), _given(details.get("arguments"))
        )
    elif kind == "tool.execution_complete":
        yield from _finished(telling, details)
    elif kind == "session.compaction_complete":
        yield from telling.compacted(text_of(details.get("summaryContent")))


def _stand(telling: TranscriptReplay, details: Mapping[str, Any]) -> None:
    about = fields_of(details.get("context")) or details
    telling.stand(
        session=text_of(details.get("sessionId")), cwd=text_of(about.get("cwd")), branch=text_of(about.get("branch")),
        model=text_of(details.get("selectedModel")),
    )  # fmt: skip


def _given(arguments: object) -> Mapping[str, Any]:
    """Return a call's arguments: the extension sends the object as JSON text; a patch is plain text."""
    return arguments_of(arguments) or ({"input": arguments} if isinstance(arguments, str) else {})


def _finished(telling: TranscriptReplay, details: Mapping[str, Any]) -> Iterator[Event]:
    """Yield the events of a result. Hooks get no id of a call, so its key rests on the minute here too."""
    tool, arguments = telling.take(text_of(details.get("toolCallId")))
    if not tool:
        return
    text = response_text(fields_of(details.get("result")))
    error = response_text(fields_of(details.get("error"))) or text or "failed"
    yield from telling.call(tool, arguments, text, "", "" if details.get("success") is not False else error)
