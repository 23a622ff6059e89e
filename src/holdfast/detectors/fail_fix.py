"""Finds what made a failing command pass: the same target failed first and passed later.

The cure is stated as a rule for the next run: a wrapper, a variable or a flag, or, for an edit, the cause that somebody
stated. What does not generalise is not reported: another file, another branch, a corrected slip, an unexplained edit, a
re-run that passes by itself. Failing tests belong to `red_green`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from holdfast.detectors._shared.causes import stated_cause
from holdfast.detectors._shared.cures import (
    Cure,
    form_cure,
    general_line,
    is_personal,
    shown_failure,
)
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.lesson import Evidence
from holdfast.text.attempts import Attempt, attempts, reports_tests
from holdfast.text.complaints import DIAGNOSTIC, SLIP, complaint
from holdfast.text.orders import fetches, instructs
from holdfast.text.shell import command_target
from holdfast.text.signature import error_signature
from holdfast.text.window import change_snippet, clip, edits_between, quote

SPAN = 120
"""Events between failure and success beyond which they are not taken for cause and cure."""
FORM_SPAN = 12
"""The same for another form of a command."""
SUBJECTS = 3
"""Edited files beyond which nobody can say which one mattered, unless the error names them."""
MOST = 5
"""Finds of one session."""
UNSURE = 0.35
"""Probability at which a find only waits for a person."""
WORTH = {"absent": 0.8, "protected": 0.8, "variable": 0.75, "flag": 0.6, "edit": 0.45}
"""Estimated share of finds worth keeping (read by eye, five repositories), by the sort of cure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Explained:
    """An edit that made the command pass, with the cause that somebody stated."""

    cause: str
    evidence: Evidence
    edits: tuple[Event, ...]
    files: tuple[str, ...]


class FailFix:
    """Finds what made a failing command pass, if that is a rule."""

    id = "fail_fix/2"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """Return at most one candidate for each failure with a known cure, in order of the cures."""
        candidates: list[Candidate] = []
        broken: dict[str, Attempt] = {}
        recent: list[Attempt] = []
        for run in attempts(window):
            started = run.tests and reports_tests(run.event.text)
            if not run.passed and not started:
                broken[run.target] = run
                recent = [*recent[-3:], run]
                continue
            made = _cured(window, broken.pop(run.target, None), recent, run)
            if made and all(made.title != other.title for other in candidates):
                candidates.append(made)
                recent = []
        return candidates[:MOST]


def make(options: Mapping[str, str]) -> FailFix:
    """Return the detector; it has no options."""
    return FailFix()


def _cured(window: Sequence[Event], failure: Attempt | None, recent: list[Attempt], run: Attempt) -> Candidate | None:
    """Return what made a run pass that had failed: in the same target, or in another form of it."""
    if failure and run.at - failure.at <= SPAN:
        edits = edits_between(window, failure.at, run.at)
        cure = form_cure(failure, run)
        if cure and not edits and complaint(failure.event.text):
            return _by_rule(failure, run, cure)
        explained = _explained(window, failure, run, edits) if edits and not failure.tests else None
        return _by_edit(failure, run, explained) if explained else None
    for failure in reversed(recent):
        near = run.at - failure.at <= FORM_SPAN and bool(failure.event.command)
        if near and not edits_between(window, failure.at, run.at):
            other = form_cure(failure, run)
            if other:
                return _by_rule(failure, run, other)
    return None


def _explained(window: Sequence[Event], failure: Attempt, run: Attempt, edits: list[Event]) -> _Explained | None:
    """Return the edits with their stated cause; None for a slip of new code, too many files or no cause."""
    words = complaint(failure.event.text)
    if not words or SLIP.search(words) or DIAGNOSTIC.search(failure.event.text[:20_000]):
        return None
    named = [edit for edit in edits if _names(failure.event.text, edit.files[0])]
    subjects = [edit for edit in named or edits if not is_personal("/" + edit.files[0]) and ":" not in edit.files[0]]
    files = tuple(dict.fromkeys(edit.files[0] for edit in subjects))
    if not files or len(files) > SUBJECTS:
        return None
    about = "\n".join((failure.event.text[:8_000], failure.line, *(f"{e.files[0]} {e.old} {e.new}" for e in subjects)))
    cause = stated_cause(window, failure.at, run.at, about)
    if cause is None or SLIP.search(cause[0]):
        return None
    return _Explained(cause=cause[0], evidence=cause[1], edits=tuple(subjects), files=files)


def _by_rule(failure: Attempt, run: Attempt, cure: Cure) -> Candidate:
    words = complaint(failure.event.text)
    line, shown = general_line(failure.line), shown_failure(words)
    # Orders in a tool's output may come from an attacker: a person must see them first.
    ordered = instructs(words) or (
        fetches(cure.how) and any(line in failure.event.text for line in cure.how.splitlines())
    )
    seen = f" (`{line}` failed with: {shown})" if line and shown and not ordered and cure.sort != "protected" else ""
    worth = WORTH[cure.sort]
    return Candidate(
        kind="constraint" if cure.sort == "protected" else "tooling",
        title=clip(cure.rule, 100),
        insight=f"{cure.rule}{seen}.",
        detector=FailFix.id,
        evidence=(_failure_span(failure.event, words), quote(run.event)),
        how=cure.how,
        trust="verified",
        structured=True,
        confidence=min(UNSURE, worth) if ordered and cure.sort != "protected" else worth,
        error_signature=error_signature(failure.event.text),
        command=command_target(failure.line),
    )


def _by_edit(failure: Attempt, run: Attempt, explained: _Explained) -> Candidate:
    line = general_line(failure.line)
    words = complaint(failure.event.text)
    where = " and ".join(f"`{file}`" for file in explained.files[:2])
    seen = f" `{line}` failed by it; the cure was in {where}." if line else f" The cure was in {where}."
    signature = error_signature(failure.event.text)
    return Candidate(
        kind="bug_cause",
        title=clip(explained.cause, 100),
        insight=f"{explained.cause.rstrip('.')}.{seen}",
        detector=FailFix.id,
        evidence=(
            explained.evidence,
            _failure_span(failure.event, words),
            *map(quote, explained.edits[-2:]),
            quote(run.event),
        ),
        how=change_snippet(explained.edits[-1]),
        files=explained.files,
        trust="verified",
        structured=True,
        confidence=UNSURE if instructs(words) else WORTH["edit"],
        error_signature=signature,
        command="" if signature else command_target(failure.line),
    )


def _failure_span(event: Event, words: str) -> Evidence:
    at = event.text.find(words) if words else -1
    return quote(event, words, at) if at >= 0 else quote(event)


def _names(text: str, file: str) -> bool:
    """Return whether the output names the file, as a whole word."""
    name = file.rpartition("/")[2]
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
        if not (before.isalnum() or before in ("_", "-", ".")) and not (after.isalnum() or after == "_"):
            return True
        at = text.find(name, at + 1)
    return False
