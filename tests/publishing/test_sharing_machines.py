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
from holdfast.domain.lesson import Lesson, in_state
from holdfast.domain.statefamilies import SYNCED
from holdfast.domain.vocabulary import STATES
from holdfast.errors import InvalidValueError, StaleWriteError
from holdfast.lean.texts import loads
from holdfast.lessons.ledger import write_change
from holdfast.publishing.lessonfile import LessonFile, merge_files, parse
from holdfast.publishing.sync import Entry, Syncing, SyncReport, sync, values_of

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
        elif lessons and verb == "revise":
            lesson = lessons[number % len(lessons)]
            change = [
                {"why": f"because {number}"},
                {"insight": f"{lesson.insight} or {number}"},
                {"tags": [f"t{number}"]},
            ]
            with suppress(InvalidValueError):  # nothing to revise
                self.memory.revise(lesson.id, **change[number % 3])
        elif lessons and verb == "retire":
            self.retire(lessons[number % len(lessons)])
        elif lessons and verb == "forget":
            self.memory.forget(lessons[number % len(lessons)].id)
        elif verb == "edit":
            self.folder.edit(number)
        elif verb == "delete":
            self.folder.delete(number)

    def retire(self, lesson: Lesson) -> None:
        services = self.memory.services
        gone = in_state(lesson, "retired", at=services.clock.now())
        write_change(services, self.memory.location, "reject", [gone], {lesson.id: lesson.recorded_at})

    def shared(self) -> dict[str, dict[str, Any]]:
        """By shared id, what this machine's store says, as a file would say it."""
        store, project = self.memory.services.store, self.memory.location.project.id
        entries = [Entry(**entry) for entry in loads(store.get_state(SYNCED, project))["entries"]]
        lessons = {lesson.id: lesson for lesson in self.memory.lessons(states=STATES)}
        ids = {entry.lesson: entry.id for entry in entries}
        return {
            entry.id: values_of(lessons[entry.lesson], ids, entry.provenance)
            for entry in entries
            if entry.lesson in lessons
        }


VERBS = (
    "remember", "share", "share", "sync", "sync", "pull", "pull", "pull", "revise", "revise", "retire", "forget",
    "edit", "delete",
)  # fmt: skip
moves = st.lists(
    st.tuples(st.integers(0, 2), st.sampled_from(VERBS), st.integers(0, 5)),
    min_size=4,
    max_size=18,
)


def settle_down(machines: list[Machine]) -> int:
    """Let everybody sync, pull from everybody and accept, until nothing changes; how many rounds that took."""
    for number in range(1, 9):
        before = [dict(machine.folder.files) for machine in machines]
        for machine in machines:
            machine.sync(accept=True)
            for other in machines:
                machine.folder.pull(other.folder)
            machine.sync(accept=True)
        if [machine.folder.files for machine in machines] == before:
            return number
    raise AssertionError("the machines do not agree")


@settings(suppress_health_check=list(HealthCheck))
@example([(0, "remember", 0), (0, "revise", 1), (1, "remember", 0), (1, "share", 0)])  # one has replaced it
@example([(0, "remember", 0), (0, "share", 0), (1, "remember", 0)])  # both know the rule, one shares it
@given(moves)
def test_any_order_of_edits_merges_and_syncs_ends_in_agreement(what: list[tuple[int, str, int]]) -> None:
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
            settle_down(machines)
            files = machines[0].folder.files
            documents = {}
            for path, content in files.items():
                parsed = parse(path, content)
                assert isinstance(parsed, LessonFile), parsed
                documents[parsed.document.id] = parsed.document.values
            for machine in machines:
                assert machine.folder.files == files
                assert not any(step.verb for step in machine.sync().steps if step.verb != "refused")
                stored = machine.shared()
                for lesson, values in documents.items():
                    if values["state"] == "forgotten":
                        assert stored.get(lesson, values)["state"] == "forgotten"
                    elif values["state"] == "active" or lesson in stored:
                        assert stored[lesson] == values
                living = {lesson.insight for lesson in machine.living()}
                assert {values["insight"] for values in documents.values() if values["state"] == "active"} <= living
        finally:
            for machine in machines:
                machine.memory.close()
            os.environ["HOLDFAST_HOME"] = home
