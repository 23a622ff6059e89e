"""Parses `.holdfast/checks.yaml`, which states expected deliveries, with the line and column of each mistake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.domain.moments import MOMENT_PROFILES
from holdfast.domain.vocabulary import Moment

MOMENTS: dict[str, Moment] = {
    name: moment for moment, profile in MOMENT_PROFILES.items() for name in profile.check_names
}
"""The moments by their names in a checks file; each check names exactly one."""
KEYS = (*MOMENTS, "name", "deliver", "never", "top", "tokens", "nothing", "replaces")
DEFAULT_TOP = 3
"""How many of the first lessons an expected one must be among, where a check does not say."""
FILE_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Mistake:
    """A mistake in the file, with its line and column from 1."""

    reason: str
    line: int
    column: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """One check: which lessons must be delivered at a moment, and which must not."""

    name: str
    line: int
    moment: str
    subject: str
    """The file, prompt, command, error or question; empty for a session's start."""
    replaces: str = ""
    """For an edit, the text that it replaces."""
    deliver: tuple[str, ...] = ()
    """Lessons, by title or by the end of an id."""
    never: tuple[str, ...] = ()
    top: int = DEFAULT_TOP
    """The last rank that counts as delivered."""
    tokens: int = 0
    """The most tokens that the whole delivery may cost; 0 means the moment's own budget."""
    nothing: bool = False
    """Whether nothing must be delivered."""


class MistakeError(Exception):
    """Raised within `parse_expectations`, which turns it into a Mistake."""

    def __init__(self, reason: str, node: Any) -> None:
        super().__init__(reason)
        self.mistake = Mistake(reason=reason, line=node.start_mark.line + 1, column=node.start_mark.column + 1)


def parse_expectations(content: bytes) -> tuple[tuple[Expectation, ...], tuple[Mistake, ...]]:
    """Return the file's expectations in order, and its mistakes; a check with a mistake is left out."""
    import yaml  # type: ignore[import-untyped]

    if len(content) > FILE_LIMIT:
        return (), (Mistake(reason=f"larger than {FILE_LIMIT:,} bytes", line=1, column=1),)
    try:
        root = yaml.compose(content.decode("utf-8-sig"), Loader=yaml.SafeLoader)
    except UnicodeDecodeError as exc:
        before = content[: exc.start]
        column = exc.start - before.rfind(b"\n")
        return (), (Mistake(reason="not UTF-8", line=before.count(b"\n") + 1, column=column),)
    except yaml.YAMLError as exc:
        mark = getattr(exc, "problem_mark", None)
        reason = f"not YAML: {getattr(exc, 'problem', None) or exc}"
        return (), (Mistake(reason=reason, line=mark.line + 1 if mark else 1, column=mark.column + 1 if mark else 1),)
    except RecursionError:
        return (), (Mistake(reason="nested too deeply", line=1, column=1),)
    return _parse_root(root)


def _parse_root(root: Any) -> tuple[tuple[Expectation, ...], tuple[Mistake, ...]]:
    expectations, mistakes = [], []
    try:
        nodes = _nodes_of_checks(root)
    except MistakeError as exc:
        return (), (exc.mistake,)
    for number, node in enumerate(nodes, 1):
        try:
            expectations.append(_parse_check(node, number))
        except MistakeError as exc:
            mistakes.append(exc.mistake)
    return tuple(expectations), tuple(mistakes)


def _nodes_of_checks(root: Any) -> Sequence[Any]:
    if root is None:
        return []
    table = _table(root, ("checks",), "the file")
    if "checks" not in table:
        raise MistakeError("the file needs the key checks", root)
    checks = table["checks"]
    if checks.id != "sequence":
        raise MistakeError("checks must be a list", checks)
    nodes: Sequence[Any] = checks.value
    return nodes


def _parse_check(node: Any, number: int) -> Expectation:
    table = _table(node, KEYS, "a check")
    moments = [name for name in MOMENTS if name in table]
    if len(moments) != 1:
        raise MistakeError(f"a check needs exactly one of {', '.join(MOMENTS)}", node)
    moment = moments[0]
    subject = "" if moment == "start" else _text(table[moment], moment)
    if moment == "start" and not _flag(table["start"], "start"):
        raise MistakeError("start must be true", table["start"])
    if moment != "start" and not subject.strip():
        raise MistakeError(f"{moment} is empty", table[moment])
    deliver = _texts(table["deliver"], "deliver") if "deliver" in table else ()
    never = _texts(table["never"], "never") if "never" in table else ()
    nothing = "nothing" in table and _flag(table["nothing"], "nothing")
    if not (deliver or never or nothing or "tokens" in table):
        raise MistakeError("a check needs deliver, never, nothing or tokens", node)
    if nothing and deliver:
        raise MistakeError("a check cannot have both deliver and nothing", table["nothing"])
    if "replaces" in table and moment != "edit":
        raise MistakeError("replaces is allowed with edit only", table["replaces"])
    return Expectation(
        name=_text(table["name"], "name") if "name" in table else f"{moment} {subject}".strip() or f"check {number}",
        line=node.start_mark.line + 1,
        moment=moment,
        subject=subject,
        replaces=_text(table["replaces"], "replaces") if "replaces" in table else "",
        deliver=deliver,
        never=never,
        top=_number(table["top"], "top") if "top" in table else DEFAULT_TOP,
        tokens=_number(table["tokens"], "tokens") if "tokens" in table else 0,
        nothing=nothing,
    )


def _table(node: Any, known: Sequence[str], what: str) -> dict[str, Any]:
    """Return the mapping's values by key. Raises MistakeError for an unknown or repeated key."""
    if node.id != "mapping":
        raise MistakeError(f"{what} must be a map with the keys {', '.join(known)}", node)
    table: dict[str, Any] = {}
    for key, value in node.value:
        if key.id != "scalar" or key.value not in known:
            shown = key.value if key.id == "scalar" else "this"
            raise MistakeError(f"unknown key {shown!r}; {what} can have {', '.join(known)}", key)
        if key.value in table:
            raise MistakeError(f"{key.value} occurs twice", key)
        table[key.value] = value
    return table


def _text(node: Any, name: str) -> str:
    if node.id != "scalar":
        raise MistakeError(f"{name} must be a text", node)
    return str(node.value)


def _texts(node: Any, name: str) -> tuple[str, ...]:
    """Return the list's texts; a single text counts as a list."""
    texts = tuple(_text(item, name) for item in (node.value if node.id == "sequence" else [node]))
    if not texts or not all(text.strip() for text in texts):
        raise MistakeError(f"{name} must name lessons by title or by the end of an id", node)
    return texts


def _number(node: Any, name: str) -> int:
    text = _text(node, name)
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 1_000_000):
        raise MistakeError(f"{name} must be a whole number of at least 1", node)
    return int(text)


def _flag(node: Any, name: str) -> bool:
    text = _text(node, name)
    if text not in ("true", "false"):
        raise MistakeError(f"{name} must be true or false", node)
    return text == "true"
