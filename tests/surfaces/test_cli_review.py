"""The inbox, walked by a person at a real terminal."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Evidence, Provenance
from holdfast.domain.vocabulary import EventId, SessionId
from holdfast.surfaces.cli.review import _parse_sheet, _sheet
from holdfast.testing.builders import START, make_event, make_lesson

HOUR = timedelta(hours=1)
PROMPT = b"q quit"
PATIENCE_S = 120.0


class Person:
    """Somebody who reads a terminal and types keys."""

    def __init__(self, *arguments: str) -> None:
        self.ours, theirs = pty.openpty()
        command = [sys.executable, "-m", "holdfast", *arguments]
        self.process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True)
        os.close(theirs)
        self.seen = b""

    def read_until(self, words: bytes) -> bytes:
        """What came since the last look, up to those words."""
        deadline = time.monotonic() + PATIENCE_S
        while words not in self.seen:
            more = self._read(deadline)
            assert more, f"waited for {words!r}, got {self.seen!r}"
            self.seen += more
        part, _, self.seen = self.seen.partition(words)
        return part

    def type(self, key: str) -> None:
        """One key, once the program listens: what is typed before is thrown away, as it should be."""
        deadline = time.monotonic() + PATIENCE_S
        while termios.tcgetattr(self.ours)[3] & termios.ICANON:
            assert time.monotonic() < deadline, f"nobody listens: {self.seen!r}"
            time.sleep(0.01)
        os.write(self.ours, key.encode())

    def leave(self) -> tuple[int, bytes]:
        """Exit code and the rest of the output."""
        deadline = time.monotonic() + PATIENCE_S
        while more := self._read(deadline):
            self.seen += more
        return self.process.wait(PATIENCE_S), self.seen

    def gone(self) -> None:
        """Whatever happened, nothing of it stays."""
        self.process.kill()
        self.process.wait(PATIENCE_S)
        os.close(self.ours)

    def _read(self, deadline: float) -> bytes:
        ready, _, _ = select.select([self.ours], [], [], max(0.0, deadline - time.monotonic()))
        assert ready, f"nothing more came after {self.seen!r}"
        try:
            return os.read(self.ours, 65_536)
        except OSError:  # Linux says so when the other side is closed
            return b""


Come = Callable[..., Person]


@pytest.fixture
def come() -> Iterator[Callable[..., Person]]:
    """Brings a person to a command; takes them away after the test."""
    people: list[Person] = []

    def bring(*arguments: str) -> Person:
        people.append(Person(*arguments))
        return people[-1]

    yield bring
    for person in people:
        person.gone()


@pytest.fixture
def waiting(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Four lessons that wait, most promising first."""
    folder = tmp_path / "harbour"
    folder.mkdir()
    monkeypatch.chdir(folder)
    source = Provenance(detector="correction/1", evidence=(Evidence(event=EventId("e"), quote="no, use the pump"),))
    with Memory(str(folder)) as memory:
        lessons = [
            replace(
                make_lesson(project=memory.location.project.id, insight=f"Rule {name}", state="candidate"),
                confidence=sure,
                provenance=source,
            )
            for name, sure in (("alpha", 0.9), ("beta", 0.8), ("gamma", 0.7), ("delta", 0.6))
        ]
        memory.services.store.put(lessons, {})
    return [lesson.id for lesson in lessons]


def test_accept_edit_reject_and_later(
    waiting: list[str], come: Come, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    editor = tmp_path / "editor"
    editor.write_text(f"#!{sys.executable}\nimport sys\np = sys.argv[1]\n"
                      "t = open(p).read().replace('Rule beta', 'Better beta')\nopen(p, 'w').write(t)\n")  # fmt: skip
    editor.chmod(0o755)
    monkeypatch.setenv("EDITOR", str(editor))
    monkeypatch.delenv("VISUAL", raising=False)
    person = come("review")
    first = person.read_until(PROMPT).decode()
    assert "1 of 4" in first
    assert "Rule alpha" in first
    assert '"no, use the pump"' in first
    person.type("x")  # a wrong key asks again
    person.read_until(PROMPT)
    person.type("a")
    assert b"Rule beta" in person.read_until(PROMPT)
    person.type("e")
    assert b"Rule gamma" in person.read_until(PROMPT)
    person.type("r")
    assert b"Rule delta" in person.read_until(PROMPT)
    person.type("l")
    code, rest = person.leave()
    assert code == 0
    assert b"1 accepted, 1 edited, 1 rejected, 1 later" in rest
    with Memory() as memory:
        states = {lesson.insight: lesson.state for lesson in memory.lessons(states=())}
    assert states == {
        "Rule alpha": "active", "Rule beta": "superseded", "Better beta": "active", "Rule gamma": "retired",
        "Rule delta": "candidate",
    }  # fmt: skip


def test_quitting_leaves_the_rest_as_it_is(waiting: list[str], come: Come) -> None:
    person = come("review")
    person.read_until(PROMPT)
    person.type("q")
    code, _ = person.leave()
    assert code == 0
    with Memory() as memory:
        assert [lesson.id for lesson in memory.inbox()] == waiting


def test_ctrl_c_leaves_with_130(waiting: list[str], come: Come) -> None:
    person = come("review")
    person.read_until(PROMPT)
    person.type("\x03")
    code, rest = person.leave()
    assert code == 130
    assert b"Traceback" not in rest


def test_colour_is_for_terminals_only_and_can_be_refused(
    waiting: list[str], come: Come, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = come("review", "--list")
    assert re.search(rb"\x1b\[3\dm", person.leave()[1])
    monkeypatch.setenv("NO_COLOR", "1")
    assert b"\x1b[" not in come("review", "--list").leave()[1]


def test_a_sheet_that_is_not_touched_changes_nothing() -> None:
    lesson = make_lesson(insight="First line\nsecond line", why="because", how="")
    assert _parse_sheet(_sheet(lesson)) == {"insight": "First line\nsecond line", "why": "because", "how": ""}


def test_the_turns_around_the_evidence_are_shown_and_sessions_stay_together(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, come: Come
) -> None:
    monkeypatch.chdir(tmp_path)
    turns = [("prompt", "Why is the harbour closed?"), ("reply", "The crane stands in the way."),
             ("prompt", "No, use the pump first."), ("reply", "The pump runs now."), ("prompt", "Thanks")]  # fmt: skip
    with Memory(str(tmp_path)) as memory:
        project = memory.location.project.id
        events = [
            make_event(id=f"e{number}", kind=kind, text=text, session="s1", project=project, at=START + number * HOUR)
            for number, (kind, text) in enumerate(turns)
        ]
        memory.append(events)
        evidence = (Evidence(event=EventId("e2"), quote="use the pump"),)
        provenance = Provenance(session=SessionId("s1"), host="codex", evidence=evidence)
        other = Provenance(session=SessionId("s2"))
        rules = (("alpha", 0.9, provenance), ("beta", 0.8, other), ("gamma", 0.7, provenance))
        memory.services.store.put(
            [
                replace(make_lesson(project=project, insight=f"Rule {name}", state="candidate"),
                        confidence=sure, provenance=source)
                for name, sure, source in rules
            ],
            {},
        )  # fmt: skip
    person = come("review")
    first = person.read_until(PROMPT).decode()
    assert "from a codex session of" in first
    excerpt = first.partition("the conversation around it")[2]
    assert (
        excerpt.index("The crane stands")
        < excerpt.index("No, use the pump first.")
        < excerpt.index("The pump runs now.")
    )
    assert "harbour closed" not in excerpt
    person.type("a")
    second = person.read_until(PROMPT).decode()
    assert "accepted, 2 left" in second
    assert "Rule gamma" in second
    person.type("q")
    assert person.leave()[0] == 0
