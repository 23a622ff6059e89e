"""`holdfast setup --list`: a row for each host, what is there and what it can do."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from holdfast.surfaces.cli._hostfiles import set_up
from holdfast.surfaces.cli.call import say

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.ports.host import Host
    from holdfast.settings import Settings
    from holdfast.surfaces.cli._hostfiles import HostFiles

SHORT = {
    "session_start": "start", "prompt": "prompt", "before_file": "file", "before_command": "command",
    "after_failure": "failure", "before_compaction": "", "after_compaction": "compaction",
}  # fmt: skip
"""Moments of delivery in a word."""


def rows(hosts: Sequence[Host], settings: Settings, files: HostFiles) -> list[dict[str, Any]]:
    """What `--json` prints of each host."""
    wired = set_up(files.manifest)
    return [_row(host, host.find(settings.user_home), host.name in wired) for host in hosts]


def tell_rows(told: Sequence[dict[str, Any]]) -> None:
    """The rows as a table, a line each."""
    heads = ("host", "found", "set up", "mcp", "hooks", "deliveries", "transcripts", "rules")
    lines = [heads, *(_cells(row) for row in told)]
    widths = [max(len(line[n]) for line in lines) for n in range(len(heads))]
    for line in lines:
        say("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip())


def _row(host: Host, found: str, wired: bool) -> dict[str, Any]:
    profile = host.profile
    return {
        "host": host.name,
        "title": profile.title,
        "found": found,
        "set_up": wired,
        "mcp": profile.mcp,
        "hooks": profile.hooks,
        "deliveries": list(profile.moments),
        "transcripts": profile.transcripts,
        "rules": [target.file for target in profile.rules],
        "notes": list(profile.notes),
    }


def _cells(row: dict[str, Any]) -> tuple[str, ...]:
    def yes(held: object) -> str:
        return "yes" if held else "-"

    moments = ", ".join(filter(None, (SHORT.get(moment, moment) for moment in row["deliveries"])))
    marks = (yes(row[name]) for name in ("found", "set_up", "mcp", "hooks"))
    return (row["host"], *marks, moments or "-", yes(row["transcripts"]), yes(row["rules"]))
