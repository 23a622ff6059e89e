"""Embeds lessons that have no vector of the current embedder yet, and questions.

Embedding can be resumed: each batch is stored before the next is requested. When the embedder changes, the vectors of
the former one go on answering questions until every lesson has its new vector; then they are erased.
"""

from __future__ import annotations

from contextlib import suppress

from holdfast.domain.statefamilies import EMBEDDER_COVERING, EMBEDDER_FAILED, EMBEDDER_RESTING, LESSONS_CHANGED
from holdfast.errors import EmbedderError, HoldfastError, InvalidValueError, LessonNotFoundError, StoreError
from holdfast.lean.plain import parse_instant, render_instant
from holdfast.lean.records import Frozen
from holdfast.ports.filters import LessonFilter
from holdfast.recall.tuning import EMBEDDED_AT_ONCE, EMBEDDED_QUESTION, REST_S
from holdfast.text.redaction import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.domain.lesson import Lesson
    from holdfast.domain.statefamilies import StateFamily
    from holdfast.ports.embedder import Embedder
    from holdfast.ports.parts import Parts

PROBE = "why do the login tests fail near midnight?"
"""A text to try an embedder with."""


class Placed(Frozen):
    """A question's vector and its embedder; empty without an embedder."""

    vector: tuple[float, ...] = ()
    embedder_id: str = ""
    missing: str = ""
    """A notice about lessons that the embedder has not embedded yet."""


class Coverage(Frozen):
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
    title = "" if lesson.insight.startswith(lesson.title.rstrip("…")) else lesson.title
    lines = (title, lesson.insight, lesson.why, lesson.how, " ".join(lesson.paths))
    return redact("\n".join(line for line in lines if line))


def embed_pending(parts: Parts, limit: int = 1_000, on_batch: Callable[[int], None] | None = None) -> int:
    """Embed at most `limit` lessons, of any project, that have no vector of the current embedder; return their number.

    The number is 0 without an embedder. `on_batch` is called with the number of each batch. Raises EmbedderError; the
    vectors written before stay.
    """
    try:
        embedder = parts.embedder()
        if embedder is None:
            return 0
        _keep(parts, LESSONS_CHANGED, "", "")  # before the query: a change during it must set the flag again
        pending = parts.store.find(LessonFilter(all_projects=True, without_vector=embedder.id, limit=limit))
        done = sum(_embed(parts, embedder, batch, on_batch) for batch in _batches(pending))
    except EmbedderError as exc:
        _keep(parts, EMBEDDER_FAILED, "", _dated(parts, exc))
        _keep(parts, LESSONS_CHANGED, "", "yes")
        raise
    _keep(parts, EMBEDDER_FAILED, "", "")
    if len(pending) < limit:
        _settle(parts, embedder)
    else:
        _keep(parts, LESSONS_CHANGED, "", "yes")  # more wait
    return done


def embed_question(parts: Parts, text: str) -> Placed:
    """Embed the redacted question. Raises EmbedderError, also for a while after a failure without a new attempt."""
    wanted = parts.embedder() if text.strip() else None
    if wanted is None:
        return Placed()
    question = redact(text)[:EMBEDDED_QUESTION]
    former = _former(parts, wanted)
    if former is not None:
        try:
            return Placed(vector=_ask(parts, former, question), embedder_id=former.id)
        except EmbedderError:
            pass  # the new embedder has vectors of some lessons
    _catch_up(parts, wanted)
    return Placed(vector=_ask(parts, wanted, question), embedder_id=wanted.id, missing=_missing(parts, wanted))


def probe(parts: Parts) -> Embedder | None:
    """Return the configured embedder after it embedded a text, or None without one. Raises EmbedderError."""
    embedder = parts.embedder()
    if embedder is not None:
        embedder.embed_query(PROBE)
        _keep(parts, EMBEDDER_RESTING, embedder.id, "")
    return embedder


def coverage(parts: Parts) -> Coverage:
    """Count the lessons that have their vector; zero when the configured embedder cannot be made."""
    try:
        embedder = parts.embedder()
    except HoldfastError:
        embedder = None
    lessons = parts.store.count_without_vector("")
    if embedder is None:
        return Coverage(lessons=lessons, failed=parts.store.get_state(EMBEDDER_FAILED))
    return Coverage(
        lessons=lessons,
        embedded=lessons - parts.store.count_without_vector(embedder.id),
        answering=(_former(parts, embedder) or embedder).id,
        failed=parts.store.get_state(EMBEDDER_FAILED),
    )


def _batches(pending: Sequence[Lesson]) -> list[Sequence[Lesson]]:
    return [pending[at : at + EMBEDDED_AT_ONCE] for at in range(0, len(pending), EMBEDDED_AT_ONCE)]


def _embed(parts: Parts, embedder: Embedder, batch: Sequence[Lesson], on_batch: Callable[[int], None] | None) -> int:
    vectors = embedder.embed_documents([embedding_text(lesson) for lesson in batch])
    current = _unchanged(parts, batch)
    fresh = {lesson.id: vector for lesson, vector in zip(batch, vectors, strict=True) if lesson.id in current}
    if fresh:
        parts.store.put_vectors(embedder.id, fresh)
    if on_batch is not None:
        on_batch(len(fresh))
    return len(fresh)


def _unchanged(parts: Parts, batch: Sequence[Lesson]) -> set[str]:
    """Return the ids whose lesson is unchanged: a slow endpoint leaves time for somebody to revise one."""
    current: set[str] = set()
    for lesson in batch:
        try:
            now = parts.store.get([lesson.id])[0]
        except LessonNotFoundError:
            continue
        if now.recorded_at == lesson.recorded_at:
            current.add(lesson.id)
    return current


def _settle(parts: Parts, embedder: Embedder) -> None:
    """Make this embedder answer once no lesson waits, and only then erase the vectors of the others."""
    if parts.store.get_state(EMBEDDER_COVERING) != embedder.id:
        if parts.store.count_without_vector(embedder.id):
            return
        parts.store.set_state(EMBEDDER_COVERING, "", embedder.id)
    parts.store.drop_other_vectors(embedder.id)


def _former(parts: Parts, wanted: Embedder) -> Embedder | None:
    """Return the embedder whose vectors still answer; None if it is the wanted one or can no longer be made."""
    covering = parts.store.get_state(EMBEDDER_COVERING)
    return parts.former(covering) if covering and covering != wanted.id else None


def _catch_up(parts: Parts, wanted: Embedder) -> None:
    """Embed one more batch if the embedder is local, lessons are missing, and no host waits."""
    if not getattr(wanted, "is_local", False) or parts.hasty:
        return
    if parts.store.get_state(EMBEDDER_COVERING) == wanted.id and not parts.store.get_state(LESSONS_CHANGED):
        return
    try:
        embed_pending(parts, EMBEDDED_AT_ONCE)
    except StoreError:
        return  # locked or read-only: the text retriever answers, and the next question tries again


def _missing(parts: Parts, wanted: Embedder) -> str:
    if parts.store.get_state(EMBEDDER_COVERING) == wanted.id:
        return ""
    waiting = parts.store.count_without_vector(wanted.id)
    return f"lessons without a vector of {wanted.id} yet: {waiting}" if waiting else ""


def _ask(parts: Parts, embedder: Embedder, text: str) -> tuple[float, ...]:
    _require_rested(parts, embedder)
    try:
        return tuple(embedder.embed_query(text))
    except EmbedderError as exc:
        _keep(parts, EMBEDDER_RESTING, embedder.id, _dated(parts, exc))
        raise


def _require_rested(parts: Parts, embedder: Embedder) -> None:
    at, _, why = parts.store.get_state(EMBEDDER_RESTING, embedder.id).partition(" ")
    try:
        left_s = REST_S - (parts.clock.now() - parse_instant(at)).total_seconds() if at else 0.0
    except InvalidValueError:
        return
    if 0 < left_s <= REST_S:  # a larger value means that the machine's clock was set back
        raise EmbedderError(f"{why}; next attempt in {left_s:.0f} s", hint="holdfast embedder status tries it now")


def _dated(parts: Parts, exc: EmbedderError) -> str:
    return f"{render_instant(parts.clock.now())} {redact(str(exc))}"


def _keep(parts: Parts, family: StateFamily, owner: str, value: str) -> None:
    with suppress(StoreError):  # the store is busy or read-only; the embedder's own error is raised in any case
        parts.store.set_state(family, owner, value)
