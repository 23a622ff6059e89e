"""The review queue of each project, kept in this process: to compare a large memory anew for each page takes too long.

What is kept says only where to look. Every page reads the lessons as they are and leaves out what is decided, so an
old queue lacks what came in since and shows nothing that is settled.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from threading import Lock

from holdfast.client.client import Client
from holdfast.domain.query import Query
from holdfast.domain.statefamilies import AUDIT_DIARY, TIDY_REFUSED
from holdfast.pages.view import View
from holdfast.ports.store import get_readable
from holdfast.reports.reviewqueue import QueueItem, collect, collect_quickly, count_told, flagged, in_order
from holdfast.upkeep.tidying.offers import Offer, collect_offers

SMALL = 400
"""Lessons of a project that are compared while a page waits."""
OLD_S, OLD_FACTOR = 60.0, 20
"""Seconds after which a comparison may be made anew, and how many times as long as it took that must be."""
KEPT = 64
"""Projects whose queues are kept."""


@dataclass(kw_only=True)
class KeptQueue:
    """The items of a queue, in order, and the steps of those that tidying proposes."""

    items: tuple[QueueItem, ...]
    offers: Mapping[str, Offer] = field(default_factory=dict)
    is_compared: bool = False
    made_s: float = 0.0
    """When it was made, by the clock's elapsed seconds."""
    took_s: float = 0.0
    settled: dict[str, Hashable] = field(default_factory=dict)
    """Items that were decided, by key: what their lessons and the decisions were like when that was seen."""

    def is_old(self, view: View) -> bool:
        """Return whether it may be made anew."""
        age_s = view.memory.services.clock.elapsed_s() - self.made_s
        return not self.is_compared or age_s > max(OLD_S, OLD_FACTOR * self.took_s)

    def open_items(self, view: View) -> list[QueueItem]:
        """Return the items without those that were decided; what was taken back since is among them again."""
        known = [item for item in self.items if item.key in self.settled]
        marks = _marks(view, known)
        for key, mark in marks.items():
            if self.settled.get(key) != mark:
                self.settled.pop(key, None)
        return [item for item in self.items if item.key not in self.settled]

    def settle(self, view: View, items: Sequence[QueueItem]) -> None:
        """Remember that these items are decided."""
        self.settled |= _marks(view, items)


def _marks(view: View, items: Sequence[QueueItem]) -> dict[str, Hashable]:
    """Return, by key, what changes when a decision on the item is taken or taken back."""
    if not items:
        return {}
    store, project = view.memory.services.store, view.memory.location.project.id
    versions = store.current_versions(list(dict.fromkeys(id_ for item in items for id_ in item.lessons)))
    refused, diary = store.get_states([(TIDY_REFUSED, project), (AUDIT_DIARY, project)])
    decisions = {"tidy": refused, "stale": diary, "doubt": diary, "flag": diary}
    return {item.key: (*(versions.get(id_) for id_ in item.lessons), decisions.get(item.kind, "")) for item in items}


class _Queues:
    """The queues of this process; the threads of a server share them."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._queues: dict[Hashable, KeptQueue] = {}

    def get(self, key: Hashable) -> KeptQueue | None:
        return self._queues.get(key)

    def put(self, key: Hashable, queue: KeptQueue) -> None:
        with self._lock:
            self._queues.pop(key, None)
            self._queues[key] = queue
            while len(self._queues) > KEPT:
                self._queues.pop(next(iter(self._queues)))


_QUEUES = _Queues()


def queue_for(view: View, *, wait: bool = False) -> KeptQueue:
    """Return the queue that is kept; one that is old is made anew where that is quick, or with `wait`.

    Who may not review gets what waits and is for their eyes; that is not kept, because it is not the same for all.
    """
    memory = view.memory
    if not view.may("review"):
        return KeptQueue(items=tuple(collect_quickly(memory.services, memory.location, view.sees)), is_compared=True)
    key = memory.services.store.content(), memory.location.project.id, memory.location.root
    known = _QUEUES.get(key)
    if known is not None and not known.is_old(view):
        return known
    if not wait and not _is_small(view):
        return known or KeptQueue(items=tuple(collect_quickly(memory.services, memory.location)))
    known = _compare(view)
    _QUEUES.put(key, known)
    return known


def _is_small(view: View) -> bool:
    memory = view.memory
    query = Query(project=memory.location.project.id, states=("active", "candidate"))
    return memory.services.store.count_lessons(query, SMALL + 1) <= SMALL


def _compare(view: View) -> KeptQueue:
    services, location = view.memory.services, view.memory.location
    begun_s = services.clock.elapsed_s()
    offers = collect_offers(services, location, count_told(services, location))
    closed = {lesson for offer in offers if offer.step.verb != "retitle" for lesson in offer.step.closes}
    items = [item for item in collect(services, location) if item.kind != "doubt" or item.lessons[0] not in closed]
    queue = in_order([*items, *(offer.item for offer in offers)])
    if isinstance(view.door, Client):
        flags = list(view.door.every(view.door.all_flags))
        lessons = get_readable(services.store, list(dict.fromkeys(each.lesson for each in flags)))
        queue = flagged(queue, lessons, flags)
    return KeptQueue(
        items=tuple(queue),
        offers={offer.item.key: offer for offer in offers}, is_compared=True, made_s=begun_s,
        took_s=services.clock.elapsed_s() - begun_s,
    )  # fmt: skip
