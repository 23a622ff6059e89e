"""A watch in a tree of 50,000 files: it costs what the anchored files cost, and takes nothing from the system."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.freshness.check import FreshnessCheck
from holdfast.freshness.watch import Watch
from tests.workspace.conftest import Ground

ROOMS, FILES, LESSONS, REPLACED = 200, 10, 10, 100
VENDORED = 4_800
"""Folders of ten files each that git ignores, as a dependency folder is."""


def source(number: int, body: str) -> str:
    return f"def step{number}(value):\n    held = load(value)\n    return {body}\n"


def module(tree: Path, number: int) -> Path:
    return tree / f"part{number // 100}" / f"room{number}" / "m0.py"


@pytest.fixture
def tree(home: Path, ground: Ground) -> Path:
    """On `main`, and a branch `other` on which every file of the first rooms is different."""
    folder = ground.repository("tree")
    (folder / ".gitignore").write_text("/vendored/\n")
    (folder / "one.py").write_text("x = 1\n")
    for number in range(VENDORED):
        room = folder / "vendored" / str(number // 100) / str(number)
        os.makedirs(room)
        for name in range(FILES):
            os.link(folder / "one.py", f"{room}/m{name}.py")  # a name more: all that a watch would see of a file
    for number in range(ROOMS):
        room = module(folder, number).parent
        room.mkdir(parents=True)
        for name in range(FILES):
            (room / f"m{name}.py").write_text(source(number, f"held + {name}"))
    ground.git(folder, "add", "-A")
    ground.git(folder, "commit", "-q", "-m", "a step")
    ground.git(folder, "switch", "-q", "-c", "other")
    for number in range(REPLACED):
        for name in range(FILES):
            (module(folder, number).parent / f"m{name}.py").write_text(source(number, f"held - {name}"))
    ground.git(folder, "add", "-A")
    ground.git(folder, "commit", "-q", "-m", "a step")
    ground.git(folder, "switch", "-q", "main")
    return folder


@pytest.fixture
def memory(tree: Path) -> Iterator[Memory]:
    with Memory(str(tree)) as opened:
        for number in range(0, LESSONS * 20, 20):
            path = module(tree, number).relative_to(tree).as_posix()
            opened.remember(f"Step {number} adds; it never rounds.", files=[path], symbols=[f"step{number}"])
        yield opened


def states(watch: Watch) -> list[str]:
    return sorted(change.freshness for _ in range(2) for change in watch.look())


def descriptors() -> list[str]:
    """What this process has open; nothing where the system does not tell."""
    if not os.path.isdir("/proc/self/fd"):
        return []
    with os.scandir("/proc/self/fd") as entries:
        names = [entry.path for entry in entries]
    return sorted(os.readlink(name) for name in names if os.path.lexists(name))


def test_edits_and_branch_switches_are_reported_and_only_anchored_files_looked_at(
    memory: Memory, tree: Path, ground: Ground
) -> None:
    watch = memory.watch()
    assert (watch.lessons, watch.files) == (LESSONS, LESSONS)
    module(tree, 180).write_text(source(180, "held * 2"))
    module(tree, 181).write_text(source(181, "held * 2"))
    assert states(watch) == ["drifted"]
    ground.git(tree, "checkout", "-q", "--", ".")
    assert states(watch) == ["fresh"]
    ground.git(tree, "switch", "-q", "other")
    assert states(watch) == ["drifted"] * (REPLACED // 20)
    ground.git(tree, "switch", "-q", "main")
    assert states(watch) == ["fresh"] * (REPLACED // 20)
    assert not any("inotify" in name for name in descriptors())
    lessons = memory.lessons()
    assert {FreshnessCheck(memory.services, memory.location).judge(lesson)[0] for lesson in lessons} == {"fresh"}
