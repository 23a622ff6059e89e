"""Lessons in a git repository of their own: two machines, a bare repository, and what may go wrong between them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.errors import InvalidValueError, RepositoryError
from holdfast.home.repositories import KnownRepository
from holdfast.upkeep.repositorysync import folder_of, sync_repository
from holdfast.workspace.lessonrepository import LessonRepository

Machines = tuple[Memory, Memory]


def git(folder: Path, *words: str, stdin: str = "") -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=Ada", "-c", "user.email=ada@example.org", *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, input=stdin).stdout


@pytest.fixture
def bare(tmp_path: Path) -> Path:
    folder = tmp_path / "lessons.git"
    subprocess.run(["git", "init", "--bare", "--quiet", "--initial-branch=main", str(folder)], check=True)
    return folder


@pytest.fixture
def repository(bare: Path) -> KnownRepository:
    return KnownRepository(name="lessons", url=str(bare))


@pytest.fixture
def own(bare: Path) -> KnownRepository:
    return KnownRepository(name="lessons", url=str(bare), is_own=True)


@pytest.fixture
def machines(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machines]:
    """A desktop and a laptop, each with a clone of one project."""
    made = []
    for name in ("desktop", "laptop"):
        project = tmp_path / name / "harbour"
        (project / ".holdfast").mkdir(parents=True)
        (project / ".holdfast" / "project.toml").write_text('id = "harbour"\n')
        monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / name / "home"))
        made.append(Memory(str(project)))
    yield made[0], made[1]
    for memory in made:
        memory.close()


def rules(memory: Memory) -> dict[str, str]:
    return {lesson.insight: lesson.state for lesson in memory.lessons(states=("active", "candidate"))}


def texts(bare: Path) -> dict[str, str]:
    """The files of the repository, by path."""
    paths = git(bare, "ls-tree", "-r", "--name-only", "main").splitlines()
    return {path: git(bare, "show", f"main:{path}") for path in paths}


def test_a_persons_lessons_travel_between_their_machines_and_private_ones_stay(
    machines: Machines, own: KnownRepository, bare: Path
) -> None:
    desktop, laptop = machines
    desktop.remember("Retries are capped at 3")
    desktop.remember("Tabs everywhere", scope="user")
    desktop.remember("The pager is mine", private=True)
    desktop.remember("The key is mine", private=True, scope="user")
    sync_repository(desktop, own)
    assert sync_repository(laptop, own).count("added") == 2
    assert rules(laptop) == {"Retries are capped at 3": "active", "Tabs everywhere": "active"}
    levels = {lesson.insight: lesson.scope.level for lesson in laptop.lessons()}
    assert levels == {"Retries are capped at 3": "project", "Tabs everywhere": "user"}
    assert " mine" not in "".join(texts(bare).values())
    for memory in machines:
        assert sync_repository(memory, own).steps == ()


def test_what_others_can_read_takes_no_own_lesson_and_waits_for_a_person(
    machines: Machines, repository: KnownRepository
) -> None:
    desktop, laptop = machines
    desktop.remember("Retries are capped at 3")
    desktop.remember("Tabs everywhere", scope="user")
    sync_repository(desktop, repository)
    sync_repository(laptop, repository)
    assert rules(laptop) == {"Retries are capped at 3": "candidate"}
    sync_repository(laptop, repository, accept=True)
    assert rules(laptop) == {"Retries are capped at 3": "active"}


def test_forgetting_and_purging_travel_and_leave_no_word(machines: Machines, own: KnownRepository, bare: Path) -> None:
    desktop, laptop = machines
    first, second = desktop.remember("Retries are capped at 3"), desktop.remember("Tabs everywhere", scope="user")
    sync_repository(desktop, own)
    sync_repository(laptop, own)
    desktop.purge(first.id)
    desktop.forget(second.id)
    sync_repository(desktop, own)
    sync_repository(laptop, own)
    assert rules(laptop) == {}
    lessons = [text for path, text in texts(bare).items() if path != "README.md"]
    assert len(lessons) == 2
    assert all("state: forgotten" in text and "capped" not in text and "Tabs" not in text for text in lessons)
    laptop.remember("Tides are in metres")
    sync_repository(laptop, own)
    sync_repository(desktop, own)
    assert rules(desktop) == {"Tides are in metres": "active"}


def test_both_wordings_of_two_machines_that_were_offline_stay(machines: Machines, own: KnownRepository) -> None:
    desktop, laptop = machines
    lesson = desktop.remember("Retries are capped at 3")
    sync_repository(desktop, own)
    sync_repository(laptop, own)
    desktop.revise(lesson.id, insight="Retries are capped at 5")
    laptop.revise(laptop.lessons()[0].id, insight="Retries are capped at 9")
    laptop.revise(laptop.lessons()[0].id, tags=["net"])
    for memory in (desktop, laptop, desktop, laptop):
        sync_repository(memory, own)
    assert rules(desktop) == rules(laptop) == {"Retries are capped at 5": "active", "Retries are capped at 9": "active"}


def test_a_push_that_comes_second_starts_again(
    machines: Machines, own: KnownRepository, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    desktop, laptop = machines
    desktop.remember("Retries are capped at 3")
    laptop.remember("Tides are in metres")
    push, pushes = LessonRepository.push, []

    def late_push(self: LessonRepository, subject: str) -> bool:
        pushes.append(subject)
        if len(pushes) == 1:
            monkeypatch.setattr(LessonRepository, "push", push)
            sync_repository(laptop, own)
            monkeypatch.setattr(LessonRepository, "push", late_push)
        return push(self, subject)

    monkeypatch.setattr(LessonRepository, "push", late_push)
    monkeypatch.setattr("holdfast.upkeep.repositorysync.RunLock", NoLock)
    sync_repository(desktop, own)
    assert len(pushes) == 2
    assert len(texts(bare)) == 3
    assert rules(desktop) == {"Retries are capped at 3": "active", "Tides are in metres": "active"}
    history = git(bare, "rev-list", "--count", "main").strip()
    sync_repository(desktop, own)
    assert git(bare, "rev-list", "--count", "main").strip() == history == "2", "nothing new, no commit"


class NoLock:
    """Two machines have locks of their own; here they are one process."""

    def __init__(self, *_: object) -> None: ...
    def __enter__(self) -> bool:
        return True

    def __exit__(self, *_: object) -> None: ...


def test_a_repository_that_cannot_be_reached_loses_nothing(
    machines: Machines, own: KnownRepository, bare: Path, tmp_path: Path
) -> None:
    desktop, laptop = machines
    desktop.remember("Retries are capped at 3")
    away = bare.rename(tmp_path / "away.git")
    with pytest.raises(RepositoryError, match="cannot be reached") as raised:
        sync_repository(desktop, own)
    assert "nothing is lost" in raised.value.hint
    assert rules(desktop) == {"Retries are capped at 3": "active"}
    away.rename(bare)
    sync_repository(desktop, own)
    assert sync_repository(laptop, own).count("added") == 1


@pytest.mark.skipif(os.name == "nt", reason="the hook is a shell script")
def test_what_could_not_be_pushed_is_pushed_with_the_next_sync(
    machines: Machines, own: KnownRepository, bare: Path
) -> None:
    desktop, laptop = machines
    lesson = desktop.remember("Retries are capped at 3")
    sync_repository(desktop, own)
    sync_repository(laptop, own)
    hook = bare / "hooks" / "pre-receive"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho the disk is full >&2\nexit 1\n")
    hook.chmod(0o755)
    desktop.revise(lesson.id, why="the gateway bans us")
    desktop.remember("Tides are in metres")
    for _ in range(2):
        with pytest.raises(RepositoryError, match="did not take"):
            sync_repository(desktop, own)
    hook.unlink()
    laptop.revise(laptop.lessons()[0].id, tags=["net"])
    sync_repository(laptop, own)
    sync_repository(desktop, own)
    sync_repository(laptop, own)
    for memory in machines:
        by_rule = {lesson.insight: lesson for lesson in memory.lessons()}
        assert set(by_rule) == {"Retries are capped at 3", "Tides are in metres"}
        assert (by_rule["Retries are capped at 3"].why, by_rule["Retries are capped at 3"].tags) == (
            "the gateway bans us", ("net",),
        )  # fmt: skip


def test_a_copy_that_was_lost_is_made_again(machines: Machines, own: KnownRepository) -> None:
    desktop, laptop = machines
    desktop.remember("Retries are capped at 3")
    sync_repository(desktop, own)
    shutil.rmtree(Path(desktop.settings.home) / "repositories")
    desktop.remember("Tides are in metres")
    sync_repository(desktop, own)
    sync_repository(laptop, own)
    assert rules(laptop) == rules(desktop) != {}


def edited(bare: Path, tmp_path: Path, change: Callable[[Path], None]) -> None:
    """Commit a change to the repository as somebody would who has a clone of it."""
    clone = tmp_path / "clone"
    subprocess.run(["git", "clone", "--quiet", str(bare), str(clone)], check=True)
    change(clone)
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--message", "by hand")
    git(clone, "push", "--quiet", "origin", "HEAD")


def test_files_that_are_edited_broken_or_foreign_are_taken_named_and_left_alone(
    machines: Machines, repository: KnownRepository, bare: Path, tmp_path: Path
) -> None:
    desktop, _ = machines
    desktop.remember("Retries are capped at 3", why="the gateway bans us")
    desktop.remember("Tides are in metres")
    sync_repository(desktop, repository)

    def change(clone: Path) -> None:
        folder = clone / folder_of(desktop)
        first, second = sorted(folder.rglob("*.md"))
        first.write_text(first.read_text().replace("bans us", "blocks us"))
        second.write_text("<<<<<<< HEAD\n")
        (clone / "notes.txt").write_text("ours\n")
        (folder / "x.md").symlink_to("/etc/passwd")
        (clone / ".gitattributes").write_text("*.md filter=x\n")

    edited(bare, tmp_path, change)
    report = sync_repository(desktop, repository)
    assert [problem.reason for problem in report.problems] == ["an unresolved merge conflict"]
    assert report.waiting == 1
    sync_repository(desktop, repository, accept=True)
    assert {lesson.why for lesson in desktop.lessons()} == {"the gateway blocks us", ""}
    assert texts(bare)["notes.txt"] == "ours\n"


def test_a_dry_run_changes_nothing(machines: Machines, own: KnownRepository, bare: Path) -> None:
    desktop, _ = machines
    desktop.remember("Retries are capped at 3")
    assert sync_repository(desktop, own, dry=True).count("written") == 1
    assert git(bare, "for-each-ref") == ""


@pytest.mark.parametrize("url", ["--upload-pack=touch x", "ext::sh -c touch% x", "a\nb"])
def test_an_address_runs_no_program(
    machines: Machines, url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises((RepositoryError, InvalidValueError)):
        sync_repository(machines[0], KnownRepository(name="x", url=url, is_own=True))
    assert not (tmp_path / "x").exists()


def test_a_login_in_an_address_is_not_shown(machines: Machines) -> None:
    repository = KnownRepository(name="x", url="http://ada:s3cret@127.0.0.1:9/x.git")
    with pytest.raises(RepositoryError) as raised:
        sync_repository(machines[0], repository)
    assert "s3cret" not in str(raised.value) + raised.value.hint + repr(repository)
