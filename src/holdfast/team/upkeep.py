"""Upkeep: what a server does once an hour, whoever calls."""

from __future__ import annotations

from datetime import timedelta

from holdfast.domain.team import OrganisationId
from holdfast.ports.services import Clock
from holdfast.ports.team import TeamBackend
from holdfast.team.audit import Head, head


def tidy(backend: TeamBackend, clock: Clock) -> list[tuple[OrganisationId, Head]]:
    """Erase what is past its time, and return the head of each audit log, to be noted outside of the database.

    Of several processes and hosts, one does it for an organisation in an hour; the others get nothing of it.
    """
    heads: list[tuple[OrganisationId, Head]] = []
    for organisation in backend.organisations():
        stores = backend.open(organisation)
        now = clock.now()
        with stores.changing():
            turn = f"upkeep {now:%Y-%m-%d %H}"
            if stores.records.add_up(turn, 1, now + timedelta(days=1)) > 1:
                continue
            stores.records.expire(now)
        heads.append((organisation, head(stores.audit)))
    return heads
