"""`holdfast backfill` over many hosts: files that are read whole, what hooks heard before, whose a file is."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast import plugins
from holdfast.backfill.transcripts import host_by_content, keep_turn
from holdfast.bootstrap import Memory
from holdfast.domain.hookcall import HookCall
from holdfast.surfaces.cli.main import cli
from holdfast.wiring import load_host
from tests.hosts.golden import folder_of, recorded
from tests.surfaces import test_backfill as backfill

pytest.importorskip("holdfast_hosts", reason="hosts of the second distribution are played")

STAMP = "2026-03-02T09:00:00Z"


class Machine(backfill.Machine):
    """A user's home with a repository and several hosts' transcripts of it."""

    def write(self, place: str, *entries: Any) -> Path:
        file = self.home / place
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("".join(f"{json.dumps(entry)}\n" for entry in entries), "utf-8")
        return file

    def codex(self, *prompts: str) -> Path:
        entries = [{"timestamp": STAMP, "type": "response_item", "payload": {
            "type": "message", "role": "user", "content": [{"type": "input_text", "text": prompt}]}}
            for prompt in prompts]  # fmt: skip
        head = {"timestamp": STAMP, "type": "session_meta", "payload": {"id": "cx", "cwd": str(self.shop)}}
        return self.write(".codex/sessions/2026/03/02/rollout-2026-03-02T09-00-00-cx.jsonl", head, *entries)

    def gemini(self, *prompts: str) -> Path:
        entries = [{"id": prompt, "timestamp": STAMP, "type": "user", "content": prompt} for prompt in prompts]
        root = self.home / ".gemini" / "tmp" / "shop" / ".project_root"
        root.parent.mkdir(parents=True, exist_ok=True)
        root.write_text(str(self.shop))
        return self.write(".gemini/tmp/shop/chats/session-1.jsonl", {"sessionId": "gm"}, *entries)

    def goose(self, *prompts: str) -> Path:
        file = self.home / ".local" / "share" / "goose" / "sessions" / "sessions.db"
        file.parent.mkdir(parents=True, exist_ok=True)
        with closing(sqlite3.connect(file)) as sql, sql:
            sql.execute("CREATE TABLE IF NOT EXISTS sessions (id TEXT PRIMARY KEY, working_dir TEXT, created_at TEXT)")
            sql.execute(
                "CREATE TABLE IF NOT EXISTS messages"
                " (id INTEGER PRIMARY KEY, session_id TEXT, role TEXT, content_json TEXT, created_timestamp INTEGER)"
            )
            for prompt in prompts:
                sql.execute("INSERT OR IGNORE INTO sessions VALUES (?, ?, ?)", (prompt, str(self.shop), STAMP))
                content = json.dumps([{"type": "text", "text": prompt}])
                sql.execute("INSERT INTO messages VALUES (NULL, ?, 'user', ?, 1772442000)", (prompt, content))
        return file

    def aider(self, *prompts: str) -> Path:
        file = self.shop / ".aider.chat.history.md"
        file.write_text(
            "\n# aider chat started at 2026-03-02 09:00:00\n\n" + "".join(f"#### {p}  \n\n" for p in prompts)
        )
        return file

    def prompts(self) -> list[str]:
        return sorted(super().prompts())


@pytest.fixture
def machine(home: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    made = Machine(home.parent)
    monkeypatch.chdir(made.home)
    return made


def test_every_host_is_read_and_reported(machine: Machine) -> None:
    machine.codex("from codex")
    machine.gemini("from gemini")
    machine.goose("from goose", "from goose again")
    machine.aider("from aider")
    report = machine.json()
    assert {row["host"]: row["sessions"] for row in report["hosts"]} == {
        "aider": 1, "codex": 1, "gemini-cli": 1, "goose": 2,
    }  # fmt: skip
    assert (report["files"], report["sessions"]) == (4, 5)
    assert machine.prompts() == ["from aider", "from codex", "from gemini", "from goose", "from goose again"]
    shown = machine.run().stdout.splitlines()
    assert shown[0].split() == ["host", "transcripts", "unchanged", "sessions", "events", "lessons"]
    assert [line.split()[:3] for line in shown[1:5]] == [
        ["codex", "0", "1"], ["gemini-cli", "0", "1"], ["goose", "0", "1"], ["aider", "0", "1"],
    ]  # fmt: skip


def test_histories_at_home_and_in_projects_count_together(machine: Machine) -> None:
    shutil.copy(machine.aider("from aider"), machine.home)
    machine.aider("from aider", "and again")
    (row,) = machine.json("-C", str(machine.shop))["hosts"]
    assert (row["host"], row["files"]) == ("aider", 2)


def test_a_host_without_transcripts_is_refused(machine: Machine) -> None:
    result = machine.run("--host", "claude-desktop")
    assert result.exit_code == 1
    assert "no transcripts" in result.stderr


def test_one_host_alone_is_read_on_request(machine: Machine) -> None:
    machine.codex("from codex")
    machine.gemini("from gemini")
    assert [row["host"] for row in machine.json("--host", "gemini-cli")["hosts"]] == ["gemini-cli"]
    assert machine.prompts() == ["from gemini"]


@pytest.mark.parametrize("host", ["gemini", "goose", "aider"])
def test_a_file_that_is_read_whole_is_left_alone_until_it_changes(machine: Machine, host: str) -> None:
    write = getattr(machine, host)
    os.utime(write("one"), (1_770_000_000, 1_770_000_000))
    (machine.home / "elsewhere").mkdir()
    args = ("-C", str(machine.shop)) if host == "aider" else ()
    assert machine.json(*args)["events"] >= 1
    before = machine.events()
    assert machine.json(*args)["unchanged"] == 1
    write("two") if host == "goose" else write("one", "two")
    assert machine.json(*args)["files"] == 1
    assert machine.events()[: len(before)] == before
    assert machine.prompts() == ["one", "two"]


def test_only_sessions_with_something_new_are_learnt_from_again(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.goose("one", "two")
    learnt: list[str] = []
    learn = Memory.learn

    def listen(memory: Memory, session: str) -> Any:
        learnt.append(session)
        return learn(memory, session)

    monkeypatch.setattr(Memory, "learn", listen)
    machine.json()
    machine.goose("three")
    machine.json()
    assert learnt == ["one", "two", "three"]


def test_what_an_interruption_left_unlearnt_is_learnt_by_the_next_run(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.goose("one")
    machine.json()
    machine.goose("two")
    learnt: list[str] = []

    def interrupt(_memory: Memory, session: str) -> None:
        raise KeyboardInterrupt

    def listen(_memory: Memory, session: str) -> Any:
        learnt.append(session)
        return original(_memory, session)

    original = Memory.learn
    with monkeypatch.context() as patched:
        patched.setattr(Memory, "learn", interrupt)
        assert machine.run().exit_code == 130
    monkeypatch.setattr(Memory, "learn", listen)
    machine.json()
    assert "two" in learnt
    assert machine.json()["unchanged"] == 1


def copilot_edit(machine: Machine, minute: int) -> tuple[Path, HookCall]:
    """A session of Copilot's, and its edit as the hook told it in that minute."""
    tool_input = {"path": str(machine.shop / "a.py"), "old_str": "a", "new_str": "b"}
    at = "2026-03-02T09:00:58Z"
    file = machine.write(
        ".copilot/session-state/cp/events.jsonl",
        {"type": "session.start", "timestamp": at, "data": {"sessionId": "cp", "context": {"cwd": str(machine.shop)}}},
        {"type": "tool.execution_start", "timestamp": at,
         "data": {"toolCallId": "t", "toolName": "edit", "arguments": tool_input}},
        {"type": "tool.execution_complete", "timestamp": at,
         "data": {"toolCallId": "t", "success": True, "result": {"content": "ok"}}},
        {"type": "tool.execution_start", "timestamp": at,
         "data": {"toolCallId": "u", "toolName": "bash", "arguments": {"command": "make"}}},
        {"type": "tool.execution_complete", "timestamp": at,
         "data": {"toolCallId": "u", "success": True, "result": {"content": "ok"}}},
    )  # fmt: skip
    payload = {"hook_event_name": "PostToolUse", "session_id": "cp", "cwd": str(machine.shop),
               "tool_name": "edit", "tool_input": tool_input,
               "tool_result": {"result_type": "success", "text_result_for_llm": "ok"}}  # fmt: skip
    heard = datetime(2026, 3, 2, 9, minute, 1, tzinfo=UTC)
    return file, load_host("copilot-cli").parse_hook(payload, heard, lambda: f"heard-{minute}")


@pytest.mark.parametrize("minute", [0, 1])
def test_what_a_hook_heard_is_not_stored_again_even_when_a_minute_lies_between(machine: Machine, minute: int) -> None:
    file, heard = copilot_edit(machine, minute)
    with Memory(str(machine.shop)) as memory:
        memory.append(list(heard.events))
        turn = HookCall(host="copilot-cli", name="Stop", session=heard.session, cwd=str(machine.shop),
                        transcript=str(file))  # fmt: skip
        assert keep_turn(memory, turn) == 2  # the start, and the command that no hook told
        assert keep_turn(memory, turn) == 0
    assert machine.json()["events"] == 0
    assert [event.kind for event in machine.events()] == ["file_edit", "session_start", "tool_result"]


def test_after_a_turn_a_transcript_that_is_read_whole_is_read_too(machine: Machine) -> None:
    file = machine.gemini("never heard")
    with Memory(str(machine.shop)) as memory:
        fields = {"host": "gemini-cli", "name": "AfterAgent", "cwd": str(machine.shop), "transcript": str(file)}
        assert keep_turn(memory, HookCall(session="gm", **fields)) == 2
        assert keep_turn(memory, HookCall(session="another", **fields)) == 0
    assert machine.prompts() == ["never heard"]


def test_the_name_of_a_file_tells_whose_it_is(machine: Machine) -> None:
    bag = machine.home / "bag"
    bag.mkdir()
    shutil.move(machine.codex("from codex"), bag)
    shutil.move(machine.aider("from aider"), bag)
    (bag / "notes.txt").write_text("nobody's")
    report = machine.json(str(bag), "--project", str(machine.shop))
    assert sorted(row["host"] for row in report["hosts"]) == ["aider", "codex"]
    assert machine.prompts() == ["from aider", "from codex"]


def test_a_file_that_several_readers_take_for_theirs_is_queried(machine: Machine) -> None:
    file = machine.home / "chat.jsonl"
    shutil.move(machine.gemini("from gemini"), file)
    result = machine.run(str(file), "--project", str(machine.shop))
    assert result.exit_code == 1
    reason = "the readers of gemini-cli, kiro all find events in it: choose one with --host NAME"
    assert f"not read: {file}: {reason}" in result.stderr
    result = machine.run(str(file), "--host", "continue-dev", "--project", str(machine.shop))
    assert result.exit_code == 1
    assert f"not read: {file}: continue-dev's reader finds no event in it" in result.stderr
    machine.json(str(file), "--host", "gemini-cli", "--project", str(machine.shop))
    assert machine.prompts() == ["from gemini"]


@pytest.mark.parametrize("host", ["codex", "pi", "aider", "cline", "roo", "amp"])
def test_the_content_tells_whose_a_file_is_when_its_name_does_not(machine: Machine, host: str) -> None:
    ending = {"aider": "md", "cline": "json", "roo": "json", "amp": "json"}.get(host, "jsonl")
    file = machine.home / "bag" / f"copy.{ending}"
    file.parent.mkdir()
    shutil.copyfile(next(folder_of(host).glob("transcript_of_a*/transcript.*")), file)
    figures = machine.json(str(file), "--project", str(machine.shop))
    assert [(row["host"], row["files"]) for row in figures["hosts"]] == [(host, 1)]
    assert figures["events"] > 0
    assert machine.json(str(file), "--project", str(machine.shop))["unchanged"] == 1


@pytest.mark.parametrize("case", recorded("*/transcript*/transcript.*"), ids=lambda case: case.parts[-3])
def test_no_transcript_is_taken_for_another_hosts_by_its_content(case: Path) -> None:
    hosts = [load_host(name.replace("_", "-")) for name in plugins.names("hosts")]
    own = load_host(case.parts[-3].replace("_", "-"))
    assert host_by_content(str(case), hosts) in (own.name, "")


@pytest.mark.parametrize(
    "host",
    ["claude-code", "codex", "pi", "specstory", "gemini-cli", "junie", "cline", "roo", "amp", "vscode", "copilot-cli"],
)
def test_hosts_whose_files_are_easily_mistaken_are_known_by_their_content(host: str) -> None:
    adapter = load_host(host)
    cases = sorted(folder_of(host.replace("-", "_")).glob("transcript*/transcript.*"))
    assert {host_by_content(str(case), [adapter]) for case in cases} == {host}


def test_a_renamed_transcript_of_copilots_extension_is_read_like_the_original(machine: Machine) -> None:
    file = machine.home / "bag" / "copy.jsonl"
    file.parent.mkdir()
    shutil.copyfile(folder_of("vscode") / "transcript_of_copilot" / "transcript.jsonl", file)
    figures = machine.json(str(file), "--project", str(machine.shop))
    assert [(row["host"], row["files"]) for row in figures["hosts"]] == [("vscode", 1)]
    assert "file_edit" in {event.kind for event in machine.events()}


def test_a_file_of_no_known_form_is_reported(machine: Machine) -> None:
    file = machine.write("notes.jsonl", {"note": "nobody's"})
    result = machine.run(str(file))
    assert result.exit_code == 1
    assert f"not read: {file}: no host's reader finds an event in it" in result.stderr


def test_files_of_no_known_form_beside_a_transcript_are_counted(machine: Machine) -> None:
    shutil.copy(machine.codex("from codex"), machine.write("bag/notes.jsonl", {"note": "nobody's"}).parent)
    result = machine.run(str(machine.home / "bag"))
    assert result.exit_code == 0
    assert "skipped: 1 file not recognised as transcripts" in result.stderr
    assert machine.prompts() == ["from codex"]


def test_a_file_in_which_its_host_finds_nothing_is_reported(machine: Machine) -> None:
    file = machine.codex("from codex")
    result = machine.run(str(file), "--host", "claude-code", "--json")
    assert result.exit_code == 1
    figures = json.loads(result.stdout)
    assert figures["events"] == 0
    assert figures["unread"] == [{"path": str(file), "reason": "claude-code's reader finds no event in it"}]


def test_a_transcript_of_this_machine_without_an_event_is_counted(machine: Machine) -> None:
    machine.codex()
    assert machine.json()["skipped"] == {"transcripts: no event was found in them": 1}
    assert "skipped: 1 transcripts, no event was found" in machine.run().stderr


def test_a_pipe_tells_nothing_and_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.jsonl")
    assert host_by_content(str(tmp_path / "x.jsonl"), [load_host("codex")]) == ""


def test_a_damaged_database_is_counted_and_the_others_go_on(machine: Machine) -> None:
    machine.goose("one").write_bytes(b"damaged" * 1000)
    machine.codex("from codex")
    report = machine.json()
    assert [why for why in report["skipped"] if "cannot be read" in why]
    assert machine.prompts() == ["from codex"]


def test_projects_of_earlier_runs_are_looked_into(machine: Machine, tmp_path: Path) -> None:
    machine.codex("from codex")
    machine.json()
    machine.aider("from aider")
    machine.json("-C", str(tmp_path))
    assert machine.prompts() == ["from aider", "from codex"]


def test_sessions_of_a_database_whose_folder_was_gone_are_read_when_their_place_is_reported(machine: Machine) -> None:
    file = machine.goose("here", "there")
    with closing(sqlite3.connect(file)) as sql, sql:
        sql.execute("UPDATE sessions SET working_dir = '/gone' WHERE id = 'there'")
    machine.json()
    assert machine.prompts() == ["here"]
    assert machine.json("--project", str(machine.shop))["events"] >= 1
    assert machine.prompts() == ["here", "there"]
    assert machine.json("--project", str(machine.shop))["unchanged"] == 1


def test_paths_of_windows_are_recognised_from_the_projects_root(machine: Machine) -> None:
    def item(**payload: Any) -> dict[str, Any]:
        return {"timestamp": STAMP, "type": "response_item", "payload": payload}

    changes = {"C:\\Users\\ada\\shop\\src\\b.py": {"type": "add", "content": "B = 1"}}
    file = machine.write(
        "rollout-w.jsonl",
        {"timestamp": STAMP, "type": "session_meta", "payload": {"id": "w", "cwd": "C:\\Users\\ada\\shop"}},
        item(type="custom_tool_call", name="apply_patch", call_id="c1",
             input="*** Begin Patch\n*** Add File: src\\a.py\n+A = 1\n*** End Patch"),
        item(type="custom_tool_call_output", call_id="c1", output="Success."),
        {"timestamp": STAMP, "type": "event_msg",
         "payload": {"type": "patch_apply_end", "call_id": "c2", "success": True, "changes": changes}},
    )  # fmt: skip
    machine.json(str(file), "--project", str(machine.shop))
    assert [event.files for event in machine.events() if event.kind == "file_edit"] == [("src/a.py",), ("src/b.py",)]


def test_the_first_line_still_tells_the_folder_when_a_long_rollout_has_grown(machine: Machine) -> None:
    machine.codex(*(f"{n} {'long ' * 300}" for n in range(1000)))
    machine.json()
    file = machine.codex(*(f"{n} {'long ' * 300}" for n in range(1000)), "new")
    assert file.stat().st_size > 1_500_000
    assert machine.json()["events"] == 1


def test_programs_of_which_only_transcripts_are_read_are_not_set_up(machine: Machine) -> None:
    (machine.home / ".specstory").mkdir()
    assert "specstory" not in CliRunner().invoke(cli, ["setup", "--list"]).output
    result = CliRunner().invoke(cli, ["setup", "specstory"])
    assert result.exit_code == 1
    assert "nothing to set up" in result.stderr
