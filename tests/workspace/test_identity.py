from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from holdfast.errors import InvalidValueError, ProjectUnknownError
from holdfast.wiring import SystemClock
from holdfast.workspace.local import LocalWorkspace
from tests.workspace.conftest import Ground

REMOTE = "git@example.com:ada/ledger.git"


def clone(ground: Ground, source: Path, name: str, *options: str) -> Path:
    """A clone whose origin is REMOTE, as if it came from there."""
    ground.git(ground.folder, "clone", "-q", *options, f"file://{source}", name)
    ground.git(ground.folder / name, "remote", "set-url", "origin", REMOTE)
    return ground.folder / name


def test_two_clones_of_a_remote_are_one_project(ground: Ground) -> None:
    first = ground.repository("first", REMOTE)
    second = clone(ground, first, "second")
    ground.git(second, "remote", "set-url", "origin", "https://ada:secret@Example.com/ada/ledger")
    assert ground.id(first) == ground.id(second)
    assert "secret" not in ground.workspace.locate(str(second)).project.remote


def test_the_id_of_a_remote_is_the_same_on_every_machine(ground: Ground) -> None:
    first = ground.repository("first", REMOTE)
    elsewhere = Ground(ground.folder)
    assert ground.id(first) == elsewhere.id(clone(ground, first, "second"))


def test_repositories_of_one_name_are_different_projects(ground: Ground) -> None:
    assert ground.id(ground.repository("a/app")) != ground.id(ground.repository("b/app"))
    repository = ground.repository("c/app", "git@example.com:c/app.git")
    assert ground.id(repository) != ground.id(ground.repository("d/app", "git@example.com:d/app.git"))


def test_one_remote_with_another_history_is_another_project(ground: Ground) -> None:
    assert ground.id(ground.repository("old", REMOTE)) != ground.id(ground.repository("new", REMOTE))


def test_work_trees_share_the_project_and_tell_their_branch(ground: Ground) -> None:
    main = ground.repository("main", REMOTE)
    ground.git(main, "worktree", "add", "-q", "-b", "fix/login", "../tree")
    location = ground.workspace.locate(str(ground.folder / "tree"))
    assert (location.project.id, location.branch) == (ground.id(main), "fix/login")
    assert location.root == str(ground.folder / "tree")
    assert location.commit == ground.git(main, "rev-parse", "HEAD")


@pytest.mark.parametrize("remote", ["", REMOTE])
def test_a_moved_repository_keeps_its_id(ground: Ground, remote: str) -> None:
    made = ground.repository("made", remote)
    before = ground.id(made)
    made.rename(ground.folder / "moved")
    assert ground.id(ground.folder / "moved") == before


def test_a_moved_repository_without_a_commit_keeps_its_id(ground: Ground) -> None:
    made = ground.repository("made", commits=0)
    before = ground.id(made)
    made.rename(ground.folder / "moved")
    assert ground.id(ground.folder / "moved") == before


def test_a_copied_repository_without_a_remote_gets_its_own_id(ground: Ground) -> None:
    made = ground.repository("made")
    before = ground.id(made)
    shutil.copytree(made, ground.folder / "copy")
    assert ground.id(ground.folder / "copy") != before
    assert ground.id(made) == before


def test_a_repository_keeps_its_id_when_it_gets_a_commit_a_remote_and_another_remote(ground: Ground) -> None:
    made = ground.repository("made", commits=0)
    before = ground.id(made)
    (made / "a").write_text("a")
    ground.git(made, "add", "-A")
    ground.git(made, "commit", "-q", "-m", "First")
    assert ground.id(made) == before
    ground.git(made, "remote", "add", "origin", REMOTE)
    assert ground.id(made) == before
    assert ground.id(clone(ground, made, "second")) == before
    ground.git(made, "remote", "set-url", "origin", "git@example.com:new-owner/ledger.git")
    assert ground.id(made) == before


def test_a_folder_keeps_its_id_when_it_becomes_a_repository(ground: Ground) -> None:
    folder = ground.folder / "plain"
    folder.mkdir()
    before = ground.id(folder)
    ground.git(folder, "init", "-q")
    assert ground.id(folder) == before


def test_another_repository_at_the_same_path_is_another_project(ground: Ground) -> None:
    made = ground.repository("made")
    before = ground.id(made)
    shutil.rmtree(made)
    again = ground.repository("made", commits=2)
    assert ground.git(again, "rev-list", "--count", "HEAD") == "2"
    (again / "other").write_text("other root")
    ground.git(again, "checkout", "-q", "--orphan", "other")
    ground.git(again, "commit", "-q", "-m", "Another root")
    assert ground.id(again) != before


def test_a_shallow_clone_is_the_project_of_the_full_one(ground: Ground) -> None:
    origin = ground.repository("origin", REMOTE, commits=3)
    full = clone(ground, origin, "full")
    before = ground.id(full)
    assert ground.id(clone(ground, origin, "shallow", "--depth", "1")) == before


def test_a_full_clone_is_the_project_of_the_shallow_one_seen_first(ground: Ground) -> None:
    origin = ground.repository("origin", REMOTE, commits=3)
    shallow = clone(ground, origin, "shallow", "--depth", "1")
    before = ground.id(shallow)
    ground.git(shallow, "fetch", "-q", "--unshallow", f"file://{origin}")
    assert ground.id(shallow) == before
    assert ground.id(clone(ground, origin, "full")) == before


def test_a_submodule_is_a_project_of_its_own(ground: Ground) -> None:
    library = ground.repository("library")
    outer = ground.repository("outer")
    ground.git(outer, "submodule", "add", "-q", f"file://{library}", "vendor/library")
    inner = ground.workspace.locate(str(outer / "vendor" / "library"))
    assert inner.project.id != ground.id(outer)
    assert inner.root == str(outer / "vendor" / "library")


def test_a_nested_repository_is_a_project_of_its_own(ground: Ground) -> None:
    outer = ground.repository("outer")
    inner = ground.repository("outer/inner")
    assert ground.id(inner) != ground.id(outer)


def test_a_bare_repository_is_the_project_of_its_work_trees(ground: Ground) -> None:
    source = ground.repository("source")
    ground.git(ground.folder, "clone", "-q", "--bare", str(source), "bare.git")
    ground.git(ground.folder / "bare.git", "worktree", "add", "-q", "../tree", "main")
    assert ground.id(ground.folder / "bare.git") == ground.id(ground.folder / "tree")


def test_a_monorepo_folder_is_reported_as_prefix(ground: Ground) -> None:
    made = ground.repository("made")
    (made / "services" / "billing").mkdir(parents=True)
    location = ground.workspace.locate(str(made / "services" / "billing"))
    assert (location.prefix, location.root, location.project.id) == ("services/billing", str(made), ground.id(made))


def test_a_detached_head_has_a_commit_and_no_branch(ground: Ground) -> None:
    made = ground.repository("made", commits=2)
    ground.git(made, "checkout", "-q", "HEAD~1")
    location = ground.workspace.locate(str(made))
    assert (location.branch, location.commit) == ("", ground.git(made, "rev-parse", "HEAD"))


def test_packed_refs_are_read(ground: Ground) -> None:
    made = ground.repository("made")
    ground.git(made, "branch", "main-2")
    ground.git(made, "pack-refs", "--all", "--prune")
    assert ground.workspace.locate(str(made)).commit == ground.git(made, "rev-parse", "HEAD")


def test_git_variables_of_a_surrounding_command_do_not_mislead(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    made, other = ground.repository("made"), ground.repository("other")
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    location = ground.workspace.locate(str(made))
    (made / "new.txt").write_text("new")
    monkeypatch.delenv("GIT_DIR")
    assert location.project.root_commit == ground.git(made, "rev-list", "--max-parents=0", "HEAD")
    assert ground.workspace.dirty(location) == ("new.txt",)


def test_a_git_folder_without_a_repository_is_no_git(ground: Ground) -> None:
    (ground.folder / "odd" / ".git").mkdir(parents=True)
    (ground.folder / "stray").mkdir()
    (ground.folder / "stray" / ".git").write_text("gitdir: /nowhere/at/all\n")
    assert ground.workspace.locate(str(ground.folder / "odd")).project.source == "path"
    assert ground.workspace.locate(str(ground.folder / "stray")).project.source == "path"


# Without git


def test_a_moved_folder_keeps_its_id_and_a_new_one_in_its_place_gets_another(ground: Ground) -> None:
    folder = ground.folder / "notes"
    folder.mkdir()
    before = ground.id(folder)
    folder.rename(ground.folder / "moved")
    if not ground.states["inode", _inode(ground.folder / "moved")].split("\n")[2]:
        pytest.skip("this file system does not tell when a folder was made")
    assert ground.id(ground.folder / "moved") == before
    folder.mkdir()
    assert ground.id(folder) != before


def test_a_new_folder_that_got_a_freed_inode_is_no_moved_folder(ground: Ground) -> None:
    folder = ground.folder / "gone"
    folder.mkdir()
    before = ground.id(folder)
    folder.rmdir()
    for number in range(20):
        made = ground.folder / f"new{number}"
        made.mkdir()
        assert ground.id(made) != before


def test_a_copied_folder_gets_its_own_id(ground: Ground) -> None:
    folder = ground.folder / "notes"
    folder.mkdir()
    shutil.copytree(folder, ground.folder / "copy")
    assert ground.id(folder) != ground.id(ground.folder / "copy")


def test_a_folder_below_a_known_one_belongs_to_it(ground: Ground) -> None:
    deep = ground.folder / "notes" / "a" / "b"
    deep.mkdir(parents=True)
    before = ground.id(ground.folder / "notes")
    location = ground.workspace.locate(str(deep))
    assert (location.project.id, location.prefix) == (before, "a/b")


def test_two_first_looks_at_once_come_to_the_same_id(ground: Ground) -> None:
    folder = ground.folder / "notes"
    folder.mkdir()
    assert ground.id(folder) == Ground(ground.folder).id(folder)


# The committed id


def test_a_committed_id_comes_before_all_else(ground: Ground) -> None:
    made = ground.repository("made", REMOTE)
    (made / ".holdfast").mkdir()
    (made / ".holdfast" / "project.toml").write_text('# ours\nid = "acme/ledger" # fixed\n\n[other]\nid = "not-this"\n')
    (made / "deep").mkdir()
    location = ground.workspace.locate(str(made / "deep"))
    assert (location.project.id, location.project.source, location.prefix) == ("acme/ledger", "file", "deep")


def test_a_committed_id_above_the_repository_is_not_its_own(ground: Ground) -> None:
    (ground.folder / ".holdfast").mkdir()
    (ground.folder / ".holdfast" / "project.toml").write_text('id = "everything"\n')
    assert ground.id(ground.repository("made")) != "everything"
    (ground.folder / "plain").mkdir()
    assert ground.id(ground.folder / "plain") == "everything"


@pytest.mark.parametrize("text", ["", "id = \n", 'id = ""\n', 'id = "has space"\n', '[x]\nid = "y"\n', "\0\xff"])
def test_a_committed_file_without_a_usable_id_is_reported_and_not_guessed(ground: Ground, text: str) -> None:
    made = ground.repository("made")
    (made / ".holdfast").mkdir()
    (made / ".holdfast" / "project.toml").write_text(text)
    with pytest.raises(ProjectUnknownError, match=r"project\.toml") as error:
        ground.id(made)
    assert error.value.hint


# What cannot be told


@pytest.mark.parametrize("folder", ["", "/nowhere/at/all", "nul\0nul"])
def test_a_folder_that_is_not_there_is_invalid(ground: Ground, folder: str) -> None:
    with pytest.raises(InvalidValueError):
        ground.workspace.locate(folder)


def test_a_git_that_does_not_answer_in_time_leaves_the_project_unknown(
    ground: Ground, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    made = ground.repository("made")
    slow = tmp_path / "bin" / "git"
    slow.parent.mkdir()
    slow.write_text("#!/bin/sh\nexec sleep 60\n")
    slow.chmod(0o755)
    path = monkeypatch.setenv("PATH", f"{slow.parent}:/usr/bin:/bin")
    low_latency = LocalWorkspace(ground.states, SystemClock(), timeout_scale=0.2)
    with pytest.raises(ProjectUnknownError):
        low_latency.locate(str(made))
    monkeypatch.undo()
    assert path is None
    assert not [owner for _, owner in ground.states if "made" in owner]


def test_a_known_repository_is_recognised_without_asking_git(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    made = ground.repository("made", REMOTE)
    before = ground.workspace.locate(str(made))
    monkeypatch.setenv("PATH", "/nowhere")
    assert ground.workspace.locate(str(made)) == before


def _inode(path: Path) -> str:
    stat = path.stat()
    return f"{stat.st_dev}:{stat.st_ino}"
