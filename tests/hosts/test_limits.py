"""The edges of the hosts' adapters: what is just inside, and what is not."""

from __future__ import annotations

import ctypes
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.domain.hookcall import HookCall
from holdfast.errors import HostConfigError
from holdfast.hosts import codex
from holdfast.hosts.codex import CodexApprovals
from holdfast.hosts.sdk import programs
from holdfast.hosts.sdk.files import instant
from holdfast.wiring import load_host
from tests.hosts.golden import AT, ids
from tests.hosts.test_claude_code_transcripts import refused_call
from tests.surfaces.test_codex_trust import SERVER

CLAUDE = load_host("claude-code")


def hook(host: str, payload: dict[str, Any]) -> HookCall:
    return load_host(host).parse_hook(payload, AT, ids())


def claude_hook(name: str, **fields: Any) -> HookCall:
    return hook("claude-code", {"session_id": "s", "cwd": "/p", "hook_event_name": name, **fields})


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [({"offset": 5}, (5, 2_004)), ({"offset": 5, "limit": 3}, (5, 7)), ({"limit": 3}, (1, 3)), ({}, (0, 0))],
)
def test_a_read_from_a_line_on_brings_two_thousand_lines(arguments: dict[str, int], lines: tuple[int, ...]) -> None:
    """`hooks.LINES_READ`."""
    call = claude_hook("PreToolUse", tool_name="Read", tool_input={"file_path": "/p/a.py", **arguments})
    assert call.lines == lines


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


@pytest.mark.skipif(sys.platform == "win32", reason="the slow codex is a script")
@pytest.mark.parametrize("seconds", [0.05, 60.0])
def test_a_codex_that_stays_silent_is_not_waited_for(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """`codex.TIMEOUT_S`."""
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
    monkeypatch.setattr(codex, "TIMEOUT_S", seconds)
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


@pytest.mark.parametrize(
    ("version", "trusts"), [("2.0.76", ["tool", "person"]), ("2.0.75", ["tool"]), ("2.0", ["tool"])]
)
def test_from_a_version_on_no_command_can_write_a_refusal(version: str, trusts: list[str]) -> None:
    """`transcripts.EXIT_CODE_FIRST` of Claude Code."""
    retold = CLAUDE.parse_transcript(refused_call("Bash", version=version), "s", ids())
    assert [event.trust for event in retold if event.text] == trusts


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
