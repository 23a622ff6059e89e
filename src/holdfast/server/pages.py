"""The pages of sign-in, in the frame of all other pages; nobody is known on them yet."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import Any

from starlette.responses import Response

from holdfast.pages.addresses import Addresses
from holdfast.pages.frame import POLICY, render
from holdfast.pages.page import HTML, Page
from holdfast.pages.table import make_addresses
from holdfast.pages.view import View
from holdfast.surfaces.web.trouble import ErrorData

NEVER = datetime.min.replace(tzinfo=UTC)
"""The time of a page that shows none."""


def page(template: str, title: str, data: Any, status: int = 200) -> Response:
    """Return the page of that template."""
    view = View(now=NEVER, addresses=_addresses(), is_served=True)
    text = render(None, Page(template=template, title=title, data=data), view)
    return Response(text, status, {"content-security-policy": POLICY}, HTML)


def refusal(status: int, text: str) -> Response:
    """Return the page that says why something did not work."""
    title = "That did not work"
    data = ErrorData(
        status=status, title=title, detail=text, hint="", command="", is_passing=status in (429, 503)
    )  # fmt: skip
    return page("error", title, data, status)


@cache
def _addresses() -> Addresses:
    return make_addresses()
