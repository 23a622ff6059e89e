"""Limits: how many an organisation may have, and how often somebody may ask.

Quotas and failed sign-ins are counted in the store, exactly. Rates are counted by each worker process, which gets its
share of them: a store is too slow a place to count every request.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from math import ceil
from threading import Lock
from typing import Literal

from holdfast.domain.team import Member, TeamProject, TeamRecord, Token
from holdfast.errors import QuotaExceededError, RateLimitedError
from holdfast.ports.team import TeamServices
from holdfast.team.access import organisation_of
from holdfast.team.tuning import ATTEMPT_MINUTES, BUCKETS_MOST, BURST_S, COUNTER_DAYS, FAILURES_MOST

LIMITED: dict[type[TeamRecord], str] = {Member: "members", TeamProject: "projects", Token: "tokens"}
"""The kinds of records of which an organisation may have so many: the field of `Limits` for each."""


def check_count(team: TeamServices, kind: type[TeamRecord]) -> None:
    """Raise QuotaExceededError if the organisation may have no further record of that kind.

    Call it inside `changing`, before adding one.
    """
    what = LIMITED[kind]
    most: int = getattr(organisation_of(team.stores).limits, what)
    if most:
        team.stores.records.hold(what)
        if team.stores.records.count(kind, {"counts": "yes"} if kind is Token else None) >= most:
            raise _exceeded(what, most)


def spend(team: TeamServices, what: Literal["lessons", "events_a_day"], amount: int) -> None:
    """Count new lessons or events. Raises QuotaExceededError, and then nothing of the transaction is stored.

    Call it inside `changing`. A negative amount gives back what was erased.
    """
    name: str = what
    keep_until = None
    if what == "events_a_day":
        now = team.clock.now()
        name, keep_until = f"events {now:%Y-%m-%d}", now + timedelta(days=COUNTER_DAYS)
    most: int = getattr(organisation_of(team.stores).limits, what)
    used = team.stores.records.add_up(name, amount, keep_until)
    if most and amount > 0 and used > most:
        raise _exceeded(what, most)


def check_failures(team: TeamServices, address: str) -> None:
    """Raise RateLimitedError for an address from which too many sign-ins failed. Call it before each one."""
    name, ends = _window(team.clock.now(), address)
    if team.stores.records.add_up(name, 0) >= FAILURES_MOST:
        wait_s = ceil((ends - team.clock.now()).total_seconds())
        raise RateLimitedError("too many failed sign-ins", hint="try again later", retry_after_s=max(1, wait_s))


def note_failure(team: TeamServices, address: str) -> None:
    """Count a failed sign-in of an address, which is stored as a digest."""
    name, ends = _window(team.clock.now(), address)
    with team.stores.changing():
        team.stores.records.add_up(name, 1, ends)


def _window(now: datetime, address: str) -> tuple[str, datetime]:
    """Return the counter of the address at that time, and when the next one begins."""
    width = timedelta(minutes=ATTEMPT_MINUTES)
    number = int(now.timestamp() // width.total_seconds())
    ends = datetime.fromtimestamp((number + 1) * width.total_seconds(), now.tzinfo)
    return f"failed sign-ins {sha256(address.encode()).hexdigest()[:16]} {number}", ends


def _exceeded(what: str, most: int) -> QuotaExceededError:
    words = what.replace("_", " ").replace(" a day", " a day at most")
    return QuotaExceededError(
        f"your organisation may have {most:,} {words}", hint="an admin can raise it: PATCH /v1/organisation"
    )


@dataclass(slots=True)
class _Bucket:
    """What a caller may still ask for, at some time."""

    level: float
    at_s: float


class RateLimiter:
    """The rates of all callers in one worker: a token bucket each. Safe to share between threads."""

    def __init__(self, workers: int, elapsed_s: Callable[[], float]) -> None:
        """`elapsed_s` is a monotonic clock, in seconds."""
        self._workers = max(1, workers)
        self._elapsed_s = elapsed_s
        self._buckets: dict[str, _Bucket] = {}
        self._lock = Lock()

    def check(self, key: str, per_minute: int) -> None:
        """Count a request of the caller with that key. Raises RateLimitedError if it is one too many.

        0 a minute is no limit. At once a caller may ask for what it may in BURST_S, and at least for one.
        """
        if per_minute <= 0:
            return
        rate = per_minute / 60 / self._workers
        most = max(1.0, rate * BURST_S)
        with self._lock:
            now_s = self._elapsed_s()
            bucket = self._buckets.get(key) or _Bucket(level=most, at_s=now_s)
            level = min(most, bucket.level + (now_s - bucket.at_s) * rate)
            self._buckets[key] = _Bucket(level=level, at_s=now_s)
            if level < 1:
                wait_s = ceil((1 - level) / rate)
                raise RateLimitedError(
                    f"more than {per_minute} requests a minute", hint="wait, or ask for less", retry_after_s=wait_s
                )
            self._buckets[key] = _Bucket(level=level - 1, at_s=now_s)
            if len(self._buckets) > BUCKETS_MOST:
                self._forget_oldest()

    def _forget_oldest(self) -> None:
        """Forget the half of the callers who asked last longest ago: their buckets are the fullest."""
        newest_first = sorted(self._buckets.items(), key=lambda item: item[1].at_s, reverse=True)
        self._buckets = dict(newest_first[: BUCKETS_MOST // 2])
