"""Before a file is read or edited: triggered lessons, lessons that the session's words agree with, linters' rules."""

from __future__ import annotations

from holdfast.domain.briefing import Briefing
from holdfast.lean.records import replace
from holdfast.ports.lessonstore import get_readable
from holdfast.ranking.pushing import agrees, words_agree, worth_here
from holdfast.ranking.retrievers import score_triggers
from holdfast.ranking.threshold import is_sufficient_alone
from holdfast.recall.moments.context import Pick, as_found, telling
from holdfast.recall.retrieve import retrieve
from holdfast.recall.surroundings import symbols_at
from holdfast.recall.tuning import (
    BAIT_LINES,
    CARD_LINES,
    EDIT_CHARACTERS,
    FILE_LINES,
    SESSION_BAITS,
    SESSION_FILE_LINES,
    TRIGGER_LINES,
    TRIGGERS_READ,
)
from holdfast.text.occasions import language_of, lint_languages, linters_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.domain.lesson import Lesson
    from holdfast.domain.query import Query
    from holdfast.domain.vocabulary import LessonId
    from holdfast.recall.moments.context import MomentContext
    from holdfast.recall.score import RetrievedLesson

FILE, TRIGGER, CARD, BAIT = "about this file", "trigger", "lint card", "a linter looks at"


def before_file(context: MomentContext) -> Briefing:
    """Deliver a triggered lesson, or one about the file that the session's words agree with, and linters' rules."""
    files = context.files()
    if not files or not context.room:
        return Briefing(moment=context.moment)
    baited, card = _lint(context, files[0]) if context.call.edits else ([], [])
    symbols = symbols_at(context.services, context.location, files[0], context.call)
    triggered = trigger_picks(context, files, symbols) if context.count(reason=TRIGGER) < TRIGGER_LINES else []
    about = _about(context, files, symbols) if not triggered and context.count(reason=FILE) < SESSION_FILE_LINES else []
    return context.tell((triggered, FILE_LINES), (about, FILE_LINES), (baited, BAIT_LINES), (card, CARD_LINES))


def trigger_picks(context: MomentContext, files: Sequence[str] = (), symbols: Sequence[str] = ()) -> list[Pick]:
    """Pick the lessons with a trigger that matches the code or command about to be written or run.

    A path or symbol that a model chose as a trigger is not enough alone: the session's words must agree.
    """
    call = context.call
    code = "\n".join(call.writes) if call.edits else call.command
    query = context.query(code=code, command=call.command, paths=tuple(files), symbols=tuple(symbols))
    hits = score_triggers(context.services.store.match_triggers(query, TRIGGERS_READ), TRIGGERS_READ)
    lessons = get_readable(context.services.store, [hit.id for hit in hits])
    old = "\n".join(call.excerpts)
    picks: list[Pick] = []
    near: dict[LessonId, str] = {}
    for match in as_found(lessons):
        if words := matched(match.lesson, query, old):
            picks.append(Pick(found=match, reason=f"{TRIGGER}: {words}"))
        elif not match.lesson.when.edited and (words := matched_place(match.lesson, query)):
            near[match.lesson.id] = words
    return [*picks, *_agreeing(context, near)]


def matched(lesson: Lesson, query: Query, old: str = "") -> str:
    """Return the trigger that is enough alone; empty without one, or where the replaced text contains it too."""
    from holdfast.text.globs import glob_matches, names_only_an_ending
    from holdfast.text.shell import simple_commands
    from holdfast.text.triggermatch import begins, stands_in

    for literal in lesson.when.literals:
        if stands_in(literal, query.code) and not stands_in(literal, old):
            return literal
    commands = [" ".join(words) for words in simple_commands(query.command)]
    for beginning in lesson.when.commands:
        if any(begins(command, beginning) for command in commands):
            return beginning
    waits = bool(lint_languages(lesson))  # it is delivered for code that its linter checks, not for every such file
    for glob in lesson.globs:
        if waits and names_only_an_ending(glob) and not lesson.when.edited:
            continue
        if any(glob_matches(glob, path) for path in query.paths):
            return glob
    return matched_place(lesson, query) if lesson.when.edited else ""


def matched_place(lesson: Lesson, query: Query) -> str:
    """Return the path or symbol among the lesson's triggers that is in play; empty without one."""
    from holdfast.text.globs import glob_matches, names_only_an_ending

    waits = not lesson.when.edited and bool(lint_languages(lesson))
    for glob in lesson.when.paths:
        if not (waits and names_only_an_ending(glob)) and any(glob_matches(glob, path) for path in query.paths):
            return glob
    in_play = {symbol.rpartition(".")[2].casefold() for symbol in query.symbols}
    return next((name for name in lesson.when.symbols if name.rpartition(".")[2].casefold() in in_play), "")


def _agreeing(context: MomentContext, places: Mapping[LessonId, str]) -> list[Pick]:
    """Pick lessons whose trigger names a place in play if the session's words agree with them, the best first."""
    if not places:
        return []
    retrieval = retrieve(
        context.services,
        context.query(text=_subject(context)),
        ("text",),
        admit=lambda match: match.lesson.id in places,
    )
    return [
        Pick(found=match, reason=f"{TRIGGER}: {places[match.lesson.id]}")
        for match in sorted(retrieval.matches, key=lambda match: -match.weight)
        if words_agree(match.weight, match.corpus, places[match.lesson.id] in match.lesson.when.symbols)
    ]


def _subject(context: MomentContext) -> str:
    """Return the words that say what the session and this edit are about."""
    edit = "\n".join((*context.call.excerpts, *context.call.writes))[:EDIT_CHARACTERS]
    return f"{context.subject()} {telling(edit)}"


def _about(context: MomentContext, files: Sequence[str], symbols: Sequence[str]) -> list[Pick]:
    """Pick lessons about the file, or a close one, that the prompt, the last reply or the edit agree with."""
    places = context.query(paths=files, symbols=symbols)
    if not context.services.store.match_paths(places, 1):
        return []
    query = replace(places, text=_subject(context))
    retrieval = retrieve(context.services, query, ("text", "path", "symbol"))
    context.degraded = retrieval.degraded
    matches = [
        match
        for match in retrieval.matches
        if agrees(match.shares, match.weight, match.corpus) and not _is_card(context, match)
    ]
    return [
        Pick(found=match, reason=_reason(match))
        for match in sorted(
            matches, key=lambda match: -worth_here(match.shares, match.weight) * context.favour(match.lesson)
        )
    ]


def _is_card(context: MomentContext, match: RetrievedLesson) -> bool:
    """Return whether it is a linter's rule and nothing is written yet: an edit delivers it."""
    return not context.call.edits and bool(linters_in(f"{match.lesson.title} {match.lesson.insight}"))


def _reason(match: RetrievedLesson) -> str:
    """Return how the lesson relates to the file, and the words that agree."""
    about = FILE if any(map(is_sufficient_alone, match.shares)) else f"{FILE}'s neighbour"
    words = ", ".join(match.overlap.matched[:3])
    return f"{about}; shares {words}" if words else about


def _lint(context: MomentContext, path: str) -> tuple[list[Pick], list[Pick]]:
    """Return the lessons on linters that check what this edit writes, and the card: lessons on linters of many rules.

    Each linter gives one lesson; the linter that came up in most sessions comes first.
    """
    language = language_of(path)
    if not language:
        return [], []
    from holdfast.recall.moments.start import grouped
    from holdfast.text.baits import has_many_rules

    card_reason = f"{CARD}: {language}"
    wants_card = not context.count(reason=card_reason)
    baits = _baits(context) if context.count(reason=BAIT) < SESSION_BAITS else {}
    if not (wants_card or baits):
        return [], []
    lessons = context.of_occasions(f"edit {language}")
    linters = {lesson.id: linters_in(f"{lesson.title} {lesson.insight}") for lesson in lessons}
    bites: dict[str, int] = {}
    for lesson in lessons:
        for linter in linters[lesson.id]:
            bites[linter] = bites.get(linter, 0) + max(1, len(lesson.sessions_seen))

    def order(lesson: Lesson) -> tuple[bool, int, object]:
        most = max((bites[name] for name in linters[lesson.id]), default=1)
        return not lesson.pinned, -most, lesson.validity.valid_from

    lessons.sort(key=order)
    alarmed = [lesson for lesson in lessons if any(name in baits for name in linters[lesson.id])]
    others = [lesson for lesson in lessons if any(map(has_many_rules, linters[lesson.id]))] if wants_card else []

    def alarming(pick: Pick) -> Pick:
        words = next(baits[name] for name in linters[pick.found.lesson.id] if name in baits)
        return replace(pick, reason=f"{BAIT}: {words}")

    return list(map(alarming, grouped(alarmed, BAIT))), grouped(others, card_reason)


def _baits(context: MomentContext) -> dict[str, str]:
    """Return the linters that check something this edit writes, each with the words that they check."""
    from holdfast.text.baits import bait_of, known_linters

    new, old = "\n".join(context.call.writes), "\n".join(context.call.excerpts)
    baits = {linter: bait_of(linter, new, old) for linter in known_linters()}
    return {linter: words for linter, words in baits.items() if words}
