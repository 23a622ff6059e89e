"""`holdfast import` at the prompt: what it prints, what it exits with, and that JSON lines still come in."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.importers.conftest import Write
from tests.surfaces.terminal import run, start, told, told_json

RULES = "# Rules\n\n- Use the real database in tests\n- Name tests as sentences of behaviour\n"


def test_a_folder_is_imported_a_line_a_source(project: Path, write: Write) -> None:
    write("AGENTS.md", RULES)
    write(".github/copilot-instructions.md", "Prefer composition over inheritance.\n")
    result = run("import", ".")
    assert result.stdout.splitlines() == [
        "AGENTS.md\trules\t2 added",
        ".github/copilot-instructions.md\trules\t1 added",
    ]
    assert "3 lessons wait in the inbox: holdfast review" in result.stderr
    assert result.exit_code == 0


def test_a_dry_run_names_every_lesson_and_keeps_none(project: Path, write: Write) -> None:
    write("AGENTS.md", RULES)
    printed = told("import", "AGENTS.md", "--dry-run")
    assert "added      candidate    Rules: Use the real database in tests  (AGENTS.md#Rules)" in printed
    assert told_json("review", "--list")["lessons"] == []


def test_json_tells_all_of_it(project: Path, write: Write) -> None:
    write("AGENTS.md", RULES + "- [ ] a task that is to be done\n")
    answer = told_json("import", "AGENTS.md", "--accept")
    assert (answer["added"], answer["skipped"], answer["dry_run"]) == (2, 1, False)
    assert answer["sources"] == [{"source": "AGENTS.md", "format": "rules", "added": 2, "skipped": 1}]
    skipped, step, _ = answer["steps"]
    assert skipped["reason"] == "a task: [ ] a task that is to be done"
    assert step == {
        "verb": "added", "source": "AGENTS.md", "section": "Rules", "title": "Rules: Use the real database in tests",
        "reason": "", "state": "active", "lesson": step["lesson"],
    }  # fmt: skip
    assert told_json("list")["lessons"][0]["state"] == "active"


def test_one_unreadable_source_costs_the_exit_code_and_not_the_others(project: Path, write: Write) -> None:
    write("AGENTS.md", RULES)
    (project / "CLAUDE.md").write_bytes(b"\0\1\2")
    result = run("import", ".")
    assert (result.exit_code, "AGENTS.md\trules\t2 added" in result.stdout) == (1, True)
    assert "CLAUDE.md: CLAUDE.md is not a text file" in result.stderr


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (["nowhere.md"], 2, "nowhere.md"),
        (["."], 1, "nothing under . can be imported"),
        (["picture.png"], 1, "the format of picture.png is not known"),
        (["picture.png", "--from", "telepathy"], 2, "unknown format 'telepathy'"),
        (["picture.png", "--from", "mcp-memory"], 1, "holds no entity"),
        (["pipe"], 1, "not a file that can be read"),
        (["-", "--project", "x"], 2, "for other tools' stores"),
        ([".", "--from", "holdfast"], 1, "is a folder"),
    ],
)
def test_what_cannot_be_imported_is_reported_in_a_line(
    arguments: list[str], code: int, says: str, project: Path
) -> None:
    (project / "picture.png").write_bytes(b"x")
    os.mkfifo(project / "pipe")
    result = run("import", *arguments)
    assert (result.exit_code, says in result.stderr) == (code, True), result.stderr


def test_lines_of_lessons_still_come_in_and_can_be_tried_first(project: Path, write: Write) -> None:
    line = json.dumps({"kind": "fix", "insight": "Restart the pump"})
    path = str(write("lessons.jsonl", line + "\n"))
    assert told_json("import", path, "--dry-run")["added"] == 1
    assert told_json("list")["lessons"] == []
    assert told_json("import", path)["added"] == 1
    assert told_json("import", path, "--from", "holdfast")["unchanged"] == 1


def test_two_imports_at_once_add_each_lesson_once(project: Path, write: Write) -> None:
    write("AGENTS.md", RULES)
    with ThreadPoolExecutor(2) as pool:
        answers = [json.loads(done.stdout) for done in pool.map(lambda _: start("import", ".", "--json"), range(2))]
    assert sorted(answer["added"] for answer in answers) == [0, 2]
    assert len(told_json("review", "--list")["lessons"]) == 2


def test_show_and_why_name_the_origin(project: Path, write: Write) -> None:
    write("AGENTS.md", RULES)
    lesson = told_json("import", "AGENTS.md", "--accept")["steps"][0]["lesson"]
    assert "rules  AGENTS.md#Rules" in told("show", lesson)
    assert "from AGENTS.md#Rules" in told("why", lesson)
