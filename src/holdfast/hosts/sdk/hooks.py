"""Parses hook payloads in Claude Code's shape into calls, and renders briefings in its output form.

Other hosts share the shape, or their adapters translate into it: names of hooks, fields and tools. Missing and
odd-typed fields count as empty; only a payload without a hook's name or session is refused.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from holdfast.domain.briefing import Briefing
from holdfast.domain.hookcall import HookCall
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import InvalidValueError
from holdfast.hosts.sdk.payloads import (
    EDIT_TOOLS,
    PATCH_TOOL,
    EventSource,
    call_files,
    clean,
    fields_of,
    looks_up,
    minute_of,
    parse_patch,
    said,
    shorten,
    text_of,
)
from holdfast.hosts.sdk.programs import OUR_MARKS, hook_words
from holdfast.hosts.sdk.toolcalls import call_failed, call_finished
from holdfast.lean.texts import dumps
from holdfast.ports.host import OwnFile
from holdfast.text.shell import searched_pattern
from holdfast.text.speech import is_spoken

Parser = Callable[[EventSource, Mapping[str, Any]], dict[str, Any]]


TAKES_CONTEXT = frozenset({
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStart",
})  # fmt: skip
"""Our hooks whose output may hold `additionalContext` in most hosts."""
BEFORE_END = frozenset({"Stop", "SubagentStop"})
"""Hooks of an agent that is about to end; what they return makes it go on."""

CONTEXT_LIMIT = 9_500
"""Characters; above 10,000 Claude Code moves the text to a file and shows its beginning only, and others drop it."""

MACHINE_PROMPTS = frozenset({"system", "loop_wakeup", "schedule_wakeup", "poll_event"})
"""Values of a prompt's `source` if no person wrote it."""

LINES_READ = 2_000
"""Lines that a read brings when it only says where to begin."""

EXCERPTS = 20
"""Edits of one call that are looked at before they are made."""

COMPACTION_SPAN = 10
"""Minutes within which the hook before a compaction and the transcript's mark after it are one event."""

PLACEHOLDER = '["@PROGRAM@"]'


def parse_hook(host: str, payload: Mapping[str, Any], at: datetime, new_id: Callable[[], str]) -> HookCall:
    """Parse the payload into a call; an unknown hook gives a call without events or moment."""
    fields = fields_of(payload)
    name, session = text_of(fields.get("hook_event_name")), text_of(fields.get("session_id"))
    if not name or not session:
        raise InvalidValueError(
            f"not a hook payload of {host}: it has no hook_event_name or session_id",
            hint=f"this command is started by the host; `holdfast setup {host}` registers it",
        )
    cwd, agent = text_of(fields.get("cwd")), text_of(fields.get("agent_id"))
    source = EventSource(host, session, at, new_id)
    source.stamp.update(cwd=cwd, agent=agent)
    source.occasion = text_of(fields.get("timestamp"))
    parser = PARSERS.get(name)
    call_fields = parser(source, fields) if parser else {}
    if call_fields.get("ends_turn") or call_fields.get("ends_session"):
        call_fields["transcript"] = text_of(fields.get("transcript_path"))
    return HookCall(host=host, name=name, session=SessionId(session), cwd=cwd, agent=agent, **call_fields)


def render_nested(call: HookCall, briefing: Briefing, takes: frozenset[str] = TAKES_CONTEXT) -> str:
    """Return the hook's whole stdout: `additionalContext`, if the hook takes it, in an object that names the hook."""
    if not briefing.text or call.name not in takes:
        return "{}"
    output = {"hookEventName": call.name, "additionalContext": within_limit(briefing.text)}
    return dumps({"hookSpecificOutput": output})


def compaction_key(at: datetime) -> str:
    """Return the key of a compaction, for which hook and transcript share no id."""
    return f"compaction:{minute_of(at, COMPACTION_SPAN)}"


def start_key(how: str, at: datetime) -> str:
    """Return the key of a session's start: there is one start-up, but there may be many resumptions."""
    return "start:startup" if how == "startup" else f"start:{how}:{minute_of(at)}"


def within_limit(text: str, limit: int = CONTEXT_LIMIT) -> str:
    """Return as many whole lines of a briefing as fit, and its closing mark."""
    if len(text) <= limit:
        return text
    closing = text.rstrip().rpartition("\n")[2] if text.rstrip().endswith(">") else ""
    return text[: text.rfind("\n", 0, limit - len(closing)) + 1 or limit] + closing


def _session_start(source: EventSource, fields: Mapping[str, Any]) -> dict[str, Any]:
    how = text_of(fields.get("source")) or "startup"
    event = source.event("session_start", start_key(how, source.at), how, model=text_of(fields.get("model")))
    return {"events": (event,), "moment": "after_compaction" if how == "compact" else "session_start"}


def _prompt(source: EventSource, fields: Mapping[str, Any]) -> dict[str, Any]:
    prompt = clean(text_of(fields.get("prompt")))
    if not prompt or not is_spoken(shorten(prompt)) or text_of(fields.get("source")) in MACHINE_PROMPTS:
        return {}
    return {"events": tuple(said(source, "prompt", prompt, trust="person")), "moment": "prompt", "prompt": prompt}


def _before_tool(source: EventSource, fields: Mapping[str, Any]) -> dict[str, Any]:
    tool, arguments = text_of(fields.get("tool_name")), fields_of(fields.get("tool_input"))
    if tool == "Bash":
        command = text_of(arguments.get("command"))
        search = {"search": searched_pattern(command)}
        return {"moment": "before_command", "command": command, **search} if command else {}
    if tool not in EDIT_TOOLS and tool != PATCH_TOOL:
        call_fields = looks_up(tool, arguments)
        return call_fields | _lines_read(arguments) if call_fields and tool == "Read" else call_fields
    paths = call_files(arguments)
    edit = {"edits": True, "excerpts": _replaced(arguments), "writes": _written(arguments)}
    return {"moment": "before_file", "paths": paths, **edit} if paths else {}


def _replaced(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the texts that an edit is about to replace."""
    if "patch" in arguments:
        return tuple(part.old for part in parse_patch(text_of(arguments["patch"])) if part.old)[:1]
    edits = arguments.get("edits")
    every = [arguments, *(fields_of(edit) for edit in edits[:EXCERPTS])] if isinstance(edits, list) else [arguments]
    return tuple(old for edit in every if (old := text_of(edit.get("old_string"))))


def _written(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the texts that an edit is about to write."""
    if "patch" in arguments:
        return tuple(part.new for part in parse_patch(text_of(arguments["patch"])) if part.new)[:EXCERPTS]
    edits = arguments.get("edits")
    every = [arguments, *(fields_of(edit) for edit in edits[:EXCERPTS])] if isinstance(edits, list) else [arguments]
    texts = (text_of(edit.get(name)) for edit in every for name in ("new_string", "content", "new_source"))
    return tuple(filter(None, texts))


def _lines_read(arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the requested lines of a file; nothing if all are requested."""
    first = arguments.get("offset") or 1
    count = arguments.get("limit") or (LINES_READ if arguments.get("offset") else 0)
    if not (isinstance(first, int) and isinstance(count, int)) or first < 1 or count < 1:
        return {}
    return {"lines": (first, first + count - 1)}


def _after_tool(source: EventSource, fields: Mapping[str, Any]) -> dict[str, Any]:
    tool, arguments, use = _call(fields)
    return {"events": tuple(call_finished(source, tool, arguments, fields.get("tool_response"), use))}


def _after_failure(source: EventSource, fields: Mapping[str, Any]) -> dict[str, Any]:
    tool, arguments, use = _call(fields)
    if fields.get("is_interrupt") is True:
        # The user stopped it: a command ran for a while, with no known outcome; an edit was not made.
        interrupted = call_finished(source, tool, arguments, {"interrupted": True}, use) if tool == "Bash" else ()
        return {"events": tuple(interrupted)}
    events, error = call_failed(source, tool, arguments, text_of(fields.get("error")), use)
    call_fields: dict[str, Any] = {"events": tuple(events), "paths": call_files(arguments)}
    if error:
        call_fields.update(moment="after_failure", error=error, command=text_of(arguments.get("command")))
    return call_fields


def _call(fields: Mapping[str, Any]) -> tuple[str, Mapping[str, Any], str]:
    return text_of(fields.get("tool_name")), fields_of(fields.get("tool_input")), text_of(fields.get("tool_use_id"))


def _before_compaction(source: EventSource, fields: Mapping[str, Any]) -> dict[str, Any]:
    event = source.event("compaction", compaction_key(source.at), text_of(fields.get("custom_instructions")))
    return {"events": (event,), "ends_turn": True}


def _stop(source: EventSource, fields: Mapping[str, Any]) -> dict[str, Any]:
    return {**_subagent_stop(source, fields), "ends_turn": True}


def _subagent_start(source: EventSource, fields: Mapping[str, Any]) -> dict[str, Any]:
    prompt = clean(text_of(fields.get("prompt")))
    # Claude Code does not report the sub-agent's prompt, so it gets what a session gets at its start.
    return {"moment": "prompt", "prompt": prompt} if prompt else {"moment": "session_start"}


def _subagent_stop(source: EventSource, fields: Mapping[str, Any]) -> dict[str, Any]:
    events = tuple(said(source, "reply", text_of(fields.get("last_assistant_message"))))
    # An agent that goes on because of a hook's answer must be let go the second time.
    return {"events": events} if fields.get("stop_hook_active") else {"events": events, "moment": "before_end"}


def _rules_read(source: EventSource, fields: Mapping[str, Any]) -> dict[str, Any]:
    path = text_of(fields.get("file_path"))
    return {"rules_read": (path,)} if path else {}


def _session_end(source: EventSource, fields: Mapping[str, Any]) -> dict[str, Any]:
    reason = text_of(fields.get("reason"))
    event = source.event("session_end", f"end:{minute_of(source.at)}", reason)
    return {"events": (event,), "ends_session": True}


PARSERS: dict[str, Parser] = {
    "SessionStart": _session_start,
    "UserPromptSubmit": _prompt,
    "PreToolUse": _before_tool,
    "PostToolUse": _after_tool,
    "PostToolUseFailure": _after_failure,
    "PreCompact": _before_compaction,
    "Stop": _stop,
    "SubagentStart": _subagent_start,
    "SubagentStop": _subagent_stop,
    "InstructionsLoaded": _rules_read,
    "SessionEnd": _session_end,
}


def render_context(briefing: Briefing) -> str:
    """Return `{"context": text}`, or `{}` if there is nothing to say."""
    if not briefing.text:
        return "{}"
    return dumps({"context": within_limit(briefing.text)})


def plugin_file(file: str, host: str, module: str, command: Sequence[str]) -> OwnFile:
    """Return the plug-in beside that host's module, after the shared half, with our hook program's words inserted."""
    words = json.dumps(hook_words(command, host), ensure_ascii=False)
    shared = os.path.join(os.path.dirname(__file__), "ask.js")
    text = "".join(map(_read, (shared, os.path.join(os.path.dirname(module), "plugin.js"))))
    return OwnFile(file=file, text=text.replace(PLACEHOLDER, words), **OUR_MARKS)


def _read(path: str) -> str:
    with open(path, encoding="utf-8") as stream:
        return stream.read()
