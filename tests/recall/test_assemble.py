"""How an answer is put together: which lessons pass, which links are followed, what fits, and what is counted."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.briefing import Ranked, RetrieverShare, Why
from holdfast.domain.lesson import Link
from holdfast.ranking.relevance import LexicalOverlap
from holdfast.ranking.threshold import PUSHED
from holdfast.recall.ask import assemble, filter_relevant, render
from holdfast.recall.question import question
from holdfast.recall.retrieve import RetrievedLesson, reason
from holdfast.rendering.lines import LINE_TOKENS, Line, count_tokens
from holdfast.testing.builders import START, make_lesson
from tests.recall.test_moments import keep

WORDS = ("anchors", "beacons", "cranes", "docks", "ebbs", "fathoms", "gauges", "hulls", "inlets", "jetties")


def pair(number: int, score: float = 1.0, insight: str = "", **fields: Any) -> tuple[Ranked, RetrievedLesson]:
    lesson = make_lesson(insight=insight or f"Keep {WORDS[number]} tidy.", **fields)
    shares = (RetrieverShare(lane="text", rank=1, raw=1.0, share=score),)
    match = RetrievedLesson(lesson=lesson, shares=shares, overlap=LexicalOverlap(), stems=frozenset({WORDS[number]}))
    return Ranked(lesson=lesson, rank=1, score=score, why=Why(shares=shares, multipliers=())), match


def test_lessons_that_were_not_read_count_among_the_rest() -> None:
    briefing = assemble([pair(0)], moment="prompt", limit=2, budget_tokens=2_000, extra=7, hint="holdfast list")
    assert briefing.more == 7
    assert "7 more: holdfast list" in briefing.text
    alone = assemble([pair(0)], moment="prompt", limit=2, budget_tokens=2_000)
    assert alone.more == 0
    assert "more" not in alone.text


def test_a_line_for_who_queries_is_longer_than_one_that_is_pushed() -> None:
    long = "Keep the anchors tidy, " + "and the beacons of the basin " * 40
    on_demand = assemble([pair(0, insight=long)], moment="on_demand", limit=1, budget_tokens=4_000)
    pushed = assemble([pair(0, insight=long)], moment="prompt", limit=1, budget_tokens=4_000)
    assert pushed.tokens < on_demand.tokens
    assert LINE_TOKENS < count_tokens(on_demand.text) <= 420


def test_of_lessons_that_do_not_all_fit_the_worthiest_are_delivered() -> None:
    long = "Keep the anchors tidy, " + "and the beacons of the basin " * 6
    pairs = [pair(0, 0.9, long), *(pair(number, 0.8) for number in range(1, 4))]
    whole = assemble(pairs[1:], moment="prompt", limit=3, budget_tokens=4_000)
    tight = assemble(pairs, moment="prompt", limit=3, budget_tokens=whole.tokens + 9)
    assert [item.lesson.id for item in tight.items] == [ranked.lesson.id for ranked, _ in pairs[1:]]
    assert tight.more == 1


def test_an_answer_without_lessons_is_empty_unless_a_state_is_restored() -> None:
    assert assemble([], moment="prompt", limit=2, budget_tokens=2_000).text == ""
    restored = assemble([], moment="prompt", limit=2, budget_tokens=2_000, checkpoint_text="goal: chart")
    assert "goal: chart" in restored.text
    assert render((), 0, "x", "") == ""
    assert "goal" in render((), 0, "x", "goal")
    assert "a line" in render((Line(text="a line", tokens=2),), 0, "x", "")


# Links


def named(memory: Memory, *links: Link) -> str:
    """A lesson that the question `what is the mooring plan?` names, with those links."""
    return keep(memory, "Ferries moor at the quay.", tags=("mooring plan",), links=links).id


def answered(memory: Memory, **options: Any) -> list[tuple[str, str, float]]:
    query = question(memory.services, memory.location, "what is the mooring plan?", **options)
    from holdfast.recall.retrieve import PARTICULAR, retrieve

    matches = filter_relevant(memory.services, query, retrieve(memory.services, query, PARTICULAR).matches, PUSHED)
    return [(match.lesson.insight, match.via, sum(share.share for share in match.shares)) for match in matches]


@pytest.mark.parametrize(
    ("kind", "fields", "is_followed"),
    [
        ("relates_to", {}, True), ("refines", {}, True), ("caused_by", {}, True), ("contradicts", {}, False),
        ("duplicates", {}, False), ("refines", {"state": "retired"}, False), ("refines", {"project": "other"}, False),
        ("refines", {"valid_to": START + timedelta(days=1)}, False),
    ],
)  # fmt: skip
def test_a_link_of_a_named_lesson_is_followed_by_its_kind_to_what_may_be_seen(
    memory: Memory, kind: Any, fields: dict[str, Any], is_followed: bool
) -> None:
    aim = make_lesson(**{"project": memory.location.project.id, "insight": "Basin one is dredged.", **fields})
    memory.services.store.put([aim], {aim.id: None})
    named(memory, Link(kind=kind, target=aim.id), Link(kind=kind, target="gone"))  # type: ignore[arg-type]
    rows = answered(memory)
    assert [row[:2] for row in rows[1:]] == (
        [("Basin one is dredged.", "linked to a lesson that the question names")] if is_followed else []
    )


def test_a_linked_lesson_has_half_the_score_and_is_delivered_once(memory: Memory) -> None:
    aim = keep(memory, "Basin one is dredged.")
    link = Link(kind="refines", target=aim.id)
    named(memory, link, Link(kind="relates_to", target=aim.id))
    first, second = answered(memory)
    assert second[2] == pytest.approx(first[2] / 2)
    assert len(answered(memory, as_of=memory.services.clock.now())) == 1


def test_a_question_that_names_a_lesson_is_about_that_one(memory: Memory) -> None:
    named(memory)
    keep(memory, "The plan of the mooring buoys is kept by ada.")
    assert [row[0] for row in answered(memory)] == ["Ferries moor at the quay."]


# Reasons


@pytest.mark.parametrize(
    ("shares", "via", "matched", "words"),
    [
        ((("exact", 1.0),), "", (), "names the same thing"),
        ((("path", 1.0),), "", (), "about this file"),
        ((("path", 0.01),), "", (), "nearest"),
        ((("pinned", 0.0), ("recent", 0.0)), "", (), "pinned; recent"),
        ((("text", 1.0),), "", ("a", "b", "c", "d", "e"), "shares a, b, c, d"),
        ((("exact", 1.0),), "linked to it", ("a",), "linked to it; names the same thing; shares a"),
        ((), "", (), "nearest"),
    ],
)
def test_a_choice_says_why(
    shares: tuple[tuple[str, float], ...], via: str, matched: tuple[str, ...], words: str
) -> None:
    rankings = tuple(RetrieverShare(lane=retriever, rank=1, raw=raw, share=0.1) for retriever, raw in shares)
    match = RetrievedLesson(
        lesson=make_lesson(), shares=rankings, overlap=LexicalOverlap(matched=matched), stems=frozenset(), via=via
    )
    assert reason(match) == words
