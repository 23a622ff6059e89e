"""Decides whether and in which state a candidate becomes a lesson. An `Admission` takes one session's candidates.

A candidate that repeats a lesson is a further sighting of it, never a second lesson. A second session activates a
waiting lesson if its wording is distinctive and occurs in nothing that the sessions have read. These become active at
once: what a person asked to remember and, if the detector is sure, what a person said against work just done, what exit
statuses verified, or what an agent saved in its host's memory.

What a tool or a repository says never becomes active by itself, however often it is repeated. What looks like an attack
is quarantined. What contradicts an active lesson waits, with a link to it. Rejected or forgotten lessons do not come
back. Only a person can add to a person's lesson.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from holdfast.capture.sessionevents import session_events
from holdfast.compare.contradiction import differ_in_taste, relation
from holdfast.compare.overruling import overrules
from holdfast.compare.sameness import opposed, same, same_choice
from holdfast.curation.conflicts import settle_saved
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.kinds import family_of, profile_of
from holdfast.domain.lesson import (
    INSIGHT_LIMIT,
    Anchor,
    Evidence,
    Lesson,
    Link,
    Provenance,
    Scope,
    Validity,
    in_state,
    next_instant,
)
from holdfast.domain.project import Location, Person
from holdfast.domain.vocabulary import LIVING, STATES, TRUSTS, EventId, LessonId, ProjectId, SessionId, State, Trust
from holdfast.lean.cached import cached_property
from holdfast.learning.commandcard import is_persons_rule, is_ruled_out, persons_rules
from holdfast.learning.tuning import (
    DISTINCTIVE,
    EVIDENCE_KEPT,
    FILES_KEPT,
    LEAST_NAMED,
    NEIGHBOURS,
    RECURRENCE,
    SESSIONS_ASKED,
    SESSIONS_KEPT,
    SHARED_WORDS,
    SURE,
)
from holdfast.lessons.anchoring import CodeThen, subject_of
from holdfast.lessons.learningmoments import keep_moments
from holdfast.lessons.ledger import write_change
from holdfast.lessons.material import Material, is_about
from holdfast.lessons.staging import restated, stage
from holdfast.lessons.statement import clean, doubtful_name, merged, suspicion
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter
from holdfast.ports.workspace import Branches
from holdfast.text.meaning import read
from holdfast.text.orders import is_order, reservation
from holdfast.text.titles import kept_title
from holdfast.text.triggers import derive_triggers, united
from holdfast.text.window import ASSENT, failed, spoken, typed
from holdfast.text.words import duplicate_key

TRUSTED: tuple[Trust, ...] = ("person", "verified")
UNTRUSTED: tuple[Trust, ...] = ("repository", "tool")
_READ = ("prompt", "tool_result", "tool_failure")
"""Kinds of events whose text, unless a person typed it, the session only read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceSession:
    """The session of the candidates, and its events."""

    session: SessionId
    host: str
    events: Mapping[EventId, Event]


class Admission:
    """Takes candidates and writes all results as one change."""

    def __init__(self, services: Services, location: Location, source: SourceSession) -> None:
        self.services = services
        self.location = location
        self.source = source
        self.added = 0
        self.merged = 0
        self.changed: dict[LessonId, Lesson] = {}
        """Lessons to be written, by id, as they will be."""
        self._expected: dict[LessonId, datetime | None] = {}
        self._told: list[tuple[EventId, int, int, str, str]] = []
        self._requested: list[Lesson] = []
        """What a person asked to remember."""
        self._code = CodeThen(services, location)

    def take(self, candidates: Iterable[Candidate]) -> None:
        """Decide on each candidate, the surest first, so that a repetition is merged into the better one."""
        for proposed in sorted(candidates, key=lambda c: (not c.explicit, -c.confidence)):
            candidate = self._as_trusted(proposed)
            draft = None if self._is_told(candidate) else self._draft(candidate)
            if draft is None or duplicate_key(draft.insight) in self._forgotten:
                continue
            if is_ruled_out(draft, self._persons_rules()):
                continue
            known = self._known(draft)
            if known is None:
                self._add(draft, candidate)
            elif draft.trust != "repository":  # a file that repeats a lesson does not count as a sighting
                self._join(known, draft, explicit=candidate.explicit)

    def _as_trusted(self, candidate: Candidate) -> Candidate:
        """Return the candidate with no more trust than its events: text of a repository's file is the repository's."""
        behind = [self.source.events[e.event] for e in candidate.evidence if e.event in self.source.events]
        if not any(event.trust == "repository" for event in behind or self.source.events.values()):
            return candidate
        return replace(candidate, trust="repository", scope_level="project", explicit=False, structured=False)

    def _is_told(self, candidate: Candidate) -> bool:
        """Return whether a surer candidate of another detector rests on the same words and is of the same family.

        A sentence of a person states one lesson, whatever its family.
        """
        family, name = family_of(candidate.kind), candidate.detector
        first = candidate.evidence[0] if candidate.evidence else None
        is_told = first is not None and any(
            event == first.event
            and (of == family or candidate.trust == "person")
            and by != name
            and max(start, first.start) < min(end, first.end)
            for event, start, end, of, by in self._told
        )
        if not is_told:
            self._told += [(span.event, span.start, span.end, family, name) for span in candidate.evidence]
        return is_told

    def write(self) -> None:
        """Write all changes and their record in one transaction; nothing if there are none."""
        if self.changed:
            write_change(self.services, self.location, "learn", list(self.changed.values()), self._expected)
            keep_moments(self.services, self.changed.values(), list(self.source.events.values()))
        for lesson in self._requested:
            settle_saved(self.services, self.location, lesson, author="")

    # The draft

    def _draft(self, candidate: Candidate) -> Lesson | None:
        """Return the candidate as a new lesson; None if redaction leaves nothing to say."""
        insight = clean(candidate.insight)
        if not duplicate_key(insight) or insight == "[private]" or _is_cut(candidate, insight):
            return None
        at = self.services.clock.now()
        instants = [self.source.events[e.event].at for e in candidate.evidence if e.event in self.source.events]
        level = candidate.scope_level
        draft = Lesson(
            id=LessonId(self.services.clock.new_id()),
            kind=candidate.kind,
            title=kept_title(clean(candidate.title), insight, _quote(candidate)),
            insight=insight,
            why=clean(candidate.why),
            how=clean(candidate.how),
            snippets=tuple(filter(None, map(clean, candidate.snippets))),
            scope=Scope(level=level, project=ProjectId("") if level == "user" else self.location.project.id),
            validity=Validity(valid_from=min([*instants, at])),
            recorded_at=at,
            anchors=() if level == "user" else self._anchors(candidate),
            tags=candidate.tags,
            topic_key=candidate.topic_key,
            provenance=self._provenance(candidate),
            trust=candidate.trust,
            confidence=candidate.confidence,
            salience=candidate.salience,
            state=self._first_state(candidate),
            error_signature=clean(candidate.error_signature),
            command=clean(candidate.command),
            when=united(
                candidate.when,
                derive_triggers(
                    candidate.kind, candidate.trust, insight, clean(candidate.how), standing=candidate.when.standing
                ),
            ),
            links=candidate.links,
            sessions_seen=(self.source.session,),
        )
        return self._staged(draft, candidate)

    @cached_property
    def _branches(self) -> Branches:
        return self.services.workspace.branches(self.location)

    def _staged(self, draft: Lesson, candidate: Candidate) -> Lesson:
        """Return the draft, staged on its session's branch if it applies to that branch only."""
        return stage(self.services, self.location, draft, self._branch(candidate), self._branches)

    def _branch(self, candidate: Candidate) -> str:
        """Return the branch on which the events behind the candidate happened; empty where it is not known."""
        behind = (self.source.events[e.event].branch for e in candidate.evidence if e.event in self.source.events)
        return next(filter(None, behind), "")

    def _anchors(self, candidate: Candidate) -> tuple[Anchor, ...]:
        """Return anchors of the subject, by the detector's finds and the edits and failures behind the candidate."""
        paths = [path for path in dict.fromkeys(candidate.files) if _is_inside(path)][:FILES_KEPT]
        behind = [self.source.events[e.event] for e in candidate.evidence if e.event in self.source.events]
        words = "\n".join((candidate.insight, candidate.why, *candidate.symbols))
        return self._code.anchors(subject_of(behind, paths, words), behind, self.source.events.values())

    def _provenance(self, candidate: Candidate) -> Provenance:
        spans = tuple(replace(span, quote=clean(span.quote)) for span in candidate.evidence[:EVIDENCE_KEPT])
        person = self._speaker(candidate)
        return Provenance(
            host=self.source.host, session=self.source.session, detector=candidate.detector, evidence=spans,
            origin=clean(candidate.origin), branch=self._branch(candidate),
            person=person.id, person_name=clean(person.name), quotes_person=candidate.quotes_person,
        )  # fmt: skip

    def _speaker(self, candidate: Candidate) -> Person:
        """Return who said what the candidate quotes: the person who works here, if a person said it."""
        if candidate.trust != "person" and not candidate.quotes_person:
            return Person()
        return self._person

    @cached_property
    def _person(self) -> Person:
        return self.services.workspace.person(self.location)

    # Known lessons

    def _known(self, draft: Lesson) -> Lesson | None:
        """Return the lesson that says the same, with this session's changes; None if there is none."""
        if draft.topic_key:
            where = LessonFilter(project=draft.scope.project, states=STATES, topic_key=draft.topic_key)
            same_topic = [self._now(lesson) for lesson in self.services.store.find(where)]
            same_topic += [lesson for lesson in self.changed.values() if lesson.topic_key == draft.topic_key]
            if known := next((lesson for lesson in same_topic if _same_readers(lesson, draft)), None):
                return known
        key = duplicate_key(draft.insight)
        where = LessonFilter(project=draft.scope.project, states=STATES, duplicate_key=key)
        equal = [self._now(lesson) for lesson in self.services.store.find(where)]
        equal += [lesson for lesson in self.changed.values() if duplicate_key(lesson.insight) == key]
        for lesson in equal:
            if _same_readers(lesson, draft) and not opposed(lesson.insight, draft.insight):
                return lesson
        near = self._neighbours(draft, by_family=True)
        return next((lesson for lesson in near if _repeats(lesson, draft)), None)

    def _neighbours(self, draft: Lesson, *, by_family: bool = False) -> list[Lesson]:
        """Return lessons of the same readers that share a file or the kind, and enough words for a close comparison.

        `by_family`: kinds of one family count as the same.
        """
        words = set(duplicate_key(draft.insight).split())
        lessons = [self._now(lesson) for lesson in self._near]
        lessons += [new for id, new in self.changed.items() if self._expected[id] is None]
        return [lesson for lesson in lessons if _is_near(lesson, draft, words, by_family=by_family)]

    @cached_property
    def _near(self) -> list[Lesson]:
        return self.services.store.find(LessonFilter(project=self.location.project.id, limit=NEIGHBOURS))

    def _now(self, lesson: Lesson) -> Lesson:
        return self.changed.get(lesson.id, lesson)

    @cached_property
    def _forgotten(self) -> frozenset[str]:
        """The keys of forgotten lessons, read from the versions before their tombstones."""
        store = self.services.store
        tombs = store.find(LessonFilter(project=self.location.project.id, states=("forgotten",)))
        versions = (store.get([tomb.id], tomb.recorded_at - timedelta(microseconds=1)) for tomb in tombs)
        return frozenset(duplicate_key(before.insight) for version in versions for before in version)

    # Decisions

    def _add(self, draft: Lesson, candidate: Candidate) -> None:
        links: tuple[Link, ...] = draft.links + tuple(
            Link(kind="contradicts", target=lesson.id)
            for lesson in self._neighbours(draft)
            if lesson.state == "active" and _contradicts(lesson, draft, of_a_model=candidate.is_worded)
        )
        # A person's request is active at once; `settle_saved` closes what it contradicts after it is written.
        by_request = candidate.explicit and draft.trust == "person"
        links = (*draft.links, *self._overruled(draft)) if by_request and draft.state == "active" else links
        if candidate.is_worded:
            by_person = candidate.quotes_person or self._is_assented(candidate)
            links = tuple(self._settled(draft, link, by_person=by_person) for link in links)
        disputed = any(link.kind == "contradicts" for link in links)
        state: State = "candidate" if disputed and draft.state == "active" else draft.state
        self._keep(replace(draft, links=links, state=state), None)
        self._requested += [draft] if by_request and state == "active" else []
        self.added += 1

    def _is_assented(self, candidate: Candidate) -> bool:
        """Return whether the person's next words after the quoted ones agree to them: "exactly", "yes, do that"."""
        events = list(self.source.events.values())
        ids = [event.id for event in events]
        quoted = next((span.event for span in candidate.evidence if span.event in self.source.events), None)
        after = events[ids.index(quoted) + 1 :] if quoted is not None else []
        answer = next(filter(None, map(spoken, after)), "")
        return bool(ASSENT.match(answer))

    def _settled(self, draft: Lesson, link: Link, *, by_person: bool) -> Link:
        """Close the earlier lesson that a model's lesson makes more complete or refutes; return the link to it.

        Nothing is lost: what a person stated is closed only by a person's words, what a model made of a person's words
        only if the person spoke of it again, and a lesson that names more than the draft does stays beside it.
        """
        earlier = next(iter(self.services.store.get([link.target])), None)
        if earlier is None or link.kind not in ("refines", "contradicts") or draft.state != "active":
            return link
        earlier = self._now(earlier)
        may_close = by_person or earlier.trust != "person"
        if may_close and not by_person and earlier.provenance.quotes_person:
            may_close = is_about(filter(None, map(typed, self.source.events.values())), draft.insight)
        if earlier.state not in LIVING:
            return (
                Link(kind="supersedes", target=earlier.id)
                if earlier.id in self.changed
                else replace(link, kind="relates_to")
            )
        if earlier.pinned or not may_close or not _same_readers(earlier, draft):
            return link
        if link.kind == "refines" and not _holds_all(draft, earlier):
            return link
        at = next_instant(earlier.recorded_at, self.services.clock.now())
        closed = in_state(earlier, "superseded", at=at)
        self._keep(closed, earlier if earlier.id not in self.changed else None)
        return Link(kind="supersedes", target=earlier.id)

    def _overruled(self, draft: Lesson) -> list[Link]:
        """Close the earlier explicit rules of the same person that the draft replaces; return the links to them."""
        links: list[Link] = []
        for lesson in self._persons_rules():
            is_same_person = lesson.provenance.person == draft.provenance.person
            is_earlier = lesson.validity.valid_from < draft.validity.valid_from
            is_free = is_same_person and is_earlier and not lesson.pinned and not draft.scope.branch
            if is_free and _same_readers(lesson, draft) and overrules(draft.insight, lesson.insight):
                at = next_instant(lesson.recorded_at, self.services.clock.now())
                self._keep(in_state(lesson, "superseded", at=at), lesson if lesson.id not in self.changed else None)
                links.append(Link(kind="supersedes", target=lesson.id))
        return links

    @cached_property
    def _rules(self) -> list[Lesson]:
        return persons_rules(self.services, self.location)

    def _persons_rules(self) -> list[Lesson]:
        """Return the active lessons that persons stated, as they are now."""
        lessons = [self._now(lesson) for lesson in self._rules]
        lessons += [new for id, new in self.changed.items() if self._expected[id] is None and is_persons_rule(new)]
        return [lesson for lesson in lessons if lesson.state == "active"]

    def _join(self, known: Lesson, draft: Lesson, *, explicit: bool) -> None:
        """Merge a sighting into a known lesson.

        A rejected lesson changes only if a person now asks for it in a new session.
        """
        seen_here = self.source.session in known.sessions_seen
        if not seen_here and not explicit and draft.validity.valid_from == known.validity.valid_from:
            return  # the same instant in another session: a resumed or forked session repeats its history
        if known.state in ("forgotten", "superseded") or (known.state == "retired" and (seen_here or not explicit)):
            return
        seen = known.sessions_seen if seen_here else (*known.sessions_seen, self.source.session)[-SESSIONS_KEPT:]
        state = self._next_state(known, draft, seen, again=seen_here and _says_again(known, draft))
        persons = known.trust == "person" and draft.trust != "person" and known.state == "active"
        failure = {} if persons else _failure_told(known, draft)
        if seen_here and state == known.state and not failure:
            return
        changes = {} if persons else merged(known, draft) | failure
        changes.pop("topic_key", None)
        source = known.provenance
        added = () if persons else draft.provenance.evidence
        evidence = tuple(dict.fromkeys((*source.evidence, *added)))[:EVIDENCE_KEPT]
        after = replace(
            known, **{**changes, "state": state, "sessions_seen": seen, "recorded_at": self.services.clock.now(),
                      "trust": _merged_trust(known.trust, draft.trust), "scope": restated(known, draft),
                      "provenance": replace(source, evidence=evidence, **_persons(source, draft.provenance))}
        )  # fmt: skip
        if state == "active" and known.validity.valid_to is not None:
            after = replace(after, validity=Validity(valid_from=known.validity.valid_from))
        self._keep(after, known)
        self.merged += not seen_here

    def _first_state(self, candidate: Candidate) -> State:
        """Return the state of a new lesson: quarantined, active if a trusted source is sure, otherwise waiting."""
        words = (candidate.title, candidate.insight, candidate.why, candidate.how, *candidate.snippets)
        names = (*candidate.files, *candidate.symbols)
        if suspicion("\n".join(words)) or doubtful_name(names) or any(suspicion(e.quote) for e in candidate.evidence):
            return "quarantined"
        if candidate.explicit:
            return "active" if candidate.trust == "person" else "candidate"
        if candidate.is_worded or candidate.quotes_person:
            is_free = not (self._rests_on_reading(candidate) or self._material.untried("\n".join(words)))
            return "active" if is_free and not reservation("\n".join(words)) else "candidate"
        if candidate.confidence < SURE or candidate.trust in UNTRUSTED:
            return "candidate"
        if candidate.written:
            written_in = candidate.evidence[0].event if candidate.evidence else None
            is_free = not self._material.holds(candidate.insight, written_in)  # it repeats nothing the session read
            return "active" if is_free and not reservation("\n".join(words)) else "candidate"
        if not candidate.structured or candidate.trust not in TRUSTED:
            return "candidate"
        return "active" if candidate.trust == "person" or self._is_proved(candidate) else "candidate"

    def _rests_on_reading(self, candidate: Candidate) -> bool:
        """Return whether it comes from what the session has read: then a person must decide."""
        if candidate.trust in UNTRUSTED:
            return True
        if candidate.quotes_person:
            quotes = [span.quote for span in candidate.evidence]
            return not is_about(quotes, candidate.insight) and bool(self._material.holds(candidate.insight))
        return any(self._is_others(candidate.insight, span) for span in candidate.evidence)

    def _is_others(self, insight: str, span: Evidence) -> bool:
        """Return whether the quoted words, or what a lesson makes of them, are what somebody else wrote.

        A command of the session that failed is no reading: it is what happened here, unless the lesson says more of
        the message than of the work. Of what was read, only what came before the quoted words counts, because the
        agent's own words come back in plans, commits and logs.
        """
        read, event = self._material, self.source.events.get(span.event)
        if event is not None and span.quote in event.text and event.kind != "reply":
            is_failure = bool(event.command) and failed(event)
            return bool(read.tells(insight, event.id)) if is_failure else event.kind in _READ
        if any(read.holds(words, span.event) for words in (insight, span.quote)):
            return True
        return bool(read.tells(insight)) or read.is_translated(span.event)

    def _is_proved(self, candidate: Candidate) -> bool:
        """Return whether a verified candidate holds nothing that a person must decide, and no sentence it has read."""
        if reservation("\n".join((candidate.title, candidate.insight, candidate.why, *candidate.snippets))):
            return False
        if any(is_order(path.rpartition("/")[2]) for path in candidate.files):
            return False
        events = self.source.events
        quotes = [span.quote for span in candidate.evidence if span.event in events]
        replies = [q for q, span in zip(quotes, candidate.evidence, strict=False) if events[span.event].kind == "reply"]
        return not any(self._material.holds(quote) for quote in replies)

    def _next_state(self, known: Lesson, draft: Lesson, seen: Sequence[SessionId], *, again: bool) -> State:
        """Return the state after a further sighting; `again`: a person said it a second time in one session."""
        if "quarantined" in (known.state, draft.state) or known.state == "active":
            return known.state
        linked = any(link.kind in ("contradicts", "refines") for link in known.links)
        believed = draft.trust == "person" or known.trust not in UNTRUSTED
        if draft.state == "active" and believed and not linked:
            return "active"
        recurs = known.state == "candidate" and (again or len(set(seen)) >= RECURRENCE) and not linked
        if not recurs or draft.trust in UNTRUSTED or known.trust in UNTRUSTED:
            return known.state
        if draft.trust != "person" and reservation("\n".join((known.insight, known.why, known.how))):
            return known.state
        if known.trust == draft.trust == "person":
            return "active"  # what a person says twice is behaviour
        return "active" if _is_distinctive(known) and not self._is_read(known, draft, seen) else known.state

    def _is_read(self, known: Lesson, draft: Lesson, seen: Sequence[SessionId]) -> bool:
        """Return whether the words occur in what one of the sessions has read; always false for verified lessons."""
        if known.trust == draft.trust == "verified":
            return False
        others = [session for session in seen if session != self.source.session][-SESSIONS_ASKED:]
        events = [e for session in others for e in session_events(self.services, self.location.project.id, session)]
        earlier = Material(self.services, self.location, events)
        return any(m.holds(words) for m in (self._material, earlier) for words in (known.insight, draft.insight))

    @cached_property
    def _material(self) -> Material:
        return Material(self.services, self.location, self.source.events.values())

    def _keep(self, lesson: Lesson, before: Lesson | None) -> None:
        self._expected.setdefault(lesson.id, before.recorded_at if before else None)
        self.changed[lesson.id] = lesson


def _merged_trust(known: Trust, draft: Trust) -> Trust:
    """Return the trust after a further sighting: only a person's word raises what a tool or a file says."""
    if known in UNTRUSTED or draft in UNTRUSTED:
        return "person" if "person" in (known, draft) else max(known, draft, key=TRUSTS.index)
    return min(known, draft, key=TRUSTS.index)


def _persons(known: Provenance, draft: Provenance) -> dict[str, Any]:
    """Return the fields to clear if a second person states the rule: then it belongs to neither of them."""
    another = bool(known.person and draft.person and known.person != draft.person)
    return {"person": "", "person_name": ""} if another else {}


def _contradicts(lesson: Lesson, draft: Lesson, *, of_a_model: bool) -> bool:
    """Return whether the draft says the opposite of the lesson.

    A model names what its lesson refutes. Of what it did not name, only a person's lesson counts, and what is sure.
    """
    related = relation(lesson.insight, draft.insight)
    if related.kind != "contradicts" or differ_in_taste(lesson, draft):
        return False
    return not of_a_model or lesson.trust == "person" or related.is_sure


def _is_cut(candidate: Candidate, insight: str) -> bool:
    """Return whether the rule was cut for length: half a sentence may say the opposite of the whole."""
    whole = insight.rstrip()
    return len(whole) > INSIGHT_LIMIT or whole.endswith(("…", "...")) or "[... cut ...]" in candidate.insight


def _quote(candidate: Candidate) -> str:
    return clean(candidate.evidence[0].quote) if candidate.evidence else ""


def _says_again(known: Lesson, draft: Lesson) -> bool:
    """Return whether a person says in another event of the session what a person said before."""
    events = {span.event for span in known.provenance.evidence}
    others = {span.event for span in draft.provenance.evidence} - events
    return known.trust == draft.trust == "person" and bool(events) and bool(others)


def _is_distinctive(lesson: Lesson) -> bool:
    """Return whether agents do not say this in every session: it has enough significant words, or names code."""
    names = bool(lesson.symbols or lesson.paths or lesson.command) or "`" in lesson.insight
    return len(duplicate_key(lesson.insight).split()) >= (LEAST_NAMED if names else DISTINCTIVE)


def _repeats(lesson: Lesson, draft: Lesson) -> bool:
    """Return whether the draft repeats the lesson: in other words, or about the same failure of the same command."""
    if same_choice(lesson.insight, draft.insight):
        return True
    if lesson.kind != draft.kind and not set(lesson.paths) & set(draft.paths):
        return False
    return same(lesson.insight, draft.insight) or _quotes_the_same(lesson, draft) or _same_failure(lesson, draft)


def _quotes_the_same(lesson: Lesson, draft: Lesson) -> bool:
    """Return whether another detector found the lesson in the words that the draft rests on.

    `Admission` sees this by itself if one call learns both. A session that is learnt from while it grows yields its
    finds in several calls.
    """
    known, other = lesson.provenance, draft.provenance
    if not other.evidence or known.detector.partition("/")[0] == other.detector.partition("/")[0]:
        return False
    if family_of(lesson.kind) != family_of(draft.kind):
        return False
    first = other.evidence[0]
    spans = [span for span in known.evidence if span.event == first.event]
    return any(max(span.start, first.start) < min(span.end, first.end) for span in spans)


def _failure_told(lesson: Lesson, draft: Lesson) -> dict[str, str]:
    """Return the draft's failure fields for a lesson with the same words that names no failure."""
    if lesson.error_signature or not draft.error_signature or not _quotes_the_same(lesson, draft):
        return {}
    return {"error_signature": draft.error_signature, "command": lesson.command or draft.command}


def _same_failure(lesson: Lesson, draft: Lesson) -> bool:
    """Return whether both describe one failure of one command; for a repair the cure must be the same too."""
    if (lesson.kind, lesson.command) != (draft.kind, draft.command):
        return False
    if profile_of(draft.kind).tells_command:
        return bool(draft.command) and lesson.title == draft.title
    signed = bool(draft.error_signature) and lesson.error_signature == draft.error_signature
    return signed and lesson.how == draft.how and set(lesson.paths) == set(draft.paths)


def _same_readers(lesson: Lesson, draft: Lesson) -> bool:
    return (lesson.scope.level, lesson.scope.project) == (draft.scope.level, draft.scope.project)


def _holds_all(draft: Lesson, earlier: Lesson) -> bool:
    """Return whether the draft has every number and every name that the earlier lesson states."""
    text = "\n".join((draft.title, draft.insight, draft.why, draft.command))
    whole, old = read(text), read(earlier.insight)
    return {*old.numbers, *old.names} <= {*whole.numbers, *whole.names}


def _is_near(lesson: Lesson, draft: Lesson, words: set[str], *, by_family: bool) -> bool:
    if not _same_readers(lesson, draft):
        return False
    alike = family_of(lesson.kind) == family_of(draft.kind) if by_family else lesson.kind == draft.kind
    if not alike and not set(lesson.paths) & set(draft.paths):
        return False
    others = set(duplicate_key(lesson.insight).split())
    return len(words & others) >= SHARED_WORDS * min(len(words), len(others))


def _is_inside(path: str) -> bool:
    return bool(path) and not path.startswith(("/", "\\", "..")) and path[1:2] != ":"
