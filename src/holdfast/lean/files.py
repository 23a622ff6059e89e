"""Files that several processes share: atomic writes, and a lock."""

from __future__ import annotations

import os
import time

PRIVATE = 0o600
FIRST_NAP_S = 0.000_2
"""Seconds of the first nap before a lock is asked for again."""


def write_whole(path: str, content: bytes, mode: int | None = PRIVATE, *, durable: bool = False) -> None:
    """Replace the file in one step: a reader sees the old content or the new one. On OSError nothing has changed.

    `mode` is the file's mode; None leaves it to the umask (0666). `durable` flushes the content to the disk before the
    file gets its name. A link at `path` is replaced, not followed.
    """
    # The name is hidden, so that nobody who lists the folder takes the draft for a file. It is random, so that another
    # thread's draft, or a link from a clone, is never in the way.
    draft = os.path.join(os.path.dirname(path), f".holdfast-{os.urandom(6).hex()}")
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_CLOEXEC", 0)
    descriptor = os.open(draft, flags, 0o666 if mode is None else PRIVATE)
    try:
        with open(descriptor, "wb") as stream:
            stream.write(content)
            if durable:
                stream.flush()
                os.fsync(descriptor)
        if mode not in (None, PRIVATE):
            os.chmod(draft, mode)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise


LESSON_FOLDER = (".holdfast", "lessons")
MOST_COUNTED = 10_000


def count_lesson_files(root: str) -> int:
    """Return how many files of lessons a work tree brings; links are not followed, and MOST_COUNTED are enough."""
    folder = os.path.join(root, *LESSON_FOLDER)
    if os.path.islink(folder) or os.path.islink(os.path.dirname(folder)):
        return 0
    count = 0
    for _, _, names in os.walk(folder):
        count += sum(name.endswith(".md") and name not in ("index.md", "log.md") for name in names)
        if count >= MOST_COUNTED:
            return MOST_COUNTED
    return count


class FileLock:
    """A lock on a separate file, which is created; it has one holder at a time, in this process and in others.

    The lock ends with the process, however that ends. On a system without locks every caller gets it.
    """

    def __init__(self, path: str) -> None:
        self._path = path
        self._descriptor = -1
        self._is_held = False

    def take(self, wait_s: float, longest_nap_s: float) -> bool:
        """Take the lock, trying repeatedly for `wait_s`; return False when another process still holds it.

        The naps between attempts double, up to `longest_nap_s`. Raises OSError.
        """
        if self._descriptor < 0:
            flags = os.O_CREAT | os.O_RDWR | getattr(os, "O_CLOEXEC", 0)
            self._descriptor = os.open(self._path, flags, PRIVATE)
        deadline, nap_s = time.monotonic() + wait_s, FIRST_NAP_S
        while not _try_lock(self._descriptor):
            if time.monotonic() >= deadline:
                return False
            time.sleep(nap_s)
            nap_s = min(longest_nap_s, nap_s * 2)
        self._is_held = True
        return True

    def release(self) -> None:
        """Release the lock and keep the file open for the next time."""
        if self._is_held:
            self._is_held = False
            _unlock(self._descriptor)

    def close(self) -> None:
        """Close the file, which releases the lock."""
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor, self._is_held = -1, False


try:
    from fcntl import LOCK_EX, LOCK_NB, LOCK_UN, flock

    def _lock(descriptor: int) -> None:
        flock(descriptor, LOCK_EX | LOCK_NB)

    def _unlock(descriptor: int) -> None:
        flock(descriptor, LOCK_UN)

except ImportError:

    def _lock(descriptor: int) -> None:
        _lock_first_byte(descriptor, "LK_NBLCK")

    def _unlock(descriptor: int) -> None:
        _lock_first_byte(descriptor, "LK_UNLCK")


def _lock_first_byte(descriptor: int, mode: str) -> None:
    try:
        import msvcrt
    except ImportError:  # neither Unix nor Windows
        return
    msvcrt.locking(descriptor, getattr(msvcrt, mode), 1)  # type: ignore[attr-defined]


def _try_lock(descriptor: int) -> bool:
    try:
        _lock(descriptor)
    except (BlockingIOError, PermissionError):  # Windows raises the second
        return False
    return True
