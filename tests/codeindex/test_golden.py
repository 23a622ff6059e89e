"""Every language's outline of its reviewed sources."""

from __future__ import annotations

import pytest

from holdfast.codeindex import languages
from tests.codeindex.golden import actual, cases, expected


@pytest.mark.parametrize("name", languages.names())
def test_outlines_are_found_as_reviewed(name: str) -> None:
    ours = [case for case in cases() if case.parent.name == name]
    assert ours
    assert {case.name: actual(case) for case in ours} == {case.name: expected(case) for case in ours}


def test_no_two_languages_claim_one_ending() -> None:
    endings = [
        end for language in map(languages.load, languages.names()) for end in (*language.suffixes, *language.filenames)
    ]
    assert len(endings) == len(set(endings))
