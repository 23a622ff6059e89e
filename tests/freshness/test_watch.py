"""Watching a work tree: what a look tells after files, branches and lessons changed."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.freshness.notice import load_states
from holdfast.freshness.tuning import SETTLE_S, WAITS
from holdfast.freshness.watch import StateChange, Watch

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


def test_nothing_is_told_while_nothing_happens(memory: Memory) -> None:
    watch = memory.watch()
    assert (watch.lessons, watch.files) == (1, 1)
    assert transitions(watch) == []
    assert load_states(memory.parts, memory.place) == {}


def test_an_edit_is_told_once_with_what_changed(memory: Memory, harbour: Path) -> None:
    watch = memory.watch()
    write(harbour, SIGNATURE)
    (change,) = settled(watch)
    assert (change.before, change.freshness) == ("fresh", "changed")
    assert "datum" in change.words
    assert change.lesson.insight == TIDES
    assert transitions(watch) == []


def test_what_got_worse_is_kept_for_the_next_hook_and_forgotten_when_it_is_mended(
    memory: Memory, harbour: Path
) -> None:
    watch = memory.watch()
    write(harbour, BODY)
    settled(watch)
    (known,) = load_states(memory.parts, memory.place).values()
    assert (known.freshness, known.by) == ("drifted", "watch")
    write(harbour, CODE)
    assert transitions(watch) == [("drifted", "fresh")]
    assert load_states(memory.parts, memory.place) == {}


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


def test_switching_branches_there_and_back_is_told_and_is_nobodys_edit(memory: Memory, harbour: Path) -> None:
    git(harbour, "switch", "-q", "-c", "feature")
    write(harbour, SIGNATURE)
    commit(harbour)
    git(harbour, "switch", "-q", "main")
    watch = memory.watch()
    git(harbour, "switch", "-q", "feature")
    assert transitions(watch) == [("fresh", "changed")]
    assert watch.place.branch == "feature"
    assert [known.by for known in load_states(memory.parts, memory.place).values()] == ["checkout"]
    git(harbour, "switch", "-q", "main")
    assert transitions(watch) == [("changed", "fresh")]
    assert watch.place.branch == "main"


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
    assert load_states(memory.parts, memory.place) == {}


def test_what_was_stale_before_the_watch_is_no_news(memory: Memory, harbour: Path) -> None:
    write(harbour, BODY)
    watch = memory.watch()
    assert transitions(watch) == []
    assert [(known.freshness, known.by) for known in load_states(memory.parts, memory.place).values()] == [
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
    monkeypatch.setattr(memory.parts.clock, "elapsed_s", lambda: next(ticks))
    watch.look()
    assert watch.pause_s == pytest.approx(2.5)
