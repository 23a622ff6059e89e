"""`holdfast setup --list`: a row for each host, with its state on this machine and what it can do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast.installing.hostfiles import HostFiles, set_up
from holdfast.installing.packages import has_package
from holdfast.ports.host import Host
from holdfast.settings import Settings
from holdfast.surfaces.cli.call import say
from holdfast.surfaces.cli.rows import table

HEADS = ("host", "state", "mcp", "hooks", "transcripts", "rules", "moments")


def rows(hosts: Sequence[Host], settings: Settings, files: HostFiles) -> list[dict[str, Any]]:
    """Return what `--json` prints about each host."""
    wired = set_up(files.manifest)
    home = settings.user_home
    return [_row(host, host.find(home), host.name in wired, has_package(host.profile, home)) for host in hosts]


def print_rows(rows: Sequence[dict[str, Any]]) -> None:
    """Print the rows as a table: what each host can do, and at how many moments it is given lessons."""
    for line in table([_cells(row) for row in rows], HEADS):
        say(line)


def _row(host: Host, where: str, wired: bool, packaged: bool) -> dict[str, Any]:
    profile = host.profile
    return {
        "host": host.name,
        "title": profile.title,
        "found": where,
        "set_up": wired,
        "package": packaged,
        "mcp": profile.mcp,
        "hooks": profile.hooks,
        "deliveries": list(profile.moments),
        "transcripts": profile.transcripts,
        "rules": [target.file for target in profile.rules],
        "notes": list(profile.notes),
    }


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    state = "set up" if row["set_up"] else "package" if row["package"] else "found" if row["found"] else "-"
    marks = ("yes" if row[name] else "-" for name in ("mcp", "hooks", "transcripts", "rules"))
    return (row["host"], state, *marks, str(len(row["deliveries"])) if row["deliveries"] else "-")
