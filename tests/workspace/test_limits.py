"""Each limit of the workspace at its boundary, in real repositories; a number that decides something is written out."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from holdfast.errors import ProjectUnknownError
from holdfast.wiring import SystemClock
from holdfast.workspace import gitfiles
from holdfast.workspace.authorship import TRACKED, repository_texts
from holdfast.workspace.branches import LocalBranches
from holdfast.workspace.gitrun import Git
from holdfast.workspace.history import LocalHistory
from holdfast.workspace.lessonfiles import LocalLessonFiles
from tests.workspace.conftest import Ground

NOBODYS = "1" * 40


@pytest.fixture
def questions(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, float]]:
    """The first words of all questions to git with the seconds each may take; git answers them all the same."""
    recorded: list[tuple[str, float]] = []
    ask_git, collect = Git.ask, Git.collect
    words = {"now": ""}

    def ask(git: Git, folder: str, arguments: Sequence[str], timeout_s: float, trusted: bool = False) -> Any:
        words["now"] = next(word for word in arguments if not word.startswith("-"))
        return ask_git(git, folder, arguments, timeout_s, trusted)

    def record(git: Git, running: tuple[int, int], timeout_s: float) -> Any:
        recorded.append((words["now"], timeout_s))
        return collect(git, running, timeout_s)

    monkeypatch.setattr(Git, "ask", ask)
    monkeypatch.setattr(Git, "collect", record)
    return recorded


def git() -> Git:
    return Git(SystemClock(), 20.0)


def imported(ground: Ground, commits: int = 1, files: int = 1, message: str = "work") -> Path:
    """A repository with so many commits, of which each changes those files."""
    root = ground.repository("imported", commits=0)
    text = ""
    for number in range(commits):
        data = f"{number}\n"
        text += f"commit refs/heads/main\ncommitter Ada <ada@example.com> {1_750_000_000 + number} +0000\n"
        text += f"data {len(message)}\n{message}\n"
        text += "".join(f"M 644 inline f{file:04}.txt\ndata {len(data)}\n{data}\n" for file in range(files))
    subprocess.run(["git", "fast-import", "--quiet"], cwd=root, input=text.encode(), check=True)
    ground.git(root, "reset", "-q", "--hard", "main")
    return root


# How long git may take


Use = Callable[[Ground, Path], object]


def place(ground: Ground, root: Path) -> Any:
    return ground.workspace.locate(str(root))


def with_filter(ground: Ground, root: Path) -> object:
    (root / ".gitattributes").write_text("*.txt filter=case\n")
    ground.git(root, "config", "filter.case.clean", "cat")
    return ground.workspace.dirty(place(ground, root))


USES: dict[str, tuple[Use, str, float]] = {
    "local.HEAD_TIMEOUT_S": (with_filter, "config", 0.1),
    "local.STATUS_TIMEOUT_S": (lambda g, root: g.workspace.dirty(place(g, root)), "status", 0.15),
    "local.ROOT_COMMIT_TIMEOUT_S": (place, "rev-list", 0.3),
    "local.PERSON_TIMEOUT_S": (lambda g, root: g.workspace.person(place(g, root)), "config", 0.3),
    "local.GREP_TIMEOUT_S": (lambda g, root: g.workspace.mentioning(place(g, root), "tide"), "grep", 1.0),
    "branches.TIMEOUT_S": (lambda g, root: LocalBranches(git(), str(root)).resolve("HEAD"), "rev-parse", 0.15),
    "branches.WALK_TIMEOUT_S": (
        lambda g, root: LocalBranches(git(), str(root)).missing(g.git(root, "rev-parse", "HEAD"), [NOBODYS]),
        "rev-list",
        0.25,
    ),
    "history.PAGE_TIMEOUT_S": (lambda g, root: LocalHistory(git(), str(root)).commits("HEAD", 0, 9), "log", 1.0),
    "authorship.TIMEOUT_S": (lambda g, root: repository_texts(git(), [str(root / "file0.txt")]), "ls-files", 1.0),
}


@pytest.mark.parametrize("name", USES)
def test_git_is_given_so_long(ground: Ground, questions: list[tuple[str, float]], name: str) -> None:
    use, words, seconds = USES[name]
    root = ground.repository("tides")
    use(ground, root)
    assert [timeout_s for word, timeout_s in questions if word == words][:1] == [seconds]


@pytest.mark.parametrize(("size", "is_read"), [(4_000_000, True), (4_000_001, False)])
def test_an_answer_of_more_than_four_megabytes_is_not_taken(ground: Ground, size: int, is_read: bool) -> None:
    """`gitrun.OUTPUT_LIMIT`."""
    root = ground.repository("tides")
    (root / "large").write_bytes(b"#" * size)
    blob = ground.git(root, "hash-object", "-w", "large")
    answer = git().ask(str(root), ["cat-file", "blob", blob], 60.0)
    assert (answer is not None and len(answer) == size) is is_read


# What a project declares


@pytest.mark.parametrize(("length", "counts"), [(100, True), (101, False)])
def test_a_declared_id_has_at_most_a_hundred_characters(tmp_path: Path, length: int, counts: bool) -> None:
    """`gitfiles.ID_LIMIT`."""
    assert (declared(tmp_path, f'id = "{"a" * length}"\n') == "a" * length) is counts


@pytest.mark.parametrize(("blanks", "counts"), [(1, True), (2, False)])
def test_an_id_is_looked_for_in_the_first_64_kilobytes(tmp_path: Path, blanks: int, counts: bool) -> None:
    """`gitfiles.DECLARED_BYTES`: of one that ends behind that the last letters are cut off."""
    line = '\nid = "tides"'
    assert (declared(tmp_path, "#" * (65_536 - len(line) + blanks) + line) == "tides") is counts


def declared(folder: Path, text: str) -> str:
    (folder / ".holdfast").mkdir()
    (folder / ".holdfast" / "project.toml").write_text(text)
    try:
        declaration = gitfiles.find_declared_id(str(folder), str(folder))
    except ProjectUnknownError:
        return ""
    return declaration[0] if declaration else ""


# How much is asked and taken of git


@pytest.mark.parametrize(("files", "count"), [(200, 1), (201, 2)])
def test_two_hundred_paths_are_asked_about_at_once(
    ground: Ground, questions: list[tuple[str, float]], files: int, count: int
) -> None:
    """`authorship.ASKED`."""
    root = imported(ground, files=files)
    texts = repository_texts(git(), [str(root / f"f{number:04}.txt") for number in range(files)])
    assert {why for why, _ in texts.values()} == {TRACKED}
    assert len(texts) == files
    assert len(questions) == count


@pytest.mark.parametrize(("before", "is_known"), [(499, True), (500, False)])
def test_five_hundred_commits_are_asked_about(ground: Ground, before: int, is_known: bool) -> None:
    """`branches.COMMITS_LIMIT`: one that is not asked about counts as missing."""
    root = ground.repository("tides")
    head = ground.git(root, "rev-parse", "HEAD")
    others = [f"{number:040x}" for number in range(1, before + 1)]
    missing = LocalBranches(git(), str(root)).missing(head, [*others, head])
    assert missing is not None
    assert (head not in missing) is is_known


@pytest.mark.parametrize(("files", "count"), [(500, 1), (501, 2)])
def test_five_hundred_paths_of_a_commit_are_asked_about_at_once(
    ground: Ground, questions: list[tuple[str, float]], files: int, count: int
) -> None:
    """`branches.COMMITS_LIMIT`."""
    root = imported(ground, files=files)
    names = [f"f{number:04}.txt" for number in range(files)]
    blobs = LocalBranches(git(), str(root)).blobs(ground.git(root, "rev-parse", "HEAD"), names)
    assert blobs is not None
    assert len(blobs) == files
    assert len(questions) == count


def test_a_thousand_changed_files_of_a_branch_are_told(ground: Ground) -> None:
    """`branches.FILES_LIMIT`."""
    root = ground.repository("tides")
    base = ground.git(root, "rev-parse", "HEAD")
    for number in range(1001):
        (root / f"g{number:04}.txt").write_text("1")
    ground.git(root, "add", "-A")
    ground.git(root, "commit", "-qm", "many")
    changed = LocalBranches(git(), str(root)).changed(base, ground.git(root, "rev-parse", "HEAD"))
    assert changed == [f"g{number:04}.txt" for number in range(1000)]


@pytest.mark.parametrize(("more", "is_found"), [(0, True), (1, False)])
def test_the_last_megabyte_of_a_reflog_is_read(ground: Ground, more: int, is_found: bool) -> None:
    """`branches.REFLOG_LIMIT`: of a line that begins before it the commit cannot be told."""
    root = ground.repository("tides")
    commit = ground.git(root, "rev-parse", "HEAD")
    line = f"{commit} {commit} Ada <ada@example.com> 1750000000 +0000\tcheckout: moving from side to main\n"
    log = root / ".git" / "logs" / "HEAD"
    log.write_text("#" * 50 + "\n" + line + "#" * (1_000_000 - len(line) + more))
    assert LocalBranches(git(), str(root)).last_tip("side") == (commit if is_found else "")


@pytest.mark.parametrize(("commits", "count"), [(1000, 1000), (1001, 1000)])
def test_the_thousand_newest_commits_of_a_file_are_told(ground: Ground, commits: int, count: int) -> None:
    """`history.LIMIT`."""
    root = imported(ground, commits=commits)
    newest = ground.git(root, "rev-list", f"--max-count={count}", "HEAD").split()
    assert list(LocalHistory(git(), str(root)).touching("f0000.txt", "")) == newest[::-1]


def test_a_thousand_files_of_a_commit_are_told(ground: Ground) -> None:
    """`history.LIMIT`."""
    root = ground.repository("tides")
    for number in range(1001):
        (root / f"g{number:04}.txt").write_text("1")
    ground.git(root, "add", "-A")
    ground.git(root, "commit", "-qm", "many")
    history = LocalHistory(git(), str(root))
    names = tuple(f"g{number:04}.txt" for number in range(1000))
    page = history.commits("HEAD", 0, 1)
    assert tuple(history.changed(ground.git(root, "rev-parse", "HEAD"))) == names
    assert page is not None
    assert page[0].files == names


@pytest.mark.parametrize("length", [20_000, 20_001])
def test_twenty_thousand_characters_of_a_commits_message_are_read(ground: Ground, length: int) -> None:
    """`history.MESSAGE_LIMIT`."""
    page = LocalHistory(git(), str(imported(ground, message="x" * length))).commits("HEAD", 0, 1)
    assert page is not None
    assert page[0].message.strip() == "x" * 20_000


def test_ten_thousand_commits_are_points_in_time(ground: Ground) -> None:
    """`history.POINTS`."""
    root = imported(ground, commits=10_001)
    points = LocalHistory(git(), str(root)).points("", "HEAD")
    assert points is not None
    assert len(points) == 10_000
    assert points[-1].id == ground.git(root, "rev-parse", "HEAD")


def test_a_quarter_of_a_megabyte_of_a_lessons_file_is_read(tmp_path: Path) -> None:
    """`lessonfiles.READ_LIMIT`."""
    folder = tmp_path / ".holdfast" / "lessons"
    folder.mkdir(parents=True)
    (folder / "a.md").write_bytes(b"x" * 250_001)
    assert LocalLessonFiles(str(tmp_path)).read("a.md") == b"x" * 250_000


def test_fifty_changed_files_are_told(ground: Ground) -> None:
    """`local.DIRTY_LIMIT`."""
    root = ground.repository("tides")
    for number in range(51):
        (root / f"new{number:02}.txt").write_text("1")
    assert list(ground.workspace.dirty(place(ground, root))) == [f"new{number:02}.txt" for number in range(50)]


def test_five_hundred_files_with_a_word_are_told(ground: Ground) -> None:
    """`local.MENTION_LIMIT`."""
    root = ground.repository("tides")
    for number in range(501):
        (root / f"new{number:03}.txt").write_text("tide\n")
    assert len(ground.workspace.mentioning(place(ground, root), "tide")) == 500
