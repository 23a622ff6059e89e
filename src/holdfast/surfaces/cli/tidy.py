"""`holdfast tidy`: merge lessons that say the same, retire what no session needs, improve weak titles."""

from __future__ import annotations

import sys
from typing import Any

import click

from holdfast.backfill.distilling import open_metered
from holdfast.bootstrap import Memory
from holdfast.errors import AlreadyRunningError, InvalidValueError
from holdfast.home.runfiles import RunLock
from holdfast.lean.texts import counted
from holdfast.surfaces.cli.frame import Call, command
from holdfast.surfaces.cli.screen import answer_json, note, say
from holdfast.upkeep.tidying.branch import make_branch
from holdfast.upkeep.tidying.proposal import Proposal, render_diff
from holdfast.upkeep.tidying.tidy import apply, current, keep, living, pending, propose, undo

COLOURS = {"-": "red", "+": "green", "@": "cyan"}


@command(
    "holdfast tidy", "holdfast tidy --show", "holdfast tidy --apply", "holdfast tidy --undo",
    "holdfast tidy --branch tidy-memory",
)  # fmt: skip
@click.option("--show", is_flag=True, help="Print the proposal that waits.")
@click.option("--apply", "apply_it", is_flag=True, help="Apply the proposal that waits, or a new one if none does.")
@click.option("--undo", "take_back", is_flag=True, help="Take back the last tidying.")
@click.option("--branch", default="", metavar="NAME", help="Put the steps about shared lessons on a new git branch.")
@click.option("--no-model", is_flag=True, help="Ask no model, even where one reads your sessions.")
@click.option("--yes", is_flag=True, help="Apply the new proposal without asking.")
def tidy(call: Call, show: bool, apply_it: bool, take_back: bool, branch: str, no_model: bool, yes: bool) -> None:
    """Propose which lessons to merge, retitle and retire, and apply it if you agree.

    The proposal is printed as a diff of lessons: "-" goes, "+" is new, " " stays. Rules find equal lessons, lessons
    that a rules file states, lessons whose code is gone, and weak titles. The model that reads your sessions, if there
    is one, is asked about the titles of the rest. No lesson that you stated or accepted is retired, or replaced by an
    agent's, and no negation or number changes.
    """
    if sum(map(bool, (show, apply_it, take_back, branch))) > 1:
        raise click.UsageError("--show, --apply, --undo and --branch exclude each other")
    with call.open() as memory:
        if show:
            _show(call, memory)
            return
        with RunLock(memory.settings.run_path, "tidy") as ours:
            if not ours:
                raise AlreadyRunningError("another holdfast process is tidying", hint="try again in a moment")
            if take_back:
                change = undo(memory.services, memory.location)
                memory.prepare_brief()
                if not call.answer({"undone": change.undone, "lessons": len(change.lessons)}):
                    say(f"taken back: {counted(len(change.lessons), 'lesson')} as before")
            elif branch:
                _branch(call, memory, branch, no_model)
            else:
                _tidy(call, memory, apply_it, no_model, yes)


def _tidy(call: Call, memory: Memory, apply_it: bool, no_model: bool, yes: bool) -> None:
    proposal = current(memory.services, memory.location) if apply_it else None
    if proposal is None:
        proposal = _make(call, memory, no_model)
    if not proposal.steps:
        _answer(call, proposal)
        return
    if call.as_json:
        _answer(call, proposal, _apply(call, memory, proposal) if apply_it or yes else "")
        return
    if not apply_it:
        _print(memory, proposal)
    if apply_it or yes or (sys.stdin.isatty() and click.confirm("Apply it?", err=True)):
        _apply(call, memory, proposal)
    else:
        note("nothing was changed; to apply the proposal: holdfast tidy --apply")


def _make(call: Call, memory: Memory, no_model: bool) -> Proposal:
    """Make a proposal and keep it."""

    def open_model() -> Any:
        return None if no_model else open_metered(memory.settings, memory.services.clock)

    def progress(words: str) -> None:
        if sys.stderr.isatty() and not call.as_json:
            note(f"{words} ...")

    proposal = propose(memory.services, memory.location, open_model, progress)
    keep(memory.services, memory.location, proposal if proposal.steps else None)
    if proposal.failure and not call.as_json:
        note(f"the model gave no usable answer, so only the other steps follow: {proposal.failure}")
    return proposal


def _apply(call: Call, memory: Memory, proposal: Proposal) -> str:
    """Apply the proposal and say what was done; return the id of the change."""
    tidied = apply(memory.services, memory.location, proposal)
    keep(memory.services, memory.location, None)
    memory.prepare_brief()
    for reason in tidied.refused:
        note(f"left out: {reason}")
    if not call.as_json:
        say(f"tidied: {tidied.change.summary}; {counted(proposal.living, 'lesson')} before")
        note("to take it back: holdfast tidy --undo")
    return tidied.change.id


def _show(call: Call, memory: Memory) -> None:
    proposal = pending(memory.services, memory.location)
    if proposal is None:
        raise InvalidValueError("no proposal waits", hint="holdfast tidy makes one")
    if call.as_json:
        _answer(call, proposal)
    else:
        _print(memory, proposal)
        note("to apply it: holdfast tidy --apply")


def _branch(call: Call, memory: Memory, name: str, no_model: bool) -> None:
    proposal = pending(memory.services, memory.location) or _make(call, memory, no_model)
    made = make_branch(memory, proposal, name)
    if call.answer(
        {
            "branch": made.name,
            "commit": made.commit,
            "files": list(made.files),
            "title": made.title,
            "body": made.body,
            "refused": list(made.refused),
        }
    ):
        return
    say(f"{made.title}\n\n{made.body}".rstrip())
    for reason in made.refused:
        note(f"left out: {reason}")
    note(f"branch {made.name} changes {counted(len(made.files), 'lesson file')}: git push -u origin {made.name}")


def _print(memory: Memory, proposal: Proposal) -> None:
    lessons = {lesson.id: lesson for lesson in living(memory.services, memory.location)}
    for line in render_diff(proposal, lessons):
        say(click.style(line, fg=COLOURS.get(line[0])))
    for reason in proposal.refused:
        note(f"refused: {reason}")
    note(f"{counted(proposal.living, 'lesson')}; the proposal: {proposal.counts}")


def _answer(call: Call, proposal: Proposal, change: str = "") -> None:
    """Print the proposal for a program, or that there is nothing to do."""
    if not call.as_json:
        say(f"nothing to tidy among {counted(proposal.living, 'lesson')}")
        return
    steps = [
        {
            "verb": step.verb, "lesson": step.lesson, "replaces": list(step.replaces), "title": step.title,
            "reason": step.reason, "by": step.by
        }
        for step in proposal.steps
    ]  # fmt: skip
    answer_json({
        "living": proposal.living, "steps": steps, "refused": list(proposal.refused), "failure": proposal.failure,
        "change": change
    })  # fmt: skip
