"""`holdfast check`: check that memory delivers what a repository's checks expect."""

from __future__ import annotations

import os
from collections.abc import Sequence

import click

from holdfast.backfill.transcriptfiles import work_tree
from holdfast.bootstrap import Memory
from holdfast.errors import InvalidValueError
from holdfast.lean.texts import short_id
from holdfast.publishing.sync import Syncing
from holdfast.settings import load_settings
from holdfast.surfaces.cli._rehearsing import rehearse_memory
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
from holdfast.upkeep.expectations import FILE_LIMIT, Expectation, Mistake, parse_expectations
from holdfast.upkeep.rehearsal import Rehearsed
from holdfast.upkeep.rehearsal import rehearse as play_expectations
from holdfast.upkeep.scratch import scratch_memory
from holdfast.wiring import load_host

CHECKS = ".holdfast/checks.yaml"


@click.command(
    epilog=examples(
        "holdfast check",
        "holdfast check --only 'token rule'",
        "holdfast check --files",
        "holdfast check --rehearse",
        "holdfast check --rehearse --baseline before.json",
    )
)
@click.argument("file", required=False, type=click.Path(dir_okay=False, resolve_path=True))
@click.option("--files", "from_files", is_flag=True, help="Use only the lessons in .holdfast/lessons, as CI does.")
@click.option("--only", default="", metavar="WORDS", help="Run only the checks whose name contains WORDS.")
@click.option("--host", default="", metavar="NAME", help="Play the checks as sessions of this host.")
@click.option("--rehearse", is_flag=True, help="Play the moments at which your confirmed lessons were learnt.")
@click.option("--sample", type=click.IntRange(min=1), metavar="N", help="Rehearse only N of the lessons.")
@click.option(
    "--baseline",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Fail only for what got worse since FILE; write FILE if it does not exist.",
)
@folder_option
@json_option
@pass_call
def command(
    call: Call,
    file: str | None,
    from_files: bool,
    only: str,
    host: str,
    rehearse: bool,
    sample: int | None,
    baseline: str | None,
) -> int:
    """Check that memory delivers what FILE expects; by default .holdfast/checks.yaml of the work tree.

    Each check is played as a new session in a copy of memory; your memory is not changed. The exit code is 1 if a
    check fails or the file has a mistake.

    With --rehearse no file is read: a lesson fails if it is told neither at a session's start nor at one of the
    requests, files, commands and searches beside which it was learnt.
    """
    root = work_tree(call.folder or os.getcwd())
    if rehearse:
        if file or from_files or only:
            raise click.UsageError("--rehearse plays lessons of your memory: leave out FILE, --files and --only")
        return rehearse_memory(call, root, host=host, sample=sample or 0, baseline=baseline or "")
    if sample or baseline:
        raise click.UsageError("--sample and --baseline need --rehearse")
    path = file or os.path.join(root, *CHECKS.split("/"))
    expectations, mistakes = _read(path)
    chosen = [expectation for expectation in expectations if only.casefold() in expectation.name.casefold()]
    outcomes = _run(call, root, chosen, from_files, host) if chosen and not mistakes else []
    _answer(call, _shown_path(path), outcomes, mistakes)
    if not chosen and not mistakes:
        note(f"no check of {_shown_path(path)} has {only!r} in its name" if only else "no checks")
    return 1 if mistakes or any(outcome.failures for outcome in outcomes) or (only and not chosen) else 0


def _read(path: str) -> tuple[tuple[Expectation, ...], tuple[Mistake, ...]]:
    if os.path.islink(path):
        # a link in a cloned repository could name any file of the user, whose lines an error would print
        raise InvalidValueError(f"{path} is a link", hint="replace it by a file")
    try:
        with open(path, "rb") as stream:
            return parse_expectations(stream.read(FILE_LIMIT + 1))
    except FileNotFoundError:
        hint = "docs/howto/checks.md describes the file"
        raise InvalidValueError(f"there is no {path}", hint=hint) from None


def _run(call: Call, root: str, expectations: Sequence[Expectation], from_files: bool, host: str) -> list[Rehearsed]:
    if host:
        load_host(host)  # raises an error for an unknown name
    if not from_files:
        call.open().close()  # takes in what waits in the spool, and updates an older schema
    with scratch_memory(load_settings(), root, empty=from_files) as memory:
        if from_files:
            _take_files(memory)
        return list(play_expectations(memory, expectations, host))


def _take_files(memory: Memory) -> None:
    """Import the repository's lesson files. The memory is a scratch one, so nobody has to vouch for them."""
    report = memory.sync(Syncing(accept=True, take_only=True))
    for problem in report.problems:
        note(f"error: .holdfast/lessons/{problem.path}:{problem.line}:{problem.column}: {problem.reason}; skipped")
    note(f"{counted(report.shared, 'lesson')} from .holdfast/lessons")


def _answer(call: Call, path: str, outcomes: Sequence[Rehearsed], mistakes: Sequence[Mistake]) -> None:
    failed = sum(bool(outcome.failures) for outcome in outcomes)
    if call.as_json:
        answer_json({
            "file": path,
            "passed": len(outcomes) - failed,
            "failed": failed,
            "checks": [_json(outcome) for outcome in outcomes],
            "mistakes": [
                {"line": mistake.line, "column": mistake.column, "reason": mistake.reason} for mistake in mistakes
            ],
        })  # fmt: skip
        return
    for outcome in outcomes:
        word = click.style("FAIL", fg="red") if outcome.failures else click.style("ok  ", fg="green")
        say(f"{word}  {outcome.expectation.name}")
        for failure in outcome.failures:
            say(f"      {path}:{outcome.expectation.line}: {failure}")
        if outcome.failures:
            for line in _delivered(outcome):
                say(f"      {line}")
    for mistake in mistakes:
        note(f"error: {path}:{mistake.line}:{mistake.column}: {mistake.reason}")
    if mistakes:
        note("no check was run")
    elif outcomes:
        note(f"{len(outcomes) - failed} passed, {failed} failed")


def _delivered(outcome: Rehearsed) -> list[str]:
    if not outcome.delivered:
        return ["nothing was delivered"]
    heads = [f"delivered, {counted(outcome.tokens, 'token')}:"]
    return heads + [f"{delivery.rank}  {short_id(delivery.lesson)}  {delivery.title}" for delivery in outcome.delivered]


def _json(outcome: Rehearsed) -> dict[str, object]:
    return {
        "name": outcome.expectation.name,
        "line": outcome.expectation.line,
        "passed": not outcome.failures,
        "failures": outcome.failures,
        "tokens": outcome.tokens,
        "delivered": [
            {"rank": delivery.rank, "id": delivery.lesson, "title": delivery.title} for delivery in outcome.delivered
        ],
    }


def _shown_path(path: str) -> str:
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative
