"""What the machine needs for a verdict on the review page: from the key to the next row, and to the stored decision.

    python benchmarks/review_keys.py [--counts 50 200] [--lessons 2000] [--json FILE]

A memory with so many confirmed lessons and so many proposals is served as `holdfast ui` does it; half of the proposals
wait, a fifth each are merges and stale code, and the rest contradicts. Chromium opens the page and presses one key a
proposal: the first time as fast as it can, the second time waiting for each decision. Reported are the milliseconds
from the key to the next row on the screen, and to the answer that the decision is stored; the seconds for all of them;
and what it would be for a person who looks at each for two seconds. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

if not __package__:  # started as `python benchmarks/review_keys.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benchmarks.size_lessons import Project, Words
from tests.browser import ARGUMENTS, find_browser, serving
from tests.codebase import Codebase

from holdfast.bootstrap import Memory, open_memory
from holdfast.domain.lesson import Link, Scope, Validity
from holdfast.domain.vocabulary import LessonId, State
from holdfast.lessons.ledger import write_change
from holdfast.surfaces.web.local import LocalEntrance, local_app
from holdfast.testing.builders import make_lesson

LOOK_S = 2.0
"""Seconds that a person is said to look at a proposal."""
BATCH = 1_000
THINGS = (
    "ledger", "invoice", "parcel", "label", "carrier", "order", "refund", "voucher", "stock", "basket", "receipt",
    "tariff", "customs", "pallet", "depot", "courier", "signature", "barcode", "weight", "address",
)  # fmt: skip
PLACES = ("Bremen", "Cadiz", "Dover", "Esbjerg", "Faro", "Gdynia", "Hull", "Izmir", "Jaffa", "Kiel", "Lagos")

WATCH = """() => {
  window.times = { next: [], stored: [] };
  document.addEventListener("keydown", (event) => {
    const pressed = event.timeStamp, before = document.querySelector("[data-row].selected");
    if (before) before.pressed = pressed;
    requestAnimationFrame(() => requestAnimationFrame(() => {
      const now = document.querySelector("[data-row].selected:not([hidden])");
      if (now !== before) window.times.next.push(performance.now() - pressed);
    }));
  }, true);
  document.addEventListener("holdfast:decided", (event) => {
    window.times.stored.push(performance.now() - event.detail.row.pressed);
  });
}"""


def main() -> None:
    """Measure each count twice and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--counts", type=int, nargs="+", default=[50, 200])
    parser.add_argument("--lessons", type=int, default=2_000)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    results = [
        measure(count, arguments.lessons, is_waiting=is_waiting)
        for count in arguments.counts for is_waiting in (False, True)
    ]  # fmt: skip
    for result in results:
        print("  ".join(f"{name} {value}" for name, value in result.items()))
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1) + "\n")


def measure(count: int, lessons: int, *, is_waiting: bool) -> dict[str, Any]:
    """Return the times of one review of so many proposals."""
    with tempfile.TemporaryDirectory() as folder:
        code = Codebase(Path(folder) / "code")
        for number in range(count // 5):
            code.write(f"src/part_{number}.py", f"def part_{number}(a, b):\n    return a + b\n")
        code.commit("parts")
        with open_memory(str(code.folder), home=f"{folder}/home") as memory:
            fill(memory, count, lessons, code)
            entrance = LocalEntrance(memory)
            with serving(local_app(entrance)) as url, sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=find_browser(), args=ARGUMENTS)
                window = browser.new_context(viewport={"width": 1280, "height": 900})
                window.add_cookies([{"name": entrance.cookie, "value": entrance.secret, "url": url}])
                page = window.new_page()
                page.goto(f"{url}/p/{memory.location.project.id}/review?wait=true")
                result = review(page, is_waiting=is_waiting)
                browser.close()
    return {"proposals": count, "waits for each": is_waiting, **result}


def fill(memory: Memory, count: int, lessons: int, code: Codebase) -> None:
    """Store the lessons, and so many proposals of every kind."""
    project = memory.location.project.id
    made = Project("review", project, lessons, Words(3)).lessons()
    now = Validity(valid_from=memory.services.clock.now())
    batch = [  # each of a part of its own, so that made-up words contradict and repeat nothing
        replace(lesson, anchors=(), validity=now, scope=Scope(project=project, path_prefix=f"part_{number}"))
        for number, (lesson, _) in enumerate(made)
    ]
    for at in range(0, len(batch), BATCH):
        memory.services.store.put(batch[at : at + BATCH], {lesson.id: None for lesson in batch[at : at + BATCH]})
    for number in range(count // 5):
        name = f"part_{number}"
        memory.remember(
            f"Callers of {name} check both sums at {PLACES[number % 11]} themselves.", files=[f"src/{name}.py"],
            symbols=[name],
        )  # fmt: skip
        code.edit(f"src/{name}.py", "a + b", "a - b")
        what = f"amounts of the {THINGS[number % 20]} of {PLACES[number // 20 % 11]}"
        part = f"shop_{number}"
        put(memory, f"Store {what} as integer cents in its table, never as floats", "active", prefix=part)
        put(memory, f"The {what} stay integer cents in its table and never become floats", "active", prefix=part)
    for number in range(count // 10):
        what = f"the {THINGS[number % 20]} of {PLACES[number // 20]}"
        first = memory.remember(f"Bring {what} in by the north gate in the morning.")
        put(memory, f"Bring {what} in by the south gate in the evening.", "candidate", opposes=first.id)
    left = count - 2 * (count // 5) - count // 10
    for number in range(left):
        put(
            memory,
            f"The {THINGS[number % 20]} of {PLACES[number // 20 % 11]} is read twice in step {number}.",
            "candidate",
        )


def put(memory: Memory, insight: str, state: State, *, opposes: LessonId | None = None, prefix: str = "") -> None:
    """Store an agent's lesson in that state."""
    now = memory.services.clock.now()
    lesson = make_lesson(
        id=memory.services.clock.new_id(), insight=insight, state=state, trust="agent",
        links=(Link(kind="contradicts", target=opposes),) if opposes else (), project=memory.location.project.id,
        prefix=prefix, recorded_at=now, valid_from=now,
    )  # fmt: skip
    write_change(memory.services, memory.location, "learn", [lesson], {lesson.id: None})


def review(page: Page, *, is_waiting: bool) -> dict[str, Any]:
    """Press one key a proposal and return the times."""
    page.evaluate(WATCH)
    page.locator("[data-row].selected").wait_for()
    answered = "count => window.times.stored.length + document.querySelectorAll('.failed').length >= count"
    began = time.perf_counter()
    pressed = 0
    while is_more(page):
        is_pair = page.locator("[data-row].selected:visible.contradiction").count()
        page.keyboard.press("1" if is_pair else "a" if pressed % 3 else "x")
        pressed += 1
        if is_waiting:
            page.wait_for_function(answered, arg=pressed)
    page.wait_for_function(answered, arg=pressed, timeout=120_000)
    total_s = time.perf_counter() - began
    times = page.evaluate("window.times")
    failed = page.locator(".failed").all_inner_texts()
    return {
        "pressed": pressed, "failed": failed[:3], "next row ms": spread(times["next"]),
        "stored ms": spread(times["stored"]), "all s": round(total_s, 1),
        "with two seconds each, min": round((LOOK_S * pressed + (total_s if is_waiting else 0)) / 60, 1),
    }  # fmt: skip


def is_more(page: Page) -> bool:
    """Wait for the next row that has not failed; return False once nothing waits."""
    page.wait_for_function(
        """() => document.querySelector("[data-row].selected:not([hidden])")
          || document.querySelector("[data-empty]:not([hidden])") && !document.querySelector(".more a[rel=next]")"""
    )
    row = page.locator("[data-row].selected:visible")
    return row.count() > 0 and row.locator(".failed").count() == 0


def spread(values: Sequence[float]) -> str:
    """Return median and 95th percentile."""
    ordered = sorted(values) or [0.0]
    return f"{statistics.median(ordered):.0f}, {ordered[min(len(ordered) - 1, int(len(ordered) * 0.95))]:.0f}"


if __name__ == "__main__":
    main()
