"""`holdfast doctor`: prove that memory works, and name what does not."""

from __future__ import annotations

import os
import platform
import re
import sys
from typing import TYPE_CHECKING

import click

from holdfast._version import __version__
from holdfast.errors import HoldfastError
from holdfast.settings import load_settings
from holdfast.surfaces.cli.call import (
    Call,
    answer_json,
    counted,
    examples,
    json_option,
    note,
    pass_call,
    say,
    short_path,
)
from holdfast.surfaces.cli.checkups import (
    check_backups,
    check_capture,
    check_hosts,
    check_launcher,
    check_program,
    check_store,
    check_switches,
    mend_store,
)
from holdfast.surfaces.cli.findings import BAD, NOTE, OK, Finding, failure
from holdfast.surfaces.cli.proof import prove
from holdfast.surfaces.cli.rows import labelled
from holdfast.surfaces.cli.serverproof import check_server

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.settings import Settings

COLOURS = {OK: "green", NOTE: "yellow", BAD: "red"}
INDENT = 19
"""Columns before what a finding says."""


@click.command(epilog=examples("holdfast doctor", "holdfast doctor --json", "holdfast doctor --report > report.txt"))
@click.option("--report", is_flag=True, help="For a bug report: no names, no paths of yours, no lessons.")
@click.option("--no-proof", is_flag=True, help="Look at the installation only.")
@click.option("--mend", is_flag=True, help="Set damaged rows aside and accept a loss first; nothing is deleted.")
@json_option
@pass_call
def command(call: Call, report: bool, no_proof: bool, mend: bool) -> None:
    """Prove that memory works, and name what does not.

    In a scratch home a session is opened through the real hook program, told something and closed; another one is
    opened and asked. Then the real installation is looked at, and the MCP server is started in this folder as a host
    would: without --mend nothing is changed. Every problem is named with the command that mends it; the exit code is 1
    when there is one.
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
    if bad:
        click.get_current_context().exit(1)


def _findings(no_proof: bool, mend: bool, folder: str) -> Iterator[Finding]:
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
    yield from check_store(settings, folder)
    yield from check_capture(settings)
    yield from check_switches(settings)


def _print(finding: Finding) -> None:
    first, *rest = labelled(f"{finding.status:<4}  {finding.name}", short_path(finding.what), INDENT)
    say(first.replace(finding.status, click.style(finding.status, fg=COLOURS[finding.status]), 1))
    for line in rest:
        say(line)
    if finding.mend:
        say(f"{'':{INDENT}}mend: {finding.mend}")


def _report(findings: list[Finding]) -> str:
    import sqlite3

    lines = [
        f"holdfast {__version__}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}",
        f"{platform.system()} {platform.release()} {platform.machine()}, {sys.stdout.encoding}",
    ]
    lines += [f"{f.status:<4}  {f.name:<11}  {f.what}" + (f"  mend: {f.mend}" if f.mend else "") for f in findings]
    return _anonymous("\n".join(lines))


def _anonymous(text: str) -> str:
    """The text without the user's name, home folder and secrets."""
    from holdfast.text.redaction import redact

    for folder in _homes():
        text = text.replace(folder, "~")
    for name in {os.path.basename(folder) for folder in _homes()} - {""}:
        text = re.sub(rf"\b{re.escape(name)}\b", "user", text)
    claim = r"declares (?:the id of another project: \S+|.*?: it does not count here)"
    text = re.sub(claim, "declares another id", text)
    return redact(text)


def _homes() -> list[str]:
    try:
        settings: Settings | None = load_settings()
    except HoldfastError:
        settings = None
    home = settings.user_home if settings else os.path.expanduser("~")
    return [folder for folder in dict.fromkeys((home, os.path.realpath(home))) if len(folder) > 1]
