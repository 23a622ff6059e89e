"""Trouble: the files at which a session failed, took edits back, or needed a lesson that it was not told.

A failure counts at the files that the failed call names, or at those that its output names. An edit counts as taken
back when a later one of the same session restores what it replaced, or when git discards the file's changes. The
settlement of a session stores its trouble, so that nobody has to read its events again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from holdfast.domain.event import Event
from holdfast.domain.statefamilies import SESSION_TROUBLE
from holdfast.domain.vocabulary import ProjectId, SessionId
from holdfast.errors import InvalidValueError
from holdfast.lean.plain import parse_instant, render_instant
from holdfast.lean.texts import dumps, loads
from holdfast.outcomes.tuning import FAILURE_NAMES, FAILURE_TEXT, SHORTEST_EDIT, TROUBLED_NAMES
from holdfast.ports.store import StateRows
from holdfast.text.shell import simple_commands
from holdfast.text.window import failed

_FILE = re.compile(r"(?:\.?[\w@+-][\w.@+-]*/|\.{1,2}/|/)*[\w@+-][\w.@+-]*\.[A-Za-z][A-Za-z0-9]{0,9}(?![\w/(])")
_RESTORING = ("checkout", "restore")


@dataclass(slots=True)
class FileTrouble:
    """How often something went wrong at one file."""

    failures: int = 0
    reverted: int = 0
    missed: int = 0

    def add(self, other: FileTrouble) -> None:
        """Add the counts of another session, or of another name of the file."""
        self.failures += other.failures
        self.reverted += other.reverted
        self.missed += other.missed


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionTrouble:
    """The trouble of one session, by the names of files as its calls and outputs have them."""

    session: SessionId
    began_at: datetime
    files: Mapping[str, FileTrouble]


def trouble_of(events: Sequence[Event], missed: Iterable[Collection[str]]) -> dict[str, FileTrouble]:
    """Return the trouble of a session by file, most first; `missed` has the files of each lesson that it missed."""
    troubles: dict[str, FileTrouble] = {}
    for event in events:
        for name in _blamed(event) if failed(event) else ():
            troubles.setdefault(name, FileTrouble()).failures += 1
    for path in _taken_back(events):
        troubles.setdefault(path, FileTrouble()).reverted += 1
    for paths in missed:
        for path in paths:
            troubles.setdefault(path, FileTrouble()).missed += 1
    order = sorted(troubles, key=lambda name: -(troubles[name].failures + 9 * troubles[name].reverted))
    return {name: troubles[name] for name in order[:TROUBLED_NAMES]}


def store_trouble(
    store: StateRows, project: ProjectId, session: SessionId, events: Sequence[Event], missed: Iterable[Collection[str]]
) -> None:
    """Store the trouble of a session in place of what was stored of it; nothing where it had none."""
    troubles = trouble_of(events, missed)
    files = {name: [each.failures, each.reverted, each.missed] for name, each in troubles.items()}
    value = dumps({"at": render_instant(events[0].at), "files": files}) if files else ""
    store.set_rows(SESSION_TROUBLE, project, {session: value})


def load_trouble(store: StateRows, project: ProjectId) -> list[SessionTrouble]:
    """Return the trouble of every session that had any; what cannot be read is left out."""
    rows = store.get_rows(SESSION_TROUBLE, project).items()
    return [trouble for session, text in rows if (trouble := _parsed(SessionId(session), text))]


def _parsed(session: SessionId, text: str) -> SessionTrouble | None:
    try:
        fields = loads(text)
        files = {str(name): FileTrouble(*map(int, counts)) for name, counts in fields["files"].items()}
        return SessionTrouble(session=session, began_at=parse_instant(fields["at"]), files=files)
    except (InvalidValueError, KeyError, TypeError, ValueError, AttributeError):
        return None


def _blamed(event: Event) -> list[str]:
    """Return the names at which a failure counts, each once."""
    if event.files:
        return list(dict.fromkeys(event.files))
    named = islice(_FILE.findall(f"{event.command}\n{event.text[-FAILURE_TEXT:]}"), FAILURE_NAMES)
    return list(dict.fromkeys(name.removeprefix("./") for name in named))


def _taken_back(events: Sequence[Event]) -> Iterator[str]:
    """Yield the file of each edit that was undone later."""
    pending: dict[str, list[Event]] = {}
    for event in events:
        if event.kind == "file_edit" and event.files:
            edits = pending.setdefault(event.files[0], [])
            undone = next((edit for edit in reversed(edits) if _undoes(event, edit)), None)
            if undone is None:
                edits.append(event)
            else:
                edits.remove(undone)
                yield event.files[0]
        elif event.kind == "commit":
            pending.clear()
        elif event.kind == "tool_result" and event.command and not failed(event):
            for path in _discarded(event.command, pending):
                pending.pop(path)
                yield path


def _undoes(event: Event, edit: Event) -> bool:
    is_inverse = event.new.strip() == edit.old.strip() and event.old.strip() == edit.new.strip()
    return bool(edit.old) and is_inverse and max(len(edit.old), len(edit.new)) >= SHORTEST_EDIT


def _discarded(command: str, pending: Mapping[str, Sequence[Event]]) -> list[str]:
    """Return the edited files whose changes a `git checkout` or `git restore` on the line throws away."""
    paths: list[str] = []
    for words in simple_commands(command):
        if len(words) > 2 and words[0] == "git" and words[1] in _RESTORING and "--staged" not in words:
            named = [word.removeprefix("./").rstrip("/") for word in words[2:] if not word.startswith("-")]
            paths += [path for path in pending if any(_is_in(path, name) for name in named)]
    return [path for path in dict.fromkeys(paths) if pending[path]]


def _is_in(path: str, name: str) -> bool:
    return name in (".", path) or path.startswith(f"{name}/")
