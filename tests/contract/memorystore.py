"""`MemoryStore`: the port `Store` in dictionaries: the minimum for a further backend, and quick for tests."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import reduce
from typing import Any

from holdfast.domain.event import Event, spoken_prefix
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Change, Checkpoint, Delivery, Outcome
from holdfast.domain.statefamilies import FAMILIES, ROW_FAMILIES, RowFamily, StateFamily, without_lesson
from holdfast.domain.vocabulary import LIVING, STATES, LessonId, ProjectId, SessionId, State
from holdfast.errors import InvalidValueError, LessonNotFoundError, StaleWriteError
from holdfast.lean.plain import clean, from_plain, storable, to_plain
from holdfast.ports.store import (
    EventFilter,
    Extent,
    Facet,
    LessonFilter,
    LogFilter,
    SessionFilter,
    SessionRow,
    SpokenTurn,
    StoreCare,
    VersionSpan,
)
from holdfast.stores._shared.facets import count_values
from holdfast.stores._shared.purging import RAW, Purging
from holdfast.stores._shared.rows import instant, micros
from holdfast.stores._shared.sessions import SessionPart, sum_up
from holdfast.text.searchkeys import anchored_files, is_in_area, text_columns
from holdfast.text.speech import turns_of
from holdfast.text.words import duplicate_key

from .memorysearch import MemorySearch, Row

HOLDING_WORDS = {family.name for family in FAMILIES if family.holds_words}
NAMING_LESSONS = {family.name for family in FAMILIES if family.names_lessons}
ROWS_HOLDING_WORDS = {family.name for family in ROW_FAMILIES if family.holds_words}
SHOWN = tuple(state for state in STATES if state != "forgotten")


class MemoryStore(MemorySearch, StoreCare, AbstractContextManager["MemoryStore"]):
    """A store in memory, for one thread. A call that fails changes nothing."""

    def __init__(self) -> None:
        self.vectors: dict[str, dict[LessonId, Sequence[float]]] = {}
        self._versions: dict[int, Lesson] = {}
        self._logs: dict[type, dict[Any, Any]] = defaultdict(dict)
        self._states: dict[tuple[str, str], tuple[str, datetime]] = {}
        self._rows: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
        self._extent = Extent()

    def __exit__(self, *exc: object) -> None: ...

    @contextmanager
    def changing(self) -> Iterator[None]:
        before = _copied(vars(self))
        try:
            yield
        except BaseException:
            vars(self).update(before)
            raise

    def extent(self) -> Extent:
        return replace(self._extent, lessons=len(self._searchable()))

    def append_events(self, events: Sequence[Event]) -> int:
        keys, before = {(event.session, event.key) for event in self._logs[Event].values()}, self._extent.events
        for event in map(storable, events):
            if (event.session, event.key) not in keys:
                keys.add((event.session, event.key))
                self._extent = replace(self._extent, events=self._extent.events + 1)
                self._logs[Event][self._extent.events] = event
        return self._extent.events - before

    def find_events(self, where: EventFilter) -> list[tuple[int, Event]]:
        rows = [row for row in self._logs[Event].items() if row[0] > where.after and _is_logged(row[1], where)]
        spoken = [row for row in rows if where.kind is None or row[1].key.startswith(spoken_prefix(where.kind))]
        return spoken[-where.last :][: max(0, where.limit)]

    def list_sessions(self, where: SessionFilter) -> list[SessionRow]:
        parts = [part for part in sum_up(self._logs[Event].items()) if _is_listed(part, where)]
        parts.sort(key=lambda part: (-part.last, part.session, part.project))
        return [self._session(part) for part in parts][: max(0, where.limit)]

    def list_projects(self) -> list[ProjectId]:
        owners = {lesson.scope.owner for _, lesson in self._recorded(None)}
        return [
            ProjectId(name) for name in sorted(owners | {event.project for event in self._logs[Event].values()}) if name
        ]

    def _session(self, part: SessionPart) -> SessionRow:
        opening = self._logs[Event][part.opening].text if part.opening else ""
        return SessionRow(
            project=ProjectId(part.project), session=SessionId(part.session), host=part.host, branch=part.branch,
            first=instant(part.first), last=instant(part.last), events=part.events, prompts=part.prompts,
            opening=opening,
        )  # fmt: skip

    def put(
        self, lessons: Sequence[Lesson], expected: Mapping[LessonId, datetime | None], change: Change | None = None
    ) -> None:
        versions, replaces = dict(self._versions), dict(expected)
        current = {lesson.id: at for at, lesson in self._recorded(None)}
        known, reworded = set(current), set[LessonId]()
        for number, lesson in enumerate(map(storable, lessons), start=1):
            before = versions.get(current.get(lesson.id, 0))
            if (before and before.recorded_at) != replaces.get(lesson.id):
                raise StaleWriteError(f"lesson {lesson.id} was changed by somebody else")
            if before is not None:
                if lesson.recorded_at <= before.recorded_at:
                    raise InvalidValueError(f"lesson {lesson.id}: a version must be later than the one it replaces")
                versions[current[lesson.id]] = replace(before, retracted_at=lesson.recorded_at)
                if lesson.state == "forgotten" or text_columns(before) != text_columns(lesson):
                    reworded.add(lesson.id)
            current[lesson.id] = at = self._extent.versions + number
            versions[at], replaces[lesson.id] = lesson, lesson.recorded_at
        rules = [_rule(versions[at]) for at in current.values()]
        if any(rules.count(rule) > 1 for id_ in current.keys() - known if (rule := _rule(versions[current[id_]]))):
            raise StaleWriteError("another lesson states the same rule already")
        self._versions, self._extent = versions, replace(self._extent, versions=self._extent.versions + len(lessons))
        self._drop_vectors(reworded)
        if change is not None:
            self._logs[Change][change.id] = storable(change)

    def get(self, ids: Sequence[LessonId], as_of: datetime | None = None) -> list[Lesson]:
        lessons = {lesson.id: lesson for _, lesson in self._recorded(as_of)}
        if missing := [id_ for id_ in ids if clean(id_) not in lessons]:
            raise LessonNotFoundError(f"no lesson {missing[0]}", hint="holdfast list --all-projects")
        return [lessons[LessonId(clean(id_))] for id_ in ids]

    def current_versions(self, ids: Sequence[LessonId]) -> dict[LessonId, tuple[State, datetime]]:
        wanted = {clean(id_) for id_ in ids}
        return {
            lesson.id: (lesson.state, lesson.recorded_at) for _, lesson in self._recorded(None) if lesson.id in wanted
        }

    def find(self, where: LessonFilter) -> list[Lesson]:
        lessons = [lesson for _, lesson in self.known(where.as_of) if self._fits(lesson, where)]
        lessons.sort(key=lambda lesson: (-lesson.recorded_at.timestamp(), lesson.id))
        if where.beyond is not None:
            end = -where.beyond[0].timestamp(), where.beyond[1]
            lessons = [lesson for lesson in lessons if (-lesson.recorded_at.timestamp(), lesson.id) > end]
        return lessons[max(0, where.offset) :][: max(0, where.limit)]

    def count_by(self, where: LessonFilter, facet: Facet, most: int) -> dict[str, int]:
        return count_values(self.find(where), facet, most)

    def count_facets(self, where: LessonFilter, facets: Sequence[Facet], most: int) -> dict[Facet, dict[str, int]]:
        return {facet: self.count_by(where, facet, most) for facet in facets}

    def count_versions(self, project: ProjectId, since: datetime, step: timedelta, count: int) -> list[VersionSpan]:
        instants = [since + step * number for number in range(count)]
        counts: Counter[tuple[State, int, int | None]] = Counter()
        for lesson in self._versions.values():
            if lesson.scope.owner in ("", project):
                end = lesson.retracted_at
                begin = sum(at < lesson.recorded_at for at in instants)
                counts[lesson.state, begin, None if end is None else sum(at < end for at in instants)] += 1
        return [
            VersionSpan(state=state, begin=begin, end=end, count=number)
            for (state, begin, end), number in counts.items()
        ]

    def known(self, as_of: datetime | None) -> Iterator[Row]:
        for at, lesson in self._recorded(as_of):
            begins, ends = lesson.validity.valid_from, lesson.validity.valid_to
            if as_of is None or lesson.state not in LIVING or (begins <= as_of and (ends is None or ends > as_of)):
                yield at, lesson

    def record(self, entries: Sequence[Any]) -> None:
        for entry in map(storable, entries):
            self._logs[type(entry)].setdefault(entry.id, entry)

    def find_records(self, kind: type[Any], where: LogFilter) -> list[Any]:
        entries = [entry for entry in reversed(self._logs[kind].values()) if _is_logged(entry, where)]
        newest = entries if kind in (Change, Checkpoint) else sorted(entries, key=lambda entry: entry.at, reverse=True)
        return newest[: max(0, where.limit)]

    def put_vectors(self, embedder_id: str, vectors: Mapping[LessonId, Sequence[float]]) -> None:
        of_known = {id_: tuple(vectors[id_]) for id_ in vectors.keys() & self._searchable()}
        self.vectors[embedder_id] = {**self.vectors.get(embedder_id, {}), **of_known}

    def count_without_vector(self, embedder_id: str) -> int:
        return len(self._searchable() - self.vectors.get(embedder_id, {}).keys())

    def drop_other_vectors(self, embedder_id: str) -> None:
        self.vectors = {name: vectors for name, vectors in self.vectors.items() if name == embedder_id}

    def get_states(self, cells: Sequence[tuple[StateFamily, str]]) -> list[str]:
        return [self.get_state(family, owner) for family, owner in cells]

    def get_state(self, family: StateFamily, owner: str = "") -> str:
        return self._states.get((family.name, clean(owner)), ("",))[0]

    def set_state(self, family: StateFamily, owner: str, value: str) -> None:
        self.edit_state(family, owner, lambda _: value)

    def edit_state(self, family: StateFamily, owner: str, edit: Callable[[str], str]) -> str:
        before = self.get_state(family, owner)
        value = clean(edit(before))
        if value != before:
            self._states[family.name, clean(owner)] = value, datetime.now(UTC)
        return value

    def expire_states(self, now: datetime) -> int:
        since = {family.name: now - timedelta(days=family.kept_days) for family in FAMILIES if family.kept_days}
        over = [key for key, (value, at) in self._states.items() if value and key[0] in since and at < since[key[0]]]
        return len([self._states.pop(key) for key in over])

    def get_rows(self, family: RowFamily, owner: str, keys: Sequence[str] | None = None) -> dict[str, str]:
        rows = self._rows[family.name, clean(owner)]
        return {key: rows[key] for key in sorted(rows) if keys is None or key in {clean(named) for named in keys}}

    def set_rows(self, family: RowFamily, owner: str, values: Mapping[str, str]) -> int:
        before = self._rows[family.name, clean(owner)]
        after = before | {clean(key): clean(value) for key, value in values.items()}
        self._rows[family.name, clean(owner)] = {key: value for key, value in after.items() if value}
        return sum(before.get(key, "") != value for key, value in after.items())

    def purge(self, ids: Sequence[LessonId], change: Change | None = None) -> dict[str, int]:
        gone = [self._versions.pop(at) for at, lesson in [*self._versions.items()] if lesson.id in ids]
        erased, purging = Counter(lessons=len(gone), vectors=self._drop_vectors(ids)), Purging(gone)
        for name, kind, without in purging.steps():
            for key, entry in [item for item in self._logs[kind].items() if item[1].session in purging.sessions]:
                self._logs[kind][key] = from_plain(kind, without(to_plain(entry)))
                erased[name] += self._logs[kind][key] != entry
        for name, kind in (("deliveries", Delivery), ("outcomes", Outcome), ("changes", Change)):
            for key, entry in [item for item in self._logs[kind].items() if not _lessons_of(item[1]).isdisjoint(ids)]:
                rest = [id_ for id_ in getattr(entry, "lessons", ()) if id_ not in ids]
                self._logs[kind] |= {key: replace(entry, lessons=tuple(rest), summary="")} if rest else {}
                erased[name] += bool(rest or self._logs[kind].pop(key))
        for key, (value, at) in [item for item in self._states.items() if item[0][0] in NAMING_LESSONS]:
            self._states[key] = reduce(without_lesson, ids, value), at
            erased["state"] += self._states[key][0] != value
        for key, (value, at) in [item for item in self._states.items() if item[1][0] and item[0][0] in HOLDING_WORDS]:
            self._states[key] = "" if key[1] in ids else purging.moments(value), at
            erased["state"] += self._states[key][0] != value
        for (family, owner), values in [item for item in self._rows.items() if item[0][0] in ROWS_HOLDING_WORDS]:
            ends = tuple(end for begin, end in purging.files if owner.startswith(begin))
            self._rows[family, owner] = {key: value for key, value in values.items() if not value.endswith(ends)}
            erased["state"] += len(values) - len(self._rows[family, owner])
        if change is not None:
            self._logs[Change][change.id] = storable(change)
        return {name: count for name, count in erased.items() if count}

    def erase_event_texts(self, before: datetime) -> int:
        events = self._logs[Event]
        old = [at for at, event in events.items() if event.at < before and event.text + event.old + event.new]
        events |= {at: replace(events[at], **dict.fromkeys(RAW, "")) for at in old}
        return len(old)

    def turns(self) -> Sequence[SpokenTurn]:
        sessions: dict[str, list[Event]] = {}
        for event in self._logs[Event].values():
            sessions.setdefault(event.session, []).append(event)
        return [turn for events in sessions.values() for turn in turns_of(events)]

    def _recorded(self, as_of: datetime | None) -> Iterator[Row]:
        """Yield the current versions, or those that were current at that instant."""
        for at, lesson in self._versions.items():
            closed = lesson.retracted_at
            if closed is None if as_of is None else lesson.recorded_at <= as_of and (closed is None or closed > as_of):
                yield at, lesson

    def _searchable(self) -> set[LessonId]:
        return {lesson.id for _, lesson in self._recorded(None) if lesson.state in SHOWN}

    def _fits(self, lesson: Lesson, where: LessonFilter) -> bool:
        return (
            (where.all_projects or lesson.scope.owner in ("", where.project))
            and lesson.state in (where.states or SHOWN)
            and lesson.kind in (where.kinds or (lesson.kind,))
            and lesson.id.endswith(where.id_suffix)
            and lesson.id[-8:].startswith(where.id_short)
            and where.topic_key in ("", lesson.topic_key)
            and where.duplicate_key in ("", duplicate_key(lesson.insight))
            and (not where.path or clean(where.path) in anchored_files(lesson))
            and _is_about(lesson, where)
            and bool(lesson.scope.branch or not where.staged)
            and (not where.without_vector or lesson.id not in self.vectors.get(where.without_vector, {}))
        )

    def _drop_vectors(self, ids: Iterable[LessonId]) -> int:
        return sum(vectors.pop(id_, None) is not None for vectors in self.vectors.values() for id_ in {*ids})


def _copied(value: Any) -> Any:
    """Return a copy of a dict and of the dicts in it; records are never changed in place."""
    if not isinstance(value, dict):
        return value
    copied = value.copy()
    copied.update((key, _copied(item)) for key, item in value.items())
    return copied


def _rule(lesson: Lesson) -> tuple[str, ...]:
    """Return what no two living lessons may have in common; empty for a lesson without a rule."""
    key = duplicate_key(lesson.insight) if lesson.state in LIVING else ""
    return (key, lesson.scope.owner, lesson.scope.level, lesson.kind) if key else ()


def _is_about(lesson: Lesson, where: LessonFilter) -> bool:
    return (
        (not where.area or any(is_in_area(path, clean(where.area)) for path in anchored_files(lesson)))
        and clean(where.person) in ("", lesson.provenance.person)
        and clean(where.session) in ("", lesson.provenance.session)
        and (not where.tag or clean(where.tag) in lesson.tags)
        and where.trust in (None, lesson.trust)
        and _is_between(lesson.recorded_at, where)
    )


def _is_between(at: datetime, where: LessonFilter | LogFilter) -> bool:
    return (where.since is None or at >= where.since) and (where.until is None or at < where.until)


def _is_listed(part: SessionPart, where: SessionFilter) -> bool:
    return (
        where.project in ("", part.project)
        and clean(where.session) in ("", part.session)
        and clean(where.host) in ("", part.host)
        and (not where.branch or clean(where.branch) in part.branches)
        and (where.since is None or part.last >= micros(where.since))
        and (where.until is None or part.first < micros(where.until))
        and (where.beyond is None or (-part.last, part.session) > (-micros(where.beyond[0]), where.beyond[1]))
    )


def _is_logged(entry: Any, where: EventFilter | LogFilter) -> bool:
    is_about = isinstance(where, EventFilter) or where.lesson in (_lessons_of(entry) | {""})
    is_of_session = where.session in ("", getattr(entry, "session", None))
    if isinstance(where, LogFilter) and not _is_between(entry.at, where):
        return False
    return is_about and is_of_session and where.project in ("", entry.project)


def _lessons_of(entry: Any) -> set[str]:
    return {*getattr(entry, "lessons", ()), getattr(entry, "lesson", "")}
