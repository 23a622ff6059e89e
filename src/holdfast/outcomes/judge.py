"""Judges one delivery by what followed it, without a model.

A verdict needs evidence: an event and its words. `heeded` says that behaviour changed, so it needs an act that the
lesson asks for, that came after the delivery, and that nothing else explains: neither the call that caused the delivery
nor anything that the session showed before, nor a habit of sessions that were never told the lesson. If nothing that
followed shows whether a lesson mattered, the verdict is `unclear` and does not count.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from holdfast.compare.sameness import opposed, same
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.domain.moments import ACT_MOMENTS
from holdfast.domain.records import Delivery
from holdfast.domain.vocabulary import EventId, LessonId, Moment, Verdict
from holdfast.outcomes.advice import Advice, advice_of
from holdfast.outcomes.story import Action, Story, clipped, has, is_reading, lint_rules_in, signatures_of
from holdfast.outcomes.tuning import LEAST_EDITS, NEAR_CALL
from holdfast.text.shell import command_target
from holdfast.text.signature import alike
from holdfast.text.window import failed

_COMPLAINT = re.compile(
    r"\b(?:that|this|the|your|a|holdfast(?:'s)?)\s+(?:\w+\s+){0,2}(?:note|memory|lesson|reminder|hint)s?\b"
    r"[^.!?\n]{0,40}\b(?:wrong|outdated|obsolete|stale|not true|untrue|incorrect|false|nonsense"
    r"|no longer (?:true|holds|right|valid))\b"
    r"|\b(?:ignore|forget|drop|disregard)\s+(?:that|this|the)\s+(?:\w+\s+)?(?:note|memory|lesson|reminder|hint)\b",
    re.IGNORECASE,
)
"""Phrases with which people say that a delivered lesson is wrong."""
_SHORT_ID = re.compile(r"\b[0-9a-f]{8}\b")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A verdict, the events it rests on and their words."""

    verdict: Verdict
    evidence: tuple[EventId, ...] = ()
    words: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """When a lesson was delivered to a session, or withheld from it."""

    begin: int
    """How many events came before."""
    end: int
    """The position up to which it is judged."""
    moment: Moment = "session_start"
    trigger: str = ""
    """The file, the command or the first words of the error that caused it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StatedRules:
    """The rules that the user states in a session, each as (position, rule, event)."""

    stated: tuple[tuple[int, str, EventId], ...] = ()

    @staticmethod
    def of(story: Story, candidates: Sequence[Candidate]) -> StatedRules:
        """Select the candidates that rest on a prompt of the user."""
        prompts = {event.id: at for at, event in enumerate(story.events) if event.kind == "prompt"}
        return StatedRules(
            stated=tuple(
                (prompts[span.event], candidate.insight, span.event)
                for candidate in candidates
                for span in candidate.evidence[:1]
                if span.event in prompts
            )
        )


def judge(
    lesson: Lesson, telling: Telling, story: Story, rules: StatedRules, is_usual: Callable[[str], bool]
) -> Judged:
    """Return the verdict on a lesson that was told (or withheld), by the events that followed.

    `is_usual` says whether sessions that were not told the lesson did that, too. The user's contradiction counts
    first; then the later of an act as the lesson says and its failure; then the opposite, if it stood; then an order
    that was ignored.
    """
    advice = advice_of(lesson)
    span = _Span(story, _after_call(story, telling), telling.end)
    heeded_at, heeded = _heeded(advice, span, is_usual)
    failed_at, failure = _failed(advice, lesson, span, rules)
    return (
        _overruled(lesson, span, rules)
        or (heeded if heeded_at > failed_at else failure)
        or _done_otherwise(advice, span)
        or _ignored(advice, span, telling)
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


def _after_call(story: Story, telling: Telling) -> int:
    """Return the position after the call that caused the delivery; the agent had made it before it read the lesson.

    A host may report that call before the delivery or after it.
    """
    begin, trigger = telling.begin, telling.trigger
    if not trigger or telling.moment not in ACT_MOMENTS:
        return begin
    near = range(max(0, begin - NEAR_CALL), min(len(story.events), begin + NEAR_CALL))
    calls = [at for at in near if _is_call(story.events[at], telling)]
    earlier = [at for at in calls if at < begin]
    return begin if earlier or not calls else calls[0] + 1


def _is_call(event: Event, telling: Telling) -> bool:
    if event.kind not in ("tool_use", "tool_result", "tool_failure", "file_edit"):
        return False
    if telling.moment == "before_file":
        return _names_one_of(telling.trigger, event.files) or has(event.command, telling.trigger)
    if telling.moment == "before_command":
        return bool(event.command) and " ".join(event.command.split()).startswith(telling.trigger)
    return failed(event)


class _Span:
    """The part of a session that follows a delivery."""

    def __init__(self, story: Story, begin: int, end: int) -> None:
        self.story, self.begin, self.end = story, begin, end
        self.actions = [action for action in story.actions if begin <= action.at < end and not is_reading(action.event)]
        self.edits = [action for action in self.actions if action.event.kind == "file_edit"]
        self.commands = [action for action in self.actions if action.event.kind != "file_edit"]


def _overruled(lesson: Lesson, span: _Span, rules: StatedRules) -> Judged | None:
    """Judge `overridden` if the user states the opposite."""
    for at, rule, event in rules.stated:
        if span.begin <= at < span.end and opposed(rule, lesson.insight) and not same(rule, lesson.insight):
            return Judged(verdict="overridden", evidence=(event,), words=clipped(rule))
    return None


def _failed(advice: Advice, lesson: Lesson, span: _Span, rules: StatedRules) -> tuple[int, Judged | None]:
    """Judge `failed`, where it was last, if the lesson's failure occurs, its linter reports, or the user repeats it."""
    at_last, judged = -1, None
    named = _rules_named(lesson)
    for at, event in span.story.failures(span.begin):
        if at >= span.end:
            break
        signature, target = signatures_of(event)
        is_same = bool(advice.signature and signature) and alike(signature, advice.signature)
        is_again = not advice.signature and bool(advice.failing) and target == advice.failing
        reported = named & lint_rules_in(event)
        if reported or is_same or is_again:
            words = f"reported: {min(reported)}" if reported else signature or target
            at_last, judged = at, Judged(verdict="failed", evidence=(event.id,), words=clipped(words))
    for at, rule, source in rules.stated:
        if max(span.begin, at_last + 1) <= at < span.end and same(rule, lesson.insight):
            at_last, judged = at, Judged(verdict="failed", evidence=(source,), words=clipped(rule))
    return at_last, judged


def _rules_named(lesson: Lesson) -> frozenset[str]:
    """Return the words of the lesson that may be names of linters' rules."""
    return frozenset(re.findall(r"[A-Za-z][A-Za-z0-9]{3,30}", f"{lesson.title} {lesson.insight} {lesson.how}"))


def _heeded(advice: Advice, span: _Span, is_usual: Callable[[str], bool]) -> tuple[int, Judged | None]:
    """Judge `heeded`, and where, if its command is run or its name is used and nothing else explains that."""
    words = [*(("ran", command) for command in advice.commands), *(("used", name) for name in advice.names)]
    acts = []
    for verb, name in words:
        action = next((action for action in span.actions if has(action.written, name)), None)
        if action is not None and span.story.first_shown(name) == action.at:
            acts.append((action.at, f"{verb} {name}", name, action))
    for at, act, name, action in sorted(acts, key=lambda entry: entry[:2]):
        if not is_usual(name):
            return at, _by(action, act)
    return -1, None


def _done_otherwise(advice: Advice, span: _Span) -> Judged | None:
    """Judge what the lesson denies: `overridden` if it is written or run; `failed` if it is taken out again."""
    for action in span.commands:
        ran = next((command for command in advice.denied_commands if has(action.written, command)), "")
        if ran and action.event.kind == "tool_result":
            return Judged(verdict="overridden", evidence=(action.event.id,), words=clipped(f"ran {ran}"))
    for action in span.edits:
        name = next((name for name in advice.denied if has(action.written, name)), "")
        if not name:
            continue
        back = next((edit for edit in span.edits if edit.at > action.at and has(edit.taken, name)), None)
        if back is None:
            return Judged(verdict="overridden", evidence=(action.event.id,), words=clipped(f"wrote {name}"))
        evidence = (action.event.id, back.event.id)
        return Judged(verdict="failed", evidence=evidence, words=clipped(f"wrote {name} and took it out again"))
    return None


def _ignored(advice: Advice, span: _Span, telling: Telling) -> Judged | None:
    """Judge `ignored` if an order has something to look for, and work of its sort went on without it."""
    if not advice.is_order:
        return None
    about = [*advice.files, *([telling.trigger] if telling.moment == "before_file" else [])]
    if advice.ordered and not advice.commands:
        here = [edit for edit in span.edits if any(_names_one_of(file, edit.event.files) for file in about)]
        done = any(has(edit.written, name) for edit in span.edits for name in advice.ordered)
        if len(here) >= LEAST_EDITS and not done:
            return _by(here[-1], f"edits without {advice.ordered[0]}", "ignored")
    for command in advice.commands:
        program = command_target(command).partition(" ")[0]
        near = [action for action in span.commands if command_target(action.event.command).startswith(f"{program} ")]
        if len(near) >= LEAST_EDITS and not any(has(action.written, command) for action in span.commands):
            return _by(near[-1], f"{program} without {command}", "ignored")
    return None


def _names_one_of(file: str, files: Sequence[str]) -> bool:
    """Return whether a file, perhaps named without its folder, is one of those."""
    return any(path == file or path.endswith(f"/{file}") for path in files)


def _by(action: Action, words: str, verdict: Verdict = "heeded") -> Judged:
    return Judged(verdict=verdict, evidence=(action.event.id,), words=clipped(words))
