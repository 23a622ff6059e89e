"""`python -m holdfast.surfaces.hooks.learner [folder]`: learns what sessions left behind, then ends.

At most one learns at a time. One that has to wait for long leaves: who has the turn looks again before it goes.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Sequence

from holdfast.bootstrap import Memory
from holdfast.ports.store import EventFilter
from holdfast.runfiles import LearningTurn, note
from holdfast.settings import Settings, load_settings
from holdfast.surfaces.hooks.handover import LEARNT, learnt_up_to

LONGEST_RUN_S = 900.0
"""A learner that has not ended by then is stuck: it goes, and the next session's start tries again."""

PATIENCE_S = 10.0
"""How long to wait for a server that is learning from a turn."""

PAGE = 1_000


def main(arguments: Sequence[str] = ()) -> None:
    """Learn from every session with events nobody has learnt from; what fails goes to the hooks' log."""
    settings = load_settings()
    _leave_the_host()
    stop = threading.Timer(LONGEST_RUN_S, os._exit, (0,))
    stop.daemon = True
    stop.start()
    try:
        with LearningTurn(settings.run_path, PATIENCE_S) as ours:
            if ours:
                learn_all(settings, arguments[0] if arguments else "")
    except Exception as exc:  # nobody waits for us: the log is the only one to tell
        note(settings.log_path, "learner", exc)
    finally:
        stop.cancel()


def learn_all(settings: Settings, folder: str = "") -> None:
    """Learn until nothing new has come in meanwhile. `folder` is located first, with all the time git needs."""
    with Memory(os.sep, settings=settings) as memory:
        _get_known(memory, folder, settings.log_path)
        while (newest := _newest_position(memory)) > learnt_up_to(memory.parts.store):
            memory.learn_pending()
            memory.parts.store.mark(LEARNT, str(newest))
        memory.embed_pending()


def _get_known(memory: Memory, folder: str, log_path: str) -> None:
    """Tell a large repository's identity, which a hook had no time for; later hooks find it kept."""
    if not folder or not os.path.isdir(folder):
        return
    try:
        memory.parts.workspace.locate(folder)
    except Exception as exc:  # what others left can be learnt from all the same
        note(log_path, "learner", exc)


def _newest_position(memory: Memory) -> int:
    position = learnt_up_to(memory.parts.store)
    while page := memory.parts.store.find_events(EventFilter(after=position, limit=PAGE)):
        position = page[-1][0]
    return position


def _leave_the_host() -> None:
    try:
        os.setsid()
        os.nice(10)
    except (OSError, AttributeError):
        pass  # already a session of our own, or Windows


if __name__ == "__main__":
    main(sys.argv[1:])
