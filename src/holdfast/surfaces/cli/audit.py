"""`audit`: who did what on a team's server, and whether its log is whole; for who keeps the database."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

import click

from holdfast.domain.team import FIRST_ORGANISATION, OrganisationId
from holdfast.errors import HoldfastError
from holdfast.lean.plain import render_instant
from holdfast.lean.texts import counted
from holdfast.settings import load_settings
from holdfast.surfaces.cli.frame import Call, command
from holdfast.surfaces.cli.screen import note, say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.domain.team import AuditEntry
    from holdfast.ports.team import AuditLog


@command(
    "holdfast audit",
    "holdfast audit --verify",
    "holdfast audit --verify --head 1204:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
    "HOLDFAST_STORE=postgresql://holdfast@db.example.org/holdfast holdfast audit --verify --organisation 2",
    folder=False,
)
@click.option("--verify", is_flag=True, help="Check that no entry was changed, removed, swapped or put in.")
@click.option("--head", "noted", metavar="HEAD", default="", help="A head of earlier, which the log has to contain.")
@click.option(
    "--organisation", metavar="N", type=click.IntRange(1), default=FIRST_ORGANISATION,
    help="Use the log of this organisation.  [default: 1]",
)  # fmt: skip
@click.option(
    "-n", "--limit", metavar="N", type=click.IntRange(1, 1_000), default=20,
    help="Print this many entries.  [default: 20]",
)  # fmt: skip
def audit(call: Call, verify: bool, noted: str, organisation: int, limit: int) -> None:
    """Print the newest entries of a server's audit log, or check the whole log.

    It reads the store of HOLDFAST_STORE directly, so it needs no token, and no server has to run. Each entry contains
    the hash of the one before. Who owns the database could still rewrite the whole chain, so keep the head that a check
    prints somewhere else, and give it to the next check.
    """
    if noted and not verify:
        raise click.UsageError("--head is for --verify")
    with _open_log(OrganisationId(organisation)) as log:
        if not verify:
            _list(call, log, limit)
        else:
            _verify(call, log, noted)


def _list(call: Call, log: AuditLog, limit: int) -> None:
    entries = log.read(limit=limit, newest_first=True)
    if call.answer([_as_json(entry) for entry in entries]):
        return
    for entry in reversed(entries):
        details = " ".join(f"{name}={value}" for name, value in sorted(entry.details.items()))
        at = render_instant(entry.at)[:19].replace("T", " ")
        say(f"{entry.seq:>6}  {at}  {entry.action:<20} {entry.target} by {entry.actor} {details}".rstrip())
    note(f"{counted(len(entries), 'entry', 'entries')}, the newest last; times are UTC")
    if not entries:
        note("this store has served no team: HOLDFAST_STORE names the database of a server")


def _verify(call: Call, log: AuditLog, noted: str) -> None:
    """Print what a check found. Raises HoldfastError where the log is not whole."""
    from holdfast.team import audit as auditing  # late: help needs no hashes

    verification = auditing.verify(log, auditing.parse_head(noted) if noted else None)
    summary = {
        "entries": verification.entries,
        "head": verification.head.render(),
        "whole": not verification.faults,
        "faults": list(verification.faults),
    }
    if not call.answer(summary):
        for fault in verification.faults:
            say(fault)
        say(f"{counted(verification.entries, 'entry', 'entries')}; head {verification.head.render()}")
    if verification.faults:
        raise HoldfastError(
            "the audit log is not whole", hint="restore it from a backup beside this one, and compare the two"
        )
    note("the log is whole; note the head elsewhere, and give it to the next check with --head")


@contextmanager
def _open_log(organisation: OrganisationId) -> Iterator[AuditLog]:
    from holdfast.wiring import open_backend  # late, so that help stays quick

    with open_backend(load_settings()) as backend:
        yield backend.open(organisation).audit


def _as_json(entry: AuditEntry) -> dict[str, object]:
    return {
        "seq": entry.seq, "at": render_instant(entry.at), "actor": entry.actor, "action": entry.action,
        "target": entry.target, "details": dict(entry.details), "previous": entry.previous, "hash": entry.hash,
    }  # fmt: skip
