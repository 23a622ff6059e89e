"""Finds secrets that something announces: a name before a value, a header's name, a scheme, the place in a URL."""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.redaction.tables import (
    ABOUT,
    DIRECTIVES,
    FOREIGN,
    HUMPS,
    KEYS_OF,
    MEDIUM,
    NAMES,
    SCHEMES,
    SPOKEN,
    STRONG,
    VALUES_OF,
    VERBS,
    WEAK,
    WIDE,
    WORD,
    WORDS,
)
from holdfast.redaction.values import (
    SPAN,
    Span,
    decoded,
    has_digit,
    is_opaque,
    is_secret,
    is_stand_in,
    is_typed,
    places,
    run,
)

Literal = tuple[int, int, bool]
"""(start, end, quoted) of a value."""

JUDGED = 256
"""Characters of a value that are looked at to tell whether it is secret."""

QUOTES = "\"'`"
BLANKS = " \t"
_TO_MARK = re.compile(r"(?P<quotes>[\"'`\\\]]{0,4})\*{0,2}[ \t]{0,16}")
"""What stands between a name and the sign before its value."""
_TO_VALUE = re.compile(r"(?:[=>:]{0,2}\*{0,2}[ \t]{0,16})(?:[bfru@](?=[\"']))?(?P<escapes>\\{0,4})(?P<quote>[\"'`]?)")
"""What stands between that sign and the value: `:=`, `=> f"`."""
_BARE = re.compile(rf"[^\n\r\t \"'`,;&<>\\|]{{0,{SPAN}}}")
_CELL = re.compile(r"[ \t`]{0,40}(?P<cell>[^|\n]{0,200})")
_FLAG_FILES = (".json", ".pem", ".key", ".txt", ".yml", ".yaml", ".crt", ".pub", ".env")
_SETTERS = ("env", "arg", "set -x", "set -gx", "set -ux", "set -xu", "setx", "setenv", "#define", "set")
"""What sets a variable without `=`: `ENV X v`, `set -x X v`, `setx X v`, `#define X v`."""


# Names and their values


def find_values(text: str, low: str, parts: frozenset[str]) -> Iterator[Span]:
    """Yield values given to names that announce a secret, in any notation: see `_value_after`."""
    for name, strength in NAMES.items():
        if name in low:
            for at in places(low, name):
                yield from _named(text, low, at, (name, strength))
    for name in HUMPS:
        for at in places(text, name):
            if text[at - 1 : at].islower() and _is_apart(text, at, at + len(name)):
                yield from _named(text, low, at, (name.lower(), STRONG))
    for name in words_in(text, low, parts):
        for at in places(low, name):
            if _is_apart(text, at, at + len(name)):
                spans = _named(text, low, at, (name, WORDS[name]))
                yield from (span for span in spans if len(name) > 5 or is_typed(text[span[0] : span[1]]))


def words_in(text: str, low: str, parts: frozenset[str]) -> list[str]:
    """Return those of `WORDS` that may be in the text; `parts` are its words of ASCII letters and digits."""
    ascii_words = [name for name in WORDS if name in parts]
    return ascii_words if text.isascii() else ascii_words + [name for name in FOREIGN if name in low]


def _is_apart(text: str, at: int, end: int) -> bool:
    """Return whether no letter is glued to the name: `db_pw`, `pw2`, `dbPass`; not `pass` in `compass` and `passed`."""
    before, first, after = text[at - 1 : at] if at else "", text[at], text[end : end + 1]
    if before.isalpha() and not (first.isupper() and before.islower()):
        return False
    return not after.isalpha() or (after.isupper() and text[end - 1].islower())


def _named(text: str, low: str, at: int, rule: tuple[str, int]) -> Iterator[Span]:
    """Yield the values of the name at that position, unless the longer name around it says that they are no secret."""
    name, strength = rule
    before = low[max(0, at - 24) : at].rstrip("_-. ")
    is_flag = low[at - 2 : at] == "--"
    if before.endswith(("public", "publickey", "pub")) or (
        name == "key" and not before.endswith(KEYS_OF) and not is_flag
    ):
        return
    after = at + len(name)
    if name.endswith("="):
        yield from _judged(text, _literal(text, after - 1), strength)
        return
    rest = text[after : after + run(text, after, WORD + ".", 64)].rstrip(".")
    if rest and (rest[0] == "." or (name == "key" and is_flag) or not _holds_it(rest)):
        return
    begin = at - run(text[max(0, at - 40) : at][::-1], 0, WORD + ".")
    yield from _value_after(text, low, (begin, at, after + len(rest)), rule)


def _holds_it(rest: str) -> bool:
    """Return whether a name continued like this holds the secret: `_value`, `Key`, `2`; not `izer`, `_count`."""
    if rest[0].islower() and (rest[0] != "s" or rest[1:2].islower()):
        return False
    return not rest.lower().rstrip("_-.").endswith(ABOUT)


def _value_after(text: str, low: str, name: tuple[int, int, int], rule: tuple[str, int]) -> Iterator[Span]:
    """Yield the secrets that a name announces; `name` is (begin of the identifier, begin of the name in it, its end).

    Notations: `name = value`, `"name": value`, `<name>value`, `--name value`, `NAME value`, `"name", "value"`,
    `name('value')`, `NAME 'value'`, `| name | value |`, lists, the next line, a sibling `value:`, a sentence.
    """
    begin, at, after = name
    strength, spoken = rule[1], rule[0] in SPOKEN
    gap = _TO_MARK.match(text, after)
    here, quoted = (gap.end(), bool(gap["quotes"])) if gap else (after, False)
    mark = text[here : here + 1]
    upper = text[at:after].isupper()
    if mark == "=" and text[begin : begin + 1] == "-" and not quoted:
        yield from _flagged(text, _literal(text, here), strength, spoken)
    elif mark in ("=", ":", "\uff1a") or (mark == "?" and text[here + 1 : here + 2] == "="):
        yield from _assigned(text, here + (mark == "?"), strength, upper, spoken)
    elif mark == ">" and text[begin - 1 : begin] == "<":
        yield from _judged(text, _literal(text, here), strength, spoken=spoken)
    elif strength == STRONG and ((mark == "," and quoted) or (mark == "(" and text[here + 1 : here + 2] in ("'", '"'))):
        yield from _paired(text, here + 1)
    elif mark in ("-", "\u2013", "\u2014") and strength == STRONG and text[here + 1 : here + 2] == " " and here > after:
        yield from _cell(text, here + 2)
    elif mark == "|" and (strength == STRONG or upper):
        yield from _cell(text, here + 1)
    elif here > after and not quoted and mark and mark != ".":
        yield from _apart(text, low, name, here, rule)
    if mark in ('"', "'", ",", "\n", "\r", "}", "{", "/", ">") or quoted or mark.isalpha():
        yield from _sibling(text, low, here, strength)


def _flagged(text: str, literal: Literal, strength: int, spoken: bool) -> Iterator[Span]:
    """Yield the value of a flag: `--token=x`."""
    first, end, _ = literal
    if _is_given(text[first : min(end, first + JUDGED)], strength):
        yield first, end, "value"
    else:
        yield from _judged(text, literal, strength, spoken=spoken)


def _assigned(text: str, here: int, strength: int, upper: bool, spoken: bool) -> Iterator[Span]:
    """Yield the value after a `=` or `:`, on this line or the next."""
    begin, end, quoted = _literal(text, here)
    if not quoted and text[end : end + 3] == " = ":  # a type follows the colon: `name: str = value`
        begin, end, quoted = _literal(text, end + 1)
    value = text[begin:end]
    if quoted:
        yield from _judged(text, (begin, end, quoted), strength, spoken=spoken)
    elif text[begin : begin + 1] in ("[", "("):
        yield from _items(text, begin, strength)
    elif not value or value.rstrip("-+0123456789") in ("|", ">", "!binary"):
        yield from _next_line(text, end, strength, bool(value))
    else:
        begin += 7 * value.startswith("base64:")
        exported = text[here] == "=" and begin == here + 1 and upper
        yield from _judged(text, (begin, end, quoted), strength, exported=exported, spoken=spoken)


def _judged(
    text: str, literal: Literal, strength: int, *, exported: bool = False, spoken: bool = False
) -> Iterator[Span]:
    """Yield the value if it is secret; a phrase to its end, where the name may have one."""
    begin, end, quoted = literal
    value = text[begin : min(end, begin + JUDGED)]
    if not value or value[0] == "[":
        return
    plain = quoted or (exported and not any(mark in value for mark in "()[]{}"))
    if spoken and not quoted:
        end = _phrase_end(text, begin, end)
        value = text[begin : min(end, begin + JUDGED)]
    if is_secret(value, strength, plain, spoken):
        yield begin, end, "value"


def _phrase_end(text: str, begin: int, end: int) -> int:
    """Return the end of a phrase of eleven or more small words on the line, as seed phrases have; otherwise `end`."""
    line = text[begin : begin + 400].partition("\n")[0]
    words = line.split()
    is_phrase = len(words) >= 11 and all(word.isalpha() and word.islower() and 3 <= len(word) <= 8 for word in words)
    return begin + len(line.rstrip()) if is_phrase else end


def _items(text: str, begin: int, strength: int) -> Iterator[Span]:
    """Yield the quoted texts of a list on the same line: `passwords: ["a", "b"]`, `auth=('ann', 'x')`."""
    area = text[begin : begin + 1_000]
    area = area[: area.find("]" if area[0] == "[" else ")") + 1 or len(area)].partition("\n\n")[0]
    here = 1
    for _ in range(32):
        quote = re.compile("[\"']").search(area, here)
        if not quote:
            return
        start = begin + quote.end()
        end = _closing(text, start, quote[0], 0)
        value = text[start:end]
        if text[end + 1 : end + 8].lstrip()[:1] != ":" and is_typed(value) and is_secret(value, strength, True):
            yield start, end, "value"
        here = end + 1 - begin


def _next_line(text: str, here: int, strength: int, block: bool) -> Iterator[Span]:
    """Yield the value on the next line, indented more than its name or after `|`; or the items of a list there."""
    for _ in range(32):
        line = text.find("\n", here, here + 200)
        if line < 0 or text[here:line].strip(" \t\r|>-+0123456789'\""):
            return
        begin = line + 1 + run(text, line + 1, BLANKS, 80)
        item = text.startswith("- ", begin)
        start, end, quoted = _literal(text, begin + 2 * item - 1)
        value = text[start:end]
        if not value or text[end : end + 1] == ":" or value.endswith(":"):
            return
        rest = text[end + quoted : end + quoted + 100].partition("\n")[0].strip(" \t\r\"',")
        if rest and not rest.startswith("#"):
            return
        if is_secret(value, strength, True) and (is_typed(value) or item or block):
            yield start, end, "value"
        if not item and not block:
            return
        here = end + quoted


def _paired(text: str, here: int) -> Iterator[Span]:
    """Yield the quoted text after a comma or bracket: `define('DB_PASSWORD', 'x')`, `PASSWORD('x')`."""
    here += run(text, here, BLANKS + "\r\n", 24)
    quote = text[here : here + 1]
    if quote and quote in QUOTES:
        end = _closing(text, here + 1, quote, 0)
        if is_typed(text[here + 1 : end]):
            yield here + 1, end, "value"


def _cell(text: str, here: int) -> Iterator[Span]:
    """Yield the next cell of a table's row."""
    match = _CELL.match(text, here)
    cell = match["cell"].strip(" \t\r`") if match else ""
    if match and cell and " " not in cell and is_typed(cell):
        yield match.start("cell"), match.start("cell") + len(cell), "value"


def _apart(text: str, low: str, name: tuple[int, int, int], here: int, rule: tuple[str, int]) -> Iterator[Span]:
    """Yield a value separated from its name by blanks only: flags, `NAME 'x'`, upper-case names, sentences."""
    begin, at, after = name
    strength = rule[1]
    flag = text[begin : begin + 1] == "-"
    login = strength == STRONG and ("login " in low[max(0, at - 120) : at] or rule[0] in DIRECTIVES)
    first, end, quoted = _literal(text, here - 1)
    value = text[first : min(end, first + JUDGED)]
    if (flag or login) and value[:1] not in ("-", "/", "[") and _is_given(value, strength):
        yield first, end, "value"
    elif flag:
        return
    elif text[here] in QUOTES and strength == STRONG:
        if value[:1] != "[" and is_typed(value):
            yield first, end, "value"
    elif _is_set_apart(text, low, name, (first, end, quoted), strength):
        yield first, end, "value"
    elif not _is_constant(text[begin:after], text, (first, end, quoted), strength):
        yield from _sentence(text, here, strength)


def _is_constant(name: str, text: str, literal: Literal, strength: int) -> bool:
    """Return whether the name is a constant's, so that the value behind a blank is its own or none."""
    end = literal[1] + literal[2]
    rest = text[end : end + 80].partition("\n")[0].strip(" \t\r\"'`);")
    return "_" in name and (name.isupper() or (strength >= MEDIUM and not rest))


def _is_set_apart(text: str, low: str, name: tuple[int, int, int], literal: Literal, strength: int) -> bool:
    """Return whether a value that stands behind a blank belongs to the name: `//registry/:_authToken x`, `ENV X v`."""
    begin, _, after = name
    value = text[literal[0] : min(literal[1], literal[0] + JUDGED)]
    if not is_secret(value, strength, True):
        return False
    if ":" in text[max(0, begin - 2) : begin] and text[begin : begin + 1] == "_":
        return True
    if _is_constant(text[begin:after], text, literal, strength):
        return value[:1] != "[" and (is_typed(value) or len(value) >= 24)
    lead = low[max(0, begin - 40) : begin].rpartition("\n")[2].strip()
    return text[begin:after].isupper() and lead.endswith(_SETTERS)


def _is_given(value: str, strength: int) -> bool:
    """Return whether a flag's value is a secret. It may be shorter than after a name, since the flag identifies it."""
    if len(value) < 4 or is_stand_in(value) or any(mark in value for mark in "()<>"):
        return False
    if strength == STRONG:
        return is_secret(value, STRONG, True) or (value.isalpha() and len(value) >= 6 and not value.isupper())
    if "/" in value or value.endswith(_FLAG_FILES):
        return is_secret(value, WEAK, True)
    return is_typed(value)


def _sentence(text: str, here: int, strength: int) -> Iterator[Span]:
    """Yield `x` of `the password is x`, `password for ann: x`, `set the token to x`, within five words and one line."""
    if strength == WEAK:
        return
    line = text[here : here + 160].partition("\n")[0]
    offset, after_verb = here, False
    for number, word in enumerate(line.split(" ")[:8]):
        if after_verb and word and word.lower() not in VERBS:
            bare = word.strip("\"'`*_,;()").rstrip(".:")
            if is_typed(bare) and bare.rstrip("!?"):
                start = offset + word.find(bare)
                yield start, start + len(bare), "value"
            return
        if word.lower() in VERBS or (word.endswith(":") and number < 5):
            after_verb = True
        elif word and (number >= 5 or not word.strip("'\u2019@._-").replace(".", "").replace("@", "").isalnum()):
            return
        offset += len(word) + 1


def _sibling(text: str, low: str, here: int, strength: int) -> Iterator[Span]:
    """Yield the value beside a name: `name: DB_PASSWORD` + `value: x`, `key="Password" value="x"`, `default = "x"`."""
    area = "\n".join(low[here : here + 120].split("\n", 3)[:3])
    for name in VALUES_OF:
        offset = area.find(name)
        if offset < 0:
            continue
        between = area[:offset]
        if between.count(":") + between.count("=") > 2 or "}" in between or "name" in between[3:]:
            continue
        if between[-1:].isalnum() or len(re.split(r'[\s="]+', between.strip(' \n\t="'))) > 6:
            continue
        after = here + offset + len(name)
        after += run(text, after, QUOTES + "\\", 4)
        after += run(text, after, BLANKS, 8)
        if text[after : after + 1] in ("=", ":"):
            begin, end, quoted = _literal(text, after)
            value = text[begin:end]
            alone = quoted or text[end : end + 1] in ("\n", "\r", "", ">", "/")
            if alone and (is_typed(value) or (len(value) >= 16 and is_secret(value, strength, quoted))):
                yield begin, end, "value"
        return


def _literal(text: str, here: int) -> Literal:
    """Return the value after a separator at `here`."""
    closer = "<" if text[here : here + 1] == ">" else ""
    opening = _TO_VALUE.match(text, here + 1)
    if opening and (quote := opening["quote"]):
        begin = opening.end()
        if text.startswith(quote * 2, begin):  # three quotes in a row
            close = text.find(quote * 3, begin + 2, begin + SPAN)
            return begin + 2, close if close >= 0 else _closing(text, begin + 2, quote, 0), True
        return begin, _closing(text, begin, quote, len(opening["escapes"])), True
    begin = opening.start("escapes") if opening else here + 1
    return begin, _bare_end(text, begin, closer), bool(closer)


def _closing(text: str, begin: int, quote: str, escapes: int) -> int:
    """Return where the quoted text ends: at a quote escaped like the opening one, the line's end or the limit."""
    here, stop = begin, min(len(text), begin + SPAN)
    line = text.find("\n", begin, stop)
    stop = line if line >= 0 else stop
    while (end := text.find(quote, here, stop)) >= 0:
        before = text[max(begin, end - 9) : end]
        slashes = len(before) - len(before.rstrip("\\"))
        if slashes <= escapes:
            return end - slashes
        here = end + 1
    return stop


def _bare_end(text: str, here: int, closer: str) -> int:
    """Return where an unquoted value ends; brackets and signs at its end are not its own, unless it begins with one."""
    if closer:
        end = text.find(closer, here, here + SPAN)
        piece = text[here:end] if end >= 0 else text[here : here + SPAN]
    else:
        match = _BARE.match(text, here)
        piece = match[0] if match else ""
    return here + len(piece.rstrip(".)}]:" if piece[:1] not in ("$", "{", "[", "(") else ""))


# Headers and logins

_BEARER = re.compile(rf"bearer (?P<value>[{re.escape(WIDE)}]{{16,{SPAN}}})", re.IGNORECASE)
_BASIC = re.compile(rf"basic (?P<value>[{re.escape(WIDE)}]{{8,{SPAN}}})", re.IGNORECASE)
_AUTHORIZATION = re.compile(r"authorization[\"'`\\\]]{0,4}[ \t]{0,16}(?=[:=])", re.IGNORECASE)
_SCHEME = re.compile(rf"(?:{'|'.join(SCHEMES)})(?![\w-])[ \t]{{0,8}}", re.IGNORECASE)
_COOKIE = re.compile(r"cookie[\"'`\\]{0,4}:[ \t\"'`\\]{0,8}(?P<pair>[^\n\r\"'`]{0,4096})", re.IGNORECASE)
_CURL_LOGIN = re.compile(r" (?:-u|--user) [ \t\"'`]{0,4}")
_LOGIN = re.compile(r"://(?P<area>[^\n\r\t \"'`<>/]{0,512})")


def find_headers(text: str, low: str) -> Iterator[Span]:
    """Find authorization values, bearer and basic credentials, cookies, `curl -u` logins."""
    for match in _BEARER.finditer(text) if "bearer" in low else ():
        if has_digit(match["value"]) and not is_stand_in(match["value"]):
            yield *match.span("value"), "header"
    for match in _BASIC.finditer(text) if "basic" in low else ():
        if _is_login(decoded(match["value"])) and not is_stand_in(match["value"]):
            yield *match.span("value"), "header"
    if "authorization" in low:
        yield from _authorizations(text)
    for match in _COOKIE.finditer(text) if "cookie" in low else ():
        name, sign, value = match["pair"].partition("=")
        if sign and name and name[0] not in BLANKS and not is_stand_in(value[:40] or "x"):
            yield *match.span("pair"), "cookie"
    if "curl" in low:
        yield from _curl_logins(text)


def _is_login(plain: bytes) -> bool:
    return b":" in plain and plain.isascii()


def _curl_logins(text: str) -> Iterator[Span]:
    for match in _CURL_LOGIN.finditer(text):
        end = _bare_end(text, match.end(), "")
        colon = text.find(":", match.end(), end)
        if colon >= 0 and end - colon > 4 and not is_stand_in(text[colon + 1 : end]):
            yield colon + 1, end, "url"


def _authorizations(text: str) -> Iterator[Span]:
    for match in _AUTHORIZATION.finditer(text):
        begin, _, _ = _literal(text, match.end())
        scheme = _SCHEME.match(text, begin)
        begin = scheme.end() if scheme else begin
        size = run(text, begin, WIDE)
        value = text[begin : begin + size]
        if size >= 8 and text[begin + size : begin + size + 1] != "(" and has_digit(value) and not is_stand_in(value):
            yield begin, begin + size, "header"


def find_logins(text: str) -> Iterator[Span]:
    """Find passwords in URLs: `scheme://user:password@host`."""
    for match in _LOGIN.finditer(text):
        begin = match.start("area")
        login, separator, _ = match["area"].rpartition("@")
        user, colon, word = login.partition(":")
        for mark in "?#":  # these signs belong to a password only where no port can be
            if mark in login and (mark in user or word.partition(mark)[0].isdigit()):
                colon = user = ""
        if separator and colon and len(word) >= 3 and not is_stand_in(word) and word[0] != "[":
            start = begin + len(user) + 1
            yield start, start + len(word), "url"
        elif separator and len(user) >= 16 and is_opaque(user) and not is_stand_in(user):
            yield begin, begin + len(user), "url"
