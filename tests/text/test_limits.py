"""The edges of reading of text: what is just inside, and what is not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from holdfast.testing.builders import make_event
from holdfast.text import (
    attempts,
    hidden,
    timespan,
    words,
)

NOW = datetime(2026, 3, 15, 9, 0, tzinfo=UTC)


# attempts


@pytest.mark.parametrize("exit_code", attempts.SIGNALS)
def test_a_run_that_a_signal_ended_is_no_failure(exit_code: int) -> None:
    assert attempts.SIGNALS == (124, 130, 137, 143)
    run = make_event(kind="tool_failure", tool="Bash", command="make test", exit_code=exit_code, text="")
    assert attempts.attempts([run]) == []


@pytest.mark.parametrize("exit_code", [1, 2, 123, 125, 129, 131, 136, 138, 142, 144])
def test_a_run_that_ended_by_itself_is_a_failure(exit_code: int) -> None:
    run = make_event(kind="tool_failure", tool="Bash", command="make test", exit_code=exit_code, text="")
    assert [attempt.passed for attempt in attempts.attempts([run])] == [False]


# Tables


@pytest.mark.parametrize("code", [0x034F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180F, 0x2800, 0x3164, 0xFFA0])
def test_letters_and_marks_that_show_nothing_are_hidden(code: int) -> None:
    assert chr(code) in hidden._INVISIBLE
    assert hidden.is_hidden(chr(code))
    assert not hidden.is_hidden(chr(code + 1)) or chr(code + 1) in hidden._INVISIBLE or code == 0x180F


def test_the_variation_selectors_are_hidden_and_nothing_beside_them() -> None:
    assert [code for code in range(0xFDF0, 0xFE20) if hidden.is_hidden(chr(code))] == [*range(0xFE00, 0xFE10)]


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("January", 1), ("Feb", 2), ("March", 3), ("Apr", 4), ("May", 5), ("June", 6), ("Jul", 7), ("August", 8),
        ("Sept", 9), ("October", 10), ("Nov", 11), ("December", 12),
    ],
)  # fmt: skip
def test_a_month_is_known_by_its_name(name: str, number: int) -> None:
    """By the table `timespan.MONTHS`."""
    begun, ended = timespan.span_in(f"what broke in {name} 2024?", NOW) or (None, None)
    assert begun == datetime(2024, number, 1, tzinfo=UTC)
    assert ended == datetime(2024 + number // 12, number % 12 + 1, 1, tzinfo=UTC)
    assert {timespan.MONTHS[word] for word in (name.lower(), name[:3].lower())} == {number}


@pytest.mark.parametrize(
    ("word", "number"),
    [
        ("a", 1), ("an", 1), ("one", 1), ("two", 2), ("three", 3), ("four", 4), ("five", 5), ("six", 6), ("couple", 2),
        ("few", 4),
    ],
)  # fmt: skip
def test_a_number_is_known_by_its_word(word: str, number: int) -> None:
    assert word in timespan._NUMBERS
    assert timespan.span_in(f"what broke {word} days ago?", NOW) == (
        NOW - timedelta(days=number + 1), NOW - timedelta(days=number - 1)
    )  # fmt: skip


@pytest.mark.parametrize(("unit", "days"), [("hour", 1 / 24), ("day", 1), ("week", 7), ("month", 30), ("year", 365)])
def test_a_unit_of_time_has_its_days(unit: str, days: float) -> None:
    assert unit in timespan._UNITS
    size = timedelta(days=days)
    assert timespan.span_in(f"what broke 3 {unit}s ago?", NOW) == (NOW - 4 * size, NOW - 2 * size)


@pytest.mark.parametrize(
    "code",
    [0x0591, 0x05BD, 0x05BF, 0x05C1, 0x05C2, 0x05C4, 0x05C5, 0x05C7, 0x0640, 0x064B, 0x0652, 0x0670, 0xFE00, 0xFE0F],
)
def test_vowel_signs_and_stretching_make_no_other_word(code: int) -> None:
    """By the table `words._SIGNS`."""
    assert words.terms(f"\u05e9\u05dc{chr(code)}\u05d5\u05dd") == words.terms("\u05e9\u05dc\u05d5\u05dd")


@pytest.mark.parametrize(
    "code",
    [0x0590, 0x05BE, 0x05C0, 0x05C3, 0x05C6, 0x05C8, 0x063F, 0x0641, 0x064A, 0x0653, 0x066F, 0x0671, 0xFDFF, 0xFE10],
)
def test_what_stands_beside_the_signs_is_no_sign(code: int) -> None:
    assert words.terms(f"\u05e9\u05dc{chr(code)}\u05d5\u05dd") != words.terms("\u05e9\u05dc\u05d5\u05dd")
