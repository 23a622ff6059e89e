"""Instants as text: always 27 characters, so that texts are in the order of the times."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from holdfast.lean.plain import parse_instant, render_instant


@pytest.mark.parametrize("year", [1, 273, 999, 1970, 9999])
def test_every_year_has_four_digits(year: int) -> None:
    at = datetime(year, 3, 4, 5, 6, 7, tzinfo=UTC)
    assert render_instant(at) == f"{year:04}-03-04T05:06:07.000000Z"
    assert parse_instant(render_instant(at)) == at
