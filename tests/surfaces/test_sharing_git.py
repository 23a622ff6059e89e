"""A week of a team of three: clones, branches and merges with real git, and each home with a memory of its own."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.surfaces.terminal import run, told, told_json


class Member:
    """One person: a clone, a home, and a git identity."""

    def __init__(self, name: str, origin: Path, scratch: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.name = name
        self.folder = scratch / name
        self.home = scratch / f"{name}-home"
        self.config = scratch / f"{name}.gitconfig"
        self.config.write_text(f"[user]\n\tname = {name}\n\temail = {name}@example.org\n[pull]\n\trebase = false\n")
        self._patch = monkeypatch
        self.enter()
        subprocess.run(["git", "clone", "-q", str(origin), str(self.folder)], check=True)

    def enter(self) -> None:
        self._patch.setenv("HOLDFAST_HOME", str(self.home))
        self._patch.setenv("GIT_CONFIG_GLOBAL", str(self.config))

    def git(self, *arguments: str) -> str:
        self.enter()
        done = subprocess.run(["git", "-C", str(self.folder), *arguments], check=False, capture_output=True)
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.decode()

    def holdfast(self, *arguments: str) -> str:
        self.enter()
        return told(*arguments, "-C", str(self.folder))

    def commit(self, words: str) -> None:
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", words)

    def push(self, words: str) -> None:
        self.commit(words)
        self.git("pull", "-q", "--no-edit")
        self.git("push", "-q", "origin", "HEAD:main")

    def pull(self) -> None:
        self.git("pull", "-q", "--no-edit")
        self.holdfast("sync", "--accept")

    def lessons(self) -> list[str]:
        self.enter()
        return sorted(row["insight"] for row in told_json("list", "-C", str(self.folder))["lessons"])

    def id_of(self, words: str) -> str:
        self.enter()
        rows = told_json("list", "-C", str(self.folder))["lessons"]
        return str(next(row["id"] for row in rows if words in row["insight"]))


@pytest.fixture
def team(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> list[Member]:
    """Ada, Bob and Cleo, whose clones have the merge driver."""
    origin = tmp_path / "origin.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(origin)], check=True)
    ada = Member("ada", origin, tmp_path, monkeypatch)
    (ada.folder / "tides.py").write_text("HIGH = 4\n")
    ada.git("checkout", "-q", "-B", "main")
    ada.commit("begin")
    ada.git("push", "-q", "-u", "origin", "main")
    members = [ada, Member("bob", origin, tmp_path, monkeypatch), Member("cleo", origin, tmp_path, monkeypatch)]
    for member in members:
        member.holdfast("setup", "git")
    return members


def files_of(member: Member) -> dict[str, str]:
    root = member.folder / ".holdfast" / "lessons"
    return {str(path.relative_to(root)): path.read_text(errors="replace") for path in sorted(root.rglob("*.md"))}


def test_a_week_of_a_team(team: list[Member]) -> None:
    ada, bob, cleo = team
    # Monday: Ada shares two lessons; Bob sees them wait, and vouches.
    ada.holdfast("remember", "Retries are capped at 3", "--why", "the gateway")
    ada.holdfast("remember", "Tides are in metres")
    ada.holdfast("share", "--all")
    ada.push("lessons")
    bob.git("pull", "-q", "--no-edit")
    bob.holdfast("sync")
    assert bob.lessons() == []
    bob.holdfast("sync", "--accept")
    cleo.pull()
    assert ada.lessons() == bob.lessons() == cleo.lessons() == ["Retries are capped at 3", "Tides are in metres"]
    # Tuesday: Bob and Cleo change two fields of one lesson at once; git merges both.
    bob.holdfast("revise", bob.id_of("Retries"), "--why", "the bank")
    cleo.holdfast("revise", cleo.id_of("Retries"), "--tag", "net")
    for member in (bob, cleo):
        member.holdfast("sync")
        member.push("revised")
    for member in team:
        member.pull()
        (text,) = (text for path, text in files_of(member).items() if "retries" in path)
        assert "why: the bank" in text
        assert "- net" in text
    # Wednesday: Cleo forgets a lesson; Ada's branch from before still has it, and it does not come back.
    ada.git("branch", "old")
    cleo.holdfast("forget", cleo.id_of("Tides"))
    cleo.holdfast("sync")
    cleo.push("forgotten")
    ada.pull()
    bob.pull()
    ada.git("checkout", "-q", "old")
    (ada.folder / "x.py").write_text("Y = 1\n")
    ada.commit("work")
    ada.git("checkout", "-q", "main")
    ada.git("merge", "-q", "--no-edit", "old")
    ada.holdfast("sync", "--accept")
    assert ada.lessons() == bob.lessons() == cleo.lessons() == ["Retries are capped at 3"]
    # Thursday: Ada and Bob change the rule itself; both wordings are kept, and contradict each other.
    ada.push("merged")
    for member in (bob, cleo):
        member.pull()
    ada.holdfast("revise", ada.id_of("Retries"), "--insight", "Retries are capped at 5")
    bob.holdfast("revise", bob.id_of("Retries"), "--insight", "Retries are capped at 9")
    for member in (ada, bob):
        member.holdfast("sync")
        member.push("another cap")
    for _ in range(2):
        for member in team:
            member.git("pull", "-q", "--no-edit")
            member.holdfast("sync", "--accept")
            if member.git("status", "--porcelain"):
                member.push("synced")
    assert files_of(ada) == files_of(bob) == files_of(cleo)
    texts = "\n".join(files_of(ada).values())
    assert "\nRetries are capped at 5\n" in texts
    assert "\nRetries are capped at 9\n" in texts
    assert texts.count("kind: contradicts") == 2
    assert cleo.lessons() == ["Retries are capped at 5", "Retries are capped at 9"]
    # Friday: nobody changed anything, and nothing changes.
    for member in team:
        member.holdfast("sync")
        assert member.git("status", "--porcelain") == ""


def test_a_branchs_lesson_reaches_the_team_when_the_branch_is_squashed(team: list[Member]) -> None:
    ada, bob, cleo = team
    ada.git("checkout", "-q", "-b", "feature/tides")
    (ada.folder / "tides.py").write_text("HIGH = 5\nLOW = 1\n")
    ada.commit("tides")
    ada.holdfast("remember", "Tides are in feet", "--file", "tides.py")
    ada.holdfast("share", "--all")
    ada.commit("what the branch taught")
    ada.git("push", "-q", "-u", "origin", "feature/tides")
    # Bob reviews the branch: he has its lesson there, and not on main.
    bob.git("fetch", "-q")
    bob.git("checkout", "-q", "feature/tides")
    bob.holdfast("sync", "--accept")
    assert bob.lessons() == ["Tides are in feet"]
    assert "Tides are in feet" in bob.holdfast("pr", "origin/main")
    bob.git("checkout", "-q", "main")
    bob.holdfast("sync")
    assert bob.lessons() == []
    assert "feature/tides" in bob.holdfast("staged")
    cleo.pull()
    assert cleo.lessons() == []
    # Ada squashes it into main and deletes the branch.
    ada.git("checkout", "-q", "main")
    assert ada.lessons() == []
    ada.holdfast("share", "--all")
    assert files_of(ada) == {}
    ada.git("merge", "-q", "--squash", "feature/tides")
    ada.push("tides (#1)")
    ada.git("branch", "-D", "feature/tides")
    ada.git("push", "-q", "origin", ":feature/tides")
    for member in team:
        member.pull()
        assert member.lessons() == ["Tides are in feet"]
    assert files_of(ada) == files_of(bob) == files_of(cleo)
    for member in team:
        assert member.git("status", "--porcelain") == ""


def test_a_sync_counts_the_conflicts_that_came_in(team: list[Member]) -> None:
    ada, bob, _ = team
    ada.holdfast("remember", "Call `t.Parallel` in every test")
    ada.holdfast("share", "--all")
    ada.push("lessons")
    bob.holdfast("remember", "Don't call `t.Parallel` in tests")
    bob.git("pull", "-q", "--no-edit")
    sync = ("sync", "--accept", "-C", str(bob.folder))
    assert told_json(*sync, "--dry-run")["conflicts"] == 0
    assert told_json(*sync)["conflicts"] == 1
    assert told_json(*sync)["conflicts"] == 0


def test_an_edit_by_hand_merges_with_a_revision_and_a_deleted_file_ends_nothing(team: list[Member]) -> None:
    ada, bob, cleo = team
    ada.holdfast("remember", "Retries are capped at 3", "--why", "the gateway")
    ada.holdfast("remember", "Tides are in metres")
    ada.holdfast("share", "--all")
    ada.push("lessons")
    for member in (bob, cleo):
        member.pull()
    # Cleo edits a file in her editor while Bob revises the same lesson; the driver merges both.
    (file,) = (cleo.folder / ".holdfast" / "lessons").rglob("retries*.md")
    file.write_text(file.read_text().replace("why: the gateway", "why: the gateway bans us"))
    cleo.push("edited by hand")
    bob.holdfast("revise", bob.id_of("Retries"), "--tag", "net")
    bob.holdfast("sync")
    bob.push("revised")
    for member in team:
        member.pull()
    (text,) = (text for path, text in files_of(ada).items() if "retries" in path)
    assert "why: the gateway bans us" in text
    assert "- net" in text
    assert "<<<<<<<" not in text
    # Ada deletes a file: the lesson stays where it is known, and Bob's edit of it brings no conflict into memory.
    (tides,) = (path for path in (ada.folder / ".holdfast" / "lessons").rglob("tides*.md"))
    tides.unlink()
    ada.push("not shared any more")
    for member in team:
        member.pull()
        assert member.lessons() == ["Retries are capped at 3", "Tides are in metres"]
    # Bob forgets it; somebody who brings the old file back does not bring the lesson back.
    bob.holdfast("forget", bob.id_of("Tides"))
    bob.holdfast("sync")
    cleo.git("checkout", "-q", "HEAD^", "--", ".holdfast/lessons")
    cleo.push("the file again")
    bob.git("pull", "-q", "--no-edit")
    bob.holdfast("sync", "--accept")
    bob.push("forgotten")
    for member in team:
        member.pull()
        assert member.lessons() == ["Retries are capped at 3"]
    assert files_of(ada) == files_of(bob) == files_of(cleo)


def test_broken_files_of_a_clone_are_named_stored_and_change_nothing(team: list[Member]) -> None:
    ada, bob, _ = team
    rules = ("conflict", "twice", "renamed", "latin", "trusting", "capturing", "running", "whole")
    for rule in rules:
        ada.holdfast("remember", f"{rule.capitalize()} is a rule of the harbour")
    ada.holdfast("share", "--all")
    ada.push("lessons")
    bob.pull()
    known = bob.lessons()
    folder = ada.folder / ".holdfast" / "lessons" / "convention"
    files = {rule: next(folder.glob(f"{rule}-*.md")) for rule in rules}
    texts = {rule: file.read_text() for rule, file in files.items()}
    head, tail = texts["conflict"].split("sync:", 1)
    files["conflict"].write_text(f"{head}<<<<<<< HEAD\nsync:{tail}=======\n>>>>>>> theirs\n")
    short = files["twice"].stem.rpartition("-")[2]
    (folder / f"copy-{short}.md").write_text(texts["twice"])
    files["renamed"].rename(folder / "another-name.md")
    files["latin"].write_bytes(texts["latin"].encode().replace(b"harbour", b"harb\xf6ur"))
    files["trusting"].write_text(texts["trusting"].replace("kind: ", "trust: person\nkind: ", 1))
    files["capturing"].write_text(texts["capturing"].replace("kind: ", "capture: false\nkind: ", 1))
    files["running"].write_text(texts["running"].replace("kind: ", "hooks:\n  post-merge: make\nkind: ", 1))
    files["whole"].write_text(texts["whole"].replace("kind: ", "tags:\n- port\nkind: ", 1))
    ada.push("edited by hand")
    bob.git("pull", "-q", "--no-edit")
    before = files_of(bob)
    bob.enter()
    result = run("sync", "--accept", "-C", str(bob.folder))
    assert result.exit_code == 1
    root = ".holdfast/lessons/convention"
    line = head.count("\n") + 1
    spoilt = texts["latin"].partition("harbour")[0].count("\n") + 1
    for place, reason in (
        (f"{files['conflict'].name}:{line}:1", "an unresolved merge conflict"),
        (f"{files['twice'].name}:2:1", "the same id as"),
        (f"copy-{short}.md:2:1", "the same id as"),
        ("another-name.md:2:1", "renamed"),
        (f"{files['latin'].name}:{spoilt}:", "not UTF-8"),
        (f"{files['trusting'].name}:4:1", "unknown key 'trust'"),
        (f"{files['capturing'].name}:4:1", "unknown key 'capture'"),
        (f"{files['running'].name}:4:1", "unknown key 'hooks'"),
    ):
        assert any(f"{root}/{place}" in row and reason in row for row in result.stderr.splitlines()), (
            place,
            result.stderr,
        )
    assert bob.lessons() == known
    assert {name: text for name, text in files_of(bob).items() if "whole" not in name} == {
        name: text for name, text in before.items() if "whole" not in name
    }
    (whole,) = (row for row in told_json("list", "-C", str(bob.folder))["lessons"] if "Whole" in row["insight"])
    assert whole["tags"] == ["port"]


def test_setup_is_taken_back_to_the_byte(team: list[Member]) -> None:
    ada = team[0]
    config, hooks = ada.folder / ".git" / "config", ada.folder / ".git" / "hooks"
    ada.holdfast("setup", "git", "--git-hooks")
    assert "merge-driver" in config.read_text()
    assert "sync --git-hook" in (hooks / "post-merge").read_text()
    content = config.read_bytes()
    ada.holdfast("setup", "git", "--git-hooks")
    assert config.read_bytes() == content
    told("uninstall", "git")
    assert b"holdfast" not in config.read_bytes()
    assert not (hooks / "post-merge").exists()
    assert not (ada.folder / ".git" / "info" / "attributes").exists()


def test_attributes_of_the_user_stay(team: list[Member]) -> None:
    ada = team[0]
    ada.git("status")
    told("uninstall", "git")
    attributes = ada.folder / ".git" / "info" / "attributes"
    attributes.parent.mkdir(exist_ok=True)
    attributes.write_text("*.png binary\n")
    ada.holdfast("setup", "git")
    assert attributes.read_text().startswith("*.png binary\n")
    assert "merge=holdfast" in attributes.read_text()
    told("uninstall", "git")
    assert attributes.read_text() == "*.png binary\n"


def wait_until(is_done: Callable[[], bool]) -> None:
    """Wait for what a git hook has started, however busy the machine is."""
    for _ in range(600):
        if is_done():
            return
        time.sleep(0.2)
    raise AssertionError("it did not happen")


def test_git_hooks_take_files_in_and_write_none(team: list[Member]) -> None:
    ada, bob, _ = team
    bob.holdfast("setup", "git", "--git-hooks")
    ada.holdfast("remember", "Retries are capped at 3")
    ada.holdfast("share", "--all")
    ada.push("lessons")
    bob.holdfast("remember", "Ids end with a digit")
    before = bob.git("rev-parse", "HEAD")
    bob.git("pull", "-q", "--no-edit")
    assert bob.git("rev-parse", "HEAD") != before
    bob.enter()
    wait_until(lambda: "Retries" in told("list", "--state", "candidate", "-C", str(bob.folder)))
    assert bob.git("status", "--porcelain") == ""


def test_a_hook_of_the_user_runs_beside_ours_and_its_status_counts(team: list[Member]) -> None:
    ada = team[0]
    hook = ada.folder / ".git" / "hooks" / "post-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\nset -eu\ntouch ran\n")
    hook.chmod(0o755)
    ada.holdfast("setup", "git", "--git-hooks")
    head = ada.git("rev-parse", "HEAD")
    ada.commit("work")
    assert (ada.folder / "ran").exists()
    assert ada.git("rev-parse", "HEAD^").strip() == head.strip()
    assert subprocess.run([str(hook)], cwd=ada.folder).returncode == 0
    told("uninstall", "git")
    assert hook.read_text() == "#!/bin/sh\nset -eu\ntouch ran\n"


def test_shared_hooks_are_left_and_the_lines_to_add_are_shown(team: list[Member]) -> None:
    ada = team[0]
    ada.git("config", "core.hooksPath", ".githooks")
    result = run("setup", "git", "--git-hooks", "-C", str(ada.folder))
    assert result.exit_code == 1
    assert "core.hooksPath is .githooks" in result.stderr
    assert "sync --git-hook >/dev/null 2>&1 </dev/null & exit $status )" in result.stderr
    assert not (ada.folder / ".githooks").exists()


def test_a_file_that_is_no_lesson_is_merged_as_text(tmp_path: Path) -> None:
    base, ours, theirs = (tmp_path / name for name in ("base", "ours", "theirs"))
    base.write_text("one\n")
    ours.write_text("two\n")
    theirs.write_text("three\n")
    assert run("merge-driver", str(base), str(ours), str(theirs)).exit_code == 1
    assert "<<<<<<< ours\ntwo\n" in ours.read_text()


def test_a_broken_file_fails_a_check_with_its_place(team: list[Member]) -> None:
    ada = team[0]
    ada.holdfast("remember", "Retries are capped at 3")
    ada.holdfast("share", "--all")
    (path,) = (ada.folder / ".holdfast" / "lessons" / name for name in files_of(ada))
    path.write_text(path.read_text().replace("kind: ", "capture: on\nkind: ", 1))
    result = run("sync", "-C", str(ada.folder))
    assert result.exit_code == 1
    assert f"{os.path.relpath(path, ada.folder)}:4:1: unknown key 'capture'" in result.stderr
