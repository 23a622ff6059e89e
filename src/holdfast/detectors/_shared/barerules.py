"""Recognises a message that only lays down rules: "use pnpm, not npm", "tests live beside the code", "don't touch
released migrations".

Said in the middle of a task, such a sentence may be meant for that task alone. As a whole message after which the agent
did nothing but answer, it can only be meant to be known. English only.
"""

from __future__ import annotations

import re

from holdfast.detectors._shared.statedrules import LEAD, holds_beyond_the_task
from holdfast.text.window import sentences

MESSAGE_LIMIT = 800
"""Characters of a message; a longer one says more than rules."""
_BULLET = re.compile(r"(?:[-*\u2022]|\d{1,2}[.)])(?:\s+|$)")
_HEADING = re.compile(
    r"[^.?!]{0,60}\b(?:rules?|conventions?|remember|note|habits?|standards?)\b[^.?!]{0,40}:$", re.IGNORECASE
)
"""A line before a list of rules: "our conventions here:"."""

_ORDER = re.compile(
    rf"{LEAD}(?P<rule>(?:do not|don't|dont|never|avoid|no) (?!worry|bother|forget|mind|hesitate|need|problem|rush"
    r"|panic)[\w`@./'-]+ (?!the\b|this\b|that\b|it\b|them\b|these\b|those\b|any ?more\b|me\b|us\b|your\b|my\b).{3,}"
    r"|(?:use|prefer|keep|write|run|name|put|call|add|store|log|return|import|format|commit|deploy|test|mock|wrap|pass"
    r"|sort|document|indent|pin|cache|build|install|check|ask)\b.{2,}?"
    r"(?:(?<!that)(?<!which),? (?:and )?(?:not|never)\b|\binstead of\b|\brather than\b"
    r"|\bover\b|\bbefore\b|\bafter\b|\bonly\b|\balways\b|\bwhenever\b|\b(?:for|in|with|on) (?:all|every"
    r"|each)\b).{2,})",
    re.IGNORECASE,
)
"""An order that forbids, or that says what instead, when, or where."""
_STATEMENT = re.compile(
    rf"{LEAD}(?P<rule>(?:(?:all|our|every|each|new|only) )?(?!(?:the|this|that|these|those|it|its|they|he|she|we|you|i"
    r"|a|an|my|your|there|here|what|which|who|yes|no|ok|let|lets|let's|some|nothing|everything|something|both|none|one|looks?|if"
    r"|when|for|then|so|but|and|or|in|on|at|to|from|with|as|also|maybe|now|still|someone|somebody|nobody|users?"
    r"|people)\b)(?:[\w`/.-]+ ){1,4}?(?:is|are|lives?|goe?s?|belongs?|uses?|starts?|begins?|ends?|stays?|comes?"
    r"|returns?|raises?|must|should|has to|have to|needs? to|can't|cannot|may|never|always|only)\b"
    r"(?! (?:up|down|back|ready|done|fine|good|great|ok|okay|live|gone|out|green|red|there|here|in|off|running"
    r"|passing)\W*$).{3,})",
    re.IGNORECASE,
)
"""A statement in general: its subject has no article that points at something."""
_WE = re.compile(
    rf"{LEAD}(?P<rule>we (?:use|don't use|do not use|don't|never|always|only|prefer|write|name|keep|store|run|test"
    r"|deploy|support)\b.{3,})",
    re.IGNORECASE,
)


def bare_rules(message: str) -> list[tuple[str, int]]:
    """Return (rule, start) of each sentence of a message that lays down rules and says nothing else; else nothing."""
    if len(message) > MESSAGE_LIMIT:
        return []
    rules: list[tuple[str, int]] = []
    for line, at in sentences(message):
        bullet = _BULLET.match(line)
        begin = bullet.end() if bullet else 0
        sentence, start = line[begin:], at + begin
        if not sentence or _HEADING.fullmatch(sentence):
            continue
        match = next(filter(None, (form.match(sentence) for form in (_ORDER, _WE, _STATEMENT))), None)
        if match is None or not holds_beyond_the_task(sentence, match["rule"]):
            return []
        rules.append((match["rule"].strip().rstrip("!").strip(), start))
    return rules
