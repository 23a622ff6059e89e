"""A request to a server as a value, and what its answer means: the same for both clients.

`HttpRequest` says what to send and how to read the answer. It knows no HTTP library; `transport` sends it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar
from urllib.parse import quote, urlencode

from holdfast.errors import (
    ForbiddenError,
    HoldfastError,
    InvalidValueError,
    NotFoundError,
    NotSignedInError,
    QuotaExceededError,
    RateLimitedError,
    ServerError,
    ServerUnreachableError,
    StaleWriteError,
    StoreError,
    TakenError,
)

T = TypeVar("T")
PREFIX = "/v1"
JSON = "application/json"
NDJSON = "application/x-ndjson"
RETRY_AFTER_S = 1
LONGEST_WAIT_S = 3_600

ERRORS: dict[int, type[HoldfastError]] = {
    400: InvalidValueError,
    401: NotSignedInError,
    402: QuotaExceededError,
    403: ForbiddenError,
    404: NotFoundError,
    409: TakenError,
    410: InvalidValueError,
    412: StaleWriteError,
    413: InvalidValueError,
    415: InvalidValueError,
    422: InvalidValueError,
    428: InvalidValueError,
    502: ServerUnreachableError,
    503: ServerUnreachableError,
    504: ServerUnreachableError,
    507: StoreError,
}
"""The error of each status of a problem; any other one is a `ServerError`."""
AGAIN = frozenset({408, 429, 502, 503, 504})
"""Statuses after which the same request may succeed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpReply:
    """A server's answer."""

    status: int
    headers: Mapping[str, str] = field(default_factory=dict)
    """By lower-case name."""
    content: bytes = b""

    def json(self) -> Any:
        """Return the JSON value. Raises ServerError if it is none."""
        try:
            return json.loads(self.content)
        except ValueError:
            raise ServerError("the answer is no JSON", hint="is this the address of a Holdfast server?") from None

    def lines(self) -> list[Any]:
        """Return the JSON value of each line. Raises ServerError for one that is none."""
        try:
            return [json.loads(line) for line in self.content.splitlines() if line.strip()]
        except ValueError:
            raise ServerError("the answer was cut off", hint="try again") from None


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest(Generic[T]):
    """What to send, and how to read the answer."""

    method: str
    path: str
    """Below `PREFIX`, percent-encoded."""
    read: Callable[[HttpReply], T]
    query: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    media_type: str = JSON
    headers: Mapping[str, str] = field(default_factory=dict)
    is_repeatable: bool = False
    """Whether sending it twice does no more than sending it once."""

    @property
    def target(self) -> str:
        """The path with the prefix and the query."""
        return PREFIX + self.path + (f"?{urlencode(self.query)}" if self.query else "")


def path(*parts: str) -> str:
    """Return a path whose parts are percent-encoded."""
    return "".join("/" + quote(part, safe="") for part in parts)


def body(**fields: Any) -> bytes:
    """Return a JSON object without the fields that are None."""
    present = {name: value for name, value in fields.items() if value is not None}
    return json.dumps(present, ensure_ascii=False).encode("utf-8", "replace")


def error_of(reply: HttpReply) -> HoldfastError | None:
    """Return the error that the answer reports; None if it reports none."""
    if reply.status < 300 or reply.status == 304:
        return None
    if reply.status < 400:
        return ServerError(f"the server redirects (status {reply.status})", hint="use the address it redirects to")
    try:
        problem = json.loads(reply.content)
    except ValueError:
        problem = None
    fields: dict[str, Any] = problem if isinstance(problem, dict) else {}
    message = str(fields.get("detail") or fields.get("title") or f"the server answered with status {reply.status}")
    faults = [f"{each['where']}: {each['what']}" for each in fields.get("errors", []) if isinstance(each, dict)]
    message = "; ".join((message, *faults))
    hint = str(fields.get("hint", "")) or ("" if fields else "is this the address of a Holdfast server?")
    if reply.status == 429:
        return RateLimitedError(message, hint=hint, retry_after_s=wait_of(reply))
    kind = ERRORS.get(reply.status, ServerError)
    if kind is ServerUnreachableError:
        message, hint = f"the server has trouble: {message}", hint if fields else "try again when it can be reached"
    return kind(message, hint=hint)


def wait_of(reply: HttpReply) -> int:
    """Return the seconds after which the server wants to be asked again."""
    text = reply.headers.get("retry-after", "")
    return min(int(text), LONGEST_WAIT_S) if text.isascii() and text.isdigit() else RETRY_AFTER_S
