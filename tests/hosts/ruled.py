"""A project with lessons about two folders, and the rules files that one host is given there."""

from __future__ import annotations

import json
import re
from pathlib import Path

from click.testing import CliRunner

from holdfast import plugins
from holdfast.surfaces.cli.main import cli
from holdfast.wiring import load_host
from tests.codebase import Codebase
from tests.hosts.golden import folder_of

HOSTS = [name for module in plugins.names("hosts") if load_host(name := module.replace("_", "-")).profile.rules]
"""Those that read rules files in a project."""
LESSONS: tuple[tuple[str, ...], ...] = (
    ("Amounts are whole cents, never floats.", "--kind", "constraint", "--why", "Sums drifted"),
    ("Rows are shared: copy before a change.", "--file", "src/store.py::Store.put"),
    ("get answers None for a key that is not there.", "--file", "src/store.py::Store.get", "--kind", "decision"),
    ("Buttons come from the kit.", "--file", "web/button.ts"),
)


class Ruled:
    """The project, and a home of its own."""

    def __init__(self, folder: Path) -> None:
        self.env = {"HOME": str(folder), "HOLDFAST_HOME": str(folder / ".holdfast"), "HOLDFAST_HOLDOUT": "0"}
        self.code = Codebase(folder / "harbour")
        self.code.write("web/button.ts", "export const button = 1\n")
        for name in ("AGENTS.md", "GEMINI.md", "CONVENTIONS.md"):
            (self.code.folder / name).write_bytes(f"# {name}\r\nKeep to the left.".encode())
        self.code.commit()
        self.ids: list[str] = []
        for lesson in LESSONS:
            self.ids.append(json.loads(self.run("remember", *lesson, "--json"))["id"])

    def run(self, *arguments: str) -> str:
        """What the command prints, run in the project."""
        name, *rest = arguments
        result = CliRunner().invoke(cli, ["-C", str(self.code.folder), name, *rest], env=self.env)
        assert result.exit_code == 0, result.output
        return result.stdout

    def files(self) -> dict[str, bytes]:
        """Every file of the project but git's own."""
        root = self.code.folder
        return {
            path.relative_to(root).as_posix(): path.read_bytes()
            for path in sorted(root.rglob("*"))
            if path.is_file() and ".git" not in path.parts
        }

    def written(self, before: dict[str, bytes]) -> str:
        """The files that differ, with their names, and lessons' ids by number."""
        texts = [
            f"==> {name} <==\n{content.decode()}"
            for name, content in self.files().items()
            if before.get(name) != content
        ]
        text = "\n".join(texts)
        for number, lesson in enumerate(self.ids, start=1):
            text = text.replace(lesson[-8:], f"lesson-{number}")
        return text


def golden(host: str) -> Path:
    """The file with what the host is given."""
    return folder_of(host.replace("-", "_")) / "rules.txt"


def made(host: str, folder: Path) -> str:
    """What the host is given in a project made in that folder."""
    ruled = Ruled(folder)
    before = ruled.files()
    ruled.run("rules", "sync", "--host", host)
    return ruled.written(before)


def titles(text: str) -> list[str]:
    """The names of the files in a golden text."""
    return re.findall(r"^==> (.*) <==$", text, re.MULTILINE)
