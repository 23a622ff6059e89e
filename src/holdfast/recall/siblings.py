"""Siblings: lessons of other projects for a person who asks for them, listed below the project's own.

Each names its project. Only words are compared, because the files and definitions of siblings are not ours. Lessons of
a closed project, and lessons staged on a branch, are left out.
"""

from __future__ import annotations

from holdfast.lean.records import replace
from holdfast.lean.texts import short_id
from holdfast.lessons.crossing import name_of, siblings_of
from holdfast.recall.ask import ask
from holdfast.recall.tuning import SIBLING_FACTOR
from holdfast.rendering.budget import count_tokens

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.briefing import Briefing, Ranked
    from holdfast.domain.project import Location
    from holdfast.domain.query import Query
    from holdfast.domain.vocabulary import State
    from holdfast.ports.services import Services

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
