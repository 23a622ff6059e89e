"""Every language's mutation matrix through the real verdict, in the work tree and committed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.codeindex import languages
from tests.codeindex.mutations import REQUIRED, Ground, check, environment, matrices

MATRICES = matrices()
DAILY = ("python", "typescript", "go")
CASES = [
    pytest.param(language, name, marks=() if language in DAILY else pytest.mark.nightly("the other languages"))
    for language, matrix in MATRICES.items() for name in matrix.mutations
]  # fmt: skip


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ground:
    for name, value in environment(tmp_path).items():
        monkeypatch.setenv(name, value)
    for name in [name for name in os.environ if name.startswith("GIT_") and "CONFIG" not in name]:
        monkeypatch.delenv(name)
    (tmp_path / "ground").mkdir()
    return Ground(tmp_path / "ground")


@pytest.mark.parametrize(("language", "name"), CASES)
@pytest.mark.parametrize(
    "committed",
    [False, pytest.param(True, marks=pytest.mark.nightly("as in the work tree"))],
    ids=["work tree", "committed"],
)
def test_a_mutation_gets_the_verdict_it_deserves(ground: Ground, language: str, name: str, committed: bool) -> None:
    matrix = MATRICES[language]
    assert check(ground, matrix, matrix.mutations[name], committed) == []


@pytest.mark.parametrize("language", languages.names())
def test_every_language_shows_every_mutation(language: str) -> None:
    matrix = MATRICES[language]
    shown = {*matrix.mutations, *matrix.without}
    assert [name for name in REQUIRED if name not in shown] == []
