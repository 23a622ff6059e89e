"""Handing the learning over to a process of its own, so that the host never waits for it.

Only a session's end, and a start that finds an unlearnt session, do this; every other hook starts nothing.
"""

from __future__ import annotations

import os
import sys

from holdfast.ports.store import EventFilter
from holdfast.service.parts import LEARNED_POSITION

TYPE_CHECKING = False
if TYPE_CHECKING:
    from holdfast.ports.store import Store


def has_leftovers(store: Store, session: str = "") -> bool:
    """Whether there are events nobody has learnt from, the first of them of another session."""
    kept = store.mark(LEARNED_POSITION)
    found = store.find_events(EventFilter(after=int(kept or 0), limit=1))
    return bool(found) and found[0][1].session != session


def start_learner(errand: str) -> None:
    """Start a learner that outlives us and ends by itself; `errand`: what `domain.hookcall.render_errand` tells it."""
    from holdfast.runfiles import start_detached

    entry = os.path.join(os.path.dirname(os.path.abspath(__file__)), "entry.py")
    start_detached([os.path.abspath(sys.executable), "-I", entry, "--learn", errand])
