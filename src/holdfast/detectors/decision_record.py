"""Finds decisions, and their reasons, in architecture decision records that an agent wrote.

It reads the forms of Michael Nygard and MADR. A record is one lesson; a proposal is none until it is accepted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from holdfast.detectors._writing import (
    FILES_LIMIT,
    TextPiece,
    evidence_of,
    fits,
    is_status,
    joined,
    leans,
    names_cause,
    read_pieces,
    sentences,
    worth_of,
)
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.text.mentions import files_named, symbols_named
from holdfast.text.window import capital, clip

WHY_LIMIT = 400
"""Characters of a decision's reason."""

_RECORD = re.compile(
    r"(?:^|/)(?:adrs?|decisions|architecture-decisions|decision-records)/(?!readme|index|template)[^/\n]+\.md$"
    r"|(?:^|/)(?:adr|decision)[-_ ]?\d{1,6}[-_. ][^/\n]*\.md$",
    re.IGNORECASE,
)
_TITLE = re.compile(r"^#[ \t]{1,4}(\S[^\n]{0,200})$", re.MULTILINE)
_NUMBER = re.compile(r"^(?:adr[-_ ]?)?\d+[.:\s-]+\s*", re.IGNORECASE)
_DECISION = re.compile(r"(?:the )?(?:decision(?: outcome)?|solution|resolution)$", re.IGNORECASE)
_REASON = re.compile(
    r"context|problem|background|motivation|decision drivers|rationale|justification|why|consequences", re.IGNORECASE
)
_OPEN = re.compile(r"\bstatus\b[\s:*#_]{1,12}(?:proposed|draft|rejected|superseded|deprecated)", re.IGNORECASE)


class DecisionRecord:
    """Finds the decision of each record."""

    id = "decision_record/1"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """Return one candidate a record, from its last version."""
        candidates: dict[str, Candidate] = {}
        for event in window:
            if event.kind == "file_edit" and event.files and not event.agent and _RECORD.search(event.files[0]):
                candidate = _decided(event, window)
                if candidate is not None:
                    candidates[event.files[0]] = candidate
        return list(candidates.values())


def make(options: Mapping[str, str]) -> DecisionRecord:
    """Return the detector; it has no options."""
    return DecisionRecord()


def _decided(event: Event, window: Sequence[Event]) -> Candidate | None:
    titled = _TITLE.search(event.new)
    if titled is None or _OPEN.search(event.new[:2_000]):
        return None
    title = _NUMBER.sub("", titled[1]).strip()
    pieces = read_pieces(event.new)
    decided = [piece for piece in pieces if _is_under(piece, _DECISION) and not is_status(piece.text)]
    text = _first(" ".join(_as_sentence(piece.text) for piece in decided))
    insight = joined(title, text)
    if not text or not fits(insight):
        return None
    decision = decided[0]
    reasons = (sentence for piece in pieces if _is_under(piece, _REASON) for sentence in sentences(piece.text))
    why = next((reason for reason in reasons if names_cause(reason) and fits(reason) and not leans(reason)), "")
    named = [*files_named(f"{decision.text} {why}", window)]
    return Candidate(
        kind="decision",
        title=clip(capital(title), 100),
        insight=capital(insight),
        why=clip(why, WHY_LIMIT),
        detector=DecisionRecord.id,
        evidence=(evidence_of(event, event.new, decision.start, decision.end),),
        files=tuple(dict.fromkeys(named))[:FILES_LIMIT],
        symbols=symbols_named(f"{title} {decision.text}"),
        trust="agent",
        confidence=worth_of("record", f"{insight} {why}"),
        origin=f"{event.files[0].replace('#', '%23')}#{title}",
        salience=0.6,
        calibrated=True,
        written=True,
    )


def _is_under(piece: TextPiece, heading: re.Pattern[str]) -> bool:
    return any(heading.match(name) for name in piece.above)


def _as_sentence(text: str) -> str:
    return text if text.endswith((".", "!", "?", ":")) else f"{text}."


def _first(text: str) -> str:
    """Return as many whole sentences of the decision as fit into a lesson."""
    taken = ""
    for sentence in sentences(text):
        if len(taken) + len(sentence) > 300:
            break
        taken = f"{taken} {sentence}".strip()
    return taken
