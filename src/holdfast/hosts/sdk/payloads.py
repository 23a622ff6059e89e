"""Helps readers of payloads and transcripts: fields of any type, a person's words, patches, events with a stamp.

A patch has the form of `apply_patch`: `*** Begin Patch`, then for each file `*** Add File: p`, `*** Delete File: p` or
`*** Update File: p`, the last optionally followed by `*** Move to: q`, with lines that begin with a blank, `-` or `+`,
and `@@` between hunks. Source: the tool's grammar in the public repository openai/codex, seen 2026-11-21.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2b
from typing import Any

from holdfast.domain.event import TEXT_LIMIT, Event, spoken_prefix
from holdfast.domain.vocabulary import EventId, EventKind

EDIT_TOOLS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
SEARCH_TOOLS = frozenset({"Grep", "Glob"})
PATCH_TOOL = "apply_patch"
"""Edits several files at once; its argument `patch` is the text that `sdk.patch` reads."""
INJECTED = (
    ("<holdfast-memory", "</holdfast-memory>", True), ("<system-reminder>", "</system-reminder>", False),
    ("<hook_context", "</hook_context>", False), ("<system_reminder>", "</system_reminder>", False),
    ("<additional_context>", "</additional_context>", False),
)  # fmt: skip
"""Blocks that no person, agent or tool wrote: opening, closing, and whether an unclosed one runs to the end."""

CUT = "\n[... cut ...]\n"

PATCH_LIMIT = 200
"""Files of one patch that are looked at."""
_HEADS = ("*** Add File: ", "*** Update File: ", "*** Delete File: ")
WRAPPERS = ("user_query", "USER_REQUEST", "task", "user_input", "feedback", "user_message", "answer")
"""Tags whose content alone is the person's, if a text begins with one."""
AROUND = (
    "environment_details", "environment_context", "user_instructions", "INSTRUCTIONS", "recommended_plugins",
    "turn_aborted", "subagent_notification", "user_shell_command", "skill", "hook_context", "session_context",
    "system_reminder", "additional_context", "ADDITIONAL_METADATA", "USER_SETTINGS_CHANGE", "EPHEMERAL_MESSAGE",
    "timestamp", "attached_files", "open_and_recently_viewed_files", "user_info", "project_layout", "additional_data",
    "system_notification", "git_status", "agent_skills", "slash_command",
)  # fmt: skip
"""Tags whose content a program wrote, at a line's beginning."""
REQUEST_HEADS = ("## My request for Codex:", "# My request for Codex:")
"""Lines that separate an editor's additions from the person's words."""
NOT_WORDS = ("# AGENTS.md instructions", "[ERROR] You did not use a tool", "[TASK RESUMPTION]")
"""Openings of texts in a person's place that a program wrote completely."""


class EventSource:
    """Creates events with the session's stamp."""

    def __init__(self, host: str, session: str, at: datetime, new_id: Callable[[], str]) -> None:
        self.new_id = new_id
        self.at = at
        self.stamp: dict[str, Any] = {"host": host, "session": session}
        self.occasion = ""
        """Distinguishes equal calls if calls have no id: the host's own time of the call."""

    def event(self, kind: EventKind, key: str, text: str = "", **fields: Any) -> Event:
        """Return a new event with the stamp. Text that is too long is cut in the middle; its length is kept."""
        return Event(
            id=EventId(self.new_id()), kind=kind, key=key, at=self.at,
            text=shorten(text), text_length=len(text), **self.stamp, **fields,
        )  # fmt: skip


def text_of(value: object) -> str:
    """Return the value if it is a string, otherwise an empty string."""
    return value if isinstance(value, str) else ""


def fields_of(value: object) -> Mapping[str, Any]:
    """Return the value if it is an object, otherwise an empty one."""
    return value if isinstance(value, dict) else {}


def shorten(text: str, limit: int = TEXT_LIMIT) -> str:
    """Return at most `limit` characters: beginning and end, cut at white space so that no word (or key) is split."""
    if len(text) <= limit:
        return text
    half = (limit - len(CUT)) // 2
    head, tail = text[:half], text[-half:]
    head_end = max(head.rfind("\n", half - 400), head.rfind(" ", half - 400))
    tail_start = min((at for at in (tail.find("\n", 0, 400), tail.find(" ", 0, 400)) if at >= 0), default=0)
    return head[: head_end if head_end > 0 else half] + CUT + tail[tail_start:]


def clean(text: str) -> str:
    """Return the text without injected blocks, Holdfast's and the host's."""
    for opening, closing, to_end in INJECTED:
        start = text.find(opening)
        while start >= 0:
            end = text.find(closing, start)
            if end < 0 and not to_end:
                break
            text = text[:start] + (text[end + len(closing) :] if end >= 0 else "")
            start = text.find(opening, start)
    return text.strip()


def digest(text: str) -> str:
    """Return 16 hexadecimal characters that identify a text, regardless of its white space."""
    return blake2b(" ".join(text.split()).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def said(source: EventSource, kind: EventKind, text: str, **fields: Any) -> list[Event]:
    """Return the event of a prompt or a reply; none if only injected blocks remain."""
    words = clean(text)
    return [source.event(kind, spoken_prefix(kind) + digest(words), words, **fields)] if words else []


def minute_of(at: datetime, span: int = 1) -> str:
    """Return the time rounded down to `span` minutes, for keys of what has no id."""
    return f"{at.isoformat()[:14]}{at.minute // span * span:02d}"


def call_files(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the file on which a tool was called; for a patch all its files."""
    if "patch" in arguments:
        return tuple(part.path for part in parse_patch(text_of(arguments["patch"])))
    path = (
        text_of(arguments.get("file_path")) or text_of(arguments.get("notebook_path")) or text_of(arguments.get("path"))
    )
    return (path,) if path else ()


def looks_up(tool: str, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a call that reads a file or searches: its moment, its path and its pattern.

    Nothing for other tools, and for a read without a path or a search without a pattern.
    """
    paths = call_files(arguments)
    if tool == "Read":
        return {"moment": "before_file", "paths": paths} if paths else {}
    search = text_of(arguments.get("pattern")) if tool in SEARCH_TOOLS else ""
    return {"moment": "before_file", "paths": paths, "search": search} if search else {}


@dataclass(frozen=True, slots=True, kw_only=True)
class FilePatch:
    """What a patch does to one file: the removed and the added lines, each joined by line ends."""

    path: str
    old: str = ""
    new: str = ""


def parse_patch(text: str) -> list[FilePatch]:
    """Return one entry a file, in order; a moved file has its new path. Text that is no patch gives nothing."""
    patches: list[FilePatch] = []
    path, old, new = "", list[str](), list[str]()

    def close() -> None:
        if path and len(patches) < PATCH_LIMIT:
            patches.append(FilePatch(path=path, old="\n".join(old), new="\n".join(new)))

    for line in text.splitlines():
        head = next((line[len(mark) :].strip() for mark in _HEADS if line.startswith(mark)), "")
        if head:
            close()
            path, old, new = head, [], []
        elif line.startswith("*** Move to: "):
            path = line.removeprefix("*** Move to: ").strip()
        elif line.startswith("-"):
            old.append(line[1:])
        elif line.startswith("+"):
            new.append(line[1:])
    close()
    return patches


def persons_words(text: str) -> str:
    """Return the person's part of a text in the user's place; empty if there is none."""
    for head in REQUEST_HEADS:
        text = text.partition(head)[2] if head in text else text
    if text.lstrip().startswith(NOT_WORDS):
        return ""
    text = without_blocks(text, AROUND).strip()
    for tag in WRAPPERS:
        if text.startswith((f"<{tag}>", f"<{tag} ")):
            # Only the host's own wrapper is removed. A wrapper inside it is somebody's text.
            inside = text.partition(">")[2]
            return (inside.rpartition(f"</{tag}>")[0] or inside).strip()
    return text


def without_blocks(text: str, tags: tuple[str, ...]) -> str:
    """Return the text without `<tag ...>...</tag>` at the beginning of a line; an unclosed one stays."""
    if "<" not in text:
        return text
    for tag in tags:
        start = _opening(text, tag, 0)
        while start >= 0:
            closing = f"</{tag.partition(' ')[0]}>"
            end = text.find(closing, start)
            if end < 0:
                break
            text = text[:start] + text[end + len(closing) :]
            start = _opening(text, tag, start)
    return text


def _opening(text: str, tag: str, begin: int) -> int:
    """Return where the next opening tag is that only blanks precede in its line; -1 for none."""
    start = text.find(f"<{tag}", begin)
    while start >= 0:
        line = text[text.rfind("\n", 0, start) + 1 : start]
        if text[start + len(tag) + 1 : start + len(tag) + 2] in (">", " ", "\n") and not line.strip():
            return start
        start = text.find(f"<{tag}", start + 1)
    return -1
