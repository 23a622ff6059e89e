"""The timeline: sessions by day, newest first, read from rows; filters, pages, and what each line says."""

from __future__ import annotations

from datetime import timedelta

import pytest

from holdfast import Memory
from holdfast.domain.statefamilies import SESSION_DIGESTS
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import InvalidValueError
from holdfast.reports.timeline import SessionChoice, gist_of, last_on, length_words, timeline
from holdfast.testing.builders import START
from tests.stories import Story, play


def ids(memory: Memory, **choice: object) -> list[str]:
    return [line.session for line in memory.sessions(SessionChoice(**choice)).sessions]  # type: ignore[arg-type]


def test_sessions_come_by_day_the_newest_first(memory: Memory) -> None:
    here = play(memory, *[Story(f"s{n}", day).asked(f"Question {n}?") for n, day in enumerate((0, 0.01, 2))])
    days = here.sessions(SessionChoice()).days
    assert [[line.session for line in day.sessions] for day in days] == [["s2"], ["s1", "s0"]]
    assert days[0].day == f"{START + timedelta(days=2):%Y-%m-%d}"


def test_a_line_says_when_where_how_it_opened_and_what_was_done(memory: Memory) -> None:
    story = Story().asked("Mend the late test.").red().edited("a.go", "b.go").green().ran("git commit -m 'Mend'", "")
    story.paused(9).asked("Thanks!")
    here = play(memory, story)
    (line,) = here.sessions(SessionChoice()).sessions
    assert (line.opening, line.branch, line.host) == ("Mend the late test.", "work", "claude-code")
    assert (line.edits, line.files, line.failures, line.mended, line.commits) == (2, 2, 1, 1, 1)
    assert (line.active_s, line.prompts, line.events, line.is_counted) == (300, 2, 7, True)
    assert line.ended_at - line.began_at > timedelta(hours=9)


def test_a_session_that_nobody_has_learnt_from_is_not_counted_yet(memory: Memory) -> None:
    here = play(memory, Story().asked("Mend the late test.").edited("a.go"))
    here.services.store.set_rows(SESSION_DIGESTS, here.location.project.id, {"s1": "{"})
    (line,) = here.sessions(SessionChoice()).sessions
    assert (line.is_counted, line.edits, line.active_s) == (False, 0, 60)


def test_filters(memory: Memory) -> None:
    stories = [Story("a", 0, branch="main"), Story("b", 1, host="codex"), Story("c", 2, branch="main")]
    here = play(memory, *[story.asked("Question?") for story in stories])
    assert ids(here, branch="main") == ["c", "a"]
    assert ids(here, host="codex") == ["b"]
    assert ids(here, since=START + timedelta(days=1)) == ["c", "b"]
    assert ids(here, until=START + timedelta(days=1)) == ["a"]
    assert ids(here, branch="main", since=START + timedelta(days=1)) == ["c"]


def test_a_person_is_found_by_name_or_id(memory: Memory) -> None:
    here = play(memory, *[Story(f"s{n}", n).asked("Question?") for n in range(5)])
    rows = {f"s{n}": f'{{"events":1,"person":"id{n % 2}","person_name":"{("Ada", "Ben")[n % 2]}"}}' for n in range(5)}
    here.services.store.set_rows(SESSION_DIGESTS, here.location.project.id, rows)
    assert ids(here, person="Ben") == ["s3", "s1"]
    assert ids(here, person="id0", limit=2) == ["s4", "s2"]
    assert ids(here, person="Nobody") == []
    assert here.sessions(SessionChoice(limit=1)).sessions[0].person == "Ada"


@pytest.mark.parametrize("person", ["", "Ada"])
def test_pages_show_each_session_once(memory: Memory, person: str) -> None:
    here = play(memory, *[Story(f"s{n}", n / 10).asked("Question?") for n in range(7)])
    rows = {f"s{n}": '{"events":1,"person_name":"Ada"}' for n in range(7)}
    here.services.store.set_rows(SESSION_DIGESTS, here.location.project.id, rows)
    pages, beyond = [], ""
    while True:
        page = here.sessions(SessionChoice(limit=3, beyond=beyond, person=person))
        pages.append([line.session for line in page.sessions])
        beyond = page.older
        if not beyond:
            break
    assert pages == [["s6", "s5", "s4"], ["s3", "s2", "s1"], ["s0"]]


@pytest.mark.parametrize("place", ["nowhere", "~s1", "2026-01-01T00:00:00Z", "yesterday~s1"])
def test_a_place_that_is_none_is_an_error(memory: Memory, place: str) -> None:
    with pytest.raises(InvalidValueError):
        memory.sessions(SessionChoice(beyond=place))


def test_an_erased_prompt_is_said_to_be_erased(memory: Memory) -> None:
    here = play(memory, Story().asked("Mend the late test."))
    here.services.store.erase_event_texts(START + timedelta(days=1))
    (line,) = here.sessions(SessionChoice()).sessions
    assert (line.opening, line.is_erased) == ("", True)


def test_waiting_lessons_are_not_counted_for_who_may_not_see_them(memory: Memory) -> None:
    here = play(memory, Story().asked("Remember: tests run with make check from now on.").replied("Noted."))
    taught = here.session_story("s1").taught[0]
    lines = [
        timeline(here.services, here.location, SessionChoice(), counts_waiting=waiting).sessions[0]
        for waiting in (True, False)
    ]
    assert [line.taught for line in lines] == [1, int(taught.state == "active")]
    here.reject(taught.lesson) if taught.state != "active" else here.forget(taught.lesson)
    (line,) = here.sessions(SessionChoice()).sessions
    assert line.taught == int(taught.state != "active")


def test_the_last_session_on_a_branch_has_a_prompt(memory: Memory) -> None:
    here = play(
        memory, Story("a", 0).asked("Question?"), Story("b", 1).ran("ls"), Story("c", 2, branch="main").asked("?")
    )
    assert last_on(here.services, here.location, "work") == "a"
    assert last_on(here.services, here.location, "work", before=SessionId("a")) == ""
    assert last_on(here.services, here.location, "lost") == ""


@pytest.mark.parametrize(
    ("prompt", "gist"),
    [
        ("Mend\n  the late test.", "Mend the late test."),
        ("<command-message>review</command-message>\nMend it.", "Mend it."),
        (
            "This session is being continued from a previous conversation that ran out.",
            "This session is being continued",
        ),
        ("", ""),
    ],
)
def test_gist(prompt: str, gist: str) -> None:
    assert gist_of(prompt).startswith(gist)
    assert len(gist_of("word " * 200)) <= 160


@pytest.mark.parametrize(
    ("seconds", "words"), [(0, "under a minute"), (90, "2 min"), (3_600, "1 h"), (12_000, "3 h 20 min")]
)
def test_lengths(seconds: int, words: str) -> None:
    assert length_words(seconds) == words
