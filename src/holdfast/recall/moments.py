"""What to tell when: a function for each moment, named after it, which returns a `MomentChoice`.

- At a session's start and after a compaction: the state of the task, and the brief.
- On a prompt: the nearest lessons in full words, and the titles of near ones that were not told yet.
- At the act (before a file, before a command, after a failure): lessons in full words when their trigger is there. A
  trigger is a piece of code, a command, a path or a symbol that a rule, a model or a person wrote; the file or symbol
  that the lesson is about; or the error that it answers. What was typed before does not matter.
- Before the end of a turn, each once a session: the standing rule whose occasion came and whose act is missing, and the
  question what the session taught. The question costs no call of a model, only a turn of the agent that is at work
  anyway, and it is not asked where a model distils the session afterwards. An agent that ends without stating anything
  is let go, and not asked again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

from holdfast.curation.checkpoint import STATE_TOKENS, current, is_work, matching, render, saved
from holdfast.curation.sessionstate import GOING_ON, answers_where_left_off
from holdfast.domain.briefing import Briefing, RetrieverShare
from holdfast.domain.event import Event
from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Lesson
from holdfast.domain.moments import MOMENT_PROFILES, RESTORING_MOMENTS
from holdfast.domain.query import Query
from holdfast.domain.records import Checkpoint, Delivery
from holdfast.domain.statefamilies import ASKED, LEARNING_TROUBLE, OPEN_THREADS
from holdfast.domain.vocabulary import LessonId
from holdfast.outcomes.standing import is_withheld
from holdfast.outcomes.tuning import OPEN_DAYS
from holdfast.ports.store import LogFilter, get_readable
from holdfast.ranking.relevance import EVERYDAY, TELLING, overlap_of, stems_of, weigh
from holdfast.ranking.retrievers import score_triggers
from holdfast.ranking.threshold import (
    PUSHED,
    is_sufficient_alone,
    relevance_of,
    shares_subject_with,
    words_meet_threshold,
)
from holdfast.ranking.tuning import NAME_WEIGHT
from holdfast.recall.brief import Room, session_brief
from holdfast.recall.briefline import branch_of
from holdfast.recall.failure import answers_failure, read_failure
from holdfast.recall.question import read_question, with_vector
from holdfast.recall.retrieve import Retrieval, RetrievedLesson, retrieve
from holdfast.recall.situation import TITLED, MomentChoice, Pick, as_found
from holdfast.recall.surroundings import symbols_at
from holdfast.recall.tuning import (
    ABOUT_FILE_LINES,
    ACT_LINES,
    ACT_POOL,
    ACT_TITLES,
    CHECKPOINT_DAYS,
    CLEARLY_NEAREST,
    END_EVENTS,
    FILE_LINES,
    FULL_LINES,
    KIND_LINES,
    LATER_PROMPT_NEAREST,
    LONG_ACTS,
    LONG_PROMPT,
    LONG_PROMPTS,
    OCCASION_DEPTH,
    OPENING_WORDS,
    PROMPT_LINES,
    PROMPT_POOL,
    SAME_BRANCH,
    SEARCH_COVERAGE,
    SEARCH_LINES,
    STRONG_WORDS,
    SUBJECT_SHARED,
    TRIGGERS_READ,
)
from holdfast.text.globs import glob_matches, names_only_an_ending
from holdfast.text.occasions import (
    CARDS,
    command_kinds,
    habit_of,
    how_to_commands,
    language_of,
    lint_languages,
    plain_words,
)
from holdfast.text.shell import command_lines, command_target
from holdfast.text.speech import MACHINE_OPENINGS
from holdfast.text.triggers import begins, last_part, stands_in
from holdfast.text.words import word_set

if TYPE_CHECKING:
    from holdfast.recall.situation import Situation

TRIGGER, FILE, SYMBOL = "trigger", "about this file", "about this symbol"
COMMAND, KIND, ANSWERS = "about this command", "first command to", "answers this failure"
SEARCH = "names what is searched for"

WRITTEN_WHOLE = (*MACHINE_OPENINGS, "Implement the following plan:", "[SYSTEM NOTIFICATION")
"""Beginnings of prompts that a program wrote."""
RETRIEVERS = ("exact", "text", "path", "vector")

REMINDER = "a standing rule this session left out"
LEFT_OUT = "left out before"
TESTS = "tests with the change"
BEFORE_THE_END = ("before you say", "before you finish", "before finishing", "when you are done", "before saying")
"""Words of a rule about the end of a piece of work."""
ENDING = word_set("done finished finish ready complete completed")

REQUEST = (
    "Before you finish: what did this session teach that its code does not show (a rule or correction of the user, a "
    "cause that took work to find, an approach that failed)? State it in one call of Holdfast's tool `remember`: a "
    "list, each entry with the lesson, its files, and as quote the exact words of this session behind it. If it taught "
    "nothing, call nothing. Then repeat your answer to the user, so that it is the last word. You are asked once."
)
OBJECTIONS = (
    "no,", "no.", "no!", "no ", "nope", "don't", "dont ", "do not", "stop", "wrong", "not like", "that's not",
    "that is not", "thats not", "actually", "instead", "undo", "revert", "never ", "wait",
)  # fmt: skip
"""Beginnings of a prompt that objects to what was just done."""


# At the start


def session_start(here: Situation) -> MomentChoice:
    """Tell the state of the task and the brief; to an agent that was told before, only what is new."""
    call, services = here.call, here.services
    checkpoint = restorable(here, own=True)
    task = render(checkpoint, min(STATE_TOKENS, here.budget // 3)) if checkpoint is not None else ""
    task = "\n".join(filter(None, (*_notices(here, checkpoint), task)))

    def drawn(lesson: LessonId) -> bool:
        return is_withheld(call.session, lesson, services.holdout)

    briefing, withheld = session_brief(
        services,
        here.location,
        Room(tokens=min(here.budget, here.host.start_tokens), characters=here.host.start_characters),
        task=task,
        leave_out=here.log.lessons,
        learnt_in="" if here.forgot else call.session,
        is_withheld=drawn if services.holdout else None,
    )
    if here.log.lessons and not (briefing.entries or task):
        briefing = Briefing()
    brief = replace(briefing, moment=here.moment)
    return MomentChoice(brief=brief, checkpoint=checkpoint, withheld=withheld)


def after_compaction(here: Situation) -> MomentChoice:
    """Tell the same as at a session's start: the agent has lost its context."""
    return session_start(here)


def _notices(here: Situation, checkpoint: Checkpoint | None) -> list[str]:
    """Return the lines that a session is told once, at its start.

    They say why sessions are not learnt from any more, and what earlier sessions on this branch left failing, unless
    the state of the task says it.
    """
    if here.moment != "session_start" or here.log.told or here.call.agent:
        return []
    project = here.location.project.id
    trouble, failures = here.services.store.get_states([(LEARNING_TROUBLE, ""), (OPEN_THREADS, project)])
    if not failures or here.services.serves_team:  # a server knows no branch, and its sessions are many people's
        return [trouble]
    from holdfast.recall.openfailures import failures_line, parse_failures  # late: there is seldom one

    known = [here.call.session, *([checkpoint.session] if checkpoint is not None and checkpoint.failure else [])]
    days = min(OPEN_DAYS, here.services.retention_days or OPEN_DAYS)
    line = failures_line(
        parse_failures(failures), branch=here.location.branch, now=here.now, leave_out=known, days=days
    )
    return [trouble, line]


def restorable(here: Situation, own: bool) -> Checkpoint | None:
    """Return the state of this branch's task to tell without being asked; None if there is none, or it is known.

    `own` admits a state of this session, which it knows unless it was compacted or the agent saved it. Another
    session's state is told to one session; later ones are told only if their prompt is about it.
    """
    services, location, call = here.services, here.location, here.call
    checkpoint = current(services, location) if saved(services, location, 1) else None
    if checkpoint is None or checkpoint.id in here.log.lessons:
        return None
    if here.now - checkpoint.at > timedelta(days=CHECKPOINT_DAYS):
        return None
    if checkpoint.session == call.session:
        is_lost = here.moment == "after_compaction" or not checkpoint.is_automatic
        return checkpoint if own and is_lost else None
    if not is_work(checkpoint):
        return None
    where = LogFilter(project=location.project.id, lesson=LessonId(checkpoint.id), limit=1)
    if not services.store.find_records(Delivery, where):
        return checkpoint
    about = f"{checkpoint.goal}\n{checkpoint.asked}\n{' '.join(checkpoint.next)}"
    return checkpoint if here.moment == "prompt" and shares_subject(call.prompt, about) else None


def shares_subject(prompt: str, task: str) -> bool:
    """Return whether a prompt continues a task: it says so, or shares telling words with it."""
    opening = " ".join(prompt.lower().split()[:OPENING_WORDS])
    if any(phrase in opening for phrase in GOING_ON):
        return True
    telling = {stem for stem in stems_of(task) if stem not in EVERYDAY and len(stem) > 2}
    return len(telling & stems_of(prompt)) >= min(SUBJECT_SHARED, max(1, len(telling)))


# On a prompt


def prompt(here: Situation) -> MomentChoice:
    """Tell the lessons nearest to the prompt, and a task's state or a brief that the start did not deliver."""
    if not here.log.told and "session_start" not in here.host.moments and here.call.host:
        # a host that accepts nothing at a session's start
        return session_start(replace(here, budget=MOMENT_PROFILES["session_start"].budget_tokens))
    retrieval = nearest(here, own_words(here.call.prompt))
    matches = retrieval.matches
    if here.log.count("prompt"):
        matches = matches[:LATER_PROMPT_NEAREST]
        full = 1 if _leads(here, matches) else 0
    else:
        full = FULL_LINES
    picks = [Pick(found=match) for match in matches[:full]]
    picks += [Pick(found=match, is_title=True) for match in matches[full:] if match.lesson.id not in here.log.lessons]
    return MomentChoice(
        picks=tuple(picks), most=PROMPT_LINES, checkpoint=_task_state(here), degraded=retrieval.degraded
    )


def _task_state(here: Situation) -> Checkpoint | None:
    """Return the state that the prompt asks for (`where did we leave off with X?`), or that it goes on with."""
    text, session = here.call.prompt, here.call.session
    if answers_where_left_off(text) and (states := matching(here.services, here.location, text, session)):
        return states[0]
    if any(delivery.moment in RESTORING_MOMENTS for delivery in here.log.told):
        return None
    return restorable(here, own=False)


def own_words(text: str) -> str:
    """Return what a prompt is about: a person's words, or the subject of a prompt that a program wrote."""
    if text.lstrip().startswith(WRITTEN_WHOLE):
        return text[:LONG_PROMPT]
    if len(text) < LONG_PROMPT:
        return text
    from holdfast.text.prompts import read_prompt  # late: few prompts are that long

    read = read_prompt(text)
    return text[:LONG_PROMPT] if read.origin == "machine" else " ".join(read.own.split())


def nearest(here: Situation, words: str) -> Retrieval:
    """Return the lessons that share something informative with the words, nearest first; none for no words."""
    if not words.strip():
        return Retrieval()
    names = read_question(here.services, here.location, words, here.now)
    query = here.query(
        text=names.text, paths=names.paths, symbols=names.symbols, error=names.error, since=names.since,
        until=names.until,
    )  # fmt: skip
    query, _ = with_vector(here.services, query, local=True)  # a host waits, so no request to an endpoint
    retrieval = retrieve(here.services, query, RETRIEVERS, pool=PROMPT_POOL)
    matches = [
        match
        for match in retrieval.matches
        if profile_of(match.lesson.kind).is_told_at_prompt
        if match.named == TELLING or shares_subject_with(match.shares, match.overlap, match.corpus)
    ]
    return replace(retrieval, matches=tuple(sorted(matches, key=lambda match: -_nearness(here, match))))


def _nearness(here: Situation, match: RetrievedLesson) -> float:
    branch = branch_of(match.lesson)
    bonus = SAME_BRANCH if branch and branch == here.location.branch else 0.0
    return (relevance_of(match.shares, match.weight) + bonus) * here.favour(match.lesson)


def _leads(here: Situation, matches: Sequence[RetrievedLesson]) -> bool:
    """Return whether the first match is clearly nearer than the second."""
    nearness = [_nearness(here, match) for match in matches[:2]]
    return bool(nearness) and (len(nearness) == 1 or nearness[0] >= CLEARLY_NEAREST * nearness[1])


# At the act


def before_file(here: Situation) -> MomentChoice:
    """Tell what is triggered and what is about the symbol in play in full words, and more titles.

    Once for each file: before an edit the foremost lesson about it that says what to do, and the titles of those that
    were not told yet; once for each language the titles of its linters' rules. Before a search, lessons come that name
    what is searched for.
    """
    files = here.files()
    if here.budget <= 0:
        return MomentChoice()
    if here.call.search:
        return _named_by(here, here.call.search)
    if not files:
        return MomentChoice()
    symbols = symbols_at(here.services, here.location, files[0], here.call)
    about, degraded = _about(here, files, symbols)
    picks = [*_triggered(here, files, symbols), *about]
    language = language_of(files[0]) if here.call.edits else ""
    if language and not here.log.count(reason=f"{TITLED}; {KIND} edit {language}"):
        reason = f"{KIND} edit {language}"
        picks += _untold(here, [pick.found for pick in _of_kind(here, f"edit {language}")], reason)
    return MomentChoice(picks=tuple(picks), most=FILE_LINES, degraded=degraded)


def before_command(here: Situation) -> MomentChoice:
    """Tell lessons about this command, what it triggers, and the rules for its kind, once a session.

    It is silent where the command already is the lesson's.
    """
    line = here.call.command
    target = command_target(line)
    if not target or here.budget <= 0:
        return MomentChoice()
    about = retrieve(
        here.services,
        here.query(command=line),
        ("exact",),
        admit=lambda match: profile_of(match.lesson.kind).is_told_at_command and match.lesson.command == target,
    )
    picks = [*(Pick(found=match, reason=COMMAND) for match in about.matches), *_triggered(here, (), ())]
    degraded = about.degraded
    if here.call.search:
        named = _named_by(here, here.call.search)
        picks += named.picks[:SEARCH_LINES]
        degraded = named.degraded
    for kind in command_kinds(line):
        picks += _left_out(here, kind, line)
        if not here.log.count(reason=f"{KIND} {kind}"):
            picks += _of_kind(here, kind)
    tellable = tuple(pick for pick in picks if not says_to_run(pick.found.lesson, line))
    return MomentChoice(picks=tellable, most=ACT_LINES, degraded=degraded)


def after_failure(here: Situation) -> MomentChoice:
    """Tell lessons on the same or a similar error, its class and subject, the command, or with strong words."""
    failure = read_failure(here.call.error, here.call.command)
    if not (failure.words or failure.target) or here.budget <= 0:
        return MomentChoice()
    message = weigh(failure.words.partition(": ")[2] if failure.signature else failure.words)

    def answers(match: RetrievedLesson) -> bool:
        lesson = match.lesson
        if says_to_run(lesson, here.call.command):
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

    query = here.query(
        text=failure.words, error=here.call.error if failure.signature else "", command=here.call.command,
        paths=here.files(),
    )  # fmt: skip
    retrieval = retrieve(here.services, query, ("exact", "text"), admit=answers)
    picks = tuple(Pick(found=match, reason=ANSWERS) for match in retrieval.matches)
    return MomentChoice(picks=picks, most=ACT_LINES, degraded=retrieval.degraded)


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


def _triggered(here: Situation, files: Sequence[str], symbols: Sequence[str]) -> list[Pick]:
    """Pick the lessons with a trigger in the code or the command that is about to be written or run."""
    call = here.call
    code = "\n".join(call.writes) if call.edits else call.command
    query = here.query(code=code, command=call.command, paths=tuple(files), symbols=tuple(symbols))
    hits = score_triggers(here.services.store.match_triggers(query, TRIGGERS_READ), TRIGGERS_READ)
    old = "\n".join(call.excerpts)
    picks = []
    for match in as_found(get_readable(here.services.store, [hit.id for hit in hits])):
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


def _about(here: Situation, files: Sequence[str], symbols: Sequence[str]) -> tuple[list[Pick], str]:
    """Pick lessons about the symbols in play, then a few about the file; return them, and what could not answer.

    Rules come first, then the newest.
    """
    retrieval = retrieve(
        here.services,
        here.query(paths=tuple(files), symbols=tuple(symbols)),
        ("path", "symbol"),
        pool=ACT_POOL,
        admit=lambda match: any(share.raw >= 1.0 or share.lane == "symbol" for share in _places(match)),
    )

    def order(match: RetrievedLesson) -> tuple[bool, bool, float]:
        lesson = match.lesson
        at_symbol = any(share.lane == "symbol" for share in _places(match))
        newest = lesson.validity.valid_from.timestamp() * here.favour(lesson)
        return not at_symbol, not profile_of(lesson.kind).is_instruction, -newest

    matches = sorted(retrieval.matches, key=order)
    at_symbol = [match for match in matches if any(share.lane == "symbol" for share in _places(match))]
    picks = [Pick(found=match, reason=SYMBOL) for match in at_symbol]
    if here.log.count(reason=FILE, trigger=files[0]) or here.log.count(reason=f"{TITLED}; {FILE}", trigger=files[0]):
        return picks, retrieval.degraded
    at_file = [match for match in matches if match not in at_symbol]
    orders = [match for match in at_file if profile_of(match.lesson.kind).is_instruction]
    full = orders[:ABOUT_FILE_LINES] if here.call.edits else []
    picks += [Pick(found=match, reason=FILE) for match in full]
    picks += _untold(here, [match for match in at_file if match not in full], FILE)
    return picks, retrieval.degraded


def _untold(here: Situation, matches: Iterable[RetrievedLesson], reason: str) -> list[Pick]:
    """Pick the titles of lessons that the agent was not told yet."""
    untold = [match for match in matches if match.lesson.id not in here.log.lessons]
    return [Pick(found=match, reason=reason, is_title=True) for match in untold[:ACT_TITLES]]


def _places(match: RetrievedLesson) -> list[RetrieverShare]:
    return [share for share in match.shares if share.lane in ("path", "symbol") and is_sufficient_alone(share)]


def _named_by(here: Situation, pattern: str) -> MomentChoice:
    """Choose the lessons that name what a search looks for, the nearest first."""
    names = read_question(here.services, here.location, pattern, here.now)
    query = here.query(text=names.text, paths=names.paths, symbols=names.symbols)
    retrieval = retrieve(here.services, query, ("exact", "text"))
    named = [
        Pick(found=match, reason=SEARCH)
        for match in retrieval.matches
        if match.named == TELLING or (match.overlap.weight >= NAME_WEIGHT and match.overlap.coverage >= SEARCH_COVERAGE)
    ]
    return MomentChoice(picks=tuple(named), most=SEARCH_LINES, degraded=retrieval.degraded)


def _of_kind(here: Situation, kind: str) -> list[Pick]:
    """Pick the rules for a kind of work: pinned ones, the card, a person's words, then the newest."""

    def order(lesson: Lesson) -> tuple[bool, bool, bool, float]:
        is_card = lesson.topic_key.startswith(CARDS)
        return not lesson.pinned, not is_card, lesson.trust != "person", -lesson.validity.valid_from.timestamp()

    lessons = sorted((lesson for lesson in here.of_occasions(kind) if not lesson.when.needs), key=order)
    return [Pick(found=match, reason=f"{KIND} {kind}", general=True) for match in as_found(lessons)][:KIND_LINES]


def _left_out(here: Situation, kind: str, line: str) -> list[Pick]:
    """Pick the rules for a kind of work that name a command which has not passed since the last edit, once an edit.

    A command that the line itself runs counts as passed.
    """
    query = replace(here.query(occasions=(kind,)), exclude=())
    rules = get_readable(here.services.store, here.services.store.match_occasions(query, OCCASION_DEPTH))
    demanding = [rule for rule in rules if rule.when.needs]
    if not demanding:
        return []
    events = here.events(END_EVENTS)
    edits = [at for at, event in enumerate(events) if event.kind == "file_edit"]
    since = events[edits[-1] :] if edits else events
    picks: list[Pick] = []
    for rule in demanding:
        missing = [
            need for need in rule.when.needs
            if not any(begins(command, need) for command in command_lines(line))
            and not any(_passed(event, need) for event in since)
        ]  # fmt: skip
        if missing and not _was_told(here, rule, since):
            note = (
                f"{_as_code(missing)} has not passed since the last edit"
                if edits
                else f"{_as_code(missing)} has not run"
            )
            picks += [
                Pick(found=match, reason=f"{LEFT_OUT} {kind}", again=True, general=True, note=note)
                for match in as_found([rule])
            ]
    return picks


def _was_told(here: Situation, rule: Lesson, since: Sequence[Event]) -> bool:
    """Return whether the agent was told so already since then."""
    began = since[0].at if since else here.now
    return any(
        delivery.lesson == rule.id and delivery.reason.startswith(LEFT_OUT) and delivery.at >= began
        for delivery in here.log.known
    )


def _passed(event: Event, need: str) -> bool:
    """Return whether that command ran, alone or in a line, and ended well as far as the host tells."""
    if event.kind != "tool_result" or event.exit_code not in (None, 0):
        return False
    return any(begins(command, need) for command in command_lines(event.command))


def _as_code(commands: Sequence[str]) -> str:
    """Return commands as code, joined."""
    return " and ".join(f"`{command}`" for command in commands)


# Before the end


def before_end(here: Situation) -> MomentChoice:
    """Tell the missing rule, and ask what was learnt."""
    call = here.call
    reminds = not here.log.count(moment="before_end") and here.budget > 0
    may_ask = bool(call.session) and not call.agent and not here.services.store.get_state(ASKED, call.session)
    events = here.events(END_EVENTS) if reminds or may_ask else []
    choice = _missing_rule(here, events) if reminds else MomentChoice()
    own = [event for event in events if not event.agent]
    return replace(choice, asks=may_ask and is_real_work(own) and here.services.asks_agent())


def _missing_rule(here: Situation, events: Sequence[Event]) -> MomentChoice:
    """Choose the first standing rule that edits of this session called for and that nothing followed."""
    edits = (event for event in events if event.kind == "file_edit")
    edited = {path for event in edits for path in event.files if language_of(path)}
    if not edited:
        return MomentChoice()
    commands = [command for event in events if event.command for command in command_lines(event.command)]
    query = replace(here.query(occasions=("standing", "lint", "test")), exclude=())
    rules = get_readable(here.services.store, here.services.store.match_occasions(query, OCCASION_DEPTH))
    missing = [rule for rule in rules if rule.trust == "person" and _is_missing(rule, edited, commands)]
    picks = [Pick(found=match, reason=REMINDER, again=True, general=True) for match in as_found(missing)]
    return MomentChoice(picks=tuple(picks), most=1)


def _is_missing(rule: Lesson, edited: set[str], commands: list[str]) -> bool:
    """Return whether the session did what calls for the rule and not what the rule asks for."""
    if habit_of(rule.insight) == TESTS:
        return not any("test" in path.lower() or "spec" in path.lower() for path in edited)
    if not _is_about_the_end(rule.insight):
        return False
    wanted = rule.when.commands
    return bool(wanted) and not any(begins(command, name) for command in commands for name in wanted)


def _is_about_the_end(text: str) -> bool:
    low = " ".join(text.lower().split())
    return any(words in low for words in BEFORE_THE_END) or ("before" in low and bool(ENDING & set(plain_words(low))))


def is_real_work(events: Sequence[Event]) -> bool:
    """Return whether something was edited or committed, and it failed on the way, was corrected or took long."""
    acts = [at for at, event in enumerate(events) if event.kind == "file_edit" or "git commit" in event.command]
    if not acts:
        return False
    prompts = [(at, event.text) for at, event in enumerate(events) if event.kind == "prompt"]
    is_corrected = any(at > acts[0] and text.lstrip().lower().startswith(OBJECTIONS) for at, text in prompts)
    is_long = len(prompts) >= LONG_PROMPTS or sum(bool(event.tool) for event in events) >= LONG_ACTS
    return is_corrected or is_long or any(map(_failed, events))


def _failed(event: Event) -> bool:
    """Return whether a command failed; a tool that the host refused teaches nothing."""
    return bool(event.command) and (event.kind == "tool_failure" or event.exit_code not in (None, 0))


CHOOSERS: dict[str, Callable[[Situation], MomentChoice]] = {
    choose.__name__: choose
    for choose in (
        session_start,
        after_compaction,
        prompt,
        before_file,
        before_command,
        after_failure,
        before_end,
    )
}
"""The function of each moment, by its name."""
