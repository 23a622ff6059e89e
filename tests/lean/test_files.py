from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast.lean.files import FileLock, write_whole

WRITER = """
import sys
from holdfast.lean.files import write_whole
path, letter = sys.argv[1:]
print("ready", flush=True)
sys.stdin.readline()
for _ in range(300):
    write_whole(path, letter.encode() * 20_000)
"""

HOLDER = """
import sys
from holdfast.lean.files import FileLock
lock = FileLock(sys.argv[1])
print(lock.take(0, 0.01), flush=True)
sys.stdin.readline()
"""
WITHOUT_FCNTL = """
import sys
class msvcrt:
    LK_NBLCK, LK_UNLCK = 2, 0
    held = set()
    @classmethod
    def locking(cls, descriptor, mode, size):
        import os
        file = os.fstat(descriptor).st_ino
        if (file in cls.held) == (mode == cls.LK_NBLCK):
            raise PermissionError(13, "Permission denied")
        (cls.held.add if mode == cls.LK_NBLCK else cls.held.remove)(file)
sys.modules["fcntl"] = None
sys.modules["msvcrt"] = msvcrt if sys.argv[2] == "windows" else None
from holdfast.lean.files import FileLock
first, second = FileLock(sys.argv[1]), FileLock(sys.argv[1])
answers = [first.take(0, 0.01), second.take(0, 0.01)]
second.release()
first.release()
print(*answers, second.take(0, 0.01))
"""


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Let writing beyond that many bytes fail, as it does on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("durable", [False, True])
def test_a_full_disk_leaves_the_old_file_and_no_draft(tmp_path: Path, durable: bool) -> None:
    path = tmp_path / "kept"
    path.write_bytes(b"old")
    with files_of_at_most(100), pytest.raises(OSError, match="too large"):
        write_whole(str(path), b"n" * 5_000, durable=durable)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["kept"]


def test_what_cannot_be_replaced_is_left_and_no_draft_stays(tmp_path: Path) -> None:
    (tmp_path / "kept" / "inner").mkdir(parents=True)
    with pytest.raises(IsADirectoryError):
        write_whole(str(tmp_path / "kept"), b"new")
    assert sorted(path.name for path in tmp_path.rglob("*")) == ["inner", "kept"]


@pytest.mark.skipif(os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_read_only_folder_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "kept"
    path.write_bytes(b"old")
    tmp_path.chmod(0o500)
    try:
        with pytest.raises(PermissionError):
            write_whole(str(path), b"new")
    finally:
        tmp_path.chmod(0o700)
    assert path.read_bytes() == b"old"


def test_a_reader_sees_one_writers_file_whole_while_two_processes_write(tmp_path: Path) -> None:
    path = tmp_path / "shared"
    path.write_bytes(b"a" * 20_000)
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), letter], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )
        for letter in "ab"
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write(b"\n")
        writer.stdin.flush()
    seen = set()
    while any(writer.poll() is None for writer in writers):
        seen.add(path.read_bytes())
    for writer in writers:
        writer.communicate()
    assert [writer.returncode for writer in writers] == [0, 0]
    assert seen <= {b"a" * 20_000, b"b" * 20_000}
    assert os.listdir(tmp_path) == ["shared"]


@pytest.mark.parametrize(("mode", "expected"), [(0o600, 0o600), (0o664, 0o664), (0o755, 0o755), (None, 0o640)])
def test_a_file_gets_the_mode_that_is_requested_or_what_the_umask_leaves(
    tmp_path: Path, mode: int | None, expected: int
) -> None:
    before = os.umask(0o027)
    try:
        write_whole(str(tmp_path / "new"), b"", mode)
    finally:
        os.umask(before)
    assert (tmp_path / "new").stat().st_mode & 0o7777 == expected


def test_a_link_is_replaced_and_what_it_leads_to_is_left(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").write_bytes(b"old")
    (tmp_path / "link").symlink_to("elsewhere")
    write_whole(str(tmp_path / "link"), b"new")
    assert (tmp_path / "elsewhere").read_bytes() == b"old"
    assert (tmp_path / "link").read_bytes() == b"new"
    assert not (tmp_path / "link").is_symlink()


def test_a_lock_has_one_holder_and_is_free_when_it_is_given_back(tmp_path: Path) -> None:
    first, second = FileLock(str(tmp_path / "lock")), FileLock(str(tmp_path / "lock"))
    assert first.take(0, 0.01)
    assert not second.take(0.02, 0.01)
    second.release()  # what was not taken is not given back
    assert not second.take(0, 0.01)
    first.release()
    assert second.take(0, 0.01)
    second.close()
    assert first.take(0, 0.01)
    first.close()


def test_a_lock_ends_with_the_process_that_holds_it(tmp_path: Path) -> None:
    path = str(tmp_path / "lock")
    lock = FileLock(path)
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER, path], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"True\n"
        assert not lock.take(0, 0.01)
        holder.kill()
    assert lock.take(0, 0.01)
    lock.close()


@pytest.mark.parametrize(("system", "answers"), [("windows", "True False True"), ("another", "True True True")])
def test_a_lock_is_windows_own_there_and_keeps_nobody_out_where_there_are_none(
    tmp_path: Path, system: str, answers: str
) -> None:
    command = [sys.executable, "-c", WITHOUT_FCNTL, str(tmp_path / "lock"), system]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout.split() == answers.split()
