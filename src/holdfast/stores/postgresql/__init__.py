"""The PostgreSQL backend: data of many organisations in one database, with pgvector.

`store` is the Store port for one organisation; `backend` opens the stores of a team's organisations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from holdfast.errors import InvalidValueError, PluginNotFoundError

try:
    from holdfast.stores.postgresql.address import Address, address_of
    from holdfast.stores.postgresql.backend import PostgresBackend
    from holdfast.stores.postgresql.database import Database
    from holdfast.stores.postgresql.store import PostgresStore
except ModuleNotFoundError as exc:
    if exc.name not in ("psycopg", "psycopg_pool"):
        raise
    hint = "pip install 'holdfast-memory[server]'"
    raise PluginNotFoundError(f"a memory on PostgreSQL needs the package {exc.name}", hint=hint) from exc


def make(options: Mapping[str, str]) -> PostgresStore:
    """Return a store, not opened yet, for `url` = `postgresql://user@host:5432/database?org=1`.

    See `address.address_of` for the URL's parameters. `timeout_s` (default 30) is how long a call may wait for a lock
    or a free connection. With `upgrade` = `no` an older schema raises SchemaTooOldError. Raises InvalidValueError for
    another kind of URL.
    """
    address = read_address(options)
    database = Database(address, upgrade=options.get("upgrade") != "no")
    return PostgresStore(database, address.org, owns=True)


def make_backend(options: Mapping[str, str]) -> PostgresBackend:
    """Return a server's backend, not opened yet, for the options of `make`; the URL's `org` is not used.

    `connections` is the most that this process has to each database, in the place of the URL's `pool`. `replicas` are
    URLs of read replicas, and `places` further databases as `name=URL`, both separated by blanks.
    """
    places = [place.partition("=") for place in options.get("places", "").split()]
    if not all(name and url for name, _, url in places):
        raise InvalidValueError("serve.places is not a list of name=URL", hint="write east=postgresql://… west=…")
    return PostgresBackend(
        _address(options, options.get("url", "")),
        upgrade=options.get("upgrade") != "no",
        replicas=[_address(options, url) for url in options.get("replicas", "").split()],
        places={name: _address(options, url) for name, _, url in places},
    )


def _address(options: Mapping[str, str], url: str) -> Address:
    address = read_address({**options, "url": url})
    connections = int(options.get("connections", "0"))
    return replace(address, pool_size=connections) if connections else address


def read_address(options: Mapping[str, str]) -> Address:
    """Return the address that the options `url` and `timeout_s` name."""
    try:
        timeout_s = float(options.get("timeout_s", "30"))
    except ValueError as exc:
        raise InvalidValueError(f"timeout_s is not a number: {options['timeout_s']!r}") from exc
    return address_of(options.get("url", ""), timeout_s)
