"""The code at the time of a session's events: the work tree as it is while nothing was committed since, else a commit.

What a lesson is about was seen at one moment. Anchored to code of another moment it would count as fresh although the
code has changed in between. The commit of that moment is, in this order, the one that a hook recorded; the one that the
work tree's reflog names; the newest one of the session's branch before it, also of a branch that was merged and
deleted; the newest one of the main branch before it. If the session had edited the lesson's files by then, the next
commit is nearer to what it saw. Where git knows none of these, nothing is known of the code at that time.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import pairwise

from holdfast.domain.event import Event
from holdfast.domain.lesson import Anchor
from holdfast.domain.project import CommitPoint, Location
from holdfast.lessons.anchoring import Subject, anchor_subject
from holdfast.lessons.tuning import PRESENT_H
from holdfast.ports.services import Services

MERGED = ("from", "branch")
"""Words before a branch's name in the subject of its merge: `from owner/branch`, `branch 'name'`."""


class CodeThen:
    """Anchors subjects to the code of their time. It asks git once for each branch."""

    def __init__(self, services: Services, location: Location) -> None:
        self._services = services
        self._location = location
        self._branches = services.workspace.branches(location)
        self._history = services.workspace.history(location)
        self._lines: dict[str, Sequence[CommitPoint]] = {}

    def anchors(self, subject: Subject, behind: Sequence[Event], session: Iterable[Event] = ()) -> tuple[Anchor, ...]:
        """Return anchors to the subject in the code that the events saw; in the present code if there are no events.

        `session` are all events of their session. Where the code of that time is not known, the anchors say where the
        subject is now, without a fingerprint, so that they are unverified.
        """
        if not behind:
            return anchor_subject(self._services, self._location, subject)
        last = max(behind, key=lambda event: event.at)
        if self._is_present(last.at, last.branch, last.commit):
            return anchor_subject(self._services, self._location, subject)
        before, after = self._around(last)
        files = {*subject.files, *(path for path, _ in subject.edits)}
        edited = self._edited_since(before, last, session)
        order = (after, before) if files & edited else (before, after)
        return self._anchors_at([commit for commit in order if commit], subject, last.branch)

    def anchors_at(self, subject: Subject, at: datetime, commit: str = "") -> tuple[Anchor, ...]:
        """Return anchors to the subject in that commit, else in the newest one of what is checked out at that time."""
        if not commit and self._is_present(at):
            return anchor_subject(self._services, self._location, subject)
        commit = commit or self._on_branch("", at)[0]
        return self._anchors_at([commit] if commit else [], subject, "")

    def _anchors_at(self, commits: Sequence[str], subject: Subject, branch: str) -> tuple[Anchor, ...]:
        """Return anchors in the first of the commits that has a definition of the subject, else any part of it."""
        parts: tuple[Anchor, ...] = ()
        for commit in commits:
            there = replace(self._location, tree=commit, commit=commit, branch=branch)
            anchors = anchor_subject(self._services, there, subject)
            if any(anchor.symbol and anchor.body_hash for anchor in anchors):
                return anchors
            parts = parts or tuple(anchor for anchor in anchors if anchor.blob)
        if parts:
            return parts
        now = anchor_subject(self._services, self._location, subject)
        return tuple(Anchor(path=anchor.path, symbol=anchor.symbol, symbol_kind=anchor.symbol_kind) for anchor in now)

    def _is_present(self, at: datetime, branch: str = "", commit: str = "") -> bool:
        """Return whether nothing was committed here since that time, so that the work tree shows what was seen."""
        head = self._location.commit
        if not head:
            return self._services.clock.now() - at < timedelta(hours=PRESENT_H)
        is_here = commit == head if commit else branch in ("", self._location.branch)
        return is_here and self._was_made_before(head, at)

    def _was_made_before(self, commit: str, at: datetime) -> bool:
        made = self._branches.time(commit)
        return made is not None and made <= at

    def _around(self, event: Event) -> tuple[str, str]:
        """Return the commit that the event saw, and the next one; each is empty where it is not known."""
        if event.cwd and self._services.workspace.relative(self._location, event.cwd + "/.git"):
            before, after = self._branches.find_checked_out(event.at)
        else:
            before, after = "", ""
        if event.commit and self._was_made_before(event.commit, event.at):
            before, after = event.commit, after if before == event.commit else ""
        if before and self._branches.time(before) is None:
            before, after = "", ""  # git has dropped the commit
        if before and after:
            return before, after
        earlier, later = self._on_branch(event.branch, event.at)
        return before or earlier, after or later

    def _on_branch(self, branch: str, at: datetime) -> tuple[str, str]:
        """Return the commits before and after that time on the branch, else on the one merged from it, else on main."""
        for tip in self._tips(branch, at):
            points = self._line(tip)
            position = bisect_right([point.at for point in points], at)
            if position:
                return points[position - 1].id, points[position].id if position < len(points) else ""
        return "", ""

    def _tips(self, branch: str, at: datetime) -> Iterator[str]:
        """Yield the newest commits of the lines that may have been checked out then, the likeliest first."""
        if branch == self._location.branch or not branch:
            yield self._location.commit
        elif tip := self._branches.tip(branch):
            yield tip
        mains = list(self._branches.main_commits() or ())
        for main in [*mains, self._location.commit] if branch else ():
            merge = next(
                (point.id for point in self._line(main) if point.at > at and _merges(point.subject, branch)), ""
            )
            if merge and (tip := self._branches.resolve(f"{merge}^2")):
                yield tip
        yield from mains

    def _line(self, tip: str) -> Sequence[CommitPoint]:
        """Return the commits of a line along first parents, oldest first, in the order of their times."""
        if tip not in self._lines:
            self._lines[tip] = sorted(self._history.list_points("", tip) or (), key=lambda point: point.at)
        return self._lines[tip]

    def _edited_since(self, commit: str, last: Event, session: Iterable[Event]) -> set[str]:
        """Return the files that the session had edited by the event, after the commit was made."""
        made = self._branches.time(commit) if commit else None
        return {
            path
            for event in session
            if event.kind == "file_edit" and event.at <= last.at and (made is None or event.at > made)
            for path in event.files
        }


def _merges(subject: str, branch: str) -> bool:
    """Return whether a merge commit's subject names the branch as what it merged."""
    words = subject.replace("'", " ").split()
    return any(word in MERGED and branch in (name, name.partition("/")[2]) for word, name in pairwise(words))
