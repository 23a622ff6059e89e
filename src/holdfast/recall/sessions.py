"""Searches the recorded sessions for a question that lessons do not answer.

The store finds turns by words, `ranking.passages` ranks their passages, and an embedder on this machine compares these
with the question. Nothing is sent anywhere. A passage that looks like an attack is left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from holdfast.domain.briefing import Briefing, FoundTurn, Ranked
from holdfast.domain.project import Location
from holdfast.domain.query import Query
from holdfast.domain.vocabulary import State
from holdfast.errors import EmbedderError, PluginNotFoundError
from holdfast.lean.texts import short_id
from holdfast.lessons.crossing import name_of, siblings_of
from holdfast.lessons.statement import suspicion
from holdfast.ports.services import Services
from holdfast.ranking.fuse import is_exact
from holdfast.ranking.passages import TurnPassage, choose, passages, with_cosines
from holdfast.ranking.relevance import lesson_stems, overlap_of, weigh
from holdfast.ranking.threshold import is_sufficient_alone
from holdfast.recall.ask import ask
from holdfast.recall.tuning import (
    ASKED_CHARACTERS,
    PASSAGES_COMPARED,
    SIBLING_FACTOR,
    STRONG_COVERAGE,
    TURN_DEPTH,
    TURNS_SHOWN,
)
from holdfast.rendering.lines import count_tokens


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


# Siblings: lessons of other projects for a person who asks for them, listed below the project's own


SIBLING = ("sibling", SIBLING_FACTOR)


def ask_across(
    services: Services,
    location: Location,
    query: Query,
    *,
    limit: int,
    budget_tokens: int,
    unconfirmed: tuple[State, ...] = (),
) -> Briefing:
    """Return the project's own answer, then lessons of sibling projects in the remaining limit and budget."""
    own = ask(services, location, query, limit=limit, budget_tokens=budget_tokens, unconfirmed=unconfirmed)
    known = {item.lesson.id for item in own.items}
    sibling_items: list[Ranked] = []
    for project in siblings_of(services.store, location.project.id):
        theirs = replace(query, project=project, paths=(), symbols=(), linked=(), staged=(), prefix="")
        answer = ask(services, location, theirs, limit=limit, budget_tokens=budget_tokens)
        label = name_of(services.store, project)
        sibling_items += [
            _as_sibling(item, label)
            for item in answer.items
            if item.lesson.scope.project == project and not item.lesson.scope.branch and item.lesson.id not in known
        ]
    best, tokens = _fitting(sibling_items, limit - len(own.items), budget_tokens - own.tokens)
    items = (*own.items, *(replace(item, rank=len(own.items) + at) for at, item in enumerate(best, 1)))
    text = "\n".join(filter(None, (own.text, *map(_line, best))))
    more, near = own.more + len(sibling_items) - len(best), () if items else own.near
    return replace(own, items=items, text=text, tokens=own.tokens + tokens, more=more, near=near)


def _fitting(candidates: Sequence[Ranked], room: int, budget_tokens: int) -> tuple[list[Ranked], int]:
    """Return the best that fit the remaining lines and budget, and their tokens."""
    chosen: list[Ranked] = []
    spent = 0
    for item in sorted(candidates, key=lambda ranked: (-ranked.score, ranked.lesson.id)):
        cost = count_tokens(_line(item))
        if len(chosen) < room and spent + cost <= budget_tokens:
            chosen.append(item)
            spent += cost
    return chosen, spent


def _as_sibling(item: Ranked, label: str) -> Ranked:
    words = f"from {label}" + (f"; {item.why.words}" if item.why.words else "")
    why = replace(item.why, multipliers=(*item.why.multipliers, SIBLING), words=words)
    return replace(item, score=item.score * SIBLING[1], why=why, freshness="unverified", caveat=f"from {label}")


def _line(item: Ranked) -> str:
    return f"- {item.lesson.insight} ({item.caveat}, {short_id(item.lesson.id)})"
