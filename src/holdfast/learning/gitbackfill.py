"""Learns from git: takes the most useful statements of a repository's commits as unconfirmed lessons.

A commit's text belongs to the repository, whoever its author is, so no lesson from it is active by itself. It waits
for a person (ADR 21). Each run is
one change, which `undo` reverts. A stored mark says which commits were read, so that a run continues where the last one
stopped. A find that is met again changes nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from holdfast.compare.sameness import same
from holdfast.curation.adopt import Adopting, PassageOutcome, SourceContents, adopt
from holdfast.domain.lesson import Lesson, in_state
from holdfast.domain.project import Commit, Location
from holdfast.domain.statefamilies import COMMITS_READ
from holdfast.domain.vocabulary import STATES, State
from holdfast.errors import InvalidValueError
from holdfast.learning.commitfinds import CommitFind, find_all
from holdfast.learning.tuning import (
    COMMITS_A_PAGE,
    HISTORY_LEAST_WORTH,
    HISTORY_SHARED_WORDS,
    MOST_KEPT,
    MOST_WAITING,
)
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.lessons.statement import doubtful_name, suspicion
from holdfast.ports.plugins import Passage
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter
from holdfast.ports.workspace import History
from holdfast.rendering.lines import GIT_HISTORY
from holdfast.text.words import duplicate_key

DETECTOR = GIT_HISTORY + "1"
OWN: tuple[State, ...] = ("candidate", "quarantined")
"""States of a commit's lesson that still is as the backfill made it."""
LIVING: tuple[State, ...] = ("active", *OWN)


@dataclass(frozen=True, slots=True, kw_only=True)
class GitBackfill:
    """Options of a run."""

    most_commits: int = 2_000
    seconds: float = 60.0
    """Time after which no further page of commits is read."""
    accept: bool = False
    """The user vouches for the repository: as many lessons are kept as of an own one."""
    dry: bool = False
    """Nothing is written."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitReport:
    """The results of a run."""

    commits: int = 0
    """Commits read in this run."""
    found: int = 0
    """Finds among them that are worth keeping."""
    steps: tuple[PassageOutcome, ...] = ()
    """What happened to the chosen finds, best first."""
    known: int = 0
    """Finds that repeat a lesson."""
    gone: int = 0
    """Finds about files that no longer exist."""
    suspicious: int = 0
    """Finds left out because they address an agent or hide something."""
    over: int = 0
    """Finds left out because the project has enough lessons from commits."""
    own: bool = False
    """The user has committed to the repository, or vouches for it."""
    complete: bool = False
    """The whole history was read."""
    stopped: bool = False
    """The user stopped the run."""

    @property
    def added(self) -> tuple[PassageOutcome, ...]:
        """The new lessons."""
        return tuple(step for step in self.steps if step.verb in ("added", "revised"))


def backfill_git(
    services: Services, location: Location, how: GitBackfill, progress: Callable[[int], None] | None = None
) -> GitReport:
    """Learn from the repository at the location; `progress` receives the number of commits read so far.

    Raises InvalidValueError if there is no git history. A KeyboardInterrupt while commits are read ends only the
    reading: what was read is learnt and reported, and the next run continues from there.
    """
    history = services.workspace.history(location)
    run = _Reader(services, location, history, how)
    stopped = run.read(progress or (lambda count: None))
    finds = [find for find in find_all(run.commits, history.read_changed_lines) if find.worth >= HISTORY_LEAST_WORTH]
    own = run.is_own()
    chosen, report = _choose(services, location, finds, MOST_KEPT if own else MOST_WAITING)
    readings = list(_readings(chosen))
    steps = adopt(services, location, readings, Adopting(dry=how.dry, verb="backfill")) if readings else ()
    if not how.dry:
        run.keep()
    return replace(
        report, commits=len(run.commits), found=len(finds), own=own, complete=run.complete, stopped=stopped,
        steps=tuple(step for step in steps if step.verb != "removed"),
    )  # fmt: skip


def take_back(services: Services, location: Location, *, author: str = "") -> int:
    """Retire every lesson from commits that nobody has accepted; return how many. `undo` reverts the change."""

    def step() -> int:
        lessons = [lesson for lesson in git_lessons(services, location) if lesson.state in OWN]
        after = [in_state(lesson, "retired", at=services.clock.now()) for lesson in lessons]
        if after:
            expected = {lesson.id: lesson.recorded_at for lesson in lessons}
            write_change(services, location, "backfill", after, expected, actor=author, summary="taken back")
        return len(after)

    return with_retries(step)


def git_lessons(services: Services, location: Location) -> Iterator[Lesson]:
    """Yield the project's lessons from commits, in every state but forgotten."""
    where = LessonFilter(project=location.project.id)
    while page := services.store.find(where):
        yield from (lesson for lesson in page if lesson.provenance.detector.startswith(GIT_HISTORY))
        where = replace(where, offset=where.offset + len(page))


class _Reader:
    """Reads commits page by page: first those since the last run, then on from where the last run stopped."""

    def __init__(self, services: Services, location: Location, history: History, how: GitBackfill) -> None:
        self.commits: list[Commit] = []
        self.complete = False
        self._services = services
        self._history = history
        self._how = how
        self._project = location.project.id
        newest, count, own = (*services.store.get_state(COMMITS_READ, self._project).split(), "", "", "")[:3]
        known = bool(newest) and count.isdigit() and history.contains(newest) is True
        self._newest, self._count = (newest, int(count)) if known else ("", 0)
        self._was_own = known and own == "own"
        if how.accept and not self._was_own:
            self._newest, self._count = "", 0  # more can be kept now than when the commits were read
            self._was_own = True

    def read(self, progress: Callable[[int], None]) -> bool:
        """Read as far as the limits allow; return whether the user stopped it."""
        until_s = self._services.clock.elapsed_s() + self._how.seconds
        try:
            if self._newest and not self._pages(f"{self._newest}..HEAD", 0, until_s, progress):
                return False  # no time for all new commits: the stored mark stays, and the next run begins here
            newest = self.commits[0].id if self.commits else self._newest
            before, count = len(self.commits), self._count + len(self.commits)
        except KeyboardInterrupt:
            return True
        try:
            self.complete = self._pages(newest or "HEAD", count, until_s, progress)
        except KeyboardInterrupt:
            return True
        finally:
            self._newest = newest or (self.commits[0].id if self.commits else "")
            self._count = count + len(self.commits) - before
        if not self._newest:
            raise InvalidValueError("there is no git history here", hint="run it in a repository with commits")
        return False

    def is_own(self) -> bool:
        """Return whether the user wrote one of the commits, by the address in the user's own git configuration."""
        address = self._history.own_address().casefold()
        return self._was_own or (bool(address) and any(commit.email.casefold() == address for commit in self.commits))

    def keep(self) -> None:
        """Store what was read. This comes after the lessons, so that a crash in between loses nothing."""
        if self._newest:
            own = " own" if self.is_own() else ""
            self._services.store.set_state(COMMITS_READ, self._project, f"{self._newest} {self._count}{own}")

    def _pages(self, revisions: str, skip: int, until_s: float, progress: Callable[[int], None]) -> bool:
        """Read on; return whether the end was reached."""
        size = COMMITS_A_PAGE
        while self._services.clock.elapsed_s() < until_s and len(self.commits) < self._how.most_commits:
            size = min(size, self._how.most_commits - len(self.commits))
            page = self._history.commits(revisions, skip, size)
            if page is None and size > 1:
                size = max(1, size // 4)  # a huge commit, or a slow disk
                continue
            if page is None:
                skip += 1  # not even this commit alone can be read
                if skip > self._how.most_commits:
                    return False
                continue
            self.commits += page
            skip += len(page)
            progress(len(self.commits))
            if len(page) < size:
                return True
            size = COMMITS_A_PAGE
        return False


def _choose(
    services: Services, location: Location, finds: Sequence[CommitFind], most: int
) -> tuple[list[CommitFind], GitReport]:
    """Return the best finds that are new and fit into the project's limit, and how many were left out, and why."""
    known = _Known(services, location)
    room = most - sum(lesson.state in LIVING for lesson in git_lessons(services, location))
    counts = {"known": 0, "gone": 0, "suspicious": 0, "over": 0}
    chosen: list[CommitFind] = []
    for find in finds:
        files = tuple(name for name in find.files if services.workspace.exists(location, name))
        if not files:
            counts["gone"] += 1
        elif suspicion("\n".join((find.title, find.insight, find.commit.author))) or doubtful_name(files):
            counts["suspicious"] += 1
        elif known.has(find.insight):
            counts["known"] += 1
        elif len(chosen) >= room:
            counts["over"] += 1
        else:
            chosen.append(replace(find, files=files))
            known.add(find.insight)
    report = GitReport(known=counts["known"], gone=counts["gone"], suspicious=counts["suspicious"], over=counts["over"])
    return chosen, report


class _Known:
    """The statements of the project's lessons, in any state but forgotten."""

    def __init__(self, services: Services, location: Location) -> None:
        self._rules: list[tuple[set[str], str]] = []
        where = LessonFilter(project=location.project.id, states=tuple(s for s in STATES if s != "forgotten"))
        while page := services.store.find(where):
            for lesson in page:
                self.add(lesson.insight)
            where = replace(where, offset=where.offset + len(page))

    def add(self, rule: str) -> None:
        self._rules.append((set(duplicate_key(rule).split()), rule))

    def has(self, rule: str) -> bool:
        """Return whether a lesson says the same, in the same words or in more of them."""
        words = set(duplicate_key(rule).split())
        for others, other in self._rules:
            if words == others:
                return True
            shared = len(words & others)
            if shared >= HISTORY_SHARED_WORDS * min(len(words), len(others)) and (
                shared >= 0.9 * min(len(words), len(others)) or same(other, rule)
            ):
                return True
        return False


def _readings(finds: Sequence[CommitFind]) -> Iterator[SourceContents]:
    """Yield a reading for each commit. With one for each find, the second would replace the first as a new wording."""
    by_commit: dict[str, list[CommitFind]] = {}
    for find in finds:
        by_commit.setdefault(find.commit.id, []).append(find)
    for commit, own in by_commit.items():
        passages = tuple(_passage(find) for find in own)
        yield SourceContents(label=f"commit {commit[:12]}", importer=DETECTOR, parts=passages)


def _passage(find: CommitFind) -> Passage:
    return Passage(
        section=find.title,
        insight=find.insight,
        kind=find.kind,
        title=find.title,
        files=find.files,
        state="candidate",
        said_at=find.commit.at,
        commit=find.commit.id,
        author=find.commit.author,
        confidence=find.worth,
    )
