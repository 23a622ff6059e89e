"""Team servers that this home knows: their addresses and tokens, and which project is linked to which.

The file `remotes.json` belongs to the user alone (0600) and holds tokens and keys, so nothing prints it and no backup
contains it. Only `holdfast login` and `holdfast remote` change it.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from holdfast.domain.vocabulary import ProjectId
from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.home.handover import REMOTES as FILE
from holdfast.lean.files import FileLock, write_whole
from holdfast.lean.plain import from_plain, to_plain
from holdfast.lean.texts import dumps, loads

VERSION = 1
TOKEN_VARIABLE = "HOLDFAST_TOKEN"
"""The variable that `holdfast login` takes a token from, where nobody types one."""
LOCK_WAIT_S = 5.0
LONGEST_NAP_S = 0.05
LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """A team server and this user's token for it."""

    name: str
    """What people call it; the server's host name unless they chose another."""
    url: str
    """Scheme, host and port, and a path where the server has one; no slash at the end."""
    token: str = field(repr=False, default="")
    private_key: str = field(repr=False, default="")
    """Seals this person's private lessons; the server never gets it. Empty: they are not synced."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProjectLink:
    """A project of this machine whose lessons are synced with a server."""

    project: ProjectId
    remote: str
    """The server's name."""
    chosen_only: bool = False
    """Whether only lessons that were shared one by one are sent; else every active one that is not private."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Remotes:
    """The content of the file."""

    remotes: tuple[Remote, ...] = ()
    links: tuple[ProjectLink, ...] = ()

    def named(self, name: str) -> Remote:
        """Return the server of that name or address; the only one for an empty name. Raises InvalidValueError."""
        if not name and len(self.remotes) == 1:
            return self.remotes[0]
        if not self.remotes:
            raise InvalidValueError("no server is known here", hint="holdfast login URL")
        if not name:
            raise InvalidValueError("there are several servers", hint="name one of: " + ", ".join(self.names()))
        remote = next((remote for remote in self.remotes if name in (remote.name, remote.url)), None)
        if remote is None:
            raise InvalidValueError(f"no server {name!r} is known here", hint="one of: " + ", ".join(self.names()))
        return remote

    def names(self) -> list[str]:
        """Return the servers' names."""
        return [remote.name for remote in self.remotes]

    def link_of(self, project: ProjectId) -> ProjectLink | None:
        """Return the project's link; None if it is not synced with a server."""
        return next((link for link in self.links if link.project == project), None)

    def remote_of(self, project: ProjectId) -> Remote | None:
        """Return the server that the project is linked to, or None."""
        link = self.link_of(project)
        return next((remote for remote in self.remotes if link and remote.name == link.remote), None)

    def with_remote(self, remote: Remote) -> Remotes:
        """Return the same with that server, in place of one of the same name."""
        others = tuple(other for other in self.remotes if other.name != remote.name)
        return replace(self, remotes=(*others, remote))

    def without_remote(self, name: str) -> Remotes:
        """Return the same without that server and its links."""
        return Remotes(
            remotes=tuple(remote for remote in self.remotes if remote.name != name),
            links=tuple(link for link in self.links if link.remote != name),
        )

    def with_link(self, link: ProjectLink) -> Remotes:
        """Return the same with the project linked, in place of an earlier link."""
        return replace(self, links=(*(other for other in self.links if other.project != link.project), link))

    def without_link(self, project: ProjectId) -> Remotes:
        """Return the same without the project's link."""
        return replace(self, links=tuple(link for link in self.links if link.project != project))


def load_remotes(home: str) -> Remotes:
    """Return what the file holds; nothing where there is none. Raises HoldfastError for a file that cannot be read."""
    path = os.path.join(home, FILE)
    try:
        with open(path, encoding="utf-8") as stream:
            plain = loads(stream.read())
        return _read(plain)
    except FileNotFoundError:
        return Remotes()
    except (OSError, InvalidValueError, KeyError, TypeError, AttributeError, UnicodeDecodeError) as exc:
        hint = f"holdfast login URL writes it again, once {path} is moved away"
        raise HoldfastError(f"{path} cannot be read: {type(exc).__name__}", hint=hint) from exc


def change_remotes(home: str, edit: Callable[[Remotes], Remotes]) -> Remotes:
    """Replace the file's content by what `edit` makes of it, and return that. Raises HoldfastError."""
    path = os.path.join(home, FILE)
    os.makedirs(home, mode=0o700, exist_ok=True)
    lock = FileLock(f"{path}.lock")
    try:
        if not lock.take(LOCK_WAIT_S, LONGEST_NAP_S):
            raise HoldfastError(f"another process changes {path}", hint="try again in a moment")
        changed = edit(load_remotes(home))
        plain: dict[str, Any] = {
            "version": VERSION,
            "remotes": [to_plain(remote) for remote in changed.remotes],
            "links": [to_plain(link) for link in changed.links],
        }
        write_whole(path, dumps(plain).encode(), durable=True)
        return changed
    finally:
        lock.close()


def normalise_url(url: str) -> str:
    """Return the address of a server as it is stored. Raises InvalidValueError.

    Without a scheme it is https, and http on this machine. A token may not be sent to another machine in the clear.
    """
    from urllib.parse import urlsplit  # late: 7 ms, for few commands

    text = url.strip().rstrip("/")
    if "://" not in text:
        host = text.partition("/")[0].rpartition(":")[0] or text.partition("/")[0]
        text = f"{'http' if host in LOOPBACK else 'https'}://{text}"
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError as exc:
        raise InvalidValueError(f"{url!r} is not an address", hint="holdfast login https://memory.example.com") from exc
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise InvalidValueError(f"{url!r} is not an address", hint="holdfast login https://memory.example.com")
    if parts.username or parts.password:
        raise InvalidValueError("an address holds no password", hint="the token is asked for, and never in the address")
    if parts.scheme == "http" and host not in LOOPBACK:
        raise InvalidValueError(
            f"http://{host} would send the token in the clear", hint=f"use https://{host}, or a tunnel to localhost"
        )
    shown = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{shown}{f':{port}' if port else ''}{parts.path.removesuffix('/v1')}"


def name_of(url: str) -> str:
    """Return what a server is called unless a person says otherwise: its host, and its port where that is unusual."""
    return url.partition("://")[2].partition("/")[0]


def _read(plain: dict[str, Any]) -> Remotes:
    if plain["version"] != VERSION:
        raise InvalidValueError("written by another version")
    return Remotes(
        remotes=tuple(from_plain(Remote, row) for row in plain["remotes"]),
        links=tuple(from_plain(ProjectLink, row) for row in plain["links"]),
    )
