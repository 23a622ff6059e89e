"""A real browser for tests: chromium through playwright, and axe in it.

The browser is Debian's package `chromium`, or the program that HOLDFAST_TEST_BROWSER names; nothing is downloaded.
Where there is none, the tests that need it are skipped, unless HOLDFAST_TEST_BROWSER is `required`.

Fixture (tests/conftest.py): `browser` runs for one module: while playwright's synchronous interface is open, no other
event loop runs in its thread, and tests of the server need one. `with tab(browser) as window:` opens a window of its
own, whose `trouble` lists what a page must not do: console errors and requests to anywhere else.
"""

from __future__ import annotations

import os
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, sync_playwright
from starlette.types import ASGIApp

PROGRAMS = ("chromium", "chromium-browser", "google-chrome")
ARGUMENTS = [
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
]  # fmt: skip
"""A browser of a test is root's in a container, and asks nobody about anything."""
WCAG = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
HEIGHT = 900


def find_browser() -> str:
    """Return the path of a browser; empty if there is none."""
    named = os.environ.get("HOLDFAST_TEST_BROWSER", "")
    if named and named != "required":
        return named
    return next(filter(None, map(shutil.which, PROGRAMS)), "")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser that runs for the tests of one module."""
    program = find_browser()
    if not program:
        if os.environ.get("HOLDFAST_TEST_BROWSER"):
            pytest.fail("there is no browser: install the package chromium")
        pytest.skip("no browser: install chromium, or name one in HOLDFAST_TEST_BROWSER")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=program, args=ARGUMENTS)
        yield running
        running.close()


@dataclass(slots=True)
class Tab:
    """A window, and what its pages did that they must not do."""

    page: Page
    trouble: list[str] = field(default_factory=list)
    expected: tuple[str, ...] = ()
    """Parts of messages that the test provokes itself, such as `status of 404`."""

    def note(self, what: str) -> None:
        """Note a fault, unless the test expects it."""
        if not any(part in what for part in self.expected):
            self.trouble.append(what)

    def violations(self) -> list[str]:
        """Return what axe has against the page, by the rules of WCAG 2.2 AA and best practice: rule, and where."""
        answer = Axe().run(self.page, options=WCAG | {"resultTypes": ["violations"]})
        return [
            f"{rule['id']}: {node['html'][:160]} ({node['failureSummary'][:200]})"
            for rule in answer.response["violations"] for node in rule["nodes"]
        ]  # fmt: skip

    def is_too_wide(self) -> bool:
        """Return whether the page has to be scrolled sideways."""
        return bool(self.page.evaluate("document.documentElement.scrollWidth > window.innerWidth"))


@contextmanager
def tab(
    browser: Browser,
    *,
    width: int = 1024,
    height: int = HEIGHT,
    dark: bool = False,
    script: bool = True,
    **context: Any,
) -> Iterator[Tab]:
    """Open a window with cookies of its own, and close it."""
    theme = "dark" if dark else "light"
    opened = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme, java_script_enabled=script,
        reduced_motion="reduce", **context,
    )  # fmt: skip
    page = opened.new_page()
    watched = Tab(page)
    page.on("console", lambda message: watched.note(f"console: {message.text}") if message.type == "error" else None)
    page.on("pageerror", lambda error: watched.note(f"script: {error}"))
    page.on("request", lambda request: _note_foreign(watched, request.url))
    try:
        yield watched
    finally:
        opened.close()


def _note_foreign(watched: Tab, url: str) -> None:
    if urlsplit(url).scheme not in ("data", "file") and urlsplit(url).hostname not in ("127.0.0.1", "localhost"):
        watched.note(f"asked elsewhere: {url}")


@contextmanager
def serving(application: ASGIApp) -> Iterator[str]:
    """Serve an application on a free port of the loopback, in a thread of this process; yield its address."""
    server = uvicorn.Server(uvicorn.Config(application, host="127.0.0.1", port=0, log_level="error", ws="none"))
    started, announce = threading.Event(), server.startup

    async def start_and_tell(sockets: Any = None) -> None:
        await announce(sockets)
        started.set()

    server.startup = start_and_tell  # type: ignore[method-assign]
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    if not started.wait(60):
        raise RuntimeError("the server did not start")
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(30)
