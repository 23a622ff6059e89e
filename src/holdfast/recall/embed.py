"""Embeds lessons that have no vector of the current embedder yet, and questions.

Embedding can be resumed: each batch is stored before the next is requested. When the embedder changes, the vectors of
the former one go on answering questions until every lesson has its new vector; then they are erased.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.domain.lesson import Lesson
from holdfast.domain.statefamilies import (
    EMBEDDER_COVERING,
    EMBEDDER_FAILED,
    EMBEDDER_RESTING,
    LESSONS_CHANGED,
    StateFamily,
)
from holdfast.domain.vocabulary import LessonId
from holdfast.errors import EmbedderError, HoldfastError, InvalidValueError, StoreError
from holdfast.lean.plain import parse_instant, render_instant
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter, get_readable
from holdfast.recall.tuning import EMBEDDED_AT_ONCE, EMBEDDED_QUESTION, REST_S
from holdfast.redaction import redact
from holdfast.text.searchkeys import named_places

if TYPE_CHECKING:
    from holdfast.ports.plugins import Embedder

PROBE = "why do the login tests fail near midnight?"
"""A text to try an embedder with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedQuestion:
    """A question's vector and its embedder; empty without an embedder."""

    vector: tuple[float, ...] = ()
    embedder_id: str = ""
    missing: str = ""
    """A notice about lessons that the embedder has not embedded yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coverage:
    """Progress of embedding the lessons of all projects."""

    lessons: int = 0
    embedded: int = 0
    """Lessons with a vector of the configured embedder."""
    answering: str = ""
    """Id of the embedder whose vectors answer questions: the former one until every lesson has its new vector."""
    failed: str = ""
    """When and why embedding last failed; empty when it has succeeded since."""


def embedding_text(lesson: Lesson) -> str:
    """Return the text to embed for a lesson: title, insight, why, how and paths, redacted."""
    insight = {"", *(word.strip(",.;:…()") for word in lesson.insight.lower().split())}
    title = "" if insight.issuperset(word.strip(",.;:…()") for word in lesson.title.lower().split()) else lesson.title
    paths = lesson.paths if named_places(lesson) else ()
    lines = (title, lesson.insight, lesson.why, lesson.how, " ".join(paths))
    return redact("\n".join(line for line in lines if line))


def embed_pending(services: Services, limit: int = 1_000, on_batch: Callable[[int], None] | None = None) -> int:
    """Embed at most `limit` lessons, of any project, that have no vector of the current embedder; return their number.

    The number is 0 without an embedder. `on_batch` is called with the number of each batch. Raises EmbedderError; the
    vectors written before stay.
    """
    try:
        embedder = services.embedder()
        if embedder is None:
            return 0
        _keep(services, LESSONS_CHANGED, "", "")  # before the query: a change during it must set the flag again
        pending = services.store.find(LessonFilter(all_projects=True, without_vector=embedder.id, limit=limit))
        done = sum(_embed(services, embedder, batch, on_batch) for batch in _batches(pending))
    except EmbedderError as exc:
        _keep(services, EMBEDDER_FAILED, "", _dated(services, exc))
        _keep(services, LESSONS_CHANGED, "", "yes")
        raise
    _keep(services, EMBEDDER_FAILED, "", "")
    if len(pending) < limit:
        _settle(services, embedder)
    else:
        _keep(services, LESSONS_CHANGED, "", "yes")  # more wait
    return done


def embed_written(services: Services, ids: Sequence[LessonId]) -> int:
    """Embed these lessons now, if the embedder is on this machine; return how many.

    This is for a server, where many ask and no question should pay for what somebody else has written. Raises
    EmbedderError and StoreError.
    """
    embedder = services.embedder() if ids else None
    if embedder is None or not getattr(embedder, "is_local", False):
        return 0
    return sum(_embed(services, embedder, batch, None) for batch in _batches(get_readable(services.store, ids)))


def embed_question(services: Services, text: str) -> EmbeddedQuestion:
    """Embed a redacted question. Raises EmbedderError, also for a while after a failure without a new attempt."""
    wanted = services.embedder() if text.strip() else None
    if wanted is None:
        return EmbeddedQuestion()
    question = text[:EMBEDDED_QUESTION]
    cells = [(EMBEDDER_COVERING, ""), (LESSONS_CHANGED, ""), (EMBEDDER_RESTING, wanted.id)]
    covering, changed, rested = services.store.get_states(cells)
    former = services.former(covering) if covering and covering != wanted.id else None
    if former is not None:
        try:
            resting = services.store.get_state(EMBEDDER_RESTING, former.id)
            return EmbeddedQuestion(vector=_ask(services, former, question, resting), embedder_id=former.id)
        except EmbedderError:
            pass  # the new embedder has vectors of some lessons
    waits = (covering != wanted.id or changed) and not services.serves_team
    if waits and _catch_up(services, wanted):
        covering = services.store.get_state(EMBEDDER_COVERING)
    return EmbeddedQuestion(
        vector=_ask(services, wanted, question, rested), embedder_id=wanted.id,
        missing=_missing(services, wanted) if waits and covering != wanted.id else "",
    )  # fmt: skip


def probe(services: Services) -> Embedder | None:
    """Return the configured embedder after it embedded a text, or None without one. Raises EmbedderError."""
    embedder = services.embedder()
    if embedder is not None:
        embedder.embed_query(PROBE)
        _keep(services, EMBEDDER_RESTING, embedder.id, "")
    return embedder


def is_embedded_here(services: Services) -> bool:
    """Return whether no other machine is asked for a question's vector."""
    try:
        embedder = services.embedder()
    except HoldfastError:
        return True  # then none is asked
    return embedder is None or bool(getattr(embedder, "is_local", False))


def coverage(services: Services) -> Coverage:
    """Count the lessons that have their vector; zero when the configured embedder cannot be made."""
    try:
        embedder = services.embedder()
    except HoldfastError:
        embedder = None
    lessons = services.store.count_without_vector("")
    if embedder is None:
        return Coverage(lessons=lessons, failed=services.store.get_state(EMBEDDER_FAILED))
    return Coverage(
        lessons=lessons,
        embedded=lessons - services.store.count_without_vector(embedder.id),
        answering=(_former(services, embedder) or embedder).id,
        failed=services.store.get_state(EMBEDDER_FAILED),
    )


def _batches(pending: Sequence[Lesson]) -> list[Sequence[Lesson]]:
    return [pending[at : at + EMBEDDED_AT_ONCE] for at in range(0, len(pending), EMBEDDED_AT_ONCE)]


def _embed(
    services: Services, embedder: Embedder, batch: Sequence[Lesson], on_batch: Callable[[int], None] | None
) -> int:
    vectors = embedder.embed_documents([embedding_text(lesson) for lesson in batch])
    current = _unchanged(services, batch)
    fresh = {lesson.id: vector for lesson, vector in zip(batch, vectors, strict=True) if lesson.id in current}
    if fresh:
        services.store.put_vectors(embedder.id, fresh)
    if on_batch is not None:
        on_batch(len(fresh))
    return len(fresh)


def _unchanged(services: Services, batch: Sequence[Lesson]) -> set[str]:
    """Return the ids whose lesson is unchanged: a slow endpoint leaves time for somebody to revise one."""
    versions = services.store.current_versions([lesson.id for lesson in batch])
    return {lesson.id for lesson in batch if lesson.id in versions and versions[lesson.id][1] == lesson.recorded_at}


def _settle(services: Services, embedder: Embedder) -> None:
    """Make this embedder answer once no lesson waits, and only then erase the vectors of the others."""
    if services.store.get_state(EMBEDDER_COVERING) != embedder.id:
        if services.store.count_without_vector(embedder.id):
            return
        services.store.set_state(EMBEDDER_COVERING, "", embedder.id)
    services.store.drop_other_vectors(embedder.id)


def _former(services: Services, wanted: Embedder) -> Embedder | None:
    """Return the embedder whose vectors still answer; None if it is the wanted one or can no longer be made."""
    covering = services.store.get_state(EMBEDDER_COVERING)
    return services.former(covering) if covering and covering != wanted.id else None


def _catch_up(services: Services, wanted: Embedder) -> bool:
    """Embed one more batch if the embedder is local and no host waits; return whether it was."""
    if not getattr(wanted, "is_local", False) or services.low_latency:
        return False
    try:
        embed_pending(services, EMBEDDED_AT_ONCE)
    except StoreError:
        return False  # locked or read-only: the text retriever answers, and the next question tries again
    return True


def _missing(services: Services, wanted: Embedder) -> str:
    waiting = services.store.count_without_vector(wanted.id)
    return f"lessons without a vector of {wanted.id} yet: {waiting}" if waiting else ""


def _ask(services: Services, embedder: Embedder, text: str, resting: str) -> tuple[float, ...]:
    _require_rested(services, resting)
    try:
        return tuple(embedder.embed_query(text))
    except EmbedderError as exc:
        _keep(services, EMBEDDER_RESTING, embedder.id, _dated(services, exc))
        raise


def _require_rested(services: Services, resting: str) -> None:
    at, _, why = resting.partition(" ")
    try:
        left_s = REST_S - (services.clock.now() - parse_instant(at)).total_seconds() if at else 0.0
    except InvalidValueError:
        return
    if 0 < left_s <= REST_S:  # a larger value means that the machine's clock was set back
        raise EmbedderError(f"{why}; next attempt in {left_s:.0f} s", hint="holdfast embedder status tries it now")


def _dated(services: Services, exc: EmbedderError) -> str:
    return f"{render_instant(services.clock.now())} {redact(str(exc))}"


def _keep(services: Services, family: StateFamily, owner: str, value: str) -> None:
    with suppress(StoreError):  # the store is busy or read-only; the embedder's own error is raised in any case
        services.store.set_state(family, owner, value)
