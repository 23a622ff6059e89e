"""A store's URL taken apart: what libpq gets, and parameters of our own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from holdfast.errors import InvalidValueError

FORM = "write postgresql://user@host:5432/database, with the password in ~/.pgpass or PGPASSWORD"
OURS = ("org", "owner", "pool", "partitions", "prepare")
PARTITIONS, POOL_SIZE = 16, 8
CONNECT_TIMEOUT_S, SHORTEST_CONNECT_S = 10, 2
"""How long a connection may take to be made; libpq rounds one second up."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a database is and how to use it. Neither `repr` nor `where` shows a user's name or a password."""

    conninfo: str = field(repr=False)
    """What libpq gets."""
    where: str
    """Host, port and database, for messages."""
    org: int = 1
    """The organisation of a store that is made for this URL."""
    owner: str = field(default="", repr=False)
    """The role that migrates; empty: the role of the URL."""
    pool_size: int = POOL_SIZE
    """Most connections at once of this process."""
    partitions: int = PARTITIONS
    """Hash partitions of each table in a new database; 0 for one that is distributed by an extension."""
    prepare: bool = True
    """Whether statements are prepared. `prepare=no` is for a pooler that cannot: pgbouncer before 1.21."""
    timeout_s: float = 30.0
    """How long a call waits for a lock or for a free connection."""

    def owner_conninfo(self) -> str:
        """Return what libpq gets for migrations."""
        return make_conninfo(self.conninfo, user=self.owner) if self.owner else self.conninfo


def address_of(url: str, timeout_s: float = 30.0) -> Address:
    """Return the address of a URL `postgresql://user@host:port/database?org=1&pool=8&...`.

    Our own parameters are `org`, `owner`, `pool`, `partitions` and `prepare`; libpq gets the others. Raises
    InvalidValueError, whose message does not repeat the URL, because it may hold a password.
    """
    taken = _take_apart(url)
    if taken is None:  # raised here, so that no error with the URL in its message is behind it
        raise InvalidValueError("HOLDFAST_STORE is not a PostgreSQL URL", hint=FORM)
    conninfo, known, ours = taken
    return Address(
        conninfo=_connection(conninfo, known, timeout_s),
        where=_where(known),
        org=_number(ours, "org", 1, 1, 2**31 - 1),
        owner=ours.get("owner", ""),
        pool_size=_number(ours, "pool", POOL_SIZE, 1, 1_000),
        partitions=_number(ours, "partitions", PARTITIONS, 0, 1_024),
        prepare=ours.get("prepare") != "no",
        timeout_s=timeout_s,
    )


def _take_apart(url: str) -> tuple[str, Mapping[str, object], Mapping[str, str]] | None:
    """Return what libpq gets, its parameters, and ours; None for another kind of URL."""
    try:
        parts = urlsplit(url)
        if "," not in parts.netloc and parts.port == 0:  # asking for the port of one server checks it
            return None
        pairs = parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query))
        ours = {name: value for name, value in pairs if name in OURS}
        rest = [(name, value) for name, value in pairs if name not in OURS]
        conninfo = make_conninfo(urlunsplit(parts._replace(query=urlencode(rest))))
        known = conninfo_to_dict(conninfo)
    except (ValueError, psycopg.Error):
        return None
    if parts.scheme not in ("postgresql", "postgres") or not parts.netloc + parts.path:
        return None
    return conninfo, known, ours


def _connection(conninfo: str, known: Mapping[str, object], timeout_s: float) -> str:
    """Return what libpq gets, with our defaults for what the URL leaves open.

    A network that swallows packets is noticed after a minute; without these settings a call would wait for hours.
    """
    connect_s = max(SHORTEST_CONNECT_S, min(CONNECT_TIMEOUT_S, round(timeout_s)))
    defaults: dict[str, str | int] = {
        "connect_timeout": connect_s, "keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3,
        "tcp_user_timeout": 60_000, "client_encoding": "utf8",
    }  # fmt: skip
    return make_conninfo(conninfo, **{name: value for name, value in defaults.items() if name not in known})


def _where(known: Mapping[str, object]) -> str:
    host, port = known.get("host") or "local socket", known.get("port")
    return f"PostgreSQL at {host}{f':{port}' if port else ''}, database {known.get('dbname') or 'of the user'}"


def _number(ours: Mapping[str, str], name: str, default: int, least: int, most: int) -> int:
    text = ours.get(name, "")
    if not text:
        return default
    if not (text.isascii() and text.isdigit() and least <= int(text) <= most):
        raise InvalidValueError(f"{name} in HOLDFAST_STORE is not a number from {least} to {most}")
    return int(text)
