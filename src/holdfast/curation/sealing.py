"""Seals: a code in each exported line that only this home can make, so that an import recognises its own export.

The code is an HMAC over the line's values in a fixed order, so that white space and the order of keys do not matter.
The key's name before the code distinguishes a changed line of ours from a line made elsewhere.
"""

from __future__ import annotations

import hmac
from hashlib import sha256

from holdfast.lean.texts import dumps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Literal

    Origin = Literal["own", "changed", "foreign"]

SEAL = "seal"
"""The JSON key of a line's seal."""


class Sealer:
    """Makes and checks seals with one home's key; with an empty key it makes and recognises none."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._name = sha256(b"holdfast export key\0" + key).hexdigest()[:8] if key else ""

    def seal(self, stated: dict[str, Any]) -> str:
        """Return the seal of a line's values; empty without a key."""
        if not self._key:
            return ""
        return f"{self._name}:{hmac.new(self._key, dumps(_ordered(stated)).encode(), sha256).hexdigest()}"

    def judge(self, stated: dict[str, Any], seal: object) -> Origin:
        """Return whether this home exported the line and it is unchanged (own), changed, or foreign."""
        if not self._key or not isinstance(seal, str) or seal.partition(":")[0] != self._name:
            return "foreign"
        return "own" if hmac.compare_digest(seal.encode(), self.seal(stated).encode()) else "changed"


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [_ordered(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
