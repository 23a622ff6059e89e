"""Finds earlier sessions that no model has read yet, and estimates the cost of distilling them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from holdfast.backfill.distilling import Work
from holdfast.backfill.distilrecord import is_settled, spent, usual
from holdfast.bootstrap import Memory
from holdfast.domain.vocabulary import SessionId
from holdfast.ports.store import EventFilter

DIGEST_TOKENS, FRAME_TOKENS, ANSWER_TOKENS = 6_000, 2_500, 1_500
"""At most: a digest; the task and the known lessons beside it; an answer. Used until calls tell their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """The likely cost of distilling some sessions."""

    sessions: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    """None if the model has not reported a cost yet."""
    measured: bool
    """Whether the estimate comes from earlier calls to this model; otherwise it is an upper limit."""
    calls_left: int
    """Calls that today's limit still allows."""
    dollars_left: float


def sessions_to_distil(memory: Memory, since: datetime | None = None) -> list[SessionId]:
    """Return the project's sessions with real work that no model has read, the most recent first."""
    last: dict[SessionId, int] = {}
    works: dict[SessionId, Work] = {}
    where = EventFilter(project=memory.location.project.id)
    while page := memory.services.store.find_events(where):
        for position, event in page:
            works[event.session] = works.get(event.session, Work()).after(event)
            if event.kind == "reply" and (since is None or event.at >= since):
                last[event.session] = position
        where = EventFilter(project=where.project, after=page[-1][0])
    settled = is_settled(memory.settings)
    newest_first = sorted(last, key=lambda session: -last[session])
    return [session for session in newest_first if works[session].is_real and not settled(session)]


def estimate_cost(memory: Memory, model: str, sessions: int) -> Estimate:
    """Estimate the cost of that many sessions from earlier calls to the model, else as an upper limit."""
    settings = memory.settings
    tokens_in, tokens_out, cost = usual(settings, model)
    today = spent(settings, memory.services.clock.now())
    return Estimate(
        sessions=sessions,
        input_tokens=sessions * (tokens_in or DIGEST_TOKENS + FRAME_TOKENS),
        output_tokens=sessions * (tokens_out or ANSWER_TOKENS),
        cost_usd=None if cost is None else round(sessions * cost, 4),
        measured=tokens_in > 0,
        calls_left=max(0, settings.distil_calls_a_day - today.calls),
        dollars_left=round(max(0.0, settings.distil_dollars_a_day - today.cost_usd), 4),
    )
