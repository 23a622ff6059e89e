"""Judges one delivery by what followed it, without a model.

A verdict needs evidence: an event and its words. If nothing that followed shows whether a lesson mattered, the verdict
is `unclear` and does not count.
"""

from __future__ import annotations

import re

from holdfast.domain.vocabulary import EventId, LessonId, Verdict
from holdfast.lean.records import Frozen
from holdfast.outcomes.advice import ELSEWHERE, TEST_FIRST, Advice, advice_of
from holdfast.outcomes.story import (
    Action,
    Story,
    clipped,
    edits_test,
    is_reading,
    is_search,
    lint_rules_in,
    runs_tests,
    signatures_of,
)
from holdfast.outcomes.tuning import LEAST_EDITS
from holdfast.text.baits import bait_of
from holdfast.text.occasions import command_kinds, language_of
from holdfast.text.sameness import opposed, same
from holdfast.text.signature import alike, command_target
from holdfast.text.window import failed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.domain.candidate import Candidate
    from holdfast.domain.event import Event
    from holdfast.domain.lesson import Lesson
    from holdfast.domain.records import Delivery

_NO_ISSUES = re.compile(r"\b0 issues\b")
"""The output of golangci-lint when it finds nothing."""
_COMPLAINT = re.compile(
    r"\b(?:that|this|the|your|a|holdfast(?:'s)?)\s+(?:\w+\s+){0,2}(?:note|memory|lesson|reminder|hint)s?\b"
    r"[^.!?\n]{0,40}\b(?:wrong|outdated|obsolete|stale|not true|untrue|incorrect|false|nonsense"
    r"|no longer (?:true|holds|right|valid))\b"
    r"|\b(?:ignore|forget|drop|disregard)\s+(?:that|this|the)\s+(?:\w+\s+)?(?:note|memory|lesson|reminder|hint)\b",
    re.IGNORECASE,
)
"""Phrases with which people say that a delivered lesson is wrong."""
_IDENTIFIER = re.compile(r"[A-Za-z_]\w{5,60}")
_SHORT_ID = re.compile(r"\b[0-9a-f]{8}\b")


class Judged(Frozen):
    """A verdict, the events it rests on and their words."""

    verdict: Verdict
    evidence: tuple[EventId, ...] = ()
    words: str = ""


class Sayings(Frozen):
    """The rules that a session states, each as (position, rule, event)."""

    rules: tuple[tuple[int, str, EventId], ...] = ()
    """Rules in the user's prompts."""
    proofs: tuple[tuple[int, str, EventId], ...] = ()
    """Rules proved by commands that failed and then passed."""

    @staticmethod
    def of(story: Story, candidates: Sequence[Candidate]) -> Sayings:
        """Select the candidates that rest on a prompt of the user, and those that are proved."""
        positions = {event.id: at for at, event in enumerate(story.events)}
        stated = [
            (positions[span.event], candidate.insight, span.event, candidate.trust)
            for candidate in candidates
            for span in candidate.evidence[:1]
            if span.event in positions
        ]
        return Sayings(
            rules=tuple(entry[:3] for entry in stated if story.events[entry[0]].kind == "prompt"),
            proofs=tuple(entry[:3] for entry in stated if entry[3] == "verified"),
        )


def judge(lesson: Lesson, begin: int, end: int, trigger_files: Sequence[str], story: Story, sayings: Sayings) -> Judged:
    """Return the verdict on a lesson that was told (or withheld) before event `begin`, by the events before `end`.

    The user's contradiction counts first, then a failure despite the lesson, then an action as the lesson says, then
    the opposite if it stood, then an order that was ignored.
    """
    advice = advice_of(lesson)
    span = _Span(story, begin, end)
    failure = _failed(advice, lesson, span, sayings)
    heeded = _heeded(advice, span, trigger_files)
    return (
        _overruled(lesson, span, sayings)
        or failure
        or heeded
        or _done_otherwise(advice, span)
        or _ignored(advice, span, trigger_files)
        or Judged(verdict="unclear")
    )


def complaints(story: Story, deliveries: Sequence[tuple[int, Delivery]]) -> Iterator[tuple[LessonId, Judged]]:
    """Yield lessons that the user calls wrong: the one whose id is mentioned, else the only one just told."""
    for at, words in story.prompts:
        complaint = _COMPLAINT.search(words)
        if complaint is None:
            continue
        before = [delivery for position, delivery in deliveries if position <= at]
        named = [delivery for delivery in before if delivery.lesson[-8:] in _SHORT_ID.findall(words)]
        latest = [delivery for delivery in before if before and delivery.at == max(earlier.at for earlier in before)]
        meant = {delivery.lesson for delivery in named or latest}
        if len(meant) == 1:
            evidence = (story.events[at].id,)
            yield meant.pop(), Judged(verdict="hurt", evidence=evidence, words=clipped(complaint.group()))


class _Span:
    """The part of a session that follows a delivery."""

    def __init__(self, story: Story, begin: int, end: int) -> None:
        self.story, self.begin, self.end = story, begin, end
        self.actions = [action for action in story.actions if begin <= action.at < end]
        self.edits = [action for action in self.actions if action.event.kind == "file_edit"]
        self.commands = [action for action in self.actions if action.event.command and not is_reading(action.event)]

    def is_new(self, name: str) -> bool:
        """Return whether neither user nor agent used the name before; then it may come from the lesson."""
        return self.story.first_said(name, self.begin) < 0


def _overruled(lesson: Lesson, span: _Span, sayings: Sayings) -> Judged | None:
    """Judge `overridden` if the user states the opposite, or the session proves it."""
    for at, rule, event in (*sayings.rules, *sayings.proofs):
        if span.begin <= at < span.end and opposed(rule, lesson.insight):
            return Judged(verdict="overridden", evidence=(event,), words=clipped(rule))
    return None


def _failed(advice: Advice, lesson: Lesson, span: _Span, sayings: Sayings) -> Judged | None:
    """Judge `failed` if the lesson's failure occurs, its linter reports, or the user has to repeat the rule."""
    rules = _rules_named(lesson)
    for at, event in span.story.failures(span.begin):
        if at >= span.end:
            break
        reported = rules & lint_rules_in(event)
        if reported:
            return Judged(verdict="failed", evidence=(event.id,), words=clipped(f"reported: {min(reported)}"))
        if not (advice.signature or advice.failing):
            continue
        signature, target = signatures_of(event)
        is_same = bool(signature) and alike(signature, advice.signature)
        if is_same or (not advice.signature and advice.failing and target == advice.failing):
            return Judged(verdict="failed", evidence=(event.id,), words=clipped(signature or target))
    for at, rule, source in sayings.rules:
        if span.begin <= at < span.end and same(rule, lesson.insight):
            return Judged(verdict="failed", evidence=(source,), words=clipped(rule))
    return None


def _rules_named(lesson: Lesson) -> frozenset[str]:
    """Return the words of the lesson that may be names of linters' rules."""
    return frozenset(re.findall(r"[A-Za-z][A-Za-z0-9]{3,30}", f"{lesson.title} {lesson.insight} {lesson.how}"))


def _heeded(advice: Advice, span: _Span, trigger_files: Sequence[str]) -> Judged | None:
    """Judge `heeded` if its command is run, its name is used, or the other file or a test is edited."""
    for action in span.commands:
        ran = next((command for command in advice.commands if _runs(action, command)), "")
        if ran and _is_news(span, ran):
            return _by(action, f"ran {ran}")
    for action in span.actions:
        if is_reading(action.event):
            continue
        used = next((name for name in advice.names if _has(action.written, name) and span.is_new(name)), "")
        if used:
            return _by(action, f"used {used}")
    return (
        _edited_too(advice, span, trigger_files)
        or _tested(advice, span)
        or _tested_first(advice, span)
        or _looked_elsewhere(advice, span)
        or _passed_lint(advice, span)
    )


def _edited_too(advice: Advice, span: _Span, trigger_files: Sequence[str]) -> Judged | None:
    """Judge `heeded` if a file of the lesson is edited other than the one it was told for."""
    edited_before = {file for edit in span.story.edits if edit.at < span.begin for file in edit.event.files}
    others = [file for file in advice.files if not _names_one_of(file, [*trigger_files, *edited_before])]
    for action in span.edits if len(advice.files) > 1 or not trigger_files else ():
        other = next((file for file in others if _names_one_of(file, action.event.files)), "")
        if other:
            return _by(action, f"edited {other}")
    return None


def _tested(advice: Advice, span: _Span) -> Judged | None:
    """Judge `heeded` if a test is written after other edits and the lesson asks for tests."""
    if advice.wants_tests:
        worked = next((action.at for action in span.edits if not edits_test(action)), None)
        for action in span.edits if worked is not None else ():
            if edits_test(action):
                return _by(action, f"wrote a test in {action.event.files[0]}")
    return None


def _tested_first(advice: Advice, span: _Span) -> Judged | None:
    """Judge `heeded` if a rule asks for tests first, the first code is a test, and it fails before code changes."""
    first = next((at for at, action in enumerate(span.edits) if language_of(action.event.files[0])), None)
    if advice.habit != TEST_FIRST or first is None or not edits_test(span.edits[first]):
        return None
    tested = span.edits[first]
    changed = next((action.at for action in span.edits[first:] if _writes_code(action)), None)
    for action in span.commands:
        if tested.at < action.at < (changed or 0) and runs_tests(action) and failed(action.event):
            return _by(action, f"{tested.event.files[0]} failed before the code was changed")
    return None


def _looked_elsewhere(advice: Advice, span: _Span) -> Judged | None:
    """Judge `heeded` if a rule asks to look elsewhere and a changed name is searched for afterwards."""
    if advice.habit != ELSEWHERE:
        return None
    changed: dict[str, int] = {}
    for action in span.actions:
        if action.event.kind == "file_edit":
            for name in _IDENTIFIER.findall(f"{action.taken}\n{action.written}"):
                changed.setdefault(name, action.at)
        elif is_search(action.event):
            again = next((name for name in _IDENTIFIER.findall(action.event.command) if name in changed), "")
            if again:
                return _by(action, f"searched for {again} after changing it")
    return None


def _passed_lint(advice: Advice, span: _Span) -> Judged | None:
    """Judge `heeded` if code that the lesson's linter checks is written, and the linters' next run passes."""
    for action in span.edits if advice.linters else ():
        looked_at = next((words for linter in advice.linters if (words := _bait(linter, action))), "")
        if not looked_at:
            continue
        for run in span.commands:
            if run.at > action.at and _is_clean_lint(run.event):
                return _by(run, f"wrote {looked_at} and the linters passed")
        return None
    return None


def _is_clean_lint(event: Event) -> bool:
    """Return whether the event is a run of linters that found nothing; a pipe hides its exit status."""
    if "lint" not in command_kinds(event.command) or failed(event):
        return False
    return bool(_NO_ISSUES.search(event.text)) or (
        event.exit_code == 0 and "|" not in event.command and not lint_rules_in(event)
    )


def _bait(linter: str, action: Action) -> str:
    return bait_of(linter, action.written, action.taken)


def _writes_code(action: Action) -> bool:
    return bool(language_of(action.event.files[0])) and not edits_test(action)


def _done_otherwise(advice: Advice, span: _Span) -> Judged | None:
    """Judge what the lesson denies: `overridden` if it is written or run; `failed` if it is taken out again."""
    for action in span.commands:
        ran = next((command for command in advice.denied_commands if _runs(action, command)), "")
        if ran and action.event.kind == "tool_result":
            return Judged(verdict="overridden", evidence=(action.event.id,), words=clipped(f"ran {ran}"))
    for action in span.edits:
        name = next((name for name in advice.denied if _has(action.written, name)), "")
        if not name:
            continue
        back = next((edit for edit in span.edits if edit.at > action.at and _has(edit.taken, name)), None)
        if back is None:
            return Judged(verdict="overridden", evidence=(action.event.id,), words=clipped(f"wrote {name}"))
        evidence = (action.event.id, back.event.id)
        return Judged(verdict="failed", evidence=evidence, words=clipped(f"wrote {name} and took it out again"))
    return None


def _ignored(advice: Advice, span: _Span, trigger_files: Sequence[str]) -> Judged | None:
    """Judge `ignored` if an order has something to look for, and work of its sort went on without it."""
    if not advice.is_order:
        return None
    worked = [action for action in span.edits if _writes_code(action)] if advice.wants_tests else []
    if len(worked) >= LEAST_EDITS:
        return _by(worked[-1], "edits without a test", "ignored")
    about = [*trigger_files, *advice.files]
    if advice.ordered and not advice.commands:
        here = [action for action in span.edits if any(_names_one_of(file, action.event.files) for file in about)]
        if len(here) >= LEAST_EDITS:
            return _by(here[-1], f"edits without {advice.ordered[0]}", "ignored")
    for command in advice.commands:
        program = command_target(command).partition(" ")[0]
        near = [action for action in span.commands if command_target(action.event.command).startswith(f"{program} ")]
        tests = [action for action in near if runs_tests(action)] if advice.wants_tests else near
        if len(tests) >= LEAST_EDITS and not any(_runs(action, command) for action in span.commands):
            return _by(tests[-1], f"{program} without {command}", "ignored")
    return None


def _is_news(span: _Span, command: str) -> bool:
    """Return whether the command was not run before the delivery, when it would be the session's own habit."""
    return not any(_runs(earlier, command) for earlier in span.story.commands if earlier.at < span.begin)


def _runs(action: Action, command: str) -> bool:
    return _has(action.written, command)


def _has(text: str, name: str) -> bool:
    """Return whether the text contains the name as a whole: `mise run test` is no part of `mise run test:ci`."""
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
        opens = not (name[0].isalnum() and (before.isalnum() or before in ("_", "-")) and before)
        closes = not (name[-1].isalnum() and (after.isalnum() or after in ("_", ":", "-")) and after)
        if opens and closes:
            return True
        at = text.find(name, at + 1)
    return False


def _names_one_of(file: str, files: Sequence[str]) -> bool:
    """Return whether a file, perhaps named without its folder, is one of those."""
    return any(path == file or path.endswith(f"/{file}") for path in files)


def _by(action: Action, words: str, verdict: Verdict = "heeded") -> Judged:
    return Judged(verdict=verdict, evidence=(action.event.id,), words=clipped(words))
