"""Each limit of the hosts' adapters at its boundary; a number that decides something is written out."""

from __future__ import annotations

import ctypes
import importlib.util
import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import HostConfigError
from holdfast.hosts._shared import compressed, programs
from holdfast.hosts._shared.files import instant
from holdfast.hosts._shared.hooks import compaction_key
from holdfast.hosts._shared.patch import parse_patch
from holdfast.hosts._shared.replay import TranscriptReplay
from holdfast.hosts.codex import approvals
from holdfast.hosts.codex.approvals import CodexApprovals
from holdfast.hosts.junie import transcripts as junie_transcripts
from holdfast.hosts.specstory import olderform
from holdfast.ports.host import ConfigEdit, OwnFile
from holdfast.wiring import load_host
from tests.hosts.golden import AT, ids
from tests.hosts.test_claude_code_transcripts import refused_call
from tests.surfaces.test_codex_trust import SERVER

CLAUDE = load_host("claude-code")


def hook(host: str, payload: dict[str, Any]) -> HookCall:
    return load_host(host).parse_hook(payload, AT, ids())


def claude_hook(name: str, **fields: Any) -> HookCall:
    return hook("claude-code", {"session_id": "s", "cwd": "/p", "hook_event_name": name, **fields})


def events(host: str, path: Path) -> list[Event]:
    return list(load_host(host).read_transcript(str(path), ids()))


# How long a host waits for our hooks

SECONDS = {
    "codex.HOOKS": {
        "SessionStart": 10, "UserPromptSubmit": 5, "PreToolUse": 5, "PostToolUse": 5, "SubagentStart": 5,
        "PreCompact": 10, "Stop": 10, "SessionEnd": 3,
    },
    "copilot_cli.HOOKS": {
        "SessionStart": 10, "UserPromptSubmit": 5, "PreToolUse": 5, "PostToolUse": 5, "PostToolUseFailure": 5,
        "SubagentStart": 5, "PreCompact": 10, "Stop": 10, "SessionEnd": 5,
    },
    "cursor.HOOKS": {
        "sessionStart": 10, "beforeSubmitPrompt": 5, "preToolUse": 5, "postToolUse": 5, "postToolUseFailure": 5,
        "afterFileEdit": 5, "preCompact": 10, "afterAgentResponse": 5, "stop": 10, "sessionEnd": 5,
    },
    "devin_cli.HOOKS": {
        "SessionStart": 10, "UserPromptSubmit": 5, "PreToolUse": 5, "PostToolUse": 5, "PostCompaction": 10,
        "Stop": 10, "SessionEnd": 5,
    },
    "gemini_cli.HOOKS": {
        "SessionStart": 10_000, "BeforeAgent": 5_000, "AfterTool": 5_000, "AfterAgent": 10_000, "SessionEnd": 5_000,
    },
    "goose.HOOKS": {
        "SessionStart": 10, "UserPromptSubmit": 5, "PostToolUse": 5, "PostToolUseFailure": 5, "Stop": 10,
        "SessionEnd": 5,
    },
    "junie.HOOKS": {"SessionStart": 10, "UserPromptSubmit": 5, "PreToolUse": 5, "Stop": 10, "SessionEnd": 5},
    "kiro.TRIGGERS": {"SessionStart": 10, "UserPromptSubmit": 5, "PostToolUse": 5, "Stop": 10},
}  # fmt: skip
"""By module and table, what the host is told to wait for each of its hooks: seconds, of Gemini CLI milliseconds."""


def waits(node: Any) -> Iterator[int]:
    """Every number of a hook's entry that says how long to wait."""
    if isinstance(node, dict):
        yield from (value for key, value in node.items() if key in ("timeout", "timeoutSec"))
    for inner in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from waits(inner)


@pytest.mark.parametrize("name", SECONDS)
def test_a_host_is_told_how_long_to_wait_for_each_hook(tmp_path: Path, name: str) -> None:
    host = load_host(name.partition(".")[0].replace("_", "-"))
    waits_by_event: dict[str, set[int]] = {}
    for edit in host.plan_install("user", str(tmp_path), str(tmp_path), ["python3", "-P", "launch"]).edits:
        if isinstance(edit, ConfigEdit) and edit.path[:1] == ("hooks",) and len(edit.path) > 1:
            waits_by_event.setdefault(edit.path[1], set()).update(waits(edit.value))
        elif isinstance(edit, OwnFile) and edit.file.endswith(".json") and "hooks" in json.loads(edit.text):
            hooks = json.loads(edit.text)["hooks"]
            entries = hooks.items() if isinstance(hooks, dict) else [(entry["trigger"], entry) for entry in hooks]
            for event, entry in entries:
                waits_by_event.setdefault(event, set()).update(waits(entry))
    assert waits_by_event == {event: {seconds} for event, seconds in SECONDS[name].items()}


# Payloads of hooks


@pytest.mark.parametrize(("minutes", "is_same"), [(9, True), (10, False)])
def test_ten_minutes_of_the_clock_have_one_compaction(minutes: int, is_same: bool) -> None:
    """`hooks.COMPACTION_SPAN`."""
    at = datetime(2026, 3, 1, 9, 20, tzinfo=UTC)
    assert (compaction_key(at) == compaction_key(at + timedelta(minutes=minutes))) is is_same


def test_twenty_edits_of_a_call_are_looked_at() -> None:
    """`hooks.EXCERPTS`."""
    edits = [{"old_string": f"old {number}", "new_string": f"new {number}"} for number in range(21)]
    arguments = {"file_path": "/p/a.py", "edits": edits}
    call = claude_hook("PreToolUse", tool_name="MultiEdit", tool_input=arguments, tool_use_id="u")
    assert call.excerpts == tuple(f"old {number}" for number in range(20))


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [({"offset": 5}, (5, 2_004)), ({"offset": 5, "limit": 3}, (5, 7)), ({"limit": 3}, (1, 3)), ({}, (0, 0))],
)
def test_a_read_from_a_line_on_brings_two_thousand_lines(arguments: dict[str, int], lines: tuple[int, ...]) -> None:
    """`hooks.LINES_READ`."""
    call = claude_hook("PreToolUse", tool_name="Read", tool_input={"file_path": "/p/a.py", **arguments})
    assert call.lines == lines


def test_two_hundred_files_of_a_patch_are_looked_at() -> None:
    """`patch.PATCH_LIMIT`."""
    parts = (f"*** Update File: f{number}.py\n@@\n-old\n+new\n" for number in range(201))
    patches = parse_patch(f"*** Begin Patch\n{''.join(parts)}*** End Patch\n")
    assert [patch.path for patch in patches] == [f"f{number}.py" for number in range(200)]


@pytest.mark.parametrize(("before", "files"), [(399, ("a.py", "b.py")), (400, ("a.py",))])
def test_four_hundred_lines_of_a_search_are_looked_at(before: int, files: tuple[str, ...]) -> None:
    """`toolcalls.LINES_LIMIT`."""
    content = "a.py:1:def put\n" * before + "b.py:1:def put"
    call = claude_hook(
        "PostToolUse", tool_name="Grep", tool_input={"pattern": "put"}, tool_response={"content": content}
    )
    assert [event.files for event in call.events] == [files]


def test_twenty_files_of_a_search_are_kept() -> None:
    """`toolcalls.FILES_LIMIT`."""
    names = [f"f{number:02}.py" for number in range(21)]
    call = claude_hook(
        "PostToolUse", tool_name="Grep", tool_input={"pattern": "put"}, tool_response={"filenames": names}
    )
    assert [event.files for event in call.events] == [tuple(names[:20])]


@pytest.mark.parametrize(("behind", "prompt"), [(0, "Count the tides."), (1, "")])
def test_the_last_64_kilobytes_of_a_transcript_are_searched_for_the_prompt(
    tmp_path: Path, behind: int, prompt: str
) -> None:
    """`antigravity.TAIL`."""
    line = json.dumps({"type": "USER_INPUT", "content": "Count the tides."}) + "\n"
    file = tmp_path / "transcript.jsonl"
    file.write_text(line + " " * (65_536 - len(line) + behind))
    payload = {"conversationId": "a", "workspacePaths": ["/p"], "transcriptPath": str(file), "invocationNum": 0}
    assert hook("antigravity", payload).prompt == prompt


@pytest.mark.parametrize(("behind", "kind"), [(0, "tool_failure"), (1, "tool_result")])
def test_the_last_quarter_of_a_megabyte_of_a_rollout_tells_how_a_command_ended(
    tmp_path: Path, behind: int, kind: str
) -> None:
    """`codex.ROLLOUT_TAIL`."""
    line = '"id":"u1","type":"CommandExecution","exit_code":2\n'
    file = tmp_path / "rollout.jsonl"
    file.write_text(line + " " * (256 * 1024 - len(line) + behind))
    payload = {
        "session_id": "s", "cwd": "/p", "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_use_id": "u1",
        "tool_input": {"command": "make"}, "tool_response": "no rule", "transcript_path": str(file),
    }  # fmt: skip
    assert [event.kind for event in hook("codex", payload).events] == [kind]


@pytest.mark.parametrize(("last", "shown"), [(2, 9_000), (3, 8_998)])
def test_copilot_is_handed_nine_thousand_characters(last: int, shown: int) -> None:
    """`copilot_cli.CONTEXT_LIMIT`: of a longer briefing the whole lines that fit."""
    text = "x\n" * 4_499 + "y" * (last - 1) + "\n"
    call = HookCall(host="copilot-cli", name="SessionStart", session=SessionId("s"), cwd="/p")
    rendered = load_host("copilot-cli").render(call, Briefing(text=text))
    assert len(json.loads(rendered)["additionalContext"]) == shown


@pytest.mark.skipif(sys.platform == "win32", reason="the slow codex is a script")
@pytest.mark.parametrize("seconds", [0.05, 60.0])
def test_a_codex_that_stays_silent_is_not_waited_for(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """`approvals.TIMEOUT_S`."""
    program = tmp_path / "bin" / "codex"
    program.parent.mkdir()
    program.write_text(
        SERVER.format(python=sys.executable).replace("import hashlib", "import time; time.sleep(1)\nimport hashlib")
    )
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    folder = home.parent / ".codex"
    folder.mkdir()
    (folder / "config.toml").write_text("")
    (folder / "hooks.json").write_text('{"hooks": {"Stop": []}}')
    monkeypatch.setattr(approvals, "TIMEOUT_S", seconds)
    if seconds < 1:
        with pytest.raises(HostConfigError):
            CodexApprovals(str(folder), str(home.parent)).find()
    else:
        assert [approval.state for approval in CodexApprovals(str(folder), str(home.parent)).find()] == ["untrusted"]


# Transcripts


@pytest.mark.parametrize(
    ("number", "at"),
    [
        (99_999_999_999, datetime(5138, 11, 16, 9, 46, 39, tzinfo=UTC)),
        (100_000_000_000, datetime(1973, 3, 3, 9, 46, 40, tzinfo=UTC)),
        ("1788256800", datetime(2026, 9, 1, 10, 0, tzinfo=UTC)),
        ("1788256800000", datetime(2026, 9, 1, 10, 0, tzinfo=UTC)),
    ],
)
def test_a_large_number_is_milliseconds(number: object, at: datetime) -> None:
    """`files.MILLISECONDS_FROM`."""
    assert instant(number) == at


def test_what_has_no_time_yet_is_told_of_1970() -> None:
    """`retelling.EPOCH`."""
    [prompt] = TranscriptReplay(CLAUDE, "s", ids()).prompt("count the tides")  # type: ignore[arg-type]
    assert prompt.at == datetime(1970, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(("later", "is_known"), [(999, True), (1_000, False)])
def test_a_thousand_calls_wait_for_their_result(later: int, is_known: bool) -> None:
    """`retelling.PENDING_LIMIT`."""
    telling = TranscriptReplay(CLAUDE, "s", ids())  # type: ignore[arg-type]
    for number in range(later + 1):
        telling.open(f"u{number}", "Bash", {"command": "make"})
    assert bool(telling.close("u0", "done")) is is_known
    assert telling.close(f"u{later}", "done")


@pytest.mark.parametrize(
    ("version", "trusts"), [("2.0.76", ["tool", "person"]), ("2.0.75", ["tool"]), ("2.0", ["tool"])]
)
def test_from_a_version_on_no_command_can_write_a_refusal(version: str, trusts: list[str]) -> None:
    """`transcripts.EXIT_CODE_FIRST` of Claude Code."""
    retold = CLAUDE.parse_transcript(refused_call("Bash", version=version), "s", ids())
    assert [event.trust for event in retold if event.text] == trusts


@pytest.mark.parametrize("more", [0, 1])
def test_two_hundred_thousand_characters_of_a_message_are_searched_for_calls(tmp_path: Path, more: int) -> None:
    """`clinetasks.TEXT_LIMIT`: of a longer message the middle is left out."""
    call = "<attempt_completion>\n<result>all is counted</result>\n</attempt_completion>"
    text = call.center(200_000).replace(" ", "x", 1)
    text += "y" * more
    task = tmp_path / "1788256800000" / "api_conversation_history.json"
    task.parent.mkdir()
    task.write_text(json.dumps([{"role": "assistant", "content": [{"type": "text", "text": text}]}]))
    replies = [event.text for event in events("cline", task) if event.kind == "reply"]
    assert any("all is counted" in reply for reply in replies) is not bool(more)


@pytest.mark.parametrize("more", [0, 1])
def test_two_hundred_thousand_characters_of_a_reply_are_searched_for_blocks(tmp_path: Path, more: int) -> None:
    """`aider.transcripts.BLOCKS_LIMIT`."""
    block = "money.py\n```python\n<<<<<<< SEARCH\nshare = 1\n=======\nshare = 2\n>>>>>>> REPLACE\n```\n"
    filler = "x" * (200_000 - len(block) + more)
    file = tmp_path / ".aider.chat.history.md"
    file.write_text(
        f"# aider chat started at 2026-09-01 10:00:00\n\n#### split it\n{block}{filler}\n> Applied edit to money.py\n"
    )
    edits = [event for event in events("aider", file) if event.kind == "file_edit"]
    assert [(event.old, event.new) for event in edits] == [("", "") if more else ("share = 1", "share = 2")]


def test_so_many_steps_of_a_session_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`junie.transcripts.STEPS_LIMIT`."""
    monkeypatch.setattr(junie_transcripts, "STEPS_LIMIT", 2)
    file = tmp_path / "s" / "events.jsonl"
    file.parent.mkdir()
    rows = [{"kind": "UserPromptEvent", "prompt": f"count tide {number}", "timestampMs": 1} for number in range(3)]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert [event.text for event in events("junie", file) if event.kind == "prompt"] == ["count tide 0", "count tide 1"]


@pytest.mark.parametrize("more", [0, 1])
def test_two_hundred_thousand_characters_of_a_turn_are_searched_for_tools(tmp_path: Path, more: int) -> None:
    """`specstory.BODY_LIMIT`: of a longer turn the middle is left out."""
    call = (
        '<tool-use data-tool-type="shell" data-tool-name="Bash"><details><summary>Tool use: **Bash** • Run command'
        " `pytest -q`</summary>\n</details></tool-use>"
    )
    body = "x" + call.center(199_998 + more) + "x"
    file = tmp_path / ".specstory" / "history" / "a.md"
    file.parent.mkdir(parents=True)
    file.write_text(f"<!-- Session s (2026-09-01 10:00Z) -->\n\n_**Agent (2026-09-01 10:00Z)**_\n\n{body}\n")
    assert [event.command for event in events("specstory", file) if event.command] == ([] if more else ["pytest -q"])


class Export:
    """An older export of SpecStory beside a project's files."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.file = root / ".specstory" / "history" / "a.md"
        self.file.parent.mkdir(parents=True)

    def edited(self, parts: list[str], line: str) -> str:
        """The file that an edit which brings that line is told to be of, after those parts of the agent's turn."""
        turn = "\n\n---\n\n".join([*parts, f"```diff\n- gone\n+ {line}\n```"])
        self.file.write_text(
            f"# Tides (2026-09-01 10:00:05)\n\n_**User**_\n\nFix it.\n\n---\n\n_**Assistant**_\n\n{turn}\n"
        )
        [edit] = [event for event in events("specstory", self.file) if event.kind == "file_edit"]
        return edit.files[0] if edit.files else ""


@pytest.fixture
def export(tmp_path: Path) -> Export:
    (tmp_path / "tides").mkdir()
    return Export(tmp_path / "tides")


@pytest.mark.parametrize(("line", "file"), [("x" * 12, "a.py"), ("x" * 11, "")])
def test_a_line_of_twelve_characters_tells_a_file(export: Export, line: str, file: str) -> None:
    """`olderform.TELLING`."""
    (export.root / "a.py").write_text(line + "\n")
    assert export.edited(["Read file: a.py"], line) == file


@pytest.mark.parametrize(("before", "file"), [(199, "z.py"), (200, "")])
def test_two_hundred_named_files_are_searched_for_a_line(export: Export, before: int, file: str) -> None:
    """`olderform.CANDIDATES`."""
    (export.root / "z.py").write_text("a telling line\n")
    named = [f"Read file: f{number:03}.py" for number in range(before)]
    assert export.edited([*named, "Read file: z.py"], "a telling line") == file


@pytest.mark.parametrize(("size", "file"), [(1_000_000, "a.py"), (1_000_001, "")])
def test_a_file_of_a_megabyte_is_searched(export: Export, size: int, file: str) -> None:
    """`olderform.SIZE_LIMIT`."""
    (export.root / "a.py").write_text("a telling line\n".ljust(size))
    assert export.edited(["Read file: a.py"], "a telling line") == file


@pytest.mark.parametrize(("others", "file"), [(2, "src/tide.py"), (3, "")])
def test_a_name_is_looked_for_in_a_project_of_so_many_files(
    export: Export, monkeypatch: pytest.MonkeyPatch, others: int, file: str
) -> None:
    """`olderform.FILES_LIMIT`."""
    monkeypatch.setattr(olderform, "FILES_LIMIT", 3)
    (export.root / "src").mkdir()
    (export.root / "src" / "tide.py").write_text("")
    for number in range(others):
        (export.root / f"{number}.py").write_text("")
    assert export.edited(["I change `tide.py`."], "short") == file


@pytest.mark.skipif(not any(map(compressed.is_there, compressed.MODULES)), reason="this Python cannot read zstd")
def test_so_many_bytes_are_unpacked(monkeypatch: pytest.MonkeyPatch) -> None:
    """`compressed.UNPACKED_LIMIT`."""
    packer = importlib.import_module(next(filter(compressed.is_there, compressed.MODULES)))
    packed = packer.compress(b"x" * 20)
    assert compressed.unpack(packed) == b"x" * 20
    monkeypatch.setattr(compressed, "UNPACKED_LIMIT", 10)
    assert compressed.unpack(packed) == b"x" * 10


def test_the_longest_short_name_that_windows_can_have_is_taken_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """`programs.PATH_LIMIT`: the name and the zero behind it."""
    short = "C:\\" + "x" * 32_764

    def answer(path: str, buffer: Any, size: int) -> int:
        if len(short) + 1 > size:
            return len(short) + 1  # as Windows does, which then writes nothing
        buffer.value = short
        return len(short)

    kernel = SimpleNamespace(GetShortPathNameW=answer)
    monkeypatch.setattr(ctypes, "windll", SimpleNamespace(kernel32=kernel), raising=False)
    assert programs._short_name("C:\\Program Files") == short
