"""`holdfast digest` on the command line: periods, audiences and formats."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree.ElementTree import fromstring

import pytest

from holdfast import Memory
from holdfast.surfaces.cli.digest import to_fit
from tests.codebase import Codebase
from tests.surfaces.terminal import run, told, told_json


@pytest.fixture
def folder(project: Path, memory: Memory) -> str:
    memory.remember("Ferries leave from pier two.")
    memory.remember("The harbour master owes me ten.", private=True)
    return str(project)


@pytest.mark.parametrize("since", ["36h", "7d", "1y", "yesterday", "2020-01-01", "3 days ago"])
def test_a_period_is_told_in_many_ways(folder: str, since: str) -> None:
    assert "Ferries leave from pier two" in told("digest", "-C", folder, "--since", since)


def test_a_period_may_begin_with_a_commit(code: Codebase) -> None:
    commit = code.git("rev-parse", "HEAD")
    folder = str(code.folder)
    told("remember", "Ferries leave from pier two.", "-C", folder)
    assert "Ferries" in told("digest", "-C", folder, "--since", commit)


@pytest.mark.parametrize("since", ["soon", "7x", "nowhere"])
def test_a_time_that_cannot_be_read_is_an_error_with_a_hint(folder: str, since: str) -> None:
    result = run("digest", "-C", folder, "--since", since)
    assert result.exit_code == 1
    assert "7d" in result.stderr


def test_others_are_not_told_what_is_private(folder: str) -> None:
    assert "owes me" in told("digest", "-C", folder)
    for form in ("text", "markdown", "json", "atom"):
        assert "owes me" not in told("digest", "-C", folder, "--for", "team", "--format", form)


def test_every_format_tells_the_same_lessons(folder: str) -> None:
    as_json = told_json("digest", "-C", folder)
    assert as_json == json.loads(told("digest", "-C", folder, "--format", "json")) | {
        "since": as_json["since"], "until": as_json["until"]
    }  # fmt: skip
    (learnt,) = [section for section in as_json["sections"] if section["name"] == "learnt"]
    assert learnt["total"] == 2
    feed = fromstring(told("digest", "-C", folder, "--format", "atom"))
    assert len(feed.findall("{http://www.w3.org/2005/Atom}entry")) == 2
    assert told("digest", "-C", folder, "--format", "markdown").startswith("# harbour, ")


def test_a_branch_has_a_digest_of_its_own(code: Codebase) -> None:
    folder = str(code.folder)
    told("remember", "Ferries leave from pier two.", "-C", folder)
    code.git("checkout", "-q", "-b", "feature/lists")
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    code.commit("lists")
    told("remember", "Rows are kept as lists", "--file", "src/store.py::Store.put", "-C", folder)
    text = told("digest", "--branch", "-C", folder)
    assert "branch feature/lists" in text
    assert "Rows are kept as lists" in text
    assert "Ferries" not in text
    assert run("digest", "--branch", "--since", "7d", "-C", folder).exit_code == 2


def test_without_a_chosen_model_nothing_is_sent(folder: str) -> None:
    result = run("digest", "-C", folder, "--with-model")
    assert result.exit_code == 1
    assert "no model is chosen, so nothing was sent" in result.stderr


def test_long_lines_are_broken_beside_the_id_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["Learnt (1)", "  1f0c9a2b  " + "ferries leave " * 9 + "(Ada)", "            " + "the pier moved " * 9]
    assert list(to_fit(lines)) == lines
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "80")
    broken = list(to_fit(lines))
    assert max(map(len, broken)) <= 80
    assert all(line.startswith("            ") for line in broken[2:])
    assert " ".join(" ".join(broken).split()) == " ".join(" ".join(lines).split())
