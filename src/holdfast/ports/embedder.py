"""Embedder: turns texts into unit vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Embedder(Protocol):
    """A model that places texts in a space. Vectors of different `id`s are never compared.

    Set `is_local = True` on the class of an embedder that answers on this machine within milliseconds: hooks use it.
    """

    id: str
    """Model + revision + dimension."""
    dimension: int

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        """Return one unit vector for each text to be searched, in order, however long that takes.

        Raises EmbedderError; its message never holds a key.
        """

    def embed_query(self, text: str) -> list[float]:
        """Return the unit vector of a question. Somebody is waiting, so try once and give up soon.

        It is comparable with the vectors of `embed_documents`. Raises EmbedderError; its message never holds a key.
        """
