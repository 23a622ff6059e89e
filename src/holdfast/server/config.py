"""The server's settings: `[serve]` in the config file, `HOLDFAST_SERVE_*` variables, and `key=value` arguments.

Arguments win over variables, and variables over the file. Secrets come from the environment, or from a file that a
variable names, and are never shown.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit

from holdfast.errors import InvalidValueError
from holdfast.settings import Settings, load_settings, load_table, read_variable

PREFIX = "HOLDFAST_SERVE_"
SECRETS = {"metrics_token": "HOLDFAST_METRICS_TOKEN", "oidc_secret": "HOLDFAST_OIDC_SECRET"}
"""Settings that no file of ours and no argument may hold, and their variables."""
LOOPBACK = ("localhost", "127.0.0.1", "::1")
"""Names under which a machine reaches itself; requests for them are always taken."""
LEVELS = ("debug", "info", "warning", "error")
FORMATS = ("auto", "json", "text")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServeSettings:
    """What the server is told. Times are in seconds, sizes in bytes."""

    common: Settings = field(repr=False)
    """The settings of every process: the home folder and the store, whose URL may hold a password."""
    host: str = "127.0.0.1"
    port: int = 7433
    workers: int = 0
    """Processes that answer; 0 means one for each core with PostgreSQL, and one with SQLite."""
    threads: int = 8
    """Requests that a process works on at once; as many connections to the database are kept."""
    certificate: str = ""
    certificate_key: str = ""
    plain_http: bool = False
    """Whether other machines may be answered without TLS; needed where neither a certificate nor a proxy is named."""
    public_url: str = ""
    """The address under which people reach the server: in links and for sign-in."""
    allowed_hosts: tuple[str, ...] = ()
    trusted_proxies: tuple[str, ...] = ()
    """Addresses or networks whose `X-Forwarded-For` and `X-Forwarded-Proto` are believed."""
    body_bytes: int = 64_000_000
    request_s: float = 30.0
    """From a request's first byte, or from the connection, until all of it has arrived."""
    send_s: float = 30.0
    """How long a client may take nothing of its answer."""
    connections: int = 512
    """Connections that a process keeps open."""
    stop_s: float = 20.0
    """How long requests may take to end after the server was told to stop."""
    log_level: str = "info"
    log_format: str = "auto"
    replicas: tuple[str, ...] = field(default=(), repr=False)
    """URLs of PostgreSQL read replicas."""
    places: tuple[str, ...] = field(default=(), repr=False)
    """Further PostgreSQL databases over which organisations are spread, each as `name=URL`."""
    oidc_issuer: str = ""
    oidc_client: str = ""
    oidc_name: str = "single sign-on"
    oidc_organisation: int = 1
    """The number of the organisation whose members sign in by OpenID Connect."""
    metrics_token: str = field(default="", repr=False)
    oidc_secret: str = field(default="", repr=False)

    @property
    def is_on_file(self) -> bool:
        """Whether the store is one SQLite file, for one person."""
        return bool(self.common.database_path)

    @property
    def worker_count(self) -> int:
        """How many processes answer."""
        return self.workers or (1 if self.is_on_file else len(os.sched_getaffinity(0)))

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        return is_loopback(self.host)

    @property
    def is_https(self) -> bool:
        """Whether people reach the server by HTTPS, here or at a proxy."""
        return bool(self.certificate) or self.public_url.startswith("https://")

    @property
    def hosts(self) -> frozenset[str]:
        """Names for which requests are taken, in lower case and without a port."""
        named = [*self.allowed_hosts, urlsplit(self.public_url).hostname or "", *LOOPBACK]
        return frozenset(name.lower() for name in named if name)

    @property
    def url(self) -> str:
        """The address that people are told, without a slash at its end."""
        if self.public_url:
            return self.public_url.rstrip("/")
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self.certificate else 'http'}://{host}:{self.port}"


KEYS = tuple(each.name for each in fields(ServeSettings) if each.name not in ("common", *SECRETS))
"""Keys of the table `[serve]`."""


def is_loopback(host: str) -> bool:
    """Return whether the name or address reaches this machine only."""
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def load_serve_settings(arguments: Sequence[str] = (), environ: Mapping[str, str] | None = None) -> ServeSettings:
    """Return the settings. Raises InvalidValueError, which names the key and where it was set."""
    env = os.environ if environ is None else environ
    common = load_settings(env)
    table = load_table(common.config_path).get("serve", {})
    if not isinstance(table, dict):
        raise InvalidValueError(f"{common.config_path}: serve must be a table", hint=f"edit {common.config_path}")
    values: dict[str, Any] = {}
    for name, value in table.items():
        _check_known(name, common.config_path)
        values[name] = _from_file(name, value, common.config_path)
    for name in KEYS:
        if text := env.get(PREFIX + name.upper(), ""):
            values[name] = _from_text(name, text, PREFIX + name.upper())
    for argument in arguments:
        name, _, text = argument.partition("=")
        _check_known(name, "the command line")
        values[name] = _from_text(name, text, f"--{name.replace('_', '-')}")
    values |= {name: read_variable(variable, env) for name, variable in SECRETS.items()}
    settings = ServeSettings(common=common, **values)
    _check(settings)
    return settings


_DEFAULTS: dict[str, Any] = {each.name: each.default for each in fields(ServeSettings)}


def _check_known(name: str, where: str) -> None:
    if name in SECRETS:
        variable = SECRETS[name]
        raise InvalidValueError(
            f"{where}: {name} is a secret, which must not be in a file of settings",
            hint=f"export {variable}=…, or {variable}_FILE=<path>",
        )
    if name not in KEYS:
        raise InvalidValueError(f"{where}: [serve] has no key {name!r}", hint=f"the keys are: {', '.join(KEYS)}")


def _from_file(name: str, value: Any, where: str) -> Any:
    default = _DEFAULTS[name]
    if isinstance(default, tuple):
        fits = isinstance(value, list) and all(isinstance(entry, str) for entry in value)
        wanted = "a list of texts"
    elif isinstance(default, float):
        fits, wanted = isinstance(value, int | float) and not isinstance(value, bool), "a number"
    else:
        fits, wanted = type(value) is type(default), type(default).__name__
    if not fits:
        raise InvalidValueError(f"{where}: serve.{name} must be {wanted}, not {value!r}", hint=f"edit {where}")
    return tuple(value) if isinstance(default, tuple) else type(default)(value)


def _from_text(name: str, text: str, where: str) -> Any:
    default = _DEFAULTS[name]
    if isinstance(default, tuple):
        return tuple(part.strip() for part in text.split(",") if part.strip())
    if isinstance(default, bool):
        if text.lower() not in ("1", "0", "true", "false", "yes", "no"):
            raise InvalidValueError(f"{where} must be yes or no, not {text!r}")
        return text.lower() in ("1", "true", "yes")
    try:
        return type(default)(text)
    except ValueError as exc:
        raise InvalidValueError(f"{where} must be a number, not {text!r}") from exc


_RANGES: dict[str, tuple[float, float]] = {
    "port": (0, 65_535),
    "workers": (0, 256),
    "threads": (1, 256),
    "body_bytes": (1_000, 10_000_000_000),
    "request_s": (0.1, 3_600),
    "send_s": (0.1, 3_600),
    "connections": (1, 100_000),
    "stop_s": (0, 3_600),
    "oidc_organisation": (1, 2**31 - 1),
}


def _check(settings: ServeSettings) -> None:
    for name, (least, most) in _RANGES.items():
        value = getattr(settings, name)
        if not least <= value <= most:
            raise InvalidValueError(f"serve.{name} must be between {least:g} and {most:g}, not {value:g}")
    for name, choices in (("log_level", LEVELS), ("log_format", FORMATS)):
        if getattr(settings, name) not in choices:
            raise InvalidValueError(f"serve.{name} must be one of {', '.join(choices)}")
    for check in (_check_certificate, _check_proxies, _check_public_url, _check_reach, _check_oidc, _check_workers):
        check(settings)


def _check_certificate(settings: ServeSettings) -> None:
    if bool(settings.certificate) != bool(settings.certificate_key):
        raise InvalidValueError("serve.certificate and serve.certificate_key belong together", hint="set both or none")
    for path in filter(None, (settings.certificate, settings.certificate_key)):
        try:
            with open(path, "rb"):
                pass
        except OSError as exc:
            raise InvalidValueError(f"{path}: {exc.strerror}", hint="the server must be able to read it") from exc


def _check_proxies(settings: ServeSettings) -> None:
    for proxy in settings.trusted_proxies:
        try:
            ip_network(proxy)
        except ValueError as exc:
            hint = 'name addresses or networks, such as "10.0.0.0/24"'
            raise InvalidValueError(f"serve.trusted_proxies: {exc}", hint=hint) from exc


def _check_public_url(settings: ServeSettings) -> None:
    if not settings.public_url:
        return
    parts = _split(settings.public_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.path not in ("", "/") or parts.query:
        raise InvalidValueError(
            f"serve.public_url must be like https://memory.example.org, not {settings.public_url!r}"
        )


def _split(url: str) -> Any:
    try:
        return urlsplit(url)
    except ValueError as exc:
        raise InvalidValueError(f"serve.public_url: {exc}") from exc


def _check_reach(settings: ServeSettings) -> None:
    """Refuse a server that others reach under any name, or that sends their tokens in clear by accident."""
    if settings.is_loopback:
        return
    if not settings.public_url and not settings.allowed_hosts:
        raise InvalidValueError(
            f"serve.host is {settings.host}, but no name is allowed for requests",
            hint='set serve.public_url = "https://…" or serve.allowed_hosts',
        )
    if not settings.certificate and not settings.trusted_proxies and not settings.plain_http:
        raise InvalidValueError(
            f"serve.host is {settings.host}: other machines would send their tokens without TLS",
            hint="set certificate and certificate_key, or trusted_proxies; plain_http = true takes the risk",
        )


def _check_oidc(settings: ServeSettings) -> None:
    if not settings.oidc_issuer:
        return
    needed: tuple[tuple[str, Callable[[ServeSettings], str]], ...] = (
        ("oidc_client", lambda chosen: chosen.oidc_client),
        ("public_url", lambda chosen: chosen.public_url),
    )
    for name, value in needed:
        if not value(settings):
            raise InvalidValueError(f"sign-in by {settings.oidc_issuer} needs serve.{name}")
    parts = _split(settings.oidc_issuer)
    if parts.scheme != "https" and not is_loopback(parts.hostname or ""):
        raise InvalidValueError("serve.oidc_issuer must begin with https://")


def _check_workers(settings: ServeSettings) -> None:
    if settings.is_on_file and settings.workers > 1:
        raise InvalidValueError(
            "one SQLite file is served by one process", hint="set serve.workers = 1, or HOLDFAST_STORE=postgresql://…"
        )
