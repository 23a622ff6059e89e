"""Importer `mem0`: memories of mem0, its JSON answers, or a file of its export skill.

Source: mem0ai/mem0, the answers of `get_all` and `search` in its quickstart, and integrations/mem0-plugin (the export's
form), 2026-08; checked against the source only.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from holdfast.domain.vocabulary import LessonKind
from holdfast.errors import InvalidValueError
from holdfast.importers.sdk.texts import from_row, instant, kind_of, load_text, split_front, text_of, texts_of
from holdfast.ports.plugins import CERTAIN, NAMED, NO, Passage, Skipped, Source

KINDS: dict[str, LessonKind] = {
    "coding_conventions": "convention", "conventions": "convention", "architecture_decisions": "decision",
    "decision": "decision", "anti_patterns": "failed_approach", "anti_pattern": "failed_approach",
    "user_preferences": "preference", "user_preference": "preference", "preferences": "preference",
    "tooling_setup": "tooling", "environmental": "tooling", "bug_fixes": "fix",
}  # fmt: skip

_BLOCK = re.compile(r"(?m)^---[ \t]*\n(?=\w+:)")


class Mem0:
    """Reads both forms of mem0's memories."""

    id = "mem0/1"

    def sureness(self, source: Source) -> int:
        """Judge by the content; for the plug-in's export by the name."""
        if source.name.startswith("mem0-export-") and source.name.endswith(".md"):
            return NAMED
        head = source.head.lstrip(b"\xef\xbb\xbf \t\r\n")
        return CERTAIN if head[:1] in (b"{", b"[") and b'"memory"' in head and b'"id"' in head else NO

    def read(self, source: Source) -> Iterator[Passage | Skipped]:
        """Yield the memories in order."""
        if source.name.endswith(".md"):
            yield from _from_export(load_text(source))
        else:
            yield from _from_answers(source)


def make(options: Mapping[str, str]) -> Mem0:
    """Return the importer; it has no options."""
    return Mem0()


def _from_answers(source: Source) -> Iterator[Passage | Skipped]:
    try:
        answer = json.loads(load_text(source))
    except (ValueError, RecursionError) as exc:
        if isinstance(exc, InvalidValueError):
            raise
        raise InvalidValueError(f"{source.label} is not JSON: {exc}") from exc
    items = answer.get("results") or answer.get("memories") if isinstance(answer, dict) else answer
    if not isinstance(items, list):
        raise InvalidValueError(f"{source.label} holds no list of memories")
    for number, item in enumerate(items, 1):
        if not isinstance(item, dict) or not isinstance(item.get("memory"), str):
            yield Skipped(section=f"entry {number}", reason="not a memory")
            continue
        named = item.get("categories")
        categories = tuple(word for word in named if isinstance(word, str)) if isinstance(named, list) else ()
        yield from from_row(
            item["memory"],
            _passage(str(item.get("id") or number), categories, item.get("updated_at") or item.get("created_at")),
        )


def _from_export(text: str) -> Iterator[Passage | Skipped]:
    starts = [match.start() for match in _BLOCK.finditer(text)]
    for begin, end in zip(starts, [*starts[1:], len(text)], strict=True):
        front, body = split_front(text[begin:end])
        categories = (text_of(front.get("type")), *texts_of(front.get("categories")))
        passage = _passage(text_of(front.get("id")) or str(begin), categories, text_of(front.get("created_at")))
        yield from from_row(body, passage)


def _passage(number: str, categories: Sequence[str], at: Any) -> Passage:
    return Passage(
        section=f"memory {number}",
        kind=next((kind for word in categories if (kind := kind_of(word, KINDS))), ""),
        usual_kind="preference",
        tags=tuple(dict.fromkeys(word for word in categories if word)),
        trust="agent",
        said_at=instant(at),
    )
