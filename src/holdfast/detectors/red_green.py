"""Finds causes of failed tests: a test run failed, files were edited, the tests passed, and somebody said why.

Only test runners count; every other command belongs to `fail_fix`, so that a repair is found once. The lesson is the
stated cause; an unexplained edit teaches nothing. A test that is written first and made to pass, and a test that is
adapted to intended behaviour, belong to new features, not to bugs.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from holdfast.detectors._shared.causes import stated_cause
from holdfast.detectors._shared.cures import is_personal
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.lesson import Evidence
from holdfast.text.attempts import Attempt, attempts, failing_tests, reports_tests
from holdfast.text.orders import is_order
from holdfast.text.signature import error_signature
from holdfast.text.window import change_snippet, clip, edits_between, is_test_file, quote

SPAN = 150
"""Events between red and green beyond which they are not taken for cause and cure."""
SUBJECTS = 3
"""Edited files beyond which nobody can say which one mattered, unless the failure names them."""
AFTER = 3
"""Events from the green run on, itself included, in which the agent may sum up what was wrong."""
NAME_LIMIT = 80
"""Characters of a test's name that is told."""
WORTH, WORTH_IN_TESTS = 0.5, 0.4
"""Estimated share of finds worth keeping (read by eye, five repositories), for cures in code and in tests."""
OPEN = 8
"""Red runs that are remembered at a time."""

_BUILD = re.compile(
    r"^(?:\S+\.(?:go|rs|ts|tsx|java|c|cc|cpp|h):\d+|FAIL\t\S+ \[build failed\]|error\[E\d+\]|SyntaxError\b)",
    re.MULTILINE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Phase:
    """The span of failed runs that one passing run answers: where the first is, and where the next problem begins."""

    start: int
    """Files edited before it may hold the agent's own slip."""
    explained_until: int
    """What the agent says later is about the next problem."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Repair:
    """What made the tests pass: the edits, their files and the sentence that explains them."""

    edits: tuple[Event, ...]
    files: tuple[str, ...]
    cause: str
    evidence: Evidence


class RedGreen:
    """Finds what made failing tests pass."""

    id = "red_green/2"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """Return a candidate for each failed run that a later passing run answers, in order of the passing runs."""
        candidates: list[Candidate] = []
        red: list[Attempt] = []
        for run in attempts(window):
            if not run.tests:
                continue
            if not run.passed:
                red = [*(old for old in red[1 - OPEN :] if not _replaces(run, old)), run]
                continue
            answered = [old for old in red if _covers(run, old)]
            if answered:
                red = [old for old in red if old not in answered]
                for n, old in enumerate(answered):
                    until = answered[n + 1].at if n + 1 < len(answered) else run.at
                    phase = _Phase(start=answered[0].at, explained_until=until)
                    candidates += _candidates(window, old, run, phase)
        return candidates


def make(options: Mapping[str, str]) -> RedGreen:
    """Return the detector; it has no options."""
    return RedGreen()


def _replaces(new: Attempt, old: Attempt) -> bool:
    """Return whether the newer failed run shows the same problem as the older one."""
    if new.target != old.target:
        return False
    now, before = failing_tests(new.event.text), failing_tests(old.event.text)
    return not before or bool(set(now) & set(before)) or not now


def _covers(green: Attempt, red: Attempt) -> bool:
    """Return whether the passing run included what had failed: the same or a wider target, or a failed test's name."""
    if green.target == red.target or not reports_tests(red.event.text):
        return green.target == red.target
    wide, narrow = green.target.replace("./...", "").strip(), red.target.replace("./...", "").strip()
    if narrow.startswith(wide) and narrow[len(wide) : len(wide) + 1] in ("", " ", "/", ":", "."):
        return True
    names = failing_tests(red.event.text)
    return len(names) == 1 and names[0].rpartition("::")[2].partition("/")[0] in green.line


def _candidates(window: Sequence[Event], red: Attempt, green: Attempt, phase: _Phase) -> list[Candidate]:
    if green.at - red.at > SPAN:
        return []
    edits = [edit for edit in edits_between(window, red.at, green.at) if not _is_elsewhere(edit.files[0])]
    code = [edit for edit in edits if not is_test_file(edit.files[0])]
    subjects = code or edits
    named = [edit for edit in subjects if edit.files[0].rpartition("/")[2] in red.event.text]
    files = tuple(dict.fromkeys(edit.files[0] for edit in named or subjects))
    if not subjects or (not named and len(files) > SUBJECTS) or _BUILD.search(red.event.text):
        return []
    edited = tuple((named or subjects)[-3:])
    about = "\n".join((red.event.text[:8_000], *(f"{edit.files[0]} {edit.old} {edit.new}" for edit in edited)))
    cause = stated_cause(window, red.at, phase.explained_until, about)
    cause = cause or stated_cause(window, green.at - 1, green.at + AFTER, about)
    if cause is None:
        return []
    return [_candidate(red, green, _Repair(edits=edited, files=files, cause=cause[0], evidence=cause[1]))]


def _is_elsewhere(file: str) -> bool:
    """Return whether the file is a scratch file of this session, outside the project."""
    return ":" in file or is_personal(file) or file.startswith("..")


def _candidate(red: Attempt, green: Attempt, repair: _Repair) -> Candidate:
    names = failing_tests(red.event.text)
    shown = [name for name in names if not is_order(name.rpartition("::")[2]) and len(name) <= NAME_LIMIT]
    by = f"`{shown[0]}` failed by it" if shown else "A test failed by it"
    where = " and ".join(f"`{file}`" for file in repair.files[:2])
    in_code = not all(map(is_test_file, repair.files))
    return Candidate(
        kind="bug_cause" if in_code else "constraint",
        title=clip(repair.cause, 100),
        insight=f"{repair.cause.rstrip('.')}. {by}; the cure was in {where}.",
        detector=RedGreen.id,
        evidence=(
            repair.evidence,
            _red_span(red.event, names),
            *(quote(edit) for edit in repair.edits),
            quote(green.event),
        ),
        how=change_snippet(repair.edits[-1]),
        files=repair.files,
        trust="verified",
        structured=True,
        confidence=WORTH if in_code else WORTH_IN_TESTS,
        error_signature=error_signature(red.event.text),  # no command: the code failed, not the command
    )


def _red_span(event: Event, names: list[str]) -> Evidence:
    at = event.text.find(names[0]) if names else -1
    if at < 0:
        return quote(event)
    start = event.text.rfind("\n", 0, at) + 1
    end = event.text.find("\n", at)
    return quote(event, event.text[start : end if end > 0 else None], start)
