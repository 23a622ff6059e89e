"""Ranks passages of earlier turns: which turns answer a question, and with which of their words.

A turn's score is its BM25, as a share of the best turn's, plus the share of the question's information that its best
passage has, plus that passage's cosine where there is an embedder. A passage is some lines of the prompt or of one
reply, without the agent's remarks on what it does next. A passage that only asks, or of a few words, counts less.
A second turn of a session counts less than a first, and one that repeats another's words is left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log

from holdfast.ports.store import TurnMatch, TurnMatches
from holdfast.ranking.relevance import overlap_of, stem, stems_of, weigh
from holdfast.ranking.tuning import (
    ASKING_FACTOR,
    PASSAGE_COPY,
    PASSAGE_LEAST_WORDS,
    PASSAGE_WEIGHT,
    PASSAGE_WORDS,
    PROMPT_FACTOR,
    SAME_SESSION_FACTOR,
    SHORT_FACTOR,
    SHORT_WORDS,
    TURN_COVERAGE,
    TURN_LEAST,
    TURN_VECTOR_WEIGHT,
    TURN_WEIGHT,
)

_NARRATION = re.compile(
    r"\W*(?:(?:now|next|first|then|good|great|perfect|ok|okay|excellent|right|done|yes)\W+)*"
    r"(?:let me|let's|let us|i'll|i will|i need to|i'm going to|would you like|do you want|should i|want me to|shall i"
    r"|(?:all|the) tests (?:now )?pass)\b",
    re.IGNORECASE,
)
"""Begins a sentence about what the agent does or asks next."""
_SENTENCE_END = re.compile(r"(?<=[.!?:])\s+(?=[A-Z])")
_ITEM = re.compile(r"\s*(?:[-*|#>`]|\d+[.)]|\t| {4})")
"""Begins a line of a list, a table, a heading or code."""
_BLANK = re.compile(r"\n[^\S\n]*\n")


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnPassage:
    """Words of a turn, and the share of the question's information that they have."""

    match: TurnMatch
    text: str
    stems: frozenset[str]
    share: float
    score: float


def passages(matches: TurnMatches, question: str) -> list[TurnPassage]:
    """Return the passages of the turns that have enough of the question, the best first, scored without vectors."""
    worth = {stem(term): log((matches.turns + 1) / (count + 0.5)) for term, count in matches.terms}
    most = sum(worth.values())
    if most <= 0 or not matches.matches:
        return []
    question_stems, weighed = stems_of(question), weigh(question)
    best = max(match.score for match in matches.matches) or 1.0
    ranked: list[TurnPassage] = []
    for match in matches.matches:
        stems = stems_of(f"{match.turn.prompt}\n{match.turn.reply}")
        overlap = overlap_of(weighed, stems)
        if overlap.weight < TURN_WEIGHT and overlap.coverage < TURN_COVERAGE:
            continue  # it shares nothing but words that any two texts about code share
        if _share(worth, stems) < TURN_LEAST * most:
            continue
        for text, factor in _texts(match):
            stems = stems_of(text)
            if stems <= question_stems:
                continue  # it only repeats the question
            share = _share(worth, stems) / most
            score = match.score / best + PASSAGE_WEIGHT * factor * share
            ranked.append(TurnPassage(match=match, text=text, stems=stems, share=share, score=score))
    return sorted(ranked, key=_best_first)


def with_cosines(ranked: Sequence[TurnPassage], cosines: Sequence[float]) -> list[TurnPassage]:
    """Return the passages with the cosines of their vectors in their scores, best first."""
    scored = (
        TurnPassage(
            match=passage.match, text=passage.text, stems=passage.stems, share=passage.share,
            score=passage.score + TURN_VECTOR_WEIGHT * cosine,
        )
        for passage, cosine in zip(ranked, cosines, strict=True)
    )  # fmt: skip
    return sorted(scored, key=_best_first)


def choose(ranked: Sequence[TurnPassage], limit: int) -> list[TurnPassage]:
    """Return the best passage of each of the best turns; newer turns first among equals."""
    by_turn: dict[int, TurnPassage] = {}
    for passage in ranked:
        by_turn.setdefault(passage.match.row, passage)
    rest, chosen = list(by_turn.values()), list[TurnPassage]()
    seen: dict[str, int] = {}
    while rest and len(chosen) < limit:
        rest.sort(
            key=lambda passage: (
                -passage.score * SAME_SESSION_FACTOR ** seen.get(passage.match.turn.session, 0),
                -passage.match.turn.at.timestamp(),
            )
        )
        passage = rest.pop(0)
        if any(_is_copy(passage, other) for other in chosen):
            continue
        chosen.append(passage)
        seen[passage.match.turn.session] = seen.get(passage.match.turn.session, 0) + 1
    return chosen


def _best_first(passage: TurnPassage) -> tuple[float, float]:
    return -passage.score, -passage.match.turn.at.timestamp()


def _share(worth: dict[str, float], stems: frozenset[str]) -> float:
    return sum(value for root, value in worth.items() if root in stems)


def _is_copy(passage: TurnPassage, other: TurnPassage) -> bool:
    shared = len(passage.stems & other.stems)
    return shared > PASSAGE_COPY * min(len(passage.stems), len(other.stems))


def _texts(match: TurnMatch) -> Iterator[tuple[str, float]]:
    """Yield the passages of a turn's prompt and replies, and what a share of the question counts in each."""
    for text, factor in ((match.turn.prompt, PROMPT_FACTOR), (match.turn.reply, 1.0)):
        for piece in split(without_narration(text)):
            words = len(piece.split())
            if words < PASSAGE_LEAST_WORDS:
                continue
            factor_here = factor * (SHORT_FACTOR if words < SHORT_WORDS else 1.0)
            yield piece, factor_here * (ASKING_FACTOR if _only_asks(piece) else 1.0)


def _only_asks(text: str) -> bool:
    return all(sentence.rstrip().endswith("?") for sentence in _SENTENCE_END.split(text.strip()))


def without_narration(text: str) -> str:
    """Return the text without sentences about what the agent does next; lists, tables and code stay."""
    lines = []
    for line in text.split("\n"):
        if _ITEM.match(line):
            lines.append(line)
        else:
            lines.append(" ".join(part for part in _SENTENCE_END.split(line) if not _NARRATION.match(part)))
    return "\n".join(lines)


def split(text: str) -> list[str]:
    """Return the text in passages of about PASSAGE_WORDS: whole paragraphs if they fit, otherwise whole lines."""
    pieces: list[str] = []
    for paragraph in _BLANK.split(text):
        if len(paragraph.split()) <= PASSAGE_WORDS:
            pieces.append(paragraph)
        else:
            lines = paragraph.strip("\n").split("\n")
            pieces += lines if len(lines) > 1 else _SENTENCE_END.split(paragraph)
    joined: list[str] = []
    words = 0
    for piece in filter(str.strip, pieces):
        length = len(piece.split())
        if joined and words + length <= PASSAGE_WORDS:
            joined[-1] += "\n" + piece
            words += length
        else:
            joined.append(piece)
            words = length
    return joined
