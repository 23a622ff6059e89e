"""Fail and fix: a command failed by its exit status or the host's word, and the same target passed later.

What lies between is the fix: edits, a command that prepares, or another form of the command itself. A re-run that
passes with nothing in between is flaky, and quiet. Tests that fail belong to `red_green`; a test runner called so that
it runs nothing belongs here.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.frozen import Frozen
from holdfast.domain.lesson import Evidence
from holdfast.domain.vocabulary import LessonKind
from holdfast.domain.window import change_snippet, clip, edits_between, explanation, quote, status
from holdfast.ranking.attempts import Attempt, attempts, changes_files, reports_tests
from holdfast.ranking.errorline import error_line
from holdfast.ranking.orders import fetches, instructs
from holdfast.ranking.signature import command_target, error_signature

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SPAN = 120
"""Events between failure and success beyond which they are not taken for cause and cure."""
FORM_SPAN = 12
"""The same for another form of a command."""
LATE = 30
"""Events beyond which the link is weaker."""
REPAIRS = 2
"""Preparing commands beyond which nobody can say which one mattered."""
ABSENT_STATUS = 127
"""What a shell returns for a command it cannot find."""
UNSURE = 0.5
"""Confidence at which a find waits for a person."""
COMPLAINT_LIMIT = 200
"""Characters of a message that is told; half of a longer one may mislead."""
LINE_LIMIT = 300
"""Characters of a command that is told as the cure: half of one is another command."""
SUBJECTS = 3
"""Edited files beyond which nobody can say which one mattered, unless the error names them."""

_PREPARES = re.compile(
    r"\b(?:install|add|sync|generate|gen|migrate|upgrade|update|init|tidy|download|vendor|bootstrap|setup|link|chmod"
    r"|mkdir|touch|start|up|login|build|restore|clean|prune|unset|enable|disable|fetch|pull|use|trust|compile"
    r"|format|fmt|--fix|--write|-w)\b"
)
_USAGE = re.compile(
    r"^(?:[\w./-]+: )*(?:error: |fatal: )?(?:unknown|unrecognized|invalid|illegal|unexpected|no such|bad|unsupported)"
    r" (?:\w+ )?(?:option|flag|switch|argument|arguments|command|subcommand|field|parameter)\b|^usage: ",
    re.IGNORECASE | re.MULTILINE,
)
_DEEP = frozenset({"gh", "aws", "gcloud", "az", "docker", "kubectl", "helm"})
"""Programs whose second word is a subject and whose third says what to do with it."""
_ABSENT = re.compile(
    r"(?:^|: )command not found(?::|$)|: not found$|^(?:\S*python\S*: )?No module named ", re.IGNORECASE | re.MULTILINE
)
_DIAGNOSTIC = re.compile(r"^(?:\[[\w:-]+\] )?\S+?:\d+(?::\d+)?: (?!:)(.{12,160})$", re.MULTILINE)
_REFUSED = re.compile(
    r"^(?:remote: (?:error|fatal): |GraphQL: |[ \t]*! \[remote rejected\] |HTTP 4\d\d: )(.{8,160}?)[ \t\r]*$",
    re.MULTILINE,
)
"""How a server says no: its rules are worth knowing before the next try."""


class _Cure(Frozen):
    """What made it pass: in words, as a record and by which events."""

    kind: LessonKind
    words: str
    how: str
    confidence: float
    files: tuple[str, ...] = ()
    events: tuple[Event, ...] = ()


class _Reading:
    """A window with its runs and the place where each file was first edited."""

    def __init__(self, window: Sequence[Event]) -> None:
        self.window = window
        self.runs = attempts(window)
        self._places = [run.at for run in self.runs]
        self.first_edit: dict[str, int] = {}
        for at, event in enumerate(window):
            for file in event.files if event.kind == "file_edit" else ():
                self.first_edit.setdefault(file, at)

    def repairs(self, failure: Attempt, cure: Attempt) -> list[Attempt]:
        """Commands in between that passed and prepare something; none when there are too many to tell."""
        between = self.runs[bisect_right(self._places, failure.at) : bisect_left(self._places, cure.at)]
        kept = {
            run.target: run
            for run in between
            if run.passed and run.event.command and (_PREPARES.search(run.line) or changes_files(run.line))
        }
        return list(kept.values()) if len(kept) <= REPAIRS else []


class FailFix:
    """Finds what made a failing command pass."""

    id = "fail_fix/1"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """One candidate for each failure with a known cure, in order of the cures."""
        reading = _Reading(window)
        found: list[Candidate] = []
        broken: dict[str, Attempt] = {}
        recent: list[Attempt] = []
        for run in reading.runs:
            started = run.tests and reports_tests(run.event.text)
            if not run.passed and not started:
                broken.update({} if run.tests else {run.target: run})
                recent = [*recent[-3:], run]
                continue
            failure = broken.pop(run.target, None)
            cure = _same_target(reading, failure, run) if failure else None
            if failure is None:
                failure, cure = _other_form(reading, recent, run)
            if failure and cure:
                found.append(_candidate(window, failure, run, cure))
                recent = []
        return found


def make(options: Mapping[str, str]) -> FailFix:
    """The detector; it has no options."""
    return FailFix()


def _same_target(reading: _Reading, failure: Attempt, run: Attempt) -> _Cure | None:
    if run.at - failure.at > SPAN:
        return None
    edits = edits_between(reading.window, failure.at, run.at)
    if edits:
        return _by_edit(reading, failure, run, edits) if _complaint(failure.event.text) else None
    repairs = reading.repairs(failure, run)
    if repairs:
        return _by_command(repairs) if _complaint(failure.event.text) else None
    other = _arguments(failure.line) != _arguments(run.line)
    if other and run.at - failure.at <= FORM_SPAN and failure.alone and failure.event.command:
        return _by_form(run)
    return None


def _by_edit(reading: _Reading, failure: Attempt, run: Attempt, edits: list[Event]) -> _Cure | None:
    named = [edit for edit in edits if _names(failure.event.text, edit.files[0])]
    subjects = named or edits
    files = tuple(dict.fromkeys(edit.files[0] for edit in subjects))
    if not named and len(files) > SUBJECTS:
        return None
    own_slip = all(reading.first_edit.get(file, failure.at) < failure.at for file in files)
    late = run.at - failure.at > LATE
    shown = ", ".join(files[:3]) + (" and others" if len(files) > 3 else "")
    return _Cure(
        kind="fix",
        words=f"an edit of {shown} made it pass",
        how=change_snippet(subjects[-1]),
        confidence=0.3 + 0.15 * bool(named) + 0.1 * run.sure - 0.25 * own_slip - 0.1 * late,
        files=files,
        events=tuple(subjects),
    )


def _by_command(repairs: list[Attempt]) -> _Cure | None:
    lines = [repair.line for repair in repairs]
    if any(len(line) > LINE_LIMIT for line in lines):
        return None
    return _Cure(
        kind="fix",
        words=f"it passed after {' and '.join(f'`{line}`' for line in lines)}",
        how="\n".join(lines),
        confidence=0.5,
        events=tuple(repair.event for repair in repairs),
    )


def _by_form(run: Attempt) -> _Cure | None:
    line = run.line
    if len(line) > LINE_LIMIT:
        return None
    return _Cure(kind="tooling", words=f"`{line}` works", how=f"Run `{line}`.", confidence=0.5 + 0.1 * run.sure)


def _other_form(reading: _Reading, recent: list[Attempt], run: Attempt) -> tuple[Attempt | None, _Cure | None]:
    """The working form of a command that was misspelt, called with flags it does not have, or is not installed."""
    for failure in reversed(recent):
        near = run.at - failure.at <= FORM_SPAN and bool(failure.event.command)
        if near and _is_other_form(failure, run) and not edits_between(reading.window, failure.at, run.at):
            return failure, _by_form(run)
    return None, None


def _is_other_form(failure: Attempt, run: Attempt) -> bool:
    wanted, got = failure.target.split(), run.target.split()
    if failure.tests or run.tests:  # the runner was called so that it found nothing to run, and then so that it did
        return failure.tests and run.tests and wanted[0] == got[0] and failure.line != run.line
    if failure.alone and (_ABSENT.search(failure.event.text) or status(failure.event) == ABSENT_STATUS):
        return wanted[0] != got[0] and (bool(set(wanted[1:]) & set(got[1:])) or wanted[0] in run.line.split())
    depth = 3 if wanted[0] in _DEEP else 2
    if wanted[:depth] != got[:depth] or len(wanted) < 2:
        return False
    if _REFUSED.search(failure.event.text):
        return wanted != got
    return failure.alone and bool(_USAGE.search(failure.event.text)) and _alike(failure.line, run.line)


def _alike(one: str, other: str) -> bool:
    """The lines share most words: the same thing was meant."""
    words, others = set(_arguments(one)), set(_arguments(other))
    return 2 * len(words & others) >= len(words | others)


def _candidate(window: Sequence[Event], failure: Attempt, run: Attempt, cure: _Cure) -> Candidate:
    signature = error_signature(failure.event.text)
    about_code = bool(cure.files and signature)  # then the error tells when it matters, not the command
    complaint = _complaint(failure.event.text)
    cause = explanation(window, failure.at, run.at)
    said = f" with: {complaint}" if complaint and len(complaint) <= COMPLAINT_LIMIT else ""
    # A tool that gives orders, or says what to fetch, may be somebody else's voice: a person looks at it first.
    ordered = instructs(complaint) or (
        fetches(cure.how) and any(line in failure.event.text for line in cure.how.splitlines())
    )
    most = UNSURE if ordered else 0.9
    spans = [_failure_span(failure.event, complaint), *(quote(event) for event in cure.events[-3:]), quote(run.event)]
    return Candidate(
        kind=cure.kind,
        title=clip(f"{clip(failure.target, 40)}: {complaint or 'another form works'}", 100),
        insight=f"`{clip(failure.line, 160)}` failed{said}; {cure.words}.",
        detector=FailFix.id,
        evidence=(*spans, cause) if cause else tuple(spans),
        why=cause.quote if cause else "",
        how=cure.how,
        snippets=tuple(dict.fromkeys((clip(failure.line, 300), clip(run.line, 300)))),
        files=cure.files,
        trust="verified",
        structured=True,
        confidence=round(min(most, max(0.2, cure.confidence + 0.1 * bool(cause))), 2),
        error_signature=signature,
        command=command_target(failure.line) if failure.event.command and not about_code else "",
    )


def _failure_span(event: Event, complaint: str) -> Evidence:
    at = event.text.find(complaint) if complaint else -1
    return quote(event, complaint, at) if at >= 0 else quote(event)


def _complaint(text: str) -> str:
    """What the failure says: a server's refusal, its signature, a checker's first message or a usage error's line."""
    head = text[:20_000]
    refused = _REFUSED.search(head)
    if refused:
        return refused.group(1).rstrip(".")
    signature = error_signature(text)
    if signature:
        return error_line(head, signature)
    found = _DIAGNOSTIC.search(head)
    if found:
        return found.group(1).strip().rstrip(".")
    misuse = _USAGE.search(head)
    return clip(head[misuse.start() :].partition("\n")[0], 160) if misuse else ""


def _names(text: str, file: str) -> bool:
    """The output names the file: its name stands there as a whole word."""
    name = file.rpartition("/")[2]
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
        if not (before.isalnum() or before in ("_", "-", ".")) and not (after.isalnum() or after == "_"):
            return True
        at = text.find(name, at + 1)
    return False


def _arguments(line: str) -> list[str]:
    """The words of a command without redirections: what has to differ for another form."""
    return [word for word in line.split() if not word.startswith((">", "2>", "<", "1>"))]
