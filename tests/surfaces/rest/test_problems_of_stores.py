"""What a reader of the interface sees when the store fails."""

from __future__ import annotations

import pytest

from holdfast.errors import StoreError, StoreFullError, StoreUnavailableError
from holdfast.surfaces.rest.problems import problem_of


@pytest.mark.parametrize(("kind", "status"), [(StoreError, 503), (StoreUnavailableError, 503), (StoreFullError, 507)])
def test_a_problem_of_the_store_names_neither_its_host_nor_its_file(kind: type[StoreError], status: int) -> None:
    error = kind("PostgreSQL at db.internal:5432, database memory: the connection failed", hint="look at db.internal")
    problem, headers = problem_of(error, "42")
    assert problem.status == status
    assert "db.internal" not in f"{problem} {headers}"
    assert problem.request == "42"
