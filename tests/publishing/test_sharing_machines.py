"""Three machines with stores of their own agree in the end, whatever is edited, merged and synced in which order."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from holdfast import Memory
from holdfast.curation.forget import last_change
from holdfast.domain.lesson import Lesson, in_state
from holdfast.domain.vocabulary import STATES
from holdfast.errors import HoldfastError, InvalidValueError, StaleWriteError
from holdfast.lessons.ledger import write_change
from holdfast.publishing.lessonfile import LessonFile, merge_files, parse
from holdfast.publishing.sharedlesson import values_of
from holdfast.publishing.sync import Syncing, SyncReport, sync
from holdfast.publishing.syncrecord import owner_of, shared_lessons

RULES = ("Retries are capped at 3", "Ids end with a check digit", "Tides are in metres")


class Folder:
    """The lesson files of one machine, and the commits they are merged by."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}

    def find(self) -> dict[str, str]:
        return {path: str(hash(content)) for path, content in sorted(self.files.items())}

    def read(self, path: str) -> bytes | None:
        return self.files.get(path)

    def write(self, path: str, content: bytes, before: bytes | None) -> str:
        if self.files.get(path) != before:
            raise StaleWriteError(path)
        self.files[path] = content
        return str(hash(content))

    def edit(self, number: int) -> None:
        """What a person does who edits a file: the reason is another one, the stamps stay."""
        for path, content in sorted(self.files.items())[number % 3 :][:1]:
            rows = content.decode().split("\n")
            rows = [f"why: by hand {number}" if row.startswith("why: ") else row for row in rows]
            self.files[path] = "\n".join(rows).encode()

    def delete(self, number: int) -> None:
        for path in sorted(self.files)[number % 3 :][:1]:
            del self.files[path]

    def pull(self, other: Folder) -> None:
        for path, theirs in other.files.items():
            ours = self.files.get(path)
            merged = theirs.decode() if ours in (None, theirs) else merge_files(path, b"", ours or b"", theirs)
            assert merged is not None
            self.files[path] = merged.encode()


class Machine:
    """A home, its memory of the project, and its clone's files."""

    def __init__(self, home: Path, project: Path) -> None:
        os.environ["HOLDFAST_HOME"] = str(home)
        self.memory = Memory(str(project))
        self.folder = Folder()
        self.revised: set[tuple[str, str]] = set()
        """Rules that became other ones here."""
        self.ended: set[str] = set()
        """Rules that ended here."""

    def sync(self, **how: Any) -> SyncReport:
        return sync(self.memory.services, self.memory.location, self.folder, Syncing(**how))

    def living(self) -> list[Lesson]:
        return sorted(self.memory.lessons(states=("active",)), key=lambda lesson: lesson.insight)

    def play(self, verb: str, number: int) -> None:
        lessons = self.living()
        if verb == "remember":
            self.memory.remember(RULES[number % len(RULES)], why=f"reason {number % 2}")
        elif verb == "share":
            self.sync(share=tuple(self.memory.shareable()))
        elif verb == "sync":
            self.sync(accept=bool(number % 2))
        elif lessons and verb in ("revise", "reword"):
            self.revise(lessons[number % len(lessons)], verb, number)
        elif lessons and verb == "retire":
            self.retire(lessons[number % len(lessons)])
        elif lessons and verb == "forget":
            lesson = lessons[number % len(lessons)]
            self.ended.add(lesson.insight)
            self.memory.forget(lesson.id)
        elif verb == "undo":
            with suppress(HoldfastError):  # nothing to undo, or another lesson states the rule by now
                self.undo()
        elif verb == "edit":
            self.folder.edit(number)
        elif verb == "delete":
            self.folder.delete(number)

    def revise(self, lesson: Lesson, verb: str, number: int) -> None:
        """Change one field. A new rule may be one that another lesson states or stated."""
        change = [{"why": f"because {number}"}, {"insight": f"{lesson.insight} or {number}"}, {"tags": [f"t{number}"]}]
        fields: dict[str, Any] = {"insight": RULES[number % len(RULES)]} if verb == "reword" else change[number % 3]
        with suppress(InvalidValueError, StaleWriteError):  # nothing to revise, or another lesson states that rule
            self.memory.revise(lesson.id, **fields)
            if "insight" in fields:
                self.revised.add((lesson.insight, fields["insight"]))

    def undo(self) -> None:
        """Take the last change back, unless it is a sync: that rejects what came in.

        What it touched is left out of what must survive.
        """
        before = {lesson.insight for lesson in self.living()}
        change = last_change(self.memory.services, self.memory.location)
        if change is None or change.verb != "sync":
            self.memory.undo()
        self.ended |= before ^ {lesson.insight for lesson in self.living()}

    def retire(self, lesson: Lesson) -> None:
        services = self.memory.services
        self.ended.add(lesson.insight)
        gone = in_state(lesson, "retired", at=services.clock.now())
        write_change(services, self.memory.location, "reject", [gone], {lesson.id: lesson.recorded_at})

    def shared(self) -> dict[str, dict[str, Any]]:
        """By shared id, what this machine's store says, as a file would say it."""
        store, project = self.memory.services.store, self.memory.location.project.id
        entries = shared_lessons(store, owner_of(project))
        lessons = {lesson.id: lesson for lesson in self.memory.lessons(states=STATES)}
        ids = {former: entry.id for entry in entries.values() for former in entry.former}
        ids |= {lesson: entry.id for lesson, entry in entries.items()}
        return {
            entry.id: values_of(lessons[lesson], others, entry.provenance, entry.links)
            for lesson, entry in entries.items()
            if lesson in lessons
            for others in [{local: shared for local, shared in ids.items() if shared != entry.id}]
        }


VERBS = (
    "remember", "share", "share", "sync", "sync", "sync", "pull", "pull", "pull", "revise", "revise", "revise",
    "reword", "reword", "retire", "forget", "undo", "edit", "delete",
)  # fmt: skip
Moves = list[tuple[int, str, int]]
SHARED: Moves = [
    (0, "remember", 0), (0, "share", 0), (1, "pull", 0), (1, "sync", 1), (2, "pull", 0), (2, "sync", 1),
]  # fmt: skip
"""A beginning after which all three have one lesson in common."""
moves = st.tuples(
    st.sampled_from([[], SHARED]),
    st.lists(
        st.tuples(st.integers(0, 2), st.sampled_from(VERBS), st.integers(0, 5)),
        min_size=4,
        max_size=18,
    ),
).map(lambda parts: parts[0] + parts[1])


def settle_down(machines: list[Machine]) -> None:
    """Let everybody share, sync, pull from everybody and accept, until nothing changes."""
    for _ in range(8):
        before = [dict(machine.folder.files) for machine in machines]
        for machine in machines:
            machine.sync(accept=True)
            for other in machines:
                machine.folder.pull(other.folder)
            machine.sync(accept=True)
        if [machine.folder.files for machine in machines] == before:
            return
    raise AssertionError("the machines do not agree")


def must_survive(machines: list[Machine]) -> set[str]:
    """Return the rules in force that nobody revised or ended, nor what they came from or became elsewhere."""
    edges = {edge for machine in machines for edge in machine.revised}
    ended = {rule for machine in machines for rule in machine.ended}
    reached: set[str] = set()
    while ended - reached:
        reached |= ended
        ended |= {rule for edge in edges if ended & {*edge} for rule in edge}
    living = {lesson.insight for machine in machines for lesson in machine.living()}
    return living - reached - {before for before, _ in edges}


def assert_agreement(machines: list[Machine], survivors: set[str]) -> None:
    """All have the same files, nothing to do, and in their stores what the files say."""
    files = machines[0].folder.files
    documents = {}
    for path, content in files.items():
        parsed = parse(path, content)
        assert isinstance(parsed, LessonFile), parsed
        documents[parsed.document.id] = parsed.document.values
    active = {values["insight"] for values in documents.values() if values["state"] == "active"}
    assert survivors <= active
    for machine in machines:
        assert machine.folder.files == files
        assert not any(step.verb for step in machine.sync().steps if step.verb != "refused")
        stored = machine.shared()
        living = {lesson.insight for lesson in machine.living()}
        for lesson, values in documents.items():
            if values["state"] == "forgotten":
                assert stored.get(lesson, values)["state"] == "forgotten"
            elif lesson in stored:
                assert stored[lesson] == values
        assert active <= living, "a rule without a lesson of its own is that of another one"


@settings(max_examples=settings.default.max_examples * 40, suppress_health_check=list(HealthCheck))
@example([(0, "remember", 0), (0, "revise", 1), (1, "remember", 0), (1, "share", 0)])  # one has replaced it
@example([(0, "remember", 0), (0, "share", 0), (1, "remember", 0)])  # both know the rule, one shares it
@example([*SHARED, (0, "revise", 1), (1, "revise", 4), (0, "share", 0), (1, "share", 0)])  # both reword it at once
@given(moves)
def test_any_order_of_edits_merges_and_syncs_ends_in_agreement(what: Moves) -> None:
    home = os.environ["HOLDFAST_HOME"]
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch, "harbour")
        project.mkdir()
        Path(project, ".holdfast").mkdir()
        Path(project, ".holdfast", "project.toml").write_text('id = "harbour"\n')
        machines = [Machine(Path(scratch, name), project) for name in "abc"]
        try:
            for number, verb, detail in what:
                if verb == "pull":
                    machines[number].folder.pull(machines[detail % 3].folder)
                else:
                    machines[number].play(verb, detail)
            survivors = must_survive(machines)
            for machine in machines:
                machine.sync(share=tuple(machine.memory.shareable()))
            settle_down(machines)
            assert_agreement(machines, survivors)
        finally:
            for machine in machines:
                machine.memory.close()
            os.environ["HOLDFAST_HOME"] = home
