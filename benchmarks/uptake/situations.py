"""What a session's agent knew at one point, in words that a reader can answer: prompts, the last events, the question.

A reader gets the same situation under every condition; only what memory told before it differs.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.replay.catalog import Need

LAST_PROMPTS, PROMPT_LIMIT = 4, 900
"""Prompts of the user that a situation quotes besides the first, and characters of each."""
LAST_EVENTS, EVENT_LIMIT = 14, 700
"""Events before the point that a situation quotes, and characters of each."""


@dataclass(frozen=True)
class Happening:
    """One thing of a transcript: its line (from 0), what it is, and its words."""

    line: int
    what: str
    text: str


def happenings(transcript: str) -> Iterator[Happening]:
    """What was said, run and opened in a session, in order; sub-agents' lines are left out."""
    for number, line in enumerate(transcript.splitlines()):
        try:
            row = json.loads(line)
        except ValueError:
            continue
        if not isinstance(row, dict) or row.get("isSidechain"):
            continue
        content = (row.get("message") or {}).get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content or []
        for block in blocks:
            if isinstance(block, dict) and (known := _known(row.get("type"), block)):
                yield Happening(number, *known)


def _known(role: str | None, block: dict[str, Any]) -> tuple[str, str] | None:
    kind = block.get("type")
    if role == "user" and kind == "text" and not block["text"].startswith("<"):
        return "USER", block["text"]
    if role == "user" and kind == "tool_result" and block.get("is_error"):
        return "FAILED", str(block.get("content"))
    if role == "assistant" and kind == "text":
        return "YOU SAID", block["text"]
    if role == "assistant" and kind == "tool_use":
        given_input = block.get("input") or {}
        if "command" in given_input:
            return "RAN", str(given_input["command"])
        return ("FILE" if "file_path" in given_input else "TOOL"), json.dumps(given_input)
    return None


def before(need: Need, transcript: str) -> list[Happening]:
    """What had happened when the need came up: everything before its event, and a prompt at it."""
    return [
        happening
        for happening in happenings(transcript)
        if happening.line < need.event or (happening.line == need.event and happening.what == "USER")
    ]


def render(number: int, need: Need, past: list[Happening], notes: str) -> str:
    """The whole text for a reader; `notes` is what memory told, empty for nothing."""
    prompts = [happening.text for happening in past if happening.what == "USER"]
    quoted = (prompts[:1] if len(prompts) > LAST_PROMPTS else []) + prompts[-LAST_PROMPTS:]
    parts = [f"# Situation {number:02d} (you are the coding agent working in this repository)\n"]
    if notes:
        parts.append(notes.strip() + "\n")
    parts.append("## What the user said so far")
    parts += [f"- {text[:PROMPT_LIMIT].strip()}" for text in quoted]
    parts.append("\n## The last things that happened (oldest first)")
    parts += [f"[{happening.what}] {happening.text[:EVENT_LIMIT].strip()}" for happening in past[-LAST_EVENTS:]]
    parts.append(
        f"\n## Your move\n{hint(need)}Write what you do next, concretely: the commands you run (exact), the edits you"
        " make (which file, which function, what changes, what else you touch or check), what you tell the user. 4 to"
        " 10 lines.\n"
    )
    return "\n".join(parts)


def hint(need: Need) -> str:
    """What is about to happen, as far as a session knows it itself."""
    match need.moment:
        case "prompt":
            return "The user has just spoken (last USER line). "
        case "before_file":
            return f"You are about to work on the file {need.file}. "
        case "before_command":
            return f"You are about to run a command like: {need.command} "
        case "after_failure":
            return "Something has just failed. "
    return ""
