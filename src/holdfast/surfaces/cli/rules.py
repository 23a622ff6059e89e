"""`holdfast rules`: write lessons into the rules files of hosts that no hook delivers to."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from typing import Any

import click

from holdfast.bootstrap import Memory
from holdfast.home.runfiles import note as log
from holdfast.installing.hostsetup import difference, what_happens
from holdfast.installing.rulesync import Plan, RulesRequest, open_rules_planner, sync_for_git
from holdfast.lean.texts import counted, short_id
from holdfast.publishing.rules import ALWAYS_TOKENS, SCOPED_TOKENS, Budget
from holdfast.settings import load_settings
from holdfast.surfaces.cli.frame import Call, command, group, host_names
from holdfast.surfaces.cli.screen import note, say, table

STATES = {"unchanged": "up to date", "changed": "out of date", "created": "missing", "removed": "not needed"}
"""The state of a file, by the change that a sync would make."""


@group("holdfast rules sync --dry-run", "holdfast rules sync", "holdfast rules status")
def rules(call: Call) -> None:
    """Write lessons into the rules files of hosts that no hook delivers to: AGENTS.md, .continue/rules, …

    Files change only when you run `holdfast rules sync`, or through git hooks that you asked for. Holdfast changes
    nothing outside its own block.
    """


def _choosing(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that make a `RulesRequest`, which the command gets as `request`."""

    @wraps(function)
    def chosen(*args: Any, hosts: tuple[str, ...], budget: int, folder_budget: int, own: bool, **rest: Any) -> Any:
        request = RulesRequest(hosts, Budget(always=budget, scoped=folder_budget), own)
        return function(*args, request=request, **rest)

    many = click.IntRange(200, 20_000)
    options = (
        click.option("--host", "hosts", multiple=True, metavar="NAME", shell_complete=host_names,
                     help="Also write for this host, even if it has hooks."),
        click.option("--budget", type=many, default=ALWAYS_TOKENS, show_default=True,
                     help="At most this many tokens in a text that is always read."),
        click.option("--folder-budget", type=many, default=SCOPED_TOKENS, show_default=True,
                     help="At most this many tokens in a file for one folder."),
        click.option("--own", is_flag=True, help="Also write your own lessons for all projects, except private ones."),
    )  # fmt: skip
    for option in reversed(options):
        chosen = option(chosen)
    return chosen


@command(
    "holdfast rules sync --dry-run", "holdfast rules sync", "holdfast rules sync --host cursor --budget 600",
    "holdfast rules sync --check", "holdfast rules sync --install-git-hooks", of=rules,
)  # fmt: skip
@_choosing
@click.option("--check", is_flag=True, help="Write nothing; exit with 1 if a file is not up to date.")
@click.option("--dry-run", is_flag=True, help="Print what would change; write nothing.")
@click.option("--install-git-hooks", "hooked", is_flag=True, help="Let git sync after each merge, checkout and commit.")
@click.option("--git-hook", "from_git", is_flag=True, hidden=True, help="Used by git hooks: print nothing, never fail.")
def sync(call: Call, request: RulesRequest, check: bool, dry_run: bool, hooked: bool, from_git: bool) -> int:
    """Write lessons into the rules files of each host that is set up and has no hooks that deliver them.

    The most valuable lessons that hold are chosen within the budget. Lessons about one folder go to a file for that
    folder if the host supports this. A second run changes nothing. Lessons that no longer hold are removed.
    """
    if from_git:
        return _sync_quietly(call, request)
    with call.open() as memory, open_rules_planner(memory) as planner:
        plan = planner.plan(request)
        if hooked:
            plan = planner.with_git_hooks(plan, request)
        stale = bool(plan.needed)
        if not (check or dry_run):
            plan = planner.apply(plan)
    if not call.answer(_json(plan) | {"dry_run": check or dry_run}):
        _tell(plan, dry_run or check)
    return 1 if plan.problems or (check and stale) else 0


@command("holdfast rules show", "holdfast rules show --host cursor", of=rules, memory=True)
@_choosing
def show(call: Call, memory: Memory, request: RulesRequest) -> None:
    """Print what sync would write: each file with Holdfast's text in it."""
    with open_rules_planner(memory) as planner:
        plan = planner.plan(request)
    if call.answer({"files": [{"file": made.file, "text": made.text} for made in plan.rules.files]}):
        return
    for made in plan.rules.files:
        say(f"==> {made.file} <==\n{made.text.rstrip()}\n")
    _talk(plan)


@command("holdfast rules status", "holdfast rules status --json", of=rules, memory=True)
@_choosing
def status(call: Call, memory: Memory, request: RulesRequest) -> None:
    """List the files with their state, hosts, lessons and tokens, and the lessons that were left out and why."""
    with open_rules_planner(memory) as planner:
        plan = planner.plan(request)
        hooks = planner.git_hooks()
    if call.answer(_json(plan) | {"git_hooks": hooks}):
        return
    states = {change.file: STATES[what_happens(change)] for change in plan.changes}
    made = {planner.path(rules_file.file): rules_file for rules_file in plan.rules.files}
    rows = []
    for file, state in sorted(states.items()):
        text = made.get(file)
        cells = (", ".join(text.hosts), len(text.lessons), text.tokens) if text else ("-", 0, 0)
        rows.append([os.path.relpath(file, planner.root), state, *map(str, cells)])
    say(*table(rows, ("file", "state", "hosts", "lessons", "tokens")))
    _talk(plan)
    note("git hooks: " + (", ".join(hooks) or "none set up; holdfast rules sync --install-git-hooks adds them"))


@command("holdfast rules remove --dry-run", "holdfast rules remove --host zed", of=rules, memory=True)
@click.option("--host", "hosts", multiple=True, metavar="NAME", shell_complete=host_names, help="Only for this host.")
@click.option("--dry-run", is_flag=True, help="Print what would change; write nothing.")
def remove(call: Call, memory: Memory, hosts: tuple[str, ...], dry_run: bool) -> int:
    """Remove Holdfast's text from the project's rules files, and its lines from the git hooks.

    Each file is restored byte for byte. A file that you edited since keeps your edits.
    """
    with open_rules_planner(memory) as planner:
        plan = planner.plan_removal(hosts)
        if not dry_run:
            plan = planner.apply(plan)
    if not call.answer(_json(plan) | {"dry_run": dry_run}):
        _tell(plan, dry_run)
    return 1 if plan.problems else 0


def _sync_quietly(call: Call, request: RulesRequest) -> int:
    """Sync for a git hook: print nothing and never fail. Errors are logged."""
    try:
        with call.open() as memory:
            sync_for_git(memory, request)
    except Exception as exc:
        log(load_settings().log_path, "rules sync", exc)
    return 0


def _tell(plan: Plan, dry_run: bool) -> None:
    for change in plan.changes:
        say(f"{what_happens(change):9} {change.file}")
        if dry_run and change.needed:
            say(difference(change))
    _talk(plan)
    if dry_run:
        note("nothing was written")


def _talk(plan: Plan) -> None:
    """Print what a person should know besides the files: notes, left-out lessons and problems."""
    for line in plan.notes:
        note(f"note: {line}")
    for left in plan.rules.withheld:
        note(f"left out: {short_id(left.lesson.id)}  {left.lesson.title} ({left.reason})")
    if plan.rules.unfit:
        note(f"no room for {counted(len(plan.rules.unfit), 'lesson')}: --budget and --folder-budget give more")
    if plan.hosts and not plan.rules.files:
        note("no lesson to write yet")
    for problem in plan.problems:
        note(f"error: {problem}")
        if problem.hint:
            note(f"hint: {problem.hint}")


def _json(plan: Plan) -> dict[str, Any]:
    return {
        "files": [{"file": change.file, "change": what_happens(change)} for change in plan.changes],
        "rules": [
            {
                "file": made.file, "hosts": list(made.hosts), "lessons": list(made.lessons), "tokens": made.tokens,
                "whole": made.whole
            }
            for made in plan.rules.files
        ],
        "withheld": [{"lesson": left.lesson.id, "reason": left.reason} for left in plan.rules.withheld],
        "no_room": list(plan.rules.unfit),
        "notes": list(plan.notes),
        "problems": [{"error": str(problem), "hint": problem.hint} for problem in plan.problems]
    }  # fmt: skip
