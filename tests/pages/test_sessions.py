"""The pages of sessions, of one session and of threads."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest

from holdfast import Memory
from holdfast.lean.texts import short_id
from tests.pages.site import Site
from tests.stories import RED, Story, play

NOW = datetime.now(UTC)
ATTACK = '<script>alert(1)</script> & "quotes" {{7*7}}'
MOST_BYTES = 35_000
"""What HTML may have of a page's 60,000 bytes; styles and script need the rest."""


def recent(session: str, days_ago: float, **fields: str) -> Story:
    return Story(session, start=NOW - timedelta(days=days_ago), **fields)


@pytest.fixture
def worked(memory: Memory) -> Memory:
    """The memory of three sessions."""
    branch = memory.location.branch
    return play(
        memory,
        recent("s1", 3, branch=branch).asked("Mend the late test.").red().red(),
        recent("s2", 2, branch="side").asked("Read the README."),
        recent("s3", 1, branch=branch)
        .asked("Go on with the late test, please.")
        .edited("a.go")
        .red()
        .ran("git commit -m 'Half of it'", "[main 1a2] Half of it"),
    )


def test_the_timeline_lists_sessions_by_day(site: Site, worked: Memory) -> None:
    text = site.text("sessions")
    assert (
        text.index("Go on with the late test, please.") < text.index("Read the README.") < text.rindex("Mend the late")
    )
    assert f"{NOW - timedelta(days=2):%A}" in text
    assert "1 edit · 1 failure · 1 commit" in text


def test_it_begins_with_what_was_done_last_time_on_this_branch(site: Site, worked: Memory) -> None:
    last = site.json("sessions")["last"]
    assert (last["line"]["session"], last["commits"]) == ("s3", ["Half of it"])
    assert [thread["text"] for thread in last["open"]] == ["TestLate"]
    assert site.json("sessions?branch=side")["last"]["line"]["session"] == "s2"
    assert site.json("sessions?host=codex")["last"] is None


def test_it_is_filtered_and_says_so(site: Site, worked: Memory) -> None:
    assert site.json("sessions?branch=side")["timeline"]["days"][0]["sessions"][0]["session"] == "s2"
    assert "No session matches." in site.text("sessions?person=Nobody")
    day = f"{NOW - timedelta(days=2):%Y-%m-%d}"
    days = site.json(f"sessions?since={day}&until={day}")["timeline"]["days"]
    assert [line["session"] for each in days for line in each["sessions"]] == ["s2"]


@pytest.mark.parametrize("query", ["since=soon", "until=2026-13-01", "beyond=nowhere", "lost=1"])
def test_a_wrong_query_is_an_error(site: Site, worked: Memory, query: str) -> None:
    assert site.get(f"sessions?{query}").status_code == 400


def test_older_sessions_are_on_the_next_page(site: Site, memory: Memory) -> None:
    play(memory, *[recent(f"s{n:02}", 9 - n / 10).asked(f"Question {n}?") for n in range(45)])
    first = site.json("sessions")
    rest = site.json(f"sessions?beyond={first['timeline']['older']}")
    count = sum(len(day["sessions"]) for page in (first, rest) for day in page["timeline"]["days"])
    assert (count, rest["timeline"]["older"]) == (45, "")
    assert "Older sessions" in site.text("sessions")


def test_an_empty_memory_says_how_sessions_come(site: Site) -> None:
    assert "holdfast setup" in site.text("sessions")
    assert "No failure was seen" in site.text("threads")


def test_the_story_of_a_session(site: Site, worked: Memory) -> None:
    text = site.text("sessions/s3")
    for words in ("Go on with the late test, please.", "TestLate", "expected 3, got 1", "Half of it", "a. go", "open"):
        assert words in text or words.replace(" ", "") in text, words
    story = site.json("sessions/s3")["story"]
    assert story["failures"][0]["other_sessions"] == 1
    assert site.get(f"threads?key={story['failures'][0]['thread']}").status_code == 200
    assert site.get("sessions/lost").status_code == 404
    assert site.get("sessions/s3?whole=everything").status_code == 400


def test_the_threads_page(site: Site, worked: Memory) -> None:
    text = site.text("threads")
    assert "TestLate" in text
    assert "3 tries in 2 sessions" in text
    assert "open 1" in text
    assert "No thread matches." in site.text("threads?standing=cured")
    assert site.get("threads?standing=lost").status_code == 400


def test_words_of_sessions_stay_text(site: Site, memory: Memory) -> None:
    red = RED.replace("expected 3, got 1", f"expected {ATTACK}")
    story = recent(ATTACK, 1, branch=ATTACK).asked(ATTACK).red(f"go test {ATTACK}", red).edited(ATTACK).replied(ATTACK)
    play(memory, story.red("go test ./pkg", red).ran("git commit -m x", f"[work 1a2] {ATTACK}"))
    for path in ("sessions", f"sessions/{quote(ATTACK, safe='')}", "threads?all=yes"):
        html = site.html(path)
        assert "<script>alert" not in html, path
        assert "&lt;script&gt;alert(1)" in html, path
        assert "{{7*7}}" in html, path


def test_a_session_of_two_thousand_events_fits_on_a_page(site: Site, memory: Memory) -> None:
    story = recent("s1", 2)
    for number in range(330):
        story.asked(f"Question {number}: " + "why is the clock late? " * 40).replied("Because of the clock. " * 40)
        story.edited(f"package/of/a/long/path/file{number}.go").red(output=RED.replace("TestLate", f"TestLate{number}"))
        story.green().ran("git commit -m x", f"[work 1a2] Mend the clock for the {number}th time")
    play(memory, story)
    assert len(story.events) > 1_900
    for path in ("sessions/s1", "sessions", "threads?all=yes"):
        assert len(site.html(path).encode()) < MOST_BYTES, path
    assert "Question 329" in site.text("sessions/s1")
    assert site.json("sessions/s1")["story"]["counts"]["prompts"]["total"] == 330


def test_links_go_to_sessions_by_their_whole_id(site: Site, worked: Memory) -> None:
    assert '/sessions/s3"' in site.html("sessions")
    assert short_id("s3") == "s3"
