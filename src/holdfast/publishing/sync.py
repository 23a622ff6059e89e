"""Sync: keep the files of `.holdfast/lessons` and the store in step.

For each shared lesson the store's version and the file are joined (`document.join`), so the order of syncs, merges and
edits does not matter. The result is written to the file. It is written to the store only if that is allowed: a file is
text of the repository (ADR 26). A new lesson waits in the inbox. A change
to a lesson that is active here waits until a person accepts it.

A lesson of the store belongs to one document at most: to the one that states its rule (ADR 48). If a document's rule
becomes another one while a second document states the lesson's, the lesson moves to the second, and the first is taken
in like a new one. So nobody's wording is overwritten by that of somebody who edited at the same time. If two documents
state one rule, the store has the lesson of one of them, and takes the other in as soon as that rule is free.

A missing file means nothing: another branch may be checked out. Only a tombstone ends a lesson.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal

from holdfast.curation.conflicts import find_conflicts
from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Lesson, Link
from holdfast.domain.project import Location
from holdfast.domain.records import Change
from holdfast.domain.vocabulary import LIVING, STATES, TRANSITIONS, LessonId, LinkKind, ProjectId, ScopeLevel, State
from holdfast.errors import HoldfastError, StaleWriteError
from holdfast.freshness.tuning import EVERY_LESSON
from holdfast.lean.plain import render_instant
from holdfast.lean.texts import short_id
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.lessons.staging import SharedStaging, find_staged, hidden_here
from holdfast.lessons.statement import suspicion
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter, LogFilter, get_readable
from holdfast.ports.workspace import LessonFiles
from holdfast.publishing.lessonfile import (
    EMPTY,
    UNSET,
    Document,
    FileProblem,
    LessonFile,
    is_card,
    join,
    parse,
    path_of,
    render,
    render_fields,
    settle,
    shared_id,
    split,
    stamp_text,
    tombstone,
)
from holdfast.publishing.sharedlesson import OF_ORGANISATION, is_from_elsewhere, new_lesson, revised, values_of
from holdfast.publishing.syncrecord import Entry, SyncCounts, SyncRecord, owner_of
from holdfast.publishing.syncrecord import shared_lessons as read_shared
from holdfast.text.occasions import CARDS
from holdfast.text.words import duplicate_key

FOLDER = ".holdfast/lessons"
NEW_FORM = "its words are the same; the file follows the Open Knowledge Format now"
FILE_DIFFERS = "the file differs; --accept takes the file's version"
OTHERS_DIFFER = "others changed it; --accept takes their version"
Rule = tuple[str, str]


Audience = Literal["team", "private", "own", "own private"]
"""Whom lessons are for: everybody who shares the project; this person alone, in the project or in all projects."""
OWN: tuple[Audience, ...] = ("own", "own private")
"""Audiences of a person's own lessons for all projects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Syncing:
    """Options of a run."""

    channel: str = ""
    """Where the lessons meet those of others: empty for the repository's files, else a server. See `syncrecord`."""
    audience: Audience = "team"
    level: ScopeLevel = "project"
    """The scope of new lessons; `team` for the rules of an organisation, which are nobody's of the project to share."""
    share: tuple[Lesson, ...] = ()
    """Lessons whose files are written even if none exist."""
    share_new: bool = False
    """Whether every lesson of the audience that may be shared is."""
    accepted: frozenset[LessonId] = frozenset()
    """Documents that somebody vouches for whom this machine's user trusts with it: changes in them are taken."""
    accept: bool = False
    """Whether a person vouches for the files: waiting changes in them are taken."""
    take_only: bool = False
    """Whether files are only read: git is at work, or another of its hooks follows."""
    dry: bool = False
    """Whether nothing is written: a dry run."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncOutcome:
    """What happened to one lesson, or would happen."""

    verb: str
    """written, added, changed, merged, forgotten, waiting or refused."""
    path: str
    title: str = ""
    lesson: LessonId = ""  # type: ignore[assignment]
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncReport:
    """What a sync did."""

    steps: tuple[SyncOutcome, ...] = ()
    problems: tuple[FileProblem, ...] = ()
    shared: int = 0
    """Lessons that are shared, by this machine or another one."""
    absent: int = 0
    """Lessons shared from here that have no file here."""
    waiting: int = 0
    """Lessons of ours whose file has a change that nobody has accepted yet."""
    conflicts: int = 0
    """Pairs of contradicting lessons, at least one of which is new from a file; not counted for git's hooks."""

    def count(self, verb: str) -> int:
        """Return how many steps have that verb."""
        return sum(step.verb == verb for step in self.steps)


def sync(services: Services, location: Location, files: LessonFiles, how: Syncing) -> SyncReport:
    """Return what happened to each shared lesson; idempotent. Raises HoldfastError if the folder cannot be used."""
    report = with_retries(lambda: _Run(services, location, files, how).go())
    came_in = {step.lesson for step in report.steps if step.verb in ("added", "changed", "merged")}
    if not came_in or how.dry or how.take_only:
        return report
    return replace(report, conflicts=len(find_conflicts(services, location, came_in)))


def shared_lessons(services: Services, location: Location) -> dict[LessonId, str]:
    """Return the lessons that have a file in the repository, on any branch, each with its file as of the last sync."""
    entries = read_shared(services.store, owner_of(location.project.id))
    return {lesson: entry.path for lesson, entry in entries.items()}


def find_shareable(services: Services, location: Location) -> list[Lesson]:
    """Return the lessons that `share --all` shares: active ones of the project, seen on this branch and not private."""
    hidden = hidden_here(services, location)
    lessons = (lesson for lesson in _lessons(services, location, ("active",)) if lesson.id not in hidden)
    return [lesson for lesson in lessons if not reason_against(lesson, location)]


def reason_against(lesson: Lesson, location: Location) -> str:
    """Return why the lesson cannot be shared with others; empty if it can."""
    if lesson.private:
        return "it is private"
    if lesson.scope.level == "user":
        return "it is your own lesson for all projects"
    if lesson.scope.project != location.project.id:
        return "it belongs to another project"
    if lesson.provenance.detector == OF_ORGANISATION:
        return "it is a rule of the organisation"
    return _reason_against_any(lesson)


def _reason_for(audience: Audience, lesson: Lesson, location: Location) -> str:
    """Return why the lesson cannot be shared with that audience; empty if it can."""
    if audience == "team":
        return reason_against(lesson, location)
    is_own = lesson.scope.level == "user"
    if is_own != (audience in OWN) or lesson.private != (audience != "own"):
        return "it is for others"
    if not is_own and lesson.scope.project != location.project.id:
        return "it belongs to another project"
    return _reason_against_any(lesson)


def _reason_against_any(lesson: Lesson) -> str:
    if profile_of(lesson.kind).is_working_state:
        return "it is a checkpoint"
    if lesson.state != "active":
        return f"it is not active but {lesson.state}"
    words = (lesson.title, lesson.insight, lesson.why, lesson.how, *lesson.snippets)
    return suspicion("\n".join(words)) if lesson.trust != "person" else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    """A document that a run decides on."""

    entry: Entry
    document: Document
    """The file's document, joined with the lesson if that is ours."""
    mine: Document | None = None
    """The lesson as a document, if it is ours."""
    file: LessonFile | None = None
    content: bytes | None = None
    lesson: Lesson | None = None
    new_id: LessonId = ""  # type: ignore[assignment]
    """The id under which the document becomes a new lesson of the store."""

    @property
    def is_arrival(self) -> bool:
        """Whether the document looks for a lesson in the store."""
        return self.lesson is None and not self.entry.ours

    @property
    def doubt(self) -> str:
        """Why the words may be untrustworthy; empty if there is no reason."""
        return self.file.doubt if self.file else ""


class _Run:
    """One sync: what is known, what will be written to the store and to files, and the report."""

    def __init__(self, services: Services, location: Location, files: LessonFiles, how: Syncing) -> None:
        self.services = services
        self.location = location
        self.folder = files
        self.how = how
        self.steps: list[SyncOutcome] = []
        self.problems: list[FileProblem] = []
        self.lessons: dict[LessonId, Lesson] = {}
        """Lessons of the store that were read, and the versions that this run will write."""
        self.after: dict[LessonId, Lesson] = {}
        self.expected: dict[LessonId, datetime | None] = {}
        self.outgoing: dict[str, tuple[str, bytes | None]] = {}
        """By path, the text to write and the file's present content."""
        self.forced: set[LessonId] = set()
        """Lessons whose files are written even if none exist."""
        self.unwritten: set[str] = set()
        self.present: dict[LessonId, str] = {}
        """By id, the lesson's file; empty if it has a file that must not be written."""
        self.cases: dict[LessonId, _Case] = {}
        self.is_complete = False
        self._successors: dict[LessonId, Lesson] = {}
        self.assigned: set[LessonId] = set()
        """Lessons of the store that belong to another document than before, or to none before."""
        self.staging = SharedStaging(services, location, FOLDER)
        self.project = ProjectId("") if how.audience in OWN else location.project.id
        root = "" if how.channel else location.root
        self.record = SyncRecord(services.store, owner_of(self.project, how.channel), root)

    def go(self) -> SyncReport:
        """Plan, then write the store, the files and the record, in this order: a crash in between loses nothing."""
        marks = dict(self.folder.find())
        extent = self.services.store.extent()
        if self.record.is_unchanged(extent, marks) and not (self.how.share or self.how.accept):
            return self._report(self.record.counts())
        self.before = self.record.entries()
        self.entries = dict(self.before)
        self.known = self.record.files()
        self._index()
        read = self._read(marks)
        if self.record.is_same_store(extent) and not self.how.share:
            due = self._changed_by_files(read)
            self._load([entry.lesson for shared in due if (entry := self.entries.get(shared)) and entry.lesson])
        else:
            self._load_all()
            self._follow_revisions()
            self._choose(read)
            due = self._to_do(read)
        for shared in due:
            self._open(shared, *read.get(shared, (None, None)))
        while self._hand_over():
            pass
        self._find_homes()
        self._open_linking()
        for shared in sorted(self.cases):
            self._settle(self.cases[shared])
        self._link()
        self._unstage()
        counts = self._count()
        if not self.how.dry:
            self._write(marks, counts)
        return self._report(counts)

    # What there is

    def _index(self) -> None:
        """Map lessons of the store to shared ids and back. A lesson that two entries name stays with the first."""
        self.shared_ids: dict[LessonId, LessonId] = {}
        self.local_ids: dict[LessonId, LessonId] = {}
        for entry in sorted(self.entries.values(), key=lambda entry: (not entry.ours, entry.id)):
            if entry.lesson in self.shared_ids:
                self.entries[entry.id] = _released(entry)
            elif entry.lesson:
                self.shared_ids[entry.lesson] = entry.id
                self.local_ids[entry.id] = entry.lesson
        for entry in self.entries.values():
            for former in entry.former:
                self.shared_ids.setdefault(former, entry.id)

    def _assign(self, lesson: LessonId, shared: LessonId) -> None:
        if self.shared_ids.get(lesson) != shared:
            self.assigned.add(lesson)
        self.shared_ids[lesson] = shared
        self.local_ids[shared] = lesson

    def _read(self, marks: Mapping[str, str]) -> dict[LessonId, tuple[LessonFile, bytes]]:
        """Return, by id, the readable files that changed since the last sync."""
        self.by_path = {entry.path: entry for entry in self.entries.values()}
        holders: dict[LessonId, list[str]] = {}
        read: dict[LessonId, tuple[LessonFile, bytes]] = {}
        for path, mark in marks.items():
            known_mark, known_id = self.known.get(path, ("", LessonId("")))
            if mark and mark == known_mark and known_id in self.entries:
                holders.setdefault(known_id, []).append(path)
                continue
            parsed, content = self._parse(path, mark)
            if isinstance(parsed, FileProblem):
                self.problems.append(parsed)
                if path in self.by_path:
                    self.present[self.by_path[path].id] = ""  # a file exists, but must not be written
                continue
            holders.setdefault(parsed.document.id, []).append(path)
            read[parsed.document.id] = parsed, content
        for lesson, paths in holders.items():
            self.present[lesson] = paths[0] if len(paths) == 1 else ""
            if len(paths) > 1:
                read.pop(lesson, None)
                reason = f"the same id as {{}}: {short_id(lesson)}"
                others = [", ".join(path for path in paths if path != own) for own in paths]
                self.problems += [
                    FileProblem(path=path, reason=reason.format(other), line=2)
                    for path, other in zip(paths, others, strict=True)
                ]
        return read

    def _parse(self, path: str, mark: str) -> tuple[LessonFile | FileProblem, bytes]:
        content = self.folder.read(path) if mark else None
        if content is None:
            reason = "cannot be read" if mark else "is a link or no plain file, and is not followed"
            return FileProblem(path=path, reason=reason), b""
        entry = self.by_path.get(path)
        parsed = parse(path, content, entry.parsed_stamps if entry else None)
        if isinstance(parsed, LessonFile) and not path.endswith(f"-{short_id(parsed.document.id)}.md"):
            ending = f"-{short_id(parsed.document.id)}.md"
            return FileProblem(
                path=path, reason=f"renamed: the name of this lesson's file ends with {ending}", line=2
            ), content
        return parsed, content

    def _choose(self, read: Mapping[LessonId, tuple[LessonFile, bytes]]) -> None:
        """Mark the lessons to share as ours."""
        for lesson in [*self.how.share, *self._new_to_share()]:
            reason = _reason_for(self.how.audience, lesson, self.location)
            shared = self.shared_ids.get(lesson.id) or self._id_for(lesson, read)
            entry = self.entries.get(shared)
            other = self.lessons.get(entry.lesson) if entry and entry.lesson != lesson.id else None
            if not reason and entry is not None and other is not None and (entry.ours or other.state == "active"):
                reason = f"it states the same as {short_id(entry.lesson)}"
            if reason:
                self._tell("refused", "", lesson, reason)
                continue
            if entry is None:
                words = lesson.topic_key if lesson.topic_key.startswith(CARDS) else lesson.insight
                path = self.present.get(shared) or path_of(shared, lesson.kind, words)
                entry = Entry(id=shared, path=path)
            self.entries[shared] = replace(entry, lesson=lesson.id, twin=LessonId(""), ours=True, at="")
            self._assign(lesson.id, shared)
            self.forced.add(shared)

    def _new_to_share(self) -> list[Lesson]:
        """Return the lessons that are shared by themselves: those of the team, or all where the channel has all."""
        new = [
            lesson
            for lesson in self.lessons.values()
            if (self.how.share_new or lesson.scope.level == "team")
            and lesson.id not in self.shared_ids
            and not lesson.scope.branch
            and not _reason_for(self.how.audience, lesson, self.location)
        ]
        hidden = hidden_here(self.services, self.location) if new else ()
        return [lesson for lesson in new if lesson.id not in hidden]

    def _id_for(self, lesson: Lesson, read: Mapping[LessonId, tuple[LessonFile, bytes]]) -> LessonId:
        """Return the id under which to share the lesson: the same on all machines, unless it is another rule's by now.

        So a rule that was forgotten, or became another one, can be shared again when somebody states it anew.
        """
        parts = _stated(lesson) if lesson.topic_key.startswith(CARDS) else (lesson.kind, lesson.insight)
        shared = shared_id(*parts)
        entry = self.entries.get(shared)
        stated = [_rule_of(read[shared][0].document)] if shared in read else []
        if entry is not None:
            holder = self.lessons.get(entry.lesson)
            stated += [_stated(holder)] if holder is not None and holder.state in LIVING else []
            stated += [_stated(lesson)] if entry.twin or entry.lesson == lesson.id else []
        is_free = entry is None and shared not in read
        return shared if is_free or _stated(lesson) in stated else shared_id(*parts, lesson.id)

    def _follow_revisions(self) -> None:
        """Let a lesson that replaced one of ours use the same file, where a revision is an edit, and back again."""
        for entry in [*self.entries.values()]:
            present = self.lessons.get(entry.lesson)
            if not entry.ours and (present is None or not is_from_elsewhere(present)):
                continue
            # the last revision may have been taken back, and another one made
            lines = [self._revisions(lesson) for lesson in (entry.lesson, *reversed(entry.former))]
            line = next((line for line in lines if self._is_living(line[-1])), lines[0])
            lesson = line[-1]
            if lesson != entry.lesson and self.shared_ids.get(lesson, entry.id) == entry.id:
                former = dict.fromkeys((*entry.former, entry.lesson, *line))
                former.pop(lesson, None)
                ours = entry.ours or (self._is_living(lesson) and self.lessons[lesson].state == "active")
                self.entries[entry.id] = replace(entry, lesson=lesson, former=tuple(former), ours=ours)
                for known in former:
                    self.shared_ids.setdefault(known, entry.id)
                self._assign(lesson, entry.id)

    def _revisions(self, lesson: LessonId) -> list[LessonId]:
        """Return the lesson and those that replaced it, in order."""
        line = [lesson]
        while (
            (old := self.lessons.get(line[-1])) is not None
            and old.state == "superseded"
            and old.id in self.successors
            and self.successors[old.id].id not in line
        ):
            line.append(self.successors[old.id].id)
        return line

    @property
    def successors(self) -> dict[LessonId, Lesson]:
        """By lesson, the one that replaced it; of several a living one, else the newest. Read every lesson first."""
        if not self._successors:
            by_preference = sorted(
                self.lessons.values(), key=lambda lesson: (lesson.state in LIVING, lesson.recorded_at)
            )
            self._successors = {
                link.target: lesson for lesson in by_preference for link in lesson.links if link.kind == "supersedes"
            }
        return self._successors

    def _is_living(self, lesson: LessonId) -> bool:
        return lesson in self.lessons and self.lessons[lesson].state in LIVING

    def _load(self, ids: Sequence[LessonId]) -> None:
        self.lessons.update((lesson.id, lesson) for lesson in get_readable(self.services.store, ids))

    def _load_all(self) -> None:
        """Read every lesson of the project once; lessons that were read or changed before stay as they are."""
        if not self.is_complete:
            self.is_complete = True
            is_own = self.how.audience in OWN
            everything = {lesson.id: lesson for lesson in _lessons(self.services, self.location, STATES, is_own)}
            self.lessons = everything | self.lessons

    def _changed_by_files(self, read: Mapping[LessonId, object]) -> list[LessonId]:
        """Return lessons whose file changed, or whose file somebody vouches for now, in a fixed order."""
        vouched = (id for id, entry in self.entries.items() if self._accepts(id) and _may_take(entry))
        return self._with_twins({*read, *vouched})

    def _to_do(self, read: Mapping[LessonId, object]) -> list[LessonId]:
        """Return lessons whose file or stored version changed, in a fixed order."""
        due: set[LessonId] = set()
        for shared in {*self.entries, *read}:
            entry = self.entries.get(shared)
            lesson = self.lessons.get(entry.lesson) if entry else None
            at = render_instant(lesson.recorded_at) if lesson else ""
            if (
                entry is None
                or shared in read
                or shared in self.forced
                or at != entry.at
                or (self._accepts(shared) and _may_take(entry))
            ):
                due.add(shared)
        return self._with_twins(due)

    def _with_twins(self, due: set[LessonId]) -> list[LessonId]:
        """Return also the lessons that wait until another one no longer states their rule, and that other one."""
        twins = [entry for entry in self.entries.values() if entry.twin]
        return sorted(due | {entry.id for entry in twins} | {entry.twin for entry in twins})

    def _accepts(self, shared: LessonId) -> bool:
        """Return whether somebody vouches for that document."""
        return self.how.accept or shared in self.how.accepted

    def _unstage(self) -> None:
        """Make lessons visible everywhere once a main line has their files."""
        if self.how.channel:
            return
        for staged in find_staged(self.services, self.location):
            lesson = self.lessons.setdefault(staged.id, staged)
            path = self.present.get(self.shared_ids.get(lesson.id, LessonId("")))
            if path and lesson.scope.branch and lesson.state in LIVING:
                after = replace(self.staging.unstage(lesson, path), recorded_at=self.services.clock.now())
                if after.scope != lesson.scope:
                    self._put(lesson, after, "merged", path)

    # One document

    def _open(self, shared: LessonId, file: LessonFile | None, content: bytes | None) -> None:
        """Join a document with its lesson, and make a case of what has to be decided."""
        entry = self.entries.get(shared) or Entry(id=shared)
        if file is None and self.present.get(shared):
            parsed, content = self._parse(self.present[shared], "unchanged")
            if isinstance(parsed, FileProblem):
                self.problems.append(parsed)
                self.present[shared] = ""
            else:
                file = parsed
        lesson = self.lessons.get(entry.lesson) if entry.lesson else None
        if lesson is not None and not entry.ours and not is_from_elsewhere(lesson) and lesson.state not in LIVING:
            entry, lesson = _released(entry), None  # a lesson from here that ended is not the file's
        self._make_case(entry, lesson, file, content)

    def _make_case(self, entry: Entry, lesson: Lesson | None, file: LessonFile | None, content: bytes | None) -> None:
        is_accepted_since = lesson is not None and lesson.state == "active" and is_from_elsewhere(lesson)
        if entry.ours or is_accepted_since or self._is_vouched_for(entry.id, lesson):
            entry = replace(entry, ours=True)
        mine = self._mine(entry, lesson) if entry.ours else None
        if mine is not None:
            joined, rivals = join(mine, file.document) if file else mine, list[Document]()
            if not self.how.take_only:
                joined, rivals = split(joined)
        elif file is not None and not entry.ours:
            joined, rivals = file.document, []
        else:
            return
        self.cases[entry.id] = _Case(entry=entry, document=joined, mine=mine, file=file, content=content, lesson=lesson)
        for rival in rivals:
            self._open_rival(rival)

    def _open_rival(self, rival: Document) -> None:
        """Make a case of a rule that lost against one of the same time, unless it has become a lesson already."""
        if rival.id in self.entries or rival.id in self.cases or self.present.get(rival.id) is not None:
            return
        path = path_of(rival.id, rival.values["kind"], rival.values["insight"])
        file = LessonFile(document=rival, doubt=suspicion(render(rival)))
        self.present[rival.id] = path
        self.cases[rival.id] = _Case(entry=Entry(id=rival.id, path=path), document=rival, file=file)

    def _hand_over(self) -> bool:
        """Move a lesson to the document that states its rule, if its own document's rule has become another one."""
        seeking = {rule: case for case in self.cases.values() if case.is_arrival and (rule := _rule_of(case.document))}
        for shared in sorted(self.cases):
            case = self.cases[shared]
            lesson = case.lesson
            if lesson is None or lesson.state not in LIVING or _rule_of(case.document) in (None, _stated(lesson)):
                continue
            new = seeking.get(_stated(lesson))
            if new is not None:
                self.entries[shared] = left = replace(_released(case.entry), former=())
                self.local_ids.pop(shared, None)
                self.cases[shared] = replace(case, entry=left, lesson=None, mine=None)
                former = (*new.entry.former, *case.entry.former)
                taken = replace(_released(new.entry), lesson=lesson.id, former=former, ours=case.entry.ours)
                self.shared_ids.update(dict.fromkeys(former, taken.id))
                self._assign(lesson.id, taken.id)
                self._make_case(taken, lesson, new.file, new.content)
                return True
        return False

    def _find_homes(self) -> None:
        """Decide which lesson each arrival belongs to, or whether it becomes a new one."""
        placed: set[LessonId] = set()
        while arrivals := sorted({shared for shared, case in self.cases.items() if case.is_arrival} - placed):
            self._load_all()
            holders = self._holders()
            for shared in arrivals:
                self._find_home(self.cases[shared], holders)
            placed.update(arrivals)

    def _holders(self) -> dict[Rule, list[LessonId]]:
        """Return, by rule, the living lessons that will state it after this run."""
        holders: dict[Rule, list[LessonId]] = {}
        changing = {case.lesson.id: case for case in self.cases.values() if case.lesson is not None}
        for lesson in self.lessons.values():
            case = changing.get(lesson.id)
            if case is not None and self._is_taken(case):
                rule = _rule_of(case.document)  # also of a lesson that had ended, and that somebody took up again
            else:
                rule = _stated(lesson) if lesson.state in LIVING else None
            if rule:
                holders.setdefault(rule, []).append(lesson.id)
        return holders

    def _is_taken(self, case: _Case) -> bool:
        """Return whether the lesson becomes what its document says."""
        if case.entry.ours:
            return self._accepts(case.entry.id) and not case.doubt
        return case.lesson is not None and is_from_elsewhere(case.lesson) and case.lesson.state in LIVING

    def _find_home(self, case: _Case, holders: dict[Rule, list[LessonId]]) -> None:
        entry, rule = case.entry, _rule_of(case.document)
        if rule is None or (entry.lesson and not self._accepts(entry.id)):  # it ended, or it was purged here
            return
        own = entry.id
        same = holders.get(rule, [])
        # the last of its revisions: it was taken in before the record of the sync was lost
        for known in (*same, self._revisions(own)[-1]):
            if known in self.lessons and self._is_free(self.lessons[known], own):
                self._give(case, self.lessons[known])
                return
        if same:
            self.cases[own] = replace(case, entry=replace(entry, twin=self.shared_ids[same[0]]))
            return
        is_known = own in self.lessons or self.services.store.current_versions([own])  # by another project, too
        new_id = LessonId(self.services.clock.new_id()) if is_known else own
        self.cases[own] = replace(case, entry=replace(entry, twin=LessonId("")), new_id=new_id)
        holders[rule] = [new_id]
        self._assign(new_id, own)

    def _is_free(self, lesson: Lesson, shared: LessonId) -> bool:
        """Return whether the lesson may belong to that document: also if it waits, and its own has no file here."""
        owner = self.shared_ids.get(lesson.id, shared)
        entry = self.entries.get(owner)
        is_backed = owner in self.cases or self.present.get(owner) is not None or lesson.state == "active"
        return owner == shared or (entry is not None and not entry.ours and not is_backed)

    def _give(self, case: _Case, lesson: Lesson) -> None:
        """Let a lesson of the store belong to the document from now on."""
        if former := self.entries.get(self.shared_ids.get(lesson.id, LessonId(""))):
            self.entries[former.id] = _released(former)
            self.local_ids.pop(former.id, None)
        self._assign(lesson.id, case.entry.id)
        entry = replace(_released(case.entry), lesson=lesson.id)
        assert case.file is not None
        if self._is_vouched_for(entry.id, lesson):
            self._make_case(entry, lesson, replace(case.file, document=case.document), case.content)
        else:
            self.cases[entry.id] = replace(case, entry=entry, lesson=lesson)

    def _open_linking(self) -> None:
        """Join anew what links to a lesson that is shared from now on: its document gains the link."""
        for entry in [entry for entry in self.entries.values() if entry.ours or entry.id in self.cases]:
            case = self.cases.get(entry.id)
            lesson = case.lesson if case else self.lessons.get(entry.lesson)
            if lesson is None or self.assigned.isdisjoint(link.target for link in lesson.links):
                continue
            if case is None:
                self._open(entry.id, None, None)
            elif case.mine is not None:
                self._make_case(case.entry, lesson, case.file, case.content)

    def _settle(self, case: _Case) -> None:
        """Let a lesson of this store and its document follow each other."""
        if case.entry.ours:
            self._reconcile(case)
            return
        path = self.present.get(case.entry.id) or case.entry.path
        lesson = self._add(case, path) if case.new_id else self._followed(case, path)
        if case.content is None or (case.file and (case.file.was_edited or case.document is not case.file.document)):
            self._put_file(path, case.document, case.content)
        is_from_file = lesson is not None and is_from_elsewhere(lesson)
        ours = lesson is not None and is_from_file and lesson.state == "active"
        self._keep(
            replace(case.entry, path=path, ours=ours), lesson, case.document if is_from_file or lesson is None else None
        )

    def _add(self, case: _Case, path: str) -> Lesson:
        state: State = "quarantined" if case.doubt else "active" if self._accepts(case.entry.id) else "candidate"
        now, project = self.services.clock.now(), self.location.project.id
        draft = new_lesson(case.document, project, self.local_ids, now, state, self.shared_ids)
        draft = self._for_audience(draft) if self.how.channel else self.staging.stage(draft, path)
        draft = replace(draft, id=case.new_id)
        self.lessons[draft.id] = self.after[draft.id] = draft
        self.expected[draft.id] = None
        self._tell("added", path, draft, draft.state if draft.state != "active" else "")
        return draft

    def _for_audience(self, draft: Lesson) -> Lesson:
        """Return a new lesson from a server as one for this run's audience."""
        level: ScopeLevel = draft.scope.level if self.how.level == "project" else self.how.level
        level = "user" if self.how.audience in OWN else level
        scope = replace(draft.scope, level=level, project=self.project)
        source = draft.provenance
        if self.how.level == "team":
            source = replace(source, detector=OF_ORGANISATION)
        return replace(draft, scope=scope, provenance=source, private=self.how.audience in ("private", "own private"))

    def _is_vouched_for(self, shared: LessonId, lesson: Lesson | None) -> bool:
        """Return whether a person lets a lesson of this machine be the same as the file that states its rule."""
        if not self._accepts(shared) or lesson is None or is_from_elsewhere(lesson):
            return False
        return not _reason_for(self.how.audience, lesson, self.location)

    def _followed(self, case: _Case, path: str) -> Lesson | None:
        """Return the next version of a lesson that waits, from its file; others do not follow it."""
        lesson = case.lesson
        if lesson is None or not is_from_elsewhere(lesson):
            return lesson
        if lesson.state not in LIVING and not case.document.is_tombstone:  # a tombstone takes also the words of such
            return lesson
        now = self.services.clock.now()
        after = revised(lesson, case.document, self.local_ids, now, self.shared_ids)
        if after.state == "forgotten":
            return self._put(lesson, after, "forgotten", path)
        state: State | None = None
        if case.doubt:
            state = "quarantined"
        elif self._accepts(case.entry.id):
            state = "active"
        if state and state != after.state and state in TRANSITIONS[after.state] and after.state in LIVING:
            said_by = case.document.values["provenance"].get("said_by", "agent")
            after = replace(after, state=state, trust=said_by if state == "active" else after.trust)
        return self._put(lesson, after, "changed", path)

    def _reconcile(self, case: _Case) -> None:
        """Let a lesson of ours, if a person vouches for it, and its file become what both were joined to."""
        entry, lesson, mine, joined = case.entry, case.lesson, case.mine, case.document
        assert mine is not None
        agreed, waits, has_more = joined, False, False
        if joined.values != mine.values:
            if lesson is not None and self._accepts(entry.id) and not case.doubt:
                after = revised(lesson, joined, self.local_ids, self.services.clock.now(), self.shared_ids)
                lesson = self._put(lesson, after, "forgotten" if joined.is_tombstone else "changed", entry.path)
            else:
                agreed, has_more = mine, _is_ours_alone(mine, joined)
                waits = not has_more
            if waits:
                reason = case.doubt or (OTHERS_DIFFER if self.how.channel else FILE_DIFFERS)
                self._tell("waiting", entry.path, lesson, reason)
        is_hidden = lesson is not None and lesson.private and self.how.audience == "team"
        has_file = case.file is not None
        if not is_hidden and (has_file or (self.present.get(entry.id) is None and entry.id in self.forced)):
            is_written = self._put_file(self.present.get(entry.id) or entry.path, joined, case.content, lesson)
            if not is_written and not has_file and entry.id not in self.before:
                self._unshare(entry)
                return
        path = self.present.get(entry.id) or entry.path
        self._keep(replace(entry, path=path, waits=waits, has_more=has_more), lesson, agreed)

    def _unshare(self, entry: Entry) -> None:
        """Leave a lesson as it was before somebody wanted to share it."""
        del self.entries[entry.id]
        self.shared_ids.pop(entry.lesson, None)
        self.local_ids.pop(entry.id, None)

    def _mine(self, entry: Entry, lesson: Lesson | None) -> Document | None:
        """Return the stored lesson as a document, with edits since the last sync stamped; None if it is missing."""
        if lesson is None:
            changes = self.services.store.find_records(Change, LogFilter(project=self.project, lesson=entry.lesson))
            is_purged = any(change.verb == "purge" for change in changes)
            return tombstone(entry.id, "decision") if is_purged else None
        if lesson.state == "forgotten":
            return tombstone(entry.id, lesson.kind)
        targets = {link.target: self.shared_ids.get(link.target, entry.id) for link in lesson.links}
        others = {local: shared for local, shared in targets.items() if shared != entry.id}
        values = values_of(lesson, others, entry.provenance or None, entry.links)
        return settle(entry.id, values, entry.parsed_stamps)

    def _link(self) -> None:
        """Add the links that files state and that were left out of lessons because their targets were not here."""
        local = self.local_ids
        for entry in [entry for entry in self.entries.values() if entry.links]:
            ready = [Link(kind=kind, target=local[target]) for kind, target in entry.links if target in local]
            if not ready:
                continue
            if entry.lesson not in self.lessons:
                self._load([entry.lesson])
            lesson = self.lessons.get(entry.lesson)
            rest = tuple(link for link in entry.links if link[1] not in local)
            self.entries[entry.id] = replace(entry, links=rest)
            if lesson is not None and lesson.state != "forgotten":
                links = tuple(dict.fromkeys((*lesson.links, *ready)))
                self._put(lesson, replace(lesson, links=links, recorded_at=self.services.clock.now()), "", entry.path)

    def _put(self, before: Lesson, after: Lesson, verb: str, path: str) -> Lesson:
        """Plan the next version, unless nothing changes."""
        if replace(after, recorded_at=before.recorded_at) == before:
            return before
        self.after[before.id] = after
        self.expected.setdefault(before.id, before.recorded_at)
        self.lessons[before.id] = after
        if verb:
            self._tell(verb, path, after)
        return after

    def _put_file(self, path: str, document: Document, content: bytes | None, lesson: Lesson | None = None) -> bool:
        """Plan to write the file, unless nothing changes; return whether the document can be written as a file."""
        text = render(document)
        present = (content or b"").decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n")
        if present == text:
            return True
        if self.how.take_only:
            self.unwritten.add(path)
            return True
        again = parse(path, text.encode(), doubted=False)
        if isinstance(again, FileProblem) or again.document.values != document.values:
            reason = again.reason if isinstance(again, FileProblem) else "its words cannot be written as a file"
            self._tell("refused", path, lesson, reason)
            return False
        self.outgoing[path] = text, content
        verb = "forgotten" if document.is_tombstone else "written"
        reason = NEW_FORM if present == render_fields(document) else ""
        title = document.values["title"]
        self.steps.append(SyncOutcome(verb=verb, path=path, title=title, lesson=document.id, reason=reason))
        return True

    def _keep(self, entry: Entry, lesson: Lesson | None, document: Document | None) -> None:
        """Remember what lesson and document agreed on; without a document they did not have to agree."""
        stamps: dict[str, str] = {}
        links: tuple[tuple[LinkKind, LessonId], ...] = ()
        if document is not None:
            stamps = {
                name: stamp_text(document.stamps[name]) for name in EMPTY if document.stamps[name] != UNSET[name]
            } or {"state": stamp_text(UNSET["state"])}
            stated = ((link["kind"], link["target"]) for link in document.values["links"])
            links = tuple(link for link in stated if link[1] not in self.local_ids and link[1] != entry.id)
        self.entries[entry.id] = replace(
            entry,
            lesson=lesson.id if lesson else entry.lesson,
            stamps=stamps,
            links=links,
            provenance=(document.values["provenance"] if document else {}) or entry.provenance,
        )
        if lesson is not None:
            self._assign(lesson.id, entry.id)

    def _tell(self, verb: str, path: str, lesson: Lesson | None, reason: str = "") -> None:
        title, name = (lesson.title, lesson.id) if lesson else ("", LessonId(""))
        self.steps.append(SyncOutcome(verb=verb, path=path, title=title, lesson=name, reason=reason))

    # Writing

    def _write(self, marks: dict[str, str], counts: SyncCounts) -> None:
        if self.after:
            written = write_change(
                self.services, self.location, "sync", list(self.after.values()), self.expected
            ).lessons
            self.lessons.update((lesson.id, lesson) for lesson in written)
        for path, (text, content) in self.outgoing.items():
            try:
                marks[path] = self.folder.write(path, text.encode(), content)
            except (StaleWriteError, HoldfastError) as exc:
                marks.pop(path, None)
                self.problems.append(FileProblem(path=path, reason=str(exc)))
        broken = {problem.path for problem in self.problems} | self.unwritten
        ids = {path: shared for shared, path in self.present.items() if path}
        ids |= {entry.path: entry.id for entry in self.entries.values() if entry.path in self.outgoing}
        files = {path: (mark, ids[path]) for path, mark in marks.items() if path not in broken and path in ids}
        extent = self.services.store.extent()
        if self.how.take_only:  # our edits are still to be written to files
            extent = replace(extent, versions=-1)
        entries = map(self._dated, self.entries.values())
        changed = [entry for entry in entries if entry != self.before.get(entry.id)]
        self.record.write(changed, files, extent, {path: mark for path, (mark, _) in files.items()}, counts)

    def _dated(self, entry: Entry) -> Entry:
        lesson = self.lessons.get(entry.lesson)
        if (self.how.take_only and entry.ours) or (lesson is None and not self.is_complete):
            return entry
        return replace(entry, at=render_instant(lesson.recorded_at) if lesson else "")

    def _count(self) -> SyncCounts:
        ours = [entry for entry in self.entries.values() if entry.ours]
        return SyncCounts(
            shared=len(self.entries),
            absent=sum(self.present.get(entry.id) is None and entry.path not in self.outgoing for entry in ours),
            waiting=sum(entry.waits for entry in ours),
        )

    def _report(self, counts: SyncCounts) -> SyncReport:
        return SyncReport(
            steps=tuple(self.steps),
            problems=tuple(self.problems),
            shared=counts.shared,
            absent=counts.absent,
            waiting=counts.waiting,
        )


def _released(entry: Entry) -> Entry:
    """Return the entry of a document that no lesson of this store belongs to."""
    return replace(
        entry,
        lesson=LessonId(""),
        twin=LessonId(""),
        ours=False,
        stamps={},
        at="",
        links=(),
        waits=False,
        has_more=False,
    )


def _may_take(entry: Entry) -> bool:
    """Return whether the file has something that the lesson of this store has not taken."""
    return entry.waits or entry.has_more or not entry.ours


def _stated(lesson: Lesson) -> Rule:
    """Return what lessons that state the same rule have in common, whoever may see them.

    The project has one lesson on each kind of command, whatever words it has.
    """
    if lesson.topic_key.startswith(CARDS):
        return "topic", lesson.topic_key
    return lesson.kind, duplicate_key(lesson.insight)


def _rule_of(document: Document) -> Rule | None:
    """Return the same of a document; None if it has ended."""
    values = document.values
    if values["state"] != "active":
        return None
    return ("topic", values["topic_key"]) if is_card(values) else (values["kind"], duplicate_key(values["insight"]))


def _is_ours_alone(mine: Document, joined: Document) -> bool:
    """Return whether the joined document differs from the store only in what this machine's own sync added."""
    names = [name for name in EMPTY if mine.values[name] != joined.values[name]]
    if any(name not in ("links", "rivals") for name in names):
        return False
    links = [link for link in joined.values["links"] if link not in mine.values["links"]]
    return all(link in joined.values["links"] for link in mine.values["links"]) and all(
        link["kind"] == "contradicts" for link in links
    )


def _lessons(
    services: Services, location: Location, states: tuple[State, ...], is_own: bool = False
) -> Iterator[Lesson]:
    """Yield the project's lessons; or the user's own for all projects."""
    where = LessonFilter(project=location.project.id, states=states, limit=EVERY_LESSON)
    yield from (lesson for lesson in services.store.find(where) if (lesson.scope.level == "user") == is_own)
