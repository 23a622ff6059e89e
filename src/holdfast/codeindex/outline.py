"""The outline of a file: its definitions with qualified names and fingerprints, and what it imports as written.

Never raises for odd content: what cannot be read in full is outlined as far as it goes, with a note.
"""

from __future__ import annotations

from holdfast.codeindex.source import blob_of, read_source
from holdfast.codeindex.sourceimports import find_imports
from holdfast.domain.symbol import Outline


def outline(path: str, content: bytes) -> Outline:
    """The definitions and imports of a file's content."""
    source = read_source(path, content)
    if source is None:
        return Outline(path=path, blob=blob_of(content))
    return Outline(
        path=path,
        blob=blob_of(content),
        language=source.language.name,
        symbols=tuple(source.symbols()),
        imports=tuple(find_imports(source.matches)),
        note=source.note,
    )
