"""Adopt: turns what importers read in other tools' files into lessons. Importing a file twice changes nothing.

A passage is recognised by a digest of its words. An edited passage is recognised by its section, and revises its
lesson. A passage that disappeared from its source is reported, and its lesson stays. A lesson that waits in the inbox,
or was rejected, revised or forgotten here, keeps that state. A run is one transaction and one change, which `undo`
takes back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from hashlib import sha256

from holdfast.curation.remember import same_rule
from holdfast.curation.tuning import (
    CONFIDENCE,
    LESSONS_A_PAGE,
    PASSAGE_KEY_DIGITS,
    PASSAGE_LIKE,
    SAID_SALIENCE,
    SALIENCE,
)
from holdfast.domain.lesson import Anchor, Lesson, Link, Provenance, Scope, Validity, in_state
from holdfast.domain.project import Location
from holdfast.domain.vocabulary import STATES, TRANSITIONS, LessonId, ProjectId, State
from holdfast.errors import InvalidValueError, LessonNotFoundError
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.lessons.statement import anchors_of, clean, clean_all, suspicion, with_title
from holdfast.ports.plugins import Passage, Skipped
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter
from holdfast.text.titles import kept_title
from holdfast.text.words import duplicate_key

LIVING: tuple[State, ...] = ("active", "candidate", "quarantined")
WAITING_OR_ACTIVE: tuple[State, ...] = ("active", "candidate")
ENDED: tuple[State, ...] = ("superseded", "retired")
"""States in a source of passages that no longer hold."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceContents:
    """The content of one source."""

    label: str
    importer: str
    """The importer's id."""
    parts: tuple[Passage | Skipped, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Adopting:
    """The options of a run."""

    accept: bool = False
    """Whether a person vouches for it: lessons that are not suspicious become active."""
    dry: bool = False
    """Whether nothing is written: a dry run."""
    verb: str = "import"
    """The verb of the change in the log."""
    projects: tuple[str, ...] = ()
    """Names of this project in stores of several projects; empty: the folder's name. `*` takes all projects."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PassageOutcome:
    """What happened to one passage (or would, in a dry run)."""

    verb: str
    """added, revised, accepted, unchanged, skipped or removed."""
    label: str
    section: str
    title: str = ""
    reason: str = ""
    state: State = "candidate"
    lesson: LessonId = ""  # type: ignore[assignment]


def adopt(
    services: Services,
    location: Location,
    readings: Sequence[SourceContents],
    how: Adopting,
    progress: Callable[[int], None] | None = None,
) -> tuple[PassageOutcome, ...]:
    """Write all passages in one transaction; return a step for each, in order. `progress` gets the number done."""

    def step() -> _Run:
        run = _Run(services, location, how)
        for reading in readings:
            run.take(reading)
            if progress:
                progress(len(run.steps))
        run.link()
        if run.after and not how.dry:
            write_change(services, location, how.verb, list(run.after.values()), run.expected)
        return run

    return tuple(with_retries(step).steps)


class _Run:
    """One run: what is known of the sources, what will be written, and the steps so far."""

    def __init__(self, services: Services, location: Location, how: Adopting) -> None:
        self.services = services
        self.location = location
        self.how = how
        self.steps: list[PassageOutcome] = []
        self.after: dict[LessonId, Lesson] = {}
        self.expected: dict[LessonId, datetime | None] = {}
        self._known = _Known(services, location)
        self._named: dict[str, LessonId] = {}
        self._links: list[tuple[LessonId, Passage]] = []

    def take(self, reading: SourceContents) -> None:
        """Plan what happens to each part of a source."""
        drafts = list(self._drafts(reading))
        new = [pair for pair in drafts if not self._settle(reading.label, *pair)]
        before = self._known.left(reading.label, {draft.topic_key for draft, _ in drafts})
        counts = Counter(_section(draft) for draft, _ in new)
        for draft, passage in new:
            section = _section(draft)
            old = _find_reworded(draft, before.get(section, []), counts[section] == 1)
            if old is not None:
                before[section].remove(old)
            self._write(reading.label, draft, passage, old)
        for lesson in (lesson for lessons in before.values() for lesson in lessons):
            self._add_step(
                "removed", reading.label, _section(lesson), lesson, "no longer in the source; the lesson stays"
            )

    def link(self) -> None:
        """Add the links that passages state to each other, where both ends are lessons."""
        for lesson_id, passage in self._links:
            links = [Link(kind=kind, target=self._named[name]) for kind, name in passage.links if name in self._named]
            lesson = self.after.get(lesson_id) or self._known.by_id.get(lesson_id)
            fresh = [link for link in links if lesson and link.target != lesson_id and link not in lesson.links]
            if lesson is not None and fresh:
                self._put(replace(lesson, links=tuple(dict.fromkeys((*lesson.links, *fresh)))))

    def _drafts(self, reading: SourceContents) -> Iterator[tuple[Lesson, Passage]]:
        """Yield the lessons that a source's passages state; report the rest, for other projects only by number."""
        elsewhere: Counter[str] = Counter()
        for part in reading.parts:
            if isinstance(part, Skipped):
                self._add_step("skipped", reading.label, part.section, reason=part.reason)
            elif not self._is_ours(part.project):
                elsewhere[part.project] += 1
            else:
                try:
                    draft = draft_of(self.services, self.location, part, reading.label, reading.importer)
                except InvalidValueError as exc:
                    self._add_step("skipped", reading.label, part.section, reason=str(exc))
                    continue
                vouched = self.how.accept and part.state == "active" and draft.state == "candidate"
                yield (replace(draft, state="active") if vouched else draft), part
        for name, count in elsewhere.items():
            reason = f"{count} of project {name!r}; use --project={name} to import them"
            self._add_step("skipped", reading.label, "", reason=reason)

    def _settle(self, label: str, draft: Lesson, passage: Passage) -> bool:
        """Return whether the passage is known already; if so, add its step with the lesson's new state."""
        known = self._known.find(draft)
        if known is None:
            return False
        self._remember_name(known.id, passage)
        if self.how.accept and known.state == "candidate" and draft.state == "active":
            self._move("accepted", label, known, "active")
        elif draft.state in ENDED and known.state in WAITING_OR_ACTIVE and known.provenance == draft.provenance:
            self._move("revised", label, known, draft.state)
        elif _holds_longer(known, draft):
            self._extend(label, known, draft)
        else:
            self._add_step("unchanged", label, passage.section, known, f"known, {known.state}")
        return True

    def _move(self, verb: str, label: str, known: Lesson, state: State) -> None:
        moved = in_state(known, state, at=self.services.clock.now())
        self._put(moved)
        self._known.keep(moved)
        self._add_step(verb, label, _section(moved), moved)

    def _extend(self, label: str, known: Lesson, draft: Lesson) -> None:
        """Let a lesson hold as long as its source says by now."""
        after = replace(known, validity=replace(known.validity, valid_to=draft.validity.valid_to))
        self._put(after)
        self._known.keep(after)
        self._add_step("revised", label, _section(after), after)

    def _write(self, label: str, draft: Lesson, passage: Passage, old: Lesson | None) -> None:
        """Plan a new lesson, which supersedes the passage's earlier lesson if there is one."""
        if self._settle(label, draft, passage):
            return  # the same words occurred earlier in this run
        if not self.how.dry:
            draft = anchored(self.services, self.location, draft, passage)
        if old is not None:
            self._close(old, draft)
            draft = replace(draft, links=(Link(kind="supersedes", target=old.id),), pinned=old.pinned)
        self._put(draft, is_new=True)
        self._known.keep(draft)
        self._remember_name(draft.id, passage)
        self._add_step("added" if old is None else "revised", label, passage.section, draft)

    def _close(self, old: Lesson, new: Lesson) -> None:
        state: State = "superseded" if "superseded" in TRANSITIONS[old.state] else "retired"
        self._put(in_state(old, state, at=new.recorded_at))

    def _put(self, lesson: Lesson, *, is_new: bool = False) -> None:
        """Plan the lesson's next version; it replaces a version planned in this run."""
        if lesson.id in self.after or is_new:
            self.after[lesson.id] = lesson
            self.expected.setdefault(lesson.id, None)
            return
        before = self._known.by_id[lesson.id]
        self.expected[lesson.id] = before.recorded_at
        self.after[lesson.id] = replace(lesson, recorded_at=max(lesson.recorded_at, self.services.clock.now()))

    def _remember_name(self, lesson: LessonId, passage: Passage) -> None:
        for name in passage.names:
            self._named.setdefault(name, lesson)
        if passage.links:
            self._links.append((lesson, passage))

    def _is_ours(self, project: str) -> bool:
        """Return whether a store that names its projects means this one: by name, or by its path with dashes."""
        if not project or "*" in self.how.projects:
            return True
        root = self.location.root.rstrip("/\\")
        folder = root.replace("\\", "/").rsplit("/", 1)[-1]
        dashed = "".join(c if c.isascii() and c.isalnum() else "-" for c in root)
        ours = {name.casefold() for name in self.how.projects or (folder, self.location.project.name, dashed[:200])}
        name = project.casefold()
        return bool(ours & {name, name.split("/", 1)[0], name[:200]})

    def _add_step(self, verb: str, label: str, section: str, lesson: Lesson | None = None, reason: str = "") -> None:
        fields = {"title": lesson.title, "state": lesson.state, "lesson": lesson.id} if lesson else {}
        self.steps.append(PassageOutcome(verb=verb, label=label, section=section, reason=reason, **fields))  # type: ignore[arg-type]


class _Known:
    """The existing lessons: by id, by the key of an imported passage, by rule, by source."""

    def __init__(self, services: Services, location: Location) -> None:
        self.by_id: dict[LessonId, Lesson] = {}
        self._by_key: dict[str, Lesson] = {}
        self._by_rule: dict[tuple[str, ...], Lesson] = {}
        self._by_label: dict[str, list[Lesson]] = {}
        for lesson in _all(services, location):
            self.by_id[lesson.id] = lesson
            self.keep(_as_it_was(services, lesson))

    def keep(self, lesson: Lesson) -> None:
        """Index the lesson; of two with the same key or rule keep the newest, which comes first, or a living one."""
        if lesson.topic_key.startswith(KEY):
            self._by_key.setdefault(lesson.topic_key, lesson)
            self._by_label.setdefault(lesson.provenance.origin.partition("#")[0], []).append(lesson)
        rule = same_rule(lesson)
        known = self._by_rule.get(rule)
        if known is None or (known.state not in LIVING and lesson.state in LIVING) or known.id == lesson.id:
            self._by_rule[rule] = lesson
        if lesson.topic_key in self._by_key and self._by_key[lesson.topic_key].id == lesson.id:
            self._by_key[lesson.topic_key] = lesson

    def find(self, draft: Lesson) -> Lesson | None:
        """Return the lesson of the draft's passage, in any state, or a lesson that states the same rule."""
        return self._by_key.get(draft.topic_key) or self._by_rule.get(same_rule(draft))

    def left(self, label: str, keys: set[str]) -> dict[str, list[Lesson]]:
        """Return, by section, living lessons of a source whose passages have none of the keys: edited or removed."""
        label = origin_of(label, "").partition("#")[0]
        lessons = {lesson.id: lesson for lesson in self._by_label.get(label, ()) if lesson.topic_key not in keys}
        by_section: dict[str, list[Lesson]] = {}
        for lesson in lessons.values():
            if lesson.state in LIVING:
                by_section.setdefault(_section(lesson), []).append(lesson)
        return by_section


def _all(services: Services, location: Location) -> Iterator[Lesson]:
    where = LessonFilter(project=location.project.id, states=STATES, limit=LESSONS_A_PAGE)
    while page := services.store.find(where):
        yield from page
        where = replace(where, offset=where.offset + len(page))


def _as_it_was(services: Services, lesson: Lesson) -> Lesson:
    """Return a forgotten imported lesson with its former words, still forgotten, so that its key blocks an import."""
    if lesson.state != "forgotten" or not lesson.provenance.detector:
        return lesson
    try:
        before = services.store.get([lesson.id], lesson.recorded_at - timedelta(microseconds=1))[0]
    except LessonNotFoundError:
        return lesson
    return replace(before, state="forgotten") if before.topic_key.startswith(KEY) else lesson


def _holds_longer(known: Lesson, draft: Lesson) -> bool:
    """Return whether the source of a living lesson says another end than it had when it was imported."""
    is_same = known.provenance == draft.provenance and known.state in WAITING_OR_ACTIVE
    until = known.validity.valid_to, draft.validity.valid_to
    return is_same and draft.state not in ENDED and until[0] != until[1] and any(until)


def _section(lesson: Lesson) -> str:
    return lesson.provenance.origin.partition("#")[2]


def _find_reworded(draft: Lesson, here: Sequence[Lesson], alone: bool) -> Lesson | None:
    """Return the lesson of its section that the draft rewords: the most similar, or the only one for the only draft."""
    if alone and len(here) == 1:
        return here[0]
    words = set(duplicate_key(draft.insight).split())
    share, _, nearest = max(((_share(words, lesson), lesson.id, lesson) for lesson in here), default=(0.0, "", None))
    return nearest if share >= PASSAGE_LIKE else None


def _share(words: set[str], lesson: Lesson) -> float:
    others = set(duplicate_key(lesson.insight).split())
    return len(words & others) / (len(words | others) or 1)


# Passages: turns what an importer read into a draft lesson. Its state follows from who says it


KEY = "import:"
"""Prefix of the topic keys of imported lessons; a digest of the source's name and of the words follows."""


def origin_of(label: str, section: str) -> str:
    """Return a passage's origin for provenance: `CLAUDE.md#Testing > Fixtures`."""
    return clean(f"{label.replace('#', '%23')}#{section}")


def draft_of(services: Services, location: Location, passage: Passage, label: str, importer: str) -> Lesson:
    """Return the lesson that the passage states, not anchored yet, in the state it has if nobody vouches for it.

    Raises InvalidValueError with the reason when it cannot be a lesson.
    """
    if passage.holds_until and passage.holds_until <= services.clock.now():
        raise InvalidValueError(f"stale since {passage.holds_until:%Y-%m-%d}, as it says itself")
    stated = {name: getattr(passage, name) for name in ("insight", "why", "how", "snippets", "tags")}
    fields = clean_all({**stated, "title": passage.title})
    fields = with_title({**fields, "title": kept_title(fields["title"], fields["insight"])})
    now = services.clock.now()
    own = passage.scope == "user"
    return Lesson(
        id=LessonId(services.clock.new_id()),
        kind=passage.kind or passage.usual_kind,
        scope=Scope(
            level=passage.scope,
            project=ProjectId("") if own else location.project.id,
            path_prefix="" if own else passage.path_prefix,
        ),
        validity=_validity(passage, now),
        recorded_at=now,
        globs=() if own else passage.globs,
        topic_key=_key(label, passage.state, fields),
        provenance=Provenance(
            detector=importer, origin=origin_of(label, passage.section), author=clean(passage.author)
        ),
        trust=passage.trust,
        confidence=CONFIDENCE[passage.trust] if passage.confidence is None else passage.confidence,
        salience=SALIENCE if passage.trust == "person" else SAID_SALIENCE,
        state=_state(passage),
        **fields,
    )


def anchored(services: Services, location: Location, draft: Lesson, passage: Passage) -> Lesson:
    """Return the draft anchored to those of the passage's files that the project has, as they were when it was said."""
    files = [name for name in passage.files if _is_here(services, location, name)] if passage.scope != "user" else []
    if not files:
        return draft
    words = "\n".join((draft.title, draft.insight, draft.why, draft.how))
    anchors_and_globs: tuple[tuple[Anchor, ...], tuple[str, ...]]
    try:
        here = replace(location, prefix="")
        anchors_and_globs = anchors_of(services, here, files, (), words, passage.said_at, passage.commit)
    except InvalidValueError:
        return draft  # one of the names is no path
    return replace(draft, anchors=anchors_and_globs[0], globs=(*draft.globs, *anchors_and_globs[1]))


def _state(passage: Passage) -> State:
    """Return quarantined for suspicious words, else the source's state; active only for a person's own lesson."""
    words = (passage.title, passage.insight, passage.why, passage.how, *passage.snippets, *passage.tags)
    if suspicion("\n".join(words)):
        return "quarantined"
    if passage.state == "active" and passage.trust != "person":
        return "candidate"
    return passage.state


def _validity(passage: Passage, now: datetime) -> Validity:
    """Return a validity from when it was said, if known; it ends now for a passage that no longer holds."""
    begun = min(passage.said_at, now) if passage.said_at else now
    ends = passage.state in ("superseded", "retired") and begun < now
    return Validity(valid_from=begun, valid_to=now if ends else passage.holds_until)


def _key(label: str, state: State, fields: dict[str, object]) -> str:
    words = "\0".join([label, state, *(" ".join(str(fields[name]).split()) for name in ("insight", "why", "how"))])
    return KEY + sha256(words.encode("utf-8", "replace")).hexdigest()[:PASSAGE_KEY_DIGITS]


def _is_here(services: Services, location: Location, name: str) -> bool:
    path = services.workspace.relative(location, name, location.root)
    return bool(path) and services.workspace.exists(location, path)
