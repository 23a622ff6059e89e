"""Seeded lessons for benchmarks of size: words, lengths, files and names spread as in real projects.

Words follow Zipf's law (60,000 of them and English stop words), so that a question meets both words that half of all
lessons have and words that nearly none has. Lengths are log-normal, fitted to lessons of public sessions and to commit
messages: a rule of 17 words at the median, half of the lessons with a reason of 20 at the median and up to some 150. A
project's files and errors grow with the root of its lessons, the hottest file having hundreds times the median's.
"""

from __future__ import annotations

import itertools
import random
import zlib
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import NamedTuple

import numpy as np
from benchmarks.hook import blob_of, content_of
from benchmarks.seeded_lessons import AREAS, BEGIN, KINDS, PARTS, VERBS

from holdfast.domain.lesson import Anchor, Lesson, Scope, Validity
from holdfast.domain.vocabulary import LessonId, ProjectId
from holdfast.lean.texts import uuid7
from holdfast.text.shell import command_target
from holdfast.text.signature import error_signature
from holdfast.text.titles import make_title
from holdfast.text.words import word_set

VOCABULARY = 60_000
STOP_WORDS = sorted(
    word_set(
        "the a of to is in it and not that be for when with on are this because before from must as never only by if "
        "after which or an use so at we until into without does has"
    )
)
STOP_SHARE = 0.4
FAILING = ("fix", "bug_cause", "tooling")
DIMENSION = 256


class Question(NamedTuple):
    """What one lesson can be asked for by."""

    text: str
    path: str
    symbol: str
    error: str
    command: str
    lesson: str
    """The id of that lesson."""


class Words:
    """The vocabulary, and draws from it by Zipf's law."""

    def __init__(self, seed: int) -> None:
        rng = random.Random(f"words {seed}")
        starts, ends = _syllables("bcdfglmnprstvz", "aeiou"), _syllables("", "aeiou", "lnrstx")
        made: dict[str, None] = {}
        while len(made) < VOCABULARY:
            made[
                rng.choice(starts) + rng.choice(starts) * (rng.random() < 0.6) + rng.choice(starts) + rng.choice(ends)
            ] = None
        self._words = [*STOP_WORDS, *made]
        zipf = [1 / (rank + 2.7) for rank in range(VOCABULARY)]
        stop = STOP_SHARE * sum(zipf) / (1 - STOP_SHARE) / len(STOP_WORDS)
        self._weights = list(itertools.accumulate([*[stop] * len(STOP_WORDS), *zipf]))

    def draw(self, rng: random.Random, count: int) -> list[str]:
        """That many words of running text."""
        return rng.choices(self._words, cum_weights=self._weights, k=count)


def _syllables(*parts: str) -> list[str]:
    return ["".join(letters) for letters in itertools.product(*filter(None, parts))]


class Project:
    """The lessons of one project, always the same for the same seed and name."""

    def __init__(self, name: str, project: ProjectId, lessons: int, words: Words) -> None:
        self.rng = random.Random(name)
        self._project = project
        self._count = lessons
        self._words = words
        self._files = max(20, round(40 * lessons**0.5))
        self._errors = max(10, lessons // 10)

    def paths(self) -> list[str]:
        """Every file of the project."""
        return [self._path(n) for n in range(self._files)]

    def lessons(self) -> Iterator[tuple[Lesson, Question]]:
        """All of them, oldest first, each with what it can be asked for by."""
        return (self._lesson(n) for n in range(self._count))

    def _path(self, n: int) -> str:
        area, part = AREAS[n % len(AREAS)], PARTS[n // len(AREAS) % len(PARTS)]
        return f"src/{area}/{part}_{n}.py"

    def _lesson(self, n: int) -> tuple[Lesson, Question]:
        rng = self.rng
        file = int(self._files * rng.random() ** 2)  # the hottest file has its share of 1 / sqrt(files)
        path = self._path(file)
        symbol = f"{VERBS[file % len(VERBS)]}{AREAS[file % len(AREAS)].title()}{rng.randrange(12)}_{file}"
        insight = self._sentence(17, 0.4, symbol)
        kind = KINDS[n % len(KINDS)]
        fails = kind in FAILING
        which = int(self._errors * rng.random() ** 2)
        error = f"{PARTS[which % len(PARTS)].title()}Error: {' '.join(self._words.draw(random.Random(which), 7))}"
        command = f"pytest tests/test_{which}.py"
        at = BEGIN + timedelta(seconds=30 * n)
        lesson = Lesson(
            id=LessonId(uuid7(int(at.timestamp() * 1000), rng.randbytes(10))),
            kind=kind,  # type: ignore[arg-type]
            title=make_title(insight),
            insight=insight,
            why=self._sentence(20, 0.9) if n % 2 else "",
            how=self._sentence(15, 0.5, path) if n % 3 == 0 else "",
            scope=Scope(project=self._project),
            validity=Validity(valid_from=at),
            recorded_at=at,
            anchors=(Anchor(path=path, symbol=symbol, blob=blob_of(content_of(path))),),
            state="active",
            pinned=n % 2_000 == 0,
            error_signature=error_signature(error) if fails else "",
            command=command_target(command) if fails else "",
        )
        return lesson, Question(self._question(insight), path, symbol, error, command, lesson.id)

    def _sentence(self, median: int, spread: float, name: str = "") -> str:
        words = self._words.draw(self.rng, max(4, min(150, round(self.rng.lognormvariate(0, spread) * median))))
        if name:
            words[self.rng.randrange(len(words))] = name
        words[0] = words[0].capitalize() if "_" not in words[0] else words[0]
        return " ".join(words) + "."

    def _question(self, insight: str) -> str:
        """A prompt about a lesson: a third of its words among twice as many others."""
        insight_words = insight.rstrip(".").split()
        words = self.rng.sample(insight_words, max(3, len(insight_words) // 3))
        words = [word for word in words if "_" not in word] + self._words.draw(self.rng, 2 * len(words))
        self.rng.shuffle(words)
        return " ".join(words) + "?"


class TestEmbedder:
    """Words hashed to 4,096 seeded directions, added up: near texts share words, as for any embedder."""

    id = "size-benchmark-256"
    dimension = DIMENSION

    def __init__(self) -> None:
        self._table = np.random.default_rng(5).standard_normal((4_096, DIMENSION), dtype=np.float32)

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text."""
        return [self._one(text).tolist() for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """The unit vector of a question."""
        return self.embed_documents([text])[0]

    def _one(self, text: str) -> np.ndarray:
        rows = [zlib.crc32(word.encode()) % 4_096 for word in text.lower().split()] or [0]
        added = self._table[rows].sum(axis=0)
        unit: np.ndarray = added / np.linalg.norm(added)
        return unit
