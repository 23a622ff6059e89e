from __future__ import annotations

import threading
from contextlib import suppress

import pytest

from holdfast.domain.team import Limits
from holdfast.errors import QuotaExceededError, RateLimitedError
from holdfast.team import quotas
from holdfast.team.projects import change_organisation
from holdfast.team.quotas import RateLimiter, check_failures, note_failure, spend
from holdfast.testing.builders import FixedClock
from tests.team.office import Office


def test_lessons_are_counted_and_limited(office: Office) -> None:
    change_organisation(office.team, office.admin, limits=Limits(lessons=5))
    with office.team.stores.changing():
        spend(office.team, "lessons", 5)
    with pytest.raises(QuotaExceededError, match="5 lessons"), office.team.stores.changing():
        spend(office.team, "lessons", 1)
    with office.team.stores.changing():
        spend(office.team, "lessons", -2)
        spend(office.team, "lessons", 2)
    with suppress(ZeroDivisionError), office.team.stores.changing():
        spend(office.team, "lessons", -1)
        raise ZeroDivisionError
    with pytest.raises(QuotaExceededError), office.team.stores.changing():
        spend(office.team, "lessons", 1)


def test_events_are_counted_by_the_day(office: Office) -> None:
    change_organisation(office.team, office.admin, limits=Limits(events_a_day=10))
    with office.team.stores.changing():
        spend(office.team, "events_a_day", 10)
    with pytest.raises(QuotaExceededError, match="events a day"), office.team.stores.changing():
        spend(office.team, "events_a_day", 1)
    office.clock.advance(86_400)
    with office.team.stores.changing():
        spend(office.team, "events_a_day", 10)
    office.clock.advance(2 * 86_400)
    assert office.team.stores.records.expire(office.clock.now()) == 2


def test_without_a_limit_everything_is_allowed(office: Office) -> None:
    with office.team.stores.changing():
        spend(office.team, "lessons", 1_000_000)
        spend(office.team, "events_a_day", 1_000_000)


def test_an_address_whose_sign_ins_fail_has_to_wait(office: Office) -> None:
    for _ in range(quotas.FAILURES_MOST):
        check_failures(office.team, "203.0.113.9")
        note_failure(office.team, "203.0.113.9")
    with pytest.raises(RateLimitedError) as caught:
        check_failures(office.team, "203.0.113.9")
    assert 0 < caught.value.retry_after_s <= 15 * 60
    check_failures(office.team, "203.0.113.10")
    office.clock.advance(caught.value.retry_after_s)
    check_failures(office.team, "203.0.113.9")


def limiter(workers: int = 1) -> tuple[RateLimiter, FixedClock]:
    clock = FixedClock()
    return RateLimiter(workers, clock.elapsed_s), clock


def allowed(rates: RateLimiter, key: str, per_minute: int) -> int:
    count = 0
    with suppress(RateLimitedError):
        while count < 10_000:
            rates.check(key, per_minute)
            count += 1
    return count


def test_a_caller_may_ask_so_often_a_minute() -> None:
    rates, clock = limiter()
    assert allowed(rates, "a", 60) == 10  # ten seconds' worth at once
    with pytest.raises(RateLimitedError) as caught:
        rates.check("a", 60)
    assert caught.value.retry_after_s == 1
    clock.advance(caught.value.retry_after_s)
    assert allowed(rates, "a", 60) == 1
    clock.advance(60)
    assert allowed(rates, "a", 60) == 10
    assert allowed(rates, "b", 60) == 10
    total = 0
    for _ in range(120):
        clock.advance(0.5)
        total += allowed(rates, "a", 60)
    assert 59 <= total <= 61


def test_workers_share_a_rate() -> None:
    rates, clock = limiter(workers=4)
    assert allowed(rates, "a", 240) == 10
    clock.advance(4)
    assert allowed(rates, "a", 240) == 4
    slow, clock = limiter(workers=4)
    assert allowed(slow, "a", 4) == 1
    with pytest.raises(RateLimitedError) as caught:
        slow.check("a", 4)
    assert caught.value.retry_after_s == 60
    clock.advance(caught.value.retry_after_s)
    assert allowed(slow, "a", 4) == 1


def test_no_limit_remembers_nobody() -> None:
    rates, _ = limiter()
    assert allowed(rates, "a", 0) == 10_000
    assert rates._buckets == {}


def test_a_limiter_remembers_only_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quotas, "BUCKETS_MOST", 100)
    rates, clock = limiter()
    allowed(rates, "busy", 60)
    for number in range(150):
        clock.advance(0.001)
        rates.check(f"other {number}", 60)
        with pytest.raises(RateLimitedError):
            rates.check("busy", 60)
    assert len(rates._buckets) <= 100


def test_threads_do_not_get_more_than_the_rate() -> None:
    rates, _ = limiter()
    counts: list[int] = []
    threads = [threading.Thread(target=lambda: counts.append(allowed(rates, "a", 600))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(counts) == 100
