from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.hosts.golden import cases
from tests.surfaces.hookcalls import ENTRY, KINDS, Hooks
from tests.surfaces.patience import let_the_socket_wait

HEAVY = {
    "argparse", "asyncio", "collections", "concurrent", "contextlib", "copy", "dataclasses", "email", "enum",
    "functools", "hashlib", "heapq", "importlib.metadata", "importlib.resources", "inspect", "json", "logging",
    "multiprocessing",
    "pathlib", "pickle", "platform", "random", "re", "selectors", "shutil", "signal", "socket", "sqlite3", "string",
    "struct", "subprocess", "tempfile", "textwrap", "threading", "tomllib", "traceback", "typing", "unittest", "urllib",
    "uuid", "weakref", "zipfile",
}  # fmt: skip
"""Modules that cost a hook too much. `collections`, `functools` and `sqlite3` are replaced by their C halves."""

DELIVERING = (
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUseFailure",
    "SubagentStart",
    "Stop",
    "SubagentStop",
)
MOST_CODE = {True: (1_200_000, 124), False: (670_000, 76)}
"""Bytes of compiled code and modules of ours, of a hook that delivers and of one that does not; a tenth is room for
other versions of Python."""
MOST_CODE_OF_STATE = (775_000, 84)
"""The same of the hook before a compaction, which reads the state of the task from the session's events."""

WATCH = """
import os, sys
told = os.dup(2)  # the hook forks, and the half that works lets go of the host's streams
def leave(code, leave_now=os._exit):
    lines = (f"{name}\\t{getattr(held, '__file__', None)}\\n" for name, held in sys.modules.items())
    os.write(told, "".join(lines).encode())
    leave_now(code)
os._exit = leave
entry = sys.argv[1]
sys.path.insert(0, entry.rpartition("/holdfast/")[0])
from holdfast.lean.deadline import Deadline
Deadline.answer_by = property(lambda deadline: deadline.began_s + 60)
Deadline.server_s = 20
sys.argv = [entry, "claude-code"]
exec(compile(open(entry).read(), entry, "exec"), {"__name__": "__main__", "__file__": entry})
"""

TRANSLATE = """
import sys
sys.path.insert(0, sys.argv[1])
from holdfast.surfaces.hooks.client import _load_c_halves
_load_c_halves()
from datetime import UTC, datetime
from holdfast import plugins
from holdfast.domain.briefing import Briefing
from holdfast.lean.texts import loads
host = plugins.load("hosts", sys.argv[2])
for path in sys.argv[3:]:
    with open(path, encoding="utf-8") as stream:
        call = host.parse_hook(loads(stream.read()), datetime.now(UTC), lambda: "id")
    host.render(call, Briefing(text="what was learnt"))
print(*sys.modules)
"""
PAYLOADS: dict[str, list[str]] = {}
for case in cases():
    if (case / "payload.json").exists():
        PAYLOADS.setdefault(case.parent.name, []).append(str(case / "payload.json"))


def loaded(hooks: Hooks, kind: str, session: str = "s1") -> dict[str, str]:
    """Module names and files after one hook, answered alone."""
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", WATCH, ENTRY], env=hooks.env, text=True, capture_output=True, check=True,
        input=json.dumps(hooks.payload(kind, session, prompt=f"how do we round ledger amounts in {kind}?")),
    )  # fmt: skip
    return dict(line.split("\t", 1) for line in ran.stderr.splitlines())


@pytest.mark.parametrize("kind", KINDS)
def test_a_hook_loads_nothing_heavy_and_nothing_of_others(tmp_path: Path, kind: str) -> None:
    hooks = Hooks(tmp_path)
    with hooks.memory() as memory:
        memory.remember("Round ledger amounts half to even, never half up.", files=["ledger.py"], kind="constraint")
    modules = loaded(hooks, kind)
    assert "holdfast.wiring" in modules
    assert sorted(HEAVY & set(modules)) == []
    others = {
        name for name in modules if name.partition(".")[0] not in {*sys.stdlib_module_names, "__main__", "holdfast"}
    }
    assert others == set()
    assert hooks.log == ""


@pytest.mark.parametrize("kind", KINDS)
def test_a_hook_loads_no_more_code_than_its_moment_needs(tmp_path: Path, kind: str) -> None:
    """Half of a cold hook's time goes into loading code: about 1 ms for 25 kB, 0.04 ms for a module however small."""
    hooks = Hooks(tmp_path)
    with hooks.memory() as memory:
        memory.remember("Round ledger amounts half to even, never half up.", files=["ledger.py"], kind="constraint")
    ours = {name: file for name, file in loaded(hooks, kind).items() if name.startswith("holdfast.")}
    size = sum(Path(importlib.util.cache_from_source(file)).stat().st_size for file in ours.values())
    most_bytes, most_modules = MOST_CODE_OF_STATE if kind == "PreCompact" else MOST_CODE[kind in DELIVERING]
    assert size <= most_bytes
    assert len(ours) <= most_modules


def test_a_hook_answered_by_a_server_loads_not_even_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from holdfast.surfaces.mcp.hooksocket import serve

    let_the_socket_wait(monkeypatch)
    hooks = Hooks(tmp_path)
    with hooks.memory() as memory:
        close = serve(memory, hooks.settings.run_path)
        try:
            modules = loaded(hooks, "UserPromptSubmit")
        finally:
            close()
    assert not {"holdfast.wiring", "_sqlite3", "datetime", *HEAVY} & set(modules)


@pytest.mark.parametrize("host", sorted(PAYLOADS))
def test_no_hosts_adapter_loads_anything_heavy_for_a_hook(host: str) -> None:
    ran = subprocess.run(
        [sys.executable, "-I", "-S", "-c", TRANSLATE, str(Path(ENTRY).parents[3]), host, *PAYLOADS[host]],
        text=True, capture_output=True, check=True,
    )  # fmt: skip
    modules = set(ran.stdout.split())
    assert f"holdfast.hosts.{host}" in modules
    assert sorted((HEAVY | {"holdfast.ports.host", "holdfast.hosts.sdk.programs"}) & modules) == []
