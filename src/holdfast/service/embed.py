"""Embed: vectors for lessons that have none of the current embedder yet, and for questions.

Resumable: each batch is kept before the next is asked for, and search works meanwhile with what there is.
"""

from __future__ import annotations

from holdfast.domain.errors import LessonNotFoundError
from holdfast.ports.store import LessonFilter
from holdfast.service.redact import redact

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.domain.lesson import Lesson
    from holdfast.service.parts import Parts

BATCH = 64
QUESTION_LIMIT = 2_000
"""Characters of a question that are embedded."""


def embedding_text(lesson: Lesson) -> str:
    """What stands for a lesson in the embedder's space: title, insight, why, how and paths, redacted."""
    title = "" if lesson.insight.startswith(lesson.title.rstrip("…")) else lesson.title
    lines = (title, lesson.insight, lesson.why, lesson.how, " ".join(lesson.paths))
    return redact("\n".join(line for line in lines if line))


def embed_pending(parts: Parts, limit: int = 1_000, kept: Callable[[int], None] | None = None) -> int:
    """Embed at most `limit` lessons, of any project, that have no vector of the current embedder; how many were kept.

    0 without an embedder. `kept` is told the number of each batch. Raises EmbedderError; what was kept stays.
    """
    embedder = parts.embedder()
    if embedder is None:
        return 0
    done = 0
    pending = parts.store.find(LessonFilter(all_projects=True, without_vector=embedder.id, limit=limit))
    for at in range(0, len(pending), BATCH):
        batch = pending[at : at + BATCH]
        vectors = embedder.embed([embedding_text(lesson) for lesson in batch])
        current = _unchanged(parts, batch)
        fresh = {lesson.id: vector for lesson, vector in zip(batch, vectors, strict=True) if lesson.id in current}
        parts.store.put_vectors(embedder.id, fresh)
        done += len(fresh)
        if kept is not None:
            kept(len(fresh))
    return done


def embed_question(parts: Parts, text: str) -> tuple[tuple[float, ...], str]:
    """(unit vector, embedder id) of a redacted question; empty ones without an embedder. Raises EmbedderError."""
    embedder = parts.embedder() if text.strip() else None
    if embedder is None:
        return (), ""
    return tuple(embedder.embed([redact(text[:QUESTION_LIMIT])])[0]), embedder.id


def count_pending(parts: Parts) -> tuple[int, int]:
    """(lessons without a vector of the current embedder, lessons) of all projects; without one, all wait."""
    everything = len(parts.store.find(LessonFilter(all_projects=True, limit=1_000_000)))
    embedder = parts.embedder()
    if embedder is None:
        return everything, everything
    waiting = LessonFilter(all_projects=True, without_vector=embedder.id, limit=1_000_000)
    return len(parts.store.find(waiting)), everything


def _unchanged(parts: Parts, batch: Sequence[Lesson]) -> set[str]:
    """Ids whose text is still what was embedded: a slow endpoint leaves time for somebody to revise a lesson."""
    current: set[str] = set()
    for lesson in batch:
        try:
            now = parts.store.get([lesson.id])[0]
        except LessonNotFoundError:
            continue
        if now.recorded_at == lesson.recorded_at:
            current.add(lesson.id)
    return current
