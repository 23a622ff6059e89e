from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from holdfast.codeindex import walk as module
from holdfast.codeindex.walk import walk
from holdfast.errors import InvalidValueError
from tests.codeindex.conftest import WorkTree

MIXED: dict[str, str | bytes] = {
    "app.py": "x = 1\n", "lib/a.js": "1", "docs/readme.md": "#", "node_modules/x/index.js": "1", "vendor/y.go": "1",
    "build/made.py": "1", "__pycache__/app.pyc": b"\0", "lib/jquery.min.js": "1", "package-lock.json": "{}",
    "logo.png": b"\x89PNG", "big.py": b"#" * 1_000_001, "sub/Cargo.lock": "",
}  # fmt: skip


def walked(tree: WorkTree) -> list[str]:
    return sorted(walk(str(tree.root)).files)


def reasons(tree: WorkTree) -> dict[str, str]:
    return dict(walk(str(tree.root)).skipped)


def test_without_git_all_but_made_and_vendored_files_are_walked(tree: WorkTree) -> None:
    tree.write(MIXED)
    assert walked(tree) == ["app.py", "docs/readme.md", "lib/a.js"]


def test_what_git_ignores_is_left_out_and_what_is_new_is_not(repository: WorkTree) -> None:
    repository.commit({".gitignore": "*.log\n/secret/\n", "a.py": "1"})
    repository.write({"new.py": "1", "x.log": "1", "secret/key.py": "1"})
    assert walked(repository) == [".gitignore", "a.py", "new.py"]


def test_a_committed_build_folder_is_source_and_a_vendored_one_is_not(repository: WorkTree) -> None:
    repository.commit(MIXED)
    repository.write({"dist/new.py": "1"})
    assert walked(repository) == ["app.py", "build/made.py", "docs/readme.md", "lib/a.js"]


def test_reasons_are_reported(repository: WorkTree) -> None:
    repository.commit(MIXED)
    skipped = reasons(repository)
    assert skipped["vendor/y.go"] == "vendored"
    assert skipped["logo.png"] == "binary"
    assert skipped["lib/jquery.min.js"] == "minified"
    assert skipped["package-lock.json"] == "a lock file"
    assert skipped["big.py"] == "too large: 1,000,001 bytes"


def test_a_deleted_file_that_git_still_lists_is_not_there(repository: WorkTree) -> None:
    repository.commit({"a.py": "1", "b.py": "1"})
    repository.remove("a.py")
    assert walked(repository) == ["b.py"]


def test_a_file_in_conflict_is_walked_once(repository: WorkTree) -> None:
    repository.commit({"a.py": "1"})
    repository.git("checkout", "-q", "-b", "side")
    repository.commit({"a.py": "2"})
    repository.git("checkout", "-q", "main")
    repository.commit({"a.py": "3"})
    with pytest.raises(subprocess.CalledProcessError):
        repository.git("merge", "side")
    assert walked(repository) == ["a.py"]


def test_nested_repositories_and_submodules_are_projects_of_their_own(repository: WorkTree) -> None:
    inner = WorkTree(repository.root / "inner")
    inner.git("init", "-q")
    inner.commit({"b.py": "1"})
    repository.write({"a.py": "1"})
    assert walked(repository) == ["a.py"]
    repository.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "./inner", "inner")
    repository.commit()
    assert walked(repository) == [".gitmodules", "a.py"]
    assert reasons(repository)["inner"] == "a nested repository"


def test_without_git_a_nested_repository_is_left_out_too(tree: WorkTree) -> None:
    tree.write(
        {"a.py": "1", "inner/.git/HEAD": "ref: x", "inner/b.py": "1", "linked/.git": "gitdir: y", "linked/c.py": "1"}
    )
    assert walked(tree) == ["a.py"]


def test_links_are_not_followed(repository: WorkTree, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret.py").write_text("1")
    repository.write({"a.py": "1", "real/b.py": "1"})
    os.symlink(tmp_path / "outside", repository.root / "out")
    os.symlink("a.py", repository.root / "again.py")
    os.symlink("nowhere", repository.root / "dangling.py")
    assert walked(repository) == ["a.py", "real/b.py"]
    repository.commit()
    assert walked(repository) == ["a.py", "real/b.py"]


def test_a_committed_folder_that_became_a_link_is_not_followed(repository: WorkTree, tmp_path: Path) -> None:
    repository.commit({"a.py": "1", "part/deep/b.py": "1"})
    os.rename(repository.root / "part", tmp_path / "elsewhere")
    os.symlink(tmp_path / "elsewhere", repository.root / "part")
    assert walked(repository) == ["a.py"]
    assert reasons(repository)["part/deep/b.py"] == "behind a link"


def test_a_fifo_does_not_block(tree: WorkTree) -> None:
    tree.write({"a.py": "1"})
    os.mkfifo(tree.root / "pipe.py")
    assert walked(tree) == ["a.py"]


def test_a_name_that_is_no_text_is_left_out(tree: WorkTree) -> None:
    tree.write({"a.py": "1"})
    try:
        with open(os.path.join(os.fsencode(tree.root), b"caf\xe9.py"), "w"):
            pass
    except OSError:
        pytest.skip("this file system wants text")
    assert walked(tree) == ["a.py"]


def test_a_home_folder_or_the_root_is_never_walked(tree: WorkTree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tree.root))
    for everything in (str(tree.root), str(tree.root.parent), "/", "/home/somebody"):
        with pytest.raises(InvalidValueError) as caught:
            walk(everything)
        assert caught.value.hint


def test_a_walk_ends_at_its_limit_and_says_so(tree: WorkTree, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "FILE_LIMIT", 3)
    tree.write({f"f{n}.py": "1" for n in range(5)})
    result = walk(str(tree.root))
    assert len(result.files) == 3
    assert not result.complete


def test_some_files_are_looked_at_by_the_same_rules(repository: WorkTree) -> None:
    repository.commit({".gitignore": "*.log\n", "a.py": "1", "b.py": "1", "odd[1].py": "1"})
    repository.write({"new.py": "1", "x.log": "1"})
    only = ["a.py", "new.py", "x.log", "gone.py", "odd[1].py"]
    assert sorted(walk(str(repository.root), only).files) == ["a.py", "new.py", "odd[1].py"]


def test_a_broken_repository_is_walked_on_the_disk(tree: WorkTree) -> None:
    tree.write({".git": "gitdir: /nowhere\n", "a.py": "1"})
    assert walked(tree) == [".git", "a.py"] or walked(tree) == ["a.py"]
