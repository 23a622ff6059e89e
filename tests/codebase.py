"""A small code base under git in a scratch folder: written, committed, branched as a test needs it."""

from __future__ import annotations

import os
import subprocess
from datetime import datetime
from pathlib import Path
from textwrap import dedent

STORE = '''
    """Rows by key."""

    LIMIT = 3


    class Store:
        def put(self, key, value):
            """Keep a value."""
            self.rows[key] = value
            return self.rows[key]

        def get(self, key):
            return self.rows.get(key)


    def doubled(a, b):
        total = a + b
        return total * 2
'''


class Codebase:
    """A project's folder, a git repository from the start."""

    def __init__(self, folder: Path, *, git: bool = True) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        if git:
            self.git("init", "-q", "-b", "main")
        self.write("src/store.py", STORE)
        self.write("README.md", "# harbour\n")
        if git:
            self.commit("begin")

    def git(self, *arguments: str, at: datetime | None = None) -> str:
        """What git prints; `at` is the time that it writes into commits and reflogs."""
        env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        env |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        dates = ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE") if at else ()
        env |= {name: at.isoformat() for name in dates if at}
        who = ("-c", "user.name=Ada", "-c", "user.email=ada@example.com")
        ran = subprocess.run(
            ["git", *who, *arguments], cwd=self.folder, env=env, check=True, capture_output=True, text=True
        )
        return ran.stdout.strip()

    def commit(self, message: str = "work", at: datetime | None = None) -> str:
        """Everything as it is, committed; the commit's id."""
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message, at=at)
        return self.git("rev-parse", "HEAD")

    def write(self, path: str, text: str) -> None:
        """A file with that text, without its common indentation."""
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(dedent(text).lstrip("\n"))

    def edit(self, path: str, old: str, new: str) -> None:
        """Replace the one occurrence of a text in a file."""
        file = self.folder / path
        text = file.read_text()
        assert text.count(old) == 1, f"{old!r} is {text.count(old)} times in {path}"
        file.write_text(text.replace(old, new))

    def move_definition(self, name: str, source: str, target: str) -> None:
        """Cut the last definition of a file, which has that name, and put it into another file."""
        file = self.folder / source
        text = file.read_text()
        at = text.index(f"def {name}(")
        file.write_text(text[:at].rstrip() + "\n")
        self.write(target, text[at:])
