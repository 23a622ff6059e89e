from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from holdfast.ports.workspace import Stamps
from holdfast.workspace.local import stamps
from tests.workspace.conftest import Ground


def test_every_change_of_a_file_changes_its_stamp_and_no_other(tmp_path: Path) -> None:
    file, other = tmp_path / "one", tmp_path / "other"
    file.write_text("1")
    other.write_text("1")
    seen = {stamps(str(tmp_path), ["one", "other"])}
    status = file.stat()
    file.write_text("2")
    os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns))
    seen.add(stamps(str(tmp_path), ["one", "other"]))
    file.unlink()
    seen.add(stamps(str(tmp_path), ["one", "other"]))
    file.mkdir()
    seen.add(stamps(str(tmp_path), ["one", "other"]))
    assert len(seen) == 4
    assert len({stamp.files[1] for stamp in seen}) == 1
    assert len({stamp.checkout for stamp in seen}) == 1


def test_a_link_has_the_stamp_of_what_it_leads_to(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("1")
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "dangling").symlink_to("nowhere")
    (tmp_path / "loop").symlink_to("loop")
    real, link, dangling, loop = stamps(str(tmp_path), ["real", "link", "dangling", "loop"]).files
    assert real == link
    assert (dangling, loop) == ((), ())


def test_a_work_tree_that_vanished_has_empty_stamps(tmp_path: Path) -> None:
    gone = str(tmp_path / "gone")
    assert stamps(gone, ["a", "b"]) == Stamps(files=((), ()))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may look everywhere")
def test_a_folder_that_may_not_be_entered_has_files_with_empty_stamps(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir()
    (closed / "file").write_text("1")
    closed.chmod(0)
    try:
        assert stamps(str(tmp_path), ["closed/file"]).files == ((),)
    finally:
        closed.chmod(0o700)


def test_odd_names_are_files_that_are_not_there(tmp_path: Path) -> None:
    assert stamps(str(tmp_path), ["\0", "x" * 5000, "a/b/../../c"]).files == ((), (), ())


@pytest.mark.parametrize(
    "step",
    [
        ["commit", "-q", "--allow-empty", "-m", "next"],
        ["switch", "-q", "-c", "feature"],
        ["reset", "-q", "--hard", "HEAD~1"],
        ["-c", "core.logAllRefUpdates=false", "commit", "-q", "--amend", "-m", "other"],
        ["checkout", "-q", "--detach", "HEAD~1"],
    ],
)
def test_every_move_of_head_changes_the_stamp_of_the_checkout(ground: Ground, step: list[str]) -> None:
    root = ground.repository("harbour", commits=2)
    before = stamps(str(root), [])
    assert stamps(str(root), []) == before
    ground.git(root, *step)
    assert stamps(str(root), []).checkout != before.checkout


def test_a_linked_work_tree_has_a_checkout_of_its_own(ground: Ground) -> None:
    root = ground.repository("harbour", commits=2)
    tree = ground.folder / "tree"
    ground.git(root, "worktree", "add", "-q", str(tree), "-b", "feature")
    main, linked = stamps(str(root), []), stamps(str(tree), [])
    ground.git(tree, "commit", "-q", "--allow-empty", "-m", "next")
    assert stamps(str(tree), []).checkout != linked.checkout
    assert stamps(str(root), []).checkout == main.checkout


def test_refs_in_a_table_are_seen_to_move(ground: Ground) -> None:
    root = ground.folder / "tables"
    root.mkdir()
    try:
        ground.git(root, "init", "-q", "--ref-format=reftable")
    except subprocess.CalledProcessError:
        pytest.skip("this git has no reftable format")
    ground.git(root, "commit", "-q", "--allow-empty", "-m", "first")
    before = stamps(str(root), [])
    ground.git(root, "commit", "-q", "--allow-empty", "-m", "second")
    assert stamps(str(root), []).checkout != before.checkout


def test_git_is_busy_while_it_holds_its_lock(ground: Ground) -> None:
    root = ground.repository("harbour")
    lock = root / ".git" / "index.lock"
    assert not stamps(str(root), []).busy
    lock.touch()
    assert stamps(str(root), []).busy
