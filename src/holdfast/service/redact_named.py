"""Secrets that something announces: a name before a value, a header's name, a scheme, the place in a URL.

Scanners like those of `redact_scan`: linear, bounded, without regular expressions.
"""

from __future__ import annotations

from holdfast.service import redact_rules as rules
from holdfast.service.redact_scan import decoded, places, run
from holdfast.service.redact_values import has_digit, is_secret, is_stand_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.service.redact_scan import Span

JUDGED = 256
"""Characters of a value that are looked at to tell whether it is secret."""

QUOTES = "\"'`"
BLANKS = " \t"
SCHEMES = ("bearer", "basic", "token", "digest", "negotiate", "apikey", "hmac", "aws4-hmac-sha256", "key")
_IDENTIFIER = rules.WORD + "."


# Names and their values


def find_values(text: str, low: str) -> Iterator[Span]:
    """Values given to names that announce a secret: assignments, JSON, YAML, environment, flags, XML, queries."""
    for name, strength in rules.NAMES:
        if name in low:
            for at in places(low, name):
                span = _value_of(text, at, name, strength)
                if span:
                    yield *span, "value"


def _value_of(text: str, at: int, name: str, strength: int) -> tuple[int, int] | None:
    if text[max(0, at - 10) : at].lower().rstrip("_-").endswith(("public", "publickey")):
        return None
    after = at + len(name)
    rest = 0 if name.endswith("=") else run(text, after, _IDENTIFIER, 64)
    if rest and not _holds_it(text[after : after + rest]):
        return None
    here = after - 1 if name.endswith("=") else _separator(text, at, after + rest)
    if here < 0:
        return None
    begin, end, quoted = _literal(text, here)
    if not quoted and _is_annotation(text, end):
        begin, end, quoted = _literal(text, text.index("=", end))
    value = text[begin : min(end, begin + JUDGED)]
    if not value or value[0] == "[":
        return None
    exported = not quoted and text[here : here + 1] == "=" and begin == here + 1 and text[at : after + rest].isupper()
    plain = quoted or (exported and not any(mark in value for mark in "()[]{}"))
    return (begin, end) if is_secret(value, strength, plain, name in rules.SPOKEN) else None


def _holds_it(rest: str) -> bool:
    """Whether a name that goes on like this still holds the secret: `_value`, `Key`, `2`; not `izer`, `_count`."""
    if rest[0].islower() and (rest[0] != "s" or rest[1:2].islower()):
        return False
    low = rest.lower().rstrip("_-.")
    return not any(low.endswith(about) for about in rules.ABOUT)


def _separator(text: str, at: int, after: int) -> int:
    """Index of the `=`, `:`, `>` or blank that parts the name from its value; -1 when there is none."""
    here = after + run(text, after, QUOTES + "\\]", 4)
    here += run(text, here, BLANKS, 16)
    mark = text[here : here + 1]
    if mark and mark in "=:":
        return here
    begin = at
    while begin > 0 and at - begin < 40 and text[begin - 1] in _IDENTIFIER:
        begin -= 1
    if mark == ">" and text[begin - 1 : begin] == "<":
        return here
    flag = text[begin : begin + 2] == "--" or "login " in text[max(0, at - 120) : at]
    return here - 1 if flag and here > after and mark else -1


def _literal(text: str, here: int) -> tuple[int, int, bool]:
    """(start, end, quoted) of the value after a separator at `here`."""
    closer = "<" if text[here] == ">" else ""
    here += 1 + run(text, here + 1, "=>:", 2)
    here += run(text, here, BLANKS, 16)
    if text[here : here + 1] in ("b", "f", "r", "u") and text[here + 1 : here + 2] in ('"', "'"):
        here += 1
    escapes = run(text, here, "\\", 4)
    quote = text[here + escapes : here + escapes + 1]
    if quote and quote in QUOTES:
        begin = here + escapes + 1
        return begin, _closing(text, begin, quote, escapes), True
    return here, _bare_end(text, here, closer), bool(closer)


def _closing(text: str, begin: int, quote: str, escapes: int) -> int:
    """Where the quoted text ends: at the quote escaped as often as the opening one, the line's end or the limit."""
    here, stop = begin, min(len(text), begin + rules.SPAN)
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
    piece = text[here : here + rules.SPAN]
    for mark in closer or "\n\r\t \"'`,;&<>\\|":
        cut = piece.find(mark)
        piece = piece if cut < 0 else piece[:cut]
    return here + len(piece.rstrip(".)}]:" if piece[:1] not in ("$", "{", "[", "(") else ""))


def _is_annotation(text: str, end: int) -> bool:
    """`name: str = value`: what stood after the colon was a type."""
    return text[end : end + 3] == " = "


# Headers and logins


def find_headers(text: str, low: str) -> Iterator[Span]:
    """Authorization values, bearer and basic credentials, cookies, `curl -u` logins."""
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
        size = run(text, begin, rules.WIDE)
        value = text[begin : begin + size]
        if size >= least and not is_stand_in(value) and (_is_login(value) if least == 8 else has_digit(value)):
            yield begin, begin + size, "header"


def _is_login(value: str) -> bool:
    """Whether it is base64 of `name:something`."""
    return b":" in decoded(value) and decoded(value).isascii()


def _authorizations(text: str, low: str) -> Iterator[Span]:
    for at in places(low, "authorization"):
        after = at + len("authorization")
        here = after + run(text, after, QUOTES + "\\]", 4)
        here += run(text, here, BLANKS, 16)
        if text[here : here + 1] not in (":", "="):
            continue
        begin, _, _ = _literal(text, here)
        word = run(text, begin, rules.WORD, 40)
        if low[begin : begin + word] in SCHEMES:
            begin += word + run(text, begin + word, BLANKS, 8)
        size = run(text, begin, rules.WIDE)
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
    end = text.find(mark, begin, begin + rules.SPAN)
    return end if end >= 0 else min(len(text), begin + rules.SPAN)


def _curl_logins(text: str) -> Iterator[Span]:
    for flag in (" -u ", " --user "):
        for at in places(text, flag):
            begin = at + len(flag) + run(text, at + len(flag), BLANKS + QUOTES, 4)
            end = _bare_end(text, begin, "")
            colon = text.find(":", begin, end)
            if colon >= 0 and end - colon > 4 and not is_stand_in(text[colon + 1 : end]):
                yield colon + 1, end, "url"


def find_logins(text: str) -> Iterator[Span]:
    """Passwords in URLs: `scheme://user:password@host`."""
    for at in places(text, "://"):
        begin = at + 3
        area = text[begin : begin + 512]
        for mark in "\n\r\t \"'`<>/?#":
            cut = area.find(mark)
            area = area if cut < 0 else area[:cut]
        login, found, _ = area.rpartition("@")
        user, colon, word = login.partition(":")
        if found and colon and len(word) >= 3 and not is_stand_in(word) and word[0] != "[":
            start = begin + len(user) + 1
            yield start, start + len(word), "url"
