"""What a process remembers of a large organisation for some minutes, so that it is not counted for each question."""

from __future__ import annotations

import time
from collections.abc import Hashable
from typing import Any

KEPT_S = 300
"""How long a value is used."""
MOST = 20_000
"""Most values; one more, and all are dropped."""


class Cache:
    """Values that expire. Threads may share it: a value that two of them make is only made twice."""

    def __init__(self) -> None:
        self._values: dict[Hashable, tuple[float, Any]] = {}

    def get(self, key: Hashable) -> Any:
        """Return the value, or None."""
        expires, value = self._values.get(key, (0.0, None))
        return value if time.monotonic() < expires else None

    def put(self, key: Hashable, value: Any) -> None:
        """Remember the value."""
        if len(self._values) >= MOST:
            self._values.clear()
        self._values[key] = time.monotonic() + KEPT_S, value

    def clear(self) -> None:
        """Forget everything."""
        self._values.clear()
