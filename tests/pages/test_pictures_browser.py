"""The pictures in a real browser: every label within its picture and beside the others, every link by keyboard, in both
themes, at every width, without script."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

from holdfast import Memory
from holdfast.domain.records import Delivery, Outcome
from holdfast.domain.statefamilies import SESSION_TROUBLE
from holdfast.domain.vocabulary import SessionId
from holdfast.lean.texts import dumps
from holdfast.surfaces.web.local import LocalEntrance, local_app
from holdfast.testing.builders import make_delivery, make_outcome
from tests.browser import Tab, serving, tab
from tests.codebase import Codebase

PAGES = ("map", "map?area=src/part_1", "map/graph", "stats")
LABELS = """() => [...document.querySelectorAll('svg[role]')].flatMap(picture => {
  const frame = picture.getBoundingClientRect();
  const boxes = [...picture.querySelectorAll('text')].map(text => [text.textContent, text.getBoundingClientRect()]);
  const outside = boxes.filter(([, box]) => box.left < frame.left - 1 || box.right > frame.right + 1
    || box.top < frame.top - 1 || box.bottom > frame.bottom + 1).map(([words]) => `outside: ${words}`);
  const over = boxes.flatMap(([words, box], index) => boxes.slice(index + 1).filter(([, other]) =>
    Math.min(box.right, other.right) - Math.max(box.left, other.left) > 1
    && Math.min(box.bottom, other.bottom) - Math.max(box.top, other.top) > box.height / 2
  ).map(([others]) => `${words} over ${others}`));
  return [...outside, ...over];
})"""
"""Returns the labels that leave their picture or cover another one."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A code base with folders of many and of few files."""
    code = Codebase(tmp_path_factory.mktemp("pictures") / "harbour")
    for part in range(6):
        for number in range(3 + 4 * part):
            code.write(
                f"src/part_{part}/quite_a_long_name_{number}.py", f"def work_{number}():\n" + "    go()\n" * number
            )
    code.commit()
    return code.folder


@pytest.fixture(scope="module")
def memory(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """A memory with lessons about that code, some of them stale, with trouble, and with sessions that were told."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOLDFAST_HOME", str(tmp_path_factory.mktemp("home")))
        with Memory(str(folder)) as opened:
            lessons = [
                opened.remember(
                    f"Part {part} goes {number} times <b>before</b> the others wait for it, whatever the weather.",
                    files=[f"src/part_{part}/quite_a_long_name_{number}.py"], symbols=[f"work_{number}"],
                )
                for part in range(6) for number in range(1, 3)
            ]  # fmt: skip
            (folder / "src/part_1/quite_a_long_name_1.py").write_text("def work_1():\n    stop()\n")
            files = {f"src/part_{part}/quite_a_long_name_0.py": [part, 1, 0] for part in range(6)}
            value = dumps({"at": "2026-01-05T00:00:00+00:00", "files": files})
            opened.services.store.set_rows(SESSION_TROUBLE, opened.location.project.id, {"s": value})
            now, project = opened.services.clock.now(), opened.location.project.id
            entries: list[Delivery | Outcome] = []
            for number in range(80):
                lesson, session = lessons[number % 9], SessionId(f"s{number}")
                about: dict[str, Any] = {
                    "at": now - timedelta(days=number), "project": project, "session": session, "lesson": lesson.id,
                }  # fmt: skip
                is_withheld, verdict = number % 6 == 0, "heeded" if number % 3 else "failed"
                judged = make_outcome(**about, verdict=verdict, moment="session_start", withheld=is_withheld)
                entries.append(replace(judged, id=f"judged:{lesson.id}:{session}"))
                if not is_withheld:
                    host = "codex" if number % 2 else "claude-code"
                    entries.append(make_delivery(**about, host=host, moment="session_start", tokens=9_000 + number))
            opened.services.store.record(entries)
            yield opened


@contextmanager
def opened(browser: Browser, memory: Memory, **options: Any) -> Iterator[tuple[Tab, str]]:
    """A window that has come in by the link, and the address of the project."""
    entrance = LocalEntrance(memory)
    with serving(local_app(entrance)) as url, tab(browser, **options) as window:
        window.page.goto(f"{url}/enter/{entrance.key}")
        yield window, f"{url}/p/{memory.location.project.id}/"
        assert window.trouble == []


@pytest.mark.parametrize(("width", "dark"), [(320, True), (1024, False), (2560, True)])
def test_labels_are_readable_at_every_width(browser: Browser, memory: Memory, width: int, dark: bool) -> None:
    with opened(browser, memory, width=width, dark=dark, script=False) as (window, project):
        for path in PAGES:
            window.page.goto(project + path)
            assert window.page.locator("svg[role] text").count() > 3, path
            assert window.page.evaluate(LABELS) == [], path
            assert not window.is_too_wide(), path


@pytest.mark.parametrize("dark", [False, True])
def test_pictures_are_accessible(browser: Browser, memory: Memory, dark: bool) -> None:
    with opened(browser, memory, width=1366, dark=dark) as (window, project):
        for path in PAGES:
            window.page.goto(project + path)
            assert window.violations() == [], path
            for summary in window.page.locator("main summary").all():
                summary.click()
            assert window.violations() == [], path


def test_the_rectangles_of_a_map_are_reached_by_keyboard(browser: Browser, memory: Memory) -> None:
    with opened(browser, memory, width=1366) as (window, project):
        window.page.goto(f"{project}map")
        window.page.locator("svg a").first.focus()
        window.page.keyboard.press("Enter")
        window.page.wait_for_url("**/map?area=src")
        window.page.locator("svg a", has_text="part_5/").first.focus()
        window.page.keyboard.press("Enter")
        window.page.wait_for_url("**/map?area=src*part_5")
        assert window.page.locator("nav.way").inner_text().split("/")[-1].strip() == "part_5"


def test_the_figures_of_a_chart_open_without_script(browser: Browser, memory: Memory) -> None:
    with opened(browser, memory, width=1024, script=False) as (window, project):
        window.page.goto(f"{project}stats")
        assert window.page.locator("figure").count() >= 8
        first = window.page.locator("figure details").first
        assert not first.locator("table").is_visible()
        first.locator("summary").click()
        assert first.locator("table").is_visible()


def test_a_series_is_told_apart_without_its_colour(browser: Browser, memory: Memory) -> None:
    with opened(browser, memory, width=1024) as (window, project):
        window.page.goto(f"{project}stats")
        dashes = window.page.locator("svg path.line").evaluate_all(
            "lines => lines.map(line => getComputedStyle(line).strokeDasharray)"
        )
        assert len(set(dashes)) == len(dashes) == 3
