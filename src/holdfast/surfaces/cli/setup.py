"""`setup` and `uninstall`: register Holdfast's hooks and MCP server with the hosts on this machine, and undo it.

Setup then asks a new user about commits, a model and an embedder. The questions do not depend on each other. A no or an
error leaves the hosts set up. Nothing is sent to a model or downloaded without a yes on a terminal.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

import click

from holdfast import plugins
from holdfast.backfill.transcriptfiles import work_tree
from holdfast.bootstrap import all_hosts
from holdfast.errors import HoldfastError
from holdfast.installing import pulling
from holdfast.installing.configfile import load_text
from holdfast.installing.hostfiles import BACKUPS, FileChange, HostFiles, backups, set_up
from holdfast.installing.hostsetup import HostSetup, difference, has_package, what_happens
from holdfast.installing.setup import Removal, Setup, set_up_git
from holdfast.lean.files import count_lesson_files
from holdfast.lean.texts import counted
from holdfast.learning.gitbackfill import GitBackfill
from holdfast.lessons.brought import TAKE_IN, brought_words, count_brought
from holdfast.publishing.sync import Syncing
from holdfast.settings import Settings, load_settings
from holdfast.surfaces.cli.backfill import learn_from_git, tell_git
from holdfast.surfaces.cli.embedder import choose, download
from holdfast.surfaces.cli.frame import Call, command, host_names
from holdfast.surfaces.cli.learn import WHAT_IS_SENT, agent_words, agents, limits, switch_off, switch_on
from holdfast.surfaces.cli.screen import note, say, short_path, table
from holdfast.surfaces.cli.team import sync_lessons

NEXT = """next: holdfast backfill  learns from the sessions on this machine
      holdfast doctor    proves that memory works
      holdfast           shows what memory holds and what needs you"""
SECONDS = 20.0
"""How long setup reads commits; `holdfast backfill --git` goes on from there."""


@command(
    "holdfast setup", "holdfast setup --list", "holdfast setup claude-code codex --dry-run",
    "holdfast setup claude-code --project", "holdfast setup --yes --no-git", "holdfast setup git --git-hooks",
)  # fmt: skip
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
def setup(
    call: Call, hosts: tuple[str, ...], listed: bool, scope: str, trust: bool, from_git: bool | None, git_hooks: bool,
    yes: bool, dry_run: bool, with_diff: bool
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
    host_rows = [host_setup.plain() for host_setup in host_setups]
    plain = {"launcher": {"file": launcher.file, "change": what_happens(launcher)}, "dry_run": dry_run}
    if not call.answer((host_rows[0] if len(hosts) == 1 else {"hosts": host_rows}) | plain):
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
    if not call.answer(report(changes, dry_run=dry_run)):
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


def _tell_missing(names: Sequence[str], settings: Settings) -> None:
    """Unless hosts were named, print which hosts on this machine need another package."""
    missing = [] if names else plugins.missing_hosts(settings.user_home)
    if missing:
        note(f"also on this machine: {', '.join(missing)}; to set these up: pip install {plugins.HOSTS_PACKAGE}")


def _approve_hooks(setup: Setup) -> None:
    for title, count in setup.approve_hooks():
        note(f"approved {counted(count, 'hook')} of Holdfast in {title}")


def _tell(host_setups: Sequence[HostSetup], dry_run: bool, with_diff: bool) -> None:
    for host_setup in host_setups:
        if len(host_setups) > 1:
            say(host_setup.title)
        tell(host_setup.changes, dry_run, with_diff)
        has = [f"{host_setup.title} has {host_setup.contents}"] if host_setup.contents and not host_setup.error else []
        for line in (*has, *host_setup.notes) if not dry_run else ():
            note(line)
        if host_setup.error:
            hint = f"hint: {host_setup.error.hint}" if host_setup.error.hint else ""
            for line in filter(None, (f"error: {host_setup.title}: {host_setup.error}", hint, host_setup.by_hand)):
                note(line)
    if len(host_setups) > 1 and not dry_run:
        done = sum(not host_setup.error for host_setup in host_setups)
        note(f"{counted(done, 'host')} set up, with one memory")
    if dry_run:
        note("nothing was changed")
    elif any(not host_setup.error for host_setup in host_setups):
        note("before you remove Holdfast, run holdfast uninstall, which undoes these changes")


def begin(call: Call, settings: Settings, hosts: Sequence[str], *, from_git: bool | None, yes: bool) -> None:
    """Ask the questions that apply. An error in one of them becomes a note; the others still follow."""
    can_ask = not (yes or call.as_json) and sys.stdin.isatty()
    folder = call.folder or os.getcwd()
    if settings.capture and from_git is not False and os.path.exists(os.path.join(work_tree(folder), ".git")):
        _offer_commits(call, ask=can_ask and from_git is None, sure=bool(from_git) or (yes and not call.as_json))
    _offer_lessons(call, settings, ask=can_ask)
    if settings.capture and not settings.distil_answered:
        _offer_learning(call, settings, hosts, ask=can_ask)
    if can_ask and settings.embedder in ("", "static"):
        _offer_embedder(call, settings)


def _offer_commits(call: Call, *, ask: bool, sure: bool) -> None:
    if not (ask or sure):
        if not call.as_json:
            note("to learn from this repository's commits, run: holdfast backfill --git")
        return
    if ask and not click.confirm("Learn from this repository's commits?", default=True, err=True):
        return
    try:
        with call.open() as memory:
            report, _ = learn_from_git(memory, GitBackfill(seconds=SECONDS))
    except HoldfastError as exc:
        note(f"no commits were read: {exc}")
        return
    if not call.as_json:
        tell_git(report, dry_run=False)


def _offer_lessons(call: Call, settings: Settings, *, ask: bool) -> None:
    """Say that the repository brings lessons, and ask whether to read them and to let git merge their files."""
    if not count_lesson_files(work_tree(call.folder or os.getcwd())):
        return  # and no store is created
    try:
        with call.open() as memory:
            count = count_brought(memory.services, memory.location)
            if not count or call.as_json:
                return
            note(f"{brought_words(count)}: {TAKE_IN}; then git merges them: holdfast setup git --git-hooks")
            if not ask:
                return
            if click.confirm("Read them now? They wait for your review", default=True, err=True):
                report = sync_lessons(memory, Syncing())
                note(f"{counted(report.count('added'), 'lesson')} wait for you: holdfast review")
            root = memory.location.root
        if click.confirm("Let git merge lesson files, and read them after each merge?", default=True, err=True):
            tell(set_up_git(settings, root, True, False), False)
    except HoldfastError as exc:
        note(f"the repository's lessons were not read: {exc}")


def _offer_learning(call: Call, settings: Settings, hosts: Sequence[str], *, ask: bool) -> None:
    """Ask once whether the user's own agent may read each session, and remember the answer."""
    host = next((name for name in agents(settings, hosts) if not settings.distil_model), "")
    if not (host or settings.distil_model):
        return
    if not ask:
        if not call.as_json:
            note("your own agent does not read sessions to learn from them; to switch it on: holdfast learn --on")
        return
    who, model = agent_words(host) if host else (settings.distil_model, "that model")
    note(WHAT_IS_SENT)
    note(f"It goes to your own account, at most {limits(settings)}. To change it later: holdfast learn")
    question = (
        f"Learn with your own agent ({who}) after each session? About one call of {model}, some 8,000 tokens,"
        " and at times your lessons' titles; nothing else is sent"
    )
    if not click.confirm(question, default=False, err=True):
        switch_off(settings)
        note("nothing is sent; to switch it on later: holdfast learn --on")
        return
    try:
        switch_on(settings, host)
    except HoldfastError as exc:
        note(f"it was not switched on: {exc}")
    else:
        note("on: sessions are read from now on; holdfast learn shows its state")


def _offer_embedder(call: Call, settings: Settings) -> None:
    """Ask whether a better embedder may be downloaded, unless the user has already chosen an embedder or none."""
    if "[embedder]" in load_text(settings.config_path):
        return
    if find_spec("fastembed") is None:
        note("for a larger embedder, which finds more paraphrases: pip install 'holdfast-memory[onnx]', then run setup")
        return
    note(f"A larger embedder finds more paraphrases: {pulling.DEFAULT}, 91 MB from {pulling.HUB}.")
    note("It runs on this machine.")
    if not click.confirm("Download it and use it?", default=False, err=True):
        note("nothing is downloaded; holdfast embedder pull downloads it later")
        return
    try:
        choose(call, settings, "onnx", {"path": download(settings, pulling.DEFAULT, pulling.HUB)})
    except HoldfastError as exc:
        note(f"the embedder was not changed: {exc}")


def _list(call: Call, settings: Settings) -> int:
    """Print what each host can do, its state on this machine, and at how many moments it is given lessons."""
    wired, home = set_up(HostFiles(settings.home).manifest), settings.user_home
    rows = [
        {
            "host": host.name, "title": host.profile.title, "found": host.find(home), "set_up": host.name in wired,
            "package": has_package(host.profile, home), "mcp": host.profile.mcp, "hooks": host.profile.hooks,
            "deliveries": list(host.profile.moments), "transcripts": host.profile.transcripts,
            "rules": [target.file for target in host.profile.rules], "notes": list(host.profile.notes),
        }
        for host in all_hosts(settings)
    ]  # fmt: skip
    if not call.answer({"hosts": rows}):
        heads = ("host", "state", "mcp", "hooks", "transcripts", "rules", "moments")
        say(*table([_cells(row) for row in rows], heads))
    return 0


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    state = "set up" if row["set_up"] else "package" if row["package"] else "found" if row["found"] else "-"
    marks = ("yes" if row[name] else "-" for name in ("mcp", "hooks", "transcripts", "rules"))
    return (row["host"], state, *marks, str(len(row["deliveries"])) if row["deliveries"] else "-")


@command("holdfast uninstall --dry-run", "holdfast uninstall", "holdfast uninstall codex", folder=False)
@click.argument("hosts", nargs=-1, metavar="[HOST]...", shell_complete=host_names)
@click.option("--dry-run", is_flag=True, help="Print what would change, one line for each file; change nothing.")
@click.option("--diff", "with_diff", is_flag=True, help="With --dry-run: also print each change as a diff.")
def uninstall(call: Call, hosts: tuple[str, ...], dry_run: bool, with_diff: bool) -> None:
    """Undo what setup changed for HOST, or for every host.

    Each file is restored byte for byte. A file that you edited since keeps your edits. Memory is kept; to erase it,
    delete Holdfast's home folder.
    """
    settings = load_settings()
    removal = Removal(settings, hosts)
    changes = removal.changes
    if not dry_run:
        removal.apply()
    if call.answer(report(changes, dry_run=dry_run)):
        return
    tell(changes, dry_run, with_diff)
    if dry_run:
        note("nothing was changed")
    if not changes:
        note("nothing to undo: no file has an entry of Holdfast")
    names = backups(settings.home)
    if names and not dry_run:
        where = os.path.join(settings.home, BACKUPS)
        note(f"kept for files that are still set up: {counted(len(names), 'backup')} in {where}")
    note(f"memory is kept in {settings.home}")
