"""Every page of the table in a real browser, over the demo memory with hostile words in every field.

Each is opened at three widths, in both themes and without script: axe has nothing against it, the console is clean,
nothing is asked of anybody else, nothing is wider than the window, no planted script or picture comes alive, and
without script it has the same words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from playwright.sync_api import Browser

from holdfast import Memory
from holdfast.domain.vocabulary import LessonId
from holdfast.pages.addresses import fill
from holdfast.pages.table import PAGES
from holdfast.surfaces.web.local import LocalEntrance, local_app
from holdfast.testing.builders import make_event
from tests.browser import Tab, serving, tab
from tests.demomemory import make_demo

HOSTILE = "\"><img src=x onerror=alert(1)><script>alert(2)</script>'{{7*7}}</textarea>"
LOOKS = [(320, False, True), (1024, True, True), (2560, False, False)]
"""Width, dark theme, script."""


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The demo, in which somebody has written markup into whatever a page may show."""
    with make_demo(tmp_path_factory.mktemp("demo"), datetime.now(UTC)).open() as opened:
        here = opened.at(opened.folder)
        for number in range(2):
            here.remember(
                f"Never {number} {HOSTILE}", title=f"Never {number} {HOSTILE}"[:100], why=HOSTILE, how=HOSTILE,
                tags=[f"t<b>{number}"], files=["a<b>.py", "parcel/rates.py"], symbols=["<i>x"], author=HOSTILE,
                snippets=[HOSTILE], topic_key=f"<u>{number}", trust="repository" if number else "person",
            )  # fmt: skip
        project = here.location.project.id
        shared = {"session": "s<b>1", "project": project, "at": datetime.now(UTC), "branch": "b<i>", "host": "h<i>"}
        here.append([
            make_event(**shared, key="prompt:1", text=HOSTILE, trust="person"),
            make_event(
                **shared, key="use:1", kind="tool_failure", tool="Bash", command=HOSTILE, text=HOSTILE, exit_code=1
            ),
            make_event(**shared, key="edit:1", kind="file_edit", files=("a<b>.py",), old=HOSTILE, new=HOSTILE),
        ])  # fmt: skip
        yield here


def addresses(memory: Memory) -> dict[str, str]:
    """An address of each page that one person has, by its name."""
    project = memory.location.project.id
    values = {"project": project, "lesson": _hostile(memory), "session": "s<b>1"}
    rows = {row.name: row for row in PAGES if not row.is_served_only and not row.path.endswith(".atom")}
    return {
        name: fill(row.path, {key: values[key] for key in re.findall(r"\{(\w+)\}", row.path)})[0]
        for name, row in rows.items()
    }


def _hostile(memory: Memory) -> LessonId:
    return next(lesson.id for lesson in memory.lessons() if lesson.insight.startswith("Never 0"))


def test_every_page_has_an_address(memory: Memory) -> None:
    assert len(addresses(memory)) >= 12
    assert "{" not in "".join(addresses(memory).values())


@pytest.mark.parametrize(("width", "dark", "script"), LOOKS)
def test_every_page_at_one_width(browser: Browser, memory: Memory, width: int, dark: bool, script: bool) -> None:
    entrance = LocalEntrance(memory)
    faults: list[str] = []
    with serving(local_app(entrance)) as url, tab(browser, width=width, dark=dark, script=script) as window:
        window.page.on("dialog", lambda dialog: faults.append(f"a planted script spoke: {dialog.message}"))
        window.page.goto(f"{url}/enter/{entrance.key}")
        for name, address in addresses(memory).items():
            window.page.goto(url + address)
            faults += [f"{name}: {fault}" for fault in faults_of(window, has_script=script)]
    assert faults + window.trouble == []


def faults_of(window: Tab, *, has_script: bool) -> Iterator[str]:
    """Yield what is wrong with the page that is open."""
    page = window.page
    if page.locator("h1").count() != 1 or not page.title():
        yield "it has no title, or not one heading"
    if page.locator("img[src=x], main b:text-is('1'), i:text-is('x')").count():
        yield "planted markup came alive"
    if "Never 0 49" in page.content():
        yield "a planted template was run"
    if page.locator("[style]").count():
        yield "it has an inline style"
    if has_script:
        if window.is_too_wide():
            yield f"it is wider than the window: {page.evaluate(WIDEST)}"
        yield from window.violations()


WIDEST = """[...document.querySelectorAll('main *')]
    .filter(item => item.getBoundingClientRect().right > window.innerWidth + 1)
    .slice(0, 3).map(item => item.outerHTML.slice(0, 120)).join(' | ')"""


def test_every_page_says_the_same_without_script(browser: Browser, memory: Memory) -> None:
    entrance = LocalEntrance(memory)
    with (
        serving(local_app(entrance)) as url,
        tab(browser) as window,
        tab(browser, script=False) as plain,
    ):
        cookie = {"name": entrance.cookie, "value": entrance.secret, "url": url}
        for each in (window, plain):
            each.page.context.add_cookies([cookie])  # type: ignore[list-item]
        for name, address in addresses(memory).items():
            heads = []
            for each in (window, plain):
                each.page.goto(url + address)
                heads.append(
                    [" ".join(text.split()) for text in each.page.locator("main h1, main h2").all_inner_texts()]
                )
            assert heads[0] == heads[1], name
