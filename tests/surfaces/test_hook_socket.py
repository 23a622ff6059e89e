from __future__ import annotations

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import EmbedderError, StoreLockedError
from holdfast.home.hookline import Request, ask_server
from holdfast.home.spool import waiting
from holdfast.lean.deadline import Deadline
from holdfast.ports.store import EventFilter
from holdfast.recall import deliver
from holdfast.recall.embed import PROBE
from holdfast.settings import socket_folder
from holdfast.surfaces.mcp import hooksocket
from tests.surfaces.hookcalls import KINDS, Hooks, ask_for, finish, learners, short_folder, told, wait_for
from tests.surfaces.patience import let_the_socket_wait


@pytest.fixture
def hooks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Hooks]:
    let_the_socket_wait(monkeypatch)
    with short_folder() as made:
        for name in ("HOME", "HOLDFAST_HOME", "HOLDFAST_HOLDOUT"):
            monkeypatch.setenv(name, made.env[name])  # for the learners that a server in this process starts
        yield made


@pytest.fixture
def served(hooks: Hooks) -> Iterator[Hooks]:
    """With a server that has not begun to learn yet."""
    yield from _serve(hooks)


@pytest.fixture
def learning(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hooks]:
    """With a server that learns at once."""
    monkeypatch.setattr(hooksocket, "SETTLE_S", 0.0)
    yield from _serve(hooks)


def _serve(hooks: Hooks) -> Iterator[Hooks]:
    with hooks.memory() as memory:
        memory.remember("Round ledger amounts half to even, never half up.", files=["ledger.py"], kind="constraint")
        close = hooksocket.serve(memory, hooks.settings.run_path)
        yield hooks
        close()


def ask(hooks: Hooks, kind: str, **more: str) -> str | None:
    return ask_for(hooks.settings, json.dumps(hooks.payload(kind, **more)).encode())


def kept(hooks: Hooks) -> list[str]:
    with hooks.memory() as memory:
        return [event.kind for _, event in memory.services.store.find_events(EventFilter(session="s1"))]  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_a_server_answers_every_hook(served: Hooks, kind: str) -> None:
    answer = ask(served, kind)
    assert answer is not None
    assert isinstance(json.loads(answer), dict)
    assert served.log == ""


def test_a_hook_asks_the_server_and_gets_what_it_would_find_itself(served: Hooks) -> None:
    assert "half to even" in served.call("PreToolUse")
    assert served.call("PreToolUse") == ""
    served.call("PostToolUse")
    assert kept(served) == ["tool_result"]
    assert served.log == ""


@pytest.mark.parametrize("kind", ["UserPromptSubmit", "PreToolUse"])
def test_a_delivery_that_takes_too_long_costs_no_lesson(
    served: Hooks, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    """The server may take 160 ms and the hook waits for longer: an empty answer in between must not count."""

    def prepare_slowly(*arguments: Any, **named: Any) -> object:
        time.sleep(0.18)
        return prepare(*arguments, **named)

    prepare = deliver.prepare
    monkeypatch.setattr(deliver, "prepare", prepare_slowly)
    monkeypatch.setattr(Deadline, "deliver_s", 0.16)
    prompt = {"prompt": "Should ledger amounts round half up?"} if kind == "UserPromptSubmit" else {}
    assert "half to even" in served.call(kind, **prompt)
    assert served.log == ""


def test_a_server_loads_its_local_embedder_before_it_answers(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    questions: list[str] = []

    def embed_query(_: object, text: str) -> list[float]:
        questions.append(text)
        return [1.0]

    with hooks.memory() as memory:
        embedder = memory.services.embedder()
        assert embedder is not None
        monkeypatch.setattr(type(embedder), "embed_query", embed_query)
        hooksocket.serve(memory, hooks.settings.run_path)()
        assert questions == [PROBE]
        monkeypatch.setattr(type(embedder), "is_local", False)
        hooksocket.serve(memory, hooks.settings.run_path)()
        assert questions == [PROBE]


def test_a_broken_embedder_costs_no_answer(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> list[float]:
        raise EmbedderError("its file is broken")

    with hooks.memory() as memory:
        monkeypatch.setattr(type(memory.services.embedder()), "embed_query", refuse)
        close = hooksocket.serve(memory, hooks.settings.run_path)
        assert ask(hooks, "PreToolUse") == "{}"
        close()
    assert "server embedder" in hooks.log


def test_only_what_the_host_was_shown_counts_as_shown(served: Hooks) -> None:
    payload = json.dumps(served.payload("PreToolUse")).encode()
    for heard in (False, True):
        answer = ask_for(served.settings, payload, heard)
        assert "half to even" in str(answer)
    assert ask_for(served.settings, payload) == "{}"


def test_a_hook_that_dies_before_it_has_spoken_counts_as_not_shown(served: Hooks) -> None:
    payload = json.dumps(served.payload("PreToolUse")).encode()
    request = Request("", "claude-code", payload, time.time(), frozenset())
    answer, _ = ask_server(served.settings, request, time.monotonic() + 60.0)
    assert answer is not None
    answer.line.close()
    assert "half to even" in str(ask_for(served.settings, payload))


def test_a_turns_end_leaves_an_errand_until_its_transcript_was_read(learning: Hooks) -> None:
    folder = Path(learning.settings.run_path, "errands")
    transcript = learning.folder / "s1.jsonl"
    transcript.write_text("")
    learning.call("Stop", transcript_path=str(transcript))
    wait_for(lambda: folder.exists() and os.listdir(folder) == [], "the server has read the transcript")
    assert learning.log == ""


def test_a_server_whose_store_takes_nothing_spools_and_learns_it_later(
    learning: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> int:
        raise StoreLockedError("another process writes")

    with monkeypatch.context() as locked:
        locked.setattr("holdfast.stores.sqlite.store.SqliteStore.append_events", refuse)
        prompt = "Remember that ledger amounts are integers of cents, never floats."
        assert ask(learning, "UserPromptSubmit", prompt=prompt) is not None
        assert len(waiting(learning.settings.run_path)) == 1
    learning.call("Stop")
    wait_for(lambda: _knows(learning, "cents"), "the server learnt")
    assert waiting(learning.settings.run_path) == []


def test_a_server_starts_a_learner_for_all_at_a_sessions_end(served: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    errands: list[str] = []
    monkeypatch.setattr(
        hooksocket, "start_learner", lambda *arguments: errands.append(" ".join(arguments)) or os.getpid()
    )
    assert ask(served, "SessionEnd") == "{}"
    assert errands == [f"{served.project}\tclaude-code\ts1\t"]


def test_a_sessions_end_starts_the_learner_although_a_server_runs(served: Hooks) -> None:
    served.call("UserPromptSubmit", prompt="Remember that ledger amounts are integers of cents, never floats.")
    served.call("SessionEnd")
    wait_for(lambda: _knows(served, "cents"), "the learner learnt")
    wait_for(lambda: not learners(served), "the learner ends")


def test_a_learner_at_a_sessions_end_is_no_child_of_the_server(served: Hooks) -> None:
    """Some hosts end their servers with all children."""
    served.call("UserPromptSubmit", prompt="Remember that ledger amounts are integers of cents, never floats.")
    served.call("SessionEnd")
    wait_for(lambda: any(_parent(pid) not in (0, os.getpid()) for pid in learners(served)), "it has left the server")
    wait_for(lambda: _knows(served, "cents"), "the learner learnt")
    wait_for(lambda: not learners(served), "the learner ends")


def _parent(pid: int) -> int:
    """The process's parent; 0 for a process that has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[1])
    except OSError:
        return 0


def test_a_finished_turn_is_learnt_from_without_waiting_for_it(learning: Hooks) -> None:
    learning.call("UserPromptSubmit", prompt="Remember that ledger amounts are integers of cents, never floats.")
    learning.call("Stop")
    wait_for(lambda: _knows(learning, "cents"), "the server learnt")
    wait_for(lambda: not learners(learning), "the learner ends")
    assert learning.log == ""


def test_a_finished_turn_leaves_the_state_of_its_task_for_a_host_that_is_killed(learning: Hooks) -> None:
    goal = "Let every ledger remember who paid for the groceries"
    learning.call("UserPromptSubmit", prompt=goal)
    learning.call("PostToolUse", tool_name="Edit", tool_input={"file_path": "ledger.py", "old_string": "1",
                                                               "new_string": "2"})  # fmt: skip
    learning.call("Stop", last_assistant_message="The field is there; the report is missing.")

    def goals() -> list[str]:
        with learning.memory() as memory:
            return [checkpoint.goal for checkpoint in memory.checkpoints()]

    wait_for(lambda: goals() == [goal], "the state is there")
    assert f"goal: {goal}" in learning.call("SessionStart", session="s2")
    assert goal not in learning.call("SessionStart", session="s3")


def test_what_a_crashed_session_left_is_learnt_when_a_server_starts(
    hooks: Hooks, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hooksocket, "SETTLE_S", 0.0)
    hooks.call("UserPromptSubmit", prompt="Remember that ledger amounts are integers of cents, never floats.")
    with hooks.memory() as memory:
        close = hooksocket.serve(memory, hooks.settings.run_path)
        wait_for(lambda: _knows(hooks, "cents"), "the server learnt")
        close()


def _knows(hooks: Hooks, word: str) -> bool:
    with hooks.memory() as memory:
        return any(word in lesson.insight for lesson in memory.lessons())


def test_many_hooks_at_once_are_all_answered_and_stored(served: Hooks) -> None:
    answers: list[object] = []

    def one(number: int) -> None:
        answers.append(ask(served, "Stop", last_assistant_message=f"Answer {number}"))

    threads = [threading.Thread(target=one, args=(number,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert None not in answers
    assert len(kept(served)) == 12


@pytest.mark.parametrize("payload", [b"{", b"[]", b"\xff\xfe", b"", b'{"hook_event_name":"Stop"}'])
def test_a_server_hangs_up_on_what_it_cannot_answer_and_the_hook_answers_alone(served: Hooks, payload: bytes) -> None:
    assert ask_for(served.settings, payload) is None
    assert served.run(payload) == ""
    assert ask(served, "Stop") == "{}"


def test_a_server_of_another_store_or_version_is_not_for_us(served: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    other = replace(served.settings, store="sqlite:///elsewhere/memory.db")
    payload = json.dumps(served.payload("Stop")).encode()
    assert ask_for(other, payload) is None
    monkeypatch.setattr(hooksocket, "__version__", "0.0.0")
    assert ask_for(served.settings, payload) is None
    assert kept(served) == []


def test_a_server_that_never_answers_costs_no_event(hooks: Hooks) -> None:
    os.makedirs(hooks.settings.run_path, mode=0o700)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as deaf:
        deaf.bind(os.path.join(hooks.settings.run_path, "1.sock"))
        deaf.listen(8)
        hooks.call("Stop")
    assert kept(hooks) == ["reply"]
    assert hooks.log == ""


def test_stale_sockets_are_passed_over_and_cleared_by_the_next_server(hooks: Hooks) -> None:
    folder = hooks.settings.run_path
    os.makedirs(folder, mode=0o700)
    for number in range(3):
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
            dead.bind(os.path.join(folder, f"{number}.sock"))
    hooks.call("Stop")
    assert kept(hooks) == ["reply"]
    with hooks.memory() as memory:
        close = hooksocket.serve(memory, folder)
        assert [name for name in os.listdir(folder) if name.endswith(".sock")] == [f"{os.getpid()}.sock"]
        close()
        close()
    assert [name for name in os.listdir(folder) if name.endswith(".sock")] == []


def test_the_newest_server_is_queried_first_and_the_next_one_when_it_fails(served: Hooks) -> None:
    folder = served.settings.run_path
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(os.path.join(folder, "newer.sock"))
    assert ask(served, "Stop") == "{}"


def test_socket_and_folder_are_the_owners_alone(served: Hooks) -> None:
    folder = Path(served.settings.run_path)
    assert folder.stat().st_mode & 0o777 == 0o700
    assert (folder / f"{os.getpid()}.sock").stat().st_mode & 0o777 == 0o600


def test_a_folder_that_others_may_enter_is_not_trusted(served: Hooks) -> None:
    os.chmod(served.settings.run_path, 0o755)
    assert ask(served, "Stop") is None


def test_a_link_in_place_of_the_folder_is_not_trusted(served: Hooks) -> None:
    folder = Path(served.settings.run_path)
    folder.rename(folder.with_name("moved"))
    folder.symlink_to(folder.with_name("moved"))
    assert ask(served, "Stop") is None
    folder.unlink()
    folder.with_name("moved").rename(folder)


def test_a_home_too_deep_for_a_sockets_address_is_served_from_tmp(hooks: Hooks) -> None:
    deep = str(hooks.folder / ("d" * 120))
    hooks.env["HOLDFAST_HOME"] = deep
    folder = socket_folder(hooks.settings.run_path)
    assert folder.startswith("/tmp/holdfast-")
    with hooks.memory() as memory:
        close = hooksocket.serve(memory, hooks.settings.run_path)
        assert ask(hooks, "Stop") == "{}"
        close()
    os.rmdir(folder)


def test_a_killed_hook_does_the_server_no_harm(served: Hooks) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as low_latency:
        low_latency.connect(os.path.join(served.settings.run_path, f"{os.getpid()}.sock"))
        low_latency.sendall(b"half a requ")
    assert ask(served, "Stop") == "{}"


def test_a_server_that_ends_leaves_hooks_answering_alone(hooks: Hooks) -> None:
    with hooks.memory() as memory:
        hooksocket.serve(memory, hooks.settings.run_path)()
    assert ask(hooks, "Stop") is None
    assert told(*finish(hooks.start(), json.dumps(hooks.payload("Stop")).encode())) == ""
    assert kept(hooks) == ["reply"]
