"""The request at a session's end: only where the user wants it, after real work, once a session."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory

STOP = {"hook_event_name": "Stop", "session_id": "s1", "transcript_path": "", "stop_hook_active": False}


@pytest.fixture
def folder(home: Path, project: Path) -> Path:
    home.mkdir(exist_ok=True)
    (home / "config.toml").write_text("wrap_up = true\n")
    return project


def hook(folder: Path, host: str = "claude-code", **payload: Any) -> dict[str, Any]:
    with Memory(str(folder)) as memory:
        text = memory.answer_hook(host, {"session_id": "s1", "cwd": str(folder), "transcript_path": "", **payload})
    return json.loads(text) if text.strip() else {}


def work(folder: Path, files: int = 3, prompts: int = 2) -> None:
    for number in range(prompts):
        hook(folder, hook_event_name="UserPromptSubmit", prompt=f"Please change tide number {number} now.")
    for number in range(files):
        edit = {"file_path": str(folder / f"f{number}.py"), "old_string": "a", "new_string": f"b{number}"}
        response = {"filePath": edit["file_path"]}
        hook(folder, hook_event_name="PostToolUse", tool_name="Edit", tool_input=edit, tool_response=response,
             tool_use_id=f"t{number}")  # fmt: skip


def test_after_real_work_the_agent_is_asked_once(folder: Path) -> None:
    work(folder)
    first = hook(folder, **STOP, last_assistant_message="Done.")
    assert first["decision"] == "block"
    assert "call Holdfast's tool `remember`" in first["reason"]
    assert hook(folder, **{**STOP, "stop_hook_active": True}, last_assistant_message="Noted.") == {}
    assert hook(folder, **STOP, last_assistant_message="Done again.") == {}


@pytest.mark.parametrize(("files", "prompts"), [(0, 3), (2, 3), (3, 1)])
def test_a_session_without_real_work_is_left_alone(folder: Path, files: int, prompts: int) -> None:
    work(folder, files, prompts)
    assert hook(folder, **STOP, last_assistant_message="Done.") == {}


def test_it_is_off_unless_the_user_switched_it_on(folder: Path, home: Path) -> None:
    (home / "config.toml").unlink()
    work(folder)
    assert hook(folder, **STOP, last_assistant_message="Done.") == {}


@pytest.mark.parametrize("name", ["PreCompact", "SessionEnd", "SubagentStop"])
def test_no_other_hook_is_ever_blocked(folder: Path, name: str) -> None:
    work(folder)
    assert "decision" not in hook(folder, hook_event_name=name, trigger="auto", reason="other", agent_id="a")


def test_a_store_that_fails_lets_the_agent_stop(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    work(folder)

    def refuse(*_arguments: object) -> str:
        raise OSError("no")

    monkeypatch.setattr("holdfast.recall.moments.wrapup.ask_to_wrap_up", refuse)
    assert hook(folder, **STOP, last_assistant_message="Done.") == {}
