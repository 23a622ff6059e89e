"""Hook payloads in Claude Code's shape to calls, and briefings to its form of output. Lean: every hook imports it.

Other hosts share the shape, or their adapters translate into it: names of hooks, of fields and of tools. Missing and
odd-typed fields are taken as empty; only a payload without a hook's name or session is refused.
"""

from __future__ import annotations

from holdfast.domain.hookcall import HookCall
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import InvalidValueError
from holdfast.hosts._shared.toolcalls import (
    EDIT_TOOLS,
    PATCH_TOOL,
    Source,
    call_failed,
    call_files,
    call_finished,
    clean,
    fields_of,
    minute_of,
    said,
    shorten,
    text_of,
)
from holdfast.text.speech import is_spoken

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import Any

    from holdfast.domain.briefing import Briefing

    Parser = Callable[[Source, Mapping[str, Any]], dict[str, Any]]

TAKES_CONTEXT = frozenset({
    "SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "SubagentStart",
})  # fmt: skip
"""The hooks we answer whose output may hold `additionalContext`. Stop takes it too, but it would go on working."""

CONTEXT_LIMIT = 9_500
"""Characters; above 10,000 Claude Code moves the text to a file and shows its beginning only, and others drop it."""

MACHINE_PROMPTS = frozenset({"system", "loop_wakeup", "schedule_wakeup", "poll_event"})
"""Values of a prompt's `source` when no person wrote it."""

LINES_READ = 2_000
"""Lines that a read brings when it only says where to begin."""

EXCERPTS = 20
"""Edits of one call that are looked at before they are made."""

COMPACTION_SPAN = 10
"""Minutes within which the hook before a compaction and the transcript's mark after it are one event."""


def parse_hook(host: str, payload: Mapping[str, Any], at: datetime, new_id: Callable[[], str]) -> HookCall:
    """The call a payload tells of; an unknown hook gives one without events or moment."""
    held = fields_of(payload)
    name, session = text_of(held.get("hook_event_name")), text_of(held.get("session_id"))
    if not name or not session:
        raise InvalidValueError(
            f"not a hook payload of {host}: it has no hook_event_name or session_id",
            hint=f"this command is started by the host; `holdfast setup {host}` registers it",
        )
    cwd, agent = text_of(held.get("cwd")), text_of(held.get("agent_id"))
    source = Source(host, session, at, new_id)
    source.stamp.update(cwd=cwd, agent=agent)
    source.occasion = text_of(held.get("timestamp"))
    parser = PARSERS.get(name)
    told = parser(source, held) if parser else {}
    if told.get("ends_turn") or told.get("ends_session"):
        told["transcript"] = text_of(held.get("transcript_path"))
    return HookCall(host=host, name=name, session=SessionId(session), cwd=cwd, agent=agent, **told)


def render_nested(call: HookCall, briefing: Briefing, takes: frozenset[str] = TAKES_CONTEXT) -> str:
    """The hook's whole stdout: `additionalContext` for the hooks that take it, in an object that names the hook."""
    if not briefing.text or call.name not in takes:
        return "{}"
    from holdfast.lean.texts import dumps

    told = {"hookEventName": call.name, "additionalContext": within_limit(briefing.text)}
    return dumps({"hookSpecificOutput": told})


def compaction_key(at: datetime) -> str:
    """The key of a compaction, which no id connects from hook to transcript."""
    return f"compaction:{minute_of(at, COMPACTION_SPAN)}"


def start_key(how: str, at: datetime) -> str:
    """The key of a session's start: there is one start-up, but many resumptions."""
    return "start:startup" if how == "startup" else f"start:{how}:{minute_of(at)}"


def within_limit(text: str, limit: int = CONTEXT_LIMIT) -> str:
    """The whole lines of a briefing that fit, and its closing mark."""
    if len(text) <= limit:
        return text
    closing = text.rstrip().rpartition("\n")[2] if text.rstrip().endswith(">") else ""
    return text[: text.rfind("\n", 0, limit - len(closing)) + 1 or limit] + closing


def _session_start(source: Source, held: Mapping[str, Any]) -> dict[str, Any]:
    how = text_of(held.get("source")) or "startup"
    event = source.event("session_start", start_key(how, source.at), how, model=text_of(held.get("model")))
    return {"events": (event,), "moment": "after_compaction" if how == "compact" else "session_start"}


def _prompt(source: Source, held: Mapping[str, Any]) -> dict[str, Any]:
    prompt = clean(text_of(held.get("prompt")))
    if not prompt or not is_spoken(shorten(prompt)) or text_of(held.get("source")) in MACHINE_PROMPTS:
        return {}
    return {"events": tuple(said(source, "prompt", prompt, trust="person")), "moment": "prompt", "prompt": prompt}


def _before_tool(source: Source, held: Mapping[str, Any]) -> dict[str, Any]:
    tool, given = text_of(held.get("tool_name")), fields_of(held.get("tool_input"))
    if tool == "Bash":
        command = text_of(given.get("command"))
        return {"moment": "before_command", "command": command} if command else {}
    paths = call_files(given) if tool in EDIT_TOOLS or tool in ("Read", PATCH_TOOL) else ()
    if not paths:
        return {}
    told: dict[str, Any] = {"moment": "before_file", "paths": paths}
    return told | (
        _lines_read(given)
        if tool == "Read"
        else {"edits": True, "excerpts": _replaced(given), "writes": _written(given)}
    )


def _replaced(given: Mapping[str, Any]) -> tuple[str, ...]:
    """The texts an edit is about to replace."""
    if "patch" in given:
        from holdfast.hosts._shared.patch import parse_patch

        return tuple(part.old for part in parse_patch(text_of(given["patch"])) if part.old)[:1]
    edits = given.get("edits")
    every = [given, *(fields_of(edit) for edit in edits[:EXCERPTS])] if isinstance(edits, list) else [given]
    return tuple(old for edit in every if (old := text_of(edit.get("old_string"))))


def _written(given: Mapping[str, Any]) -> tuple[str, ...]:
    """The texts an edit is about to write."""
    if "patch" in given:
        from holdfast.hosts._shared.patch import parse_patch

        return tuple(part.new for part in parse_patch(text_of(given["patch"])) if part.new)[:EXCERPTS]
    edits = given.get("edits")
    every = [given, *(fields_of(edit) for edit in edits[:EXCERPTS])] if isinstance(edits, list) else [given]
    found = (text_of(edit.get(name)) for edit in every for name in ("new_string", "content", "new_source"))
    return tuple(filter(None, found))


def _lines_read(given: Mapping[str, Any]) -> dict[str, Any]:
    """The lines of a file that are asked for; nothing for all of them."""
    first, count = given.get("offset") or 1, given.get("limit") or (LINES_READ if given.get("offset") else 0)
    if not (isinstance(first, int) and isinstance(count, int)) or first < 1 or count < 1:
        return {}
    return {"lines": (first, first + count - 1)}


def _after_tool(source: Source, held: Mapping[str, Any]) -> dict[str, Any]:
    tool, given, use = _call(held)
    return {"events": tuple(call_finished(source, tool, given, held.get("tool_response"), use))}


def _after_failure(source: Source, held: Mapping[str, Any]) -> dict[str, Any]:
    tool, given, use = _call(held)
    if held.get("is_interrupt") is True:
        # The user stopped it: a command ran for a while, and neither worked nor failed; an edit was not made.
        return {
            "events": tuple(call_finished(source, tool, given, {"interrupted": True}, use)) if tool == "Bash" else ()
        }
    events, error = call_failed(source, tool, given, text_of(held.get("error")), use)
    told: dict[str, Any] = {"events": tuple(events), "paths": call_files(given)}
    if error:
        told.update(moment="after_failure", error=error, command=text_of(given.get("command")))
    return told


def _call(held: Mapping[str, Any]) -> tuple[str, Mapping[str, Any], str]:
    return text_of(held.get("tool_name")), fields_of(held.get("tool_input")), text_of(held.get("tool_use_id"))


def _before_compaction(source: Source, held: Mapping[str, Any]) -> dict[str, Any]:
    event = source.event("compaction", compaction_key(source.at), text_of(held.get("custom_instructions")))
    return {"events": (event,), "ends_turn": True}


def _stop(source: Source, held: Mapping[str, Any]) -> dict[str, Any]:
    return {"events": tuple(said(source, "reply", text_of(held.get("last_assistant_message")))), "ends_turn": True}


def _subagent_start(source: Source, held: Mapping[str, Any]) -> dict[str, Any]:
    prompt = clean(text_of(held.get("prompt")))
    # Claude Code does not say what the sub-agent is asked; it is told what a session is told at its start.
    return {"moment": "prompt", "prompt": prompt} if prompt else {"moment": "session_start"}


def _subagent_stop(source: Source, held: Mapping[str, Any]) -> dict[str, Any]:
    return {"events": tuple(said(source, "reply", text_of(held.get("last_assistant_message"))))}


def _session_end(source: Source, held: Mapping[str, Any]) -> dict[str, Any]:
    reason = text_of(held.get("reason"))
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
    "SessionEnd": _session_end,
}
