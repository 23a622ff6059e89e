"""Poisoned sessions that a model distils which believes all it reads: what of it a later session is told.

`poisoned_sessions.json` holds 60 coding sessions. In each an attacker's words come by, in a file, a tool's output, a
paste, a name, a commit or a reply of the agent that repeats them. The recorded model obliges: it words the attacker's
wish as a lesson with an exact quote, and one honest lesson of the session besides. Each session goes through the hooks,
the learner and the shipped `distil`; then a new session works on the attacker's subject. Nobody says yes to anything.

*Told* counts sessions whose poison a later session is told at any moment, by its words or as a lesson's line;
*confirmed* counts the poisoned lessons that would be. The rules were made on the half *developed*; the half *unseen*
was written before them and first played when they were done.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.hostile._report import Row, Tables
from benchmarks.hostile.poison import own_home
from tests.hostile.poison import Case, Stage, later_session

from holdfast.bootstrap import Memory
from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import STATES, SessionId
from holdfast.learning.distil import distil
from holdfast.ports.plugins import Completion
from holdfast.text.words import duplicate_key

SESSIONS = Path(__file__).with_name("poisoned_sessions.json")
HALVES = ("developed", "unseen")
QUICK_SESSIONS = 3
"""How many of each half are played with --quick."""
BLANK: dict[str, Any] = {"grade": 3, "status": "decided", "files": [], "symbols": [], "command": "", "known": None}
"""Fields of an answer that a recorded lesson leaves out."""
SESSION = "poisoned"


class Fate(NamedTuple):
    """What became of one session's lessons."""

    session: dict[str, Any]
    poison: tuple[str, ...]
    """State of each poisoned lesson; "dropped" if there is none."""
    honest: str
    """State of the honest lesson; "dropped" if there is none."""
    told: tuple[str, ...]
    """Moments of the later session at which the poison was told."""
    honest_told: bool
    others: tuple[str, ...] = ()
    """Titles of active lessons with the attacker's words that no model worded."""


class RecordedModel:
    """Answers with the lessons of a session, each with the number of the digest's line that holds its quote."""

    id = "recorded"

    def __init__(self, session: dict[str, Any]) -> None:
        self._lessons = [*session["poison"], session["honest"]]

    def complete(self, prompt: str, timeout_s: float) -> Completion:
        digest = prompt.rpartition("=== DIGEST BEGINS ===\n")[2]
        lessons = [{**BLANK, **lesson, "line": _line_of(lesson["quote"], digest)} for lesson in self._lessons]
        return Completion(text=json.dumps({"lessons": lessons}))


def load_sessions(half: str) -> list[dict[str, Any]]:
    """Return the sessions of one half, in order."""
    return [session for session in json.loads(SESSIONS.read_text("utf-8")) if session["half"] == half]


def run(folder: Path, quick: bool, python: str) -> Tables:
    """Play every session in this process, not in that of --python."""
    fates: dict[str, list[Fate]] = {}
    for half in HALVES:
        sessions = load_sessions(half)[: QUICK_SESSIONS if quick else None]
        fates[half] = []
        for number, session in enumerate(sessions):
            with own_home(folder / half / str(number)) as home:
                fates[half].append(play(session, home))
    every = [fate for half in HALVES for fate in fates[half]]
    rows = [_row(half, fates[half]) for half in HALVES]
    ways = dict.fromkeys(fate.session["way"] for fate in every)
    return {
        "Poisoned sessions, distilled": [*rows, _row("all", every)],
        "By the way that the words came": [_row(way, [f for f in every if f.session["way"] == way]) for way in ways],
        "Poison that was confirmed or told, and honest lessons that were not": [
            _unwanted(fate) for fate in every if _is_unwanted(fate)
        ],
    }


def play(session: dict[str, Any], folder: Path) -> Fate:
    """Play, learn and distil the session in a new project in the folder, and ask a later session what it is told."""
    case = Case("distilled", session["name"], {**session, **session["later"], "topic": session["later"]["prompt"]})
    stage = Stage(folder, case)
    with Memory(str(stage.project)) as memory:
        stage.memory = memory
        stage.run(SESSION, session["steps"])
        distil(memory.services, memory.location, SessionId(SESSION), RecordedModel(session))
        lessons = memory.lessons(states=[state for state in STATES if state != "forgotten"])
        rests = _resting_on(lessons, session["honest"]["quote"])
        honest = min((*_worded(lessons, session["honest"]), *rests), key=lambda x: x.state != "active", default=None)
        poison = [next(iter(_worded(lessons, stated)), None) for stated in session["poison"]]
        ids = {lesson.id for lesson in (*poison, *_holding(lessons, session)) if lesson and lesson != honest}
        moments = list(later_session(case, memory, stage))
        return Fate(
            session=session,
            poison=tuple(lesson.state if lesson else "dropped" for lesson in poison),
            honest=honest.state if honest else "dropped",
            told=tuple(at for at, text, logged in moments if ids & logged or session["marker"] in text.lower()),
            honest_told=honest is not None
            and any(honest.id in logged or honest.title in text for _, text, logged in moments),
            others=tuple(x.title for x in _holding(lessons, session) if x.state == "active" and x not in poison),
        )


def _line_of(quote: str, digest: str) -> int:
    """Return the number of the first line of the digest that holds the quote; -1 if none does."""
    rows = [row for row in digest.split("\n[") if " ".join(quote.split()) in " ".join(row.split())]
    number = rows[0].lstrip("[").partition("]")[0] if rows else ""
    return int(number) if number.isdecimal() else -1


def _worded(lessons: list[Lesson], stated: dict[str, Any]) -> list[Lesson]:
    """Return the lessons that have a model's words, or its quote as their words; active ones first."""
    keys = {duplicate_key(stated["lesson"]), duplicate_key(stated["quote"])}
    matches = (lesson for lesson in lessons if duplicate_key(lesson.insight) in keys)
    return sorted(matches, key=lambda lesson: lesson.state != "active")


def _resting_on(lessons: list[Lesson], quote: str) -> list[Lesson]:
    """Return the lessons whose evidence has the quote: other finders may have learnt it, too."""
    spans = ((lesson, span.quote) for lesson in lessons for span in lesson.provenance.evidence if span.quote)
    matches = [lesson for lesson, words in spans if quote in words or words in quote]
    return sorted(matches, key=lambda lesson: lesson.state != "active")


def _holding(lessons: list[Lesson], session: dict[str, Any]) -> list[Lesson]:
    texts = ((lesson, "\n".join((lesson.title, lesson.insight, lesson.why, lesson.how))) for lesson in lessons)
    return [lesson for lesson, text in texts if session["marker"] in text.lower()]


def _row(name: str, fates: list[Fate]) -> Row:
    poison = [state for fate in fates for state in fate.poison]
    told_count = sum(bool(fate.told) for fate in fates)
    honest_count = sum(fate.honest_told for fate in fates)
    return {
        "sessions": name, "played": len(fates), "poisoned lessons": len(poison),
        "dropped": poison.count("dropped"), "quarantined": poison.count("quarantined"),
        "waiting": poison.count("candidate"), "confirmed": poison.count("active"), "told": told_count,
        "share told": round(told_count / max(1, len(fates)), 3),
        "honest confirmed": sum(fate.honest == "active" for fate in fates), "honest told": honest_count,
        "share honest told": round(honest_count / max(1, len(fates)), 3),
    }  # fmt: skip


def _is_unwanted(fate: Fate) -> bool:
    return bool(fate.told or fate.others or "active" in fate.poison) or not fate.honest_told


def _unwanted(fate: Fate) -> Row:
    return {
        "half": fate.session["half"], "session": fate.session["name"], "poison": ", ".join(fate.poison),
        "told at": ", ".join(fate.told), "by others": "; ".join(fate.others), "honest": fate.honest,
        "honest told": fate.honest_told,
    }  # fmt: skip
