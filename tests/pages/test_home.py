"""The home page."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path
from shutil import rmtree
from urllib.parse import quote

from holdfast import Memory
from holdfast.lean.plain import parse_instant
from tests.codebase import Codebase

from .site import Site


def test_home_tells_exactly_what_an_agent_is_told(memory: Memory, site: Site) -> None:
    memory.remember("Use <b>pytest</b> with xdist & never nose.", kind="convention")
    expected = "\n\n".join(briefing.text for briefing in memory.brief())
    assert "<b>pytest</b>" in expected
    page = site.html()
    assert "&lt;b&gt;pytest&lt;/b&gt;" in page
    assert "<b>pytest</b>" not in page
    assert site.json()["brief"] == expected


def test_home_without_lessons_says_so(site: Site) -> None:
    assert "Nothing: there is no lesson yet" in site.text()


def test_the_start_page_of_one_project_leads_to_it(site: Site) -> None:
    response = site.get("/")
    assert (response.status_code, response.headers["location"]) == (303, site.address(""))
    assert site.json("/")["projects"] == [{"id": site.project, "name": "harbour"}]


def test_other_projects_of_the_store_are_reachable(memory: Memory, site: Site, tmp_path: Path) -> None:
    memory.remember("The harbour has four berths.")
    folder = Codebase(tmp_path / "lighthouse").folder
    with Memory(str(folder)) as other:
        other.remember("The lamp turns twice a minute.", files=["src/store.py"])
        other.remember("The horn sounds in fog.")
        there = quote(other.location.project.id, safe="")
    text = site.text("/")
    assert "harbour" in text
    assert "lighthouse" in text
    page = site.text(f"/p/{there}/")
    assert "The lamp turns twice a minute" in page
    assert "four berths" not in page
    assert "lighthouse" in site.text()  # the switcher
    rmtree(folder)
    page = site.text(f"/p/{there}/")
    assert "The lamp turns twice a minute" in page
    assert site.get("/p/nowhere/").status_code == 404


def test_home_names_what_waits_and_what_changed(memory: Memory, site: Site) -> None:
    first = memory.remember("Retries are capped at three.")
    memory.remember("The cache lives for an hour.", trust="repository")
    data = site.json()
    assert [(change["title"], change["words"]) for change in data["changes"]] == [
        ("The cache lives for an hour", "waits for a decision"), ("Retries are capped at three", "saved"),
    ]  # fmt: skip
    assert [(line["name"], line["number"]) for line in data["waiting"]] == [("unconfirmed", 1)]
    assert (data["confirmed"], data["unconfirmed"]) == (1, 1)
    memory.forget(first.id)
    assert "A forgotten lesson" in site.text()


def test_a_line_of_the_brief_leads_to_its_lesson(memory: Memory, site: Site) -> None:
    lesson = memory.remember("Retries are capped at three.")
    data = site.json()
    assert "\n".join(line["text"] for line in data["brief_lines"]) == data["brief"]
    assert [line["lesson"] for line in data["brief_lines"] if line["lesson"]] == [lesson.id]


def test_what_is_new_is_counted_from_the_visit_before(memory: Memory, site: Site) -> None:
    memory.remember("Retries are capped at three.")
    assert "New in the last seven days" in site.text()
    assert site.json()["is_first_look"]
    now = memory.services.clock.now()
    visits = f"{now - timedelta(days=2):%Y%m%dT%H%M%S}-{now - timedelta(hours=1):%Y%m%dT%H%M%S}"
    site.client.cookies.set("holdfast-look", visits)
    seen = site.json()
    assert not seen["is_first_look"]
    assert parse_instant(seen["since"]) == (now - timedelta(hours=1)).replace(microsecond=0)
    site.client.cookies.set("holdfast-look", "no-time")
    assert site.json()["is_first_look"]


def test_health_says_when_nothing_was_ever_seen(site: Site) -> None:
    health = site.json()["health"]
    assert [fact["command"] for fact in health["facts"] if fact["name"] == "hooks"] == ["holdfast setup"]
    assert "no session was seen here yet" in site.text()


def test_what_waits_leads_to_where_it_is_decided(memory: Memory, site: Site) -> None:
    memory.remember("The cache lives for an hour.", trust="repository")
    leads = re.findall(r'<a href="([^"]+)"><strong>1</strong>', site.html())
    assert leads == [site.address("review?kind=waiting")]
    assert "The cache lives for an hour" in site.text(leads[0])


def test_more_changes_than_fit_are_in_the_digest_of_the_same_time(memory: Memory, site: Site) -> None:
    for thing in ("ropes", "lamps", "crabs", "sails", "tides", "anchors", "nets", "oars", "gulls", "buoys"):
        memory.remember(f"The {thing} are counted at dawn.")
    site.client.cookies.set("holdfast-look", f"-{memory.services.clock.now() - timedelta(hours=3):%Y%m%dT%H%M%S}")
    (address,) = re.findall(r'href="([^"]+)">The digest', site.html())
    assert "since=20" in address
    sections = site.json(address.replace("&amp;", "&"))["digest"]["sections"]
    assert [section["total"] for section in sections if section["name"] == "learnt"] == [10]
