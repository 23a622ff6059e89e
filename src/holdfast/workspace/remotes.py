"""Normalises git remote URLs to one name a repository, whatever the clone's protocol and credentials."""

from __future__ import annotations

import os

CASELESS_HOSTS = ("github.com", "gitlab.com", "bitbucket.org", "codeberg.org")
"""Hosts that ignore case in a repository's path."""

_OTHER_NAMES = {"ssh.github.com": "github.com", "www.github.com": "github.com", "altssh.gitlab.com": "gitlab.com"}
_USUAL_PORTS = ("80", "443", "22", "9418")


def normalise_remote(url: str, root: str = "") -> str:
    """Return `host/path` of a remote, without user, password, usual port and `.git`; `file:` + path for a local one.

    Relative local paths start at `root`. Empty for an empty URL.
    """
    url = url.strip()
    scheme, separator, rest = url.partition("://")
    if not url:
        return ""
    if separator and scheme.lower() != "file":
        return _named(scheme.lower(), *_split(rest))
    if not separator and _is_scp(url):
        host, _, path = url.rpartition("@")[2].partition(":") if "[" not in url else _bracketed(url)
        return _named("ssh", host, path)
    return "file:" + os.path.realpath(os.path.join(root, rest if separator else url)).removesuffix("/.git")


def _split(rest: str) -> tuple[str, str]:
    """Return host (with port) and path of the text after the scheme."""
    authority, _, path = rest.partition("/")
    return authority.rpartition("@")[2], path


def _is_scp(url: str) -> bool:
    """Return whether it is `user@host:path`: a colon before any slash, and no drive letter."""
    before = url.partition(":")[0]
    return ":" in url and "/" not in before and "\\" not in before and len(before) > 1


def _bracketed(url: str) -> tuple[str, str, str]:
    """Split `user@[host:port]:path`, git's form for a port or an IPv6 address without a scheme."""
    host, _, path = url.partition("[")[2].partition("]")
    return host.rpartition("@")[2], ":", path.lstrip(":")


def _named(scheme: str, authority: str, path: str) -> str:
    host, colon, port = authority.lower().rpartition(":")
    if not colon or not port.isdigit():
        host, port = authority.lower().rstrip(":"), ""
    if port and (scheme.endswith("ssh") or port in _USUAL_PORTS):
        port = ""  # ssh and https of one server differ in port, not in repositories
    host = _OTHER_NAMES.get(host, host)
    path = "/".join(part for part in path.partition("?")[0].split("/") if part).removesuffix(".git")
    if host in CASELESS_HOSTS:
        path = path.lower()
    return f"{host}:{port}/{path}" if port else f"{host}/{path}"
