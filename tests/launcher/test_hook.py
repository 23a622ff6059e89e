"""The launcher as a host sees it: one answer, in time, exit status 0, whatever the others do."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from holdfast import __version__
from holdfast.home.hookline import Answering, Request
from holdfast.ports.store import EventFilter
from holdfast.settings import load_settings, socket_folder
from tests.launcher.machine import HOOK, Machine
from tests.surfaces.hookcalls import ENTRY, Hooks, wait_for

IN_TIME_S, AT_THE_LATEST_S = 1.5, 4.0
"""Generous: half a second and two seconds are promised, on machines that are not busy with other tests."""


def say(*messages: bytes, then_wait_s: float = 0.0) -> object:
    def talk(line: socket.socket, _: Request | None) -> None:
        for message in messages:
            line.sendall(message)
        time.sleep(then_wait_s)

    return talk


def test_it_tells_its_version(machine: Machine) -> None:
    ran = subprocess.run([machine.program, "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout == f"{__version__}\n"


# Servers


def test_a_server_is_shown_who_asks_what_and_what_is_set(machine: Machine) -> None:
    signs: list[bytes] = []

    def talk(line: socket.socket, _: Request | None) -> None:
        line.sendall(b"A5\nhello")
        signs.append(line.recv(1))

    machine.serve(talk)
    ran = machine.hook(HOOK, "--plain", CURSOR_VERSION="1", HOLDFAST_STORE="sqlite:///a.db", EMPTY="")
    assert ran[:3] == (0, b"hello", b"")
    [request] = machine.requests
    assert request is not None
    assert (request.version, request.host, request.payload) == (__version__, "codex", HOOK)
    assert request.store == "sqlite:///a.db"
    assert {"CURSOR_VERSION", "HOLDFAST_STORE", "HOME"} <= request.names
    assert "EMPTY" not in request.names
    assert abs(request.began_s - time.time()) < 60
    assert signs == [b"+"]


def test_the_servers_log_is_waited_for_before_the_host_goes_on(machine: Machine) -> None:
    logged: list[float] = []

    def talk(line: socket.socket, _: Request | None) -> None:
        line.sendall(b"A2\n{}")
        line.recv(1)
        time.sleep(0.1)
        logged.append(time.monotonic())

    machine.serve(talk)
    machine.hook()
    assert len(logged) == 1


def test_the_newest_server_is_queried_and_the_next_one_when_it_has_died(machine: Machine) -> None:
    machine.serve(say(b"A5\nolder"), "older.sock")
    os.utime(machine.run_path / "older.sock", (1, 1))
    machine.serve(say(b"A5\nnewer"), "newer.sock")
    assert machine.hook().out == b"newer"
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as dead:
        dead.bind(str(machine.run_path / "dead.sock"))
    os.utime(machine.run_path / "newer.sock", (0, 0))
    assert machine.hook().out == b"older"


def test_nothing_to_do_is_reported_in_the_hosts_way(machine: Machine) -> None:
    machine.serve(say(b"N0\n"))
    assert [machine.hook().out, machine.hook(HOOK, "--plain").out] == [b"{}", b""]


def test_a_blank_answer_prints_nothing(machine: Machine) -> None:
    machine.serve(say(b"A1\n\n"))
    assert machine.hook().out == b""


@pytest.mark.parametrize(
    "messages", [[b""], [b"A50\nhalf an ans"], [b"O5\noffer"], [b"\0\xff garbage \n"], [b"A2000000\n"]]
)
def test_a_server_that_dies_midway_costs_nothing_because_python_answers(
    machine: Machine, messages: list[bytes]
) -> None:
    machine.serve(say(*messages))
    machine.child("answer.write_answer('python, ' + request.payload.decode())")
    assert machine.hook().out == b"python, " + HOOK
    assert machine.log == ""


def test_python_starts_beside_a_server_that_is_slow(machine: Machine) -> None:
    machine.serve(say(then_wait_s=3.0))
    machine.child("answer.write_answer('python')")
    assert machine.hook().out == b"python"


def test_a_slow_server_may_still_be_the_first_to_answer(machine: Machine) -> None:
    def talk(line: socket.socket, _: Request | None) -> None:
        time.sleep(0.4)
        Answering(line).write_answer("server")

    machine.serve(talk)
    signs = machine.folder / "sign"
    machine.child(f"time.sleep(1); open({str(signs)!r}, 'w').write(str(answer.write_answer('python')))")
    assert machine.hook().out == b"server"
    wait_for(signs.exists, "Python has tried")
    wait_for(lambda: signs.read_text() == "None", "it was told that the host got another answer")


@pytest.mark.parametrize("mode", [0o755, 0o777, 0o1777])
def test_a_socket_folder_that_others_may_enter_is_not_trusted(machine: Machine, mode: int) -> None:
    machine.serve(say(b"A5\nevil!"))
    machine.child("answer.write_answer('python')")
    machine.run_path.chmod(mode)
    assert machine.hook().out == b"python"
    assert machine.requests == []


def test_a_link_in_place_of_the_socket_folder_is_not_trusted(machine: Machine) -> None:
    machine.serve(say(b"A5\nevil!"))
    machine.child("answer.write_answer('python')")
    machine.run_path.rename(machine.home / "elsewhere")
    machine.run_path.symlink_to(machine.home / "elsewhere")
    assert machine.hook().out == b"python"
    assert machine.requests == []


def test_what_is_no_socket_is_passed_over(machine: Machine) -> None:
    (machine.run_path / "file.sock").write_text("A2\n{}")
    (machine.run_path / "folder.sock").mkdir()
    (machine.run_path / ("long" * 30 + ".sock")).write_text("")
    machine.child("answer.write_answer('python')")
    assert machine.hook().out == b"python"


@pytest.mark.parametrize("depth", [0, 120])
def test_it_looks_where_the_server_listens(machine: Machine, depth: int) -> None:
    home = machine.home / ("d" * depth) if depth else machine.home
    machine.run_path = Path(socket_folder(load_settings({"HOLDFAST_HOME": str(home), "HOME": "/"}).run_path))
    machine.run_path.mkdir(mode=0o700, parents=True, exist_ok=True)
    machine.serve(say(b"A5\nfound"))
    try:
        for written in (str(home), f"{home}/", f"{home}//"):
            assert machine.hook(HOLDFAST_HOME=written).out == b"found"
    finally:
        (machine.run_path / "1.sock").unlink()
        if depth:
            machine.run_path.rmdir()


@pytest.mark.parametrize("home", ["home", "./home", "{0}/../home", "{0}/./home", "{0}//home", "", "-"])
def test_a_home_that_python_would_write_otherwise_is_left_to_python(machine: Machine, home: str) -> None:
    machine.child("answer.write_answer('python')")
    assert machine.hook(HOLDFAST_HOME=home.format(machine.folder), HOME="-").out == b"python"


# Python and the deadline


def test_python_that_is_stuck_delays_the_host_no_longer_than_the_deadline(machine: Machine) -> None:
    machine.child("time.sleep(20)")
    ran = machine.hook()
    assert ran[:3] == (0, b"{}", b"")
    assert 1.9 < ran.seconds < AT_THE_LATEST_S


def test_the_best_answer_so_far_is_printed_at_the_deadline_that_python_names(machine: Machine) -> None:
    signs = machine.folder / "sign"
    machine.child(
        "answer.wait_until(Deadline(0.0, 0.3), is_patient=False)\n"
        "answer.offer('first'); answer.offer('unverified'); time.sleep(1)\n"
        f"open({str(signs)!r}, 'w').write(f'{{answer.write_answer(\"verified\")}} {{answer.is_late}}')"
    )
    ran = machine.hook()
    assert ran[:2] == (0, b"unverified")
    assert ran.seconds < IN_TIME_S
    wait_for(
        lambda: signs.exists() and signs.read_text() == "unverified True", "Python goes on and knows what was shown"
    )


def test_python_that_dies_leaves_its_best_answer(machine: Machine) -> None:
    machine.child("answer.offer('best'); os.kill(os.getpid(), 9)")
    ran = machine.hook()
    assert ran[:2] == (0, b"best")
    assert ran.seconds < IN_TIME_S


def test_what_python_does_later_holds_up_nobody(machine: Machine) -> None:
    done = machine.folder / "done"
    machine.child(f"answer.write_answer('answer'); answer.release(); time.sleep(1); open({str(done)!r}, 'w')")
    ran = machine.hook()
    assert (ran.out, done.exists()) == (b"answer", False)
    wait_for(done.exists, "Python goes on after the host has its answer")


def test_python_has_none_of_the_hosts_streams_nor_its_session(machine: Machine) -> None:
    seen = machine.folder / "seen"
    machine.child(
        "facts = [os.getsid(0) == os.getpid(), os.readlink('/proc/self/fd/1'), os.readlink('/proc/self/fd/2')]\n"
        f"open({str(seen)!r}, 'w').write(f'{{facts}}'); answer.write_answer('x'); time.sleep(2)"
    )
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)
    machine.hook()  # returns when all ends of its pipes are closed
    os.close(writing)
    assert os.read(reading, 1) == b""
    os.close(reading)
    if sys.platform == "linux":
        assert seen.read_text() == "[True, '/dev/null', '/dev/null']"


@pytest.mark.parametrize("missing", ["python", "entry"])
def test_an_event_that_nobody_can_take_is_logged_without_its_content(machine: Machine, missing: str) -> None:
    if missing == "python":
        machine.python = "/no/such/python"
    else:
        machine.entry.unlink()
    ran = machine.hook(b'{"secret":"hunter2"}')
    assert ran[:3] == (0, b"{}", b"")
    assert ran.seconds < IN_TIME_S
    assert machine.log.endswith("codex launcher: Python or Holdfast is not there; the event is lost: "
                                "No such file or directory\n")  # fmt: skip
    assert "hunter2" not in machine.log
    assert (machine.home / "hooks.log").stat().st_mode & 0o777 == 0o600


def test_nothing_is_written_to_disk_but_the_log(machine: Machine) -> None:
    before = sorted(machine.home.rglob("*"))
    assert machine.hook(b'{"secret":"hunter2"}').out == b"{}"
    assert sorted(machine.home.rglob("*")) == before


# What a host does


def test_switched_off_nobody_is_prompted(machine: Machine) -> None:
    machine.serve(say(b"A2\nno"))
    assert [machine.hook(HOLDFAST_OFF="1").out, machine.hook(HOLDFAST_OFF="0").out] == [b"{}", b"no"]


@pytest.mark.parametrize("arguments", [[], ["python"], ["python", "entry"], ["--version", "x", "y", "z"]])
def test_odd_arguments_are_no_failure(machine: Machine, arguments: list[str]) -> None:
    ran = subprocess.run([machine.program, *arguments], input=b"", env=machine.environment(), check=False)
    assert ran.returncode == 0


def test_no_environment_at_all_is_no_failure(machine: Machine) -> None:
    machine.child("answer.write_answer('python')")
    ran = subprocess.run(machine.command(), input=HOOK, env={}, capture_output=True, check=False)
    assert (ran.returncode, ran.stdout) == (0, b"python")


@pytest.mark.parametrize("size", [0, 1, 65_536, 5_000_000])
def test_a_payload_of_any_size_comes_over_whole(machine: Machine, size: int) -> None:
    payload = os.urandom(size)
    machine.serve(say(b"A2\n{}"))
    assert machine.hook(payload).code == 0
    assert [request and request.payload for request in machine.requests] == [payload]


def test_more_than_sixteen_megabytes_are_not_taken(machine: Machine) -> None:
    machine.serve(say(b"A2\nno"))
    running = subprocess.Popen(
        machine.command(), env=machine.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert running.communicate(b"x" * 20_000_000)[0] == b"{}"
    assert running.returncode == 0
    assert "a payload of more than 16,000,000 bytes" in machine.log


def test_a_host_that_never_ends_its_payload_gets_an_answer(machine: Machine) -> None:
    begun = time.monotonic()
    with subprocess.Popen(
        machine.command(), env=machine.environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stdout.read() == b"{}"
        assert running.wait(timeout=60) == 0
        assert time.monotonic() - begun < AT_THE_LATEST_S


def test_a_host_that_does_not_listen_is_no_failure_and_known_to_the_server(machine: Machine) -> None:
    signs: list[bytes] = []

    def talk(line: socket.socket, _: Request | None) -> None:
        line.sendall(b"A5\nhello")
        signs.append(line.recv(1))

    machine.serve(talk)
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run(machine.command(), input=HOOK, env=machine.environment(), stdout=writing, check=False)
    os.close(writing)
    assert (ran.returncode, signs) == (0, [b"x"])


def test_closed_streams_are_no_failure(machine: Machine) -> None:
    code = "import os, sys; [os.close(fd) for fd in (0, 1, 2)]; os.execv(sys.argv[1], sys.argv[1:])"
    command = [sys.executable, "-I", "-c", code, *machine.command()]
    assert subprocess.run(command, env=machine.environment(), check=False, timeout=60).returncode == 0


# The real ones


def test_a_real_server_answers_once_and_python_goes_on_when_it_is_killed(machine: Machine) -> None:
    hooks = Hooks(machine.folder / "user") if (machine.folder / "user").mkdir() is None else None
    assert hooks is not None
    with hooks.memory() as memory:
        memory.remember("Round ledger amounts half to even, never half up.", files=["ledger.py"], kind="constraint")
    command = [machine.program, sys.executable, ENTRY, "claude-code"]

    def call(kind: str, **more: str) -> str:
        import json

        ran = subprocess.run(
            command, input=json.dumps(hooks.payload(kind, **more)).encode(), env=hooks.env, capture_output=True,
            check=True,
        )  # fmt: skip
        return ran.stdout.decode()

    server = subprocess.Popen(
        [sys.executable, "-m", "holdfast", "mcp", "--hooked"], env=hooks.env, cwd=hooks.project,
        stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
    )  # fmt: skip
    run_path = Path(socket_folder(hooks.settings.run_path))
    assert server.stdin is not None
    server.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
    server.stdin.flush()
    wait_for(lambda: any(run_path.glob("*.sock")), "the server listens")
    wait_for(lambda: "half to even" in call("PreToolUse", session="s1"), "the server delivers")
    assert "half to even" not in call("PreToolUse", session="s1")
    server.send_signal(signal.SIGKILL)
    server.wait()
    server.stdin.close()
    wait_for(lambda: "half to even" in call("PreToolUse", session="s2"), "Python delivers")
    call("UserPromptSubmit", session="s2", prompt="count the ledger")

    def kinds() -> list[str]:
        with hooks.memory() as memory:
            return [event.kind for _, event in memory.services.store.find_events(EventFilter())]

    wait_for(lambda: kinds() == ["prompt"], "the event is stored")
    assert hooks.log == ""
