"""The product as the replay uses it: the only module of this package that calls it. Mend this one when it moves.

Hooks are answered in this process by the function that the hook's program calls, sessions are learnt from by the
function that the detached learner calls; the clock is the sessions'. The log of deliveries says which lessons a text
told; a text counts for its length alone.
"""

from __future__ import annotations

import json
import os
import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

from benchmarks.replay.catalog import GoldLesson

from holdfast import bootstrap, wiring
from holdfast.backfill.transcripts import keep_turn
from holdfast.capture.sessionevents import session_events
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Lesson, next_instant
from holdfast.domain.moments import CHANNELS
from holdfast.domain.records import Outcome
from holdfast.domain.vocabulary import STATES, SessionId, Trust
from holdfast.errors import HoldfastError
from holdfast.freshness.verify import reindex
from holdfast.lean.plain import to_plain
from holdfast.lean.texts import uuid7
from holdfast.learning.associations import associate
from holdfast.learning.distil import distil, prepare
from holdfast.lessons.ledger import write_change
from holdfast.ports.plugins import Completion
from holdfast.ports.store import LogFilter
from holdfast.rendering.lines import count_tokens
from holdfast.service.hook import answer
from holdfast.settings import load_settings
from holdfast.surfaces.hooks import learner
from holdfast.upkeep.lessonrehearsal import WHEN_TOLD, rehearse_lessons
from holdfast.upkeep.rehearsal import scratch_memory
from holdfast.upkeep.tidying import tidy as tidying

HOST = "claude-code"
SEED = 11
MOST_LESSONS = 100_000
MOST_FILES = 4
"""Files a gold lesson is anchored to."""
KNOWN_ROW = re.compile(r"^(K\d+): (.+)$", re.MULTILINE)
TITLE_ROW = re.compile(r"^(T\d+) \[[^\]]*\] (.+)$", re.MULTILINE)
SAME_TITLE = 0.6
"""Share of their words that make a known lesson's title the one that a recorded answer names."""
MOST_TOLD = 3_000
"""Deliveries of a session that are read back to find those of the last hook."""
TRUST_OF_ROLE: dict[str, Trust] = {"user": "person", "failure": "verified"}
"""Who is believed to have said a gold lesson; everybody else is the agent."""
KIND_OF_GOLD = {"exploration": "constraint"}
"""Kinds of gold that nobody can state by hand, and what they are stated as."""


class Shipped:
    """One memory over all sessions, in a home of its own."""

    def __init__(self, folder: str, clock: SessionClock) -> None:
        self.clock = clock
        self.errors: Counter[str] = Counter()
        self._folder = folder
        self._settings = load_settings()
        self._memory = bootstrap.Memory(folder, settings=self._settings)

    def close(self) -> None:
        self._memory.close()

    @property
    def folder(self) -> str:
        """Where the sessions work."""
        return self._folder

    def answer(self, payload: dict[str, Any]) -> str:
        """What the hook hands to the model; empty when it says nothing."""
        try:
            output = answer(self._memory.for_hooks(), HOST, payload, self._note)
        except Exception as exc:  # a replay of hours goes on, and reports it
            self._note("hook", exc)
            return ""
        return str(json.loads(output or "{}").get("hookSpecificOutput", {}).get("additionalContext", ""))

    def learn(self, session: str, transcript: str) -> None:
        """What the learner does after a session's end."""
        ended = HookCall(
            host=HOST, name="SessionEnd", session=SessionId(session), cwd=self._folder,
            transcript=transcript, ends_session=True,
        )  # fmt: skip
        learner.learn_all(self._settings, ended)
        learner.embed_all(self._settings)

    def distil(self, session: str, answer: str) -> None:
        """What the learner does with a model, whose answer about the session was recorded."""
        here = self._memory.at(self._folder)
        try:
            distil(here.services, here.location, SessionId(session), RecordedModel(answer))
        except HoldfastError as exc:
            self._note("distil", exc)
        learner.embed_all(self._settings)

    def question(self, session: str) -> str:
        """What the learner asks a model about the session."""
        here = self._memory.at(self._folder)
        events = session_events(here.services, here.location.project.id, SessionId(session))
        return prepare(here.services, here.location, events)[-1]

    def settle(self, session: str, transcript: str) -> None:
        """What the learner does after a session's end, but for learning."""
        ended = HookCall(
            host=HOST, name="SessionEnd", session=SessionId(session), cwd=self._folder,
            transcript=transcript, ends_session=True,
        )  # fmt: skip
        keep_turn(self._memory, ended)
        for why in self._memory.settle_pending().failed:
            self._note("outcomes", RuntimeError(why))

    def outcomes(self) -> list[dict[str, Any]]:
        """Every outcome of the project, newest first."""
        here = self._memory.at(self._folder)
        where = LogFilter(project=here.location.project.id, limit=MOST_LESSONS)
        return [to_plain(outcome) for outcome in here.services.store.find_records(Outcome, where)]

    def lines_told(self, session: str, since: datetime) -> list[list[str]]:
        """The lessons that were logged as told in that session from then on, by lines; each line's own one is first."""
        lines: dict[int, list[str]] = {}
        for delivery in reversed(self._memory.at(self._folder).log(session=SessionId(session), limit=MOST_TOLD)):
            if delivery.at >= since and delivery.rank:
                lines.setdefault(delivery.rank, []).append(delivery.lesson)
        return [lines[rank] for rank in sorted(lines)]

    def teach(self, gold: GoldLesson, session: str = "", branch: str = "") -> str:
        """State a gold lesson as a confirmed one of its session, about those of its files that are there; its id."""
        files = [file for file in gold.files if os.path.isfile(os.path.join(self._folder, file))][:MOST_FILES]
        stated: dict[str, Any] = {
            "kind": KIND_OF_GOLD.get(gold.kind, gold.kind), "why": gold.why, "files": files,
            "trust": TRUST_OF_ROLE.get(gold.role, "agent"),
        }  # fmt: skip
        return self.state(gold.lesson, stated, title=gold.title, session=session, branch=branch)

    def state(
        self, insight: str, fields: Mapping[str, Any], *, title: str = "", session: str = "", branch: str = ""
    ) -> str:
        """State a lesson, active, as it would be if it had been learnt in that session; its id.

        A title that the product refuses is left out, and reported.
        """
        here = self._memory.at(self._folder)
        try:
            lesson = here.remember(insight, title=title, **fields)
        except HoldfastError as exc:
            if not title:
                raise
            self._note("title", exc)
            lesson = here.remember(insight, **fields)
        lesson = lesson if lesson.state == "active" else here.accept(lesson.id)
        return str(self._settle_in(here, lesson, fields["trust"], session, branch).id)

    def _settle_in(self, here: Any, lesson: Lesson, trust: Trust, session: str, branch: str) -> Lesson:
        """The lesson with the session, person and branch it is from, unless an earlier session taught it already."""
        if lesson.provenance.session or not session:
            return lesson
        person = here.services.workspace.person(here.location)
        origin = {
            "host": HOST, "session": SessionId(session), "person": person.id, "person_name": person.name,
            "branch": branch,
        }  # fmt: skip
        known = {name: value for name, value in origin.items() if hasattr(lesson.provenance, name)}
        after = replace(
            lesson, provenance=replace(lesson.provenance, **known), trust=trust, recorded_at=self.clock.now()
        )
        write_change(here.services, here.location, "remember", [after], {lesson.id: lesson.recorded_at})
        return after

    def tidy(self) -> None:
        """What the learner does besides learning: index, pairs of files, moved code, vectors."""
        here = self._memory.at(self._folder)
        reindex(here.services, here.location)
        associate(here.services, here.location)
        here.follow_moves()
        learner.embed_all(self._settings)

    def consolidate(self, steps: dict[str, Any]) -> str:
        """What `holdfast tidy` does with a model whose steps were recorded; how many lessons there were and are."""
        here = self._memory.at(self._folder)
        before = len(tidying.living(here.services, here.location))
        proposal = tidying.propose(here.services, here.location, lambda: RecordedTidier(steps))
        tidying.apply(here.services, here.location, proposal)
        return f"tidied: {before} lessons, then {len(tidying.living(here.services, here.location))}"

    def prepare_brief(self) -> None:
        """Make the brief for whoever works in the folder next, where the product has one that is made beforehand."""
        here = self._memory.at(self._folder)
        try:
            brief = import_module("holdfast.recall.brief")
        except ModuleNotFoundError:
            return
        if hasattr(brief, "prepare"):
            brief.prepare(here.services, here.location)

    def lessons(self) -> list[dict[str, Any]]:
        """Every lesson there is, whatever became of it."""
        here = self._memory.at(self._folder)
        return [_plain(lesson) for lesson in here.lessons(states=STATES, limit=MOST_LESSONS)]

    def rehearse(self, *, with_start: bool = True, shuffled: bool = False) -> dict[str, int]:
        """How many confirmed lessons are told where first (`upkeep.lessonrehearsal.WHEN_TOLD`), on a copy of memory.

        Without the start, moments alone count. `shuffled` gives every lesson the title of another.
        """
        with scratch_memory(self._settings, self._folder, empty=False) as memory:
            if shuffled:
                _shuffle_titles(memory)
            memory.prepare_brief()
            deliver = CHANNELS if with_start else tuple(moment for moment in CHANNELS if moment != "session_start")
            rehearsal = rehearse_lessons(memory.with_services(replace(memory.services, deliver=deliver)))
        counts = Counter(lesson.told for lesson in rehearsal.lessons)
        return {when: counts[when] for when in WHEN_TOLD} | {"without moments": rehearsal.without_moments}

    def complaints(self) -> dict[str, int]:
        """What failed on the way, with how often; the learner's are in its log."""
        log = Path(self._settings.log_path)
        lines = log.read_text("utf-8", "replace").splitlines() if log.is_file() else []
        return dict(self.errors + Counter(line.partition(" ")[2][:200] for line in lines))

    def _note(self, step: str, exc: Exception) -> None:
        self.errors[f"{step}: {type(exc).__name__}: {str(exc)[:80]}"] += 1


class RecordedTidier:
    """A model that answers each prompt about titles with the recorded steps whose lessons all stand in it."""

    id = "recorded"

    def __init__(self, steps: dict[str, Any]) -> None:
        self._steps = steps

    def complete(self, prompt: str, timeout_s: float) -> Completion:
        names = {title: name for name, title in TITLE_ROW.findall(prompt)}
        merges = [
            {**step, "stays": names[step["stays"]], "replaces": [names[title] for title in step["replaces"]]}
            for step in self._steps["merge"]
            if {step["stays"], *step["replaces"]} <= set(names)
        ]
        retired = [
            {**step, "lesson": names[step["lesson"]]} for step in self._steps["retire"] if step["lesson"] in names
        ]
        return Completion(text=json.dumps({"merge": merges, "retire": retired}))


class RecordedModel:
    """A model that gives one answer, which another model once gave to such a prompt.

    That prompt may have numbered the known lessons otherwise: a relation goes by the lesson's title, to the nearest one
    of this prompt. What repeats a lesson that is not known here is new here.
    """

    id = "recorded"

    def __init__(self, answer: str) -> None:
        self._answer = answer

    def complete(self, prompt: str, timeout_s: float) -> Completion:
        known = {match[1]: set(match[2].lower().split()) for match in KNOWN_ROW.finditer(prompt)}
        answer = json.loads(self._answer)
        for entry in answer["lessons"]:
            relation = entry.get("known")
            if isinstance(relation, dict) and "title" in relation:
                words = set(relation["title"].lower().split())
                near = max(known, key=lambda row: len(words & known[row]) / len(words | known[row]), default="")
                is_near = bool(near) and len(words & known[near]) >= SAME_TITLE * len(words | known[near])
                entry["known"] = {"relation": relation["relation"], "id": near} if is_near else None
        return Completion(text=json.dumps(answer))


class SessionClock(wiring.SystemClock):
    """A clock that stands at the replayed event, and goes on a little with every look at it.

    Its ids are the same in every run: where lessons are equally good, ids decide.
    """

    def __init__(self) -> None:
        super().__init__()
        self._now = datetime(2000, 1, 1, tzinfo=UTC)
        self._dice = random.Random(SEED)

    def move_to(self, at: datetime | None) -> None:
        """Go on to that time; the clock never goes back."""
        self._now = max(self._now, at or self._now)

    def now(self) -> datetime:
        self._now += timedelta(microseconds=50)
        return self._now

    def new_id(self) -> str:
        return uuid7(int(self._now.timestamp() * 1000), self._dice.randbytes(10))


@contextmanager
def open_shipped(home: Path, folder: Path) -> Iterator[Shipped]:
    """The product with a scratch home, for sessions in that folder; environment and clock are put back afterwards."""
    environment, system_clock, clock = dict(os.environ), wiring.SystemClock, SessionClock()
    os.environ.update(HOME=str(home), HOLDFAST_HOME=str(home / ".holdfast"), HOLDFAST_HOLDOUT="0")
    wiring.SystemClock = lambda: clock  # type: ignore[misc, assignment]
    try:
        shipped = Shipped(str(folder), clock)
        try:
            yield shipped
        finally:
            shipped.close()
    finally:
        wiring.SystemClock = system_clock  # type: ignore[misc]
        os.environ.clear()
        os.environ.update(environment)


def _shuffle_titles(memory: bootstrap.Memory) -> None:
    lessons = memory.lessons(limit=MOST_LESSONS)
    titles = [lesson.title for lesson in lessons]
    random.Random(SEED).shuffle(titles)
    at = memory.services.clock.now()
    after = [
        replace(lesson, title=title, recorded_at=next_instant(lesson.recorded_at, at))
        for lesson, title in zip(lessons, titles, strict=True)
    ]
    memory.services.store.put(after, {lesson.id: lesson.recorded_at for lesson in lessons})


def tokens_of(text: str) -> int:
    """The tokens of a text, as the product counts them."""
    return count_tokens(text)


def _plain(lesson: Any) -> dict[str, Any]:
    provenance = lesson.provenance
    return {
        "id": lesson.id, "session": provenance.session, "state": lesson.state, "kind": lesson.kind,
        "title": lesson.title, "insight": lesson.insight, "why": lesson.why, "how": lesson.how,
        "files": list(lesson.paths), "trust": lesson.trust, "confidence": lesson.confidence,
        "detector": provenance.detector, "command": lesson.command,
        "quote": [evidence.quote for evidence in provenance.evidence][:3],
    }  # fmt: skip
