"""The search page: what it shows, that facets are links that keep the question, and hostile questions and lessons."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import quote

import pytest

from holdfast import Memory
from holdfast.domain.event import spoken_prefix
from holdfast.domain.lesson import Provenance
from holdfast.domain.vocabulary import SessionId
from holdfast.testing.builders import make_event, make_lesson
from tests.contract.store_questions import HOSTILE

from .site import Site

SCRIPT = "<script>alert(1)</script>\"'{{7*7}}&amp;`x"


def save(memory: Memory, insight: str, **over: Any) -> str:
    lesson = make_lesson(project=memory.location.project.id, insight=insight, **over)
    memory.services.store.put([lesson], {})
    return lesson.id


def links(html: str) -> list[str]:
    return [unescape(link) for link in re.findall(r'<a [^>]*href="([^"]*)"', html)]


@pytest.fixture
def filled(memory: Memory) -> Memory:
    ada = Provenance(person="p1", person_name="Ada")
    save(memory, "Retries to the carrier are capped at 5.", path="src/net/a.py", provenance=ada, tags=("net",))
    save(memory, "Tests never open a connection.", kind="constraint", path="tests/b.py", state="candidate")
    return memory


def test_without_a_question_the_newest_lessons_and_every_facet_are_shown(filled: Memory, site: Site) -> None:
    text = site.text("search")
    for words in ("2 lessons, newest first", "Retries to the carrier", "unconfirmed", "Ada", "src/net", "constraint"):
        assert words in text, words
    assert "Why these?" not in text


def test_a_facet_is_a_link_that_keeps_the_question_and_one_more_takes_it_back(filled: Memory, site: Site) -> None:
    page = site.html("search?q=carrier+connection")
    (by_area,) = [link for link in links(page) if "area=src" in link]
    assert "q=carrier+connection" in by_area
    narrowed = site.html(by_area)
    assert "Tests never open" not in narrowed
    assert '<input type="search" name="q" value="carrier connection"' in narrowed
    assert '<input type="hidden" name="area" value="src/net">' in narrowed
    back = [link for link in links(narrowed) if link.endswith("search?q=carrier+connection")]
    assert "Tests" in site.html(back[0])


def test_words_are_marked_and_the_scores_are_shown_on_request(filled: Memory, site: Site) -> None:
    page = site.html("search?q=carrier+retry")
    assert "<mark>Retries</mark> to the <mark>carrier</mark>" in page
    assert "times the factors" not in page
    (why,) = [link for link in links(page) if "why=true" in link]
    assert "the sum of the parts, times the factors" in site.text(why)
    shares = site.json(why.partition("/search")[2].join(("search", "")))["lessons"]["lessons"][0]["why"]["shares"]
    assert shares[0]["lane"]


def test_no_result_says_what_may_help(filled: Memory, memory: Memory, site: Site) -> None:
    assert "No lesson has these words" in site.text("search?q=zzzz")
    assert any("place=sessions" in link and "q=zzzz" in link for link in links(site.html("search?q=zzzz")))
    assert "No lesson has all of this" in site.text("search?kind=fix")
    assert "Nobody said these words" in site.text("search?q=zzzz&place=sessions")


def test_an_empty_memory_says_where_lessons_come_from(site: Site) -> None:
    assert "There is no lesson yet" in site.text("search")
    assert "No session is recorded yet" in site.text("search?place=sessions")


def test_turns_of_sessions_are_found_and_lead_to_their_session(filled: Memory, site: Site) -> None:
    project = filled.location.project.id
    prompt = make_event(
        session=SessionId("s/1"), project=project, key=spoken_prefix("prompt") + "1", text="Where is the harbour log?"
    )
    filled.services.store.append_events([prompt])
    page = site.html("search?q=harbour&place=sessions")
    assert "<mark>harbour</mark>" in page
    (link,) = [link for link in links(page) if "/sessions/" in link]
    assert link.endswith("/sessions/s%2F1")
    assert "Where is the harbour log?" in site.text("search?place=sessions")
    assert "In sessions" in site.text("search?q=harbour+carrier")


@pytest.mark.parametrize("text", [text for text in HOSTILE if text not in ("\ud800", "\udfff x")], ids=repr)
@pytest.mark.parametrize("place", ["lessons", "sessions"])
def test_no_question_breaks_the_page(filled: Memory, site: Site, text: str, place: str) -> None:
    page = site.get(f"search?place={place}&q={quote(text)}")
    assert page.status_code == 200
    assert site.get(f"search?area={quote(text)}&person={quote(text)}&tag={quote(text)}").status_code == 200


def test_a_very_long_question_is_cut_and_says_so(filled: Memory, site: Site) -> None:
    assert "Only the first 2,000 characters were searched for" in site.text("search?q=" + "carrier+" * 1_500)
    assert site.get("search?q=" + "x" * 20_000).status_code == 400


def test_html_in_every_field_stays_text(memory: Memory, site: Site) -> None:
    save(
        memory, f"{SCRIPT} carrier", why=SCRIPT, tags=(SCRIPT,), path=f"a/{SCRIPT}/b.py",
        provenance=Provenance(person=SCRIPT, person_name=SCRIPT),
    )  # fmt: skip
    spoken = make_event(
        session=SessionId(SCRIPT), branch=SCRIPT, host=SCRIPT, project=memory.location.project.id,
        key=spoken_prefix("prompt") + "1", text=f"{SCRIPT} carrier",
    )  # fmt: skip
    memory.services.store.append_events([spoken])
    for query in ("q=carrier&why=true", "", "q=carrier&place=sessions", "place=sessions", f"q={quote(SCRIPT)}",
                  f"tag={quote(SCRIPT)}&person={quote(SCRIPT)}&area={quote(SCRIPT)}&path={quote(SCRIPT)}"):  # fmt: skip
        html = site.html(f"search?{query}")
        assert "<script>alert" not in html
        assert html.count("<script") == 1
        assert "49" not in re.sub(r"[0-9a-f-]{12,}", "", html)


@pytest.mark.parametrize("query", ["month=2026-13", "after=x", "kind=zebra", "state=gone", "nothing=1", "time=9d"])
def test_an_impossible_choice_is_refused_with_a_hint(filled: Memory, site: Site, query: str) -> None:
    answer = site.get(f"search?{query}")
    assert answer.status_code == 400
    assert re.search("such as|one of|known names|begin with", answer.text, re.IGNORECASE)


def test_the_json_has_all_that_the_page_says(filled: Memory, site: Site) -> None:
    data = site.json("search?state=candidate")
    assert [each["lesson"]["title"] for each in data["lessons"]["lessons"]] == ["Tests never open a connection"]
    assert [(each["name"], each["chosen"]) for each in data["chosen"]] == [("state", "candidate")]
    assert data["query"]["state"] == "candidate"
