"""Findings: the lines that `holdfast doctor` reports."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.errors import HoldfastError

OK, NOTE, BAD = "ok", "note", "bad"


class CheckFinding(NamedTuple):
    """The result of one check. Status `bad` is a problem; `mend` is the command that solves it."""

    status: str
    name: str
    what: str
    mend: str = ""


def failure(name: str, exc: Exception, mend: str = "") -> CheckFinding:
    """Return a bad finding with the error's message; `mend` defaults to the error's hint."""
    hint = exc.hint if isinstance(exc, HoldfastError) else ""
    return CheckFinding(BAD, name, str(exc) or type(exc).__name__, mend or hint)
