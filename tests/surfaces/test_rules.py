"""`holdfast rules`: for whom files are written, what is left alone, and how everything is taken back."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from holdfast.installing.hostfiles import HostFiles
from holdfast.ports.host import BlockEdit
from tests.codebase import Codebase
from tests.surfaces.terminal import run, told, told_json

pytest.importorskip("holdfast_hosts", reason="hosts of the second distribution are played")

BLOCK = "<!-- holdfast:begin (kept"


@pytest.fixture(autouse=True)
def inside(code: Codebase, monkeypatch: pytest.MonkeyPatch) -> None:
    """We are in the code base's folder, and know two things about it."""
    monkeypatch.chdir(code.folder)
    told("remember", "Amounts are whole cents", "--kind", "constraint")
    told("remember", "Rows are shared", "--file", "src/store.py::Store.put")


def changes(*arguments: str) -> dict[str, str]:
    """What happens to each file, by its name in the project."""
    files = told_json("rules", *arguments)["files"]
    return {os.path.relpath(row["file"]).replace(os.sep, "/"): row["change"] for row in files}


def test_without_a_host_that_needs_them_nothing_is_written(code: Codebase) -> None:
    told("setup", "codex")
    result = run("rules", "sync")
    assert (result.exit_code, "holdfast rules sync --host NAME" in result.stderr) == (0, True)
    assert "does not read rules files" in run("rules", "sync", "--host", "claude-desktop").stderr
    assert run("rules", "sync", "--host", "emacs").exit_code != 0
    assert code.git("status", "--short") == ""


def test_hosts_that_are_set_up_without_hooks_get_theirs() -> None:
    told("setup", "zed", "jetbrains")
    assert changes("sync") == {"AGENTS.md": "created"}
    assert told_json("rules", "status")["rules"][0]["hosts"] == ["jetbrains", "zed"]


def test_a_file_that_a_host_with_hooks_reads_too_is_written_for_those_requested_by_name_only() -> None:
    told("setup", "zed", "vscode", "codex")
    result = run("rules", "sync")
    assert "Zed is left out: AGENTS.md is also read by OpenAI Codex" in result.stderr
    assert not Path("AGENTS.md").exists()
    assert Path(".github/instructions/holdfast-src.instructions.md").exists()
    result = run("rules", "sync", "--host", "zed")
    assert "they arrive twice there" in result.stderr
    assert Path("AGENTS.md").exists()
    assert not Path(".github").exists()  # VS Code reads AGENTS.md as well
    assert set(changes("sync").values()) == {"unchanged"}


def test_a_hooked_host_that_is_set_up_later_has_the_files_withdrawn() -> None:
    told("setup", "zed")
    told("rules", "sync")
    told("setup", "codex")
    assert changes("sync") == {"AGENTS.md": "removed"}


def test_a_host_with_hooks_is_warned_about() -> None:
    told("setup", "cursor")
    assert "gets the same lessons twice" in run("rules", "sync", "--host", "cursor").stderr


def test_rules_are_no_set_up(code: Codebase) -> None:
    told("rules", "sync", "--host", "cursor")
    rows = {row["host"]: row for row in told_json("setup", "--list")["hosts"]}
    assert not rows["cursor"]["set_up"]
    assert "no host is set up" in run("doctor").output


def test_a_file_is_written_with_its_own_line_ends_and_a_mark_at_its_start(code: Codebase) -> None:
    before = "\ufeff# Ours\r\n\r\nKeep left.".encode()
    Path("AGENTS.md").write_bytes(before)
    told("rules", "sync", "--host", "zed")
    content = Path("AGENTS.md").read_bytes()
    assert content.startswith(before)
    assert content.count(b"\n") == content.count(b"\r\n")
    told("rules", "remove")
    assert Path("AGENTS.md").read_bytes() == before


def test_edits_inside_our_block_are_lost_and_those_outside_stay(code: Codebase) -> None:
    Path("AGENTS.md").write_text("# Ours\n")
    told("rules", "sync", "--host", "zed")
    text = Path("AGENTS.md").read_text()
    block = text[text.index("<!-- ") :]
    Path("AGENTS.md").write_text("# Above\n" + block.replace("cents", "dollars") + "# Below\n")
    told("rules", "sync")
    assert Path("AGENTS.md").read_text() == "# Above\n" + block + "# Below\n"
    told("rules", "remove")
    assert Path("AGENTS.md").read_text() == "# Above\n# Below\n"


def test_a_merge_that_left_both_blocks_is_mended(code: Codebase) -> None:
    told("rules", "sync", "--host", "zed")
    text = Path("AGENTS.md").read_text()
    Path("AGENTS.md").write_text(f"# Ours\n\n{text}\n{text}")
    told("rules", "sync")
    assert Path("AGENTS.md").read_text().count(BLOCK) == 1


@pytest.mark.parametrize(
    "half", ["<!-- holdfast:begin (kept by holdfast) -->\nmine\n", "mine\n<!-- holdfast:end -->\n"]
)
def test_half_a_block_is_refused_and_the_other_files_go_on(half: str) -> None:
    Path("AGENTS.md").write_text(half)
    result = run("rules", "sync", "--host", "zed", "--host", "aider")
    assert result.exit_code == 1
    assert "AGENTS.md: has half of a block of Holdfast" in result.stderr
    assert Path("AGENTS.md").read_text() == half
    assert BLOCK in Path("CONVENTIONS.md").read_text()


def test_what_cannot_be_a_rules_file_is_refused_by_name(code: Codebase, tmp_path: Path) -> None:
    Path("AGENTS.md").mkdir()
    Path("CONVENTIONS.md").write_bytes(b"\xff\xfe broken \xff")
    (tmp_path / "dotfiles.md").write_text("mine everywhere\n")
    Path("GEMINI.md").symlink_to(tmp_path / "dotfiles.md")
    Path(".clinerules").write_text("an old kind of rules\n")
    Path(".roo/rules").mkdir(parents=True)
    Path(".roo/rules/holdfast-always.md").write_text("a person's own\n")
    hosts = ("zed", "aider", "gemini-cli", "cline", "roo")
    result = run("rules", "sync", *(word for host in hosts for word in ("--host", host)))
    assert result.exit_code == 1
    for message in (
        "CONVENTIONS.md is not UTF-8", "GEMINI.md is a link that leads out of the project",
        "holdfast-always.md: already exists and is not Holdfast's",
    ):  # fmt: skip
        assert message in result.stderr
    assert (tmp_path / "dotfiles.md").read_text() == "mine everywhere\n"
    assert Path(".roo/rules/holdfast-always.md").read_text() == "a person's own\n"
    assert Path(".clinerules").read_text().startswith("an old kind of rules\n")


def test_a_read_only_file_is_left(code: Codebase) -> None:
    Path("AGENTS.md").write_text("keep off\n")
    Path("AGENTS.md").chmod(0o444)
    result = run("rules", "sync", "--host", "zed")
    assert (result.exit_code, "AGENTS.md is read-only" in result.stderr) == (1, True)
    assert Path("AGENTS.md").read_text() == "keep off\n"


def test_what_another_process_wrote_into_the_manifest_meanwhile_stays(home: Path, code: Codebase) -> None:
    ours = HostFiles(str(home), 0o644)
    told("setup", "zed")
    ours.apply(ours.plan("zed:rules:x", [BlockEdit(file=str(code.folder / "AGENTS.md"), text="x")]))
    told("uninstall")
    assert not Path("AGENTS.md").exists()
    assert not list(home.parent.glob(".config/**/*.json"))


def test_one_file_with_two_names_has_one_block(code: Codebase) -> None:
    Path("CLAUDE.md").write_text("# Ours\n")
    Path("AGENTS.md").symlink_to("CLAUDE.md")
    told("setup", "claude-code", "zed")
    assert "CLAUDE.md is also read by Claude Code" in run("rules", "sync").stderr
    assert changes("sync", "--host", "zed", "--host", "goose") == {"CLAUDE.md": "changed"}
    assert Path("CLAUDE.md").read_text().count(BLOCK) == 1
    told("rules", "remove")
    assert Path("CLAUDE.md").read_text() == "# Ours\n"
    assert Path("AGENTS.md").is_symlink()


def test_the_file_is_the_first_that_the_host_reads(code: Codebase) -> None:
    Path("CLAUDE.md").write_text("# Ours\n")
    assert changes("sync", "--host", "zed", "--host", "junie") == {
        "CLAUDE.md": "changed", ".junie/guidelines.md": "created",
    }  # fmt: skip


def test_check_says_whether_all_is_up_to_date_and_writes_nothing(code: Codebase) -> None:
    assert run("rules", "sync", "--host", "zed", "--check").exit_code == 1
    assert not Path("AGENTS.md").exists()
    told("rules", "sync", "--host", "zed")
    assert run("rules", "sync", "--check").exit_code == 0
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    result = run("rules", "sync", "--check")
    assert result.exit_code == 1
    assert "-- [" in result.stdout
    assert "left out" in result.stderr


def test_a_dry_run_shows_the_difference(code: Codebase) -> None:
    assert "+- [" in told("rules", "sync", "--host", "zed", "--dry-run")
    assert not Path("AGENTS.md").exists()


def test_what_nobody_needs_any_more_goes_with_the_next_sync(code: Codebase) -> None:
    told("rules", "sync", "--host", "cursor")
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    assert changes("sync") == {
        ".cursor/rules/holdfast-always.mdc": "unchanged", ".cursor/rules/holdfast-src.mdc": "removed",
    }  # fmt: skip
    for lesson in told_json("list")["lessons"]:
        told("forget", lesson["id"])
    told("rules", "sync")
    assert not Path(".cursor").exists()


def test_removing_one_host_leaves_what_another_needs(code: Codebase) -> None:
    told("rules", "sync", "--host", "zed", "--host", "goose", "--host", "cursor")
    told("rules", "remove", "--host", "zed")
    assert BLOCK in Path("AGENTS.md").read_text()
    told("uninstall", "goose")
    told("rules", "sync")
    assert not Path("AGENTS.md").exists()
    assert Path(".cursor/rules/holdfast-src.mdc").exists()
    told("uninstall")
    assert code.git("status", "--short") == ""


def test_what_came_with_the_project_is_ours_too(code: Codebase, home: Path) -> None:
    Path("AGENTS.md").write_text("# Ours\n")
    code.commit("rules")
    told("rules", "sync", "--host", "zed", "--host", "windsurf", "--budget", "200")
    told("rules", "sync", "--host", "jetbrains")
    (home / "manifest.json").unlink()
    status = code.git("status", "--short")
    assert status
    told("rules", "remove")
    assert code.git("status", "--short") == ""


def test_a_file_checked_out_with_other_line_ends_is_up_to_date(code: Codebase) -> None:
    told("rules", "sync", "--host", "cursor")
    for file in Path(".cursor/rules").iterdir():
        file.write_bytes(file.read_bytes().replace(b"\n", b"\r\n"))
    assert set(changes("sync").values()) == {"unchanged"}


def test_a_home_folder_and_a_folder_without_git(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bare = Codebase(tmp_path / "bare", git=False)
    monkeypatch.chdir(bare.folder)
    told("remember", "Ropes are coiled")
    assert changes("sync", "--host", "zed") == {"AGENTS.md": "created"}
    result = run("rules", "sync", "--install-git-hooks")
    assert (result.exit_code, "is not a git repository" in result.stderr) == (1, True)
    monkeypatch.chdir(home.parent)
    assert "is your home folder" in run("rules", "sync", "--host", "zed").stderr


def test_show_prints_the_texts_and_status_the_counts(code: Codebase) -> None:
    printed = told("rules", "show", "--host", "cursor")
    assert printed.startswith("==> .cursor/rules/holdfast-always.mdc <==\n---\n")
    assert "missing" in told("rules", "status", "--host", "cursor")
    told("rules", "sync", "--host", "cursor")
    assert "up to date" in told("rules", "status")
    report = json.loads(run("rules", "status", "--json").stdout)
    assert [made["whole"] for made in report["rules"]] == [True, True]


def test_new_files_can_be_read_by_others_and_old_ones_keep_their_mode(code: Codebase) -> None:
    Path("AGENTS.md").write_text("x\n")
    Path("AGENTS.md").chmod(0o664)
    told("rules", "sync", "--host", "zed", "--host", "aider")
    assert [os.stat(name).st_mode & 0o777 for name in ("AGENTS.md", "CONVENTIONS.md")] == [0o664, 0o644]


def test_importing_does_not_bring_our_own_text_back() -> None:
    before = told("export")
    for host, file in (("cline", ".clinerules"), ("zed", "AGENTS.md")):
        told("rules", "sync", "--host", host)
        told("import", file)
    assert told("export") == before


def test_a_purge_writes_rules_files_anew_and_adds_none() -> None:
    told("setup", "zed")
    told("rules", "sync")
    assert "whole cents" in Path("AGENTS.md").read_text()
    short = told_json("list", "--kind", "constraint")["lessons"][0]["short_id"]
    result = run("forget", short, "--purge")
    assert "written again without it: " in result.stderr
    assert "still in" not in result.stderr
    assert "whole cents" not in Path("AGENTS.md").read_text()
    assert "Rows are shared" in Path("AGENTS.md").read_text()


def test_a_purge_without_rules_files_writes_none(code: Codebase) -> None:
    told("setup", "zed")
    short = told_json("list", "--kind", "constraint")["lessons"][0]["short_id"]
    assert told_json("forget", short, "--purge")["rewritten"] == []
    assert code.git("status", "--short") == ""
