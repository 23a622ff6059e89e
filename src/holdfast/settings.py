"""Reads the settings from the environment and from the user's config file; no other module reads these two.

A repository's own files are never read here, so they cannot switch on capture, network access or execution.
"""

from __future__ import annotations

import os
import sys
from binascii import crc32
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from holdfast.domain.moments import CHANNELS
from holdfast.errors import EmbedderError, InvalidValueError
from holdfast.lean.files import write_whole
from holdfast.lean.hostmarks import FOLDER_VARIABLES, SESSION_VARIABLES, STARTED_VARIABLES
from holdfast.lean.texts import dumps, file_of, file_url, loads, shown_url

if TYPE_CHECKING:
    from holdfast.domain.vocabulary import Moment

DEFAULT_EMBEDDER = "static"
"""The embedder if none is configured; "" means none. docs/explanation/static-embedder.md has the figures for it."""
DISTIL_KEYS = frozenset({"model_from", "after_sessions", "calls_a_day", "dollars_a_day"})
"""Keys of the table `[distil]` that Holdfast reads; the others are options of the model."""
DEFAULT_HOLDOUT, MOST_HOLDOUT = 0.05, 0.5
"""The share of lessons withheld to measure what they bring: where nothing says otherwise, and at most."""
NO_EMBEDDER = "none"
"""The name in the config file that means no embedder."""

SOCKET_FOLDER_LIMIT = 85
"""Bytes: a Unix socket's address holds 103 (macOS), of which the socket's own name needs up to 18."""


CALLS_A_DAY = 20
DOLLARS_A_DAY = 1.0
"""Limits of what the chosen model costs, unless the user sets others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Folders, the store and what is switched on. The defaults need no file."""

    home: str
    """Folder of the database, the log and the run files; mode 0700."""
    user_home: str
    """The user's home folder, where hosts keep their files."""
    store: str = field(repr=False)
    """URL of the store, by default `sqlite:///absolute/path`; its scheme names the plug-in. It may hold a password."""
    capture: bool = True
    deliver: tuple[Moment, ...] = CHANNELS
    session_tokens: int = 4_000
    """Tokens that a session is told; `[delivery] session_tokens` in the config file."""
    embedder: str = ""
    """Name of the embedder plug-in; if empty, recall uses words, paths and identifiers only."""
    embedder_options: tuple[tuple[str, str], ...] = ()
    former_embedder: str = ""
    """The previous embedder, which answers until every lesson has a vector of the new one."""
    former_options: tuple[tuple[str, str], ...] = ()
    distil_model: str = ""
    """The plug-in or host that distils sessions; if empty, nothing is ever sent."""
    distil_options: tuple[tuple[str, str], ...] = ()
    distil_after_sessions: bool = False
    """Whether the learner lets the model read each session after its end; otherwise only the user's commands do."""
    distil_answered: bool = False
    """Whether the user has said yes or no to that; setup does not ask again."""
    distil_calls_a_day: int = CALLS_A_DAY
    distil_dollars_a_day: float = DOLLARS_A_DAY
    ignore: tuple[str, ...] = ()
    """Globs of paths that are never captured, relative to a project's root."""
    retention_days: int = 90
    """Raw event text older than this is dropped; lessons never are."""
    ask_agent: bool = True
    """Whether the agent is asked once a session, after real work, what it taught; `[learning] ask_agent`."""
    hook_deadline_ms: int = 500
    holdout: float = DEFAULT_HOLDOUT
    """Share of deliveries, 0 to 0.5, that are withheld at random to measure what happens without them."""
    host_folders: tuple[tuple[str, str], ...] = ()
    """Hosts that keep their files in an unusual folder, and that folder; see `lean/hostmarks`."""

    @property
    def learns_after_sessions(self) -> bool:
        """Whether a model that the user chose reads each session after its end."""
        return bool(self.distil_model) and self.distil_after_sessions

    @property
    def config_path(self) -> str:
        """The path of the user's config file, which may not exist."""
        return os.path.join(self.home, "config.toml")

    @property
    def shown_store(self) -> str:
        """The store's URL without the user and the password."""
        return shown_url(self.store)

    @property
    def database_path(self) -> str:
        """The path of the file behind a `sqlite:///` store URL; empty for another backend's."""
        return file_of(self.store)

    @property
    def log_path(self) -> str:
        """The path of the log in which hooks record errors."""
        return os.path.join(self.home, "hooks.log")

    @property
    def run_path(self) -> str:
        """The folder of private sockets and locks."""
        return os.path.join(self.home, "run")

    @property
    def distil_path(self) -> str:
        """The path of the record of what was sent to a model, what it cost and what waits."""
        return os.path.join(self.home, "distil.jsonl")

    def index_path(self, project: str) -> str:
        """Return the file of a project's code index. Unsafe characters of the id are replaced, and a checksum added."""
        plain = "".join(c if c.isascii() and (c.isalnum() or c in "-_") else "_" for c in project)
        mark = "" if plain == project else f"-{crc32(project.encode()):08x}"
        return os.path.join(self.home, "index", f"{plain}{mark}.db")


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Return the settings from `HOLDFAST_*` variables, then `config.toml`, then defaults.

    `HOLDFAST_HOME` moves all of Holdfast's files (default `~/.holdfast`). `HOLDFAST_OFF=1` stops capture and delivery.
    `HOLDFAST_STORE_FILE` names a file with the store's URL, which may hold a password, in place of `HOLDFAST_STORE`.
    Raises InvalidValueError, which names the file and key, for a value that is not valid.
    """
    env = os.environ if environ is None else environ
    user_home = _user_home(env)
    home = env.get("HOLDFAST_HOME") or (os.path.join(user_home, ".holdfast") if user_home else "")
    if not home:
        raise InvalidValueError("no home folder", hint="set HOME or HOLDFAST_HOME")
    home = os.path.abspath(home)
    file = os.path.join(home, "config.toml")
    return _settings(home, user_home, env, load_table(file), file)


def load_table(file: str) -> dict[str, Any]:
    """Return the table in a config file; empty if there is none. Raises InvalidValueError if it cannot be read."""
    return _load_file(file) if os.path.exists(file) else {}


def _user_home(env: Mapping[str, str], windows: bool = os.name == "nt") -> str:
    """Return the user's home folder. On Windows hosts use USERPROFILE; some shells and tools set HOME differently."""
    first, second = ("USERPROFILE", "HOME") if windows else ("HOME", "USERPROFILE")
    return env.get(first) or env.get(second) or ""


def _load_file(file: str) -> dict[str, Any]:
    """Return the config file's table. A copy in JSON saves every hook the 10 ms for importing a TOML parser."""
    try:
        status = os.stat(file)
        version = f"{status.st_mtime_ns}:{status.st_size}:{status.st_ino}"
        copy = os.path.join(os.path.dirname(file), "run", "config.json")
        return _load_copy(copy, version) or _parse_file(file, copy, version)
    except OSError as exc:
        raise InvalidValueError(f"{file}: {exc}", hint=f"correct or remove {file}") from exc


def _load_copy(copy: str, version: str) -> dict[str, Any]:
    """Return the table from the copy; empty if there is no copy or it was made from another version of the file."""
    try:
        with open(copy, encoding="utf-8") as stream:
            copied = loads(stream.read())
        return copied["table"] if copied["version"] == version else {}
    except (OSError, ValueError, KeyError, TypeError):
        return {}


def _parse_file(file: str, copy: str, version: str) -> dict[str, Any]:
    import tomllib

    with open(file, "rb") as stream:
        try:
            table = tomllib.load(stream)
        except (tomllib.TOMLDecodeError, UnicodeDecodeError) as exc:
            raise InvalidValueError(f"{file}: {exc}", hint=f"correct or remove {file}") from exc
    try:
        os.makedirs(os.path.dirname(copy), mode=0o700, exist_ok=True)
        write_whole(copy, dumps({"version": version, "table": table}).encode("utf-8"))
    except (OSError, TypeError, ValueError):
        pass  # a read-only home, or a date, which JSON cannot hold: the file is parsed again next time
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
    delivery = take(file, "delivery", dict, {})
    embedder = take(file, "embedder", dict, {})
    chosen = take(embedder, "name", str, DEFAULT_EMBEDDER)
    former = take(file, "former_embedder", dict, {})
    distil = take(file, "distil", dict, {})
    if "api_key" in embedder or "api_key" in former or "api_key" in distil:
        hint = "put the key into an environment variable and give the variable's name: api_key_env = …"
        raise InvalidValueError(f"{name}: an API key must not be in a file", hint=hint)
    store = read_variable("HOLDFAST_STORE", env) or take(file, "store", str, file_url(os.path.join(home, "memory.db")))
    return Settings(
        home=home,
        user_home=user_home,
        store=store,
        capture=not off and take(file, "capture", bool, True),
        deliver=() if off else tuple(c for c in CHANNELS if take(deliver, c, bool, True)),
        session_tokens=max(0, take(delivery, "session_tokens", int, 4_000)),
        embedder="" if chosen == NO_EMBEDDER else chosen,
        embedder_options=_options(embedder),
        former_embedder=take(former, "name", str, ""),
        former_options=_options(former),
        distil_model=take(distil, "model_from", str, ""),
        distil_options=tuple((k, str(v)) for k, v in sorted(distil.items()) if k not in DISTIL_KEYS),
        distil_after_sessions=take(distil, "after_sessions", bool, False),
        distil_answered="after_sessions" in distil,
        distil_calls_a_day=take(distil, "calls_a_day", int, CALLS_A_DAY),
        distil_dollars_a_day=float(take(distil, "dollars_a_day", (int, float), DOLLARS_A_DAY)),
        ignore=tuple(take(file, "ignore", list, [])),
        retention_days=take(file, "retention_days", int, 90),
        ask_agent=not off and take(take(file, "learning", dict, {}), "ask_agent", bool, True),
        hook_deadline_ms=min(500, take(file, "hook_deadline_ms", int, 500)),
        holdout=_holdout(env, take(take(file, "outcomes", dict, {}), "holdout", (int, float), DEFAULT_HOLDOUT), name),
        host_folders=tuple((host, env[name]) for host, name in FOLDER_VARIABLES if env.get(name)),
    )


def _holdout(env: Mapping[str, str], configured: float, name: str) -> float:
    """Return the share that is withheld. Raises InvalidValueError unless it is between 0 and 0.5."""
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
    """Return the host that started this process, by its environment; "" if that names none."""
    env = os.environ if environ is None else environ
    return next((host for name, host in STARTED_VARIABLES if env.get(name)), "")


def host_session(environ: Mapping[str, str] | None = None) -> tuple[str, str]:
    """Return host and session of an MCP server, by its environment; ("mcp", "") if that names none."""
    env = os.environ if environ is None else environ
    return next(((host, env[name]) for name, host in SESSION_VARIABLES if env.get(name)), ("mcp", ""))


def read_variable(name: str, env: Mapping[str, str]) -> str:
    """Return the value of a variable, or else the content of the file that `<name>_FILE` names; "" without both.

    A container or a service manager hands secrets over as files. Raises InvalidValueError for a file that cannot be
    read; the message never holds the value.
    """
    if value := env.get(name, ""):
        return value
    file = env.get(f"{name}_FILE", "")
    if not file:
        return ""
    try:
        with open(file, encoding="utf-8") as stream:
            return stream.read().strip()
    except (OSError, UnicodeDecodeError) as exc:
        reason = exc.strerror if isinstance(exc, OSError) else "not UTF-8"
        raise InvalidValueError(f"{name}_FILE: {file}: {reason}", hint=f"correct or unset {name}_FILE") from exc


def read_secret(variable: str) -> str:
    """Return the API key in an environment variable. It never becomes part of the Settings, which are shown.

    Raises EmbedderError, which names the variable, if it is not set.
    """
    value = os.environ.get(variable, "")
    if not value:
        raise EmbedderError(f"the variable {variable} is not set", hint=f"export {variable}=… or change `api_key_env`")
    return value


def package_folder() -> str:
    """Return the absolute folder in which this package is installed."""
    return os.path.dirname(os.path.abspath(__file__))


def launcher_path(home: str) -> str:
    """Return the absolute path of the launcher, which setup writes into Holdfast's home and hosts start."""
    return os.path.join(home, "bin", "holdfast-launch" + (".cmd" if os.name == "nt" else ""))


def program_paths(home: str) -> tuple[str, str, str]:
    """Return the absolute paths that hosts' entries use: the interpreter, the package's folder and the launcher."""
    return interpreter(), package_folder(), launcher_path(home)


def isolated(module: str, *arguments: str) -> list[str]:
    """Return the command that runs `main` of a Holdfast module in a process of its own.

    It uses -I and `surfaces/start.py`, because the current folder may be a stranger's repository and Python must not
    look for modules there.
    """
    return [interpreter(), "-I", os.path.join(package_folder(), "surfaces", "start.py"), module, *arguments]


def compiled_hook() -> str:
    """Return the path of the compiled program that answers hooks; "" where the package has none for this machine."""
    path = os.path.join(package_folder(), "_launcher", "hook")
    return path if os.access(path, os.X_OK) else ""


def hook_program(host: str, *options: str) -> list[str]:
    """Return the command that answers a hook.

    The compiled program asks a running server, and starts Python without one. -I and -S leave out the user's site
    folder, PYTHON* variables and the module `site`, which doubles the start-up time.
    """
    entry = os.path.join(package_folder(), "surfaces", "hooks", "entry.py")
    program = compiled_hook()
    start = [program, interpreter(), entry] if program else [interpreter(), "-I", "-S", entry]
    return [*start, host, *options]


def interpreter() -> str:
    """Return the absolute path of the running interpreter, which hosts start."""
    return os.path.abspath(sys.executable)


def socket_folder(run_path: str) -> str:
    """Return the folder of the private sockets: the run folder, or one in /tmp if its path is too long for an address.

    Windows has no such sockets; hooks answer alone there. The folder in /tmp may be used only if it belongs to this
    user and is closed to others; both ends check that.
    """
    if len(os.fsencode(run_path)) <= SOCKET_FOLDER_LIMIT or not hasattr(os, "getuid"):
        return run_path
    return f"/tmp/holdfast-{os.getuid()}-{crc32(os.fsencode(run_path)):08x}"


def colour_wanted() -> bool:
    """Return False if NO_COLOR is set to any value (https://no-color.org)."""
    return not os.environ.get("NO_COLOR")


def child_environment(**over: str) -> dict[str, str]:
    """Return this process's environment with the given variables set, for a child process."""
    return {**os.environ, **over}
