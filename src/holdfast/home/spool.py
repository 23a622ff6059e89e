"""The spool: files with events and deliveries that the store could not take at once.

A hook writes here if the store is locked, has an older schema, is damaged or is out of reach. The next process that has
time moves the files' contents into the store. Doing this twice does no harm, because an event is known by its session
and key and a delivery by its id. So no lock is needed.

Each call is a file with one line of JSON, mode 0600, written atomically. It holds only what may be stored: events are
redacted and cut before they are written, and nothing of an ignored path is among them.
"""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from holdfast.capture.observe import prepare
from holdfast.curation.checkpoint import capture
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.domain.project import Location, Project
from holdfast.domain.records import Delivery
from holdfast.domain.vocabulary import ProjectId, SessionId
from holdfast.errors import HoldfastError, InvalidValueError, ProjectUnknownError, StoreError, StoreFullError
from holdfast.home.runfiles import DROPPED, SPOOLED, count, write_private
from holdfast.lean.plain import from_plain, to_plain
from holdfast.lean.texts import dumps, loads
from holdfast.ports.services import HasServices, Services
from holdfast.ports.store import EventFilter
from holdfast.workspace import gitfiles
from holdfast.workspace.paths import inside, native

FOLDER = "spool"
ENDING, ASIDE = ".jsonl", ".unreadable"
FILES_LIMIT, BYTES_LIMIT = 10_000, 64_000_000
"""The most that waits; what comes then is dropped, and counted."""


class Spool:
    """The spool of one home, for the calls of one host."""

    def __init__(self, run_path: str, host: str) -> None:
        self._run_path = run_path
        self._host = host

    def keep_events(self, services: Services, location: Location | None, call: HookCall) -> None:
        """Write the call's events. Without a location, their project is found when they are moved into the store.

        Raises StoreError or OSError if they are lost.
        """
        where = location or _outline(call.cwd)
        events = [prepare(services, where, event) for event in call.events]
        self._write(call.cwd, [to_plain(event) for event in events], [])

    def keep_deliveries(self, deliveries: Sequence[Delivery]) -> None:
        """Write the deliveries to a host. Raises StoreError or OSError if they are lost."""
        if deliveries:
            self._write("", [], [to_plain(delivery) for delivery in deliveries])

    def _write(self, folder: str, events: list[Any], deliveries: list[Any]) -> None:
        line = dumps({"folder": folder, "events": events, "deliveries": deliveries}) + "\n"
        content = line.encode("utf-8", "replace")
        try:
            names = waiting(self._run_path)
            if len(names) >= FILES_LIMIT or sum(map(_size_of, names)) + len(content) > BYTES_LIMIT:
                raise StoreFullError(f"the spool is full: {len(names):,} calls wait", hint="holdfast doctor")
            name = f"{time.time_ns():020d}-{os.getpid()}-{len(content)}{ENDING}"
            write_private(os.path.join(self._run_path, FOLDER), name, content)
        except (OSError, StoreFullError):
            count(self._run_path, self._host, DROPPED)
            raise
        count(self._run_path, self._host, SPOOLED)


def waiting(run_path: str) -> list[str]:
    """Return the names of the spool's files, oldest first."""
    try:
        return sorted(name for name in os.listdir(os.path.join(run_path, FOLDER)) if name.endswith(ENDING))
    except OSError:
        return []


def unreadable(run_path: str) -> int:
    """Return how many files were set aside because they could not be read."""
    try:
        return sum(name.endswith(ASIDE) for name in os.listdir(os.path.join(run_path, FOLDER)))
    except OSError:
        return 0


def drain(memory: HasServices, run_path: str, until_s: float | None = None) -> int:
    """Move the spool's contents into the store; return how many events were new.

    Stops at `until_s` of the monotonic clock. A file that the store cannot take now stays; an unreadable file is set
    aside. Raises StoreError if the store takes nothing.
    """
    new = 0
    for name in waiting(run_path):
        if until_s is not None and time.monotonic() > until_s:
            break
        path = os.path.join(run_path, FOLDER, name)
        try:
            with open(path, encoding="utf-8", errors="replace") as stream:
                entry = loads(stream.read())
            new += _put(memory.services, entry)
            os.unlink(path)
        except (FileNotFoundError, ProjectUnknownError):
            continue  # another process was faster, or git did not answer in time; the next drain tries again
        except StoreError:
            raise
        except (HoldfastError, OSError, KeyError, TypeError, ValueError, AttributeError):
            _set_aside(path)
    return new


def _put(services: Services, entry: dict[str, Any]) -> int:
    events = [from_plain(Event, plain) for plain in entry["events"]]
    if any(not event.project for event in events):
        events = _located(services, entry["folder"], events)
    new = services.store.append_events(events) if events else 0
    deliveries = [from_plain(Delivery, plain) for plain in entry["deliveries"]]
    if deliveries:
        services.store.record(deliveries)
    if new and any(event.kind == "compaction" for event in events):
        _keep_checkpoint(services, entry["folder"], events[0].session)
    return new


def _located(services: Services, folder: str, events: list[Event]) -> list[Event]:
    """Return the events with their project, which was not known when they were spooled."""
    try:
        location = services.workspace.locate(folder)
    except InvalidValueError:  # the folder is gone
        project = _project_of(services, events[0].session)
        return [replace(event, project=project) for event in events]
    head = location.branch, location.commit
    return [
        replace(event, project=location.project.id, branch=event.branch or head[0], commit=event.commit or head[1])
        for event in events
    ]


def _project_of(services: Services, session: SessionId) -> ProjectId:
    """Return the project of the session's other events; "" if there are none."""
    known = services.store.find_events(EventFilter(session=session, limit=1))
    return known[0][1].project if known else ""  # type: ignore[return-value]


def _keep_checkpoint(services: Services, folder: str, session: SessionId) -> None:
    """Save the task's checkpoint, as the hook before the compaction would have done."""
    try:
        capture(services, services.workspace.locate(folder), session)
    except (InvalidValueError, ProjectUnknownError):
        return  # the folder is gone, and so is the task


def _outline(folder: str) -> Location:
    """Return a folder's location without its project id, which would need the store and git."""
    real = os.path.realpath(native(folder) or os.sep)
    checkout = gitfiles.find_checkout(real)
    root = checkout.root if checkout else real
    branch, commit = ("", "") if checkout is None or gitfiles.uses_reftable(checkout) else gitfiles.read_head(checkout)
    project = Project(id="", name=os.path.basename(root), source="path")  # type: ignore[arg-type]
    return Location(project=project, root=root, prefix=inside(root, real), branch=branch, commit=commit)


def _size_of(name: str) -> int:
    """Return the size in bytes of a spool file, which is part of its name."""
    size = name.removesuffix(ENDING).rpartition("-")[2]
    return int(size) if size.isdigit() else 0


def _set_aside(path: str) -> None:
    try:
        os.replace(path, path + ASIDE)
    except OSError:
        return  # the next drain tries again
