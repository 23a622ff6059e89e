from __future__ import annotations

import pytest

from tests.hosts.golden import actual, cases, expected


@pytest.mark.parametrize("host", sorted({case.parent.name for case in cases()}))
def test_recorded_cases_give_the_reviewed_results(host: str) -> None:
    ours = [case for case in cases() if case.parent.name == host]
    assert {case.name: actual(case) for case in ours} == {case.name: expected(case) for case in ours}
