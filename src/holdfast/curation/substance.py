"""Tells whether words have the substance of a lesson: a name, a path, a command, a number or a cause.

"ok" and "be careful here" have none. Only what an agent states is held to this; a person may say what they like.
"""

from __future__ import annotations

import re

from holdfast.lean.records import Frozen
from holdfast.text.meaning import read
from holdfast.text.named import clues_in, named_in

_CAUSE = re.compile(
    r"\b(?:because|since|so that|due to|owing to|root cause|caused by|otherwise|or else|in order (?:to|that)"
    r"|that is why|the (?:cause|culprit|reason) (?:is|was)|(?:fail|break|crash|hang|leak|lose)s?\b"
    r"[^.;]{0,40}\b(?:when|if|as|unless|without))\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"`([^`\n]{2,120})`")


class Substance(Frozen):
    """What in some words can be looked up or acted on."""

    names: tuple[str, ...] = ()
    """Identifiers, as they are written."""
    others: bool = False
    """There is something else: a path, a command, code, a number or a cause."""


def substance_of(text: str) -> Substance:
    """Return the substance of a rule and its reason."""
    named, clues = named_in(text), clues_in(text)
    code = [piece for piece in _CODE.findall(text) if not piece.replace("_", "").isalnum()]
    others = (*named.paths, *named.commands, *clues.paths, *code, *read(text).numbers)
    names = dict.fromkeys((*named.symbols, *clues.symbols))
    return Substance(names=tuple(names), others=bool(others) or bool(_CAUSE.search(text)))
