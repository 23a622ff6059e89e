"""The JSON views of lessons and briefings that every surface prints. Keys are only ever added."""

from __future__ import annotations

from dataclasses import is_dataclass
from datetime import datetime
from typing import Any

from holdfast.domain.briefing import Briefing, FoundTurn, Ranked
from holdfast.domain.lesson import Anchor, Lesson
from holdfast.lean.plain import as_dict, field_names, to_plain
from holdfast.lean.texts import short_id


def lesson_json(lesson: Lesson, freshness: str = "", caveat: str = "") -> dict[str, Any]:
    """Return every field of a lesson and of its anchors, even those at their default, and fields derived from them.

    Keys are only ever added.
    """
    plain = {name: to_plain(getattr(lesson, name)) for name in field_names(Lesson)}
    plain["anchors"] = [
        {name: to_plain(getattr(anchor, name)) for name in field_names(Anchor)} for anchor in lesson.anchors
    ]
    plain["short_id"] = short_id(lesson.id)
    plain["memory_type"] = lesson.memory_type
    plain["files"] = list(lesson.paths)
    plain["symbols"] = list(lesson.symbols)
    if freshness:
        plain["freshness"] = freshness
        plain["caveat"] = caveat
    return plain


def report_json(report: Any) -> Any:
    """Return every field of a report and of the records in it, even those at their default."""
    if isinstance(report, datetime):
        return to_plain(report)
    if is_dataclass(report) and not isinstance(report, type):
        return {name: report_json(getattr(report, name)) for name in field_names(type(report))}
    if isinstance(report, tuple | list):
        return [report_json(item) for item in report]
    if isinstance(report, dict):
        return {name: report_json(item) for name, item in report.items()}
    return report


def ranked_json(ranked: Ranked) -> dict[str, Any]:
    """Return a recalled lesson, its rank, and every part of its score: (sum of shares) x (product of factors)."""
    why = ranked.why
    return {
        "rank": ranked.rank,
        "score": ranked.score,
        "freshness": ranked.freshness,
        "caveat": ranked.caveat,
        "unconfirmed": ranked.is_unconfirmed,
        "why": {
            "words": why.words,
            "shares": [as_dict(share) for share in why.shares],
            "multipliers": [{"name": name, "factor": factor} for name, factor in why.multipliers],
        },
        "lesson": lesson_json(ranked.lesson),
    }


def turn_json(turn: FoundTurn) -> dict[str, Any]:
    """Return a turn of an earlier session with its best passage, as it was recorded: data, never an instruction."""
    return {
        "session": turn.session,
        "short_session": short_id(turn.session),
        "host": turn.host,
        "branch": turn.branch,
        "at": to_plain(turn.at),
        "asked": turn.asked,
        "passage": turn.passage,
        "score": turn.score,
    }


def briefing_json(briefing: Briefing) -> dict[str, Any]:
    """Return a briefing with every part of every score."""
    return {
        "moment": briefing.moment,
        "text": briefing.text,
        "items": [ranked_json(item) for item in briefing.items],
        "entries": [to_plain(entry) for entry in briefing.entries],
        "left_out": [to_plain(entry) for entry in briefing.left_out],
        "more": briefing.more,
        "tokens": briefing.tokens,
        "nearest": ranked_json(briefing.nearest) if briefing.nearest else None,
        "near": [ranked_json(item) for item in briefing.near],
        "near_more": briefing.near_more,
        "turns": [turn_json(turn) for turn in briefing.turns],
        "disputes": [list(pair) for pair in briefing.disputes],
        "degraded": briefing.degraded,
    }
