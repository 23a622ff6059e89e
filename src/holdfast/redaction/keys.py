"""Finds secrets by their own form: keys with an issuer's prefix, tokens, key blocks, random or encoded words.

Each scanner yields (start, end, rule), and looks at a bounded number of characters at each position.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cache

from holdfast.redaction.tables import (
    ALNUM,
    ANNOUNCING,
    BASE64,
    BEGIN,
    CRYPTS,
    DIGITS,
    DOTTED,
    END,
    HARMLESS,
    HARMLESS_PARTS,
    HASH_MARKS,
    HEX,
    KEY_LENGTH,
    KEYS,
    PEM_BODIES,
    PLAIN_KEYS,
    PRIVATE,
    PUBLIC,
    PUBLIC_BEFORE,
    RSA_MARKS,
    VENDORS,
    WIDE,
    WORD,
)
from holdfast.redaction.values import SPAN, Span, decoded, has_digit, is_opaque, is_random, places, run, starts_word

Shape = tuple[str, int, str]
"""(alphabet, least characters, flags) of what follows a key's prefix."""

_BY_STEM: dict[str, list[tuple[str, str, Shape]]] = {}
"""The keys by the two characters they begin with: most texts have few of these."""
for _rule, _prefixes, _alphabet, _least, _flags in KEYS:
    for _prefix in _prefixes.split():
        _BY_STEM.setdefault(_prefix[:2], []).append((_rule, _prefix, (_alphabet, _least, _flags)))

_LONG = re.compile(rf"[\w+/.~-]{{{KEY_LENGTH},}}", re.ASCII)
_PEM_HEAD = re.compile(r"-----BEGIN (?P<label>(?:(?!-----).){0,64})-----", re.DOTALL)
_LINE_END = re.compile(r"\n|\\n")
_WRAPPED_KEY = re.compile(
    "|".join(
        r"(?<![\w+/.~-])(?=\S{0,69}[0-9])(?=\S{0,69}[A-Z]|[^a-z\s]{SIZE}\s)[\w+/.~-]{SIZE}"
        r"(?:[\r\n \t]{1,24}[A-Za-z0-9+/=]{SIZE}(?![A-Za-z0-9+/=])){2,}".replace("SIZE", size)
        for size in ("64", "70")
    ),
    re.ASCII,
)
"""Three base64 lines or more in a row, all 64 or all 70 wide, as key blocks are wrapped."""
_VENDOR = re.compile(f"(?=({'|'.join(map(re.escape, VENDORS))}))")
_NO_KEY_LEAD = ("CERTIFICATE", "PUBLIC", "MESSAGE", "SIGNATURE", "base64")
_TURNS = "=:>,|?(\"'` \t\\"
"""Signs and blanks between a name and its value."""
_NAME = ALNUM + "_-. \t'\"`[]"


@cache
def _run_of(alphabet: str) -> re.Pattern[str]:
    return re.compile(f"[{re.escape(alphabet)}]*")


def long_words(text: str) -> list[str]:
    """Return the words of `KEY_LENGTH` characters or more that may be keys; most are identifiers and are left out."""
    return [word for word in _LONG.findall(text) if _may_be_key(word)]


def _may_be_key(word: str) -> bool:
    if has_digit(word):
        return True
    if word.islower():
        return False
    return "_" not in word if word.isupper() else "-" in word or "_" in word


# Keys with a prefix of their own


def find_keys(text: str, words: Sequence[str]) -> Iterator[Span]:
    """Find keys with their issuer's prefix."""
    long = " ".join(words)
    for kinds in (kinds for stem, kinds in _BY_STEM.items() if stem in long):
        for rule, prefix, shape in kinds:
            if prefix in long:
                yield from _find_key(text, rule, prefix, shape)
    for rule, prefixes, alphabet, least, flags in PLAIN_KEYS:
        for prefix in prefixes.split():
            yield from _find_key(text, rule, prefix, (alphabet, least, flags))
    if "$" in text or "{SSHA" in text:
        for prefix in CRYPTS:
            yield from _find_key(text, "value", prefix, (ALNUM + "./$+,=", 24, ""))


def _find_key(text: str, rule: str, prefix: str, shape: Shape) -> Iterator[Span]:
    alphabet, least, flags = shape
    at = text.find(prefix)
    while at >= 0:
        end = begin = at + len(prefix)
        if "b" not in flags or starts_word(text, at):
            end = _run_end(text, begin, alphabet)
            core = text[begin:end]
            left = run(text[max(0, at - 128) : at][::-1], 0, DOTTED) if "l" in flags else 0
            wrapped = _wrapped(text, end, alphabet, least - len(core))
            if len(core) + wrapped >= least and _fits(core, least, flags, left):
                yield at - left, end + wrapped, rule
        # a run that is too short or too plain stays so from any later prefix in it
        at = text.find(prefix, end)


def _run_end(text: str, begin: int, alphabet: str) -> int:
    match = _run_of(alphabet).match(text, begin)
    return match.end() if match else begin


def _fits(core: str, least: int, flags: str, left: int) -> bool:
    if ("l" in flags and left < 3 + 33 * (not core)) or ("e" in flags and len(core) != least):
        return False
    return ("d" not in flags or has_digit(core)) and ("r" not in flags or is_opaque(core))


def _wrapped(text: str, end: int, alphabet: str, wanting: int) -> int:
    """Return how far a key continues on the next line, where a narrow terminal broke it; 0 if it does not."""
    if wanting <= 0 or text[end : end + 1] not in ("\n", "\r"):
        return 0
    gap = run(text, end, "\r\n \t", 40)
    size = run(text, end + gap, alphabet)
    return gap + size if size >= wanting and has_digit(text[end + gap : end + gap + size]) else 0


def find_jwts(text: str) -> Iterator[Span]:
    """Find JSON web tokens, whole or cut: `eyJ`, a header, a dot, more of it."""
    for match in re.finditer(rf"eyJ[\w.-]{{0,{SPAN - 3}}}", text, re.ASCII):
        if len(match[0]) >= 24 and "." in match[0].rstrip("."):
            yield *match.span(), "jwt"


# Blocks


def find_private(low: str) -> Iterator[Span]:
    """Find `<private>` spans with everything nested in them. An unclosed span reaches to the end of the text."""
    depth = begin = 0
    for tag in re.finditer("</?private>", low):
        if tag[0] == PRIVATE:
            begin = begin if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield begin, tag.end(), ""
    if depth:
        yield begin, len(low), ""


def find_pem(text: str) -> Iterator[Span]:
    r"""Find private key blocks to their end mark or, if cut off, as far as lines (or `\n` pieces) look like a body."""
    done = 0
    for head in _PEM_HEAD.finditer(text):
        if head.start() >= done and "PRIVATE KEY" in head["label"]:
            end = _pem_end(text, head.end())
            if end > head.end():
                done = end
                yield head.start(), end, "pem"


def _pem_end(text: str, body: int) -> int:
    close = text.find(END, body, body + 4 * SPAN + len(END))
    if close > body + 24 and text.find(BEGIN, body, close) < 0:
        mark = text.find("-----", close + len(END), close + 80)
        return mark + 5 if mark >= 0 else close + len(END)
    return _pem_body(text, body)


def _pem_body(text: str, start: int) -> int:
    """Return where a block without an end mark ends: after its last line of base64; `start` if there is none."""
    here = end = start
    for _ in range(400):
        line = _line_end(text, here)
        piece = text[here:line].strip(" \t\r\"'0123456789→|>:,\\")
        is_body = bool(piece) and run(piece, 0, BASE64) == len(piece)
        if is_body and (len(piece) >= 16 or end == here - 1 or end == here - 2):
            end = line
        elif piece and ": " not in piece[:24]:  # neither a blank line nor a header such as `Proc-Type: 4,ENCRYPTED`
            return end
        if line >= len(text) or (is_body and len(piece) < 16):
            return end
        here = line + (2 if text.startswith("\\n", line) else 1)
    return end


def _line_end(text: str, here: int) -> int:
    match = _LINE_END.search(text, here, here + SPAN)
    return match.start() if match else min(len(text), here + SPAN)


def find_pem_parts(text: str, words: Sequence[str]) -> Iterator[Span]:
    """Find private key blocks without a head: known first lines, text before an end mark, a middle."""
    for word in words:
        if word.startswith(PEM_BODIES) or _opens_rsa(word):
            at = text.find(word)
            yield at, max(at + len(word), _pem_body(text, at)), "pem"
    for at in places(text, END):
        mark = text.find("-----", at + len(END), at + 80)
        if mark >= 0 and "PRIVATE KEY" in text[at:mark] and (begin := _body_begin(text, at)) < at:
            yield begin, mark + 5, "pem"
    if sum(len(word) in (64, 70) for word in words) >= 3:
        for match in _WRAPPED_KEY.finditer(text):
            lead = text[max(0, match.start() - 200) : match.start()]
            if not any(mark in lead for mark in _NO_KEY_LEAD):
                yield *match.span(), "pem"


def _opens_rsa(word: str) -> bool:
    return word.startswith("MI") and word[4:30].find("IBA") >= 0 and any(mark in word[4:36] for mark in RSA_MARKS)


def _body_begin(text: str, at: int) -> int:
    """Return where the base64 lines that end at `at` begin, at most 400 of them; `at` if there are none."""
    end = at
    for _ in range(400):
        stop = end - 1 if text[end - 1 : end] == "\n" else end - 2 if text[end - 2 : end] == "\\n" else -1
        if stop <= 0:
            return end
        start = max(text.rfind("\n", max(0, stop - 200), stop) + 1, text.rfind("\\n", max(0, stop - 200), stop) + 2, 0)
        start = start if start > 1 else 0
        line = text[start:stop].strip(" \t\r\"'+→|>")
        if not line or len(line) > 80 or run(line, 0, BASE64) != len(line):
            return end
        end = start
    return end


# Words


def find_words(text: str, low: str, words: Sequence[str], again: Callable[[str], str]) -> Iterator[Span]:
    """Find long words that are secrets by their form, by the name before them, or by what they decode to."""
    here = 0
    for word in words:
        if not has_digit(word):
            continue
        at = text.find(word, here)
        if at < 0:
            continue  # the word holds a character that latin-1 lacks
        here = at + len(word)
        yield from _judge_word(text, low, at, word, again)


def _judge_word(text: str, low: str, at: int, word: str, again: Callable[[str], str]) -> Iterator[Span]:
    dotted = "." in word
    if dotted and len(word) >= 50 and _is_chain(word):
        yield at, at + len(word), "random"
        return
    if text[at - 1 : at] in ("|", "%") and 27 <= len(word) <= 42:
        digits = run(text[max(0, at - 18) : at - 1][::-1], 0, DIGITS)
        if digits in (15, 16):  # a Facebook app and its secret
            yield at - 1 - digits, at + len(word), "facebook"
            return
    if len(word) >= 20 and _hides(text, at, word, again):
        yield at, at + len(word) + run(text, at + len(word), "=", 2), "value"
        return
    begin = at
    for part in re.split("[.~]+", word) if dotted else (word,):
        begin = text.find(part, begin)
        end = begin + len(part)
        if 32 <= len(part) <= 512 and is_random(part) and not _is_public(text, begin, end):
            yield begin, end, "random"
        begin = end
    back = _announced(text, low, at, word) if text[at - 1 : at] in tuple(_TURNS) else -1
    if back >= 0:
        end = at + len(word)
        yield at - back, end + run(text, end, WIDE, 200), "value"


def _is_chain(word: str) -> bool:
    """Return whether the word is parts joined by dots, at least two of them random, as tokens of many issuers are."""
    random = [part for part in word.split(".") if len(part) >= 14 and "/" not in part[:1] and is_opaque(part)]
    return len(random) >= 2 and sum(map(len, random)) * 4 >= len(word) * 3


def _hides(text: str, at: int, word: str, again: Callable[[str], str]) -> bool:
    """Return whether the word is base64 or hexadecimal of a text that holds a secret."""
    if not word.lower().strip(HEX):
        if len(word) % 2 or len(word) < 32:
            return False
        plain = bytes.fromhex(word)
    else:
        if "." in word or "~" in word:
            return False
        plain = decoded(word)
    if len(plain) < 12 or not plain.isascii() or any(code < 32 and code not in (9, 10, 13) for code in plain):
        return False
    shown = plain.decode("ascii")
    lead = text[max(0, at - 24) : at].lower()
    if "auth" in lead and ":" in shown[1:-1] and " " not in shown:
        return True
    return again(shown) != shown


def _is_public(text: str, at: int, end: int) -> bool:
    if text.startswith(PUBLIC, at) or text[max(0, at - 10) : at].endswith(PUBLIC_BEFORE):
        return True
    lead = text[max(0, at - 96) : at]
    if any(mark in lead for mark in HASH_MARKS):
        return True
    return _is_wrapped(text, at, end) or _is_encoded_text(text[at:end])


def _is_wrapped(text: str, at: int, end: int) -> bool:
    """Return whether it is a line of a wrapped blob: a neighbouring line is as long and has no space either."""
    size = end - at
    if size < 60:
        return False
    after, before = text[end + 1 : end + 1 + size], text[max(0, at - 1 - size) : max(0, at - 1)]
    return any(len(line) == size and not line.lstrip(BASE64) for line in (after, before))


def _is_encoded_text(word: str) -> bool:
    """Return whether it is base64 of plain text. The caller has already searched that text for secrets."""
    plain = decoded(word)
    return bool(plain) and plain.isascii() and all(code >= 32 or code in (9, 10, 13) for code in plain)


# Words announced by a vendor's name or a word such as `key`


def _announced(text: str, low: str, at: int, word: str) -> int:
    """Return how many characters before the word its opaque value begins, if a name on the line announces it; else -1.

    A vendor's name announces any opaque value; `…key`, `…token` and similar names only a long one that is no hash.
    """
    lead = low[max(0, at - 120) : at]
    lead = lead[lead.rfind("\n") + 1 :]
    if text[at + len(word) : at + len(word) + 1] == "(" or lead.endswith(PUBLIC_BEFORE):
        return -1
    back = 0
    for _ in range(3):
        stem = lead.rstrip(_TURNS)
        joint = lead[len(stem) :]
        if not any(mark in joint for mark in "=:>,|(") or len(joint) > 16:
            return -1
        name = stem[-80:][len(stem[-80:].rstrip(_NAME)) :]
        if _names_vendor(text[at - back - len(joint) - len(name) : at], name):
            opaque = text[at - back : at] + word
            short = len(opaque) < 20 and not opaque.lower().strip(HEX)  # as versions and states are written
            if _is_harmless(name) or (short and not any(part in name for part in ANNOUNCING)):
                return -1
            return back if is_opaque(opaque, named=True) else -1
        if any(part in name for part in ANNOUNCING) and ("=" in joint or ":" in joint):
            return (
                back
                if not _is_harmless(name) and not name.rstrip("\"'` ").endswith("id") and _is_long_key(word)
                else -1
            )
        size = len(name) - len(name.rstrip(WORD))
        if not 0 < size < 14 or (joint != "=" and not (joint == ":" and name.isdigit())):
            return -1  # the sign is part of the value itself
        lead, back = stem[:-size], back + size + 1
    return -1


def _names_vendor(written: str, name: str) -> bool:
    """Return whether the name holds a vendor's in one case: `algoliaKey`, `ALGOLIA_KEY`; not `pusher` in `pushErr`."""
    for match in _VENDOR.finditer(name):
        at, vendor = match.start(), match[1]
        if vendor == "lob" and written[at - 1 : at] in ("g", "G", "b", "B"):
            continue  # `global`, `blob`
        exact = written[at : at + len(vendor)]
        if exact.islower() or exact.isupper() or exact[1:].islower():
            return True
    return False


def _is_harmless(name: str) -> bool:
    own = re.split("[ \"']", name.rstrip("\"'` "))[-1]
    parts = re.split("[-_.]+", own)
    return any(part in HARMLESS_PARTS or part.startswith(HARMLESS) or part.endswith(HARMLESS) for part in parts)


def _is_long_key(word: str) -> bool:
    core = word.rstrip("=")
    if not core.lower().strip(HEX + "-"):
        return len(core) >= 32 and "-" not in core and len(core) != 40
    return len(core) >= 16 and "/" not in core and "." not in core and is_opaque(word)
