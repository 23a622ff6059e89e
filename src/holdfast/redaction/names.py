"""Finds secrets that something announces: a name before a value, a header's name, a scheme, the place in a URL."""

from __future__ import annotations

from holdfast.redaction.alphabets import MEDIUM, STRONG, WEAK, WIDE, WORD
from holdfast.redaction.hints import ASCII_WORDS, FOREIGN, HUMPS, NAMES, WORDS
from holdfast.redaction.values import (
    SPAN,
    decoded,
    has_digit,
    is_opaque,
    is_secret,
    is_stand_in,
    is_typed,
    places,
    run,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.redaction.values import Span

JUDGED = 256
"""Characters of a value that are looked at to tell whether it is secret."""

QUOTES = "\"'`"
BLANKS = " \t"
SCHEMES = ("bearer", "basic", "token", "digest", "negotiate", "apikey", "hmac", "aws4-hmac-sha256", "key")
_IDENTIFIER = WORD + "."

KEYS_OF = (
    "api", "access", "account", "auth", "encryption", "signing", "master", "private", "service", "subscription",
    "secret", "jwt", "app", "license", "storage", "shared", "webhook", "client", "admin", "deploy", "write",
    "session",
    "cookie", "hmac", "aes", "crypt", "cipher", "shared_access", "security",
)  # fmt: skip
"""Words before `key` in names of secrets: `api_key`, `accessKey`, `signing-key`."""

DIRECTIVES = ("requirepass", "masterauth")
"""Names of settings whose values follow after a blank."""

SPOKEN = ("passphrase", "mnemonic")
"""Names whose values may be words with spaces."""

ABOUT = (
    "algorithm", "attempts", "budget", "class", "column", "count", "description", "error", "expires", "expiry",
    "field", "file", "filename", "form", "format", "header", "help", "hint", "id", "index", "input", "label",
    "length", "limit", "max", "message", "min", "name", "names", "param", "path", "pattern", "placeholder",
    "policy", "prefix", "prompt", "ref", "regex", "reset", "rule", "rules", "size", "strategy", "text", "title",
    "ttl", "type", "uri", "url", "usage", "used", "validator", "validators", "version", "view",
)  # fmt: skip
"""Last parts of names that describe a secret without holding it, e.g. `token_count`, `secretName`."""

VERBS = (
    "is", "are", "was", "=", "==", ":", "->", "=>", "→", "to", "as", "ist", "lautet", "heisst", "heißt", "es",
    "est", "sera",
    "é", "e", "è", "är", "jest", "to:", "is:", "are:", "был", "это", "是", "为", "は", "equals", "being", "on", "zu",
    "auf",
)  # fmt: skip
"""Words between the name of a secret and the secret in a sentence."""

VALUES_OF = ("value", "default", "val")
"""Names of a sibling that holds the value for the name in `name:`."""


# Names and their values


def find_values(text: str, low: str, parts: frozenset[bytes]) -> Iterator[Span]:
    """Yield values given to names that announce a secret, in any notation: see `_value_after`."""
    for name, strength in NAMES:
        if name in low:
            for at in places(low, name):
                yield from _named(text, low, at, (name, strength))
    yield from _find_humps(text, low)
    for name in _words_in(text, low, parts):
        for at in places(low, name):
            if _is_apart(text, at, at + len(name)):
                spans = _named(text, low, at, (name, WORDS[name]))
                yield from (span for span in spans if len(name) > 5 or is_typed(text[span[0] : span[1]]))


def _find_humps(text: str, low: str) -> Iterator[Span]:
    """Yield values of `dbPass`, `smtpPw`: short names that only a capital marks as a part of a longer name."""
    for name in HUMPS:
        if name in text:
            for at in places(text, name):
                if text[at - 1 : at].islower() and _is_apart(text, at, at + len(name)):
                    yield from _named(text, low, at, (name.lower(), STRONG))


def _words_in(text: str, low: str, parts: frozenset[bytes]) -> list[str]:
    """Return those of `WORDS` that may be in the text; `parts` are its words of ASCII letters and digits."""
    ascii_words = [name.decode("ascii") for name in parts & ASCII_WORDS]
    return ascii_words if text.isascii() else ascii_words + [name for name in FOREIGN if name in low]


def _is_apart(text: str, at: int, end: int) -> bool:
    """Return whether no letter is glued to the name: `db_pw`, `pw2`, `dbPass`; not `pass` in `compass` and `passed`."""
    before, first, after = text[at - 1 : at] if at else "", text[at], text[end : end + 1]
    if before.isalpha() and not (first.isupper() and before.islower()):
        return False
    return not after.isalpha() or (after.isupper() and text[end - 1].islower())


def _named(text: str, low: str, at: int, rule: tuple[str, int]) -> Iterator[Span]:
    name, strength = rule
    before = low[max(0, at - 24) : at].rstrip("_-. ")
    if before.endswith(("public", "publickey", "pub")) or (
        name == "key" and not _is_key_of(before) and low[at - 2 : at] != "--"
    ):
        return
    after = at + len(name)
    if name.endswith("="):
        yield from _judged(text, _literal(text, after - 1), strength, exported=False, spoken=False)
        return
    rest = run(text, after, _IDENTIFIER, 64)
    rest -= len(text[after : after + rest]) - len(text[after : after + rest].rstrip("."))
    if rest and (
        text[after] == "." or (name == "key" and low[at - 2 : at] == "--") or not _holds_it(text[after : after + rest])
    ):
        return
    begin = at
    while begin > 0 and at - begin < 40 and text[begin - 1] in _IDENTIFIER:
        begin -= 1
    yield from _value_after(text, low, (begin, at, after + rest), rule)


def _is_key_of(before: str) -> bool:
    return before.endswith(KEYS_OF)


def _holds_it(rest: str) -> bool:
    """Return whether a name continued like this holds the secret: `_value`, `Key`, `2`; not `izer`, `_count`."""
    if rest[0].islower() and (rest[0] != "s" or rest[1:2].islower()):
        return False
    low = rest.lower().rstrip("_-.")
    return not any(low.endswith(about) for about in ABOUT)


def _value_after(text: str, low: str, name: tuple[int, int, int], rule: tuple[str, int]) -> Iterator[Span]:
    """Yield the secrets that a name announces; `name` is (begin of the identifier, begin of the name in it, its end).

    Notations: `name = value`, `"name": value`, `<name>value`, `--name value`, `NAME value`, `"name", "value"`,
    `name('value')`, `NAME 'value'`, `| name | value |`, lists, the next line, a sibling `value:`, a sentence.
    """
    begin, at, after = name
    _, strength = rule
    spoken = rule[0] in SPOKEN
    here = after + run(text, after, QUOTES + "\\]", 4)
    quoted = here > after
    here += run(text, here, "*", 2)
    here += run(text, here, BLANKS, 16)
    mark = text[here : here + 1]
    upper = text[at:after].isupper()
    if mark == "=" and text[begin : begin + 1] == "-" and not quoted:
        yield from _flagged(text, _literal(text, here), strength, spoken)
    elif mark in ("=", ":", "\uff1a") or (mark == "?" and text[here + 1 : here + 2] == "="):
        here += mark == "?"
        yield from _assigned(text, low, here, strength, upper, spoken)
    elif mark == ">" and text[begin - 1 : begin] == "<":
        yield from _judged(text, _literal(text, here), strength, exported=False, spoken=spoken)
    elif (mark == "," and strength == STRONG and quoted) or (
        mark == "(" and strength == STRONG and text[here + 1 : here + 2] in ("'", '"')
    ):
        yield from _paired(text, here + 1)
    elif mark in ("-", "\u2013", "\u2014") and strength == STRONG and text[here + 1 : here + 2] == " " and here > after:
        yield from _cell(text, here + 2)
    elif mark == "|" and (strength == STRONG or upper):
        yield from _cell(text, here + 1)
    elif here > after and not quoted and mark and mark != ".":
        yield from _apart(text, low, (begin, at, after), here, rule)
    if mark in ('"', "'", ",", "\n", "\r", "}", "{", "/", ">") or quoted or mark.isalpha():
        yield from _sibling(text, low, here, strength)


def _flagged(text: str, literal: tuple[int, int, bool], strength: int, spoken: bool) -> Iterator[Span]:
    """Yield the value of a flag: `--token=x`."""
    first, end, _ = literal
    if _is_given(text[first : min(end, first + JUDGED)], strength):
        yield first, end, "value"
    else:
        yield from _judged(text, literal, strength, exported=False, spoken=spoken)


def _assigned(text: str, low: str, here: int, strength: int, upper: bool, spoken: bool) -> Iterator[Span]:
    """Yield the value after a `=` or `:`, on this line or the next."""
    begin, end, quoted = _literal(text, here)
    if not quoted and _is_annotation(text, end):
        begin, end, quoted = _literal(text, text.index("=", end))
    first = text[begin : begin + 1]
    if not quoted and first and first in "[(":
        yield from _items(text, begin, strength)
        return
    value = text[begin:end]
    if not quoted and (not value or value.rstrip("-+0123456789") in ("|", ">", "!binary")):
        yield from _next_line(text, end, strength, bool(value))
        return
    if not quoted and value[:7] == "base64:":
        begin += 7
    exported = not quoted and text[here : here + 1] == "=" and begin == here + 1 and upper
    yield from _judged(text, (begin, end, quoted), strength, exported=exported, spoken=spoken)


def _judged(
    text: str, literal: tuple[int, int, bool], strength: int, *, exported: bool, spoken: bool
) -> Iterator[Span]:
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
    small = [word for word in words if word.isalpha() and word.islower() and 3 <= len(word) <= 8]
    return begin + len(line.rstrip()) if len(words) >= 11 and len(small) == len(words) else end


def _items(text: str, begin: int, strength: int) -> Iterator[Span]:
    """Yield the quoted texts of a list on the same line: `passwords: ["a", "b"]`, `auth=('ann', 'x')`."""
    area = text[begin : begin + 1_000]
    closer = "]" if area[0] == "[" else ")"
    area = area[: area.find(closer) + 1 or len(area)].partition("\n\n")[0]
    here = 1
    for _ in range(32):
        starts = [start for quote in "\"'" if (start := area.find(quote, here)) >= 0]
        if not starts:
            return
        start = min(starts) + 1
        end = _closing(text, begin + start, area[start - 1], 0)
        value = text[begin + start : end]
        after = text[end + 1 : end + 8].lstrip()[:1]
        if after != ":" and is_typed(value) and is_secret(value, strength, True):
            yield begin + start, end, "value"
        here = end + 1 - begin
        if here >= len(area):
            return


def _next_line(text: str, here: int, strength: int, block: bool) -> Iterator[Span]:
    """Yield the value on the next line, indented more than its name or after `|`; or the items of a list there."""
    for _ in range(32):
        line = text.find("\n", here, here + 200)
        if line < 0 or text[here:line].strip(" \t\r|>-+0123456789'\"") != "":
            return
        begin = line + 1 + run(text, line + 1, BLANKS, 80)
        item = text[begin : begin + 2] == "- "
        begin += 2 * item
        _, end, quoted = literal = _literal(text, begin - 1)
        value = text[literal[0] : end]
        if not value or text[end : end + 1] == ":" or value.endswith(":"):
            return
        rest = text[end + quoted : end + quoted + 100].partition("\n")[0].strip(" \t\r\"',")
        if rest and not rest.startswith("#"):
            return
        if is_secret(value, strength, True) and (is_typed(value) or item or block):
            yield literal[0], end, "value"
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
    here += run(text, here, BLANKS + "`", 40)
    end = here
    line = text[here : here + 200].partition("\n")[0]
    cut = line.find("|")
    cell = (line if cut < 0 else line[:cut]).strip(" \t\r`")
    end = here + len(cell)
    if cell and " " not in cell and is_typed(cell):
        yield here, end, "value"


def _apart(text: str, low: str, name: tuple[int, int, int], here: int, rule: tuple[str, int]) -> Iterator[Span]:
    """Yield a value separated from its name by blanks only: flags, `NAME 'x'`, upper-case names, sentences."""
    begin, at, after = name
    strength = rule[1]
    quote = text[here : here + 1]
    flag = text[begin : begin + 1] == "-"
    login = strength == STRONG and ("login " in low[max(0, at - 120) : at] or rule[0] in DIRECTIVES)
    first, end, quoted = _literal(text, here - 1)
    value = text[first : min(end, first + JUDGED)]
    if flag or login:
        if value[:1] not in ("-", "/", "[") and _is_given(value, strength):
            yield first, end, "value"
            return
        if flag:
            return
    if quote in ("'", '"', "`") and strength == STRONG:
        if value[:1] != "[" and is_typed(value):
            yield first, end, "value"
        return
    if ":" in text[max(0, begin - 2) : begin] and text[begin : begin + 1] == "_" and is_secret(value, strength, True):
        yield first, end, "value"  # `//registry/:_authToken x`
        return
    upper = text[begin:after]
    rest = text[end + quoted : end + quoted + 80].partition("\n")[0].strip(" \t\r\"'`);")
    if (upper.isupper() and "_" in upper) or (strength >= MEDIUM and "_" in upper and not rest):
        if value[:1] != "[" and is_secret(value, strength, True) and (is_typed(value) or len(value) >= 24):
            yield first, end, "value"
        return
    if upper.isupper() and _is_setter(low, begin) and is_secret(value, strength, True):
        yield first, end, "value"
        return
    yield from _sentence(text, here, strength)


def _is_setter(low: str, begin: int) -> bool:
    """Return whether the line sets a variable without `=`: `ENV X v`, `set -x X v`, `setx X v`, `#define X v`."""
    lead = low[max(0, begin - 40) : begin]
    lead = lead[lead.rfind("\n") + 1 :].strip()
    return lead.endswith(("env", "arg", "set -x", "set -gx", "set -ux", "set -xu", "setx", "setenv", "#define", "set"))


def _is_given(value: str, strength: int) -> bool:
    """Return whether a flag's value is a secret. It may be shorter than after a name, since the flag identifies it."""
    if len(value) < 4 or is_stand_in(value) or any(mark in value for mark in "()<>"):
        return False
    if strength == STRONG:
        return is_secret(value, STRONG, True) or (value.isalpha() and len(value) >= 6 and not value.isupper())
    if "/" in value or value.endswith((".json", ".pem", ".key", ".txt", ".yml", ".yaml", ".crt", ".pub", ".env")):
        return is_secret(value, WEAK, True)
    return is_typed(value)


def _sentence(text: str, here: int, strength: int) -> Iterator[Span]:
    """Yield `x` of `the password is x`, `password for ann: x`, `set the token to x`, within five words and one line."""
    if strength == WEAK:
        return
    line = text[here : here + 160].partition("\n")[0]
    offset, words, after_verb = here, line.split(" ")[:8], False
    for number, word in enumerate(words):
        bare = word.strip("\"'`*_,;()").rstrip(".:!?")
        if after_verb and word and word.lower() not in VERBS:
            start = offset + word.find(bare) if bare else offset
            if is_typed(word.strip("\"'`*_,;()").rstrip(".:")) and bare:
                yield start, start + len(word.strip("\"'`*_,;()").rstrip(".:")), "value"
            return
        if word.lower() in VERBS or (word.endswith(":") and number < 5):
            after_verb = True
        elif word and (number >= 5 or not word.strip("'\u2019@._-").replace(".", "").replace("@", "").isalnum()):
            return
        offset += len(word) + 1


def _sibling(text: str, low: str, here: int, strength: int) -> Iterator[Span]:
    """Yield the value beside a name: `name: DB_PASSWORD` + `value: x`, `key="Password" value="x"`, `default = "x"`."""
    area = low[here : here + 120]
    first = area.split("\n", 3)
    area = "\n".join(first[:3])
    for name in VALUES_OF:
        offset = area.find(name)
        if offset < 0:
            continue
        between = area[:offset]
        if between.count(":") + between.count("=") > 2 or "}" in between or "name" in between[3:]:
            continue
        if area[max(0, offset - 1) : offset].isalnum() or len(between.replace("=", " ").replace('"', " ").split()) > 6:
            continue
        after = here + offset + len(name)
        after += run(text, after, QUOTES + "\\", 4)
        after += run(text, after, BLANKS, 8)
        if text[after : after + 1] in ("=", ":"):
            literal = _literal(text, after)
            value = text[literal[0] : literal[1]]
            alone = literal[2] or text[literal[1] : literal[1] + 1] in ("\n", "\r", "", ">", "/")
            if alone and (is_typed(value) or (len(value) >= 16 and is_secret(value, strength, literal[2]))):
                yield literal[0], literal[1], "value"
        return


def _literal(text: str, here: int) -> tuple[int, int, bool]:
    """Return (start, end, quoted) of the value after a separator at `here`."""
    closer = "<" if text[here : here + 1] == ">" else ""
    here += 1 + run(text, here + 1, "=>:", 2)
    here += run(text, here, "*", 2)
    here += run(text, here, BLANKS, 16)
    if text[here : here + 1] in ("b", "f", "r", "u", "@") and text[here + 1 : here + 2] in ('"', "'"):
        here += 1
    escapes = run(text, here, "\\", 4)
    quote = text[here + escapes : here + escapes + 1]
    if quote and quote in QUOTES:
        begin = here + escapes + 1
        if text.startswith(quote * 2, begin):  # three quotes in a row
            close = text.find(quote * 3, begin + 2, begin + SPAN)
            return begin + 2, close if close >= 0 else _closing(text, begin + 2, quote, 0), True
        return begin, _closing(text, begin, quote, escapes), True
    return here, _bare_end(text, here, closer), bool(closer)


def _closing(text: str, begin: int, quote: str, escapes: int) -> int:
    """Return where the quoted text ends: at a quote escaped like the opening one, the line's end or the limit."""
    here, stop = begin, min(len(text), begin + SPAN)
    line = text.find("\n", begin, stop)
    stop = line if line >= 0 else stop
    while True:
        end = text.find(quote, here, stop)
        if end < 0:
            return stop
        slashes = 0
        while slashes <= 8 and text[end - 1 - slashes : end - slashes] == "\\" and end - slashes > begin:
            slashes += 1
        if slashes <= escapes:
            return end - slashes
        here = end + 1


def _bare_end(text: str, here: int, closer: str) -> int:
    marks = closer or "\n\r\t \"'`,;&<>\\|"
    for size in (JUDGED, SPAN):  # the long piece only if the short one has no end
        piece = text[here : here + size]
        for mark in marks:
            cut = piece.find(mark)
            piece = piece if cut < 0 else piece[:cut]
        if len(piece) < size:
            break
    return here + len(piece.rstrip(".)}]:" if piece[:1] not in ("$", "{", "[", "(") else ""))


def _is_annotation(text: str, end: int) -> bool:
    """Return whether a type follows the colon: `name: str = value`."""
    return text[end : end + 3] == " = "


# Headers and logins


def find_headers(text: str, low: str) -> Iterator[Span]:
    """Find authorization values, bearer and basic credentials, cookies, `curl -u` logins."""
    if "bearer" in low:
        yield from _schemed(text, low, "bearer ", 16)
    if "basic" in low:
        yield from _schemed(text, low, "basic ", 8)
    if "authorization" in low:
        yield from _authorizations(text, low)
    if "cookie" in low:
        yield from _cookies(text, low)
    if "curl" in low:
        yield from _curl_logins(text)


def _schemed(text: str, low: str, scheme: str, least: int) -> Iterator[Span]:
    for at in places(low, scheme):
        begin = at + len(scheme)
        size = run(text, begin, WIDE)
        value = text[begin : begin + size]
        if size >= least and not is_stand_in(value) and (_is_login(value) if least == 8 else has_digit(value)):
            yield begin, begin + size, "header"


def _is_login(value: str) -> bool:
    """Return whether it is base64 of `name:something`."""
    return b":" in decoded(value) and decoded(value).isascii()


def _authorizations(text: str, low: str) -> Iterator[Span]:
    for at in places(low, "authorization"):
        after = at + len("authorization")
        here = after + run(text, after, QUOTES + "\\]", 4)
        here += run(text, here, BLANKS, 16)
        if text[here : here + 1] not in (":", "="):
            continue
        begin, _, _ = _literal(text, here)
        word = run(text, begin, WORD, 40)
        if low[begin : begin + word] in SCHEMES:
            begin += word + run(text, begin + word, BLANKS, 8)
        size = run(text, begin, WIDE)
        value = text[begin : begin + size]
        if size >= 8 and text[begin + size : begin + size + 1] != "(" and has_digit(value) and not is_stand_in(value):
            yield begin, begin + size, "header"


def _cookies(text: str, low: str) -> Iterator[Span]:
    for at in places(low, "cookie"):
        here = at + 6 + run(text, at + 6, QUOTES + "\\", 4)
        if text[here : here + 1] != ":":
            continue
        begin = here + 1 + run(text, here + 1, BLANKS + QUOTES + "\\", 8)
        end = min((_find_end(text, mark, begin) for mark in "\n\r\"'`"), default=begin)
        pair = text[begin:end].partition("=")
        if pair[1] and pair[0] and not run(pair[0], 0, BLANKS) and not is_stand_in(pair[2][:40] or "x"):
            yield begin, end, "cookie"


def _find_end(text: str, mark: str, begin: int) -> int:
    end = text.find(mark, begin, begin + SPAN)
    return end if end >= 0 else min(len(text), begin + SPAN)


def _curl_logins(text: str) -> Iterator[Span]:
    for flag in (" -u ", " --user "):
        for at in places(text, flag):
            begin = at + len(flag) + run(text, at + len(flag), BLANKS + QUOTES, 4)
            end = _bare_end(text, begin, "")
            colon = text.find(":", begin, end)
            if colon >= 0 and end - colon > 4 and not is_stand_in(text[colon + 1 : end]):
                yield colon + 1, end, "url"


def find_logins(text: str) -> Iterator[Span]:
    """Find passwords in URLs: `scheme://user:password@host`."""
    for at in places(text, "://"):
        begin = at + 3
        area = text[begin : begin + 512]
        for mark in "\n\r\t \"'`<>/":
            cut = area.find(mark)
            area = area if cut < 0 else area[:cut]
        login, separator, _ = area.rpartition("@")
        user, colon, word = login.partition(":")
        for mark in "?#":  # these signs belong to a password only where no port can be
            if mark in login and (mark in user or word.partition(mark)[0].isdigit()):
                colon = user = ""
        if separator and colon and len(word) >= 3 and not is_stand_in(word) and word[0] != "[":
            start = begin + len(user) + 1
            yield start, start + len(word), "url"
        elif separator and len(user) >= 16 and is_opaque(user) and not is_stand_in(user):
            yield begin, begin + len(user), "url"
