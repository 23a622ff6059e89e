"""The store on PostgreSQL meets the contract, and each of its statements reads one partition of each table."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.contract.store_contract import StoreContract
from tests.contract.store_questions import assert_found, minutes, reachable
from tests.postgresql import Database
from tests.stores.plans import PARTITIONS, PlanCheck

from holdfast.ports.store import Store
from holdfast.stores.postgresql import make


@pytest.fixture(scope="module")
def plans(database: Database) -> Iterator[PlanCheck]:
    check = PlanCheck(database)
    yield check
    check.close()


@pytest.fixture
def store(database: Database, organisation: int, plans: PlanCheck) -> Iterator[Store]:
    made = make({"url": database.store_url(organisation, partitions=PARTITIONS)})
    made.tenant.database.cursor_class = plans.cursor_class()
    with made as opened:
        yield opened


class TestPostgresStore(StoreContract):
    """The fixture `store` is above."""


def test_the_statements_of_every_search_are_planned(store: Store, plans: PlanCheck) -> None:
    lesson = reachable(store)
    assert_found(store, lesson, True)
    assert_found(store, lesson, True, as_of=minutes(1))
    planned = set().union(*plans.statements.values())
    assert planned >= {"lessons", "anchors", "tokens", "triggers", "words", "postings", "vectors", "counters"}


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT count(*) FROM lessons WHERE row = %s",
        "SELECT l.id FROM lessons l JOIN tokens t ON t.lesson = l.row WHERE l.org = %s",
        "UPDATE lessons SET pinned = true WHERE id = %s::text",
        "DELETE FROM postings WHERE lesson = %s",
    ],
)
def test_a_statement_that_names_no_organisation_is_noticed(store: Store, plans: PlanCheck, statement: str) -> None:
    with pytest.raises(AssertionError, match="partitions of"):
        plans.check(statement, (1,))
