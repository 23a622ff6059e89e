"""Helps readers of payloads and transcripts: fields of any type, and events with a session's stamp.

Lean: every hook imports it. `toolcalls` turns tool calls into events.
"""

from __future__ import annotations

from _blake2 import blake2b
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from holdfast.domain.event import TEXT_LIMIT, Event, spoken_prefix
from holdfast.domain.vocabulary import EventId, EventKind
from holdfast.hosts.sdk.patch import parse_patch

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
