from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from holdfast.backfill.transcripts import TranscriptLines
from holdfast.bootstrap import Memory
from holdfast.domain.event import Event
from holdfast.ports.store import EventFilter
from holdfast.surfaces.cli.main import cli


class Machine:
    """A user's home with a repository and Claude Code's transcripts of it."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.shop = self.repository("shop")
        self.projects = home / ".claude" / "projects"

    def repository(self, name: str) -> Path:
        folder = self.home / name
        folder.mkdir()
        subprocess.run(["git", "init", "-q", str(folder)], check=True)
        return folder

    def transcript(self, session: str, *prompts: str, cwd: Path | None = None, at: str = "2026-03-02") -> Path:
        file = self.projects / "-shop" / f"{session}.jsonl"
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab") as stream:
            for prompt in prompts:
                stream.write(line(session, prompt, str(cwd or self.shop), at))
        return file

    def run(self, *args: str) -> Result:
        return CliRunner().invoke(cli, ["backfill", *args])

    def json(self, *args: str) -> dict[str, Any]:
        result = self.run("--json", *args)
        assert result.exit_code == 0, result.output
        report: dict[str, Any] = json.loads(result.stdout)
        return report

    def events(self) -> list[Event]:
        with Memory(str(self.shop)) as memory:
            return [event for _, event in memory.services.store.find_events(EventFilter())]

    def prompts(self) -> list[str]:
        return [event.text for event in self.events() if event.kind == "prompt"]


def line(session: str, prompt: str, cwd: str, at: str = "2026-03-02") -> bytes:
    entry = {"type": "user", "sessionId": session, "cwd": cwd, "timestamp": f"{at}T09:00:00Z",
             "message": {"role": "user", "content": prompt}}  # fmt: skip
    return json.dumps(entry).encode() + b"\n"


@pytest.fixture
def machine(home: Path) -> Machine:
    return Machine(home.parent)


def test_every_transcript_of_the_machine_is_read(machine: Machine) -> None:
    machine.transcript("one", "first", "second")
    machine.transcript("two", "third")
    report = machine.json()
    assert (report["files"], report["sessions"], report["events"]) == (2, 2, 5)
    assert sorted(machine.prompts()) == ["first", "second", "third"]


def test_twice_is_once(machine: Machine) -> None:
    machine.transcript("one", "first", "second")
    machine.json()
    before = machine.events()
    report = machine.json()
    assert (report["unchanged"], report["files"], report["events"]) == (1, 0, 0)
    assert machine.events() == before


def test_a_grown_transcript_gives_what_is_new(machine: Machine) -> None:
    machine.transcript("one", "first")
    machine.json()
    machine.transcript("one", "second")
    assert machine.json()["events"] == 1
    assert machine.prompts() == ["first", "second"]


def test_a_line_that_was_half_written_is_read_when_it_is_whole(machine: Machine) -> None:
    file = machine.transcript("one", "first")
    whole = line("one", "second", str(machine.shop))
    with file.open("ab") as stream:
        stream.write(whole[:40])
    machine.json()
    with file.open("ab") as stream:
        stream.write(whole[40:])
    machine.json()
    assert machine.prompts() == ["first", "second"]


def test_a_transcript_that_was_replaced_is_read_from_its_beginning(machine: Machine) -> None:
    file = machine.transcript("one", "first", "second")
    machine.json()
    file.unlink()
    machine.transcript("one", "third")
    machine.json()
    assert machine.prompts() == ["first", "second", "third"]


def test_a_call_before_the_mark_is_joined_to_its_result_behind_it(machine: Machine) -> None:
    file = machine.transcript("one", "first")
    call = {"type": "tool_use", "id": "u1", "name": "Bash", "input": {"command": "make"}}
    result = {"type": "tool_result", "tool_use_id": "u1", "content": "ok"}
    common = {"sessionId": "one", "cwd": str(machine.shop), "timestamp": "2026-03-02T09:01:00Z"}
    with file.open("a") as stream:
        stream.write(json.dumps({**common, "type": "assistant", "message": {"id": "m", "content": [call]}}) + "\n")
    machine.json()
    with file.open("a") as stream:
        stream.write(json.dumps({**common, "type": "user", "message": {"content": [result]}}) + "\n")
    machine.json()
    assert [event.command for event in machine.events() if event.tool == "Bash"] == ["make"]


def test_sessions_of_folders_that_are_gone_are_counted_and_left_out(machine: Machine) -> None:
    machine.transcript("one", "here")
    machine.transcript("two", "there", cwd=machine.home / "gone")
    report = machine.json()
    assert report["sessions"] == 1
    assert list(report["skipped"].values()) == [1]
    assert "folder is gone" in machine.run(str(machine.projects)).stderr
    assert machine.prompts() == ["here"]


def test_project_says_where_transcripts_of_another_machine_belong(machine: Machine) -> None:
    file = machine.transcript("one", "there", cwd=Path("/home/ada/shop"))
    assert machine.json()["events"] == 0
    machine.json(str(file), "--project", str(machine.shop))
    with Memory(str(machine.shop)) as memory:
        project = memory.location.project.id
    assert {event.project for event in machine.events()} == {project}
    assert machine.prompts() == ["there"]


def test_a_session_in_two_projects_is_stored_in_both(machine: Machine) -> None:
    other = machine.repository("other")
    machine.transcript("one", "here")
    machine.transcript("one", "there", cwd=other)
    machine.json()
    projects = {event.text: event.project for event in machine.events() if event.kind == "prompt"}
    assert projects["here"] != projects["there"]


def test_since_leaves_out_what_is_older_and_does_not_hide_it_for_ever(machine: Machine) -> None:
    machine.transcript("one", "old", at="2026-01-01")
    machine.transcript("one", "new", at="2026-06-01")
    machine.json("--since", "2026-05-01")
    assert machine.prompts() == ["new"]
    machine.json()
    assert sorted(machine.prompts()) == ["new", "old"]


def test_a_file_not_written_since_is_not_opened(machine: Machine) -> None:
    os.utime(machine.transcript("one", "old"), (1_700_000_000, 1_700_000_000))
    assert machine.json("--since", "2026-05-01")["skipped"] == {"transcripts: too old": 1}


def test_a_dry_run_keeps_nothing(machine: Machine) -> None:
    machine.transcript("one", "first")
    result = machine.run("--dry-run")
    assert "would store 2 events" in result.stdout
    assert not (machine.home / ".holdfast" / "memory.db").exists()


def test_an_unreadable_transcript_does_not_stop_the_others(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    machine.transcript("one", "first")
    (machine.projects / "-shop" / "dangling.jsonl").symlink_to(machine.home / "nowhere")
    report = machine.json()
    assert report["skipped"] == {"transcripts: unreadable": 1}
    assert machine.prompts() == ["first"]


def test_an_interruption_loses_nothing_and_the_next_run_goes_on(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.transcript("one", *(f"prompt {n}" for n in range(900)))

    def interrupt(_self: Memory, _session: str) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(Memory, "learn", interrupt)
        result = machine.run()
    assert result.exit_code == 130
    assert "run it again" in result.stderr
    assert len(machine.prompts()) == 900
    report = machine.json()
    assert report["files"] == 1
    assert len(machine.prompts()) == 900
    assert machine.json()["unchanged"] == 1


def test_capture_that_is_switched_off_is_reported_and_no_file_is_taken_for_read(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.transcript("one", "first")
    with monkeypatch.context() as patched:
        patched.setenv("HOLDFAST_OFF", "1")
        result = machine.run()
    assert result.exit_code == 1
    assert "capture is switched off" in result.stderr
    assert machine.json()["events"] == 2


def test_no_transcripts_is_no_error(machine: Machine) -> None:
    assert machine.json()["files"] == 0


def test_lines_are_given_from_the_first_whole_one_behind_a_position(tmp_path: Path) -> None:
    file = tmp_path / "t.jsonl"
    file.write_bytes(b"one\ntwo\nthr\xffee\nhalf")
    for start, expected in ((0, ["one\n", "two\n", "thr�ee\n", "half"]), (4, ["two\n", "thr�ee\n", "half"]),
                            (5, ["thr�ee\n", "half"])):  # fmt: skip
        with TranscriptLines(str(file), start) as lines:
            assert list(lines) == expected
