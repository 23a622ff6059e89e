from __future__ import annotations

import importlib
import json
import os
import random
import shutil
import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast import plugins
from holdfast.domain.event import Event
from holdfast.errors import HostConfigError
from holdfast.hosts.cursor import folder_of_slug
from holdfast.hosts.sdk import files as compressed
from holdfast.hosts.sdk.files import instant, path_of_uri, settings_folder, state_folder
from holdfast.hosts.sdk.payloads import clean, persons_words
from holdfast.wiring import load_host
from tests.hosts.golden import AT, OTHERS, ROOT, ids, recorded

RECORDED = [path for path in recorded("*/*/transcript.*") if path.suffix in (".json", ".jsonl")]
ODD: tuple[Any, ...] = (None, True, 0, -1.5, "", "x", [], {}, [[]], [None], {"a": 1}, 10**30, "\0", [{}], {"type": 5})


def mutated(value: Any, draw: random.Random) -> Any:
    """The value with one thing in it replaced by another of an odd type."""
    if draw.random() < 0.15 or not isinstance(value, (dict, list)) or not value:
        return draw.choice(ODD)
    if isinstance(value, dict):
        key = draw.choice(list(value))
        return {**value, key: mutated(value[key], draw)}
    at = draw.randrange(len(value))
    return [*value[:at], mutated(value[at], draw), *value[at + 1 :]]


def placed(case: Path, root: Path, text: str) -> Path:
    """A file with that text where the case's transcript lies, with what lies beside it."""
    place = case.with_name("place.txt")
    target = root / case.parts[-3] / (place.read_text("utf-8").strip() if place.exists() else case.name)
    if case.with_name("beside").is_dir():
        shutil.copytree(case.with_name("beside"), root / case.parts[-3], dirs_exist_ok=True)
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, "utf-8", "surrogatepass")
    return target


def read(case: Path, file: Path) -> list[Event]:
    host = load_host(case.parts[-3].replace("_", "-"))
    if host.profile.grows_by_lines:
        return list(host.parse_transcript(file.read_text("utf-8", "replace").splitlines(True), "s", ids()))
    return list(host.read_transcript(str(file), ids()))


@pytest.mark.parametrize("case", RECORDED, ids=lambda case: f"{case.parts[-3]}-{case.parts[-2]}")
@given(draw=st.randoms(use_true_random=False))
@settings(suppress_health_check=list(HealthCheck))
def test_values_of_odd_types_cost_at_most_what_they_contained(case: Path, draw: random.Random, tmp_path: Path) -> None:
    text = case.read_text("utf-8")
    if case.suffix == ".json":
        text = json.dumps(mutated(json.loads(text), draw))
    else:
        lines = text.splitlines()
        at = draw.randrange(len(lines))
        with suppress(json.JSONDecodeError):
            lines[at] = json.dumps(mutated(json.loads(lines[at]), draw))
        text = "\n".join(lines)
    for event in read(case, placed(case, tmp_path, text)):
        assert event.at.tzinfo is not None


@pytest.mark.parametrize(
    "case", [*RECORDED, *recorded("*/*/transcript.md")], ids=lambda case: f"{case.parts[-3]}-{case.parts[-2]}"
)
def test_a_transcript_that_was_cut_anywhere_is_read_as_far_as_it_goes(case: Path, tmp_path: Path) -> None:
    text = case.read_text("utf-8")
    whole = len(read(case, placed(case, tmp_path, text)))
    for cut in range(0, len(text), max(1, len(text) // 25)):
        assert len(read(case, placed(case, tmp_path, text[:cut]))) <= whole


def test_what_hooks_saw_is_known_again_in_the_transcripts() -> None:
    """By its key where calls have ids; else by what was done (`transcripts.SeenEvents`), since keys hold the
    outcome."""
    for name, case, session, tool, given_to_it, use in (
        ("codex", "transcript_of_a_session", "01a1", "Bash", {"command": "pytest -q"}, "call_1"),
        ("gemini-cli", "transcript_with_patches", "g1", "replace", {
            "file_path": "/home/ada/ledger/money.py", "old_string": "share = cents / people",
            "new_string": "share, odd = divmod(cents, people)"}, ""),
        ("copilot-cli", "transcript_of_a_session", "cp1", "edit", {
            "path": "/home/ada/ledger/money.py", "old_str": "a / b", "new_str": "divmod(a, b)"}, ""),
    ):  # fmt: skip
        host = load_host(name)
        after = {"gemini-cli": "AfterTool"}.get(name, "PostToolUse")
        payload = {"session_id": session, "cwd": "/home/ada/ledger", "hook_event_name": after, "tool_name": tool,
                   "tool_input": given_to_it, "tool_use_id": use, "tool_response": "ok"}  # fmt: skip
        at = datetime(2026, 9, 1, 10, 0, 40, tzinfo=UTC)
        (heard,) = host.parse_hook(payload, at, ids()).events
        expected = json.loads((ROOT / name.replace("-", "_") / case / "expected.json").read_text("utf-8"))
        if use:
            assert heard.key in {event["key"] for event in expected}, name
        else:
            assert (heard.old, heard.new) in {(event.get("old"), event.get("new")) for event in expected}, name


def home_of(root: Path) -> dict[str, tuple[str, ...]]:
    """By host, files that it keeps below a home, as on this system."""
    config, state = settings_folder(str(root)), state_folder(str(root))
    code = os.path.join(config, "Code", "User")
    zed = "zed" if state.endswith("share") else "Zed"
    return {
        "codex": (".codex/sessions/2026/09/01/rollout-a.jsonl", ".codex/archived_sessions/rollout-b.jsonl.zst"),
        "cursor": (f"{config}/Cursor/User/globalStorage/state.vscdb", ".cursor/projects/p/agent-transcripts/c/c.jsonl"),
        "gemini-cli": (".gemini/tmp/p/chats/session-1.jsonl", ".gemini/tmp/p/chats/session-0.json"),
        "copilot-cli": (".copilot/session-state/s/events.jsonl",),
        "vscode": (f"{code}/workspaceStorage/h/chatSessions/a.json",
                   f"{code}/workspaceStorage/h/GitHub.copilot-chat/transcripts/b.jsonl",
                   f"{code}/globalStorage/emptyWindowChatSessions/c.jsonl"),
        "cline": (".cline/data/sessions/s/s.messages.json",
                  f"{code}/globalStorage/saoudrizwan.claude-dev/tasks/1/api_conversation_history.json"),
        "roo": (f"{code}/globalStorage/rooveterinaryinc.roo-cline/tasks/1/api_conversation_history.json",),
        "opencode": (".local/share/opencode/storage/session/p/ses_1.json", ".local/share/opencode/opencode.db"),
        "continue-dev": (".continue/sessions/a.json",),
        "zed": (f"{state}/{zed}/threads/threads.db",),
        "kiro": (".kiro/sessions/cli/k.jsonl", ".kiro/sessions/w/sess_1/messages.jsonl"),
        "junie": (".junie/sessions/j/events.jsonl",),
        "devin-cli": (".local/share/devin/cli/sessions.db",),
        "antigravity": (".gemini/antigravity/brain/a/.system_generated/logs/transcript.jsonl",),
        "amp": (".local/share/amp/threads/T-1.json",),
        "windsurf": (".windsurf/transcripts/w.jsonl",),
        "aider": (".aider.chat.history.md",),
        "openhands": (".openhands/trajectories/t.json",),
        "pi": (".pi/agent/sessions/--p--/s.jsonl",),
    }  # fmt: skip


def test_transcripts_are_found_where_each_host_keeps_them(tmp_path: Path) -> None:
    installed = {name.replace("_", "-") for name in plugins.names("hosts")}
    for name, files in home_of(tmp_path).items():
        if name not in installed:
            continue
        host = load_host(name)
        assert list(host.find_transcripts(str(tmp_path / "nobody"))) == []
        wanted = {tmp_path / file for file in files}
        for file in wanted:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.touch()
        assert {Path(path) for path in host.find_transcripts(str(tmp_path))} == wanted, name


def test_some_hosts_keep_theirs_inside_projects(tmp_path: Path) -> None:
    pytest.importorskip("holdfast_hosts")
    export = tmp_path / ".specstory" / "history" / "a.md"
    export.parent.mkdir(parents=True)
    export.touch()
    (tmp_path / ".aider.chat.history.md").touch()
    assert list(load_host("specstory").find_in_project(str(tmp_path))) == [str(export)]
    assert list(load_host("aider").find_in_project(str(tmp_path))) == [str(tmp_path / ".aider.chat.history.md")]
    assert list(load_host("codex").find_in_project(str(tmp_path))) == []


DATABASES = recorded("*/*/transcript.sql")


@pytest.mark.parametrize("case", DATABASES, ids=lambda case: case.parts[-3])
def test_a_database_in_use_is_read_with_its_log_and_nothing_is_left_beside_it(case: Path, tmp_path: Path) -> None:
    host = load_host(case.parts[-3].replace("_", "-"))
    file = tmp_path / "a folder" / "state.vscdb"
    file.parent.mkdir()
    with closing(sqlite3.connect(file)) as sql:
        sql.execute("PRAGMA journal_mode = WAL")
        sql.executescript(case.read_text("utf-8"))
        before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file() and "-shm" not in path.name}
        assert any(path.name.endswith("-wal") and content for path, content in before.items())
        assert len(list(host.read_transcript(str(file), ids()))) > 2
        assert {path: path.read_bytes() for path in before} == before
        left = file.with_name("left.db")
        shutil.copyfile(file, left)
        shutil.copyfile(f"{file}-wal", f"{left}-wal")
    assert len(list(host.read_transcript(str(left), ids()))) > 2
    assert sorted(path.name for path in left.parent.glob("left*")) == ["left.db", "left.db-wal"]


@pytest.mark.parametrize("case", DATABASES, ids=lambda case: case.parts[-3])
def test_a_file_that_is_no_database_is_refused_with_its_name(case: Path, tmp_path: Path) -> None:
    file = tmp_path / "state.vscdb"
    file.write_bytes(b"no database at all" * 100)
    with pytest.raises(HostConfigError, match=r"state\.vscdb"):
        list(load_host(case.parts[-3].replace("_", "-")).read_transcript(str(file), ids()))


def test_compressed_texts_are_read_where_python_can_and_else_refused_with_what_helps(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if module := next((name for name in compressed.MODULES if compressed.is_there(name)), ""):
        assert compressed.unpack(importlib.import_module(module).compress(b"text")) == b"text"
    monkeypatch.setattr(compressed, "MODULES", ("no_such_module", "no_such_module_either"))
    with pytest.raises(HostConfigError) as refused:
        compressed.unpack(b"(\xb5/\xfd")
    assert "zstandard" in refused.value.hint


def test_one_thread_that_cannot_be_unpacked_does_not_hide_the_others(tmp_path: Path) -> None:
    pytest.importorskip("holdfast_hosts")
    file = tmp_path / "threads.db"
    with closing(sqlite3.connect(file)) as sql:
        sql.executescript((OTHERS / "zed" / "transcript_of_threads" / "transcript.sql").read_text("utf-8"))
        sql.execute("UPDATE threads SET data_type = 'zstd', data = x'28b52ffd' WHERE id = 'z1'")
        sql.commit()
    assert {event.session for event in load_host("zed").read_transcript(str(file), ids())} == {"z0"}


def test_a_path_in_an_address_keeps_its_drive_and_blanks() -> None:
    assert path_of_uri("file:///home/ada/my%20ledger") == "/home/ada/my ledger"
    assert path_of_uri("file:///c%3A/Users/ada/ledger") == "c:\\Users\\ada\\ledger"
    assert path_of_uri("C:\\Users\\ada") == "C:\\Users\\ada"


def test_times_are_read_in_each_form() -> None:
    wanted = datetime(2026, 11, 21, 8, 45, 29, tzinfo=UTC)
    for value in ("2026-11-21T08:45:29Z", "2026-11-21 08:45:29", wanted.timestamp(), int(wanted.timestamp() * 1000)):
        assert instant(value) == wanted == AT
    for value in (None, True, "", "noon", -5, 10**30, float("nan"), float("inf"), [], {}):
        assert instant(value) is None


def test_a_project_with_dashes_for_a_name_is_the_folder_that_is_there(tmp_path: Path) -> None:
    wanted = tmp_path / "my.app" / "web-shop"
    wanted.mkdir(parents=True)
    (tmp_path / "my").mkdir()
    assert folder_of_slug("my-app-web-shop", str(tmp_path)) == str(wanted)
    assert folder_of_slug("my-app-gone", str(tmp_path)) == ""


def test_what_hosts_put_around_a_hooks_words_is_no_part_of_a_tools_answer() -> None:
    for tag in ("hook_context", "system_reminder", "additional_context"):
        assert clean(f"ok\n<{tag}>&lt;holdfast-memory&gt;a lesson</{tag}>") == "ok"


def test_only_a_persons_words_are_left() -> None:
    assert persons_words("<user_query>\nmend it\n</user_query>") == "mend it"
    assert persons_words("mend it\n<environment_details>\nnoon\n</environment_details>") == "mend it"
    assert persons_words("# AGENTS.md instructions for /p\n\nUse tabs.") == ""
    assert persons_words("why is `<skill>` in a <timestamp>?") == "why is `<skill>` in a <timestamp>?"
