"""One corpus in a shipped memory of its own: stored in bulk, asked through `recall/retrieve`."""

from __future__ import annotations

import subprocess
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Self

from benchmarks.recall.cases import Ask, Corpus, Item, headline

from holdfast.bootstrap import Memory
from holdfast.curation.remember import same_rule
from holdfast.domain.briefing import Briefing, Ranked
from holdfast.domain.lesson import INSIGHT_LIMIT, Anchor, Lesson, Link, Provenance, Scope, Validity
from holdfast.domain.moments import MOMENT_PROFILES
from holdfast.domain.query import Query
from holdfast.domain.vocabulary import LessonId, Moment
from holdfast.lean.texts import uuid7
from holdfast.recall import ask as asking
from holdfast.recall.embed import embed_pending
from holdfast.recall.question import question, with_vector
from holdfast.recall.retrieve import PARTICULAR, score_matches
from holdfast.recall.surroundings import linked_files
from holdfast.recall.tuning import ASKED_POOL, POOL_LIMIT
from holdfast.rendering.lines import count_tokens
from holdfast.settings import load_settings

BATCH = 2_000
NO_BUDGET = 1_000_000


class Standing:
    """A clock that stands when the questions are asked; elapsed time is real."""

    def __init__(self, at: datetime) -> None:
        self._at, self._made = at, 0

    def now(self) -> datetime:
        return self._at

    def elapsed_s(self) -> float:
        return time.monotonic()

    def new_id(self) -> str:
        self._made += 1
        return uuid7(int(self._at.timestamp() * 1000), self._made.to_bytes(10, "big"))


def told_apart(lessons: Sequence[Lesson], rules: Counter[tuple[str, ...]]) -> list[Lesson]:
    """The lessons, those of a rule met before with dots at their end: a store keeps each rule once.

    A corpus may say the same twice. The dots are no words to the full text.
    """
    apart: list[Lesson] = []
    for lesson in lessons:
        rule = same_rule(lesson)
        dots = "·" * rules[rule]
        rules[rule] += 1
        room = INSIGHT_LIMIT - len(dots) - 1
        apart.append(replace(lesson, insight=f"{lesson.insight[:room]} {dots}") if dots else lesson)
    return apart


class Arena:
    """A scratch home and project. Items become known in their order, as far as each question needs."""

    def __init__(
        self, folder: Path, corpus: Corpus, embedder: str = "", options: Sequence[tuple[str, str]] = ()
    ) -> None:
        project = folder / "project"
        project.mkdir(parents=True)
        subprocess.run(["git", "init", "-q", "-b", "main"], cwd=project, check=True)
        settings = load_settings({"HOME": str(folder), "HOLDFAST_HOME": str(folder / "home"), "HOLDFAST_HOLDOUT": "0"})
        if embedder:
            name = "" if embedder == "none" else embedder
            settings = replace(settings, embedder=name, embedder_options=tuple(options))
        self.corpus = corpus
        self._memory = Memory(str(project), settings=settings)
        self.location = self._memory.location
        self.services = replace(self._memory.services, clock=Standing(corpus.at))
        self.ids = {item.name: make_id(n, item) for n, item in enumerate(corpus.items, start=1)}
        self.names = {id_: name for name, id_ in self.ids.items()}
        self.known = 0
        self._rules: Counter[tuple[str, ...]] = Counter()
        self.stored_s = 0.0
        self._costs = [count_tokens(whole(item)) for item in corpus.items]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._memory.close()

    def learn(self, count: int | None) -> tuple[Item, ...]:
        """Store items until that many are known (None: all); the new ones."""
        new = self.corpus.items[self.known : count]
        begun = time.perf_counter()
        for at in range(0, len(new), BATCH):
            lessons = told_apart([self._lesson(item) for item in new[at : at + BATCH]], self._rules)
            self.services.store.put(lessons, dict.fromkeys(lesson.id for lesson in lessons))
        self.stored_s += time.perf_counter() - begun
        if new:
            embed_pending(self.services, limit=len(self.corpus.items))
        self.known += len(new)
        return new

    def rank(self, ask: Ask, depth: int, without: str = "") -> list[str]:
        """The names recall puts first, before anything is held to the threshold; `without` leaves one retriever out."""
        retrievers = [name for name in PARTICULAR if name != without]
        self.stand_at(ask)
        query, _ = with_vector(self.services, self.query(ask)) if "vector" in retrievers else (self.query(ask), "")
        if query.paths:
            query = replace(query, linked=linked_files(self.services, self.location, query.paths))
        retrieval = asking.find(self.services, query, retrievers, pool=max(ASKED_POOL, min(2 * depth, POOL_LIMIT)))
        weighed = score_matches(self.services, self.location, retrieval.matches)
        return [self.names[ranked.lesson.id] for ranked, _ in weighed[:depth]]

    def deliver(self, ask: Ask, limit: int, moment: Moment = "on_demand", budget: int = 0) -> Briefing:
        """What is delivered at that moment, within its budget unless another one is given."""
        tokens = budget or MOMENT_PROFILES[moment].budget_tokens
        self.stand_at(ask)
        return asking.ask(
            self.services, self.location, self.query(ask), limit=limit, budget_tokens=tokens, moment=moment
        )

    def stand_at(self, ask: Ask) -> None:
        """Set the clock to when the question is asked."""
        self.services = replace(self.services, clock=Standing(ask.at or self.corpus.at))

    def named(self, items: Sequence[Ranked]) -> list[str]:
        """The names of what was delivered."""
        return [self.names[item.lesson.id] for item in items]

    def whole_tokens(self, names: Sequence[str]) -> int:
        """What these lessons cost when they are handed over whole."""
        wanted = set(names)
        pairs = zip(self.corpus.items, self._costs, strict=True)
        return sum(cost for item, cost in pairs if item.name in wanted)

    def file_tokens(self) -> int:
        """What a memory file with every lesson known by now costs."""
        return sum(self._costs[: self.known])

    def query(self, ask: Ask) -> Query:
        """The question as the shipped path reads it."""
        return question(self.services, self.location, ask.text, paths=ask.paths, symbols=ask.symbols)

    def _lesson(self, item: Item) -> Lesson:
        project = "" if item.level == "user" else self.location.project.id
        return Lesson(
            id=self.ids[item.name],
            kind=item.kind,  # type: ignore[arg-type]
            title=item.title or headline(item.insight),
            insight=item.insight,
            why=item.why,
            snippets=item.snippets,
            scope=Scope(level=item.level, project=project),  # type: ignore[arg-type]
            validity=Validity(valid_from=item.at),
            recorded_at=item.at,
            anchors=tuple(Anchor(path=path, symbol=symbol) for path, symbol in item.anchors),
            tags=item.tags,
            topic_key=item.topic_key,
            provenance=Provenance(session=item.session),  # type: ignore[arg-type]
            state=item.state,  # type: ignore[arg-type]
            pinned=item.pinned,
            links=tuple(Link(kind="relates_to", target=self.ids[name]) for name in item.links if name in self.ids),
        )


def make_id(n: int, item: Item) -> LessonId:
    """An id that sorts by time and then by place in the corpus."""
    return LessonId(uuid7(max(0, int(item.at.timestamp() * 1000)), n.to_bytes(10, "big")))


def whole(item: Item) -> str:
    """The lesson as a file of lessons would hold it: all it says and where it belongs."""
    places = ", ".join(f"{path}:{symbol}" if symbol else path for path, symbol in item.anchors)
    return "\n".join(filter(None, (item.text, places)))
