"""Tells whether the agent sees a lesson's content anyway: in its session or in the project's rules files."""

from __future__ import annotations

from holdfast.lean.hostmarks import CONTEXT_FILES
from holdfast.ranking.relevance import EVERYDAY, stems_of
from holdfast.recall.tuning import (
    RULES_FILE_BYTES,
    SAID_LEAST_WORDS,
    SAID_SHARE,
    SAID_SPAN,
    SAID_TEXTS,
    WRITTEN_SHARE,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.domain.lesson import Lesson
    from holdfast.recall.moments.context import MomentContext


def says_already(context: MomentContext, lesson: Lesson) -> bool:
    """Return whether the session or a rules file says the same almost word for word. Lines that ask do not count."""
    wanted = frozenset(stem for stem in stems_of(lesson.insight) if stem not in EVERYDAY and len(stem) > 2)
    if len(wanted) < SAID_LEAST_WORDS:
        return False
    texts: list[str] = [context.call.prompt, *context.said("prompt", SAID_TEXTS), *context.said("reply", SAID_TEXTS)]
    return any(_says(text, wanted, SAID_SHARE) for text in texts) or any(
        _says(text, wanted, WRITTEN_SHARE) for text in _rules(context)
    )


def _rules(context: MomentContext) -> Iterator[str]:
    for name in CONTEXT_FILES:
        content = context.services.workspace.read(context.location, name)
        if content:
            yield content[:RULES_FILE_BYTES].decode("utf-8", "replace")


def _says(text: str, wanted: frozenset[str], least: float) -> bool:
    """Return whether that share of the words occurs within a few lines of the text."""
    most = least * len(wanted)
    low = text.lower()
    if sum(stem in low for stem in wanted) < most:  # cheap, and decides nearly every case
        return False
    return any(len(wanted & stems_of(piece)) >= most for piece in _pieces(text))


def _pieces(text: str) -> Iterator[str]:
    lines = [line for line in text.splitlines() if line.strip() and not line.rstrip().endswith("?")]
    for at in range(max(1, len(lines) - SAID_SPAN + 1)):
        yield "\n".join(lines[at : at + SAID_SPAN])
