"""Makes passages of another memory tool's rows: texts of any length, lists in columns, the tool's own kinds."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from holdfast.domain.vocabulary import LessonKind
from holdfast.importers._shared.markdown import nearly_plain
from holdfast.importers._shared.passages import cut, split_reasons, why_not
from holdfast.lean.records import replace
from holdfast.ports.importer import Passage, Skipped

FILES = 5


def from_row(text: str, passage: Passage) -> Iterator[Passage | Skipped]:
    """Yield the row's text as one passage, or several if it is long; `passage` holds all other fields."""
    plain = nearly_plain(text)
    reason = why_not(plain)
    if reason:
        yield Skipped(section=passage.section, reason=reason)
        return
    insight, why, how = split_reasons(plain)
    first, *more = cut(insight)
    yield replace(passage, insight=first, why=passage.why or why, how=passage.how or how)
    later = replace(passage, why="", how="", names=(), links=())
    for number, part in enumerate(more, 2):
        yield replace(later, insight=part, section=f"{passage.section}, part {number}")


def listed(value: Any) -> tuple[str, ...]:
    """Return the texts of a column that holds a JSON list, or texts with commas; empty for anything else."""
    if not isinstance(value, str) or not value.strip():
        return ()
    try:
        texts = json.loads(value)
    except (ValueError, RecursionError):
        texts = value.split(",") if "[" not in value else []
    items = texts if isinstance(texts, list) else []
    return tuple(dict.fromkeys(item.strip() for item in items if isinstance(item, str) and item.strip()))


def kind_of(word: Any, kinds: Mapping[str, LessonKind]) -> LessonKind | None:
    """Return the kind that a tool's own word means; None for a word without a counterpart."""
    return kinds.get(str(word or "").strip().lower().replace("-", "_").replace(" ", "_"))
