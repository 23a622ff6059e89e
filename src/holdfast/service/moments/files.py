"""Before a file is read or edited: what its text or the session's subject shows to be of use, and the lint card."""

from __future__ import annotations

from holdfast.domain.briefing import Briefing
from holdfast.domain.frozen import replace
from holdfast.ranking.bar import is_decisive
from holdfast.ranking.occasions import language_of, linters_in
from holdfast.ranking.pushing import agrees, worth_here
from holdfast.service.moments.turn import Pick, as_found, telling
from holdfast.service.recall import draw, get_readable
from holdfast.service.surroundings import symbols_at

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.domain.lesson import Lesson
    from holdfast.domain.query import Query
    from holdfast.service.moments.turn import Turn
    from holdfast.service.recall import Found

CARD_LINES = 2
"""Lines of a lint card: one a linter."""
LINES, SESSION_LINES = 1, 4
"""Lessons about a file for one call, and for a session."""
TRIGGER_LINES = 4
"""Lessons for triggers in a session."""
EDIT_CHARACTERS = 3_000
"""Characters of an edit that say what it is about."""
FILE, TRIGGER, CARD = "about this file", "trigger", "lint card"


def before_file(turn: Turn) -> Briefing:
    """A trigger's lesson, a lesson about the file that the session's words agree with, the lint card."""
    files = turn.files()
    if not files or not turn.room:
        return Briefing(moment=turn.moment)
    card = _card(turn, files[0]) if turn.call.edits else []
    triggered = trigger_picks(turn, files) if turn.count(reason=TRIGGER) < TRIGGER_LINES else []
    about = _about(turn, files) if not triggered and turn.count(reason=FILE) < SESSION_LINES else []
    return turn.tell((triggered, LINES), (about, LINES), (card, CARD_LINES))


def trigger_picks(turn: Turn, files: Sequence[str] = ()) -> list[Pick]:
    """Lessons of which a trigger stands in what is about to be written or run."""
    call = turn.call
    symbols = symbols_at(turn.parts, turn.place, files[0], call) if files else ()
    code = "\n".join(call.writes) if call.edits else call.command
    query = turn.query(code=code, command=call.command, paths=tuple(files), symbols=symbols)
    hits = turn.parts.store.search("trigger", query, 10)
    lessons = get_readable(turn.parts.store, [hit.id for hit in hits])
    old = "\n".join(call.excerpts)
    return [
        Pick(found=found, reason=f"{TRIGGER}: {words}")
        for found in as_found(lessons)
        if (words := matched(found.lesson, query, old))
    ]


def matched(lesson: Lesson, query: Query, old: str = "") -> str:
    """Which trigger of the lesson fits, in words; empty where it stands in the text that is replaced as well."""
    from holdfast.ranking.globs import glob_matches
    from holdfast.ranking.shell import simple_commands
    from holdfast.ranking.triggers import begins, stands_in

    for literal in lesson.when.literals:
        if stands_in(literal, query.code) and not stands_in(literal, old):
            return literal
    commands = [" ".join(words) for words in simple_commands(query.command)]
    for beginning in lesson.when.commands:
        if any(begins(command, beginning) for command in commands):
            return beginning
    for glob in (*lesson.when.paths, *lesson.globs):
        if any(glob_matches(glob, path) for path in query.paths):
            return glob
    last = {symbol.rpartition(".")[2].casefold() for symbol in query.symbols}
    return next((name for name in lesson.when.symbols if name.rpartition(".")[2].casefold() in last), "")


def _about(turn: Turn, files: Sequence[str]) -> list[Pick]:
    """Lessons about the file, or a close one, that the prompt, the last reply or the edit agree with."""
    call = turn.call
    symbols = symbols_at(turn.parts, turn.place, files[0], call)
    places = turn.query(paths=files, symbols=symbols)
    near = {hit.id: hit.score for hit in turn.parts.store.search("path", places, 30)}
    if not near:
        return []
    edit = "\n".join((*call.excerpts, *call.writes))[:EDIT_CHARACTERS]
    subject = f"{turn.subject()} {telling(edit)}"
    query = replace(places, text=subject)
    drawn = draw(turn.parts, query, ("text", "path", "symbol"))
    turn.degraded = drawn.degraded
    found = [one for one in drawn.found if agrees(one.shares, one.weight, one.chance) and not _is_card(turn, one)]
    return [
        Pick(found=one, reason=_reason(one))
        for one in sorted(found, key=lambda one: -worth_here(one.shares, one.weight) * turn.favour(one.lesson))
    ]


def _is_card(turn: Turn, found: Found) -> bool:
    """Whether it is a linter's rule and nothing is written yet: the lint card tells it at the first edit."""
    return not turn.call.edits and bool(linters_in(f"{found.lesson.title} {found.lesson.insight}"))


def _reason(found: Found) -> str:
    """What the file has to do with it, and the words that agree."""
    about = FILE if any(map(is_decisive, found.shares)) else f"{FILE}'s neighbour"
    words = ", ".join(found.fit.matched[:3])
    return f"{about}; shares {words}" if words else about


def _card(turn: Turn, path: str) -> list[Pick]:
    """The lessons on the language's linters, one a linter, what bit most sessions first; once a session."""
    language = language_of(path)
    reason = f"{CARD}: {language}"
    if not language or turn.count(reason=reason):
        return []
    from holdfast.service.moments.start import grouped

    lessons = turn.of_occasions(f"edit {language}")
    bites: dict[str, int] = {}
    for lesson in lessons:
        for linter in linters_in(f"{lesson.title} {lesson.insight}"):
            bites[linter] = bites.get(linter, 0) + max(1, len(lesson.sessions_seen))

    def order(lesson: Lesson) -> tuple[bool, int, object]:
        most = max((bites[name] for name in linters_in(f"{lesson.title} {lesson.insight}")), default=1)
        return not lesson.pinned, -most, lesson.validity.valid_from

    return grouped(sorted(lessons, key=order), reason)
