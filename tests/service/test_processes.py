"""Several processes on one memory at once, some of them killed: nothing is lost, nothing is kept twice."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.domain.records import Change
from holdfast.freshness.notice import load_states
from holdfast.ports.store import LessonFilter, LogFilter

pytestmark = pytest.mark.needs_processes("several processes share the store")

READY = "print('ready', flush=True)\nsys.stdin.readline()\n"
NOTE = """
import sys
from holdfast import Memory
from holdfast.freshness.notice import keep_states
with Memory(sys.argv[1]) as memory:
    place = memory.location
    {ready}
    for number in range(60):
        keep_states(memory.services, place, {{f"{{sys.argv[2]}}-{{number}}": "drifted"}}, by=sys.argv[2])
"""
STATE = """
import sys
from holdfast import Memory
with Memory(sys.argv[1]) as memory:
    memory.location
    {ready}
    for number in range(25):
        memory.remember(f"Rule {{number}}: berth {{number}} is for pilots", tags=[sys.argv[2]])
"""
LEARN = """
import sys
from holdfast import Memory
from holdfast.domain.candidate import Candidate
from holdfast.learning.learn import admit
with Memory(sys.argv[1]) as memory:
    place = memory.location
    {ready}
    for number in range(25):
        candidate = Candidate(
            kind="constraint", title=f"Berth {{number}}", insight=f"Rule {{number}}: berth {{number}} is for pilots",
            detector="test/1", confidence=0.9, trust="person", explicit=True, evidence=(),
        )
        admit(memory.services, place, [candidate], sys.argv[2], "claude-code")
"""
IMPORT = """
import sys
from holdfast import Memory
with Memory(sys.argv[1]) as memory:
    memory.location
    {ready}
    lines = ['{{"kind":"constraint","insight":"Rule %d: berth %d is for pilots"}}' % (n, n) for n in range(25)]
    memory.import_lessons(lines)
"""
WRITE = """
import sys
from holdfast import Memory
with Memory(sys.argv[1]) as memory:
    print("ready", flush=True)
    for number in range(100_000):
        lesson = memory.remember(f"{{sys.argv[2]}} says {{number}}")
        if number % 3 == 0:
            memory.revise(lesson.id, why="measured")
        print(lesson.id, flush=True)
"""


def start(code: str, project: Path, name: str) -> subprocess.Popen[str]:
    program = code.format(ready=READY.replace("\n", "\n    "))
    arguments = [sys.executable, "-c", program, str(project), name]
    return subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def run_at_once(code: str, project: Path, count: int = 3) -> None:
    """Run the code in so many processes that begin together."""
    running = [start(code, project, f"writer{number}") for number in range(count)]
    for writer in running:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in running:
        assert writer.stdin is not None
        writer.stdin.write("\n")
        writer.stdin.flush()
    for writer in running:
        writer.communicate()
        assert writer.returncode == 0


def test_what_three_processes_notice_at_once_is_all_stored(memory: Memory, project: Path) -> None:
    run_at_once(NOTE, project)
    assert len(load_states(memory.services, memory.location)) == 180


@pytest.mark.parametrize("code", [STATE, LEARN, IMPORT], ids=["remember", "learn", "import"])
def test_rules_that_three_processes_state_at_once_are_stored_once(memory: Memory, project: Path, code: str) -> None:
    run_at_once(code, project)
    lessons = memory.services.store.find(LessonFilter(project=memory.location.project.id))
    assert sorted(lesson.insight for lesson in lessons) == sorted(
        f"Rule {number}: berth {number} is for pilots" for number in range(25)
    )


def test_every_lesson_of_killed_writers_has_its_change(memory: Memory, project: Path) -> None:
    acknowledged: set[str] = set()
    for turn in range(6):
        victims = [start(WRITE, project, f"victim{turn}{number}") for number in range(2)]
        for victim in victims:
            assert victim.stdout is not None
            for _ in range(4 + turn):
                victim.stdout.readline()
        for victim in victims:
            victim.send_signal(signal.SIGKILL)
            lines = victim.communicate()[0].splitlines()
            acknowledged |= {line for line in lines if len(line) == 36}
    store = memory.services.store
    lessons = store.find(LessonFilter(project=memory.location.project.id, states=("active", "superseded")))
    assert acknowledged <= {lesson.id for lesson in lessons}
    without = [lesson.id for lesson in lessons if not store.find_records(Change, LogFilter(lesson=lesson.id))]
    assert without == []
    assert store.check() == []
