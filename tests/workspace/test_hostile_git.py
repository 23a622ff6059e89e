"""No git command of ours runs what a repository names: each way is planted in a real one, and shown to be live."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from holdfast.codeindex.history import iter_commits
from holdfast.codeindex.walk import walk
from holdfast.errors import HoldfastError
from holdfast.installing import githooks
from holdfast.lean.gitsafety import git_program, without_filters
from tests.workspace.conftest import Ground

HOOKS = ("post-index-change", "reference-transaction", "pre-auto-gc", "post-checkout", "fsmonitor-watchman")


class Trap:
    """A repository in which every configured program leaves a mark."""

    def __init__(self, ground: Ground) -> None:
        self.ground = ground
        self.marks = ground.folder / "marks"
        self.marks.mkdir()
        self.root = ground.repository("clone", remote="https://example.com/x.git", commits=2)
        self.first, self.last = self.git("rev-parse", "HEAD^", "HEAD").split()

    def git(self, *arguments: str) -> str:
        return self.ground.git(self.root, *arguments)

    def program(self, name: str, then: str = "cat") -> str:
        """A command line that leaves a mark of that name."""
        return f"touch '{self.marks}/{name}'; {then}"

    def config(self, key: str, name: str, then: str = "cat") -> None:
        self.git("config", key, self.program(name, then))

    def touch(self) -> None:
        """Change a tracked file, to the same size: git must look inside."""
        file = self.root / "file1.txt"
        file.write_text(file.read_text().swapcase())
        os.utime(file, (1, 1))

    def ran(self) -> list[str]:
        return sorted(os.listdir(self.marks))

    def forget(self) -> None:
        for name in self.ran():
            (self.marks / name).unlink()

    def ask_everything(self) -> tuple[str, ...]:
        """Every question of ours; the dirty files."""
        workspace = self.ground.workspace
        location = workspace.locate(str(self.root))
        workspace._patience = 1  # a hook foresees; its patience must not end the test, so the answer is not looked at
        workspace.foresee_dirty(location)
        workspace._patience = 20
        if location.root in workspace._status:
            workspace._git().collect(workspace._status.pop(location.root), 10)
        dirty = tuple(workspace.dirty(location))
        history = workspace.history(location)
        blob = workspace.blob(location, "file0.txt")
        history.blob(blob)
        history.file(self.last, "file0.txt")
        history.file(self.last + "^", "file1.txt")
        history.contains(self.first)
        history.list_touching("file1.txt", self.first)
        history.list_touching("file1.txt", self.first, "clone")
        history.list_changed(self.last)
        history.find_new_name(self.last, "file1.txt")
        history.commits("HEAD", 0, 10)
        history.commits(f"{self.first}..HEAD", 0, 10)
        history.read_changed_lines(self.last, "file1.txt")
        history.own_address()
        side = self.git("commit-tree", "-m", "side", "-p", self.first, self.last + "^{tree}").strip()
        branches = workspace.branches(location)
        branches.main_commits()
        branches.resolve("HEAD")
        branches.time(self.last)
        branches.find_missing(self.last, [self.first, side, "0" * 39 + "1"])
        branches.is_applied(self.last, side)
        branches.is_applied(side, self.last)
        branches.blobs(self.last, ["file0.txt"])
        branches.list_below(self.last, "src")
        branches.list_changed(self.first, self.last)
        branches.file(self.last, "file1.txt")
        for ask in (lambda: list(iter_commits(str(self.root), "HEAD")), lambda: walk(str(self.root))):
            with suppress(OSError, HoldfastError):
                ask()
        githooks.is_busy(str(self.root))
        with suppress(HoldfastError):
            githooks.edits(str(self.root), [])
        return dirty


@pytest.fixture
def trap(ground: Ground) -> Trap:
    return Trap(ground)


def plant_filter(trap: Trap, name: str = "x", file: Path | None = None) -> None:
    where = ["--file", str(file)] if file else []
    trap.git("config", *where, f"filter.{name}.clean", trap.program("clean"))
    trap.git("config", *where, f"filter.{name}.smudge", trap.program("smudge"))
    trap.git("config", *where, f"filter.{name}.required", "true")
    (trap.root / ".git" / "info" / "attributes").write_text(f"*.txt filter={name}\n")
    trap.touch()


def is_live(trap: Trap, *arguments: str) -> bool:
    """Whether git itself, asked without our care, runs what was planted."""
    subprocess.run(["git", *arguments], cwd=trap.root, capture_output=True, check=False)
    ran = trap.ran()
    trap.forget()
    return bool(ran)


def test_a_filter_of_the_repository(trap: Trap) -> None:
    plant_filter(trap)
    assert trap.ask_everything() == ("file1.txt",)
    assert trap.ran() == []
    assert is_live(trap, "status")


def test_a_filter_that_speaks_for_long(trap: Trap) -> None:
    plant_filter(trap)
    trap.config("filter.x.process", "process", "exit 1")
    trap.ask_everything()
    assert trap.ran() == []
    assert is_live(trap, "status")


@pytest.mark.parametrize("name", ["a.b", "ODD name", "with'quote", "filter.clean", "*", "-c"])
def test_a_filter_of_an_odd_name(trap: Trap, name: str) -> None:
    plant_filter(trap, name)
    trap.git("config", "filter.hidden.clean", trap.program("hidden"))
    assert trap.ask_everything() == ("file1.txt",)
    assert trap.ran() == []


def test_a_filter_whose_name_no_option_can_say(trap: Trap) -> None:
    plant_filter(trap, "a=b")
    assert trap.ask_everything() == ()  # nothing is asked rather than something be run
    assert trap.ran() == []
    assert is_live(trap, "status")


@pytest.mark.parametrize("condition", ["include", "includeIf.gitdir:/.path"])
def test_a_filter_in_an_included_file(trap: Trap, condition: str) -> None:
    plant_filter(trap, file=trap.root / "more")
    key = "include.path" if condition == "include" else "includeIf.gitdir:/**.path"
    trap.git("config", key, str(trap.root / "more"))
    assert trap.ask_everything()[:1] == ("file1.txt",)
    assert trap.ran() == []
    assert is_live(trap, "status")


def test_a_filter_in_a_work_trees_own_settings(trap: Trap) -> None:
    trap.git("config", "extensions.worktreeConfig", "true")
    trap.git("config", "--worktree", "filter.x.clean", trap.program("clean"))
    (trap.root / ".git" / "info" / "attributes").write_text("*.txt filter=x\n")
    trap.touch()
    assert trap.ask_everything() == ("file1.txt",)
    assert trap.ran() == []
    assert is_live(trap, "status")


def test_a_filter_of_a_submodule(trap: Trap) -> None:
    inner = trap.ground.repository("inner")
    trap.git("submodule", "--quiet", "add", str(inner), "inner")
    trap.git("commit", "-q", "-m", "inner")
    module = trap.root / "inner"
    trap.ground.git(module, "config", "filter.x.clean", trap.program("clean"))
    (trap.root / ".git" / "modules" / "inner" / "info" / "attributes").write_text("*.txt filter=x\n")
    (module / "file0.txt").write_text("INNER 0\n")
    os.utime(module / "file0.txt", (1, 1))
    trap.ask_everything()
    assert trap.ran() == []
    assert is_live(trap, "status")


def test_hooks_and_the_file_monitor(trap: Trap) -> None:
    folder = trap.root / "hooks"
    folder.mkdir()
    for name in HOOKS:
        for file in (folder / name, trap.root / ".git" / "hooks" / name):
            file.write_text(f"#!/bin/sh\n{trap.program(name, 'exit 1')}\n")
            file.chmod(0o755)
    trap.git("config", "core.hooksPath", "hooks")
    trap.config("core.fsmonitor", "fsmonitor", "exit 1")
    trap.touch()
    trap.ask_everything()
    assert trap.ran() == []
    assert is_live(trap, "status")


def test_programs_that_show_differences_and_pages(trap: Trap) -> None:
    (trap.root / ".git" / "info" / "attributes").write_text("*.txt diff=x\n")
    trap.config("diff.external", "external")
    trap.config("diff.x.command", "driver")
    trap.git("config", "diff.x.textconv", f"sh -c \"touch '{trap.marks}/textconv'; cat $0\"")
    for key in ("core.pager", "pager.log", "pager.status", "pager.diff-tree"):
        trap.config(key, key)
    trap.touch()
    trap.ask_everything()
    assert trap.ran() == []
    assert is_live(trap, "log", "-p", "--textconv")


def test_a_signature_is_not_looked_at(trap: Trap) -> None:
    raw = trap.git("cat-file", "commit", "HEAD")
    head, _, body = raw.partition("\n\n")
    block = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n abcd\n -----END PGP SIGNATURE-----"
    made = subprocess.run(
        ["git", "hash-object", "-t", "commit", "-w", "--stdin"], cwd=trap.root, check=True, text=True,
        input=f"{head}\n{block}\n\n{body}\n", capture_output=True,
    )  # fmt: skip
    trap.last = made.stdout.strip()
    trap.git("update-ref", "refs/heads/main", trap.last)
    program = trap.root / "gpg"
    program.write_text(f"#!/bin/sh\n{trap.program('gpg', 'exit 1')}\n")
    program.chmod(0o755)
    trap.git("config", "gpg.program", str(program))
    trap.git("config", "log.showSignature", "true")
    trap.ask_everything()
    assert trap.ran() == []
    assert is_live(trap, "log")


@pytest.mark.parametrize("way", ["ext", "ssh", "file", "helper"])
def test_what_is_missing_is_not_fetched(trap: Trap, way: str) -> None:
    program = trap.root / "program"
    program.write_text(f"#!/bin/sh\n{trap.program('fetched', 'exit 1')}\n")
    program.chmod(0o755)
    url = {"ext": f"ext::{program}", "ssh": "ssh://example.com/x", "file": str(trap.root), "helper": "x::y"}[way]
    for key, value in {
        "extensions.partialClone": "origin", "remote.origin.promisor": "true", "remote.origin.url": url,
        "core.sshCommand": str(program), "core.askPass": str(program), "credential.helper": str(program),
        "protocol.allow": "always", "protocol.ext.allow": "always", "protocol.ssh.allow": "always",
        "protocol.file.allow": "always", "remote.origin.uploadpack": str(program), "core.gitProxy": str(program),
        "core.alternateRefsCommand": str(program), "core.editor": str(program),
    }.items():  # fmt: skip
        trap.git("config", key, value)
    blob = trap.git("rev-parse", "HEAD:file1.txt")
    (trap.root / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    trap.touch()
    trap.ask_everything()
    assert trap.ran() == []
    assert is_live(trap, "cat-file", "blob", blob) is (way != "helper")


def test_a_folder_of_a_clone_that_looks_like_a_repository(trap: Trap) -> None:
    inner = trap.root / "docs"
    trap.ground.git(trap.root, "clone", "-q", "--bare", str(trap.root), "docs")
    trap.ground.git(inner, "config", "core.worktree", str(trap.root))
    trap.ground.git(inner, "config", "core.bare", "false")
    trap.ground.git(inner, "config", "core.fsmonitor", trap.program("fsmonitor", "exit 1"))
    trap.ground.git(inner, "config", "filter.x.clean", trap.program("clean"))
    (inner / "info" / "attributes").write_text("*.txt filter=x\n")
    trap.ground.git(trap.root, f"--git-dir={inner}", f"--work-tree={trap.root}", "reset", "-q")
    trap.touch()
    trap.forget()
    trap.root = inner
    trap.ask_everything()
    assert trap.ran() == []
    assert is_live(trap, "status")


def test_settings_do_not_move_the_work_tree_elsewhere(trap: Trap) -> None:
    elsewhere = trap.ground.folder / "private"
    elsewhere.mkdir()
    (elsewhere / "letters.txt").write_text("x")
    trap.git("config", "core.worktree", str(elsewhere))
    assert "letters.txt" not in trap.ask_everything()


@pytest.mark.parametrize("name", ["HEAD", "main", "origin"])
def test_a_file_named_like_a_revision_is_no_riddle(trap: Trap, name: str) -> None:
    before = trap.ground.workspace.locate(str(trap.root)).project.id
    (trap.root / name).write_text("x")
    trap.git("add", "-A")
    trap.git("commit", "-q", "-m", "riddle")
    trap.ground.states.clear()
    located = trap.ground.workspace.locate(str(trap.root))
    assert located.project.id == before
    assert located.project.root_commit == trap.first
    last = trap.git("rev-parse", "HEAD")
    (trap.root / last).write_text("x")
    (trap.root / (last + "^")).write_text("x")
    assert list(trap.ground.workspace.history(located).list_changed(last)) == [name]


def test_names_of_settings_tell_the_filters() -> None:
    assert without_filters(["core.bare", "filter.a b.clean", "filter.a b.process"]) == (
        "-c", "filter.a b.clean=", "-c", "filter.a b.process=", "-c", "filter.a b.required=false",
    )  # fmt: skip
    assert without_filters(["core.filter"]) == ()
    assert without_filters(["filter.a=b.clean"]) is None


def test_on_windows_git_is_not_looked_for_in_the_current_folder() -> None:
    there: Callable[[str], bool] = {"git.exe", ".\\git.exe", "D:\\Git\\cmd\\git.exe"}.__contains__
    assert git_program('.;;bin;"D:\\Git\\cmd\\";C:\\x', there, windows=True) == "D:\\Git\\cmd\\git.exe"
    assert git_program(".;bin", there, windows=True).startswith("C:\\no git")
    assert git_program("/usr/bin", there, windows=False) == "git"
