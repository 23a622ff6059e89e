"""The table of operations: what each row says. Routes, checks, OpenAPI, the page of routes and the tests come from it.

Nothing here, in `models` or in `operations` imports Starlette, so a program without the server's extra can read the
table: `from holdfast.surfaces.rest.operations import OPERATIONS`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import BaseModel, ConfigDict

from holdfast.domain.team import VERB_ROLES, Role, Verb
from holdfast.domain.vocabulary import LessonId

if TYPE_CHECKING:
    from holdfast.surfaces.rest.call import OpCall

Method = Literal["GET", "POST", "PATCH", "PUT", "DELETE"]
Medium = Literal["json", "ndjson", "events", "html", "css", "none"]
"""What an answer is: a JSON document, a JSON document a line, server-sent events, a page, its style, or nothing."""

PREFIX = "/v1"
_PARAMETER = re.compile(r"\{(\w+)\}")


class Strict(BaseModel):
    """A body or query: unknown names and values of another type are refused."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)


class NoQuery(Strict):
    """An operation without a query."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpAnswer:
    """What an operation answers, and what it changed."""

    value: Any = None
    """A JSON value; for `ndjson` and `events` see `lines`."""
    lines: Iterator[str] | None = None
    """The lines of an `ndjson` answer, each a JSON document without a line end; read after the answer has begun."""
    status: int = 0
    """0: the operation's own status."""
    etag: str = ""
    """Without quotation marks."""
    location: str = ""
    """The path of what was made, below the prefix."""
    changed: Sequence[LessonId] = ()
    """Lessons of the call's project whose documents have to be written again."""
    audit: tuple[str, str] = ("", "")
    """Action (`noun.verb`) and target of the entry in the audit log; an empty action: none."""
    details: dict[str, str] = field(default_factory=dict)
    """Of the entry in the audit log: ids, roles and counts, never words that somebody wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Op:
    """One operation: a method of a path."""

    method: Method
    path: str
    """Below `PREFIX`, with parameters in braces: `/projects/{project}/lessons/{lesson}`."""
    name: str
    """The operation's id in OpenAPI, and a method's name in clients."""
    summary: str
    """A sentence in the imperative."""
    verb: Verb | None
    """What a token must allow; None: everybody may call it, without a token."""
    call: Callable[[OpCall], OpAnswer]
    out: Any = None
    """The pydantic model, or type, of the answer or of each of its lines; None without a body."""
    medium: Medium = "json"
    status: int = 200
    least: Role | None = None
    """A role above that of the verb."""
    query: type[Strict] = NoQuery
    body: type[Strict] | None = None
    line: type[Strict] | None = None
    """The model of each line of an `application/x-ndjson` body, where the operation takes one."""
    is_bulk: bool = False
    """Whether a body may be as large as one of lines."""
    optional_body: bool = False
    """A missing body stands for an empty object."""
    match: Literal["", "optional", "required"] = ""
    """Whether `If-Match` is read."""
    idempotent: bool = False
    """Whether `Idempotency-Key` is read."""
    reads_after: bool = False
    """Whether `Holdfast-After` is read: the answer must contain the changes up to that position."""
    errors: tuple[int, ...] = ()
    """Statuses of its own, beside those that every operation of its form has."""
    writes: bool | None = None
    """Whether it runs in one transaction that may write; None: as the method says."""
    notes: str = ""
    """More about it, for the documents."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the path's parameters, in order."""
        return tuple(_PARAMETER.findall(self.path))

    @property
    def role(self) -> Role | None:
        """The least role that may call it; None: everybody."""
        return self.least or (VERB_ROLES[self.verb] if self.verb else None)

    @property
    def is_write(self) -> bool:
        """Whether it runs in one transaction that may write."""
        return self.method != "GET" if self.writes is None else self.writes

    @property
    def statuses(self) -> tuple[int, ...]:
        """Every status that it can answer with, in order; its own status of success is the first."""
        shared = {400, 405, 408, 413, 415, 429, 500, 503}
        if self.verb is not None:
            shared |= {401, 403}
        if self.parameters:
            shared |= {404}
        if self.query is not NoQuery or self.body or self.line or self.is_write:
            shared |= {422}
        if self.is_write:
            shared |= {507}
        if self.match:
            shared |= {412}
        if self.match == "required":
            shared |= {428}
        if self.idempotent or self.is_write:
            shared |= {409}
        if "cursor" in self.query.model_fields:
            shared |= {410}
        return (self.status, *sorted(shared | set(self.errors)))


def path_of(op: Op, **parameters: str) -> str:
    """Return the operation's path with its parameters, percent-encoded, with the prefix."""
    from urllib.parse import quote

    encoded = {name: quote(value, safe="") for name, value in parameters.items()}
    return PREFIX + op.path.format(**encoded) if op.path != "/" else PREFIX
