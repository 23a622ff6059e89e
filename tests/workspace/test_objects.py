"""Files of earlier commits, from one git process."""

from __future__ import annotations

import pytest

from holdfast.workspace import gitrun as objects
from holdfast.workspace.gitrun import GitObjects
from tests.workspace.conftest import Ground


def test_files_of_a_commit_are_read_whole_and_what_is_no_file_is_none(ground: Ground) -> None:
    folder = ground.repository("app")
    content = bytes(range(256)) * 1_000
    (folder / "data").mkdir()
    (folder / "data" / "a file.bin").write_bytes(content)
    (folder / "empty").write_bytes(b"")
    ground.git(folder, "add", "-A")
    ground.git(folder, "commit", "-q", "-m", "data")
    commit = ground.git(folder, "rev-parse", "HEAD")
    (folder / "empty").write_text("not any more")
    reader = GitObjects(str(folder), timeout_scale=20)
    assert reader.file(commit, "data/a file.bin") == content
    assert reader.file(commit, "empty") == b""
    assert [reader.file(commit, name) for name in ("data", "nothing", "a\nb", "a\0b", "../app/empty")] == [None] * 5
    assert reader.file("f" * 40, "empty") is None
    assert reader.file(commit + "^", "file0.txt") == b"app 0\n"


def test_a_file_over_the_limit_is_passed_over_and_the_next_one_is_read(
    ground: Ground, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = ground.repository("app")
    (folder / "big").write_bytes(b"x" * 200_000)
    ground.git(folder, "add", "-A")
    ground.git(folder, "commit", "-q", "-m", "big")
    monkeypatch.setattr(objects, "FILE_LIMIT", 100_000)
    reader = GitObjects(str(folder), timeout_scale=20)
    assert reader.file("HEAD", "big") is None
    assert reader.file("HEAD", "file0.txt") == b"app 0\n"


def test_a_git_that_has_ended_is_started_again(ground: Ground) -> None:
    folder = ground.repository("app", commits=3)
    reader = GitObjects(str(folder), timeout_scale=20)
    assert reader.file("HEAD", "file0.txt") == b"app 0\n"
    assert reader._process is not None
    reader._process.kill()
    reader._process.wait()
    assert reader.file("HEAD", "file1.txt") is None
    assert reader.file("HEAD", "file2.txt") == b"app 2\n"


def test_a_git_that_keeps_failing_or_is_slow_is_left_alone(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = ground.repository("app")
    monkeypatch.setattr(objects, "TIMEOUT_S", 0.0)  # nothing is that fast
    reader = GitObjects(str(folder), timeout_scale=20)
    assert [reader.file("HEAD", f"{number}") for number in range(objects.FAILURES_MOST)] == [None] * 3
    monkeypatch.setattr(objects, "TIMEOUT_S", 10.0)
    assert reader.file("HEAD", "file0.txt") is None


def test_more_than_the_memory_holds_is_read_again(ground: Ground, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = ground.repository("app", commits=3)
    monkeypatch.setattr(objects, "KEPT_BYTES", 10)
    reader = GitObjects(str(folder), timeout_scale=20)
    names = [f"file{number}.txt" for number in range(3)] * 2
    assert [reader.file("HEAD", name) for name in names] == [f"app {n}\n".encode() for n in (0, 1, 2, 0, 1, 2)]


def test_a_folder_without_git_has_no_objects(ground: Ground) -> None:
    (ground.folder / "plain").mkdir()
    assert GitObjects(str(ground.folder / "plain"), timeout_scale=20).file("HEAD", "a") is None
