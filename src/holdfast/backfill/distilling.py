"""Distils sessions with the model that the user chose: those that wait, or one; and estimates what that costs.

`endedsessions` queues the sessions, and `distilrecord` says what was sent, what it cost and what failed. Only a session
that did real work is sent: the agent replied at least twice, and there was an edit, a commit, a failure, or the user
said three things. Calls that read no session, such as those of `tidy`, count in the same record.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from math import inf
from typing import Any

from holdfast.backfill.distilrecord import (
    Waiting,
    begin_call,
    end_call,
    fail_call,
    failing,
    is_settled,
    last_success,
    limit_reached,
    record_call,
    skip,
    spent,
    usual,
    waiting,
)
from holdfast.bootstrap import Memory, load_model
from holdfast.capture.sessionevents import session_events
from holdfast.domain.event import Event
from holdfast.domain.statefamilies import LEARNING_TROUBLE
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import AlreadyRunningError, HoldfastError, ModelError, ModelUnavailableError, ProjectUnknownError
from holdfast.lean.plain import as_dict
from holdfast.learning.distil import DistilReport, distil
from holdfast.ports.plugins import Completion, LanguageModel
from holdfast.ports.services import Clock
from holdfast.ports.store import EventFilter
from holdfast.settings import Settings

LEAST_REPLIES, LEAST_PROMPTS = 2, 3
"""Replies that real work has; prompts that are work without an edit, a commit or a failure."""
TOLD_AFTER = 3
"""Sessions that failed in a row before the next session's start tells it."""
WORK = ("file_edit", "tool_failure", "commit")
"""Kinds of events that are work."""

DIGEST_TOKENS, FRAME_TOKENS, ANSWER_TOKENS = 6_000, 2_500, 1_500
"""At most: a digest; the task and the known lessons beside it; an answer. Used until calls tell their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DistilOutcome:
    """What became of one session that was due."""

    session: SessionId
    folder: str
    report: DistilReport | None = None
    """None if the call failed."""
    error: HoldfastError | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Trouble:
    """Why sessions are not learnt from at the moment."""

    words: str = ""
    """In one line, after the word Holdfast; empty: nothing stands in the way."""
    is_limit: bool = False
    """Only today's limit is reached, which is no fault."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a session's events show of its work."""

    replies: int = 0
    prompts: int = 0
    acts: int = 0

    def after(self, event: Event) -> Work:
        """Return the work with one more event."""
        if event.kind == "reply":
            return Work(replies=self.replies + 1, prompts=self.prompts, acts=self.acts)
        if event.kind == "prompt" and not event.agent:
            return Work(replies=self.replies, prompts=self.prompts + 1, acts=self.acts)
        is_act = event.kind in WORK or _commits(event)
        return Work(replies=self.replies, prompts=self.prompts, acts=self.acts + 1) if is_act else self

    @property
    def is_real(self) -> bool:
        """Whether the session is worth a call."""
        return self.replies >= LEAST_REPLIES and (self.acts > 0 or self.prompts >= LEAST_PROMPTS)


def work_of(events: Iterable[Event]) -> Work:
    """Return what the events show of their session's work."""
    work = Work()
    for event in events:
        work = work.after(event)
    return work


def _commits(event: Event) -> bool:
    return event.kind == "tool_result" and "git commit" in event.command


def open_model(settings: Settings) -> LanguageModel:
    """Load the chosen model. Raises ModelError if none is chosen, ModelUnavailableError if it cannot be loaded."""
    if not settings.distil_model:
        raise ModelError("no model is chosen, so nothing was sent", hint="holdfast learn --on")
    try:
        return load_model(settings.distil_model, dict(settings.distil_options))
    except HoldfastError as exc:
        raise ModelUnavailableError(str(exc), hint=exc.hint) from exc


def distil_session(
    memory: Memory, settings: Settings, session: SessionId, model: LanguageModel, *, again: bool = False
) -> DistilReport:
    """Distil one session of the memory's folder and record the call before and after it.

    `again` also sends a session that was sent before. Raises ModelError, which is recorded too; AlreadyRunningError if
    another process sends the session or has sent it, and InvalidValueError if today's limit is reached: then nothing
    is sent.
    """
    clock = memory.services.clock
    begin_call(settings, session, clock.now(), again=again)
    try:
        report = distil(memory.services, memory.location, session, model)
    except HoldfastError as exc:
        fail_call(settings, session, exc, model.id, clock.now())
        raise
    end_call(settings, session, report, clock.now())
    return report


def distil_waiting(memory: Memory, settings: Settings, *, again: bool = False) -> Iterator[DistilOutcome]:
    """Distil the sessions that wait, oldest first, within today's limits; yield what became of each.

    The run ends when the model cannot be asked at all. `again` also sends sessions that failed within the last hour.
    A session that another process queues meanwhile is sent too.
    """
    model: LanguageModel | None = None
    tried: set[SessionId] = set()
    while (entry := _next_due(memory, settings, tried, again)) is not None:
        tried.add(entry.session)
        here = memory.at(entry.folder)
        outcome = DistilOutcome(session=entry.session, folder=entry.folder)
        if why := _why_not(here, entry.session):
            skip(settings, entry.session, why, memory.services.clock.now())
            yield replace(outcome, report=DistilReport(skipped=why))
            continue
        try:
            model = model or _open_for(settings, entry.session, memory.services.clock.now())
            report = distil_session(here, settings, entry.session, model)
        except AlreadyRunningError:
            continue
        except HoldfastError as exc:
            yield replace(outcome, error=exc)
            if isinstance(exc, ModelUnavailableError):
                return
        else:
            yield replace(outcome, report=report)


def _next_due(memory: Memory, settings: Settings, tried: set[SessionId], again: bool) -> Waiting | None:
    now = memory.services.clock.now()
    if limit_reached(settings, now):
        return None
    due = (entry for entry in waiting(settings) if entry.session not in tried and entry.is_due(now, again))
    return next((entry for entry in due if os.path.isdir(entry.folder)), None)


def _why_not(here: Memory, session: SessionId) -> str:
    """Return why the session is not worth a call, or ""."""
    try:
        events = session_events(here.services, here.location.project.id, session)
    except ProjectUnknownError:
        return "its folder belongs to no project"
    return "" if work_of(events).is_real else "no real work"


def _open_for(settings: Settings, session: SessionId, now: datetime) -> LanguageModel:
    try:
        return open_model(settings)
    except HoldfastError as exc:
        fail_call(settings, session, exc, settings.distil_model, now)
        raise


# What the user is told


def learning_trouble(settings: Settings, now: datetime) -> Trouble:
    """Return why sessions cannot be learnt from with the user's model at the moment; no words if they can."""
    if not settings.learns_after_sessions:
        return Trouble()
    if failed := _failing_words(settings, 1):
        return Trouble(words=failed)
    try:
        open_model(settings)
    except HoldfastError as exc:
        return Trouble(words=f"cannot learn after sessions: {exc}")
    reached = limit_reached(settings, now)
    return Trouble(words=f"learns no more today: {reached}", is_limit=True) if reached else Trouble()


def learning_facts(settings: Settings, now: datetime) -> dict[str, Any]:
    """Return whether sessions are learnt from with a model, what waits, what it cost and why it cannot go on."""
    success = last_success(settings)
    return {
        "after_sessions": settings.learns_after_sessions,
        "model": settings.distil_model,
        "waiting": len(waiting(settings)),
        "last_24_hours": as_dict(spent(settings, now)),
        "last_success": success.isoformat() if success else None,
        "trouble": learning_trouble(settings, now).words,
    }


def keep_trouble(memory: Memory, settings: Settings) -> None:
    """Store the line that the next session's start tells, or remove it when a session was learnt from again."""
    words = _failing_words(settings, TOLD_AFTER) if settings.learns_after_sessions else ""
    line = f"For the user: Holdfast {words} (holdfast learn)" if words else ""
    store = memory.services.store
    if store.get_state(LEARNING_TROUBLE) != line:
        store.set_state(LEARNING_TROUBLE, "", line)


def _failing_words(settings: Settings, least: int) -> str:
    failed = failing(settings)
    if failed.sessions < least:
        return ""
    which = "the last session" if failed.sessions == 1 else f"the last {failed.sessions} sessions"
    return f"could not learn from {which}: {failed.reason}"


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


def open_metered(settings: Settings, clock: Clock, until_s: float = inf) -> LanguageModel | None:
    """Return the model that the user lets read sessions, with its calls counted; None if there is none.

    No call begins after the clock's elapsed seconds `until_s`. Raises ModelError.
    """
    if not settings.learns_after_sessions:
        return None
    return MeteredModel(open_model(settings), settings, clock, until_s)


class MeteredModel:
    """A model whose calls are recorded, and end where the limits of a day are reached."""

    def __init__(
        self, model: LanguageModel, settings: Settings, clock: Clock, until_s: float, what: str = "tidying"
    ) -> None:
        """`what` is what the calls are for, as the record names it."""
        self.id = model.id
        self._what = what
        self._model = model
        self._settings = settings
        self._clock = clock
        self._until_s = until_s

    def complete(self, prompt: str, timeout_s: float) -> Completion:
        """Return the model's answer and record its cost. Raises ModelError, also where nothing may be sent."""
        if reached := limit_reached(self._settings, self._clock.now()):
            raise ModelError(reached, hint=f"edit [distil] in {self._settings.config_path}, or wait")
        if self._clock.elapsed_s() >= self._until_s:
            raise ModelError("no time is left for another call")
        try:
            completion = self._model.complete(prompt, timeout_s)
        except ModelError:
            record_call(self._settings, {self._what: "failed", "model": self.id}, self._clock.now())
            raise
        cost = {
            "input_tokens": completion.input_tokens,
            "output_tokens": completion.output_tokens,
            "cost_usd": completion.cost_usd,
        }
        record_call(self._settings, {self._what: "answered", "model": self.id, **cost}, self._clock.now())
        return completion
