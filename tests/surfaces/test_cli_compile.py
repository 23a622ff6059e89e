"""`holdfast compile`: sections instead of files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.surfaces.terminal import run, told, told_json

RULES = "# Harbour\n\n## Testing\n\nRun pytest.\n\n## Building\n\nRun make in `src/app`.\n"


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A rules file in the current folder, whose name has a space."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "my rules.md").write_text(RULES)
    return "my rules.md"


def test_the_outline_has_a_line_for_every_unit(file: str) -> None:
    result = run("compile", file)
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["testing", "building"]
    assert "2 units" in result.stderr


def test_a_question_prints_the_section_it_needs_and_says_how_to_get_the_rest(file: str) -> None:
    result = run("compile", file, "--query", "pytest", "--budget", "10")
    assert result.stdout == "[my rules.md#testing]\n## Testing\n\nRun pytest.\n"
    assert "1 of 2 units" in result.stderr
    assert "--unit ADDRESS" in result.stderr


def test_work_on_a_file_prints_what_speaks_of_it(file: str) -> None:
    assert "Run make" in told("compile", file, "--for", "src/app/main.py", "--budget", "30")


def test_an_address_prints_its_unit_with_or_without_the_file(file: str) -> None:
    assert told("compile", file, "--unit", "building") == told("compile", file, "--unit", f"{file}#building")


def test_json_tells_the_units_and_what_they_cost(file: str) -> None:
    answer = told_json("compile", file, "--query", "pytest", "--budget", "10")
    assert [unit["address"] for unit in answer["units"]] == ["testing"]
    assert answer["delivered_tokens"] < answer["tokens"]
    assert answer["more"] == 1
    assert "text" not in told_json("compile", file)["units"][0]


def test_nothing_that_fits_is_said(file: str) -> None:
    result = run("compile", file, "--query", "quaternions")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "no section matches" in result.stderr


def test_what_is_no_rules_file_is_refused_with_its_reason(tmp_path: Path, file: str) -> None:
    for name, content, message in (
        ("binary", b"\x7fELF\0\0", "not UTF-8"),
        ("utf16", "# A".encode("utf-16"), "not UTF-8"),
        ("huge", b"x" * 10_000_000, "more than 2,000,000 bytes"),
    ):
        (tmp_path / name).write_bytes(content)
        result = run("compile", name)
        assert (result.exit_code, message in result.stderr) == (1, True), name
    for name in (".", "missing.md"):
        assert run("compile", name).exit_code == 2
    assert run("compile", file, "--unit", "x", "--query", "y").exit_code == 2
    assert run("compile", file, "--unit", "").exit_code == 0


def test_bad_bytes_and_an_empty_file_are_no_error(tmp_path: Path, file: str) -> None:
    (tmp_path / "bad.md").write_bytes(b"# A\n\ncaf\xe9\n")
    result = run("compile", "bad.md", "--json")
    assert json.loads(result.stdout)["units"][0]["address"] == "a"
    assert "not valid UTF-8" in result.stderr
    (tmp_path / "empty.md").write_bytes(b"")
    assert "is empty" in run("compile", "empty.md").stderr
