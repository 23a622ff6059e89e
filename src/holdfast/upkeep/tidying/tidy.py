"""Makes a proposal for a project's memory, keeps it for a person to look at, and applies it as one change.

The learner tidies a memory that has outgrown the brief without a person, at most once a day and project. The user's own
memory is tidied at once, which `tidy --undo` takes back. What changes a shared lesson or closes one of a person
is kept as a proposal: memory that a team shares is reviewed, and only a person closes a person's rule.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from holdfast.curation.forget import find_latest, undo_latest
from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Lesson, Link, in_state, next_instant
from holdfast.domain.moments import MOMENT_PROFILES
from holdfast.domain.project import Location
from holdfast.domain.records import Change
from holdfast.domain.statefamilies import TIDY_PROPOSAL, TIDYING
from holdfast.domain.vocabulary import FLOATED, LessonId
from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.lean.plain import parse_instant, render_instant
from holdfast.lean.texts import dumps, loads
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.lessons.statement import merged
from holdfast.ports.plugins import LanguageModel
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter, get_readable
from holdfast.publishing.sync import shared_lessons
from holdfast.recall.briefline import lines_of
from holdfast.text.occasions import CARDS
from holdfast.upkeep.tidying.asking import batches, read_answer, render_prompt
from holdfast.upkeep.tidying.checks import check, is_stated, joins_words, with_words
from holdfast.upkeep.tidying.proposal import RULE, Proposal, Step, dump, load
from holdfast.upkeep.tidying.refusals import refused_digests, without_refused
from holdfast.upkeep.tidying.rules import find_needless, find_weak_titles

ModelSource = Callable[[], LanguageModel | None]
Progress = Callable[[str], None]

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
WORDS = ("why", "how", "topic_key", "revival")
"""Fields that a lesson never takes over from one that it replaces."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Tidied:
    """What was applied of a proposal."""

    change: Change
    steps: tuple[Step, ...]
    refused: tuple[str, ...] = ()
    """Why steps were left out: their lessons changed since the proposal was made."""


def living(services: Services, location: Location) -> list[Lesson]:
    """Return the project's confirmed lessons that hold everywhere in it, newest first, without its command card."""
    where = LessonFilter(project=location.project.id, states=("active",), limit=LIVING_MOST)
    return [lesson for lesson in services.store.find(where) if is_tidied(lesson)]


def is_tidied(lesson: Lesson) -> bool:
    """Return whether a tidying may be about the project's confirmed lesson."""
    is_kept_elsewhere = profile_of(lesson.kind).is_working_state or lesson.topic_key.startswith(CARDS)
    return lesson.scope.level != "user" and not lesson.scope.branch and not is_kept_elsewhere


def outgrown(lessons: Sequence[Lesson]) -> float:
    """Return how many times the budget of a brief the titles of the lessons cost."""
    return sum(line.tokens for line in lines_of(lessons)) / MOMENT_PROFILES["session_start"].budget_tokens


def propose(
    services: Services,
    location: Location,
    open_model: ModelSource = lambda: None,
    progress: Progress = lambda _: None,
) -> Proposal:
    """Return the checked proposal for the living lessons, without changing anything.

    The model that `open_model` returns is asked about what the rules leave, without private lessons. If it fails, the
    proposal has the other steps, and says why.
    """
    lessons = living(services, location)
    by_id = {lesson.id: lesson for lesson in lessons}
    shared = shared_lessons(services, location)
    progress(f"comparing {len(lessons):,} lessons")
    digests = refused_digests(services, location)
    steps, _ = check(find_needless(services, location, lessons, shared), by_id, shared)
    steps = without_refused(steps, digests)
    stated, failure = _ask(services, _left_by(steps, lessons), open_model, progress)
    steps, refused = check([*steps, *stated], by_id, shared)
    steps = without_refused(steps, digests)
    titled = {step.lesson for step in steps if step.title}
    weak = [lesson for lesson in _left_by(steps, lessons) if lesson.id not in titled]
    titles, _ = check(find_weak_titles(weak), by_id)
    titles = without_refused(titles, digests)
    at = services.clock.now()
    return Proposal(at=at, living=len(lessons), steps=(*steps, *titles), refused=refused, failure=failure)


def _left_by(steps: Sequence[Step], lessons: Sequence[Lesson]) -> list[Lesson]:
    closed = {id_ for step in steps for id_ in step.closes}
    return [lesson for lesson in lessons if lesson.id not in closed]


def _ask(
    services: Services, lessons: Sequence[Lesson], open_model: ModelSource, progress: Progress
) -> tuple[list[Step], str]:
    """Return the steps of the model's answers, and why it stopped answering; empty if it did not."""
    steps: list[Step] = []
    try:
        model = open_model()
        if model is None:
            return [], ""
        now = services.clock.now()
        share = SHARE_KEPT if outgrown(lessons) > OUTGROWN else 1.0
        parts = list(batches([lesson for lesson in lessons if not lesson.private], now))
        for number, batch in enumerate(parts, start=1):
            progress(f"asking {model.id} about {len(batch):,} titles ({number} of {len(parts)})")
            prompt = render_prompt(batch, max(1, round(share * len(batch))), now)
            steps += read_answer(model.complete(prompt, TIMEOUT_S).text, batch, model.id)
    except HoldfastError as exc:
        return steps, str(exc)
    return steps, ""


def keep(services: Services, location: Location, proposal: Proposal | None) -> None:
    """Store the proposal as the project's current one; None: there is none any more."""
    services.store.set_state(TIDY_PROPOSAL, location.project.id, dump(proposal) if proposal else "")


def current(services: Services, location: Location) -> Proposal | None:
    """Return the proposal that was made last and not applied; None without one."""
    return load(services.store.get_state(TIDY_PROPOSAL, location.project.id))


def pending(services: Services, location: Location) -> Proposal | None:
    """Return what is left to do of the current proposal; None if its lessons are gone or say something else now."""
    proposal = current(services, location)
    if proposal is None:
        return None
    lessons = {lesson.id: lesson for lesson in living(services, location)}
    steps, _ = check(proposal.steps, lessons, shared_lessons(services, location))
    steps = without_refused(steps, refused_digests(services, location))
    return replace(proposal, steps=steps) if steps else None


def apply(services: Services, location: Location, proposal: Proposal, *, author: str = "") -> Tidied:
    """Apply the proposal as one change, which `undo` takes back.

    Steps are checked again: those whose lessons have changed since are left out. Raises InvalidValueError if that
    leaves nothing to do.
    """
    shared = shared_lessons(services, location)

    def step() -> Tidied:
        return _write(services, location, proposal, living(services, location), shared, author)

    tidied = with_retries(step)
    note_tidied(services, location)
    return tidied


def apply_step(services: Services, location: Location, step: Step, *, author: str = "") -> Change:
    """Apply one step as a change of its own, reading only its lessons. Raises as `apply` does."""
    shared = shared_lessons(services, location)
    proposal = Proposal(at=services.clock.now(), living=0, steps=(step,))
    return with_retries(
        lambda: _write(services, location, proposal, lessons_of(services, location, step.ids), shared, author)
    ).change


def lessons_of(services: Services, location: Location, ids: Sequence[LessonId]) -> list[Lesson]:
    """Return those of the lessons that a tidying of the project may be about, as they are now."""
    lessons = get_readable(services.store, ids)
    return [
        lesson
        for lesson in lessons
        if lesson.state == "active" and lesson.scope.project == location.project.id and is_tidied(lesson)
    ]


def outcome(services: Services, step: Step, lessons: Mapping[LessonId, Lesson]) -> dict[LessonId, Lesson]:
    """Return what the step would make of its lessons, all of which `lessons` must have."""
    after: dict[LessonId, Lesson] = {}
    _take(services, step, lessons, after)
    return after


def _write(
    services: Services,
    location: Location,
    proposal: Proposal,
    living_lessons: Sequence[Lesson],
    shared: Container[LessonId],
    author: str,
) -> Tidied:
    lessons = {lesson.id: lesson for lesson in living_lessons}
    steps, refused = check(proposal.steps, lessons, shared)
    if not steps:
        raise InvalidValueError(_nothing(refused), hint="holdfast tidy makes a new proposal")
    after: dict[LessonId, Lesson] = {}
    for each in steps:
        _take(services, each, lessons, after)
    expected = {id_: lessons[id_].recorded_at for id_ in after}
    summary = replace(proposal, steps=steps).counts
    versions = list(after.values())
    written = write_change(services, location, VERB, versions, expected, actor=author, summary=summary)
    return Tidied(change=written.change, steps=steps, refused=refused)


def _nothing(refused: Sequence[str]) -> str:
    return "\n".join(("the proposal is out of date:", *refused)) if refused else "nothing to tidy"


def _take(services: Services, step: Step, lessons: Mapping[LessonId, Lesson], after: dict[LessonId, Lesson]) -> None:
    """Put into `after` what the step makes of its lessons."""
    stays = after.get(step.lesson, lessons[step.lesson])
    at = next_instant(stays.recorded_at, services.clock.now())
    if step.verb == "retire":
        after[stays.id] = in_state(stays, "retired", at=at)
        return
    links = list(stays.links)
    for id_ in step.replaces:
        after[id_] = in_state(lessons[id_], "superseded", at=at)
        if joins_words(step, lessons[step.lesson]):
            stays = replace(stays, insight=with_words(stays.insight, lessons[id_].insight))
        stays = replace(stays, **_gains(stays, lessons[id_]))
        links.append(Link(kind="supersedes", target=id_))
    title = step.title or stays.title
    after[stays.id] = replace(stays, title=title, links=tuple(dict.fromkeys(links)), recorded_at=at)


def _gains(stays: Lesson, gone: Lesson) -> dict[str, Any]:
    """Return the fields, besides words, that the lesson that stays takes over: places, triggers, evidence, sessions."""
    gains = {name: value for name, value in merged(stays, gone).items() if name not in WORDS}
    if stays.when.edited:  # a person chose when it is told
        gains.pop("when", None)
    if FLOATED not in stays.tags and "tags" in gains:
        gains["tags"] = tuple(tag for tag in gains["tags"] if tag != FLOATED)
    if gone.error_signature and not stays.error_signature:
        gains |= {"error_signature": gone.error_signature, "command": stays.command or gone.command}
    evidence = dict.fromkeys((*stays.provenance.evidence, *gone.provenance.evidence))
    sessions = dict.fromkeys((*gone.sessions_seen, *stays.sessions_seen))
    gains["provenance"] = replace(stays.provenance, evidence=tuple(evidence)[:EVIDENCE_KEPT])
    gains["sessions_seen"] = tuple(sessions)[-SESSIONS_KEPT:]
    return gains


def undo(services: Services, location: Location, *, author: str = "") -> Change:
    """Take back the last change that tidied. Raises InvalidValueError if there is none."""
    change = undo_latest(services, location, VERB, author=author)
    note_tidied(services, location)  # so that the learner does not repeat at once what a person took back
    return change


def note_tidied(services: Services, location: Location, count: int | None = None) -> None:
    """Record that the memory was tidied now, and how many lessons are living, by default as many as there are."""
    count = len(living(services, location)) if count is None else count
    record = {"at": render_instant(services.clock.now()), "living": count}
    services.store.set_state(TIDYING, location.project.id, dumps(record))


def last(services: Services, location: Location) -> Change | None:
    """Return the last change that tidied and was not taken back; None without one."""
    return find_latest(services, location, VERB)


GROWN = 1.2
"""How many times as many lessons as after the last tidying make the next one worth its time."""
PAUSE = timedelta(days=1)
"""Least time between two tidyings of a project."""


def tidy_when_due(services: Services, location: Location, open_model: ModelSource = lambda: None) -> Proposal | None:
    """Tidy the project's memory if it is due; return the proposal, a part of which may wait for a person, or None.

    A model that fails is asked again on the next day; what the rules found is applied meanwhile.
    """
    lessons = living(services, location)
    tidied_at, count = _last_time(services, location)
    if not _is_due(lessons, services.clock.now(), tidied_at, count):
        return None
    proposal = propose(services, location, open_model)
    shared = shared_lessons(services, location)
    persons = frozenset(lesson.id for lesson in lessons if is_stated(lesson))
    own, rest = _split(proposal.steps, shared, persons)
    if own:
        apply(services, location, replace(proposal, steps=own))
    left = {lesson.id: lesson for lesson in living(services, location)}
    rest, _ = check(rest, left, shared)
    keep(services, location, replace(proposal, steps=rest) if rest else None)
    note_tidied(services, location, count if proposal.failure else None)
    return proposal


def _split(
    steps: Sequence[Step], shared: Container[LessonId], persons: frozenset[LessonId]
) -> tuple[tuple[Step, ...], tuple[Step, ...]]:
    """Return the steps that need nobody, and those for a person.

    These change a shared lesson, close a person's, or retire what a model thinks needless: in the replay of real
    sessions that lost needs, while merges lost none.
    """
    own: list[Step] = []
    rest: list[Step] = []
    for step in steps:
        if step.lesson in shared or (step.verb == "retire" and step.by != RULE):
            rest.append(step)
            continue
        if theirs := persons.intersection(step.replaces):
            rest.append(replace(step.replacing(theirs), title=""))
        ours = step.replacing(frozenset(step.replaces) - persons)
        if ours.replaces or step.verb != "merge":
            own.append(ours)
    return tuple(own), tuple(rest)


def _is_due(lessons: Sequence[Lesson], now: datetime, tidied_at: datetime | None, count: int) -> bool:
    if tidied_at is not None and (now - tidied_at < PAUSE or len(lessons) < GROWN * count):
        return False
    return outgrown(lessons) > OUTGROWN


def _last_time(services: Services, location: Location) -> tuple[datetime | None, int]:
    """Return when the memory was tidied last and how many lessons were living then; None and 0 if it never was."""
    try:
        record = loads(services.store.get_state(TIDYING, location.project.id) or "{}")
        return parse_instant(record["at"]), int(record["living"])
    except (HoldfastError, KeyError, TypeError, ValueError):
        return None, 0
