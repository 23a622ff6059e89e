"""Conflicts on the terminal: prints pairs of lessons, and asks the user to settle them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from holdfast.bootstrap import Memory
from holdfast.curation.conflicts import Conflict
from holdfast.domain.lesson import Lesson
from holdfast.errors import HoldfastError
from holdfast.lean.texts import short_id
from holdfast.rendering.views import lesson_json
from holdfast.surfaces.cli.call import Call, answer_json, counted, note, say
from holdfast.surfaces.cli.rows import labelled

ANSWERS = "1 keep the first   2 keep the second   b both hold   l later   q quit   ? help"
HELP = """1  keep the first lesson and close the second; a waiting lesson becomes active
2  keep the second lesson and close the first
b  both hold, for example in different cases; the pair is not shown again
l  decide later
q  stop; the answers so far are saved
holdfast undo takes back the last answer"""
LABEL = 10


def conflict_json(conflict: Conflict) -> dict[str, Any]:
    """Return both lessons, what they differ in, and why the first comes first."""
    return {
        "first": lesson_json(conflict.better),
        "second": lesson_json(conflict.worse),
        "slot": conflict.slot,
        "values": list(conflict.values),
        "reason": conflict.reason,
    }


def conflict_lines(conflict: Conflict) -> list[str]:
    """Return both lessons in a line or two each, what they differ in, and why the first comes first."""
    return [
        *_lesson_lines("1", conflict.better),
        *_lesson_lines("2", conflict.worse),
        *labelled("differ in", _difference(conflict), LABEL),
        *labelled("the first", conflict.reason, LABEL),
    ]


def print_conflicts(call: Call, conflicts: Sequence[Conflict], limit: int) -> None:
    """Print at most `limit` pairs, as lines or as JSON."""
    shown = conflicts[:limit]
    if call.as_json:
        answer_json({"conflicts": [conflict_json(pair) for pair in shown], "more": len(conflicts) > limit})
        return
    for pair in shown:
        for line in conflict_lines(pair):
            say(line)
        say("")
    note(counted(len(conflicts), "conflict") + ("; to settle: holdfast review" if conflicts else ""))


def note_conflicts(count: int) -> None:
    """Print in how many conflicts the imported lessons take part; print nothing for none."""
    if count:
        note(f"{counted(count, 'conflict')} with imported lessons: holdfast list --conflicts")


def walk_conflicts(memory: Memory, conflicts: Sequence[Conflict], counts: dict[str, int]) -> bool:
    """Ask about each pair and count the answers in `counts`; return False if the person quit before the end."""
    answered: set[str] = set()
    for number, pair in enumerate(conflicts, 1):
        if answered & {pair.better.id, pair.worse.id}:
            continue  # the answer to an earlier pair closed one of them
        say(f"\nconflict {number} of {len(conflicts)}")
        for line in conflict_lines(pair):
            say(line)
        outcome = _ask(memory, pair)
        if outcome == "quit":
            return False
        counts[outcome] = counts.get(outcome, 0) + 1
        if outcome == "settled":
            answered |= {pair.better.id, pair.worse.id}
    return True


def _ask(memory: Memory, pair: Conflict) -> str:
    """Ask until a key is valid; return settled, both, later or quit."""
    while True:
        say(ANSWERS)
        key = click.getchar().lower()
        try:
            if key in "12":
                chosen, other = (pair.better, pair.worse) if key == "1" else (pair.worse, pair.better)
                memory.settle(chosen.id, over=[other.id])
                say(f"{short_id(chosen.id)}  kept, {short_id(other.id)} closed")
                return "settled"
            if key == "b":
                memory.keep_both(pair.better.id, pair.worse.id)
                return "both"
        except HoldfastError as exc:  # it concerns this pair only; the others can still be answered
            note(f"error: {exc}")
            continue
        if key == "?":
            say(HELP)
        if key in "lq":
            return {"l": "later", "q": "quit"}[key]


def _lesson_lines(number: str, lesson: Lesson) -> list[str]:
    about = [short_id(lesson.id), lesson.trust, f"since {lesson.validity.valid_from:%Y-%m-%d}"]
    about += [lesson.provenance.person_name] if lesson.provenance.person_name else []
    about += [lesson.state] if lesson.state != "active" else []
    return [*labelled(number, lesson.insight, 3), f"   ({', '.join(about)})"]


def _difference(conflict: Conflict) -> str:
    if not conflict.slot:
        return "one of them says that it contradicts the other"
    return f"{conflict.slot}: {conflict.values[0]} / {conflict.values[1]}"
