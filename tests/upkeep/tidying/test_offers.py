"""Offers: each step of a tidying is accepted or refused alone, and a refused one does not come again."""

from __future__ import annotations

import pytest

from holdfast.bootstrap import Memory
from holdfast.errors import InvalidValueError
from holdfast.reports.reviewqueue import ReviewItem
from holdfast.upkeep.tidying.offers import Offer, collect_offers, look_at_offers
from holdfast.upkeep.tidying.proposal import Step
from holdfast.upkeep.tidying.refusals import refuse, reopen
from holdfast.upkeep.tidying.tidy import apply_step, keep, propose
from tests.upkeep.tidying.stand_in import FLOATS, FLOATS_TOO, StandInModel, put


def offers_of(memory: Memory) -> list[Offer]:
    return collect_offers(memory.services, memory.location, {})


def looks_of(memory: Memory, offers: list[Offer]) -> list[ReviewItem]:
    return list(look_at_offers(memory.services, memory.location, offers).values())


def test_a_merge_shows_the_texts_and_the_result_and_is_taken_back_alone(memory: Memory) -> None:
    put(memory, FLOATS, FLOATS_TOO)
    (offer,) = offers_of(memory)
    (look,) = looks_of(memory, [offer])
    assert (look.kind, offer.step.verb, look.reason) == ("tidy", "merge", "they say the same")
    stays, gone = (lesson.insight or lesson.title for lesson in look.lessons)
    assert ("-", gone) in [(line.mark, line.text) for line in look.diff]
    assert (" ", stays) in [(line.mark, line.text) for line in look.diff]
    change = apply_step(memory.services, memory.location, offer.step)
    assert memory.get(offer.step.replaces[0]).state == "superseded"
    assert looks_of(memory, [offer]) == []
    assert memory.undo().undone == change.id
    assert [again.diff for again in looks_of(memory, [offer])] == [look.diff]


def test_a_refused_step_is_not_offered_again_until_its_words_change_or_the_refusal_is_taken_back(
    memory: Memory,
) -> None:
    put(memory, FLOATS, FLOATS_TOO)
    (offer,) = offers_of(memory)
    refuse(memory.services, memory.location, offer.item.digest)
    refuse(memory.services, memory.location, offer.item.digest)
    assert looks_of(memory, [offer]) == offers_of(memory) == []
    assert propose(memory.services, memory.location).steps == ()
    reopen(memory.services, memory.location, offer.item.digest)
    assert offers_of(memory) == [offer]
    refuse(memory.services, memory.location, offer.item.digest)
    memory.edit(offer.step.replaces[0], title="Cents are integers in the ledger table")
    assert [set(each.step.ids) for each in offers_of(memory)] == [set(offer.step.ids)]


def test_what_a_model_proposed_and_waits_is_offered_without_asking_it_again(memory: Memory) -> None:
    ledger, gone = put(memory, "The ledger closes at six in the evening.", "Mind the lamp beside the blue door.")
    model = StandInModel(lambda names: {"merge": [], "retire": [{"lesson": names[gone.title], "reason": "of no use"}]})
    proposal = propose(memory.services, memory.location, lambda: model)
    keep(memory.services, memory.location, proposal)
    (offer,) = [each for each in offers_of(memory) if each.step.verb == "retire"]
    assert (offer.step.by, offer.item.lessons, len(model.prompts)) == ("stand-in", (gone.id,), 1)
    apply_step(memory.services, memory.location, offer.step)
    assert (memory.get(gone.id).state, memory.get(ledger.id).state) == ("retired", "active")


def test_a_step_is_refused_where_it_would_lose_something(memory: Memory) -> None:
    (lesson,) = put(memory, "The ledger closes at six in the evening.", trust="person")
    with pytest.raises(InvalidValueError, match="a person said it"):
        apply_step(memory.services, memory.location, Step(verb="retire", lesson=lesson.id))
    (elsewhere,) = put(memory, "Mind the lamp beside the blue door.", state="candidate")
    with pytest.raises(InvalidValueError, match="no longer confirmed"):
        apply_step(memory.services, memory.location, Step(verb="retire", lesson=elsewhere.id))


def test_a_better_title_is_offered_as_a_diff(memory: Memory) -> None:
    (lesson,) = put(memory, FLOATS, title="Amounts of money")
    offers = [offer for offer in offers_of(memory) if offer.step.verb == "retitle"]
    (look,) = looks_of(memory, offers)
    assert [(line.mark, line.text) for line in look.diff] == [
        (" ", lesson.insight), ("±", offers[0].step.title)
    ]  # fmt: skip
