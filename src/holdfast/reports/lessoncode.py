"""The code that a lesson is about, then and now, as rows that a page shows side by side with the verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from holdfast.domain.event import Event
from holdfast.domain.lesson import Anchor, Lesson
from holdfast.domain.project import Location
from holdfast.domain.symbol import Verdict
from holdfast.domain.vocabulary import FRESHNESSES, Freshness
from holdfast.freshness.check import FreshnessCheck, worst
from holdfast.freshness.compare import CodeSpan, Comparison, changing_commit, compare_anchor, name_of
from holdfast.freshness.verify import STALE
from holdfast.ports.services import Services
from holdfast.rendering.verdicts import verdict_words
from holdfast.reports.differences import DiffRow, NumberedLines, cut_rows, line_rows, one_side
from holdfast.reports.tuning import CHECKED_S, ROWS_MOST, ROWS_SHOWN, SIDES_SHOWN

UNCOMMITTED = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitMade:
    """The commit that changed some code."""

    id: str
    """Empty while the change is not committed."""
    subject: str = ""
    at: datetime | None = None

    @property
    def words(self) -> str:
        """`in commit 3fa9c1e204 of 2026-11-02, “Add a timeout”`, or that nobody has committed it."""
        return f"in commit {self.id[:10]}{self.about}" if self.id else "not committed yet"

    @property
    def about(self) -> str:
        """What stands behind its id: ` of 2026-11-02, “Add a timeout”`."""
        when = f" of {self.at:%Y-%m-%d}" if self.at else ""
        return when + (f", “{self.subject}”" if self.subject else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeSide:
    """One place that the lesson is about: the verdict on it, and its code then and now."""

    path: str
    symbol: str
    name: str
    """`src/store.py:Store.put`, or the file."""
    now_name: str = ""
    """Where it is now, if that is another place."""
    freshness: Freshness
    words: str = ""
    """What changed, in words; empty where nothing did."""
    commit: CommitMade | None = None
    """The commit that changed it, of the worst place, or of each if everything is wanted; None where nothing changed or
    git does not know."""
    then_commit: str = ""
    """The commit at which the lesson was anchored."""
    rows: tuple[DiffRow, ...] = ()
    more: int = 0
    """Lines that are left out at the end."""
    note: str = ""
    """Why a version is not shown."""
    has_then: bool = True
    has_now: bool = True

    @property
    def sentence(self) -> str:
        """What changed, as a sentence without a full stop."""
        words = self.words
        if self.commit is not None:
            is_named = bool(self.commit.id) and self.commit.id[:7] in words
            words += self.commit.about if is_named else f", {self.commit.words}"
        is_name = bool(self.symbol) and words.startswith(self.symbol)
        return words if is_name else words[:1].upper() + words[1:]

    @property
    def is_changed(self) -> bool:
        """Whether a line differs."""
        return any(row.sign in ("-", "+") for row in self.rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeStory:
    """What became of the code of a lesson."""

    freshness: Freshness
    caveat: str = ""
    sides: tuple[CodeSide, ...] = ()
    """The worst first."""
    others: tuple[CodeSide, ...] = ()
    """Further places, without their code."""
    has_work_tree: bool = True


def tell_code(
    services: Services, location: Location, lesson: Lesson, events: Sequence[Event] = (), *, everything: bool = False
) -> CodeStory:
    """Return the verdicts on the lesson's places, and the code of the worst ones then and now.

    `events` are those of the session that taught it: where git does not have the code of then, what the session wrote
    is shown. `everything` shows the code of all places, at most ROWS_MOST rows each.
    """
    looks = FreshnessCheck(services, location, within_s=CHECKED_S).anchor_verdicts(lesson)
    freshness, caveat = worst(looks)
    ours = lesson.scope.project in ("", location.project.id)
    order = sorted(looks, key=lambda look: -FRESHNESSES.index(look[1].freshness))
    shown = len(order) if everything else SIDES_SHOWN
    rows = ROWS_MOST if everything else ROWS_SHOWN
    return CodeStory(
        freshness=freshness,
        caveat=caveat,
        sides=tuple(
            _side(services, location, look, events, rows, with_commit=everything or at == 0)
            for at, look in enumerate(order[:shown])
            if ours
        ),
        others=tuple(_named(*look) for look in (order[shown:] if ours else order)),
        has_work_tree=location.has_work_tree,
    )


def _side(
    services: Services,
    location: Location,
    look: tuple[Anchor, Verdict],
    events: Sequence[Event],
    most: int,
    *,
    with_commit: bool,
) -> CodeSide:
    anchor, verdict = look
    with_commit = with_commit and verdict.freshness in STALE
    if not location.has_work_tree:
        return _as_written(anchor, verdict, events, most)
    comparison = compare_anchor(services, location, anchor, verdict)
    rows, more = cut_rows(_rows(comparison), most)
    note = comparison.note
    if comparison.then_span is None and not rows:
        rows, more, written = _written(anchor, events, most)
        note = f"{note}. {written}" if rows else note
    side = _named(anchor, verdict)
    return CodeSide(
        path=side.path, symbol=side.symbol, name=side.name, now_name=side.now_name, freshness=side.freshness,
        words=side.words, then_commit=anchor.commit, rows=rows, more=more, note=note,
        commit=_commit(services, location, anchor, verdict) if with_commit else None,
        has_then=comparison.then_span is not None, has_now=comparison.now_span is not None,
    )  # fmt: skip


def _named(anchor: Anchor, verdict: Verdict) -> CodeSide:
    now, words = verdict.anchor, verdict_words(verdict)
    if words.startswith(now.path):
        words = "the file" + words.removeprefix(now.path)
    is_elsewhere = verdict.freshness != "unverified" and (now.path, now.symbol) != (anchor.path, anchor.symbol)
    return CodeSide(
        path=anchor.path, symbol=anchor.symbol, name=name_of(anchor), now_name=name_of(now) if is_elsewhere else "",
        freshness=verdict.freshness, words=words,
    )  # fmt: skip


def _rows(comparison: Comparison) -> tuple[DiffRow, ...]:
    then, now = comparison.then_span, comparison.now_span
    if then is not None and now is not None:
        return line_rows(_lines(then), _lines(now))
    if then is not None:
        is_gone = comparison.verdict.freshness in STALE  # on another branch it may still be there
        return one_side(_lines(then), "-" if is_gone else "", is_now=False)
    return one_side(_lines(now), "", is_now=True) if now is not None else ()


def _lines(span: CodeSpan) -> NumberedLines:
    lines = tuple(span.text.splitlines())
    return NumberedLines(lines=lines, first=span.first_line, before=span.before, after=span.after)


def _commit(services: Services, location: Location, anchor: Anchor, verdict: Verdict) -> CommitMade | None:
    history = services.workspace.history(location)
    commit = changing_commit(services, location, anchor, verdict)
    if not commit and anchor.commit and history.contains(anchor.commit):
        commit = UNCOMMITTED  # no commit has touched the file since, and it differs
    if commit == UNCOMMITTED:
        return CommitMade(id="")
    if not commit:
        return None
    points = history.list_points(commit, commit)
    point = points[-1] if points else None
    return CommitMade(id=commit, subject=point.subject if point else "", at=point.at if point else None)


# Where there is no clone, or git has lost the version: what the session itself wrote


def _as_written(anchor: Anchor, verdict: Verdict, events: Sequence[Event], most: int) -> CodeSide:
    """Return the place as the session left it: a server has no work tree, so the code now is not known there."""
    rows, more, note = _written(anchor, events, most)
    side = _named(anchor, verdict)
    return CodeSide(
        path=side.path, symbol=side.symbol, name=side.name, freshness=side.freshness, words=side.words,
        then_commit=anchor.commit, rows=rows, more=more, note=note, has_then=bool(rows), has_now=False,
    )  # fmt: skip


def _written(anchor: Anchor, events: Sequence[Event], most: int) -> tuple[tuple[DiffRow, ...], int, str]:
    """Return the last text that the session wrote into the file, best one with the symbol's name in it, and a note."""
    edits = [event for event in events if event.kind == "file_edit" and anchor.path in event.files and event.new]
    name = anchor.symbol.rpartition(".")[2].partition("#")[0]
    naming = [event for event in edits if name and name in event.new] or edits
    if not naming:
        return (), 0, ""
    rows, more = cut_rows(one_side(NumberedLines(lines=tuple(naming[-1].new.splitlines())), "", is_now=False), most)
    return rows, more, "This is what the session that taught it wrote into the file; its lines count from 1."
