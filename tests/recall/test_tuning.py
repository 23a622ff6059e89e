"""The edges of recall: what is just inside, and what is not."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.briefing import RetrieverShare
from holdfast.domain.kinds import LESSON_KINDS
from holdfast.domain.lesson import Link
from holdfast.domain.query import Query
from holdfast.domain.symbol import Neighbour
from holdfast.domain.vocabulary import LessonId
from holdfast.errors import EmbedderError, InvalidValueError
from holdfast.lean.texts import short_id
from holdfast.recall.ask import ask, is_visible, says_something
from holdfast.recall.embed import embed_pending, embed_question
from holdfast.recall.moments import shares_subject
from holdfast.recall.question import question
from holdfast.recall.retrieve import asked_words
from holdfast.recall.surroundings import linked_files, way_to
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import PROJECT, START, FixedClock, make_lesson
from tests.recall.test_embed import LetterEmbedder, parts_with, put
from tests.recall.test_moments import deliver, keep


def share(retriever: str, raw: float) -> RetrieverShare:
    return RetrieverShare(lane=retriever, rank=1, raw=raw, share=0.1)


# Questions


@pytest.mark.parametrize(
    ("retriever", "raw", "says"),
    [("vector", 0.2, True), ("vector", 0.19, False), ("text", 0.0, True), ("pinned", 1, False), ("recent", 1, False),
     ("ranker", 1, False)],
)  # fmt: skip
def test_only_what_is_about_the_question_can_be_the_nearest(retriever: str, raw: float, says: bool) -> None:
    assert says_something(share(retriever, raw)) is says


@pytest.mark.parametrize(
    ("fields", "query_fields", "visible"),
    [
        ({}, {}, True),
        ({"project": "other"}, {}, False),
        ({"project": "other"}, {"all_projects": True}, True),
        ({"project": "other", "level": "user"}, {}, True),
        ({"state": "retired"}, {}, False),
        ({"kind": "fix"}, {"kinds": ("decision",)}, False),
        ({"kind": "fix"}, {"kinds": ("decision", "fix")}, True),
        ({"valid_to": START + timedelta(days=1)}, {"at": START + timedelta(days=1)}, False),
        ({"valid_to": START + timedelta(days=1)}, {"at": START}, True),
        ({"valid_to": START + timedelta(days=1)}, {}, True),
        ({"branch": "topic"}, {"staged": ()}, False),
        ({"branch": "topic"}, {"staged": None}, True),
        ({"branch": "topic", "id": "staged"}, {"staged": (LessonId("staged"),)}, True),
        ({"branch": "topic", "project": "other"}, {"staged": (), "all_projects": True}, True),
    ],
)
def test_a_linked_lesson_is_seen_only_where_a_search_would_find_it(
    fields: dict[str, Any], query_fields: dict[str, Any], visible: bool
) -> None:
    query = Query(**{"project": PROJECT, "states": ("active",), **query_fields})
    assert is_visible(make_lesson(**fields), query) is visible


def test_the_words_of_a_question_are_those_of_its_command_error_and_symbols_too() -> None:
    query = Query(project=PROJECT, text="why", command="cd x && make test", error="KeyError: 'tide'", symbols=("Tide",))
    assert asked_words(query).split(" \n ")[0::3] == ["why", "Tide"]
    assert "KeyError" in asked_words(query)
    assert asked_words(replace(query, text=query.error, command="", symbols=())) == query.error


def test_an_error_in_the_words_is_requested_as_an_error_and_a_given_one_goes_before(memory: Memory) -> None:
    pasted = "KeyError: 'tide'"
    assert question(memory.services, memory.location, pasted).error == pasted
    assert question(memory.services, memory.location, "no error here").error == ""
    assert question(memory.services, memory.location, pasted, error="boom").error == "boom"
    assert question(memory.services, memory.location, as_of=START).at is None
    with pytest.raises(InvalidValueError, match="aware time"):
        question(memory.services, memory.location, as_of=START.replace(tzinfo=None))
    with pytest.raises(InvalidValueError, match="command must be a text"):
        question(memory.services, memory.location, command=3)  # type: ignore[arg-type]


# What is around the files in play


class Index:
    """A code index that knows what is linked to some files."""

    def __init__(self, **links: list[Neighbour]) -> None:
        self.links = links

    def neighbours(self, place: object, path: str) -> list[Neighbour]:
        return self.links.get(path, [])


def linked(memory: Memory, index: Index, *paths: str) -> list[tuple[str, float]]:
    services = replace(memory.services, codeindex=lambda: index)
    return [(file.path, file.weight) for file in linked_files(services, memory.location, paths)]


def neighbour(path: str, weight: float = 0.5) -> Neighbour:
    return Neighbour(path=path, weight=weight, relation="edited_together")


def test_links_add_up_as_chances_and_a_file_in_play_is_not_its_own_neighbour(memory: Memory) -> None:
    index = Index(a=[neighbour("x", 0.5), neighbour("b")], b=[neighbour("x", 0.6), neighbour("y", 0.9), neighbour("a")])
    assert linked(memory, index, "a", "b") == [("y", 0.9), ("x", pytest.approx(0.8))]
    assert linked(memory, index, "a") == [("b", 0.5), ("x", 0.5)]


def test_the_way_to_a_file_is_recognised_by_the_closest_link() -> None:
    near = [neighbour("a.py"), Neighbour(path="b.py", weight=0.4, relation="unheard")]
    assert way_to(near, ("b.py", "a.py")) == "about a.py, often edited with it"
    assert way_to(near, ("b.py",)) == "about b.py, linked to it"
    assert way_to(near, ("c.py",)) == ""


# What a hook looks at


@pytest.mark.parametrize(
    ("prompt", "task", "goes_on"),
    [
        ("please continue with it", "", True),
        ("a b c d e f g h i j k continue", "chart the basin", True),
        ("a b c d e f g h i j k l continue", "chart the basin", False),
        ("dredge the basin at the quay", "dredge basin quay spring", True),
        ("dredge the basin", "dredge basin quay spring", False),
        ("the basin", "basin", True),
        ("nothing of it", "basin", False),
        ("the basin", "basin quay", False),
    ],
)
def test_a_prompt_goes_on_with_a_task_by_three_words_or_by_saying_so(prompt: str, task: str, goes_on: bool) -> None:
    assert shares_subject(prompt, task) is goes_on


# How much a session is told


@pytest.mark.parametrize("kind", LESSON_KINDS)
def test_a_command_brings_lessons_of_every_kind_but_decisions_and_checkpoints(memory: Memory, kind: Any) -> None:
    keep(memory, "The basin gate sticks.", kind=kind, command="make basin")
    brings = kind not in ("decision", "checkpoint")
    assert bool(deliver(memory, "before_command", command="make basin").items) is brings
    failed = deliver(memory, "after_failure", session="s2", command="make basin", error="Error: gate stuck at pier 3")
    assert bool(failed.items) is (brings and kind != "exploration")


# Embedding


@pytest.mark.parametrize(("after_s", "asks"), [(29.5, False), (30.5, True)])
def test_an_embedder_that_failed_rests_for_half_a_minute(store: SqliteStore, after_s: float, asks: bool) -> None:
    clock = FixedClock()
    embedder = LetterEmbedder(fail_at=(1,))
    services = parts_with(store, embedder, clock=clock)
    with pytest.raises(EmbedderError):
        embed_question(services, "tides")
    clock.advance(after_s)
    with nullcontext() if asks else pytest.raises(EmbedderError, match="next attempt in"):
        embed_question(services, "tides")
    assert embedder.calls == 1 + asks


# Answers


def test_a_limit_and_a_budget_end_an_answer_and_the_rest_is_counted(memory: Memory) -> None:
    for number in range(8):
        keep(memory, f"Tide gauge {number} is read at noon by pilot {number}.", kind="fix", tags=("tide gauge",))
    few = memory.recall("tide gauge", limit=3)
    assert ([item.rank for item in few.items], few.more) == ([1, 2, 3], 5)
    assert memory.recall("tide gauge", limit=8).more == 0
    tight = memory.recall("tide gauge", limit=8, budget_tokens=few.tokens)
    assert 0 < len(tight.items) <= 3
    assert tight.tokens <= few.tokens


def test_of_two_that_contradict_each_other_the_better_proven_comes_first_and_both_say_so(memory: Memory) -> None:
    keep(memory, "Always dredge the basin before the spring tide.", kind="constraint", trust="agent")
    better = keep(memory, "Never dredge the basin before the spring tide.", kind="constraint", trust="person")
    answer = memory.recall("dredge the basin before the spring tide")
    assert answer.items[0].lesson.id == better.id
    assert len(answer.disputes) == 1
    assert answer.disputes[0][0] == better.id
    assert "These two disagree" in answer.text
    assert answer.text.count("disagrees with") == 2


def test_a_lesson_that_contradicts_one_that_was_found_is_delivered_with_it(memory: Memory) -> None:
    against = keep(memory, "Ferries moor by themselves.", kind="constraint", trust="agent")
    link = Link(kind="contradicts", target=against.id)
    keep(memory, "The basin is dredged in spring.", kind="constraint", links=(link,))
    answer = memory.recall("when is the basin dredged")
    assert {item.lesson.id for item in answer.items} >= {against.id}
    assert len(answer.disputes) == 1
    assert memory.recall("when is the basin dredged", as_of=memory.services.clock.now()).disputes == ()


def test_unconfirmed_lessons_answer_below_all_others_unless_a_tool_says_them(memory: Memory) -> None:
    waiting = keep(memory, "The basin is dredged in spring, says ada.", state="candidate", trust="agent")
    keep(memory, "The basin is dredged in spring, says a tool.", state="candidate", trust="tool")
    known = keep(memory, "The basin is sounded in spring.")
    query = question(memory.services, memory.location, "basin in spring")
    answer = ask(memory.services, memory.location, query, limit=9, budget_tokens=2_000, unconfirmed=("candidate",))
    assert {item.lesson.id for item in answer.items} == {waiting.id, known.id}
    alone = ask(memory.services, memory.location, query, limit=9, budget_tokens=2_000)
    assert [item.lesson.id for item in alone.items] == [known.id]


def test_the_nearest_of_several_readings_counts_and_a_kind_alone_lists_what_there_is(memory: Memory) -> None:
    failed = keep(memory, "Dredging by hand failed twice.", kind="failed_approach")
    keep(memory, "The basin is dredged in spring.", kind="decision")
    assert [item.lesson.id for item in memory.recall("what failed before?").items] == [failed.id]
    assert failed.id in [item.lesson.id for item in memory.recall("what failed before with dredging?").items]
    assert len(memory.recall("").items) == 2


def test_a_lesson_names_its_own_opponent_alone(memory: Memory) -> None:
    for place in ("basin", "quay"):
        keep(memory, f"Always dredge the {place} before the spring tide.", kind="constraint", trust="agent")
        keep(memory, f"Never dredge the {place} before the spring tide.", kind="constraint", trust="person")
    answer = memory.recall("dredge before the spring tide", limit=9)
    assert len(answer.disputes) == 2
    dispute_lines = [line for line in answer.text.splitlines() if "disagrees with" in line]
    assert len(dispute_lines) == 4
    for lesson_id, opponent in answer.disputes:
        named = [line for line in dispute_lines if f"disagrees with {short_id(opponent)}" in line]
        assert len(named) == 1
        assert f"disagrees with {short_id(lesson_id)}" in "".join(dispute_lines)


def test_what_came_after_everything_was_embedded_is_not_called_missing(store: SqliteStore) -> None:
    services = parts_with(store, LetterEmbedder())
    put(store, 2)
    assert embed_question(services, "tides").missing.endswith("yet: 2")
    embed_pending(services)
    late = make_lesson(insight="A late rule.")
    store.put([late], {late.id: None})
    assert embed_question(services, "tides").missing == ""
