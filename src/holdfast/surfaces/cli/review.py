"""`holdfast review`: go through conflicts, the inbox and lessons that may have gone stale, on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from holdfast.bootstrap import Memory
from holdfast.domain.lesson import Lesson
from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.lean.texts import counted, short_id
from holdfast.rendering.lines import source_word
from holdfast.rendering.views import lesson_json
from holdfast.surfaces.cli.frame import Call, command, lesson_ids, lessons_option
from holdfast.surfaces.cli.screen import LABEL, labelled, note, say, summary_lines
from holdfast.text.window import clip

if TYPE_CHECKING:  # the lists of lessons and of conflicts print without them
    from holdfast.curation.audit import Finding
    from holdfast.curation.conflicts import Conflict

TURN_SHOWN = 280
"""Characters of a turn that are shown beside a lesson."""
EDITED = ("insight", "why", "how")


class Choice(NamedTuple):
    """One key of a question: what it does, and the word for that in the sums; False from `act` asks again."""

    key: str
    label: str
    help: str
    outcome: str
    act: Callable[[], object] = lambda: None


QUIT = Choice("q", "quit", "stop; the answers so far are saved", "quit")


@command(
    "holdfast review", "holdfast review --list",
    "holdfast review --accept 1f0c9a2b --accept 77ab03e1 --reject 90d2c4aa", "holdfast review --keep 1f0c9a2b",
    "holdfast review --both 1f0c9a2b 77ab03e1",
    memory=True,
)  # fmt: skip
@click.option("--list", "only_list", is_flag=True, help="Print the lessons; change nothing.")
@click.option("--limit", type=click.IntRange(1), default=20, show_default=True, help="How many lessons to go through.")
@lessons_option("--accept", "accepted", "Make this lesson active, or confirm that it still holds")
@lessons_option("--reject", "rejected", "Retire this lesson, or forget an active one")
@lessons_option("--later", "later", "Do not list this lesson for 7 days")
@lessons_option("--promote", "promoted", "Make this one lesson for all projects")
@lessons_option("--keep", "winners", "Keep this lesson and close the ones that contradict it")
@click.option(
    "--both", metavar="ID ID", nargs=2, multiple=True, shell_complete=lesson_ids,
    help="Keep both lessons of a conflict; may be repeated.",
)  # fmt: skip
def review(call: Call, memory: Memory, /, only_list: bool, limit: int, **answers: tuple[Any, ...]) -> None:
    """Go through conflicts, then the lessons that wait for your decision, then those that may have gone stale.

    A conflict is two lessons that contradict each other. The better trusted or newer one comes first. Keep one of
    them, or say that both hold.

    Accept each waiting lesson, edit it in $EDITOR, which also makes it active, reject it, or leave it for later. An
    answer takes effect at once; `holdfast undo` takes it back.

    At most five lessons a day follow that are in doubt: users overruled them, their code changed or is gone, another
    lesson says the same, their confidence is low, no session was shown them for a month, or they were of no use for 90
    days. A lesson that other projects learnt too can become one for all projects.
    """
    if any(answers.values()):
        done = _answer(memory, answers)
        if not call.answer({"lessons": [lesson_json(lesson) for lesson in done], "conflicts": [], "in_doubt": []}):
            _print(done, "done")
    elif only_list or call.as_json:
        _list(call, memory, limit)
    elif not sys.stdin.isatty():
        raise InvalidValueError("review asks questions and needs a terminal", hint="holdfast review --list")
    else:
        _walk(memory, limit)


def _answer(memory: Memory, answers: dict[str, tuple[Any, ...]]) -> list[Lesson]:
    """Take the answers that were given as options; return the lessons that they changed."""
    pairs = answers.pop("both")
    for ref in (*(ref for refs in answers.values() for ref in refs), *(ref for pair in pairs for ref in pair)):
        memory.get(ref)  # raise for an unknown id before the first decision is stored
    verbs: dict[str, Callable[[str], Lesson]] = {
        "accepted": lambda ref: memory.keep(ref) if memory.get(ref).state == "active" else memory.accept(ref),
        "rejected": lambda ref: memory.forget(ref) if memory.get(ref).state == "active" else memory.reject(ref),
        "later": memory.put_off,
        "promoted": memory.promote,
        "winners": memory.settle,
    }
    return [verb(ref) for name, verb in verbs.items() for ref in answers[name]] + [
        memory.keep_both(*pair) for pair in pairs
    ]


def _list(call: Call, memory: Memory, limit: int) -> None:
    inbox, conflicts, findings = memory.inbox(), memory.conflicts(), memory.audit()
    doubts = [
        {"lesson": lesson_json(finding.lesson), "reason": _words(finding), "reasons": finding.names,
         "twins": finding.twins}
        for finding in findings
    ]  # fmt: skip
    plain = {"lessons": [lesson_json(lesson) for lesson in inbox[:limit]], "in_doubt": doubts}
    if call.answer(plain | {"conflicts": [conflict_json(conflict) for conflict in conflicts]}):
        return
    _print(inbox[:limit], f"of {len(inbox)} waiting" if len(inbox) > limit else "waiting")
    if conflicts:
        note(f"{counted(len(conflicts), 'conflict')}: holdfast list --conflicts")
    for finding in findings:
        say(f"in doubt  {short_id(finding.lesson.id)}  {finding.lesson.title}: {_words(finding)}")


def _print(lessons: Sequence[Lesson], word: str) -> None:
    for lesson in lessons:
        say(*summary_lines(lesson, lesson.state))
    note(f"{len(lessons)} {word}")


def _words(finding: Finding) -> str:
    return "; ".join(words for _, words in finding.reasons)


def _walk(memory: Memory, limit: int) -> None:
    outcomes: list[str] = []
    inbox = memory.inbox()
    is_done = (
        _walk_conflicts(memory, memory.conflicts()[:limit], outcomes)
        and _walk_waiting(memory, _by_session(inbox[:limit]), len(inbox), outcomes)
        and _walk_findings(memory, memory.audit()[: memory.left_today()], outcomes)
    )
    counts = ((word, outcomes.count(word)) for word in dict.fromkeys(outcomes) if word != "quit")
    note(
        ", ".join(f"{count} {word}" for word, count in counts)
        or ("nothing decided" if outcomes else "nothing is waiting")
    )
    if is_done and len(inbox) > limit:
        note(f"{len(inbox) - limit} less promising lessons are waiting: holdfast review --limit {len(inbox)}")


def _ask(*choices: Choice) -> str:
    """Ask until a key is valid and its deed is done; return the outcome."""
    by_key = {choice.key: choice for choice in (*choices, QUIT)}
    while True:
        say("   ".join([*(f"{choice.key} {choice.label}" for choice in by_key.values()), "? help"]))
        key = click.getchar()
        choice = by_key.get(key) or by_key.get(key.lower())
        if key == "?":
            say(*(f"{choice.key}  {choice.help}" for choice in by_key.values()))
            say("holdfast undo takes back the last answer")
        if choice is None:
            continue
        try:
            if choice.act() is not False:
                return choice.outcome
        except HoldfastError as exc:  # it concerns this question only; the others can still be answered
            note(f"error: {exc}")


def _walk_conflicts(memory: Memory, conflicts: Sequence[Conflict], outcomes: list[str]) -> bool:
    """Ask about each pair; return False if the person quit before the end."""
    answered: set[str] = set()
    for number, pair in enumerate(conflicts, 1):
        ids = {pair.better.id, pair.worse.id}
        if answered & ids:
            continue  # the answer to an earlier pair closed one of them
        say(f"\nconflict {number} of {len(conflicts)}", *conflict_lines(pair))
        outcomes.append(_ask_conflict(memory, pair.better, pair.worse))
        if outcomes[-1] == "quit":
            return False
        if outcomes[-1] == "settled":
            answered |= ids
    return True


def _ask_conflict(memory: Memory, first: Lesson, second: Lesson) -> str:
    def settle(chosen: Lesson, other: Lesson) -> None:
        memory.settle(chosen.id, over=[other.id])
        say(f"{short_id(chosen.id)}  kept, {short_id(other.id)} closed")

    closes = "keep the {} lesson and close the {}; a waiting lesson becomes active"
    return _ask(
        Choice("1", "keep the first", closes.format("first", "second"), "settled", lambda: settle(first, second)),
        Choice("2", "keep the second", closes.format("second", "first"), "settled", lambda: settle(second, first)),
        Choice("b", "both hold", "both hold, for example in different cases; the pair is not shown again", "kept both",
               lambda: memory.keep_both(first.id, second.id)),
        Choice("l", "later", "decide later", "later"),
    )  # fmt: skip


def _walk_waiting(memory: Memory, waiting: Sequence[Lesson], every: int, outcomes: list[str]) -> bool:
    """Ask about each lesson that waits; return False if the person quit."""
    for number, lesson in enumerate(waiting, 1):
        say(f"\n{number} of {len(waiting)}{_session_of(lesson)}")
        say(*_card(lesson, *memory.verdicts([lesson])[0]), *_conversation(memory, lesson))
        outcome = _ask_waiting(memory, lesson)
        left = waiting[number - 1 :]
        if outcome == "all" and click.confirm(f"Reject {counted(len(left), 'lesson')}?", default=False):
            for rejected in left:
                memory.reject(rejected.id)
            outcomes += ["rejected"] * len(left)
            return True
        outcomes.append("later" if outcome == "all" else outcome)
        if outcome == "quit":
            return False
        rest = f"{every - number} left"
        say(f"{short_id(lesson.id)}  {outcome}, {rest}" if outcome != "all" else f"left for later, {rest}")
    return True


def _ask_waiting(memory: Memory, lesson: Lesson) -> str:
    return _ask(
        Choice("a", "accept", "make the lesson active as it is", "accepted", lambda: memory.accept(lesson.id)),
        Choice("e", "edit", "edit it in $EDITOR; it becomes active when you save", "edited",
               lambda: edit_lesson(memory, lesson)),
        Choice("r", "reject", "reject it: the lesson is retired", "rejected", lambda: memory.reject(lesson.id)),
        Choice("R", "reject all", "reject this lesson and all that follow; asks first", "all"),
        Choice("l", "later", "decide later", "later"),
    )  # fmt: skip


def _walk_findings(memory: Memory, findings: Sequence[Finding], outcomes: list[str]) -> bool:
    """Ask about each lesson that may have gone stale; return False if the person quit."""
    for number, finding in enumerate(findings, 1):
        lesson = finding.lesson
        say(f"\nin doubt {number} of {len(findings)}", *_card(lesson, *memory.verdicts([lesson])[0]))
        say(click.style(f"  {_words(finding)}", fg="yellow"))
        outcomes.append(_ask_stale(memory, finding))
        if outcomes[-1] == "quit":
            return False
        if outcomes[-1] in ("edited", "forgotten", "promoted"):
            memory.note_decided()
        say(f"{short_id(lesson.id)}  {outcomes[-1]}")
    return True


def _ask_stale(memory: Memory, finding: Finding) -> str:
    lesson = finding.lesson
    choices = [
        Choice("a", "keep", "keep the lesson as it is; it is not listed again for 90 days", "kept",
               lambda: memory.keep(lesson.id)),
        Choice("e", "edit", "edit it in $EDITOR", "edited", lambda: edit_lesson(memory, lesson)),
        Choice("r", "forget", "forget it: take it out of use for good", "forgotten", lambda: memory.forget(lesson.id)),
        Choice("l", "later", "decide later; it is not listed again for 7 days", "later",
               lambda: memory.put_off(lesson.id)),
    ]  # fmt: skip
    if finding.twins:
        words = "make it one lesson for all projects, which replaces those that say the same"
        choices.append(Choice("p", "for all projects", words, "promoted", lambda: memory.promote(lesson.id)))
    return _ask(*choices)


def _by_session(waiting: Sequence[Lesson]) -> list[Lesson]:
    """Return the lessons grouped by session; the session with the most promising lesson comes first."""
    sessions: dict[str, list[Lesson]] = {}
    for lesson in waiting:
        sessions.setdefault(lesson.provenance.session or lesson.id, []).append(lesson)
    return [lesson for together in sessions.values() for lesson in together]


def _session_of(lesson: Lesson) -> str:
    source = lesson.provenance
    day = f"{lesson.validity.valid_from:%d %b %Y}"
    return f", from a {source.host or 'known'} session of {day}" if source.session else ""


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


def conflict_json(conflict: Conflict) -> dict[str, Any]:
    """Return both lessons, what they differ in, and why the first comes first."""
    return {
        "first": lesson_json(conflict.better), "second": lesson_json(conflict.worse), "slot": conflict.slot,
        "values": list(conflict.values), "reason": conflict.reason,
    }  # fmt: skip


def conflict_lines(conflict: Conflict) -> list[str]:
    """Return both lessons in a line or two each, what they differ in, and why the first comes first."""
    return [
        *_lesson_lines("1", conflict.better),
        *_lesson_lines("2", conflict.worse),
        *labelled("differ in", conflict.difference, LABEL),
        *labelled("the first", conflict.reason, LABEL),
    ]


def print_conflicts(call: Call, conflicts: Sequence[Conflict], limit: int) -> None:
    """Print at most `limit` pairs, as lines or as JSON."""
    shown = conflicts[:limit]
    if call.answer({"conflicts": [conflict_json(pair) for pair in shown], "more": len(conflicts) > limit}):
        return
    for pair in shown:
        say(*conflict_lines(pair))
        say("")
    note(counted(len(conflicts), "conflict") + ("; to settle: holdfast review" if conflicts else ""))


def _lesson_lines(number: str, lesson: Lesson) -> list[str]:
    about = [short_id(lesson.id), lesson.trust, f"since {lesson.validity.valid_from:%Y-%m-%d}"]
    about += [lesson.provenance.person_name] if lesson.provenance.person_name else []
    about += [lesson.state] if lesson.state != "active" else []
    return [*labelled(number, lesson.insight, 3), f"   ({', '.join(about)})"]
