"""Measures threads on real sessions: whether what is called open still fails, and whether what is called cured passed.

    python -m benchmarks.replay.threads --data DIR --repository PATH [--first N] [--count N]

Every session is learnt from in order, and cut at every prompt and at every reply, as if it had ended there. A failure
that would be named at the next start is *right* where its next run fails, or passes only after files were edited;
*undecided* where it passes after something else that may have changed the code (a command that writes files, the
person at the keyboard), or is never run again; and *wrong* where it passes although nothing happened. Of a cure, the
output of the run is searched for failing tests and for messages about places in code. No text is printed.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from benchmarks.replay.catalog import load_catalog
from benchmarks.replay.player import learnt
from benchmarks.replay.repository import Repository

from holdfast.bootstrap import Memory
from holdfast.capture.sessionevents import with_outcomes
from holdfast.domain.event import Event
from holdfast.domain.vocabulary import SessionId
from holdfast.outcomes.threads import Run, SessionRuns, Thread, fold, includes_failure, is_worth_naming, read_runs
from holdfast.ports.store import EventFilter
from holdfast.text.attempts import reports_failure
from holdfast.text.complaints import DIAGNOSTIC

WRITES = re.compile(
    r"\bsed -i|perl -pi|\bgit (?:checkout|stash|reset|pull|merge|rebase|restore|apply|cherry-pick|revert|commit)"
    r"|\b(?:mv|cp|rm|tee) |cat >|fmt\b|generate|python3? -|<<"
)
"""Commands that may change code without an edit that the host reports."""


def main() -> int:
    """Print the counts as JSON."""
    options = _options()
    catalog = load_catalog(options.data / "replay").window(options.first, options.count)
    with (
        tempfile.TemporaryDirectory() as scratch,
        learnt(catalog, Repository(options.repository.resolve()), Path(scratch), {}, progress=_tell) as shipped,
        Memory(shipped.folder) as memory,
    ):
        print(json.dumps(measure(memory), indent=1))
    return 0


def measure(memory: Memory) -> dict[str, object]:
    """Return the counts over all sessions of the memory."""
    sessions = _sessions(memory)
    in_order = sorted(sessions, key=lambda session: sessions[session][-1].at)
    named: dict[str, Counter[str]] = {"prompt": Counter(), "reply": Counter()}
    cuts: Counter[str] = Counter()
    threads: list[Thread] = []
    for session in in_order:
        events = sessions[session]
        runs = read_runs(session, events)
        for kind, counts in named.items():
            cuts[kind] += sum(event.kind == kind and not event.agent for event in events[1:])
            counts.update(_verdicts(session, events, runs, threads, kind))
        threads = fold(threads, runs, {}, events[-1].at)
    by_id = {event.id: event for events in sessions.values() for event in events}
    cured = [by_id[thread.cure.event].text for thread in threads if thread.cure is not None]
    return {
        "sessions": len(sessions),
        "threads": len(threads),
        "named as open": {kind: {"cuts": cuts[kind], **counts} for kind, counts in named.items()},
        "cured": {"threads": len(cured), "contradicted by the output": sum(map(_contradicts, cured))},
    }


def _verdicts(
    session: SessionId, events: Sequence[Event], runs: SessionRuns, before: Sequence[Thread], kind: str
) -> list[str]:
    """Return a verdict for each failure that would be named if the session had ended at such an event."""
    seen: set[tuple[str, str]] = set()
    verdicts = []
    for at, event in enumerate(events):
        if event.kind != kind or event.agent or not at:
            continue
        for thread in fold(before, read_runs(session, events[:at]), {}, event.at):
            if thread.session == session and is_worth_naming(thread, event.at):
                if (thread.key, thread.event) not in seen:
                    verdicts.append(_verdict(thread, at, events, runs))
                seen.add((thread.key, thread.event))
    return verdicts


def _verdict(thread: Thread, cut: int, events: Sequence[Event], runs: SessionRuns) -> str:
    run = next((run for run in runs.runs if run.at >= cut and _shows(run, thread)), None)
    if run is None:
        return "undecided: never run again"
    if not run.passed:
        return "right: fails again"
    if any(cut <= at < run.at for at, _ in runs.edits):
        return "right: passes after edits"
    between = events[cut : run.at + 1]
    may_change = any(
        WRITES.search(event.command) or (event.kind == "prompt" and not event.agent) for event in between
    )  # fmt: skip
    return "undecided: passes after what may have changed the code" if may_change else "wrong"


def _shows(run: Run, thread: Thread) -> bool:
    """Return whether the run says how the failure is."""
    if run.passed:
        return includes_failure(run, thread)
    return thread.text in run.tests or (thread.kind != "test" and run.scope in thread.scopes)


def _contradicts(output: str) -> bool:
    return bool(DIAGNOSTIC.search(output)) or reports_failure(output)


def _sessions(memory: Memory) -> dict[SessionId, list[Event]]:
    sessions: dict[SessionId, list[Event]] = {}
    after = 0
    while page := memory.services.store.find_events(EventFilter(after=after)):
        after = page[-1][0]
        for _, event in page:
            sessions.setdefault(event.session, []).append(event)
    return {session: sorted(with_outcomes(events), key=lambda event: event.at) for session, events in sessions.items()}


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.replay.threads", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("--data", type=Path, required=True, help="folder that holds replay/")
    parser.add_argument("--repository", type=Path, required=True, help="the bare repository of the transcripts")
    parser.add_argument("--first", type=int, default=0, help="position of the first session")
    parser.add_argument("--count", type=int, default=10_000, help="most sessions")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
