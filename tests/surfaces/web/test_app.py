"""The application of the pages: HTML or JSON at one address, errors as pages, forms, and what is refused."""

from __future__ import annotations

import pytest

from holdfast.pages.frame import static_files
from tests.pages.site import Site

POLICY_PARTS = ("default-src 'none'", "script-src 'self'", "style-src 'self'", "frame-ancestors 'none'")


def test_a_page_is_json_at_the_same_address(site: Site) -> None:
    by_accept = site.json()
    by_ending = site.client.get(site.address("").rstrip("/") + ".json")
    assert by_ending.headers["content-type"] == "application/json"
    assert by_ending.json() | {"since": ""} == by_accept | {"since": ""}
    assert by_accept["project"]["id"] == site.project


def test_every_page_forbids_what_comes_from_elsewhere(site: Site) -> None:
    for path in ("", "/", "/nothing/here"):
        headers = site.get(path).headers
        assert all(part in headers["content-security-policy"] for part in POLICY_PARTS)
        assert headers["x-frame-options"] == "DENY"
        assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("path", "status", "words"),
    [
        ("/nothing/here", 404, "There is nothing here"),
        ("/p/other-project/", 404, "There is nothing here"),
        ("?colour=red", 400, "unknown name in the query: colour"),
        ("?q=%FF", 400, "The query cannot be read"),
    ],
)
def test_an_error_is_a_page_and_json(site: Site, path: str, status: int, words: str) -> None:
    page = site.get(path)
    assert page.status_code == status
    assert words.lower() in page.text.lower()
    problem = site.get(path, accept="application/json")
    assert problem.status_code == status
    assert problem.headers["content-type"] == "application/problem+json"
    assert problem.json()["status"] == status


def test_a_stranger_s_browser_sees_nothing(site: Site) -> None:
    site.memory.remember("The vault opens at nine.")
    site.client.cookies.clear()
    for path in ("", "/"):
        page = site.get(path)
        assert page.status_code == 401
        assert "holdfast ui" in page.text
        assert "vault" not in page.text


def test_head_is_get_without_a_body(site: Site) -> None:
    head = site.client.head(site.address(""))
    assert head.status_code == 200
    assert head.content == b""


def test_a_missing_slash_is_added(site: Site) -> None:
    moved = site.client.get(site.address("").rstrip("/"), follow_redirects=False)
    assert (moved.status_code, moved.headers["location"]) == (308, site.address(""))


def test_files_have_an_address_that_changes_with_them(site: Site) -> None:
    for address, file in static_files().items():
        answer = site.client.get(address)
        assert answer.content == file.content
        assert "immutable" in answer.headers["cache-control"]
        assert answer.headers["content-type"].startswith(file.media_type)
    assert site.client.get("/static/other.css").status_code == 404


def test_other_methods_are_refused(site: Site) -> None:
    refused = site.client.put(site.address(""))
    assert refused.status_code == 405
    assert refused.headers["allow"] == "GET, HEAD, POST"
