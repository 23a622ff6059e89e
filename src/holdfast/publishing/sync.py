"""Sync: keep the files of `.holdfast/lessons` and the store in step.

For each shared lesson the store's version and the file are joined (`document.join`), so the order of syncs, merges and
edits does not matter. The result is written to the file. It is written to the store only if that is allowed: a file is
text of the repository (ADR 26). A new lesson waits in the inbox. A change
to a lesson that is active here waits until a person accepts it.

A missing file means nothing: another branch may be checked out. Only a tombstone ends a lesson. The record of the last
sync is one state a project: ids, places, digests; no word of a lesson.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from holdfast.curation.conflicts import find_conflicts
from holdfast.curation.forget import blanked
from holdfast.curation.remember import same_rule
from holdfast.curation.tuning import CONFIDENCE, SAID_SALIENCE
from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Anchor, Lesson, Link, Provenance, Scope, Triggers, Validity, in_state
from holdfast.domain.project import Location
from holdfast.domain.records import Change
from holdfast.domain.statefamilies import SYNCED
from holdfast.domain.vocabulary import LIVING, STATES, TRANSITIONS, LessonId, ProjectId, State, Trust
from holdfast.errors import HoldfastError, InvalidValueError, StaleWriteError
from holdfast.freshness.tuning import EVERY_LESSON
from holdfast.lean.plain import as_dict, from_plain, parse_instant, render_instant, to_plain
from holdfast.lean.texts import dumps, loads, short_id
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.lessons.staging import SharedStaging, find_staged, hidden_here
from holdfast.lessons.statement import suspicion
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter, LogFilter, get_readable
from holdfast.ports.workspace import LessonFiles
from holdfast.publishing.lessonfile import (
    ANCHOR_KEYS,
    EMPTY,
    ENDS,
    UNSET,
    Document,
    FileProblem,
    LessonFile,
    Stamp,
    cleaned,
    join,
    parse,
    parse_stamp,
    path_of,
    render,
    settle,
    shared_id,
    split,
    stamp_text,
    tombstone,
)

FOLDER = ".holdfast/lessons"
VERSION = 1
"""Version of what is remembered of a run; of another one nothing is read, and all is compared anew."""
ROOTS = 20
"""Work trees whose files are remembered; of another one all files are read again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Syncing:
    """Options of a run."""

    share: tuple[Lesson, ...] = ()
    """Lessons whose files are written even if none exist."""
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """What is known of one shared lesson since the last sync."""

    id: LessonId
    """The id in its file."""
    lesson: LessonId = ""  # type: ignore[assignment]
    """Its id in this store; empty if it was not taken in."""
    path: str = ""
    ours: bool = False
    """Whether it is active here: our edits are written out, edits from files wait for a person."""
    at: str = ""
    """When the last synced version was recorded."""
    stamps: dict[str, str]
    provenance: dict[str, str]
    waits: bool = False
    """Whether the file has a change that nobody has accepted yet."""


def sync(services: Services, location: Location, files: LessonFiles, how: Syncing) -> SyncReport:
    """Return what happened to each shared lesson; idempotent. Raises HoldfastError if the folder cannot be used."""
    report = with_retries(lambda: _Run(services, location, files, how).go())
    came_in = {step.lesson for step in report.steps if step.verb in ("added", "changed", "merged")}
    if not came_in or how.dry or how.take_only:
        return report
    return replace(report, conflicts=len(find_conflicts(services, location, came_in)))


def shared_lessons(services: Services, location: Location) -> dict[LessonId, str]:
    """Return the lessons that have a file in the repository, on any branch, each with its file as of the last sync."""
    entries = _load(services.store.get_state(SYNCED, location.project.id))["entries"]
    return {LessonId(entry["lesson"]): entry.get("path", "") for entry in entries if entry.get("lesson")}


def find_shareable(services: Services, location: Location) -> list[Lesson]:
    """Return the lessons that `share --all` shares: active ones of the project, seen on this branch and not private."""
    hidden = hidden_here(services, location)
    lessons = (lesson for lesson in _lessons(services, location, ("active",)) if lesson.id not in hidden)
    return [lesson for lesson in lessons if not reason_against(lesson, location)]


def reason_against(lesson: Lesson, location: Location) -> str:
    """Return why the lesson cannot be shared; empty if it can."""
    if lesson.private:
        return "it is private"
    if lesson.scope.level == "user":
        return "it is your own lesson for all projects"
    if lesson.scope.project != location.project.id:
        return "it belongs to another project"
    if profile_of(lesson.kind).is_working_state:
        return "it is a checkpoint"
    if lesson.state != "active":
        return f"it is not active but {lesson.state}"
    words = (lesson.title, lesson.insight, lesson.why, lesson.how, *lesson.snippets)
    return suspicion("\n".join(words)) if lesson.trust != "person" else ""


class _Run:
    """One sync: what is known, what will be written to the store and to files, and the report."""

    def __init__(self, services: Services, location: Location, files: LessonFiles, how: Syncing) -> None:
        self.services = services
        self.location = location
        self.files = files
        self.how = how
        self.steps: list[SyncOutcome] = []
        self.problems: list[FileProblem] = []
        self.after: dict[LessonId, Lesson] = {}
        self.expected: dict[LessonId, datetime | None] = {}
        self.outgoing: dict[str, tuple[str, bytes | None]] = {}
        """By path, the text to write and the file's present content."""
        self.forced: set[LessonId] = set()
        """Lessons whose files are written even if none exist."""
        self.unwritten: set[str] = set()
        self.present: dict[LessonId, str] = {}
        """By id, the lesson's file; empty if it has a file that must not be written."""
        self.rules: dict[tuple[str, ...], Lesson] = {}
        self._locals: dict[LessonId, LessonId] = {}
        self.staging = SharedStaging(services, location, FOLDER)
        self.state = _load(services.store.get_state(SYNCED, location.project.id))
        self.roots: dict[str, dict[str, str]] = self.state["roots"]

    def go(self) -> SyncReport:
        """Plan, then write the store, the files and the state, in this order: a crash in between loses nothing."""
        known = self.roots.get(self.location.root, {})
        marks = dict(self.files.find())
        extent = self.services.store.extent()
        is_same_store = self.state["extent"] == [extent.versions, extent.lessons]
        if is_same_store and marks == known and not (self.how.share or self.how.accept):
            return _unchanged(self.state["entries"], marks)
        self.entries: dict[LessonId, Entry] = {
            LessonId(fields["id"]): Entry(**fields) for fields in self.state["entries"]
        }
        self.is_complete = False
        self.lessons: dict[LessonId, Lesson] = {}
        self.shared_ids = {entry.lesson: entry.id for entry in self.entries.values() if entry.lesson}
        read = self._read(marks, known)
        if is_same_store and not self.how.share:  # no lesson has changed since the last sync
            due = self._changed_by_files(read)
            self._load([entry.lesson for shared in due if (entry := self.entries.get(shared)) and entry.lesson])
        else:
            self._load_all()
            self._follow_revisions()
            self._choose()
            due = list(self._to_do(read))
        for lesson in due:
            self._process(lesson, read.get(lesson))
        self._unstage()
        if not self.how.dry:
            self._write(marks)
        return self._report()

    # What there is

    def _read(self, marks: Mapping[str, str], known: Mapping[str, str]) -> dict[LessonId, tuple[LessonFile, bytes]]:
        """Return, by id, the readable files that changed since the last sync."""
        self.by_path = {entry.path: entry for entry in self.entries.values()}
        holders: dict[LessonId, list[str]] = {}
        read: dict[LessonId, tuple[LessonFile, bytes]] = {}
        for path, mark in marks.items():
            entry = self.by_path.get(path)
            if entry is not None and mark and known.get(path) == mark:
                holders.setdefault(entry.id, []).append(path)
                continue
            parsed, content = self._parse(path, mark)
            if isinstance(parsed, FileProblem):
                self.problems.append(parsed)
                if entry is not None:
                    self.present[entry.id] = ""  # a file exists, but must not be written
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
        content = self.files.read(path) if mark else None
        if content is None:
            reason = "cannot be read" if mark else "is a link or no plain file, and is not followed"
            return FileProblem(path=path, reason=reason), b""
        entry = self.by_path.get(path)
        parsed = parse(path, content, _stamps(entry) if entry else None)
        if isinstance(parsed, LessonFile) and not path.endswith(f"-{short_id(parsed.document.id)}.md"):
            ending = f"-{short_id(parsed.document.id)}.md"
            return FileProblem(
                path=path, reason=f"renamed: the name of this lesson's file ends with {ending}", line=2
            ), content
        return parsed, content

    def _choose(self) -> None:
        """Mark the lessons to share as ours."""
        for lesson in self.how.share:
            reason = reason_against(lesson, self.location)
            shared = self.shared_ids.get(lesson.id) or shared_id(lesson.kind, lesson.insight)
            entry = self.entries.get(shared)
            if not reason and entry is not None and entry.ours and entry.lesson != lesson.id:
                reason = f"it states the same as {short_id(entry.lesson)}"
            if reason:
                self._tell("refused", "", lesson, reason)
                continue
            if entry is None:
                path = self.present.get(shared) or path_of(shared, lesson.kind, lesson.insight)
                entry = Entry(id=shared, path=path, stamps={}, provenance={})
            self.entries[shared] = replace(entry, lesson=lesson.id, ours=True, at="")
            self.shared_ids[lesson.id] = shared
            self.forced.add(shared)

    def _follow_revisions(self) -> None:
        """Let a lesson that replaced one of ours use the same file, where a revision is an edit."""
        successors = {
            link.target: lesson
            for lesson in self.lessons.values()
            for link in lesson.links
            if link.kind == "supersedes" and lesson.state in LIVING
        }
        for entry in [entry for entry in self.entries.values() if entry.ours]:
            lesson = entry.lesson
            while lesson in successors and (old := self.lessons.get(lesson)) and old.state == "superseded":
                lesson = successors[lesson].id
            if lesson != entry.lesson and lesson not in self.shared_ids:
                self.entries[entry.id] = replace(entry, lesson=lesson)
                self.shared_ids[lesson] = entry.id

    def _load(self, ids: Sequence[LessonId]) -> None:
        self.lessons.update((lesson.id, lesson) for lesson in get_readable(self.services.store, ids))

    def _load_all(self) -> None:
        """Read every lesson of the project once; lessons that were read or changed before stay as they are."""
        if not self.is_complete:
            self.is_complete = True
            everything = {lesson.id: lesson for lesson in _lessons(self.services, self.location, STATES)}
            self.lessons = everything | self.lessons

    def _changed_by_files(self, read: Mapping[LessonId, object]) -> list[LessonId]:
        """Return lessons whose file changed, or whose file somebody vouches for now, in a fixed order."""
        vouched = (id for id, entry in self.entries.items() if self.how.accept and (entry.waits or not entry.ours))
        return sorted({*read, *vouched})

    def _to_do(self, read: Mapping[LessonId, object]) -> Iterator[LessonId]:
        """Yield lessons whose file or stored version changed, in a fixed order."""
        for shared in sorted({*self.entries, *read}):
            entry = self.entries.get(shared)
            lesson = self.lessons.get(entry.lesson) if entry else None
            at = render_instant(lesson.recorded_at) if lesson else ""
            if (
                entry is None
                or shared in read
                or shared in self.forced
                or at != entry.at
                or (self.how.accept and (entry.waits or not entry.ours))
            ):
                yield shared

    def _unstage(self) -> None:
        """Make lessons visible everywhere once a main line has their files."""
        for staged in find_staged(self.services, self.location):
            lesson = self.lessons.setdefault(staged.id, staged)
            path = self.present.get(self.shared_ids.get(lesson.id, LessonId("")))
            if path and lesson.scope.branch and lesson.state in LIVING:
                after = replace(self.staging.unstage(lesson, path), recorded_at=self.services.clock.now())
                if after.scope != lesson.scope:
                    self._put(lesson, after, "merged", path)

    # One lesson

    def _process(self, shared: LessonId, read: tuple[LessonFile, bytes] | None) -> None:
        entry = self.entries.get(shared)
        if read is None and self.present.get(shared):
            parsed, content = self._parse(self.present[shared], "unchanged")
            if isinstance(parsed, FileProblem):
                self.problems.append(parsed)
                self.present[shared] = ""
            else:
                read = parsed, content
        if entry is None:
            if read is not None:
                self._take_in(Entry(id=shared, stamps={}, provenance={}), *read)
            return
        lesson = self.lessons.get(entry.lesson)
        is_accepted_since = lesson is not None and lesson.state == "active" and lesson.provenance.detector == SHARED
        if entry.ours or is_accepted_since or self._is_vouched_for(lesson):
            self._reconcile(replace(entry, ours=True), lesson, read)
        elif read is not None:
            self._take_in(entry, *read)

    def _take_in(self, entry: Entry, file: LessonFile, content: bytes) -> None:
        """Let the store follow the file of somebody else's lesson."""
        document, path = file.document, self.present[entry.id]
        lesson = self.lessons.get(entry.lesson)
        is_new = not entry.stamps
        if lesson is None and (is_new or self.how.accept) and document.values["state"] == "active":
            lesson = self._add(entry, file, path)
            if self._is_vouched_for(lesson):
                self._reconcile(replace(entry, lesson=lesson.id, path=path, ours=True), lesson, (file, content))
                return
        elif lesson is not None and lesson.provenance.detector == SHARED and lesson.state in LIVING:
            lesson = self._follow(lesson, file, path)
        ours = lesson is not None and lesson.state == "active" and lesson.provenance.detector == SHARED
        if file.was_edited:
            self._put_file(path, document, content)
        self._keep(replace(entry, path=path, ours=ours), lesson, document)

    def _add(self, entry: Entry, file: LessonFile, path: str) -> Lesson:
        now = self.services.clock.now()
        draft = new_lesson(file.document, self.location.project.id, self._local_ids(), now, self._state(file, path))
        draft = self.staging.stage(draft, path)
        self._load_all()
        if draft.id in self.lessons:  # it was taken in before the sync state was lost
            return self.lessons[draft.id]
        rule = same_rule(draft)
        if not self.rules:
            self.rules.update((same_rule(lesson), lesson) for lesson in self.lessons.values())
        same = self.rules.get(rule)
        if same is not None and same.state in LIVING:
            return same  # already known here; it stays this machine's until somebody shares it or vouches for the file
        self.rules[rule] = self.lessons[draft.id] = draft
        self.after[draft.id] = draft
        self.expected[draft.id] = None
        self.shared_ids[draft.id] = entry.id
        self._tell("added", path, draft, draft.state if draft.state != "active" else "")
        return draft

    def _is_vouched_for(self, lesson: Lesson | None) -> bool:
        """Return whether a person lets a lesson of this machine be the same as the file that states its rule."""
        if not self.how.accept or lesson is None or lesson.provenance.detector == SHARED:
            return False
        return not reason_against(lesson, self.location)

    def _state(self, file: LessonFile, path: str) -> State:
        """Return the state of a new lesson from a file: active only if a person vouches for it."""
        if file.doubt:
            return "quarantined"
        if self.how.accept:
            return "active"
        return "candidate"

    def _follow(self, lesson: Lesson, file: LessonFile, path: str) -> Lesson:
        """Return the next version of a waiting lesson, from its file."""
        now = self.services.clock.now()
        after = revised(lesson, file.document, self._local_ids(), now)
        if after.state == "forgotten":
            return self._put(lesson, after, "forgotten", path)
        state: State | None = None
        if file.doubt:
            state = "quarantined"
        elif self.how.accept:
            state = "active"
        if state and state != after.state and state in TRANSITIONS[after.state] and after.state in LIVING:
            said_by = file.document.values["provenance"].get("said_by", "agent")
            after = replace(after, state=state, trust=said_by if state == "active" else after.trust)
        return self._put(lesson, after, "changed", path)

    def _reconcile(self, entry: Entry, lesson: Lesson | None, read: tuple[LessonFile, bytes] | None) -> None:
        """Join the stored version of a lesson of ours with its file."""
        mine = self._mine(entry, lesson)
        if mine is None:
            return
        file = read[0] if read else None
        merged, rivals = join(mine, file.document) if file else mine, list[Document]()
        if not self.how.take_only:
            merged, rivals = split(merged)
        agreed, waits = merged, False
        if merged.values != mine.values:
            if lesson is not None and self.how.accept and not (file and file.doubt):
                after = revised(lesson, merged, self._local_ids(), self.services.clock.now())
                lesson = self._put(lesson, after, "forgotten" if merged.is_tombstone else "changed", entry.path)
            elif _is_ours_alone(mine, merged):
                agreed = mine
            else:
                agreed, waits = mine, True
                reason = file.doubt if file and file.doubt else "the file differs; --accept takes the file's version"
                self._tell("waiting", entry.path, lesson, reason)
        is_hidden = lesson is not None and lesson.private
        if not is_hidden and (read or (self.present.get(entry.id) is None and entry.id in self.forced)):
            self._put_file(self.present.get(entry.id) or entry.path, merged, read[1] if read else None, lesson)
        path = self.present.get(entry.id) or entry.path
        self._keep(replace(entry, path=path, waits=waits), lesson, agreed)
        for rival in rivals:
            self._add_rival(rival)

    def _mine(self, entry: Entry, lesson: Lesson | None) -> Document | None:
        """Return the stored lesson as a document, with edits since the last sync stamped; None if it is missing."""
        if lesson is None:
            changes = self.services.store.find_records(
                Change, LogFilter(project=self.location.project.id, lesson=entry.lesson)
            )
            is_purged = any(change.verb == "purge" for change in changes)
            return tombstone(entry.id, "decision") if is_purged else None
        if lesson.state == "forgotten":
            return tombstone(entry.id, lesson.kind)
        targets = {link.target: self.shared_ids.get(link.target, entry.id) for link in lesson.links}
        others = {local: shared for local, shared in targets.items() if shared != entry.id}
        values = values_of(lesson, others, entry.provenance or None)
        return settle(entry.id, values, _stamps(entry) if entry.stamps else None)

    def _add_rival(self, rival: Document) -> None:
        if rival.id in self.entries or self.present.get(rival.id) is not None:
            return
        path = path_of(rival.id, rival.values["kind"], rival.values["insight"])
        if path in self.outgoing:
            return
        self.present[rival.id] = path
        self._put_file(path, rival, None)
        file = LessonFile(document=rival, doubt=suspicion(render(rival)))
        self._take_in(Entry(id=rival.id, stamps={}, provenance={}), file, b"")

    def _put(self, before: Lesson, after: Lesson, verb: str, path: str) -> Lesson:
        """Plan the next version, unless nothing changes."""
        if replace(after, recorded_at=before.recorded_at) == before:
            return before
        self.after[before.id] = after
        self.expected.setdefault(before.id, before.recorded_at)
        self.lessons[before.id] = after
        self._tell(verb, path, after)
        return after

    def _put_file(self, path: str, document: Document, content: bytes | None, lesson: Lesson | None = None) -> None:
        text = render(document)
        if (
            content is not None
            and content.decode("utf-8", "replace").removeprefix("\ufeff").replace("\r\n", "\n") == text
        ):
            return
        if self.how.take_only:
            self.unwritten.add(path)
            return
        again = parse(path, text.encode(), doubted=False)
        if isinstance(again, FileProblem) or again.document.values != document.values:
            reason = again.reason if isinstance(again, FileProblem) else "its words cannot be written as a file"
            self._tell("refused", path, lesson, reason)
            return
        self.outgoing[path] = text, content
        verb = "forgotten" if document.is_tombstone else "written"
        self.steps.append(SyncOutcome(verb=verb, path=path, title=document.values["title"], lesson=document.id))

    def _keep(self, entry: Entry, lesson: Lesson | None, document: Document) -> None:
        stamps = {
            name: stamp_text(document.stamps[name]) for name in EMPTY if document.stamps[name] != UNSET[name]
        } or {"state": stamp_text(UNSET["state"])}
        self.entries[entry.id] = replace(
            entry,
            lesson=lesson.id if lesson else entry.lesson,
            stamps=stamps,
            provenance=document.values["provenance"] or entry.provenance,
        )
        if lesson is not None:
            self.shared_ids[lesson.id] = entry.id
            self._local_ids()[entry.id] = lesson.id

    def _local_ids(self) -> dict[LessonId, LessonId]:
        if not self._locals:
            self._locals = {entry.id: entry.lesson for entry in self.entries.values() if entry.lesson}
        return self._locals

    def _tell(self, verb: str, path: str, lesson: Lesson | None, reason: str = "") -> None:
        title, name = (lesson.title, lesson.id) if lesson else ("", LessonId(""))
        self.steps.append(SyncOutcome(verb=verb, path=path, title=title, lesson=name, reason=reason))

    # Writing

    def _write(self, file_marks: dict[str, str]) -> None:
        if self.after:
            written = write_change(
                self.services, self.location, "sync", list(self.after.values()), self.expected
            ).lessons
            self.lessons.update((lesson.id, lesson) for lesson in written)
        for path, (text, content) in self.outgoing.items():
            try:
                file_marks[path] = self.files.write(path, text.encode(), content)
            except (StaleWriteError, HoldfastError) as exc:
                file_marks.pop(path, None)
                self.problems.append(FileProblem(path=path, reason=str(exc)))
        broken = {problem.path for problem in self.problems} | self.unwritten
        marks = {path: mark for path, mark in file_marks.items() if path not in broken}
        others = {root: paths for root, paths in self.roots.items() if root != self.location.root}
        roots = dict([*others.items()][-(ROOTS - 1) :]) | {self.location.root: marks}
        extent = self.services.store.extent()
        if self.how.take_only:  # our edits are still to be written to files
            extent = replace(extent, versions=-1)
        entries = [self._dated(entry) for entry in self.entries.values()]
        state = _dump(entries, roots, [extent.versions, extent.lessons])
        self.services.store.set_state(SYNCED, self.location.project.id, state)

    def _dated(self, entry: Entry) -> Entry:
        lesson = self.lessons.get(entry.lesson)
        if (self.how.take_only and entry.ours) or (lesson is None and not self.is_complete):
            return entry
        return replace(entry, at=render_instant(lesson.recorded_at) if lesson else "")

    def _report(self) -> SyncReport:
        ours = [entry for entry in self.entries.values() if entry.ours]
        written = set(self.outgoing)
        return SyncReport(
            steps=tuple(self.steps),
            problems=tuple(self.problems),
            shared=len(self.entries),
            absent=sum(self.present.get(entry.id) is None and entry.path not in written for entry in ours),
            waiting=sum(entry.waits for entry in ours),
        )


def _is_ours_alone(mine: Document, merged: Document) -> bool:
    """Return whether the merge differs from the store only in what this machine's own sync added."""
    names = [name for name in EMPTY if mine.values[name] != merged.values[name]]
    if any(name not in ("links", "rivals") for name in names):
        return False
    links = [link for link in merged.values["links"] if link not in mine.values["links"]]
    return all(link in merged.values["links"] for link in mine.values["links"]) and all(
        link["kind"] == "contradicts" for link in links
    )


def _lessons(services: Services, location: Location, states: tuple[State, ...]) -> Iterator[Lesson]:
    """Yield the project's lessons, without the user's own for all projects."""
    where = LessonFilter(project=location.project.id, states=states, limit=EVERY_LESSON)
    yield from (lesson for lesson in services.store.find(where) if lesson.scope.level != "user")


def _stamps(entry: Entry) -> dict[str, Stamp] | None:
    return {name: parse_stamp(text) for name, text in entry.stamps.items()} if entry.stamps else None


def _unchanged(entries: Sequence[dict[str, Any]], marks: Mapping[str, str]) -> SyncReport:
    """Return the report if neither files nor store have changed, without building records."""
    ours = [entry for entry in entries if entry.get("ours")]
    return SyncReport(
        shared=len(entries),
        absent=sum(entry.get("path") not in marks for entry in ours),
        waiting=sum(bool(entry.get("waits")) for entry in ours),
    )


def _load(text: str) -> dict[str, Any]:
    """Return the state's entries, files and extent; if it is unreadable nothing, so that all is compared again."""
    try:
        fields = loads(text) if text else {}
        if fields.get("version") == VERSION:
            return {"entries": fields["entries"], "roots": fields["roots"], "extent": fields["extent"]}
    except (InvalidValueError, KeyError, AttributeError):
        pass
    return {"entries": [], "roots": {}, "extent": []}


def _dump(entries: Sequence[Entry], roots: Mapping[str, Mapping[str, str]], extent: Sequence[int]) -> str:
    plain = [
        {key: value for key, value in as_dict(entry).items() if value not in ("", False) or key == "id"}
        for entry in entries
    ]
    return dumps({"version": VERSION, "entries": plain, "roots": roots, "extent": extent})


# Converts a lesson of the store into the values of a document, and a document into a lesson


SHARED = "lessonfile/1"
"""The detector of a lesson that came from a file."""
TEXTS = ("title", "insight", "why", "how", "topic_key", "command", "error_signature", "revival")
LISTS = ("snippets", "globs", "tags")


def values_of(
    lesson: Lesson, shared: Mapping[LessonId, LessonId], provenance: Mapping[str, str] | None
) -> dict[str, Any]:
    """Return the lesson's fields as files hold them: redacted, without what concerns only this machine.

    `shared` maps lessons to the ids that other machines use; links to lessons that are not shared are left out.
    `provenance` is what the file has stated from the beginning, if it exists.
    """
    anchors = [
        {key: value for key, value in to_plain(anchor).items() if key in ANCHOR_KEYS} for anchor in lesson.anchors
    ]
    links = [{"kind": link.kind, "target": shared[link.target]} for link in lesson.links if link.target in shared]
    values = {
        **{name: getattr(lesson, name) for name in TEXTS},
        **{name: list(getattr(lesson, name)) for name in LISTS},
        "kind": lesson.kind,
        "state": lesson.state if lesson.state in ENDS else "active",
        "anchors": [anchor for anchor in anchors if anchor.get("path")],
        "when": to_plain(lesson.when),
        "path_prefix": lesson.scope.path_prefix,
        "valid_from": render_instant(lesson.validity.valid_from),
        "valid_to": render_instant(lesson.validity.valid_to) if lesson.validity.valid_to else "",
        "links": links,
        "provenance": _provenance(lesson) if provenance is None else dict(provenance),
    }
    return {name: _cleaned(name, values.get(name, empty)) for name, empty in EMPTY.items()}


def new_lesson(
    document: Document, project: ProjectId, local: Mapping[LessonId, LessonId], at: datetime, state: State
) -> Lesson:
    """Return the document as a lesson that is new to this store. Its trust is the file's claim only if accepted."""
    said_by: Trust = document.values["provenance"].get("said_by", "agent") if state == "active" else "repository"
    draft = Lesson(
        id=document.id,
        kind=document.values["kind"],
        title=document.values["title"],
        insight=document.values["insight"],
        scope=Scope(project=project),
        validity=Validity(valid_from=at),
        recorded_at=at,
        provenance=Provenance(
            detector=SHARED,
            author=document.values["provenance"].get("author", ""),
            person_name=document.values["provenance"].get("person", ""),
        ),
        trust=said_by,
        confidence=CONFIDENCE[said_by],
        salience=SAID_SALIENCE,
        state=state,
    )
    return revised(draft, document, local, at)


def revised(lesson: Lesson, document: Document, local: Mapping[LessonId, LessonId], at: datetime) -> Lesson:
    """Return the lesson's next version from the document. A state that cannot follow the present one is not taken."""
    values = document.values
    if document.is_tombstone:
        return lesson if lesson.state == "forgotten" else blanked(in_state(lesson, "forgotten", at=at))
    foreign = [link for link in lesson.links if link.target not in local.values()]
    links = [
        Link(kind=link["kind"], target=local[link["target"]]) for link in values["links"] if link["target"] in local
    ]
    begun = parse_instant(values["valid_from"]) if values["valid_from"] else lesson.validity.valid_from
    ended = parse_instant(values["valid_to"]) if values["valid_to"] else None
    fields: dict[str, Any] = {name: values[name] for name in TEXTS} | {name: tuple(values[name]) for name in LISTS}
    after = replace(
        lesson,
        kind=values["kind"],
        **fields,
        anchors=tuple(from_plain(Anchor, anchor) for anchor in values["anchors"]),
        when=from_plain(Triggers, values["when"]),
        scope=replace(lesson.scope, path_prefix=values["path_prefix"]),
        validity=Validity(valid_from=begun, valid_to=ended if ended and ended > begun else None),
        links=tuple(dict.fromkeys((*foreign, *links))),
        recorded_at=at,
    )
    state = values["state"]
    if state != (lesson.state if lesson.state in ENDS else "active") and state in TRANSITIONS[lesson.state]:
        after = replace(in_state(after, state, at=at), validity=after.validity)
    return after


def _provenance(lesson: Lesson) -> dict[str, str]:
    """Return who said it and what found it. Quotes and sessions are left out: they are words of private sessions."""
    source = lesson.provenance
    stated = {
        "said_by": lesson.trust, "host": source.host, "detector": source.detector, "author": source.author,
        "person": source.person_name, "origin": source.origin,
    }  # fmt: skip
    return {key: value for key, value in stated.items() if value}


def _cleaned(name: str, value: Any) -> Any:
    """Return the value with every text redacted as in reading a file; items appear once, and none is empty."""
    if isinstance(value, str):
        return cleaned(name, value)
    if isinstance(value, list):
        items: list[Any] = []
        for item in value:
            item = _cleaned(name, item)
            if item and item not in items:
                items.append(item)
        return items
    return {key: _cleaned(key, inner) for key, inner in value.items()} if isinstance(value, dict) else value
