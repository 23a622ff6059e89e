from __future__ import annotations

from pathlib import Path

import pytest

from tests.hosts.golden import actual, cases, expected


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.parent.name}-{case.name}")
def test_a_recorded_case_gives_the_reviewed_result(case: Path) -> None:
    assert actual(case) == expected(case)
