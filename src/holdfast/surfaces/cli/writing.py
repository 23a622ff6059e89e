"""Commands that change a lesson: remember, revise, edit, confirm, feedback, forget and undo."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import click

from holdfast.bootstrap import Memory
from holdfast.domain.kinds import LESSON_KINDS
from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import SessionId, Verdict
from holdfast.errors import InvalidValueError
from holdfast.installing.copies import NOT_SEARCHED, find_copies
from holdfast.installing.rulesync import rewrite_written
from holdfast.lean.plain import to_plain
from holdfast.lean.texts import counted, short_id
from holdfast.lessons.anchoring import anchored_words
from holdfast.ports.store import get_readable
from holdfast.rendering.views import lesson_json
from holdfast.surfaces.cli.frame import Call, command, lesson_argument, lesson_ids
from holdfast.surfaces.cli.screen import answer_json, note, read_text, say, summary_lines

NAMES = {
    "paths": "file",
    "symbols": "symbol",
    "literals": "code",
    "commands": "command",
    "work": "work",
    "needs": "only if this has not passed since the last edit:",
}
SHOWN = 10


def print_written(call: Call, lesson: Lesson, rivals: Sequence[Lesson] = ()) -> None:
    """Print the lesson as a line, or whole as JSON; `rivals` are active lessons that contradict it.

    A lesson that it superseded is named too, because a conflict may have been settled without asking.
    """
    if call.answer(lesson_json(lesson) | ({"contradicts": [rival.id for rival in rivals]} if rivals else {})):
        return
    say(*summary_lines(lesson, lesson.state))
    for link in lesson.links:
        if link.kind == "supersedes":
            note(f"it replaces {short_id(link.target)}; to bring that lesson back: holdfast undo")
    for rival in rivals:
        note(f"note: it contradicts {short_id(rival.id)}, which is confirmed too: {rival.title}")
    if rivals and lesson.state == "active":
        note(f"hint: holdfast review --keep {short_id(lesson.id)}, if this one replaces it")


@command(
    "holdfast remember 'Seed the clock before login tests' --file tests/conftest.py",
    "holdfast remember 'Retries are capped at 3' --kind constraint --why 'the gateway bans us'",
    "holdfast remember 'Answer in British English' --kind preference --scope user",
    "git log -1 --format=%b | holdfast remember - --kind decision --topic storage",
    memory=True,
)
@click.argument("text")
@click.option("--kind", default="convention", show_default=True, type=click.Choice(LESSON_KINDS), help="Its kind.")
@click.option("--title", default="", help="Its verdict in at most 12 words.  [default: made of TEXT]")
@click.option("--why", default="", help="The reason.")
@click.option("--how", default="", help="What to do instead.")
@click.option("--snippet", "snippets", multiple=True, help="Code or a command that proves it; may be repeated.")
@click.option("--file", "files", multiple=True, help="A file, FILE:LINE, FILE::NAME or a glob; may be repeated.")
@click.option("--symbol", "symbols", multiple=True, help="A function or class, e.g. Store.put; may be repeated.")
@click.option("--tag", "tags", multiple=True, help="A word to find it by; may be repeated.")
@click.option("--topic", "topic_key", default="", help="A stable key; saving with the same key revises the lesson.")
@click.option(
    "--scope", default="project", show_default=True, type=click.Choice(["project", "user", "team"]),
    help="Who may see it; `holdfast sync` shares a team's lesson without `holdfast share`.",
)  # fmt: skip
@click.option("--pin", "pinned", is_flag=True, help="Always show it among the first at a session's start.")
@click.option("--private", is_flag=True, help="Never export it.")
@click.option(
    "--revive-when", default="", metavar="DEP",
    help="When retired, revive it for DEP: numpy (another version), or 'numpy>=2'.",
)  # fmt: skip
def remember(call: Call, memory: Memory, /, text: str, **stated: Any) -> None:
    """Save a lesson. TEXT is the rule in a sentence or two; - reads it from stdin.

    Saving the same rule again does not add a second lesson.
    """
    lesson = memory.remember(read_text(text), **stated)
    rivals = memory.rivals(lesson)
    missing = [path for path in lesson.paths if not memory.services.workspace.exists(memory.location, path)]
    print_written(call, lesson, rivals)
    words = anchored_words([anchor for anchor in lesson.anchors if anchor.path not in missing])
    if words:
        note(f"anchored to {words}")
    if lesson.scope.branch:
        note(f"shown only on {lesson.scope.branch} until it is merged, since only it has this code: holdfast staged")
    for path in missing:
        note(f"note: {path} does not exist now")
    for anchor in lesson.anchors:
        if anchor.symbol and not anchor.body_hash and anchor.path not in missing:
            where = f" in {anchor.path}" if anchor.path else ""
            note(f"note: no definition {anchor.symbol}, or more than one, was found{where}")


@command(
    "holdfast revise 1f0c9a2b --insight 'Retries are capped at 5'",
    "holdfast revise 1f0c9a2b --why 'the gateway bans us' --file src/gateway.py",
    "holdfast revise 1f0c9a2b --pin",
)
@lesson_argument
@click.option("--insight", help="The rule; - reads it from stdin.")
@click.option("--kind", type=click.Choice(LESSON_KINDS), help="Its kind.")
@click.option("--title", help="Its verdict in at most 12 words; '' makes one.")
@click.option("--why", help="The reason.")
@click.option("--how", help="What to do instead.")
@click.option("--snippet", "snippets", multiple=True, help="Replace all snippets; may be repeated.")
@click.option("--file", "files", multiple=True, help="Replace all files; may be repeated.")
@click.option("--symbol", "symbols", multiple=True, help="Replace all symbols; may be repeated.")
@click.option("--tag", "tags", multiple=True, help="Replace all tags; may be repeated.")
@click.option("--topic", "topic_key", help="A stable key.")
@click.option(
    "--pin/--unpin", "pinned", default=None, help="Always show it among the first at a session's start, or not."
)
@click.option("--private/--shared", default=None, help="Never export it, or allow it.")
def revise(call: Call, /, ref: str, **options: Any) -> None:
    """Replace a lesson by a better one. ID is the end of its id.

    Give only what changes. The old lesson is kept with the state `superseded`.
    """
    changes = {name: value for name, value in options.items() if value is not None and value != ()}
    if not changes:
        raise InvalidValueError("nothing to revise", hint="give at least one option, e.g. --insight '…'")
    if "insight" in changes:
        changes["insight"] = read_text(changes["insight"])
    with call.open() as memory:
        old = memory.get(ref)
        lesson = memory.revise(old.id, **changes)
        rivals = memory.rivals(lesson)
    print_written(call, lesson, rivals)
    note(f"supersedes {short_id(old.id)}")


@command(
    "holdfast edit 1f0c9a2b --when-code 'exec.Command('",
    "holdfast edit 1f0c9a2b --when-command 'gh pr diff' --when-file 'src/gateway/**'",
    "holdfast edit 1f0c9a2b --when-work commit --needs 'make test'",
    "holdfast edit 1f0c9a2b --standing",
    "holdfast edit 1f0c9a2b --title 'Run tests with `make test`'",
    "holdfast edit 1f0c9a2b --retire --revive-when numpy",
)
@click.argument("ref", metavar="ID")
@click.option("--title", default=None, help="Its verdict in at most 12 words; '' makes one of its own words.")
@click.option("--when-file", "paths", multiple=True, help="Show it before this file or glob is read or edited.")
@click.option("--when-symbol", "symbols", multiple=True, help="Show it before this definition is read or edited.")
@click.option("--when-code", "literals", multiple=True, help="Show it for an edit or a command with this text.")
@click.option("--when-command", "commands", multiple=True, help="Show it before a command that begins so.")
@click.option(
    "--when-work", "work", multiple=True,
    help="Show it before commands of this kind: test, lint, commit, pr, review, release.",
)  # fmt: skip
@click.option(
    "--needs", multiple=True, metavar="COMMAND",
    help="With --when-work: show it only if COMMAND has not passed since the last edit.",
)  # fmt: skip
@click.option("--standing/--not-standing", default=None, help="Show it at a session's start, for all work.")
@click.option(
    "--revive-when", default=None, metavar="DEP",
    help="When retired, revive it for DEP: numpy (another version), 'numpy>=2'; '' never.",
)  # fmt: skip
@click.option("--retire", is_flag=True, help="Take it out of use until its revival condition is met.")
@click.option("--never", is_flag=True, help="First remove all its conditions.")
def edit(call: Call, /, ref: str, *, never: bool, revive_when: str | None, retire: bool, **options: Any) -> None:
    """Change when a lesson is shown, its title, or when a retired lesson is revived. ID is the end of its id.

    An option replaces all conditions of its kind; the --when-... options may be repeated. Without an option, the
    conditions are printed. A title says the lesson's verdict, not its topic, with the lesson's own names, numbers and
    negations. To change what the lesson says, use `holdfast revise`. A retired lesson waits
    for a person again when the version of the dependency in a lock file changes. `holdfast verify` and the end of each
    session check this.
    """
    changes = {name: value for name, value in options.items() if value is not None and value != ()}
    if never:
        changes = {**dict.fromkeys(NAMES, ()), "standing": False, **changes}
    with call.open() as memory:
        lesson = memory.get(ref)
        if changes:
            lesson = memory.edit(lesson.id, **changes)
        if retire or revive_when is not None:
            condition = lesson.revival if revive_when is None else revive_when
            lesson = memory.revive_when(lesson.id, condition, retire=retire)
    if changes or retire or revive_when is not None or call.as_json:
        answer_json(lesson_json(lesson)) if call.as_json else print_written(call, lesson)
    if not call.as_json:
        has_trigger = lesson.when.standing or any(getattr(lesson.when, name) for name in NAMES)
        say("shown at" if has_trigger else "shown by its words alone; --help lists the conditions")
        for name, word in NAMES.items():
            for trigger in getattr(lesson.when, name):
                say(f"  {word} {trigger}")
        if lesson.when.standing:
            say("  any work (standing)")
        if lesson.revival:
            say(f"revived when {lesson.revival}")


@command("holdfast diff 1f0c9a2b", "holdfast confirm 1f0c9a2b", memory=True)
@lesson_argument
def confirm(call: Call, memory: Memory, ref: str) -> None:
    """State that a lesson still holds for the current code. ID is the end of its id.

    The lesson is anchored again to the current code, also where that has moved. `holdfast diff` shows what changed.
    """
    before = memory.get(ref)
    lesson = memory.confirm(before.id)
    print_written(call, lesson)
    anchored = {(anchor.path, anchor.symbol) for anchor in lesson.anchors}
    for anchor in before.anchors:
        if (anchor.path, anchor.symbol) not in anchored:
            note(f"note: {anchor.symbol or anchor.path} is no longer in {anchor.path}")


@command(
    "holdfast feedback 1f0c9a2b helped", "holdfast feedback 1f0c9a2b hurt --note 'true until 2.0 only'", memory=True
)
@lesson_argument
@click.argument("verdict", type=click.Choice(["heeded", "helped", "hurt"]))
@click.option("--note", default="", help="What happened, in your words.")
@click.option("--session", default="", help="The session.  [default: the last one that was shown the lesson]")
def feedback(call: Call, memory: Memory, ref: str, verdict: Verdict, note: str, session: str) -> None:
    """Say whether a lesson that was shown helped. ID is the end of its id."""
    outcome = memory.feedback(ref, verdict, note, SessionId(session))
    if not call.answer(to_plain(outcome)):
        say(f"{short_id(outcome.lesson)}  {outcome.verdict}")


@command(
    "holdfast forget 1f0c9a2b", "holdfast forget 1f0c9a2b 77ab03e1", "holdfast forget 1f0c9a2b --purge", memory=True
)
@click.argument("refs", metavar="ID...", nargs=-1, required=True, shell_complete=lesson_ids)
@click.option("--purge", is_flag=True, help="Erase every version, and everything derived from it. This is final.")
def forget(call: Call, memory: Memory, refs: tuple[str, ...], purge: bool) -> None:
    """Take lessons out of use for good. ID is the end of a lesson's id.

    A marker stays, so that an import does not bring the lesson back, and its history can still be read. With --purge
    the history is erased too, together with the text about it in the sessions in which it was learnt. This project's
    rules files are then written again without it, and files that still contain its words are listed.
    """
    lessons = [memory.get(ref) for ref in refs]  # raise for an unknown id before the first lesson is removed
    words = [text for lesson in lessons for text in memory.words_of(lesson.id)] if purge else []
    done: list[tuple[str, str, dict[str, int]]] = []  # short id, id, and how many rows of each table were erased
    for lesson in lessons:
        rows = memory.purge(lesson.id) if purge else {}
        if not purge:
            memory.forget(lesson.id)
        done.append((short_id(lesson.id), lesson.id, rows))
    rewritten = rewrite_written(memory) if purge else []
    settings = memory.settings
    copies = find_copies(settings, words)
    word = "purged" if purge else "forgotten"
    if call.as_json:
        answer: dict[str, Any] = {word: [{"id": full, "short_id": short, "erased": rows} for short, full, rows in done]}
        if purge:
            answer["rewritten"] = rewritten
            answer["copies"] = [copy._asdict() for copy in copies]
        answer_json(answer)
        return
    for short, _, rows in done:
        counts = ", ".join(f"{count} {name}" for name, count in rows.items() if count)
        say(f"{short}  {word}" + (f"  {counts}" if counts else ""))
    for file in rewritten:
        note(f"written again without it: {file}")
    for copy in copies:
        note(f"its words are still in {copy.path}" + (f": {copy.mend}" if copy.mend else ""))
    if purge:
        note(NOT_SEARCHED)


@command("holdfast undo", "holdfast log --changes", "holdfast undo --json", memory=True)
@click.option("--past-purges", is_flag=True, help="If the last change was a purge, undo the change before it.")
def undo(call: Call, memory: Memory, past_purges: bool) -> None:
    """Undo the last change of this project's memory; repeat the command to go further back.

    A whole import is one change, and so are all lessons learnt from one session. Only a purge cannot be undone.
    """
    change = memory.undo(past_purges=past_purges)
    undone = next((entry for entry in memory.changes(10_000) if entry.id == change.undone), change)
    lessons = get_readable(memory.services.store, change.lessons[:SHOWN])
    if call.answer({"undone": to_plain(undone), "change": to_plain(change)}):
        return
    say(f"undone: {undone.verb} of {undone.at:%Y-%m-%d %H:%M} UTC, {counted(len(change.lessons), 'lesson')}")
    for lesson in lessons:
        say(*summary_lines(lesson, lesson.state))
    if len(change.lessons) > SHOWN:
        note(f"and {len(change.lessons) - SHOWN} more, the last being {short_id(change.lessons[-1])}")
