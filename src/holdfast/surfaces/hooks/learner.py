"""`python -m holdfast.surfaces.hooks.learner [errand [turn]]`: learns from what sessions left behind, then ends.

After a turn it reads that session only; what takes long waits for the session's end. Only one learner works at a time.
A learner that does not get its turn in time exits. Nothing is lost: the learner at work checks for new events before it
ends.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Sequence
from functools import partial

from holdfast.backfill.transcripts import keep_turn, read_errands
from holdfast.bootstrap import Memory
from holdfast.curation.checkpoint import close_over, leave, leave_waiting
from holdfast.curation.claims import settle_claims
from holdfast.domain.hookcall import HookCall, parse_errand
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import AlreadyRunningError, RateLimitedError, ServerUnreachableError
from holdfast.freshness.verify import reindex
from holdfast.home.handover import SYNC, TURN, has_leftovers, has_links, is_due
from holdfast.home.runfiles import LearningLock, RunLock, embed_in_turn, note
from holdfast.home.spool import drain
from holdfast.learning.associations import associate
from holdfast.outcomes.sessiondigest import note_earlier
from holdfast.settings import Settings, load_settings

LONGEST_RUN_S = 900.0
"""A learner that has not ended by then is stuck: it goes, and the next session's start tries again."""

DISTILLING_S = 600.0
"""Seconds of a learner after which no call of the user's model begins; one that has begun still has its time."""

EMBEDDED_AT_ONCE = 1_000

PATIENCE_S = 10.0
"""How long to wait for another learner."""

EMBEDDED_AFTER_TURN = 100
"""Lessons given a vector after a turn; the others follow after the next, or at the session's end."""

FOLLOW_EVERY_S = 600.0
"""Seconds between two looks after turns at all lessons whose code may have moved; every delivery follows its own."""


def main(arguments: Sequence[str] = ()) -> None:
    """Learn from every session with events nobody has learnt from; what fails goes to the hooks' log."""
    settings = load_settings()
    _leave_the_host()
    began_s = time.monotonic()
    stop = threading.Timer(LONGEST_RUN_S, os._exit, (0,))
    stop.daemon = True
    stop.start()
    ended = parse_errand(arguments[0] if arguments else "")
    try:
        if SYNC in arguments[1:]:
            _sync(settings, ended.cwd)
            return
        with LearningLock(settings.run_path, PATIENCE_S) as ours:
            if ours and TURN in arguments[1:]:
                learn_turn(settings, ended)
            elif ours:
                learn_all(settings, ended)
        if TURN in arguments[1:]:
            return
        _sync(settings, ended.cwd)
        embed_all(settings)
        if distil_all(settings, began_s + DISTILLING_S):
            embed_all(settings)
        _tidy(settings, ended, began_s + DISTILLING_S)
    except Exception as exc:  # nobody waits for this process, so the log is the only place to report it
        note(settings.log_path, "learner", exc)
    finally:
        stop.cancel()


def learn_turn(settings: Settings, turn: HookCall) -> None:
    """Learn from one session whose turn has ended, and save the state of its task: a killed host reports no end."""
    with Memory(turn.cwd if os.path.isdir(turn.cwd) else os.sep, settings=settings) as memory:
        drain(memory, settings.run_path)
        _get_known(memory, turn, settings, only=turn)
        try:
            leave(memory.services, memory.location, turn.session)
        except Exception as exc:  # the turn is learnt from all the same
            note(settings.log_path, "learner", exc)
        for why in memory.learn(turn.session).failed:
            note(settings.log_path, "learner", RuntimeError(why))
        embed_in_turn(memory, settings.run_path, EMBEDDED_AFTER_TURN)
        if is_due(settings.run_path, "moves.followed", FOLLOW_EVERY_S):
            memory.follow_moves()
            memory.prepare_brief(turn.session)


def learn_all(settings: Settings, ended: HookCall) -> None:
    """Learn until no new events are left, beginning with the spool and the transcripts that wait."""
    with Memory(os.sep, settings=settings) as memory:
        drain(memory, settings.run_path)
        _get_known(memory, ended, settings)
        for why in leave_waiting(memory.services):
            note(settings.log_path, "learner", RuntimeError(why))
        while has_leftovers(memory.services.store):
            for why in memory.learn_pending().failed:
                note(settings.log_path, "learner", RuntimeError(why))
        _link(memory, ended.cwd, settings.log_path)
        _follow_moves(memory, ended.cwd, settings.log_path)
        _settle(memory, settings.log_path)
        _count(memory, ended.cwd, settings.log_path)
        _prepare_brief(memory, ended.cwd, ended.session, settings.log_path)
        memory.drop_old_texts()


def distil_all(settings: Settings, until_s: float) -> int:
    """Let the model that the user agreed to read the sessions that have ended; return how many it read.

    No call begins after the monotonic instant `until_s`: the other sessions stay in the queue. The learning lock is
    free meanwhile, because a call may take minutes.
    """
    if not settings.learns_after_sessions:
        return 0
    from holdfast.backfill.distilling import distil_waiting, keep_trouble
    from holdfast.backfill.endedsessions import queue_ended

    read = 0
    with Memory(os.sep, settings=settings) as memory:
        queue_ended(memory)
        outcomes = distil_waiting(memory, settings)
        while time.monotonic() < until_s and (outcome := next(outcomes, None)) is not None:
            if outcome.error:
                note(settings.log_path, f"distil {outcome.session}", outcome.error)
            elif outcome.report and not outcome.report.skipped:
                read += 1
                _prepare_brief(memory, outcome.folder, outcome.session, settings.log_path)
        keep_trouble(memory, settings)
    return read


def embed_all(settings: Settings) -> None:
    """Embed until every lesson has its vector, as after a change of embedder or a killed run."""
    with Memory(os.sep, settings=settings) as memory:
        while embed_in_turn(memory, settings.run_path, EMBEDDED_AT_ONCE):
            pass


def _get_known(memory: Memory, ended: HookCall, settings: Settings, only: HookCall | None = None) -> None:
    """Find a large repository's identity, which a hook had no time for, and store events from waiting transcripts.

    The session that ended has also left a request in a file, unless the disk was full; then its turn is read here.
    """
    try:
        if os.path.isdir(ended.cwd):
            memory.services.workspace.locate(ended.cwd)
        done = read_errands(memory, settings.run_path, lambda exc: note(settings.log_path, "learner", exc), only)
        if ended.transcript and all((ended.host, ended.session) != (call.host, call.session) for call in done):
            keep_turn(memory, ended)
    except Exception as exc:  # the other sessions can still be learnt from
        note(settings.log_path, "learner", exc)


def _link(memory: Memory, folder: str, log_path: str) -> None:
    """Update the data about linked files: the code index, which hooks only read, and pairs lost in a new index."""
    if not os.path.isdir(folder):
        return
    try:
        here = memory.at(folder)
        reindex(here.services, here.location)
        associate(here.services, here.location)
    except Exception as exc:  # deliveries go without links meanwhile
        note(log_path, "learner", exc)


def _follow_moves(memory: Memory, folder: str, log_path: str) -> None:
    """Anchor lessons to code that the session moved, and settle branches, their tasks, claims and revivals."""
    if not os.path.isdir(folder):
        return
    try:
        here = memory.at(folder)
        here.follow_moves()
        here.settle_branches()
        here.wake_retired()
        settle_claims(here.services, here.location)
        close_over(here.services, here.location)
    except Exception as exc:  # every read follows them anyway
        note(log_path, "learner", exc)


def _settle(memory: Memory, log_path: str) -> None:
    """Judge the deliveries of sessions by what followed, and adjust the lessons."""
    try:
        for why in memory.settle_pending().failed:
            note(log_path, "learner", RuntimeError(why))
    except Exception as exc:  # nothing is lost: the next learner judges the same sessions
        note(log_path, "outcomes", exc)


def _count(memory: Memory, folder: str, log_path: str) -> None:
    """Count what was done in sessions that an earlier version recorded, some at a time."""
    if not os.path.isdir(folder):
        return
    try:
        here = memory.at(folder)
        note_earlier(here.services, here.location)
    except Exception as exc:  # the list of sessions says that these are not counted yet
        note(log_path, "learner", exc)


def _prepare_brief(memory: Memory, folder: str, session: SessionId, log_path: str) -> None:
    """Prepare what the next session in this folder is told at its start."""
    if not os.path.isdir(folder):
        return
    try:
        memory.at(folder).prepare_brief(session)
    except Exception as exc:  # a start hook collects the lines itself meanwhile
        note(log_path, "brief", exc)


def _sync(settings: Settings, folder: str) -> None:
    """Sync the session's project with the server that it is linked to; without a network that waits."""
    if not has_links(settings.home) or not os.path.isdir(folder):
        return
    try:
        with Memory(folder, settings=settings) as memory:
            report = memory.exchange()
            if report is not None and report.steps:
                memory.prepare_brief(SessionId(""))
    except (ServerUnreachableError, RateLimitedError, AlreadyRunningError):
        return  # what changed is sent by the next learner
    except Exception as exc:  # `holdfast remote status` says what to do about it
        note(settings.log_path, "sync", exc)


def _tidy(settings: Settings, ended: HookCall, until_s: float) -> None:
    """Tidy the memory of the session's project if it has outgrown the brief; the learning lock is free meanwhile.

    No call of a model begins after the monotonic instant `until_s`.
    """
    if not os.path.isdir(ended.cwd):
        return
    from holdfast.backfill.distilling import open_metered
    from holdfast.upkeep.tidying.tidy import tidy_when_due

    try:
        with Memory(ended.cwd, settings=settings) as memory, RunLock(settings.run_path, "tidy") as ours:
            open_model = partial(open_metered, settings, memory.services.clock, until_s)
            proposal = tidy_when_due(memory.services, memory.location, open_model) if ours else None
            if proposal is not None:
                _prepare_brief(memory, ended.cwd, ended.session, settings.log_path)
                if proposal.failure:
                    note(settings.log_path, "tidy", RuntimeError(proposal.failure))
    except Exception as exc:  # nothing is lost: the memory is only larger than it need be
        note(settings.log_path, "tidy", exc)


def _leave_the_host() -> None:
    try:
        os.chdir(os.sep)  # so that the folder in which the learner was started can be removed
        os.setsid()
    except (OSError, AttributeError):
        pass  # already a session of its own, or Windows


if __name__ == "__main__":
    main(sys.argv[1:])
