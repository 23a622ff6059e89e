"""Sessions of a test, told in a few words: `Story().asked("Mend it").red().edited("pkg/a.go").green()`."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Self

from holdfast import Memory
from holdfast.domain.event import Event
from holdfast.domain.vocabulary import SessionId
from holdfast.testing.builders import START, FixedClock, make_event

RED = "--- FAIL: TestLate (0.02s)\n    late_test.go:12: expected 3, got 1\nFAIL\tapp/pkg\t0.3s\nFAIL"
GREEN = "ok  \tapp/pkg\t0.3s"
LINT = "pkg/a.go:3:4: error return value is not checked (errcheck)"


class Story:
    """The events of one session, a minute apart."""

    def __init__(
        self,
        session: str = "s1",
        day: float = 0,
        branch: str = "work",
        host: str = "claude-code",
        start: datetime = START,
    ) -> None:
        self.session, self.branch, self.host = SessionId(session), branch, host
        self.at = start + timedelta(days=day)
        self.events: list[Event] = []

    def asked(self, words: str) -> Self:
        """Add a prompt of the person."""
        return self._add(kind="prompt", text=words, text_length=len(words), trust="person")

    def replied(self, words: str) -> Self:
        """Add a reply of the agent."""
        return self._add(kind="reply", text=words, text_length=len(words))

    def ran(self, command: str, output: str = "", exit_code: int = 0) -> Self:
        """Add a command that has ended."""
        kind = "tool_failure" if exit_code else "tool_result"
        return self._add(kind=kind, tool="Bash", command=command, text=output, exit_code=exit_code)

    def red(self, command: str = "go test ./pkg", output: str = RED) -> Self:
        """Add a failing run of tests."""
        return self.ran(command, output, 1)

    def green(self, command: str = "go test ./pkg", output: str = GREEN) -> Self:
        """Add a passing run of tests."""
        return self.ran(command, output)

    def edited(self, *files: str) -> Self:
        """Add an edit of each file."""
        for file in files:
            self._add(kind="file_edit", tool="Edit", files=(file,), old="a", new="b\nc", text="")
        return self

    def paused(self, hours: float) -> Self:
        """Let time pass."""
        self.at += timedelta(hours=hours)
        return self

    def _add(self, **fields: object) -> Self:
        self.at += timedelta(minutes=1)
        number = len(self.events)
        key = f"{fields['kind']}:{self.session}:{number}"
        event = make_event(
            session=self.session, at=self.at, branch=self.branch, host=self.host, key=key, **{"text": "", **fields}
        )
        self.events.append(event)
        return self


def at(memory: Memory, moment: datetime) -> Memory:
    """Return the memory by a clock that stands still."""
    return memory.with_services(replace(memory.services, clock=FixedClock(moment)))


def play(memory: Memory, *stories: Story) -> Memory:
    """Store the stories, learn from each at its end, and return the memory by the clock of the last one's end."""
    here = memory
    for story in stories:
        here = at(memory, story.at)
        project = here.location.project.id
        here.services.store.append_events([replace(event, project=project) for event in story.events])
        here.learn(story.session)
    return here
