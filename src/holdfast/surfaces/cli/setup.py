"""`holdfast setup`: register our hooks and MCP server with the hosts on this machine."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

import click

from holdfast.backfill.transcriptfiles import work_tree
from holdfast.bootstrap import all_hosts
from holdfast.errors import PluginNotFoundError
from holdfast.installing import launcher as _launcher
from holdfast.installing.wiring import Wirer, difference, what_happens
from holdfast.surfaces.cli._completions import host_names
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

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.installing.hostfiles import Change, HostFiles
    from holdfast.installing.wiring import Wiring
    from holdfast.ports.host import Host
    from holdfast.settings import Settings


NEXT = """next: holdfast backfill  learns from the sessions on this machine
      holdfast doctor    proves that memory works
      holdfast           shows what is known and what needs you"""


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
@click.option("--list", "listed", is_flag=True, help="Show each host: found, set up, and what it can do.")
@click.option("--user", "scope", flag_value="user", default="user", help="For all your projects (the default).")
@click.option("--project", "scope", flag_value="project", help="For this work tree only, and for you alone.")
@click.option("--trust", is_flag=True, help="Approve our hooks in Codex, which skips them until somebody has.")
@click.option("--git/--no-git", "from_git", default=None, help="Learn from this repository's commits, or do not.")
@click.option("--git-hooks", is_flag=True, help="With `git`: also take lesson files in after merge, checkout, commit.")
@click.option("--yes", "-y", is_flag=True, help="Do not ask; nothing is sent to a model without an answer.")
@click.option("--dry-run", is_flag=True, help="Print what would change, a line a file; change nothing.")
@click.option("--diff", "with_diff", is_flag=True, help="With --dry-run: also print each change as a diff.")
@folder_option
@json_option
@pass_call
def command(
    call: Call, hosts: tuple[str, ...], listed: bool, scope: str, trust: bool, from_git: bool | None, git_hooks: bool,
    yes: bool, dry_run: bool, with_diff: bool,
) -> int:  # fmt: skip
    """Register hooks and the MCP server with HOST, or with every host found on this machine.

    Your files keep their formatting; a backup of each is kept, and `holdfast uninstall` brings it back. Running it
    again changes nothing, or mends what is missing. A file that cannot be changed safely is left as it is: what to
    add by hand is shown, and the other hosts go on.

    Without HOST it asks first on a terminal; with --yes, with HOST, and where there is no terminal it does not.

    In a repository it also learns from the commits (`holdfast backfill --git`): on a terminal it asks first, with
    --yes or --git it does not. On a terminal it also asks whether a model may word the lessons of your sessions, and
    whether to download a larger embedder; the answer is no unless you say yes.

    `holdfast setup git` lets this repository's git merge the files of shared lessons field by field.
    """
    from holdfast.installing.hostfiles import HostFiles
    from holdfast.settings import load_settings

    settings = load_settings()
    files = HostFiles(settings.home)
    if listed:
        return _list(call, settings, files)
    if _is_for_git(hosts, git_hooks):
        return _set_up_git(call, HostFiles(settings.home, 0o644), git_hooks, dry_run, with_diff)
    folder = work_tree(call.folder or os.getcwd()) if scope == "project" else ""
    wirer = Wirer(settings, files, scope, folder)
    wirings = [wirer.plan(host) for host in _chosen(hosts, settings)]
    launcher = _launcher.plan(files, settings)
    changed = False
    ask = not (hosts or yes or dry_run or call.as_json) and sys.stdin.isatty()
    if not dry_run and any(change.needed for change in (launcher, *(c for w in wirings for c in w.changes))):
        if ask and not _agreed(wirings):
            note("nothing was changed")
            return 1
        changed = True
        wirings = _wire(wirer, wirings, files, launcher)
    if trust and not dry_run:
        _approve_in_codex(wirings, settings, files)
    if call.as_json:
        told = [wiring.plain() for wiring in wirings]
        launched = {"file": launcher.file, "change": what_happens(launcher)}
        answer_json((told[0] if len(hosts) == 1 else {"hosts": told}) | {"launcher": launched, "dry_run": dry_run})
    else:
        if launcher.needed:
            say(f"{what_happens(launcher):9} {short_path(launcher.file)}")
        _tell(wirings, dry_run, with_diff)
    ready = [wiring.host for wiring in wirings if not wiring.error]
    if ready and not dry_run:
        from holdfast.surfaces.cli._firstrun import begin

        begin(call, settings, ready, from_git=from_git, yes=yes)
        if changed and not call.as_json:
            note(NEXT)
    return 0 if len(ready) == len(wirings) else 1


def _wire(wirer: Wirer, wirings: Sequence[Wiring], files: HostFiles, launcher: Change) -> list[Wiring]:
    """Make the changes; the launcher first, for what is registered starts it."""
    from holdfast.installing.hostfiles import set_up

    if set_up(files.manifest) or not all(wiring.error for wiring in wirings):
        files.apply([launcher])
    done = [wiring if wiring.error else wirer.apply(wiring) for wiring in wirings]
    warm_up()
    return done


def _is_for_git(hosts: Sequence[str], git_hooks: bool) -> bool:
    """Whether git itself is to be set up, which is no host. Raises UsageError for both at once."""
    if (git_hooks or "git" in hosts) and tuple(hosts) != ("git",):
        raise click.UsageError("git is set up by itself: holdfast setup git [--git-hooks]")
    return "git" in hosts


def _set_up_git(call: Call, files: HostFiles, hooked: bool, dry_run: bool, with_diff: bool) -> int:
    """Let the work tree's git merge lesson files, and with `hooked` take them in."""
    from holdfast.installing.gitmerge import OWNER, edits

    root = work_tree(call.folder or os.getcwd())
    wanted = {OWNER + root: edits(root, hooked)}
    changes = [files.plan_file(file, wanted) for file in files.files_of(wanted)]
    if not dry_run:
        files.apply(changes)
    if call.as_json:
        answer_json(report(changes, dry_run=dry_run))
    else:
        tell(changes, dry_run, with_diff)
        if dry_run:
            note("nothing was changed")
    return 0


def warm_up() -> None:
    """Compile the package, so that not even the first hook pays for it; a folder we may not write stays as it is."""
    import compileall

    from holdfast.settings import package_folder

    compileall.compile_dir(package_folder(), quiet=2)


def report(changes: Sequence[Change], **told: Any) -> dict[str, Any]:
    """The changes as `--json` prints them."""
    return told | {"files": [{"file": c.file, "change": what_happens(c)} for c in changes]}


def tell(changes: Sequence[Change], dry_run: bool, with_diff: bool = True) -> None:
    """Print a line for every file; for a dry run on request also what would change in it."""
    for change in changes:
        say(f"{what_happens(change):9} {short_path(change.file)}")
        if dry_run and with_diff and change.needed:
            say(difference(change))


def _chosen(names: Sequence[str], settings: Settings) -> list[Host]:
    """The hosts of those names; without names, those on this machine."""
    from holdfast.bootstrap import load_host

    if names:
        return [load_host(name, settings) for name in dict.fromkeys(names)]
    found = [host for host in all_hosts(settings) if host.find(settings.user_home)]
    if not found:
        hint = "`holdfast setup --list` shows the names; then for example: holdfast setup claude-code"
        raise PluginNotFoundError("no agent that Holdfast knows was found on this machine", hint=hint)
    return found


def _agreed(wirings: Sequence[Wiring]) -> bool:
    for wiring in wirings:
        changes = [change for change in wiring.changes if change.needed]
        say(f"{wiring.title}:" + (f" cannot be set up: {wiring.error}" if wiring.error else ""))
        for change in changes:
            say(f"  {'change' if change.held is not None else 'create'} {short_path(change.file)}")
    return click.confirm("Set up these hosts?", default=True)


def _approve_in_codex(wirings: Sequence[Wiring], settings: Settings, files: HostFiles) -> None:
    """Write the approvals that Codex's user would give, where it was set up; they are taken back with the hooks."""
    if not any(wiring.host == "codex" and not wiring.error for wiring in wirings):
        return
    from holdfast.installing.codextrust import OWNER, approvals, our_hooks

    hooks = our_hooks(settings)
    files.apply(files.plan(OWNER, approvals(settings, hooks)))
    note(f"approved {counted(len(hooks), 'hook')} of ours in Codex")


def _tell(wirings: Sequence[Wiring], dry_run: bool, with_diff: bool) -> None:
    for wiring in wirings:
        if len(wirings) > 1:
            say(wiring.title)
        tell(wiring.changes, dry_run, with_diff)
        if wiring.parts and not wiring.error and not dry_run:
            note(f"{wiring.title} has {wiring.parts}")
        for line in wiring.notes if not dry_run else ():
            note(line)
        if wiring.error:
            _complain(wiring)
    if len(wirings) > 1 and not dry_run:
        done = sum(not wiring.error for wiring in wirings)
        note(f"{counted(done, 'host')} set up, with one memory")
    if dry_run:
        note("nothing was changed")
    elif any(not wiring.error for wiring in wirings):
        note("before removing Holdfast: `holdfast uninstall`, which takes everything back")


def _complain(wiring: Wiring) -> None:
    note(f"error: {wiring.title}: {wiring.error}")
    if wiring.error and wiring.error.hint:
        note(f"hint: {wiring.error.hint}")
    if wiring.by_hand:
        note(wiring.by_hand)


def _list(call: Call, settings: Settings, files: HostFiles) -> int:
    from holdfast.surfaces.cli._hostlist import rows, tell_rows

    told = rows(all_hosts(settings), settings, files)
    if call.as_json:
        answer_json({"hosts": told})
    else:
        tell_rows(told)
    return 0
