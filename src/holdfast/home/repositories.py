"""Git repositories that this home keeps lessons in, as `holdfast sync --remote` was told of them.

The file `repositories.json` belongs to the user alone (0600), because an address may hold a login.
"""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256

from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.lean.files import write_whole
from holdfast.lean.plain import from_plain, to_plain
from holdfast.lean.texts import dumps, loads

FOLDER = "repositories"
FILE = "repositories.json"


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRepository:
    """A git repository with lessons."""

    name: str
    """What people call it: the end of its address."""
    url: str = field(repr=False)
    is_own: bool = False
    """Whether only this user can read it: their own lessons travel with it, and what comes from it takes effect."""


def load_repositories(home: str) -> tuple[KnownRepository, ...]:
    """Return the repositories of this home. Raises HoldfastError for a file that cannot be read."""
    path = os.path.join(home, FILE)
    try:
        with open(path, encoding="utf-8") as stream:
            return tuple(from_plain(KnownRepository, plain) for plain in loads(stream.read()))
    except FileNotFoundError:
        return ()
    except (OSError, ValueError, TypeError, AttributeError) as exc:
        hint = f"move {path} away; holdfast sync --remote URL writes it again"
        raise HoldfastError(f"{path} cannot be read: {type(exc).__name__}", hint=hint) from exc


def save_repositories(home: str, repositories: Sequence[KnownRepository]) -> None:
    """Replace the file."""
    os.makedirs(home, exist_ok=True)
    text = dumps([to_plain(repository) for repository in repositories])
    write_whole(os.path.join(home, FILE), text.encode())


def known_repository(home: str, named: str) -> KnownRepository | None:
    """Return the repository of that name or address, or None."""
    return next((known for known in load_repositories(home) if named in (known.name, known.url)), None)


def remember_repository(home: str, url: str, is_own: bool) -> KnownRepository:
    """Return the repository of that address, noted in this home with a name."""
    repositories = load_repositories(home)
    before = next((known for known in repositories if known.url == url), None)
    known = before or KnownRepository(name=_name_for(url, [other.name for other in repositories]), url=url)
    known = replace(known, is_own=is_own)
    if known != before:
        save_repositories(home, [*(other for other in repositories if other.url != url), known])
    return known


def copy_folder(home: str, url: str) -> str:
    """Return the folder of the repository's copy in this home."""
    return os.path.join(home, FOLDER, sha256(url.encode("utf-8", "replace")).hexdigest()[:16])


def _name_for(url: str, taken: Sequence[str]) -> str:
    name = re.split(r"[/\\:]", url.rstrip("/\\"))[-1].removesuffix(".git") or "lessons"
    if not re.fullmatch(r"[\w.-]+", name):
        raise InvalidValueError("the end of the address is no name", hint="give the address of a git repository")
    return next(free for free in (name, *(f"{name}-{number}" for number in range(2, 99))) if free not in taken)
