"""Plays the commands of docs/tutorials/first-steps.md and writes what they print at 80 columns under them.

python scripts/render_screens.py            writes the page
python scripts/render_screens.py --check    exit 1 when a command prints something else than the page says

Every line that begins with `$` in a `console` block is run, in order, in a scratch home with a copy of the example
repository. A comment before a block says what happens besides: `<!-- types: y, n -->` are the answers that somebody
types, `<!-- plays: sessions -->` a day of work in the example repository.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "tutorials" / "first-steps.md"
EXAMPLE = ROOT / "examples" / "ledger"
COLUMNS = 80
SHOWN_PYTHON = "~/.venv/bin/python"
BARS = ("━", "-:--:--")
"""In the lines of a progress bar, which goes when it is done: its line and its time."""
CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")
BLOCK = re.compile(r"((?:<!-- [a-z]+: .*? -->\n)*)```console\n(.*?)```", re.DOTALL)
COMMENT = re.compile(r"<!-- ([a-z]+): (.*?) -->")
ASKS = re.compile(rb"(\[[^\]\n]*\]: |\? help\r?\n)$")
"""The end of a question that waits for somebody to type."""
VARIABLE = (
    (re.compile(r"\b[0-9a-f]{8}\b"), "<id>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?: \d\d:\d\d(?::\d\d)?)?"), "<time>"),
    (re.compile(r"\b\d\d-\d\d \d\d:\d\d\b"), "<time>"),
    (re.compile(r"\b\d+ min\b"), "<span>"),
    (re.compile(r"\b[\d,.]+ (?:bytes|kB|MB|ms)\b"), "<size>"),
    (re.compile(r"Python [\d.]+\S*"), "Python <version>"),
    (re.compile(r"… +"), "… "),
    (re.compile(r"hooks:\s+(?:compiled|Python\s+alone:[\w\s]+?\s+machine)\b"), "hooks: <way>"),  # as the wheel has it
)
"""What differs from run to run."""


COMMITTED = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), "2026-03-02T08:00:00Z")
"""The repository is older than its sessions."""


class Stage:
    """A scratch home in which somebody has a repository and an agent with earlier sessions."""

    def __init__(self, scratch: Path) -> None:
        self.home = scratch
        self.folder = scratch / "ledger"
        shutil.copytree(EXAMPLE / "repository", self.folder)
        programs = scratch / ".programs"
        programs.mkdir()
        git = shutil.which("git")
        assert git, "git is not on the PATH"
        (programs / "git").symlink_to(git)
        program = programs / "holdfast"
        program.write_text(f'#!/bin/sh\nexec {sys.executable} -m holdfast "$@"\n')
        program.chmod(0o755)
        # Nothing but these two programs: agents that this machine has would be offered, too.
        self.env = {
            "HOME": str(scratch), "PATH": str(programs), "LANG": "C.UTF-8", "TERM": "xterm", "NO_COLOR": "1",
            "COLUMNS": str(COLUMNS), "LINES": "40", "HOLDFAST_HOLDOUT": "0", "PYTHONDONTWRITEBYTECODE": "1",
        }  # fmt: skip
        for command in (["init", "-q", "-b", "main"], ["add", "-A"], ["commit", "-q", "-m", "Split bills"]):
            author = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
            subprocess.run([git, *author, *command], cwd=self.folder, env=self.env | COMMITTED, check=True)
        earlier = scratch / ".claude" / "projects" / "-ledger" / "5d0c2f7e-0000-4000-8000-000000000001.jsonl"
        earlier.parent.mkdir(parents=True)
        text = (EXAMPLE / "session.jsonl").read_text(encoding="utf-8")
        earlier.write_text(text.replace("/home/ada/ledger", str(self.folder)), encoding="utf-8")
        self._edit_as_the_earlier_session_did()

    def run(self, command: str, answers: list[str]) -> str:
        """What the command prints on a terminal of 80 columns, with what is typed."""
        pid, screen = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve("/bin/sh", ["sh", "-c", command], self.env)
        fcntl.ioctl(screen, termios.TIOCSWINSZ, struct.pack("HHHH", 40, COLUMNS, 0, 0))
        printed, typed = b"", list(answers)
        with contextlib.suppress(OSError):  # Linux ends a terminal so
            while block := os.read(screen, 65536):
                printed += block
                if typed and ASKS.search(printed):
                    answer, is_key = typed.pop(0), not printed.endswith(b": ")
                    while is_key and termios.tcgetattr(screen)[3] & termios.ICANON:
                        time.sleep(0.01)  # a key typed before the program listens for keys is thrown away
                    os.write(screen, answer.encode() + (b"" if is_key else b"\n"))
        os.close(screen)
        os.waitpid(pid, 0)
        return self._plain(printed.decode("utf-8"))

    def play(self, what: str) -> None:
        """Later sessions, told to the hook program that setup registered; it has all the time it needs."""
        assert what == "sessions", what
        sys.path.insert(0, str(ROOT / "examples"))
        from demo import PACKAGE, WAITING, later_sessions

        entry = PACKAGE / "surfaces" / "hooks" / "entry.py"
        command = [sys.executable, "-I", "-S", "-c", WAITING, str(PACKAGE.parent), str(entry), "claude-code"]
        for _, payload in later_sessions(self.folder):
            typed = json.dumps(payload).encode()
            subprocess.run(command, input=typed, cwd=self.folder, env=self.env, capture_output=True, check=True)

    def _edit_as_the_earlier_session_did(self) -> None:
        sys.path.insert(0, str(ROOT / "examples"))
        from player import Player, load_story

        edits = [step for step in load_story(str(EXAMPLE))["first"] if "edit" in step]
        list(Player("", str(self.folder)).play(edits))

    def _plain(self, text: str) -> str:
        text = text.replace("\r\n", "\n").replace(str(self.home), "~").replace(sys.executable, SHOWN_PYTHON)
        pieces = text.replace("\r", "\n").split("\n")
        lines = (CODES.sub("", piece).rstrip() for piece in pieces if not any(bar in piece for bar in BARS))
        return "\n".join(lines).strip("\n")


def render(page: str, stage: Stage) -> str:
    """The page with what its commands print now."""
    made, at = [], 0
    for block in BLOCK.finditer(page):
        made.append(page[at : block.start(2)])
        comments = dict(COMMENT.findall(block[1]))
        if "plays" in comments:
            stage.play(comments["plays"])
        answers = [answer.strip() for answer in comments.get("types", "").split(",") if answer.strip()]
        for line in block[2].splitlines():
            if line.startswith("$ "):
                printed = stage.run(line[2:].partition("#")[0].strip(), answers)
                made.append(f"{line}\n{printed}\n" if printed else f"{line}\n")
        at = block.end(2)
    return "".join([*made, page[at:]])


def same(page: str) -> str:
    """The page with what differs from run to run, and line breaks, taken out."""
    for pattern, name in VARIABLE:
        page = pattern.sub(name, page)
    return " ".join(page.split())


def too_wide(page: str) -> list[str]:
    """Lines on screens that a terminal would break."""
    blocks = (block[2] for block in BLOCK.finditer(page))
    return [line for block in blocks for line in block.splitlines() if len(line) > COLUMNS]


@contextlib.contextmanager
def open_stage() -> Iterator[Stage]:
    """A stage that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="ada-", ignore_cleanup_errors=True) as scratch:
        yield Stage(Path(scratch).resolve())


if __name__ == "__main__":
    current = PAGE.read_text(encoding="utf-8")
    with open_stage() as opened:
        rendered = render(current, opened)
    if "--check" in sys.argv:
        sys.exit(same(rendered) != same(current))
    if same(rendered) != same(current):  # other ids and times alone are no news
        PAGE.write_text(rendered, encoding="utf-8")
