"""At the act: before a file, before a command, after a failure. Lines come in full words when their trigger is there.

A trigger is a piece of code, a command, a path or a symbol that a rule, a model or a person wrote; the file or symbol
that the lesson is about; or the error that it answers. What was typed before does not matter.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from holdfast.domain.briefing import Briefing, RetrieverShare
from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Lesson
from holdfast.domain.query import Query
from holdfast.ports.store import get_readable
from holdfast.ranking.names import TELLING
from holdfast.ranking.relevance import overlap_of, weigh
from holdfast.ranking.retrievers import score_triggers
from holdfast.ranking.threshold import PUSHED, is_sufficient_alone, words_meet_threshold
from holdfast.ranking.tuning import NAME_WEIGHT
from holdfast.recall.failure import answers_failure, read_failure
from holdfast.recall.moments.context import TITLED, MomentContext, Pick, as_found
from holdfast.recall.question import question
from holdfast.recall.retrieve import retrieve
from holdfast.recall.score import RetrievedLesson
from holdfast.recall.surroundings import symbols_at
from holdfast.recall.tuning import (
    ABOUT_FILE_LINES,
    ACT_LINES,
    ACT_POOL,
    ACT_TITLES,
    FILE_LINES,
    KIND_LINES,
    SEARCH_COVERAGE,
    SEARCH_LINES,
    STRONG_WORDS,
    TRIGGERS_READ,
)
from holdfast.text.globs import glob_matches, names_only_an_ending
from holdfast.text.occasions import CARDS, command_kinds, how_to_commands, language_of, lint_languages
from holdfast.text.shell import command_lines, command_target
from holdfast.text.triggermatch import begins, last_part, stands_in

TRIGGER, FILE, SYMBOL = "trigger", "about this file", "about this symbol"
COMMAND, KIND, ANSWERS = "about this command", "first command to", "answers this failure"
SEARCH = "names what is searched for"


def before_file(context: MomentContext) -> Briefing:
    """Deliver what is triggered and what is about the symbol in play in full words, and more titles.

    Once for each file: before an edit the foremost lesson about it that says what to do, and the titles of those that
    were not told yet; once for each language the titles of its linters' rules. Before a search, lessons come that name
    what is searched for.
    """
    files = context.files()
    if context.budget <= 0:
        return Briefing(moment=context.moment)
    if context.call.search:
        return context.tell(_named_by(context, context.call.search), SEARCH_LINES)
    if not files:
        return Briefing(moment=context.moment)
    symbols = symbols_at(context.services, context.location, files[0], context.call)
    picks = [*_triggered(context, files, symbols), *_about(context, files, symbols)]
    language = language_of(files[0]) if context.call.edits else ""
    if language and not context.count(reason=f"{TITLED}; {KIND} edit {language}"):
        picks += _untold(
            context, [pick.found for pick in _of_kind(context, f"edit {language}")], f"{KIND} edit {language}"
        )
    return context.tell(picks, FILE_LINES)


def before_command(context: MomentContext) -> Briefing:
    """Deliver lessons about this command, what it triggers, and the rules for its kind, once a session.

    It is silent where the command already is the lesson's.
    """
    line = context.call.command
    target = command_target(line)
    if not target or context.budget <= 0:
        return Briefing(moment=context.moment)
    picks = [*_about_command(context, target), *_triggered(context, (), ())]
    if context.call.search:
        picks += _named_by(context, context.call.search)[:SEARCH_LINES]
    for kind in command_kinds(line):
        if not context.count(reason=f"{KIND} {kind}"):
            picks += _of_kind(context, kind)
    return context.tell([pick for pick in picks if not says_to_run(pick.found.lesson, line)], ACT_LINES)


def after_failure(context: MomentContext) -> Briefing:
    """Deliver lessons on the same or a similar error, its class and subject, the command, or with strong words."""
    failure = read_failure(context.call.error, context.call.command)
    if not (failure.words or failure.target) or context.budget <= 0:
        return Briefing(moment=context.moment)
    message = weigh(failure.words.partition(": ")[2] if failure.signature else failure.words)

    def answers(match: RetrievedLesson) -> bool:
        lesson = match.lesson
        if says_to_run(lesson, context.call.command):
            return False
        if answers_failure(failure, lesson):
            return True
        if failure.signature and lesson.error_signature:
            return False
        same_command = bool(failure.target) and lesson.command == failure.target
        overlap = overlap_of(message, match.stems)
        return (same_command and profile_of(lesson.kind).is_told_at_failure) or (
            overlap.weight >= STRONG_WORDS and words_meet_threshold(overlap, PUSHED, match.shares, match.corpus)
        )

    query = context.query(
        text=failure.words, error=context.call.error if failure.signature else "", command=context.call.command,
        paths=context.files(),
    )  # fmt: skip
    retrieval = retrieve(context.services, query, ("exact", "text"), admit=answers)
    context.degraded = retrieval.degraded
    return context.tell([Pick(found=match, reason=ANSWERS) for match in retrieval.matches], ACT_LINES)


def says_to_run(lesson: Lesson, line: str) -> bool:
    """Return whether the line runs a command that the lesson says to run.

    A lesson that says what to run first is news, and so is one whose words do not name the command: it is its subject.
    """
    is_card = lesson.topic_key.startswith(CARDS)
    if " && " in lesson.how or not (is_card or profile_of(lesson.kind).tells_command):
        return False
    names = [name for name in how_to_commands(lesson) if is_card or name in lesson.insight]
    commands = command_lines(line)
    targets = {command_target(command) for command in commands}
    return any(name in targets or any(begins(command, name) for command in commands) for name in names)


def _triggered(context: MomentContext, files: Sequence[str], symbols: Sequence[str]) -> list[Pick]:
    """Pick the lessons with a trigger in the code or the command that is about to be written or run."""
    call = context.call
    code = "\n".join(call.writes) if call.edits else call.command
    query = context.query(code=code, command=call.command, paths=tuple(files), symbols=tuple(symbols))
    hits = score_triggers(context.services.store.match_triggers(query, TRIGGERS_READ), TRIGGERS_READ)
    old = "\n".join(call.excerpts)
    picks = []
    for match in as_found(get_readable(context.services.store, [hit.id for hit in hits])):
        if words := matched(match.lesson, query, old):
            picks.append(Pick(found=match, reason=f"{TRIGGER}: {words}"))
    return picks


def matched(lesson: Lesson, query: Query, old: str = "") -> str:
    """Return the trigger that matches; empty without one, or where the replaced text contains it too."""
    for literal in lesson.when.literals:
        if stands_in(literal, query.code) and not stands_in(literal, old):
            return literal
    commands = command_lines(query.command)
    for beginning in lesson.when.commands:
        if any(begins(command, beginning) for command in commands):
            return beginning
    # A linter's rule waits for code that its linter checks: it is not told for every file of the language.
    waits = bool(lint_languages(lesson)) and not lesson.when.edited
    for glob in (*lesson.globs, *lesson.when.paths):
        if not (waits and names_only_an_ending(glob)) and any(glob_matches(glob, path) for path in query.paths):
            return glob
    in_play = set(map(last_part, query.symbols))
    return next((name for name in lesson.when.symbols if last_part(name) in in_play), "")


def _about(context: MomentContext, files: Sequence[str], symbols: Sequence[str]) -> list[Pick]:
    """Pick the lessons about the symbols in play, then a few about the file itself; rules first, then the newest."""
    retrieval = retrieve(
        context.services,
        context.query(paths=tuple(files), symbols=tuple(symbols)),
        ("path", "symbol"),
        pool=ACT_POOL,
        admit=lambda match: any(share.raw >= 1.0 or share.lane == "symbol" for share in _places(match)),
    )
    context.degraded = retrieval.degraded

    def order(match: RetrievedLesson) -> tuple[bool, bool, float]:
        lesson = match.lesson
        at_symbol = any(share.lane == "symbol" for share in _places(match))
        newest = lesson.validity.valid_from.timestamp() * context.favour(lesson)
        return not at_symbol, not profile_of(lesson.kind).is_instruction, -newest

    matches = sorted(retrieval.matches, key=order)
    at_symbol = [match for match in matches if any(share.lane == "symbol" for share in _places(match))]
    picks = [Pick(found=match, reason=SYMBOL) for match in at_symbol]
    if context.count(reason=FILE, trigger=files[0]) or context.count(reason=f"{TITLED}; {FILE}", trigger=files[0]):
        return picks
    at_file = [match for match in matches if match not in at_symbol]
    orders = [match for match in at_file if profile_of(match.lesson.kind).is_instruction]
    full = orders[:ABOUT_FILE_LINES] if context.call.edits else []
    picks += [Pick(found=match, reason=FILE) for match in full]
    return picks + _untold(context, [match for match in at_file if match not in full], FILE)


def _untold(context: MomentContext, matches: Iterable[RetrievedLesson], reason: str) -> list[Pick]:
    """Pick the titles of lessons that the agent was not told yet."""
    untold = [match for match in matches if match.lesson.id not in context.known_lessons]
    return [Pick(found=match, reason=reason, is_title=True) for match in untold[:ACT_TITLES]]


def _places(match: RetrievedLesson) -> list[RetrieverShare]:
    return [share for share in match.shares if share.lane in ("path", "symbol") and is_sufficient_alone(share)]


def _named_by(context: MomentContext, pattern: str) -> list[Pick]:
    """Pick the lessons that name what a search looks for, the nearest first."""
    parsed = question(context.services, context.location, pattern)
    query = context.query(text=parsed.text, paths=parsed.paths, symbols=parsed.symbols)
    retrieval = retrieve(context.services, query, ("exact", "text"))
    context.degraded = retrieval.degraded
    return [
        Pick(found=match, reason=SEARCH)
        for match in retrieval.matches
        if match.named == TELLING or (match.overlap.weight >= NAME_WEIGHT and match.overlap.coverage >= SEARCH_COVERAGE)
    ]


def _about_command(context: MomentContext, target: str) -> list[Pick]:
    """Pick the lessons whose subject is this command."""

    def about_it(match: RetrievedLesson) -> bool:
        return profile_of(match.lesson.kind).is_told_at_command and match.lesson.command == target

    retrieval = retrieve(context.services, context.query(command=context.call.command), ("exact",), admit=about_it)
    context.degraded = retrieval.degraded
    return [Pick(found=match, reason=COMMAND) for match in retrieval.matches]


def _of_kind(context: MomentContext, kind: str) -> list[Pick]:
    """Pick the rules for a kind of work: pinned ones, the card, a person's words, then the newest."""

    def order(lesson: Lesson) -> tuple[bool, bool, bool, float]:
        is_card = lesson.topic_key.startswith(CARDS)
        return not lesson.pinned, not is_card, lesson.trust != "person", -lesson.validity.valid_from.timestamp()

    lessons = sorted(context.of_occasions(kind), key=order)
    return [Pick(found=match, reason=f"{KIND} {kind}", general=True) for match in as_found(lessons)][:KIND_LINES]
