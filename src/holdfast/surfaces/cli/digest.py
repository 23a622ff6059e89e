"""`holdfast digest` and `holdfast pr`: what memory learnt in a period, or on a branch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from math import inf

import click

from holdfast.backfill.distilling import MeteredModel, open_model
from holdfast.bootstrap import Memory
from holdfast.rendering.views import lesson_json, report_json
from holdfast.reports.branch import branch_digest, branch_lessons
from holdfast.reports.changecheck import ChangeCheck
from holdfast.reports.changetext import check_markdown, check_sarif, check_text
from holdfast.reports.digest import AUDIENCES, Audience, MemoryDigest
from holdfast.reports.digesttext import render_atom, render_markdown, render_text, rule_line
from holdfast.reports.digestwords import DigestParagraph, say_in_words
from holdfast.reports.tuning import FEED_ITEMS
from holdfast.surfaces.cli.frame import Call, command
from holdfast.surfaces.cli.screen import answer_json, note, say, wrapped

CHECK_FORMATS = ("text", "markdown", "sarif")
FORMATS = ("text", "markdown", "json", "atom")
BESIDE_ID = 12
"""Characters before the text beside a lesson's id."""


@command(
    "holdfast digest", "holdfast digest --since 24h", "holdfast digest --since v1.2 --for team --format markdown",
    "holdfast digest --branch", memory=True, reads=True,
)  # fmt: skip
@click.option(
    "--since", metavar="TIME", default="", help="Begin then: 7d, 36h, 2w, 1y, a date, words or a commit.  [default: 7d]"
)
@click.option("--until", metavar="TIME", default="", help="End then.  [default: now]")
@click.option(
    "--for", "audience", type=click.Choice(AUDIENCES), default="me", show_default=True,
    help="`team`: only what others may see; `me`: everything, also what is unconfirmed.",
)  # fmt: skip
@click.option("--branch", is_flag=True, help="Only what the current branch taught since it left the main line.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), default="text", show_default=True, help="How to print it."
)
@click.option("--with-model", is_flag=True, help="Also a paragraph by the model that you chose (holdfast distil use).")
def digest(
    call: Call, memory: Memory, since: str, until: str, audience: Audience, branch: bool, form: str, with_model: bool
) -> None:
    """Print what memory learnt, changed, contradicted and resolved, what went stale and what waits.

    The most important lessons come first, and the rest is counted. `holdfast show` accepts each id.

    With --with-model the digest, without private lessons, goes to your model. Of its answer only sentences are printed
    whose ids, numbers and quoted words are in the digest.
    """
    if branch and (since or until):
        raise click.UsageError("--branch has its own beginning: give it without --since and --until")
    if branch:
        made = branch_digest(memory.services, memory.location)
    else:
        begun = memory.instant(since or "7d")
        end = memory.instant(until) if until else None
        made = memory.digest(since=begun, until=end, audience=audience, limit=FEED_ITEMS if form == "atom" else 0)
    words = _in_words(memory, made) if with_model else None
    if call.as_json or form == "json":
        answer_json(report_json(made) | ({"paragraph": report_json(words)} if words else {}))
    elif form == "atom":
        click.echo(render_atom(made, f"urn:holdfast:digest:{made.project}"), nl=False)
    else:
        _print(made, words, form)


def _print(made: MemoryDigest, words: DigestParagraph | None, form: str) -> None:
    first, *rest = render_markdown(made) if form == "markdown" else render_text(made)
    say(first)
    if words is not None and words.text:
        say("", *wrapped(words.text), f"({words.model})")
        if form == "text":
            say("")
    say(*(rest if form == "markdown" else to_fit(rest)))
    for why in words.dropped if words is not None else ():
        note(f"a sentence of {words.model if words else ''} was dropped: {why}")


def to_fit(lines: Iterable[str]) -> Iterator[str]:
    """Yield the lines, those broken that are longer than the terminal is wide; ids stand alone at the left."""
    for line in lines:
        indent = len(line) - len(line.lstrip())
        hanging = BESIDE_ID if indent else 0
        first, *rest = wrapped(line.lstrip(), hanging)
        yield " " * indent + first
        yield from (" " * hanging + more for more in rest)


def _in_words(memory: Memory, made: MemoryDigest) -> DigestParagraph:
    """Return what the user's model says of the digest. Raises ModelError, also where none is chosen."""
    model = MeteredModel(open_model(memory.settings), memory.settings, memory.services.clock, inf, what="digest")
    return say_in_words(made, model)


@command(
    "holdfast pr", "holdfast pr origin/main | gh pr comment 12 --body-file -", "holdfast pr --check",
    "holdfast pr --check origin/main --format sarif > holdfast.sarif", memory=True,
)  # fmt: skip
@click.argument("base", default="")
@click.option(
    "--check", "check", is_flag=True,
    help="Print instead which lessons the branch makes stale, contradicts or touches.",
)  # fmt: skip
@click.option(
    "--format", "form", type=click.Choice(CHECK_FORMATS), default=None,
    help="How to print the check.  [default: text]",
)  # fmt: skip
@click.option("--strict", is_flag=True, help="With --check: exit with 1 if a lesson is stale or contradicted.")
def pr(call: Call, memory: Memory, base: str, check: bool, form: str | None, strict: bool) -> int:
    """Print as Markdown the confirmed lessons of the current branch since it left BASE, by default the main line.

    Private lessons, your own lessons for all projects and unconfirmed lessons are left out. Nothing is sent.

    With --check, the command compares the project's confirmed lessons with what the branch changes, committed or not. A
    lesson is made stale if the branch takes its code away. It is contradicted if the branch adds a line with a name
    that the lesson forbids. It is touched if its definition changed.
    """
    if not check and (form or strict):
        raise click.UsageError("--format and --strict belong to --check")
    if check:
        return _print_check(call, memory.check_change(base), form or "text", strict)
    if call.as_json:
        lessons = branch_lessons(memory.services, memory.location, base)
        answer_json({"lessons": [lesson_json(lesson) for lesson in lessons]})
        return 0
    (learnt,) = branch_digest(memory.services, memory.location, base).sections
    say(*sorted(map(rule_line, learnt.items)))
    if not learnt.total:
        note("this branch taught no confirmed lesson")
    return 0


def _print_check(call: Call, made: ChangeCheck, form: str, strict: bool) -> int:
    if form == "sarif":
        answer_json(check_sarif(made))
    elif call.as_json:
        effects = [
            {
                "effect": row.effect, "lesson": row.lesson.id, "title": row.lesson.title, "path": row.path,
                "line": row.line, "reason": row.reason,
            }
            for row in made.effects
        ]  # fmt: skip
        answer_json({"fork": made.fork, "files": list(made.files), "lessons": made.lessons, "effects": effects})
    else:
        say(*(check_markdown(made) if form == "markdown" else check_text(made)))
        note(
            f"{len(made.files)} changed files, {made.lessons} confirmed lessons, {len(made.effects)} of them concerned"
        )
    grave = any(row.effect != "touched" for row in made.effects)
    return 1 if strict and grave else 0
