"""The SQLite backend: all data of one user in one file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING

from holdfast.errors import InvalidValueError
from holdfast.lean.texts import file_of
from holdfast.stores.sqlite.store import SqliteStore

if TYPE_CHECKING:
    from holdfast.stores.sqlite.backend import SqliteBackend


def make(options: Mapping[str, str]) -> SqliteStore:
    """Return a store, not opened yet, for `url` = `sqlite:///absolute/path`.

    `timeout_s` (default 30) is how long a call may wait for another process before StoreLockedError. With `upgrade` =
    `no` an older schema raises SchemaTooOldError. With `frozen` = `yes` a file beside which SQLite cannot make its own
    files is opened read-only without them. Raises InvalidValueError for another kind of URL.
    """
    url = options.get("url", "")
    path = file_of(url)
    if not os.path.isabs(path) or path.endswith("/"):
        raise InvalidValueError(f"not a SQLite URL: {url!r}", hint="write sqlite:///absolute/path/memory.db")
    try:
        timeout_s = float(options.get("timeout_s", "30"))
    except ValueError as exc:
        raise InvalidValueError(f"timeout_s is not a number: {options['timeout_s']!r}") from exc
    return SqliteStore(path, timeout_s, upgrade=options.get("upgrade") != "no", frozen=options.get("frozen") == "yes")


def make_backend(options: Mapping[str, str]) -> SqliteBackend:
    """Return a server's backend, not opened yet, for the options of `make`. A file has no replicas."""
    from holdfast.stores.sqlite.backend import SqliteBackend  # late: a hook, which never serves, loads this module

    return SqliteBackend(make(options))
