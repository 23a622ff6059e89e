"""Composition root: Settings to Memory, everything wired in one readable function.

Imports are inside the functions: a surface pays only for what it opens.
"""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta

from holdfast import plugins
from holdfast.errors import HoldfastError, InvalidValueError, ModelError, ProjectUnknownError, StoreError
from holdfast.lean.deadline import Deadline
from holdfast.lean.records import replace
from holdfast.lean.texts import uuid7
from holdfast.service import memory as _service
from holdfast.settings import Settings, child_environment, load_settings, read_secret

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from holdfast.codeindex.local import LocalCodeIndex
    from holdfast.domain.event import Event
    from holdfast.domain.project import Place
    from holdfast.domain.statefamilies import StateFamily
    from holdfast.home.witness import Loss
    from holdfast.ports.branches import Branches
    from holdfast.ports.clock import Clock
    from holdfast.ports.codeindex import CodeIndex
    from holdfast.ports.detector import Detector
    from holdfast.ports.embedder import Embedder
    from holdfast.ports.host import Host
    from holdfast.ports.indexstore import IndexStore
    from holdfast.ports.lessonfiles import LessonFiles
    from holdfast.ports.model import LanguageModel
    from holdfast.ports.store import Store
    from holdfast.ports.workspace import Workspace
    from holdfast.settings import Settings
    from holdfast.workspace.claims import Claims


LONG_LOG = 4_000_000
"""Bytes of a write-ahead log from which on a hook closes the store, which empties it."""

HOOK_SEARCH_S = 0.1
"""How long a hook looks through git's history for one thing that is not where it was."""

PATIENCE = 20.0
"""How many times longer git may take where nobody waits for a hook's answer."""


EXPORT_KEY_FILE = "export.key"
"""In Holdfast's home: what seals exported lines, so that an import knows them again."""

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


class Memory(_service.Memory):
    """The memory of a folder's project, wired to this machine: `with Memory() as memory: memory.recall("…")`."""

    def __init__(
        self, folder: str = "", *, settings: Settings | None = None, cold: bool = False, brief: bool = False
    ) -> None:
        """Open the configured store (made on first use).

        `cold` is for short-lived hooks: no embedder is loaded, nothing is waited for long, no schema is upgraded. A
        store that cannot be opened is then no error here: `trouble` says why, and every use of it raises that.
        Otherwise raises StoreError or InvalidValueError. `brief` is for a command that soon ends: a store that cannot
        be written, for want of room or of rights, is read.
        """
        from holdfast.ports.parts import Parts
        from holdfast.workspace.local import LocalWorkspace

        self.settings = settings or load_settings()
        self._cold = cold
        clock = SystemClock()
        embedders = _Embedders(self.settings)
        self.trouble: StoreError | None = None
        store = self._open_cold_store() if cold else open_store(self.settings, frozen=brief)
        workspace = LocalWorkspace(
            states=store,
            clock=clock,
            patience=1.0 if cold else PATIENCE,
            claims=lambda: _make_claims(store, self.settings, CLAIM_TURN_S if cold else CLAIM_TURN_S * PATIENCE),
        )
        self._codeindex = _CodeIndexOnce(self.settings, workspace, clock, cold)
        self._hasty_codeindex = _CodeIndexOnce(self.settings, workspace, clock, True)
        parts = Parts(
            store=store,
            workspace=workspace,
            clock=clock,
            host=load_host,
            detectors=_load_detectors,
            embedder=_no_embedder if cold else embedders.current,
            former=embedders.former,
            codeindex=self._codeindex,
            export_key=lambda make: _load_export_key(self.settings, make),
            lesson_files=_open_lesson_files,
            hasty=cold,
            capture=self.settings.capture,
            deliver=self.settings.deliver,
            ignore=self.settings.ignore,
            retention_days=self.settings.retention_days,
            wrap_up=self.settings.wrap_up,
            holdout=self.settings.holdout,
        )
        super().__init__(parts, os.path.abspath(folder or os.getcwd()))

    def close(self) -> None:
        """Let go of the store, and of the code index if one was opened."""
        self._codeindex.close()
        self._hasty_codeindex.close()
        if not self._cold:
            self._keep_witness()
        super().close()

    def find_loss(self) -> Loss | None:
        """What the store lost since it was last closed; None for nothing. Raises StoreError."""
        from holdfast.home.witness import find_loss

        return find_loss(self.settings.home, self.settings.store, self.parts.store.extent())

    def accept_loss(self) -> None:
        """Take what the store holds now for all there is: `find_loss` finds nothing until more is lost."""
        from holdfast.home.witness import accept

        accept(self.settings.home, self.settings.store, self.parts.store.extent())

    def _keep_witness(self) -> None:
        from holdfast.home.witness import keep

        try:
            keep(self.settings.home, self.settings.store, self.parts.store.extent())
        except StoreError:
            return  # closed before, damaged or locked: who closes it next tells

    def _open_cold_store(self) -> Store:
        try:
            return open_store(self.settings, wait_of(self.settings), upgrade=False, frozen=True)
        except StoreError as exc:
            self.trouble = exc
            return _NoStore(exc)  # type: ignore[return-value]

    def bound_log(self, before: Callable[[], None]) -> None:
        """What a hook does last, since it leaves without closing: empty a write-ahead log that has become long.

        `before` is called when there is something to do, which takes a while.
        """
        try:
            is_long = os.stat(self.settings.database_path + "-wal").st_size > LONG_LOG
        except OSError:
            return
        if is_long and self.trouble is None:
            before()
            self.parts.store.__exit__(None, None, None)

    def for_hooks(self) -> _service.Memory:
        """The same memory where a host waits for the answer: few lessons are looked at closely, and not for long."""
        return _service.Memory(replace(self.parts, hasty=True, codeindex=self._hasty_codeindex), self.folder)


def open_memory(folder: str = "", *, home: str = "") -> Memory:
    """The memory of a folder's project, by default the current folder's; use it with `with`, or call `close`.

    `home` is the folder that holds the store and the settings, by default `HOLDFAST_HOME` or `~/.holdfast`. Raises
    StoreError when the store cannot be opened, and InvalidValueError for settings that cannot be read.
    """
    environment = child_environment(HOLDFAST_HOME=os.path.abspath(os.path.expanduser(home))) if home else None
    return Memory(folder, settings=load_settings(environment))


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


def find_place(store: Store, settings: Settings, folder: str = "") -> Place:
    """The place of the folder as a session in it would see it; nothing is written. Raises as `Workspace.locate`."""
    from holdfast.workspace.claims import Claims
    from holdfast.workspace.local import LocalWorkspace

    states = _Unwritten(store)
    claims = Claims(states, lambda project: _first_folder(store, project))
    workspace = LocalWorkspace(states, SystemClock(), PATIENCE, lambda: claims)
    return workspace.locate(os.path.abspath(folder or os.getcwd()))


class _Unwritten:
    """A store's states, and in front of them what is set, which the store does not hear of."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._set: dict[tuple[str, str], str] = {}

    def get_state(self, family: StateFamily, owner: str = "") -> str:
        """The value set here, else the store's."""
        key = family.name, owner
        return self._set[key] if key in self._set else self._store.get_state(family, owner)

    def set_state(self, family: StateFamily, owner: str, value: str) -> None:
        """Keep a value for as long as this is used."""
        self._set[family.name, owner] = value


def repository_texts(paths: Sequence[str]) -> dict[str, tuple[str, str]]:
    """By path, for files that a repository may have brought along: why, and the root of its work tree (or empty)."""
    from holdfast.workspace.authorship import repository_texts
    from holdfast.workspace.gitrun import Git

    return repository_texts(Git(SystemClock(), PATIENCE), paths)


def _make_claims(store: Store, settings: Settings, wait_s: float) -> Claims:
    """What tells whether a project id that a repository's file declares counts; a claim that waits is logged once."""
    from holdfast.home.runfiles import Turn, note
    from holdfast.workspace.claims import Claims

    def report(root: str, declared: str) -> None:
        hint = "if it is the same project: holdfast project accept, in that folder"
        note(settings.log_path, root, ProjectUnknownError(f"declares the id of another project: {declared}", hint=hint))

    return Claims(
        store,
        lambda project: _first_folder(store, project),
        lambda: Turn(settings.run_path, "project", wait_s),
        report,
    )


def _first_folder(store: Store, project: str) -> str | None:
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


def _open_lesson_files(place: Place) -> LessonFiles:
    from holdfast.workspace.gitrun import Git
    from holdfast.workspace.lessonfiles import LocalLessonFiles

    return LocalLessonFiles(place.root, Git(SystemClock(), PATIENCE))


def open_checkout(folder: str) -> tuple[Branches, str] | None:
    """The branches of the clone that a folder is in, and the commit that is checked out; no store is opened."""
    from holdfast.workspace.branches import LocalBranches
    from holdfast.workspace.gitfiles import find_checkout
    from holdfast.workspace.gitrun import Git

    checkout = find_checkout(os.path.realpath(folder))
    if checkout is None:
        return None
    branches = LocalBranches(Git(SystemClock(), PATIENCE), checkout.root)
    return branches, branches.resolve("HEAD")


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


def load_embedder(name: str, options: Mapping[str, str]) -> Embedder:
    """The embedder of that name. The variable that `api_key_env` names is read now, and only now.

    Raises PluginNotFoundError, InvalidValueError or EmbedderError.
    """
    resolved = dict(options)
    if resolved.get("api_key_env"):
        resolved["api_key"] = read_secret(resolved["api_key_env"])
    embedder: Embedder = plugins.load("embedders", name, resolved)
    return embedder


def load_model(name: str, options: Mapping[str, str]) -> LanguageModel:
    """The model that the plug-in of that name reaches, or the host of that name as a headless agent.

    The variable that `api_key_env` names is read now, and only now. Raises PluginNotFoundError, InvalidValueError or
    ModelError.
    """
    resolved = dict(options)
    if resolved.get("api_key_env"):
        resolved["api_key"] = read_secret(resolved["api_key_env"])
    if name.replace("-", "_") not in plugins.names("models"):
        resolved = {**agent_options(name), **resolved}
        name = "agent"
    model: LanguageModel = plugins.load("models", name, resolved)
    return model


def agent_options(host: str) -> dict[str, str]:
    """The options of the model plug-in `agent` for that host. Raises PluginNotFoundError or ModelError."""
    from json import dumps
    from shutil import which

    headless = load_host(host).profile.headless
    if headless is None:
        raise ModelError(f"{host} cannot be asked without a terminal", hint="holdfast distil models")
    program = which(headless.program)
    if program is None:
        raise ModelError(f"{headless.program} is not on the PATH", hint="holdfast distil models")
    chosen = [headless.model_option, headless.model] if headless.model else []
    words = [program, *headless.arguments]
    at = words.index(MODEL_HERE) if MODEL_HERE in words else len(words)
    command = [*words[:at], *chosen, *words[at + 1 :]]
    return {
        "command": dumps(command),
        "answer": headless.answer,
        "cost": headless.cost,
        "id": f"{headless.model}@{host}",
    }


def worth_of_replies(events: Sequence[Event]) -> list[float]:
    """For each event the probability, 0 to 1, that its words state something worth keeping; 0 for a tool's."""
    judged: list[float] = plugins.load("detectors", "statements").worth(events)
    return judged


MODEL_HERE = "{model}"
"""Stands in a host's arguments where the choice of a model goes."""


def _load_detectors() -> Sequence[Detector]:
    return [plugins.load("detectors", name) for name in plugins.names("detectors")]


def _no_embedder() -> Embedder | None:
    return None


def _load_export_key(settings: Settings, make: bool) -> bytes:
    """This home's key for sealing exports, for its owner alone; empty when there is none and none can be made.

    Raises InvalidValueError for a key that others can read: they could seal what they like.
    """
    from holdfast.home.runfiles import Turn

    path = os.path.join(settings.home, EXPORT_KEY_FILE)
    try:
        if make and not os.path.exists(path):
            with Turn(settings.run_path, "export-key", 2.0):  # of two that start at once one makes it
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


class _Embedders:
    """Makes the configured embedders when asked, each once, and follows what `holdfast embedder use` changes."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._file = _stamp(settings.config_path)
        self._made: dict[tuple[str, tuple[tuple[str, str], ...]], Embedder] = {}

    def current(self) -> Embedder | None:
        """The embedder in use; None without one."""
        self._follow()
        return self._make(self._settings.embedder, self._settings.embedder_options)

    def former(self, embedder_id: str) -> Embedder | None:
        """The one that was in use before, when it has that id and can still be made."""
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
        """Read the settings again when the file changed: a server outlives many a choice of embedder."""
        file = _stamp(self._settings.config_path)
        if file == self._file:
            return
        self._file = file
        try:
            self._settings = load_settings(child_environment(HOLDFAST_HOME=self._settings.home))
        except HoldfastError:
            return  # half-edited: what was in use stays in use


def _stamp(path: str) -> tuple[int, ...]:
    """Return values that change whenever the file changes; empty when there is no file."""
    try:
        status = os.stat(path)
    except OSError:
        return ()
    return status.st_mtime_ns, status.st_size, status.st_ino


class _CodeIndexOnce:
    """Makes the code index at the first call and gives the same one ever after; files are opened when asked."""

    def __init__(self, settings: Settings, workspace: Workspace, clock: Clock, cold: bool) -> None:
        self._settings = settings
        self._workspace = workspace
        self._clock = clock
        self._cold = cold
        self._made: LocalCodeIndex | None = None

    def __call__(self) -> CodeIndex:
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


def all_hosts(settings: Settings) -> list[Host]:
    """Every host that something can be set up in, by name; not those of which only transcripts are read."""
    from holdfast import plugins

    hosts = [load_host(name.replace("_", "-"), settings) for name in plugins.names("hosts")]
    return [host for host in hosts if host.profile.mcp or host.profile.hooks or host.profile.rules]
