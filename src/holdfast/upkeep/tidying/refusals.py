"""Refusals: proposed steps that a person refused, which are not proposed again while their lessons say the same."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable
from hashlib import sha256

from holdfast.domain.project import Location
from holdfast.domain.statefamilies import TIDY_REFUSED
from holdfast.errors import InvalidValueError
from holdfast.lean.texts import dumps, loads
from holdfast.ports.services import Services
from holdfast.upkeep.tidying.proposal import Step

DIGITS = 16
"""Hexadecimal digits of a step's digest."""
REFUSED_MOST = 2_000
"""Refusals that a project keeps; the oldest are dropped."""


def digest_of(step: Step) -> str:
    """Return what tells a checked step from every other: what it does, to which lessons, with which words."""
    parts = [step.verb, step.lesson, sorted(step.replaces), step.title, sorted(step.words)]
    return sha256(dumps(parts).encode("utf-8", "replace")).hexdigest()[:DIGITS]


def refused_digests(services: Services, location: Location) -> frozenset[str]:
    """Return the digests of the steps that were refused in the project."""
    return frozenset(_parse(services.store.get_state(TIDY_REFUSED, location.project.id)))


def without_refused(steps: Iterable[Step], digests: Container[str]) -> tuple[Step, ...]:
    """Return the steps that nobody has refused."""
    return tuple(step for step in steps if digest_of(step) not in digests)


def refuse(services: Services, location: Location, digest: str) -> None:
    """Record that the step of that digest is not to be proposed again. Idempotent."""
    _edit(services, location, lambda digests: [*(each for each in digests if each != digest), digest])


def reopen(services: Services, location: Location, digest: str) -> None:
    """Take the refusal of the step back. Idempotent."""
    _edit(services, location, lambda digests: [each for each in digests if each != digest])


def _edit(services: Services, location: Location, edit: Callable[[list[str]], list[str]]) -> None:
    services.store.edit_state(TIDY_REFUSED, location.project.id, lambda text: dumps(edit(_parse(text))[-REFUSED_MOST:]))


def _parse(text: str) -> list[str]:
    """Return the digests; none where the value cannot be read."""
    try:
        plain = loads(text or "[]")
    except InvalidValueError:
        return []
    return [each for each in plain if isinstance(each, str)] if isinstance(plain, list) else []
