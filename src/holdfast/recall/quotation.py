"""Quotes single records: fenced like a delivery, cleaned, and cut to a length that hosts pass on."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.curation import checkpoint as checkpoints
from holdfast.domain.briefing import FoundTurn, Ranked
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Checkpoint
from holdfast.domain.vocabulary import Freshness
from holdfast.lean.plain import render_instant
from holdfast.lean.texts import short_id
from holdfast.recall.tuning import CHECKPOINT_TOKENS, FIELD_LIMIT, PASSAGE_SHOWN, PLACES_SHOWN
from holdfast.rendering.lines import clean, render_block, source_word


def quote_lesson(lesson: Lesson, judged: tuple[Freshness, str]) -> str:
    """Return the fields of a lesson that a model can use, one a line. `judged` is its freshness and caveat."""
    freshness, caveat = judged
    source = lesson.provenance
    rows = (
        ("lesson", [lesson.id]),
        ("kind", [f"{lesson.kind}, {lesson.state}, source {source_word(lesson)}, confidence {lesson.confidence:.2f}"]),
        ("code", [f"{freshness}: {caveat}" if caveat else freshness]),
        ("title", [lesson.title]),
        ("insight", [lesson.insight]),
        ("why", [lesson.why]),
        ("how", [lesson.how]),
        ("where", [", ".join([*lesson.paths, *lesson.symbols, *lesson.globs][:PLACES_SHOWN])]),
        ("snippets", lesson.snippets),
        ("links", [", ".join(f"{link.kind} {short_id(link.target)}" for link in lesson.links[:PLACES_SHOWN])]),
        ("learnt", [f"{render_instant(lesson.validity.valid_from)} {source.host} {source.detector}"]),
        ("evidence", [f"> {evidence.quote}" for evidence in source.evidence]),
    )
    return render_block([line for name, texts in rows for line in _row(name, texts)])


def quote_checkpoint(checkpoint: Checkpoint) -> str:
    """Return a checkpoint's whole state."""
    return render_block([], checkpoint=checkpoints.render(checkpoint, CHECKPOINT_TOKENS))


def quote_near(near: Sequence[Ranked]) -> str:
    """Return the titles of lessons below the relevance threshold, and why they were the nearest."""
    return render_block([_near_line(ranked) for ranked in near])


def quote_turns(turns: Sequence[FoundTurn]) -> str:
    """Return turns of earlier sessions, one a line: session, date, branch, the question, the words that answer."""
    return render_block([f"- {turn_place(turn)}: {turn_words(turn)}" for turn in turns])


def turn_place(turn: FoundTurn) -> str:
    """Return where and when a turn was: `session 1a2b3c4d, 2026-01-22, claude-code main`."""
    where = " ".join(filter(None, (clean(turn.host), clean(turn.branch))))
    return ", ".join(filter(None, (f"session {clean(short_id(turn.session))}", f"{turn.at:%Y-%m-%d}", where)))


def turn_words(turn: FoundTurn) -> str:
    """Return the question and the words that answer it on one line, cut between words to PASSAGE_SHOWN."""
    words = clean(turn.passage).split()
    passage = " ".join(words[:PASSAGE_SHOWN]) + ("…" if len(words) > PASSAGE_SHOWN else "")
    prompt = clean(turn.asked)
    is_said = not prompt or passage.startswith(prompt[:40])
    return passage if is_said else f"“{prompt}” {passage}"


def _near_line(ranked: Ranked) -> str:
    because = f" ({ranked.why.words})" if ranked.why.words else ""
    title = _cut(clean(ranked.lesson.title + because))
    return f"[{short_id(ranked.lesson.id)}] {title} ({source_word(ranked.lesson)})"


def _row(name: str, texts: Sequence[str]) -> list[str]:
    """Return `name: text`; several lines keep their indentation, which snippets need."""
    lines = [line for line in _cut("\n".join(texts)).splitlines() if line.strip()]
    cleaned = [line[: len(line) - len(line.lstrip(" \t"))] + clean(line) for line in lines]
    return [f"{name}:", *cleaned] if len(cleaned) > 1 else [f"{name}: {line.lstrip()}" for line in cleaned]


def _cut(text: str) -> str:
    return text if len(text) <= FIELD_LIMIT else text[: FIELD_LIMIT - 1] + "…"
