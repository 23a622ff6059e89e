"""Settings: the only reader of the environment and of the user's config file.

A repository's own files are never read here: they cannot switch capture, network or execution on.
"""

from __future__ import annotations

import os
import sys

from holdfast.domain.moments import CHANNELS
from holdfast.errors import EmbedderError, InvalidValueError
from holdfast.lean.hostmarks import FOLDER_VARIABLES, SESSION_VARIABLES, STARTED_VARIABLES
from holdfast.lean.records import Frozen
from holdfast.lean.texts import file_of, file_url

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from holdfast.domain.vocabulary import Moment

DEFAULT_EMBEDDER = "static"
"""The embedder where none is configured; empty: none. docs/explanation/static-embedder.md holds the figures for it."""
DISTIL_KEYS = frozenset({"model_from", "after_sessions", "calls_a_day", "dollars_a_day"})
"""Keys of the table `[distil]` that are ours; the others are the model's options."""
DEFAULT_HOLDOUT, MOST_HOLDOUT = 0.05, 0.5
"""The share of lessons withheld to measure what they bring: where nothing says otherwise, and at most."""
NO_EMBEDDER = "none"
"""What the config file says for none at all."""

SOCKET_FOLDER_LIMIT = 85
"""Bytes: a Unix socket's address holds 103 (macOS), of which the socket's own name needs up to 18."""


class Settings(Frozen):
    """Where things are and what is switched on. Defaults need no file."""

    home: str
    """Folder of the database, the log and the run files; mode 0700."""
    user_home: str
    """The user's home folder, where hosts keep their files."""
    store: str
    """URL of the store, by default `sqlite:///absolute/path`; its scheme names the plug-in."""
    capture: bool = True
    deliver: tuple[Moment, ...] = CHANNELS
    embedder: str = ""
    """Name of the embedder plug-in; empty: recall by words, paths and identifiers alone."""
    embedder_options: tuple[tuple[str, str], ...] = ()
    former_embedder: str = ""
    """The one configured before, which answers until every lesson has a vector of the new one."""
    former_options: tuple[tuple[str, str], ...] = ()
    distil_model: str = ""
    """Plug-in, or host, that distils sessions; empty: nothing is ever sent."""
    distil_options: tuple[tuple[str, str], ...] = ()
    distil_after_sessions: bool = False
    """The learner distils each session once it has ended; else only `holdfast distil` does."""
    distil_calls_a_day: int = 20
    distil_dollars_a_day: float = 1.0
    ignore: tuple[str, ...] = ()
    """Globs of paths that are never captured, relative to a project's root."""
    retention_days: int = 90
    """Raw event text older than this is dropped; lessons never are."""
    wrap_up: bool = False
    """The agent is asked once a session, after real work, to note what it learnt."""
    hook_deadline_ms: int = 500
    holdout: float = DEFAULT_HOLDOUT
    """Share of deliveries, 0 to 0.5, that are withheld at random, to learn what happens without them."""
    host_folders: tuple[tuple[str, str], ...] = ()
    """Hosts that were told to keep their files elsewhere than usual, and where: see `lean/hostmarks`."""

    @property
    def config_path(self) -> str:
        """The user's config file, there or not."""
        return os.path.join(self.home, "config.toml")

    @property
    def database_path(self) -> str:
        """The file behind a `sqlite:///` store URL; empty for another backend's."""
        return file_of(self.store)

    @property
    def log_path(self) -> str:
        """Where hooks write what went wrong."""
        return os.path.join(self.home, "hooks.log")

    @property
    def run_path(self) -> str:
        """Folder of private sockets and locks."""
        return os.path.join(self.home, "run")

    @property
    def distil_path(self) -> str:
        """The record of what was sent to a model, what it cost and what waits."""
        return os.path.join(self.home, "distil.jsonl")

    def index_path(self, project: str) -> str:
        """The file of a project's code index; an id that is no file name is replaced, with a mark of its own."""
        from binascii import crc32

        plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in project)
        mark = "" if plain == project else f"-{crc32(project.encode()):08x}"
        return os.path.join(self.home, "index", f"{plain}{mark}.db")


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Settings from `HOLDFAST_*` variables over `config.toml` over defaults.

    `HOLDFAST_HOME` moves everything of ours (default `~/.holdfast`); `HOLDFAST_OFF=1` stops capture and delivery.
    Raises InvalidValueError naming the file and key for a value that cannot be.
    """
    env = os.environ if environ is None else environ
    user_home = _user_home(env)
    home = env.get("HOLDFAST_HOME") or (os.path.join(user_home, ".holdfast") if user_home else "")
    if not home:
        raise InvalidValueError("no home folder", hint="set HOME or HOLDFAST_HOME")
    home = os.path.abspath(home)
    file = os.path.join(home, "config.toml")
    return _settings(home, user_home, env, _load_file(file) if os.path.exists(file) else {}, file)


def _user_home(env: Mapping[str, str], windows: bool = os.name == "nt") -> str:
    """The user's home folder. On Windows hosts go by USERPROFILE, and HOME is what some shells and tools make of it."""
    first, second = ("USERPROFILE", "HOME") if windows else ("HOME", "USERPROFILE")
    return env.get(first) or env.get(second) or ""


def _load_file(file: str) -> dict[str, Any]:
    """The config file's table. A copy as JSON saves every hook the 10 ms that importing a TOML parser takes."""
    try:
        status = os.stat(file)
        version = f"{status.st_mtime_ns}:{status.st_size}:{status.st_ino}"
        copy = os.path.join(os.path.dirname(file), "run", "config.json")
        return _load_copy(copy, version) or _parse_file(file, copy, version)
    except OSError as exc:
        raise InvalidValueError(f"{file}: {exc}", hint=f"mend or remove {file}") from exc


def _load_copy(copy: str, version: str) -> dict[str, Any]:
    """The table as parsed before; empty when there is no copy, or it is of another version of the file."""
    from holdfast.lean.texts import loads

    try:
        with open(copy, encoding="utf-8") as stream:
            copied = loads(stream.read())
        return copied["table"] if copied["version"] == version else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _parse_file(file: str, copy: str, version: str) -> dict[str, Any]:
    import tomllib

    from holdfast.lean.files import write_whole
    from holdfast.lean.texts import dumps

    with open(file, "rb") as stream:
        try:
            table = tomllib.load(stream)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
            raise InvalidValueError(f"{file}: {exc}", hint=f"mend or remove {file}") from exc
    try:
        os.makedirs(os.path.dirname(copy), mode=0o700, exist_ok=True)
        write_whole(copy, dumps({"version": version, "table": table}).encode("utf-8"))
    except (OSError, TypeError, ValueError):
        pass  # a read-only home, or a date in the file: it is parsed again next time
    return table


def _settings(home: str, user_home: str, env: Mapping[str, str], file: dict[str, Any], name: str) -> Settings:
    def take(table: dict[str, Any], key: str, kind: type | tuple[type, ...], default: Any) -> Any:
        value = table.get(key, default)
        if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
            wanted = kind.__name__ if isinstance(kind, type) else "a number"
            raise InvalidValueError(f"{name}: {key} must be {wanted}, not {value!r}", hint=f"edit {name}")
        return value

    off = env.get("HOLDFAST_OFF", "") not in ("", "0")
    deliver = take(file, "deliver", dict, {})
    embedder = take(file, "embedder", dict, {})
    chosen = take(embedder, "name", str, DEFAULT_EMBEDDER)
    former = take(file, "former_embedder", dict, {})
    distil = take(file, "distil", dict, {})
    if "api_key" in embedder or "api_key" in former or "api_key" in distil:
        raise InvalidValueError(f"{name}: a key does not belong in a file", hint="name its variable: api_key_env = …")
    store = env.get("HOLDFAST_STORE") or take(file, "store", str, file_url(os.path.join(home, "memory.db")))
    return Settings(
        home=home,
        user_home=user_home,
        store=store,
        capture=not off and take(file, "capture", bool, True),
        deliver=() if off else tuple(c for c in CHANNELS if take(deliver, c, bool, True)),
        embedder="" if chosen == NO_EMBEDDER else chosen,
        embedder_options=_options(embedder),
        former_embedder=take(former, "name", str, ""),
        former_options=_options(former),
        distil_model=take(distil, "model_from", str, ""),
        distil_options=tuple((k, str(v)) for k, v in sorted(distil.items()) if k not in DISTIL_KEYS),
        distil_after_sessions=take(distil, "after_sessions", bool, False),
        distil_calls_a_day=take(distil, "calls_a_day", int, 20),
        distil_dollars_a_day=float(take(distil, "dollars_a_day", (int, float), 1.0)),
        ignore=tuple(take(file, "ignore", list, [])),
        retention_days=take(file, "retention_days", int, 90),
        wrap_up=not off and take(file, "wrap_up", bool, False),
        hook_deadline_ms=min(500, take(file, "hook_deadline_ms", int, 500)),
        holdout=_holdout(env, take(take(file, "outcomes", dict, {}), "holdout", (int, float), DEFAULT_HOLDOUT), name),
        host_folders=tuple((host, env[name]) for host, name in FOLDER_VARIABLES if env.get(name)),
    )


def _holdout(env: Mapping[str, str], configured: float, name: str) -> float:
    """The share that is withheld. Raises InvalidValueError for one that would withhold more than half."""
    named = env.get("HOLDFAST_HOLDOUT", "")
    where = "HOLDFAST_HOLDOUT" if named else f"{name}: holdout"
    try:
        share = float(named or configured)
    except ValueError:
        share = -1.0
    if not 0 <= share <= MOST_HOLDOUT:
        value = named or configured
        raise InvalidValueError(f"{where} must be between 0 and {MOST_HOLDOUT}, not {value}", hint="0 turns it off")
    return share


def _options(table: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple((key, str(value)) for key, value in sorted(table.items()) if key != "name")


def calling_host(environ: Mapping[str, str] | None = None) -> str:
    """The host that started this process, as its environment tells; empty when it does not."""
    env = os.environ if environ is None else environ
    return next((host for name, host in STARTED_VARIABLES if env.get(name)), "")


def host_session(environ: Mapping[str, str] | None = None) -> tuple[str, str]:
    """Host and session an MCP server was started for, as the host's environment tells; ("mcp", "") when it does not."""
    env = os.environ if environ is None else environ
    return next(((host, env[name]) for name, host in SESSION_VARIABLES if env.get(name)), ("mcp", ""))


def read_secret(variable: str) -> str:
    """The value of an environment variable that holds a key. It never becomes part of the Settings, which are shown.

    Raises EmbedderError, naming the variable, when it is not set.
    """
    value = os.environ.get(variable, "")
    if not value:
        raise EmbedderError(f"the variable {variable} is not set", hint=f"export {variable}=… or change `api_key_env`")
    return value


def package_folder() -> str:
    """The absolute folder this package is installed in."""
    return os.path.dirname(os.path.abspath(__file__))


def launcher_path(home: str) -> str:
    """The absolute path of the launcher, which hosts start; setup writes it into Holdfast's home."""
    return os.path.join(home, "bin", "holdfast-launch" + (".cmd" if os.name == "nt" else ""))


def program_paths(home: str) -> tuple[str, str, str]:
    """What hosts' entries are made of: the interpreter, the package's folder and the launcher, all absolute."""
    return interpreter(), package_folder(), launcher_path(home)


def isolated(module: str, *arguments: str) -> list[str]:
    """The words that run `main` of a module of ours in a process of its own.

    -I and `surfaces/start.py`: the current folder may be a stranger's repository, and must not be where modules are
    looked for.
    """
    return [interpreter(), "-I", os.path.join(package_folder(), "surfaces", "start.py"), module, *arguments]


def hook_program(host: str, *options: str) -> list[str]:
    """The words that answer a hook.

    -I and -S: neither the user's site folders nor PYTHON* variables nor `site` itself, which would double the start.
    """
    entry = os.path.join(package_folder(), "surfaces", "hooks", "entry.py")
    return [interpreter(), "-I", "-S", entry, host, *options]


def interpreter() -> str:
    """The absolute path of the running interpreter: what a host is told to start."""
    return os.path.abspath(sys.executable)


def socket_folder(run_path: str) -> str:
    """Folder of the private sockets: the run folder, or one in /tmp where its path is too long for a socket's address.

    Windows has no such sockets: hooks answer alone there.

    The folder in /tmp is only to be used when it is ours and closed to others; both ends check that.
    """
    if len(os.fsencode(run_path)) <= SOCKET_FOLDER_LIMIT or not hasattr(os, "getuid"):
        return run_path
    from binascii import crc32

    return f"/tmp/holdfast-{os.getuid()}-{crc32(os.fsencode(run_path)):08x}"


def colour_wanted() -> bool:
    """False when NO_COLOR is set to anything (https://no-color.org)."""
    return not os.environ.get("NO_COLOR")


def child_environment(**over: str) -> dict[str, str]:
    """This process's environment with those variables set: what a child of ours starts with."""
    return {**os.environ, **over}
