"""Real hook processes on a machine that is against them: whatever happens, every event is in the store in the end.

Nothing here rests on how fast the machine is. A hook may spool or store, answer or be late; asserted is what is there
once the spool is drained.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from holdfast.domain.records import Delivery
from holdfast.home.runfiles import read_counts
from holdfast.home.spool import drain, unreadable, waiting
from holdfast.ports.store import EventFilter, LogFilter
from holdfast.stores.sqlite import schema
from holdfast.stores.sqlite.connection import SCHEMA
from holdfast.testing.builders import make_lesson
from tests.surfaces.hookcalls import PATIENT_COMMAND, Hooks, finish, hurried_command, learners, told, wait_for

ROUND_TRIPS = 3
SECRET = "ghp_" + "a1B2c3D4e5F6g7H8i9J0" * 2


@pytest.fixture
def hooks(tmp_path: Path) -> Hooks:
    return Hooks(tmp_path)


def teach(hooks: Hooks) -> None:
    with hooks.memory() as memory:
        memory.remember("Round ledger amounts half to even, never half up.", files=["ledger.py"], kind="constraint")


def prompts(hooks: Hooks) -> list[str]:
    """The texts of the prompts in the store, once the spool is drained."""
    with hooks.memory() as memory:
        drain(memory, hooks.settings.run_path)
        return sorted(
            event.text for _, event in memory.services.store.find_events(EventFilter()) if event.kind == "prompt"
        )


def working(hooks: Hooks) -> list[int]:
    """Processes of this home's hooks that go on after their host has its answer."""
    home, processes = f"HOLDFAST_HOME={hooks.env['HOLDFAST_HOME']}".encode(), []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
            if b"hooks/entry.py" in line and home in (folder / "environ").read_bytes():
                processes.append(int(folder.name))
        except OSError:
            continue
    return processes


def settled(hooks: Hooks) -> None:
    """Wait until no process of a hook or of a learner is left."""
    wait_for(lambda: not working(hooks), "every hook and learner has ended", limit_s=120)


def start_prompt(hooks: Hooks, number: int) -> subprocess.Popen[bytes]:
    running = hooks.start(patient=False)
    payload = hooks.payload("UserPromptSubmit", session=f"s{number}", prompt=f"count the ledger {number}")
    assert running.stdin is not None
    running.stdin.write(json.dumps(payload).encode())
    running.stdin.close()
    running.stdin = None
    return running


@contextmanager
def locked(hooks: Hooks) -> Iterator[None]:
    """The store as another process holds it in the middle of a write."""
    path = hooks.settings.database_path
    lock = os.open(path + ".lock", os.O_CREAT | os.O_RDWR)
    fcntl.flock(lock, fcntl.LOCK_EX)
    writer = sqlite3.connect(path, isolation_level=None)
    writer.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        writer.close()
        os.close(lock)


def test_eight_hooks_at_once_lose_no_event(hooks: Hooks) -> None:
    teach(hooks)
    numbers = range(8 * ROUND_TRIPS)
    for begin in numbers[::8]:
        running = [start_prompt(hooks, number) for number in range(begin, begin + 8)]
        for hook in running:
            told(*finish(hook, b""))
    settled(hooks)
    assert prompts(hooks) == sorted(f"count the ledger {number}" for number in numbers)


def test_a_lock_that_ends_soon_or_late_costs_no_event(hooks: Hooks) -> None:
    teach(hooks)
    with locked(hooks):
        running = [start_prompt(hooks, number) for number in range(4)]
        for hook in running:
            told(*finish(hook, b""))
        wait_for(lambda: len(waiting(hooks.settings.run_path)) >= 4, "every hook has spooled")
    running = [start_prompt(hooks, number) for number in range(4, 8)]
    for hook in running:
        told(*finish(hook, b""))
    settled(hooks)
    assert prompts(hooks) == [f"count the ledger {number}" for number in range(8)]
    assert read_counts(hooks.settings.run_path)["claude-code"]["spooled"] >= 4


def test_what_was_shown_during_a_lock_is_logged_afterwards(hooks: Hooks) -> None:
    teach(hooks)
    with locked(hooks):
        shown = "half to even" in hooks.call("PreToolUse")
        settled(hooks)
    with hooks.memory() as memory:
        drain(memory, hooks.settings.run_path)
        logged = memory.services.store.find_records(Delivery, LogFilter(session="s1"))  # type: ignore[arg-type]
    assert len(logged) == int(shown)


def test_what_is_put_into_the_store_twice_is_stored_once(hooks: Hooks) -> None:
    teach(hooks)
    with locked(hooks):
        told(*finish(start_prompt(hooks, 1), b""))
        settled(hooks)
    (name,) = [name for name in waiting(hooks.settings.run_path) if b'"events":[{' in _read(hooks, name)]
    copy = _read(hooks, name)
    assert prompts(hooks) == ["count the ledger 1"]
    Path(hooks.settings.run_path, "spool", name).write_bytes(copy)
    assert prompts(hooks) == ["count the ledger 1"]
    assert waiting(hooks.settings.run_path) == []


def _read(hooks: Hooks, name: str) -> bytes:
    return Path(hooks.settings.run_path, "spool", name).read_bytes()


def test_a_spool_holds_no_secret_and_is_the_users_alone(hooks: Hooks) -> None:
    teach(hooks)
    Path(hooks.settings.config_path).write_text('ignore = ["vault/**"]\n')
    with locked(hooks):
        hooks.call("UserPromptSubmit", prompt=f"use {SECRET} and <private>my own words</private> for the ledger")
        hooks.call("PostToolUse", tool_name="Write", tool_use_id="t9", tool_input={
            "file_path": str(hooks.project / "vault" / "notes.txt"), "content": "the combination is swordfish",
        }, tool_response={})  # fmt: skip
        settled(hooks)
        folder = Path(hooks.settings.run_path, "spool")
        content = b"".join(path.read_bytes() for path in folder.iterdir())
        modes = {path.stat().st_mode & 0o777 for path in folder.iterdir()} | {folder.stat().st_mode & 0o777}
    assert content
    for words in (SECRET.encode(), b"my own words", b"swordfish"):
        assert words not in content
    assert modes == {0o600, 0o700}


def test_a_file_of_the_spool_that_cannot_be_read_is_set_aside(hooks: Hooks) -> None:
    teach(hooks)
    folder = Path(hooks.settings.run_path, "spool")
    folder.mkdir(parents=True)
    (folder / "00000000000000000001-1-5.jsonl").write_text('{"ev')
    with locked(hooks):
        told(*finish(start_prompt(hooks, 2), b""))
        settled(hooks)
    assert prompts(hooks) == ["count the ledger 2"]
    assert unreadable(hooks.settings.run_path) == 1


def test_an_old_schema_is_upgraded_beside_the_hooks_and_never_by_one(hooks: Hooks) -> None:
    _put_old_store(hooks, lessons=3_000)
    running = [start_prompt(hooks, number) for number in range(4)]
    for hook in running:
        assert told(*finish(hook, b"")) == ""
    wait_for(lambda: _version(hooks) == SCHEMA, "the store is upgraded", limit_s=120)
    settled(hooks)
    told(*finish(start_prompt(hooks, 4), b""))
    settled(hooks)
    assert prompts(hooks) == [f"count the ledger {number}" for number in range(5)]
    assert "SchemaTooOldError" in hooks.log


def _put_old_store(hooks: Hooks, lessons: int) -> None:
    """A store of the first schema, with so many lessons that its upgrade takes longer than a hook has."""
    path = Path(hooks.settings.database_path)
    with hooks.memory() as memory:
        project = memory.location.project.id
        made = [make_lesson(project=project, insight=f"Rule {number}: amounts are cents.") for number in range(lessons)]
        memory.services.store.put(made, {})
    newer = path.with_name("newer.db")
    path.rename(newer)
    older = sqlite3.connect(path, isolation_level=None)
    older.execute("PRAGMA journal_mode=WAL")
    schema._apply(older, min(Path(schema.FOLDER).glob("*.sql")).name, str(path))
    older.execute("ATTACH ? AS newer", (str(newer),))
    older.execute("BEGIN")
    columns = [{row[1] for row in older.execute(f"PRAGMA {name}.table_info(lessons)")} for name in ("main", "newer")]
    shared = ", ".join(sorted(columns[0] & columns[1]))
    older.execute(f"INSERT INTO main.lessons ({shared}) SELECT {shared} FROM newer.lessons")
    older.execute("INSERT INTO main.marks SELECT rtrim(family || ':' || owner, ':'), value FROM newer.state")
    older.execute("COMMIT")
    older.close()
    newer.unlink()
    assert _version(hooks) == 1


def _version(hooks: Hooks) -> int:
    sql = sqlite3.connect(hooks.settings.database_path)
    try:
        return int(sql.execute("PRAGMA user_version").fetchone()[0])
    finally:
        sql.close()


def test_a_schema_of_a_later_version_keeps_events_for_it(hooks: Hooks) -> None:
    teach(hooks)
    with sqlite3.connect(hooks.settings.database_path) as sql:
        sql.execute("PRAGMA user_version=99")
    sql.close()
    told(*finish(start_prompt(hooks, 1), b""))
    settled(hooks)
    assert "SchemaTooNewError" in hooks.log
    assert "upgrade: pip install -U holdfast" in hooks.log
    with sqlite3.connect(hooks.settings.database_path) as sql:
        sql.execute(f"PRAGMA user_version={SCHEMA}")
    sql.close()
    assert prompts(hooks) == ["count the ledger 1"]


def test_a_host_that_is_killed_after_the_hook_began_costs_no_event(hooks: Hooks) -> None:
    teach(hooks)
    host = (
        "import subprocess, sys, time\n"
        "hook = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)\n"
        "hook.stdin.write(sys.stdin.buffer.read()); hook.stdin.close()\n"
        "print('told', flush=True); time.sleep(600)\n"
    )
    payload = json.dumps(hooks.payload("UserPromptSubmit", prompt="count the ledger 7")).encode()
    with locked(hooks):
        running = subprocess.Popen(
            [sys.executable, "-c", host, *hurried_command(), "claude-code"], env=hooks.env, cwd=hooks.folder,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip
        assert running.stdin is not None
        assert running.stdout is not None
        running.stdin.write(payload)
        running.stdin.close()
        assert running.stdout.readline() == b"told\n"
        wait_for(lambda: any(_session_of(pid) != running.pid for pid in working(hooks)), "the hook has split in two")
        os.killpg(running.pid, signal.SIGKILL)  # the host with all it started, as a closed terminal does
        running.wait()
        running.stdout.close()
        settled(hooks)
    assert prompts(hooks) == ["count the ledger 7"]


BOUND = (
    "import ctypes, os, sys\n"
    "for power in (1, 2):  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, which make root pass by modes\n"
    "    os.getuid() or ctypes.CDLL(None).prctl(24, power, 0, 0, 0)  # PR_CAPBSET_DROP: from the next program on\n"
    "os.execv(sys.argv[1], sys.argv[1:])\n"
)
"""Runs a program that modes hold for, also as root."""


def _session_of(pid: int) -> int:
    with suppress(ProcessLookupError):
        return os.getsid(pid)
    return 0


@contextmanager
def read_only(hooks: Hooks) -> Iterator[list[str]]:
    """The home where nothing can be written; gives the words to start a program with that this holds for."""
    home = Path(hooks.settings.home)
    paths = [path for path in (*home.rglob("*"), home) if path.exists()]
    modes = {path: path.stat().st_mode for path in paths}
    for path in paths:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        bound = [sys.executable, "-c", BOUND]
        tried = subprocess.run(
            [*bound, sys.executable, "-c", "import sys; open(sys.argv[1], 'w')", str(home / "tried")],
            capture_output=True, check=False,
        )  # fmt: skip
        if tried.returncode == 0:
            pytest.skip("this user writes where modes forbid it")
        yield bound
    finally:
        for path, mode in modes.items():
            path.chmod(mode)


@pytest.mark.parametrize("left", ["nothing", "log and index", "log alone"])
def test_a_home_that_cannot_be_written_still_delivers(left: str) -> None:
    with tempfile.TemporaryDirectory(prefix="hf#?%") as folder:
        hooks = Hooks(Path(folder))
        teach(hooks)
        if left != "nothing":
            hooks.call("UserPromptSubmit", session="earlier")  # a hook leaves without closing
            settled(hooks)
        log, index = (Path(hooks.settings.database_path + ending) for ending in ("-wal", "-shm"))
        assert (log.exists(), index.exists()) == (left != "nothing", left != "nothing")
        if left == "log alone":
            index.unlink()
        with read_only(hooks) as bound:
            ran = subprocess.run(
                [*bound, *PATIENT_COMMAND, "claude-code"], env=hooks.env, cwd="/", capture_output=True,
                input=json.dumps(hooks.payload("UserPromptSubmit", prompt="round ledger amounts half up?")).encode(),
                check=True,
            )  # fmt: skip
            settled(hooks)
    # Without its index SQLite cannot read the log, and without the log the file is not what it was.
    assert ("half to even" in told(ran.returncode, ran.stdout, ran.stderr)) == (left != "log alone")


def test_a_session_whose_end_fell_into_a_lock_is_read_by_the_next_learner(hooks: Hooks) -> None:
    teach(hooks)
    transcript = hooks.folder / "s1.jsonl"
    shared = {
        "sessionId": "s1",
        "cwd": str(hooks.project),
        "timestamp": "2026-11-22T08:00:00.000Z",
        "isSidechain": False,
    }
    prompt = "Remember that ledger amounts are integers of cents, never floats."
    transcript.write_text(
        json.dumps(
            {**shared, "type": "user", "uuid": "u1", "promptId": "p1", "message": {"role": "user", "content": prompt}}
        )
        + "\n"
    )
    with locked(hooks):
        hooks.call("Stop", transcript_path=str(transcript))
        settled(hooks)
    assert os.listdir(Path(hooks.settings.run_path, "errands"))
    hooks.call("SessionStart", session="s2")
    settled(hooks)
    assert os.listdir(Path(hooks.settings.run_path, "errands")) == []
    assert prompt in prompts(hooks)


def test_a_full_spool_drops_and_counts(hooks: Hooks) -> None:
    teach(hooks)
    folder = Path(hooks.settings.run_path, "spool")
    folder.mkdir(parents=True)
    (folder / "00000000000000000001-1-64000000.jsonl").write_text("{}")  # the size a name tells counts
    with locked(hooks):
        told(*finish(start_prompt(hooks, 1), b""))
        settled(hooks)
    assert read_counts(hooks.settings.run_path)["claude-code"]["dropped"] >= 1
    assert "the spool is full: 1 calls wait" in hooks.log


def test_the_first_hook_of_all_makes_the_store(hooks: Hooks) -> None:
    running = [start_prompt(hooks, number) for number in range(8)]
    for hook in running:
        told(*finish(hook, b""))
    settled(hooks)
    assert learners(hooks) == []
    assert prompts(hooks) == [f"count the ledger {number}" for number in range(8)]
    shutil.rmtree(hooks.settings.home)
