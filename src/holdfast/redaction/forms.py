"""Finds secrets that only their surroundings show: arguments of programs, table columns, Kubernetes secrets.

Each search is bounded, and continues after what it has read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.redaction.tables import COLUMNS, FORM_HINTS, POSITIONS, PROGRAMS, STDIN, WORD
from holdfast.redaction.values import Span, has_digit, is_stand_in, is_typed, places, run

Token = tuple[int, int, str]
"""(start, end, text) of one word of a command, without its quotes."""

COMMAND_SPAN = 600
"""Characters of a command that are read."""

_LEADS = frozenset(program for (program, *_), _ in POSITIONS)


def _first_part(name: str) -> str:
    """Return the first word of a name, as it stands among the words of a text: `redis` of `redis-cli`."""
    return name.replace("_", "-").partition("-")[0]


_MARKS = [
    (
        program,
        _first_part(program),
        tuple(" " + flag.rstrip("*%:=") for flag in flags.split()) + ((" ",) if program in _LEADS else ()),
    )
    for program, flags in PROGRAMS.items()
]
"""(program, its first part, what else is in a text in which it is given a secret)."""
TRIGGERS = frozenset(map(_first_part, (*PROGRAMS, *COLUMNS, "stringdata", "identified"))) | {"5432", "3306"}
"""Words without which there is nothing to look for."""

_QUOTE = r"""(?:\\"(?:(?!\\").)*\\"|\\'(?:(?!\\').)*\\'|"[^"]*"|'[^']*')"""
_PLAIN = r"""(?:[^ \t\r\n|;&)`"'\\]|\\(?!["'\r\n]))"""
_QUOTED = re.compile(_QUOTE, re.DOTALL)
_COMMAND_WORD = re.compile(
    rf"(?:[ \t]|\\\r?\n)*(?P<word>-(?:{_PLAIN}|{_QUOTE})*|(?:{_PLAIN}|{_QUOTE})(?:{_PLAIN}|(?<=[=:,%-]){_QUOTE})*)",
    re.DOTALL,
)
"""A word of a command: a quote inside it begins after a sign or in a flag, otherwise it ends the command."""
_MARKED = re.compile(r"pass:(?P<word>[\w.!@#%^*+=~-]{1,128})", re.IGNORECASE | re.ASCII)
_IDENTIFIED = re.compile(
    r"identified (?:(?!by ).){0,77}by [ '\"]{0,4}(?P<word>[\w.!@#%^*+=~$&?/-]{0,128})",
    re.IGNORECASE | re.DOTALL | re.ASCII,
)
"""SQL's `IDENTIFIED BY 'x'`, `IDENTIFIED WITH plugin BY 'x'`, `IDENTIFIED BY x`."""
_SECRET_KIND = re.compile(r'kind: (?:sealed)?secret(?![^\W_])|"kind": ?"secret"')
_DATA = re.compile(r'(?<![^\W_])(?:data:|stringdata:|"data":|"stringdata":)')


def may_hold_a_form(low: str, parts: frozenset[str]) -> bool:
    """Return whether `find_forms` has anything to look at; `parts` are the words of ASCII letters and digits."""
    return not parts.isdisjoint(TRIGGERS) and any(hint in low for hint in FORM_HINTS)


def find_forms(text: str, low: str, parts: frozenset[str]) -> Iterator[Span]:
    """Yield all secrets that this module knows how to find."""
    for program, first, marks in _MARKS:
        if first in parts and program in low and any(mark in text for mark in marks):
            yield from _find_program(text, low, program)
    if "identified" in parts or "pass:" in low:
        yield from _find_marked(text)
    for mark in STDIN:
        if mark in low:
            yield from _find_piped(text, low, mark)
    for name in COLUMNS:
        if name in low:
            yield from _find_columns(text, low, name)
    if "secret" in parts:
        yield from _find_manifests(text, low)
    for port in parts & {"5432", "3306"}:
        yield from _find_pgpass(text, port)


def _find_marked(text: str) -> Iterator[Span]:
    """Yield the passwords of SQL's `IDENTIFIED BY` and of arguments such as `-passin pass:x`."""
    for match in _IDENTIFIED.finditer(text):
        word, quoted = match["word"], text[match.start("word") - 1] in "'\""
        if _is_given(word) and (is_typed(word) or (quoted and not word.isalpha())):
            yield *match.span("word"), "value"
    for match in _MARKED.finditer(text):
        lead = text[max(0, match.start() - 16) : match.start()]
        if lead.rstrip("'\"").endswith((" ", "=")) and "-" in lead and _is_given(match["word"]):
            yield *match.span("word"), "value"


# Commands


def _find_program(text: str, low: str, program: str) -> Iterator[Span]:
    behind = 0
    named = rf"(?<![\w.-]){re.escape(program)}(?:[.-][\w.-]{{0,23}})?(?=[ \t])"
    for match in re.finditer(named, low, re.ASCII):
        if match.start() >= behind:
            tokens = _tokens(text, match.start())
            yield from _given(program, tokens)
            behind = tokens[-1][1] if tokens else match.end()


def _tokens(text: str, at: int) -> list[Token]:
    """Return the command's words up to the line's end, a pipe, `;`, `&` or the quote that closes around the command."""
    tokens: list[Token] = []
    here, stop = at, min(len(text), at + COMMAND_SPAN)
    while match := _COMMAND_WORD.match(text, here, stop):
        start, here = match.span("word")
        is_last = here < stop and text[here] in "'\"\\"  # the quote in which the whole command stands
        quote = _QUOTED.match(match["word"])
        lead = (2 if text[start] == "\\" else 1) if quote else 0
        if word := _QUOTED.sub(_unquoted, match["word"]):
            tokens.append((start + lead, here - (0 if is_last else lead), word))
        if is_last:
            break
    return tokens


def _unquoted(match: re.Match[str]) -> str:
    return match[0][2:-2] if match[0][0] == "\\" else match[0][1:-1]


def _given(program: str, tokens: list[Token]) -> Iterator[Span]:
    for flag in PROGRAMS[program].split() if program in PROGRAMS else ():
        yield from _flagged(flag, tokens)
    words = [word.lower() for _, _, word in tokens]
    for lead, which in POSITIONS:
        if (words and lead[0] in words[0]) or (len(lead) > 1 and lead[0] in words):
            yield from _positioned(lead, which, tokens, words)
    for start, end, word in tokens:
        if word.startswith(("pass:", "PASS:")) and len(word) > 8:
            yield start + 5, end, "value"


def _flagged(flag: str, tokens: list[Token]) -> Iterator[Span]:
    mark, kind = (flag[:-1], flag[-1]) if flag[-1] in "*%:=" else (flag, "")
    for number, (start, end, word) in enumerate(tokens):
        if word == mark and number + 1 < len(tokens):
            start, end, word = tokens[number + 1]
        elif word.startswith(mark) and len(word) > len(mark) and (kind or word[len(mark)] == "="):
            skip = len(mark) + (word[len(mark)] == "=")
            start, word = start + skip, word[skip:]
            quoted = len(word) < end - start
            start, end = (start + 1, end - 1) if quoted else (start, end)
        else:
            continue
        if kind in ("%", ":", "="):
            cut = word.rfind("pass") + word[max(0, word.rfind("pass")) :].find("=") if kind == "=" else word.find(kind)
            if cut < 0:
                continue
            start, word = start + cut + 1, word[cut + 1 :]
        elif word.startswith("pass:"):
            start, word = start + 5, word[5:]
        if _is_given(word):
            yield start, end, "value"


def _is_given(word: str) -> bool:
    if not 4 <= len(word) <= 256 or word[0] in "-/.~$<(" or is_stand_in(word) or "://" in word:
        return False
    if word.startswith(("env:", "file:", "fd:")) or (word.isdigit() and len(word) < 5):
        return False
    if ":" in word and word.replace(":", "").isdigit():
        return False  # ports
    return (not any(mark in word for mark in "()<>{}[]") and "/" not in word[:-1].rstrip("=")) or len(word) > 40


def _positioned(lead: tuple[str, ...], which: int, tokens: list[Token], words: list[str]) -> Iterator[Span]:
    if any(part not in words and not any(word.endswith("/" + part) for word in words) for part in lead):
        return
    behind = words.index(lead[-1]) if lead[-1] in words else 0
    plain = [token for token in tokens[behind + 1 :] if token[2][0] not in "-"]
    if len(plain) >= which:
        start, end, word = plain[which - 1]
        word = word.partition("_authToken=")[2] or word
        if _is_given(word) and (has_digit(word) or is_typed(word)):
            yield end - len(word) - (end - start - len(plain[which - 1][2])), end, "value"


def _find_piped(text: str, low: str, mark: str) -> Iterator[Span]:
    """Find `echo x | sudo -S`, `printf x | docker login --password-stdin`, `gh auth login --with-token <<< x`."""
    for at in places(low, mark):
        line = max(low.rfind("\n", max(0, at - 400), at) + 1, at - 400, 0)
        pipe = low.rfind("|", line, at)
        if pipe >= 0:
            begin = max(low.rfind("echo ", line, pipe), low.rfind("printf ", line, pipe))
            tokens = _tokens(text, begin)[1:] if begin >= 0 else []
            tokens = [token for token in tokens if token[2][0] not in "-%" and token[0] < pipe]
        else:
            here = low.find("<<<", at, at + 200)
            tokens = _tokens(text, here + 3)[:1] if here >= 0 else []
        for start, end, word in tokens[-1:]:
            if mark == "chpasswd" and ":" in word:
                start += word.find(":") + 1
                word = word[word.find(":") + 1 :]
            if _is_given(word):
                yield start, end, "value"


# Tables


def _find_columns(text: str, low: str, name: str) -> Iterator[Span]:
    """Find cells under a heading that names a secret, in Markdown, CSV and tables of blanks and bars."""
    behind = 0
    for at in places(low, name):
        if at < behind or (at and text[at - 1] in WORD + ".:="):
            continue
        begin = max(text.rfind("\n", max(0, at - 400), at) + 1, at - 400, 0)
        end = text.find("\n", at, at + 400)
        if end < 0:
            continue
        head = text[begin:end]
        mark = next((mark for mark in "|\t;," if mark in head), "")
        if not mark:
            continue
        heads = [cell.strip(" \t\r\"'`*").lower() for cell in head.split(mark)]
        columns = [number for number, cell in enumerate(heads) if cell == name]
        if not columns or sum(map(bool, heads)) < 2 or any(len(cell) > 40 for cell in heads):
            continue
        spans, behind = _rows(text, end + 1, mark, (columns[0], len(heads)))
        yield from spans


def _rows(text: str, here: int, mark: str, shape: tuple[int, int]) -> tuple[list[Span], int]:
    """Return the secrets of the column in the following rows, and where the rows end."""
    column, width = shape
    spans: list[Span] = []
    for _ in range(200):
        end = text.find("\n", here, here + 400)
        end = end if end >= 0 else min(len(text), here + 400)
        cells = text[here:end].split(mark)
        rule = not text[here:end].strip("-+| :=") and "-" in text[here:end]
        if len(cells) != width and not rule:
            break
        if not rule:
            start = here + sum(len(cell) + 1 for cell in cells[:column])
            cell = cells[column].strip(" \t\r\"'`")
            if cell and " " not in cell and is_typed(cell):
                start += cells[column].find(cell)
                spans.append((start, start + len(cell), "value"))
        here = end + 1
        if here >= len(text):
            break
    return spans, here


# Files


def _find_manifests(text: str, low: str) -> Iterator[Span]:
    """Find every value under `data:` and `stringData:` of a Kubernetes object of kind Secret."""
    behind = 0
    for match in _SECRET_KIND.finditer(low):
        at = match.start()
        if at >= behind:
            begin = max(low.rfind("\n---", max(0, at - 4_000), at), at - 4_000, 0)
            end = low.find("\n---", at, at + 8_000)
            end = behind = end if end >= 0 else min(len(text), at + 8_000)
            for block in _DATA.finditer(low, begin, end):
                yield from _entries(text, block.end(), end)


def _entries(text: str, here: int, stop: int) -> Iterator[Span]:
    """Find `key: value` on the following lines, as long as they are indented more than the first."""
    line = text.find("\n", here, stop)
    inline = text[here : line if line >= 0 else stop]
    if "{" in inline:
        yield from _json_entries(text, here, stop)
        return
    depth = -1
    while 0 <= line < stop:
        begin = line + 1
        line = text.find("\n", begin, stop)
        end = line if line >= 0 else stop
        indent = run(text, begin, " \t", 80)
        entry = text[begin + indent : end]
        if not entry.strip():
            continue
        depth = indent if depth < 0 else depth
        if indent < depth or not indent:
            return
        name, colon, value = entry.partition(":")
        if indent > depth and (not colon or " " in name):
            name, colon, value = "", ":", entry
        bare = value.strip(" \t\r\"'")
        if colon and len(bare) >= 4 and bare[0] not in "|>$" and not is_stand_in(bare):
            start = begin + indent + len(name) + (len(colon) if name else 0) + value.find(bare)
            yield start, start + len(bare), "value"


def _json_entries(text: str, here: int, stop: int) -> Iterator[Span]:
    close = text.find("}", here, stop)
    end = close if close >= 0 else stop
    at = text.find(":", here, end)
    while at >= 0:
        begin = text.find('"', at, at + 8) + 1
        quote = text.find('"', begin, end) if begin else -1
        if quote < 0:
            return
        value = text[begin:quote]
        if len(value) >= 4 and not is_stand_in(value):
            yield begin, quote, "value"
        at = text.find(":", quote, end)


def _find_pgpass(text: str, port: str) -> Iterator[Span]:
    """Find `host:5432:database:user:password` on a line of its own."""
    for at in places(text, f":{port}:"):
        begin = max(text.rfind("\n", max(0, at - 200), at) + 1, at - 200, 0)
        end = text.find("\n", at, at + 300)
        end = end if end >= 0 else min(len(text), at + 300)
        fields = text[begin:end].rstrip("\r").split(":")
        if len(fields) >= 5 and " " not in text[begin:end] and "/" not in text[begin:end]:
            value = ":".join(fields[4:])
            if len(value) >= 4 and not is_stand_in(value):
                yield end - len(value), end, "value"
