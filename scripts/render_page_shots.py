"""Take the pictures of docs/images/pages: every page over the demo memory, at three widths and in both themes.

    python scripts/render_page_shots.py [NAME ...]

The picture of a page is one image: 1,024 wide and light; beside it 360 wide and dark; NAME-wide is 1,920 wide and dark,
half as large. It needs chromium (tests/browser.py).
"""

from __future__ import annotations

import io
import re
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from PIL import Image
from playwright.sync_api import Browser, sync_playwright
from tests.browser import ARGUMENTS, find_browser, serving, tab
from tests.demomemory import make_demo

from holdfast import Memory
from holdfast.pages.addresses import fill
from holdfast.pages.table import PAGES
from holdfast.ports.store import EventFilter
from holdfast.surfaces.web.local import LocalEntrance, local_app

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "images" / "pages"
END = datetime(2026, 5, 4, 12, tzinfo=UTC)
"""The last day of the demo, so that every run shows the same days."""
COLOURS = 96
HEIGHT = 860
GAP = 24


def main(names: list[str]) -> None:
    """Take the pictures of those pages; of all without names."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, make_demo(Path(folder), END).open() as opened:
        memory = opened.at(opened.folder)
        entrance = LocalEntrance(memory)
        with sync_playwright() as playwright, serving(local_app(entrance)) as url:
            browser = playwright.chromium.launch(executable_path=find_browser(), args=ARGUMENTS)
            cookie = {"name": entrance.cookie, "value": entrance.secret, "url": url}
            for name, address in addresses(memory):
                if not names or name in names:
                    take(browser, name, url + address, cookie)
            browser.close()


def addresses(memory: Memory) -> Iterator[tuple[str, str]]:
    """Yield the name and an address of each page that one person has."""
    lesson = next(lesson.id for lesson in memory.lessons() if lesson.title.startswith("Times are UTC"))
    events = memory.services.store.find_events(EventFilter(project=memory.location.project.id))
    session = next(event.session for _, event in events if "times have no offset" in event.text)
    values = {"project": memory.location.project.id, "lesson": lesson, "session": session}
    for row in PAGES:
        if not row.is_served_only and row.name != "projects" and "." not in row.path:
            yield row.name, fill(row.path, {key: values[key] for key in re.findall(r"\{(\w+)\}", row.path)})[0]


def take(browser: Browser, name: str, address: str, cookie: dict[str, str]) -> None:
    """Take the pictures of one page."""
    light, narrow, wide = (
        shot(browser, address, cookie, width, dark=dark) for width, dark in ((1024, False), (360, True), (1920, True))
    )
    both = Image.new("RGB", (light.width + GAP + narrow.width, HEIGHT), "white")
    both.paste(light, (0, 0))
    both.paste(narrow, (light.width + GAP, 0))
    save(both, f"{name}.png")
    save(wide.resize((wide.width // 2, wide.height // 2), Image.Resampling.LANCZOS), f"{name}-wide.png")


def shot(browser: Browser, address: str, cookie: dict[str, str], width: int, *, dark: bool) -> Image.Image:
    """Return what a window of that width shows."""
    with tab(browser, width=width, height=HEIGHT, dark=dark) as window:
        window.page.context.add_cookies([cookie])  # type: ignore[list-item]
        window.page.goto(address)
        if window.trouble:
            raise RuntimeError(f"{address}: {window.trouble}")
        return Image.open(io.BytesIO(window.page.screenshot())).convert("RGB")


def save(image: Image.Image, name: str) -> None:
    """Write a picture with few colours, which is a fifth of its size."""
    image.quantize(COLOURS, dither=Image.Dither.NONE).save(FOLDER / name, optimize=True)
    print(f"{name}: {(FOLDER / name).stat().st_size:,} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])
