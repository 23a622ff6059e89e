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

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from hashlib import sha256
from typing import Any

from holdfast.domain.kinds import LESSON_KINDS
from holdfast.domain.lesson import INSIGHT_LIMIT, TITLE_LIMIT
from holdfast.domain.openknowledge import KINDS_BY_TYPE, STATUSES, TYPES, actor_of, verifier_of
from holdfast.domain.vocabulary import TRUSTS, LessonId
from holdfast.errors import InvalidValueError
from holdfast.lean.plain import parse_instant, render_instant
from holdfast.lean.texts import dumps, has_drive, short_id
from holdfast.lessons.statement import clean, suspicion
from holdfast.text.occasions import CARDS
from holdfast.text.titles import make_title
from holdfast.text.words import duplicate_key

Values = dict[str, Any]

EMPTY: dict[str, Any] = {
    "kind": "", "title": "", "insight": "", "state": "active", "why": "", "how": "", "snippets": [], "anchors": [],
    "globs": [], "when": {}, "tags": [], "topic_key": "", "level": "", "path_prefix": "", "command": "",
    "error_signature": "", "revival": "", "valid_from": "", "valid_to": "", "links": [], "provenance": {}, "rivals": [],
}  # fmt: skip
"""The fields of a document in their order, each with the default that is not written."""
ENDS = ("active", "superseded", "retired", "forgotten")
"""States of a shared lesson; of two that were set concurrently, the later one in this list stays."""
TEAM = "team"
"""The level of a lesson that sync shares by itself, without `share`; others have none."""
DIGITS = 8
"""Hexadecimal digits of a digest."""
SLUG_WORDS = 7
"""Words of a rule in its file's name."""
SLUG_LIMIT = 48
"""Characters of these words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
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


def is_card(values: Mapping[str, Any]) -> bool:
    """Return whether it is the project's one lesson on a kind of command, whatever words it has on each machine."""
    return str(values["topic_key"]).startswith(CARDS)


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
        if is_concurrent and name == "insight" and not is_card(document.values):
            losers = [text for text in (first, second) if text and text != value]
    joined = Document(id=document.id, values=values, stamps=stamps)
    changes: dict[str, Any] = {}
    rivals = sorted({*values["rivals"], *losers})
    if rivals != values["rivals"]:
        changes["rivals"] = rivals
    if "" < values["valid_to"] <= values["valid_from"]:  # ended on one side and begun anew on the other
        changes["valid_to"] = ""
    return edit(joined, **changes) if changes else joined


def split(document: Document) -> tuple[Document, list[Document]]:
    """Return the document without its rivals, and each rival as a lesson that contradicts it."""
    values = document.values
    if document.is_tombstone or not values["rivals"]:
        return document, []
    rivals = []
    for insight in values["rivals"]:
        if duplicate_key(insight) == duplicate_key(values["insight"]):  # the same rule, in another spelling
            continue
        copied = {name: values[name] for name in ("kind", "anchors", "globs", "when", "path_prefix", "valid_from")}
        fields = {
            **copied, "title": make_title(insight), "insight": insight, "provenance": values["provenance"],
            "links": [{"kind": "contradicts", "target": document.id}],
        }  # fmt: skip
        rivals.append(settle(shared_id("rival", document.id, insight), fields, None))
    contradicted = [{"kind": "contradicts", "target": rival.id} for rival in rivals]
    links = united([*values["links"], *contradicted]) if contradicted else values["links"]
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
        return united([*first, *second])
    return max(first, second) if isinstance(first, str) else max(first, second, key=dumps)


def united(items: Iterable[Any]) -> list[Any]:
    """Return each item once, in an order that is the same on every machine."""
    by_text = {dumps(item): item for item in items}
    return [by_text[text] for text in sorted(by_text)]


def _one_a_place(anchors: Iterable[Mapping[str, str]]) -> list[Any]:
    by_place: dict[tuple[str, str], Any] = {}
    for anchor in anchors:
        place = (anchor["path"], anchor.get("symbol", ""))
        by_place[place] = max(by_place.get(place, anchor), anchor, key=dumps)
    return [by_place[place] for place in sorted(by_place)]


def _both_triggers(first: Mapping[str, Any], second: Mapping[str, Any]) -> dict[str, Any]:
    names = [name for name in TRIGGER_LISTS if name in first or name in second]
    both: dict[str, Any] = {name: sorted({*first.get(name, ()), *second.get(name, ())}) for name in names}
    return both | {name: True for name in TRIGGER_FLAGS if first.get(name) or second.get(name)}


# Reads and writes lesson files: a document as text that people review and edit


FILE_LIMIT = 200_000
"""Bytes of a lesson's file; a larger one is not read."""
LISTS = ("snippets", "globs", "tags", "rivals")
ANCHOR_KEYS = ("path", "symbol", "symbol_kind", "blob", "signature_hash", "body_hash", "commit")
TRIGGER_LISTS = ("paths", "symbols", "literals", "commands", "work", "needs")
TRIGGER_FLAGS = ("standing", "edited")
LINK_KINDS = ("supersedes", "contradicts", "refines", "duplicates", "caused_by", "relates_to")
PROVENANCE_KEYS = ("said_by", "host", "detector", "author", "person", "origin")
STAMPS = "sync"
"""The key of the stamps: the last one, which people should not change."""
DERIVED = ("type", "status", "generated", "verified", "stale_after", "sources")
"""Keys of the Open Knowledge Format, which are written from the fields. Of these an edit of `type` and `status` counts,
as one of `kind` and `state`; the others are written anew."""
UP_TO_ROOT = "../../../"
"""From a lesson's file to the root of its repository."""
KEYS = ("id", *(name for name in EMPTY if name != "insight"), *DERIVED, STAMPS)
_PLAIN = re.compile(r"[A-Za-z_][\w .,/()*+'$=<>;-]*[\w.)*/]|[A-Za-z]", re.ASCII)
_WORDS_WITH_TYPES = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_BARE = frozenset({
    "id", "kind", "state", "valid_from", "valid_to", "target", "said_by", "symbol_kind", "blob", "signature_hash",
    "body_hash", "commit", "work",
})  # fmt: skip
"""Keys whose values are digests, instants or words of closed sets."""
_BARE_TEXT = re.compile(r"[a-z0-9_:.TZ-]{0,100}")
_TOKEN = re.compile(r"r[0-9a-f]{8}")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


@dataclass(frozen=True, slots=True, kw_only=True)
class FileProblem:
    """Why a file is ignored, and where in it."""

    path: str
    reason: str
    line: int = 1
    column: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LessonFile:
    """The content of a lesson's file."""

    document: Document
    doubt: str = ""
    """Why its words may be untrustworthy even if a person vouches for the repository; empty if there is no reason."""
    was_edited: bool = False
    """Whether somebody changed it since a sync last wrote it."""


class Unreadable(Exception):  # noqa: N818 - it is caught where it is raised, and becomes a Problem
    """Raised inside `parse`, with the reason and the position."""

    def __init__(self, reason: str, line: int = 1, column: int = 1) -> None:
        super().__init__(reason)
        self.line = line
        self.column = column


def render(document: Document) -> str:
    """Return the file's text, with line feeds as line ends: a concept of the Open Knowledge Format (ADR 51)."""
    values = document.values
    derived = _derived(values)
    return _text(document, {"type": TYPES[values["kind"]]}, derived)


def render_fields(document: Document) -> str:
    """Return the text without the keys of the Open Knowledge Format; `parse` reads the same document from it."""
    return _text(document, {}, {})


def _derived(values: Values) -> dict[str, Any]:
    """Return the keys of the Open Knowledge Format after the fields; they say nothing that the fields do not say."""
    status = {"status": STATUSES[values["state"]]}
    if values["state"] == "forgotten":
        return status
    source, begun = values["provenance"], values["valid_from"]
    said_by = source.get("said_by", "")
    since = {"at": begun} if begun else {}
    keys: dict[str, Any] = dict(status)
    if source:
        keys["generated"] = {"by": actor_of(said_by, source), **since}
    if begun and (verifier := verifier_of(said_by, source)):
        keys["verified"] = [{"by": verifier, **since}]
    if values["valid_to"]:
        keys["stale_after"] = values["valid_to"]
    paths = dict.fromkeys(anchor["path"] for anchor in values["anchors"])
    origin = source.get("origin", "").partition("#")[0]
    if sources := [{"resource": UP_TO_ROOT + path, "title": path} for path in paths]:
        keys["sources"] = sources
    if origin and origin not in paths:
        keys.setdefault("sources", []).append({"resource": origin, "title": source["origin"]})
    return keys


def _text(document: Document, first: Mapping[str, Any], last: Mapping[str, Any]) -> str:
    lines = ["---", f"id: {document.id}", *yaml_lines(first)]
    fields = {name: value for name, value in document.values.items() if name != "insight" and value != EMPTY[name]}
    lines += [*yaml_lines(fields), *yaml_lines(last)]
    stamps = {name: stamp for name, stamp in document.stamps.items() if stamp != UNSET[name]}
    if stamps:
        lines.append(f"{STAMPS}:")
        lines += [f"  {name}: {stamp_text(stamp)}" for name, stamp in stamps.items()]
    insight = document.values["insight"]
    return "\n".join([*lines, "---", *(["", insight] if insight else []), ""])


def parse(
    path: str, content: bytes, base: Mapping[str, Stamp] | None = None, *, doubted: bool = True
) -> LessonFile | FileProblem:
    """Return the file's content, or the problem. `base` has the stamps to use if the file has lost its own.

    Without `doubted` its words are not checked for an attack; use that for our own text.
    """
    try:
        return _parse(_decoded(content), base, doubted)
    except Unreadable as exc:
        return FileProblem(path=path, reason=str(exc), line=exc.line, column=exc.column)


def _decoded(content: bytes) -> str:
    if len(content) > FILE_LIMIT:
        raise Unreadable(f"larger than {FILE_LIMIT:,} bytes")
    try:
        return content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as exc:
        before = content[: exc.start]
        column = len(before[before.rfind(b"\n") + 1 :].decode("utf-8", "replace")) + 1
        raise Unreadable("not UTF-8", before.count(b"\n") + 1, column) from exc


def _parse(text: str, base: Mapping[str, Stamp] | None, doubted: bool) -> LessonFile:
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if line.startswith(("<<<<<<< ", ">>>>>>> ", "||||||| ")):
            raise Unreadable("an unresolved merge conflict", number)
    end = next((n for n, line in enumerate(lines) if n and line.rstrip() == "---"), 0)
    if lines[0].rstrip() != "---" or not end:
        raise Unreadable("no front matter: a lesson's file begins with a line `---`, keys, and a line `---`")
    stated = _Mapping(_compose("\n".join(lines[1:end])), KEYS)
    lesson = stated.text("id")
    if not _UUID.fullmatch(lesson):
        raise stated.error("id", "id is missing" if not lesson else f"{lesson[:40]!r} is not an id")
    insight = clean("\n".join(lines[end + 1 :]).strip())
    stamps = _stamps(stated)
    values = _values(stated, stamps)
    values["insight"] = insight
    if values["state"] != "forgotten":
        _check_rule(values, insight, end + 2)
    has_stamps = stated.has(STAMPS)
    document = settle(LessonId(lesson), values, stamps if has_stamps else base)
    was_edited = has_stamps and document.stamps != {**UNSET, **stamps} and not document.is_tombstone
    return LessonFile(document=document, doubt=suspicion(text) if doubted else "", was_edited=was_edited)


def _check_rule(values: dict[str, Any], insight: str, line: int) -> None:
    if not insight or not duplicate_key(insight):
        raise Unreadable("no rule: write it below the front matter", line)
    if len(insight) > INSIGHT_LIMIT:
        raise Unreadable(f"a rule has at most {INSIGHT_LIMIT:,} characters", line)
    values["title"] = values["title"] or make_title(insight)


def _values(stated: _Mapping, stamps: Mapping[str, Stamp]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, empty in EMPTY.items():
        if name == "insight" or not stated.has(name):
            continue
        if name in LISTS:
            values[name] = stated.texts(name)
        elif name == "anchors":
            values[name] = [_anchor(entry) for entry in stated.maps(name, ANCHOR_KEYS)]
        elif name == "links":
            values[name] = united(_link(entry) for entry in stated.maps(name, ("kind", "target")))
        elif name == "when":
            values[name] = _triggers(stated.map(name, (*TRIGGER_LISTS, *TRIGGER_FLAGS)))
        elif name == "provenance":
            entry = stated.map(name, PROVENANCE_KEYS)
            values[name] = {key: entry.text(key) for key in PROVENANCE_KEYS if entry.text(key)}
            if values[name].get("said_by", "agent") not in TRUSTS:
                raise entry.error("said_by", f"said_by is one of {', '.join(TRUSTS)}")
        else:
            values[name] = stated.text(name) or empty
    _follow_derived(stated, values, stamps)
    _check(stated, values)
    return values


def _follow_derived(stated: _Mapping, values: dict[str, Any], stamps: Mapping[str, Stamp]) -> None:
    """Let `type` and `status` count where somebody changed them, and not the kind or the state that they stand for."""
    kind, type_of = values.get("kind", ""), KINDS_BY_TYPE.get(stated.text("type").casefold(), "")
    if type_of and type_of != kind and (not kind or _is_as_stamped("kind", kind, stamps)):
        values["kind"] = type_of
    state, status = values.get("state", "active"), stated.text("status")
    if status not in ("", *STATUSES.values()):
        raise stated.error("status", "status is draft, stable or deprecated")
    if not status or state not in ENDS or not _is_as_stamped("state", state, stamps):
        return
    if status == "deprecated" and state == "active":
        values["state"] = "retired"
    elif status == "stable" and state in ("superseded", "retired"):
        values["state"] = "active"


def _is_as_stamped(name: str, value: str, stamps: Mapping[str, Stamp]) -> bool:
    """Return whether nobody edited the field since a sync last wrote it."""
    return stamps.get(name, UNSET[name]).digest == digest(value)


def _check(stated: _Mapping, values: dict[str, Any]) -> None:
    values.setdefault("state", "active")
    if values.get("kind") not in LESSON_KINDS:
        raise stated.error("kind", f"kind is one of {', '.join(LESSON_KINDS)}")
    if values["state"] not in ENDS:
        raise stated.error("state", f"state is one of {', '.join(ENDS)}")
    if len(values.setdefault("title", "")) > TITLE_LIMIT or "\n" in values["title"]:
        raise stated.error("title", f"a title is one line of at most {TITLE_LIMIT} characters")
    if values.get("level", "") not in ("", TEAM):
        raise stated.error("level", f"level is {TEAM}, or is left out")
    for name in ("valid_from", "valid_to"):
        if values.get(name):
            try:
                values[name] = render_instant(parse_instant(values[name]))
            except InvalidValueError as exc:
                raise stated.error(name, str(exc)) from exc
    if values.get("valid_to", "~") <= values.get("valid_from", ""):
        raise stated.error("valid_to", "valid_to is not after valid_from")
    _check_paths(stated, values)


def _check_paths(stated: _Mapping, values: Mapping[str, Any]) -> None:
    for name, paths in (("path_prefix", [values.get("path_prefix", "")]), ("globs", values.get("globs", ()))):
        for path in filter(_leaves_project, paths):
            raise stated.error(name, f"{path!r} is outside of the project")


def _anchor(entry: _Mapping) -> dict[str, str]:
    path = entry.text("path")
    if not path or _leaves_project(path):
        raise entry.error("path", f"{path!r} is outside of the project" if path else "an anchor needs a path")
    return {key: entry.text(key) for key in ANCHOR_KEYS if entry.text(key)}


def _link(entry: _Mapping) -> dict[str, str]:
    kind, target = entry.text("kind"), entry.text("target")
    if kind not in LINK_KINDS:
        raise entry.error("kind", f"a link's kind is one of {', '.join(LINK_KINDS)}")
    if not _UUID.fullmatch(target):
        raise entry.error("target", f"{target[:40]!r} is not an id")
    return {"kind": kind, "target": target}


def _triggers(entry: _Mapping) -> dict[str, Any]:
    triggers: dict[str, Any] = {key: items for key in TRIGGER_LISTS if entry.has(key) and (items := entry.texts(key))}
    for flag in TRIGGER_FLAGS:
        value = entry.text(flag)
        if value not in ("", "true", "false"):
            raise entry.error(flag, f"{flag} is true or false")
        if value == "true":
            triggers[flag] = True
    return triggers


def _leaves_project(path: str) -> bool:
    plain = path.replace("\\", "/")
    return plain.startswith("/") or has_drive(plain) or ".." in plain.split("/") or "\0" in plain


def _stamps(stated: _Mapping) -> dict[str, Stamp]:
    if not stated.has(STAMPS):
        return {}
    entry = stated.map(STAMPS, tuple(EMPTY))
    return {name: _stamp(entry, name) for name in EMPTY if entry.has(name)}


def _stamp(entry: _Mapping, name: str) -> Stamp:
    try:
        return parse_stamp(entry.raw(name))
    except InvalidValueError as exc:
        raise entry.error(name, str(exc)) from exc


def stamp_text(stamp: Stamp) -> str:
    """Return the stamp in one line; `parse_stamp` reads it back."""
    live = [] if stamp.live == {stamp.digest} else ["+" + token for token in sorted(stamp.live)]
    return " ".join([stamp.digest, *live, *sorted(stamp.past)])


def parse_stamp(text: str) -> Stamp:
    """Return the stamp that `stamp_text` wrote: the value's digest, `+` before tokens in force, then replaced ones.

    Raises InvalidValueError.
    """
    words = text.split()
    if not words or not all(_TOKEN.fullmatch(word.removeprefix("+")) for word in words) or words[0][0] == "+":
        raise InvalidValueError("not a stamp that a sync wrote; delete the whole line")
    live = frozenset(word[1:] for word in words[1:] if word[0] == "+") or frozenset(words[:1])
    return Stamp(digest=words[0], live=live, past=frozenset(word for word in words[1:] if word[0] != "+") - live)


# Writing


def yaml_lines(values: Mapping[str, Any]) -> Iterator[str]:
    """Yield the keys and values as lines of YAML: texts, flags, numbers, lists and maps of these, none of them empty.

    Texts read back unchanged, and as texts, by any reader of YAML.
    """
    for name, value in values.items():
        yield from _rendered(name, value)


def _rendered(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from _text_lines(f"{name}:", value, "  ")
    elif not value and isinstance(value, (list, dict)):
        yield f"{name}: {dumps(value)}"
    elif isinstance(value, dict):
        yield f"{name}:"
        for key, inner in value.items():
            yield from ("  " + line for line in _rendered(key, inner))
    elif isinstance(value, (bool, int, float)):
        yield f"{name}: {dumps(value)}"
    else:
        yield f"{name}:"
        for item in value:
            if isinstance(item, str):
                yield from _text_lines("-", item, "  ")
            else:
                entries = [line for key, inner in item.items() for line in _rendered(key, inner)]
                yield from (("- " if n == 0 else "  ") + line for n, line in enumerate(entries))


def _text_lines(head: str, text: str, indent: str) -> Iterator[str]:
    """Yield a text as a plain word, a quoted one, or a block of lines; each reads back unchanged."""
    lines = text.split("\n")
    if len(lines) > 1 and lines[0][:1].strip() and lines[-1] and all(map(_is_plain_line, lines)):
        yield f"{head} |-"
        yield from (indent + line if line else "" for line in lines)
    elif _PLAIN.fullmatch(text) and " #" not in text and text.lower() not in _WORDS_WITH_TYPES:
        yield f"{head} {text}"
    else:
        yield f"{head} {_quoted(text)}"


def _is_plain_line(line: str) -> bool:
    return line == line.rstrip() and line.isprintable() and "\ufeff" not in line


def _quoted(text: str) -> str:
    """Return a double-quoted YAML text; unprintable characters are escaped."""
    escapes = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t"}
    return '"' + "".join(escapes.get(c) or (c if c.isprintable() else _escape(c)) for c in text) + '"'


def _escape(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else f"\\U{ord(char):08x}"


# Reading


def _compose(text: str) -> Any:
    import yaml  # type: ignore[import-untyped]  # its stubs are another package

    loader = getattr(yaml, "CBaseLoader", yaml.BaseLoader)
    try:
        return yaml.compose(text, Loader=loader)
    except yaml.MarkedYAMLError as exc:
        mark = exc.problem_mark or exc.context_mark
        reason = f"not YAML: {exc.problem or exc.context}"
        raise Unreadable(reason, mark.line + 2 if mark else 1, mark.column + 1 if mark else 1) from exc
    except yaml.YAMLError as exc:
        raise Unreadable(f"not YAML: {' '.join(str(exc).split())}", 2) from exc
    except RecursionError as exc:
        raise Unreadable("not YAML: nested too deeply", 2) from exc


class _Mapping:
    """A map of the front matter, each value with its position. Lines count from the `---` above."""

    def __init__(self, node: Any, keys: Sequence[str]) -> None:
        self._node = node
        if getattr(node, "id", "") != "mapping":
            raise Unreadable("keys and values are expected here", *_place(node))
        self._values: dict[str, tuple[Any, Any]] = {}
        for key, value in node.value:
            name = key.value if key.id == "scalar" else ""
            if name not in keys:
                raise Unreadable(f"unknown key {str(name)[:40]!r}: a lesson's file cannot set it", *_place(key))
            if name in self._values:
                raise Unreadable(f"{name} occurs twice", *_place(key))
            self._values[name] = (key, value)

    def has(self, name: str) -> bool:
        """Return whether the key is present."""
        return name in self._values

    def text(self, name: str) -> str:
        """Return the key's text, without secrets and hidden characters; empty without the key."""
        return self._scalar(name, self._values[name][1]) if name in self._values else ""

    def raw(self, name: str) -> str:
        """Return the key's text as written; empty for a list or a map."""
        node = self._values[name][1]
        return str(node.value) if node.id == "scalar" else ""

    def texts(self, name: str) -> list[str]:
        """Return the key's list of texts; a single text is a list of one."""
        items = self._items(name)
        return list(dict.fromkeys(filter(None, (self._scalar(name, item) for item in items))))

    def maps(self, name: str, keys: Sequence[str]) -> list[_Mapping]:
        """Return the key's list of maps."""
        return [_Mapping(item, keys) for item in self._items(name)]

    def map(self, name: str, keys: Sequence[str]) -> _Mapping:
        """Return the key's map."""
        return _Mapping(self._values[name][1], keys)

    def error(self, name: str, reason: str) -> Unreadable:
        """Return the error at the key, or at the beginning of the map if the key is missing."""
        key = self._values[name][0] if name in self._values else self._node
        return Unreadable(reason, *_place(key))

    def _items(self, name: str) -> list[Any]:
        if name not in self._values:
            return []
        node = self._values[name][1]
        if node.id == "sequence":
            return list(node.value)
        if node.id == "scalar":
            return [node] if node.value else []
        raise Unreadable(f"{name} must be a list", *_place(node))

    def _scalar(self, name: str, node: Any) -> str:
        if node.id != "scalar":
            raise Unreadable(f"{name} must be a text", *_place(node))
        return cleaned(name, node.value)


def cleaned(name: str, text: str) -> str:
    """Return the key's text without secrets and hidden characters; digests and words of closed sets hold none."""
    return text if name in _BARE and _BARE_TEXT.fullmatch(text) else clean(text)


def _place(node: Any) -> tuple[int, int]:
    return (node.start_mark.line + 2, node.start_mark.column + 1) if node is not None else (2, 1)


# Merges two revisions of one lesson's file, for git's merge driver


def merge_files(path: str, base: bytes, ours: bytes, theirs: bytes) -> str | None:
    """Return the merged text; None if one of the two is no lesson file, or they are different lessons.

    If both changed the rule, one stays and the other is kept beside it as a rival. The next sync makes it a lesson that
    contradicts the first.
    """
    before = parse(path, base)
    stamps = None if isinstance(before, FileProblem) else before.document.stamps
    our_file, their_file = parse(path, ours, stamps), parse(path, theirs, stamps)
    if (
        isinstance(our_file, FileProblem)
        or isinstance(their_file, FileProblem)
        or our_file.document.id != their_file.document.id
    ):
        return None
    text = render(join(our_file.document, their_file.document))
    return None if isinstance(parse(path, text.encode()), FileProblem) else text
