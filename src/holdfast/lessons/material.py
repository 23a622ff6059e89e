"""Material: the texts that a session has read. A rule with their words comes from them, whoever repeats it.

An agent that read a file repeats it in every session, so repetition proves nothing, and neither does a tool call that
stores the words in the memory.
"""

from __future__ import annotations

from holdfast.domain.event import MEMORY_TOOL
from holdfast.lessons.statement import plain_name
from holdfast.lessons.tuning import (
    COVERAGE,
    FILE_BYTES,
    FILES_READ,
    LEAST_TERMS,
    LINE_LIMIT,
    RECENT_EVENTS,
    SPAN_LINES,
)
from holdfast.ports.filters import EventFilter
from holdfast.ports.services import learned_position
from holdfast.ranking.relevance import stems_of
from holdfast.text.hidden import folded, without_hidden
from holdfast.text.speech import MASK, own_words
from holdfast.text.window import refused

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.domain.event import Event
    from holdfast.domain.project import Location
    from holdfast.domain.vocabulary import EventId
    from holdfast.ports.services import Services

OWN_COMMAND = "holdfast "
ALWAYS_READ = (
    "README.md", "README", "README.rst", "README.txt", "AGENTS.md", "CLAUDE.md", "CLAUDE.local.md", "GEMINI.md",
    "CONTRIBUTING.md", "CONVENTIONS.md", "SECURITY.md", ".cursorrules", ".windsurfrules", ".clinerules", "AGENT.md",
    ".github/copilot-instructions.md", ".claude/CLAUDE.md", "DEVELOPMENT.md", "HACKING.md", "CHANGELOG.md", "NOTES.md",
    "TODO.md", "package.json", "Makefile", "pyproject.toml",
)  # fmt: skip
"""Files that hosts put into an agent's context, or that agents read first, without an event that says so."""


class Material:
    """The texts that some events brought into a session, loaded once."""

    def __init__(self, services: Services, location: Location, events: Iterable[Event]) -> None:
        self._services = services
        self._location = location
        self._events = list(events)
        self._pieces: list[tuple[int, str, frozenset[str]]] | None = None

    def holds(self, rule: str, written_in: EventId | None = None) -> str:
        """Return the name of a file or tool with the rule's words; empty when nothing that was read contains them.

        For a rule that was written in an event of the session, only texts read before it count, because a commit's own
        words come back from `git log`.
        """
        wanted = _stems(rule)
        if len(wanted) < LEAST_TERMS:
            return ""
        if self._pieces is None:
            self._pieces = [(at, name, piece) for at, name, text in self._texts() for piece in _pieces(text)]
        least = COVERAGE * len(wanted)
        places = {event.id: at for at, event in enumerate(self._events)} if written_in else {}
        end = places.get(written_in, len(self._events)) if written_in else len(self._events)
        return next((name for at, name, piece in self._pieces if at < end and len(wanted & piece) >= least), "")

    def _texts(self) -> Iterator[tuple[int, str, str]]:
        """Yield (position, name, text) of tool output, failures, pasted text, replaced text and files read."""
        files: dict[str, int] = {}
        persons = [event.text for event in self._events if event.kind == "prompt" and event.trust == "person"]
        for at, event in enumerate(self._events):
            if event.command.startswith(OWN_COMMAND):
                continue  # it prints lessons, and memory is no evidence for or against itself
            if event.tool == MEMORY_TOOL:
                continue  # the agent's own words
            if event.kind in ("tool_result", "tool_failure") and event.trust != "person":
                yield at, event.tool or "a tool", _without_refusal(event, persons)
                for path in event.files:
                    files.setdefault(path, at)
            elif event.kind == "file_edit":
                yield at, (event.files or ("a file",))[0], event.old
            elif event.kind == "prompt":
                yield at, "pasted text", _not_spoken(event)
        read = list(files)[-FILES_READ:]
        for path in dict.fromkeys((*read, *ALWAYS_READ)):
            content = self._services.workspace.read(self._location, path)
            if content:
                yield files.get(path, -1), path, self._as_found(path, content[:FILE_BYTES].decode("utf-8", "replace"))

    def _as_found(self, path: str, content: str) -> str:
        """Return the file without the lines that these events wrote into it."""
        edits = [event for event in self._events if event.kind == "file_edit" and path in event.files]
        own = {line.strip() for edit in edits for line in edit.new.splitlines()}
        own -= {line.strip() for edit in edits for line in edit.old.splitlines()}
        return "\n".join(line for line in content.splitlines() if line.strip() not in own) if own else content


def repeated_in(read: Material, texts: Iterable[str]) -> str:
    """Return why a lesson with those texts must wait: they repeat what was read; empty if they do not."""
    where = next((name for text in texts if text and (name := read.holds(text))), "")
    return f"its words stand in {plain_name(where, 'a text that was read')}" if where else ""


def recent_events(services: Services, location: Location) -> list[Event]:
    """Return the events of the current sessions in this project, as well as the store can tell."""
    learned = learned_position(services.store)
    where = EventFilter(project=location.project.id, after=max(0, learned - RECENT_EVENTS))
    return [event for _, event in services.store.find_events(where)]


def _without_refusal(event: Event, persons: Iterable[str]) -> str:
    """Return a tool's text; for a refused call without the user's words at its end, which are also a prompt."""
    if not refused(event):
        return event.text
    return next((event.text.removesuffix(words) for words in persons if event.text.endswith(words)), event.text)


def _not_spoken(event: Event) -> str:
    """Return the parts of a prompt that no person typed."""
    if event.trust in ("tool", "repository"):
        return event.text
    words = own_words(event.text)
    return (
        "".join(c if mask == MASK else " " for c, mask in zip(event.text, words, strict=True)) if MASK in words else ""
    )


def _pieces(text: str) -> Iterator[frozenset[str]]:
    """Yield the stems of each few adjacent lines of the text; a long line is split into sentences."""
    whole = (line for line in text.splitlines() if line.strip())
    lines = [_stems(part) for line in whole for part in (line.split(". ") if len(line) > LINE_LIMIT else (line,))]
    for at in range(len(lines)):
        yield frozenset().union(*lines[at : at + SPAN_LINES])


def _stems(text: str) -> frozenset[str]:
    return stems_of(folded(without_hidden(text)))
