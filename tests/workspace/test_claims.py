"""A declared project id counts where the repository is the one that declared it first, else after the user's yes."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from pathlib import Path

import pytest

from holdfast.errors import InvalidValueError
from holdfast.wiring import SystemClock
from holdfast.workspace.identity import Claims
from holdfast.workspace.local import LocalWorkspace
from tests.workspace.conftest import Ground

REMOTE = "git@example.com:acme/vault.git"
OTHER = "git@example.com:mallory/vault.git"


def declare(folder: Path, name: str = "acme-vault", ground: Ground | None = None) -> Path:
    (folder / ".holdfast").mkdir()
    (folder / ".holdfast" / "project.toml").write_text(f'id = "{name}"\n')
    if ground:
        ground.git(folder, "add", "-A")
        ground.git(folder, "commit", "-q", "-m", "Declare the project")
    return folder


def clone(ground: Ground, source: Path, name: str, remote: str, *options: str) -> Path:
    ground.git(ground.folder, "clone", "-q", *options, f"file://{source}", name)
    ground.git(ground.folder / name, "remote", "set-url", "origin", remote)
    return ground.folder / name


@pytest.fixture
def vault(ground: Ground) -> Path:
    """The user's own repository, which declares its id and was seen first."""
    made = declare(ground.repository("vault", REMOTE), ground=ground)
    assert ground.id(made) == "acme-vault"
    return made


def test_a_second_repository_with_the_same_id_is_another_project(ground: Ground, vault: Path) -> None:
    hostile = declare(ground.repository("hostile", OTHER), ground=ground)
    location = ground.workspace.locate(str(hostile))
    assert location.project.id.startswith("g1-")
    assert (location.claim, location.claim_owner) == ("acme-vault", "example.com/acme/vault")
    assert ground.id(vault) == "acme-vault"
    assert ground.workspace.locate(str(vault)).claim == ""


def test_two_hostile_clones_that_come_first_own_the_id_once_and_the_user_is_prompted(ground: Ground) -> None:
    first = declare(ground.repository("first", OTHER), ground=ground)
    second = declare(ground.repository("second", "git@example.com:eve/x.git"), ground=ground)
    mine = declare(ground.repository("mine", REMOTE), ground=ground)
    assert ground.id(first) == "acme-vault"
    assert len({ground.id(first), ground.id(second), ground.id(mine)}) == 3


def test_clones_work_trees_shallow_clones_and_moved_folders_of_the_owner_keep_the_id(
    ground: Ground, vault: Path
) -> None:
    ground.git(vault, "worktree", "add", "-q", "-b", "fix", "../tree")
    again = clone(ground, vault, "again", "https://ada@Example.com/acme/vault")
    shallow = clone(ground, vault, "shallow", REMOTE, "--depth", "1")
    assert {ground.id(folder) for folder in (again, shallow, ground.folder / "tree")} == {"acme-vault"}
    again.rename(ground.folder / "moved")
    assert ground.id(ground.folder / "moved") == "acme-vault"


def test_a_fork_and_a_renamed_remote_keep_the_id_by_the_root_commit(ground: Ground, vault: Path) -> None:
    fork = clone(ground, vault, "fork", "git@example.com:ada/vault.git")
    assert ground.id(fork) == "acme-vault"
    ground.git(vault, "remote", "set-url", "origin", "git@example.com:acme/safe.git")
    assert ground.id(vault) == "acme-vault"


def test_a_shallow_clone_of_a_fork_waits_because_its_root_commit_is_not_known(ground: Ground, vault: Path) -> None:
    shallow = clone(ground, vault, "shallow", OTHER, "--depth", "1")
    assert ground.workspace.locate(str(shallow)).claim == "acme-vault"


def test_a_shallow_clone_that_came_first_vouches_for_the_root_commit_of_its_remote(ground: Ground) -> None:
    origin = declare(ground.repository("origin", commits=3), ground=ground)
    assert ground.id(clone(ground, origin, "shallow", REMOTE, "--depth", "1")) == "acme-vault"
    assert ground.id(clone(ground, origin, "full", REMOTE)) == "acme-vault"
    assert ground.id(clone(ground, origin, "fork", OTHER)) == "acme-vault"


def test_the_remote_of_a_fork_vouches_for_nothing(ground: Ground) -> None:
    mine = declare(ground.repository("mine"), ground=ground)
    assert ground.id(mine) == "acme-vault"
    assert ground.id(clone(ground, mine, "fork", OTHER)) == "acme-vault"
    assert ground.id(declare(ground.repository("later", OTHER), ground=ground)) != "acme-vault"


def test_a_repository_keeps_the_id_from_before_git_to_its_first_commit_and_remote(ground: Ground) -> None:
    folder = ground.folder / "new"
    folder.mkdir()
    declare(folder)
    assert ground.id(folder) == "acme-vault"
    ground.git(folder, "init", "-q", "-b", "main")
    assert ground.id(folder) == "acme-vault"
    ground.git(folder, "add", "-A")
    ground.git(folder, "commit", "-q", "-m", "First")
    assert ground.id(folder) == "acme-vault"
    ground.git(folder, "remote", "add", "origin", REMOTE)
    assert ground.id(folder) == "acme-vault"


def test_an_unpacked_archive_with_the_id_is_another_project_and_a_moved_folder_is_not(
    ground: Ground, tmp_path: Path
) -> None:
    folder = ground.folder / "notes"
    folder.mkdir()
    assert ground.id(declare(folder)) == "acme-vault"
    (folder / "deep").mkdir()
    location = ground.workspace.locate(str(folder / "deep"))
    assert (location.project.id, location.root, location.prefix) == ("acme-vault", str(folder), "deep")
    shutil.copytree(folder, ground.folder / "unpacked")
    location = ground.workspace.locate(str(ground.folder / "unpacked" / "deep"))
    assert (location.project.source, location.claim, location.prefix) == ("path", "acme-vault", "deep")
    folder.rename(ground.folder / "moved")
    assert ground.id(ground.folder / "moved") == "acme-vault"


def test_a_copy_of_a_repository_without_a_remote_agrees_by_its_root_commit(ground: Ground) -> None:
    made = declare(ground.repository("made"), ground=ground)
    assert ground.id(made) == "acme-vault"
    shutil.copytree(made, ground.folder / "copy")
    assert ground.id(ground.folder / "copy") == "acme-vault"


@pytest.mark.parametrize("name", ["g1-0123456789abcdef0123456789abcdef", "p1-x", "G1-x"])
def test_no_file_can_declare_an_id_of_our_own_making(ground: Ground, name: str) -> None:
    made = declare(ground.repository("made"), name, ground)
    location = ground.workspace.locate(str(made))
    assert location.claim == name
    assert location.project.id.startswith("g1-")
    assert location.project.id != name
    with pytest.raises(InvalidValueError, match="derives"):
        ground.workspace.accept_claim(str(made))


def test_the_id_that_a_repository_has_anyway_is_no_claim(ground: Ground) -> None:
    made = ground.repository("made", REMOTE)
    before = ground.id(made)
    assert ground.workspace.locate(str(declare(made, before, ground))).claim == ""
    assert ground.id(made) == before


def test_the_id_of_a_victim_by_its_remote_is_not_given_to_another_repository(ground: Ground) -> None:
    victim = ground.id(ground.repository("victim", REMOTE))
    assert ground.id(declare(ground.repository("hostile", OTHER), victim, ground)) != victim


def test_what_the_user_accepts_counts_in_that_folder_and_its_work_trees_and_no_other(
    ground: Ground, vault: Path
) -> None:
    rewritten = declare(ground.repository("rewritten", OTHER), ground=ground)
    ground.git(rewritten, "worktree", "add", "-q", "-b", "fix", "../tree")
    assert ground.id(rewritten) != "acme-vault"
    assert ground.workspace.accept_claim(str(rewritten)).project.id == "acme-vault"
    assert ground.id(rewritten) == ground.id(ground.folder / "tree") == ground.id(vault) == "acme-vault"
    assert ground.id(clone(ground, rewritten, "again", OTHER)) != "acme-vault"


def test_an_accepted_id_can_be_released_again(ground: Ground, vault: Path) -> None:
    other = declare(ground.repository("other", OTHER), ground=ground)
    ground.workspace.accept_claim(str(other))
    assert ground.workspace.release_claim(str(other)).claim == "acme-vault"
    assert ground.id(vault) == "acme-vault"
    with pytest.raises(InvalidValueError, match="no declared id counts"):
        ground.workspace.release_claim(str(other))


def test_an_owner_that_releases_the_id_leaves_it_to_whom_the_user_accepts(ground: Ground) -> None:
    hostile = declare(ground.repository("hostile", OTHER), ground=ground)
    mine = declare(ground.repository("mine", REMOTE), ground=ground)
    assert (ground.id(hostile), ground.workspace.locate(str(mine)).claim) == ("acme-vault", "acme-vault")
    ground.workspace.release_claim(str(hostile))
    assert [ground.workspace.locate(str(each)).claim for each in (hostile, mine)] == ["acme-vault"] * 2
    ground.workspace.accept_claim(str(mine))
    assert ground.id(clone(ground, mine, "again", REMOTE)) == "acme-vault"
    assert ground.id(hostile) != "acme-vault"


def test_a_huge_project_file_is_read_no_further_than_its_beginning(ground: Ground) -> None:
    made = ground.repository("made", REMOTE)
    (made / ".holdfast").mkdir()
    with (made / ".holdfast" / "project.toml").open("wb") as stream:
        stream.write(b'id = "acme-vault"\n')
        stream.truncate(3_000_000_000)
    assert ground.id(made) == "acme-vault"


def test_there_must_be_something_to_accept(ground: Ground, vault: Path) -> None:
    with pytest.raises(InvalidValueError, match="no declared id waits"):
        ground.workspace.accept_claim(str(vault))


def test_an_id_that_the_store_knows_from_elsewhere_has_no_owner_until_the_user_says_so(ground: Ground) -> None:
    projects: list[str] = []

    def first_folder(project: str) -> str:
        projects.append(project)
        return "/gone/vault"

    claims = Claims(ground.states, first_folder)
    workspace = LocalWorkspace(ground.states, SystemClock(), 20, lambda: claims)
    mine = declare(ground.repository("mine", REMOTE), ground=ground)
    assert [workspace.locate(str(mine)).claim for _ in range(2)] == ["acme-vault"] * 2
    assert projects == ["acme-vault"]
    assert workspace.accept_claim(str(mine)).project.id == "acme-vault"
    assert workspace.locate(str(clone(ground, mine, "again", REMOTE))).project.id == "acme-vault"


def test_an_id_that_was_first_heard_of_in_this_work_tree_is_its_own(ground: Ground) -> None:
    mine = declare(ground.repository("mine", REMOTE), ground=ground)
    claims = Claims(ground.states, lambda project: str(mine / "src"))
    assert LocalWorkspace(ground.states, SystemClock(), 20, lambda: claims).locate(str(mine)).claim == ""


def test_a_claim_is_reported_once(ground: Ground, vault: Path) -> None:
    reports: list[tuple[str, str]] = []
    claims = Claims(ground.states, report=lambda root, declared: reports.append((root, declared)))
    workspace = LocalWorkspace(ground.states, SystemClock(), 20, lambda: claims)
    hostile = declare(ground.repository("hostile", OTHER), ground=ground)
    for _ in range(3):
        workspace.locate(str(hostile))
    assert reports == [(str(hostile), "acme-vault")]
    assert workspace.locate(str(vault)).claim == ""


def test_of_two_repositories_that_are_seen_at_once_one_is_bound(ground: Ground) -> None:
    first = declare(ground.repository("one", REMOTE), ground=ground)
    second = declare(ground.repository("other", OTHER), ground=ground)
    claims = Claims(ground.states, turn=lambda: nullcontext(False))
    busy = LocalWorkspace(ground.states, SystemClock(), 20, lambda: claims)
    assert busy.locate(str(first)).claim == "acme-vault"  # somebody else is binding an id just now

    def meanwhile() -> nullcontext[bool]:
        ground.workspace.locate(str(second))
        return nullcontext(True)

    raced = LocalWorkspace(ground.states, SystemClock(), 20, lambda: Claims(ground.states, turn=meanwhile))
    assert raced.locate(str(first)).claim == "acme-vault"
    assert ground.id(second) == "acme-vault"
