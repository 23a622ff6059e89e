"""Removes secrets from text before it is stored, embedded, sent or exported.

It may touch: nothing. It does no I/O and keeps no state.
Begin with `hints`: it says which searches a text needs. `names`, `keys` and `forms` are these searches.

Keys of known issuers, private key blocks, logins in URLs, credentials in headers, values of names that announce a
secret, passwords in commands, and long random words become `[redacted:<rule>]`; `<private>` spans become `[private]`.
"""

from __future__ import annotations

from holdfast.redaction import hints
from holdfast.redaction.alphabets import WORD
from holdfast.redaction.hints import BEGIN, PRIVATE

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.redaction.values import Span

MARGIN = 2_048
"""Characters next to a cut that are never kept: longer than any secret that is recognised only when whole."""

BLOCK_MARGIN = 16_384
"""Characters next to a cut in which a private key block is looked for: longer than any."""

ROUNDS = 8
"""Most times that a text is searched: what a replacement uncovers is found by the next round.

No text is known that needs more than three."""

_JOINED = frozenset(WORD)
_ALNUM = frozenset(b"abcdefghijklmnopqrstuvwxyz0123456789")
_PARTS = bytes(code if code in _ALNUM else 32 for code in range(256))
"""Blanks for all bytes but small letters and digits, which leaves the words of a text."""
_HIDDEN = "\u200b\u200c\u200d\u2060\u2063\ufeff\u00ad\u200e\u200f"
_GLUES = (
    ("+", ('" + "', "' + '", '"+"', "'+'", '" +\n', "' +\n")),
    (" . ", ('" . "', "' . '")),
    ('" "', ('" "',)),
    ("' '", ("' '",)),
    ("\\\n", ("\\\n", '" \\\n', "' \\\n")),
)
"""What separates two halves of a literal. After a line's end come blanks and, except after a backslash, a quote."""

NEAR = 160
"""Characters around such a joint that are looked at once more without it."""


def redact(text: str) -> str:
    """Return the text with `[redacted:<rule>]` and `[private]` in place of secrets and private spans.

    Idempotent, and linear in the length of the text.
    """
    for _ in range(ROUNDS):
        spans = _find(text)
        if not spans:
            break
        text = _replace(text, spans)
    return text


def redact_to(text: str, limit: int) -> str:
    """Return the text redacted and cut to about `limit` characters: its first three quarters and its end.

    Only the parts that stay are searched, with a margin, so that no part of a secret at the cut remains. Private spans
    are found in the whole text, key blocks in a wider margin.
    """
    if len(text) <= limit:
        return redact(text)
    low = fold(text)
    if PRIVATE in low:
        text = _replace(text, _merge(_private_spans(text, low)))
    head, tail = limit * 3 // 4, limit // 4
    if len(text) > limit + 2 * (MARGIN + BLOCK_MARGIN):
        first, last = text[: head + MARGIN + BLOCK_MARGIN], text[-tail - MARGIN - BLOCK_MARGIN :]
        left_out = len(text) - len(first) - len(last)
        first, last = _without_blocks(first), _without_blocks(last)
        first = redact(first[: head + MARGIN])[:-MARGIN][:head]
        last = redact(last[-tail - MARGIN :])[MARGIN:][-tail:]
        return first + _gap(left_out + 2 * (MARGIN + BLOCK_MARGIN)) + last
    text = _without_blocks(text)
    if len(text) <= limit + 2 * MARGIN:
        return _cut(redact(text), limit)
    first = redact(text[: head + MARGIN])[:-MARGIN][:head]
    last = redact(text[-tail - MARGIN :])[MARGIN:][-tail:]
    return first + _gap(len(text) - len(first) - len(last)) + last


def fold(text: str) -> str:
    """Return the text in lower case, every character at its old index."""
    return text.replace("İ", "I").lower()  # the one character whose lower case is two


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head, tail = limit * 3 // 4, limit // 4
    return text[:head] + _gap(len(text) - head - tail) + text[-tail:]


def _gap(left_out: int) -> str:
    return f"\n[… {left_out} characters left out …]\n"


def _find(text: str) -> list[Span]:
    spans = _find_plain(text)
    if "\x1b" in text or (not text.isascii() and any(mark in text for mark in _HIDDEN)):
        spans += _find_through(text, _hidden_spans(text))
    for begin, end in _areas(text, _joints(text)):
        area = text[begin:end]
        spans += [(begin + start, begin + stop, rule) for start, stop, rule in _find_through(area, _joints(area))]
    return _merge([span for span in spans if not text.startswith(("[redacted:", "[private]"), span[0])])


def _find_plain(text: str) -> list[Span]:
    low = fold(text)
    parts = frozenset(low.encode("ascii", "replace").translate(_PARTS).split())
    long = hints.long_words(text)
    spans: list[Span] = []
    if PRIVATE in low:
        spans += _private_spans(text, low)
    if hints.may_name_a_value(text, low, parts) or hints.may_hold_a_header(low):
        from holdfast.redaction import names

        spans += names.find_values(text, low, parts)
        spans += names.find_headers(text, low)
    if hints.may_hold_a_key(text, long) or BEGIN in text or "eyJ" in text:
        from holdfast.redaction import keys

        spans += keys.find_keys(text, long)
        if long:
            spans += keys.find_words(text, low, long, redact)
            spans += keys.find_pem_parts(text, long)
        spans += keys.find_pem(text)
        spans += keys.find_jwts(text)
    if "://" in text and "@" in text:
        from holdfast.redaction import names

        spans += names.find_logins(text)
    if hints.may_hold_a_form(low, parts):
        from holdfast.redaction import forms

        spans += forms.find_forms(text, low, parts)
    return spans


def _find_through(text: str, gaps: list[tuple[int, int]]) -> list[Span]:
    """Return secrets that are found once the gaps are removed: invisible characters, signs that join two literals."""
    plain, starts, shifts = [], [], []
    here = size = 0
    for start, end in gaps:
        plain.append(text[here:start])
        starts.append(size)
        shifts.append(here - size)
        size += start - here
        here = end
    plain.append(text[here:])
    starts.append(size)
    shifts.append(here - size)

    def place(at: int) -> int:
        from bisect import bisect_right

        return at + shifts[bisect_right(starts, at) - 1]

    whole = "".join(plain)
    spans = [(place(start), place(end - 1) + 1, rule) for start, end, rule in _find_plain(whole) if end > start]
    across = [start for start, _ in gaps]
    return [span for span in spans if _holds_any(across, span)]


def _holds_any(places: list[int], span: Span) -> bool:
    from bisect import bisect_left

    at = bisect_left(places, span[0])
    return at < len(places) and places[at] < span[1]


def _hidden_spans(text: str) -> list[tuple[int, int]]:
    """Return the spans of terminal escapes and characters without width."""
    gaps = []
    at = text.find("\x1b")
    while at >= 0:
        end = at + 1
        if text[end : end + 1] == "[":
            end += 1
            while end < len(text) and end - at < 32 and not "@" <= text[end] <= "~":
                end += 1
            end += 1
        gaps.append((at, min(end, len(text))))
        at = text.find("\x1b", end)
    for mark in _HIDDEN:
        at = text.find(mark)
        while at >= 0:
            gaps.append((at, at + 1))
            at = text.find(mark, at + 1)
    gaps.sort()
    return [gap for number, gap in enumerate(gaps) if not number or gap[0] >= gaps[number - 1][1]]


def _areas(text: str, joints: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the areas around the joints, without overlaps: from the line's beginning to NEAR characters after."""
    areas: list[tuple[int, int]] = []
    for start, end in joints:
        if areas and start < areas[-1][1]:
            areas[-1] = (areas[-1][0], end + NEAR)
        else:
            begin = max(text.rfind("\n", max(0, start - NEAR), start) + 1, start - NEAR, areas[-1][1] if areas else 0)
            areas.append((begin, end + NEAR))
    return areas


def _joints(text: str) -> list[tuple[int, int]]:
    """Return where a word is split into two literals or lines: `"AK" + "IA"`, `"AK" "IA"`, a final backslash."""
    glues = [glue for hint, glues in _GLUES if hint in text for glue in glues]
    if not glues:
        return []
    from holdfast.redaction.values import run

    joints: list[tuple[int, int]] = []
    for glue in glues:
        at = text.find(glue)
        while at >= 0:
            end = at + len(glue)
            if text[at - 1 : at] in _JOINED:
                if glue[-1] == "\n":
                    end += run(text, end, " \t+.", 80)
                    end += glue[0] != "\\" and text[end : end + 1] == glue[0]
                closed = glue[-1] != "\n" or glue[0] == "\\" or text[end - 1] == glue[0]
                if closed and text[end : end + 1] in _JOINED:
                    joints.append((at, end))
            at = text.find(glue, at + len(glue))
    joints.sort()
    return [joint for number, joint in enumerate(joints) if not number or joint[0] >= joints[number - 1][1]]


def _private_spans(text: str, low: str) -> list[Span]:
    from holdfast.redaction import keys

    return list(keys.find_private(text, low))


def _without_blocks(text: str) -> str:
    if BEGIN not in text:
        return text
    from holdfast.redaction import keys

    return _replace(text, _merge([*keys.find_pem(text)]))


def _merge(spans: list[Span]) -> list[Span]:
    """Return the spans in order; overlapping ones are joined under the rule of the first (of these, the longest)."""
    merged: list[Span] = []
    for start, end, rule in sorted(spans, key=lambda span: (span[0], -span[1])):
        if merged and start < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]), merged[-1][2])
        else:
            merged.append((start, end, rule))
    return merged


def _replace(text: str, spans: list[Span]) -> str:
    pieces: list[str] = []
    here = 0
    for start, end, rule in spans:
        pieces += (text[here:start], f"[redacted:{rule}]" if rule else "[private]")
        here = end
    return "".join((*pieces, text[here:]))
