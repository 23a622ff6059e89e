"""The application of the pages: HTML or JSON at one address, errors as pages, forms, and what is refused."""

from __future__ import annotations

from urllib.parse import quote

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


@pytest.mark.parametrize(
    "value",
    ["x", "%7B%7D", "%5B1%5D", quote('{"message":"Done","undo":{"name":"fly","parameters":{},"fields":{}}}', safe="")],
)
def test_a_message_that_is_not_ours_is_not_shown(site: Site, value: str) -> None:
    site.client.cookies.set("holdfast-notice", value)
    assert "Done" not in site.text()


def test_a_message_is_shown_once_and_as_text(site: Site) -> None:
    lesson = site.memory.remember("Never write <i>here</i>.")
    answer = site.post(f"lessons/{lesson.id}/retire")
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/p/")
    shown = site.html()
    assert 'class="notice good"' in shown
    assert "<i>" not in shown
    assert 'class="notice good"' not in site.html()


def test_an_error_within_a_project_has_its_navigation(site: Site) -> None:
    for path in ("nothing", "lessons/zzzz"):
        page = site.get(path)
        assert page.status_code == 404
        assert f'href="{site.address("")}"' in page.text
    site.client.cookies.clear()
    assert f'href="{site.address("")}"' not in site.get("nothing").text


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "same-origin"}, 303),
        ({"sec-fetch-site": "none"}, 303),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"origin": "http://127.0.0.1"}, 303),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({}, 403),
    ],
)
def test_a_form_of_another_site_changes_nothing(site: Site, headers: dict[str, str], status: int) -> None:
    lesson = site.memory.remember("Retries are capped at three.")
    sent = {"accept": "text/html", **headers}
    answer = site.client.post(site.address(f"lessons/{lesson.id}/retire"), headers=sent, follow_redirects=False)
    assert answer.status_code == status
    assert site.memory.get(lesson.id).state == ("retired" if status == 303 else "active")


@pytest.mark.parametrize(
    "back", ["//evil.example", "https://evil.example", "/\\evil.example", "javascript:alert(1)", ""]
)
def test_a_form_leads_back_to_a_page_of_ours_alone(site: Site, back: str) -> None:
    lesson = site.memory.remember("Retries are capped at three.")
    answer = site.post(f"lessons/{lesson.id}/retire", {"back": back}, referer="https://evil.example/p/x/")
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/p/")


def test_a_form_that_is_too_large_or_of_another_kind_is_refused(site: Site) -> None:
    lesson = site.memory.remember("Retries are capped at three.")
    address = f"lessons/{lesson.id}/retire"
    assert site.post(address, {"revive_when": "x" * 300_000}).status_code == 413
    assert site.post(address, {"colour": "red"}).status_code == 400
    json = site.client.post(site.address(address), json={}, headers={"sec-fetch-site": "same-origin"})
    assert json.status_code == 403
    assert site.memory.get(lesson.id).state == "active"
