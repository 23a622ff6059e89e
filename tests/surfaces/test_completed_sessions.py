"""A Codex session whose hooks knew no exit code: the transcript completes it at the turn's end, once and for all."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from holdfast.backfill.transcripts import keep_turn
from holdfast.capture.sessionevents import OUTCOME, session_events
from holdfast.domain.hookcall import HookCall
from holdfast.ports.store import EventFilter, LessonFilter
from holdfast.surfaces.cli.main import cli
from tests.surfaces.hookcalls import Hooks, wait_for

SESSION = "01a204ff-9ec2-77d2-98d6-aaa73b3b583e"
RED = (
    "FAIL: test_limit (tests.test_price.PriceTest.test_limit)\n"
    '  File "/home/ada/parcels/tests/test_price.py", line 9, in test_limit\n'
    "    self.assertEqual(fee_for(2_000), 549)\nAssertionError: 749 != 549\n"
    "Ran 2 tests in 0.001s\nFAILED (failures=1)\n"
)
GREEN = "Ran 2 tests in 0.001s\n\nOK\n"
TESTS = "python3 -m unittest tests.test_price"
PATCH = (
    "*** Begin Patch\n*** Update File: parcel/price.py\n@@\n-    if weight_g < limit:\n+    if weight_g <= limit:\n"
    "*** End Patch"
)
CAUSE = (
    "The root cause was that `fee_for` in parcel/price.py compared with `<`, "
    "so a parcel at the limit fell into the next band."
)


class CodexSession:
    """One session, told to the hooks as it goes and to the rollout afterwards."""

    def __init__(self, folder: Path) -> None:
        self.hooks = Hooks(folder)
        self.rollout = folder / ".codex" / "sessions" / "2026" / "11" / "22" / f"rollout-{SESSION}.jsonl"

    def tell_hook(self, name: str, **fields: Any) -> None:
        payload = {"session_id": SESSION, "turn_id": "t1", "cwd": str(self.hooks.project), "hook_event_name": name,
                   "transcript_path": str(self.rollout), "model": "gpt-5.5"}  # fmt: skip
        self.hooks.run({**payload, **fields}, "codex")

    def tell_hooks(self) -> None:
        """What Codex's hooks say, without a rollout that could tell the exit codes."""
        self.tell_hook("SessionStart", source="startup")
        self.tell_hook("UserPromptSubmit", prompt="A parcel of exactly 2000 g is charged the 5 kg fee. Mend it.")
        self._ran("call_1", RED)
        patched = "Exit code: 0\nOutput:\nSuccess. Updated the following files:\nM parcel/price.py\n"
        self.tell_hook("PostToolUse", tool_name="apply_patch", tool_use_id="call_2", tool_input={"command": PATCH},
                       tool_response=patched)  # fmt: skip
        self._ran("call_3", GREEN)

    def _ran(self, call: str, output: str) -> None:
        self.tell_hook("PostToolUse", tool_name="Bash", tool_use_id=call, tool_input={"command": TESTS},
                       tool_response=output)  # fmt: skip

    def write_rollout(self) -> None:
        """What Codex writes of the same session."""
        self.rollout.parent.mkdir(parents=True, exist_ok=True)
        lines = [
            ("session_meta", {"id": SESSION, "cwd": str(self.hooks.project), "cli_version": "0.169.0"}),
            *_called("call_1", RED, 1),
            ("response_item", {"type": "custom_tool_call", "status": "completed", "call_id": "call_2",
                               "name": "apply_patch", "input": PATCH}),
            ("response_item", {"type": "custom_tool_call_output", "call_id": "call_2",
                               "output": "Exit code: 0\nOutput:\nSuccess.\n"}),
            *_called("call_3", GREEN, 0),
            ("response_item", {"type": "message", "role": "assistant",
                               "content": [{"type": "output_text", "text": CAUSE}]}),
        ]  # fmt: skip
        # Hooks are heard at the time of the test; what the rollout adds comes behind them.
        now = datetime.now(UTC)
        entries = [
            {"timestamp": (now + timedelta(seconds=at)).isoformat(), "type": kind, "payload": payload}
            for at, (kind, payload) in enumerate(lines)
        ]
        self.rollout.write_text("".join(json.dumps(line) + "\n" for line in entries), "utf-8")

    def read_turn(self) -> int:
        call = HookCall(host="codex", name="Stop", session=SESSION, cwd=str(self.hooks.project),
                        transcript=str(self.rollout))  # fmt: skip
        with self.hooks.memory() as memory:
            return keep_turn(memory, call)

    def commands(self) -> list[tuple[str, int | None]]:
        """How the session's commands ended, as detectors read them."""
        with self.hooks.memory() as memory:
            events = session_events(memory.services, memory.location.project.id, SESSION)
        return [(event.kind, event.exit_code) for event in events if event.command]

    def run(self, *words: str) -> Any:
        result = CliRunner(env={**self.hooks.env, "PWD": str(self.hooks.project)}).invoke(cli, [*words, "--json"])
        assert result.exit_code == 0, result.output
        return json.loads(result.stdout)


def _called(call: str, output: str, code: int) -> list[tuple[str, dict[str, Any]]]:
    arguments = json.dumps({"cmd": TESTS})
    ended = f"Wall time: 0.1 seconds\nProcess exited with code {code}\nOutput:\n{output}"
    return [
        ("response_item", {"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": call}),
        ("response_item", {"type": "function_call_output", "call_id": call, "output": ended}),
    ]


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CodexSession:
    codex_session = CodexSession(tmp_path)
    codex_session.tell_hooks()
    for name, text in codex_session.hooks.env.items():
        monkeypatch.setenv(name, text)
    monkeypatch.chdir(codex_session.hooks.project)
    return codex_session


def test_an_exit_code_that_no_hook_knew_is_unknown(session: CodexSession) -> None:
    assert session.commands() == [("tool_result", None), ("tool_result", None)]


def test_the_transcript_completes_the_session_and_the_cause_is_learnt_as_proven(session: CodexSession) -> None:
    session.write_rollout()
    assert session.read_turn() > 0
    assert session.commands() == [("tool_failure", 1), ("tool_result", 0)]
    with session.hooks.memory() as memory:
        memory.learn(SESSION)
        states = ("active",)
        lessons = memory.services.store.find(LessonFilter(project=memory.location.project.id, states=states))
    assert [(lesson.trust, lesson.paths) for lesson in lessons if "compared with" in lesson.insight] == [
        ("verified", ("parcel/price.py",))
    ]


def test_a_transcript_that_is_read_again_completes_nothing_twice(session: CodexSession) -> None:
    session.write_rollout()
    session.read_turn()
    assert session.read_turn() == 0


def test_a_backfill_of_a_session_whose_hooks_listened_adds_nothing_twice(session: CodexSession) -> None:
    session.write_rollout()
    session.read_turn()
    before = _keys(session)
    assert session.run("backfill", "--host", "codex")["events"] == 0
    assert _keys(session) == before
    assert session.commands() == [("tool_failure", 1), ("tool_result", 0)]


def test_a_backfill_completes_what_no_turn_completed(session: CodexSession) -> None:
    session.write_rollout()
    session.run("backfill", "--host", "codex")
    keys = _keys(session)
    assert sum(key.endswith(OUTCOME) for key in keys) == 2
    assert len(keys) == len(set(keys))
    assert session.commands() == [("tool_failure", 1), ("tool_result", 0)]
    assert session.run("backfill", "--host", "codex")["events"] == 0
    assert _keys(session) == keys


def _keys(session: CodexSession) -> list[str]:
    with session.hooks.memory() as memory:
        return [event.key for _, event in memory.services.store.find_events(EventFilter(session=SESSION))]


def test_a_session_of_a_host_that_never_tells_its_end_is_learnt_after_the_turn(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    shared = {"session_id": "s9", "cwd": str(hooks.project)}
    prompt = "Remember that the ledger keeps all rates in basis points."
    hooks.run({**shared, "hook_event_name": "UserPromptSubmit", "prompt": prompt}, "cline")
    hooks.run({**shared, "hook_event_name": "Stop", "last_assistant_message": "Noted."}, "cline")

    def learnt() -> bool:
        with hooks.memory() as memory:
            lessons = memory.services.store.find(LessonFilter(project=memory.location.project.id))
        return any("basis points" in lesson.insight for lesson in lessons)

    wait_for(learnt, "the learner that the turn's end starts")
