"""The labelled pairs: both halves keep their floor, and what may close a lesson without asking is never wrong."""

from __future__ import annotations

from typing import Any

import pytest
from benchmarks.conflicts import HALVES, PAIRS, read_pairs, score

from holdfast.compare.contradiction import RELATIONS


def test_the_set_is_large_well_formed_and_split_by_id() -> None:
    pairs = read_pairs()
    assert len(pairs) >= 150
    assert len({pair.id for pair in pairs}) == len(pairs) == len(PAIRS.read_text().splitlines()) - 1
    assert {pair.label for pair in pairs} == set(RELATIONS)
    for half in HALVES:
        assert sum(pair.half == half for pair in pairs) > len(pairs) / 3


@pytest.mark.parametrize("half", HALVES)
def test_contradictions_are_found_with_few_false_alarms(half: str) -> None:
    scores: dict[str, Any] = score([pair for pair in read_pairs() if pair.half == half])
    contradicts = scores["relations"]["contradicts"]
    assert contradicts["precision"] >= 0.9
    assert contradicts["recall"] >= 0.8
    assert scores["closing"]["of_them_wrong"] == 0
