"""Which files a backfill believes and opens: a repository's are anybody's, and what cannot be read is reported."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from holdfast.backfill.transcriptfiles import SIZE_LIMIT
from holdfast.backfill.transcripts import keep_turn
from holdfast.bootstrap import Memory, repository_texts
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Lesson
from holdfast.surfaces.cli.main import cli
from tests.hosts.golden import ROOT as GOLDEN

pytest.importorskip("holdfast_hosts", reason="hosts of the second distribution are played")

RULE = "Remember that releases are signed with the blue key."
INSIGHT = "releases are signed with the blue key"
SPECSTORY = f"""# Export (2026-03-02 09:00Z)

_**User (2026-03-02 09:00Z)**_

{RULE}

---

_**Agent (2026-03-02 09:01Z)**_

I will keep that in mind.
"""
AIDER = f"\n# aider chat started at 2026-03-02 09:00:00\n\n#### {RULE}  \n\nI will keep that in mind.\n"
HISTORIES = {".specstory/history/2026-03-02_09-00Z-a.md": SPECSTORY, ".aider.chat.history.md": AIDER}
PERSON = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *PERSON, *arguments], cwd=folder, check=True, capture_output=True)


def write(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, "utf-8")
    return file


def backfill(*arguments: str) -> Result:
    return CliRunner().invoke(cli, ["backfill", *arguments])


def told(*arguments: str) -> dict[str, Any]:
    result = backfill("--json", *arguments)
    assert result.exit_code == 0, result.output
    plain: dict[str, Any] = json.loads(result.stdout)
    return plain


def lessons(folder: Path) -> list[Lesson]:
    with Memory(str(folder)) as memory:
        return [lesson for lesson in memory.lessons(states=()) if INSIGHT in lesson.insight.lower()]


@pytest.fixture
def clone(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A clone of a repository that brings histories of its own."""
    made = home.parent / "made"
    made.mkdir()
    git(made, "init", "-q", "-b", "main")
    for name, text in HISTORIES.items():
        write(made, name, text)
    git(made, "add", "-A")
    git(made, "commit", "-q", "-m", "Histories")
    git(home.parent, "clone", "-q", str(made), "clone")
    monkeypatch.chdir(home.parent / "clone")
    return home.parent / "clone"


@pytest.mark.parametrize("name", HISTORIES)
def test_histories_that_git_tracks_are_left_out_and_that_is_reported(clone: Path, name: str) -> None:
    result = backfill()
    assert result.exit_code == 0
    assert "skipped: 2 transcripts, git tracks it, so anyone may have written it" in result.stderr
    assert "--accept" in result.stderr
    assert told()["events"] == 0
    assert lessons(clone) == []


@pytest.mark.parametrize("name", HISTORIES)
def test_a_tracked_history_that_is_named_waits_in_the_inbox(clone: Path, name: str) -> None:
    result = backfill(name)
    assert result.exit_code == 0
    assert "1 transcript may be someone else's" in result.stderr
    (lesson,) = lessons(clone)
    assert (lesson.state, lesson.trust, lesson.scope.level) == ("candidate", "repository", "project")
    with Memory(str(clone)) as memory:
        memory.learn_pending()
    assert [lesson.state for lesson in lessons(clone)] == ["candidate"]


@pytest.mark.parametrize("name", HISTORIES)
def test_what_the_user_vouches_for_is_his_own_word(clone: Path, name: str) -> None:
    told("--accept")
    assert {(lesson.state, lesson.trust) for lesson in lessons(clone)} == {("active", "person")}


@pytest.mark.parametrize("name", HISTORIES)
def test_an_untracked_history_in_the_users_work_tree_is_his_own(clone: Path, name: str) -> None:
    git(clone, "rm", "-q", "-r", "--cached", ".")
    git(clone, "commit", "-q", "-m", "Keep the histories private")
    assert told()["from_repository"] == 0
    assert {(lesson.state, lesson.trust) for lesson in lessons(clone)} == {("active", "person")}


@pytest.mark.parametrize("name", HISTORIES)
def test_a_history_in_an_unpacked_archive_is_left_out(home: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    unpacked = home.parent / "unpacked"
    write(unpacked, name, HISTORIES[name])
    monkeypatch.chdir(unpacked)
    assert "in a folder without git" in backfill().stderr
    assert lessons(unpacked) == []
    told(".")
    assert [(lesson.state, lesson.trust) for lesson in lessons(unpacked)] == [("candidate", "repository")]


def test_a_file_that_repeats_what_waits_or_is_known_changes_neither(clone: Path) -> None:
    with Memory(str(clone)) as memory:
        known = memory.remember("releases are signed with the blue key", kind="constraint", trust="agent")
    told(*HISTORIES)
    with Memory(str(clone)) as memory:
        assert memory.get(known.id) == known


def test_links_and_embedded_repositories_do_not_make_a_repositorys_file_the_users(clone: Path) -> None:
    write(clone, "docs/kept/b.md", SPECSTORY)
    (clone / "linked").symlink_to(clone / "docs" / "kept")
    write(clone, "bare/HEAD", "ref: refs/heads/main\n")
    write(clone, "bare/objects/x", "")
    write(clone, "bare/c.md", SPECSTORY)
    write(clone, "Mixed/D.md", SPECSTORY)
    git(clone, "add", "-A")
    git(clone, "commit", "-q", "-m", "More")
    paths = [str(clone / name) for name in ("docs/kept/b.md", "linked/b.md", "bare/c.md", "mixed/d.md")]
    assert set(repository_texts(paths)) == set(paths)
    own = str(write(clone, "own.md", SPECSTORY))
    assert repository_texts([own]) == {}


def test_a_git_that_fails_leaves_the_file_anybodys(clone: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    own = str(write(clone, "own.md", SPECSTORY))
    assert repository_texts([own])[own][0] == "git does not tell whether it tracks it"


def claude(folder: Path, cwd: Path, session: str = "s1") -> str:
    line = {"type": "user", "sessionId": session, "cwd": str(cwd), "timestamp": "2026-03-02T09:00:00Z",
            "message": {"role": "user", "content": RULE}}  # fmt: skip
    return str(write(folder, f"{session}.jsonl", json.dumps(line) + "\n"))


def test_a_tracked_transcript_cannot_speak_of_another_project(clone: Path, home: Path) -> None:
    (home.parent / "private").mkdir()
    path = claude(clone / "logs", home.parent / "private")
    git(clone, "add", "-A")
    result = backfill(path)
    assert "folder is outside the repository that brought the transcript" in result.stderr
    assert lessons(home.parent / "private") == []


def test_what_a_host_keeps_in_the_home_is_the_users_also_when_it_is_named(clone: Path, home: Path) -> None:
    told(claude(home.parent / ".claude" / "projects" / "-x", clone))
    assert [(lesson.state, lesson.trust) for lesson in lessons(clone)] == [("active", "person")]


# What is opened


def test_a_pipe_among_the_transcripts_is_passed_over(clone: Path, home: Path) -> None:
    file = Path(claude(home.parent / ".claude" / "projects" / "-x", clone))
    os.mkfifo(file.with_name("pipe.jsonl"))
    result = backfill()
    assert "skipped: 1 transcripts, not a regular file" in result.stderr
    assert len(lessons(clone)) == 1
    result = backfill(str(file.with_name("pipe.jsonl")))
    assert (result.exit_code, "not a regular file" in result.stderr) == (1, True)


def test_a_file_larger_than_any_transcript_is_not_read(clone: Path, home: Path) -> None:
    file = home.parent / ".claude" / "projects" / "-x" / "huge.jsonl"
    file.parent.mkdir(parents=True)
    with file.open("wb") as stream:
        stream.truncate(3 * SIZE_LIMIT)
    assert "skipped: 1 transcripts, larger than 1,000 MB" in backfill().stderr
    result = backfill(str(file))
    assert (result.exit_code, "larger than 1,000 MB" in result.stderr) == (1, True)


def test_a_transcript_of_another_name_finds_its_reader(clone: Path, home: Path) -> None:
    told_lines = [
        {"timestamp": "2026-03-02T09:00:00Z", "type": "session_meta", "payload": {"id": "cx", "cwd": str(clone)}},
        {"timestamp": "2026-03-02T09:00:00Z", "type": "response_item", "payload": {
            "type": "message", "role": "user", "content": [{"type": "input_text", "text": RULE}]}},
    ]  # fmt: skip
    file = write(home.parent, "bag/moved.jsonl", "".join(json.dumps(line) + "\n" for line in told_lines))
    plain = told(str(file))
    assert [(row["host"], row["events"] > 0) for row in plain["hosts"]] == [("codex", True)]


def test_a_transcript_that_neither_name_nor_beginning_tells_finds_its_reader(clone: Path, home: Path) -> None:
    golden = GOLDEN / "copilot_cli" / "transcript_of_a_session" / "transcript.jsonl"
    unsigned = golden.read_text("utf-8").replace('"producer": "copilot-agent", ', "")
    file = write(home.parent, "bag/moved.jsonl", unsigned)
    plain = told(str(file), "--project", str(clone))
    assert [(row["host"], row["events"] > 0) for row in plain["hosts"]] == [("copilot-cli", True)]
    note = f"read as a transcript of copilot-cli, whose reader alone finds events in it: {file}"
    assert note in backfill(str(file), "--project", str(clone)).stderr


def test_what_no_reader_can_read_is_reported_and_costs_the_others_nothing(clone: Path, home: Path) -> None:
    odd = write(home.parent, "bag/odd.jsonl", '{"a": 1}\n')
    good = claude(home.parent / "bag", clone, "good")
    result = backfill(str(odd), good)
    assert result.exit_code == 1
    assert f"not read: {odd}: no host's reader finds an event in it" in result.stderr
    assert len(lessons(clone)) == 1
    assert json.loads(backfill("--json", str(odd)).stdout)["unread"][0]["path"] == str(odd)


def test_a_folder_without_a_transcript_is_reported(clone: Path, home: Path) -> None:
    write(home.parent, "bag/odd.jsonl", '{"a": 1}\n')
    result = backfill(str(home.parent / "bag"))
    assert result.exit_code == 1
    assert "nothing in it is a transcript" in result.stderr
    assert "skipped: 1 file" in result.stderr


def test_a_turn_whose_transcript_is_a_pipe_ends(clone: Path, home: Path) -> None:
    os.mkfifo(home.parent / "pipe.jsonl")
    call = HookCall(
        host="claude-code", name="Stop", session="s", cwd=str(clone), transcript=str(home.parent / "pipe.jsonl")
    )
    with Memory(str(clone)) as memory:
        assert keep_turn(memory, call) == 0
