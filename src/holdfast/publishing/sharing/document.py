"""Document: a shared lesson as a set of fields that merge the same way on every machine, in any order.

Each field carries a stamp: a digest of its value, the tokens of the edits in force, and the tokens of the edits that
they replaced. If a field's value does not match the stamp's digest, it has been edited since. Of two documents, the
field whose edits the other has seen gives way. If neither has seen the other's edit, both count: lists are united; of
two rules one stays and the other becomes a rival, which `split` turns into a separate lesson. A tombstone wins over
everything, so nothing comes back.

Source: multi-value registers (Shapiro et al., A comprehensive study of convergent and commutative replicated data
types, 2011, section 3.2.2).
"""

from __future__ import annotations

from hashlib import sha256

from holdfast.domain.vocabulary import LessonId
from holdfast.lean.records import Frozen, replace
from holdfast.lean.texts import dumps, short_id
from holdfast.text.titles import make_title

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any

    Values = dict[str, Any]

EMPTY: dict[str, Any] = {
    "kind": "", "title": "", "insight": "", "state": "active", "why": "", "how": "", "snippets": [], "anchors": [],
    "globs": [], "when": {}, "tags": [], "topic_key": "", "path_prefix": "", "command": "", "error_signature": "",
    "revival": "", "valid_from": "", "valid_to": "", "links": [], "provenance": {}, "rivals": [],
}  # fmt: skip
"""The fields of a document in their order, each with the default that is not written."""
ENDS = ("active", "superseded", "retired", "forgotten")
"""States of a shared lesson; of two that were set concurrently, the later one in this list stays."""
DIGITS = 8
"""Hexadecimal digits of a digest."""
SLUG_WORDS = 7
"""Words of a rule in its file's name."""
SLUG_LIMIT = 48
"""Characters of these words."""


class Stamp(Frozen):
    """What is known about one field's edits."""

    digest: str
    """Digest of the value that the tokens describe."""
    live: frozenset[str] = frozenset()
    """Tokens of the edits in force; two after concurrent edits."""
    past: frozenset[str] = frozenset()
    """Tokens of the edits that those replaced."""

    @property
    def seen(self) -> frozenset[str]:
        """Every token."""
        return self.live | self.past


class Document(Frozen):
    """One shared lesson: every field of `EMPTY` with its value and its stamp."""

    id: LessonId
    values: Values
    stamps: dict[str, Stamp]

    @property
    def is_tombstone(self) -> bool:
        """Whether the lesson was forgotten."""
        return bool(self.values["state"] == "forgotten")


def shared_id(*parts: str) -> LessonId:
    """Return the id that any machine gives to a lesson of that kind and rule: a version 8 UUID of a digest.

    Case and white space do not matter.
    """
    words = "\0".join(" ".join(part.casefold().split()) for part in parts)
    digits = sha256(("holdfast lesson\0" + words).encode("utf-8", "replace")).hexdigest()
    return LessonId(f"{digits[:8]}-{digits[8:12]}-8{digits[13:16]}-a{digits[17:20]}-{digits[20:32]}")


def path_of(lesson: LessonId, kind: str, insight: str) -> str:
    """Return a lesson's file, relative to the folder of lessons; it stays when the lesson's words change."""
    letters = (char if char.isascii() and char.isalnum() else " " for char in insight.casefold())
    slug = "-".join("".join(letters).split()[:SLUG_WORDS])[:SLUG_LIMIT].strip("-")
    return f"{kind}/{slug or 'lesson'}-{short_id(lesson)}.md"


def digest(value: Any) -> str:
    """Return a few digits that distinguish a field's values."""
    return "r" + sha256(dumps(value).encode("utf-8", "replace")).hexdigest()[:DIGITS]


def first_stamp(value: Any) -> Stamp:
    """Return the stamp of a value that replaces none; it is the same on every machine."""
    return Stamp(digest=digest(value), live=frozenset((digest(value),)))


UNSET = {name: first_stamp(value) for name, value in EMPTY.items()}
"""The stamps of fields that were never set."""


def tombstone(lesson: LessonId, kind: str) -> Document:
    """Return what is left of a forgotten lesson, without any of its words."""
    values = {**EMPTY, "kind": kind, "state": "forgotten"}
    return Document(id=lesson, values=values, stamps=dict(UNSET))


def settle(lesson: LessonId, values: Mapping[str, Any], stamps: Mapping[str, Stamp] | None) -> Document:
    """Return the document of those values, with a new token for every field that was edited since its stamp.

    Without stamps every value counts as the first one of its field.
    """
    whole = {name: values.get(name, empty) for name, empty in EMPTY.items()}
    if whole["state"] == "forgotten":
        return tombstone(lesson, whole["kind"])
    if stamps is None:
        return Document(id=lesson, values=whole, stamps={name: first_stamp(value) for name, value in whole.items()})
    settled = {name: _settled(whole[name], stamps.get(name, UNSET[name])) for name in EMPTY}
    return Document(id=lesson, values=whole, stamps=settled)


def edit(document: Document, **changes: Any) -> Document:
    """Return the document with those fields changed."""
    return settle(document.id, {**document.values, **changes}, document.stamps)


def join(document: Document, other: Document) -> Document:
    """Return the merge of both documents; the order does not matter, and joining twice changes nothing."""
    if document.is_tombstone or other.is_tombstone:
        return tombstone(document.id, min(document.values["kind"], other.values["kind"]))
    values: Values = {}
    stamps: dict[str, Stamp] = {}
    losers: list[str] = []
    for name in EMPTY:
        first, second = document.values[name], other.values[name]
        value, stamp, is_concurrent = _join(name, first, document.stamps[name], second, other.stamps[name])
        values[name], stamps[name] = value, stamp
        if is_concurrent and name == "insight":
            losers = [text for text in (first, second) if text and text != value]
    joined = Document(id=document.id, values=values, stamps=stamps)
    rivals = sorted({*values["rivals"], *losers})
    return joined if rivals == values["rivals"] else edit(joined, rivals=rivals)


def split(document: Document) -> tuple[Document, list[Document]]:
    """Return the document without its rivals, and each rival as a lesson that contradicts it."""
    values = document.values
    if document.is_tombstone or not values["rivals"]:
        return document, []
    rivals = []
    for insight in values["rivals"]:
        if insight == values["insight"]:
            continue
        copied = {name: values[name] for name in ("kind", "anchors", "globs", "when", "path_prefix", "valid_from")}
        fields = {
            **copied, "title": make_title(insight), "insight": insight, "provenance": values["provenance"],
            "links": [{"kind": "contradicts", "target": document.id}],
        }  # fmt: skip
        rivals.append(settle(shared_id("rival", document.id, insight), fields, None))
    contradicted = [{"kind": "contradicts", "target": rival.id} for rival in rivals]
    links = _united([*values["links"], *contradicted]) if contradicted else values["links"]
    return edit(document, rivals=[], links=links), rivals


def _settled(value: Any, stamp: Stamp) -> Stamp:
    now = digest(value)
    if now == stamp.digest:
        return stamp
    token = "r" + sha256(dumps([value, sorted(stamp.seen)]).encode("utf-8", "replace")).hexdigest()[:DIGITS]
    return Stamp(digest=now, live=frozenset((token,)), past=stamp.seen - {token})


def _join(name: str, first: Any, first_stamp: Stamp, second: Any, second_stamp: Stamp) -> tuple[Any, Stamp, bool]:
    """Return the value, its stamp, and whether it was chosen from two concurrent edits."""
    if first_stamp == second_stamp:
        return first, first_stamp, False
    ahead, behind = first_stamp.live - second_stamp.seen, first_stamp.live & second_stamp.past
    other_ahead, other_behind = second_stamp.live - first_stamp.seen, second_stamp.live & first_stamp.past
    live = (first_stamp.live & second_stamp.live) | ahead | other_ahead
    if not live:  # each lists the other's edit as replaced: only a manual edit of the tokens does that
        live = first_stamp.live | second_stamp.live
    stamp = Stamp(digest="", live=live, past=(first_stamp.seen | second_stamp.seen) - live)
    if live == first_stamp.live and live != second_stamp.live and not other_ahead:
        return first, replace(stamp, digest=first_stamp.digest), False
    if live == second_stamp.live and live != first_stamp.live and not ahead:
        return second, replace(stamp, digest=second_stamp.digest), False
    if ahead and not (behind or other_ahead):
        return first, replace(stamp, digest=first_stamp.digest), False
    if other_ahead and not (other_behind or ahead):
        return second, replace(stamp, digest=second_stamp.digest), False
    value = first if first == second else _combined(name, first, second)
    return value, replace(stamp, digest=digest(value)), first != second


def _combined(name: str, first: Any, second: Any) -> Any:
    """Return one value for two that were set concurrently; it does not depend on their order."""
    if name in ("why", "how"):
        return "\n\n".join(sorted({*first.split("\n\n"), *second.split("\n\n")} - {""}))
    if name == "state":
        return max(first, second, key=ENDS.index)
    if name in ("valid_from", "valid_to"):
        return min(text for text in (first, second) if text)
    if name == "anchors":
        return _one_a_place([*first, *second])
    if name == "when":
        return _both_triggers(first, second)
    if isinstance(first, list):
        return _united([*first, *second])
    return max(first, second) if isinstance(first, str) else max(first, second, key=dumps)


def _united(items: Iterable[Any]) -> list[Any]:
    by_text = {dumps(item): item for item in items}
    return [by_text[text] for text in sorted(by_text)]


def _one_a_place(anchors: Iterable[Mapping[str, str]]) -> list[Any]:
    by_place: dict[tuple[str, str], Any] = {}
    for anchor in anchors:
        place = (anchor["path"], anchor.get("symbol", ""))
        by_place[place] = max(by_place.get(place, anchor), anchor, key=dumps)
    return [by_place[place] for place in sorted(by_place)]


def _both_triggers(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    names = [name for name in ("paths", "symbols", "literals", "commands", "work") if name in first or name in second]
    both: dict[str, Any] = {name: sorted({*first.get(name, ()), *second.get(name, ())}) for name in names}
    return both | ({"standing": True} if first.get("standing") or second.get("standing") else {})
