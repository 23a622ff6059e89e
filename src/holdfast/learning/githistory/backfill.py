"""Backfill from git: the best of what a repository's commits say, as lessons on probation.

A commit's text is the repository's, whoever it names as its author: no lesson of it is active by itself. Where the
user has committed to the repository it goes on probation, in any other one it waits in the inbox (ADR 21). All of a
run is one change, which `undo` takes back. A mark says which commits were read, so that a run goes on where the last
one stopped; the same find again changes nothing.
"""

from __future__ import annotations

from holdfast.curation.adopt import Adopting, Reading, adopt
from holdfast.domain.lesson import in_state
from holdfast.domain.vocabulary import STATES
from holdfast.errors import InvalidValueError
from holdfast.lean.records import Frozen, replace
from holdfast.learning.githistory.finds import find_all
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.lessons.statement import doubtful_name
from holdfast.lessons.suspicion import suspicion
from holdfast.ports.importer import Passage
from holdfast.ports.store import LessonFilter
from holdfast.rendering.lines import GIT_HISTORY
from holdfast.text.orders import reservation
from holdfast.text.sameness import same
from holdfast.text.words import duplicate_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from holdfast.curation.adopt import Step
    from holdfast.domain.commit import Commit
    from holdfast.domain.lesson import Lesson
    from holdfast.domain.project import Place
    from holdfast.domain.vocabulary import State
    from holdfast.learning.githistory.finds import Find
    from holdfast.ports.history import History
    from holdfast.ports.parts import Parts

DETECTOR = GIT_HISTORY + "1"
READ = DETECTOR + ":"
"""Start of the mark `NEWEST COUNT [own]`: the newest commit that was read, how many were read from there on, and
whether the user wrote one of them."""
LEAST_WORTH = 0.5
"""Probability from which a find is kept; below it one in three was worth telling, above it two."""
MOST_KEPT, MOST_WAITING = 100, 20
"""Lessons of commits that a project has at a time, and those that may wait of a repository the user only reads."""
PAGE = 250
SHARED_WORDS = 0.4
OWN: tuple[State, ...] = ("probation", "candidate", "quarantined")
"""States in which a lesson of a commit still is what the backfill made it."""
LIVING: tuple[State, ...] = ("active", *OWN)


class GitBackfill(Frozen):
    """How a run goes."""

    most_commits: int = 2_000
    seconds: float = 60.0
    """From when on no further page of commits is read."""
    accept: bool = False
    """Whether the user vouches for the repository: what its commits say goes on probation."""
    dry: bool = False
    """Whether nothing is written: a dry run."""


class GitReport(Frozen):
    """What became of a repository's commits."""

    commits: int = 0
    """Read in this run."""
    found: int = 0
    """Finds worth keeping among them."""
    steps: tuple[Step, ...] = ()
    """What became of those that were taken, best first."""
    known: int = 0
    """Finds that say what a lesson says already."""
    gone: int = 0
    """Finds about files that are not there any more."""
    suspicious: int = 0
    """Finds left out because they address an agent or hide something."""
    over: int = 0
    """Finds left out because the project has enough of them."""
    own: bool = False
    """Whether the user has committed to the repository, or vouches for it."""
    complete: bool = False
    """Whether the whole history was read."""
    stopped: bool = False
    """Whether the user stopped the run."""

    @property
    def added(self) -> tuple[Step, ...]:
        """The new lessons."""
        return tuple(step for step in self.steps if step.verb in ("added", "revised"))


def backfill_git(
    parts: Parts, place: Place, how: GitBackfill, progress: Callable[[int], None] | None = None
) -> GitReport:
    """Learn from the place's repository; `progress` hears how many commits have been read.

    Raises InvalidValueError where there is no git history. A KeyboardInterrupt while commits are read ends the
    reading: what was read is kept and told, and the next run goes on from there.
    """
    history = parts.workspace.history(place)
    run = _Reader(parts, place, history, how)
    stopped = run.read(progress or (lambda count: None))
    finds = [find for find in find_all(run.commits, history.lines) if find.worth >= LEAST_WORTH]
    own = run.is_own()
    chosen, report = _choose(parts, place, finds, MOST_KEPT if own else MOST_WAITING)
    readings = list(_readings(chosen, "probation" if own else "candidate"))
    steps = adopt(parts, place, readings, Adopting(dry=how.dry, verb="backfill")) if readings else ()
    if not how.dry:
        if how.accept:
            with_retries(lambda: _vouch(parts, place))
        run.keep()
    return replace(
        report, commits=len(run.commits), found=len(finds), own=own, complete=run.complete, stopped=stopped,
        steps=tuple(step for step in steps if step.verb != "removed"),
    )  # fmt: skip


def take_back(parts: Parts, place: Place, *, author: str = "") -> int:
    """Retire every lesson of commits that nobody has accepted; how many. One change, which `undo` takes back."""

    def step() -> int:
        lessons = [lesson for lesson in git_lessons(parts, place) if lesson.state in OWN]
        after = [in_state(lesson, "retired", at=parts.clock.now()) for lesson in lessons]
        if after:
            expected = {lesson.id: lesson.recorded_at for lesson in lessons}
            write_change(parts, place, "backfill", after, expected, actor=author, summary="taken back")
        return len(after)

    return with_retries(step)


def _vouch(parts: Parts, place: Place) -> None:
    """Put what waits from commits on probation, but for what a person must see first."""
    waiting = [lesson for lesson in git_lessons(parts, place) if lesson.state == "candidate"]
    fit = [lesson for lesson in waiting if not reservation(f"{lesson.title}\n{lesson.insight}")]
    if fit:
        after = [in_state(lesson, "probation", at=parts.clock.now()) for lesson in fit]
        write_change(parts, place, "backfill", after, {lesson.id: lesson.recorded_at for lesson in fit})


def git_lessons(parts: Parts, place: Place) -> Iterator[Lesson]:
    """The project's lessons that commits gave, in every state but forgotten."""
    where = LessonFilter(project=place.project.id)
    while page := parts.store.find(where):
        yield from (lesson for lesson in page if lesson.provenance.detector.startswith(GIT_HISTORY))
        where = replace(where, offset=where.offset + len(page))


class _Reader:
    """Reads commits page by page: first those since the last run, then on from where it stopped."""

    def __init__(self, parts: Parts, place: Place, history: History, how: GitBackfill) -> None:
        self.commits: list[Commit] = []
        self.complete = False
        self._parts = parts
        self._history = history
        self._how = how
        self._mark = READ + place.project.id
        newest, count, own = (*parts.store.mark(self._mark).split(), "", "", "")[:3]
        known = bool(newest) and count.isdigit() and history.holds(newest) is True
        self._newest, self._count = (newest, int(count)) if known else ("", 0)
        self._was_own = known and own == "own"
        if how.accept and not self._was_own:
            self._newest, self._count = "", 0  # more may be kept now than when it was read
            self._was_own = True

    def read(self, progress: Callable[[int], None]) -> bool:
        """Read as far as the limits allow; returns whether the user stopped it."""
        until_s = self._parts.clock.elapsed_s() + self._how.seconds
        try:
            if self._newest and not self._pages(f"{self._newest}..HEAD", 0, until_s, progress):
                return False  # there was no time for all that is new: the mark stays, and the next run begins here
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
        """Whether the user wrote one of the commits, by the address in the user's own configuration of git."""
        address = self._history.own_address().casefold()
        return self._was_own or (bool(address) and any(commit.email.casefold() == address for commit in self.commits))

    def keep(self) -> None:
        """Write down what was read; after the lessons, so that a crash between loses nothing."""
        if self._newest:
            self._parts.store.mark(self._mark, f"{self._newest} {self._count}" + (" own" if self.is_own() else ""))

    def _pages(self, revisions: str, skip: int, until_s: float, progress: Callable[[int], None]) -> bool:
        """Read on; returns whether the end was reached."""
        size = PAGE
        while self._parts.clock.elapsed_s() < until_s and len(self.commits) < self._how.most_commits:
            size = min(size, self._how.most_commits - len(self.commits))
            page = self._history.commits(revisions, skip, size)
            if page is None and size > 1:
                size = max(1, size // 4)  # a huge commit, or a slow disk
                continue
            if page is None:
                skip += 1  # not even this one alone
                if skip > self._how.most_commits:
                    return False
                continue
            self.commits += page
            skip += len(page)
            progress(len(self.commits))
            if len(page) < size:
                return True
            size = PAGE
        return False


def _choose(parts: Parts, place: Place, finds: Sequence[Find], most: int) -> tuple[list[Find], GitReport]:
    """The best finds that the project does not know yet and has room for, and how many were left out, and why."""
    known = _Known(parts, place)
    room = most - sum(lesson.state in LIVING for lesson in git_lessons(parts, place))
    counts = {"known": 0, "gone": 0, "suspicious": 0, "over": 0}
    chosen: list[Find] = []
    for find in finds:
        files = tuple(name for name in find.files if parts.workspace.exists(place, name))
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
    """What the project's lessons say, whatever became of them."""

    def __init__(self, parts: Parts, place: Place) -> None:
        self._rules: list[tuple[set[str], str]] = []
        where = LessonFilter(project=place.project.id, states=tuple(s for s in STATES if s != "forgotten"))
        while page := parts.store.find(where):
            for lesson in page:
                self.add(lesson.insight)
            where = replace(where, offset=where.offset + len(page))

    def add(self, rule: str) -> None:
        self._rules.append((set(duplicate_key(rule).split()), rule))

    def has(self, rule: str) -> bool:
        """Whether a lesson says the same, in the same words or more of them."""
        words = set(duplicate_key(rule).split())
        for others, other in self._rules:
            if words == others:
                return True
            shared = len(words & others)
            if shared >= SHARED_WORDS * min(len(words), len(others)) and (
                shared >= 0.9 * min(len(words), len(others)) or same(other, rule)
            ):
                return True
        return False


def _readings(finds: Sequence[Find], state: State) -> Iterator[Reading]:
    """A reading for each commit: with one for each find, the second would be taken for a new wording of the first."""
    by_commit: dict[str, list[Find]] = {}
    for find in finds:
        by_commit.setdefault(find.commit.id, []).append(find)
    for commit, own in by_commit.items():
        passages = tuple(_passage(find, state) for find in own)
        yield Reading(label=f"commit {commit[:12]}", importer=DETECTOR, parts=passages)


def _passage(find: Find, state: State) -> Passage:
    """The find as a passage; one that names a host or a credential, or runs what it fetched, waits for a person."""
    waits = bool(reservation(f"{find.title}\n{find.insight}"))
    return Passage(
        section=find.title,
        insight=find.insight,
        kind=find.kind,
        title=find.title,
        files=find.files,
        state="candidate" if waits else state,
        said_at=find.commit.at,
        author=find.commit.author,
        confidence=find.worth,
    )
