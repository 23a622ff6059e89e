"""`holdfast merge-driver`: merge two revisions of one lesson's file, for git."""

from __future__ import annotations

import os
import subprocess

import click

from holdfast.lean.gitsafety import git_program, safe_environment
from holdfast.publishing.lessonfile import FILE_LIMIT, merge_files
from holdfast.surfaces.cli.call import examples, note


@click.command("merge-driver", epilog=examples("holdfast merge-driver %O %A %B"))
@click.argument("base", type=click.Path(exists=True, dir_okay=False))
@click.argument("ours", type=click.Path(exists=True, dir_okay=False, writable=True))
@click.argument("theirs", type=click.Path(exists=True, dir_okay=False))
def command(base: str, ours: str, theirs: str) -> int:
    """Merge THEIRS into OURS, field by field; BASE is their common ancestor.

    If both sides changed the rule, both rules are kept: the next sync makes two lessons of them, which contradict each
    other. Files that are not lessons are merged as text; if that leaves conflict markers, the exit code is 1.
    """
    merged = merge_files("", *(_read(file) for file in (base, ours, theirs)))
    if merged is not None:
        with open(ours, "w", encoding="utf-8", newline="\n") as stream:
            stream.write(merged)
        return 0
    note("not two revisions of one lesson; merged as text")
    program = git_program(os.environ.get("PATH", ""), os.path.isfile, os.name == "nt")
    done = subprocess.run(
        [program, "merge-file", "-L", "ours", "-L", "base", "-L", "theirs", ours, base, theirs],
        env=safe_environment(os.environ), check=False,
    )  # fmt: skip
    return min(done.returncode, 1) if done.returncode >= 0 else 1


def _read(file: str) -> bytes:
    """The file's bytes, of one too large for a lesson's just so many that it is refused."""
    with open(file, "rb") as stream:
        return stream.read(FILE_LIMIT + 1)
