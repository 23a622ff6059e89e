"""Makes the outline of a file: its definitions with qualified names and fingerprints.

It never raises for odd content: a file that cannot be read completely is outlined as far as possible, with a note.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.codeindex.group import group_symbol
from holdfast.codeindex.source import ParsedSource, blob_of, read_source
from holdfast.domain.symbol import Outline, Symbol


def outline(path: str, content: bytes, *, members: bool = False) -> Outline:
    """Return the definitions of a file's content, on request with its members and groups."""
    source = read_source(path, content)
    if source is None:
        return Outline(path=path, blob=blob_of(content))
    return Outline(
        path=path,
        blob=blob_of(content),
        language=source.language.name,
        symbols=(*source.symbols(), *(_more(source) if members else ())),
        note=source.note,
    )


def _more(source: ParsedSource) -> Iterator[Symbol]:
    """Yield what can be anchored but is not indexed: fields, tests, and definitions that share a name as one symbol."""
    yield from map(source.symbol, source.members)
    for group in source.by_name.values():
        if len(group) > 1:
            yield group_symbol(source, group)
