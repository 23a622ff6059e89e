"""The names of a lesson: its topic key and its tags. A question that contains one of them is about that lesson.

A name matches a run of whole words, by their stems (`dead letter` in `the dead letters`), even with one typing slip: an
extra letter, a missing letter, or two swapped letters. A wrong letter is not accepted, because too many names differ
in one letter. A name of a single everyday word (`error`) counts only beside other words of the lesson.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.domain.lesson import Lesson
from holdfast.ranking.relevance import EVERYDAY, stem
from holdfast.ranking.tuning import NAME_CHARACTERS, NAME_WORDS, SLIP_LEAST, SLIPS_AMONG

TELLING, EVERYDAY_NAME, UNNAMED = 2, 1, 0


def runs_of(text: str) -> dict[str, bool]:
    """Return every run of 1 to NAME_WORDS stemmed words of a question, and whether it may match with a slip."""
    stems = _stems(text[:NAME_CHARACTERS])
    short = len(stems) <= SLIPS_AMONG
    runs: dict[str, bool] = {}
    for at in range(len(stems)):
        for size in range(1, min(NAME_WORDS, len(stems) - at) + 1):
            run = stems[at : at + size]
            runs[" ".join(run)] = short and not all(word in EVERYDAY for word in run)
    return runs


def naming(lesson: Lesson, runs: dict[str, bool]) -> int:
    """Return TELLING if the question has a name of the lesson, EVERYDAY_NAME for one everyday word, else UNNAMED."""
    best = UNNAMED
    for name in filter(None, (lesson.topic_key, *lesson.tags)) if runs else ():
        stems = _stems(name)
        if len(stems) > NAME_WORDS:
            continue
        joined = " ".join(stems)
        if joined in EVERYDAY:
            best = EVERYDAY_NAME if joined in runs else best
        elif joined in runs or _has_slip(joined, runs):
            return TELLING
    return best


def _has_slip(name: str, runs: dict[str, bool]) -> bool:
    return len(name) >= SLIP_LEAST and any(near and _is_slip(run, name) for run, near in runs.items())


def _is_slip(word: str, other: str) -> bool:
    """Return whether the words differ by one extra, missing or swapped letter; the first letter must be equal."""
    if word[0] != other[0] or abs(len(word) - len(other)) > 1:
        return False
    at = next((i for i, (a, b) in enumerate(zip(word, other, strict=False)) if a != b), len(word))
    if len(word) == len(other):
        return word[at : at + 2] == other[at : at + 2][::-1] and word[at + 2 :] == other[at + 2 :]
    shorter, longer = sorted((word, other), key=len)
    return shorter[at:] == longer[at + 1 :]


def _stems(text: str) -> Sequence[str]:
    return [stem(word) for word in "".join(c if c.isalnum() else " " for c in text.lower()).split()]
