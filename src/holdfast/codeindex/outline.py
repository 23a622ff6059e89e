"""The outline of a file: its definitions with qualified names and fingerprints, and what it imports as written.

Never raises for odd content: what cannot be read in full is outlined as far as it goes, with a note.
"""

from __future__ import annotations

from hashlib import sha1

from holdfast.codeindex import fingerprint, languages
from holdfast.codeindex.definitions import Definition, find_definitions
from holdfast.codeindex.fingerprint import Tokens, hash_tokens, read_tokens
from holdfast.codeindex.language import CONTAINER_KINDS, Language
from holdfast.codeindex.sourceimports import find_imports
from holdfast.domain.symbol import Outline, Symbol

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from tree_sitter import Tree

SIZE_LIMIT = 1_000_000
"""Bytes of a file that are still parsed."""

LINE_LIMIT = 20_000
"""Bytes per line, on average, from which a file is taken as minified."""

SIGNATURE_LIMIT = 300


def outline(path: str, content: bytes) -> Outline:
    """The definitions and imports of a file's content."""
    blob = blob_of(content)
    language = languages.for_path(path)
    if language is None:
        return Outline(path=path, blob=blob)
    obstacle = _obstacle(content)
    if obstacle:
        return Outline(path=path, blob=blob, language=language.name, note=obstacle)
    from holdfast.codeindex.parsing import parse

    tree = parse(language, content)
    return Outline(
        path=path,
        blob=blob,
        language=language.name,
        symbols=tuple(_symbols(language, path, content, tree)),
        imports=tuple(find_imports(language, tree.root_node)),
        note=_note(content, tree),
    )


def blob_of(content: bytes) -> str:
    """`git1:` and git's blob id of the content."""
    return "git1:" + sha1(b"blob %d\0" % len(content) + content, usedforsecurity=False).hexdigest()


def _obstacle(content: bytes) -> str:
    """Why the content is not parsed at all; empty when it is."""
    if len(content) > SIZE_LIMIT:
        return f"too large: {len(content):,} bytes"
    if b"\0" in content[:8_000]:
        return "binary"
    if len(content) > LINE_LIMIT and len(content) > LINE_LIMIT * (content.count(b"\n") + 1):
        return "minified"
    return ""


def _note(content: bytes, tree: Tree) -> str:
    if tree.root_node.has_error:
        return "syntax error"
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return "not UTF-8"
    return ""


def _symbols(language: Language, path: str, content: bytes, tree: Tree) -> list[Symbol]:
    definitions = find_definitions(language, tree.root_node)
    tokens = read_tokens(language, tree.root_node) if definitions else Tokens()
    return [_symbol(path, content, tokens, definitions, one) for one in definitions]


def _symbol(path: str, content: bytes, tokens: Tokens, among: Sequence[Definition], one: Definition) -> Symbol:
    head, body = head_and_body(tokens, among, one)
    own = one.name.rpartition(".")[2].partition("#")[0]
    return Symbol(
        path=path,
        name=one.name,
        kind=one.kind,
        start_line=one.start_line,
        end_line=one.end_line,
        start_byte=one.start,
        end_byte=one.end,
        signature=signature_line(content, one),
        signature_hash=hash_tokens(fingerprint.SIGNATURE_VERSION, tokens, head, own),
        body_hash=hash_tokens(fingerprint.BODY_VERSION, tokens, body, own),
        tokens=len(head) + len(body),
    )


def head_and_body(tokens: Tokens, among: Sequence[Definition], one: Definition) -> tuple[list[int], list[int]]:
    """The indexes of a definition's head and body tokens.

    What is defined in a class or module is left out: it has its own fingerprint, and a class whose method changed
    is the same class.
    """
    name_at = tokens.between(one.name_start, one.name_end)
    head = [*tokens.between(one.start, one.body_start), *tokens.between(one.body_end, one.end)]
    body: Sequence[int] = tokens.between(one.body_start, one.body_end)
    if one.kind in CONTAINER_KINDS:
        inner = (tokens.of_member(member.start, member.end) for member in among if member.inside is one)
        left_out = {index for span in inner for index in span}
        body = [index for index in body if index not in left_out]
    return [index for index in head if index not in name_at], list(body)


def signature_line(content: bytes, one: Definition) -> str:
    """The head in one line for people, without decorators, at most 300 characters."""
    head = content[one.head_start : one.body_start].decode("utf-8", "replace")
    return " ".join(head.split()).rstrip(" {:=")[:SIGNATURE_LIMIT]
