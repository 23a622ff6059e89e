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

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one unit vector per text to be found, in order, however long that takes.

        Raises EmbedderError; its message never holds a key.
        """
        ...

    def embed_query(self, text: str) -> list[float]:
        """Return the unit vector of a question, which somebody waits for: one try, in little time.

        Comparable with the vectors of `embed_documents`. Raises EmbedderError; its message never holds a key.
        """
        ...
