"""Caches verdicts in the index, by the anchor, its file's content and the checked-out commit.

A verdict is stored only if it cannot become untrue while these stay: the symbol was found in its file, was found
elsewhere (while that file stays too), or was deleted by a commit. Unverified is judged again, unless the file's content
or the checked-out commit is the reason.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from holdfast.domain.lesson import Anchor
from holdfast.domain.project import Location
from holdfast.domain.symbol import Verdict
from holdfast.domain.vocabulary import FRESHNESSES
from holdfast.errors import HoldfastError
from holdfast.lean.plain import as_dict
from holdfast.ports.indexstore import IndexStore
from holdfast.ports.workspace import Workspace

RULES = "3"
"""Increased whenever the same code would get another verdict, or a verdict's stored form changes."""

LASTING = ("other_branch", "other_version")
"""Reasons for which an anchor stays unverified while its file and HEAD stay."""
MAY_RETURN = ("gone", "file_gone", "deleted_here")
"""Reasons that can end without a change of the anchor's file: the definition may come back elsewhere."""
_WRITTEN = ("freshness", "reason", "detail", "where", "hides", "share")
_ANCHORED = ("path", "symbol", "symbol_kind", "blob", "signature_hash", "body_hash")
_SEPARATOR = "\x1f"


def load(
    store: IndexStore | None, workspace: Workspace, location: Location, anchor: Anchor, blob: str
) -> Verdict | None:
    """Return the stored verdict if it still holds, otherwise None."""
    if store is None:
        return None
    try:
        values = store.verdict(_key(anchor, blob)).split(_SEPARATOR)
    except HoldfastError:
        return None
    if len(values) != 1 + len(_WRITTEN) + len(_ANCHORED) or values[0] != location.commit:
        return None
    fields: dict[str, Any] = dict(zip(_WRITTEN, values[1:], strict=False))
    anchored: dict[str, Any] = dict(zip(_ANCHORED, values[1 + len(_WRITTEN) :], strict=True))
    now = replace(anchor, **anchored)
    if now.path != anchor.path and workspace.blob(location, now.path) != now.blob:
        return None
    try:
        fields["share"] = float(fields["share"])
        return Verdict(anchor=now, **fields) if fields["freshness"] in FRESHNESSES else None
    except ValueError:
        return None  # damaged


def keep(store: IndexStore | None, location: Location, anchor: Anchor, blob: str, verdict: Verdict) -> None:
    """Store a verdict that will hold. A store that cannot be written is ignored."""
    if store is None or (verdict.freshness == "unverified" and verdict.reason not in LASTING):
        return
    if (verdict.hides or verdict.reason) in MAY_RETURN:
        return
    written = [str(getattr(verdict, name)) for name in _WRITTEN]
    now = [getattr(verdict.anchor, name) for name in _ANCHORED]
    value = _SEPARATOR.join((location.commit, *written, *now))
    try:
        store.keep_verdict(_key(anchor, blob), value)
    except HoldfastError:
        return


def _key(anchor: Anchor, blob: str) -> str:
    return f"{RULES}:{_digest(_SEPARATOR.join(map(str, as_dict(anchor).values())))}:{blob}"


def _digest(text: str) -> str:
    try:
        from _sha1 import sha1  # type: ignore[import-not-found]  # the C module alone: hashlib costs 3 ms
    except ImportError:
        from hashlib import sha1
    return str(sha1(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest())
