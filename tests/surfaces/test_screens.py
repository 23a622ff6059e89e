"""What each command prints, as a person reviewed it: tests/golden/screens has one file a command.

Other tests compare reasons, states and JSON; the words are compared here. `make screens` writes the files anew.
"""

from __future__ import annotations

import os
import re
import shlex
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.domain.vocabulary import STATES
from holdfast.testing.builders import make_lesson
from tests.codebase import Codebase
from tests.surfaces.terminal import run

SCREENS = Path(__file__).parents[1] / "golden" / "screens"
SCRIPT = """
remember 'Round tides half to even, never half up.' --file src/store.py --symbol Store.put --why 'Pilots add them up.'
remember 'Use uv, never pip.' --kind tooling --tag python
remember 'Never log a pilot by name.' --kind constraint
remember 'Use pip, never uv.' --kind tooling
recall 'how do I round tides'
recall --path src/store.py
recall zebra
list
list --state candidate
show FIRST
why FIRST
review --list
status
stats
brief
checkpoint save --task 'Move the piers' --goal 'Every pier has a pilot' --next 'Ask the pilots'
checkpoint show
checkpoint list
verify
diff FIRST
confirm FIRST
history FIRST
feedback FIRST helped
revise FIRST --insight 'Round tides half up.'
edit SECOND --standing
log
log --changes
learn
check
forget SECOND
undo
export --format markdown
share --dry-run --all
sync
staged
rules status
rules show
project show
index
uninstall
import nowhere.jsonl
backup
recall --nope
nope
"""
"""Commands of one afternoon in one project. Each line is a screen; FIRST and SECOND are the first lessons' ids."""
VARIABLE = (
    (re.compile(r"\b[0-9a-f]{8}-[0-9a-f-]{27}\b|\b[0-9a-f]{40}\b|\b[0-9a-f]{32}\b"), "<id>"),
    (re.compile(r"\b[0-9a-f]{16}\b"), "<id>"),
    (re.compile(r"\b\d{4}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d)?Z?)?"), "<time>"),
    (re.compile(r"\b\d\d-\d\d \d\d:\d\d\b"), "<time>"),
    (re.compile(r"\b[\d,.]+ (?:bytes|kB|MB|GB|ms|s|min)\b"), "<size>"),
    (re.compile(r"\b0\.\d{2,}\b"), "<share>"),
    (re.compile(r"Python [\d.]+\S*|SQLite [\d.]+|git version \S+"), "<version>"),
    (re.compile(r"[ \t]+$", re.MULTILINE), ""),
    (re.compile(r" {2,}"), "  "),
)
"""What differs from run to run."""


def play(code: Codebase, outside: Path) -> dict[str, str]:
    """The screens of each command: `$`, what was typed, what came out, and the exit code where it is not 0."""
    screens: dict[str, str] = {}
    ids: dict[str, str] = {}
    with Memory(str(code.folder)) as memory:
        lesson = make_lesson(project=memory.location.project.id, state="candidate", insight="Oil the crane on Mondays.")
        memory.services.store.put([lesson], {})
    for line in SCRIPT.strip().splitlines():
        done = run(*(ids.get(word, word) for word in shlex.split(line)))
        if not ids.get("SECOND"):
            with Memory(str(code.folder)) as memory:
                stated = sorted(memory.lessons(), key=lambda lesson: lesson.recorded_at)
            ids = dict(zip(("FIRST", "SECOND"), (lesson.id[-8:] for lesson in stated), strict=False))
        with Memory(str(code.folder)) as memory:
            known = memory.lessons(states=STATES)
        code_line = f"(exit {done.exit_code})\n" if done.exit_code else ""
        text = f"$ holdfast {line}\n{done.output}{code_line}\n".replace(str(outside), "~")
        for lesson in known:
            text = re.sub("|".join(rf"\b{lesson.id[-length:]}\b" for length in (36, 8, 7, 6, 5)), "<id>", text)
        text = re.sub(rf"\b{code.git('rev-parse', 'HEAD')[:7]}[0-9a-f]*\b", "<commit>", text)
        for pattern, replacement in VARIABLE:
            text = pattern.sub(replacement, text)
        name = line.split()[0]
        screens[name] = screens.get(name, "") + text
    return screens


def test_each_command_prints_what_was_reviewed(code: Codebase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(code.folder)
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setenv("COLUMNS", "100")
    screens = play(code, tmp_path)
    if os.environ.get("HOLDFAST_WRITE_SCREENS"):
        SCREENS.mkdir(exist_ok=True)
        for name, text in screens.items():
            (SCREENS / f"{name}.txt").write_text(text, "utf-8")
    assert {name: (SCREENS / f"{name}.txt").read_text("utf-8") for name in screens} == screens
