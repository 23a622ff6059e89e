from __future__ import annotations

import os
from pathlib import Path

import pytest

from holdfast.workspace.identity import normalise_remote
from holdfast.workspace.local import BLOB_LIMIT
from tests.workspace.conftest import Ground


@pytest.mark.parametrize(
    "url",
    [
        "git@github.com:Ada/Ledger.git",
        "https://github.com/ada/ledger",
        "https://token:x-oauth-basic@github.com/ada/ledger.git/",
        "ssh://git@github.com:22/ada/ledger.git",
        "ssh://git@ssh.github.com:443/ada/ledger.git",
        "git+ssh://git@GITHUB.com/ada//ledger.git",
        "git://github.com/ada/ledger.git",
        "  https://www.github.com/ada/ledger.git  ",
    ],
)
def test_every_way_to_name_a_remote_is_one_name(url: str) -> None:
    assert normalise_remote(url) == "github.com/ada/ledger"


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("", ""),
        ("ssh://git@code.example.com:2222/a/b.git", "code.example.com/a/b"),
        ("http://localhost:3000/a/b.git", "localhost:3000/a/b"),
        ("[git@code.example.com:2222]:a/b.git", "code.example.com/a/b"),
        ("https://example.com/A/B.git", "example.com/A/B"),
        ("/srv/git/ledger/.git", "file:/srv/git/ledger"),
        ("file:///srv/git/ledger", "file:/srv/git/ledger"),
        ("../ledger", "file:/srv/ledger"),
    ],
)
def test_names_of_remotes_that_are_their_own(url: str, name: str) -> None:
    assert normalise_remote(url, "/srv/here") == name


def test_paths_are_reported_relative_to_the_root(ground: Ground) -> None:
    made = ground.repository("made")
    location = ground.workspace.locate(str(made))
    relative = ground.workspace.relative
    assert relative(location, str(made / "src" / "a.py")) == "src/a.py"
    assert relative(location, "src/../b.py") == "b.py"
    assert relative(location, "a.py", str(made / "src")) == "src/a.py"
    assert relative(location, str(made)) == ""
    assert relative(location, str(made) + "-other/a.py") == ""
    assert relative(location, "../a.py") == ""
    assert relative(location, "/etc/passwd") == ""
    assert relative(location, "") == relative(location, "a\0b") == ""


def test_a_path_through_a_link_to_the_root_is_inside(ground: Ground) -> None:
    made = ground.repository("made")
    (ground.folder / "link").symlink_to(made)
    location = ground.workspace.locate(str(ground.folder / "link"))
    assert location.root == str(made)
    assert ground.workspace.relative(location, str(ground.folder / "link" / "new.py")) == "new.py"


def test_a_blob_is_what_git_says_it_is(ground: Ground) -> None:
    made = ground.repository("made")
    location = ground.workspace.locate(str(made))
    (made / "odd").write_bytes(b"\0\xff\r\nlines\r\n")
    for name in ("file0.txt", "odd"):
        expected = ground.git(made, "hash-object", "--no-filters", name)
        assert ground.workspace.blob(location, name) == "git1:" + expected


def test_what_is_no_readable_file_has_no_blob(ground: Ground) -> None:
    made = ground.repository("made")
    location = ground.workspace.locate(str(made))
    (made / "folder").mkdir()
    os.mkfifo(made / "pipe")
    (made / "huge").write_bytes(b"x" * (BLOB_LIMIT + 1))
    for name in ("missing", "folder", "pipe", "huge", "../made/file0.txt/..", "../gitconfig", "a\0b", ""):
        assert ground.workspace.blob(location, name) == ""


def test_existence_stays_within_the_root(ground: Ground) -> None:
    made = ground.repository("made")
    location = ground.workspace.locate(str(made))
    (made / "dangling").symlink_to("nowhere")
    exists = ground.workspace.exists
    assert exists(location, "file0.txt")
    assert exists(location, "dangling")
    assert not any(exists(location, name) for name in ("missing", "..", "../ground", "", "a\0b", "/etc"))


def test_changed_and_new_files_are_dirty(ground: Ground) -> None:
    made = ground.repository("made", commits=3)
    (made / "file0.txt").write_text("changed")
    (made / "naïve name.txt").write_text("new")
    (made / "folder").mkdir()
    (made / "folder" / "deep.txt").write_text("new")
    ground.git(made, "rm", "-q", "file1.txt")
    ground.git(made, "mv", "file2.txt", "moved.txt")
    dirty = ground.workspace.dirty(ground.workspace.locate(str(made)))
    assert set(dirty) == {"file0.txt", "file1.txt", "file2.txt", "moved.txt", "naïve name.txt", "folder/deep.txt"}


def test_nothing_is_dirty_without_git_or_an_answer(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    made = ground.repository("made")
    (made / "file0.txt").write_text("changed")
    location = ground.workspace.locate(str(made))
    monkeypatch.setenv("PATH", "/nowhere")
    assert ground.workspace.dirty(location) == ()
    (ground.folder / "plain").mkdir()
    assert ground.workspace.dirty(ground.workspace.locate(str(ground.folder / "plain"))) == ()


def test_asking_git_runs_no_program_that_the_repository_names(ground: Ground, tmp_path: Path) -> None:
    made = ground.repository("made")
    trap = tmp_path / "trap.sh"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    ground.git(made, "config", "core.fsmonitor", str(trap))
    (made / "file0.txt").write_text("changed")
    assert ground.workspace.dirty(ground.workspace.locate(str(made))) == ("file0.txt",)
    assert not (tmp_path / "sprung").exists()


def test_asking_git_leaves_no_child_and_no_open_file(ground: Ground) -> None:
    location = ground.workspace.locate(str(ground.repository("made")))
    before, others = len(os.listdir("/dev/fd")), children()
    for _ in range(20):
        ground.workspace.dirty(location)
    assert len(os.listdir("/dev/fd")) == before
    assert children() <= others


def children() -> set[int]:
    """This process's children, those that ended and nobody asked after among them; Linux tells."""
    return {int(pid) for listed in Path("/proc/self/task").glob("*/children") for pid in listed.read_text().split()}
