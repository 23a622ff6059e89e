"""The keys that all pages share, in a real browser; and that they can be switched off."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from holdfast import Memory
from holdfast.surfaces.web.local import LocalEntrance, local_app
from tests.browser import serving, tab


@pytest.fixture
def page(memory: Memory, browser: Browser) -> Iterator[Page]:
    """The home page of a memory with two lessons, in a window; nothing in it may have gone wrong."""
    memory.remember("Retries are capped at three.")
    memory.remember("The cache lives for an hour.")
    entrance = LocalEntrance(memory)
    with serving(local_app(entrance)) as url, tab(browser) as window:
        window.page.goto(f"{url}/enter/{entrance.key}")
        yield window.page
        assert window.trouble == []


def test_help_opens_and_closes_by_key_and_keys_can_be_switched_off(page: Page) -> None:
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_hidden()
    page.get_by_role("button", name="Keyboard shortcuts").click()
    page.get_by_label("Use these keys").uncheck()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("?")
    page.keyboard.press("j")
    expect(page.get_by_role("dialog", name="Keyboard")).to_be_hidden()
    assert page.locator("[data-row].selected").count() == 0
    page.reload()
    page.keyboard.press("j")
    assert page.locator("[data-row].selected").count() == 0
    page.get_by_role("button", name="Keyboard shortcuts").click()
    page.get_by_label("Use these keys").check()
    page.keyboard.press("Escape")
    page.keyboard.press("j")
    assert page.locator("[data-row].selected").count() == 1


def test_rows_are_walked_and_opened_by_keys(page: Page) -> None:
    page.keyboard.press("j")
    expect(page.locator("[data-row].selected")).to_contain_text("The cache lives for an hour")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator("[data-row].selected")).to_contain_text("Retries are capped at three")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_contain_text("Retries are capped at three")
    page.wait_for_load_state()
    page.keyboard.press("g")
    page.keyboard.press("h")
    expect(page.get_by_role("heading", name="What an agent is told now")).to_be_visible()
    expect(page.get_by_role("link", name="Home", exact=True)).to_have_attribute("aria-current", "page")


def test_the_skip_link_comes_first_and_leads_to_the_content(page: Page) -> None:
    page.keyboard.press("Tab")
    expect(page.get_by_role("link", name="Skip to the content")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#main")).to_be_focused()
