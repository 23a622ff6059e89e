"""Stores for benchmarks of pages: 100,000 lessons of one project and 5,000 sessions with a million events.

Lessons are those of `size_lessons`, spread over 20 months, with persons, tags, kinds of trust and states. A session has
200 events in the mean: prompts and replies in made-up words, commands, failures, edits. A tenth of the sessions are
each on a branch of their own. Deliveries, outcomes and changes follow the sessions. The folder is a git repository with
the files of the lessons' anchors, so that verdicts are computed against real code.

    python -m benchmarks.page_store DIR 100000 5000
"""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from pathlib import Path

from benchmarks.hook import content_of
from benchmarks.seeded_lessons import BEGIN
from benchmarks.size_lessons import Project, Words

from holdfast.bootstrap import Memory
from holdfast.domain.event import Event, spoken_prefix
from holdfast.domain.lesson import Evidence, Lesson, Provenance, Validity
from holdfast.domain.query import Query
from holdfast.domain.records import Change, Delivery, Outcome
from holdfast.domain.vocabulary import EventId, EventKind, LessonId, ProjectId, SessionId, State, Trust, Verdict
from holdfast.lean.texts import uuid7
from holdfast.ports.store import LogRecord, Store
from holdfast.settings import load_settings

SEED = 23
BATCH, EVENTS_AT_ONCE = 1_000, 5_000
MONTHS = 20
PERSONS = tuple(f"person-{number}" for number in range(12))
TAGS = [
    "ci",
    "database",
    "deploy",
    "tests",
    "security",
    "performance",
    "api",
    "ui",
    "types",
    "build",
    "docs",
    "logging",
    "cache",
    "retry",
    "locale",
    "async",
    "memory",
    "network",
    "auth",
    "release",
]
TRUSTS: tuple[Trust, ...] = ("agent",) * 5 + ("person",) * 3 + ("verified", "repository")
STATES: tuple[State, ...] = ("active",) * 16 + ("candidate",) * 2 + ("retired", "superseded")
HOSTS = ("claude-code", "codex", "gemini-cli", "cursor")
STEPS: tuple[EventKind, ...] = ("tool_use", "tool_use", "file_edit", "tool_result", "file_edit", "tool_failure")


class PageHome:
    """A scratch home with a repository and a store in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.repository = folder / "shop"
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "HOLDFAST", "GIT"))}
        self.env = clean | {"HOME": str(folder), "HOLDFAST_HOME": str(folder / "home")}

    def memory(self) -> Memory:
        """Return the memory of the repository."""
        return Memory(str(self.repository), settings=load_settings(self.env))

    def build(self, lessons: int, sessions: int) -> None:
        """Make the repository and fill the store, unless an earlier run has made it of that size."""
        mark = self.folder / "built.json"
        size = {"lessons": lessons, "sessions": sessions}
        if mark.exists() and json.loads(mark.read_text()) == size:
            return
        self._make_repository(lessons)
        with self.memory() as memory:
            ids = fill(memory.services.store, memory.location.project.id, lessons, sessions)
            embed(memory, ids)
        mark.write_text(json.dumps(size))

    def _make_repository(self, lessons: int) -> None:
        self.repository.mkdir(parents=True, exist_ok=True)
        for path in made(ProjectId("shop"), lessons).paths():
            file = self.repository / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(content_of(path))
        remote = ("remote", "add", "origin", "https://git.example/team/shop.git")
        commit = ("-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-q", "-m", "Start")
        for command in (("init", "-q", "-b", "main"), remote, ("add", "."), commit):
            subprocess.run(["git", *command], cwd=self.repository, env=self.env, check=True)


def made(project: ProjectId, lessons: int) -> Project:
    """Return the made-up lessons of the project."""
    return Project(f"{SEED} pages {lessons}", project, lessons, Words(SEED))


def fill(store: Store, project: ProjectId, lessons: int, sessions: int) -> list[LessonId]:
    """Store the lessons, the sessions with their events, deliveries and outcomes; index the turns."""
    ids = _put_lessons(store, project, lessons, sessions)
    _put_sessions(store, project, sessions, ids)
    store.search_turns(Query(project=project, text="deploy"), 1)
    return ids


def embed(memory: Memory, ids: list[LessonId]) -> None:
    """Give each lesson its vector, with the embedder that is the default."""
    for start in range(0, len(ids), BATCH):
        memory.embed_written(ids[start : start + BATCH])
        _tell(start + BATCH, "vectors")
    memory.embed_pending()


def _put_lessons(store: Store, project: ProjectId, lessons: int, sessions: int) -> list[LessonId]:
    rng = random.Random(SEED)
    step = timedelta(days=30 * MONTHS) / lessons
    drawn = (
        _varied(rng, lesson, BEGIN + n * step, sessions)
        for n, (lesson, _) in enumerate(made(project, lessons).lessons())
    )
    ids: list[LessonId] = []
    while batch := list(islice(drawn, BATCH)):
        store.put(batch, {})
        ids += [lesson.id for lesson in batch]
        _tell(len(ids), "lessons")
    return ids


def _varied(rng: random.Random, lesson: Lesson, at: datetime, sessions: int) -> Lesson:
    person = rng.choice(PERSONS)
    state, trust = rng.choice(STATES), rng.choice(TRUSTS)
    ends = at + timedelta(hours=1) if state in ("retired", "superseded") else None
    session = SessionId(f"session-{rng.randrange(sessions)}")
    evidence = (Evidence(event=EventId(f"{session}-1"), quote=lesson.insight[:80]),)
    provenance = Provenance(
        host=rng.choice(HOSTS), session=session, detector="explicit/1", person=person,
        person_name=person.replace("-", " ").title(), evidence=evidence,
    )  # fmt: skip
    return replace(
        lesson, recorded_at=at, validity=Validity(valid_from=at, valid_to=ends), state=state, trust=trust,
        tags=tuple(rng.sample(TAGS, rng.randrange(3))), provenance=provenance, pinned=lesson.pinned and not ends,
    )  # fmt: skip


def _put_sessions(store: Store, project: ProjectId, sessions: int, ids: list[LessonId]) -> None:
    rng, words = random.Random(SEED + 1), Words(SEED)
    files = made(project, len(ids)).paths()
    step = timedelta(days=30 * MONTHS) / sessions
    events: list[Event] = []
    for number in range(sessions):
        session = SessionId(f"session-{number}")
        begun = BEGIN + number * step
        events += _events(rng, words, project, session, begun, files)
        if len(events) >= EVENTS_AT_ONCE or number == sessions - 1:
            store.append_events(events)
            events = []
            _tell(number + 1, "sessions")
        store.record(_log(rng, project, session, begun, ids))


def _events(
    rng: random.Random, words: Words, project: ProjectId, session: SessionId, begun: datetime, files: list[str]
) -> Iterator[Event]:
    host = rng.choice(HOSTS)
    branch = f"feature/{session}" if rng.random() < 0.1 else "main"
    count = max(4, round(rng.lognormvariate(5.1, 0.6)))
    for number in range(count):
        turn, place = divmod(number, 20)
        kind: EventKind = "prompt" if place == 0 else "reply" if place == 19 else rng.choice(STEPS)
        file = files[int(len(files) * rng.random() ** 2)]
        spoken, edits = kind in ("prompt", "reply"), kind == "file_edit"
        text = " ".join(words.draw(rng, 40 if spoken else 8))
        yield Event(
            id=EventId(f"{session}-{number}"), session=session, host=host, kind=kind,
            at=begun + timedelta(seconds=20 * number),
            key=f"{spoken_prefix(kind)}{turn}" if spoken else f"{kind}:{number}", project=project, branch=branch,
            files=(file,) if edits else (), tool="" if spoken else "Edit" if edits else "Bash",
            command="" if spoken or edits else f"pytest tests/test_{number % 40}.py",
            exit_code=1 if kind == "tool_failure" else None, text=text, text_length=len(text),
            trust="person" if kind == "prompt" else "agent",
        )  # fmt: skip


def _log(
    rng: random.Random, project: ProjectId, session: SessionId, begun: datetime, ids: list[LessonId]
) -> list[LogRecord]:
    """Return what the session was told, what came of it, and what it taught."""
    told_ids = rng.sample(ids, min(len(ids), 12))
    records: list[LogRecord] = []
    for number, lesson in enumerate(told_ids):
        at = begun + timedelta(minutes=number)
        records.append(
            Delivery(
                id=_new_id(rng, at), at=at, project=project, session=session, host="claude-code",
                moment="session_start", lesson=lesson, rank=number + 1, score=0.5, reason="recent",
            )
        )  # fmt: skip
        if number % 3 == 0:
            verdict: Verdict = rng.choice(("heeded", "heeded", "ignored", "missed"))
            records.append(
                Outcome(id=_new_id(rng, at), at=at, project=project, session=session, lesson=lesson, verdict=verdict)
            )
    taught = Change(id=_new_id(rng, begun), at=begun, project=project, verb="learn", lessons=tuple(told_ids[:4]))
    return [*records, taught]


def _new_id(rng: random.Random, at: datetime) -> str:
    return uuid7(int(at.timestamp() * 1000), rng.randbytes(10))


def _tell(count: int, what: str) -> None:
    if count % 10_000 == 0 or (what == "sessions" and count % 500 == 0):
        print(f"  {count} {what}", file=sys.stderr, flush=True)


def main() -> None:
    folder, lessons, sessions = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    PageHome(folder).build(lessons, sessions)


if __name__ == "__main__":
    main()
