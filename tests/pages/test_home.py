"""The home page."""

from __future__ import annotations

from holdfast import Memory

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


def test_the_start_page_lists_the_project(site: Site) -> None:
    assert site.project in site.text("/")
