from __future__ import annotations

import fcntl
import json
import os
import shutil
import sqlite3
from contextlib import suppress
from pathlib import Path

import pytest

from holdfast.domain.records import Checkpoint
from holdfast.domain.statefamilies import LEARNED_POSITION
from holdfast.home.runfiles import LOG_LIMIT, note
from holdfast.ports.store import EventFilter, LogFilter
from tests.surfaces.hookcalls import KINDS, Hooks, finish, learners, told, wait_for


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    return Hooks(tmp_path)


def kept(hooks: Hooks, session: str = "s1") -> list[str]:
    with hooks.memory() as memory:
        return [event.kind for _, event in memory.services.store.find_events(EventFilter(session=session))]  # type: ignore[arg-type]


def shown(hooks: Hooks) -> int:
    with hooks.memory() as memory:
        return len(memory.log())


def teach(hooks: Hooks) -> None:
    with hooks.memory() as memory:
        memory.remember("Round ledger amounts half to even, never half up.", files=["ledger.py"], kind="constraint")


@pytest.mark.parametrize("kind", KINDS)
def test_every_hook_answers_with_one_json_object_and_nothing_to_log(hooks: Hooks, kind: str) -> None:
    hooks.call(kind)
    assert hooks.log == ""
    wait_for(lambda: not learners(hooks), "the learner ends")


def test_what_happens_is_stored(hooks: Hooks) -> None:
    for kind in ("SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "PreCompact", "Stop"):
        hooks.call(kind)
    assert kept(hooks) == ["session_start", "prompt", "tool_result", "tool_failure", "compaction", "reply"]


def test_a_lesson_about_a_file_is_handed_over_before_it_is_edited(hooks: Hooks) -> None:
    teach(hooks)
    assert "half to even" in hooks.call("PreToolUse")
    assert hooks.call("PreToolUse") == ""  # once per session
    assert "half to even" in hooks.call("PreToolUse", session="s2")
    assert hooks.log == ""


def test_a_hook_fired_twice_delivers_once(hooks: Hooks) -> None:
    teach(hooks)
    prompt = hooks.payload("UserPromptSubmit", prompt="how do we round ledger amounts, half up or half to even?")
    assert ["half to even" in hooks.run(prompt), "half to even" in hooks.run(prompt)] == [True, False]


def test_one_hook_fired_eight_times_at_once_is_one_event_and_one_delivery(hooks: Hooks) -> None:
    teach(hooks)
    hooks.call("SessionStart", session="earlier")
    prompt = hooks.payload("UserPromptSubmit", prompt="how do we round ledger amounts, half up or half to even?")
    running = [hooks.start() for _ in range(8)]
    answers = [told(*finish(process, json.dumps(prompt).encode())) for process in running]
    assert kept(hooks) == ["prompt"]
    assert len([answer for answer in answers if "half to even" in answer]) == shown(hooks) - shown_at_start(hooks) == 1


def shown_at_start(hooks: Hooks) -> int:
    with hooks.memory() as memory:
        return len(memory.log(session="earlier"))  # type: ignore[arg-type]


def test_a_compaction_writes_a_checkpoint(hooks: Hooks) -> None:
    for kind in ("SessionStart", "UserPromptSubmit", "PostToolUse", "PreCompact"):
        hooks.call(kind)
    with hooks.memory() as memory:
        assert memory.services.store.find_records(Checkpoint, LogFilter(session="s1"))  # type: ignore[arg-type]
    assert hooks.log == ""


# Switches


def test_switched_off_nothing_is_opened(hooks: Hooks) -> None:
    hooks.run(hooks.payload("UserPromptSubmit"), HOLDFAST_OFF="1")
    assert not os.path.exists(hooks.settings.database_path)


def test_capture_and_delivery_are_switched_off_one_by_one(hooks: Hooks) -> None:
    teach(hooks)
    config = Path(hooks.settings.config_path)
    config.write_text("capture = false\n")
    assert "half to even" in hooks.call("PreToolUse")
    hooks.call("UserPromptSubmit")
    assert kept(hooks) == []
    config.write_text("[deliver]\nbefore_file = false\n")
    assert hooks.call("PreToolUse", session="s2") == ""
    hooks.call("UserPromptSubmit")
    assert kept(hooks) == ["prompt"]


# Bad input


@pytest.mark.parametrize(
    "payload",
    [
        b"", b"{", b"[]", b"null", b"17", b'"text"', b"\xff\xfe\x00", b"\0" * 100, b"{}", b"[" * 100_000,
        b'{"hook_event_name": 7, "session_id": [], "cwd": {}}', b'{"hook_event_name":"Stop"}', b"{}" * 2,
    ],
)  # fmt: skip
def test_what_is_no_payload_is_answered_with_nothing_and_logged(hooks: Hooks, payload: bytes) -> None:
    assert hooks.run(payload) == ""
    assert "InvalidValueError" in hooks.log


def test_an_unknown_hook_is_answered_with_nothing(hooks: Hooks) -> None:
    assert hooks.call("SomethingNew", tool_name=["odd"], cwd=str(hooks.project)) == ""
    assert hooks.log == ""


def test_an_unknown_or_missing_host_is_logged(hooks: Hooks) -> None:
    assert hooks.run(hooks.payload("Stop"), host="no-such-host") == ""
    assert "no-such-host" in hooks.log
    assert hooks.run(hooks.payload("Stop"), host="") == ""


def test_odd_characters_do_no_harm(hooks: Hooks) -> None:
    prompt = 'fix "a OR NEAR(b* -c:" \0 \ud800 ‮ 😀\r\n'
    hooks.run(json.dumps(hooks.payload("UserPromptSubmit", prompt=prompt)).encode())
    hooks.run(b'{"hook_event_name":"UserPromptSubmit","session_id":"s1","cwd":"%s","prompt":"caf\xe9 \xff"}'
              % str(hooks.project).encode())  # fmt: skip
    assert kept(hooks) == ["prompt", "prompt"]
    assert hooks.log == ""


def test_a_5_mb_tool_output_and_a_200_kb_prompt_are_stored_in_time(hooks: Hooks) -> None:
    response = {"stdout": "line of output 0123456789\n" * 200_000, "stderr": "", "interrupted": False}
    hooks.call("PostToolUse", tool_response=response)
    hooks.call("UserPromptSubmit", prompt="fix the ledger please " * 10_000)
    assert kept(hooks) == ["tool_result", "prompt"]
    assert hooks.log == ""


def test_more_than_16_mb_are_not_read_to_the_end(hooks: Hooks) -> None:
    running = hooks.start()
    assert running.stdin is not None
    with suppress(BrokenPipeError):  # it hangs up, which is the point
        running.stdin.write(b'{"prompt":"' + b"x" * 30_000_000 + b'"}')
    with suppress(BrokenPipeError):
        running.stdin.close()
    running.stdin = None
    assert told(*finish(running, b"")) == ""
    assert "payload of more than" in hooks.log


def test_a_folder_that_is_gone_is_logged(hooks: Hooks) -> None:
    assert hooks.call("Stop", cwd=str(hooks.folder / "gone")) == ""
    assert "gone" in hooks.log


# A broken machine


def test_without_a_home_there_is_an_answer_and_a_reason(hooks: Hooks) -> None:
    code, out, err = finish(hooks.start(HOME="-", HOLDFAST_HOME="-"), b"{}")
    assert (code, out) == (0, b"{}")
    assert b"no home folder" in err


def test_a_home_that_cannot_be_made_is_no_failure(hooks: Hooks) -> None:
    (hooks.folder / "file").write_text("")
    assert hooks.run(hooks.payload("Stop"), HOLDFAST_HOME=str(hooks.folder / "file" / "home")) == ""


def test_a_read_only_home_is_no_failure(hooks: Hooks) -> None:
    hooks.call("Stop")
    home = Path(hooks.settings.home)
    for path in (*home.iterdir(), home):
        path.chmod(0o500 if path.is_dir() else 0o400)
    try:
        hooks.call("UserPromptSubmit")
        hooks.call("PreToolUse")
    finally:
        home.chmod(0o700)


def test_a_corrupt_database_is_logged_and_left_alone(hooks: Hooks) -> None:
    hooks.call("Stop")
    path = Path(hooks.settings.database_path)
    for extra in ("-wal", "-shm"):
        path.with_name(path.name + extra).unlink(missing_ok=True)
    broken = b"this is no database at all" * 400
    path.write_bytes(broken)
    assert hooks.call("UserPromptSubmit") == ""
    assert "StoreCorruptError" in hooks.log
    assert path.read_bytes() == broken


def test_a_locked_database_is_logged_and_lessons_are_still_handed_over_or_not_but_in_time(hooks: Hooks) -> None:
    teach(hooks)
    path = hooks.settings.database_path
    lock = os.open(path + ".lock", os.O_CREAT | os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    try:
        hooks.call("Stop")
        assert "locked" in hooks.log or "deadline" in hooks.log
    finally:
        writer.close()
        os.close(lock)
    hooks.call("Stop")
    assert kept(hooks) == ["reply"]


def test_a_broken_config_file_is_logged(hooks: Hooks) -> None:
    os.makedirs(hooks.settings.home)
    Path(hooks.settings.config_path).write_text("capture = maybe")
    code, out, err = finish(hooks.start(), b"{}")
    assert (code, out) == (0, b"{}")
    assert b"config.toml" in err


def test_a_host_that_never_ends_its_payload_gets_an_answer(hooks: Hooks) -> None:
    os.makedirs(hooks.settings.home)
    Path(hooks.settings.config_path).write_text("hook_deadline_ms = 200\n")
    running = hooks.start(patient=False)
    streams = [stream for stream in (running.stdin, running.stdout, running.stderr) if stream]
    assert streams[1].read() == b"{}"
    assert running.wait(timeout=120) == 0
    for stream in streams:
        stream.close()
    reasons = ("deadline: ", "launcher: the payload did not end")
    wait_for(lambda: any(reason in hooks.log for reason in reasons), "the hook has noted why it gave no answer")


def test_a_host_that_does_not_listen_is_no_failure(hooks: Hooks) -> None:
    running = hooks.start()
    assert running.stdout is not None
    running.stdout.close()
    running.stdout = None
    code, _, err = finish(running, json.dumps(hooks.payload("Stop")).encode())
    assert (code, err) == (0, None) or (code, err) == (0, b"")
    assert kept(hooks) == ["reply"]
    assert hooks.log == ""


def test_what_a_host_that_does_not_listen_was_not_reported_is_not_logged_as_shown(hooks: Hooks) -> None:
    teach(hooks)
    running = hooks.start()
    assert running.stdout is not None
    running.stdout.close()
    running.stdout = None
    finish(running, json.dumps(hooks.payload("PreToolUse")).encode())
    assert shown(hooks) == 0
    assert "half to even" in hooks.call("PreToolUse")
    assert shown(hooks) == 1


# The log


def test_the_log_is_bounded_private_redacted_and_one_line_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "hooks.log"
    for number in range(400):
        note(str(path), "test", ValueError(f"{number}\nwith key sk-ant-api03-{'a1B2' * 24}-AA " + "padding " * 200))
    lines = path.read_text().splitlines()
    assert path.stat().st_size <= LOG_LIMIT + 2_100
    assert path.stat().st_mode & 0o777 == 0o600
    assert " 399 " in lines[-1]
    assert "a1B2a1B2" not in path.read_text()


def test_a_log_that_cannot_be_written_is_no_failure(tmp_path: Path) -> None:
    note(str(tmp_path), "test", ValueError("a folder is in its place"))
    note(str(tmp_path / "no" / "folder"), "test", ValueError("there is no folder"))
    note("", "test", ValueError("nobody knows where"))


# Learning


def learnt(hooks: Hooks) -> bool:
    with hooks.memory() as memory:
        return bool(memory.services.store.get_state(LEARNED_POSITION)) and not learners(hooks)


def test_a_session_that_ends_is_learnt_from_by_a_process_that_ends(hooks: Hooks) -> None:
    hooks.call("UserPromptSubmit", prompt="Remember that ledger amounts are integers of cents, never floats.")
    hooks.call("SessionEnd")
    wait_for(lambda: learnt(hooks), "the learner has learnt and ended")
    with hooks.memory() as memory:
        assert any("cents" in lesson.insight for lesson in memory.lessons())
    assert hooks.log == ""


def test_a_session_that_crashed_is_learnt_from_at_the_next_start(hooks: Hooks) -> None:
    hooks.call("UserPromptSubmit", prompt="Remember that ledger amounts are integers of cents, never floats.")
    assert not learners(hooks)
    hooks.call("SessionStart", session="s2")
    wait_for(lambda: learnt(hooks), "the learner has learnt and ended")
    with hooks.memory() as memory:
        assert any("cents" in lesson.insight for lesson in memory.lessons())


def test_a_start_with_nothing_left_to_learn_starts_nothing(hooks: Hooks) -> None:
    hooks.call("SessionStart")
    hooks.call("SessionEnd")
    wait_for(lambda: learnt(hooks), "the learner has learnt and ended")
    shutil.rmtree(hooks.settings.run_path)
    hooks.call("SessionStart", session="s2")
    assert not os.path.exists(hooks.settings.run_path)


def test_the_learner_is_no_child_of_the_host_and_holds_none_of_its_streams(hooks: Hooks) -> None:
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    running = hooks.start()
    finish(running, json.dumps(hooks.payload("SessionEnd")).encode())  # returns when all ends of its pipes are closed
    os.close(writing)
    assert os.read(reading, 1) == b""
    os.close(reading)
    wait_for(lambda: learnt(hooks), "the learner has learnt and ended")


def test_why_a_delivery_could_not_be_made_is_written_down(hooks: Hooks) -> None:
    with hooks.memory() as memory:
        memory.remember("Round ledger amounts half to even.", files=["ledger.py"])
    with sqlite3.connect(hooks.settings.database_path) as sql:
        sql.execute("DROP TABLE deliveries")
    sql.close()
    assert hooks.call("UserPromptSubmit", prompt="how do we round ledger amounts?") == ""
    assert "deliver: HoldfastError: " in hooks.log


# Which host


def test_claude_codes_hook_is_silent_in_a_host_that_also_reads_claude_codes_files(hooks: Hooks) -> None:
    teach(hooks)
    assert hooks.run(hooks.payload("PreToolUse"), CURSOR_VERSION="3.4.2") == ""
    assert "half to even" in hooks.run(hooks.payload("PreToolUse"), CLAUDECODE="1")


def test_one_command_serves_several_hosts_by_what_their_environment_tells(hooks: Hooks) -> None:
    teach(hooks)
    assert "half to even" in hooks.run(hooks.payload("PreToolUse", session="s2"), "any", CLAUDECODE="1")
    patch = {"command": "*** Begin Patch\n*** Update File: ledger.py\n@@\n-rate = 1\n+rate = 2\n*** End Patch"}
    edit = hooks.payload("PreToolUse", session="s3", tool_name="apply_patch", tool_input=patch)
    assert "half to even" in hooks.run(edit, "any")
