"""Asks a model for the lessons of one session, checks each against its quote, and admits those that pass."""

from __future__ import annotations

from collections import Counter
from math import log, sqrt

from holdfast.capture.sessionevents import session_events
from holdfast.domain.vocabulary import LessonId
from holdfast.lean.records import Frozen
from holdfast.learning.distillation.answer import read_answer, render_prompt
from holdfast.learning.distillation.digest import make_digest
from holdfast.learning.learn import admit_from
from holdfast.learning.tuning import KNOWN_LIMIT, KNOWN_POOL, LEAST_SHARED_STEMS, LEAST_TURNS, MODEL_TIMEOUT_S
from holdfast.ports.store import LessonFilter
from holdfast.text.words import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.event import Event
    from holdfast.domain.lesson import Lesson
    from holdfast.domain.project import Location
    from holdfast.domain.vocabulary import SessionId
    from holdfast.learning.distillation.digest import Digest
    from holdfast.ports.model import LanguageModel
    from holdfast.ports.services import Services


class DistilReport(Frozen):
    """Results and cost of one session's distillation."""

    proposed: int = 0
    active: tuple[LessonId, ...] = ()
    waiting: tuple[LessonId, ...] = ()
    merged: int = 0
    dropped: tuple[str, ...] = ()
    """Why proposals were dropped."""
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = None
    skipped: str = ""
    """Why the model was not called; empty if it was."""


def prepare(
    services: Services,
    location: Location,
    events: Sequence[Event],
) -> tuple[Digest, list[Lesson], str]:
    """Return the session's digest, the known lessons nearest to it, and the whole prompt; nothing is sent."""
    digest = make_digest(events)
    known = _related(services, location, digest)
    return digest, known, render_prompt(digest, known)


def distil(
    services: Services,
    location: Location,
    session: SessionId,
    model: LanguageModel,
) -> DistilReport:
    """Ask the model about the session and admit its lessons. Raises ModelError, and then changes nothing."""
    events = session_events(services, location.project.id, session)
    if sum(event.kind == "reply" for event in events) < LEAST_TURNS:
        return DistilReport(skipped="too short")
    digest, known, prompt = prepare(services, location, events)
    completion = model.complete(prompt, MODEL_TIMEOUT_S)
    answer = read_answer(completion.text, digest, events, known)
    new = [candidate for candidate in answer.candidates if not any(k.kind == "duplicates" for k in candidate.links)]
    repeated = len(answer.candidates) - len(new)
    report = admit_from(services, location, new, session, events)
    return DistilReport(
        proposed=len(answer.candidates) + len(answer.dropped),
        active=report.active,
        waiting=report.waiting,
        merged=report.merged,
        dropped=(*answer.dropped, *["the lesson is already known"] * repeated),
        model=model.id,
        input_tokens=completion.input_tokens,
        output_tokens=completion.output_tokens,
        cost_usd=completion.cost_usd,
    )


def _related(services: Services, location: Location, digest: Digest) -> list[Lesson]:
    """Return the lessons that are nearest to the digest, confirmed or not, at most KNOWN_LIMIT."""
    where = LessonFilter(project=location.project.id, states=("active", "candidate"), limit=KNOWN_POOL)
    return nearest(digest.text, services.store.find(where))


def nearest(text: str, lessons: Sequence[Lesson]) -> list[Lesson]:
    """Return the lessons that share the rarest words with the text, best first, at most KNOWN_LIMIT.

    A shared word counts by the logarithm of its rarity among the lessons (inverse document frequency), and the sum by
    the square root of the lesson's length, so that long lessons are not nearer for that alone.
    """
    words = set(terms(text))
    stems = [set(terms(f"{lesson.title} {lesson.insight}")) for lesson in lessons]
    known = Counter(word for each in stems for word in each)
    scored = [
        (sum(log(1 + len(lessons) / known[word]) for word in words & each) / sqrt(len(each) or 1), lesson)
        for each, lesson in zip(stems, lessons, strict=True)
        if len(words & each) >= LEAST_SHARED_STEMS
    ]
    scored.sort(key=lambda pair: (-pair[0], pair[1].id))
    return [lesson for _, lesson in scored[:KNOWN_LIMIT]]
