"""`holdfast setup`: register Holdfast's hooks and MCP server with the hosts on this machine."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from holdfast import plugins
from holdfast.backfill.transcriptfiles import work_tree
from holdfast.bootstrap import all_hosts
from holdfast.installing.hostfiles import FileChange, HostFiles
from holdfast.installing.hostsetup import HostSetup, difference, what_happens
from holdfast.installing.setup import Setup, set_up_git
from holdfast.settings import Settings, load_settings
from holdfast.surfaces.cli._completions import host_names
from holdfast.surfaces.cli._firstrun import begin
from holdfast.surfaces.cli._hostlist import print_rows, rows
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
    short_path,
)

NEXT = """next: holdfast backfill  learns from the sessions on this machine
      holdfast doctor    proves that memory works
      holdfast           shows what memory holds and what needs you"""


@click.command(
    "setup",
    epilog=examples(
        "holdfast setup",
        "holdfast setup --list",
        "holdfast setup claude-code codex --dry-run",
        "holdfast setup claude-code --project",
        "holdfast setup --yes --no-git",
        "holdfast setup git --git-hooks",
    ),
)
@click.argument("hosts", nargs=-1, metavar="[HOST]...", shell_complete=host_names)
@click.option(
    "--list", "listed", is_flag=True, help="List the hosts: whether each is found and set up, and what it can do."
)
@click.option("--user", "scope", flag_value="user", default="user", help="Set up for all your projects (the default).")
@click.option("--project", "scope", flag_value="project", help="Set up for this work tree only, and for you alone.")
@click.option(
    "--trust", is_flag=True, help="Approve Holdfast's hooks in Codex, which skips hooks that nobody approved."
)
@click.option("--git/--no-git", "from_git", default=None, help="Learn from this repository's commits, or skip this.")
@click.option(
    "--git-hooks", is_flag=True, help="With `git`: also import lesson files after each merge, checkout and commit."
)
@click.option("--yes", "-y", is_flag=True, help="Do not ask. Nothing is sent to a model then.")
@click.option("--dry-run", is_flag=True, help="Print what would change, one line for each file; change nothing.")
@click.option("--diff", "with_diff", is_flag=True, help="With --dry-run: also print each change as a diff.")
@folder_option
@json_option
@pass_call
def command(
    call: Call, hosts: tuple[str, ...], listed: bool, scope: str, trust: bool, from_git: bool | None, git_hooks: bool,
    yes: bool, dry_run: bool, with_diff: bool,
) -> int:  # fmt: skip
    """Register hooks and the MCP server with HOST, or with every host found on this machine.

    Your files keep their formatting. Setup keeps a backup of each file, and `holdfast uninstall` restores it. A second
    run adds only what is missing. If a file cannot be changed safely, setup leaves it alone, prints what to add by
    hand and goes on with the other hosts.

    Without HOST, setup asks before it changes anything. It does not ask with --yes, with HOST, or without a terminal.

    In a repository, setup also learns from the commits (`holdfast backfill --git`). On a terminal it asks first,
    unless you give --yes or --git. On a terminal it also asks, once, whether your own agent may read each session
    after its end (`holdfast learn`), and whether to download a larger embedder. The default answer to both is no.

    `holdfast setup git` makes git merge this repository's files of shared lessons field by field.
    """
    settings = load_settings()
    if listed:
        return _list(call, settings)
    if _is_for_git(hosts, git_hooks):
        return _set_up_git(call, settings, git_hooks, dry_run, with_diff)
    folder = work_tree(call.folder or os.getcwd()) if scope == "project" else ""
    setup = Setup(settings, hosts, scope, folder)
    changed = False
    ask = not (hosts or yes or dry_run or call.as_json) and sys.stdin.isatty()
    if not dry_run and setup.is_needed:
        if ask and not _agreed(setup.host_setups):
            note("nothing was changed")
            return 1
        changed = True
        setup.apply()
    if trust and not dry_run:
        _approve_hooks(setup)
    host_setups, launcher = setup.host_setups, setup.launcher
    if call.as_json:
        host_rows = [host_setup.plain() for host_setup in host_setups]
        launched = {"file": launcher.file, "change": what_happens(launcher)}
        answer_json(
            (host_rows[0] if len(hosts) == 1 else {"hosts": host_rows}) | {"launcher": launched, "dry_run": dry_run}
        )
    else:
        if launcher.needed:
            say(f"{what_happens(launcher):9} {short_path(launcher.file)}")
        _tell(host_setups, dry_run, with_diff)
        _tell_missing(hosts, settings)
    ready = [host_setup.host for host_setup in host_setups if not host_setup.error]
    if ready and not dry_run:
        begin(call, settings, ready, from_git=from_git, yes=yes)
        if changed and not call.as_json:
            note(NEXT)
    return 0 if len(ready) == len(host_setups) else 1


def _is_for_git(hosts: Sequence[str], git_hooks: bool) -> bool:
    """Return whether the user asked to set up git, which is not a host. Raises UsageError for git and hosts at once."""
    if (git_hooks or "git" in hosts) and tuple(hosts) != ("git",):
        raise click.UsageError("git is set up by itself: holdfast setup git [--git-hooks]")
    return "git" in hosts


def _set_up_git(call: Call, settings: Settings, hooked: bool, dry_run: bool, with_diff: bool) -> int:
    """Register the merge driver for lesson files in the work tree's git; `hooked` adds git hooks that import them."""
    changes = set_up_git(settings, work_tree(call.folder or os.getcwd()), hooked, dry_run)
    if call.as_json:
        answer_json(report(changes, dry_run=dry_run))
    else:
        tell(changes, dry_run, with_diff)
        if dry_run:
            note("nothing was changed")
    return 0


def report(changes: Sequence[FileChange], **fields: Any) -> dict[str, Any]:
    """Return the changes as `--json` prints them."""
    return fields | {"files": [{"file": c.file, "change": what_happens(c)} for c in changes]}


def tell(changes: Sequence[FileChange], dry_run: bool, with_diff: bool = True) -> None:
    """Print a line for every file; in a dry run, `with_diff` adds what would change in it."""
    for change in changes:
        say(f"{what_happens(change):9} {short_path(change.file)}")
        if dry_run and with_diff and change.needed:
            say(difference(change))


def _agreed(host_setups: Sequence[HostSetup]) -> bool:
    for host_setup in host_setups:
        changes = [change for change in host_setup.changes if change.needed]
        say(f"{host_setup.title}:" + (f" cannot be set up: {host_setup.error}" if host_setup.error else ""))
        for change in changes:
            say(f"  {'change' if change.held is not None else 'create'} {short_path(change.file)}")
    return click.confirm("Set up these hosts?", default=True)


def _approve_hooks(setup: Setup) -> None:
    for title, count in setup.approve_hooks():
        note(f"approved {counted(count, 'hook')} of Holdfast in {title}")


def _tell(host_setups: Sequence[HostSetup], dry_run: bool, with_diff: bool) -> None:
    for host_setup in host_setups:
        if len(host_setups) > 1:
            say(host_setup.title)
        tell(host_setup.changes, dry_run, with_diff)
        if host_setup.contents and not host_setup.error and not dry_run:
            note(f"{host_setup.title} has {host_setup.contents}")
        for line in host_setup.notes if not dry_run else ():
            note(line)
        if host_setup.error:
            _print_error(host_setup)
    if len(host_setups) > 1 and not dry_run:
        done = sum(not host_setup.error for host_setup in host_setups)
        note(f"{counted(done, 'host')} set up, with one memory")
    if dry_run:
        note("nothing was changed")
    elif any(not host_setup.error for host_setup in host_setups):
        note("before you remove Holdfast, run holdfast uninstall, which undoes these changes")


def _tell_missing(names: Sequence[str], settings: Settings) -> None:
    """Unless hosts were named, print which hosts on this machine need another package."""
    missing = [] if names else plugins.missing_hosts(settings.user_home)
    if missing:
        note(f"also on this machine: {', '.join(missing)}; to set these up: pip install {plugins.HOSTS_PACKAGE}")


def _print_error(host_setup: HostSetup) -> None:
    note(f"error: {host_setup.title}: {host_setup.error}")
    if host_setup.error and host_setup.error.hint:
        note(f"hint: {host_setup.error.hint}")
    if host_setup.by_hand:
        note(host_setup.by_hand)


def _list(call: Call, settings: Settings) -> int:
    host_rows = rows(all_hosts(settings), settings, HostFiles(settings.home))
    if call.as_json:
        answer_json({"hosts": host_rows})
    else:
        print_rows(host_rows)
    return 0
