"""Watching a work tree: what a look tells after files, branches and lessons changed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Anchor, Lesson
from holdfast.domain.symbol import Verdict
from holdfast.domain.vocabulary import Freshness
from holdfast.freshness.notice import load_states
from holdfast.freshness.tuning import LOOK_S, SETTLE_S, WAITS
from holdfast.freshness.watch import StateChange, Watch
from holdfast.testing.builders import make_change, make_lesson, next_version

TIDES = "High water is kept in centimetres above chart datum."
CODE = "def high_water(port):\n    level = gauge(port)\n    return round(level * 100)\n"
SIGNATURE = CODE.replace("(port):", "(port, datum=0):")
BODY = CODE.replace("* 100", "* 1000")


def git(folder: Path, *arguments: str) -> None:
    plain = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
    env = plain | {"GIT_CONFIG_GLOBAL": os.devnull}
    subprocess.run(["git", *who, *arguments], cwd=folder, check=True, capture_output=True, env=env)


@pytest.fixture
def harbour(home: Path, tmp_path: Path) -> Path:
    """A repository of one commit on `main`."""
    folder = tmp_path / "harbour"
    (folder / "src").mkdir(parents=True)
    (folder / "src" / "tides.py").write_text(CODE)
    git(folder, "init", "-q", "-b", "main")
    commit(folder)
    return folder


@pytest.fixture
def memory(harbour: Path) -> Iterator[Memory]:
    with Memory(str(harbour)) as opened:
        opened.remember(TIDES, files=["src/tides.py"], symbols=["high_water"])
        yield opened


def commit(folder: Path) -> None:
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", "a step")


def settled(watch: Watch) -> list[StateChange]:
    """What two looks tell: the first sees that files changed, the second that they stand still."""
    return watch.look() + watch.look()


def transitions(watch: Watch) -> list[tuple[str, str]]:
    return [(change.before, change.freshness) for change in settled(watch)]


def write(folder: Path, text: str, name: str = "src/tides.py") -> None:
    (folder / name).write_text(text)


def test_nothing_is_delivered_while_nothing_happens(memory: Memory) -> None:
    watch = memory.watch()
    assert (watch.lessons, watch.files) == (1, 1)
    assert transitions(watch) == []
    assert load_states(memory.services, memory.location) == {}


def test_an_edit_is_shown_once_with_what_changed(memory: Memory, harbour: Path) -> None:
    watch = memory.watch()
    write(harbour, SIGNATURE)
    (change,) = settled(watch)
    assert (change.before, change.freshness) == ("fresh", "changed")
    assert "datum" in change.words
    assert change.lesson.insight == TIDES
    assert transitions(watch) == []


def test_what_got_worse_is_stored_for_the_next_hook_and_forgotten_when_it_is_mended(
    memory: Memory, harbour: Path
) -> None:
    watch = memory.watch()
    write(harbour, BODY)
    settled(watch)
    (known,) = load_states(memory.services, memory.location).values()
    assert (known.freshness, known.by) == ("drifted", "watch")
    write(harbour, CODE)
    assert transitions(watch) == [("drifted", "fresh")]
    assert load_states(memory.services, memory.location) == {}


def test_a_comment_or_a_touched_file_changes_no_state(memory: Memory, harbour: Path) -> None:
    watch = memory.watch()
    write(harbour, "# levels\n" + CODE)
    assert transitions(watch) == []
    os.utime(harbour / "src" / "tides.py")
    assert transitions(watch) == []


def test_a_file_is_judged_only_when_it_stands_still(memory: Memory, harbour: Path) -> None:
    watch = memory.watch()
    for step in range(3):
        write(harbour, BODY + f"# {step}\n")
        assert watch.look() == []
        assert watch.pause_s == SETTLE_S
    assert [change.freshness for change in watch.look()] == ["drifted"]
    assert watch.pause_s > SETTLE_S


def test_a_file_that_never_stands_still_is_judged_all_the_same(memory: Memory, harbour: Path) -> None:
    watch = memory.watch()
    changes = []
    for step in range(WAITS + 2):
        write(harbour, BODY + f"# {step}\n")
        changes += watch.look()
    assert [change.freshness for change in changes] == ["drifted"]


def test_a_removed_file_leaves_an_orphan_until_it_is_back(memory: Memory, harbour: Path) -> None:
    watch = memory.watch()
    (harbour / "src" / "tides.py").unlink()
    assert transitions(watch) == [("fresh", "orphaned")]
    write(harbour, CODE)
    assert transitions(watch) == [("orphaned", "fresh")]


def test_a_replaced_folder_is_still_seen_into(memory: Memory, harbour: Path) -> None:
    watch = memory.watch()
    shutil.copytree(harbour / "src", harbour / "copy")
    shutil.rmtree(harbour / "src")
    (harbour / "copy").rename(harbour / "src")
    assert transitions(watch) == []
    write(harbour, BODY)
    assert transitions(watch) == [("fresh", "drifted")]


def test_an_edit_that_restores_size_and_time_is_seen(memory: Memory, harbour: Path) -> None:
    watch = memory.watch()
    file = harbour / "src" / "tides.py"
    before = file.stat()
    write(harbour, CODE.replace("* 100", "* 999"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert file.stat().st_size == before.st_size
    assert transitions(watch) == [("fresh", "drifted")]


def test_switching_branches_there_and_back_is_reported_and_is_nobodys_edit(memory: Memory, harbour: Path) -> None:
    git(harbour, "switch", "-q", "-c", "feature")
    write(harbour, SIGNATURE)
    commit(harbour)
    git(harbour, "switch", "-q", "main")
    watch = memory.watch()
    git(harbour, "switch", "-q", "feature")
    assert transitions(watch) == [("fresh", "changed")]
    assert watch.location.branch == "feature"
    assert [known.by for known in load_states(memory.services, memory.location).values()] == ["checkout"]
    git(harbour, "switch", "-q", "main")
    assert transitions(watch) == [("changed", "fresh")]
    assert watch.location.branch == "main"


def test_while_git_is_at_work_nothing_is_judged(memory: Memory, harbour: Path) -> None:
    watch = memory.watch()
    lock = harbour / ".git" / "index.lock"
    lock.touch()
    write(harbour, BODY)
    assert transitions(watch) == []
    lock.unlink()
    assert transitions(watch) == [("fresh", "drifted")]


def test_a_lock_that_git_left_behind_does_not_blind_the_watch(memory: Memory, harbour: Path) -> None:
    watch = memory.watch()
    (harbour / ".git" / "index.lock").touch()
    write(harbour, BODY)
    changes = [change for _ in range(WAITS + 2) for change in watch.look()]
    assert [change.freshness for change in changes] == ["drifted"]


def test_new_revised_and_forgotten_lessons_are_taken_up(memory: Memory, harbour: Path) -> None:
    watch = memory.watch()
    write(harbour, "PILOTS = 2\n", "src/pilots.py")
    pilots = memory.remember("Pilots are counted twice a day.", files=["src/pilots.py"])
    assert settled(watch) == []
    assert (watch.lessons, watch.files) == (2, 2)
    write(harbour, "PILOTS = 3\n", "src/pilots.py")
    assert transitions(watch) == [("fresh", "drifted")]
    memory.forget(pilots.id)
    assert settled(watch) == []
    assert (watch.lessons, watch.files) == (1, 1)
    assert load_states(memory.services, memory.location) == {}


def test_what_was_stale_before_the_watch_is_no_news(memory: Memory, harbour: Path) -> None:
    write(harbour, BODY)
    watch = memory.watch()
    assert transitions(watch) == []
    assert [(known.freshness, known.by) for known in load_states(memory.services, memory.location).values()] == [
        ("drifted", "")
    ]


def test_a_work_tree_that_is_gone_for_a_moment_is_watched_on(memory: Memory, harbour: Path) -> None:
    watch = memory.watch()
    harbour.rename(harbour.with_name("away"))
    assert settled(watch) == []
    harbour.with_name("away").rename(harbour)
    assert settled(watch) == []
    write(harbour, BODY)
    assert transitions(watch) == [("fresh", "drifted")]


def test_a_folder_without_git_is_watched_too(home: Path, tmp_path: Path) -> None:
    folder = tmp_path / "plain"
    (folder / "src").mkdir(parents=True)
    write(folder, CODE)
    with Memory(str(folder)) as memory:
        memory.remember(TIDES, files=["src/tides.py"], symbols=["high_water"])
        watch = memory.watch()
        write(folder, BODY)
        assert transitions(watch) == [("fresh", "drifted")]


def test_looks_become_rarer_when_there_is_much_to_look_at(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    watch = memory.watch()
    ticks = iter([0.0, 0.1])  # a look that takes a tenth of a second
    monkeypatch.setattr(memory.services.clock, "elapsed_s", lambda: next(ticks))
    watch.look()
    assert watch.pause_s == pytest.approx(2.5)


# What is judged at a look


class Index:
    """A code index that says of each file what it is told, and notes which it was asked about."""

    def __init__(self, **states: Freshness) -> None:
        self.states = {f"src/{name}.py": state for name, state in states.items()}
        self.places: dict[str, str] = {}
        self.questions: list[str] = []

    def verdict(self, place: object, anchor: Anchor) -> Verdict:
        self.questions.append(anchor.path)
        now = replace(anchor, path=self.places.get(anchor.path, anchor.path))
        return Verdict(freshness=self.states[anchor.path], reason="body", anchor=now)

    def drain(self) -> list[str]:
        """The files asked about since the last time."""
        questions, self.questions = sorted(self.questions), []
        return questions


def lesson_about(memory: Memory, *names: str, **fields: Any) -> Lesson:
    """A stored lesson about files that are not as they were, so that the code index is asked; logged as a change."""
    anchors = tuple(Anchor(path=f"src/{name}.py", blob="git1:" + "0" * 40) for name in names)
    lesson = make_lesson(**{"project": memory.location.project.id, "anchors": anchors, **fields})
    change = make_change(lessons=(lesson.id,), project=memory.location.project.id)
    memory.services.store.put([lesson], {}, change)
    return lesson


def watch_with(memory: Memory, index: Index) -> Watch:
    return Watch(replace(memory.services, codeindex=lambda: index), memory.folder)  # type: ignore[arg-type, return-value]


@pytest.fixture
def empty(harbour: Path) -> Iterator[Memory]:
    """The repository's memory, without a lesson."""
    for name in ("pilots", "berths", "ferries"):
        write(harbour, f"{name.upper()} = 2\n", f"src/{name}.py")
    with Memory(str(harbour)) as opened:
        yield opened


def test_only_lessons_about_files_that_changed_are_judged_again(empty: Memory, harbour: Path) -> None:
    index = Index(pilots="drifted", berths="drifted")
    for name in ("pilots", "berths"):
        lesson_about(empty, name)
    watch = watch_with(empty, index)
    assert index.drain() == ["src/berths.py", "src/pilots.py"]
    write(harbour, "PILOTS = 3\n", "src/pilots.py")
    assert transitions(watch) == []
    assert index.drain() == ["src/pilots.py"]


def test_what_is_gone_is_looked_for_whatever_file_changes(empty: Memory, harbour: Path) -> None:
    index = Index(pilots="orphaned", berths="unverified", ferries="drifted")
    for name in ("pilots", "berths", "ferries"):
        lesson_about(empty, name)
    watch = watch_with(empty, index)
    index.drain()
    write(harbour, "FERRIES = 3\n", "src/ferries.py")
    index.states["src/pilots.py"] = "moved"
    assert transitions(watch) == [("orphaned", "moved")]
    assert index.drain() == ["src/ferries.py", "src/pilots.py"]


def test_all_lessons_are_judged_again_when_something_else_is_checked_out(empty: Memory, harbour: Path) -> None:
    index = Index(pilots="drifted", berths="drifted")
    for name in ("pilots", "berths"):
        lesson_about(empty, name)
    git(harbour, "add", "-A")
    git(harbour, "commit", "-q", "-m", "files")
    watch = watch_with(empty, index)
    index.drain()
    commit(harbour)
    index.states["src/pilots.py"] = "changed"
    assert transitions(watch) == [("drifted", "changed")]
    assert index.drain() == ["src/berths.py", "src/pilots.py"]
    assert {known.by for known in load_states(empty.services, empty.location).values()} == {"", "checkout"}


def test_a_new_or_revised_lesson_is_judged_and_the_others_are_not(empty: Memory, harbour: Path) -> None:
    index = Index(pilots="drifted", berths="drifted", ferries="fresh")
    first = lesson_about(empty, "pilots")
    watch = watch_with(empty, index)
    index.drain()
    lesson_about(empty, "berths")
    assert watch.look() == []
    assert (index.drain(), watch.lessons, watch.files) == (["src/berths.py"], 2, 2)
    anchor = Anchor(path="src/ferries.py", blob="git1:" + "0" * 40)
    revised = next_version(first, anchors=(anchor,))
    empty.services.store.put([revised], {first.id: first.recorded_at}, make_change(project=empty.location.project.id))
    assert [(change.before, change.freshness, change.lesson) for change in watch.look()] == [
        ("drifted", "fresh", revised)
    ]
    assert (index.drain(), watch.lessons, watch.files) == (["src/ferries.py"], 2, 2)
    assert watch.look() == []
    assert index.drain() == []


def test_only_active_lessons_of_the_project_about_files_are_watched(empty: Memory) -> None:
    lesson_about(empty, "pilots", "berths")
    lesson_about(empty)
    lesson_about(empty, "pilots", state="candidate")
    lesson_about(empty, "pilots", project="elsewhere")
    watch = watch_with(empty, Index(pilots="drifted", berths="drifted"))
    assert (watch.lessons, watch.files) == (1, 2)


def test_all_lessons_about_a_file_are_watched(empty: Memory, harbour: Path) -> None:
    index = Index(pilots="drifted")
    lessons = [lesson_about(empty, "pilots") for _ in range(5)]
    watch = watch_with(empty, index)
    assert watch.lessons == 5
    assert {known.lesson for known in load_states(empty.services, empty.location).values()} == {
        lesson.id for lesson in lessons
    }
    index.states["src/pilots.py"] = "changed"
    write(harbour, "PILOTS = 3\n", "src/pilots.py")
    assert transitions(watch) == [("drifted", "changed")] * 5


def test_where_code_is_now_is_watched_beside_where_it_was(empty: Memory, harbour: Path) -> None:
    index = Index(pilots="moved")
    index.places["src/pilots.py"] = "src/berths.py"
    lesson_about(empty, "pilots")
    watch = watch_with(empty, index)
    assert watch.files == 2
    index.states["src/pilots.py"] = "drifted"
    write(harbour, "BERTHS = 3\n", "src/berths.py")
    assert transitions(watch) == [("moved", "drifted")]
    index.places.clear()
    write(harbour, "BERTHS = 4\n", "src/berths.py")
    assert transitions(watch) == []
    assert watch.files == 1


def test_a_change_between_two_looks_that_is_taken_back_is_not_judged(empty: Memory, harbour: Path) -> None:
    index = Index(pilots="drifted")
    lesson_about(empty, "pilots")
    watch = watch_with(empty, index)
    index.drain()
    (harbour / ".git" / "index.lock").touch()
    assert watch.look() == []
    assert watch.pause_s == LOOK_S, "git at work is no news while no file changes"
    assert index.drain() == []


def test_a_confirmed_lesson_is_delivered_to_be_fresh_again(memory: Memory, harbour: Path) -> None:
    watch = memory.watch()
    write(harbour, BODY)
    settled(watch)
    [lesson] = memory.lessons()
    memory.confirm(lesson.id)
    assert [(change.before, change.freshness) for change in watch.look()] == [("drifted", "fresh")]


def test_a_look_waits_anew_after_files_stood_still(memory: Memory, harbour: Path) -> None:
    watch = memory.watch()
    for step in range(WAITS - 1):
        write(harbour, BODY + f"# {step}\n")
        assert watch.look() == []
    assert len(watch.look()) == 1
    for step in range(WAITS):
        write(harbour, CODE + f"# {step}\n")
        assert watch.look() == [], step
