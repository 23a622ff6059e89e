"""Builds what a process works with, from the settings: the clock, the store, the work tree, the index, the embedder.

Imports are inside the functions, so that a process pays only for what it opens.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import cache
from threading import Lock
from typing import TYPE_CHECKING

from holdfast import plugins
from holdfast.domain.project import SERVER, Location, Person, Project
from holdfast.domain.vocabulary import STATES, ProjectId
from holdfast.errors import HoldfastError, InvalidValueError, ProjectUnknownError, StoreError
from holdfast.home.runfiles import RunLock, note
from holdfast.lean.deadline import Deadline
from holdfast.lean.texts import loads, uuid7
from holdfast.ports.host import Host
from holdfast.ports.services import Services
from holdfast.ports.store import EventFilter, LessonFilter, Store
from holdfast.settings import Settings, child_environment, load_settings, read_secret
from holdfast.workspace.bare import BareWorkspace
from holdfast.workspace.local import LocalWorkspace

if TYPE_CHECKING:
    from holdfast.codeindex.local import LocalCodeIndex
    from holdfast.domain.team import TeamCaller, TeamProject
    from holdfast.ports.codeindex import CodeIndex, IndexStore
    from holdfast.ports.plugins import Detector, Embedder
    from holdfast.ports.services import Clock
    from holdfast.ports.team import TeamBackend, TeamStores
    from holdfast.ports.workspace import LessonFiles, Workspace
    from holdfast.workspace.identity import Claims

NOBODY = Person()
LAST_ROWS = 4_096
"""Bytes at the end of the record of distillations that are read for the last call of the model."""
LONG_LOG = 1_000_000
"""Bytes of a write-ahead log from which on a hook closes the store, which empties it."""

HOOK_SEARCH_S = 0.1
"""How long a hook looks through git's history for one thing that is not where it was."""

TIMEOUT_SCALE = 20.0
"""How many times longer git may take where nobody waits for a hook's answer."""

INDEX_WAIT_S = 0.25
"""How long a page waits for another process that builds the code index, before it does without."""

CLAIM_TURN_S = 0.1
"""How long a hook waits for another process to write down whose a declared project id is."""


class SystemClock:
    """The machine's clock, strictly increasing. Safe to share between threads."""

    def __init__(self) -> None:
        self._last = datetime.min.replace(tzinfo=UTC)
        self._turn = Lock()

    def now(self) -> datetime:
        """Return the time as aware UTC, later than any earlier result."""
        with self._turn:
            self._last = now = max(datetime.now(UTC), self._last + timedelta(microseconds=1))
        return now

    def elapsed_s(self) -> float:
        """Return monotonic seconds."""
        return time.monotonic()

    def new_id(self) -> str:
        """Return a new UUID of version 7."""
        return uuid7(time.time_ns() // 1_000_000, os.urandom(10))


class HeldClock:
    """One reading of a clock for a whole hook: everything that it stores happened at one instant."""

    def __init__(self, clock: Clock) -> None:
        self._now = clock.now()
        self.elapsed_s = clock.elapsed_s
        self.new_id = clock.new_id

    def now(self) -> datetime:
        """Return the instant at which this clock was made."""
        return self._now


class Opened:
    """What a process has opened over the configured store: the services, and what to close at its end."""

    def __init__(
        self, folder: str, settings: Settings, *, is_hook: bool = False, brief: bool = False,
        wait_s: float | None = None,
    ) -> None:  # fmt: skip
        """Open the configured store, which is created on first use. Raises StoreError or InvalidValueError.

        A hook that answers alone (`is_hook`) loads no embedder, waits shortly and upgrades no schema. A store that
        cannot be opened is no error there: `trouble` holds the reason, and every use of the store raises it. `brief` is
        for a command that ends soon: a store that cannot be written is opened for reading.
        """
        self.settings = settings
        self.folder = os.path.abspath(folder)
        self.trouble: StoreError | None = None
        if is_hook:
            store, self.trouble = open_hook_store(settings)
        else:
            store = open_store(settings, wait_s, frozen=brief)
        clock = SystemClock()
        workspace = make_workspace(settings, store, clock, low_latency=is_hook)
        self._codeindex = CodeIndexOnce(settings, workspace, clock, is_hook, wait_s)
        self._quick_codeindex = CodeIndexOnce(settings, workspace, clock, True)
        self.services = make_services(settings, store, workspace, clock, self._codeindex)
        if is_hook:
            self.services = replace(self.services, clock=HeldClock(clock))
        else:
            embedders = _Embedders(settings)
            self.services = replace(
                self.services, low_latency=False, detectors=_load_detectors, embedder=embedders.current,
                former=embedders.former, export_key=lambda make: _load_export_key(settings, make),
                lesson_files=_open_lesson_files,
            )  # fmt: skip

    def for_hooks(self) -> Services:
        """Return the services for one answer that a host waits for: few lessons are checked closely, and briefly."""
        return replace(
            self.services, low_latency=True, codeindex=self._quick_codeindex, clock=HeldClock(self.services.clock)
        )

    def close(self) -> None:
        """Close the store, and the code index if one was opened."""
        self._codeindex.close()
        self._quick_codeindex.close()
        self.services.store.__exit__(None, None, None)

    def bound_log(self, before: Callable[[], None]) -> None:
        """Close the store if its write-ahead log has become long, which empties the log.

        A hook calls this last, because it exits without closing the store. `before` is called first if there is work,
        which takes a while.
        """
        path = self.settings.database_path
        try:
            is_long = path != "" and os.stat(path + "-wal").st_size > LONG_LOG
        except OSError:
            return
        if is_long and self.trouble is None:
            before()
            self.services.store.__exit__(None, None, None)


def open_hook_store(settings: Settings) -> tuple[Store, StoreError | None]:
    """Return the store for a hook, and the error if it cannot be opened, which every use of the store raises."""
    try:
        return open_store(settings, wait_of(settings), upgrade=False, frozen=True), None
    except StoreError as exc:
        return _NoStore(exc), exc  # type: ignore[return-value]


def make_workspace(settings: Settings, store: Store, clock: Clock, *, low_latency: bool) -> LocalWorkspace:
    """Return the user's work trees; `low_latency` gives git little time, because a host waits."""
    wait_s = CLAIM_TURN_S if low_latency else CLAIM_TURN_S * TIMEOUT_SCALE
    timeout_scale = 1.0 if low_latency else TIMEOUT_SCALE
    return LocalWorkspace(
        states=store, clock=clock, timeout_scale=timeout_scale, claims=lambda: make_claims(store, settings, wait_s)
    )


def make_services(
    settings: Settings, store: Store, workspace: Workspace, clock: Clock, codeindex: CodeIndexOnce
) -> Services:
    """Return the services that use cases work with, as far as a hook needs them."""
    return Services(
        store=store,
        workspace=workspace,
        clock=clock,
        host=cache(load_host),
        detectors=tuple,
        embedder=_no_embedder,
        codeindex=codeindex,
        low_latency=True,
        capture=settings.capture,
        deliver=settings.deliver,
        session_tokens=settings.session_tokens,
        ignore=settings.ignore,
        retention_days=settings.retention_days,
        asks_agent=lambda: asks_agent(settings),
        holdout=settings.holdout,
    )


def asks_agent(settings: Settings) -> bool:
    """Return whether agents are asked what a session taught: not where a model that works reads it afterwards."""
    return settings.ask_agent and not (settings.learns_after_sessions and _model_works(settings))


def _model_works(settings: Settings) -> bool:
    """Return whether the last call of the model, if there was one, succeeded."""
    try:
        with open(settings.distil_path, "rb") as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - LAST_ROWS))
            rows = stream.read().decode("utf-8", "replace").splitlines()
        tries = [row for row in map(loads, filter(_is_try, rows)) if isinstance(row, dict)]
    except (OSError, ValueError, HoldfastError):
        return True
    return not tries or "failed" not in tries[-1]


def _is_try(row: str) -> bool:
    """Return whether a whole row of the record is about a call of the model."""
    return row.startswith("{") and row.endswith("}") and '"model"' in row


def _no_embedder() -> Embedder | None:
    return None


def wait_of(settings: Settings) -> float:
    """Return the seconds that one call of a hook may wait for another process's lock on a file."""
    return Deadline(0.0, settings.hook_deadline_ms / 1000).store_s


def open_store(settings: Settings, wait_s: float | None = None, *, upgrade: bool = True, frozen: bool = False) -> Store:
    """Open the store of the settings' URL, whose scheme names the plug-in.

    `wait_s` is how long a call may wait for another process; by default the store decides. Without `upgrade` an older
    schema is refused. With `frozen` a store that cannot be written is opened for reading.
    """
    scheme = settings.store.partition(":")[0]
    options = {"url": settings.store} | ({} if wait_s is None else {"timeout_s": str(wait_s)})
    if not upgrade:
        options["upgrade"] = "no"
    if frozen:
        options["frozen"] = "yes"
    store: Store = plugins.load("stores", scheme, options)
    return store.__enter__()


def open_backend(
    settings: Settings, *, replicas: Sequence[str] = (), places: Sequence[str] = (), connections: int = 0
) -> TeamBackend:
    """Open what a team server stores in, by the scheme of the settings' URL.

    `replicas` are URLs of read replicas, `places` are further databases as `name=URL`; `connections` is the most that
    this process keeps to each, 0 lets the store decide.
    Raises StoreError, or PluginNotFoundError for a store that serves no team.
    """
    options = {"url": settings.store}
    if replicas:
        options["replicas"] = " ".join(replicas)
    if places:
        options["places"] = " ".join(places)
    if connections:
        options["connections"] = str(connections)
    backend: TeamBackend = plugins.load_backend(settings.store.partition(":")[0], options)
    return backend.__enter__()


def open_index(settings: Settings, location: Location, wait_s: float | None = None) -> IndexStore:
    """Return the code index of the location's project, not opened yet, in a file of its own beside the memory."""
    options = {"path": settings.index_path(location.project.id)} | (
        {} if wait_s is None else {"timeout_s": str(wait_s)}
    )
    index: IndexStore = plugins.load_index(options)
    return index


@cache
def _served_host(name: str) -> Host:
    return load_host(name)


def load_host(name: str, settings: Settings | None = None) -> Host:
    """Return the host's adapter; the settings tell it where the host keeps its files. Raises PluginNotFoundError."""
    moved = dict(settings.host_folders).get(name, "") if settings else ""
    options = {"config_dir": moved} if moved else {}
    host: Host = plugins.load("hosts", name, options)
    return host


class RequestServices:
    """What all requests to a server share: the settings, the clock and the embedder. There is no work tree."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.clock: Clock = SystemClock()
        self._embedders = _Embedders(settings)

    def for_caller(self, stores: TeamStores, caller: TeamCaller, project: TeamProject) -> tuple[Services, Project]:
        """Return the services of a caller's request in a project, and the project.

        What the caller states waits where the team's rules say so. The caller's right to the project is checked before.
        """
        from holdfast.team import review

        named = Project(id=ProjectId(project.id), name=project.name, source=SERVER)
        services = self.over(stores.store, Person(id=caller.member, name=caller.name), named)
        return replace(services, must_wait=review.must_wait(stores, caller, project)), named

    def over(self, store: Store, person: Person = NOBODY, project: Project | None = None) -> Services:
        """Return the services of one request: a store of the caller's organisation, and who calls. Opens nothing."""
        return Services(
            store=store,
            workspace=BareWorkspace(person, project),
            clock=self.clock,
            host=_served_host,
            detectors=_load_detectors,
            embedder=self._embedders.current,
            former=self._embedders.former,
            export_key=lambda make: _load_export_key(self.settings, make),
            capture=self.settings.capture,
            deliver=self.settings.deliver,
            session_tokens=self.settings.session_tokens,
            ignore=self.settings.ignore,
            retention_days=self.settings.retention_days,
            serves_team=True,
        )


class CodeIndexOnce:
    """Makes the code index at the first call and returns the same one from then on; files are opened on demand."""

    def __init__(
        self, settings: Settings, workspace: Workspace, clock: Clock, cold: bool, wait_s: float | None = None
    ) -> None:
        """`wait_s` is how long a call may wait for another process that builds the index."""
        self._wait_s = wait_of(settings) if cold else None if wait_s is None else min(wait_s, INDEX_WAIT_S)
        self._settings = settings
        self._workspace = workspace
        self._clock = clock
        self._cold = cold
        self._made: LocalCodeIndex | None = None

    def __call__(self) -> CodeIndex:
        """Return the code index of the machine."""
        if self._made is None:
            from holdfast.codeindex.local import SEARCH_S, LocalCodeIndex

            search_s = HOOK_SEARCH_S if self._cold else SEARCH_S
            self._made = LocalCodeIndex(self._workspace, self._open, self._clock, search_s, self._is_made)
        return self._made

    def close(self) -> None:
        """Close the files that were opened."""
        if self._made is not None:
            self._made.close()

    def _is_made(self, location: Location) -> bool:
        return os.path.exists(self._settings.index_path(location.project.id))

    def _open(self, location: Location) -> IndexStore:
        return open_index(self._settings, location, self._wait_s)


class _NoStore:
    """Stands in for a store that could not be opened: every call raises the reason."""

    def __init__(self, reason: StoreError) -> None:
        self._reason = reason

    def __exit__(self, *_exc: object) -> None:
        """Do nothing: there is nothing to close."""

    def __getattr__(self, name: str) -> object:
        def refuse(*_arguments: object) -> None:
            raise self._reason

        return refuse


def make_claims(store: Store, settings: Settings, wait_s: float) -> Claims:
    """Return what decides whether a project id declared in a repository counts; a waiting claim is logged once."""
    from holdfast.workspace.identity import Claims

    def report(root: str, declared: str) -> None:
        hint = "if it is the same project: holdfast project accept, in that folder"
        note(settings.log_path, root, ProjectUnknownError(f"declares the id of another project: {declared}", hint=hint))

    return Claims(
        store,
        lambda project: first_folder(store, project),
        lambda: RunLock(settings.run_path, "project", wait_s),
        report,
    )


def first_folder(store: Store, project: str) -> str | None:
    """Return the folder of the project's first event; "" if only lessons name the project, None if nothing does."""
    events = store.find_events(EventFilter(project=project, limit=1))  # type: ignore[arg-type]
    if events:
        return events[0][1].cwd
    where = LessonFilter(project=project, states=STATES)  # type: ignore[arg-type]
    while page := store.find(where):
        if any(lesson.scope.project == project for lesson in page):
            return ""
        where = replace(where, offset=where.offset + len(page))
    return None


EXPORT_KEY_FILE = "export.key"
"""File in Holdfast's home with the key that seals exported lines, so that an import recognises them."""


def _load_export_key(settings: Settings, make: bool) -> bytes:
    """Return this home's key for sealing exports; b"" if there is none and none can be created.

    Raises InvalidValueError for a key that others can read, because they could seal any line.
    """
    path = os.path.join(settings.home, EXPORT_KEY_FILE)
    try:
        if make and not os.path.exists(path):
            with RunLock(settings.run_path, "export-key", 2.0):  # two processes may start at once; only one creates it
                if not os.path.exists(path):
                    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
                    with open(os.open(path, flags, 0o600), "w", encoding="ascii") as stream:
                        stream.write(os.urandom(32).hex() + "\n")
        with open(path, encoding="ascii") as stream:
            key = bytes.fromhex(stream.read().strip())
            mode = os.fstat(stream.fileno()).st_mode
    except (OSError, ValueError):
        return b""
    if os.name == "posix" and mode & 0o077:
        raise InvalidValueError(f"{path} can be read by others", hint=f"remove {path}; a new one is made")
    return key if len(key) == 32 else b""


def _load_detectors() -> Sequence[Detector]:
    return [plugins.load("detectors", name) for name in plugins.names("detectors")]


def _open_lesson_files(location: Location) -> LessonFiles:
    from holdfast.workspace.lessonfiles import LocalLessonFiles

    return LocalLessonFiles(location.root)


def load_embedder(name: str, options: Mapping[str, str]) -> Embedder:
    """Make the embedder of that name. The variable that `api_key_env` names is read here and nowhere else.

    Raises PluginNotFoundError, InvalidValueError or EmbedderError.
    """
    resolved = dict(options)
    if resolved.get("api_key_env"):
        resolved["api_key"] = read_secret(resolved["api_key_env"])
    embedder: Embedder = plugins.load("embedders", name, resolved)
    return embedder


class _Embedders:
    """Makes each configured embedder once, at its first use, and follows changes by `holdfast embedder use`."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._file = _stamp(settings.config_path)
        self._made: dict[tuple[str, tuple[tuple[str, str], ...]], Embedder] = {}

    def current(self) -> Embedder | None:
        """Return the embedder in use, or None."""
        self._follow()
        return self._make(self._settings.embedder, self._settings.embedder_options)

    def former(self, embedder_id: str) -> Embedder | None:
        """Return the previous embedder if it has that id and can still be made, else None."""
        try:
            made = self._make(self._settings.former_embedder, self._settings.former_options)
        except HoldfastError:
            return None
        return made if made is not None and made.id == embedder_id else None

    def _make(self, name: str, options: tuple[tuple[str, str], ...]) -> Embedder | None:
        if name and (name, options) not in self._made:
            self._made[name, options] = load_embedder(name, dict(options))
        return self._made.get((name, options))

    def _follow(self) -> None:
        """Read the settings again if the file changed: a user may choose another embedder while a server runs."""
        file = _stamp(self._settings.config_path)
        if file == self._file:
            return
        self._file = file
        try:
            self._settings = load_settings(child_environment(HOLDFAST_HOME=self._settings.home))
        except HoldfastError:
            return  # the file is half-edited: keep the embedder in use


def _stamp(path: str) -> tuple[int, ...]:
    """Return values that change whenever the file changes; empty when there is no file."""
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino
