"""Review by keys in a real browser: one key a verdict, the next row at once, undo, several rows together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Route, expect

from holdfast import Memory
from holdfast.domain.lesson import Lesson
from holdfast.surfaces.web.local import LocalEntrance, local_app
from tests.browser import Tab, serving, tab
from tests.upkeep.tidying.stand_in import put

NAMES = ("anchor", "ballast", "cable", "davit", "ensign", "fender", "galley", "hatch", "inlet", "jib")


def waiting(memory: Memory, count: int, **fields: Any) -> list[Lesson]:
    """So many lessons that wait, the first of the page first."""
    words = (f"The {NAMES[number % 10]} of berth {number} is checked by hand." for number in range(count))
    return [
        put(memory, text, state="candidate", salience=0.9 - number / 1_000, **fields)[0]
        for number, text in enumerate(words)
    ]


@contextmanager
def review_page(memory: Memory, browser: Browser, query: str = "", **options: Any) -> Iterator[Tab]:
    """A window with the review page."""
    entrance = LocalEntrance(memory)
    with serving(local_app(entrance)) as url, tab(browser, **options) as window:
        window.page.context.add_cookies([{"name": entrance.cookie, "value": entrance.secret, "url": url}])
        window.page.goto(f"{url}/p/{memory.location.project.id}/review{query}")
        yield window


def shown(window: Tab) -> list[str]:
    """The titles of the rows that are shown."""
    return window.page.locator("[data-row]:visible .row-title").all_inner_texts()


def selected(window: Tab) -> str:
    """The title of the selected row."""
    return window.page.locator("[data-row].selected:visible .row-title").first.inner_text()


def notice(window: Tab, words: str) -> None:
    """Wait until the live region says that."""
    window.page.locator("#notice", has_text=words).wait_for(timeout=8_000)


def states(memory: Memory, lessons: list[Lesson]) -> list[str]:
    return [memory.get(lesson.id).state for lesson in lessons]


def test_one_key_a_verdict_selects_the_next_row_and_u_takes_back(memory: Memory, browser: Browser) -> None:
    lessons = waiting(memory, 4)
    with review_page(memory, browser) as window:
        keys = window.page.keyboard
        assert selected(window) == lessons[0].title
        keys.press("a")
        assert selected(window) == lessons[1].title
        notice(window, f"Confirmed: {lessons[0].title}")
        keys.press("x")
        notice(window, f"Rejected: {lessons[1].title}")
        assert states(memory, lessons) == ["active", "retired", "candidate", "candidate"]
        assert window.page.locator("#left").inner_text() == "2 left, 2 decided"
        keys.press("u")
        notice(window, "Taken back: Rejected")
        assert selected(window) == lessons[1].title
        keys.press("u")
        notice(window, "Taken back: Confirmed")
        assert shown(window) == [lesson.title for lesson in lessons]
        assert states(memory, lessons) == ["candidate"] * 4
        assert window.page.locator("#left").inner_text() == "4 left"
        assert window.trouble == []


def test_keys_that_are_pressed_faster_than_the_server_answers_keep_their_order(
    memory: Memory, browser: Browser
) -> None:
    lessons = waiting(memory, 6)
    with review_page(memory, browser) as window:
        sent: list[str] = []

        def slowly(route: Route) -> None:
            sent.append(route.request.url.rsplit("/", 2)[1])
            window.page.wait_for_timeout(120)
            route.continue_()

        window.page.route("**/accept", slowly)
        window.page.route("**/reject", slowly)
        for key in "axaxa":
            window.page.keyboard.press(key)
        assert shown(window) == [lessons[5].title]
        window.page.keyboard.press("u")
        notice(window, "Taken back")
        assert sent == [lesson.id for lesson in lessons[:5]]
        assert states(memory, lessons) == ["active", "retired", "active", "retired", "candidate", "candidate"]
        assert shown(window) == [lesson.title for lesson in lessons[4:]]


def test_a_verdict_that_fails_brings_its_row_back_with_the_reason(memory: Memory, browser: Browser) -> None:
    lessons = waiting(memory, 3)
    with review_page(memory, browser) as window:
        memory.reject(lessons[0].id)
        memory.purge(lessons[1].id)
        window.expected = ("status of 40",)
        window.page.keyboard.press("x")
        window.page.keyboard.press("x")
        window.page.keyboard.press("a")
        notice(window, f"Confirmed: {lessons[2].title}")
        assert window.page.locator("[data-row]:visible .failed").all_inner_texts()[0].startswith("Not possible")
        assert shown(window) == [lesson.title for lesson in lessons[:2]]
        assert window.trouble == []


def test_marked_rows_are_decided_together_and_taken_back_together(memory: Memory, browser: Browser) -> None:
    lessons = waiting(memory, 5)
    with review_page(memory, browser) as window:
        for _ in range(3):
            window.page.keyboard.press("Shift+J")
        notice(window, "3 marked")
        window.page.keyboard.press("x")
        notice(window, "3 decided")
        assert shown(window) == [lesson.title for lesson in lessons[3:]]
        assert states(memory, lessons) == ["retired"] * 3 + ["candidate"] * 2
        window.page.keyboard.press("u")
        notice(window, "Taken back")
        assert states(memory, lessons) == ["candidate"] * 5
        window.page.keyboard.press("Shift+J")
        window.page.keyboard.press("Escape")
        assert window.page.locator(".marked").count() == 0


def test_rows_about_a_lesson_that_a_decision_closed_go_with_it_and_come_back_with_it(
    memory: Memory, browser: Browser
) -> None:
    put(memory, *(f"Install dependencies with {name}." for name in ("npm", "pnpm", "yarn")))
    with review_page(memory, browser) as window:
        pairs = window.page.locator("[data-row]:visible")
        expect(pairs).to_have_count(3)
        window.page.keyboard.press("1")
        expect(pairs).to_have_count(1)
        notice(window, "Kept: ")
        window.page.keyboard.press("u")
        notice(window, "Taken back: ")
        expect(pairs).to_have_count(3)
        window.page.locator("[data-row].selected:visible").wait_for()
        window.page.keyboard.press("1")
        expect(pairs).to_have_count(1)
        window.page.keyboard.press("2")
        window.page.get_by_text("Nothing waits for a decision.").wait_for()
        notice(window, "Kept: ")
        for _ in range(200):  # the second decision may be stored after the first one's notice
            if len(memory.lessons()) == 1:
                break
            window.page.wait_for_timeout(50)
        assert window.trouble == []
    assert len(memory.lessons()) == 1


def test_the_list_does_not_run_out_before_the_queue_does(memory: Memory, browser: Browser) -> None:
    lessons = waiting(memory, 40)
    with review_page(memory, browser) as window:
        for _ in range(40):
            window.page.locator("[data-row].selected:visible").wait_for()
            window.page.keyboard.press("a")
        notice(window, f"Confirmed: {lessons[-1].title}")
        assert states(memory, lessons) == ["active"] * 40
        assert window.page.get_by_text("Nothing waits for a decision.").is_visible()
        assert window.trouble == []


def test_a_large_memory_is_listed_at_once_and_compared_behind_the_page(
    memory: Memory, browser: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.pages.reviewkept.SMALL", 0)
    memory.remember("Install dependencies with npm.", trust="agent")
    memory.remember("Install dependencies with pnpm.")
    memory.undo()
    waiting(memory, 2)
    with review_page(memory, browser) as window:
        window.page.locator(".judged.contradiction").wait_for()
        assert window.page.locator("[data-row]:visible").count() == 3
        assert "contradiction" in window.page.locator("[data-row]").first.inner_text()
        window.page.keyboard.press("2")
        notice(window, "Kept: Install dependencies with npm")
        assert [lesson.insight for lesson in memory.lessons()] == ["Install dependencies with npm."]


def test_without_script_every_verdict_is_a_button(memory: Memory, browser: Browser) -> None:
    lessons = waiting(memory, 2)
    with review_page(memory, browser, script=False) as window:
        window.page.locator("[data-row]").first.get_by_role("button", name="Accept").click()
        assert f"Confirmed: {lessons[0].title}" in window.page.locator("#notice").inner_text()
        assert shown(window) == [lessons[1].title]
        window.page.get_by_role("button", name="Undo").click()
        assert shown(window) == [lesson.title for lesson in lessons]
        assert states(memory, lessons) == ["candidate"] * 2


@pytest.mark.parametrize("dark", [False, True])
def test_axe_has_nothing_against_the_page(browser: Browser, home: Path, tmp_path: Path, dark: bool) -> None:
    from tests.demomemory import make_demo

    with make_demo(tmp_path / "demo").open() as memory:
        for width in (320, 1920):
            with review_page(memory, browser, "?group=kind", dark=dark, width=width) as window:
                for fold in window.page.locator("details").all():
                    fold.locator("summary").click()
                assert window.violations() == []
                assert not window.is_too_wide()
                assert window.trouble == []
