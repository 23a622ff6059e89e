"""Red to green: a test run failed, files were edited, and the tests that failed passed.

Handles test runners only; every other command belongs to `fail_fix`, so that one repair is found once. The test a
developer writes first and makes pass is how features are built, not a bug: it is found with low confidence when the
failing test was written in the session, and not at all when nothing but new code made it pass.
"""

from __future__ import annotations

import re

from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.frozen import Frozen
from holdfast.domain.lesson import Evidence
from holdfast.domain.window import change_snippet, clip, edits_between, explanation, is_test_file, quote
from holdfast.ranking.attempts import Attempt, attempts, failing_tests, reports_tests
from holdfast.ranking.errorline import error_line
from holdfast.ranking.orders import instructs, is_order
from holdfast.ranking.signature import error_signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SPAN = 150
"""Events between red and green beyond which they are not taken for cause and cure."""
SUBJECTS = 3
"""Edited files beyond which nobody can say which one mattered, unless the failure names them."""
AFTER = 3
"""Events behind the green run in which the agent may sum up what was wrong."""
SIGNATURE_LIMIT = 200
"""Characters of an error that is told; half of a longer one may mislead."""
OPEN = 8
"""Red runs that are remembered at a time."""

_BUILD = re.compile(
    r"^(?:\S+\.(?:go|rs|ts|tsx|java|c|cc|cpp|h):\d+|FAIL\t\S+ \[build failed\]|error\[E\d+\]|SyntaxError\b)",
    re.MULTILINE,
)


class _Phase(Frozen):
    """Of the red runs that one green run answers: where the first is, and where the next problem shows."""

    start: int
    """Files edited before it may hold the agent's own slip."""
    explained_until: int
    """What the agent says later is about the next problem."""


class _Repair(Frozen):
    """What turned it green: the edits, their files, the sentence that explains them and how sure that is."""

    edits: tuple[Event, ...]
    files: tuple[str, ...]
    cause: Evidence | None
    confidence: float


class RedGreen:
    """Finds what turned failing tests green."""

    id = "red_green/1"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """One candidate for each red run that a later green one answers, in order of the green ones."""
        found: list[Candidate] = []
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
                    found += _candidates(window, old, run, phase)
        return found


def make(options: Mapping[str, str]) -> RedGreen:
    """The detector; it has no options."""
    return RedGreen()


def _replaces(new: Attempt, old: Attempt) -> bool:
    """The newer red run tells the older one's problem, further on."""
    if new.target != old.target:
        return False
    now, before = failing_tests(new.event.text), failing_tests(old.event.text)
    return not before or bool(set(now) & set(before)) or not now


def _covers(green: Attempt, red: Attempt) -> bool:
    """The green run ran what had failed: the same target, a wider one, or a failed test by its name."""
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
    edits = edits_between(window, red.at, green.at)
    code = [edit for edit in edits if not is_test_file(edit.files[0])]
    subjects = code or edits
    named = [edit for edit in subjects if edit.files[0].rpartition("/")[2] in red.event.text]
    files = tuple(dict.fromkeys(edit.files[0] for edit in named or subjects))
    if not subjects or (not named and len(files) > SUBJECTS):
        return []
    before = [event for event in window[max(0, phase.start - SPAN) : phase.start] if event.kind == "file_edit"]
    cause = explanation(window, red.at, phase.explained_until) or explanation(window, green.at, green.at + AFTER)
    if _is_new_work(red, before, subjects) and not cause:
        return []
    written = {file for event in before for file in event.files}
    confidence = 0.35 + 0.1 * bool(named) + 0.05 * green.sure + 0.1 * bool(code)
    confidence -= 0.2 * all(file in written for file in files)
    edited = tuple((named or subjects)[-3:])
    return [_candidate(red, green, _Repair(edits=edited, files=files, cause=cause, confidence=confidence))]


def _is_new_work(red: Attempt, before: Sequence[Event], subjects: Sequence[Event]) -> bool:
    """The tests failed to build, or were just written: what made them pass is the feature."""
    tests_written = any(is_test_file(file) for event in before for file in event.files)
    adds = all(len(edit.new) > 3 * len(edit.old) for edit in subjects)
    return bool(_BUILD.search(red.event.text)) or (tests_written and adds)


def _candidate(red: Attempt, green: Attempt, repair: _Repair) -> Candidate:
    cause, files = repair.cause, repair.files
    names = failing_tests(red.event.text)
    found = error_signature(red.event.text)
    complaint = error_line(red.event.text, found)
    complaint = "" if instructs(complaint) or len(found) > SIGNATURE_LIMIT else complaint
    shown_names = [name for name in names if not is_order(name.rpartition("::")[2])]
    failing = ", ".join(shown_names[:2]) + (f" and {len(names) - 2} more" if len(names) > 2 and shown_names else "")
    what = f"`{failing}` failed" if failing else f"`{clip(red.line, 160)}` failed"
    said = f" with: {complaint}" if complaint else ""
    shown = ", ".join(files[:3]) + (" and others" if len(files) > 3 else "")
    telling = complaint and any(char.isalpha() for char in complaint.partition(":")[2])
    headline = complaint if telling else f"failed until an edit of {shown}"
    in_code = not all(map(is_test_file, files))
    spans = (_red_span(red.event, names), *(quote(edit) for edit in repair.edits), quote(green.event))
    return Candidate(
        kind="bug_cause" if cause and in_code else "fix",
        title=clip(f"{failing or red.target}: {cause.quote if cause else headline}", 100),
        insight=f"{cause.quote} {what}{said} until an edit of {shown}."
        if cause and in_code
        else f"{what}{said}; an edit of {shown} made it pass.",
        detector=RedGreen.id,
        evidence=(*spans, cause) if cause else spans,
        why=cause.quote if cause and not in_code else "",
        how=change_snippet(repair.edits[-1]),
        snippets=tuple(dict.fromkeys((clip(red.line, 300), clip(green.line, 300)))),
        files=files,
        trust="verified",
        structured=True,
        confidence=round(min(0.9, max(0.2, repair.confidence + 0.15 * bool(cause))), 2),
        error_signature=found,  # and no command: what failed is the code, not the way it is tested
    )


def _red_span(event: Event, names: list[str]) -> Evidence:
    at = event.text.find(names[0]) if names else -1
    if at < 0:
        return quote(event)
    start = event.text.rfind("\n", 0, at) + 1
    end = event.text.find("\n", at)
    return quote(event, event.text[start : end if end > 0 else None], start)
