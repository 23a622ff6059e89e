"""Reads the time that a question names: `last week`, `in March`, `since 2026-10-01`, `3 days ago`, `15 May 2023`.

Days are UTC days and weeks begin on Monday. A month or weekday without a year or date is the last one that has begun.
Words that name no time (`before the release`) give None. For the reason why there are no regular expressions see
`words`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from holdfast.text.words import word_set

Span = tuple[datetime | None, datetime | None]

LOOKED_AT = 2_000
"""Characters of a question that are looked at."""

MONTHS = {
    name: number
    for number, names in enumerate(
        (
            "january jan", "february feb", "march mar", "april apr", "may", "june jun", "july jul", "august aug",
            "september sep sept", "october oct", "november nov", "december dec",
        ),
        start=1,
    )
    for name in names.split()
}  # fmt: skip
WEEKDAYS = {
    name: number
    for number, names in enumerate(
        (
            "monday mon", "tuesday tue", "wednesday wed", "thursday thu", "friday fri", "saturday sat", "sunday sun",
        )
    )
    for name in names.split()
}  # fmt: skip
_UNITS = {"hour": 1 / 24, "day": 1, "week": 7, "month": 30, "year": 365}
_NUMBERS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "couple": 2, "few": 4}
_LEADS = word_set("in on during from of since after before until till by last past this around")
"""Words after which `may` or `mar` is a month, and `mon` a day."""
_OPEN = {"since": "since", "after": "since", "from": "since", "before": "until", "until": "until", "till": "until"}
_CUES = (
    word_set("today yesterday tonight ago last past this since before after until till recently")
    | frozenset(MONTHS)
    | frozenset(WEEKDAYS)
)
TIME_WORDS = _CUES | word_set("day days week weeks month months year years hour hours morning evening night")
"""Words that state a time and nothing about the subject."""


def span_in(text: str, now: datetime) -> Span | None:
    """Return the first time named in the text as [from, until), either end open; None if there is none."""
    words = [raw.strip(".,;:!?()\"'`*").lower() for raw in text[:LOOKED_AT].split()]
    for at, word in enumerate(words):
        if word in _CUES or word[:1].isdecimal():
            span = _span_at(words, at, now)
            if span is not None:
                before = [lead for lead in words[max(0, at - 2) : at] if not lead[:1].isdecimal()]
                return _opened(before[-1] if before else "", span)
    return None


def _opened(lead: str, span: Span) -> Span:
    """Return the span opened by its lead: `since March` begins with March, `before March` ends at March."""
    begun, ended = span
    if _OPEN.get(lead) == "since":
        return (ended if lead == "after" else begun), None
    if _OPEN.get(lead) == "until":
        return None, begun
    return span


def _span_at(words: Sequence[str], at: int, now: datetime) -> Span | None:
    """Return the time that the words from there on name."""
    word, rest = words[at], words[at + 1 : at + 4]
    today = datetime(now.year, now.month, now.day, tzinfo=UTC)
    if word in ("today", "tonight"):
        return today, None
    if word == "yesterday":
        return today - timedelta(days=1), today
    if word in ("last", "past", "this"):
        return _named_period(word, rest, today)
    lead = words[at - 1] if at else ""
    if word[:1].isdecimal():
        return _date(word, lead) or _ago(word, rest, now)
    if word == "ago":
        return _ago_before(words, at, now)
    if word in MONTHS:
        return _month(word, rest, lead, now)
    if word in WEEKDAYS and (len(word) > 3 or lead in _LEADS):
        return _weekday(word, today)
    return None


def _named_period(which: str, rest: Sequence[str], today: datetime) -> Span | None:
    """Return the span of `last week`, `this month`, `past 3 days`, `last Monday`."""
    unit = rest[0] if rest else ""
    if which == "this":
        begun = _begin(unit, today)
        return None if begun is None else (begun, None)
    if unit in WEEKDAYS and which == "last":
        return _weekday(unit, today)
    count = _count(unit)
    if count and len(rest) > 1 and rest[1].removesuffix("s") in _UNITS:
        return today - timedelta(days=count * _UNITS[rest[1].removesuffix("s")]), None
    if which == "past" and unit in _UNITS:
        return today - timedelta(days=_UNITS[unit]), None
    begun = _begin(unit, today)
    return None if begun is None else (_begin(unit, begun - timedelta(days=1)), begun)


def _begin(unit: str, day: datetime) -> datetime | None:
    """Return the first day of the week, month or year of that day; None for other words."""
    if unit == "week":
        return day - timedelta(days=day.weekday())
    if unit == "month":
        return day.replace(day=1)
    if unit == "year":
        return day.replace(month=1, day=1)
    return day if unit in ("morning", "evening") else None


def _weekday(name: str, today: datetime) -> Span:
    back = (today.weekday() - WEEKDAYS[name]) % 7 or 7
    begun = today - timedelta(days=back)
    return begun, begun + timedelta(days=1)


def _month(name: str, rest: Sequence[str], lead: str, now: datetime) -> Span | None:
    """Return the span of `March`, `March 2026`, `May 15 2023`, `15 May 2023`; None for another meaning of the word."""
    day = _count(rest[0].rstrip("stndrh")) if rest and rest[0][:1].isdecimal() else 0
    years = [_count(word) for word in rest[:2]]
    year = next((count for count in years if 1970 <= count < 2200), 0)
    if name in ("may", "march", "mar", "jan", "dec") and not (lead in _LEADS or lead[:1].isdecimal() or year or day):
        return None
    before = _count(lead.rstrip("stndrh")) if lead[:1].isdecimal() else 0
    number = MONTHS[name]
    year = year or (now.year if number <= now.month else now.year - 1)
    for count in (before, day):
        if 0 < count <= 31:
            return _day(year, number, count)
    begun = _first(year, number)
    return begun, _begin("month", begun + timedelta(days=32))


def _date(word: str, lead: str) -> Span | None:
    """Return the span of `2026-10-01`, `2026-10`, `2026-10-01T08:00` or `in 2026`; None for a day of the month."""
    numbers = [_count(part) for part in word.partition("t")[0].split("-")]
    if len(numbers) > 3 or not 1970 <= numbers[0] < 2200:
        return None
    if len(numbers) == 1:
        return (_first(numbers[0]), _first(numbers[0] + 1)) if lead in _LEADS else None
    if not 1 <= numbers[1] <= 12:
        return None
    if len(numbers) == 3:
        return _day(*numbers)
    begun = _first(numbers[0], numbers[1])
    return begun, _begin("month", begun + timedelta(days=32))


def _first(year: int, month: int = 1) -> datetime:
    return datetime(year, month, 1, tzinfo=UTC)


def _day(year: int, month: int, day: int) -> Span | None:
    try:
        begun = datetime(year, month, day, tzinfo=UTC)
    except ValueError:
        return None
    return begun, begun + timedelta(days=1)


def _ago(word: str, rest: Sequence[str], now: datetime) -> Span | None:
    """Return the span of `3 days ago`: that long before now, plus or minus one unit."""
    count = _count(word)
    unit = rest[0].removesuffix("s") if rest else ""
    if len(rest) < 2 or rest[1] != "ago" or unit not in _UNITS or not 0 < count < 1000:
        return None
    size = timedelta(days=_UNITS[unit])
    middle = now - count * size
    return middle - size, middle + size


def _ago_before(words: Sequence[str], at: int, now: datetime) -> Span | None:
    """Return the span of `two weeks ago`, `a month ago`, from the word `ago`."""
    if words[at] != "ago" or at < 2:
        return None
    count = _NUMBERS.get(words[at - 2], 0)
    return _ago(str(count), [words[at - 1], "ago"], now) if count else None


def _count(word: str) -> int:
    """Return the number that a word states; 0 for other words."""
    if word.isascii() and word.isdecimal() and len(word) < 6:
        return int(word)
    return _NUMBERS.get(word, 0)
