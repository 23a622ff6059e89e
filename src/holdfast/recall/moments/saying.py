"""Whether what a lesson says stands in front of the agent anyway: in its session or in the project's rules files."""

from __future__ import annotations

from holdfast.lean.hostmarks import CONTEXT_FILES
from holdfast.ranking.relevance import EVERYDAY, stems_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.domain.lesson import Lesson
    from holdfast.recall.moments.turn import Turn

SAID, WRITTEN = 0.8, 0.85
"""Shares of a rule's telling words that stand together in a prompt or reply, or in a rules file, for it to be said."""
LEAST = 4
"""Telling words of a rule, from which that says something."""
TEXTS = 4
"""Prompts, and replies, of the session that are looked at: the last."""
SPAN = 3
"""Lines that are read together."""
FILE_BYTES = 60_000
OPENING, SHARED = 12, 3
"""Words of a prompt that may say `go on`, and telling words that make two subjects one."""
GOING_ON = ("continue", "resume", "go on with", "carry on", "pick up where", "where we left")


def says_already(turn: Turn, lesson: Lesson) -> bool:
    """Whether the session or a rules file says what the lesson says, nearly word for word. A question says nothing."""
    wanted = frozenset(stem for stem in stems_of(lesson.insight) if stem not in EVERYDAY and len(stem) > 2)
    if len(wanted) < LEAST:
        return False
    texts: list[str] = [turn.call.prompt, *turn.said("prompt", TEXTS), *turn.said("reply", TEXTS)]
    return any(_says(text, wanted, SAID) for text in texts) or any(
        _says(text, wanted, WRITTEN) for text in _rules(turn)
    )


def shares_subject(prompt: str, task: str) -> bool:
    """Whether a prompt goes on with a task: it says so, or shares telling words with it."""
    opening = " ".join(prompt.lower().split()[:OPENING])
    if any(phrase in opening for phrase in GOING_ON):
        return True
    telling = {stem for stem in stems_of(task) if stem not in EVERYDAY and len(stem) > 2}
    return len(telling & stems_of(prompt)) >= min(SHARED, max(1, len(telling)))


def _rules(turn: Turn) -> Iterator[str]:
    for name in CONTEXT_FILES:
        content = turn.parts.workspace.read(turn.place, name)
        if content:
            yield content[:FILE_BYTES].decode("utf-8", "replace")


def _says(text: str, wanted: frozenset[str], least: float) -> bool:
    """Whether so many of the words stand together in a few lines of the text."""
    most = least * len(wanted)
    low = text.lower()
    if sum(stem in low for stem in wanted) < most:  # cheap, and nearly always the answer
        return False
    return any(len(wanted & stems_of(piece)) >= most for piece in _pieces(text))


def _pieces(text: str) -> Iterator[str]:
    lines = [line for line in text.splitlines() if line.strip() and not line.rstrip().endswith("?")]
    for at in range(max(1, len(lines) - SPAN + 1)):
        yield "\n".join(lines[at : at + SPAN])
