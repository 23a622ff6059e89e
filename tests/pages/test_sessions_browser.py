"""The pages of sessions and threads in a real browser: with keys, without script, narrow and wide, in both themes."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pytest
from playwright.sync_api import Browser

from holdfast import Memory
from holdfast.surfaces.web.local import LocalEntrance, local_app
from tests.browser import Tab, serving, tab
from tests.stories import RED, Story, play

PAGES = ("sessions", "sessions/s2", "threads")


@pytest.fixture
def worked(memory: Memory) -> Memory:
    """The memory of two sessions, with long names and texts."""
    start = datetime.now(UTC) - timedelta(days=2)
    branch = memory.location.branch
    long = "package/with/a/very/long/path/that/does/not/fit/into/a/narrow/window/" * 2
    return play(
        memory,
        Story("s1", branch=branch, start=start).asked("Mend the late test.").red().red(),
        Story("s2", 1, branch="feature/" + "x" * 90, start=start)
        .asked("Go on with the late test, please. " * 30).edited(f"{long}a.go")
        .red(output=RED.replace("expected 3", "expected " + "y" * 140)).ran("git commit -m x", f"[w 1] {long}"),
    )  # fmt: skip


@contextmanager
def opened(
    browser: Browser, memory: Memory, path: str, *, width: int = 1024, dark: bool = False, script: bool = True
) -> Iterator[Tab]:
    """A page in a window of a browser that has come in by the link."""
    entrance = LocalEntrance(memory)
    with serving(local_app(entrance)) as url, tab(browser, width=width, dark=dark, script=script) as window:
        window.page.goto(f"{url}/enter/{entrance.key}")
        window.page.goto(f"{url}/p/{memory.location.project.id}/{path}")
        yield window
        assert window.trouble == []


@pytest.mark.parametrize("path", PAGES)
@pytest.mark.parametrize(("width", "dark"), [(320, False), (1024, True), (2560, False)])
def test_nothing_is_wider_than_the_window_and_axe_finds_nothing(
    browser: Browser, worked: Memory, path: str, width: int, dark: bool
) -> None:
    with opened(browser, worked, path, width=width, dark=dark) as window:
        assert not window.is_too_wide()
        assert window.violations() == []


def test_keys_open_a_session_and_lead_back(browser: Browser, worked: Memory) -> None:
    with opened(browser, worked, "sessions") as window:
        window.page.keyboard.press("j")
        window.page.keyboard.press("j")
        window.page.keyboard.press("Enter")
        window.page.wait_for_url("**/sessions/s1")
        assert "Mend the late test." in window.page.inner_text("main")
        window.page.keyboard.press("g")
        window.page.keyboard.press("t")
        window.page.wait_for_url("**/sessions")


def test_the_filter_works_without_script(browser: Browser, worked: Memory) -> None:
    with opened(browser, worked, "sessions", script=False) as window:
        window.page.click("details.filter summary")
        window.page.fill("input[name=branch]", worked.location.branch)
        window.page.click("form.filters button")
        assert "branch=" in window.page.url
        assert window.page.locator("[data-row]").count() == 1
        window.page.click("[data-row] a.row-title")
        assert "What failed" in window.page.inner_text("main")
