"""What a branch does to the lessons of its project: which it makes stale, contradicts, or touches.

A lesson is *stale by the branch* if its code was there where the branch began and is not any more. It is
*contradicted* if the branch adds a line with what the lesson forbids by name ("use `httpx` instead of `requests`").
It is *touched* if the branch changes its definition, which says little of whether it still holds. That its file changed
elsewhere is no effect at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from typing import Literal

from holdfast.compare.claims import VALUES
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import FRESHNESSES, Freshness
from holdfast.errors import InvalidValueError
from holdfast.freshness.check import FreshnessCheck, caveat
from holdfast.freshness.tuning import EVERY_LESSON
from holdfast.lessons.staging import fork_of
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter
from holdfast.reports.tuning import CHECK_S

Effect = Literal["stale", "contradicted", "touched"]
GRAVE: tuple[Freshness, ...] = ("orphaned",)
"""Verdicts that say that a lesson may not hold any more. Of lessons whose definition only changed, most still hold."""
EFFECTS: tuple[Effect, ...] = ("stale", "contradicted", "touched")
_PROSE = (".md", ".rst", ".txt", ".adoc", ".lock", ".json", ".svg", ".csv")
"""Files whose lines state or list things and do nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeEffect:
    """What the branch does to one lesson."""

    effect: Effect
    lesson: Lesson
    path: str
    line: int
    """From 1; of the work tree's file, or 1 where the file is gone."""
    reason: str
    """In words: what changed, or which line does what the lesson rules out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeCheck:
    """The effects of a branch, the gravest first."""

    fork: str
    """The commit where the branch began."""
    files: tuple[str, ...]
    """Files that it changes, also those that are not committed."""
    lessons: int
    """Confirmed lessons that were looked at."""
    effects: tuple[ChangeEffect, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangedFile:
    """A file that differs from where the branch began."""

    path: str
    lines: tuple[str, ...]
    """As they are now; none where the file is gone."""
    first: int
    """The first line that differs, from 1."""
    added: tuple[tuple[int, str], ...]
    """Lines that were added, with their numbers."""
    removed: frozenset[str]

    def line_of(self, symbol: str) -> int:
        """Return the first added line below the definition's name; without one, the first line that differs."""
        name = re.compile(rf"(?<!\w){re.escape(symbol.rpartition('.')[2])}(?!\w)") if symbol else None
        start = next((at for at, line in enumerate(self.lines, 1) if name and name.search(line)), 0)
        return next((number for number, _ in self.added if number >= start), 0) or self.first


def check_change(services: Services, location: Location, base: str = "") -> ChangeCheck:
    """Return the effects of what differs since the branch left `base`, by default the main line.

    Only confirmed lessons of the project count that others may see. Raises InvalidValueError for a base that git does
    not know.
    """
    fork = find_fork(services, location, base)
    files = {file.path: file for file in _changed_files(services, location, fork)}
    where = LessonFilter(project=location.project.id, states=("active",), limit=EVERY_LESSON)
    lessons = [
        lesson
        for lesson in services.store.find(where)
        if lesson.scope.project == location.project.id and not lesson.private and not lesson.scope.branch
    ]
    began = FreshnessCheck(services, replace(location, tree=fork, commit=fork), within_s=CHECK_S)
    now = FreshnessCheck(services, location, within_s=CHECK_S)
    effects = [
        effect
        for lesson in lessons
        for effect in (*_of_its_code(lesson, files, began, now), *_forbidden_in(lesson, files))
    ]
    effects.sort(key=lambda effect: (EFFECTS.index(effect.effect), effect.path, effect.line, effect.lesson.id))
    return ChangeCheck(fork=fork, files=tuple(sorted(files)), lessons=len(lessons), effects=tuple(effects))


def find_fork(services: Services, location: Location, base: str) -> str:
    """Return the commit where what is checked out left `base`. Raises InvalidValueError."""
    branches = services.workspace.branches(location)
    lines = [branches.resolve(base)] if base else list(branches.main_commits() or ())
    fork = fork_of(branches, location.commit, lines) if location.commit and lines and all(lines) else ""
    if not fork:
        message = f"this branch has no commit in common with {base!r}" if base else "no main line in this repository"
        raise InvalidValueError(message, hint="name a base that this clone has: holdfast pr origin/main")
    return fork


def _changed_files(services: Services, location: Location, fork: str) -> Iterator[ChangedFile]:
    branches, workspace = services.workspace.branches(location), services.workspace
    committed = () if fork == location.commit else branches.list_changed(fork, location.commit) or ()
    for path in dict.fromkeys((*committed, *workspace.dirty(location))):
        before = _lines(branches.file(fork, path))
        after = _lines(workspace.read(location, path))
        if before != after:
            yield _compare(path, before, after)


def _lines(content: bytes | None) -> list[str]:
    return [] if content is None or b"\0" in content else content.decode("utf-8", "replace").splitlines()


def _compare(path: str, before: Sequence[str], after: Sequence[str]) -> ChangedFile:
    added: list[tuple[int, str]] = []
    removed: set[str] = set()
    first = 0
    for tag, start, end, begin, stop in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            first = first or max(1, min(begin + 1, len(after)))
            added += [(number + 1, after[number]) for number in range(begin, stop)]
            removed |= {line.strip() for line in before[start:end]}
    return ChangedFile(path=path, lines=tuple(after), first=first or 1, added=tuple(added), removed=frozenset(removed))


def _of_its_code(
    lesson: Lesson, files: dict[str, ChangedFile], began: FreshnessCheck, now: FreshnessCheck
) -> Iterator[ChangeEffect]:
    """Yield at most one effect of a lesson's anchors: the worst, if the branch brought it about."""
    if not any(place in files for anchor in lesson.anchors for place in (anchor.path, *anchor.other_paths)):
        return
    pairs = zip(began.anchor_verdicts(lesson), now.anchor_verdicts(lesson), strict=True)
    worse = [
        (anchor, after)
        for (anchor, before), (_, after) in pairs
        if _rank(after.freshness) > _rank(before.freshness)
        or after.share != before.share
        or after.where != before.where
    ]
    if not worse:
        return
    anchor, verdict = max(worse, key=lambda pair: _rank(pair[1].freshness))
    if verdict.reason == "file_changed":
        return
    file = files.get(verdict.anchor.path) or files.get(anchor.path)
    yield ChangeEffect(
        effect="stale" if verdict.freshness in GRAVE else "touched",
        lesson=lesson,
        path=file.path if file else anchor.path,
        line=file.line_of(verdict.anchor.symbol) if file else 1,
        reason=caveat(anchor, verdict) or f"{anchor.path} changed",
    )


def _rank(freshness: Freshness) -> int:
    return FRESHNESSES.index(freshness)


def _forbidden_in(lesson: Lesson, files: dict[str, ChangedFile]) -> Iterator[ChangeEffect]:
    """Yield the first added line of the lesson's area that has a name which the lesson forbids."""
    names = forbidden_names(lesson.insight)
    if not names:
        return
    pattern = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, sorted(names)))})(?![\w-])")
    for file in files.values():
        if file.path.lower().endswith(_PROSE) or not _is_about(lesson, file.path):
            continue
        for number, line in file.added:
            match = pattern.search(line)
            if match and line.strip() not in file.removed:
                reason = f"line {number} has {match[0]}, which the lesson forbids"
                yield ChangeEffect(effect="contradicted", lesson=lesson, path=file.path, line=number, reason=reason)
                return


_NAME = r"(`[^`\n]{2,60}`|[\w@./:-]{2,60}(?:\(\))?)"
_FORBIDS = (
    re.compile(
        r"\b(?:never|do not|don't|must not|avoid)(?: ever)? (?:use|using|call|calling|import|importing|depend on|add"
        rf"|run) (?:the )?{_NAME}",
        re.IGNORECASE,
    ),
    re.compile(
        rf"\b(?:use|prefer|call|import|run) {_NAME}(?:,| and)? (?:instead of|rather than|over|not|never)"
        rf" (?:the )?{_NAME}",
        re.IGNORECASE,
    ),
)


def forbidden_names(insight: str) -> frozenset[str]:
    """Return the names that a rule forbids in so many words: code, dotted names, known tools."""
    names = (match[match.lastindex or 1] for form in _FORBIDS for match in form.finditer(insight))
    return frozenset(filter(None, map(_code_name, names)))


def _code_name(raw: str) -> str:
    """Return the name as it stands in code; empty for a word of the language and for a path."""
    name = raw.strip("`").rstrip(".,:;").removesuffix("()")
    is_code = (
        raw.startswith("`") or "." in name.strip(".") or "_" in name or name.lower() in VALUES or name != name.lower()
    )
    return name if is_code and "/" not in name and " " not in name and len(name) > 2 else ""


def _is_about(lesson: Lesson, path: str) -> bool:
    """Return whether a lesson may speak of a file: it has no place, that is its file, or it is in the file's folder."""
    folders = tuple(f"{folder}/" for place in lesson.paths if (folder := place.rpartition("/")[0]))
    is_near = not lesson.paths or path in lesson.paths or path.startswith(folders)
    return is_near and path.startswith(lesson.scope.path_prefix)
