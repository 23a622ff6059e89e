"""Lookup: lessons by the end of their id, lists of lessons, and the log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from holdfast.domain.kinds import LESSON_KINDS
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Location
from holdfast.domain.records import Change, Delivery, Outcome
from holdfast.domain.statefamilies import SYNCED_LESSONS
from holdfast.domain.vocabulary import LIVING, STATES, TRUSTS, LessonId, LessonKind, SessionId, State, Trust
from holdfast.errors import AmbiguousIdError, InvalidValueError, LessonNotFoundError, StaleWriteError
from holdfast.lean.plain import parse_instant
from holdfast.lean.texts import loads, short_id
from holdfast.lessons.staging import hidden_here
from holdfast.lessons.tuning import BACK, LESSONS_A_PAGE, LONGEST_NUMBER, SHORT_ID, SHORTEST_REF
from holdfast.ports.services import Services
from holdfast.ports.store import EVERY, LessonFilter, LogFilter, get_readable
from holdfast.text.timespan import span_in

FULL_ID = 36
"""Characters of a whole id, which is a UUID."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonHistory:
    """The log records of one lesson, each newest first."""

    changes: tuple[Change, ...] = ()
    deliveries: tuple[Delivery, ...] = ()
    outcomes: tuple[Outcome, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonSelection:
    """Selects lessons by fields that a store has no index of; an empty field selects all."""

    tag: str = ""
    host: str = ""
    """The host of the session in which the lesson was learnt."""
    trust: Trust | None = None
    since: datetime | None = None
    """The lesson is valid from then or later."""
    hidden: frozenset[LessonId] = frozenset()
    """Lessons to leave out."""

    def takes(self, lesson: Lesson) -> bool:
        """Return whether the lesson satisfies every field."""
        return lesson.id not in self.hidden and (
            (not self.tag or self.tag.lower() in (tag.lower() for tag in lesson.tags))
            and (not self.host or lesson.provenance.host == self.host)
            and (self.trust is None or lesson.trust == self.trust)
            and (self.since is None or lesson.validity.valid_from >= self.since)
        )


def resolve(services: Services, location: Location, ref: str, as_of: datetime | None = None) -> Lesson:
    """Return the lesson with that full id anywhere, or with that end of an id in this project or of the user.

    The beginning of the eight characters that are printed names it, too, and so does the id of its shared file, which
    other machines print. Tombstones are found too. Raises LessonNotFoundError or AmbiguousIdError.
    """
    if not isinstance(ref, str):
        raise InvalidValueError(f"a lesson's id must be a text, not {type(ref).__name__}")
    wanted = ref.strip().lower()
    if len(wanted) == FULL_ID:
        lesson = _whole(services, location, wanted, as_of)
        if lesson.scope.project not in ("", location.project.id):
            from holdfast.lessons.crossing import unseen_from

            if lesson.scope.project in unseen_from(services.store, location.project.id):
                raise not_found(location, ref)
        return lesson
    if len(wanted) < SHORTEST_REF or wanted.strip("0123456789abcdef-"):
        raise not_found(location, ref)
    lessons = _by_part(services, location, wanted, as_of)
    if not lessons:
        raise not_found(location, ref)
    if len(lessons) > 1:
        ends = ", ".join(lesson.id[-max(SHORT_ID, len(wanted) + 4) :] for lesson in lessons)
        raise AmbiguousIdError(f"{ref} is part of {len(lessons)} ids", hint=f"one of: {ends}")
    return lessons[0]


def _whole(services: Services, location: Location, wanted: str, as_of: datetime | None) -> Lesson:
    """Return the lesson with that id in this store, or in its shared file. Raises LessonNotFoundError."""
    try:
        return services.store.get([LessonId(wanted)], as_of)[0]
    except LessonNotFoundError:
        rows = services.store.get_rows(SYNCED_LESSONS, location.project.id, [wanted])
        if local := _lesson_in(rows.get(wanted, "")):
            return services.store.get([local], as_of)[0]
        raise


def _by_part(services: Services, location: Location, wanted: str, as_of: datetime | None) -> list[Lesson]:
    """Return lessons whose id ends like that; if none does, those whose short id begins like that; then shared ones."""
    where = LessonFilter(project=location.project.id, states=STATES, as_of=as_of, limit=9)
    if lessons := services.store.find(replace(where, id_suffix=wanted)):
        return lessons
    if len(wanted) < SHORT_ID and (lessons := services.store.find(replace(where, id_short=wanted))):
        return lessons
    rows = services.store.get_rows(SYNCED_LESSONS, location.project.id)
    named = [
        local
        for shared, text in rows.items()
        if (shared.endswith(wanted) or shared[-SHORT_ID:].startswith(wanted)) and (local := _lesson_in(text))
    ]
    return get_readable(services.store, named[: where.limit], as_of)


def _lesson_in(text: str) -> LessonId:
    """Return the lesson of this store that a row of the record of a sync names; empty if it names none."""
    try:
        fields = loads(text) if text else {}
    except InvalidValueError:
        return LessonId("")
    return LessonId(str(fields.get("lesson", ""))) if isinstance(fields, dict) else LessonId("")


def shared_ids(services: Services, location: Location) -> dict[LessonId, LessonId]:
    """Return the ids of the shared files of this project's lessons, by lesson, where they differ from their own."""
    rows = services.store.get_rows(SYNCED_LESSONS, location.project.id)
    named = ((LessonId(shared), _lesson_in(text)) for shared, text in rows.items())
    return {lesson: shared for shared, lesson in named if lesson and lesson != shared}


def list_lessons(
    services: Services,
    location: Location,
    states: Sequence[State],
    kinds: Sequence[LessonKind],
    path: str,
    all_projects: bool,
    as_of: datetime | None,
    limit: int,
    choice: LessonSelection = LessonSelection(),  # immutable
) -> list[Lesson]:
    """Return lessons that match, newest first. No states means all except forgotten, no kinds means every kind.

    Without `all_projects` and `as_of`, lessons that are staged on a branch and invisible here are left out.
    """
    _require_words("state", states, STATES)
    _require_words("kind", kinds, LESSON_KINDS)
    _require_words("trust", (choice.trust,) if choice.trust else (), TRUSTS)
    where = LessonFilter(
        project=location.project.id,
        all_projects=all_projects,
        states=tuple(states),
        kinds=tuple(kinds),
        path=in_project(services, location, path) if path else "",
        as_of=as_of,
        limit=limit,
    )
    if not all_projects and as_of is None:
        choice = replace(choice, hidden=hidden_here(services, location))
    return services.store.find(where) if choice == LessonSelection() else _sift(services, where, choice)


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonCounts:
    """How many lessons of a project, and of the user, are visible at a location."""

    confirmed: int = 0
    unconfirmed: int = 0

    @property
    def words(self) -> str:
        """The counts in words: `27 confirmed, 4 unconfirmed`."""
        return f"{self.confirmed:,} confirmed, {self.unconfirmed:,} unconfirmed"


def count_lessons(services: Services, location: Location) -> LessonCounts:
    """Count the living lessons that `list_lessons` returns."""
    where = LessonFilter(project=location.project.id, states=LIVING, limit=EVERY)
    counts = Counter(services.store.count_by(where, "state", len(LIVING)))
    hidden = services.store.current_versions(sorted(hidden_here(services, location)))
    counts.subtract(Counter(state for state, _ in hidden.values() if state in LIVING))
    return LessonCounts(confirmed=counts["active"], unconfirmed=counts.total() - counts["active"])


def _sift(services: Services, where: LessonFilter, choice: LessonSelection) -> list[Lesson]:
    """Return the newest of the filter's lessons that satisfy the choice, up to the filter's limit."""
    chosen: list[Lesson] = []
    offset = 0
    while len(chosen) < where.limit:
        page = services.store.find(replace(where, limit=LESSONS_A_PAGE, offset=offset))
        chosen += [lesson for lesson in page if choice.takes(lesson)]
        offset += LESSONS_A_PAGE
        if len(page) < LESSONS_A_PAGE:
            break
    return chosen[: where.limit]


def named_instant(text: str, now: datetime) -> datetime:
    """Parse ISO 8601 text, a time back from now such as `7d`, or words such as `yesterday` and `3 days ago`.

    The letters are `h`, `d`, `w`, `m` (30 days) and `y` (365 days). A span of time gives its beginning. Raises
    InvalidValueError.
    """
    number, unit = text.strip()[:-1], text.strip()[-1:].lower()
    if unit in BACK and number.isascii() and number.isdigit() and len(number) <= LONGEST_NUMBER:
        return now - int(number) * BACK[unit]
    try:
        return parse_instant(text)
    except InvalidValueError as exc:
        begun = (span_in(text, now) or (None, None))[0]
        if begun is None:
            raise InvalidValueError(
                str(exc), hint="2026-11-21, 2026-11-21T08:45Z, yesterday, 7d, '3 days ago'"
            ) from exc
        return begun


def in_project(services: Services, location: Location, path: str) -> str:
    """Return a path typed at that location relative to the project's root; InvalidValueError if it is outside."""
    relative = services.workspace.relative(location, path, folder_of(location))
    if not relative:
        raise InvalidValueError(f"{path} is outside of the project at {location.root}", hint="give a path inside of it")
    return relative


def folder_of(location: Location) -> str:
    """Return the absolute folder for which a location was resolved."""
    return f"{location.root}/{location.prefix}" if location.prefix else location.root


def deliveries(
    services: Services, location: Location, *, session: str = "", lesson: str = "", limit: int = 50
) -> list[Delivery]:
    """Return what was shown in this project, newest first."""
    where = LogFilter(project=location.project.id, session=SessionId(session), lesson=LessonId(lesson), limit=limit)
    return services.store.find_records(Delivery, where)


def changes(services: Services, location: Location, limit: int = 50) -> list[Change]:
    """Return the changes of this project's memory, newest first."""
    return services.store.find_records(Change, LogFilter(project=location.project.id, limit=limit))


def history(services: Services, lesson: LessonId) -> LessonHistory:
    """Return all log records of a lesson, in every project."""
    store, where = services.store, LogFilter(lesson=lesson)
    return LessonHistory(
        changes=tuple(store.find_records(Change, where)),
        deliveries=tuple(store.find_records(Delivery, where)),
        outcomes=tuple(store.find_records(Outcome, where)),
    )


def require_version(lesson: Lesson, expected: datetime | None) -> None:
    """Raise StaleWriteError where the lesson is not the version that was recorded then; None accepts every version."""
    if expected is not None and lesson.recorded_at != expected:
        raise StaleWriteError(
            f"somebody changed lesson {short_id(lesson.id)} meanwhile", hint="read it again, then repeat the change"
        )


def not_found(location: Location, ref: str) -> LessonNotFoundError:
    """Return the error for a lesson that does not exist, or that the reader may not know of."""
    name = short_id(ref.strip()) if len(ref) >= FULL_ID else ref.strip()
    return LessonNotFoundError(
        f"no lesson {name} in project {location.project.name}", hint="holdfast list --all-projects --state all"
    )


def _require_words(what: str, words: Sequence[str], known: Sequence[str]) -> None:
    for word in words:
        if word not in known:
            raise InvalidValueError(f"unknown {what} {word!r}", hint=f"one of {', '.join(known)}")
