"""Makes a proposal for a project's memory, keeps it for a person to look at, and applies it as one change."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.curation.undo import undo_latest
from holdfast.domain.lesson import Link, in_state, next_instant
from holdfast.domain.moments import MOMENT_PROFILES
from holdfast.domain.statefamilies import TIDY_PROPOSAL
from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.freshness.check import FreshnessCheck
from holdfast.lean.records import replace
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.lessons.statement import merged
from holdfast.ports.filters import LessonFilter
from holdfast.recall.briefline import lines_of
from holdfast.upkeep.tidying.asking import batches, read_answer, render_prompt
from holdfast.upkeep.tidying.checks import check
from holdfast.upkeep.tidying.proposal import Proposal, dump, load
from holdfast.upkeep.tidying.rules import propose_by_rules

if TYPE_CHECKING:
    from collections.abc import Container, Sequence

    from holdfast.domain.lesson import Lesson
    from holdfast.domain.project import Location
    from holdfast.domain.records import Change
    from holdfast.domain.vocabulary import LessonId
    from holdfast.ports.model import LanguageModel
    from holdfast.ports.services import Services
    from holdfast.upkeep.tidying.proposal import Step

VERB = "tidy"
OUTGROWN = 1.5
"""How many times the brief's budget the titles of the living lessons may cost."""
SHARE_KEPT = 0.45
"""Share of a batch's lessons that a model is asked to leave, where the memory has outgrown the brief."""
LIVING_MOST = 2_000
"""Newest living lessons that are looked at: near pairs among them take a second."""
EVIDENCE_KEPT, SESSIONS_KEPT = 12, 50
TIMEOUT_S = 180.0
"""Seconds that a model may take for one batch."""


def living(services: Services, location: Location) -> list[Lesson]:
    """Return the project's confirmed lessons that hold everywhere in it, newest first."""
    where = LessonFilter(project=location.project.id, states=("active",), limit=LIVING_MOST)
    lessons = services.store.find(where)
    return [lesson for lesson in lessons if lesson.scope.level != "user" and not lesson.scope.branch]


def outgrown(lessons: Sequence[Lesson]) -> float:
    """Return how many times the budget of a brief the titles of the lessons cost."""
    return sum(line.tokens for line in lines_of(lessons)) / MOMENT_PROFILES["session_start"].budget_tokens


def propose(
    services: Services, location: Location, model: LanguageModel | None = None, *, leave: Container[LessonId] = ()
) -> Proposal:
    """Return the checked proposal for the living lessons, without changing anything.

    With a model, its steps follow those of the rules, over what these leave. `leave` names lessons that stay as they
    are.
    Raises ModelError.
    """
    lessons = [lesson for lesson in living(services, location) if lesson.id not in leave]
    by_id = {lesson.id: lesson for lesson in lessons}
    judge = FreshnessCheck(services, location)
    freshness = {lesson.id: judge.judge(lesson)[0] for lesson in lessons}
    steps, refused = check(propose_by_rules(services, location, lessons, freshness), by_id)
    if model is not None:
        closed = {id_ for step in steps for id_ in _closed_by(step)}
        rest = [lesson for lesson in lessons if lesson.id not in closed]
        steps, refused = check([*steps, *_asked(services, rest, model)], by_id)
    at = services.clock.now()
    return Proposal(at=at, living=len(lessons), steps=steps, refused=refused)


def _asked(services: Services, lessons: Sequence[Lesson], model: LanguageModel) -> list[Step]:
    now = services.clock.now()
    share = SHARE_KEPT if outgrown(lessons) > OUTGROWN else 1.0
    steps: list[Step] = []
    for batch in batches(lessons, now):
        prompt = render_prompt(batch, max(1, round(share * len(batch))), now)
        steps += read_answer(model.complete(prompt, TIMEOUT_S).text, batch, model.id)
    return steps


def _closed_by(step: Step) -> tuple[LessonId, ...]:
    return (*step.replaces, step.lesson) if step.verb == "retire" else step.replaces


def keep(services: Services, location: Location, proposal: Proposal) -> None:
    """Store the proposal as the project's current one."""
    services.store.set_state(TIDY_PROPOSAL, location.project.id, dump(proposal))


def current(services: Services, location: Location) -> Proposal | None:
    """Return the proposal that was made last and not applied; None without one."""
    return load(services.store.get_state(TIDY_PROPOSAL, location.project.id))


def apply(services: Services, location: Location, proposal: Proposal, *, author: str = "") -> Change:
    """Apply the proposal as one change, which `undo` takes back. Raises InvalidValueError if nothing is left to do.

    Steps are checked again: lessons that changed since are not touched in a way that loses something.
    """

    def step() -> Change:
        lessons = {lesson.id: lesson for lesson in living(services, location)}
        steps, _ = check(proposal.steps, lessons)
        after: dict[LessonId, Lesson] = {}
        for each in steps:
            _take(services, each, lessons, after)
        if not after:
            raise InvalidValueError("nothing to tidy", hint="holdfast tidy makes a new proposal")
        expected = {id_: lessons[id_].recorded_at for id_ in after}
        merges = sum(each.verb == "merge" for each in steps)
        summary = f"{merges} merged, {sum(each.verb == 'retire' for each in steps)} retired of {len(lessons)}"
        return write_change(
            services, location, VERB, list(after.values()), expected, actor=author, summary=summary
        ).change

    change = with_retries(step)
    services.store.set_state(TIDY_PROPOSAL, location.project.id, "")
    return change


def _take(services: Services, step: Step, lessons: dict[LessonId, Lesson], after: dict[LessonId, Lesson]) -> None:
    """Put into `after` what the step makes of its lessons."""
    stays = after.get(step.lesson, lessons[step.lesson])
    at = next_instant(stays.recorded_at, services.clock.now())
    if step.verb == "retire":
        after[stays.id] = replace(in_state(stays, "retired", at=at), recorded_at=at)
        return
    links = list(stays.links)
    for id_ in step.replaces:
        gone = lessons[id_]
        gone_at = next_instant(gone.recorded_at, at)
        after[id_] = replace(in_state(gone, "superseded", at=gone_at), recorded_at=gone_at)
        stays = replace(stays, **_gains(stays, gone))
        links.append(Link(kind="supersedes", target=id_))
    title = step.title or stays.title
    after[stays.id] = replace(stays, title=title, links=tuple(dict.fromkeys(links)), recorded_at=at)


def _gains(stays: Lesson, gone: Lesson) -> dict[str, object]:
    """Return the fields that the lesson that stays takes over: places, triggers, evidence, sessions; never words."""
    gains = {name: value for name, value in merged(stays, gone).items() if name not in ("why", "how", "topic_key")}
    evidence = dict.fromkeys((*stays.provenance.evidence, *gone.provenance.evidence))
    sessions = dict.fromkeys((*stays.sessions_seen, *gone.sessions_seen))
    gains["provenance"] = replace(stays.provenance, evidence=tuple(evidence)[:EVIDENCE_KEPT])
    gains["sessions_seen"] = tuple(sessions)[-SESSIONS_KEPT:]
    return gains


def undo(services: Services, location: Location, *, author: str = "") -> Change:
    """Take back the last change that tidied. Raises InvalidValueError if there is none."""
    try:
        return undo_latest(services, location, VERB, author=author)
    except HoldfastError as exc:
        raise InvalidValueError("no tidying to take back", hint=str(exc)) from None
