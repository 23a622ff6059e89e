"""A thousand hooks later: as many processes, files and bytes as before."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.domain.hookcall import HookCall
from holdfast.domain.vocabulary import SessionId
from holdfast.ports.store import EventFilter
from holdfast.stores.sqlite.connection import WRITES_BEFORE_SHRINK
from holdfast.surfaces.mcp import hooksocket
from holdfast.wiring import LONG_LOG
from tests.surfaces.hookcalls import ENTRY, Hooks, ask_for, finish, learners, short_folder, told, wait_for
from tests.surfaces.patience import let_the_socket_wait

CALLS = 1_000
COLD_CALLS = 100
KINDS = ("UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "Stop")

pytestmark = [
    pytest.mark.nightly("thousands of calls"),
    pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="looks into /proc"),
]


@pytest.fixture
def hooks() -> Iterator[Hooks]:
    with short_folder() as made:
        with made.memory() as memory:
            for number in range(40):
                memory.remember(f"Ledger rule {number}: amounts of account {number} are cents.", files=["ledger.py"])
        yield made


def payload(hooks: Hooks, number: int) -> bytes:
    kind = KINDS[number % len(KINDS)]
    more = {"prompt": f"fix ledger account {number}", "last_assistant_message": f"Done {number}"}
    return json.dumps(hooks.payload(kind, session=f"s{number // 50}", tool_use_id=f"t{number}", **more)).encode()


def resident_kb() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") // 1024


def hook_processes(hooks: Hooks) -> list[str]:
    """Command lines of processes of this home that run our entry, however they were started."""
    home, lines = f"HOLDFAST_HOME={hooks.env['HOLDFAST_HOME']}".encode(), []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            line = (folder / "cmdline").read_bytes()
            if ENTRY.encode() in line and home in (folder / "environ").read_bytes():
                lines.append(line.decode())
        except OSError:
            continue
    return lines


def test_a_thousand_hooks_through_a_server_leave_it_as_it_was(hooks: Hooks, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hooksocket, "SETTLE_S", 0.0)
    let_the_socket_wait(monkeypatch)
    with hooks.memory() as memory:
        close = hooksocket.serve(memory, hooks.settings.run_path)
        answered, settled_kb, files, threads = 0, 0, 0, 0
        for number in range(CALLS):
            answered += bool(ask_for(hooks.settings, payload(hooks, number)))
            if number == CALLS // 2:
                wait_for(_is_all_answered, "the last hook's thread has ended")
                settled_kb, files, threads = resident_kb(), _open_files(), _threads()
        wait_for(lambda: _open_files() <= files and _threads() <= threads, "the server holds no more than halfway")
        grown_kb = resident_kb() - settled_kb
        close()
        events = memory.services.store.find_events(EventFilter())
    assert answered == CALLS
    assert grown_kb < 8_000
    assert len(events) >= answered // 2
    assert hooks.log == ""


def test_a_hundred_cold_hooks_leave_no_process_behind(hooks: Hooks) -> None:
    for number in range(COLD_CALLS):
        told(*finish(hooks.start(), payload(hooks, number)))
    assert hook_processes(hooks) == []
    assert learners(hooks) == []
    left = sorted(os.listdir(hooks.settings.home))
    assert left == ["memory.db", "memory.db-shm", "memory.db-wal", "memory.db.lock", "witness.json"]
    assert hooks.log == ""


MANY_LEAVE = """
import os, sys
from holdfast.settings import load_settings
from holdfast.testing.builders import make_event
from holdfast.wiring import Opened

settings, sizes = load_settings(), []
for number in range(60):
    child = os.fork()
    if child == 0:  # a hook: it opens the store, writes, and leaves without closing
        memory = Opened(sys.argv[1], settings, is_hook=True)
        text = f"{number} " + "output " * 2_000
        memory.services.store.append_events([make_event(key=f"k{number}-{n}", text=text) for n in range(15)])
        memory.bound_log(lambda: None)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    log = settings.database_path + "-wal"
    sizes.append(os.path.getsize(log) if os.path.exists(log) else 0)
print(max(sizes))
"""


def test_hooks_that_leave_without_closing_keep_the_write_ahead_log_short(hooks: Hooks) -> None:
    ran = subprocess.run(
        [sys.executable, "-c", MANY_LEAVE, str(hooks.project)],
        env=hooks.env,
        capture_output=True,
        text=True,
        check=True,
    )
    longest = int(ran.stdout)
    assert LONG_LOG / 2 < longest < LONG_LOG + 1_000_000, "what one hook writes may come on top"
    assert os.path.getsize(hooks.settings.database_path) > 2 * LONG_LOG, "all of it is in the file"


def _is_all_answered() -> bool:
    return all(thread.name != "holdfast-hook" for thread in threading.enumerate())


def _open_files() -> int:
    return len(os.listdir("/proc/self/fd"))


def _threads() -> int:
    return len(os.listdir("/proc/self/task"))


def test_two_thousand_recalls_leave_nothing_behind_in_memory(hooks: Hooks) -> None:
    """Python objects do not grow with the calls, and SQLite is told to give its pages back."""
    gained, shrunk = [], []
    with hooks.memory() as memory:
        store = memory.services.store
        call = HookCall(host="mcp", name="recall", session=SessionId("s1"), cwd=memory.folder, prompt="ledger")

        def recall(count: int) -> None:
            for number in range(count):
                memory.note_recall(memory.recall(f"amounts of account {number % 40}"), call)

        recall(500)  # what is made once is made by now
        store._connection.sql.set_trace_callback(  # type: ignore[attr-defined]
            lambda sql: shrunk.append(sql) if "shrink_memory" in sql else None
        )
        for _ in range(3):
            before = _blocks()
            recall(500)
            gained.append(_blocks() - before)
        store._connection.sql.set_trace_callback(None)  # type: ignore[attr-defined]
    assert min(gained) < 50, gained
    assert len(shrunk) >= 1_500 // WRITES_BEFORE_SHRINK


def _blocks() -> int:
    """Blocks of memory that Python objects take: unlike the process's size it does not depend on the allocator."""
    gc.collect()
    return sys.getallocatedblocks()
