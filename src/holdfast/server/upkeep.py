"""The hourly upkeep of a server: old records go, and the heads of the audit logs go to the server's own log.

Who owns the database can rewrite an audit log, but not the lines that a log collector took elsewhere before:
`holdfast audit --verify --head` compares.
"""

from __future__ import annotations

import logging

import anyio
import anyio.to_thread

from holdfast.ports.services import Clock
from holdfast.ports.team import TeamBackend
from holdfast.server.logs import log, log_failure
from holdfast.team.upkeep import tidy

PAUSE_S = 300.0
"""Seconds between two looks whether somebody has done this hour's upkeep."""


async def keep_tidy(backend: TeamBackend, clock: Clock, pause_s: float = PAUSE_S) -> None:
    """Do the upkeep of each hour until cancelled. A failure is logged, and tried again after the pause."""
    while True:
        await anyio.sleep(pause_s)
        try:
            heads = await anyio.to_thread.run_sync(tidy, backend, clock)
        except Exception as exc:  # an error that left this task would end the whole server
            log_failure("upkeep_failed", exc)
            continue
        for organisation, head in heads:
            log(logging.INFO, "audit_head", organisation=str(organisation), head=head.render())
