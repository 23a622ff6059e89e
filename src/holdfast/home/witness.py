"""The witness: a small file in the home that records how much the memory held when it was last closed.

A database that vanished, was emptied or was replaced by an older copy looks like a new one. The witness shows the
difference. The command line, learners and servers write it when they close the memory; hooks do not. Its counts never
go down by themselves: after a loss they stay until `holdfast doctor --mend` accepts the loss.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime

from holdfast.errors import InvalidValueError
from holdfast.lean.files import write_whole
from holdfast.lean.plain import field_names, render_instant
from holdfast.lean.texts import dumps, loads, shown_url
from holdfast.ports.store import Extent

FILE = "witness.json"
TALLIES = field_names(Extent)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loss:
    """A loss: what a store held before and what it holds now."""

    before: Extent
    now: Extent
    at: str
    """When the store was last seen complete, as ISO 8601 in UTC."""

    @property
    def words(self) -> str:
        """The loss as a sentence."""
        seen = f"{self.at[:16].replace('T', ' ')} UTC"
        return (
            f"the memory held {self.before.lessons} lessons and {self.before.events} events on {seen};"
            f" it holds {self.now.lessons} and {self.now.events} now: it was lost, emptied or replaced by an older copy"
        )


def find_loss(home: str, url: str, now: Extent) -> Loss | None:
    """Return what the store of that URL has lost since it was last seen; None for no loss or no record."""
    entry = _load(home).get(shown_url(url))
    if not isinstance(entry, dict):
        return None
    tallies = {name: entry.get(name, 0) for name in TALLIES}
    if not all(isinstance(count, int) for count in tallies.values()):
        return None
    before = Extent(**tallies)
    # these two counts never go down: forgetting, purging and setting rows aside do not lower them
    if now.versions >= before.versions and now.events >= before.events:
        return None
    return Loss(before=before, now=now, at=str(entry.get("at", "")))


def keep(home: str, url: str, now: Extent) -> None:
    """Record what the store holds, unless it has lost something. A home that cannot be written gets no record."""
    entries = _load(home)
    if find_loss(home, url, now) is None and not _says(entries.get(shown_url(url)), now):
        _write(home, entries, url, now)


def accept(home: str, url: str, now: Extent) -> None:
    """Record what the store holds now, whatever it held before."""
    _write(home, _load(home), url, now)


def _says(entry: object, now: Extent) -> bool:
    return isinstance(entry, dict) and all(entry.get(name) == getattr(now, name) for name in TALLIES)


def _load(home: str) -> dict[str, object]:
    try:
        with open(os.path.join(home, FILE), encoding="utf-8") as stream:
            entries = loads(stream.read())
    except (OSError, UnicodeDecodeError, InvalidValueError):
        return {}
    return entries if isinstance(entries, dict) else {}


def _write(home: str, entries: dict[str, object], url: str, now: Extent) -> None:
    entry = {name: getattr(now, name) for name in TALLIES} | {"at": render_instant(datetime.now(UTC))}
    text = dumps({**entries, shown_url(url): entry}) + "\n"
    try:
        write_whole(os.path.join(home, FILE), text.encode("utf-8"))
    except OSError:
        return
