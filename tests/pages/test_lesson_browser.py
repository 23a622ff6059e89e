"""The page of a lesson in a real browser: with keys alone, without script, at every width, in both themes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from holdfast import Memory
from holdfast.domain.lesson import Lesson
from holdfast.surfaces.web.local import LocalEntrance, local_app
from holdfast.testing.builders import make_delivery, make_outcome
from tests.browser import Tab, serving, tab
from tests.codebase import Codebase

RULE = "Rows are kept by key; a second put of the same key replaces the row."


@pytest.fixture
def code(home: Path, tmp_path: Path) -> Codebase:
    return Codebase(tmp_path / "harbour")


@pytest.fixture
def memory(code: Codebase) -> Iterator[Memory]:
    with Memory(str(code.folder)) as opened:
        yield opened


@pytest.fixture
def lesson(memory: Memory, code: Codebase) -> Lesson:
    """A lesson whose code changed since, told twice."""
    stated = memory.remember(RULE, files=["src/store.py::Store.put"], why="callers rely on `put`")
    code.edit("src/store.py", "self.rows[key] = value", "self.rows.setdefault(key, value)")
    code.commit("Keep the first row")
    project = memory.location.project.id
    memory.services.store.record([
        make_delivery(lesson=stated.id, project=project, session="s1", trigger="src/store.py"),
        make_outcome(lesson=stated.id, project=project, session="s1", judge="rules/1", note="called put"),
        make_outcome(lesson=stated.id, project=project, session="s2", judge="rules/1", verdict="missed"),
    ])  # fmt: skip
    return stated


@contextmanager
def opened(
    browser: Browser, memory: Memory, lesson: Lesson, *, width: int = 1024, dark: bool = False, script: bool = True
) -> Iterator[Tab]:
    """The page of the lesson in a window of a browser that has come in by the link."""
    entrance = LocalEntrance(memory)
    with serving(local_app(entrance)) as url, tab(browser, width=width, dark=dark, script=script) as window:
        window.page.goto(f"{url}/enter/{entrance.key}")
        window.page.goto(f"{url}/p/{memory.location.project.id}/lessons/{lesson.id}")
        yield window
        assert window.trouble == []


def notice(window: Tab) -> str:
    """The message of the last action."""
    return " ".join(window.page.locator("#notice").inner_text().split())


@pytest.mark.parametrize(("width", "dark"), [(320, False), (1024, True), (2560, False)])
def test_the_page_is_accessible_and_never_wider_than_the_window(
    browser: Browser, memory: Memory, lesson: Lesson, width: int, dark: bool
) -> None:
    memory.flag(lesson.id, "stale", note="first row stays")
    with opened(browser, memory, lesson, width=width, dark=dark) as window:
        assert window.violations() == []
        assert not window.is_too_wide()
        window.page.keyboard.press("f")
        assert window.page.locator("#note").is_visible()
        assert window.violations() == []
        window.page.goto(f"{window.page.url.partition('?')[0]}/edit")
        assert window.violations() == []
        assert not window.is_too_wide()


def test_everything_is_done_with_one_key(browser: Browser, memory: Memory, lesson: Lesson) -> None:
    with opened(browser, memory, lesson) as window:
        page = window.page
        assert "Code changed." in page.locator(".verdict").inner_text()

        def press(key: str, words: str) -> None:
            with page.expect_navigation():
                page.keyboard.press(key)
            assert words in notice(window)

        press("c", "Confirmed: Rows are kept by key")
        assert "Fresh." in page.locator(".verdict").inner_text()
        press("u", "Undone. It is as before")
        assert "Code changed." in page.locator(".verdict").inner_text()
        press("r", "Retired: Rows are kept by key")
        assert memory.get(lesson.id).state == "retired"
        press("u", "Undone.")
        page.keyboard.press("f")
        page.keyboard.type("the first row stays")
        press("Enter", "Flagged as stale")
        assert "the first row stays" in page.locator(".verdict").inner_text()
        press("u", "Taken back what you said of it")
        page.keyboard.press("f")
        page.keyboard.press("Escape")
        assert not page.locator("#note").is_visible()
        with page.expect_navigation():
            page.keyboard.press("e")
        page.keyboard.press("ControlOrMeta+End")
        page.keyboard.type(" It is never merged.")
        page.get_by_role("button", name="Save").press("Enter")
        page.wait_for_url(lambda url: "/edit" not in url)
        assert "Saved: " in notice(window)
        assert memory.get(page.url.rpartition("/")[2]).insight.endswith("replaces the row. It is never merged.")
        press("u", "Undone.")
        assert memory.get(lesson.id).state == "active"


def test_everything_works_without_script(browser: Browser, memory: Memory, lesson: Lesson) -> None:
    with opened(browser, memory, lesson, script=False) as window:
        page = window.page
        page.get_by_role("button", name="Confirm").click()
        assert "Confirmed: Rows are kept by key" in notice(window)
        page.locator("#notice button").click()
        assert "Undone." in notice(window)
        page.locator("summary", has_text="Flag").click()
        page.locator("#note").fill("not since March")
        page.get_by_role("button", name="Incorrect").click()
        assert "Flagged as incorrect" in notice(window)
        page.locator("summary", has_text="Retire until").click()
        page.locator("#revive").fill("numpy>=3")
        page.get_by_role("button", name="Retire until then").click()
        assert "Retired until numpy>=3" in notice(window)
        page.get_by_role("button", name="Restore").click()
        assert "Restored: Rows are kept by key" in notice(window)
        page.get_by_role("link", name="Edit").click()
        page.get_by_label("Why").fill("everybody relies on it")
        page.get_by_role("button", name="Save").click()
        assert "Saved: " in notice(window)
        page.get_by_role("button", name="Forget").click()
        assert "Forgotten: " in notice(window)
        assert "A forgotten lesson" in page.locator("h1").inner_text()
        page.get_by_role("button", name="Restore").click()
        assert memory.lessons()[0].why == "everybody relies on it"


def test_the_code_can_be_scrolled_with_keys(browser: Browser, memory: Memory, code: Codebase) -> None:
    code.write("src/wide.py", f"WIDE = '{'x' * 400}'\n")
    wide = memory.remember("The line is long on purpose.", files=["src/wide.py"])
    with opened(browser, memory, wide, width=320) as window:
        region = window.page.get_by_role("region", name="Code of src/wide.py, then and now")
        region.focus()
        window.page.keyboard.press("ArrowRight")
        for _ in range(200):  # the policy of the page forbids `wait_for_function`
            if region.evaluate("region => region.scrollLeft"):
                break
            window.page.wait_for_timeout(50)
        assert region.evaluate("region => region.scrollLeft") > 0
        assert not window.is_too_wide()
