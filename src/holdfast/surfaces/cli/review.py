"""`holdfast review`: go through conflicts, the inbox and lessons that may have gone stale, on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import click

from holdfast.bootstrap import Memory
from holdfast.curation.audit import Finding
from holdfast.curation.conflicts import Conflict
from holdfast.domain.lesson import Lesson
from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.lean.texts import short_id
from holdfast.rendering.lines import source_word
from holdfast.rendering.views import lesson_json
from holdfast.surfaces.cli._completions import lesson_ids
from holdfast.surfaces.cli._conflicts import conflict_json, walk_conflicts
from holdfast.surfaces.cli.call import (
    Call,
    answer_json,
    counted,
    examples,
    folder_option,
    json_option,
    note,
    pass_call,
    say,
)
from holdfast.surfaces.cli.rows import labelled, summary_lines
from holdfast.surfaces.cli.show import LABEL
from holdfast.text.window import clip

ANSWERS = "a accept   e edit   r reject   R reject all   l later   q quit   ? help"
HELP = """a  make the lesson active as it is
e  edit it in $EDITOR; it becomes active when you save
r  reject it: the lesson is retired
l  decide later
R  reject this lesson and all that follow; asks first
q  stop; the answers so far are saved
holdfast undo takes back the last answer"""
STALE_ANSWERS = "a keep   e edit   r forget   {promote}l later   q quit   ? help"
STALE_HELP = """a  keep the lesson as it is; it is not listed again for 90 days
e  edit it in $EDITOR
r  forget it: take it out of use for good
p  make it one lesson for all projects, which replaces those that say the same
l  decide later; it is not listed again for 7 days
q  stop; the answers so far are saved
holdfast undo takes back the last answer"""
TURN_SHOWN = 280
"""Characters of a turn that are shown beside a lesson."""
EDITED = ("insight", "why", "how")
COUNTED = {"both": "kept both"}


@click.command(
    epilog=examples(
        "holdfast review",
        "holdfast review --list",
        "holdfast review --accept 1f0c9a2b --accept 77ab03e1 --reject 90d2c4aa",
        "holdfast review --keep 1f0c9a2b",
        "holdfast review --both 1f0c9a2b 77ab03e1",
    )
)
@click.option("--list", "only_list", is_flag=True, help="Print the lessons; change nothing.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=20, show_default=True, help="How many lessons to go through."
)
@click.option(
    "--accept",
    "accepted",
    metavar="ID",
    multiple=True,
    shell_complete=lesson_ids,
    help="Make this lesson active, or confirm that it still holds; may be repeated.",
)
@click.option(
    "--reject",
    "rejected",
    metavar="ID",
    multiple=True,
    shell_complete=lesson_ids,
    help="Retire this lesson, or forget an active one; may be repeated.",
)
@click.option(
    "--later",
    "later",
    metavar="ID",
    multiple=True,
    shell_complete=lesson_ids,
    help="Do not list this lesson for 7 days; may be repeated.",
)
@click.option(
    "--promote",
    "promoted",
    metavar="ID",
    multiple=True,
    shell_complete=lesson_ids,
    help="Make this one lesson for all projects; may be repeated.",
)
@click.option(
    "--keep",
    "winners",
    metavar="ID",
    multiple=True,
    shell_complete=lesson_ids,
    help="Keep this lesson and close the ones that contradict it; may be repeated.",
)
@click.option(
    "--both",
    metavar="ID ID",
    nargs=2,
    multiple=True,
    shell_complete=lesson_ids,
    help="Keep both lessons of a conflict; may be repeated.",
)
@json_option
@folder_option
@pass_call
def command(
    call: Call, /, only_list: bool, limit: int, both: tuple[tuple[str, str], ...], **answers: tuple[str, ...]
) -> None:
    """Go through conflicts, then the lessons that wait for your decision, then those that may have gone stale.

    A conflict is two lessons that contradict each other. The better trusted or newer one comes first. Keep one of
    them, or say that both hold.

    Accept each waiting lesson, edit it in $EDITOR, which also makes it active, reject it, or leave it for later. An
    answer takes effect at once; `holdfast undo` takes it back.

    At most five lessons a day follow that are in doubt: users overruled them, their code changed or is gone, another
    lesson says the same, their confidence is low, no session was shown them for a month, or they were of no use for 90
    days. A lesson that other projects learnt too can become one for all projects.
    """
    with call.open() as memory:
        if both or any(answers.values()):
            _answer(call, memory, answers, both)
        elif only_list or call.as_json:
            waiting, conflicts = memory.inbox(), memory.conflicts()
            word = f"of {len(waiting)} waiting" if len(waiting) > limit else "waiting"
            _print(call, waiting[:limit], word, conflicts, memory.audit())
        elif not sys.stdin.isatty():
            raise InvalidValueError("review asks questions and needs a terminal", hint="holdfast review --list")
        else:
            _walk(memory, limit)


def _answer(call: Call, memory: Memory, answers: dict[str, tuple[str, ...]], both: tuple[tuple[str, str], ...]) -> None:
    verbs: dict[str, Callable[[str], Lesson]] = {
        "accepted": partial(_accept, memory), "rejected": partial(_reject, memory), "later": memory.put_off,
        "promoted": memory.promote, "winners": memory.settle,
    }  # fmt: skip
    for ref in (*(ref for refs in answers.values() for ref in refs), *(ref for pair in both for ref in pair)):
        memory.get(ref)  # raise for an unknown id before the first decision is stored
    done = [verb(ref) for name, verb in verbs.items() for ref in answers[name]]
    done += [memory.keep_both(*pair) for pair in both]
    _print(call, done, "done")


def _accept(memory: Memory, ref: str) -> Lesson:
    return memory.keep(ref) if memory.get(ref).state == "active" else memory.accept(ref)


def _reject(memory: Memory, ref: str) -> Lesson:
    return memory.forget(ref) if memory.get(ref).state == "active" else memory.reject(ref)


def _print(
    call: Call,
    lessons: list[Lesson],
    word: str,
    conflicts: Sequence[Conflict] = (),
    doubted: Sequence[Finding] = (),
) -> None:
    if call.as_json:
        pairs = [conflict_json(conflict) for conflict in conflicts]
        doubts = [
            {"lesson": lesson_json(finding.lesson), "reason": _words(finding), "reasons": finding.names,
             "twins": finding.twins}
            for finding in doubted
        ]  # fmt: skip
        answer_json({
            "lessons": [lesson_json(lesson) for lesson in lessons], "conflicts": pairs, "in_doubt": doubts,
        })  # fmt: skip
        return
    for lesson in lessons:
        for line in summary_lines(lesson, lesson.state):
            say(line)
    note(f"{len(lessons)} {word}")
    if conflicts:
        note(f"{counted(len(conflicts), 'conflict')}: holdfast list --conflicts")
    for finding in doubted:
        say(f"in doubt  {short_id(finding.lesson.id)}  {finding.lesson.title}: {_words(finding)}")


def _words(finding: Finding) -> str:
    return "; ".join(words for _, words in finding.reasons)


def _walk(memory: Memory, limit: int) -> None:
    counts = dict.fromkeys(
        ("accepted", "edited", "rejected", "later", "settled", "both", "kept", "forgotten", "promoted"), 0
    )
    conflicts = memory.conflicts()
    inbox = memory.inbox()
    waiting = _by_session(inbox[:limit])
    findings = memory.audit()[: memory.left_today()]
    if not (conflicts or waiting or findings):
        note("nothing is waiting")
        return
    if (
        walk_conflicts(memory, conflicts[:limit], counts)
        and _walk_waiting(memory, waiting, len(inbox), counts)
        and _walk_findings(memory, findings, counts)
        and len(inbox) > limit
    ):
        note(f"{len(inbox) - limit} less promising lessons are waiting: holdfast review --limit {len(inbox)}")
    _tell_counts(counts)


def _walk_waiting(memory: Memory, waiting: Sequence[Lesson], every: int, counts: dict[str, int]) -> bool:
    """Ask about each lesson that waits; return False if the person quit."""
    for number, lesson in enumerate(waiting, 1):
        say(f"\n{number} of {len(waiting)}{_session_of(lesson)}")
        for line in (*_card(lesson, *memory.verdicts([lesson])[0]), *_conversation(memory, lesson)):
            say(line)
        outcome = _ask(memory, lesson)
        if outcome == "all" and _agreed(len(waiting) - number + 1):
            for left in waiting[number - 1 :]:
                memory.reject(left.id)
                counts["rejected"] += 1
            return True
        if outcome == "quit":
            return False
        counts["later" if outcome == "all" else outcome] += 1
        rest = f"{every - number} left"
        say(f"{short_id(lesson.id)}  {outcome}, {rest}" if outcome != "all" else f"left for later, {rest}")
    return True


def _walk_findings(memory: Memory, findings: Sequence[Finding], counts: dict[str, int]) -> bool:
    """Ask about each lesson that may have gone stale; return False if the person quit."""
    for number, finding in enumerate(findings, 1):
        say(f"\nin doubt {number} of {len(findings)}")
        for line in _card(finding.lesson, *memory.verdicts([finding.lesson])[0]):
            say(line)
        say(click.style(f"  {_words(finding)}", fg="yellow"))
        outcome = _ask_stale(memory, finding)
        if outcome == "quit":
            return False
        counts[outcome] += 1
        say(f"{short_id(finding.lesson.id)}  {outcome}")
    return True


def _tell_counts(counts: dict[str, int]) -> None:
    note(", ".join(f"{count} {COUNTED.get(word, word)}" for word, count in counts.items() if count))


def _by_session(waiting: Sequence[Lesson]) -> list[Lesson]:
    """Return the lessons grouped by session; the session with the most promising lesson comes first."""
    sessions: dict[str, list[Lesson]] = {}
    for lesson in waiting:
        sessions.setdefault(lesson.provenance.session or lesson.id, []).append(lesson)
    return [lesson for together in sessions.values() for lesson in together]


def _session_of(lesson: Lesson) -> str:
    source = lesson.provenance
    return (
        f", from a {source.host or 'known'} session of {lesson.validity.valid_from:%d %b %Y}" if source.session else ""
    )


def _card(lesson: Lesson, freshness: str, caveat: str) -> list[str]:
    """Return what a person needs to decide: the rule, its grounds, and the code it is about; `show` prints the rest."""
    rows = summary_lines(lesson, source_word(lesson), freshness)
    stated = f"{lesson.title} {lesson.insight}"
    labels = [("insight", lesson.insight if lesson.insight != lesson.title else ""), ("why", lesson.why)]
    labels += [("how", lesson.how), ("symbols", ", ".join(lesson.symbols)), ("changed", caveat)]
    quotes = (" ".join(span.quote.split()) for span in lesson.provenance.evidence)
    labels += [("evidence", f'"{clip(quote, TURN_SHOWN)}"') for quote in quotes if quote and quote not in stated]
    return rows + [line for label, text in labels if text for line in labelled(label, text, LABEL)]


def _conversation(memory: Memory, lesson: Lesson) -> list[str]:
    """Return the turns of the conversation around the lesson's evidence, shortened."""
    lines = []
    for event in memory.surrounding(lesson):
        speaker = "user" if event.kind == "prompt" else "agent"
        lines += labelled(speaker, clip(" ".join(event.text.split()), TURN_SHOWN), LABEL)
    return ["", "the conversation around it", *lines] if lines else []


def _ask(memory: Memory, lesson: Lesson) -> str:
    """Ask until a key is valid; return accepted, edited, rejected, later, quit, or `all` to reject all that follow."""
    while True:
        say(ANSWERS)
        key = click.getchar()
        if key == "R":
            return "all"
        key = key.lower()
        try:
            if key == "a":
                memory.accept(lesson.id)
                return "accepted"
            if key == "e" and edit_lesson(memory, lesson):
                return "edited"
            if key == "r":
                memory.reject(lesson.id)
                return "rejected"
        except HoldfastError as exc:  # it concerns this lesson only; the others can still be answered
            note(f"error: {exc}")
            continue
        if key == "?":
            say(HELP)
        if key in "lq":
            return {"l": "later", "q": "quit"}[key]


def _ask_stale(memory: Memory, finding: Finding) -> str:
    """Ask until a key is valid; return kept, edited, forgotten, promoted, later or quit."""
    lesson = finding.lesson
    while True:
        say(STALE_ANSWERS.format(promote="p for all projects   " if finding.twins else ""))
        key = click.getchar().lower()
        try:
            if key == "a":
                memory.keep(lesson.id)
                return "kept"
            if key == "l":
                memory.put_off(lesson.id)
                return "later"
            outcome = _end_stale(memory, finding, key)
        except HoldfastError as exc:  # it concerns this lesson only; the others can still be answered
            note(f"error: {exc}")
            continue
        if outcome:
            memory.note_decided()
            return outcome
        if key == "q":
            return "quit"
        if key == "?":
            say(STALE_HELP)


def _end_stale(memory: Memory, finding: Finding, key: str) -> str:
    """Replace or forget the lesson if the key says so; return what was done, or empty."""
    if key == "e" and edit_lesson(memory, finding.lesson):
        return "edited"
    if key == "r":
        memory.forget(finding.lesson.id)
        return "forgotten"
    if key == "p" and finding.twins:
        memory.promote(finding.lesson.id)
        return "promoted"
    return ""


def _agreed(number: int) -> bool:
    return click.confirm(f"Reject {counted(number, 'lesson')}?", default=False)


def edit_lesson(memory: Memory, lesson: Lesson) -> bool:
    """Let the person rewrite the lesson in an editor; return False if nothing was changed."""
    edited = click.edit(_sheet(lesson), extension=".txt")
    changes: dict[str, Any] = {
        name: text for name, text in _parse_sheet(edited or "").items() if text != getattr(lesson, name)
    }
    if edited is None or not changes:
        note("not changed")
        return False
    revised = memory.revise(lesson.id, **changes)
    note(f"active as {short_id(revised.id)}")
    return True


def _sheet(lesson: Lesson) -> str:
    """Return what the editor shows: a section with a heading for each text."""
    parts = "".join(f"== {name}\n{getattr(lesson, name)}\n\n" for name in EDITED)
    return parts + "# Lines that begin with # are ignored. Save and close to make the lesson active.\n"


def _parse_sheet(text: str) -> dict[str, str]:
    """Return the texts by the name of their section; a missing section is left out."""
    parts: dict[str, list[str]] = {}
    part: list[str] = []
    for line in text.splitlines():
        if line.startswith("== ") and line[3:].strip() in EDITED:
            part = parts.setdefault(line[3:].strip(), [])
        elif not line.startswith("#"):
            part.append(line)
    return {name: "\n".join(lines).strip() for name, lines in parts.items()}
