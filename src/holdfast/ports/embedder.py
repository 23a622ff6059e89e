"""Embedder: texts to unit vectors."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Protocol
else:
    Protocol = object


class Embedder(Protocol):
    """A model that places texts in a space. Vectors of different `id`s are never compared.

    One whose class says `is_local = True` answers from this machine, in milliseconds: hooks may ask it.
    """

    id: str
    """Model + revision + dimension."""
    dimension: int

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector per text, in order. Raises EmbedderError; its message never holds a key."""
        ...
