"""Staging: a lesson learnt on a branch is visible there and on branches from it, and everywhere after the merge.

A lesson is staged when it is about code that the branch has changed, or is a decision that no person stated. It stays
staged until the main branch has its subject: the commit, its changes in other commits, or the exact text of its
anchors. Where git cannot tell, a lesson is visible rather than hidden (ADR 32).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import Any

from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Anchor, Lesson, Scope
from holdfast.domain.project import Location
from holdfast.domain.records import Change
from holdfast.domain.statefamilies import STAGED_SEEN, STAGED_SETTLED
from holdfast.domain.vocabulary import LessonId
from holdfast.errors import StoreError
from holdfast.lean.plain import render_instant
from holdfast.lean.texts import dumps
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.lessons.tuning import PATCHES_AT_MOST, STAGED_AT_MOST
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter
from holdfast.ports.workspace import Branches

NONE = "none"
"""Stored where no lesson is staged; an empty value means that it is not known."""
CLOSE, GLANCE = "close", "glance"

CHECKOUTS_KEPT = 8
"""Checkouts of which the answer is kept which staged lessons they see."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Staged:
    """A staged lesson and the fate of its branch, as far as this clone knows."""

    lesson: Lesson
    is_seen: bool
    """Whether it is visible at the location in question."""
    fate: str
    """`open`: the branch exists; `gone`: it does not, and git knows of no merge."""


# Staging


def stage(
    services: Services, location: Location, lesson: Lesson, branch: str = "", branches: Branches | None = None
) -> Lesson:
    """Return the new lesson, staged if it belongs to a branch alone.

    `branch` is where it was learnt, by default the one checked out. Pass `branches` to save a second query of git.
    """
    branch = branch or location.branch
    if (
        not branch
        or not location.commit
        or (lesson.scope.level, lesson.scope.project) != ("project", location.project.id)
    ):
        return lesson
    branches = branches or services.workspace.branches(location)
    scope, lines = _scope_on(location, branches, lesson.scope, branch), branches.main_commits() or ()
    is_staged = scope.branch and _is_branch_only(services, branches, lesson, (*lines, scope.base))
    return replace(lesson, scope=scope) if is_staged else lesson


class SharedStaging:
    """Staging of lessons that are files: a lesson is staged while no main branch has its file."""

    def __init__(self, services: Services, location: Location, folder: str) -> None:
        self._location = location
        self._folder = folder
        self._branches = services.workspace.branches(location)
        self._merged: frozenset[str] | None = None
        self._is_known = False

    def is_merged(self, path: str) -> bool:
        """Return whether a main branch has the file; also True when no main branch is known."""
        if not self._is_known:
            self._is_known = True
            lines = self._branches.main_commits() or ()
            listings = [files for line in lines if (files := self._branches.list_below(line, self._folder)) is not None]
            self._merged = frozenset().union(*listings) if listings else None
        return self._merged is None or f"{self._folder}/{path}" in self._merged

    def stage(self, lesson: Lesson, path: str) -> Lesson:
        """Return an incoming lesson from that file, staged on the current branch if only the branch has the file."""
        if not self._location.branch or not self._location.commit or self.is_merged(path):
            return lesson
        return replace(lesson, scope=_scope_on(self._location, self._branches, lesson.scope, self._location.branch))

    def unstage(self, lesson: Lesson, path: str) -> Lesson:
        """Return the lesson, no longer staged once a main branch has its file."""
        if not lesson.scope.branch or not self.is_merged(path):
            return lesson
        return replace(lesson, scope=unstaged(lesson.scope))


def unstaged(scope: Scope) -> Scope:
    """Return the scope of a lesson that is visible everywhere."""
    return replace(scope, branch="", commit="", base="")


def fork_of(branches: Branches, commit: str, lines: Sequence[str]) -> str:
    """Return the newest commit that the commit shares with one of the lines; empty if there is none."""
    forks = dict.fromkeys(fork for line in lines if (fork := branches.find_fork(line, commit)))
    dated = [(at, fork) for fork in forks if len(forks) > 1 and (at := branches.time(fork)) is not None]
    return max(dated)[1] if dated else next(iter(forks), "")


def _scope_on(location: Location, branches: Branches, scope: Scope, branch: str) -> Scope:
    """Return the scope staged on the branch; unchanged for the main branch, or a branch that git does not know."""
    tip = branches.tip(branch)
    if not tip or branches.is_main(branch):
        return scope
    commit = location.commit if branch == location.branch else tip
    base = fork_of(branches, commit, branches.main_commits() or ())
    return replace(scope, branch=branch, commit=commit, base=base) if base else scope


def _is_branch_only(services: Services, branches: Branches, lesson: Lesson, lines: Sequence[str]) -> bool:
    """Return whether the main branch lacks the lesson's subject; False where git cannot tell."""
    if not lesson.paths:
        return profile_of(lesson.kind).is_staged_unanchored and lesson.trust != "person"
    return all(_has_anchors(services, branches, line, lesson) is False for line in lines)


def restated(known: Lesson, draft: Lesson) -> Scope:
    """Return the scope of a known lesson that was stated again; a statement on another branch ends its staging."""
    same = known.scope.branch == draft.scope.branch
    return known.scope if same else unstaged(known.scope)


# Where it is seen


def find_staged(services: Services, location: Location) -> list[Lesson]:
    """Return the project's lessons that are staged on a branch, newest first."""
    return services.store.find(LessonFilter(project=location.project.id, staged=True, limit=STAGED_AT_MOST))


def find_seen(services: Services, location: Location, lessons: Sequence[Lesson]) -> tuple[tuple[LessonId, ...], bool]:
    """Return the staged lessons that are visible at the location, and whether git could answer for all of them."""
    branches = services.workspace.branches(location)
    commits = [lesson.scope.commit for lesson in lessons if _has_own_commit(lesson)]
    missing = branches.find_missing(location.commit, list(dict.fromkeys(commits))) if commits else frozenset()
    if missing is None:
        return tuple(lesson.id for lesson in lessons), False
    elsewhere: list[Lesson] = []
    seen: dict[LessonId, bool | None] = {}
    for lesson in lessons:
        scope, is_own = lesson.scope, _has_own_commit(lesson)
        is_inherited = is_own and scope.commit not in missing
        is_named = scope.branch == location.branch and (
            not is_own or branches.was_at(scope.branch, scope.commit) is not False
        )
        seen[lesson.id] = is_inherited or is_named
        elsewhere += [] if is_inherited or is_named else [lesson]
    paths = dict.fromkeys(path for lesson in elsewhere for path in lesson.paths)
    blobs = branches.blobs(location.commit, list(paths)) if paths else {}
    for lesson in elsewhere:
        seen[lesson.id] = None if blobs is None else _has_anchors(services, branches, location.commit, lesson, blobs)
    unknown = [lesson for lesson in elsewhere if seen[lesson.id] is False and _has_own_commit(lesson)]
    for lesson in unknown[: 0 if services.low_latency else PATCHES_AT_MOST]:
        seen[lesson.id] = branches.is_applied(location.commit, lesson.scope.commit)
    return tuple(lesson for lesson, answer in seen.items() if answer is not False), None not in seen.values()


def _has_own_commit(lesson: Lesson) -> bool:
    """Return whether the branch had a commit of its own when the lesson was staged."""
    return bool(lesson.scope.commit) and lesson.scope.commit != lesson.scope.base


def _has_anchors(
    services: Services, branches: Branches, commit: str, lesson: Lesson, blobs: Mapping[str, str] | None = None
) -> bool | None:
    """Return whether the commit has all of the lesson's anchors as they were recorded; False without anchors.

    `blobs` are the commit's, where they are known already. Return None when git cannot tell.
    """
    anchors = [anchor for anchor in lesson.anchors if anchor.path]
    if blobs is None and anchors:
        blobs = branches.blobs(commit, lesson.paths)
        if blobs is None:
            return None
    known = blobs or {}
    return bool(anchors) and all(_has_anchor(services, branches, commit, anchor, known) for anchor in anchors)


def _has_anchor(services: Services, branches: Branches, commit: str, anchor: Anchor, blobs: Mapping[str, str]) -> bool:
    blob = blobs.get(anchor.path, "")
    if not blob or blob == anchor.blob or not (anchor.symbol and anchor.body_hash):
        return bool(blob) and blob == anchor.blob
    index = None if services.low_latency else services.codeindex()
    content = branches.file(commit, anchor.path) if index is not None else None
    if index is None or content is None:
        return False
    symbols = index.outline(anchor.path, content).symbols
    prints = {(symbol.name, symbol.signature_hash, symbol.body_hash) for symbol in symbols}
    return (anchor.symbol, anchor.signature_hash, anchor.body_hash) in prints


# What becomes of it


def settle(services: Services, location: Location) -> Change | None:
    """Unstage the lessons whose subject the main branch has by now; return the change, None if there are none.

    A lesson that was staged before its branch had a commit gets the branch's commit.
    """

    def step() -> Change | None:
        staged = (
            find_staged(services, location)
            if services.store.get_state(STAGED_SEEN, location.project.id) != NONE
            else []
        )
        branches = services.workspace.branches(location)
        lines = branches.main_commits() if staged else None
        if not lines:
            return None
        state = _state(branches, staged, lines)
        if services.store.get_state(STAGED_SETTLED, location.project.id) == state:
            return None
        expected = {lesson.id: lesson.recorded_at for lesson in staged}
        merged: list[Lesson] = []
        dated: list[Lesson] = []
        for lesson in staged:
            after = _settled(services, branches, lesson, lines)
            if after is not None:
                (dated if after.scope.branch else merged).append(after)
        if dated:
            write_change(services, location, "stage", dated, {lesson.id: expected[lesson.id] for lesson in dated})
        change = None
        if merged:
            known = {lesson.id: expected[lesson.id] for lesson in merged}
            names = sorted({lesson.scope.branch for lesson in staged if lesson.id in known})
            change = write_change(services, location, "merge", merged, known, summary=", ".join(names)).change
        services.store.set_state(STAGED_SETTLED, location.project.id, state)
        return change

    return with_retries(step)


def _state(branches: Branches, staged: Sequence[Lesson], lines: Sequence[str]) -> str:
    """Return a digest that changes whenever checking the staged lessons again may give another result."""
    tips = {lesson.scope.branch: branches.tip(lesson.scope.branch) for lesson in staged}
    versions = [[lesson.id, render_instant(lesson.recorded_at)] for lesson in staged]
    return blake2b(dumps([tips, versions, list(lines)]).encode("utf-8", "replace"), digest_size=16).hexdigest()


def _settled(services: Services, branches: Branches, lesson: Lesson, lines: Sequence[str]) -> Lesson | None:
    """Return the lesson unstaged, or with its branch's first commit; None when nothing changed."""
    scope = lesson.scope
    if lesson.paths and any(_has_anchors(services, branches, line, lesson) for line in lines):
        return _unstaged(services, lesson)
    tip = branches.tip(scope.branch)
    if tip is None:
        return None
    if tip and branches.was_at(scope.branch, scope.commit) is False:
        tip = ""  # another branch of the same name exists now
    last = tip or branches.last_tip(scope.branch)
    own = [commit for commit in dict.fromkeys((scope.commit, last)) if commit and commit != scope.base]
    for line in lines:
        missing = branches.find_missing(line, own) if own else frozenset()
        if missing is None:
            return None
        if _has_own_commit(lesson) and scope.commit not in missing:
            return _unstaged(services, lesson)
        if not _has_own_commit(lesson) and last and last in own and last not in missing and not lesson.paths:
            return _unstaged(services, lesson)  # work that was uncommitted at staging is merged now
        if any(commit in missing and branches.is_applied(line, commit) for commit in own):
            return _unstaged(services, lesson)
    if not _has_own_commit(lesson) and tip and tip != scope.commit and not _is_on_any(branches, lines, tip):
        return replace(lesson, scope=replace(scope, commit=tip), recorded_at=services.clock.now())
    was_here = last or (_has_own_commit(lesson) and branches.time(scope.commit) is not None)
    is_over = tip != scope.commit and _is_on_any(branches, lines, tip) if tip else was_here
    return _unstaged(services, lesson) if is_over and _is_doubtful(branches, lesson, lines, own) else None


def _is_on_any(branches: Branches, lines: Sequence[str], commit: str) -> bool:
    return any(not branches.find_missing(line, [commit]) for line in lines)


def _is_doubtful(branches: Branches, lesson: Lesson, lines: Sequence[str], own: Sequence[str]) -> bool:
    """Return whether the branch may have been merged in an undetectable form: the main branch has changed its files."""
    base = lesson.scope.base
    paths = lesson.paths or (branches.list_changed(base, own[-1]) if base and own else ()) or ()
    before = branches.blobs(base, paths) if base and paths else None
    return before is not None and any(branches.blobs(line, paths) not in (None, before) for line in lines)


def _unstaged(services: Services, lesson: Lesson) -> Lesson:
    return replace(lesson, scope=unstaged(lesson.scope), recorded_at=services.clock.now())


# For people


def list_staged(services: Services, location: Location) -> list[Staged]:
    """Return the staged lessons of the project, by branch, newest first."""
    lessons = find_staged(services, location)
    branches = services.workspace.branches(location)
    seen = frozenset(
        find_seen(services, location, lessons)[0] if location.commit or location.branch else (x.id for x in lessons)
    )
    return [
        Staged(
            lesson=lesson,
            is_seen=lesson.id in seen,
            fate="gone" if branches.tip(lesson.scope.branch) == "" else "open",
        )
        for lesson in sorted(lessons, key=lambda lesson: lesson.scope.branch)
    ]


def rescue(
    services: Services, location: Location, lessons: Callable[[], Sequence[Lesson]], *, author: str = ""
) -> list[Lesson]:
    """Unstage those of the lessons that are staged; undoable."""

    def step() -> list[Lesson]:
        staged = [lesson for lesson in lessons() if lesson.scope.branch]
        if not staged:
            return []
        after = [_unstaged(services, lesson) for lesson in staged]
        expected: dict[LessonId, Any] = {lesson.id: lesson.recorded_at for lesson in staged}
        names = ", ".join(sorted({lesson.scope.branch for lesson in staged}))
        return list(write_change(services, location, "rescue", after, expected, actor=author, summary=names).lessons)

    return with_retries(step)


# Which staged lessons are visible at a location; every hook asks


def seen_here(services: Services, location: Location) -> tuple[LessonId, ...] | None:
    """Return the staged lessons visible at the location; None: all of them, because nothing is checked out there."""
    if not (location.commit or location.branch):
        return None
    kept_answers = services.store.get_state(STAGED_SEEN, location.project.id)
    if kept_answers == NONE:
        return ()
    lines = kept_answers.splitlines()
    key = f"{location.commit or '-'} {location.branch or '-'}"
    wanted = (CLOSE, GLANCE) if services.low_latency else (CLOSE,)
    for line in lines:
        words = line.split(" ")
        if " ".join(words[:2]) == key and words[2:3] and words[2] in wanted:
            return tuple(words[3:])  # type: ignore[arg-type]

    lessons = find_staged(services, location)
    seen, is_sure = find_seen(services, location, lessons) if lessons else ((), True)
    if is_sure or services.low_latency:  # a hook that got no answer from git does not ask again before HEAD moves
        line = " ".join([key, GLANCE if services.low_latency else CLOSE, *seen])
        others = [line for line in lines if not line.startswith(key + " ")]
        _keep(services, location, "\n".join([line, *others][:CHECKOUTS_KEPT]) if lessons else NONE, lessons)
    return seen


def _keep(services: Services, location: Location, answers: str, lessons: list[Lesson]) -> None:
    """Store the answers, unless another lesson was staged meanwhile; ignore a store that cannot be written."""

    try:
        services.store.set_state(STAGED_SEEN, location.project.id, answers)
        if (
            find_staged(services, location) != lessons
        ):  # another process may have cleared the answers before we wrote them
            services.store.set_state(STAGED_SEEN, location.project.id, "")
    except StoreError:
        return


def hidden_here(services: Services, location: Location) -> frozenset[LessonId]:
    """Return the staged lessons that are invisible at the location."""
    seen = seen_here(services, location)
    if seen is None or services.store.get_state(STAGED_SEEN, location.project.id) == NONE:
        return frozenset()

    return frozenset(lesson.id for lesson in find_staged(services, location)) - frozenset(seen)
