"""Blind files for a judge, and the table of the judge's answers."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

LETTERS = "ABCDEFGH"
ID = re.compile(r"\[[0-9a-f]{4,8}\]")
"""A note's id, by which a judge could tell a condition."""
QUESTION = """
## Your judgement
For each response: *score* 2 if it clearly spares the trouble that the reader noted, 1 if partly, 0 if not; *wasted* the
number of its steps that are wrong, or beside the point, because of something it seems to have been told. Judge each by
itself; you are not told what each had been told.
Write {number:02d}.json beside this file: {{"A": {{"score": 0, "wasted": 0}}, ...}} with an entry for each letter.
"""


class AnswerError(Exception):
    """A judge's answer that cannot be read; the message names the case."""


def shuffled(conditions: Sequence[str], case: int, seed: int) -> list[str]:
    """The conditions in the order in which a case shows them to the judge."""
    order = list(conditions)
    random.Random(f"{seed}:{case}").shuffle(order)
    return order


def blind_file(case: Mapping[str, Any], responses: Sequence[str]) -> str:
    """The text for the judge: what would have helped, and the responses by letters."""
    parts = [
        f"# Case {case['case']:02d} ({case['moment']})",
        f"What a reader noted in hindsight that this session needed here: {case['because']}",
        "Any of these lessons would have met it:",
        *(f"- {lesson}" for lesson in case["lessons"]),
    ]
    for letter, response in zip(LETTERS, responses, strict=False):
        parts.append(f"\n## Response {letter}\n{ID.sub('', response).strip()}")
    return "\n".join(parts) + "\n" + QUESTION.format(number=case["case"])


def read_answer(answer: Any, order: Sequence[str], case: int) -> dict[str, tuple[int, int]]:
    """By condition, score and wasted steps. Raises AnswerError when a letter is missing or a value impossible."""
    verdicts = {}
    for letter, condition in zip(LETTERS, order, strict=False):
        entry = answer.get(letter) if isinstance(answer, dict) else None
        entry = {"score": entry} if isinstance(entry, int) else entry
        score = entry.get("score") if isinstance(entry, dict) else None
        wasted = entry.get("wasted", 0) if isinstance(entry, dict) else None
        if score not in (0, 1, 2) or not isinstance(wasted, int) or isinstance(wasted, bool) or wasted < 0:
            raise AnswerError(f"case {case:02d}: no usable entry for {letter}: {entry!r}")
        verdicts[condition] = (int(score), wasted)
    return verdicts


def table(verdicts: Mapping[int, Mapping[str, tuple[int, int]]], conditions: Sequence[str]) -> dict[str, Any]:
    """By condition: the mean of 1, cases clearly, partly and not spared, wasted steps, better and worse than none."""
    figures: dict[str, Any] = {"cases": len(verdicts)}
    for condition in conditions:
        judged = [case[condition] for case in verdicts.values() if condition in case]
        if not judged:
            continue
        scores = [score for score, _ in judged]
        pairs = [
            (case[condition][0], case["none"][0]) for case in verdicts.values() if {condition, "none"} <= case.keys()
        ]
        figures[condition] = {
            "mean": round(sum(scores) / (2 * len(scores)), 3),
            "clearly": scores.count(2), "partly": scores.count(1), "not": scores.count(0),
            "wasted steps": sum(wasted for _, wasted in judged),
            "cases with waste": sum(wasted > 0 for _, wasted in judged),
            "better than none": sum(own > other for own, other in pairs),
            "worse than none": sum(own < other for own, other in pairs),
        }  # fmt: skip
    return figures
