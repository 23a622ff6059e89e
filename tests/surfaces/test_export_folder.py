"""`holdfast export DIR`: the folder appears whole, is the same again, and never replaces files of others."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.surfaces.cli.outfolder import LIST, write_folder
from tests.surfaces.terminal import run


@pytest.fixture
def project(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "harbour"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with Memory(str(folder)) as memory:
        memory.remember("Retries are capped at 3", why="the gateway bans us")
    return folder


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_bundle_is_written_and_read_back(project: Path) -> None:
    assert run("export", "--format", "okf", "out/know").exit_code == 0
    first = tree(project / "out" / "know")
    assert {"index.md", "log.md", "convention/index.md"} < first.keys()
    assert run("export", "--format", "okf", "out/know").exit_code == 0
    assert tree(project / "out" / "know") == first
    assert os.listdir(project / "out") == ["know"], "nothing is left beside it"
    answer = run("import", "out/know")
    assert (answer.exit_code, answer.stdout) == (0, "0 added, 0 revised, 1 unchanged, 0 failed\n")


def test_a_broken_concept_is_named_and_the_others_are_read(project: Path) -> None:
    run("export", "--format", "okf", "out")
    (concept,) = (path for path in (project / "out" / "convention").glob("*.md") if path.name != "index.md")
    (project / "out" / "convention" / "broken.md").write_text("---\ntype: Fix\nholdfast:\n  id: [\n---\n")
    (project / "out" / "table.md").write_text("---\ntype: Table\ntitle: Tides\n---\nOne row for each tide here.\n")
    answer = run("import", "out")
    assert answer.exit_code == 1
    assert "convention/broken.md: not YAML" in answer.stderr
    assert "1 unchanged, 1 failed" in answer.stdout
    assert "out/table.md" in answer.stdout
    assert concept.exists()


def test_files_of_others_are_never_replaced(project: Path) -> None:
    run("export", "--format", "okf", "out")
    (project / "out" / "mine.txt").write_text("mine")
    before = tree(project / "out")
    answer = run("export", "--format", "okf", "out")
    assert answer.exit_code == 1
    assert "holds files that this export did not write: mine.txt" in answer.stderr
    assert tree(project / "out") == before
    (project / "else").mkdir()
    (project / "else" / "README.md").write_text("x")
    assert run("export", "--format", "okf", "else").exit_code == 1


@pytest.mark.parametrize("target", [".", ".."])
def test_the_present_folder_is_never_replaced(project: Path, target: str) -> None:
    answer = run("export", "--format", "okf", target)
    assert answer.exit_code == 1
    assert "the folder you are in" in answer.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--format", "okf"), "needs a folder"),
        (("out",), "a folder is for"),
        (("--format", "okf", "out", "--forgotten"), "--forgotten is for JSON lines"),
        (("--format", "okf", "out", "--all-projects"), "one project"),
        (("--quotes",), "--quotes is for"),
    ],
)
def test_options_that_do_not_fit_are_refused(project: Path, arguments: tuple[str, ...], words: str) -> None:
    answer = run("export", *arguments)
    assert answer.exit_code == 2
    assert words in answer.stderr


def test_a_failure_in_between_leaves_the_folder_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "out"
    write_folder(str(folder), [("a.md", "old")], "okf")

    def broken() -> Iterator[tuple[str, str]]:
        yield "a.md", "new"
        raise OSError(28, "No space left on device")

    with pytest.raises(HoldfastError, match="No space left"):
        write_folder(str(folder), broken(), "okf")
    assert (folder / "a.md").read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]
    real = os.rename

    def fails_once(source: str, target: str) -> None:
        if target == str(folder) and "former" not in source:
            raise OSError(18, "Invalid cross-device link")
        real(source, target)

    monkeypatch.setattr(os, "rename", fails_once)
    with pytest.raises(HoldfastError, match="cross-device"):
        write_folder(str(folder), [("a.md", "new")], "okf")
    assert (folder / "a.md").read_text() == "old"
    assert os.listdir(tmp_path) == ["out"]


def test_a_link_and_another_form_are_refused(tmp_path: Path) -> None:
    folder = tmp_path / "out"
    write_folder(str(folder), [("a.md", "old")], "okf")
    (tmp_path / "link").symlink_to(folder)
    with pytest.raises(InvalidValueError, match="not a folder"):
        write_folder(str(tmp_path / "link"), [("a.md", "x")], "okf")
    with pytest.raises(InvalidValueError, match=f"did not write: {LIST}"):
        write_folder(str(folder), [("a.md", "x")], "html")
