"""What every reader of a host's payloads and transcripts needs: fields of any type, and events with a session's stamp.

Lean: every hook imports it. What a tool call becomes is in `toolcalls`.
"""

from __future__ import annotations

from holdfast.domain.event import TEXT_LIMIT, Event, spoken_prefix
from holdfast.domain.vocabulary import EventId

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from typing import Any

    from holdfast.domain.vocabulary import EventKind

EDIT_TOOLS = frozenset({"Edit", "Write", "MultiEdit", "NotebookEdit"})
PATCH_TOOL = "apply_patch"
"""Edits several files at once; its argument `patch` is the text that `_shared.patch` reads."""
INJECTED = (
    ("<holdfast-memory", "</holdfast-memory>", True), ("<system-reminder>", "</system-reminder>", False),
    ("<hook_context", "</hook_context>", False), ("<system_reminder>", "</system_reminder>", False),
    ("<additional_context>", "</additional_context>", False),
)  # fmt: skip
"""Blocks that no person, agent or tool wrote: opening, closing, and whether an unclosed one runs to the end."""

CUT = "\n[... cut ...]\n"


class Source:
    """Where events come from: makes them with the session's stamp."""

    def __init__(self, host: str, session: str, at: datetime, new_id: Callable[[], str]) -> None:
        self.new_id = new_id
        self.at = at
        self.stamp: dict[str, Any] = {"host": host, "session": session}
        self.occasion = ""
        """What tells this call from an equal one where calls have no id: the host's own time of it."""

    def event(self, kind: EventKind, key: str, text: str = "", **fields: Any) -> Event:
        """An event of now with the stamp; the text is cut in the middle when it is too long, its length kept."""
        return Event(
            id=EventId(self.new_id()), kind=kind, key=key, at=self.at,
            text=shorten(text), text_length=len(text), **self.stamp, **fields,
        )  # fmt: skip


def text_of(value: object) -> str:
    """The text in a value, or an empty string when it is something else."""
    return value if isinstance(value, str) else ""


def fields_of(value: object) -> Mapping[str, Any]:
    """The object in a value, or an empty one when it is something else."""
    return value if isinstance(value, dict) else {}


def shorten(text: str, limit: int = TEXT_LIMIT) -> str:
    """At most `limit` characters: beginning and end, cut at white space so that no word (or key) is split."""
    if len(text) <= limit:
        return text
    half = (limit - len(CUT)) // 2
    head, tail = text[:half], text[-half:]
    head_end = max(head.rfind("\n", half - 400), head.rfind(" ", half - 400))
    tail_start = min((at for at in (tail.find("\n", 0, 400), tail.find(" ", 0, 400)) if at >= 0), default=0)
    return head[: head_end if head_end > 0 else half] + CUT + tail[tail_start:]


def clean(text: str) -> str:
    """The text without injected blocks, ours and the host's."""
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
    """16 hexadecimal characters that tell texts apart, whatever their white space."""
    from _blake2 import blake2b  # hashlib loads OpenSSL: 3 ms that a hook does not have

    return blake2b(" ".join(text.split()).encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def said(source: Source, kind: EventKind, text: str, **fields: Any) -> list[Event]:
    """The event of a prompt or a reply; none when nothing is left of the text without injected blocks."""
    words = clean(text)
    return [source.event(kind, spoken_prefix(kind) + digest(words), words, **fields)] if words else []


def minute_of(at: datetime, span: int = 1) -> str:
    """The time down to `span` minutes, for the keys of things that have no id."""
    return f"{at.isoformat()[:14]}{at.minute // span * span:02d}"


def call_files(arguments: Mapping[str, Any]) -> tuple[str, ...]:
    """The file a tool was called on; those of a patch."""
    if "patch" in arguments:
        from holdfast.hosts._shared.patch import parse_patch

        return tuple(part.path for part in parse_patch(text_of(arguments["patch"])))
    path = (
        text_of(arguments.get("file_path")) or text_of(arguments.get("notebook_path")) or text_of(arguments.get("path"))
    )
    return (path,) if path else ()
