"""Treats the definitions of one file that share a qualified name as one symbol, a group.

Examples are overloads, a property's getter and setter, partial classes, `@overload` stubs with their function, and a
macro in both branches of an `#ifdef`: a name means all of them. A group has the fingerprints of all its definitions, in
any order.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import blake2b

from holdfast.codeindex.definitions import Definition
from holdfast.codeindex.fingerprint import BODY_VERSION, HASH_BYTES, SIGNATURE_VERSION
from holdfast.codeindex.source import ParsedSource, unnumbered
from holdfast.domain.symbol import Symbol

GROUP = "group"
"""The kind of an anchor that means all definitions of its name."""


def group_symbol(source: ParsedSource, definitions: Sequence[Definition]) -> Symbol:
    """Return all definitions of one name as one symbol; a single definition can be a group too."""
    symbols = [source.symbol(definition) for definition in definitions]
    pairs = [(symbol.signature_hash, symbol.body_hash) for symbol in symbols]
    return replace(
        symbols[0],
        name=unnumbered(symbols[0].name),
        kind=GROUP,
        end_line=symbols[-1].end_line,
        end_byte=symbols[-1].end_byte,
        signature_hash=_hash_all(SIGNATURE_VERSION, [(head,) for head, _ in pairs]),
        body_hash=_hash_all(BODY_VERSION, pairs),
        tokens=sum(symbol.tokens for symbol in symbols),
    )


def _hash_all(version: str, rows: Sequence[Sequence[str]]) -> str:
    """Return `<version>:<full>.<bare>` over the hashes of several definitions, in any order."""
    full, bare = [], []
    for row in rows:
        parts = [text.partition(":")[2].partition(".") for text in row]
        full.append(" ".join(whole for whole, _, _ in parts))
        bare.append(" ".join(short for _, _, short in parts))
    return f"{version}:{_digest(full)}.{_digest(bare)}"


def _digest(texts: Sequence[str]) -> str:
    return blake2b("\0".join(sorted(texts)).encode(), digest_size=HASH_BYTES).hexdigest()
