"""Reads lock files of npm, uv, Poetry, Cargo and pip: which versions of each dependency a project uses.

An unreadable file gives no versions; the only effect is that a lesson is not woken. If a package is locked in several
versions, all are returned.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

from holdfast.lean.texts import loads

Pairs = Iterator[tuple[str, str]]
_PINNED = re.compile(r"^([A-Za-z0-9][\w.-]*)\s*(?:\[[^]]*])?\s*===?\s*([^\s;,#\\]+)")


def find_versions(name: str, text: str) -> dict[str, frozenset[str]]:
    """Return the versions in the lock file of that name, by the package's `plain_name`."""
    read = READERS.get(name)
    versions: defaultdict[str, set[str]] = defaultdict(set)
    if read is not None:
        try:
            for package, version in read(text):
                versions[plain_name(package)].add(version)
        except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
            return {}
    return {package: frozenset(locked) for package, locked in versions.items()}


def plain_name(package: str) -> str:
    """Return the package's name for comparison: in small letters, with `-`, `_` and `.` alike, as Python has it."""
    name = package.strip().casefold()
    return name if "/" in name or name.startswith("@") else re.sub(r"[-_.]+", "-", name)


def version_key(version: str) -> tuple[Any, ...]:
    """Return a sort key: the numbers; a pre-release sorts before the release and a post-release after it."""
    plain = version.strip().lower().removeprefix("v").split("+", 1)[0]
    matched = re.match(r"\d+(?:\.\d+)*", plain)
    numbers = [int(part) for part in matched.group().split(".")] if matched else []
    while numbers and numbers[-1] == 0:
        numbers.pop()
    rest = plain[matched.end() :] if matched else plain
    stage = 1 if not rest else 2 if rest.lstrip(".-").startswith("post") else 0
    words = tuple((0, int(word)) if word.isdigit() else (1, word) for word in re.findall(r"\d+|[a-z]+", rest))
    return tuple(numbers), stage, words


def _npm(text: str) -> Pairs:
    plain = loads(text)
    packages = plain.get("packages")
    if isinstance(packages, dict):
        tops = {path.removeprefix("node_modules/"): entry for path, entry in packages.items() if path}
        for path, entry in tops.items():
            name = entry.get("name") or path.rpartition("node_modules/")[2]
            nested = (
                "node_modules/" in path and name in tops
            )  # another package's private copy; the project uses the one at the top
            if isinstance(entry.get("version"), str) and not nested:
                yield name, entry["version"]
        return
    for name, entry in plain.get("dependencies", {}).items():
        if isinstance(entry.get("version"), str):
            yield name, entry["version"]


def _toml(text: str) -> Pairs:
    for package in tomllib.loads(text).get("package", ()):
        if isinstance(package.get("version"), str):
            yield package["name"], package["version"]


def _requirements(text: str) -> Pairs:
    for line in text.splitlines():
        if matched := _PINNED.match(line.strip()):
            yield matched[1], matched[2]


READERS: dict[str, Callable[[str], Pairs]] = {
    "package-lock.json": _npm, "npm-shrinkwrap.json": _npm, "uv.lock": _toml, "poetry.lock": _toml,
    "Cargo.lock": _toml, "requirements.txt": _requirements,
}  # fmt: skip
"""Readers by file name. If two of these files are in one folder, the first that names a package counts."""
