"""`holdfast audit`: go through lessons that may have gone stale on the terminal, a few each day."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from holdfast.errors import HoldfastError
from holdfast.lean.texts import short_id
from holdfast.rendering.views import lesson_json
from holdfast.surfaces.cli._completions import lesson_ids
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
from holdfast.surfaces.cli.review import edit_lesson
from holdfast.surfaces.cli.rows import table
from holdfast.surfaces.cli.show import lesson_lines

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.bootstrap import Memory
    from holdfast.curation.audit import Finding
    from holdfast.domain.lesson import Lesson

ANSWERS = "k keep   r revise   f forget   l later   q quit   ? help"
PROMOTING = "k keep   r revise   f forget   p for all projects   l later   q quit   ? help"
HELP = """k  keep the lesson as it is; it is not listed again for 90 days
r  revise it in $EDITOR
f  forget it: take it out of use for good
p  make it one lesson for all projects, which replaces those that say the same
l  decide later; it is not listed again for 7 days
q  stop; the answers so far are saved
holdfast undo takes back the last answer"""
HEADS = ("id", "kind", "title", "why it is here")
VERDICTS = ("kept", "revised", "forgotten", "promoted", "later")


@click.command(
    epilog=examples(
        "holdfast audit",
        "holdfast audit --limit 20",
        "holdfast audit --list --all",
        "holdfast audit --keep 1f0c9a2b --forget 77ab03e1",
    )
)
@click.option("--list", "only_list", is_flag=True, help="Print the lessons; change nothing.")
@click.option("--all", "everything", is_flag=True, help="Also list lessons that you recently kept or put off.")
@click.option(
    "--limit", type=click.IntRange(min=1), default=None, help="How many to go through.  [default: the rest of 5 a day]"
)
@click.option("--keep", "kept", metavar="ID", multiple=True, shell_complete=lesson_ids, help="Keep it; repeatable.")
@click.option("--forget", "forgotten", metavar="ID", multiple=True, shell_complete=lesson_ids, help="Forget it.")
@click.option("--later", "later", metavar="ID", multiple=True, shell_complete=lesson_ids, help="Put it off 7 days.")
@click.option(
    "--promote", "promoted", metavar="ID", multiple=True, shell_complete=lesson_ids, help="Promote it to all projects."
)
@json_option
@folder_option
@pass_call
def command(call: Call, /, only_list: bool, everything: bool, limit: int | None, **answers: tuple[str, ...]) -> None:
    """Go through lessons that may have gone stale, most doubtful first; each takes one key.

    A lesson is listed if its code changed or is gone, if its outcomes were bad, if another lesson says the same, if its
    confidence is low, if no session was shown it for a month, or if it was of no use for 90 days. A lesson is also
    listed if other projects learnt it too. Nothing changes without your answer. In a pipe the lessons are printed.
    """
    with call.open() as memory:
        if any(answers.values()):
            _answer(call, memory, answers)
            return
        findings = memory.audit(everything=everything)
        if only_list or call.as_json or not (sys.stdin.isatty() and sys.stdout.isatty()):
            _print(call, findings if limit is None else findings[:limit], len(findings))
            return
        room = memory.left_today() if limit is None else limit
        _walk(memory, findings[:room])
        _say_rest(len(findings) - min(room, len(findings)), limit is None)


def _answer(call: Call, memory: Memory, answers: dict[str, tuple[str, ...]]) -> None:
    verbs: dict[str, Callable[[str], Lesson]] = {
        "kept": memory.keep, "forgotten": memory.forget, "later": memory.put_off, "promoted": memory.promote,
    }  # fmt: skip
    for refs in answers.values():
        for ref in refs:
            memory.get(ref)  # raise for an unknown id before the first decision is stored
    done = [(verb, verbs[verb](ref)) for verb, refs in answers.items() for ref in refs]
    if call.as_json:
        answer_json({"decided": [{"verdict": verb, **lesson_json(lesson)} for verb, lesson in done]})
        return
    for verb, lesson in done:
        say(f"{short_id(lesson.id)}  {verb}")


def _print(call: Call, findings: Sequence[Finding], every: int) -> None:
    if call.as_json:
        answer_json({"findings": [_json(finding) for finding in findings], "every": every})
        return
    for line in table([_cells(finding) for finding in findings], HEADS):
        say(line)
    note(f"{len(findings)} of {counted(every, 'lesson')} to look at" if every else "nothing to look at")


def _cells(finding: Finding) -> list[str]:
    lesson = finding.lesson
    return [short_id(lesson.id), lesson.kind, lesson.title, "; ".join(words for _, words in finding.reasons)]


def _json(finding: Finding) -> dict[str, Any]:
    reasons = [{"reason": reason, "words": words} for reason, words in finding.reasons]
    return {"lesson": lesson_json(finding.lesson), "reasons": reasons, "weight": finding.weight, "twins": finding.twins}


def _walk(memory: Memory, findings: Sequence[Finding]) -> None:
    counts = dict.fromkeys(VERDICTS, 0)
    for number, finding in enumerate(findings, 1):
        say(f"\n{number} of {len(findings)}")
        for line in lesson_lines(finding.lesson, *memory.verdicts([finding.lesson])[0]):
            say(line)
        for _, words in finding.reasons:
            say(click.style(f"  {words}", fg="yellow"))
        outcome = _ask(memory, finding)
        if outcome == "quit":
            break
        counts[outcome] += 1
        say(f"{short_id(finding.lesson.id)}  {outcome}")
    if findings:
        note(", ".join(f"{count} {word}" for word, count in counts.items() if count) or "nothing decided")


def _say_rest(rest: int, is_daily: bool) -> None:
    if rest:
        note(f"{counted(rest, 'more lesson')} to look at" + (" on another day, or: " if is_daily else ": ")
             + f"holdfast audit --limit {rest}")  # fmt: skip
    else:
        note("nothing else to look at")


def _ask(memory: Memory, finding: Finding) -> str:
    """Ask until a key is valid; return the decision (one of VERDICTS) or `quit`."""
    lesson = finding.lesson
    while True:
        say(PROMOTING if finding.twins else ANSWERS)
        key = click.getchar().lower()
        try:
            if key == "k":
                memory.keep(lesson.id)
                return "kept"
            if key == "r" and edit_lesson(memory, lesson):
                return _noted(memory, "revised")
            if key == "f":
                memory.forget(lesson.id)
                return _noted(memory, "forgotten")
            if key == "p" and finding.twins:
                memory.promote(lesson.id)
                return _noted(memory, "promoted")
            if key == "l":
                memory.put_off(lesson.id)
                return "later"
        except HoldfastError as exc:  # it concerns this lesson only; the others can still be answered
            note(f"error: {exc}")
            continue
        if key == "q":
            return "quit"
        if key == "?":
            say(HELP)


def _noted(memory: Memory, outcome: str) -> str:
    memory.note_decided()
    return outcome
