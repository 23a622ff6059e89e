"""The same lessons on SQLite and on PostgreSQL answer the same questions with the same lessons in the same order."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from benchmarks.seeded_lessons import Words, make_lesson
from tests.postgresql import Database

from holdfast import Memory
from holdfast.domain.lesson import Lesson, in_state
from holdfast.domain.query import Query
from holdfast.domain.vocabulary import LessonId
from holdfast.settings import load_settings
from holdfast.text.words import duplicate_key

LESSONS, QUESTIONS = 400, 100
NEAR = 0.0005
"""How far two cosines of one pair may be apart: PostgreSQL has two bytes for each number of a question's vector."""

Made = tuple[Lesson, Words]


class Both:
    """Two memories of one project, with the same lessons."""

    def __init__(self, folder: Path, url: str) -> None:
        environment = {"HOME": str(folder), "HOLDFAST_HOLDOUT": "0"}
        project = folder / "shop"
        project.mkdir()
        self.memories = [
            Memory(str(project), settings=load_settings({**environment, "HOLDFAST_HOME": str(folder / name), **more}))
            for name, more in (("lite", {}), ("server", {"HOLDFAST_STORE": url}))
        ]
        rng = random.Random(7)
        owner = self.memories[0].location.project.id
        drawn = [make_lesson(number, rng, owner) for number in range(LESSONS)]
        by_rule = {duplicate_key(lesson.insight): (lesson, words) for lesson, words in drawn}
        self.made: list[Made] = list(by_rule.values())
        for memory in self.memories:
            store = memory.services.store
            store.put([lesson for lesson, _ in self.made], {})
            for number, (lesson, _) in enumerate(self.made):
                at = lesson.recorded_at + timedelta(days=200)
                if number % 7 == 0:
                    store.put([in_state(lesson, "retired", at=at)], {lesson.id: lesson.recorded_at})
                elif number % 11 == 0:
                    revised = replace(lesson, why="Because the harbour floods.", recorded_at=at)
                    store.put([revised], {lesson.id: lesson.recorded_at})
            while memory.embed_pending():
                pass

    def recalled(self, **question: Any) -> list[list[LessonId]]:
        """What each of them recalls, best first."""
        return [[item.lesson.id for item in memory.recall(**question).items] for memory in self.memories]


@pytest.fixture(scope="module")
def both(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    made = Both(tmp_path_factory.mktemp("both"), database.store_url(4_000))
    yield made
    for memory in made.memories:
        memory.close()


def questions(made: list[Made]) -> Iterator[dict[str, Any]]:
    """Questions of every kind about lessons drawn by chance."""
    rng = random.Random(3)
    for number in range(QUESTIONS):
        lesson, words = rng.choice(made)
        text = rng.choice(
            (
                f"Why does the {words.noun} of {words.area} differ from the {words.noun2}?",
                f"What do I have to know before I {words.verb} {words.symbol} in {words.path}",
                f"{words.area}.{words.part} and {words.noun}_{words.noun2}",
                f"the {words.part} {words.verb}s twice",
            )
        )
        yield {
            "text": text if number % 5 else "",
            "paths": [words.path] if number % 3 == 0 or not number % 5 else [],
            "symbols": [words.symbol] if number % 4 == 0 else [],
            "error": words.error if number % 6 == 0 else "",
            "command": words.command if number % 6 == 0 else "",
            "limit": 3 if number % 2 else 20,
            "as_of": lesson.recorded_at + timedelta(days=number) if number % 4 == 1 else None,
        }


def test_a_hundred_questions_have_the_same_answers(both: Both) -> None:
    answered = 0
    for question in questions(both.made):
        lite, server = both.recalled(**question)
        assert server == lite, question
        answered += bool(lite)
    assert answered > QUESTIONS / 2


def test_texts_have_the_same_scores_and_counts(both: Both) -> None:
    lite, server = (memory.services.store for memory in both.memories)
    project = both.memories[0].location.project.id
    for question in list(questions(both.made))[::4]:
        for states in (("active",), ("active", "retired")):
            query = Query(project=project, text=question["text"], states=states)
            expected, answer = lite.match_text(query, 60, 40), server.match_text(query, 60, 40)
            scores = {match.lesson[1]: match.score for match in expected.matches}
            assert {match.lesson[1]: match.score for match in answer.matches} == pytest.approx(scores)
            assert (answer.terms, answer.lessons) == (expected.terms, expected.lessons)
            beside = {match.lesson[1]: (match.session, match.after and match.after[1]) for match in expected.matches}
            assert {
                match.lesson[1]: (match.session, match.after and match.after[1]) for match in answer.matches
            } == beside


def test_vectors_are_as_near(both: Both) -> None:
    lite, server = (memory.services.store for memory in both.memories)
    embedder = both.memories[0].services.embedder()
    assert embedder is not None
    for question in list(questions(both.made))[1::10]:
        query = Query(
            project=both.memories[0].location.project.id, vector=tuple(embedder.embed_query(question["text"])),
            embedder_id=embedder.id,
        )  # fmt: skip
        cosines = {match.id: match.cosine for match in lite.match_vector(query, 400)}
        answer = {match.id: match.cosine for match in server.match_vector(query, 400)}
        assert answer == pytest.approx(cosines, abs=NEAR)
