"""On a prompt: the lesson that is about its subject, a second one that plainly is, or none."""

from __future__ import annotations

from holdfast.domain.briefing import Briefing
from holdfast.ranking.names import TELLING
from holdfast.ranking.pushing import is_about, is_plainly_about, relevance_of
from holdfast.recall.moments.turn import Pick
from holdfast.recall.retrieve import draw, question, with_vector
from holdfast.text.speech import MACHINE_OPENINGS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.recall.moments.turn import Turn
    from holdfast.recall.retrieve import Found

FIRST_LINES = 2
"""Standing rules with the first prompt, in a host that is told nothing at a session's start."""
LINES, SESSION_LINES = 1, 6
"""Lessons for a prompt, besides one that is plainly about it too, and for all prompts of a session."""
LONG = 600
"""Characters from which a prompt may hold what nobody typed: to tell costs a hook some milliseconds."""
WRITTEN_WHOLE = (*MACHINE_OPENINGS, "Implement the following plan:", "[SYSTEM NOTIFICATION")
"""How prompts begin that a program wrote."""
RETRIEVERS = ("exact", "text", "path", "pinned", "vector")


def prompt(turn: Turn) -> Briefing:
    """The lessons that the person's words are about; the checkpoint when this session's start delivered nothing."""
    if not any(told.moment in ("session_start", "after_compaction") for told in turn.told):
        turn.checkpoint = turn.restorable(own=False)
    told = turn.count("prompt")
    picks = [] if told >= SESSION_LINES or not turn.room else _picks(turn)
    shift = turn.weights().shift("prompt") if len(picks) > 1 else 1.0
    plain = [pick for pick in picks if _is_plain(pick.found, shift)] if told + LINES < SESSION_LINES else []
    return turn.tell((_standing(turn), FIRST_LINES), (picks, LINES), (plain, LINES))


def _standing(turn: Turn) -> list[Pick]:
    """At a session's first delivery, in a host that is told nothing at its start: the rules told there elsewhere."""
    if turn.told:
        return []
    from holdfast.recall.moments.start import standing_picks

    picks = standing_picks(turn)  # before the host is asked: its profile costs a hook some milliseconds
    return picks if picks and "session_start" not in turn.parts.host(turn.call.host).profile.moments else []


def own_words(text: str) -> str:
    """What a person typed of a prompt: nothing of one that a program wrote, all of a short one."""
    if text.lstrip().startswith(WRITTEN_WHOLE):
        return ""
    if len(text) < LONG:
        return text
    from holdfast.text.prompts import read_prompt  # loads `re`

    read = read_prompt(text)
    return "" if read.origin == "machine" else " ".join(read.own.split())


def candidates(turn: Turn, words: str) -> list[Found]:
    """What the retrievers find for those words, the most relevant first."""
    asked = question(turn.parts, turn.place, words)
    query = turn.query(
        text=asked.text, paths=asked.paths, symbols=asked.symbols, error=asked.error, since=asked.since,
        until=asked.until,
    )  # fmt: skip
    query, _ = with_vector(turn.parts, query, local=True)  # a host waits: for no endpoint
    drawn = draw(turn.parts, query, RETRIEVERS)
    turn.degraded = drawn.degraded
    return sorted(drawn.found, key=lambda one: -relevance_of(one.shares, one.weight) * turn.favour(one.lesson))


def _is_plain(found: Found, shift: float) -> bool:
    return is_plainly_about(found.shares, found.weight, found.chance, shift)


def _picks(turn: Turn) -> list[Pick]:
    words = own_words(turn.call.prompt)
    if not words.strip():
        return []
    found = [one for one in candidates(turn, words) if one.lesson.kind != "exploration" or one.lesson.pinned]
    shift = turn.weights().shift("prompt")
    return [
        Pick(found=one)
        for one in found
        if one.named == TELLING or is_about(one.shares, one.weight, one.fit, one.chance, shift)
    ]
