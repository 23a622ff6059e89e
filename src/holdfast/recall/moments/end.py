"""Before the end of a turn, each once a session: the standing rule whose occasion came and whose act is missing, and
the question what the session taught.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from holdfast.domain.briefing import Briefing
from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.ports.store import get_readable
from holdfast.recall.moments.asking import may_ask, must_ask
from holdfast.recall.moments.context import MomentContext, Pick, as_found
from holdfast.recall.tuning import END_EVENTS, OCCASION_DEPTH
from holdfast.text.occasions import habit_of, language_of, plain_words
from holdfast.text.shell import command_lines
from holdfast.text.triggermatch import begins
from holdfast.text.words import word_set

REMINDER = "a standing rule this session left out"
TESTS = "tests with the change"
BEFORE_THE_END = ("before you say", "before you finish", "before finishing", "when you are done", "before saying")
"""Words of a rule about the end of a piece of work."""
ENDING = word_set("done finished finish ready complete completed")


def before_end(context: MomentContext) -> Briefing:
    """Deliver the missing rule, and ask what was learnt."""
    reminds, asks = _may_remind(context), may_ask(context)
    events = context.events(END_EVENTS) if reminds or asks else []
    briefing = _missing_rule(context, events) if reminds else Briefing(moment=context.moment)
    return replace(briefing, asks=asks and must_ask(context, events))


def _may_remind(context: MomentContext) -> bool:
    """Return whether the session was not reminded of a rule yet, and there is room for one."""
    return not context.count(moment="before_end") and context.budget > 0


def _missing_rule(context: MomentContext, events: Sequence[Event]) -> Briefing:
    """Deliver the first standing rule that edits of this session called for and that nothing followed."""
    edits = (event for event in events if event.kind == "file_edit")
    edited = {path for event in edits for path in event.files if language_of(path)}
    if not edited:
        return Briefing(moment=context.moment)
    commands = [command for event in events if event.command for command in command_lines(event.command)]
    query = replace(context.query(occasions=("standing", "lint", "test")), exclude=())
    rules = get_readable(context.services.store, context.services.store.match_occasions(query, OCCASION_DEPTH))
    missing = [rule for rule in rules if rule.trust == "person" and _is_missing(rule, edited, commands)]
    picks = [Pick(found=match, reason=REMINDER, again=True, general=True) for match in as_found(missing)]
    return context.tell(picks, 1)


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
