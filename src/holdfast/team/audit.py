"""The audit log: every act of an organisation as a chain, and its verification.

An entry's hash covers the entry and the hash before it, so nobody can change, remove or swap entries without breaking
the chain, except who can rewrite all of it to its end. Against that, somebody notes the head elsewhere: `Head.render`
is what the server logs, and `verify` compares.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256

from holdfast.domain.team import AuditEntry, TeamCaller
from holdfast.errors import InvalidValueError
from holdfast.lean.plain import render_instant
from holdfast.lean.texts import dumps
from holdfast.ports.team import PAGE, AuditLog, TeamServices
from holdfast.team.access import require
from holdfast.team.tuning import FAULTS_SHOWN, SWAPS_TRIED

BEGINNING = AuditEntry(seq=0, at=datetime(1970, 1, 1, tzinfo=UTC), actor="", action="no.entry")


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """The end of a log at some time."""

    seq: int = 0
    hash: str = ""

    def render(self) -> str:
        """Return `12:5f2c…`, as `verify` takes it."""
        return f"{self.seq}:{self.hash}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    """What a check of a log found."""

    entries: int
    head: Head
    faults: tuple[str, ...] = ()
    """A sentence each, in order, at most FAULTS_SHOWN; empty: the log is whole."""


def hash_of(entry: AuditEntry) -> str:
    """Return SHA-256, hexadecimal, of the hash before and the entry as JSON with sorted keys."""
    plain = {
        "seq": entry.seq,
        "at": render_instant(entry.at),
        "actor": entry.actor,
        "action": entry.action,
        "target": entry.target,
        "details": dict(sorted(entry.details.items())),
    }
    return sha256((entry.previous + dumps(dict(sorted(plain.items())))).encode()).hexdigest()


def record(team: TeamServices, actor: str, action: str, target: str = "", **details: str | int) -> None:
    """Append an entry. Call it inside `stores.changing()`, last, because others wait for its end to append theirs.

    Raises InvalidValueError for a value with a space: the log holds ids and numbers, and never words.
    """
    record_all(team, actor, action, [(target, details)])


def record_all(
    team: TeamServices, actor: str, action: str, targets: Sequence[tuple[str, Mapping[str, str | int]]]
) -> None:
    """Append an entry for each target and its details, as `record` does."""
    last = team.stores.audit.hold_last()
    begun, previous = (last.seq, last.hash) if last else (0, "")
    entries: list[AuditEntry] = []
    for seq, (target, details) in enumerate(targets, start=begun + 1):
        entry = AuditEntry(
            seq=seq,
            at=team.clock.now(),
            actor=actor,
            action=action,
            target=target,
            details={name: str(value) for name, value in details.items()},
            previous=previous,
        )
        entries.append(replace(entry, hash=hash_of(entry)))
        previous = entries[-1].hash
    team.stores.audit.append(entries)


def list_entries(team: TeamServices, caller: TeamCaller, *, before: int = 0, limit: int = 100) -> list[AuditEntry]:
    """Return the newest entries, or those before a position, newest first. Raises ForbiddenError."""
    require(caller, "audit")
    return team.stores.audit.read(after=before, limit=limit, newest_first=True)


def head(log: AuditLog) -> Head:
    """Return the end of the log; an empty log has the head `0:`."""
    last = log.last()
    return Head(seq=last.seq, hash=last.hash) if last else Head()


def parse_head(text: str) -> Head:
    """Return the head that somebody noted. Raises InvalidValueError."""
    seq, _, digest = text.strip().partition(":")
    if not (seq.isascii() and seq.isdigit()) or len(digest) != (64 if int(seq) else 0):
        raise InvalidValueError(f"not the head of an audit log: {text[:80]!r}", hint="NUMBER:64 hexadecimal digits")
    return Head(seq=int(seq), hash=digest)


def verify(log: AuditLog, noted: Head | None = None) -> Verification:
    """Read the whole log and return what is wrong with it; `noted` is a head from earlier, which it has to contain."""
    faults: list[str] = []
    changed: list[AuditEntry] = []
    count, previous, was_intact = 0, BEGINNING, True
    for entry in _iter_entries(log):
        count += 1
        intact = hash_of(entry) == entry.hash
        if not intact and len(changed) < SWAPS_TRIED:
            changed.append(entry)
        del faults[FAULTS_SHOWN:]  # where everything was changed, the first ones are enough
        faults += _faults(previous, entry, intact, was_intact)
        if noted and noted.seq == entry.seq and noted.hash != entry.hash:
            faults.append(f"entry {entry.seq} is not the one whose hash was noted: the log was rewritten")
        previous, was_intact = entry, intact
    faults += _faults_of_end(previous, log.last(), noted)
    swaps = list(_iter_swaps(changed))
    shown = tuple(dict.fromkeys([*swaps, *faults]))[:FAULTS_SHOWN]
    return Verification(entries=count, head=Head(seq=previous.seq, hash=previous.hash), faults=shown)


def _iter_entries(log: AuditLog) -> Iterator[AuditEntry]:
    after = 0
    while entries := log.read(after=after, limit=PAGE):
        yield from entries
        after = entries[-1].seq


def _faults(previous: AuditEntry, entry: AuditEntry, intact: bool, was_intact: bool) -> Iterator[str]:
    missing = entry.seq - previous.seq - 1
    if missing:
        yield _missing(previous.seq + 1, entry.seq - 1)
    if not intact:
        yield f"entry {entry.seq} was changed"
    elif not missing and was_intact and entry.previous != previous.hash:
        yield f"entry {entry.seq} does not follow entry {previous.seq}"


def _faults_of_end(end: AuditEntry, last: AuditEntry | None, noted: Head | None) -> Iterator[str]:
    written = last.seq if last else 0
    expected = max(written, noted.seq if noted else 0)
    if expected > end.seq:
        yield _missing(end.seq + 1, expected)
    elif written < end.seq:
        yield f"entry {end.seq} was added by somebody else: the last one written is {written}"
    elif last and last.hash != end.hash:
        yield f"entry {end.seq} is not the one that was written last"


def _missing(first: int, last: int) -> str:
    return f"entry {first} is missing" if first == last else f"entries {first} to {last} are missing"


def _iter_swaps(changed: Sequence[AuditEntry]) -> Iterator[str]:
    """Yield the entries that are whole but stand at another one's position."""
    for entry in changed:
        for other in changed:
            if hash_of(replace(entry, seq=other.seq)) == entry.hash:
                yield f"entry {other.seq} stands at position {entry.seq}"
