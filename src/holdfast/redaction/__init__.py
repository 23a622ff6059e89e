"""Removes secrets from text before it is stored, embedded, sent or exported.

It may touch: nothing. It does no I/O and keeps no state.
Begin with `__init__`: `_find_plain` calls the searches in order. `tables` holds all that they look for.

Keys of known issuers, private key blocks, logins in URLs, credentials in headers, values of names that announce a
secret, passwords in commands, and long random words become `[redacted:<rule>]`; `<private>` spans become `[private]`.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from holdfast.redaction import forms, keys, names
from holdfast.redaction.tables import BEGIN, PRIVATE
from holdfast.redaction.values import Span

MARGIN = 2_048
"""Characters next to a cut that are never kept: longer than any secret that is recognised only when whole."""

BLOCK_MARGIN = 16_384
"""Characters next to a cut in which a private key block is looked for: longer than any."""

ROUNDS = 8
"""Most times that a text is searched: what a replacement uncovers is found by the next round.

No text is known that needs more than three."""

NEAR = 160
"""Characters around the joint of two literals that are looked at once more without it."""

_PARTS = re.compile("[a-z0-9]+")
_UNSEEN = re.compile("\x1b(?:\\[[^@-~]{0,30}.?)?|[\u200b\u200c\u200d\u2060\u2063\ufeff\u00ad\u200e\u200f]", re.DOTALL)
"""Terminal escapes and characters without width."""
_JOINT = re.compile(
    r"""(?<=[\w-])(?:\\\n[ \t+.]{0,80}
    |(?P<quote>["'])(?:[ ]?\+[ ]?|[ ]\.[ ]|[ ]|[ ][+\\]\n[ \t+.]{0,80})(?P=quote))(?=[\w-])""",
    re.ASCII | re.VERBOSE,
)
"""Where a word is split into two literals or lines: `"AK" + "IA"`, `"AK" "IA"`, a final backslash."""


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
        text = _replace(text, _merge([*keys.find_private(low)]))
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
    if unseen := [match.span() for match in _UNSEEN.finditer(text)]:
        spans += _find_through(text, unseen)
    for begin, end in _areas(text, _joints(text)):
        area = text[begin:end]
        spans += [(begin + start, begin + stop, rule) for start, stop, rule in _find_through(area, _joints(area))]
    return _merge([span for span in spans if not text.startswith(("[redacted:", "[private]"), span[0])])


def _find_plain(text: str) -> list[Span]:
    """Return what each search finds; a search runs only where its cheap condition shows that it may find something."""
    low = fold(text)
    parts = frozenset(_PARTS.findall(low))
    long = keys.long_words(text)
    spans = [*keys.find_private(low)] if PRIVATE in low else []
    spans += names.find_values(text, low, parts)
    spans += names.find_headers(text, low)
    spans += keys.find_keys(text, long)
    if long:
        spans += keys.find_words(text, low, long, redact)
        spans += keys.find_pem_parts(text, long)
    if BEGIN in text:
        spans += keys.find_pem(text)
    if "eyJ" in text:
        spans += keys.find_jwts(text)
    if "://" in text and "@" in text:
        spans += names.find_logins(text)
    if forms.may_hold_a_form(low, parts):
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
        return at + shifts[bisect_right(starts, at) - 1]

    whole = "".join(plain)
    spans = [(place(start), place(end - 1) + 1, rule) for start, end, rule in _find_plain(whole) if end > start]
    across = [start for start, _ in gaps]
    return [span for span in spans if _holds_any(across, span)]


def _holds_any(places: list[int], span: Span) -> bool:
    at = bisect_left(places, span[0])
    return at < len(places) and places[at] < span[1]


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
    return [match.span() for match in _JOINT.finditer(text)]


def _without_blocks(text: str) -> str:
    return _replace(text, _merge([*keys.find_pem(text)])) if BEGIN in text else text


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
