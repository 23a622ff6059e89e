"""Problems: every error as `application/problem+json` (RFC 9457), with a hint that says what to do next.

A problem never tells more than its reader may know: what belongs to others is `not-found` in the same words as what
does not exist, and an error of ours shows no more than a number to ask for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from holdfast.errors import (
    AmbiguousIdError,
    EmbedderError,
    ForbiddenError,
    HoldfastError,
    IllegalTransitionError,
    InvalidValueError,
    LessonNotFoundError,
    NotFoundError,
    NotSignedInError,
    QuotaExceededError,
    RateLimitedError,
    StaleWriteError,
    StoreError,
    StoreFullError,
    TakenError,
)
from holdfast.lean.plain import clean


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """A kind of problem: the end of its type's address, its title, and a hint where an error has none."""

    slug: str
    title: str
    hint: str


KINDS: dict[int, Kind] = {
    400: Kind(slug="bad-request", title="The request cannot be read", hint="compare it with the page of routes"),
    401: Kind(
        slug="not-signed-in", title="No valid token", hint="send `Authorization: Bearer TOKEN` with a token in force"
    ),
    402: Kind(slug="quota", title="The organisation's quota is used up", hint="ask an admin to raise it"),
    403: Kind(
        slug="forbidden", title="The token does not allow this", hint="ask an admin for a role or token that does"
    ),
    404: Kind(slug="not-found", title="There is nothing here", hint="check the id; what you may not see is not found"),
    405: Kind(slug="method", title="This address has no such method", hint="the header Allow lists its methods"),
    408: Kind(slug="too-slow", title="The request came too slowly", hint="send it again"),
    409: Kind(slug="conflict", title="The present state does not allow this", hint="read it again, then decide"),
    410: Kind(slug="cursor", title="This cursor leads nowhere", hint="begin again without a cursor"),
    412: Kind(slug="changed", title="It was changed since you read it", hint="read it again and repeat the change"),
    413: Kind(slug="too-large", title="The request is too large", hint="send it in several parts"),
    415: Kind(slug="media-type", title="Not the media type that is expected", hint="the page of routes names it"),
    422: Kind(slug="invalid", title="A value is impossible", hint="`errors` says which"),
    428: Kind(slug="if-match", title="This change needs If-Match", hint="send the ETag of the version that you read"),
    429: Kind(slug="too-many", title="Too many requests", hint="wait as many seconds as Retry-After says"),
    500: Kind(slug="bug", title="A fault of the server", hint="report the request's id"),
    503: Kind(slug="unavailable", title="Not possible just now", hint="try again in a few seconds"),
    507: Kind(slug="full", title="The server's disk is full", hint="nothing was written; tell who runs the server"),
}
"""Every kind of problem, by its status."""

STATUSES: tuple[tuple[type[HoldfastError], int], ...] = (
    (NotSignedInError, 401),
    (ForbiddenError, 403),
    (NotFoundError, 404),
    (LessonNotFoundError, 404),
    (QuotaExceededError, 402),
    (RateLimitedError, 429),
    (TakenError, 409),
    (AmbiguousIdError, 409),
    (IllegalTransitionError, 409),
    (StaleWriteError, 409),
    (InvalidValueError, 422),
    (EmbedderError, 503),
    (StoreFullError, 507),
    (StoreError, 503),
)
"""The status of each error; the first class that matches counts, and any other error is 500."""

SHOWN_ERRORS = 20
"""Faults of a body that one answer lists."""


class RequestError(HoldfastError):
    """A request that HTTP itself refuses, with the status for it."""

    def __init__(self, status: int, message: str, *, hint: str = "", headers: Mapping[str, str] | None = None) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.headers = dict(headers or {})


class FieldError(BaseModel):
    """One fault of a body or query."""

    where: str = Field(description="The field, e.g. `body.insight` or `line 3.kind`")
    what: str


class ProblemView(BaseModel):
    """An error, as RFC 9457 has it."""

    type: str = Field(description="The kind's address; its end is stable")
    title: str
    status: int
    detail: str
    hint: str = Field(description="What to do next")
    request: str = Field(description="The request's id, as in the server's log")
    errors: list[FieldError] = []


class InvalidRequestError(InvalidValueError):
    """A body or query with faults."""

    def __init__(self, faults: Sequence[FieldError]) -> None:
        super().__init__(f"{len(faults)} value{'s are' if len(faults) != 1 else ' is'} impossible")
        self.faults = list(faults)


def faults_of(error: ValidationError, where: str) -> list[FieldError]:
    """Return a fault for each place that pydantic names; values are never repeated."""
    faults = []
    for fault in error.errors(include_url=False, include_input=False, include_context=False)[:SHOWN_ERRORS]:
        path = ".".join((where, *(str(part) for part in fault["loc"])))
        faults.append(FieldError(where=clean(path)[:200], what=clean(fault["msg"])[:300]))
    return faults


def status_of(error: Exception) -> int:
    """Return the status for an error."""
    if isinstance(error, RequestError):
        return error.status
    return next((status for kind, status in STATUSES if isinstance(error, kind)), 500)


def problem_of(error: Exception, request: str) -> tuple[ProblemView, dict[str, str]]:
    """Return the problem that an error is for its reader, and the headers that belong to it."""
    status = status_of(error)
    kind = KINDS[status]
    is_ours = status == 500 or isinstance(error, StoreError)  # a store's message names its host or its file
    problem = ProblemView(
        type=f"/v1#{kind.slug}",
        title=kind.title,
        status=status,
        detail=kind.title if is_ours else clean(str(error))[:1_000],
        hint=("" if is_ours else str(getattr(error, "hint", ""))) or kind.hint,
        request=request,
        errors=error.faults if isinstance(error, InvalidRequestError) else [],
    )
    return problem, _headers(error, status)


def _headers(error: Exception, status: int) -> dict[str, str]:
    headers: dict[str, str] = dict(error.headers) if isinstance(error, RequestError) else {}
    if status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="holdfast"'
    if isinstance(error, RateLimitedError):
        headers["Retry-After"] = str(error.retry_after_s)
    elif status == 503:
        headers["Retry-After"] = "2"
    return headers


def plain(problem: ProblemView) -> dict[str, Any]:
    """Return the problem as JSON; without `errors` where there are none."""
    return problem.model_dump(exclude_defaults=False) if problem.errors else problem.model_dump(exclude={"errors"})
