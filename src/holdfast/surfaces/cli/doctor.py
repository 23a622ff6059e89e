"""`holdfast doctor`: prove that memory works, and report every problem."""

from __future__ import annotations

import os
import platform
import re
import sys
from collections.abc import Iterator

import click

from holdfast._version import __version__
from holdfast.errors import HoldfastError
from holdfast.home.remotes import load_remotes, name_of
from holdfast.lean.texts import counted
from holdfast.redaction import redact
from holdfast.settings import Settings, load_settings
from holdfast.surfaces.cli.checkups import (
    check_backups,
    check_capture,
    check_hosts,
    check_launcher,
    check_learning,
    check_memory,
    check_program,
    check_store,
    check_switches,
    check_team_servers,
    mend_store,
)
from holdfast.surfaces.cli.frame import Call, command
from holdfast.surfaces.cli.hostcheck import BAD, NOTE, OK, CheckFinding, failure
from holdfast.surfaces.cli.proof import check_server, prove
from holdfast.surfaces.cli.screen import answer_json, labelled, note, say, short_path

COLOURS = {OK: "green", NOTE: "yellow", BAD: "red"}
INDENT = 19
"""Columns before what a finding says."""


@command("holdfast doctor", "holdfast doctor --json", "holdfast doctor --report > report.txt", folder=False)
@click.option(
    "--report", is_flag=True, help="Print a report for a bug tracker, without your name, home folder or lessons."
)
@click.option("--no-proof", is_flag=True, help="Check the installation only; play no sessions and start no server.")
@click.option("--mend", is_flag=True, help="First set damaged rows aside and accept a lost memory. Nothing is deleted.")
def doctor(call: Call, report: bool, no_proof: bool, mend: bool) -> int:
    """Prove that memory works, and report every problem.

    First, doctor plays two sessions in a scratch home through the real hook program: the first one states a rule, the
    second one must be given it. Then doctor checks the real installation and starts the MCP server in this folder, as
    a host does. It changes nothing without --mend. Each problem comes with the command that fixes it; the exit code is
    1 if there is a problem.
    """
    shown = []
    for finding in _findings(no_proof, mend, call.folder):
        shown.append(finding)
        if not call.as_json and not report:
            _print(finding)
    bad = sum(finding.status == BAD for finding in shown)
    if report:
        say(_report(shown))
    elif call.as_json:
        answer_json({"version": __version__, "sound": not bad, "findings": [f._asdict() for f in shown]})
    else:
        note(counted(bad, "problem") if bad else "no problem")
    return 1 if bad else 0


def _findings(no_proof: bool, mend: bool, folder: str) -> Iterator[CheckFinding]:
    if not no_proof:
        yield from prove()
    yield from check_program()
    try:
        settings = load_settings()
    except HoldfastError as exc:
        yield failure("settings", exc)
        return
    if mend:
        yield from mend_store(settings)
    yield from check_launcher(settings)
    yield from check_hosts(settings)
    yield from check_backups(settings)
    if not no_proof:
        yield from check_server(settings)
        yield from check_team_servers(settings)
    yield from check_store(settings, folder)
    yield from check_memory(settings, folder)
    yield from check_capture(settings)
    yield from check_learning(settings)
    yield from check_switches(settings)


def _print(finding: CheckFinding) -> None:
    first, *rest = labelled(f"{finding.status:<4}  {finding.name}", short_path(finding.what), INDENT)
    say(first.replace(finding.status, click.style(finding.status, fg=COLOURS[finding.status]), 1))
    say(*rest)
    if finding.mend:
        say(f"{'':{INDENT}}mend: {finding.mend}")


def _report(findings: list[CheckFinding]) -> str:
    import sqlite3

    lines = [
        f"holdfast {__version__}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}",
        f"{platform.system()} {platform.release()} {platform.machine()}, {sys.stdout.encoding}",
    ]
    lines += [f"{f.status:<4}  {f.name:<11}  {f.what}" + (f"  mend: {f.mend}" if f.mend else "") for f in findings]
    return _anonymous("\n".join(lines))


def _anonymous(text: str) -> str:
    """Return the text without the user's name, home folder, declared project ids and secrets."""
    for folder in _homes():
        text = text.replace(folder, "~")
    for name in {os.path.basename(folder) for folder in _homes()} - {""}:
        text = re.sub(rf"\b{re.escape(name)}\b", "user", text)
    for name, word in _server_names():
        text = text.replace(name, word)
    claim = r"declares (?:the id of another project: \S+|.*?: it does not count here)"
    text = re.sub(claim, "declares another id", text)
    return redact(text)


def _server_names() -> list[tuple[str, str]]:
    """Return the addresses and names of team servers, each with what stands for it in a report."""
    try:
        remotes = load_remotes(load_settings().home).remotes
    except HoldfastError:
        return []
    pairs = [(each.url, "URL") for each in remotes]
    pairs += [(name_of(each.url), "server") for each in remotes]
    return [*pairs, *((each.name, "server") for each in remotes)]


def _homes() -> list[str]:
    try:
        settings: Settings | None = load_settings()
    except HoldfastError:
        settings = None
    home = settings.user_home if settings else os.path.expanduser("~")
    return [folder for folder in dict.fromkeys((home, os.path.realpath(home))) if len(folder) > 1]
