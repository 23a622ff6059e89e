"""The numbers that publishing goes by, each at its boundary."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Lesson, Provenance, Scope
from holdfast.domain.project import Location
from holdfast.domain.statefamilies import SYNCED
from holdfast.domain.vocabulary import SessionId
from holdfast.lean.records import replace
from holdfast.lean.texts import dumps, loads
from holdfast.ports.host import RulesTarget
from holdfast.publishing import rules
from holdfast.publishing.sharing import document, lessonfile, sync
from holdfast.rendering.budget import count_tokens
from holdfast.testing.builders import make_lesson
from tests.boundaries import Boundary, each
from tests.publishing.test_sharing_machines import Folder

# Rules files

WHOLE = RulesTarget(
    file=".pilot/rules/holdfast-{slug}.md", front_matter="---\nglobs: {globs}\n---\n", always="---\nalways: true\n---\n"
)


def rules_of(memory: Memory, budget: rules.Budget = rules.DEFAULT, **target: Any) -> rules.Rules:
    outlet = rules.Outlet(host="pilot", target=replace(WHOLE, **target), reads=(".pilot/rules/*.md",))
    return rules.compile_rules(memory.services, memory.location, (outlet,), budget)


def keep(memory: Memory, insight: str, *sessions: str, **more: Any) -> Lesson:
    fields: dict[str, Any] = {"scope": Scope(project=memory.location.project.id), "kind": "tooling", **more}
    if sessions:
        fields |= {"provenance": Provenance(detector="fail_fix/1"), "sessions_seen": tuple(map(SessionId, sessions))}
    lesson = replace(make_lesson(insight=insight), **fields)
    memory.services.store.put([lesson], {lesson.id: None})
    return lesson


@pytest.mark.parametrize(("folders", "without"), [(10, 0), (11, 1)])
def test_a_host_has_files_for_ten_folders(memory: Memory, folders: int, without: int) -> None:
    assert rules.SCOPES_MOST == 10
    for number in range(folders):
        keep(memory, f"Light beacon {number} before sunset", globs=(f"harbour{number}/*.py",))
    files = rules_of(memory).files
    assert sum("always" not in file.file for file in files) == folders - without
    assert sum(len(file.lessons) for file in files) == folders


def test_a_files_frame_is_taken_off_its_tokens(memory: Memory) -> None:
    keep(memory, "Light the beacon before sunset", pinned=True)
    (line,) = [line for line in rules_of(memory).files[0].text.splitlines() if line.startswith("- [")]
    most = count_tokens(line) + rules._FRAME_TOKENS
    assert rules_of(memory, rules.Budget(always=most)).files[0].tokens <= most
    assert rules_of(memory, rules.Budget(always=most - 1)).files == ()


def test_a_files_frame_is_taken_off_its_characters(memory: Memory) -> None:
    keep(memory, "Light the beacon before sunset", pinned=True)
    (line,) = [line for line in rules_of(memory).files[0].text.splitlines() if line.startswith("- [")]
    most = len("---\nalways: true\n---\n") + len(line) + 1 + rules._FRAME_CHARS
    assert len(rules_of(memory, limit_chars=most).files[0].text) <= most
    assert rules_of(memory, limit_chars=most - 1).files == ()


def test_a_frame_has_room_for_the_name_of_a_deep_folder(memory: Memory) -> None:
    folder = "/".join(["harbour", "lighthouse", "beacons", "of_the_north"])
    keep(memory, "Light the beacon before sunset", globs=(f"{folder}/*.py",))
    (file,) = rules_of(memory).files
    (line,) = [line for line in file.text.splitlines() if line.startswith("- [")]
    head = f"---\nglobs: {folder}/**\n---\n"
    assert file.text.startswith(head)
    assert count_tokens(file.text) - count_tokens(head) - count_tokens(line) <= rules._FRAME_TOKENS
    assert len(file.text) - len(head) - len(line) <= rules._FRAME_CHARS


# Shared files

PATHS = [
    Boundary(
        document, "SLUG_WORDS", 7, 8,
        lambda n: document.path_of("x", "rule", " ".join(["ab"] * n)).count("ab") == n, True, False,
    ),
    Boundary(
        document, "SLUG_LIMIT", 48, 49, lambda n: "x" * n in document.path_of("x", "rule", "x" * n), True, False
    ),
    Boundary(
        lessonfile, "FILE_LIMIT", 200_000, 200_001,
        lambda n: "larger than 200,000" in str(lessonfile.parse("a.md", b"x" * n)), False, True,
    ),
]  # fmt: skip


def test_a_digest_of_eight_digits_is_the_same_on_every_machine() -> None:
    assert document.digest("Retries are capped at 3") == "r4206be81"
    assert len(document.digest("")) == 1 + document.DIGITS == 9


class ReadFolder(Folder):
    """Lesson files that count how often one is read."""

    reads = 0

    def read(self, path: str) -> bytes | None:
        self.reads += 1
        return super().read(path)


def synced(memory: Memory, folder: Folder, location: Location | None = None, **how: Any) -> dict[str, Any]:
    """What is remembered of a run."""
    location = location or memory.location
    sync.sync(memory.services, location, folder, sync.Syncing(**how))
    state: dict[str, Any] = loads(memory.services.store.get_state(SYNCED, location.project.id))
    return state


def test_the_files_of_twenty_work_trees_are_remembered(memory: Memory) -> None:
    assert sync.ROOTS == 20
    roots = [f"/trees/{number}" for number in range(21)]
    memory.remember("Retries are capped at 3")
    share = tuple(memory.shareable())
    for root in roots[:20]:
        state = synced(memory, Folder(), replace(memory.location, root=root), share=share)
    assert list(state["roots"]) == roots[:20]
    assert list(synced(memory, Folder(), replace(memory.location, root=roots[20]), share=share)["roots"]) == roots[1:]


def test_what_another_version_remembered_is_not_read(memory: Memory) -> None:
    memory.remember("Retries are capped at 3")
    folder = ReadFolder()
    state = synced(memory, folder, share=tuple(memory.shareable()))
    assert state["version"] == sync.VERSION == 1
    reads = folder.reads
    synced(memory, folder)
    assert folder.reads == reads, "nothing changed"
    memory.services.store.set_state(SYNCED, memory.location.project.id, dumps({**state, "version": 2}))
    synced(memory, folder)
    assert folder.reads > reads


@each(PATHS)
def test_a_number_decides_where_it_says(boundary: Boundary) -> None:
    boundary.check()
