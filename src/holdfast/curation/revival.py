"""Revival: wakes a retired lesson when the version of a dependency in a lock file changes.

A condition is text, for example `numpy!=1.26.4` or `lodash!=4.17.21 in web/package-lock.json`. A bare name means any
version other than the present one. A lesson that wakes waits for a person, without its condition, and
the change states why.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from holdfast.curation.tuning import LONGEST_CONDITION, REVIVED_MOST
from holdfast.domain.lesson import Lesson, in_state
from holdfast.domain.project import Location
from holdfast.errors import IllegalTransitionError, InvalidValueError
from holdfast.lean.texts import short_id
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.lessons.lookup import resolve
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter
from holdfast.text.lockfiles import READERS, find_versions, plain_name, version_key

_CONDITION = re.compile(
    r"(?P<name>@?[A-Za-z0-9][\w./@-]*?)\s*(?P<tests>(?:[<>=!]=?[^\s,]+(?:\s*,\s*)?)*)(?:\s+in\s+(?P<file>\S+))?"
)
_TEST = re.compile(r"(<=|>=|==|!=|<|>)\s*([vV]?\d[^\s,<>=!]*)")
EXAMPLE = "for example numpy, 'numpy>=2', 'pydantic>=3, <4' or 'lodash!=4.17.21 in web/package-lock.json'"


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
