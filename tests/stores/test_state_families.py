"""The table of what Holdfast keeps about its own work (`domain/statefamilies`)."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from holdfast.domain import statefamilies
from holdfast.domain.statefamilies import (
    COMMITS_READ,
    FAMILIES,
    ROW_FAMILIES,
    RowFamily,
    StateFamily,
    without_lesson,
)
from holdfast.learning.gitbackfill import DETECTOR

CONSTANTS = {family: name for name, family in vars(statefamilies).items() if isinstance(family, StateFamily)}
SOURCE = Path(statefamilies.__file__).parents[1]


def test_every_family_is_in_the_table_once() -> None:
    assert set(FAMILIES) == set(CONSTANTS)
    assert len({family.name for family in FAMILIES}) == len(FAMILIES) > 30


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_a_family_has_a_meaning_an_owner_and_an_expiry_or_the_reason_for_none(family: StateFamily) -> None:
    assert family.value
    assert family.owner
    assert bool(family.kept_days) != bool(family.stays)
    assert ":" not in family.name, "a key of before began with its family's name and a colon"


def test_every_family_is_read_and_written() -> None:
    text = "".join(
        path.read_text("utf-8")
        for path in SOURCE.rglob("*.py")
        if path.name != "statefamilies.py" and "testing" not in path.parts
    )
    records = r"\((?:self\._states|states|services), ([A-Z_]+)"
    edited = set(re.findall(r"edit_state\(\s*([A-Z_]+)", text))
    read = set(re.findall(r"get_state\(\s*([A-Z_]+)", text)) | set(re.findall(rf"\bload{records}", text))
    for cells in re.findall(r"cells = \[(.*?)\]\n", text):  # several at once, by `get_states`
        read |= set(re.findall(r"\(([A-Z_]+), ", cells))
    written = set(re.findall(r"set_state\(\s*([A-Z_]+)", text)) | set(re.findall(rf"keep{records}", text))
    names = set(CONSTANTS.values())
    assert read | edited >= names
    assert written | edited >= names


@pytest.mark.parametrize("family", ROW_FAMILIES, ids=lambda family: family.name)
def test_a_family_of_rows_says_what_its_values_belong_to_and_mean(family: RowFamily) -> None:
    assert family.owner
    assert family.key
    assert family.value
    assert family.name not in {other.name for other in FAMILIES}


def test_commits_are_read_again_by_a_new_version_of_their_reader() -> None:
    assert COMMITS_READ.name == DETECTOR


@pytest.mark.parametrize(
    ("value", "rest"),
    [
        ('[{"lesson":"a","at":1},{"lesson":"b"}]', '[{"lesson":"b"}]'),
        ('{"lessons":{"a":{"":2.0},"b":{}},"shifts":{}}', '{"lessons":{"b":{}},"shifts":{}}'),
        ('{"hidden":{"a":["x","y"]},"day":"1"}', '{"hidden":{},"day":"1"}'),
        ('["a","b"]', '["b"]'),
        ('{"b":"about a"}', '{"b":"about a"}'),
        ("c1 main close a b", ""),
        ("", ""),
    ],
)
def test_a_value_without_a_lesson(value: str, rest: str) -> None:
    assert without_lesson(value, "a") == rest
