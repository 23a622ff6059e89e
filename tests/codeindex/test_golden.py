"""Every language's outline of its reviewed sources."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.codeindex import languages
from tests.codeindex.golden import actual, cases, expected


@pytest.mark.parametrize("case", cases(), ids=lambda case: f"{case.parent.name}-{case.name}")
def test_an_outline_is_found_as_reviewed(case: Path) -> None:
    assert actual(case) == expected(case)


@pytest.mark.parametrize("name", languages.names())
def test_every_language_has_golden_cases(name: str) -> None:
    assert [case for case in cases() if case.parent.name == name]


def test_no_two_languages_claim_one_ending() -> None:
    endings = [
        end for language in map(languages.load, languages.names()) for end in (*language.suffixes, *language.filenames)
    ]
    assert len(endings) == len(set(endings))
