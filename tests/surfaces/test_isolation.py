"""No process of ours runs code of the folder it stands in: each is started in one that is full of traps.

A trap is a module of the name of one that we, our libraries or Python itself import at the start; it leaves a mark.
"""

from __future__ import annotations

import ast
import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from pathlib import Path

import pytest

from holdfast.bootstrap import Memory
from holdfast.codeindex.refresh import Workers, worth
from holdfast.domain.hookcall import HookCall, render_errand
from holdfast.domain.vocabulary import SessionId
from holdfast.home.handover import start_learner
from holdfast.home.runfiles import LearningLock
from holdfast.installing import githooks
from holdfast.settings import isolated, load_settings, package_folder
from holdfast.surfaces.cli.proof import HELLO
from tests.hosts.registered import Registered, registered
from tests.hosts.test_install import HOSTS, Machine
from tests.surfaces.hookcalls import wait_for

PACKAGES = (
    "holdfast",
    "mcp",
    "pydantic",
    "tree_sitter",
    "tree_sitter_python",
    "numpy",
    "encodings",
    "importlib",
    "rich",
)
MODULES = (
    "anyio", "select", "click", "json", "site", "sitecustomize", "usercustomize", "os", "re", "typing", "pickle",
    "signal", "random", "sqlite3", "subprocess", "tempfile", "httpx2", "starlette", "yaml", "collections",
    "gc", "runpy", "dataclasses", "enum", "logging", "socket", "ssl", "copyreg", "threading", "jsonschema",
)  # fmt: skip


class Traps(Machine):
    """A user's machine with every host set up, and a repository that is a trap."""

    def __init__(self, user_home: Path) -> None:
        super().__init__(user_home)
        self.run("setup", *HOSTS)
        self.marks = user_home / "marks"
        self.marks.mkdir()
        self.folder = user_home / "clone"
        for name in PACKAGES:
            self.plant(self.folder / name / "__init__.py")
        for name in MODULES:
            self.plant(self.folder / f"{name}.py")
        (self.folder / "python3").write_text(f"#!/bin/sh\ntouch '{self.marks}/python3'\n")
        (self.folder / "python3").chmod(0o755)
        self.git("init", "-q", "-b", "main")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "Traps")
        self.env = {name: value for name, value in os.environ.items() if not name.startswith(("CLAUDE", "GIT"))}
        # A user's shell may add the current folder to where modules are looked for; a started process does not.
        self.env |= {"PYTHONPATH": f".{os.pathsep}{self.folder}", "PYTHONSTARTUP": str(self.folder / "json.py")}

    def plant(self, file: Path) -> None:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"open({str(self.marks)!r} + '/' + __name__, 'w').close()\nraise ImportError('a trap')\n")

    def git(self, *arguments: str) -> None:
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
        subprocess.run(["git", *who, *arguments], cwd=self.folder, check=True, capture_output=True)

    def start(self, words: Sequence[str], stdin: str = "") -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            words, input=stdin, capture_output=True, text=True, check=False, cwd=self.folder, env=self.env
        )

    def sprung(self) -> list[str]:
        return sorted(os.listdir(self.marks))


@pytest.fixture
def traps(home: Path) -> Traps:
    return Traps(home.parent)


def test_the_traps_are_live(traps: Traps) -> None:
    del traps.env["PYTHONPATH"]  # with it Python itself would not start
    assert traps.start([sys.executable, "-m", "holdfast.surfaces.mcp"]).returncode
    assert traps.start([sys.executable, "-c", "import holdfast"]).returncode
    assert {"holdfast", "importlib"} <= set(traps.sprung())


def test_the_server_that_every_host_registers_answers(traps: Traps) -> None:
    servers = {_without_host(entry): entry for entry in registered(traps.home / ".holdfast") if entry.kind == "server"}
    assert len(servers) == 1  # they differ in the host's name only
    for server in servers.values():
        ran = traps.start(server.words, json.dumps(HELLO) + "\n")
        assert '"serverInfo"' in ran.stdout, ran.stderr
    assert traps.sprung() == []


def _without_host(entry: Registered) -> tuple[str, ...]:
    return entry.words[:-1]


def test_every_hook_that_a_host_registers_answers(traps: Traps) -> None:
    hooks = [entry for entry in registered(traps.home / ".holdfast") if entry.kind == "hook"]
    for hook in hooks:
        payload = {"session_id": hook.words[-1][-40:], "cwd": str(traps.folder), "hook_event_name": "UserPromptSubmit"}
        ran = traps.start(hook.words, json.dumps(payload | {"prompt": "which tide tables?"}))
        assert (ran.returncode, ran.stderr) == (0, ""), hook
        assert ran.stdout.strip() in ("", "{}"), hook
    assert traps.sprung() == []


def test_the_programs_that_a_person_or_a_plug_in_starts_by_name_answer(traps: Traps) -> None:
    program = shutil.which("holdfast", path=os.path.dirname(sys.executable))
    if program is None:
        pytest.skip("the console script is not installed here")
    del traps.env["PYTHONPATH"], traps.env["PYTHONSTARTUP"]  # of the script's own start the user's shell decides
    assert '"serverInfo"' in traps.start([program, "mcp"], json.dumps(HELLO) + "\n").stdout
    payload = {"session_id": "s", "cwd": str(traps.folder), "hook_event_name": "Stop"}
    assert traps.start([program, "hook", "any"], json.dumps(payload)).stdout == "{}"
    doctor = traps.start([program, "doctor"])
    assert "the MCP server answers in this folder" in doctor.stdout
    assert traps.sprung() == []


def test_the_learner_and_the_indexer_with_its_workers(traps: Traps, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(450):  # so many that workers are worth their start
        (traps.folder / f"module{number}.py").write_text(f"def function{number}(): ...\n")
    settings = load_settings()
    monkeypatch.chdir(traps.folder)
    monkeypatch.setenv("PYTHONPATH", traps.env["PYTHONPATH"])
    ended = HookCall(host="claude-code", name="SessionEnd", session=SessionId("s"), cwd=str(traps.folder))
    start_learner(render_errand(ended))
    wait_for(lambda: list(Path(settings.home, "index").glob("*.db")), "the learner builds the index", 120)
    with LearningLock(settings.run_path, 120.0) as ours:
        assert ours
    assert not Path(settings.log_path).exists()
    assert traps.sprung() == []
    index = traps.start(isolated("holdfast.__main__", "index", "--json"))
    assert index.returncode == 0, index.stderr
    assert traps.sprung() == []


def test_what_is_installed_for_one_user_is_found(traps: Traps, tmp_path: Path) -> None:
    """`pip install --user`: -I leaves the user's site folder out, and there we are, with what we need."""
    base = os.path.realpath(sys.executable)  # no virtual environment
    traps.env |= {"PYTHONUSERBASE": str(tmp_path / "local")}
    site = Path(traps.start([base, "-I", "-c", "import site; print(site.getusersitepackages())"]).stdout.strip())
    assert site.is_relative_to(tmp_path)
    site.mkdir(parents=True)
    (site / "holdfast").symlink_to(package_folder())
    for dependency in Path(sysconfig.get_path("purelib")).iterdir():
        if dependency.name not in ("holdfast", "__pycache__") and not (site / dependency.name).exists():
            (site / dependency.name).symlink_to(dependency)
    start = site / "holdfast" / "surfaces" / "start.py"
    ran = traps.start([base, "-I", str(start), "holdfast.surfaces.mcp.__main__"], json.dumps(HELLO) + "\n")
    assert '"serverInfo"' in ran.stdout, ran.stderr
    assert traps.sprung() == []


def test_index_workers_serve(traps: Traps, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(traps.folder)
    monkeypatch.setenv("PYTHONPATH", ".")
    assert worth(10_000) >= 0
    with Workers(2) as workers:
        jobs = [(number, [("a.py", b"def f(): ...\n", "python")]) for number in range(4)]
        answers = list(workers.run(jobs))
    assert sorted(number for number, _ in answers) == [0, 1, 2, 3]
    assert all(len(outlines[0].symbols) == 1 for _, outlines in answers)
    assert traps.sprung() == []


def test_embedding_in_a_process_of_its_own(traps: Traps) -> None:
    with Memory(str(traps.folder)) as memory:
        memory.remember("Amounts are whole cents")
    ran = traps.start(isolated("holdfast.installing.embedding"))
    assert (ran.returncode, ran.stderr) == (0, "")
    assert not Path(load_settings().log_path).exists()
    assert traps.sprung() == []


def test_git_hooks_of_ours(traps: Traps) -> None:
    for edit in githooks.edits(str(traps.folder), ["--host", "agents-md"]):
        Path(edit.file).parent.mkdir(exist_ok=True)
        Path(edit.file).write_text(f"#!/bin/sh\n{edit.text}\n")  # type: ignore[union-attr]
        Path(edit.file).chmod(0o755)
    os.environ.update({"PYTHONPATH": str(traps.folder)})
    try:
        traps.git("commit", "-q", "--allow-empty", "-m", "next")
    finally:
        del os.environ["PYTHONPATH"]
    assert traps.sprung() == []


def test_no_interpreter_is_started_without_isolation() -> None:
    """In our sources every list of words that begins with an interpreter goes on with -I."""
    bare = []
    for file in Path(package_folder()).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if isinstance(node, ast.List) and len(node.elts) > 1 and _is_interpreter(node.elts[0]):
                flag = node.elts[1]
                if not (isinstance(flag, ast.Constant) and flag.value == "-I"):
                    bare.append(f"{file.name}:{node.lineno}")
    assert bare == []


def _is_interpreter(node: ast.expr) -> bool:
    text = ast.unparse(node)
    return "sys.executable" in text or "interpreter" in text
