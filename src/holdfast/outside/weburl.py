"""Hosts in web addresses, read without a parser's imports."""

from __future__ import annotations

LOOPBACK = ("localhost", "127.0.0.1", "[::1]", "::1")


def host_in(url: str) -> str:
    """Return host and port of an http(s) URL, without a login; empty for anything else."""
    scheme, separator, rest = url.partition("://")
    host = rest.partition("/")[0].partition("?")[0].rpartition("@")[2]
    return host if separator and scheme in ("http", "https") else ""


def is_loopback(host: str) -> bool:
    """Return whether the host, with or without a port, is this machine; no proxy is used for it."""
    return host.rpartition(":")[0] in LOOPBACK or host in LOOPBACK
