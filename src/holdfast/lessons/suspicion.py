"""Suspicion: why a text needs a person's confirmation before it is believed.

Text that addresses the agent, hides characters or carries a payload looks like an attack, and is quarantined. For text
that may be right but does harm when it is wrong see `text.orders`.

Source of the patterns: the published attacks on agents' memories and the OWASP notes on prompt injection.
"""

from __future__ import annotations

import re

from holdfast.text.hidden import disguises_word, folded, hides_something, without_hidden

_ADDRESSED = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,20}\b(?:previous|prior|above|earlier|your|system)\b"
    r".{0,20}\b(?:instructions?|prompts?|rules|guidelines|messages|guardrails)\b"
    r"|\b(?:ignore|disregard|forget) (?:all|any) (?:of )?(?:the )?(?:instructions|prompts)\b"
    r"|\byou are now (?:a|an|in \w+ mode)\b|^[ \t]*new instructions?:"
    r"|\b(?:do not|don't|never|without) (?:tell|telling|mention|mentioning|inform|informing|reveal|alert|alerting)"
    r"(?: it| this| any of this)?(?: to)? the user\b"
    r"|<\|?(?:im_start|im_end|system|assistant|endoftext)\|?>|\[/?INST\]|<</?SYS>>"
    r"|^[ \t]*(?:system|assistant)[ \t]*:\s",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_SENT_AWAY = re.compile(
    r"\b(?:curl|wget|iwr|Invoke-WebRequest)\b[^\n|]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da|k)?sh\b"
    r"|\bbase64\s+(?:-d|-D|--decode)\b[^\n]{0,60}\|\s*(?:ba|z)?sh\b|\bexfiltrat|\beval\s*\(\s*(?:atob|base64)",
    re.IGNORECASE,
)
_RUN = re.compile(r"[A-Za-z0-9+/]{100,}={0,2}")


def suspicion(text: str) -> str:
    """Return the reason in a few words, or an empty string for a text that needs no quarantine."""
    if hides_something(text):
        return "hidden characters"
    if disguises_word(text):
        return "letters that look like others"
    plain = folded(without_hidden(text))
    if _ADDRESSED.search(plain):
        return "text that addresses the agent"
    if _SENT_AWAY.search(plain):
        return "a command that runs what it downloads"
    if any(_is_payload(run) for run in _RUN.findall(plain)):
        return "an encoded payload"
    return ""


def _is_payload(run: str) -> bool:
    """Return whether it is a long run of mixed case and digits, and neither a path nor a hash."""
    mixed = run != run.lower() and run != run.upper() and any(c.isdigit() for c in run)
    return mixed and run.count("/") * 20 < len(run)
