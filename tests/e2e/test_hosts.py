"""One memory for every host: what a session in Codex learns, Cursor, Gemini CLI and Claude Code are told.

Hooks are run by the command lines that `holdfast setup` wrote into each host's own file, with payloads in that host's
own form; the story of the example is played for real.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections.abc import Callable
from itertools import chain
from pathlib import Path
from typing import Any

import pytest
from player import Player, load_story

from tests.e2e.conftest import ROOT, Machine

STORY = load_story(str(ROOT / "examples" / "ledger"))
HOOK_FILES = {"codex": ".codex/hooks.json", "cursor": ".cursor/hooks.json", "gemini-cli": ".gemini/settings.json"}
HOSTS = ("claude-code", *HOOK_FILES)


@pytest.fixture
def before(machine: Machine) -> dict[str, bytes]:
    """The hosts' files as the user has them, with other tools' hooks and servers in them."""
    for host in HOSTS:
        theirs = ROOT / "tests" / "golden" / "hosts" / host.replace("-", "_") / "home"
        shutil.copytree(theirs, machine.home, dirs_exist_ok=True)
    return files(machine)


def test_what_one_host_learns_every_other_knows(machine: Machine, before: dict[str, bytes]) -> None:
    machine.holdfast("setup", "--yes")
    listed = machine.json("setup", "--list")["hosts"]
    assert sorted(row["host"] for row in listed if row["set_up"]) == sorted(HOSTS)
    _session_in_codex(machine)
    _wait_until_learnt(machine)
    path, command = str(machine.elsewhere / "ledger" / "money.py"), STORY["second"]["command"]
    read, shell = {"path": path}, {"command": command}
    is_told("floats", lambda: in_cursor(machine, "preToolUse", tool_name="Read", tool_input=read))
    is_told("PYTHONPATH=. python", lambda: in_cursor(machine, "preToolUse", tool_name="Shell", tool_input=shell))
    answer = {"llmContent": "def split_amount(cents, people): ...", "returnDisplay": ""}
    done = {"tool_name": "read_file", "tool_input": {"file_path": path}, "tool_response": answer}
    is_told("floats", lambda: in_gemini(machine, "AfterTool", **done))
    is_told("line format", lambda: in_gemini(machine, "BeforeAgent", prompt=STORY["second"]["related_prompt"]))
    assert in_gemini(machine, "BeforeAgent", prompt=STORY["second"]["unrelated_prompt"]) == ""
    is_told("floats", lambda: in_claude_code(machine, {"read": "ledger/money.py"}))


def test_uninstall_gives_every_host_every_byte_back(machine: Machine, before: dict[str, bytes]) -> None:
    machine.holdfast("setup", "--yes")
    after = files(machine)
    assert all(after[file] != before[file] for file in before if not file.endswith("mcp.json"))
    machine.holdfast("uninstall", "codex")
    left = files(machine)
    assert {file: left[file] for file in left if file.startswith(".codex")} == {
        file: before[file] for file in before if file.startswith(".codex")
    }
    assert left[".cursor/hooks.json"] == after[".cursor/hooks.json"]
    machine.holdfast("uninstall")
    assert files(machine) == before


def files(machine: Machine) -> dict[str, bytes]:
    """Every file in the user's home that is not Holdfast's own."""
    paths = (path for path in machine.home.rglob("*") if path.is_file() and ".holdfast" not in path.parts)
    return {str(path.relative_to(machine.home)): path.read_bytes() for path in paths}


def run(machine: Machine, host: str, payload: dict[str, Any]) -> dict[str, Any]:
    """What the command of ours that is registered for the payload's hook answers, run as the host would run it."""
    registered = json.loads((machine.home / HOOK_FILES[host]).read_text())["hooks"][payload["hook_event_name"]]
    handlers = chain.from_iterable(entry.get("hooks", [entry]) for entry in registered)
    (command,) = {handler["command"] for handler in handlers if "holdfast" in handler["command"]}
    ran = subprocess.run(
        ["/bin/sh", "-c", command], cwd=machine.home, env=machine.env, input=json.dumps(payload),
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, "")
    answer: dict[str, Any] = json.loads(ran.stdout)
    return answer


def is_told(words: str, ask: Callable[[], str]) -> None:
    """Asks again, in another session, when a busy machine makes a hook miss its deadline: it says nothing then."""
    context = next(filter(None, (ask() for _ in range(40))), "")
    assert words in context


def in_claude_code(machine: Machine, step: dict[str, Any]) -> str:
    """What Claude Code adds to the agent's context at a step of a session of its own."""
    player = Player(f"claude-{time.monotonic_ns()}", str(machine.elsewhere))
    return "".join(map(machine.hook, player.step(step)))


def in_cursor(machine: Machine, hook: str, **fields: Any) -> str:
    """What Cursor adds to the agent's context, in a conversation of its own."""
    id = f"cursor-{time.monotonic_ns()}"
    shared = {"conversation_id": id, "session_id": id, "workspace_roots": [str(machine.elsewhere)]}
    answer = run(machine, "cursor", {**shared, "hook_event_name": hook, "cwd": str(machine.elsewhere), **fields})
    assert set(answer) <= {"additional_context"}
    return str(answer.get("additional_context", ""))


def in_gemini(machine: Machine, hook: str, **fields: Any) -> str:
    """What Gemini CLI adds to the agent's context, in a session of its own."""
    shared = {"session_id": f"gemini-{time.monotonic_ns()}", "cwd": str(machine.elsewhere), "transcript_path": ""}
    answer = run(machine, "gemini-cli", {**shared, "hook_event_name": hook, **fields})
    return str(answer.get("hookSpecificOutput", {}).get("additionalContext", ""))


def _session_in_codex(machine: Machine) -> None:
    """The story's first session, told as Codex tells it: no reads, patches for edits, output with an exit code."""
    player = Player("019d85eb-0000-7000-8000-000000000001", str(machine.repository))
    for payload in chain(player.start(), player.play(STORY["first"]), player.end()):
        if payload.get("tool_name") != "Read":
            run(machine, "codex", _as_codex(payload, str(machine.repository)))
    machine.commit_all("Give the odd cents to the first people")


def _as_codex(payload: dict[str, Any], root: str) -> dict[str, Any]:
    converted = {**payload, "model": "gpt-5.3-codex", "turn_id": "t1"}
    if payload.get("tool_name") == "Edit":
        converted |= {"tool_name": "apply_patch", "tool_input": {"command": _patch(payload["tool_input"], root)}}
        converted["tool_response"] = "Success. Updated the following files:"
    elif payload.get("tool_name") == "Bash":
        output = payload.get("tool_response", {}).get("stdout", "")
        first, _, rest = payload.get("error", "").partition("\n")
        code = first.removeprefix("Exit code ") or "0"
        converted["tool_response"] = f"Exit code: {code}\nWall time: 0.4 seconds\nOutput:\n{output or rest}"
        converted.pop("error", None)
        if payload["hook_event_name"] == "PostToolUseFailure":
            converted["hook_event_name"] = "PostToolUse"
    return converted


def _patch(edit: dict[str, str], root: str) -> str:
    file = Path(edit["file_path"]).relative_to(root)
    old, new = (
        "".join(mark + line for line in edit[key].splitlines(keepends=True))
        for mark, key in (("-", "old_string"), ("+", "new_string"))
    )
    return f"*** Begin Patch\n*** Update File: {file}\n@@\n{old}{new}*** End Patch"


def _wait_until_learnt(machine: Machine) -> None:
    """The learner is another process: wait, within reason, for the request that is its last."""
    for _ in range(600):
        if any("line format" in lesson["insight"] for lesson in machine.json("list")["lessons"]):
            return
        time.sleep(0.2)
    raise AssertionError(f"nothing was learnt: {machine.holdfast('list', '--state', 'all')}")
