"""Verify: checks the code behind lessons, and records where moved anchors are now.

Every read follows a move in memory. Verify records it, as a new version of the lesson and a change in the log, so that
the lesson is found at its new location. Only a location in the HEAD of the main branch becomes the anchor's own. A
location on another branch or in the work tree alone is stored beside it, and so is the former one. An anchor that moved
and changed keeps its recorded fingerprints, so that it still counts as changed. Another branch's layout is not a move.

If an anchor's commit is not in this history (a squash merge, a rebase) but its text is, the commit is updated, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from math import inf

from holdfast.domain.lesson import Anchor, Lesson
from holdfast.domain.project import Location
from holdfast.domain.records import Change
from holdfast.domain.symbol import IndexReport, Verdict
from holdfast.domain.vocabulary import FRESHNESSES, Freshness, State
from holdfast.errors import HoldfastError, LessonNotFoundError
from holdfast.freshness.check import FreshnessCheck, worst
from holdfast.freshness.tuning import EVERY_LESSON, PLACES_KEPT, SUMMARY_LIMIT
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter
from holdfast.ports.workspace import History

WAITING: tuple[State, ...] = ("active", "candidate", "quarantined")
STALE: tuple[Freshness, ...] = ("drifted", "changed", "orphaned")
"""States in which the code differs from what was recorded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    """A lesson and the verdicts on its anchors."""

    lesson: Lesson
    freshness: Freshness
    caveat: str = ""
    anchor_verdicts: tuple[tuple[Anchor, Verdict], ...] = ()
    followed: bool = False
    """Its moved anchors were recorded anew."""


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyReport:
    """The lessons that are about code, worst state first, and whether the code index is up to date."""

    checked: tuple[Checked, ...] = ()
    change: Change | None = None
    """The log record of the moves that were followed."""
    indexed: bool = True
    """False: the index could not be brought up to date, so moves to other files may have been missed."""

    @property
    def counts(self) -> dict[Freshness, int]:
        """The number of lessons in each state, every state listed."""
        return {state: sum(entry.freshness == state for entry in self.checked) for state in FRESHNESSES}

    @property
    def is_stale(self) -> bool:
        """Whether the code of any lesson differs from what was recorded."""
        return any(entry.freshness in STALE for entry in self.checked)


def verify(
    services: Services,
    location: Location,
    *,
    waiting: bool = False,
    actor: str = "",
    progress: Callable[[int, int], None] | None = None,
) -> VerifyReport:
    """Check the project's active lessons, with `waiting` also the unconfirmed ones, and record moved anchors.

    `progress(done, total)` counts the files that are read for the code index.
    """
    indexed = _refresh(services, location, progress)
    states: tuple[State, ...] = WAITING if waiting else ("active",)
    checked = [_check(check, lesson) for check, lesson in _about_code(services, location, states)]
    change, followed = _follow(services, location, checked, actor)
    marked = (replace(entry, followed=entry.lesson.id in followed) for entry in checked)
    order = sorted(marked, key=lambda entry: -FRESHNESSES.index(entry.freshness))
    return VerifyReport(checked=tuple(order), change=change, indexed=indexed)


def follow_moves(services: Services, location: Location) -> Change | None:
    """Record the moves of active lessons' code, if there are any; this is the background's part of `verify`."""
    pairs = _about_code(services, location, ("active",))
    checked = [_check(check, lesson) for check, lesson in pairs]
    if any(entry.freshness == "orphaned" for entry in checked) and _refresh(services, location, None):
        again = FreshnessCheck(services, location, within_s=inf)
        checked = [_check(again, lesson) for _, lesson in pairs]
    return _follow(services, location, checked, "")[0]


def reindex(services: Services, location: Location, progress: Callable[[int, int], None] | None = None) -> IndexReport:
    """Bring the code index up to the work tree; `progress(done, total)` counts the files that are read.

    Raises InvalidValueError for a home folder or a file system's root, StoreError when the index cannot be written.
    """
    index = services.codeindex()
    return index.refresh(location, progress) if index is not None else IndexReport(complete=False)


def _refresh(services: Services, location: Location, progress: Callable[[int, int], None] | None) -> bool:
    """Bring the code index up to date; without it verdicts still hold, but fewer moves are found."""
    try:
        return reindex(services, location, progress).complete
    except HoldfastError:
        return False


def _about_code(
    services: Services, location: Location, states: tuple[State, ...]
) -> list[tuple[FreshnessCheck, Lesson]]:
    """Return the project's own lessons that are anchored to files, all with the same check."""
    check = FreshnessCheck(services, location, within_s=inf)
    lessons = services.store.find(LessonFilter(project=location.project.id, states=states, limit=EVERY_LESSON))
    ours = (lesson for lesson in lessons if lesson.paths and lesson.scope.project == location.project.id)
    return [(check, lesson) for lesson in ours]


def _check(check: FreshnessCheck, lesson: Lesson) -> Checked:
    anchor_verdicts = check.anchor_verdicts(lesson)
    freshness, caveat = worst(anchor_verdicts)
    return Checked(lesson=lesson, freshness=freshness, caveat=caveat, anchor_verdicts=anchor_verdicts)


def _follow(
    services: Services, location: Location, checked: Iterable[Checked], actor: str
) -> tuple[Change | None, frozenset[str]]:
    """Return the change and the ids of the written lessons; skip a lesson that somebody changed meanwhile."""
    history = services.workspace.history(location)
    planned: list[tuple[Lesson, Lesson, list[str]]] = []
    for entry in checked:
        moves = [look for look in entry.anchor_verdicts if _is_followed(history, location, *look)]
        settled = [look for look in entry.anchor_verdicts if look not in moves and _is_settled(history, *look)]
        if moves or settled:
            is_for_all = history.is_main_line() and all(
                _is_committed(services, location, history, old, verdict.anchor) for old, verdict in moves
            )
            after = _reanchored(services, location, entry.lesson, moves, settled, is_for_all)
            words = [f"{_name(old)} -> {_name(verdict.anchor)}" for old, verdict in moves]
            if after.anchors != entry.lesson.anchors:
                planned.append((entry.lesson, after, words or [f"{_name(old)} seen here" for old, _ in settled]))

    def step() -> Change | None:
        current = [plan for plan in planned if _is_current(services, plan[0])]
        if not current:
            return None
        expected = {before.id: before.recorded_at for before, _, _ in current}
        summary = "; ".join(words for _, _, moves in current for words in moves)
        summary = summary if len(summary) <= SUMMARY_LIMIT else summary[: SUMMARY_LIMIT - 1] + "…"
        lessons = [after for _, after, _ in current]
        return write_change(services, location, "reanchor", lessons, expected, actor=actor, summary=summary).change

    change = with_retries(step)
    return change, frozenset(change.lessons if change is not None else ())


def _is_followed(history: History, location: Location, anchor: Anchor, verdict: Verdict) -> bool:
    """Return whether the definition or file is elsewhere now, in the history that the anchor belongs to."""
    now = verdict.anchor
    if verdict.freshness in ("unverified", "orphaned") or (now.path, now.symbol) == (anchor.path, anchor.symbol):
        return False
    return now.commit in ("", location.commit) or history.contains(now.commit) is True


def _is_settled(history: History, anchor: Anchor, verdict: Verdict) -> bool:
    """Return whether the text is in this history under another commit than the recorded one."""
    now = verdict.anchor
    return verdict.freshness == "fresh" and now.commit != anchor.commit and history.contains(now.commit) is True


def _is_committed(services: Services, location: Location, history: History, old: Anchor, now: Anchor) -> bool:
    """Return whether HEAD has it at its new location and no longer at its old one."""
    return _is_at(services, location, history, now) and not _is_at(services, location, history, old)


def _is_at(services: Services, location: Location, history: History, anchor: Anchor) -> bool:
    content = history.file(location.commit, anchor.path)
    index = services.codeindex()
    if content is None or not anchor.symbol or index is None:
        return content is not None
    wanted = anchor.symbol.partition("#")[0]
    symbols = index.outline(anchor.path, content).symbols
    return any(symbol.name.partition("#")[0] == wanted for symbol in symbols)


def _reanchored(
    services: Services,
    location: Location,
    lesson: Lesson,
    moves: Sequence[tuple[Anchor, Verdict]],
    settled: Sequence[tuple[Anchor, Verdict]],
    is_for_all: bool,
) -> Lesson:
    """Return the lesson's next version, with moved anchors at the new location, or with that location beside theirs."""
    changed = {old: replace(old, commit=verdict.anchor.commit, branch=location.branch) for old, verdict in settled}
    for old, verdict in moves:
        changed[old] = _moved(location, old, verdict) if is_for_all else _with_place(old, _place(verdict.anchor))
    anchors = {(new.path, new.symbol): new for new in (changed.get(anchor, anchor) for anchor in lesson.anchors)}
    return replace(lesson, anchors=tuple(anchors.values()), recorded_at=services.clock.now(), retracted_at=None)


def _moved(location: Location, anchor: Anchor, verdict: Verdict) -> Anchor:
    now = verdict.anchor
    if verdict.freshness in STALE:
        there = replace(anchor, path=now.path, symbol=now.symbol, symbol_kind=now.symbol_kind)
    else:
        there = replace(now, commit=location.commit, branch=location.branch)
    also = tuple(other for other in anchor.also if other != _place(now))
    return _with_place(replace(there, also=also), _place(anchor))


def _with_place(anchor: Anchor, seen: str) -> Anchor:
    """Return the anchor with another location where it was seen, the newest first."""
    others = (other for other in anchor.also if other != seen)
    return replace(anchor, also=(seen, *others)[:PLACES_KEPT])


def _place(anchor: Anchor) -> str:
    return f"{anchor.path}::{anchor.symbol}" if anchor.symbol else anchor.path


def _is_current(services: Services, lesson: Lesson) -> bool:
    try:
        (now,) = services.store.get([lesson.id])
    except LessonNotFoundError:
        return False
    return now.recorded_at == lesson.recorded_at


def _name(anchor: Anchor) -> str:
    return f"{anchor.path}:{anchor.symbol}" if anchor.symbol else anchor.path
