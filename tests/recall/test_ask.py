"""How a question is answered: its readings, the ranker, disputes, further lessons, and what is said to be nearest."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Anchor, Link
from holdfast.domain.query import Query
from holdfast.domain.symbol import Neighbour
from holdfast.domain.vocabulary import ProjectId
from holdfast.lean.texts import short_id
from holdfast.ranking import ranker
from holdfast.ranking.fuse import score_of, total
from holdfast.recall.ask import ask, find, rows_of
from holdfast.recall.embed import embed_pending
from holdfast.recall.question import question
from holdfast.recall.retrieve import PARTICULAR
from holdfast.testing.builders import START
from tests.recall.test_moments import keep
from tests.recall.test_tuning import Index

ABOUT = {"kind": "constraint", "trust": "agent"}


def answer(memory: Memory, text: str = "", *, limit: int = 9, budget_tokens: int = 2_000, **options: Any) -> Any:
    asked_for = {name: options.pop(name) for name in ("unconfirmed", "moment") if name in options}
    query = question(memory.services, memory.location, text, **options)
    return ask(memory.services, memory.location, query, limit=limit, budget_tokens=budget_tokens, **asked_for)


def insights(briefing: Any) -> list[str]:
    return [item.lesson.insight for item in briefing.items]


# The ranker


@pytest.fixture
def ranked(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A memory of few lessons whose answers the ranker orders all the same."""
    monkeypatch.setattr(ranker, "RANKED_LESSONS", 2)
    for number in range(4):
        keep(
            memory, f"Drain the retry queue of worker {number}.", anchors=(Anchor(path=f"src/worker{number}.py"),),
            tags=(f"plan {number}",), **ABOUT,
        )  # fmt: skip
    return memory


def test_the_rankers_share_lifts_each_lesson_to_its_worth_of_the_best_score(ranked: Memory) -> None:
    query = question(ranked.services, ranked.location, "drain the retry queue", paths=["src/worker2.py"])
    matches = find(ranked.services, query, PARTICULAR).matches
    before = [[share for share in match.shares if share.lane != "ranker"] for match in matches]
    most = max(map(total, before))
    added = [next(share for share in match.shares if share.lane == "ranker") for match in matches]
    assert [share.rank for share in added] == [1, 2, 3, 4]
    assert [share.raw for share in added] == sorted((share.raw for share in added), reverse=True)
    assert added[0].raw == 1.0
    for match, share in zip(matches, added, strict=True):
        assert total(match.shares) == pytest.approx(share.raw * most)


def test_an_exact_match_stays_first_and_has_no_share_of_the_ranker(ranked: Memory) -> None:
    exact = keep(ranked, "Ferries moor by themselves.", error_signature="KeyError: 'queue'", **ABOUT)
    query = question(ranked.services, ranked.location, "drain the retry queue", error="KeyError: 'queue'")
    matches = find(ranked.services, query, PARTICULAR).matches
    assert matches[0].lesson.id == exact.id
    assert not any(share.lane == "ranker" for share in matches[0].shares)
    ranks = [share.rank for match in matches for share in match.shares if share.lane == "ranker"]
    assert ranks == list(range(2, len(matches) + 1))


def test_the_ranker_orders_no_answer_to_a_file_alone(ranked: Memory) -> None:
    query = question(ranked.services, ranked.location, paths=["src/worker1.py"])
    rankings = {share.lane for match in find(ranked.services, query, PARTICULAR).matches for share in match.shares}
    assert "path" in rankings
    assert "ranker" not in rankings
    assert find(ranked.services, replace(query, project=ProjectId("none")), PARTICULAR).matches == ()


def test_the_rankers_rows_tell_text_place_and_age(ranked: Memory) -> None:
    keep(ranked, "Queue of workers.", path="src/worker2.py", recorded_at=START, **ABOUT)
    query = question(ranked.services, ranked.location, "drain the retry queue", paths=["src/worker2.py"])
    from holdfast.recall.retrieve import retrieve

    matches = retrieve(ranked.services, query, ("text", "path")).matches
    rows = dict(zip((match.lesson.insight for match in matches), rows_of(ranked.services, query, matches), strict=True))
    text, path, age = 6, 2, 10
    best = max(share.raw for match in matches for share in match.shares if share.lane == "text")
    for match in matches:
        raws = {share.lane: share.raw for share in match.shares}
        row = rows[match.lesson.insight]
        assert row[text] == pytest.approx(raws.get("text", 0.0) / best)
        assert (row[path] > 0) is ("path" in raws)
        assert row[age] > 0
    both = [row[path] for name, row in rows.items() if "worker 2" in name or name == "Queue of workers."]
    alone = rows_of(ranked.services, query, [match for match in matches if "worker 2" in match.lesson.insight])[0][path]
    assert len(both) == 2
    assert max(both) < alone
    timed = replace(query, since=START)
    assert all(row[age] == 0 for row in rows_of(ranked.services, timed, matches))
    assert all(row[age] == 0 for row in rows_of(ranked.services, replace(query, until=START), matches))
    then = rows_of(ranked.services, replace(query, as_of=START + timedelta(days=1)), matches)
    assert all(0 < row[age] < rows[match.lesson.insight][age] for row, match in zip(then, matches, strict=True))


# Readings


def test_an_error_is_queried_as_a_text_and_by_the_words_of_its_signature(memory: Memory) -> None:
    lesson = keep(memory, "Harbour socket refuses pilots until the beacon announced itself.", **ABOUT)
    noise = "\n".join(f"line {n} of some output that says nothing at all" for n in range(40))
    error = f"{noise}\nRuntimeError: harbour socket refuses pilots, beacon not announced\n"
    assert insights(answer(memory, error=error)) == [lesson.insight]


def test_a_question_for_a_kind_alone_lists_the_kind_and_with_a_file_is_about_the_file(memory: Memory) -> None:
    failed = keep(memory, "Dredging by hand failed twice.", kind="failed_approach", path="src/tides.py")
    elsewhere = keep(memory, "Sounding by hand failed.", kind="failed_approach", path="src/other.py")
    keep(memory, "The basin is dredged in spring.", kind="decision", path="src/tides.py")
    assert set(insights(answer(memory, "what failed before?"))) == {failed.insight, elsewhere.insight}
    of_file = insights(answer(memory, "what failed before?", paths=["src/tides.py"]))
    assert failed.insight in of_file
    assert elsewhere.insight not in of_file


def test_a_time_with_a_file_is_about_the_file(memory: Memory) -> None:
    at = memory.services.clock.now() - timedelta(days=1)
    about = keep(memory, "Tides are read at noon.", path="src/tides.py", recorded_at=at, valid_from=at, **ABOUT)
    other = keep(memory, "Ferries moor at the quay.", recorded_at=at, valid_from=at, **ABOUT)
    assert set(insights(answer(memory, "what did we learn yesterday?"))) == {about.insight, other.insight}
    assert insights(answer(memory, "what did we learn yesterday?", paths=["src/tides.py"])) == [about.insight]


def test_linked_files_are_looked_up_once_and_only_for_files(memory: Memory) -> None:
    looked_up: list[str] = []

    class Links(Index):
        def neighbours(self, place: object, path: str) -> list[Neighbour]:
            looked_up.append(path)
            return [Neighbour(path="src/linked.py", weight=0.9, relation="edited_together")]

    memory.services = replace(memory.services, codeindex=Links)
    linked = keep(memory, "Linked files are read first.", path="src/linked.py", **ABOUT)
    answer(memory, "anything at all")
    assert looked_up == []
    assert insights(answer(memory, paths=["src/tides.py"])) == [linked.insight]
    assert looked_up == ["src/tides.py"]
    known = (Neighbour(path="src/known.py", weight=0.9, relation="edited_together"),)
    query = replace(question(memory.services, memory.location, paths=["src/tides.py"]), linked=known)
    ask(memory.services, memory.location, query, limit=3, budget_tokens=900)
    assert looked_up == ["src/tides.py"]


# Unconfirmed lessons


@pytest.mark.parametrize(
    ("trust", "answers"),
    [("person", True), ("verified", True), ("agent", True), ("repository", False), ("tool", False)],
)
def test_unconfirmed_lessons_answer_by_whose_they_are_and_not_about_the_past(
    memory: Memory, trust: str, answers: bool
) -> None:
    waiting = keep(memory, "The basin is dredged in spring.", state="candidate", kind="constraint", trust=trust)
    keep(memory, "Ferries moor at the quay.", **ABOUT)
    text = "when is the basin dredged in spring"
    assert (waiting.insight in insights(answer(memory, text, unconfirmed=("candidate",)))) is answers
    assert insights(answer(memory, text)) == []
    past = answer(memory, text, unconfirmed=("candidate",), as_of=memory.services.clock.now())
    assert waiting.insight not in insights(past)


def test_further_lessons_come_behind_those_that_the_ranker_orders(memory: Memory) -> None:
    for number in range(70):
        keep(memory, f"Tide gauge {number} is read at noon by pilot {number}.", tags=("tide gauge",), **ABOUT)
    keep(memory, "Tide gauge of a tool is read.", tags=("tide gauge",), kind="constraint", trust="tool")
    embed_pending(memory.services)
    sixty = answer(memory, "tide gauge", limit=60, budget_tokens=90_000)
    assert (len(sixty.items), sixty.more) == (60, 0)
    many = answer(memory, "tide gauge", limit=61, budget_tokens=90_000)
    assert len(many.items) == 61
    assert insights(many)[:60] == insights(sixty)
    assert len(set(insights(many))) == 61
    assert many.more == 10


# Disputes


def test_opposed_rules_stand_together_the_better_proven_first(memory: Memory) -> None:
    keep(memory, "Always dredge the basin before the spring tide.", **ABOUT)
    newer = keep(
        memory, "Never dredge the basin before the spring tide.", recorded_at=START + timedelta(days=1), **ABOUT
    )
    briefing = answer(memory, "dredge the basin before the spring tide")
    assert briefing.items[0].lesson.id == newer.id
    assert [pair[0] for pair in briefing.disputes] == [newer.id]
    assert briefing.text.count("These two disagree") == 1
    shortest = answer(memory, "dredge the basin before the spring tide", limit=1)
    assert shortest.disputes == ()
    assert "These two disagree" not in shortest.text
    assert "disagrees with" in shortest.text


@pytest.mark.parametrize(
    ("first", "second", "disagree"),
    [
        ({"path": "src/a.py"}, {"path": "src/b.py"}, False),
        ({"path": "src/a.py"}, {"path": "src/a.py"}, True),
        ({}, {}, True),
        (
            {},
            {"insight": "Never dredge the basin, the quay, the harbour, the sound or docks before a spring tide."},
            False,
        ),
        ({}, {"insight": "Dredge the basin before the high spring tide."}, False),
    ],
)
def test_rules_about_different_files_or_of_few_words_in_common_do_not_disagree(
    memory: Memory, first: dict[str, Any], second: dict[str, Any], disagree: bool
) -> None:
    keep(memory, **{"insight": "Always dredge the basin before the spring tide.", **ABOUT, **first})
    keep(memory, **{"insight": "Never dredge the basin before the spring tide.", **ABOUT, **second})
    assert bool(answer(memory, "dredge the basin before the spring tide").disputes) is disagree


def test_each_lesson_stands_in_one_dispute_and_names_all_that_it_is_in(memory: Memory) -> None:
    target = keep(memory, "The basin is dredged in spring by hand.", **ABOUT)
    link = (Link(kind="contradicts", target=target.id),)
    for month in ("May", "June"):
        keep(memory, f"The basin is dredged in {month} by machine.", links=link, **ABOUT)
    keep(memory, "The basin is dredged by pilots.", links=(Link(kind="refines", target=target.id),), **ABOUT)
    briefing = answer(memory, "how is the basin dredged")
    assert len(briefing.disputes) == 1
    assert target.id in briefing.disputes[0]
    assert briefing.text.count(f"disagrees with {short_id(target.id)}") == 1


@pytest.mark.parametrize(
    ("fields", "exclude", "is_told"),
    [
        ({}, False, True),
        ({"state": "retired"}, False, False),
        ({"state": "candidate"}, False, False),
        ({}, True, False),
    ],
)
def test_what_a_match_contradicts_is_delivered_with_it_where_it_is_active_and_not_left_out(
    memory: Memory, fields: dict[str, Any], exclude: bool, is_told: bool
) -> None:
    against = keep(memory, "Ferries moor by themselves.", **{**ABOUT, **fields})
    links = (Link(kind="contradicts", target=against.id), Link(kind="contradicts", target="gone"))  # type: ignore[arg-type]
    keep(memory, "The basin is dredged in spring.", links=links, **ABOUT)
    keep(memory, "The basin is sounded in spring, too.", links=links, **ABOUT)
    query = question(memory.services, memory.location, "when is the basin dredged or sounded in spring")
    query = replace(query, exclude=(against.id,) if exclude else ())
    briefing = ask(memory.services, memory.location, query, limit=9, budget_tokens=2_000)
    opponents = [item for item in briefing.items if item.lesson.id == against.id]
    assert len(opponents) == is_told
    assert all("contradicts a lesson that was found" in item.why.words for item in opponents)


# What fits and what is nearest


def test_where_nothing_passes_the_nearest_are_delivered_best_first_and_the_rest_counted(memory: Memory) -> None:
    for pier in ("north", "south", "east", "west", "middle"):
        keep(
            memory,
            f"The pilot roster of the {pier} pier is cached for an hour, so refresh it after an import.",
            **ABOUT,
        )
    briefing = answer(memory, "add a dark theme to the settings page before the release and mention the import")
    assert (briefing.items, briefing.near_more) == ((), 2)
    scores = [score_of(item.why) for item in briefing.near]
    assert scores == sorted(scores, reverse=True)
    assert len(scores) == 3


def test_a_query_by_hand_without_anything_lists_what_there_is(memory: Memory) -> None:
    keep(memory, "Ferries moor at the quay.", **ABOUT)
    query = Query(project=memory.location.project.id, at=memory.services.clock.now())
    assert insights(ask(memory.services, memory.location, query, limit=3, budget_tokens=900)) == [
        "Ferries moor at the quay."
    ]
