"""Errors as pages: what happened, in words for the person who looks, and what to do next."""

from __future__ import annotations

import re
from dataclasses import dataclass

from holdfast.errors import (
    AmbiguousIdError,
    ForbiddenError,
    HoldfastError,
    IllegalTransitionError,
    InvalidValueError,
    LessonNotFoundError,
    NotFoundError,
    NotSignedInError,
    QuotaExceededError,
    RateLimitedError,
    SchemaTooNewError,
    SchemaTooOldError,
    ServerUnreachableError,
    StaleWriteError,
    StoreCorruptError,
    StoreError,
    StoreFullError,
    StoreLockedError,
    StoreReadOnlyError,
    StoreUnavailableError,
    TakenError,
)
from holdfast.lean.plain import clean
from holdfast.pages.frame import STATE_WORDS
from holdfast.pages.reading import WrongQueryError

RETRY_S = 2
"""Seconds after which a request that met a locked database should come again."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorKind:
    """A kind of error: its status, its heading, a hint where an error has none, and whether it passes by itself."""

    status: int
    title: str
    hint: str = ""
    command: str = ""
    """What to run on the machine with the memory."""
    is_passing: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorData:
    """What an error page says."""

    status: int
    title: str
    detail: str
    hint: str
    command: str
    is_passing: bool
    """Whether trying again in a moment may succeed."""
    back: str = ""
    """The address of the page on which the form was that failed."""


class MethodError(HoldfastError):
    """The address takes other methods than the request's; `allowed` names them."""

    def __init__(self, allowed: str) -> None:
        super().__init__("this address does not take that method", hint=f"use {allowed}")
        self.allowed = allowed


class TooLargeError(InvalidValueError):
    """The form holds more than an action takes."""


KINDS: tuple[tuple[type[Exception], ErrorKind], ...] = (
    (MethodError, ErrorKind(status=405, title="Not possible at this address")),
    (TooLargeError, ErrorKind(status=413, title="Too much text")),
    (WrongQueryError, ErrorKind(status=400, title="The address is not right")),
    (NotSignedInError, ErrorKind(status=401, title="Not signed in", hint="Open the pages with the link that `holdfast ui` prints.")),  # noqa: E501
    (ForbiddenError, ErrorKind(status=403, title="Not allowed")),
    (LessonNotFoundError, ErrorKind(status=404, title="There is no such lesson", hint="Search for its words: it may have been erased, or its id was cut.")),  # noqa: E501
    (NotFoundError, ErrorKind(status=404, title="There is nothing here")),
    (AmbiguousIdError, ErrorKind(status=404, title="More than one lesson has an id with that end")),
    (QuotaExceededError, ErrorKind(status=402, title="The organisation's quota is used up", hint="Ask an admin to raise it.")),  # noqa: E501
    (RateLimitedError, ErrorKind(status=429, title="Too many requests", hint="Wait a moment.", is_passing=True)),
    (TakenError, ErrorKind(status=409, title="That is taken already")),
    (StaleWriteError, ErrorKind(status=409, title="Somebody changed it meanwhile", hint="Go back, reload the page and decide again.")),  # noqa: E501
    (IllegalTransitionError, ErrorKind(status=409, title="Not possible in its present state", hint="Go back and reload the page: somebody may have decided already.")),  # noqa: E501
    (InvalidValueError, ErrorKind(status=422, title="That value is not possible")),
    (SchemaTooOldError, ErrorKind(status=503, title="The memory was written by an older Holdfast", hint="It has to be brought up to date once; a copy is kept.", command="holdfast status")),  # noqa: E501
    (SchemaTooNewError, ErrorKind(status=503, title="The memory was written by a newer Holdfast", hint="Upgrade Holdfast on this machine, then start the pages again.", command="pip install --upgrade holdfast-memory")),  # noqa: E501
    (StoreLockedError, ErrorKind(status=503, title="The memory is busy", hint="Another process of Holdfast is writing. Nothing was lost; it takes a moment.", is_passing=True)),  # noqa: E501
    (StoreUnavailableError, ErrorKind(status=503, title="The database cannot be reached", hint="It may be restarting. Nothing was lost.", is_passing=True)),  # noqa: E501
    (StoreFullError, ErrorKind(status=507, title="The disk is full", hint="Nothing was written. Free some space, then do it again.")),  # noqa: E501
    (StoreReadOnlyError, ErrorKind(status=503, title="The memory can be read but not written", hint="Nothing was written. Check the permissions of its file and folder.", command="holdfast doctor")),  # noqa: E501
    (StoreCorruptError, ErrorKind(status=500, title="The memory's file is damaged", hint="Nothing was deleted. The doctor says what can be saved.", command="holdfast doctor")),  # noqa: E501
    (StoreError, ErrorKind(status=503, title="The memory cannot be used", command="holdfast doctor")),
    (ServerUnreachableError, ErrorKind(status=503, title="Not possible just now", is_passing=True)),
    (HoldfastError, ErrorKind(status=500, title="That did not work")),
)  # fmt: skip
"""Every kind of error; the first class that matches counts."""
BUG = ErrorKind(
    status=500, title="A fault of Holdfast", hint="Nothing was changed by this page. Please report it.",
    command="holdfast doctor --report",
)  # fmt: skip


def error_data(error: Exception, *, is_served: bool) -> ErrorData:
    """Return what the error page says. On a server the words of the store, which name hosts and files, are left out."""
    kind = next((kind for cls, kind in KINDS if isinstance(error, cls)), BUG)
    is_hidden = kind is BUG or (is_served and isinstance(error, StoreError))
    detail = "" if is_hidden else clean(str(error))[:1_000]
    if isinstance(error, IllegalTransitionError):
        detail = _STATE.sub(lambda named: STATE_WORDS[named[0]], detail)
    hint = "" if is_hidden else clean(str(getattr(error, "hint", "")))[:1_000]
    if hint.startswith("holdfast "):
        hint = "" if kind.hint or is_served else f"On the command line: `{hint}`"
    sentences = (kind.hint, _sentence(hint)) if isinstance(error, StoreError) else (_sentence(hint) or kind.hint,)
    return ErrorData(
        status=kind.status, title=kind.title, detail=_sentence(detail), hint=" ".join(filter(None, sentences)),
        command="" if is_served else kind.command, is_passing=kind.is_passing,
    )  # fmt: skip


_STATE = re.compile(rf"(?<=\bis )(?:{'|'.join(STATE_WORDS)})\b")
"""A state's name at the end of "lesson 1f0c9a2b is superseded"."""


def _sentence(text: str) -> str:
    """Return the text with a capital at its beginning and a full stop at its end, as pages have it."""
    if not text:
        return ""
    return text[0].upper() + text[1:] + ("" if text.endswith((".", "?", "!", "…")) else ".")
