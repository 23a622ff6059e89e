"""The commands that tell whether lessons still hold: verify, why, diff, confirm."""

from __future__ import annotations

import json

import pytest

from tests.codebase import Codebase
from tests.surfaces.terminal import run, told, told_json


@pytest.fixture(autouse=True)
def inside(code: Codebase, monkeypatch: pytest.MonkeyPatch) -> Codebase:
    """We are in the code base's folder."""
    monkeypatch.chdir(code.folder)
    return code


@pytest.fixture
def about_put() -> str:
    """The short id of a lesson about a method."""
    return remember("Rows are shared", "src/store.py::Store.put")


def remember(insight: str, file: str, *more: str) -> str:
    short: str = told_json("remember", insight, "--file", file, *more)["short_id"]
    return short


def test_verify_lists_what_is_not_fresh_in_words_and_counts_the_rest(code: Codebase, about_put: str) -> None:
    remember("Reading may give None", "src/store.py::Store.get")
    assert told("verify") == ""
    code.edit("src/store.py", "def put(self, key, value)", "def put(self, key, value, timeout=3)")
    result = run("verify")
    assert result.exit_code == 0
    assert result.stdout == f"{about_put}\tchanged\tRows are shared\tStore.put signature: timeout added\n"
    assert result.stderr == "2 lessons about code: 1 fresh, 1 changed\n"
    assert [line.split()[1] for line in told("verify", "--all").splitlines()] == ["changed", "fresh"]


def test_verify_says_what_it_has_followed_and_undo_takes_it_back(code: Codebase) -> None:
    short = remember("Doubling is on purpose", "src/store.py::doubled")
    code.move_definition("doubled", "src/store.py", "src/sums.py")
    code.commit()
    assert told("verify") == f"{short}\tmoved\tDoubling is on purpose\tdoubled moved to src/sums.py (followed)\n"
    assert told("list").split()[-2:] == ["src/sums.py", "fresh"]
    assert "src/store.py:doubled -> src/sums.py:doubled" in told("log", "--changes")
    assert run("undo").exit_code == 0
    assert told("list").split()[-2:] == ["src/store.py", "moved"]


def test_check_fails_where_code_says_otherwise_and_not_where_it_moved(code: Codebase, about_put: str) -> None:
    code.git("mv", "src/store.py", "src/wal.py")
    assert run("verify", "--check").exit_code == 0
    code.edit("src/wal.py", "self.rows[key] = value", "self.rows[key] = [value]")
    result = run("verify", "--check")
    assert (result.exit_code, "drifted" in result.stdout) == (1, True)
    assert run("verify").exit_code == 0
    answered = run("verify", "--check", "--json")
    assert (answered.exit_code, json.loads(answered.stdout)["counts"]["drifted"]) == (1, 1)


def test_verify_as_json_tells_every_anchor(code: Codebase) -> None:
    short = remember("Doubling is on purpose", "src/store.py::doubled")
    code.git("mv", "src/store.py", "src/sums.py")
    report = told_json("verify")
    assert report["indexed"] is True
    assert report["change"]["verb"] == "reanchor"
    assert report["lessons"] == [
        {
            "id": report["lessons"][0]["id"],
            "short_id": short,
            "title": "Doubling is on purpose",
            "state": "active",
            "freshness": "moved",
            "caveat": "doubled moved to src/sums.py",
            "followed": True,
            "anchors": [
                {
                    "path": "src/store.py",
                    "symbol": "doubled",
                    "freshness": "moved",
                    "words": "moved to src/sums.py",
                    "path_now": "src/sums.py",
                    "symbol_now": "doubled",
                }
            ],
        }
    ]


def test_why_tells_source_anchor_and_the_commit_behind_a_change(code: Codebase) -> None:
    short = remember("Rows are shared", "src/store.py::Store.put", "--why", "callers rely on it")
    anchored = code.git("rev-parse", "HEAD")[:10]
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    assert "Store.put (anchored at" in told("why", short)
    assert told("why", short).count("not committed yet") == 0  # no commit touched the file since
    changed = code.commit("lists")
    lines = told("why", short).splitlines()
    assert lines[0] == f"{short}  Rows are shared"
    assert "said by a person (person), confidence 0.95" in lines[1]
    assert "because callers rely on it" in lines
    assert "code: drifted, Store.put body changed (2 of 27 tokens)" in lines
    words = f"drifted: body changed (2 of 27 tokens), in commit {changed[:10]}"
    assert f"  src/store.py:Store.put (anchored at {anchored} on main) {words}" in lines
    assert lines[-1].endswith("remember")
    answered = told_json("why", short)
    assert [anchor["commit"] for anchor in answered["anchors"]] == [changed]
    assert answered["lesson"]["freshness"] == "drifted"
    assert set(answered) == {"lesson", "anchors", "standing", "decay", "changes", "deliveries", "outcomes"}


def test_why_tells_what_came_of_it(about_put: str) -> None:
    told("feedback", about_put, "helped", "--note", "saved an hour")
    assert "helped  saved an hour" in told("why", about_put)


def test_diff_prints_the_definition_then_and_now(code: Codebase, about_put: str) -> None:
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    code.edit("src/store.py", "return total * 2", "return total * 3")
    result = run("diff", about_put)
    lines = result.stdout.splitlines()
    assert lines[0].startswith("--- src/store.py:Store.put\tthen (")
    assert lines[1] == "+++ src/store.py:Store.put\tnow"
    assert lines[2].startswith("@@ ")
    assert "-        self.rows[key] = value" in lines
    assert "+        self.rows[key] = [value]" in lines
    assert not any("total" in line for line in lines)
    assert result.stderr == "Store.put is drifted: body changed (2 of 27 tokens)\n"
    answered = told_json("diff", about_put)
    assert answered["anchors"][0]["diff"] == lines


def test_diff_says_when_nothing_differs_and_when_git_does_not_know(code: Codebase, about_put: str) -> None:
    assert run("diff", about_put).stderr == "Store.put is fresh, no line differs\n"
    code.write("src/new.py", "def loose():\n    return 1\n")
    loose = remember("Loose", "src/new.py::loose")
    code.write("src/new.py", "def loose():\n    return 2\n")
    result = run("diff", loose)
    assert result.stdout == ""
    assert "src/new.py:loose as it was then cannot be shown: git does not know that version" in result.stderr
    everywhere = told_json("remember", "Answer in British English", "--scope", "user")["short_id"]
    assert "is not about code of this project" in run("diff", everywhere).stderr


def test_confirm_makes_a_lesson_fresh_and_undo_takes_that_back(code: Codebase, about_put: str) -> None:
    code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value]")
    assert told("list").split()[-1] == "drifted"
    assert told("confirm", about_put).startswith(about_put)
    assert told("list").split()[-1] == "fresh"
    assert told_json("log", "--changes")["changes"][0]["verb"] == "confirm"
    run("undo")
    assert told("list").split()[-1] == "drifted"


def test_confirm_says_what_it_let_go(code: Codebase) -> None:
    short = remember("Doubling is on purpose", "src/store.py::doubled")
    code.edit("src/store.py", "def doubled(a, b):\n    total = a + b\n    return total * 2\n", "")
    assert run("confirm", short).stderr == "note: doubled is no longer in src/store.py\n"
    (code.folder / "src" / "store.py").unlink()
    failed = run("confirm", short)
    assert failed.exit_code == 1
    assert "no longer exists: src/store.py" in failed.stderr
    assert f"hint: holdfast revise {short} --file" in failed.stderr


@pytest.mark.parametrize("command", ["why", "diff", "confirm"])
def test_an_unknown_id_is_an_error_with_a_hint(command: str) -> None:
    failed = run(command, "0000ffff")
    assert failed.exit_code == 1
    assert failed.stderr.startswith("error: no lesson 0000ffff")


def test_remember_says_when_no_definition_has_the_name(code: Codebase) -> None:
    result = run("remember", "Rows are flushed", "--file", "src/store.py", "--symbol", "Store.flush")
    assert result.stderr.endswith("note: no definition Store.flush, or more than one, was found in src/store.py\n")
