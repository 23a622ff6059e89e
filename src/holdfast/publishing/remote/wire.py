"""A document as JSON: what travels between a client and a server, and what a server's row holds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.domain.vocabulary import LessonId
from holdfast.publishing.lessonfile import (
    EMPTY,
    UNSET,
    Document,
    FileProblem,
    LessonFile,
    parse,
    parse_stamp,
    render_fields,
    stamp_text,
)

DEPTH = 4
"""How deep lists and maps may be nested in a field."""


def plain_document(document: Document) -> dict[str, Any]:
    """Return the document as plain values, without fields and stamps that were never set."""
    return {
        "id": document.id,
        "values": {name: value for name, value in document.values.items() if value != EMPTY[name]},
        "stamps": {name: stamp_text(stamp) for name, stamp in document.stamps.items() if stamp != UNSET[name]},
    }


def load_document(plain: Mapping[str, Any]) -> Document:
    """Return the document that `plain_document` made here. What came from elsewhere goes through `read_document`."""
    values = {name: plain["values"].get(name, empty) for name, empty in EMPTY.items()}
    stamps = {name: parse_stamp(text) for name, text in plain.get("stamps", {}).items()}
    return Document(id=LessonId(plain["id"]), values=values, stamps={**UNSET, **stamps})


def read_document(plain: Any) -> LessonFile | FileProblem:
    """Return a document that somebody sent, or why it is refused.

    It is read as the file that would hold it, so the same limits, the same redaction and the same doubts hold for
    what comes through a server and for what comes through a repository.
    """
    problem = _problem(plain)
    if problem:
        return FileProblem(path="", reason=problem)
    try:
        document = load_document(plain)
    except ValueError as exc:
        return FileProblem(path="", reason=str(exc))
    return parse("", render_fields(document).encode("utf-8", "replace"))


def _problem(plain: Any) -> str:
    """Return what is wrong with the shape; empty if `render_fields` can write it."""
    if not isinstance(plain, dict) or not isinstance(plain.get("id"), str):
        return "a document is an object with id, values and stamps"
    values, stamps = plain.get("values"), plain.get("stamps", {})
    if not isinstance(values, dict) or not isinstance(stamps, dict):
        return "values and stamps are objects"
    unknown = sorted({*values, *stamps} - {*EMPTY})
    if unknown:
        return f"unknown field {unknown[0][:40]!r}"
    for name, value in values.items():
        if type(value) is not type(EMPTY[name]) or not _is_writable(value, DEPTH):
            return f"{name} must be {_WORDS[type(EMPTY[name])]}"
    wrong = next((name for name, text in stamps.items() if not isinstance(text, str)), "")
    return f"the stamp of {wrong} is a text" if wrong else ""


_WORDS: dict[object, str] = {str: "a text", list: "a list", dict: "an object"}


def _is_writable(value: Any, depth: int) -> bool:
    if isinstance(value, (str, bool)):
        return True
    if depth == 0:
        return False
    if isinstance(value, list):
        return all(isinstance(item, (str, dict)) and _is_writable(item, depth - 1) for item in value)
    return isinstance(value, dict) and all(
        isinstance(key, str) and key.isascii() and key.isidentifier() and _is_writable(inner, depth - 1)
        for key, inner in value.items()
    )
