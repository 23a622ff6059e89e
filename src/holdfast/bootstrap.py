"""Composition root: builds a `Memory` from the settings, with every service. `wiring` has the part that hooks need.

Imports are inside the functions, so that a surface pays only for what it opens.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from json import dumps
from shutil import which

from holdfast import plugins
from holdfast.domain.project import Location
from holdfast.domain.statefamilies import StateFamily
from holdfast.errors import HoldfastError, InvalidValueError, ModelError, StoreError
from holdfast.home.runfiles import RunLock
from holdfast.home.witness import Loss, accept, find_loss, keep
from holdfast.ports.host import Host
from holdfast.ports.plugins import Detector, Embedder, LanguageModel
from holdfast.ports.store import Store
from holdfast.ports.workspace import LessonFiles
from holdfast.service import memory as _service
from holdfast.settings import Settings, child_environment, load_settings, read_secret
from holdfast.wiring import (
    TIMEOUT_SCALE,
    CodeIndexOnce,
    SystemClock,
    first_folder,
    load_host,
    make_parts,
    make_workspace,
    open_hook_store,
    open_store,
)
from holdfast.workspace.claims import Claims
from holdfast.workspace.gitrun import Git
from holdfast.workspace.lessonfiles import LocalLessonFiles
from holdfast.workspace.local import LocalWorkspace

EXPORT_KEY_FILE = "export.key"
"""File in Holdfast's home with the key that seals exported lines, so that an import recognises them."""


class Memory(_service.Memory):
    """The memory of a folder's project on this machine: `with Memory() as memory: memory.recall("…")`."""

    def __init__(
        self, folder: str = "", *, settings: Settings | None = None, cold: bool = False, brief: bool = False
    ) -> None:
        """Open the configured store, which is created on first use. Raises StoreError or InvalidValueError.

        `cold` is for short-lived hooks: no embedder is loaded, waits are short, and no schema is upgraded. A store that
        cannot be opened is then no error here; `trouble` holds the reason, and every use of the store raises it.
        `brief` is for a command that ends soon: a store that cannot be written, because the disk is full or
        permissions are missing, is opened for reading.
        """
        self.settings = settings or load_settings()
        self._cold = cold
        self.trouble: StoreError | None = None
        if cold:
            store, self.trouble = open_hook_store(self.settings)
        else:
            store = open_store(self.settings, frozen=brief)
        clock = SystemClock()
        workspace = make_workspace(self.settings, store, clock, low_latency=cold)
        self._codeindex = CodeIndexOnce(self.settings, workspace, clock, cold)
        self._low_latency_codeindex = CodeIndexOnce(self.settings, workspace, clock, True)
        embedders = _Embedders(self.settings)
        services = replace(
            make_parts(self.settings, store, workspace, clock, self._codeindex),
            low_latency=cold,
            detectors=_load_detectors,
            former=embedders.former,
            export_key=lambda make: _load_export_key(self.settings, make),
            lesson_files=_open_lesson_files,
        )
        if not cold:
            services = replace(services, embedder=embedders.current)
        super().__init__(services, os.path.abspath(folder or os.getcwd()))

    def close(self) -> None:
        """Close the store, and the code index if one was opened."""
        self._codeindex.close()
        self._low_latency_codeindex.close()
        if not self._cold:
            self._keep_witness()
        super().close()

    def find_loss(self) -> Loss | None:
        """Return what the store has lost since it was last closed, or None. Raises StoreError."""
        return find_loss(self.settings.home, self.settings.store, self.services.store.extent())

    def accept_loss(self) -> None:
        """Accept what the store holds now as complete; `find_loss` then returns None until more is lost."""
        accept(self.settings.home, self.settings.store, self.services.store.extent())

    def _keep_witness(self) -> None:
        try:
            keep(self.settings.home, self.settings.store, self.services.store.extent())
        except StoreError:
            return  # already closed, damaged or locked: the next process that closes it keeps the witness

    def for_hooks(self) -> _service.Memory:
        """Return the same memory for answers that a host waits for; it checks few lessons closely, and briefly."""
        return _service.Memory(
            replace(self.services, low_latency=True, codeindex=self._low_latency_codeindex), self.folder
        )


def open_memory(folder: str = "", *, home: str = "") -> Memory:
    """Open the memory of a folder's project, by default the current folder's; use `with`, or call `close`.

    `home` is the folder with the store and the settings, by default `HOLDFAST_HOME` or `~/.holdfast`. Raises StoreError
    if the store cannot be opened, and InvalidValueError for settings that cannot be read.
    """
    environment = child_environment(HOLDFAST_HOME=os.path.abspath(os.path.expanduser(home))) if home else None
    return Memory(folder, settings=load_settings(environment))


def find_place(store: Store, settings: Settings, folder: str = "") -> Location:
    """Return the location of the folder as a session there sees it, without writing. Raises as `Workspace.locate`."""
    states = _Unwritten(store)
    claims = Claims(states, lambda project: first_folder(store, project))
    workspace = LocalWorkspace(states, SystemClock(), TIMEOUT_SCALE, lambda: claims)
    return workspace.locate(os.path.abspath(folder or os.getcwd()))


class _Unwritten:
    """The states of a store with values set on top of them, which are not written to the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._set: dict[tuple[str, str], str] = {}

    def get_state(self, family: StateFamily, owner: str = "") -> str:
        """Return the value set here, else the store's."""
        key = family.name, owner
        return self._set[key] if key in self._set else self._store.get_state(family, owner)

    def set_state(self, family: StateFamily, owner: str, value: str) -> None:
        """Set a value in this object only."""
        self._set[family.name, owner] = value


def repository_texts(paths: Sequence[str]) -> dict[str, tuple[str, str]]:
    """Return, by path, why a repository may have brought the file along, and the root of its work tree or ""."""
    from holdfast.workspace.authorship import repository_texts

    return repository_texts(Git(SystemClock(), TIMEOUT_SCALE), paths)


def _open_lesson_files(location: Location) -> LessonFiles:
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


def load_model(name: str, options: Mapping[str, str]) -> LanguageModel:
    """Make the model of the plug-in of that name, or of the host of that name, which runs as a headless agent.

    The variable that `api_key_env` names is read here and nowhere else. Raises PluginNotFoundError, InvalidValueError
    or ModelError.
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
    """Return the options of the model plug-in `agent` for the host. Raises PluginNotFoundError or ModelError."""
    headless = load_host(host).profile.headless
    if headless is None:
        raise ModelError(f"{host} cannot run without a terminal", hint="holdfast distil models")
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
        "error": headless.error,
        "id": f"{headless.model}@{host}" if headless.model else host,
    }


MODEL_HERE = "{model}"
"""Placeholder in a host's arguments for the options that choose the model."""


def _load_detectors() -> Sequence[Detector]:
    return [plugins.load("detectors", name) for name in plugins.names("detectors")]


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


def all_hosts(settings: Settings) -> list[Host]:
    """Return every host that setup supports, by name, without hosts of which only transcripts are read."""
    hosts = [load_host(name.replace("_", "-"), settings) for name in plugins.names("hosts")]
    return [host for host in hosts if host.profile.mcp or host.profile.hooks or host.profile.rules]
