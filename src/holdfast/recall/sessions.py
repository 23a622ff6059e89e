"""Searches the recorded sessions for a question that lessons do not answer.

The store finds turns by words, `ranking.passages` ranks their passages, and an embedder on this machine compares these
with the question. Nothing is sent anywhere. A passage that looks like an attack is left out.
"""

from __future__ import annotations

from holdfast.domain.briefing import Briefing, FoundTurn
from holdfast.errors import EmbedderError, PluginNotFoundError
from holdfast.lean.records import replace
from holdfast.lessons.suspicion import suspicion
from holdfast.ranking.fuse import is_exact
from holdfast.ranking.passages import choose, passages, with_cosines
from holdfast.ranking.relevance import lesson_stems, overlap_of, weigh
from holdfast.ranking.threshold import is_sufficient_alone
from holdfast.recall.tuning import ASKED_CHARACTERS, PASSAGES_COMPARED, STRONG_COVERAGE, TURN_DEPTH, TURNS_SHOWN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.query import Query
    from holdfast.ports.services import Services
    from holdfast.ranking.passages import TurnPassage


def only_turns(services: Services, query: Query) -> Briefing:
    """Return a briefing without lessons."""
    return Briefing(turns=find_turns(services, query))


def with_turns(services: Services, query: Query, briefing: Briefing) -> Briefing:
    """Return the briefing with the turns that answer the question, if its best lesson is weak or there is none."""
    return replace(briefing, turns=find_turns(services, query)) if is_weak(query, briefing) else briefing


def find_turns(services: Services, query: Query, limit: int = TURNS_SHOWN) -> tuple[FoundTurn, ...]:
    """Return the turns of the project's sessions that answer the question, each with its best passage, best first.

    If the question names a time, turns of that time come first.
    """
    if not query.text.strip():
        return ()
    chosen = choose(_ranked(services, query), limit)
    if len(chosen) < limit and (query.since or query.until):
        known = {passage.match.row for passage in chosen}
        anytime = _ranked(services, replace(query, since=None, until=None))
        chosen += choose([passage for passage in anytime if passage.match.row not in known], limit - len(chosen))
    return tuple(
        FoundTurn(
            session=passage.match.turn.session, host=passage.match.turn.host, branch=passage.match.turn.branch,
            at=passage.match.turn.at, asked=" ".join(passage.match.turn.prompt.split())[:ASKED_CHARACTERS],
            passage=passage.text, score=passage.score,
        )
        for passage in chosen
    )  # fmt: skip


def _ranked(services: Services, query: Query) -> list[TurnPassage]:
    """Return the passages of the turns that match, best first, without those that look like an attack."""
    ranked = passages(services.store.search_turns(query, TURN_DEPTH), query.text)[:PASSAGES_COMPARED]
    return [passage for passage in _compared(services, query.text, ranked) if not suspicion(passage.text)]


def is_weak(query: Query, briefing: Briefing) -> bool:
    """Return whether nobody confirmed the best lesson, or it neither names what the question does nor has its words."""
    if not query.text.strip():
        return False
    best = briefing.items[0] if briefing.items else None
    if best is None or best.is_unconfirmed:
        return True
    shares = best.why.shares
    if is_exact(shares) or any(share.lane in ("path", "symbol") and is_sufficient_alone(share) for share in shares):
        return False
    return overlap_of(weigh(query.text), lesson_stems(best.lesson)).coverage < STRONG_COVERAGE


def _compared(services: Services, question: str, ranked: list[TurnPassage]) -> list[TurnPassage]:
    """Return the passages with cosines in their scores, if an embedder on this machine answers."""
    try:
        embedder = services.embedder() if ranked else None
        if embedder is None or not getattr(embedder, "is_local", False):
            return ranked
        vector_of_question = embedder.embed_query(question)
        vectors = embedder.embed_documents([passage.text for passage in ranked])
    except (EmbedderError, PluginNotFoundError):
        return ranked
    return with_cosines(ranked, [sum(map(float.__mul__, vector_of_question, vector)) for vector in vectors])
