"""Whether memory works, from facts that cost no process: the last event, the learner, the store, and stale lessons."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from holdfast.backfill.distilling import learning_trouble
from holdfast.bootstrap import Memory
from holdfast.domain.vocabulary import ProjectId
from holdfast.freshness.notice import load_states
from holdfast.home.handover import waits
from holdfast.ports.store import SessionFilter

Tone = Literal["good", "warn", "bad", ""]
QUIET = timedelta(days=14)
"""How long a project may be without an event before the page says that hooks may have stopped."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthFact:
    """One thing that was looked at."""

    name: str
    words: str
    tone: Tone
    """bad: memory does not work; warn: somebody should look; good: fine; empty: a remark."""
    at: datetime | None = None
    """The instant that the words are about."""
    command: str = ""
    """What says more, or mends it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryHealth:
    """Everything that was looked at."""

    facts: tuple[HealthFact, ...]

    @property
    def tone(self) -> Tone:
        """The worst of the facts."""
        tones = [fact.tone for fact in self.facts]
        return "bad" if "bad" in tones else "warn" if "warn" in tones else "good"

    @property
    def words(self) -> str:
        """The state in a few words."""
        return {"bad": "Memory does not work", "warn": "Memory needs a look"}.get(self.tone, "Memory works")


def look_at_health(memory: Memory, now: datetime, *, is_served: bool) -> MemoryHealth:
    """Return the facts of a project. On a server only what the stored events say: it has no hooks of its own."""
    facts = [_last_event(memory, now, is_served)]
    if not is_served:
        facts += [*_learner(memory, now), *_store(memory), *_code(memory)]
    return MemoryHealth(facts=tuple(facts))


def _last_event(memory: Memory, now: datetime, is_served: bool) -> HealthFact:
    project = ProjectId(memory.location.project.id)
    newest = memory.services.store.list_sessions(SessionFilter(project=project, limit=1))
    if not newest:
        words = "no session was sent here yet" if is_served else "no session was seen here yet"
        return HealthFact(name="hooks", words=words, tone="", command="" if is_served else "holdfast setup")
    last = newest[0]
    is_quiet = now - last.last > QUIET
    return HealthFact(
        name="hooks", words=f"last event from {last.host}", at=last.last, tone="" if is_quiet else "good",
        command="holdfast doctor" if is_quiet and not is_served else "",
    )  # fmt: skip


def _learner(memory: Memory, now: datetime) -> Iterator[HealthFact]:
    settings = memory.settings
    if not settings.capture:
        yield HealthFact(name="capture", words="capture is switched off", tone="warn", command="holdfast doctor")
    trouble = learning_trouble(settings, now)
    if trouble.words:
        tone: Tone = "" if trouble.is_limit else "warn"
        yield HealthFact(name="learner", words=trouble.words, tone=tone, command="holdfast learn")
    elif settings.learns_after_sessions:
        yield HealthFact(name="learner", words="sessions are learnt from", tone="good")
    else:
        yield HealthFact(name="learner", words="no model reads sessions", tone="", command="holdfast learn on")


def _store(memory: Memory) -> Iterator[HealthFact]:
    damaged = memory.services.store.left_out()
    if damaged:
        yield HealthFact(
            name="store", words=f"{damaged:,} damaged rows are left out", tone="bad", command="holdfast doctor"
        )
    if waits(memory.settings.run_path, "spool"):
        yield HealthFact(
            name="spool", words="events wait to be stored: the store could not be written", tone="warn",
            command="holdfast doctor",
        )  # fmt: skip
    loss = memory.find_loss()
    if loss is not None:
        yield HealthFact(name="store", words=loss.words, tone="bad", command="holdfast doctor")


def _code(memory: Memory) -> Iterator[HealthFact]:
    stale = [state for state in load_states(memory.services, memory.location).values() if state.freshness in STALE]
    if stale:
        verb = "lesson is" if len(stale) == 1 else "lessons are"
        yield HealthFact(name="code", words=f"{len(stale):,} {verb} about code that has changed", tone="")


STALE = ("drifted", "changed", "orphaned")
