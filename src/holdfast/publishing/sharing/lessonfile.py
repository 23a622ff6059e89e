"""Reads and writes lesson files: a document as text that people review and edit.

The same document always has the same bytes. Front matter is YAML of which only texts, lists and maps are read: no value
has a type of its own, so `no` stays a word and `1.10` a version. The rule follows it. A text with anything that is not
understood is a `Problem` with its position; its file is never overwritten.
"""

from __future__ import annotations

import re

from holdfast.domain.kinds import LESSON_KINDS
from holdfast.domain.lesson import INSIGHT_LIMIT, TITLE_LIMIT
from holdfast.domain.vocabulary import TRUSTS, LessonId
from holdfast.errors import InvalidValueError
from holdfast.lean.plain import parse_instant, render_instant
from holdfast.lean.records import Frozen
from holdfast.lean.texts import has_drive
from holdfast.lessons.statement import clean
from holdfast.lessons.suspicion import suspicion
from holdfast.publishing.sharing.document import EMPTY, ENDS, UNSET, Document, Stamp, settle
from holdfast.text.titles import make_title
from holdfast.text.words import duplicate_key

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from typing import Any

FILE_LIMIT = 200_000
"""Bytes of a lesson's file; a larger one is not read."""
LISTS = ("snippets", "globs", "tags", "rivals")
ANCHOR_KEYS = ("path", "symbol", "symbol_kind", "blob", "signature_hash", "body_hash", "commit")
TRIGGER_LISTS = ("paths", "symbols", "literals", "commands", "work")
LINK_KINDS = ("supersedes", "contradicts", "refines", "duplicates", "caused_by", "relates_to")
PROVENANCE_KEYS = ("said_by", "host", "detector", "author", "person", "origin")
STAMPS = "sync"
"""The key of the stamps: the last one, which people should not change."""
KEYS = ("id", *(name for name in EMPTY if name != "insight"), STAMPS)
_PLAIN = re.compile(r"[A-Za-z_*][\w .,/()*+'$=<>;-]*[\w.)*/]|[A-Za-z]", re.ASCII)
_WORDS_WITH_TYPES = frozenset({"true", "false", "null", "yes", "no", "on", "off", "y", "n"})
_BARE = frozenset({
    "id", "kind", "state", "valid_from", "valid_to", "target", "said_by", "symbol_kind", "blob", "signature_hash",
    "body_hash", "commit", "work",
})  # fmt: skip
"""Keys whose values are digests, instants or words of closed sets."""
_BARE_TEXT = re.compile(r"[a-z0-9_:.TZ-]{0,100}")
_TOKEN = re.compile(r"r[0-9a-f]{8}")
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class FileProblem(Frozen):
    """Why a file is ignored, and where in it."""

    path: str
    reason: str
    line: int = 1
    column: int = 1


class LessonFile(Frozen):
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
    """Return the file's text, with line feeds as line ends."""
    lines = ["---", f"id: {document.id}"]
    for name, value in document.values.items():
        if name != "insight" and value != EMPTY[name]:
            lines += _rendered(name, value)
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
    values, stamps = _values(stated), _stamps(stated)
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


def _values(stated: _Mapping) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for name, empty in EMPTY.items():
        if name == "insight" or not stated.has(name):
            continue
        if name in LISTS:
            values[name] = stated.texts(name)
        elif name == "anchors":
            values[name] = [_anchor(entry) for entry in stated.maps(name, ANCHOR_KEYS)]
        elif name == "links":
            values[name] = [_link(entry) for entry in stated.maps(name, ("kind", "target"))]
        elif name == "when":
            values[name] = _triggers(stated.map(name, (*TRIGGER_LISTS, "standing")))
        elif name == "provenance":
            entry = stated.map(name, PROVENANCE_KEYS)
            values[name] = {key: entry.text(key) for key in PROVENANCE_KEYS if entry.text(key)}
            if values[name].get("said_by", "agent") not in TRUSTS:
                raise entry.error("said_by", f"said_by is one of {', '.join(TRUSTS)}")
        else:
            values[name] = stated.text(name) or empty
    _check(stated, values)
    return values


def _check(stated: _Mapping, values: dict[str, Any]) -> None:
    values.setdefault("state", "active")
    if values.get("kind") not in LESSON_KINDS:
        raise stated.error("kind", f"kind is one of {', '.join(LESSON_KINDS)}")
    if values["state"] not in ENDS:
        raise stated.error("state", f"state is one of {', '.join(ENDS)}")
    if len(values.setdefault("title", "")) > TITLE_LIMIT or "\n" in values["title"]:
        raise stated.error("title", f"a title is one line of at most {TITLE_LIMIT} characters")
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
    standing = entry.text("standing")
    if standing not in ("", "true", "false"):
        raise entry.error("standing", "standing is true or false")
    lists = {key: entry.texts(key) for key in TRIGGER_LISTS if entry.has(key)}
    return {key: items for key, items in lists.items() if items} | ({"standing": True} if standing == "true" else {})


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


def _rendered(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield from _text_lines(f"{name}:", value, "  ")
    elif isinstance(value, dict):
        yield f"{name}:"
        for key, inner in value.items():
            yield from ("  " + line for line in _rendered(key, inner))
    elif isinstance(value, bool):
        yield f"{name}: {'true' if value else 'false'}"
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
