"""Two clones that declare one id: the second is told nothing of the first, writes nothing into it, and waits."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from holdfast.bootstrap import Memory
from tests.surfaces.hookcalls import Hooks
from tests.surfaces.terminal import run, start, told, told_json

SECRET = "The vault is drained by hand on Fridays"


def repository(folder: Path, remote: str, declared: str = "acme-vault") -> Path:
    """A repository of its own history that declares that id."""
    (folder / ".holdfast").mkdir(parents=True)
    (folder / ".holdfast" / "project.toml").write_text(f'id = "{declared}"\n')
    (folder / "README.md").write_text(f"{folder.name}\n")
    for arguments in (
        ["init", "-q", "-b", "main"], ["remote", "add", "origin", remote], ["add", "-A"],
        ["-c", "user.name=Ada", "-c", "user.email=ada@example.com", "commit", "-q", "-m", folder.name],
    ):  # fmt: skip
        subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)
    return folder


@pytest.fixture
def vault(home: Path, tmp_path: Path) -> Path:
    made = repository(tmp_path / "vault", "git@example.com:acme/vault.git")
    told("-C", str(made), "remember", SECRET)
    return made


@pytest.fixture
def clone(vault: Path, tmp_path: Path) -> Path:
    return repository(tmp_path / "clone", "git@example.com:mallory/clone.git")


def test_a_clone_that_names_another_project_reads_and_writes_its_own(vault: Path, clone: Path) -> None:
    assert SECRET not in told("-C", str(clone), "list", "--state", "all")
    assert SECRET not in told("-C", str(clone), "recall", "how is the vault drained")
    told("-C", str(clone), "remember", "Never check the seal of the vault")
    assert "seal" not in told("-C", str(vault), "list", "--state", "all")
    assert SECRET in told("-C", str(vault), "list")


def test_the_claim_is_in_status_doctor_and_once_in_the_log(vault: Path, clone: Path, home: Path) -> None:
    for _ in range(2):
        status = told("-C", str(clone), "status")
    assert "declares acme-vault, which belongs to example.com/acme/vault: it does not count here" in status
    assert "holdfast project accept" in status
    assert told_json("-C", str(clone), "status")["project"]["claim"] == "acme-vault"
    (finding,) = [row for row in _findings(clone) if row["name"] == "project"]
    assert finding["status"] == "note"
    assert "acme-vault" in finding["what"]
    assert not [row for row in _findings(vault) if row["name"] == "project"]
    assert (home / "hooks.log").read_text().count("acme-vault") == 1


def _findings(folder: Path) -> list[dict[str, str]]:
    import json

    findings: list[dict[str, str]] = json.loads(run("-C", str(folder), "doctor", "--no-proof", "--json").stdout)[
        "findings"
    ]
    return findings


def test_the_doctor_binds_no_id(home: Path, tmp_path: Path) -> None:
    first = repository(tmp_path / "first", "git@example.com:mallory/first.git")
    (tmp_path / "elsewhere").mkdir()
    told("-C", str(tmp_path / "elsewhere"), "remember", "Zeppelins need ballast")
    _findings(first)
    mine = repository(tmp_path / "mine", "git@example.com:acme/vault.git")
    assert told_json("-C", str(mine), "project", "show")["id"] == "acme-vault"


def test_the_user_accepts_the_claim_for_that_folder(vault: Path, clone: Path) -> None:
    refused = run("-C", str(clone), "project", "accept")
    assert refused.exit_code == 1
    assert "--yes" in refused.output
    assert told_json("-C", str(clone), "project", "show")["id"].startswith("g1-")
    assert told_json("-C", str(clone), "project", "accept", "--yes")["id"] == "acme-vault"
    assert SECRET in told("-C", str(clone), "list")
    assert "acme-vault" in told("-C", str(clone), "project", "show")
    assert run("-C", str(vault), "project", "accept", "--yes").exit_code == 1


def test_what_was_accepted_is_released_again(vault: Path, clone: Path) -> None:
    told("-C", str(clone), "project", "accept", "--yes")
    assert told_json("-C", str(clone), "project", "release")["claim"] == "acme-vault"
    assert SECRET not in told("-C", str(clone), "list")
    assert run("-C", str(clone), "project", "release").exit_code == 1


def test_a_bug_report_names_neither_the_id_nor_its_owner(vault: Path, clone: Path) -> None:
    told("-C", str(clone), "status")
    report = run("-C", str(clone), "doctor", "--no-proof", "--report").stdout
    assert "declares another id" in report
    assert "acme" not in report


def test_lessons_that_came_before_the_repository_give_it_no_id(home: Path, clone_of_import: Path) -> None:
    assert told_json("-C", str(clone_of_import), "project", "show")["claim"] == "acme-vault"


@pytest.fixture
def clone_of_import(home: Path, tmp_path: Path) -> Path:
    """A repository whose declared id the store knows from a version that wrote no owner down."""
    made = repository(tmp_path / "later", "git@example.com:mallory/later.git")
    with Memory(str(tmp_path)) as memory:
        lesson = memory.remember(SECRET)
        from dataclasses import replace

        foreign = replace(
            lesson, scope=replace(lesson.scope, project="acme-vault"), recorded_at=memory.services.clock.now()
        )
        memory.services.store.put([foreign], {lesson.id: lesson.recorded_at})
    return made


def test_of_repositories_that_are_first_seen_at_once_one_owns_the_id(home: Path, tmp_path: Path) -> None:
    made = [repository(tmp_path / name, f"git@example.com:{name}/x.git") for name in ("one", "two", "three")]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda folder: start("-C", str(folder), "project", "show"), made))
    ids = [told_json("-C", str(folder), "project", "show")["id"] for folder in made]
    assert ids.count("acme-vault") == 1
    assert len(set(ids)) == 3


def test_hooks_in_the_clone_deliver_nothing_of_the_other_project(tmp_path: Path) -> None:
    hooks = Hooks(tmp_path)
    mine = repository(tmp_path / "vault", "git@example.com:acme/vault.git")
    clone = repository(tmp_path / "clone", "git@example.com:mallory/clone.git")
    with Memory(str(mine), settings=hooks.settings) as memory:
        memory.remember(SECRET, pinned=True)
    with Memory(str(clone), settings=hooks.settings) as memory:
        for kind in ("SessionStart", "UserPromptSubmit"):
            payload = hooks.payload(kind, cwd=str(clone), prompt="how is the vault drained by hand on Fridays")
            assert SECRET not in memory.answer_hook("claude-code", payload)
    with Memory(str(mine), settings=hooks.settings) as memory:
        payload = hooks.payload("SessionStart", session="s2", cwd=str(mine))
        assert SECRET in memory.answer_hook("claude-code", payload)
