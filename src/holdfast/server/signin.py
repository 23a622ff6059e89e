"""How a person signs in with a browser, and out of it.

A person comes through the identity provider, through an invitation link, or with a personal token. Each way ends in a
token of the kind `session` in a cookie. Opening an invitation changes nothing, because programs look at links too.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Mapping
from datetime import timedelta
from hashlib import sha256
from hmac import compare_digest
from secrets import token_bytes, token_urlsafe
from typing import Any, TypeVar
from urllib.parse import parse_qsl

import anyio.to_thread
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from holdfast.domain.team import (
    FIRST_ORGANISATION,
    Member,
    OrganisationId,
    SignInAttempt,
    TeamCaller,
)
from holdfast.errors import ForbiddenError, HoldfastError, NotFoundError, NotSignedInError, RateLimitedError
from holdfast.pages.addresses import is_ours
from holdfast.pages.signin import InvitationData, JoinedData, SignInData
from holdfast.ports.services import Clock
from holdfast.ports.team import TeamBackend, TeamServices
from holdfast.server.browser import Cookie
from holdfast.server.config import ServeSettings
from holdfast.server.gate import NOTES
from holdfast.server.logs import log
from holdfast.server.pages import page, refusal
from holdfast.surfaces.web.entrance import comes_from_here
from holdfast.team import access, invitations, signin, tokens
from holdfast.team.quotas import check_failures, note_failure
from holdfast.team.tuning import ATTEMPT_MINUTES, SESSION_HOURS

R = TypeVar("R")
Answer = Callable[[Request], Awaitable[Response]]

FORM_BYTES = 16_000
"""Most bytes of a form."""
NOT_WHOLE = "The sign-in was not finished. Try again."


class SignIn:
    """The pages of sign-in."""

    def __init__(self, settings: ServeSettings, backend: TeamBackend, clock: Clock) -> None:
        self._settings = settings
        self._backend = backend
        self._clock = clock
        self._session = Cookie("holdfast", settings)
        self._attempt = Cookie("holdfast-signin", settings)
        self._provider = _make_provider(settings)

    def routes(self) -> list[Route]:
        """Return the routes of the pages."""
        rows: tuple[tuple[str, str, Answer], ...] = (
            ("GET", "/signin", self._show_ways),
            ("POST", "/signin", self._take_token),
            ("GET", "/signin/start", self._depart),
            ("GET", "/signin/callback", self._return),
            ("GET", "/invite/{secret}", self._show_invitation),
            ("POST", "/invite/{secret}", self._accept),
            ("GET", "/account", self._go_to_tokens),
            ("POST", "/signout", self._leave),
        )
        return [Route(path, self._guarded(path, answer), methods=[method]) for method, path, answer in rows]

    def _guarded(self, path: str, answer: Answer) -> Answer:
        async def endpoint(request: Request) -> Response:
            request.scope[NOTES]["route"] = path
            if not comes_from_here(request):
                return refusal(403, "The request does not come from a page of this server.")
            try:
                return await answer(request)
            except NotSignedInError:
                return RedirectResponse("/signin", 303)
            except RateLimitedError as exc:
                refused = refusal(429, f"{exc}.")
                refused.headers["retry-after"] = str(exc.retry_after_s)
                return refused
            except HoldfastError as exc:
                return refusal(400, f"{exc}.")

        return endpoint

    def _team(self, organisation: OrganisationId) -> TeamServices:
        return TeamServices(stores=self._backend.open(organisation), clock=self._clock, random_bytes=token_bytes)

    # The ways in

    async def _show_ways(self, request: Request) -> Response:
        return self._ways(to=request.query_params.get("to", ""))

    def _ways(self, error: str = "", status: int = 200, to: str = "") -> Response:
        """Return the page with the ways in; `to` is where the person wanted to go."""
        provider = self._settings.oidc_name if self._provider else ""
        data = SignInData(provider=provider, to=to if is_ours(to) else "", error=error)
        return page("signin", "Sign in", data, status)

    async def _take_token(self, request: Request) -> Response:
        """Sign in the member of a personal token."""
        form = await _form(request)
        text, to, address = form.get("token", "").strip(), form.get("to", ""), _address(request)

        def sign_in() -> str:
            counting = self._team(FIRST_ORGANISATION)
            check_failures(counting, address)
            try:
                caller = access.authenticate(self._backend, self._clock, text)
            except NotSignedInError:
                note_failure(counting, address)
                raise
            return self._session_for(caller)

        try:
            session = await _in_thread(sign_in)
        except NotSignedInError:
            return self._ways("This is no token of a person, or it does not hold any more.", 401, to)
        return self._welcome(session, to)

    def _session_for(self, caller: TeamCaller) -> str:
        """Return the text of a browser's token for whom a personal token is. It may not do more than that token."""
        team = self._team(caller.organisation)
        with team.stores.changing():
            member = team.stores.records.get(Member, caller.member)
            if member is None or caller.kind != "personal":
                raise NotSignedInError("not a person's token")
            if caller.role != member.role:
                raise ForbiddenError("With this token you may do less than with your account: use another one")
            access.require_unlimited(caller, "sign in")
            return tokens.make_session(team, member)[1]

    async def _depart(self, request: Request) -> Response:
        """Send the browser to the identity provider."""
        provider = self._provider
        if provider is None:
            return self._ways(status=404)
        browser, to = token_urlsafe(32), request.query_params.get("to", "")
        to = to if is_ours(to) else ""

        def begin() -> str:
            departure = provider.depart()
            ends = self._clock.now() + timedelta(minutes=ATTEMPT_MINUTES)
            values = {"nonce": departure.nonce, "verifier": departure.verifier, "browser": _digest(browser), "to": to}
            records = self._team(self._organisation).stores.records
            records.expire(self._clock.now())
            records.put(
                SignInAttempt(
                    id=_digest(departure.state), at=self._clock.now(), keep_until=ends, values=tuple(values.items())
                )
            )
            return str(departure.url)

        try:
            answer: Response = RedirectResponse(await _in_thread(begin), 303)
        except HoldfastError as exc:
            log(logging.WARNING, "sign-in failed", reason=str(exc))
            return self._ways("The identity provider cannot be reached.", 503)
        self._attempt.write(answer, browser, ATTEMPT_MINUTES * 60)
        return answer

    async def _return(self, request: Request) -> Response:
        """Receive the browser from the identity provider, and sign its person in."""
        provider, query, browser = self._provider, request.query_params, self._attempt.read(request)
        if provider is None:
            return self._ways(status=404)

        def finish() -> tuple[str, str]:
            attempt = self._take_attempt(query.get("state", ""), browser)
            if query.get("iss", provider.issuer_named) != provider.issuer_named:
                raise NotSignedInError("the answer is of another issuer")
            if "code" not in query:
                raise NotSignedInError("the provider refused")
            claims = provider.receive(query["code"], attempt["nonce"], attempt["verifier"])
            return signin.sign_in(self._team(self._organisation), claims)[2], attempt.get("to", "")

        try:
            answer = self._welcome(*await _in_thread(finish))
        except HoldfastError as exc:
            log(logging.WARNING, "sign-in failed", reason=str(exc))
            is_stranger = isinstance(exc, ForbiddenError)
            text = "Your account is not a member of this organisation. Ask an admin to invite you."
            answer = self._ways(text if is_stranger else NOT_WHOLE, 403 if is_stranger else 400)
        self._attempt.clear(answer)
        return answer

    def _take_attempt(self, state: str, browser: str) -> Mapping[str, str]:
        """Return what the attempt is checked against, once. Raises NotSignedInError for another browser's."""
        team, id_ = self._team(self._organisation), _digest(state)
        with team.stores.changing():
            team.stores.records.hold(f"sign-in attempt {id_}")
            attempt = team.stores.records.get(SignInAttempt, id_)
            team.stores.records.remove(SignInAttempt, id_)
        values = dict(attempt.values) if attempt else {"browser": ""}
        is_theirs = compare_digest(values["browser"], _digest(browser))
        if attempt is None or not is_theirs or attempt.keep_until is None or attempt.keep_until <= self._clock.now():
            raise NotSignedInError("the sign-in was not begun by this browser, or too long ago")
        return values

    @property
    def _organisation(self) -> OrganisationId:
        return OrganisationId(self._settings.oidc_organisation)

    async def _show_invitation(self, request: Request) -> Response:
        return await self._invitation(request.path_params["secret"])

    async def _invitation(self, secret: str, error: str = "") -> Response:
        def read() -> Response:
            try:
                invitation = invitations.read_invitation(self._backend, secret, self._clock.now())
            except (NotSignedInError, NotFoundError):
                return refusal(404, "This invitation does not hold, or not any more. Ask for a new one.")
            team = invitations.open_team(self._backend, self._clock, token_bytes, secret)
            organisation = access.organisation_of(team.stores)
            data = InvitationData(
                organisation=organisation.name, role=invitation.role, email=invitation.email, name=invitation.name,
                error=error,
            )  # fmt: skip
            return page("invitation", f"Join {organisation.name}", data, 400 if error else 200)

        return await _in_thread(read)

    async def _accept(self, request: Request) -> Response:
        """Make the reader of the link a member, sign them in, and show their first token."""
        secret, name = request.path_params["secret"], (await _form(request)).get("name", "").strip()

        def join() -> tuple[str, JoinedData]:
            team = invitations.open_team(self._backend, self._clock, token_bytes, secret)
            _, _, session = invitations.accept(team, secret, name=name)
            caller = access.authenticate(self._backend, self._clock, session)
            token = tokens.issue(team, caller, name="first token")[1]
            organisation = access.organisation_of(team.stores).name
            return session, JoinedData(
                organisation=organisation, name=caller.name, role=caller.role, token=token, url=self._settings.url
            )

        try:
            session, joined = await _in_thread(join)
        except (NotSignedInError, NotFoundError):
            return await self._invitation(secret)
        except HoldfastError as exc:
            return await self._invitation(secret, f"{exc}.")
        answer = page("joined", f"Welcome to {joined.organisation}", joined)
        self._session.write(answer, session, SESSION_HOURS * 3_600)
        return answer

    def _welcome(self, session: str, to: str = "") -> Response:
        """Send a signed-in browser where its person wanted to go: only ever to a path of ours."""
        answer = RedirectResponse(to if is_ours(to) else "/", 303)
        self._session.write(answer, session, SESSION_HOURS * 3_600)
        return answer

    def _authenticate(self, text: str) -> TeamCaller:
        """Return who the browser's token belongs to. Raises NotSignedInError."""
        caller = access.authenticate(self._backend, self._clock, text)
        if caller.kind != "session":
            raise NotSignedInError("not a browser's token")
        return caller

    async def _go_to_tokens(self, request: Request) -> Response:
        return RedirectResponse("/team/tokens", 303)

    def _caller(self, request: Request) -> TeamCaller:
        caller = self._authenticate(self._session.read(request))
        request.scope[NOTES].update(organisation=caller.organisation, token=caller.token, member=caller.member)
        return caller

    async def _leave(self, request: Request) -> Response:
        def leave() -> None:
            caller = self._caller(request)
            tokens.revoke(self._team(caller.organisation), caller, caller.token)

        await _in_thread(leave)
        answer = RedirectResponse("/signin", 303)
        self._session.clear(answer)
        return answer


def _make_provider(settings: ServeSettings) -> Any:
    """Return the identity provider of the settings, or None. Raises HoldfastError without the extra."""
    if not settings.oidc_issuer:
        return None
    try:
        from holdfast.server.oidc import Provider  # an extra of its own
    except ImportError as exc:
        raise HoldfastError(
            "sign-in by an identity provider needs Authlib, which is not installed",
            hint="pip install 'holdfast-memory[oidc]'",
        ) from exc
    return Provider(settings.oidc_issuer, settings.oidc_client, settings.oidc_secret, f"{settings.url}/signin/callback")


async def _form(request: Request) -> dict[str, str]:
    """Return the fields of a form that a page of ours sent; those that are given twice count once."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > FORM_BYTES:
            raise HoldfastError("The form is too long")
    return dict(parse_qsl(body.decode("utf-8", "replace"), max_num_fields=20))


async def _in_thread(job: Callable[[], R]) -> R:
    return await anyio.to_thread.run_sync(job)


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()
