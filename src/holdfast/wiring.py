"""What every process wires, a hook included: the clock, the store, the work tree, one host's adapter.

A hook needs no more (`HookMemory`); `bootstrap` adds the rest. Imports are inside the functions: a process pays only
for what it opens.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta

from holdfast import plugins
from holdfast.errors import ProjectUnknownError, StoreError
from holdfast.lean.deadline import Deadline
from holdfast.lean.records import replace
from holdfast.lean.texts import uuid7
from holdfast.service.place import PlaceMemory

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.codeindex.local import LocalCodeIndex
    from holdfast.domain.project import Place
    from holdfast.ports.clock import Clock
    from holdfast.ports.codeindex import CodeIndex
    from holdfast.ports.embedder import Embedder
    from holdfast.ports.host import Host
    from holdfast.ports.indexstore import IndexStore
    from holdfast.ports.parts import Parts
    from holdfast.ports.store import Store
    from holdfast.ports.workspace import Workspace
    from holdfast.settings import Settings
    from holdfast.workspace.claims import Claims
    from holdfast.workspace.local import LocalWorkspace

LONG_LOG = 1_000_000
"""Bytes of a write-ahead log from which on a hook closes the store, which empties it."""

HOOK_SEARCH_S = 0.1
"""How long a hook looks through git's history for one thing that is not where it was."""

PATIENCE = 20.0
"""How many times longer git may take where nobody waits for a hook's answer."""

CLAIM_TURN_S = 0.1
"""How long a hook waits for another process to write down whose a declared project id is."""


class SystemClock:
    """The machine's clock, made strictly increasing within the process."""

    def __init__(self) -> None:
        self._last = datetime.min.replace(tzinfo=UTC)

    def now(self) -> datetime:
        """Aware UTC, later than any answer before."""
        self._last = max(datetime.now(UTC), self._last + timedelta(microseconds=1))
        return self._last

    def elapsed_s(self) -> float:
        """Monotonic seconds."""
        return time.monotonic()

    def new_id(self) -> str:
        """A fresh UUID version 7."""
        return uuid7(time.time_ns() // 1_000_000, os.urandom(10))


class HookMemory(PlaceMemory):
    """The memory of a short-lived hook: no embedder is loaded, nothing is waited for long, no schema is upgraded."""

    def __init__(self, folder: str, settings: Settings) -> None:
        """Open the configured store. One that cannot be opened is no error here: see `trouble`."""
        self.settings = settings
        store, self.trouble = open_hook_store(settings)
        clock = SystemClock()
        workspace = make_workspace(settings, store, clock, hasty=True)
        codeindex = CodeIndexOnce(settings, workspace, clock, True)
        super().__init__(make_parts(settings, store, workspace, clock, codeindex), os.path.abspath(folder))

    def bound_log(self, before: Callable[[], None]) -> None:
        """What a hook does last, since it leaves without closing: empty a write-ahead log that has become long.

        `before` is called when there is something to do, which takes a while.
        """
        path = self.settings.database_path
        try:
            is_long = path != "" and os.stat(path + "-wal").st_size > LONG_LOG
        except OSError:
            return
        if is_long and self.trouble is None:
            before()
            self.parts.store.__exit__(None, None, None)


def open_hook_store(settings: Settings) -> tuple[Store, StoreError | None]:
    """The store for a hook, and why it cannot be opened: every use of it then raises that."""
    try:
        return open_store(settings, wait_of(settings), upgrade=False, frozen=True), None
    except StoreError as exc:
        return _NoStore(exc), exc  # type: ignore[return-value]


def make_workspace(settings: Settings, store: Store, clock: Clock, *, hasty: bool) -> LocalWorkspace:
    """The user's work trees. `hasty`: git gets little time, since a host waits."""
    from holdfast.workspace.local import LocalWorkspace

    wait_s = CLAIM_TURN_S if hasty else CLAIM_TURN_S * PATIENCE
    patience = 1.0 if hasty else PATIENCE
    return LocalWorkspace(
        states=store, clock=clock, patience=patience, claims=lambda: make_claims(store, settings, wait_s)
    )


def make_parts(settings: Settings, store: Store, workspace: Workspace, clock: Clock, codeindex: CodeIndexOnce) -> Parts:
    """What use cases work with, as far as a hook needs it."""
    from holdfast.ports.parts import Parts

    return Parts(
        store=store,
        workspace=workspace,
        clock=clock,
        host=load_host,
        detectors=tuple,
        embedder=_no_embedder,
        codeindex=codeindex,
        hasty=True,
        capture=settings.capture,
        deliver=settings.deliver,
        ignore=settings.ignore,
        retention_days=settings.retention_days,
        wrap_up=settings.wrap_up,
        holdout=settings.holdout,
    )


def _no_embedder() -> Embedder | None:
    return None


def wait_of(settings: Settings) -> float:
    """Seconds that one call of a hook may wait for another process to let go of a file."""
    return Deadline(0.0, settings.hook_deadline_ms / 1000).store_s


def open_store(settings: Settings, wait_s: float | None = None, *, upgrade: bool = True, frozen: bool = False) -> Store:
    """The store behind the settings' URL, opened; its scheme names the plug-in.

    `wait_s` is how long a call may wait for another process; the store's own patience when it is not given. Without
    `upgrade` an older schema is refused. With `frozen` a store that cannot be written is read.
    """
    scheme = settings.store.partition(":")[0]
    options = {"url": settings.store} | ({} if wait_s is None else {"timeout_s": str(wait_s)})
    if not upgrade:
        options["upgrade"] = "no"
    if frozen:
        options["frozen"] = "yes"
    store: Store = plugins.load("stores", scheme, options)
    return store.__enter__()


def open_index(settings: Settings, place: Place, wait_s: float | None = None) -> IndexStore:
    """The index of the place's project, not opened yet, in a file of its own beside the memory."""
    options = {"path": settings.index_path(place.project.id)} | ({} if wait_s is None else {"timeout_s": str(wait_s)})
    index: IndexStore = plugins.load_index(options)
    return index


def load_host(name: str, settings: Settings | None = None) -> Host:
    """The adapter of that host; with settings it knows where the host keeps its files. Raises PluginNotFoundError."""
    moved = dict(settings.host_folders).get(name, "") if settings else ""
    options = {"config_dir": moved} if moved else {}
    host: Host = plugins.load("hosts", name, options)
    return host


class CodeIndexOnce:
    """Makes the code index at the first call and gives the same one ever after; files are opened when asked."""

    def __init__(self, settings: Settings, workspace: Workspace, clock: Clock, cold: bool) -> None:
        self._settings = settings
        self._workspace = workspace
        self._clock = clock
        self._cold = cold
        self._made: LocalCodeIndex | None = None

    def __call__(self) -> CodeIndex:
        """The code index of the machine."""
        if self._made is None:
            from holdfast.codeindex.local import SEARCH_S, LocalCodeIndex

            search_s = HOOK_SEARCH_S if self._cold else SEARCH_S
            self._made = LocalCodeIndex(self._workspace, self._open, self._clock, search_s, self._is_made)
        return self._made

    def close(self) -> None:
        """Let go of what was opened."""
        if self._made is not None:
            self._made.close()

    def _is_made(self, place: Place) -> bool:
        return os.path.exists(self._settings.index_path(place.project.id))

    def _open(self, place: Place) -> IndexStore:
        return open_index(self._settings, place, wait_of(self._settings) if self._cold else None)


class _NoStore:
    """In the place of a store that could not be opened: whatever it is asked for raises the reason."""

    def __init__(self, reason: StoreError) -> None:
        self._reason = reason

    def __exit__(self, *_exc: object) -> None:
        """There is nothing to close."""

    def __getattr__(self, name: str) -> object:
        def refuse(*_arguments: object) -> None:
            raise self._reason

        return refuse


def make_claims(store: Store, settings: Settings, wait_s: float) -> Claims:
    """What tells whether a project id that a repository's file declares counts; a claim that waits is logged once."""
    from holdfast.home.runfiles import Turn, note
    from holdfast.workspace.claims import Claims

    def report(root: str, declared: str) -> None:
        hint = "if it is the same project: holdfast project accept, in that folder"
        note(settings.log_path, root, ProjectUnknownError(f"declares the id of another project: {declared}", hint=hint))

    return Claims(
        store,
        lambda project: first_folder(store, project),
        lambda: Turn(settings.run_path, "project", wait_s),
        report,
    )


def first_folder(store: Store, project: str) -> str | None:
    """The folder in which the project was first heard of; None for never, empty where only lessons tell of it."""
    from holdfast.domain.vocabulary import STATES
    from holdfast.ports.store import EventFilter, LessonFilter

    events = store.find_events(EventFilter(project=project, limit=1))  # type: ignore[arg-type]
    if events:
        return events[0][1].cwd
    where = LessonFilter(project=project, states=STATES)  # type: ignore[arg-type]
    while page := store.find(where):
        if any(lesson.scope.project == project for lesson in page):
            return ""
        where = replace(where, offset=where.offset + len(page))
    return None
