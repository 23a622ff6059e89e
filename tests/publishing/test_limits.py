"""The numbers that publishing goes by, each at its boundary."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path
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
from holdfast.publishing import branchsummary, rules, skills, units
from holdfast.publishing.sharing import document, lessonfile, sync
from holdfast.rendering.budget import count_tokens
from holdfast.testing.builders import START, make_change, make_lesson
from tests.boundaries import Boundary, each
from tests.publishing.test_sharing_machines import Folder

# A branch's summary


class Branches:
    """A repository in which the branch began at `START`."""

    def main_commits(self) -> Sequence[str]:
        return ("main",)

    def is_main(self, branch: str) -> bool:
        return False

    def fork(self, line: str, commit: str) -> str:
        return "fork"

    def time(self, commit: str) -> datetime:
        return START

    def created(self, branch: str) -> datetime | None:
        return None

    def changed(self, base: str, commit: str) -> Sequence[str]:
        return ()


def summed_up(memory: Memory, before_s: float = 0.0, others: int = 0) -> int:
    """How many lessons are of the branch whose only change is so much older than it, below that many other changes."""
    location = replace(memory.location, branch="topic")
    scope = Scope(project=location.project.id, branch="topic")
    lesson = make_lesson(scope=scope, recorded_at=START + timedelta(hours=1))
    memory.services.store.put([lesson], {lesson.id: None})
    at = START - timedelta(seconds=before_s)
    changes = [make_change(project=location.project.id, at=at, lessons=(lesson.id,))]
    changes += [make_change(project=location.project.id, at=START, lessons=()) for _ in range(others)]
    memory.services.store.record(changes)
    return len(branchsummary.summarise(Branches(), "head", "", (memory.services, location)).rows)  # type: ignore[arg-type]


@pytest.mark.parametrize(("before_s", "count"), [(1.0, 1), (1.001, 0)])
def test_a_change_up_to_a_second_older_than_a_branchs_first_commit_is_of_the_branch(
    memory: Memory, before_s: float, count: int
) -> None:
    assert timedelta(seconds=1) == branchsummary.SECOND
    assert summed_up(memory, before_s) == count


@pytest.mark.parametrize(("others", "count"), [(4_999, 1), (5_000, 0)])
def test_five_thousand_changes_are_looked_through(memory: Memory, others: int, count: int) -> None:
    assert branchsummary.CHANGES_AT_MOST == 5_000
    assert summed_up(memory, others=others) == count


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


# Skills


def skills_of(memory: Memory) -> tuple[skills.Skill, ...]:
    return skills.compile_skills(memory.services, memory.location).skills


@pytest.mark.parametrize(("lessons", "sessions", "count"), [(2, 2, 1), (2, 1, 0), (1, 3, 1), (1, 2, 0)])
def test_a_subject_recurs_in_two_sessions_and_a_single_lesson_in_three(
    memory: Memory, lessons: int, sessions: int, count: int
) -> None:
    assert (skills.SESSIONS, skills.SESSIONS_ALONE) == (2, 3)
    for number in range(lessons):
        keep(memory, f"Build part {number}", *(f"s{session}" for session in range(sessions)), command="make")
    assert len(skills_of(memory)) == count


@pytest.mark.parametrize(("lessons", "count"), [(20, 20), (21, 20)])
def test_a_skill_has_twenty_lessons(memory: Memory, lessons: int, count: int) -> None:
    assert skills.LESSONS_MOST == 20
    for number in range(lessons):
        keep(memory, f"Build part {number}", "s1", "s2", command="make")
    assert len(skills_of(memory)[0].lessons) == count


@pytest.mark.parametrize(("size", "name"), [(53, "running-" + "x" * 53), (54, "running-" + "x" * 44 + "-DIGEST")])
def test_a_name_of_sixty_one_characters_leaves_room_for_a_number(memory: Memory, size: int, name: str) -> None:
    keep(memory, "Build first", "s1", "s2", "s3", command="x" * size)
    (skill,) = skills_of(memory)
    assert (skills.NAME_LIMIT, len(skill.name)) == (64, 61)
    assert skill.name.startswith(name.removesuffix("DIGEST"))


def test_a_cut_name_with_a_number_is_no_longer_than_the_format_allows(memory: Memory) -> None:
    for part in ("-", "_", "+"):
        keep(memory, f"Build {part} first", "s1", "s2", "s3", command="x" * 26 + part + "x" * 26)
    names = [skill.name for skill in skills_of(memory)]
    assert len(set(names)) == 3
    assert max(map(len, names)) <= 64


@pytest.mark.parametrize(("size", "is_whole"), [(512, True), (513, False)])
def test_the_occasions_have_half_of_a_description(memory: Memory, size: int, is_whole: bool) -> None:
    error = "x" * (size - len(" Use before running `make`; when something fails with ``."))
    keep(memory, "Build first", "s1", "s2", "s3", command="make", error_signature=error)
    (skill,) = skills_of(memory)
    assert skills.DESCRIPTION_LIMIT == 1_024
    assert skill.description.endswith(f"{error}.") is is_whole


@pytest.mark.parametrize(("size", "is_whole"), [(1_024, True), (1_025, False)])
def test_a_description_has_as_many_characters_as_the_format_allows(memory: Memory, size: int, is_whole: bool) -> None:
    title = "x" * 90
    fixed = len("What earlier sessions on this code learnt: . Use before running `make`.")
    rest = size - fixed - 10 * (len(title) + 2)
    for number in range(10):
        keep(memory, f"Build part {number}", "s1", "s2", command="make", title=title)
    keep(memory, "Build first", "s1", "s2", command="make", title="y" * rest)
    (skill,) = skills_of(memory)
    assert len(skill.description) <= 1_022
    assert ("\u2026" not in skill.description) is is_whole


@pytest.mark.parametrize(("count", "shown"), [(5, 5), (6, 5)])
def test_a_skill_names_five_errors_and_five_files(memory: Memory, count: int, shown: int) -> None:
    assert skills.PLACES_SHOWN == 5
    for number in range(count):
        keep(memory, f"Build part {number}", "s1", "s2", command="make", error_signature=f"E{number}")
    files = [f"part{number}.py" for number in range(count)]
    for name in files:
        Path(memory.location.root, name).write_text(f"{name.removesuffix('.py')} = 1\n")
    lesson = memory.remember("Build all parts", files=files, kind="tooling")
    for session in ("s1", "s2"):
        memory.feedback(lesson.id, "helped", session=SessionId(session))
    keep(memory, "Build them first", "s3", "s4", anchors=lesson.anchors, command="make")
    text = "\n".join(skill.text for skill in skills_of(memory) if "running-make" in skill.name)
    assert text.count("When something fails with") == shown
    assert text.count("- Before changing `part") == shown


# Units


class Meaning:
    """An embedder that knows how alike each unit is to the question, and notes how long the texts are."""

    def __init__(self, *likeness: float) -> None:
        self.likeness, self.sizes = likeness, set[int]()

    def embed_documents(self, texts: Sequence[str]) -> list[list[float]]:
        self.sizes |= set(map(len, texts))
        return [[likeness] for likeness in self.likeness]

    def embed_query(self, text: str) -> list[float]:
        self.sizes.add(len(text))
        return [1.0]


PAGE = "# Harbour\n\n## One\n\ntide\n\n## Two\n\nwharf\n\n## Three\n\nquays\n\n## Four\n\nropes\n"
"""Only the first of four units answers a question about the tide."""


def chosen(likeness: Sequence[float], count: int, question: str = "tide") -> list[str]:
    """The units that are chosen where there is room for that many."""
    every = units.parse_units(PAGE)
    embedder: Any = Meaning(*likeness)
    room = every[0].tokens * count
    return [unit.address for unit in units.choose_units(every, question, room, embedder).units]


def leads(tides: int) -> str:
    """The unit that answers best: one with the word in its heading, or one with the word so often in its text."""
    text = "\n".join(["tide"] * tides + ["wharf"] * (5 - tides))
    wharves = "\n".join(["wharf"] * 5)
    every = units.parse_units(f"# Harbour\n\n## Moon\n\n{text}\n\n## Tide\n\n{wharves}\n")
    room = max(unit.tokens for unit in every)
    return units.choose_units(every, "tide", room).units[0].address


UNITS = [
    Boundary(units, "LIKENESS_LEAST", 0.15, 0.149, lambda alike: "four" in chosen([0, 0, 0, alike], 4), True, False),
    Boundary(units, "HEADING_WEIGHT", 2, 1, lambda n: leads(n + 1), "moon", "tide"),
    Boundary(
        units, "CONTRACT_LIMIT", 100, 101,
        lambda n: units.parse_units(f"# A\n\n{'x' * (n - 2)} y\n")[0].contract.endswith("y"), True, False,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("alike", "second"), [(0.34, "four"), (0.33, "two")])
def test_a_neighbour_counts_a_fifth_and_meaning_six_tenths(alike: float, second: str) -> None:
    assert (units.NEIGHBOUR, units.LIKENESS_WEIGHT) == (0.2, 0.6)
    assert chosen([0, 0, 0, alike], 2) == ["one", second]


@pytest.mark.parametrize(("alike", "first"), [(0.67, "one"), (0.66, "two")])
def test_a_match_of_words_is_as_much_as_what_is_over_a_neighbours_share(alike: float, first: str) -> None:
    assert chosen([0, 0.8 / 0.6 + (0.001 if first == "two" else -0.001), 0, 0], 1) == [first]


def test_a_long_first_sentence_is_cut_to_a_hundred_characters() -> None:
    (unit,) = units.parse_units("x" * 150)
    assert unit.contract == "x" * 99 + "\u2026"


def test_fifteen_hundred_characters_are_placed_by_meaning() -> None:
    embedder = Meaning(0.5)
    every = units.parse_units("wharf " * 300)
    units.choose_units(every, "tide " * 400, 9_000, embedder)  # type: ignore[arg-type]
    assert embedder.sizes == {units.EMBEDDED_LIMIT} == {1_500}


@pytest.mark.parametrize(("tokens", "budget"), [(0, 800), (2_000, 800), (2_005, 802), (5_000, 2_000)])
def test_the_usual_budget_is_two_fifths_of_a_file_and_at_least_eight_hundred_tokens(tokens: int, budget: int) -> None:
    assert (units.BUDGET_LEAST, units.BUDGET_SHARE) == (800, 0.4)
    (unit,) = units.parse_units("wharf")
    assert units.default_budget([replace(unit, tokens=tokens)]) == budget


@each([*PATHS, *UNITS])
def test_a_number_decides_where_it_says(boundary: Boundary) -> None:
    boundary.check()
