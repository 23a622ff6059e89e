"""The pages as a user of the installed wheel has them: in the browser with keys, as JSON, as files, as a digest."""

from __future__ import annotations

import json
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser

from tests.browser import tab
from tests.e2e.conftest import PYTHON, Machine

RULES = (
    ("Amounts are whole cents, never floats.", "ledger/money.py"),
    ("Report lines keep the form name: amount.", "ledger/report.py"),
)


@contextmanager
def pages(machine: Machine) -> Iterator[str]:
    """Run `holdfast ui`; yield the link that it prints, and end it as Ctrl-C does."""
    process = subprocess.Popen(
        [PYTHON, "-m", "holdfast", "ui", "--no-open"], cwd=machine.repository, env=machine.env,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        lines = iter(process.stdout.readline, "")
        yield next(match.group() for line in lines if (match := re.search(r"http://\S+/enter/\S+", line)))
    finally:
        process.send_signal(signal.SIGINT)
        _, trouble = process.communicate(timeout=60)
    assert (process.returncode, trouble) == (0, "")


def test_a_person_looks_decides_with_a_key_and_takes_it_back(machine: Machine, browser: Browser) -> None:
    for rule, file in RULES:
        machine.holdfast("remember", rule, "--file", file)
    money = machine.repository / "ledger" / "money.py"
    money.write_text(money.read_text().replace("cents / people", "cents // people"))
    machine.commit_all("Divide without a rest")
    with pages(machine) as link, tab(browser) as window:
        page = window.page
        page.goto(link)
        assert RULES[0][0] in page.locator("main").inner_text()
        page.keyboard.press("/")
        page.keyboard.type("cents")
        page.keyboard.press("Enter")
        page.get_by_role("link", name=re.compile("cents")).first.click()
        page.wait_for_url("**/lessons/**")
        with page.expect_navigation():
            page.keyboard.press("r")
        assert "active" not in states(machine)[RULES[0][0]]
        with page.expect_navigation():
            page.keyboard.press("u")
        assert states(machine)[RULES[0][0]] == "active"
        answer = page.request.get(page.url.partition("?")[0] + ".json")
        assert RULES[0][0] in json.dumps(answer.json())
        assert window.trouble == []


def states(machine: Machine) -> dict[str, str]:
    """The state of each lesson, by its rule."""
    lessons = [*machine.json("list")["lessons"], *machine.json("list", "--state", "retired")["lessons"]]
    return {lesson["insight"]: lesson["state"] for lesson in lessons}


def test_the_same_pages_as_files_and_what_was_learnt_as_text(
    machine: Machine, browser: Browser, tmp_path: Path
) -> None:
    for rule, file in RULES:
        machine.holdfast("remember", rule, "--file", file)
    machine.holdfast("remember", "Only Ada may know this.", "--private")
    site, bundle = tmp_path / "site", tmp_path / "bundle"
    machine.holdfast("export", str(site), "--format", "html")
    machine.holdfast("export", str(bundle), "--format", "okf")
    written = "".join(path.read_text() for folder in (site, bundle) for path in folder.rglob("*.*") if path.is_file())
    assert "Only Ada" not in written
    with tab(browser) as window:
        window.page.goto((site / "index.html").as_uri())
        assert "ledger" in window.page.locator("h1").inner_text()
        window.page.get_by_role("link", name=re.compile("cents")).first.click()
        assert RULES[0][0].rstrip(".") in window.page.locator("main").inner_text()
        assert window.trouble == []
    digest = machine.holdfast("digest", "--for", "team")
    assert "Only Ada" not in digest
    assert "cents" in digest
