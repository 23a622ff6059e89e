"""Where the secrets are: one scanner for each way a secret shows itself, all linear and without regular expressions.

`re` costs a cold hook a fifth of its time and can backtrack; `str.find` and `str.lstrip` do neither. Every scanner
yields (start, end, rule) and looks at a bounded number of characters for each place it stops at.
"""

from __future__ import annotations

from holdfast.service import redact_rules as rules
from holdfast.service.redact_values import has_digit, is_random

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Span = tuple[int, int, str]

BEGIN, END = "-----BEGIN ", "-----END "
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


def decoded(value: str) -> bytes:
    """What the base64 text stands for; empty when it is not base64."""
    from binascii import Error, a2b_base64

    plain = value.rstrip("=").replace("-", "+").replace("_", "/")
    try:
        return a2b_base64(plain + "=" * (-len(plain) % 4))
    except (Error, ValueError):
        return b""
