"""Reads lock files of ten tools: which versions of each dependency a project uses.

An unreadable file gives no versions; the only effect is that a lesson is not woken. If a package is locked in several
versions, all are returned. From `go.sum`, which keeps unused versions, only the highest is returned.
"""

from __future__ import annotations

import re
from collections import defaultdict
from functools import partial

from holdfast.lean.texts import loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any

    Pairs = Iterator[tuple[str, str]]

_GO = re.compile(r"^\s*(?:require\s+)?([\w.-]+\.[\w.-]+/\S+|[\w-]+\.[\w.-]+)\s+(v\d\S*)")
_GEM = re.compile(r"^ {4}([\w.-]+) \(([^()-]+)(?:-[^()]*)?\)$")
_PINNED = re.compile(r"^([A-Za-z0-9][\w.-]*)\s*(?:\[[^]]*])?\s*===?\s*([^\s;,#\\]+)")
_PNPM = re.compile(r"^  '?/?((?:@[^/@\s]+/)?[^/@\s']+)[@/](\d[^:('_\s]*)")
_YARN_VERSION = re.compile(r'^ {2}version:? "?([^"\s]+)"?$')


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
    if name == "go.sum":
        return {package: frozenset([max(locked, key=version_key)]) for package, locked in versions.items()}
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


def _pnpm(text: str) -> Pairs:
    inside = False
    for line in text.splitlines():
        if line[:1] not in ("", " ", "#"):
            inside = line.startswith("packages:")
        elif inside and (matched := _PNPM.match(line)):
            yield matched[1], matched[2]


def _yarn(text: str) -> Pairs:
    names: list[str] = []
    for line in text.splitlines():
        if line[:1] not in ("", " ", "#"):
            heads = [head.strip().strip('"') for head in line.rstrip(":").split(",")]
            names = list(dict.fromkeys(head[: head.index("@", 1)] for head in heads if "@" in head[1:]))
        elif names and (matched := _YARN_VERSION.match(line)):
            for name in names:
                yield name, matched[1]
            names = []


def _toml(text: str) -> Pairs:
    import tomllib

    for package in tomllib.loads(text).get("package", ()):
        if isinstance(package.get("version"), str):
            yield package["name"], package["version"]


def _go(text: str, of_sums: bool) -> Pairs:
    for line in text.splitlines():
        matched = _GO.match(line.split("//", 1)[0])
        if matched and not (of_sums and matched[2].endswith("/go.mod")):
            yield matched[1], matched[2]


def _gems(text: str) -> Pairs:
    for line in text.splitlines():
        if matched := _GEM.match(line):
            yield matched[1], matched[2]


def _requirements(text: str) -> Pairs:
    for line in text.splitlines():
        if matched := _PINNED.match(line.strip()):
            yield matched[1], matched[2]


READERS: dict[str, Callable[[str], Pairs]] = {
    "package-lock.json": _npm,
    "npm-shrinkwrap.json": _npm,
    "pnpm-lock.yaml": _pnpm,
    "yarn.lock": _yarn,
    "uv.lock": _toml,
    "poetry.lock": _toml,
    "Cargo.lock": _toml,
    "go.mod": partial(_go, of_sums=False),
    "go.sum": partial(_go, of_sums=True),
    "Gemfile.lock": _gems,
    "requirements.txt": _requirements,
}
"""Readers by file name. If two of these files are in one folder, the first that names a package counts."""
