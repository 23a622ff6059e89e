"""Judges one delivery by what followed it, without a model.

A verdict needs evidence: an event and its words. `heeded` says that behaviour changed, so it needs an act that the
lesson asks for, that came after the delivery, and that nothing else explains: neither the call that caused the delivery
nor anything that the session showed before, nor a habit of sessions that were never told the lesson. If nothing that
followed shows whether a lesson mattered, the verdict is `unclear` and does not count.

`Advice` is what actions can be compared with: the names, commands, files and tests in the lesson's words, each affirmed
or denied by its clause.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from holdfast.compare.sameness import opposed, same
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Lesson
from holdfast.domain.moments import ACT_MOMENTS
from holdfast.domain.records import Delivery
from holdfast.domain.vocabulary import EventId, LessonId, Moment, Verdict
from holdfast.outcomes.story import Action, Story, clipped, has, is_reading, lint_rules_in, signatures_of
from holdfast.outcomes.tuning import DENIAL_REACH, LEAST_EDITS, LONGEST_NAME, MOST_NAMES, NEAR_CALL, SHORTEST_NAME
from holdfast.text.shell import command_target
from holdfast.text.signature import alike
from holdfast.text.window import failed

_CODE = re.compile(
    r"`(?P<quoted>[^`\n]{2,120})`"
    r"|(?<![\w./`-])(?P<bare>(?:[\w.-]+/)+[\w.-]+\.\w+|--[a-z][\w-]+|[A-Za-z]\w*\.[A-Za-z]\w+(?:\.\w+)*"
    r"|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[A-Za-z]\w*_\w+)"
)
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n")
_CUE = re.compile(
    r"(?P<need>\b(?:fail\w*|break\w*|errors?|crash\w*|not work\w*|never) without\b)"
    r"|(?P<deny>\b(?:not|never|don't|dont|doesn't|didn't|avoid|without|instead of|rather than|stop|forbid\w*|nor"
    r"|unlike|cannot|can't|mustn't|shouldn't|isn't|no longer|banned|no)\b)"
    r"|(?P<occasion>\b(?:before|after|when|whenever|if|until|unless|while)\b)"
    r"|(?P<affirm>\b(?:us(?:e|es|ing)|run|runs|running|start|calls?|calling|prefer|keep|go with|put|write|with|via)\b)"
    r"|(?P<turn>[,:\u2014]|\b(?:but|instead(?! of)|then|because|since|and)\b)",
    re.IGNORECASE,
)
_SUBJECT = re.compile(r"\W*(?:you|we|they|agents?|somebody)?\W*$", re.IGNORECASE)
"""What may stand between a word such as `before` and the verb of its clause: `before you run`."""
_ORDER = re.compile(
    r"\b(?:must|should|always|never|don't|do not|avoid|prefer|use|run|add|keep|make sure|ensure|call|put|write|wrap"
    r"|have to|has to|needs? to|only|check|instead of|rather than|remember|want|wants)\b",
    re.IGNORECASE,
)
_DEMAND = re.compile(
    r"^(?:\W*(?:always|never|please|to [^,]{3,60},)?\s*)"
    r"(?:use|call|wrap|prefer|return|add|keep|put|check|go through|make|derive|run|pass)\b"
    r"|\b(?:must|should|have to|has to|always|never|only with|only through|instead of|rather than)\b",
    re.IGNORECASE,
)
"""A sentence that tells its reader to use the names in it."""
_PROGRAM = re.compile(r"[a-z][\w.-]*$|\./[\w./-]+$")
_PATH = re.compile(r"(?:[\w.-]+/)*[\w-][\w.-]*\.[A-Za-z]\w{0,5}$")

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
class Advice:
    """What a lesson asks for and warns of."""

    names: tuple[str, ...] = ()
    """Code that it affirms, to be used."""
    ordered: tuple[str, ...] = ()
    """Those of the names that a sentence tells the reader to use."""
    denied: tuple[str, ...] = ()
    """Code that it denies, not to be used."""
    commands: tuple[str, ...] = ()
    """Commands that it asks for; not those that only name its occasion: `before make migrate`."""
    denied_commands: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Files it is about or names, relative to the project or as in its words; editing one may require another."""
    is_order: bool = False
    """It says what to do, so that it can be ignored."""
    signature: str = ""
    """Signature of the failure that it answers."""
    failing: str = ""
    """The command whose failure it answers."""


def advice_of(lesson: Lesson) -> Advice:
    """Return everything in the lesson that actions can be compared with."""
    profile = profile_of(lesson.kind)
    sayings = dict.fromkeys((lesson.title, lesson.insight, lesson.how))
    text = "\n".join(filter(None, sayings))
    stances: dict[str, str] = {}
    ordered: set[str] = set()
    for name, stance, is_demand in _names_in(text):
        if stances.get(name, "stated") in ("stated", "occasion"):  # the first clause that asks or denies decides
            stances[name] = stance
        ordered |= {name} if is_demand else set()
    listed = list(stances.items())[:MOST_NAMES]
    commands = [(name, stance) for name, stance in listed if _is_command(name)]
    paths = [name for name, _ in listed if _PATH.match(name) and not _is_call(name)]
    code = [(name, stance) for name, stance in listed if not _is_command(name) and name not in paths]
    return Advice(
        names=tuple(name for name, stance in code if stance in ("asked", "stated")),
        denied=tuple(name for name, stance in code if stance == "denied"),
        commands=tuple(name for name, stance in commands if stance == "asked"),
        denied_commands=tuple(name for name, stance in commands if stance == "denied"),
        ordered=tuple(name for name, stance in code if stance in ("asked", "stated") and name in ordered),
        files=tuple(dict.fromkeys([*lesson.paths, *paths])),
        is_order=bool(_ORDER.search(text)),
        signature=lesson.error_signature,
        failing=lesson.command if profile.names_failure else "",
    )


def _names_in(text: str) -> Iterator[tuple[str, str, bool]]:
    """Yield (code, what its clause says of it, whether its sentence demands something), in order."""
    for sentence in _SENTENCE_END.split(text):
        is_demand = bool(_DEMAND.search(sentence))
        for match in _CODE.finditer(sentence):
            name = " ".join((match["quoted"] or match["bare"]).split()).partition(" // ")[0].strip(" .,;:")
            if SHORTEST_NAME <= len(name) <= LONGEST_NAME and _is_distinctive(name):
                is_first = sentence[match.end() :].lstrip().startswith("first")
                yield name, "asked" if is_first else _stance(sentence[: match.start()]), is_demand


def _is_distinctive(name: str) -> bool:
    """Return whether it is code and not an ordinary word that somebody put into backquotes."""
    has_letters = any(char.isalpha() for char in name)
    return has_letters and (not name.isalpha() or name[1:] != name[1:].lower())


def _stance(lead: str) -> str:
    """Return what a clause that begins with these words says of the name that follows.

    The last denial, occasion or verb before the name decides. A verb right after a denial is denied itself (`never
    use`), and one right after an occasion belongs to it (`before you run`).
    """
    stance, denied_at, occasion_at = "stated", -DENIAL_REACH - 1, -1
    for cue in _CUE.finditer(lead):
        if cue["need"]:
            stance = "asked"
        elif cue["deny"]:
            stance, denied_at = "denied", cue.end()
        elif cue["occasion"]:
            stance, occasion_at = "occasion", cue.end()
        elif cue["turn"]:
            # A list continues as it began: `do not use A, B or C`.
            stance = stance if cue["turn"] in (",", "and") else "stated"
        elif occasion_at >= 0 and _SUBJECT.match(lead, occasion_at, cue.start()):
            continue
        elif cue.start() - denied_at > DENIAL_REACH:
            stance = "asked"
    return stance


def _is_command(name: str) -> bool:
    """Return whether it has several words of which the first may be a program: `git rev-parse --git-dir`."""
    first, _, rest = name.partition(" ")
    plain = not any(char in name for char in "(){}=<>;\"'…") and bool(_PROGRAM.match(first))
    return bool(rest) and plain and bool(command_target(name))


def _is_call(name: str) -> bool:
    """Return whether it is a call such as `exec.Command(` or `os.Getwd`, not a file's name with a short ending."""
    ending = name.rpartition(".")[2]
    return "/" not in name and (not ending.islower() or name.count(".") > 1)


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
    calls = [at for at in near if _is_cause(story.events[at], telling)]
    earlier = [at for at in calls if at < begin]
    return begin if earlier or not calls else calls[0] + 1


def _is_cause(event: Event, telling: Telling) -> bool:
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
