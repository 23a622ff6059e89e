"""Maintains the command card: for each purpose one lesson with the commands that test, build or lint this project.

Counts are stored per session under digests. So reading a session again replaces its own counts, and no command's text
is stored outside of lessons and events. A command is the project's way if it passed twice, in one session or in two.
The project's own scripts come first, then the command with most passes; commands that its people or rules name count
more. A person's revision, a card from a file of the team, and a retired or forgotten card stay as they are. A command
that a person spoke against is left out; a card that has no other is retired.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from hashlib import blake2b
from typing import Any

from holdfast.compare.overruling import forbids, says_to_run
from holdfast.domain.candidate import Candidate, CommandRuns
from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import (
    FROM_FILE,
    INSTANT,
    TITLE_LIMIT,
    Evidence,
    Lesson,
    Provenance,
    Scope,
    Triggers,
    Validity,
    in_state,
)
from holdfast.domain.project import Location
from holdfast.domain.statefamilies import COMMAND_COUNTS
from holdfast.domain.vocabulary import LIVING, STATES, LessonId, SessionId
from holdfast.errors import InvalidValueError
from holdfast.lean.texts import dumps, loads
from holdfast.learning.tuning import (
    AIMED,
    CARD_SALIENCE,
    CARD_WORTH,
    COMMANDS_KEPT,
    FORMS_KEPT,
    LEAST_PASSES,
    NAMED,
    NEIGHBOURS,
    OTHERS,
    OTHERS_SHARE,
    SIGHTED_SESSIONS_KEPT,
    SIGHTINGS_KEPT,
    START_SESSIONS,
)
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.lessons.statement import clean, suspicion
from holdfast.ports.services import Services
from holdfast.ports.store import LessonFilter
from holdfast.text.occasions import CARDS
from holdfast.text.purposes import PURPOSES, is_preparing, is_wrapper
from holdfast.text.shell import command_target, simple_commands
from holdfast.text.titles import WORDS_MOST, clipped

Ledger = dict[str, dict[str, list[int]]]
"""Counts by command and session, both as digests: passed, failed, aimed, named."""

_OPENINGS = {
    "test": "Tests run here with", "build": "The build here is", "lint": "Lint runs here with",
    "format": "Code is formatted here with", "typecheck": "Types are checked here with",
    "migrate": "Migrations run here with", "generate": "Code is generated here with",
    "install": "Dependencies are installed here with", "run": "The project is started here with",
}  # fmt: skip
_ORDERS = {
    "test": "Run tests with", "build": "Build with", "lint": "Lint with", "format": "Format code with",
    "typecheck": "Check types with", "migrate": "Run migrations with", "generate": "Generate code with",
    "install": "Install dependencies with", "run": "Start the project with",
}  # fmt: skip
"""Beginnings of the titles."""
_WORK = {
    "test": ("fix", "feature", "refactor", "test"),
    "run": ("operate",),
    "migrate": ("operate", "feature"),
    "install": ("operate",),
}
_QUOTED = re.compile(r"`([^`]+)`")
_CODE_WORK = ("fix", "feature", "refactor")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Form:
    """One command of a purpose, with its counts over all sessions."""

    line: str
    passed: int
    failed: int
    aimed: int
    sessions: int
    named: bool

    @property
    def passes(self) -> float:
        """Runs that passed; runs of a part count less."""
        return self.passed + AIMED * self.aimed

    @property
    def score(self) -> float:
        """How strongly the counts show that this is the project's way."""
        return self.passes * (NAMED if self.named else 1)

    def is_proved(self, purpose: str) -> bool:
        """Return whether it passed twice; a start command also needs two sessions."""
        enough = self.sessions >= (START_SESSIONS if purpose == "run" else 1)
        return enough and self.passed + self.aimed >= LEAST_PASSES


def update_cards(
    services: Services, location: Location, session: SessionId, candidates: Sequence[Candidate]
) -> list[Lesson]:
    """Count the session's commands and write the changed lines of the card; return the lessons written."""
    runs = [candidate.runs for candidate in candidates if candidate.runs and not suspicion(candidate.runs.line)]
    if not runs:
        return []
    counts = _count(services, location, session, runs)
    written = []
    for purpose in [name for name in PURPOSES if any(run.purpose == name for run in runs)]:
        own = [candidate for candidate in candidates if candidate.runs and candidate.runs.purpose == purpose]
        lesson = with_retries(partial(_write, services, location, session, own, counts))
        written += [lesson] if lesson else []
    return written


def _count(services: Services, location: Location, session: SessionId, runs: Sequence[CommandRuns]) -> Ledger:
    """Return the project's counts, with this session's new counts in place of its old ones."""
    own = _digest(session)

    def edit(text: str) -> str:
        counts = _read(text)
        for run in runs:
            sessions = counts.pop(_digest(run.line), {})
            sessions.pop(own, None)
            sessions[own] = [run.passed, run.failed, run.aimed, int(run.named)]
            counts[_digest(run.line)] = dict(list(sessions.items())[-SIGHTED_SESSIONS_KEPT:])
        return dumps(dict(list(counts.items())[-COMMANDS_KEPT:]))

    return _read(services.store.edit_state(COMMAND_COUNTS, location.project.id, edit))


def _read(text: str) -> Ledger:
    """Return the stored counts without damaged entries."""
    try:
        ledger: Any = loads(text) if text else {}
    except InvalidValueError:
        ledger = {}
    counts: Ledger = {}
    for line, sessions in ledger.items() if isinstance(ledger, dict) else ():
        for session, numbers in sessions.items() if isinstance(sessions, dict) else ():
            if isinstance(numbers, list) and len(numbers) == 4 and all(isinstance(n, int) for n in numbers):
                counts.setdefault(line, {})[session] = numbers
    return counts


def _write(
    services: Services, location: Location, session: SessionId, candidates: Sequence[Candidate], counts: Ledger
) -> Lesson | None:
    """Write the purpose's line if it is new, has changed, or did not include this session."""
    topic = candidates[0].topic_key
    where = LessonFilter(project=location.project.id, states=STATES, topic_key=topic)
    rules = persons_words(services, location)
    cards = [lesson for lesson in services.store.find(where) if lesson.scope.level == "project"]
    known = next((card for card in cards if card.state != "retired" or not is_ruled_out(card, rules)), None)
    if known and (known.state != "active" or known.trust == "person" or known.provenance.detector == FROM_FILE):
        return None
    if known is None and _is_forgotten(services, location, topic):
        return None
    lines = [candidate.runs.line for candidate in candidates if candidate.runs]
    purpose = topic.rpartition("/")[2]
    forms = _forms(purpose, dict.fromkeys([*lines, *(known.snippets if known else ())]), counts)
    forms = [form for form in forms if not any(forbids(rule.insight, form.line) for rule in rules)]
    if not forms or any(says_to_run(rule.insight, forms[0].line) for rule in rules):
        if known and is_ruled_out(known, rules):
            _retire(services, location, known)
        return None
    drawn = _lesson(services, location, session, candidates, forms, known)
    same = known and (known.title, known.how, known.snippets) == (drawn.title, drawn.how, drawn.snippets)
    if known and same and session in known.sessions_seen:
        return None
    write_change(services, location, "learn", [drawn], {drawn.id: known.recorded_at if known else None})
    return drawn


def _retire(services: Services, location: Location, card: Lesson) -> None:
    """Retire a card of which a person's words leave no command."""
    after = in_state(card, "retired", at=services.clock.now())
    summary = "a person's words forbid this command"
    write_change(services, location, "learn", [after], {card.id: card.recorded_at}, summary=summary)


def _is_forgotten(services: Services, location: Location, topic: str) -> bool:
    """Return whether the purpose's line was forgotten. A tombstone has no topic, but the version before it has one."""
    tombs = services.store.find(LessonFilter(project=location.project.id, states=("forgotten",)))
    before = (services.store.get([tomb.id], tomb.recorded_at - INSTANT) for tomb in tombs)
    return any(lesson.topic_key == topic for lessons in before for lesson in lessons)


def _forms(purpose: str, lines: Mapping[str, None], counts: Ledger) -> list[_Form]:
    """Return the proved commands of the purpose whose text is known, best first."""
    forms = []
    for line in lines:
        rows = list(counts.get(_digest(line), {}).values())
        if not rows:
            continue
        passed, failed, aimed, named = (sum(column) for column in zip(*rows, strict=True))
        worked = sum(1 for row in rows if row[0] or row[2])
        forms.append(_Form(line=line, passed=passed, failed=failed, aimed=aimed, sessions=worked, named=bool(named)))
    return sorted(
        (form for form in forms if form.is_proved(purpose)),
        key=lambda form: (not is_wrapper(form.line), -form.score, form.line),
    )


def _lesson(
    services: Services, location: Location, session: SessionId, candidates: Sequence[Candidate], forms: Sequence[_Form],
    known: Lesson | None,
) -> Lesson:  # fmt: skip
    """Return the purpose's line of the card as a lesson."""
    first, purpose = forms[0], candidates[0].topic_key.rpartition("/")[2]
    others = _others(forms)
    before = clean(next((c.runs.before for c in candidates if c.runs and c.runs.line == first.line), ""))
    line, at = clean(first.line), services.clock.now()
    known_step = known.how.removesuffix(line).removesuffix(" && ") if known and known.how.endswith(f"&& {line}") else ""
    before = before or (known_step if is_preparing(known_step) else "")
    how = f"{before} && {line}" if before else line
    step = how.removesuffix(line).removesuffix(" && ")
    texts = [f"{_OPENINGS[purpose]} `{line}`"]
    texts += [f"run `{step}` first"] if step else []
    insight = "; ".join(texts) + "."
    if others:
        insight += f" Also used: {', '.join(f'`{clean(form.line)}`' for form in others)}."
    seen = known.sessions_seen if known else ()
    evidence = tuple(Evidence(event=span.event, quote="") for c in candidates for span in c.evidence[-1:])[:OTHERS]
    title = _title(_ORDERS[purpose], [how, *(clean(form.line) for form in others)])
    if known and known.how == how and set(_QUOTED.findall(known.insight)) == set(_QUOTED.findall(insight)):
        title, insight = known.title, known.insight  # the same commands in another order are no news
    snippets, when = tuple(clean(form.line) for form in forms[:FORMS_KEPT]), _when(purpose, (first, *others))
    if known and {*known.snippets} == {*snippets} and {*known.when.commands} == {*when.commands}:
        snippets, when = known.snippets, replace(when, commands=known.when.commands)
    fields: dict[str, Any] = {
        "title": title,
        "insight": insight,
        "how": how,
        "snippets": snippets,
        "command": command_target(line),
        "when": when,
        "sessions_seen": (*(earlier for earlier in seen if earlier != session), session)[-SIGHTINGS_KEPT:],
        "recorded_at": at,
    }
    if known:
        return replace(known, **fields)
    return Lesson(
        id=LessonId(services.clock.new_id()),
        kind="tooling",
        scope=Scope(level="project", project=location.project.id),
        validity=Validity(valid_from=at),
        provenance=Provenance(session=session, detector=candidates[0].detector, evidence=evidence),
        tags=candidates[0].tags,
        topic_key=candidates[0].topic_key,
        trust="verified",
        confidence=CARD_WORTH,
        salience=CARD_SALIENCE,
        state="active",
        **fields,
    )


def _when(purpose: str, forms: Sequence[_Form]) -> Triggers:
    commands = dict.fromkeys(command_target(form.line) for form in forms)
    return Triggers(commands=tuple(commands), work=_WORK.get(purpose, _CODE_WORK))


def _others(forms: Sequence[_Form]) -> list[_Form]:
    """Return further commands worth naming: not rare, of two sessions, and no named one in another folder."""
    named: list[_Form] = []
    for form in forms[1:]:
        is_usual = form.passes >= OTHERS_SHARE * forms[0].passes and form.sessions > 1
        if is_usual and not any(form.line.endswith(f"&& {other.line}") for other in (forms[0], *named)):
            named.append(form)
    return named[:OTHERS]


def _title(order: str, lines: Sequence[str]) -> str:
    """Return the order with as many of the commands as fit, the first one always; a longer one is cut."""
    title = f"{order} `{lines[0]}`"
    if len(title) > TITLE_LIMIT:
        return clipped(title.rstrip("`")) + "`" if " " in title[40:] else f"{title[: TITLE_LIMIT - 2]}\u2026`"
    for line in lines[1:]:
        longer = f"{title} or `{line}`"
        if len(longer) <= TITLE_LIMIT and len(longer.split()) <= WORDS_MOST:
            title = longer
    return title


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()


def is_persons_rule(lesson: Lesson) -> bool:
    """Return whether a person stated the lesson and it holds."""
    return lesson.state == "active" and lesson.trust == "person"


def persons_rules(services: Services, location: Location) -> list[Lesson]:
    """Return the active lessons that persons stated, for this project or for all of theirs, newest first."""
    where = LessonFilter(project=location.project.id, states=("active",), limit=NEIGHBOURS)
    return [lesson for lesson in services.store.find(where) if is_persons_rule(lesson)]


def persons_words(services: Services, location: Location) -> list[Lesson]:
    """Return the living lessons that persons stated, confirmed or not, newest first.

    A command that somebody spoke against is not recommended, also while it is not decided whether that is a rule.
    """
    where = LessonFilter(project=location.project.id, states=LIVING, limit=NEIGHBOURS)
    lessons = services.store.find(where)
    return [lesson for lesson in lessons if lesson.trust == "person" and lesson.state != "quarantined"]


def is_ruled_out(lesson: Lesson, rules: Iterable[Lesson]) -> bool:
    """Return whether the lesson says to run what a rule forbids or itself says to run, and no person stated it."""
    if lesson.trust == "person" or not profile_of(lesson.kind).is_instruction:
        return False
    lines = [line for line in lesson.how.splitlines() if simple_commands(line)]
    return any(
        forbids(rule.insight, line) or (lesson.topic_key.startswith(CARDS) and says_to_run(rule.insight, line))
        for rule in rules
        for line in lines
    )


def retire_ruled_out(services: Services, location: Location) -> None:
    """Retire the active lessons, learnt from what agents ran, that a person's rule forbids or states by itself."""

    def step() -> None:
        where = LessonFilter(project=location.project.id, states=("active",), limit=NEIGHBOURS)
        lessons = services.store.find(where)
        rules = [lesson for lesson in lessons if is_persons_rule(lesson)]
        out = [lesson for lesson in lessons if is_ruled_out(lesson, rules)]
        if out:
            at = services.clock.now()
            after = [in_state(lesson, "retired", at=at) for lesson in out]
            expected = {lesson.id: lesson.recorded_at for lesson in out}
            write_change(
                services, location, "learn", after, expected, summary="a person's rule decides on this command"
            )

    with_retries(step)
