"""The pages of the digest, topics and recommendations."""

from __future__ import annotations

from xml.etree.ElementTree import fromstring

import pytest

from holdfast import Memory
from holdfast.domain.vocabulary import SessionId
from holdfast.outcomes.trouble import store_trouble
from holdfast.testing.builders import make_event
from tests.pages.site import Site

ATOM = "{http://www.w3.org/2005/Atom}"


# The digest


def test_the_digest_names_each_lesson_with_a_link_and_its_id(memory: Memory, site: Site) -> None:
    lesson = memory.remember("Ferries leave from pier two.")
    html = site.html("digest")
    assert lesson.title in html
    assert f"lessons/{lesson.id}" in html
    assert lesson.id[-8:] in html
    assert "1 learnt" in html


def test_the_page_of_the_digest_is_also_json(memory: Memory, site: Site) -> None:
    memory.remember("Ferries leave from pier two.")
    plain = site.json("digest?since=1y")
    (learnt,) = [part for part in plain["digest"]["sections"] if part["name"] == "learnt"]
    assert learnt["total"] == 1


def test_what_is_private_is_not_in_the_digest_of_the_team(memory: Memory, site: Site) -> None:
    memory.remember("The harbour master owes me ten.", private=True)
    assert "owes me" in site.html("digest")
    for address in ("digest?audience=team", "digest.atom?audience=team"):
        assert "owes me" not in site.get(address).text


@pytest.mark.parametrize("query", ["since=soon", "since=2999-01-01", "audience=all", "x=1"])
def test_a_period_that_cannot_be_is_an_error_page(site: Site, query: str) -> None:
    assert site.get(f"digest?{query}").status_code == 400


def test_what_is_cut_is_shown_in_full(memory: Memory, site: Site) -> None:
    for number in range(12):
        memory.remember(f"Pier {number} is closed on day {number} of the month.")
    assert "And 4 more" in site.html("digest")
    assert "And 4 more" not in site.html("digest?all=yes")


def test_the_digest_of_an_empty_memory_says_so(site: Site) -> None:
    assert "Nothing happened in this period" in site.html("digest")


def test_the_feed_is_atom_with_addresses_of_its_own(memory: Memory, site: Site) -> None:
    memory.remember("Ferries <b>leave</b> from pier two.")
    answer = site.get("digest.atom")
    assert answer.headers["content-type"].startswith("application/atom+xml")
    feed = fromstring(answer.content)
    links = {link.get("rel"): link.get("href") or "" for link in feed.findall(f"{ATOM}link")}
    assert links["self"].endswith("/digest.atom")
    assert links["alternate"].endswith("/digest")
    (entry,) = feed.findall(f"{ATOM}entry")
    assert "<b>" in (entry.findtext(f"{ATOM}content") or "")


# Topics


@pytest.fixture
def harbour(memory: Memory) -> Memory:
    for rule in ("Ferries leave from pier two.", "No ferries sail in a storm.", "Ferries carry no lorries."):
        memory.remember(rule)
    for number in range(3):
        memory.remember(f"The tide table of month {number + 2} is printed.")
    return memory


def test_topics_are_listed_and_a_topic_shows_its_lessons(harbour: Memory, site: Site) -> None:
    assert "ferries" in site.html("topics")
    html = site.html("topics?topic=ferries")
    assert "No ferries sail in a storm" in html
    assert "table of month" not in html
    assert site.get("topics?topic=nothing").status_code == 404


def test_a_topic_is_renamed_merged_and_split_by_forms(harbour: Memory, site: Site) -> None:
    site.post("topics/rename", {"name": "ferries", "new": "Ships"})
    assert "Ships" in site.html("topics")
    site.post("topics/merge", {"name": "tide table", "into": "Ships"})
    assert harbour.topics().named("Ships").lessons == 6
    site.post("topics/split", {"name": "Ships"})
    assert harbour.topics().named("ferries").lessons == 3


def test_a_topic_without_a_new_name_stays_as_it_is(harbour: Memory, site: Site) -> None:
    assert site.post("topics/rename", {"name": "ferries", "new": " "}).status_code == 422
    assert site.post("topics/merge", {"name": "ferries", "into": ""}).status_code == 422
    assert harbour.topics().named("ferries").lessons == 3


# Recommendations


def test_a_recommendation_shows_its_evidence_and_is_dismissed(memory: Memory, site: Site) -> None:
    project = memory.location.project.id
    for number in range(3):
        session = SessionId(f"session-{number}")
        failure = make_event(
            project=project, session=session, kind="tool_failure", exit_code=1, command="python -m pytest",
            text="src/store.py:3: KeyError",
        )  # fmt: skip
        store_trouble(memory.services.store, project, session, [failure], ())
    html = site.html("recommendations")
    assert "3 failed commands name it in 3 sessions" in html
    (row,) = site.json("recommendations")["rows"]
    site.post("recommendations/dismiss", {"key": row["key"]})
    assert "Nothing to recommend" in site.html("recommendations")
    assert "Show again" in site.html("recommendations?all=yes")
    site.post("recommendations/dismiss", {"key": row["key"], "restore": "true"})
    assert len(site.json("recommendations")["rows"]) == 1
