"""Seals: a code in each exported line that only this home can make, so that an import knows its own export again.

The code is an HMAC over the line's values in a fixed order, so that white space and the order of keys do not matter. A
line that was changed, and one that was made elsewhere, are told apart by the key's name in front of the code.
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
"""The key of a line that holds its seal."""


class Sealer:
    """Makes and judges seals with one home's key; with an empty key it makes none and knows none."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._name = sha256(b"holdfast export key\0" + key).hexdigest()[:8] if key else ""

    def seal(self, stated: dict[str, Any]) -> str:
        """The seal of a line's values; empty without a key."""
        if not self._key:
            return ""
        return f"{self._name}:{hmac.new(self._key, dumps(_ordered(stated)).encode(), sha256).hexdigest()}"

    def judge(self, stated: dict[str, Any], seal: object) -> Origin:
        """Whether this home exported the line as it is, exported it otherwise, or did not export it."""
        if not self._key or not isinstance(seal, str) or seal.partition(":")[0] != self._name:
            return "foreign"
        return "own" if hmac.compare_digest(seal.encode(), self.seal(stated).encode()) else "changed"


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _ordered(value[key]) for key in sorted(value)}
    if isinstance(value, (list, tuple)):
        return [_ordered(item) for item in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value
