"""Redaction: text without secrets. Runs before anything is stored, embedded, sent or exported.

Keys of known issuers, private key blocks, logins in URLs, credentials in headers, values of names that announce a
secret, and long random words become `[redacted:<rule>]`; `<private>` spans become `[private]`.
"""

from __future__ import annotations

from holdfast.service import redact_named as named
from holdfast.service import redact_scan as scan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.service.redact_scan import Span

MARGIN = 2_048
"""Characters next to a cut that are never kept: longer than any secret that is recognised only when whole."""

LEAST = 8
"""Nothing shorter can hold a secret with what announces it."""


def redact(text: str) -> str:
    """The text with `[redacted:<rule>]` and `[private]` in place of secrets and private spans.

    Idempotent, and linear in the length of the text.
    """
    while spans := _find(text):
        text = _replace(text, spans)
    return text


def redact_to(text: str, limit: int) -> str:
    """The text redacted and cut to about `limit` characters: its first three quarters and its end.

    Only the parts that are kept are searched, with a margin, so that a secret across the cut leaves no part of
    itself behind. Blocks (`<private>`, private keys) are found in the whole text.
    """
    if len(text) <= limit:
        return redact(text)
    text = _replace(text, _merge(_blocks(text)))
    if len(text) <= limit + 2 * MARGIN:
        return _cut(redact(text), limit)
    head, tail = limit * 3 // 4, limit // 4
    first = redact(text[: head + MARGIN])[:-MARGIN][:head]
    last = redact(text[-tail - MARGIN :])[MARGIN:][-tail:]
    return first + _gap(len(text) - len(first) - len(last)) + last


def _cut(text: str, limit: int) -> str:
    if len(text) <= limit:
        return text
    head, tail = limit * 3 // 4, limit // 4
    return text[:head] + _gap(len(text) - head - tail) + text[-tail:]


def _gap(left_out: int) -> str:
    return f"\n[… {left_out} characters left out …]\n"


def _find(text: str) -> list[Span]:
    if len(text) < LEAST:
        return []
    low = scan.fold(text)
    found = [
        *scan.find_private(text, low),
        *named.find_values(text, low),
        *named.find_headers(text, low),
        *scan.find_keys(text),
        *scan.find_random(text),
    ]
    if scan.BEGIN in text:
        found += scan.find_pem(text)
    if "eyJ" in text:
        found += scan.find_jwts(text)
    if "://" in text and "@" in text:
        found += named.find_logins(text)
    return _merge([span for span in found if not text.startswith(("[redacted:", "[private]"), span[0])])


def _blocks(text: str) -> list[Span]:
    return [*scan.find_private(text, scan.fold(text)), *scan.find_pem(text)]


def _merge(spans: list[Span]) -> list[Span]:
    """In order, overlaps joined under the rule of the one that begins first (of these, the longest)."""
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
