"""Finds lessons that say the same among many, without comparing every pair."""

from __future__ import annotations

from collections import Counter, defaultdict

from holdfast.text.sameness import read, same

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.domain.lesson import Lesson

RAREST = 3
"""Words of a rule, the rarest of them all, under which it is looked for."""
CROWD = 60
"""Rules under one word that a rule is compared with, the latest of them."""


def find_pairs(lessons: Sequence[Lesson]) -> Iterator[tuple[Lesson, Lesson]]:
    """Yield each pair of lessons whose rules say the same, once, in the order of `lessons`.

    Two rules that share none of their rarest words are not compared; equal rules share all significant words.
    """
    stems = [frozenset(read(lesson.insight).stems) for lesson in lessons]
    counts = Counter(stem for words in stems for stem in words)
    by_word: defaultdict[str, list[int]] = defaultdict(list)
    seen: set[tuple[int, int]] = set()
    for number, words in enumerate(stems):
        for word in sorted(words, key=lambda stem: (counts[stem], stem))[:RAREST]:
            for other in by_word[word][-CROWD:]:
                pair = (other, number)
                if pair in seen or not _may_be_same(stems[other], words):
                    continue
                seen.add(pair)
                if same(lessons[other].insight, lessons[number].insight):
                    yield lessons[other], lessons[number]
            by_word[word].append(number)


def _may_be_same(words: frozenset[str], other: frozenset[str]) -> bool:
    """Return whether the words allow it: the condition of `same`, without reading the rules again."""
    shorter, longer = sorted((words, other), key=len)
    return shorter <= longer
