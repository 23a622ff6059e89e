"""The page of threads: failures with their tries and cures, across sessions."""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.pages.page import Page, PageRow
from holdfast.pages.view import View
from holdfast.reports.threads import StandingChoice, ThreadChoice, Threads, threads

THREADS_ON_PAGE = 30


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadsQuery:
    """Which threads are listed."""

    standing: StandingChoice = ""
    branch: str = ""
    key: str = ""
    """Only this one."""
    all: bool = False
    """Those that failed once only, too."""
    beyond: str = ""
    """The last one of the page before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadsData:
    """What the page of threads says."""

    threads: Threads
    query: ThreadsQuery


def make_threads(view: View, query: ThreadsQuery) -> Page:
    """Return the threads, the open ones first."""
    choice = ThreadChoice(
        standing=query.standing, branch=query.branch, key=query.key, with_slips=query.all, beyond=query.beyond,
        limit=THREADS_ON_PAGE,
    )  # fmt: skip
    listed = threads(view.memory.services, view.memory.location, choice, sees=view.sees)
    return Page(template="threads", data=ThreadsData(threads=listed, query=query))


PAGES = (
    PageRow(path="/p/{project}/threads", name="threads", title="Threads", make=make_threads, query=ThreadsQuery),
)  # fmt: skip
