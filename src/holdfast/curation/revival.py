"""Revival: wakes a retired lesson when the version of a dependency in a lock file changes.

A condition is text, for example `numpy!=1.26.4` or `lodash!=4.17.21 in web/package-lock.json`. A bare name means any
version other than the present one. A lesson that wakes waits for a person, without its condition, and
the change states why.
"""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from holdfast.curation.tuning import LONGEST_CONDITION, REVIVED_MOST
from holdfast.domain.lesson import Lesson, in_state
from holdfast.domain.project import Location
from holdfast.errors import IllegalTransitionError, InvalidValueError
from holdfast.lean.texts import loads, short_id
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.lessons.lookup import resolve
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter

_CONDITION = re.compile(
    r"(?P<name>@?[A-Za-z0-9][\w./@-]*?)\s*(?P<tests>(?:[<>=!]=?[^\s,]+(?:\s*,\s*)?)*)(?:\s+in\s+(?P<file>\S+))?"
)
_TEST = re.compile(r"(<=|>=|==|!=|<|>)\s*([vV]?\d[^\s,<>=!]*)")
EXAMPLE = "for example numpy, 'numpy>=2', 'pydantic>=3, <4' or 'lodash!=4.17.21 in web/package-lock.json'"
Pairs = Iterator[tuple[str, str]]
_PINNED = re.compile(r"^([A-Za-z0-9][\w.-]*)\s*(?:\[[^]]*])?\s*===?\s*([^\s;,#\\]+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """A condition to wake a lesson: every version in use passes every test."""

    package: str
    tests: tuple[tuple[str, str], ...] = ()
    """(operator, version) pairs."""
    file: str = ""
    """The lock file, relative to the project's root; empty: those at the root and above the lesson's files."""

    @property
    def text(self) -> str:
        """The condition in its written form."""
        tests = ", ".join(operator + version for operator, version in self.tests)
        return self.package + tests + (f" in {self.file}" if self.file else "")

    def holds(self, versions: frozenset[str]) -> bool:
        """Return whether there is at least one version and all of them pass."""
        return bool(versions) and all(_passes(version, *test) for version in versions for test in self.tests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Woken:
    """A lesson that was woken, and why."""

    lesson: Lesson
    reason: str


def parse_condition(text: str) -> Condition:
    """Parse a condition. Raises InvalidValueError."""
    plain = re.sub(r"([<>=!]=?)\s+", r"\1", " ".join(text.split()))
    matched = _CONDITION.fullmatch(plain)
    tests = tuple(_TEST.findall(matched["tests"])) if matched else ()
    if (
        matched is None
        or len(plain) > LONGEST_CONDITION
        or len(tests) != len(re.findall(r"[<>=!]+", matched["tests"] or ""))
    ):
        raise InvalidValueError(f"not a condition for waking a lesson: {text[:80]!r}", hint=EXAMPLE)
    file = matched["file"] or ""
    if file and (file.rpartition("/")[2] not in READERS or file.startswith("/") or ".." in file.split("/")):
        raise InvalidValueError(f"{file} is not a lock file of this project", hint=f"one of {', '.join(READERS)}")
    return Condition(package=matched["name"], tests=tests, file=file)


def settle_condition(services: Services, location: Location, text: str) -> str:
    """Return the condition as a lesson stores it: a bare name becomes `other than the version in use now`.

    Raises InvalidValueError for text that is no condition, and for a bare name that no lock file has.
    """
    condition = parse_condition(text)
    if condition.tests:
        return condition.text
    _, versions = _find_in_use(services, location, condition, ("",))
    if not versions:
        where = condition.file or f"the lock files at {location.root}"
        hint = f"name a version, {EXAMPLE.split(',')[1].strip()}, or the file: '{condition.package} in FILE'"
        raise InvalidValueError(f"{condition.package} is not in {where}", hint=hint)
    tests = tuple(("!=", version) for version in sorted(versions, key=version_key))
    return replace(condition, tests=tests).text


def set_revival(
    services: Services, location: Location, ref: str, text: str, *, retire: bool = False, author: str = ""
) -> Lesson:
    """Return the lesson with that condition, or without one for empty text; `retire` retires it until then.

    Raises IllegalTransitionError for a lesson that is superseded or forgotten, InvalidValueError for an impossible
    condition.
    """
    revival = settle_condition(services, location, text) if text else ""

    def step() -> Lesson:
        lesson = resolve(services, location, ref)
        if lesson.state in ("superseded", "forgotten"):
            raise IllegalTransitionError(f"lesson {short_id(lesson.id)} is {lesson.state}: it cannot wake")
        if not retire and lesson.revival == revival:
            raise InvalidValueError("nothing to edit: its condition would not change")
        after = replace(lesson, revival=revival, recorded_at=services.clock.now())
        if retire and lesson.state != "retired":
            after = in_state(after, "retired", at=services.clock.now())
        verb = "retire" if after.state != lesson.state else "edit"
        summary = f"wakes when {revival}" if revival else ""
        expected = {lesson.id: lesson.recorded_at}
        return write_change(services, location, verb, [after], expected, actor=author, summary=summary).lessons[0]

    return with_retries(step)


def wake_retired(services: Services, location: Location) -> list[Woken]:
    """Let the retired lessons whose condition holds wait for a person; return them, with reasons. Idempotent."""
    where = LessonFilter(project=location.project.id, states=("retired",), limit=REVIVED_MOST)
    waiting = [lesson for lesson in services.store.find(where) if lesson.revival and lesson.scope.level != "user"]
    if not waiting:
        return []
    woken = []
    for lesson in waiting:
        reason = _reason_to_wake(services, location, lesson)
        if reason and (after := _wake(services, location, lesson, reason)) is not None:
            woken.append(Woken(lesson=after, reason=reason))
    return woken


def _wake(services: Services, location: Location, lesson: Lesson, reason: str) -> Lesson | None:
    def step() -> Lesson | None:
        now = services.store.get([lesson.id])[0]
        if now.state != "retired" or now.revival != lesson.revival:
            return None  # another process changed it first
        after = replace(in_state(now, "candidate", at=services.clock.now()), revival="")
        return write_change(services, location, "wake", [after], {now.id: now.recorded_at}, summary=reason).lessons[0]

    return with_retries(step)


def _reason_to_wake(services: Services, location: Location, lesson: Lesson) -> str:
    """Return the versions in use if the lesson's condition holds; else empty."""
    try:
        condition = parse_condition(lesson.revival)
    except InvalidValueError:
        return ""  # written by an older version, or by hand in a file
    if not condition.tests:
        return ""
    file, versions = _find_in_use(services, location, condition, (*lesson.paths, lesson.scope.path_prefix + "/"))
    if not condition.holds(versions):
        return ""
    return f"{condition.package} {', '.join(sorted(versions, key=version_key))} in {file} ({condition.text})"


def _find_in_use(
    services: Services, location: Location, condition: Condition, near: Sequence[str]
) -> tuple[str, frozenset[str]]:
    """Return the first lock file that names the package, and the versions there; empty if none does."""
    package = plain_name(condition.package)
    for path in (condition.file,) if condition.file else _candidates(near):
        content = services.workspace.read(location, path)
        if content is not None:
            text = content.decode("utf-8", "replace")
            versions = find_versions(path.rpartition("/")[2], text).get(package, frozenset())
            if versions:
                return path, versions
    return "", frozenset()


def _candidates(near: Sequence[str]) -> Iterator[str]:
    """Yield paths of lock files beside and above those files, the nearest first, and at the root."""
    folders: dict[str, None] = {}
    for path in near:
        folder = path.rpartition("/")[0]
        while folder:
            folders[folder] = None
            folder = folder.rpartition("/")[0]
    for folder in sorted(folders, key=lambda name: -name.count("/")):
        yield from (f"{folder}/{name}" for name in READERS)
    yield from READERS


def _passes(version: str, operator: str, wanted: str) -> bool:
    left, right = version_key(version), version_key(wanted)
    return {
        "==": left == right, "!=": left != right, "<": left < right, "<=": left <= right, ">": left > right,
        ">=": left >= right,
    }[operator]  # fmt: skip


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
