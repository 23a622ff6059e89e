"""Drops claims of a session that a later turn, a failing run or the agent itself takes back.

A wrong claim looks as sure as a right one; only later events tell them apart. A claim that was taken back is no lesson.
If the retraction says what is right, the correction becomes the candidate. In doubt the claim stays: a retraction must
be about the claim's own words.

Only the learner loads this module; hooks never do.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.lesson import INSIGHT_LIMIT, Evidence
from holdfast.learning.tuning import (
    BARE_WORDS,
    LEAST_SHARED,
    RETRACTION_READ,
    RETRACTION_SPAN,
    RUN_SPAN,
    SHORT_WORD,
    SHORTEST_CORRECTION,
)
from holdfast.text.attempts import attempts
from holdfast.text.causes import names_in, stands_alone, tells_work
from holdfast.text.signature import error_signature
from holdfast.text.window import capital, clip, quote, sentences, spoken, unmasked
from holdfast.text.words import terms

_OWN = re.compile(
    r"\bI was (?:wrong|mistaken)\b|\bmy mistake\b|\bI(?:'d| had)? (?:misread|misunderstood|misdiagnosed)\b"
    r"|\bI(?: had)? (?:incorrectly|wrongly) (?:said|assumed|thought|claimed|concluded)\b|\bthat was wrong\b"
    r"|\bmy (?:earlier|previous|first|initial) (?:claim|theory|diagnosis|assumption|analysis|conclusion|explanation)"
    r" (?:was|is) (?:wrong|incorrect|off|mistaken)\b|\bcontrary to what I (?:said|thought|claimed)\b"
    r"|\bI stand corrected\b",
    re.IGNORECASE,
)
_NOT_THE_CAUSE = re.compile(
    r"\b(?:(?:was|is)(?:n't| not)|not)(?: actually)? (?:the|a) (?:(?:root|real|actual|only) )?"
    r"(?:cause|issue|problem|culprit|reason|concern|bug)\b",
    re.IGNORECASE,
)
_HEDGED = re.compile(r"\b(?:probably|maybe|perhaps|might|may not|if|whether|not only|just|could)\b|\?", re.IGNORECASE)
_NO = re.compile(r"^(?:no|nope)\b[\s,.!:-]", re.IGNORECASE)
_WRONG = re.compile(
    r"^(?:(?:no|nope|hmm+|wait|but)\b[\s,.!:-]+)?(?:that(?:'s| is| isn't| is not)?|this(?:'s| is| isn't| is not)?"
    r"|you(?:'re| are)|it(?:'s| is))? ?(?:not (?:right|true|correct|the (?:cause|issue|problem|reason))|wrong|incorrect"
    r"|mistaken)\b",
    re.IGNORECASE,
)
_CLAIMS_CAUSE = re.compile(
    r"\b(?:because|cause|caused|issue|problem|culprit|reason|bug|due to|fails?|failing|breaks?|concern)\b",
    re.IGNORECASE,
)
_RIGHT = re.compile(r"(?:\u2014|\u2013| - |: )\s*(?P<right>.{30,280})$")
"""The part of a retraction after a dash or colon."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The candidates after retractions were applied."""

    kept: tuple[Candidate, ...] = ()
    refuted: tuple[Candidate, ...] = ()
    """Claims that were taken back. Lessons already made from them must be closed."""


def settle(candidates: Sequence[Candidate], window: Sequence[Event]) -> Settled:
    """Drop the agent's claims that the session takes back, or replace them by their correction."""
    places = {event.id: at for at, event in enumerate(window)}
    remaining: list[Candidate] = []
    refuted: list[Candidate] = []
    for candidate in candidates:
        first = candidate.evidence[0] if candidate.evidence else None
        at = places.get(first.event) if first else None
        if first is None or at is None or candidate.explicit or not _is_agents_claim(candidate, window[at]):
            remaining.append(candidate)
            continue
        taken_back, correction = _taken_back(candidate, first.quote, at, window)
        if not taken_back:
            remaining.append(candidate)
            continue
        refuted.append(candidate)
        remaining += [correction] if correction else []
    return Settled(kept=tuple(remaining), refuted=tuple(refuted))


def _is_agents_claim(candidate: Candidate, event: Event) -> bool:
    return event.kind == "reply" and not event.agent and candidate.trust not in ("person", "repository")


def _taken_back(candidate: Candidate, claim: str, at: int, window: Sequence[Event]) -> tuple[bool, Candidate | None]:
    """Return whether a later event takes the claim back, and a candidate for the correction."""
    answered = False
    for event in window[at + 1 : at + 1 + RETRACTION_SPAN]:
        if event.kind == "reply" and not event.agent:
            retraction = _retraction(event, claim)
            if retraction:
                return True, _correction(candidate, claim, *retraction)
            answered = True  # a person's answer refers to the last reply only
        answer = unmasked(spoken(event)).strip()
        if answer:
            if not answered and _is_denied(answer, claim):
                return True, None
            answered = True
    return _fails_again(claim, at, window), None


def _retraction(event: Event, claim: str) -> tuple[Event, list[tuple[str, int]]] | None:
    """Return the event with the sentence that takes the claim back and the next sentence; None if there is none."""
    statements = list(sentences(event.text[:RETRACTION_READ]))
    for n, (sentence, _) in enumerate(statements):
        own = _OWN.search(sentence)
        cause = _NOT_THE_CAUSE.search(sentence) and _CLAIMS_CAUSE.search(claim)
        if not (own or cause) or _HEDGED.search(sentence):
            continue
        # "I was wrong" may name nothing: the sentence before shows the subject
        around = " ".join(text for text, _ in statements[max(0, n - 1) : n + 1]) if own else sentence
        if _shares(around, claim):
            return event, statements[n : n + 2]
    return None


def _shares(words: str, claim: str) -> bool:
    """Return whether both share several significant words; a shared name of code counts twice."""
    names = {name.lower() for name in names_in(words)} & {name.lower() for name in names_in(claim)}
    return len(names) + len(_telling(words) & _telling(claim)) >= LEAST_SHARED


def _telling(text: str) -> frozenset[str]:
    return frozenset(term for term in terms(text) if term.isalpha() and len(term) > SHORT_WORD)


def _is_denied(answer: str, claim: str) -> bool:
    """Return whether a person's answer denies the claim."""
    first = answer.partition("\n")[0]
    if _WRONG.match(first):
        return len(answer.split()) <= BARE_WORDS or _shares(answer, claim)
    return bool(_NO.match(first)) and _shares(first, claim)


def _fails_again(claim: str, at: int, window: Sequence[Event]) -> bool:
    """Return whether the claimed cause was wrong.

    After an edit the same failure returned unchanged, and the agent then named another cause.
    """
    if not _CLAIMS_CAUSE.search(claim):
        return False
    failures = [run for run in attempts(window[max(0, at - RUN_SPAN) : at]) if not run.passed]
    if not failures:
        return False
    failure = failures[-1]
    signature = error_signature(failure.event.text)
    if not signature or not _shares(failure.event.text[:RETRACTION_READ], claim):
        return False
    behind = window[at + 1 : at + RUN_SPAN]
    again = next((run for run in attempts(behind) if run.target == failure.target), None)
    if again is None or again.passed or error_signature(again.event.text) != signature:
        return False
    is_edited = any(event.kind == "file_edit" for event in behind[: again.at])
    other = any(
        names_in(sentence) and _CLAIMS_CAUSE.search(sentence) and not _shares(sentence, claim)
        for event in behind[again.at :]
        if event.kind == "reply"
        for sentence, _ in sentences(event.text[:RETRACTION_READ])
    )
    return is_edited and other


def _correction(
    candidate: Candidate, claim: str, event: Event, statements: Sequence[tuple[str, int]]
) -> Candidate | None:
    """Return a candidate with the correction and the wrong claim; None if the correction needs its conversation."""
    sentence, start = statements[0]
    behind = _RIGHT.search(sentence)
    options = [(behind["right"], start + behind.start("right"))] if behind else []
    options += statements[1:]
    for text, place in options:
        right = text.strip(" *")
        if len(right) >= SHORTEST_CORRECTION and names_in(right) and stands_alone(right) and not tells_work(right):
            evidence: Evidence = quote(event, text, place)
            told_wrong = claim.strip().rstrip(".")
            return replace(
                candidate,
                title=clip(capital(right), 100),
                insight=clip(f"{capital(right).rstrip('.')}. Wrong: {told_wrong}.", INSIGHT_LIMIT),
                why="",
                evidence=(evidence, *candidate.evidence),
            )
    return None
