"""A clone says that it brings lessons, until somebody reads them; and a git repository of lessons by its name."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.domain.hookcall import HookCall
from holdfast.domain.vocabulary import SessionId
from holdfast.publishing.sync import Syncing
from tests.surfaces.terminal import run

BRINGS = "this repository brings 2 lessons that are not in your memory"


@pytest.fixture
def clone(memory: Memory, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two shared lessons, seen from a home that does not know it."""
    memory.sync(Syncing(share=(memory.remember("Retries are capped at 3"), memory.remember("Tides are in metres"))))
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "newcomer"))
    return project


def shown_by(*words: str) -> str:
    result = run(*words)
    return result.stdout + result.stderr


def test_every_first_command_says_what_the_clone_brings(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(clone)
    words = (
        ("-C", str(clone)), ("list", "-C", str(clone)), ("-C", str(clone)), ("status", "-C", str(clone)),
        ("doctor", "--no-proof"), ("setup", "claude-code", "--yes"),
    )  # fmt: skip
    for command in words:
        assert BRINGS in shown_by(*command), command


def test_nothing_is_said_once_they_were_read(clone: Path) -> None:
    assert BRINGS in shown_by("list", "-C", str(clone))
    run("sync", "-C", str(clone))
    for command in (("list",), ("status",), ()):
        assert "brings" not in shown_by(*command, "-C", str(clone))
    assert json.loads(run("status", "--json", "-C", str(clone)).stdout)["brought"] == 0


def test_one_session_is_told(clone: Path) -> None:
    def start(session: str) -> str:
        call = HookCall(
            name="SessionStart", host="claude-code", session=SessionId(session), cwd=str(clone), moment="session_start"
        )
        with Memory(str(clone)) as memory:
            return memory.inject(call).text

    assert "brings 2 lessons" in start("one")
    assert "brings" not in start("two")


def test_a_repository_of_lessons_is_known_by_its_name_after_the_first_sync(clone: Path, tmp_path: Path) -> None:
    bare = tmp_path / "team.git"
    subprocess.run(["git", "init", "--bare", "--quiet", "--initial-branch=main", str(bare)], check=True)
    here = ("-C", str(clone))
    run("remember", "Ids have a check digit", *here)
    assert run("sync", "--remote", "team", *here).exit_code == 1
    assert "written" in run("sync", "--remote", str(bare), "--dry-run", *here).stdout
    assert not run("sync", "--remote", "team", *here).stdout
    first = run("sync", "--remote", str(bare), *here)
    assert (first.exit_code, "next time: holdfast sync --remote team" in first.stderr) == (0, True)
    again = json.loads(run("sync", "--remote", "team", "--json", *here).stdout)
    assert (again["steps"], again["shared"], again["repository"]) == ([], 1, "team")
    assert run("sync", "--own", *here).exit_code == 2


def test_a_shared_lesson_has_one_id_everywhere(memory: Memory, project: Path) -> None:
    lesson = memory.remember("Retries are capped at 3")
    other = memory.remember("Tides are in metres")
    memory.sync(Syncing(share=(lesson,)))
    here = ("-C", str(project))
    (path,) = (project / ".holdfast" / "lessons").rglob("*.md")
    shared = path.read_text().split("\n")[1].removeprefix("id: ")
    assert shared != lesson.id
    assert {line[:8] for line in run("list", *here).stdout.splitlines()} == {shared[-8:], other.id[-8:]}
    for ref in (shared, shared[-8:], shared[-8:-3], shared[-5:], lesson.id, lesson.id[-8:], lesson.id[-8:-3]):
        assert memory.get(ref).id == lesson.id, ref
        assert json.loads(run("show", ref, "--json", *here).stdout)["shared_id"] == shared
    assert memory.get(other.id[-8:-4]).id == other.id
    run("forget", shared[-8:], *here)
    assert memory.get(lesson.id).state == "forgotten"


def test_an_export_with_tombstones_forgets_on_the_other_machine(
    memory: Memory, project: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here, file = ("-C", str(project)), tmp_path / "lessons.jsonl"
    lesson = memory.remember("Retries are capped at 3")
    memory.remember("Tides are in metres", scope="user")
    whole = run("export", *here).stdout
    memory.forget(lesson.id)
    file.write_text(run("export", "--forgotten", *here).stdout)
    assert len(file.read_text().splitlines()) == 2
    assert "Retries" not in file.read_text()
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "laptop"))
    for lines in (whole, file.read_text(), whole):
        file.write_text(lines)
        assert run("import", str(file), "--accept", *here).exit_code == 0
    with Memory(str(project)) as laptop:
        assert [left.insight for left in laptop.lessons()] == ["Tides are in metres"]
    assert run("export", "--forgotten", "--format", "markdown", *here).exit_code == 2
