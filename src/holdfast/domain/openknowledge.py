"""Words of the Open Knowledge Format 0.2 and what they mean for lessons. Shared files, exports and imports use them.

Source: GoogleCloudPlatform/knowledge-catalog, okf/SPEC.md, version 0.2 of 24 July 2026.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from holdfast.domain.kinds import LESSON_KINDS
from holdfast.domain.vocabulary import LessonKind, State

Status = Literal["draft", "stable", "deprecated"]

OKF_VERSION = "0.2"
RESERVED = ("index.md", "log.md")
"""Names of files that hold no concept, in every folder of a bundle."""
TYPES: dict[LessonKind, str] = {kind: kind.replace("_", " ").capitalize() for kind in LESSON_KINDS}
"""The `type` of a lesson's file, by kind."""
KINDS_BY_TYPE: dict[str, LessonKind] = {name.casefold(): kind for kind, name in TYPES.items()}
STATUSES: dict[State, Status] = {
    "candidate": "draft", "quarantined": "draft", "active": "stable",
    "superseded": "deprecated", "retired": "deprecated", "forgotten": "deprecated",
}  # fmt: skip
OWN = "holdfast"
"""The key, in a concept that Holdfast exported, of what only Holdfast understands."""
HUMAN, PROCESS = "human:", "process:"
"""Beginnings of the actors that are people and automatic checks. Agents are `producer/version`."""


_OWN = re.compile(rf"(?m)^{OWN}[ \t]*:[ \t]*\r?$")


def is_own_concept(head: str) -> bool:
    """Return whether a text begins like a concept that Holdfast exported, which holds a whole lesson."""
    return head.startswith(("---", "\ufeff---")) and bool(_OWN.search(head.partition("\n---")[0]))


def actor_of(said_by: str, source: Mapping[str, str]) -> str:
    """Return who worded a lesson, as an actor. `source` has its host, detector, author and person, where known.

    A lesson with a detector was worded by it, or by the model that it names as author, also if a person accepted it.
    """
    detector, host, author = (source.get(name, "") for name in ("detector", "host", "author"))
    if said_by == "person" and not detector:
        return person_actor(source)
    if host and author:
        return f"{_word(host)}/{_word(author)}"
    return detector or f"{_word(host) or 'holdfast'}/{_word(author) or 'unknown'}"


def verifier_of(said_by: str, source: Mapping[str, str]) -> str:
    """Return who vouches for a lesson: a person, or the check that proved it; empty for neither."""
    if said_by == "person":
        return person_actor(source)
    if said_by == "verified":
        name = source.get("detector", "").partition("/")[0]
        return PROCESS + "-".join(filter(None, ("holdfast", name)))
    return ""


def person_actor(source: Mapping[str, str]) -> str:
    """Return the person as an actor, by name if it is known."""
    name = source.get("person", "") or ("" if source.get("detector") else source.get("author", ""))
    return HUMAN + (_word(name) or "unknown")


def _word(text: str) -> str:
    return "-".join(text.split())
