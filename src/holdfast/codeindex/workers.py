"""Runs processes that outline files for a first index, since parsing keeps only one core busy.

A worker is a plain child process. It reads pickled jobs from stdin and writes pickled outlines to stdout, one for one.
It ends when its stdin is closed, so none outlives its parent. `multiprocessing` is not used, since it would run the
caller's script again.
"""

from __future__ import annotations

import os
import pickle
import select
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator
from typing import IO, Self, TypeVar

from holdfast.domain.symbol import Outline

T = TypeVar("T")
Job = list[tuple[str, bytes, str]]

MOST = 8
"""Most workers of one refresh."""
FILES_EACH = 200
"""Files to parse from which one more worker is worth its start."""
START = "import sys; sys.path[:] = sys.argv[1:]; from holdfast.codeindex.workers import serve; serve()"


def worth(files: int) -> int:
    """Return how many workers to use for so many files; 0 if parsing in this process is as quick."""
    if not hasattr(os, "posix_spawn"):  # on Windows select cannot wait for pipes
        return 0
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = min(MOST, cores, files // FILES_EACH)
    return count if count > 1 else 0


class Workers:
    """A number of workers. Raises OSError if they cannot be started or one of them dies."""

    def __init__(self, count: int) -> None:
        # -I, because the current folder may be untrusted; it drops sys.path entries, so they are passed on.
        folders = [folder for folder in sys.path if os.path.isabs(folder)]
        command = [sys.executable, "-I", "-c", START, *folders]
        self._idle: list[subprocess.Popen[bytes]] = []
        try:
            for _ in range(count):
                self._idle.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=os.sep))
        except OSError:
            self._end(self._idle)
            raise
        self._all = tuple(self._idle)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self._end(self._all)

    def run(self, jobs: Iterable[tuple[T, Job]]) -> Iterator[tuple[T, list[Outline]]]:
        """Yield each job's companion value and outlines, as they become ready; a job is taken when a worker is free."""
        busy: dict[subprocess.Popen[bytes], T] = {}
        for what, job in jobs:
            if not self._idle:
                yield self._next(busy)
            worker = self._idle.pop()
            busy[worker] = what
            assert worker.stdin is not None
            write(worker.stdin, job)
        while busy:
            yield self._next(busy)

    def _next(self, busy: dict[subprocess.Popen[bytes], T]) -> tuple[T, list[Outline]]:
        by_pipe = {worker.stdout: worker for worker in busy if worker.stdout is not None}
        stdout = select.select(list(by_pipe), [], [])[0][0]
        worker = by_pipe[stdout]
        try:
            outlines: list[Outline] = pickle.load(stdout)
        except (EOFError, pickle.UnpicklingError) as exc:
            raise OSError("a worker died") from exc
        self._idle.append(worker)
        return busy.pop(worker), outlines

    @staticmethod
    def _end(workers: Iterable[subprocess.Popen[bytes]]) -> None:
        for worker in workers:
            worker.kill()  # it holds no data that could be lost
            worker.communicate()


def serve() -> None:
    """Run a worker until its stdin is closed."""
    from holdfast.codeindex.refresh import outline_for_index

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # an interrupt is for the parent, which then ends this worker
    out = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # a library's output must not get between the answers
    while True:
        try:
            job: Job = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        write(out, [outline_for_index(*file) for file in job])


def write(stream: IO[bytes], value: object) -> None:
    """Write one value completely. Raises OSError if the reader is gone."""
    pickle.dump(value, stream, protocol=5)
    stream.flush()
