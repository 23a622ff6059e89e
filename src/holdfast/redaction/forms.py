"""Finds secrets that only their surroundings show: arguments of programs, table columns, Kubernetes secrets.

It is loaded only for texts with one of `hints.TRIGGERS`. Each search is bounded, and continues after what it has read.
"""

from __future__ import annotations

from holdfast.redaction.alphabets import WORD
from holdfast.redaction.hints import COLUMNS, PROGRAMS, first_part
from holdfast.redaction.values import has_digit, is_stand_in, is_typed, places, run

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.redaction.values import Span

    Token = tuple[int, int, str]
    """(start, end, text) of one word of a command, without its quotes."""

COMMAND_SPAN = 600
"""Characters of a command that are read."""

POSITIONS: tuple[tuple[tuple[str, ...], int], ...] = (
    (("vault", "login"), 1),
    (("vault", "unseal"), 1),
    (("operator", "unseal"), 1),
    (("rabbitmqctl", "add_user"), 2),
    (("rabbitmqctl", "change_password"), 2),
    (("rabbitmqctl", "authenticate_user"), 2),
    (("net", "user"), 2),
    (("htpasswd",), 3),
    (("wpa_passphrase",), 2),
    (("npm", "set"), 2),
    (("pdftk", "user_pw"), 1),
    (("pdftk", "owner_pw"), 1),
    (("pdftk", "input_pw"), 1),
    (("redis-cli", "auth"), 1),
    (("iwconfig", "key"), 1),
)
"""Words of a command, and which of the words without a dash behind them is the secret."""

_LEADS = frozenset(program for (program, *_), _ in POSITIONS)
_MARKS = [
    (
        program,
        first_part(program),
        tuple(" " + flag.rstrip("*%:=") for flag in flags.split()) + ((" ",) if program in _LEADS else ()),
    )
    for program, flags in PROGRAMS.items()
]
"""(program, its first part, what else is in a text in which it is given a secret)."""

STDIN = (
    "sudo -s",
    "--password-stdin",
    "passwd --stdin",
    "--with-token",
    "chpasswd",
    "--passphrase-fd 0",
    "-passin stdin",
)
"""What reads a secret from the pipe before it."""


def find_forms(text: str, low: str, parts: frozenset[bytes]) -> Iterator[Span]:
    """Yield all secrets that this module knows how to find."""
    for program, first, marks in _MARKS:
        if first in parts and program in low and any(mark in text for mark in marks):
            yield from _find_program(text, low, program)
    if b"identified" in parts:
        yield from _find_identified(text, low)
    for mark in STDIN:
        if mark in low:
            yield from _find_piped(text, low, mark)
    if "pass:" in low:
        yield from _find_marked(text, low, "pass:")
    yield from _find_stored(text, low, parts)


def _find_stored(text: str, low: str, parts: frozenset[bytes]) -> Iterator[Span]:
    """Yield the secrets that tables and files hold."""
    for name in COLUMNS:
        if name in low:
            yield from _find_columns(text, low, name)
    if b"secret" in parts:
        yield from _find_manifests(text, low)
    for port in ("5432", "3306"):
        if port.encode() in parts:
            yield from _find_pgpass(text, port)


# Commands


def _find_program(text: str, low: str, program: str) -> Iterator[Span]:
    at, behind = low.find(program), 0
    while at >= 0:
        after = at + len(program)
        if at >= behind and _is_program(text, at, after):
            tokens = _tokens(text, at)
            yield from _given(program, tokens)
            behind = tokens[-1][1] if tokens else after
        at = low.find(program, after)


def _is_program(text: str, at: int, after: int) -> bool:
    if at and text[at - 1] in WORD + ".":
        return False
    glued = run(text, after, WORD + ".", 24)
    return text[after + glued : after + glued + 1] in (" ", "\t") and (not glued or text[after] in "-.")


def _tokens(text: str, at: int) -> list[Token]:
    """Return the command's words up to the line's end, a pipe, `;`, `&` or the quote that closes around the command."""
    tokens: list[Token] = []
    here, stop = at, min(len(text), at + COMMAND_SPAN)
    while here < stop:
        char = text[here]
        if char in " \t":
            here += 1
        elif text.startswith(("\\\n", "\\\r\n"), here):
            here += 2
        elif char in "\r\n|;&)`":
            break
        else:
            here = _token(text, here, stop, tokens)
            if here < 0:
                break
    return tokens


def _token(text: str, here: int, stop: int, tokens: list[Token]) -> int:
    """Read one word; return where the next begins, or -1 if the command ends in it."""
    start, word = here, ""
    begin = -1
    while here < stop and text[here] not in " \t\r\n|;&)`":
        escaped = text[here] == "\\" and text[here + 1 : here + 2] in ('"', "'")
        quote = text[here + escaped] if here + escaped < stop else ""
        if quote in ("'", '"'):
            close = text.find(("\\" if escaped else "") + quote, here + 1 + escaped, stop)
            if close < 0 or (here > start and text[here - 1] not in "=:-,%" and not word.startswith("-")):
                break  # the quote in which the whole command stands
            begin = here + 1 + escaped if begin < 0 else begin
            word += text[here + 1 + escaped : close]
            here = close + 1 + escaped
        else:
            word += text[here]
            here += 1
    ended = here < stop and text[here] in "'\"\\" and text[here] not in " \t"
    if word:
        glued = begin if begin >= 0 and begin == start + 1 + (text[start] == "\\") else start
        end = here - (1 if glued > start and not ended else 0) - (1 if glued > start + 1 and not ended else 0)
        tokens.append((glued, min(end, here), word))
    return -1 if ended or (not word and here == start) else max(here, start + 1)


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


def _find_marked(text: str, low: str, mark: str) -> Iterator[Span]:
    for at in places(low, mark):
        begin = at + len(mark)
        size = run(text, begin, WORD + ".!@#%^*+=~", 128)
        word = text[begin : begin + size]
        lead = text[max(0, at - 16) : at]
        if lead.rstrip("'\"").endswith((" ", "=")) and "-" in lead and _is_given(word):
            yield begin, begin + size, "value"


def _find_identified(text: str, low: str) -> Iterator[Span]:
    """Find SQL's `IDENTIFIED BY 'x'`, `IDENTIFIED WITH plugin BY 'x'`, `IDENTIFIED BY x`."""
    for at in places(low, "identified "):
        by = low.find("by ", at, at + 80)
        if by < 0:
            continue
        begin = by + 3 + run(text, by + 3, " '\"", 4)
        end = begin + run(text, begin, WORD + ".!@#%^*+=~$&?/", 128)
        quoted = text[begin - 1 : begin] in ("'", '"')
        if _is_given(text[begin:end]) and (is_typed(text[begin:end]) or (quoted and not text[begin:end].isalpha())):
            yield begin, end, "value"


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
    for written in ("kind: secret", '"kind": "secret"', '"kind":"secret"', "kind: sealedsecret"):
        behind = 0
        for at in places(low, written):
            if at < behind or text[at + len(written) : at + len(written) + 1].isalnum():
                continue
            begin = max(low.rfind("\n---", max(0, at - 4_000), at), at - 4_000, 0)
            end = low.find("\n---", at, at + 8_000)
            end = behind = end if end >= 0 else min(len(text), at + 8_000)
            for block in ("data:", "stringdata:", '"data":', '"stringdata":'):
                block_start = low.find(block, begin, end)
                while block_start >= 0:
                    if not low[block_start - 1 : block_start].isalnum():
                        yield from _entries(text, block_start + len(block), end)
                    block_start = low.find(block, block_start + len(block), end)


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
