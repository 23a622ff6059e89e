"""The surroundings of the files in play: the definitions under an edit or a read, and the linked files.

It raises nothing: an answer that is not available is left out. It looks things up and indexes nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from holdfast.domain.hookcall import HookCall
from holdfast.domain.project import Location
from holdfast.domain.symbol import Neighbour
from holdfast.errors import HoldfastError
from holdfast.ports.services import Services
from holdfast.recall.tuning import FILES_LIMIT, LINKED_LIMIT, SYMBOLS_LIMIT
from holdfast.text.words import word_set

TEXT_LIMIT = 1_000_000
"""Characters of a file that is looked at."""
LINES_UP = 3_000
"""Lines that are looked at above the place."""
LIMIT = 16
"""Most names in an answer."""
BEGUN = 200
"""Lines of the place itself in which definitions may begin."""

MARKS = 8
"""Lines of decorators in front of a definition, at most."""

KEYWORDS = word_set(
    "class def func function fn fun sub struct interface trait enum impl type mod module namespace object record union"
    " protocol extension mixin contract defmodule defp"
)
"""Words that precede the name in a definition."""
CONTROL = word_set(
    "if else elif for foreach while do switch case match when unless until try catch except finally with return throw"
    " raise yield await new delete sizeof not and or in is assert print using lock guard loop unsafe defer go select"
    " default elsif begin rescue ensure then end"
)
"""Words that begin statements, never definitions."""
KEYWORD_ONLY = word_set("py pyi rb go rs kt kts swift scala ex exs lua php")
"""Endings of files of languages in which every definition has a keyword."""
TAGGED = word_set("struct enum union class")
"""Keywords that in C and C++ may also precede a result's type."""

RELATIONS = {"edited_together": "often edited with it", "read_before": "read and edited in turn with it"}


def symbols_at(services: Services, location: Location, path: str, call: HookCall) -> tuple[str, ...]:
    """Return the definitions that the call is about to edit or read, innermost first; empty for a whole file.

    They are guessed from the file's layout (`recall.surroundings`), so look them up only under that file.
    """
    if not call.excerpts and not call.lines[0]:
        return ()
    content = services.workspace.read(location, path)
    if not content or len(content) > TEXT_LIMIT:
        return ()
    text = content.decode("utf-8", "replace")
    spans = [call.lines] if call.lines[0] else [lines_of(text, excerpt) for excerpt in call.excerpts]
    names = (name for span in spans if span for name in definitions_at(path, text, *span))
    return tuple(dict.fromkeys(names))[:SYMBOLS_LIMIT]


def linked_files(services: Services, location: Location, paths: Sequence[str]) -> tuple[Neighbour, ...]:
    """Return the files linked to those, closest first, each once; weights combine as independent chances do.

    Empty where there is no code index or it does not answer.
    """
    index = services.codeindex()
    if index is None:
        return ()
    by_path: dict[str, Neighbour] = {}
    try:
        for path in paths[:FILES_LIMIT]:
            for neighbour in index.neighbours(location, path):
                known = by_path.get(neighbour.path)
                by_path[neighbour.path] = neighbour if known is None else _together(known, neighbour)
    except HoldfastError:
        return ()
    others = (neighbour for neighbour in by_path.values() if neighbour.path not in paths)
    return tuple(sorted(others, key=lambda neighbour: (-neighbour.weight, neighbour.path))[:LINKED_LIMIT])


def way_to(linked: Iterable[Neighbour], paths: Sequence[str]) -> str:
    """Describe the link of the closest of those paths: `about src/b.py, often edited with it`; empty without one."""
    for neighbour in linked:  # closest first
        if neighbour.path in paths:
            return f"about {neighbour.path}, {RELATIONS.get(neighbour.relation, 'linked to it')}"
    return ""


def _together(neighbour: Neighbour, other: Neighbour) -> Neighbour:
    closest = neighbour if neighbour.weight >= other.weight else other
    return replace(closest, weight=1 - (1 - neighbour.weight) * (1 - other.weight))


# Guesses from a file's layout which definitions enclose a position. It needs no parser, so hooks can use it


def definitions_at(path: str, text: str, first: int, last: int) -> list[str]:
    """Return the qualified names (`Store.put`) of definitions at lines `first` to `last` (counted from 1).

    These are the definitions that begin on the lines, and those that enclose the first line. Each is followed by its
    shorter forms. Empty for a file over TEXT_LIMIT characters and for a position outside of all definitions.
    """
    if len(text) > TEXT_LIMIT or first < 1 or last < first:
        return []
    lines = text.split("\n")
    lax = path.rpartition(".")[2].lower() not in KEYWORD_ONLY
    last = _past_marks(lines, min(last, first + BEGUN, len(lines)))
    around = _around(lines, first - 1, lax)
    names: dict[str, None] = {}
    inside = list(around)
    for line in lines[first - 1 : last]:
        if begun := _begun(line, lax):
            indent = _indent(line)
            inside = [head for head in inside if head[0] < indent] + [(indent, begun)]
            names.update(dict.fromkeys(_qualified(inside)))
    names.update(dict.fromkeys(_qualified(around)))
    return list(names)[:LIMIT]


def lines_of(text: str, part: str) -> tuple[int, int] | None:
    """Return the lines (from 1) of a part of a text, whatever its line ends; None unless it occurs exactly once."""
    part = part.strip("\r\n")
    if not part.strip() or len(text) > TEXT_LIMIT:
        return None
    at = text.find(part)
    if at < 0 and "\n" in part:
        part = part.replace("\r\n", "\n").replace("\n", "\r\n")
        at = text.find(part)
    if at < 0 or text.find(part, at + 1) >= 0:
        return None
    first = text.count("\n", 0, at) + 1
    return first, first + part.count("\n")


def _qualified(heads: Sequence[tuple[int, str]]) -> list[str]:
    """Return the heads' names joined, outermost first, and shorter forms, in case outer heads are no definitions."""
    names = [name for _, name in heads]
    if not names:
        return []
    return list(dict.fromkeys([".".join(names), ".".join(names[-2:]), names[-1]]))


def _around(lines: Sequence[str], first: int, lax: bool) -> list[tuple[int, str]]:
    """Return indentation and name of the heads that enclose the line (from 0), outermost first."""
    within = _next_indent(lines, first)
    if lines[first : first + 1] and lines[first].lstrip()[:1] in (")", "]", "}"):
        within += 1  # this line closes a head that begins above at the same indentation
    heads: list[tuple[int, str]] = []
    goes_on = False
    for at in range(min(first, len(lines)) - 1, max(-1, first - 1 - LINES_UP), -1):
        if within <= 0:
            break
        line = lines[at]
        indent = _indent(line)
        if indent >= within or not line.strip():
            continue
        step = _step(line.strip())
        if step is None and goes_on and "(" in line:
            step = 0  # void Store::put(int hour) const
        if step is None:
            continue
        within = indent + step
        if name := _begun(line, lax, goes_on):
            heads.append((indent, name))
        goes_on = step == 1 and line.rstrip().endswith("{")
    return heads[::-1]


def _step(line: str) -> int | None:
    """Classify a less indented line: 0, it is a head; 1, its head begins further up; None, it says nothing.

    A lone bracket, or the end of a parameter list, belongs to a head that begins above at the same indentation. Labels,
    directives, comments and the text of a string over several lines are no heads.
    """
    if line[0] in "#*@" or line.startswith(("//", "/*", "--", '"""', "'''")):
        return None
    if line[0] in ")]}{":
        return 1
    code = _without_comment(line)
    words = code.replace("(", " ").replace("<", " ").replace(":", " ").split()
    if code.endswith(":"):
        first = words[0] if words else ""
        return 0 if first == "async" or first in KEYWORDS or first in CONTROL else None
    if code.endswith(("{", "(", ",", "[", "=", ">", "|", ")", "do", "then")):
        return 0
    return 0 if any(word in KEYWORDS for word in words[:5]) else None


def _begun(line: str, lax: bool, goes_on: bool = False) -> str:
    """Return the name of the definition whose head the line is; empty if it is none.

    `lax` accepts heads without a keyword. `goes_on` says that the head is known to end in a block some lines below.
    """
    code = _without_comment(line.strip())[:400]
    if not code or code[0] in "#*@)]}{\"'" or code.endswith(";"):
        return ""
    if _word(code)[0] in CONTROL:
        return ""
    return _after_keyword(code, lax) or (_before_bracket(code, goes_on) if lax else "")


def _after_keyword(code: str, lax: bool) -> str:
    """Return `Store` for `export class Store<T> {`, `Store.Put` for `func (s *Store) Put(`."""
    rest = code
    while rest:
        word, rest = _word(rest)
        if word in KEYWORDS:
            break
        if word == "pub" and rest[:1] == "(":
            rest = rest.partition(")")[2]
        if not word or rest[:1] in ("(", "=", ":", ",", "."):
            return ""
        rest = rest.lstrip()
    else:
        return ""
    if lax and word in TAGGED and "(" in rest and "{" not in rest.partition("(")[0]:
        return ""  # struct node *find(
    rest = _without_generics(rest.lstrip())
    if word == "impl" and " for " in rest:
        rest = rest.partition(" for ")[2]
    elif word == "func" and rest[:1] == "(":
        receiver, _, rest = rest[1:].partition(")")
        owner = receiver.split("[")[0].replace("*", " ").split()
        name = _dotted(rest)
        return f"{owner[-1]}.{name}" if owner and name else ""
    return _dotted(rest)


def _before_bracket(code: str, goes_on: bool) -> str:
    """Return the name before the parameters, or before the `=` or `:` of a function or an object."""
    head, bracket, rest = code.partition("(")
    plain = head.replace("::", "\0")
    for sign in ("=", ":"):
        if sign in plain:
            words = plain.partition(sign)[0].partition(":")[0].replace("\0", "::").strip("'\" ").split()
            name = _dotted(words[-1]) if words and code.endswith(("{", "(", "=>", "[")) else ""
            return name.rpartition(".")[2]
    unclosed = rest.count(")") <= rest.count("(")
    if not bracket or (unclosed and any(sign in rest for sign in ("=>", "'", '"', "`", "function"))):
        return ""  # it("works", () => {
    if head.endswith(">"):
        head = head[: head.find("<")]
    words = head.split() or [""]
    if len(words) == 1 and not (goes_on or code.endswith("{")):
        return ""  # a call with its arguments below
    name = _dotted(words[-1].lstrip("*&")) if "." not in words[-1] else ""
    return name if name.replace(".", "").isidentifier() and name not in CONTROL else ""


def _dotted(text: str) -> str:
    """Return the dotted name the text begins with, without `self`."""
    text = text.lstrip()
    end = 0
    while end < len(text) and (text[end].isalnum() or text[end] in "_$.:~?!"):
        end += 1
    name = text[:end].rstrip(".:").replace("::", ".").replace(":", ".").replace("~", "").removeprefix("self.")
    return name if name[:1].isalpha() or name[:1] in ("_", "$") else ""


def _word(text: str) -> tuple[str, str]:
    """Return the word the text begins with, and the rest."""
    end = 0
    while end < len(text) and (text[end].isalnum() or text[end] in "_$"):
        end += 1
    return text[:end], text[end:]


def _without_generics(text: str) -> str:
    """Return the text without `<...>` at its beginning."""
    depth = 0
    for at, sign in enumerate(text):
        depth += (sign == "<") - (sign == ">")
        if not depth:
            return text[at + 1 :].lstrip() if sign == ">" else text
    return text


def _without_comment(line: str) -> str:
    for sign in (" #", "//", "/*"):
        at = line.find(sign)
        if at > 0 and line[at - 1] not in ":'\"":
            line = line[:at]
    return line.rstrip()


def _indent(line: str) -> int:
    """Return the columns of white space in front. A tab counts as four, which is right if a file does not mix both."""
    head = line[: len(line) - len(line.lstrip())]
    return len(head) + 3 * head.count("\t")


def _past_marks(lines: Sequence[str], last: int) -> int:
    """Return the line count extended past decorators or attributes at its end, to the definition they belong to."""
    for at in range(last, min(last + MARKS, len(lines)) + 1):
        if not lines[at - 1].lstrip().startswith(("@", "#[")):
            return at
    return last


def _next_indent(lines: Sequence[str], at: int) -> int:
    """Return the indentation of the next line that is not blank."""
    return next((_indent(line) for line in lines[at:] if line.strip()), 0)
