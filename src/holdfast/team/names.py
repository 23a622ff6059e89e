"""The texts that people choose: names, handles, addresses, notes. Each is cleaned and checked before it is stored."""

from __future__ import annotations

import re

from holdfast.errors import InvalidValueError
from holdfast.lessons.statement import clean
from holdfast.team.tuning import NAME_LENGTH, NOTE_LENGTH

_ADDRESS = re.compile(r"[^\s@,;<>\"]{1,64}@[^\s@,;<>\"]{1,255}")
_HANDLE = re.compile(r"[\w.-]{1,100}(?:/[\w.-]{1,100})?")
_DOMAIN = re.compile(r"[a-z0-9-]{1,63}(?:\.[a-z0-9-]{1,63})+")


def checked_name(name: str) -> str:
    """Return the name on one line, without secrets. Raises InvalidValueError for an empty or a long one."""
    text = " ".join(clean(name).split())
    if not 0 < len(text) <= NAME_LENGTH:
        raise InvalidValueError(f"a name has 1 to {NAME_LENGTH} characters")
    return text


def checked_note(note: str) -> str:
    """Return the note without secrets. Raises InvalidValueError for a long one."""
    text = clean(note)
    if len(text) > NOTE_LENGTH:
        raise InvalidValueError(f"a note has at most {NOTE_LENGTH} characters")
    return text


def checked_address(address: str) -> str:
    """Return the e-mail address in lower case; empty stays empty. Raises InvalidValueError."""
    text = address.strip().lower()
    if text and not _ADDRESS.fullmatch(text):
        raise InvalidValueError("this is no e-mail address")
    return text


def checked_handle(handle: str) -> str:
    """Return a name of CODEOWNERS in lower case without its `@`: `ada`, `acme/payments`. Raises InvalidValueError."""
    text = handle.strip().lower().removeprefix("@")
    if text and not _HANDLE.fullmatch(text):
        raise InvalidValueError("a handle is a name or ORGANISATION/TEAM, as it stands in CODEOWNERS")
    return text


def checked_domain(domain: str) -> str:
    """Return the e-mail domain in lower case. Raises InvalidValueError."""
    text = domain.strip().lower().removeprefix("@")
    if not _DOMAIN.fullmatch(text):
        raise InvalidValueError("this is no e-mail domain", hint="example.org")
    return text
