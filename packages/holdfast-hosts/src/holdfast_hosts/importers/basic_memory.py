"""Importer `basic_memory`: notes of Basic Memory, markdown with observations and relations.

Each observation (`- [category] text #tag (reason)`) is a lesson; a note without any is read as markdown. Relations
(`- verb [[Other note]]`) link the first lessons of two notes.

Source: basicmachines-co/basic-memory, NOTE-FORMAT.md, 2026-08; checked against the examples there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from holdfast.domain.vocabulary import LessonKind, LinkKind
from holdfast.importers.sdk.markdown import Voice, read_markdown
from holdfast.importers.sdk.texts import from_row, instant, kind_of, load_markdown, split_front, text_of, texts_of
from holdfast.ports.plugins import CERTAIN, MAYBE, NO, Passage, Skipped, Source
from holdfast.text.titles import clipped

KINDS: dict[str, LessonKind] = {
    "decision": "decision", "design": "decision", "choice": "decision",
    "constraint": "constraint", "requirement": "constraint", "limitation": "constraint", "gotcha": "constraint",
    "convention": "convention", "pattern": "convention", "principle": "convention", "technique": "convention",
    "preference": "preference", "tooling": "tooling", "tool": "tooling", "command": "tooling", "setup": "tooling",
    "bug": "bug_cause", "cause": "bug_cause", "fix": "fix", "solution": "fix", "mistake": "failed_approach",
}  # fmt: skip
VERBS: dict[str, LinkKind] = {
    "supersedes": "supersedes", "replaces": "supersedes", "contradicts": "contradicts", "refines": "refines",
    "extends": "refines", "caused_by": "caused_by",
}  # fmt: skip

_OBSERVATION = re.compile(r"(?m)^[ \t]*[-*][ \t]+\[([^\[\]()\n]{2,60})\][ \t]+(?!\()(.+)$")
_RELATION = re.compile(r"(?m)^[ \t]*[-*][ \t]+([^\[\]\n]{0,60}?)[ \t]*\[\[([^\[\]\n]{1,200})\]\]")
_TAG = re.compile(r"(?<!\S)#([\w/-]{1,60})")
_REASON = re.compile(r"[ \t]\(([^()\n]{3,300})\)[ \t]*$")


class BasicMemory:
    """Reads one note."""

    id = "basic_memory/1"

    def sureness(self, source: Source) -> int:
        """Judge by the front matter's `permalink`."""
        if not source.name.endswith(".md"):
            return NO
        front, _ = split_front(source.head.decode("utf-8-sig", "replace").replace("\r\n", "\n"))
        if "permalink" not in front:
            return NO
        return CERTAIN if "type" in front or "title" in front else MAYBE

    def read(self, source: Source) -> Iterator[Passage | Skipped]:
        """Yield its observations in order."""
        front, text = split_front(load_markdown(source))
        note = _shared(source, front)
        links = tuple((VERBS.get(verb.strip().lower(), "relates_to"), name) for verb, name in _RELATION.findall(text))
        observations = list(_OBSERVATION.finditer(text))
        for number, observation in enumerate(observations):
            yield from _observation(note, observation, links if number == 0 else None)
        if not observations:
            yield from read_markdown(_RELATION.sub("", text), Voice(shared=note))


def make(options: Mapping[str, str]) -> BasicMemory:
    """Return the importer; it has no options."""
    return BasicMemory()


def _shared(source: Source, front: Mapping[str, Any]) -> Passage:
    title = text_of(front.get("title")) or source.label.rsplit("/", 1)[-1].removesuffix(".md")
    return Passage(
        section=title,
        tags=texts_of(front.get("tags")),
        trust="agent",
        said_at=instant(text_of(front.get("created") or front.get("date"))),
        names=tuple(filter(None, (title, text_of(front.get("permalink"))))),
    )


def _observation(
    note: Passage, observation: re.Match[str], links: tuple[tuple[LinkKind, str], ...] | None
) -> Iterator[Passage | Skipped]:
    reason = _REASON.search(observation[2])
    words = _TAG.sub("", _REASON.sub("", observation[2])).strip()
    passage = replace(
        note,
        kind=kind_of(observation[1], KINDS) or "",
        title=clipped(f"{note.section}: {words}"),
        why=reason[1] if reason else "",
        tags=tuple(dict.fromkeys((*note.tags, observation[1].strip(), *_TAG.findall(observation[2])))),
        names=() if links is None else note.names,
        links=links or (),
    )
    yield from from_row(words, passage)
