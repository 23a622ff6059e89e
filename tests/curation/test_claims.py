"""What becomes of a claim: an idea that lands in a commit is shipped, one that does not fades. Git decides."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.curation.claims import settle_claims, status_of
from holdfast.curation.tuning import (
    CLAIMS_FOLLOWED,
    CLAIMS_READ,
    FLOATED_DAYS,
    LEAST_NAME,
    LONGEST_NAME,
    NAMES_LOOKED_FOR,
)
from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import FLOATED, SHIPPED
from holdfast.lessons.ledger import write_change
from holdfast.recall.briefline import RULE, TITLE, lines_of
from holdfast.testing.builders import make_lesson
from tests.codebase import Codebase


@pytest.fixture
def code(tmp_path: Path) -> Codebase:
    return Codebase(tmp_path / "quay")


def put(memory: Memory, insight: str, days: float, **fields: Any) -> Lesson:
    """A claim of that many days ago, about src/store.py as it is committed now."""
    stated = memory.remember(
        f"Values stay where they are for {days} days", files=["src/store.py"], trust="agent", kind="decision"
    )
    at = memory.services.clock.now() - timedelta(days=days)
    since = stated.validity.__class__(valid_from=at)
    claim = make_lesson(
        insight=insight, project=memory.location.project.id, anchors=stated.anchors, validity=since, kind="decision",
        **fields,
    )  # fmt: skip
    write_change(memory.services, memory.location, "learn", [claim], {claim.id: None})
    return claim


def settle(memory: Memory) -> tuple[int, int]:
    report = settle_claims(memory.services, memory.location)
    return len(report.shipped), len(report.faded)


def test_an_idea_whose_name_lands_in_a_commit_is_shipped(code: Codebase) -> None:
    with Memory(str(code.folder)) as memory:
        idea = put(memory, "Perhaps Store keeps a `berth_ledger` beside the values.", 1, tags=(FLOATED,))
        assert (status_of(idea), settle(memory)) == ("floated", (0, 0))
        code.edit("src/store.py", "class Store:", "berth_ledger = {}\n\n\nclass Store:")
        code.commit("Add the berth ledger")
    with Memory(str(code.folder)) as memory:
        assert settle(memory) == (1, 0)
        assert status_of(memory.get(idea.id)) == "shipped"
        assert memory.get(idea.id).tags == (SHIPPED,)
        assert settle(memory) == (0, 0)


@pytest.mark.parametrize(
    ("days", "tags", "faded"), [(FLOATED_DAYS + 1, (FLOATED,), 1), (FLOATED_DAYS - 1, (FLOATED,), 0), (20, (), 0)]
)
def test_an_idea_that_never_lands_fades_after_its_days_and_undo_brings_it_back(
    code: Codebase, days: int, tags: tuple[str, ...], faded: int
) -> None:
    with Memory(str(code.folder)) as memory:
        claim = put(memory, "Store may keep a `berth_ledger` one day.", days, tags=tags)
        assert settle(memory) == (0, faded)
        assert memory.get(claim.id).state == ("retired" if faded else "active")
        if faded:
            memory.undo()
            assert memory.get(claim.id).state == "active"


def test_an_idea_is_never_delivered_as_a_rule() -> None:
    fields: dict[str, Any] = {"kind": "convention", "trust": "person", "pinned": False}
    rule = "Never commit tide tables by hand."
    [decided], [floated] = (lines_of([make_lesson(insight=rule, tags=tags, **fields)]) for tags in ((), (FLOATED,)))
    assert (decided.part, floated.part) == (RULE, TITLE)
    assert floated.worth < decided.worth


def test_a_claim_that_a_later_one_replaced_is_amended_and_a_cause_has_no_status() -> None:
    assert status_of(make_lesson(kind="decision", state="superseded")) == "amended"
    assert status_of(make_lesson(kind="decision")) == "decided"
    assert status_of(make_lesson(kind="bug_cause")) == ""


def test_the_numbers_of_claims() -> None:
    assert (CLAIMS_READ, FLOATED_DAYS, CLAIMS_FOLLOWED, NAMES_LOOKED_FOR, LEAST_NAME, LONGEST_NAME) == (
        1_000,
        14,
        20,
        2,
        6,
        80,
    )
