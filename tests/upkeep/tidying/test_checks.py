"""What a step may not lose or change: a case that is refused and one that passes for each guard."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.domain.lesson import Lesson, Provenance
from holdfast.testing.builders import make_lesson
from holdfast.upkeep.tidying.checks import check, is_persons
from holdfast.upkeep.tidying.proposal import Step


def lesson(insight: str, **fields: Any) -> Lesson:
    return make_lesson(insight=insight, **{"trust": "agent", "confidence": 0.7, **fields})


def refusals(step: Step, *lessons: Lesson, shared: tuple[str, ...] = ()) -> str:
    return "\n".join(check([step], {entry.id: entry for entry in lessons}, shared)[1])


def merging(stays: Lesson, gone: Lesson, **fields: Any) -> str:
    return refusals(Step(verb="merge", lesson=stays.id, replaces=(gone.id,), **fields), stays, gone)


RULE = "Retries of the gateway client are capped, because the gateway bans callers"


@pytest.mark.parametrize(
    ("stays", "gone", "fault"),
    [
        ("Never cache tokens of the gateway on disk", "Cache tokens of the gateway on disk", "opposite"),
        ("Never cache tokens of the gateway on disk", "Never cache the gateway's tokens on the disk", ""),
        ("Retries of the gateway client are capped at 3", "Retries of the gateway client are capped at 5", "opposite"),
        ("Gateway retries wait between calls", "Gateway retries wait 250 ms between calls", "a number would be lost"),
        ("Gateway retries wait 250 ms between calls", "Gateway retries wait between calls", ""),
        (
            "The hook skips auto commits on main: allowed() = false",
            "The hook makes auto commits on main: allowed() = true",
            "opposite",
        ),
        (
            "The hook skips auto commits on main: allowed() = false",
            "On main the hook skips auto commits: allowed() = false",
            "",
        ),
        ("The tide tables are in metres", "Release tags are cut from stable", "too little in common"),
    ],
)
def test_a_merge_turns_no_negation_and_loses_no_number(stays: str, gone: str, fault: str) -> None:
    reason = merging(lesson(stays), lesson(gone))
    assert fault in reason
    assert bool(reason) == bool(fault)


@pytest.mark.parametrize(
    ("title", "fault"),
    [
        ("Retries of `GatewayClient` are capped", "`GatewayClient` is not in the lesson"),
        ("Cap retries of the gateway client at 7", "the number 7 is not in the lesson"),
        ("Never cap retries of the gateway client", "denies"),
        ("Gateway retries", "it only names a topic"),
        ("Cap retries of the gateway client: the gateway bans callers", ""),
    ],
)
def test_a_title_has_the_lessons_own_names_numbers_and_negations(title: str, fault: str) -> None:
    known = lesson("Cap retries of the gateway client, because the gateway bans callers")
    reason = refusals(Step(verb="retitle", lesson=known.id, title=title), known)
    assert fault in reason
    assert bool(reason) == bool(fault)


PERSONS = [
    {"trust": "person", "confidence": 0.95},
    {"provenance": Provenance(quotes_person=True)},
    {"pinned": True},
    {"confidence": 0.9},
]


@pytest.mark.parametrize("fields", PERSONS)
def test_what_a_person_stated_pinned_or_accepted_is_neither_retired_nor_replaced_by_an_agents(
    fields: dict[str, Any],
) -> None:
    persons, agents = lesson(RULE, **fields), lesson(f"{RULE}.")
    assert is_persons(persons)
    assert not is_persons(agents)
    assert "a person said it" in refusals(Step(verb="retire", lesson=persons.id), persons)
    assert "a person said what would be replaced" in merging(agents, persons)
    assert merging(persons, agents) == ""
    assert refusals(Step(verb="retire", lesson=agents.id), agents) == ""


def test_a_model_gives_a_persons_rule_no_title() -> None:
    persons, agents = lesson(RULE, trust="person"), lesson(f"{RULE}.")
    step = Step(verb="merge", lesson=persons.id, replaces=(agents.id,), title="Cap the gateway's retries", by="model")
    (accepted,), _ = check([step], {persons.id: persons, agents.id: agents})
    assert accepted.title == ""


@pytest.mark.parametrize(
    ("fields", "fault"),
    [
        ({"prefix": "packages/api"}, "they are for different readers"),
        ({"private": True}, "only one of them is private"),
        ({"error_signature": "e2"}, "they are about different failures"),
        ({}, ""),
    ],
)
def test_lessons_for_others_or_about_another_failure_are_not_merged(fields: dict[str, Any], fault: str) -> None:
    stays, gone = lesson(RULE, error_signature="e1"), lesson(f"{RULE}.", **{"error_signature": "e1", **fields})
    reason = merging(stays, gone)
    assert fault in reason
    assert bool(reason) == bool(fault)


@pytest.mark.parametrize(("shared", "is_refused"), [((0,), True), ((0, 1), False), ((1,), False), ((), False)])
def test_a_shared_lesson_is_only_replaced_by_a_shared_one(shared: tuple[int, ...], is_refused: bool) -> None:
    gone, stays = pair = lesson(RULE), lesson(f"{RULE}.")
    step = Step(verb="merge", lesson=stays.id, replaces=(gone.id,))
    reason = refusals(step, *pair, shared=tuple(pair[number].id for number in shared))
    assert bool(reason) == is_refused


def test_a_lesson_is_closed_once_and_stays_if_another_step_needs_it() -> None:
    first, second, third = lesson(RULE), lesson(f"{RULE}."), lesson(f"{RULE}!")
    steps = [
        Step(verb="merge", lesson=first.id, replaces=(second.id,)),
        Step(verb="retire", lesson=second.id),
        Step(verb="merge", lesson=third.id, replaces=(first.id,)),
        Step(verb="retire", lesson=first.id),
        Step(verb="merge", lesson=first.id, replaces=(third.id,)),
        Step(verb="retire", lesson="unknown"),
        Step(verb="merge", lesson=first.id),
    ]
    accepted, refused = check(steps, {entry.id: entry for entry in (first, second, third)})
    assert [step.replaces for step in accepted] == [(second.id,), (third.id,)]
    assert len(refused) == 5
    assert sum("another step is about the same lesson" in reason for reason in refused) == 3
    assert "no longer confirmed and living" in refused[3]
    assert "it replaces nothing" in refused[4]
