"""The line by which a session's start names what earlier sessions on its branch left failing.

The learner prepares the words (`outcomes.threads.open_failures`): a start hook reads one small state and renders it, so
this module imports nothing that reads commands or errors.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from holdfast.domain.records import OpenFailure
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import InvalidValueError
from holdfast.lean.plain import from_plain
from holdfast.lean.texts import loads
from holdfast.outcomes.tuning import OPEN_DAYS
from holdfast.recall.tuning import FAILURE_CHARACTERS, FAILURES_TOLD

NAMES_OF_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


def parse_failures(value: str) -> list[OpenFailure]:
    """Return the failures of a stored value, without those that this version cannot read."""
    try:
        entries = loads(value) if value else []
    except InvalidValueError:
        return []
    failures: list[OpenFailure] = []
    for entry in entries if isinstance(entries, list) else ():
        try:
            failures.append(from_plain(OpenFailure, entry))
        except (InvalidValueError, TypeError, AttributeError):
            continue
    return failures


def failures_line(
    failures: Sequence[OpenFailure],
    *,
    branch: str,
    now: datetime,
    leave_out: Sequence[SessionId] = (),
    days: int = OPEN_DAYS,
) -> str:
    """Return one line on the failures last seen on the branch; empty if there are none, or none that is young.

    `leave_out` names sessions whose failures the agent knows otherwise; `days` is how old a failure may be.
    """
    here = [
        failure
        for failure in failures
        if failure.branch == branch
        and failure.session not in leave_out
        and timedelta(0) <= now - failure.last_at <= timedelta(days=days)
    ]
    return "; ".join(_words(failure, now) for failure in here[:FAILURES_TOLD])


def _words(failure: OpenFailure, now: datetime) -> str:
    others = f" and {failure.more} more" if failure.more else ""
    verb = "fail" if failure.more else "fails"
    error = f" with {_cut(failure.error)}" if failure.error and not failure.more else ""
    tries = f" ({failure.runs} tries)" if failure.runs > 1 else ""
    return f"open since {day_of(failure.first_at, now)}: {_cut(failure.text)}{others} {verb}{error}{tries}"


def day_of(at: datetime, now: datetime) -> str:
    """Return the day as people say it: today, yesterday, Tuesday, 3 March."""
    days = (now.date() - at.date()).days
    if days <= 1:
        return "today" if days <= 0 else "yesterday"
    return NAMES_OF_DAYS[at.weekday()] if days < len(NAMES_OF_DAYS) else f"{at.day} {at:%B}"


def _cut(words: str) -> str:
    line = " ".join(words.split())
    return line if len(line) <= FAILURE_CHARACTERS else f"{line[: FAILURE_CHARACTERS - 1]}…"
