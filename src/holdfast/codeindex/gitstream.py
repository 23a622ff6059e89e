"""Reads git's output record by record, so that a long history is never in memory as a whole."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator, Sequence

from holdfast.lean.gitsafety import SAFE_OPTIONS, UNTRUSTED, git_program, safe_environment

CHUNK = 262_144
"""Bytes of git's answer that are read at once."""


def iter_records(folder: str, arguments: Sequence[str]) -> Iterator[str]:
    """Yield the NUL-terminated records of git's output. Raises OSError if git is missing or fails.

    Bytes that are not UTF-8 become lone surrogates, as in file names.
    """
    program = git_program(os.environ.get("PATH", ""), os.path.isfile, os.name == "nt")
    command = [program, "-C", folder, *SAFE_OPTIONS, *UNTRUSTED, *arguments]
    calm = safe_environment(os.environ)
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=calm,
        creationflags=getattr(subprocess, "CREATE_NO_WINDOW", 0),
    ) as git:  # fmt: skip
        assert git.stdout is not None
        try:
            rest = b""
            while chunk := git.stdout.read(CHUNK):
                *whole, rest = (rest + chunk).split(b"\0")
                yield from map(os.fsdecode, whole)
            if rest:
                yield os.fsdecode(rest)
        except GeneratorExit:
            git.kill()
            raise
    if git.returncode:
        raise OSError(f"git {arguments[0]} failed in {folder} with status {git.returncode}")
