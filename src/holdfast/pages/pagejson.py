"""The JSON of a page: all fields of its record, with the views that every surface has of lessons and briefings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from datetime import date, datetime
from typing import Any

from holdfast.domain.briefing import Briefing, FoundTurn, Ranked
from holdfast.domain.lesson import Lesson
from holdfast.lean.plain import render_instant
from holdfast.rendering.views import briefing_json, lesson_json, ranked_json, turn_json

VIEWS: dict[type[Any], Any] = {
    Lesson: lesson_json, Ranked: ranked_json, Briefing: briefing_json, FoundTurn: turn_json,
}  # fmt: skip


def page_json(value: Any) -> Any:
    """Return dicts, lists, strings, numbers, booleans and None, with every field, also those at their default."""
    if isinstance(value, str | int | float) or value is None:
        return value
    if isinstance(value, datetime):
        return render_instant(value)
    if isinstance(value, date):
        return value.isoformat()
    if (view := VIEWS.get(type(value))) is not None:
        return view(value)
    if is_dataclass(value):
        return {each.name: page_json(getattr(value, each.name)) for each in fields(value)}
    if isinstance(value, Mapping):
        return {str(key): page_json(item) for key, item in value.items()}
    return [page_json(item) for item in value]
