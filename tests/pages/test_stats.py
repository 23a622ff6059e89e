"""The stats as a page: no chart where there is too little, and every chart with its figures."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date, timedelta
from xml.etree import ElementTree

import pytest

from holdfast import Memory
from holdfast.backfill.distilrecord import record_call
from holdfast.domain.records import Delivery, Outcome
from holdfast.domain.vocabulary import SessionId
from holdfast.pages.stats import date_labels
from holdfast.testing.builders import make_delivery, make_outcome

from .site import Site


def charts(html: str) -> list[str]:
    """The titles of the charts of a page."""
    pictures = re.findall(r'<svg role="img".*?</svg>', html, re.DOTALL)
    return [str(ElementTree.fromstring(each).findtext("title")) for each in pictures]


def tell(
    memory: Memory, sessions: int, *, verdict: str = "heeded", withheld: bool = False, host: str = "codex"
) -> None:
    """Let that many sessions be told a lesson, or not, with that outcome."""
    lesson = memory.remember(f"Close the {host} port {verdict} {withheld} before you leave.")
    now = memory.services.clock.now()
    entries: list[Delivery | Outcome] = []
    for number in range(sessions):
        session = SessionId(f"{host}-{verdict}-{withheld}-{number}")
        about = {"at": now, "project": memory.location.project.id, "session": session, "lesson": lesson.id}
        if not withheld:
            entries.append(make_delivery(**about, host=host, moment="session_start", tokens=25))
        judged = make_outcome(**about, verdict=verdict, moment="session_start", withheld=withheld)
        entries.append(replace(judged, id=f"judged:{lesson.id}:{session}"))
    memory.services.store.record(entries)


def test_the_stats_of_an_empty_memory_draw_nothing(site: Site) -> None:
    html = site.html("stats")
    assert charts(html) == []
    assert "No session was told a lesson in these weeks." in html
    assert "There is no lesson yet." in html
    assert "No call of a language model" in html


def test_too_few_lessons_are_said_and_not_drawn(memory: Memory, site: Site) -> None:
    tell(memory, 5)
    html = site.html("stats")
    assert "What became of the lessons that were told" not in charts(html)
    assert "5 judged lessons: too few for shares, which need 20." in html
    assert "No difference to show yet: 0 withheld lessons were judged, and 10 are the least" in html


def test_enough_lessons_are_drawn_with_their_figures(memory: Memory, site: Site) -> None:
    tell(memory, 30)
    tell(memory, 30, verdict="unclear", host="claude-code")
    tell(memory, 12, verdict="failed", withheld=True)
    html = site.html("stats")
    assert charts(html) == [
        "Told against withheld", "The difference that telling makes", "What became of the lessons that were told",
        "Heeded, by host", "Tokens spent on telling, a week", "Lessons told, a week",
        "Lessons at the end of each week", "Lessons learnt, a week", "Confirmed lessons by kind",
    ]  # fmt: skip
    assert html.count("<summary>The figures") == 7
    assert "30 of 60 judged lessons were heeded" in html
    assert "were heeded 50 points more often than those withheld from one" in html


def test_a_difference_that_may_be_chance_is_called_that(memory: Memory, site: Site) -> None:
    tell(memory, 20)
    tell(memory, 11, withheld=True)
    assert "0 points more often than those withheld from one, which may be chance" in site.html("stats")


def test_the_data_has_every_figure(memory: Memory, site: Site) -> None:
    tell(memory, 30)
    data = site.json("stats?weeks=4")
    assert data["weeks"] == 4
    assert data["telling"]["stats"]["heeded"]["count"] == 30
    assert data["telling"]["weeks"][-1]["tokens"] == 750
    assert data["growth"]["weeks"][-1]["confirmed"] == 1
    assert data["learning"]["calls"] == 0


def test_the_cost_of_learning_is_that_of_the_span(memory: Memory, site: Site) -> None:
    now = memory.services.clock.now()
    row = {"model": "m", "input_tokens": 1200, "output_tokens": 80, "cost_usd": 0.25, "lessons": 3}
    record_call(memory.settings, row, now - timedelta(days=2))
    record_call(memory.settings, row, now - timedelta(days=40))
    assert "1 call of your language model" in site.html("stats?weeks=4")
    text = site.text("stats?weeks=12")
    assert "2 calls of your language model" in text
    assert "2,400 tokens in, 160 out, $0.50. They taught 6 lessons." in text


@pytest.mark.parametrize("weeks", ["5", "x", "-1"])
def test_another_span_is_refused(site: Site, weeks: str) -> None:
    assert site.get(f"stats?weeks={weeks}").status_code == 400


@pytest.mark.parametrize("count", [1, 4, 12, 26, 52])
def test_dates_are_few_and_the_last_is_among_them(count: int) -> None:
    days = [date(2026, 1, 5) + timedelta(days=7 * number) for number in range(count)]
    labels = date_labels(days)
    assert labels[-1] == f"{days[-1].day} {days[-1]:%b}"
    assert len(labels) == count
    assert 1 <= sum(map(bool, labels)) <= 7
