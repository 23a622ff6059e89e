"""Before a command: earlier failures of it, lessons that it triggers, and once a session a line for its kind."""

from __future__ import annotations

from holdfast.domain.briefing import Briefing
from holdfast.domain.kinds import profile_of
from holdfast.lean.records import replace
from holdfast.ports.lessonstore import get_readable
from holdfast.recall.moments.context import Pick, as_found
from holdfast.recall.moments.files import TRIGGER, trigger_picks
from holdfast.recall.moments.start import grouped
from holdfast.recall.retrieve import retrieve
from holdfast.recall.tuning import COMMAND_LINES, EDITS_READ, SESSION_COMMAND_LINES, TRIGGER_LINES
from holdfast.text.occasions import CARDS, command_kinds, group_keys, habit_of, how_to_commands, language_of
from holdfast.text.shell import simple_commands
from holdfast.text.signature import command_target
from holdfast.text.triggermatch import begins

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.domain.lesson import Lesson
    from holdfast.recall.moments.context import MomentContext
    from holdfast.recall.score import RetrievedLesson

ENDINGS = ("commit", "pr")
"""Kinds of commands that hand in work."""
TESTS = "tests with the change"
COMMAND, KIND, REMINDER = "about this command", "first command to", "a standing rule this session left out"


def before_command(context: MomentContext) -> Briefing:
    """Deliver lessons about this command, a triggered lesson, a line for its kind, and a reminder before handing in."""
    line = context.call.command
    target = command_target(line)
    if not target or not context.room:
        return Briefing(moment=context.moment)
    kinds = command_kinds(line)
    known = _command_picks(context, target) if context.count(reason=COMMAND) < SESSION_COMMAND_LINES else []
    triggered = trigger_picks(context) if context.count(reason=TRIGGER) < TRIGGER_LINES else []
    triggered = [pick for pick in triggered if not names_what_runs(pick.found.lesson, line)]
    if kinds:  # the line for the kind, told once a session, covers triggers that only name the command
        triggered = [
            pick for pick in triggered if pick.reason.removeprefix(f"{TRIGGER}: ") in pick.found.lesson.when.literals
        ]
    parts = [(known, COMMAND_LINES), (triggered, COMMAND_LINES)]
    for kind in kinds:
        reason = f"{KIND} {kind}"
        if not context.count(reason=reason):
            parts.append((_kind_picks(context, kind, reason), COMMAND_LINES))
    if set(kinds).intersection(ENDINGS) and not context.count(reason=REMINDER):
        parts.append((_reminder_picks(context), COMMAND_LINES))
    return context.tell(*parts)


def names_what_runs(lesson: Lesson, line: str) -> bool:
    """Return whether the lesson is a command card that says nothing new: the line runs a command that it names.

    A card that says to run something else first is new even then.
    """
    if not lesson.topic_key.startswith(CARDS) or " && " in lesson.how:
        return False
    commands = [" ".join(words) for words in simple_commands(line)]
    targets = {command_target(command) for command in commands}
    return any(
        name in targets or any(begins(command, name) for command in commands) for name in how_to_commands(lesson)
    )


def _command_picks(context: MomentContext, target: str) -> list[Pick]:
    """Pick the lessons whose subject is this command, except the card, which names it and says nothing new."""

    def about_it(match: RetrievedLesson) -> bool:
        lesson = match.lesson
        return (
            profile_of(lesson.kind).is_told_at_command
            and lesson.command == target
            and not lesson.topic_key.startswith(CARDS)
        )

    retrieval = retrieve(context.services, context.query(command=context.call.command), ("exact",), admit=about_it)
    context.degraded = retrieval.degraded
    return [Pick(found=match, reason=COMMAND) for match in retrieval.matches]


def _kind_picks(context: MomentContext, kind: str, reason: str) -> list[Pick]:
    """Pick how such commands are run here: the command card, then what most lessons say, then the oldest."""
    lessons = [lesson for lesson in context.of_occasions(kind) if not names_what_runs(lesson, context.call.command)]
    size: dict[str, int] = {}
    for lesson in lessons:
        for key in group_keys(lesson):
            size[key] = size.get(key, 0) + 1

    def order(lesson: Lesson) -> tuple[bool, bool, int, object]:
        group = max(size[key] for key in group_keys(lesson))
        return not lesson.pinned, not lesson.topic_key.startswith(CARDS), -group, lesson.validity.valid_from

    return grouped(sorted(lessons, key=order), reason)


def _reminder_picks(context: MomentContext) -> list[Pick]:
    """Pick the rule that tests come with a change, if this session edited code and no test."""
    query = replace(context.query(occasions=("standing",)), exclude=())
    ids = context.services.store.match_occasions(query, EDITS_READ)
    rules = [lesson for lesson in get_readable(context.services.store, ids) if habit_of(lesson.insight) == TESTS]
    if not rules or not _edits_code_alone(context):
        return []
    return [Pick(found=match, reason=REMINDER, again=True) for match in as_found(rules[:1])]


def _edits_code_alone(context: MomentContext) -> bool:
    from holdfast.ports.filters import EventFilter

    where = EventFilter(project=context.location.project.id, session=context.call.session, last=EDITS_READ)
    events = (event for _, event in context.services.store.find_events(where) if event.kind == "file_edit")
    files = {path for event in events for path in event.files if language_of(path)}
    return bool(files) and not any("test" in path.lower() or "spec" in path.lower() for path in files)
