"""Vectors as each backend keeps them: a signed byte a component, so that all have the same cosines."""

from __future__ import annotations

from array import array
from collections.abc import Sequence


def pack(vector: Sequence[float]) -> tuple[float, bytes]:
    """Return the scale and one signed byte a component: a cosine changes by less than .005."""
    scale = max(map(abs, vector), default=0.0) / 127 or 1.0
    return scale, array("b", [round(component / scale) for component in vector]).tobytes()


def unpack(scale: float, codes: bytes) -> list[float]:
    """Return the components that `pack` left."""
    return [code * scale for code in array("b", codes)]
