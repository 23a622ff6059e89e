"""Addresses of pages and actions: from a name to an address, and from an address back to its row.

One part of a path is one percent-encoded value, so that an id may hold a slash. With `.json` behind its path a page
answers its data.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import quote, unquote_to_bytes

from holdfast.errors import NotFoundError
from holdfast.pages.page import ActionRow, PageRow
from holdfast.pages.reading import encode

R = TypeVar("R", PageRow, ActionRow)

JSON_END = ".json"
LONGEST_PART = 300
"""Characters of one part of a path."""
LONGEST_ADDRESS = 2_000
"""Characters of an address to which a browser is sent back."""
SAFE = ":@!$'()*+,;=~-._"
"""Characters that a part of a path may hold as they are."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Match(Generic[R]):
    """The row of an address, the values of its parameters, and whether JSON is wanted."""

    row: R
    parameters: Mapping[str, str]
    is_json: bool = False


class Addresses:
    """The addresses of the two tables."""

    def __init__(self, pages: Sequence[PageRow], actions: Sequence[ActionRow]) -> None:
        self._pages = {row.name: row for row in pages}
        self._actions = {row.name: row for row in actions}

    def row(self, name: str) -> PageRow | None:
        """Return the page of that name; None if there is none (yet)."""
        return self._pages.get(name)

    def has_action(self, name: str) -> bool:
        """Return whether there is an action of that name."""
        return name in self._actions

    def link(self, name: str, values: Mapping[str, object]) -> str:
        """Return the address of a page. Values that its path has no place for are its query."""
        path, rest = fill(self._pages[name].path, values)
        query = encode({key: value for key, value in rest.items() if key != "project"})
        return f"{path}?{query}" if query else path

    def action(self, name: str, values: Mapping[str, object]) -> str:
        """Return the address of an action."""
        return fill(self._actions[name].path, values)[0]

    def page_at(self, path: str) -> Match[PageRow]:
        """Return the page of a path, as it was sent. Raises NotFoundError."""
        if path.endswith(JSON_END):  # first: an id would match with the ending, too
            shorter = path.removesuffix(JSON_END)
            matched = _find(self._pages.values(), shorter) or _find(self._pages.values(), f"{shorter}/")
            if matched is not None:
                return Match(row=matched[0], parameters=matched[1], is_json=True)
        matched = _find(self._pages.values(), path)
        if matched is None:
            raise NotFoundError("there is no such page", hint="check the address")
        return Match(row=matched[0], parameters=matched[1])

    def action_at(self, path: str) -> Match[ActionRow]:
        """Return the action of a path, as it was sent. Raises NotFoundError."""
        matched = _find(self._actions.values(), path)
        if matched is None:
            raise NotFoundError("there is no such action", hint="go back and reload the page")
        return Match(row=matched[0], parameters=matched[1])


def fill(template: str, values: Mapping[str, object]) -> tuple[str, dict[str, object]]:
    """Return the path with its parameters, and the values that it has no place for."""
    rest = dict(values)
    parts = [
        quote(str(rest.pop(part[1:-1])), safe=SAFE) if part.startswith("{") else part for part in template.split("/")
    ]
    return "/".join(parts), rest


def is_ours(address: str) -> bool:
    """Return whether an address is a path of this server: no other host, no scheme, no trick with slashes."""
    return (
        len(address) <= LONGEST_ADDRESS
        and address.startswith("/")
        and not address.startswith(("//", "/\\"))
        and "\\" not in address
        and not _CONTROL.search(address)
    )


def _find(rows: Iterable[R], path: str) -> tuple[R, dict[str, str]] | None:
    parts = path.split("/")
    best: tuple[int, R, dict[str, str]] | None = None
    for row in rows:
        parameters = _compare(row.path.split("/"), parts)
        # `/lessons/new` comes before `/lessons/{lesson}`
        if parameters is not None and (best is None or len(parameters) < best[0]):
            best = len(parameters), row, parameters
    return best[1:] if best else None


def _compare(template: Sequence[str], parts: Sequence[str]) -> dict[str, str] | None:
    if len(template) != len(parts):
        return None
    parameters: dict[str, str] = {}
    for wanted, part in zip(template, parts, strict=True):
        if not wanted.startswith("{"):
            if wanted != part:
                return None
            continue
        value = _decode(part)
        if value is None:
            return None
        parameters[wanted[1:-1]] = value
    return parameters


def _decode(part: str) -> str | None:
    try:
        text = unquote_to_bytes(part).decode()
    except UnicodeDecodeError:
        return None
    return None if not text or len(text) > LONGEST_PART or _CONTROL.search(text) else text
