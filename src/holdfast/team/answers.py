"""Idempotency: a request that is repeated with its key gets the answer of the first one, and nothing happens twice."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256

from holdfast.domain.team import IdempotentAnswer, TeamCaller
from holdfast.errors import TakenError
from holdfast.ports.team import TeamServices
from holdfast.team.tuning import ANSWER_HOURS


def digest_of(method: str, path: str, body: bytes) -> str:
    """Return the digest by which two requests with one key are compared."""
    return sha256(b"\0".join((method.encode(), path.encode(), body))).hexdigest()


def find_answer(team: TeamServices, caller: TeamCaller, key: str, digest: str) -> IdempotentAnswer | None:
    """Return the answer that a request with that key had, or None for a new one.

    Call it first in the `changing` in which the request is done, so that the same request waits that comes meanwhile.
    Raises TakenError if the key was used for another request.
    """
    id_ = _id(caller, key)
    team.stores.records.hold(f"answer {id_}")
    answer = team.stores.records.get(IdempotentAnswer, id_)
    if answer is None or (answer.keep_until is not None and answer.keep_until <= team.clock.now()):
        return None
    if answer.digest != digest:
        raise TakenError("this idempotency key was used for another request", hint="make a new key for each request")
    return answer


def keep_answer(
    team: TeamServices,
    caller: TeamCaller,
    key: str,
    digest: str,
    *,
    status: int,
    headers: tuple[tuple[str, str], ...],
    body: str,
) -> None:
    """Store the answer for ANSWER_HOURS. Call it last in the `changing` in which the request was done."""
    now = team.clock.now()
    team.stores.records.put(
        IdempotentAnswer(
            id=_id(caller, key),
            at=now,
            keep_until=now + timedelta(hours=ANSWER_HOURS),
            digest=digest,
            status=status,
            headers=headers,
            body=body,
        )
    )


def _id(caller: TeamCaller, key: str) -> str:
    return f"{caller.token}:{sha256(key.encode()).hexdigest()}"
