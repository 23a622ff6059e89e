"""The last look: a cookie for each project says when its home page was seen, in this browser alone.

Reloading a page is no new look. A visit lasts until the page was not opened for half an hour; what is new is what
changed since the visit before.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from starlette.requests import Request
from starlette.responses import Response

from holdfast.pages.addresses import Match, fill
from holdfast.pages.page import PageRow

COOKIE = "holdfast-look"
VISIT = timedelta(minutes=30)
KEPT_S = 366 * 86_400
FORM = "%Y%m%dT%H%M%S"


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """When the visit before this one ended, and when this one saw the page last; None: not known."""

    before: datetime | None
    newest: datetime | None
    path: str = "/"
    """The project's address, for which the browser keeps the cookie."""


def last_look(request: Request, match: Match[PageRow]) -> Look:
    """Return the looks that the browser remembers of the page's project."""
    project = match.parameters.get("project", "")
    path = fill("/p/{project}/", {"project": project})[0] if project else "/"
    before, newest = (_parse(part) for part in [*request.cookies.get(COOKIE, "").split("-"), "", ""][:2])
    now = datetime.now(UTC)
    if newest is not None and now - newest > VISIT:
        before = newest
    return Look(before=before if before and before < now else None, newest=newest, path=path)


def note_look(response: Response, look: Look, now: datetime, *, is_https: bool) -> None:
    """Have the browser remember this look."""
    before = f"{look.before:{FORM}}" if look.before else ""
    response.set_cookie(
        COOKIE, f"{before}-{now:{FORM}}", max_age=KEPT_S, path=look.path, secure=is_https,
        httponly=True, samesite="strict",
    )  # fmt: skip


def _parse(text: str) -> datetime | None:
    try:
        return datetime.strptime(text, FORM).replace(tzinfo=UTC)
    except ValueError:
        return None
