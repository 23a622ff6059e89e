"""Finds lessons in the summary that an agent writes when its context is compacted.

The sections on errors and fixes, on solved problems, and on concepts and decisions hold what the session learnt. The
summary's account of what the user wanted is a machine's: the prompts themselves are events, so nothing here counts as a
person's word.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from holdfast.detectors._writing import (
    FILES_LIMIT,
    TextPiece,
    best,
    evidence_of,
    fits,
    gives_reason,
    is_status,
    leans,
    name_kind,
    names_cause,
    read_pieces,
    worth_of,
)
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.vocabulary import LessonKind
from holdfast.text.mentions import files_named, symbols_named
from holdfast.text.window import capital, clip

MOST, MOST_PER_SESSION = 6, 12
"""Lessons of one summary and of a session, the likeliest."""

_CURE = re.compile(
    r"(?:the )?(?:fix(?:ed)?|solution|solved|resolved|resolution)(?: (?:by|with|was|in))?\b[ :\u2014-]*", re.IGNORECASE
)
_CAUSE = re.compile(r"(?:the )?(?:root )?(?:cause|reason|problem|issue)(?: was)?[ :\u2014-]+", re.IGNORECASE)
_TRIVIAL = re.compile(
    r"\b(?:lint|linter|linting|errcheck|goconst|gosec|gocritic|nolint|noqa|eslint|unused|undefined|redeclared|import"
    r"|imports|syntax|typo|compil(?:e|ation|er)|formatting|gofmt|prettier|merge conflict|indentation)\b",
    re.IGNORECASE,
)
"""Slips that the next run shows by itself."""
_LEAD = re.compile(
    r"(?:(?:P\d )?bug #?\d+|solved|key finding|root cause(?: identified)?|identified(?: the)? root cause"
    r"|identified that|found that"
    r"|limitation acknowledged|problem|finding|discovered that|discovery|key insight|insight|important)"
    r"(?: - (?:\w+ (?:issue|bug|problem)))?(?::| that| -)?\s+(?=\S)",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"(?:solv|fix|design|implement|identif|verif|creat|add|updat|remov|us|diagnos|resolv|simplif|refactor|filter|adjust"
    r"|handl|replac|renam|mov|extract|configur|chang|enabl|review|investigat|debug|complet|address|found|made|tested"
    r"|ongoing|in progress|final|no errors|user|current)(?:ed|ied|ying|ing|es|s)?\b",
    re.IGNORECASE,
)
_EPISODE = re.compile(
    r"\bPRs? #?\d+|\bbecause:|\b(?:was|were) never\b|\b(?:this|the) session (?:was|had|is)\b|\bworking tree\b"
    r"|\bbranch (?:was|is) (?:behind|ahead)|\b(?:I|we) (?:was|were|had|then|also)\b|\bInvalid \w+ ID\b",
    re.IGNORECASE,
)
"""Words about this one session or pull request."""

_SECTIONS: tuple[tuple[re.Pattern[str], LessonKind], ...] = (
    (re.compile(r"\berrors?\b|\bfix(?:es)?\b|\bproblem", re.IGNORECASE), "bug_cause"),
    (re.compile(r"\bconcepts?\b|\bdecisions?\b|\bconstraints?\b|\blearn", re.IGNORECASE), "constraint"),
)


class LessonWording(NamedTuple):
    """A lesson's title, statement and cure."""

    title: str
    insight: str
    how: str


class CompactionSummary:
    """Finds causes, constraints and decisions in a summary."""

    id = "compaction_summary/1"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """Return the likeliest statements of each summary, in their order."""
        candidates: list[Candidate] = []
        for event in window:
            if event.kind == "compaction" and event.text and not event.agent:
                candidates += best(list(_statements(event, window)), MOST)
        return best(candidates, MOST_PER_SESSION)


def make(options: Mapping[str, str]) -> CompactionSummary:
    """Return the detector; it has no options."""
    return CompactionSummary()


def _statements(event: Event, window: Sequence[Event]) -> Iterator[Candidate]:
    pieces = read_pieces(event.text)
    for at, piece in enumerate(pieces):
        section = piece.above[0] if piece.above else ""
        kind = next((kind for pattern, kind in _SECTIONS if pattern.search(section)), None)
        if kind is None or len(piece.above) != 1 or is_status(piece.text) or _TRIVIAL.search(piece.text):
            continue
        parts = _parts(pieces, at)
        if kind == "bug_cause" and parts:
            yield from _mended(event, window, piece, parts)
        else:
            text = _LEAD.sub("", piece.text)
            if (
                fits(text)
                and not leans(text)
                and not _DONE.match(text)
                and not _EPISODE.search(text)
                and gives_reason(text)
            ):
                yield _candidate(event, window, piece, piece.end, LessonWording("", text, ""), kind)


def _parts(pieces: Sequence[TextPiece], at: int) -> list[TextPiece]:
    """Return the items directly below this one."""
    depth = len(pieces[at].above)
    parts: list[TextPiece] = []
    for other in pieces[at + 1 :]:
        if len(other.above) <= depth:
            break
        if len(other.above) == depth + 1:
            parts.append(other)
    return parts


def _mended(event: Event, window: Sequence[Event], piece: TextPiece, parts: Sequence[TextPiece]) -> Iterator[Candidate]:
    """Yield an error with its cause and its cure, which are items below it."""
    cure = next((part for part in parts if _CURE.match(part.text)), None)
    causes = [part for part in parts if part is not cure and not is_status(part.text) and not _CURE.match(part.text)]
    cause = next((part for part in causes if _CAUSE.match(part.text) or gives_reason(part.text)), None)
    cause = cause or next(iter(causes), None)
    error = _LEAD.sub("", piece.text).rstrip(":. ")
    if cure is None or not (cause or names_cause(error)) or _EPISODE.search(error):
        return
    insight = f"{error}. {_CAUSE.sub('', cause.text)}" if cause else error
    how = _CURE.sub("", cure.text)
    if not fits(insight) or leans(insight) or not (gives_reason(insight) or gives_reason(how)):
        return
    last = max(cure.end, cause.end if cause else 0)
    yield _candidate(event, window, piece, last, LessonWording(clip(error, 100), insight, capital(how)), "bug_cause")


def _candidate(
    event: Event, window: Sequence[Event], piece: TextPiece, end: int, wording: LessonWording, kind: LessonKind
) -> Candidate:
    words = f"{wording.insight} {wording.how}"
    return Candidate(
        kind=kind if wording.how else name_kind(wording.insight, kind),
        title=wording.title,
        insight=capital(wording.insight),
        how=wording.how,
        detector=CompactionSummary.id,
        evidence=(evidence_of(event, event.text, piece.start, end),),
        files=tuple(dict.fromkeys(files_named(words, window)))[:FILES_LIMIT],
        symbols=symbols_named(words),
        trust="agent",
        confidence=worth_of("summary", f"{wording.insight} {wording.how}"),
        calibrated=True,
        written=True,
    )
