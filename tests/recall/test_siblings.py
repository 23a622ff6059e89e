"""What sibling projects add to a project's own answer: their words alone, in the room and budget that is left."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.statefamilies import PROJECT_NAME
from holdfast.domain.vocabulary import ProjectId
from holdfast.lean.texts import short_id
from holdfast.recall.question import question
from holdfast.recall.sessions import ask_across
from holdfast.rendering.lines import count_tokens
from holdfast.testing.builders import make_lesson
from tests.recall.test_moments import keep

ABOUT = {"kind": "constraint", "trust": "agent"}
TEXT = "tide gauge"


def keep_in(memory: Memory, project: str, insight: str, **fields: Any) -> str:
    lesson = make_lesson(**{"project": project, "insight": insight, "tags": ("tide gauge",), **ABOUT, **fields})
    memory.services.store.put([lesson], {lesson.id: None})
    return lesson.id


def across(memory: Memory, limit: int = 9, budget_tokens: int = 2_000, text: str = TEXT, **options: Any) -> Any:
    query = question(memory.services, memory.location, text, **options)
    return ask_across(memory.services, memory.location, query, limit=limit, budget_tokens=budget_tokens)


def ids(briefing: Any) -> list[str]:
    return [item.lesson.id for item in briefing.items]


def test_siblings_answer_below_the_projects_own_each_with_its_project(memory: Memory) -> None:
    own = keep(memory, "Tide gauge of ours is read at noon.", tags=("tide gauge",), **ABOUT).id
    quay = keep_in(memory, "quay", "Tide gauge of the quay is read at dawn.")
    memory.services.store.set_state(PROJECT_NAME, "quay", "the quay")
    briefing = across(memory)
    assert ids(briefing) == [own, quay]
    assert [item.rank for item in briefing.items] == [1, 2]
    sibling = briefing.items[1]
    assert (sibling.freshness, sibling.caveat) == ("unverified", "from the quay")
    assert sibling.why.words.startswith("from the quay; ")
    assert ("sibling", 0.5) in sibling.why.multipliers
    factors = 1.0
    for _, factor in sibling.why.multipliers:
        factors *= factor
    assert sibling.score == pytest.approx(sum(share.share for share in sibling.why.shares) * factors)
    line = f"- Tide gauge of the quay is read at dawn. (from the quay, {short_id(ProjectId(quay))})"
    assert briefing.text.endswith(line)
    alone = ask_alone(memory)
    assert briefing.tokens == alone.tokens + count_tokens(line)
    assert briefing.more == 0


def ask_alone(memory: Memory) -> Any:
    from holdfast.recall.ask import ask

    query = question(memory.services, memory.location, TEXT)
    return ask(memory.services, memory.location, query, limit=9, budget_tokens=2_000)


@pytest.mark.parametrize(
    ("fields", "answers"),
    [
        ({}, True), ({"branch": "feature"}, False), ({"state": "candidate"}, False),
        ({"level": "user", "project": ""}, True),
    ],
)  # fmt: skip
def test_lessons_of_a_branch_and_unconfirmed_ones_are_no_siblings_and_the_users_own_is_delivered_once(
    memory: Memory, fields: dict[str, Any], answers: bool
) -> None:
    keep_in(memory, "quay", "Ferries moor at the quay.", tags=())
    lesson = keep_in(memory, fields.pop("project", "quay"), "Tide gauge of the quay is read at dawn.", **fields)
    assert ids(across(memory)).count(lesson) == answers


def test_files_and_symbols_of_a_sibling_are_not_ours(memory: Memory) -> None:
    keep_in(memory, "quay", "Ferries moor at dawn.", path="src/tides.py", tags=())
    assert across(memory, text="zzz qqq", paths=["src/tides.py"]).items == ()


def test_siblings_take_the_room_that_is_left_the_best_first(memory: Memory) -> None:
    keep(memory, "Tide gauge of ours is read at noon.", tags=("tide gauge",), **ABOUT)
    for name in ("a", "b", "c"):
        keep_in(memory, f"quay-{name}", f"Tide gauge of quay {name} is read at dawn.")
    whole = across(memory)
    assert (len(whole.items), whole.more) == (4, 0)
    scores = [item.score for item in whole.items[1:]]
    assert scores == sorted(scores, reverse=True)
    three = across(memory, limit=3)
    assert (ids(three), three.more) == (ids(whole)[:3], 1)
    assert across(memory, limit=1).more == 3
    tight = [len(across(memory, budget_tokens=tokens).items) for tokens in (whole.tokens, whole.tokens - 1)]
    assert tight == [4, 3]
    for tokens in range(0, whole.tokens, 9):
        assert across(memory, budget_tokens=tokens).tokens <= tokens


def test_the_nearest_are_delivered_only_where_no_sibling_answers(memory: Memory) -> None:
    keep(memory, "The pilot roster of the pier is cached for an hour, so refresh it after an import.", **ABOUT)
    text = "add a dark theme to the settings page before the release and mention the import"
    assert len(across(memory, text=text).near) == 1
    keep_in(memory, "quay", "Tide gauge of the quay is read at dawn.")
    answered = across(memory, text=f"tide gauge {text}")
    assert (len(answered.items), answered.near) == (1, ())
