"""Findings: what `holdfast doctor` has to say, one line each."""

from __future__ import annotations

from typing import NamedTuple

from holdfast.errors import HoldfastError

OK, NOTE, BAD = "ok", "note", "bad"


class Finding(NamedTuple):
    """One thing looked at: `bad` is a problem, and `mend` the command that ends it."""

    status: str
    name: str
    what: str
    mend: str = ""


def failure(name: str, exc: Exception, mend: str = "") -> Finding:
    """What an error says, and its hint as the way to mend it."""
    hint = exc.hint if isinstance(exc, HoldfastError) else ""
    return Finding(BAD, name, str(exc) or type(exc).__name__, mend or hint)
