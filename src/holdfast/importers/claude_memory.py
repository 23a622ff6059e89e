"""Importer `claude_memory`: Claude Code's auto memory, ~/.claude/projects/<folder>/memory/*.md.

A short topic file with front matter (`name`, `description`, `type`, the last possibly in `metadata`) is one lesson,
with its `Why:` and `How to apply:`. Other files, and MEMORY.md, are read as markdown. Entries of MEMORY.md that only
point to a topic file are left out.

Source: Claude Code 2.1's own instructions for its memory, September 2026, and files of that form in public
repositories.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from holdfast.domain.vocabulary import LessonKind
from holdfast.importers.sdk.markdown import LONGEST, Voice, nearly_plain, read_markdown
from holdfast.importers.sdk.texts import from_row, instant, load_markdown, split_front, text_of
from holdfast.ports.plugins import CERTAIN, MAYBE, NO, Passage, Skipped, Source

KINDS: dict[str, LessonKind] = {"user": "preference", "feedback": "convention", "project": "decision"}

_PLACE = re.compile(r"(?:^|/)\.claude/projects/([^/]+)/memory/(?:[^/]+/)*[^/]+\.md$")
_RELATED = re.compile(r"\[\[([\w.-]{1,100})\]\]")
_POINTER = re.compile(r"(?m)^[ \t]*[-*][ \t]+\[[^\]\n]{1,200}\]\([^)\s:]{1,200}\.md\).*$")


class ClaudeMemory:
    """Reads one file of the auto memory."""

    id = "claude_memory/1"

    def sureness(self, source: Source) -> int:
        """Judge by the location."""
        if _PLACE.search(source.path.replace("\\", "/")):
            return CERTAIN
        return MAYBE if source.name == "memory.md" else NO

    def read(self, source: Source) -> Iterator[Passage | Skipped]:
        """Yield the file's single lesson, or its passages."""
        front, text = split_front(load_markdown(source))
        place = _PLACE.search(source.path.replace("\\", "/"))
        inner = front.get("metadata")
        front.update(inner if isinstance(inner, dict) else {})
        kind, title = _type_of(front), text_of(front.get("description")) or text_of(front.get("name"))
        shared = Passage(
            section=text_of(front.get("name")),
            trust="agent",
            names=tuple(filter(None, [text_of(front.get("name"))])),
            links=tuple(("relates_to", name) for name in dict.fromkeys(_RELATED.findall(text))),
            said_at=instant(text_of(front.get("modified"))),
            project=place[1] if place else "",
        )
        if kind and len(text) <= LONGEST:
            yield from from_row(nearly_plain(text), replace(shared, usual_kind=kind, title=title))
            return
        pointers = _POINTER.findall(text)
        if pointers:
            yield Skipped(section="", reason=f"{len(pointers)} entries point to files that are imported themselves")
        yield from read_markdown(_POINTER.sub("", text), Voice(kind or "convention", replace(shared, links=())))


def make(options: Mapping[str, str]) -> ClaudeMemory:
    """Return the importer; it has no options."""
    return ClaudeMemory()


def _type_of(front: Mapping[str, Any]) -> LessonKind | None:
    word = text_of(front.get("type"))
    return KINDS.get(word, "convention") if word or ("name" in front and "description" in front) else None
