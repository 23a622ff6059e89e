"""Rows of the tables that hold a number at its boundary: what it admits, and what the next value beyond it does."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NamedTuple

import pytest


class Boundary(NamedTuple):
    """A constant, the number that it is, and what a function does for that number and for the next one beyond it."""

    module: ModuleType
    name: str
    number: float
    beyond: float
    outcome_of: Callable[[Any], object]
    inside: object
    outside: object

    def check(self) -> None:
        assert self.inside != self.outside, "a row must tell the two sides apart"
        assert getattr(self.module, self.name) == self.number
        assert self.outcome_of(self.number) == self.inside, f"at {self.number}"
        assert self.outcome_of(self.beyond) == self.outside, f"at {self.beyond}"


def each(rows: Sequence[Boundary]) -> pytest.MarkDecorator:
    """Run a test once for each row, named after the constant."""
    ids = [f"{row.module.__name__.removeprefix('holdfast.')}.{row.name}" for row in rows]
    return pytest.mark.parametrize("boundary", rows, ids=ids)
