"""The pages of what memory learnt in a period: the digest, and the same as an Atom feed."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal

from holdfast.errors import InvalidValueError
from holdfast.pages.page import Page, PageRow
from holdfast.pages.reading import WrongQueryError
from holdfast.pages.view import View
from holdfast.reports.digest import MemoryDigest
from holdfast.reports.digesttext import counts_line, period_words, render_atom
from holdfast.reports.keptcounts import kept_answer, newest_judgement
from holdfast.reports.tuning import DIGEST_MOST, FEED_ITEMS

PERIODS = {"24h": "a day", "7d": "a week", "30d": "a month", "1y": "a year"}
FEED_TYPE = "application/atom+xml"
FEED_PERIOD = timedelta(days=30)
"""A feed reader asks more often than that."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestPageQuery:
    """Which period, for whom, and whether in full."""

    since: str = "7d"
    audience: Literal["me", "team"] = "me"
    all: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestFeedQuery:
    """For whom the feed is."""

    audience: Literal["me", "team"] = "me"


@dataclass(frozen=True, slots=True, kw_only=True)
class DigestData:
    """What the digest page says."""

    digest: MemoryDigest
    period: str
    counts: str
    query: DigestPageQuery
    periods: dict[str, str]
    """Usual periods, with the words for each."""
    feed: str
    """The address of the feed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedData:
    """A digest, and what a feed reader gets of it."""

    digest: MemoryDigest
    feed: str


def make_digest_page(view: View, query: DigestPageQuery) -> Page:
    """Return what happened in a period."""
    made = _digest(view, _begin(view, query.since), query.audience, DIGEST_MOST if query.all else 0, query.since)
    data = DigestData(
        digest=made,
        period=period_words(made.since, made.until),
        counts=counts_line(made),
        query=query,
        periods=PERIODS,
        feed=view.link("digest-feed", audience=query.audience if query.audience != "me" else ""),
    )
    return Page(template="digest", data=data)


def make_feed(view: View, query: DigestFeedQuery) -> Page:
    """Return the last weeks as an Atom feed."""
    made = _digest(view, view.now - FEED_PERIOD, query.audience, FEED_ITEMS, "feed")
    address = view.link("digest-feed", audience=query.audience if query.audience != "me" else "")
    feed = render_atom(made, view.url + address, view.url + view.link("digest"))
    return Page(template="digest.atom", data=FeedData(digest=made, feed=feed), media_type=FEED_TYPE)


def _digest(view: View, since: datetime, audience: Literal["me", "team"], limit: int, what: str) -> MemoryDigest:
    """Return the digest, or the one that a reader of the same lessons got a moment ago, if nothing changed since."""

    def make() -> MemoryDigest:
        return memory.digest(since=since, audience=audience, sees=view.sees, limit=limit, quick=True)

    memory = view.memory
    if view.is_static:
        return make()  # for readers who may be anybody
    services, location = memory.services, memory.location
    key = "digest", what, audience, limit, view.sight(), location.root, location.branch, location.commit
    return kept_answer(services, location, key, newest_judgement(services, location), make)


def _begin(view: View, since: str) -> datetime:
    """Return the beginning of the period. Raises WrongQueryError."""
    try:
        begun = view.memory.instant(since)
    except InvalidValueError as exc:
        raise WrongQueryError(str(exc), hint="such as 7d, 36h, 2w, 1y, 2026-11-21, yesterday") from exc
    if begun >= view.now:
        raise WrongQueryError("the period would begin in the future", hint="such as since=7d")
    return begun


PAGES = (
    PageRow(path="/p/{project}/digest", name="digest", title="Digest", make=make_digest_page, query=DigestPageQuery),
    PageRow(
        path="/p/{project}/digest.atom", name="digest-feed", title="Digest", make=make_feed, query=DigestFeedQuery,
        under="digest",
    ),
)  # fmt: skip
