"""The one tool of the example agents: a shell command, with what the memory knows of it."""

from __future__ import annotations

import subprocess

from holdfast.client.session import Session

MODEL = "example-model"
DESCRIPTION = "Run a shell command in the project's folder."
PARAMETERS = {"type": "object", "properties": {"command": {"type": "string"}}, "required": ["command"]}


def run(session: Session, command: str) -> str:
    """Return the command's output, between what is known before it and what is known of its failure."""
    known = session.before_command(command)
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    output = done.stdout + done.stderr
    known_of_failure = session.command(command, output, done.returncode)
    return "\n".join(filter(None, (known, output, known_of_failure)))
