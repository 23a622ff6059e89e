"""Remember: stores a lesson that somebody explicitly states."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from holdfast.curation.conflicts import find_near, find_restated, proposed, settle_saved
from holdfast.curation.revise import is_persons, succeed
from holdfast.curation.tuning import CONFIDENCE, SALIENCE
from holdfast.domain.lesson import Evidence, Lesson, Provenance, Scope, Triggers, Validity
from holdfast.domain.project import Location, Person
from holdfast.domain.vocabulary import LIVING, TRUSTS, LessonId, ProjectId, State, Trust
from holdfast.errors import InvalidValueError
from holdfast.lessons.learningmoments import keep_stated_moments
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.lessons.material import Material, recent_events, repeated_in
from holdfast.lessons.staging import restated, stage
from holdfast.lessons.statement import (
    anchors_of,
    checked_title,
    clean,
    clean_all,
    doubt,
    find_quote,
    merged,
    said,
    texts,
    with_title,
)
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter
from holdfast.text.meaning import reverses
from holdfast.text.orders import reservation
from holdfast.text.triggers import derive_triggers, united
from holdfast.text.words import duplicate_key


def remember(services: Services, location: Location, *, trust: Trust, author: str, **stated: Any) -> Lesson:
    """Store a lesson and return it: a new one, the successor under its topic_key, or one that said the same already.

    A statement by a person or verified code is active at once. So is an agent's, unless a person has to decide: it
    names a host, a credential or something run from the network, its words come from a text that the agent has read,
    a person rejected it, or a person's lesson says otherwise. Repository text and tool output wait in the inbox. What
    looks like an attack is quarantined. For lessons that contradict it see `curation.conflicts`.
    Raises InvalidValueError naming the field that is impossible.
    """
    if trust not in TRUSTS:
        raise InvalidValueError(f"unknown trust {trust!r}", hint=f"one of {', '.join(TRUSTS)}")
    doubtful = doubt(trust, stated)
    quote = clean(stated.pop("quote", ""))
    draft = make_draft(services, location, stated, quote, _evidence(services, location, quote), trust, author)
    if doubtful:
        draft = replace(draft, state="quarantined")
    elif draft.state == "active" and (services.must_wait(draft) or reserve(services, location, draft)):
        draft = replace(draft, state="candidate")
    return keep(services, location, draft, author=author)


def keep(services: Services, location: Location, draft: Lesson, *, author: str) -> Lesson:
    """Store the draft, settle its conflicts and return what it became: itself, or a lesson that said the same."""
    saved = with_retries(lambda: _keep(services, location, draft, author))
    keep_stated_moments(services, location, saved)
    return settle_saved(services, location, saved, author=author)


def _with_checked_words(fields: dict[str, Any], trust: Trust, quote: str) -> dict[str, Any]:
    """Return the fields with a title that keeps their meaning; refuse an insight that reverses its own quote."""
    if quote and reverses(fields["insight"], quote):
        raise InvalidValueError(
            "the insight says the opposite of its quote", hint="keep the quote's negations, or leave the quote out"
        )
    return {**fields, "title": checked_title(fields.get("title", ""), trust, said(fields), quote)}


def reserve(services: Services, location: Location, draft: Lesson, read: Material | None = None) -> str:
    """Return why an agent's lesson has to wait for a person, in a few words; empty if it need not.

    `read` is what the session has read, by default the current sessions of the project.
    """
    if draft.trust in ("person", "verified"):
        return ""
    words = (draft.title, draft.insight, draft.why, draft.how, *draft.snippets)
    named = reservation("\n".join(words))
    if named:
        return named
    if find_same(services, draft, ("retired", "forgotten")) is not None:
        return "a person rejected it"
    read = read or Material(services, location, recent_events(services, location))
    return repeated_in(read, (draft.insight, draft.why, draft.how))


def initial_state(trust: Trust) -> State:
    """Return active for trusts that are believed at once; statements of a repository or a tool wait for a person."""
    return "active" if trust in ("person", "verified", "agent") else "candidate"


def same_rule(lesson: Lesson) -> tuple[str, ...]:
    """Return what two lessons that state one rule for the same readers have in common: scope, kind and words."""
    return (lesson.scope.level, lesson.scope.project, lesson.kind, duplicate_key(lesson.insight))


def find_same(services: Services, draft: Lesson, states: tuple[State, ...] = LIVING) -> Lesson | None:
    """Return the newest lesson in one of the states that states the draft's rule, or None."""
    rule = same_rule(draft)
    where = LessonFilter(project=draft.scope.project, states=states, duplicate_key=rule[-1])
    return next((lesson for lesson in services.store.find(where) if same_rule(lesson) == rule), None)


def _keep(services: Services, location: Location, draft: Lesson, author: str) -> Lesson:
    topic = _find_topic(services, draft) if draft.state != "quarantined" else None
    if topic is not None and same_rule(topic) != same_rule(draft):
        if draft.state == "active" or is_persons(topic):
            return succeed(services, location, topic, _under_topic(topic, draft), author=author)
        draft = replace(draft, topic_key="")  # the draft waits, and the present lesson keeps the key
    same = topic if topic is not None and same_rule(topic) == same_rule(draft) else find_same(services, draft)
    near = find_near(services, draft) if same is None and draft.state == "active" else []
    same = same or find_restated(draft, near)
    if same is not None:
        return _refresh(services, location, same, draft, author)
    draft = proposed(services, location, draft, near)
    at = services.clock.now()
    fresh = replace(draft, id=LessonId(services.clock.new_id()), recorded_at=at, validity=Validity(valid_from=at))
    return write_change(services, location, "remember", [fresh], {fresh.id: None}, actor=author).lessons[0]


def _find_topic(services: Services, draft: Lesson) -> Lesson | None:
    if not draft.topic_key:
        return None
    where = LessonFilter(project=draft.scope.project, states=LIVING, topic_key=draft.topic_key)
    return next((lesson for lesson in services.store.find(where) if lesson.scope.level == draft.scope.level), None)


def _under_topic(old: Lesson, draft: Lesson) -> Lesson:
    """Return the draft as the successor of the lesson with its topic_key; a pin or a privacy mark stays."""
    return replace(draft, pinned=old.pinned or draft.pinned, private=old.private or draft.private)


def _refresh(services: Services, location: Location, same: Lesson, draft: Lesson, author: str) -> Lesson:
    """Add a restatement's content to the lesson. Only a person may add to a person's lesson or end another's wait."""
    believed = draft.trust in ("person", "verified") and not services.must_wait(draft)
    if is_persons(same) and draft.trust != "person":
        return same
    gains = merged(same, draft) if believed or draft.state == "active" else {}
    waits_for_person = same.state == "quarantined" or same.trust in ("repository", "tool") or bool(same.links)
    if same.state != "active" and draft.state == "active" and (draft.trust == "person" or not waits_for_person):
        gains["state"] = "active"
    if believed and TRUSTS.index(draft.trust) < TRUSTS.index(same.trust):
        gains["trust"] = draft.trust
    if gains.get("state") == "active" and draft.provenance.evidence and not same.provenance.evidence:
        source = draft.provenance
        gains["provenance"] = replace(
            same.provenance, evidence=source.evidence, session=source.session, host=source.host
        )
    if (scope := restated(same, draft)) != same.scope:
        gains["scope"] = scope
    if not gains:
        return same
    after = replace(same, **gains, recorded_at=services.clock.now())
    return write_change(services, location, "remember", [after], {same.id: same.recorded_at}, actor=author).lessons[0]


def _evidence(services: Services, location: Location, quote: str) -> tuple[Evidence, ...]:
    """Return the newest event that has the quote, as evidence; empty if none has."""
    try:
        return (find_quote(quote, reversed(recent_events(services, location)))[1],) if quote else ()
    except InvalidValueError:
        return ()


def make_draft(
    services: Services,
    location: Location,
    stated: dict[str, Any],
    quote: str,
    evidence: tuple[Evidence, ...],
    trust: Trust,
    author: str,
) -> Lesson:
    """Return what is stated as a lesson, not stored yet. Raises InvalidValueError naming the field that is impossible.

    `quote` is what the author says that the lesson rests on, `evidence` where that was found.
    """
    fields = with_title(_with_checked_words(clean_all(stated), trust, quote))
    level, files, symbols = fields.pop("scope"), texts("files", fields.pop("files")), fields.pop("symbols")
    words = "" if level == "user" else "\n".join((fields["title"], fields["insight"], fields["why"], fields["how"]))
    anchors, globs = anchors_of(services, location, files, texts("symbols", symbols), words)
    if level == "user" and any(anchor.path for anchor in anchors):
        raise InvalidValueError(
            "a lesson for every project cannot be about one project's files", hint="leave out the files or the scope"
        )
    at = services.clock.now()
    person = services.workspace.person(location) if trust == "person" else Person()
    derived = derive_triggers(fields["kind"], trust, fields["insight"], fields["how"])
    when = united(fields.pop("when", None) or Triggers(), derived)
    draft = Lesson(
        id=LessonId(services.clock.new_id()),
        scope=Scope(level=level, project=ProjectId("") if level == "user" else location.project.id),
        validity=Validity(valid_from=at),
        recorded_at=at,
        anchors=anchors,
        globs=globs,
        when=when,
        provenance=Provenance(
            author=author, evidence=evidence, person=person.id, person_name=clean(person.name), branch=location.branch
        ),
        trust=trust,
        confidence=CONFIDENCE[trust],
        salience=SALIENCE,
        state=initial_state(trust),
        **fields,
    )
    return stage(services, location, draft)
