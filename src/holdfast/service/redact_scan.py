"""Where the secrets are: one scanner for each way a secret shows itself, all linear and without regular expressions.

`re` costs a cold hook a fifth of its time and can backtrack; `str.find` and `str.lstrip` do neither. Every scanner
yields (start, end, rule) and looks at a bounded number of characters for each place it stops at.
"""

from __future__ import annotations

from holdfast.service import redact_rules as rules
from holdfast.service.redact_values import has_digit, is_random, is_secret, is_stand_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Span = tuple[int, int, str]

BEGIN, END = "-----BEGIN ", "-----END "
JUDGED = 256
"""Characters of a value that are looked at to tell whether it is secret."""

QUOTES = "\"'`"
BLANKS = " \t"
SCHEMES = ("bearer", "basic", "token", "digest", "negotiate", "apikey", "hmac", "aws4-hmac-sha256", "key")
_IDENTIFIER = rules.WORD + "."
_KEEPS = frozenset((rules.ALNUM + "_+/.-").encode())
_WORDS_ONLY = bytes(code if code in _KEEPS else 32 for code in range(256))
_BARE_KEEPS = frozenset((rules.ALNUM + "_+/-").encode())
_BARE_ONLY = bytes(code if code in _BARE_KEEPS else 32 for code in range(256))


def fold(text: str) -> str:
    """The text in lower case, every character at its old index."""
    return text.replace("İ", "I").lower()  # the one character whose lower case is two


def places(text: str, needle: str) -> Iterator[int]:
    """Where the needle begins, without overlaps."""
    at = text.find(needle)
    while at >= 0:
        yield at
        at = text.find(needle, at + len(needle))


def run(text: str, at: int, alphabet: str, most: int = rules.SPAN) -> int:
    """How many characters from `at` on are of the alphabet, at most `most`."""
    piece = text[at : at + most]
    return len(piece) - len(piece.lstrip(alphabet))


def starts_word(text: str, at: int) -> bool:
    r"""Whether no letter or digit is glued before; `\n`, `%3D` and `\u003d` are glue of an encoding, not letters."""
    if at == 0 or text[at - 1] not in rules.WORD:
        return True
    if text[at - 2 : at] in ("\\n", "\\t", "\\r") or text[at - 6 : at - 4] == "\\u":
        return True
    return at >= 3 and text[at - 3] == "%" and run(text, at - 2, rules.HEX, 2) == 2


# Keys with a prefix of their own


def find_keys(text: str) -> Iterator[Span]:
    """Keys whose issuer gave them a prefix."""
    words = text.encode("latin-1", "replace").translate(_WORDS_ONLY).split()
    long = b" ".join([word for word in words if len(word) >= rules.KEY_LENGTH]).decode("latin-1")
    if not long:
        return
    for rule, prefix, alphabet, least, flags in rules.KEYS:
        if prefix in long:
            yield from _find_key(text, rule, prefix, (alphabet, least, flags))


def _find_key(text: str, rule: str, prefix: str, shape: tuple[str, int, str]) -> Iterator[Span]:
    alphabet, least, flags = shape
    at = text.find(prefix)
    while at >= 0:
        begin = at + len(prefix)
        size = run(text, begin, alphabet)
        if size >= least and _fits(text, at, begin, size, (least, flags)):
            yield at, begin + size, rule
        # what was too short or too plain stays so from any later prefix in the same run
        at = text.find(prefix, begin + size if "b" not in flags else begin)


def _fits(text: str, at: int, begin: int, size: int, shape: tuple[int, str]) -> bool:
    least, flags = shape
    if "b" in flags and not starts_word(text, at):
        return False
    if "e" in flags and size != least:
        return False
    return "d" not in flags or has_digit(text[begin : begin + size])


def find_jwts(text: str) -> Iterator[Span]:
    """JSON web tokens, cut or whole: `eyJ`, a header, a dot, more of it."""
    at = text.find("eyJ")
    while at >= 0:
        size = run(text, at, rules.DOTTED)
        if size >= 24 and "." in text[at : at + size].rstrip("."):
            yield at, at + size, "jwt"
        at = text.find("eyJ", at + size)


# Blocks


def find_private(text: str, low: str) -> Iterator[Span]:
    """`<private>` spans with what is nested in them; one that is never closed reaches to the end."""
    at = low.find("<private>")
    while at >= 0:
        end = _private_end(low, at)
        yield at, end, ""
        at = low.find("<private>", end)


def _private_end(low: str, at: int) -> int:
    depth, here = 1, at + 9
    while depth:
        close = low.find("</private>", here)
        if close < 0:
            return len(low)
        inner = low.count("<private>", here, close)
        depth, here = depth + inner - 1, close + 10
    return here


def find_pem(text: str) -> Iterator[Span]:
    r"""Private key blocks: to their end mark, or, cut off, as far as the lines (or `\n` pieces) look like a body."""
    at = text.find(BEGIN)
    while at >= 0:
        head = text.find("-----", at + len(BEGIN), at + 80)
        if head < 0 or "PRIVATE KEY" not in text[at:head]:
            at = text.find(BEGIN, at + len(BEGIN))
            continue
        end = _pem_end(text, head + 5)
        if end > head + 5:
            yield at, end, "pem"
        at = text.find(BEGIN, end)


def _pem_end(text: str, body: int) -> int:
    close = text.find(END, body, body + 4 * rules.SPAN)
    other = text.find(BEGIN, body, close) if close >= 0 else -1
    if close >= 0 and other < 0 and close - body > 24:
        mark = text.find("-----", close + len(END), close + 80)
        return mark + 5 if mark >= 0 else close + len(END)
    return _pem_body(text, body)


def _pem_body(text: str, start: int) -> int:
    """Where a block without an end mark ends: after its last line of base64, `start` when there is none."""
    here = end = start
    for _ in range(400):
        line = _line_end(text, here)
        piece = text[here:line].strip(" \t\r\"'0123456789→|>:,\\")
        is_body = bool(piece) and run(piece, 0, rules.BASE64) == len(piece)
        if is_body and (len(piece) >= 16 or end == here - 1 or end == here - 2):
            end = line
        elif piece and ": " not in piece[:24]:  # neither a blank line nor a header such as `Proc-Type: 4,ENCRYPTED`
            return end
        if line >= len(text) or (is_body and len(piece) < 16):
            return end
        here = line + (2 if text.startswith("\\n", line) else 1)
    return end


def _line_end(text: str, here: int) -> int:
    ends = (text.find(mark, here, here + rules.SPAN) for mark in ("\n", "\\n"))
    return min((end for end in ends if end >= 0), default=min(len(text), here + rules.SPAN))


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


def decoded(value: str) -> bytes:
    """What the base64 text stands for; empty when it is not base64."""
    from binascii import Error, a2b_base64

    plain = value.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return a2b_base64(plain + "=" * (-len(plain) % 4))
    except (Error, ValueError):
        return b""


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


# Random words


def find_random(text: str) -> Iterator[Span]:
    """Bare words of 32 to 512 characters that look drawn at random and are not known to be public."""
    marked = text.encode("latin-1", "replace").translate(_BARE_ONLY)
    here = 0
    for word in marked.split():
        if len(word) < 32:
            continue
        at = marked.find(word, here)
        here = at + len(word)
        if len(word) <= 512 and is_random(word.decode("latin-1")) and not _is_public(text, at, here):
            yield at, here, "random"


def _is_public(text: str, at: int, end: int) -> bool:
    if text.startswith(rules.PUBLIC, at) or text[max(0, at - 10) : at].endswith(rules.PUBLIC_BEFORE):
        return True
    lead = text[max(0, at - 96) : at]
    if any(mark in lead for mark in rules.HASH_MARKS):
        return True
    return _is_wrapped(text, at, end) or _is_encoded_text(text[at:end])


def _is_wrapped(text: str, at: int, end: int) -> bool:
    """A line of a wrapped blob: another line of the same length, without a space, stands before or after it."""
    size = end - at
    if size < 60:
        return False
    after, before = text[end + 1 : end + 1 + size], text[max(0, at - 1 - size) : max(0, at - 1)]
    return any(len(line) == size and not line.lstrip(rules.BASE64) for line in (after, before))


def _is_encoded_text(word: str) -> bool:
    """Base64 of plain text that is itself no secret."""
    plain = decoded(word)
    return bool(plain) and plain.isascii() and all(code >= 32 or code in (9, 10, 13) for code in plain)
