"""The tables of pages and actions. A module of this room adds its own: `PAGES` and `ACTIONS`, tuples of rows."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from holdfast.errors import InvalidValueError
from holdfast.pages.addresses import Addresses
from holdfast.pages.page import ActionRow, PageRow

NAVIGATION = (
    ("home", "h"), ("search", "s"), ("review", "r"), ("sessions", "t"), ("threads", ""), ("digest", "d"),
    ("map", "m"), ("stats", ""), ("topics", ""), ("recommendations", ""), ("members", ""),
)  # fmt: skip
"""Names of the pages in the navigation, in order, and the key behind `g` that goes there. Pages not made are left out.
"""
FOLDED = frozenset({"topics", "recommendations", "members"})
"""Those that are folded into `More`."""


WITHOUT_ROWS = ("frame", "staticsite", "table")
"""Modules that use the tables, so that they cannot be read for them."""


def _collect() -> tuple[tuple[PageRow, ...], tuple[ActionRow, ...]]:
    package = import_module("holdfast.pages")
    modules = [
        import_module(f"holdfast.pages.{each.name}")
        for each in iter_modules(package.__path__)
        if each.name not in WITHOUT_ROWS
    ]  # fmt: skip
    pages = [row for module in modules for row in getattr(module, "PAGES", ())]
    actions = [row for module in modules for row in getattr(module, "ACTIONS", ())]
    for rows in (pages, actions):
        for what in ("name", "path"):
            values = [getattr(row, what) for row in rows]
            if twice := sorted({value for value in values if values.count(value) > 1}):
                raise InvalidValueError(f"two rows have the {what} {twice[0]}")
    return tuple(pages), tuple(actions)


PAGES, ACTIONS = _collect()
"""Every page and every action."""


def make_addresses() -> Addresses:
    """Return the addresses of all pages and actions."""
    return Addresses(PAGES, ACTIONS)
