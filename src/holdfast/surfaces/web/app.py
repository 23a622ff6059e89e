"""The application: finds the row of an address, lets the request in, and answers HTML or JSON.

What the tables and templates do runs in a thread, because the core is synchronous (ADR 1).
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import TypeVar
from urllib.parse import quote, urlsplit

import anyio
import anyio.to_thread
from starlette.requests import ClientDisconnect, Request
from starlette.responses import RedirectResponse, Response
from starlette.types import Receive, Scope, Send

from holdfast.domain.team import Verb
from holdfast.errors import ForbiddenError, HoldfastError, NotFoundError, NotSignedInError, RateLimitedError
from holdfast.lean.texts import dumps
from holdfast.pages.addresses import Addresses, Match, is_ours
from holdfast.pages.frame import POLICY, STATIC, render, static_files
from holdfast.pages.page import HTML, ActionAnswer, ActionRow, Page, PageRow
from holdfast.pages.pagejson import page_json
from holdfast.pages.reading import parse_pairs, read_values
from holdfast.pages.table import make_addresses
from holdfast.pages.view import View
from holdfast.surfaces.web.entrance import SAFE_METHODS, Entrance, comes_from_here
from holdfast.surfaces.web.looks import last_look, note_look
from holdfast.surfaces.web.notices import Notices
from holdfast.surfaces.web.trouble import RETRY_S, MethodError, TooLargeError, error_data

R = TypeVar("R")

JSON, PROBLEM = "application/json", "application/problem+json"
FORM = "application/x-www-form-urlencoded"
FORM_BYTES = 256_000
"""Most bytes of a form."""
NOTES = "holdfast"
"""The key of the scope under which the route is noted."""
OPENED = "holdfast.view"
"""The key of the scope under which the view is, once the request was let in."""
BACK = "back"
"""The field of every form that names the page to return to."""
SAFE_HEADERS = {
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "vary": "Accept, Cookie",
}
STATIC_AGE = "public, max-age=31536000, immutable"

_log = logging.getLogger("holdfast.web")


class WebApp:
    """The pages as an ASGI application."""

    def __init__(self, entrance: Entrance, *, threads: int = 8) -> None:
        self._entrance = entrance
        self._threads = threads
        self._notices = Notices(is_https=entrance.is_https)
        self._limiter: anyio.CapacityLimiter | None = None
        self.addresses = make_addresses()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request. Never raises for what a client sent."""
        request = Request(scope, receive)
        try:
            response = await self._answer(request)
        except ClientDisconnect:
            return
        for name, value in SAFE_HEADERS.items():
            response.headers.setdefault(name, value)
        await response(scope, receive, send)

    def takes(self, path: str) -> bool:
        """Return whether a path, as it was sent, is of a page, an action or a file of ours."""
        if path in static_files():
            return True
        for find in (self.addresses.page_at, self.addresses.action_at):
            try:
                find(path)
            except NotFoundError:
                continue
            return True
        return path.startswith(("/p/", STATIC))

    async def _answer(self, request: Request) -> Response:
        path = raw_path(request)
        if path.startswith(STATIC):
            _note_route(request, STATIC)
            return _static(path)
        if request.method == "POST":
            return await self._act(request, path)
        if request.method in SAFE_METHODS:
            return await self._show(request, path)
        return self.refuse(request, MethodError("GET, HEAD, POST"))

    # Pages

    async def _show(self, request: Request, path: str) -> Response:
        try:
            match = self.addresses.page_at(path)
            _note_route(request, match.row.path)
        except NotFoundError as exc:
            slashed = self._slashed(request, path)
            if slashed is None:
                await self._in_thread(lambda: self._look_around(request, path))
            return slashed or self.refuse(request, exc)
        is_json = match.is_json or wants_json(request)
        try:
            response = await self._in_thread(lambda: self._page(request, match, is_json))
        except NotSignedInError as exc:
            return self._entrance.turn_away(request) or self.refuse(request, exc, is_json)
        except Exception as exc:  # whatever a page does wrong, the reader gets a page that says so
            return self.refuse(request, exc, is_json)
        self._entrance.finish(request, response)
        return response

    def _page(self, request: Request, match: Match[PageRow], is_json: bool) -> Response:
        row = match.row
        view = self._open(request, row.verb, match.parameters, is_served_only=row.is_served_only)
        query = read_values(row.query, parse_pairs(request.scope.get("query_string", b"")))
        look = last_look(request, match)
        view = replace(view, last_look=look.before)
        page = row.make(view, query)
        if is_json:
            return Response(dumps(page_json(page.data)) + "\n", page.status, media_type=JSON)
        if page.goal is not None:
            return RedirectResponse(view.link(page.goal.name, **page.goal.parameters), 303)
        notice = self._notices.read(request, view) if page.media_type == HTML else None
        response = Response(render(row, page, view, notice=notice), page.status, media_type=page.media_type)
        if page.media_type == HTML:
            self._notices.clear(request, response)
        if row.name == "home":
            note_look(response, look, view.now, is_https=self._entrance.is_https)
        return response

    def _look_around(self, request: Request, path: str) -> None:
        """Open the project of an address that leads nowhere, so that the page that says so has the navigation."""
        home = "/".join(path.split("/")[:3]) + "/"
        with suppress(HoldfastError):
            match = self.addresses.page_at(home)
            self._open(request, match.row.verb, match.parameters, is_served_only=False)

    def _open(self, request: Request, verb: Verb, parameters: Mapping[str, str], *, is_served_only: bool) -> View:
        """Let the request in; an error page has the navigation of what it was let in to."""
        view = self._entrance.view(request, verb, parameters, is_served_only=is_served_only)
        view = replace(view, addresses=self.addresses, parameters=parameters)
        request.scope[OPENED] = view
        return view

    def _slashed(self, request: Request, path: str) -> Response | None:
        """Return the way to the same address with a slash at its end, if there is a page."""
        try:
            self.addresses.page_at(f"{path}/")
        except NotFoundError:
            return None
        query = request.url.query
        return RedirectResponse(f"{path}/" + (f"?{query}" if query else ""), 308)

    # Actions

    async def _act(self, request: Request, path: str) -> Response:
        is_json = wants_json(request)
        try:
            match = self.addresses.action_at(path)
            _note_route(request, match.row.path)
            if not comes_from_here(request):
                raise ForbiddenError("the request does not come from a page of this server")
            pairs = parse_pairs(await _body(request), FORM_BYTES)
            answer, view = await self._in_thread(lambda: self._perform(request, match, pairs))
        except NotSignedInError as exc:
            away = None if is_json else self._entrance.turn_away(request)
            return away or self.refuse(request, exc, is_json)
        except Exception as exc:  # as above
            return self.refuse(request, exc, is_json)
        response = await self._in_thread(lambda: _tell(request, self._notices, answer, view, pairs, is_json))
        self._entrance.finish(request, response)
        return response

    def _perform(
        self, request: Request, match: Match[ActionRow], pairs: list[tuple[str, str]]
    ) -> tuple[ActionAnswer, View]:
        row = match.row
        view = self._open(request, row.verb, match.parameters, is_served_only=row.is_served_only)
        form = read_values(row.form, [pair for pair in pairs if pair[0] != BACK])
        return row.act(view.door, match.parameters, form), view

    # What both need

    async def _in_thread(self, work: Callable[[], R]) -> R:
        if self._limiter is None:
            self._limiter = anyio.CapacityLimiter(self._threads)
        return await anyio.to_thread.run_sync(work, limiter=self._limiter)

    def refuse(self, request: Request, error: Exception, is_json: bool | None = None) -> Response:
        """Return the answer that says what went wrong."""
        data = error_data(error, is_served=self._entrance.is_served)
        if request.method == "POST":
            data = replace(data, back=next(iter(_referring_page(request, self.addresses)), ""))
        if data.status == 500:
            _log.error("a page failed: %s", raw_path(request), exc_info=error)
        headers = {"retry-after": str(RETRY_S)} if data.is_passing else {}
        if isinstance(error, RateLimitedError):
            headers["retry-after"] = str(error.retry_after_s)
        if isinstance(error, MethodError):
            headers["allow"] = error.allowed
        if wants_json(request) if is_json is None else is_json:
            return Response(dumps(page_json(data)) + "\n", data.status, headers, PROBLEM)
        return self._error_page(
            request, Page(template="error", data=data, title=data.title, status=data.status), headers
        )

    def _error_page(self, request: Request, page: Page, headers: Mapping[str, str]) -> Response:
        """Return the page of an error: with its project's navigation, without it, or as plain words if all fails."""
        nobody = View(now=NEVER, addresses=self.addresses, is_served=self._entrance.is_served)
        for view in (request.scope.get(OPENED, nobody), nobody):
            try:
                return Response(render(None, page, view), page.status, headers, HTML)
            except Exception as exc:  # the frame itself may be what is wrong
                _log.error("the page of an error failed: %s", raw_path(request), exc_info=exc)
        return Response(f"{page.title}\n", page.status, headers, "text/plain")


NEVER = datetime.min.replace(tzinfo=UTC)
"""The time of a page that shows none."""


def raw_path(request: Request) -> str:
    """Return the path as it was sent, so that `%2F` in an id separates nothing."""
    raw: bytes = request.scope.get("raw_path") or quote(request.scope["path"]).encode()
    return raw.partition(b"?")[0].decode("ascii", "replace")


def wants_json(request: Request) -> bool:
    """Return whether a client asks for JSON and not for a page."""
    accept = request.headers.get("accept", "")
    return JSON in accept and HTML not in accept


def _note_route(request: Request, template: str) -> None:
    """Note the row's address for a server's log and metrics; what somebody made up is no route."""
    request.scope.setdefault(NOTES, {})["route"] = template


def _static(path: str) -> Response:
    file = static_files().get(path)
    if file is None:
        return Response("there is no such file\n", 404, media_type="text/plain")
    return Response(file.content, headers={"cache-control": STATIC_AGE}, media_type=file.media_type)


async def _body(request: Request) -> bytes:
    """Return the form's bytes. Raises TooLargeError, or ForbiddenError for another kind of body."""
    media = request.headers.get("content-type", FORM).partition(";")[0].strip().lower()
    if media != FORM:
        raise ForbiddenError(f"a form is sent as {FORM}")
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > FORM_BYTES:
            raise TooLargeError(f"a form holds at most {FORM_BYTES:,} bytes", hint="shorten the text")
    return content


def _way_back(request: Request, answer: ActionAnswer, view: View, pairs: list[tuple[str, str]]) -> str:
    """Return the address to show after an action: only ever a path of ours."""
    if answer.to is not None:
        return view.link(answer.to.name, **answer.to.parameters)
    named = [value for name, value in pairs if name == BACK] + _referring_page(request, view.addresses)
    return next((address for address in named if is_ours(address)), view.link("home" if view.of else "projects"))


def _referring_page(request: Request, addresses: Addresses) -> list[str]:
    """Return the address of our page that the form was on, where a browser without script tells it."""
    page = urlsplit(request.headers.get("referer", ""))
    if page.netloc != request.url.netloc:
        return []
    try:
        addresses.page_at(page.path)
    except NotFoundError:
        return []
    return [page.path + (f"?{page.query}" if page.query else "")]


def _tell(
    request: Request, notices: Notices, answer: ActionAnswer, view: View, pairs: list[tuple[str, str]], is_json: bool
) -> Response:
    """Return the answer to an action: JSON for the script, a page that the action made, or the way to the next page."""
    undo, to = answer.undo, _way_back(request, answer, view, pairs)
    if is_json:
        step = None if undo is None else {"action": view.action(undo.name, **undo.parameters), "fields": undo.fields}
        page = None if answer.page is None else page_json(answer.page.data)
        text = dumps({"message": answer.message, "to": to, "undo": step, "page": page})
        return Response(text + "\n", answer.page.status if answer.page else 200, media_type=JSON)
    if answer.page is not None:
        notice = ActionAnswer(message=answer.message, undo=undo) if answer.message else None
        return Response(render(None, answer.page, view, notice=notice), answer.page.status, media_type=HTML)
    response = RedirectResponse(to, 303)
    notices.write(response, answer)
    return response
