"""The command line as tests use it: in process through click's runner, or as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from click.testing import CliRunner, Result

from holdfast.surfaces.cli.main import cli


def run(*arguments: str, typed: str | bytes | None = None) -> Result:
    """The command's result, whatever it is."""
    return CliRunner().invoke(cli, list(arguments), input=typed)


def told(*arguments: str, typed: str | bytes | None = None) -> str:
    """What the command prints on stdout; it must succeed."""
    result = run(*arguments, typed=typed)
    assert result.exit_code == 0, result.output
    return result.stdout


def told_json(*arguments: str, typed: str | bytes | None = None) -> Any:
    """What the command prints with --json; it must succeed."""
    return json.loads(told(*arguments, "--json", typed=typed))


def start(*arguments: str, typed: bytes = b"", cwd: Path | None = None, **env: str) -> subprocess.CompletedProcess[str]:
    """The command as a process; `env` is added to ours."""
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", *arguments],
        input=typed,
        capture_output=True,
        cwd=cwd,
        env={**os.environ, **env},
        timeout=180,
        check=False,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8")
    )
