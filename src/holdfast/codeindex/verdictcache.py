"""Verdicts kept in the index: by the anchor, its file's content and the commit that is checked out.

Only what cannot become untrue while those stay is kept: what was found in its file, what was found elsewhere (while
that file stays, too) and what a commit deleted. Unverified is asked again, but where the file's content or the commit
checked out is the reason.
"""

from __future__ import annotations

from holdfast.domain.lesson import Anchor
from holdfast.domain.symbol import Verdict
from holdfast.domain.vocabulary import FRESHNESSES
from holdfast.errors import HoldfastError
from holdfast.lean.records import replace

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from holdfast.domain.project import Place
    from holdfast.ports.indexstore import IndexStore
    from holdfast.ports.workspace import Workspace

RULES = "3"
"""Grows whenever the same code would get another verdict, and when a verdict is written otherwise."""

LASTING = ("other_branch", "other_version")
"""Reasons of an unverified anchor that stays so while its file and HEAD do."""
MAY_RETURN = ("gone", "file_gone", "deleted_here")
"""Reasons that the work tree may take away without the anchor's file changing: it may come back elsewhere."""
_WRITTEN = ("freshness", "reason", "detail", "where", "hides", "share")
_ANCHORED = ("path", "symbol", "symbol_kind", "blob", "signature_hash", "body_hash")
_SEPARATOR = "\x1f"


def load(store: IndexStore | None, workspace: Workspace, place: Place, anchor: Anchor, blob: str) -> Verdict | None:
    """The kept verdict, when it still holds."""
    if store is None:
        return None
    try:
        values = store.verdict(_key(anchor, blob)).split(_SEPARATOR)
    except HoldfastError:
        return None
    if len(values) != 1 + len(_WRITTEN) + len(_ANCHORED) or values[0] != place.commit:
        return None
    fields: dict[str, Any] = dict(zip(_WRITTEN, values[1:], strict=False))
    now = replace(anchor, **dict(zip(_ANCHORED, values[1 + len(_WRITTEN) :], strict=True)))
    if now.path != anchor.path and workspace.blob(place, now.path) != now.blob:
        return None
    try:
        fields["share"] = float(fields["share"])
        return Verdict(anchor=now, **fields) if fields["freshness"] in FRESHNESSES else None
    except ValueError:
        return None  # damaged


def keep(store: IndexStore | None, place: Place, anchor: Anchor, blob: str, verdict: Verdict) -> None:
    """Keep a verdict that will hold; a store that cannot be written does without."""
    if store is None or (verdict.freshness == "unverified" and verdict.reason not in LASTING):
        return
    if (verdict.hides or verdict.reason) in MAY_RETURN:
        return
    written = [str(getattr(verdict, name)) for name in _WRITTEN]
    now = [getattr(verdict.anchor, name) for name in _ANCHORED]
    value = _SEPARATOR.join((place.commit, *written, *now))
    try:
        store.keep_verdict(_key(anchor, blob), value)
    except HoldfastError:
        return


def _key(anchor: Anchor, blob: str) -> str:
    return f"{RULES}:{_digest(_SEPARATOR.join(map(str, anchor.__dict__.values())))}:{blob}"


def _digest(text: str) -> str:
    try:
        from _sha1 import sha1  # type: ignore[import-not-found]  # the C module alone: hashlib costs 3 ms
    except ImportError:
        from hashlib import sha1
    return str(sha1(text.encode("utf-8", "replace"), usedforsecurity=False).hexdigest())
