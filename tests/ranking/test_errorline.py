"""An error in its own words, and masked where it differs from run to run."""

from __future__ import annotations

import pytest

from holdfast.ranking.errorline import error_line
from holdfast.ranking.signature import error_signature


def shown(text: str) -> str:
    """The text's error as a person reads it."""
    return error_line(text, error_signature(text))


def test_quoted_words_are_kept() -> None:
    said = "Traceback\nImportError: Start directory is not importable: 'tests/unit'\n"
    assert shown(said) == "ImportError: Start directory is not importable: 'tests/unit'"
    said = "E   ValueError: Unknown format code 'd' for object of type 'float'"
    assert shown(said) == "ValueError: Unknown format code 'd' for object of type 'float'"


@pytest.mark.parametrize(
    ("said", "masked"),
    [
        ("AssertionError: 99 != 100", "AssertionError: … != …"),
        ("ValueError: bad 'a b' at 0x7f001122aa", "ValueError: bad … at …"),
    ],
)
def test_what_differs_from_run_to_run_is_an_ellipsis(said: str, masked: str) -> None:
    assert shown(said) == masked


def test_a_path_of_one_machine_stays_masked() -> None:
    assert "ada" not in shown("OSError: cannot open 'a b' in '/home/ada/notes.txt'")


def test_without_an_error_there_is_nothing() -> None:
    assert shown("all is well") == ""
