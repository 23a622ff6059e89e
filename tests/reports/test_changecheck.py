"""What a branch does to lessons: made stale, contradicted by name, touched; nothing of what it does not touch."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.errors import InvalidValueError
from holdfast.reports.changecheck import ChangeCheck, forbidden_names
from holdfast.reports.changetext import check_markdown, check_sarif, check_text
from tests.codebase import Codebase


@pytest.fixture
def code(home: Path, tmp_path: Path) -> Codebase:
    """A code base with a branch checked out."""
    made = Codebase(tmp_path / "harbour")
    made.write("src/fetch.py", "import httpx\n\n\ndef fetch(url):\n    return httpx.get(url)\n")
    made.commit("fetch")
    made.git("checkout", "-q", "-b", "feature")
    return made


@pytest.fixture
def memory(code: Codebase) -> Iterator[Memory]:
    with Memory(str(code.folder)) as opened:
        yield opened


def check_branch(memory: Memory, base: str = "") -> ChangeCheck:
    """The check as a new process makes it: what is checked out is looked up anew."""
    return memory.at(memory.folder).check_change(base)


def effects(check: ChangeCheck) -> list[tuple[str, str, str, int]]:
    return [(row.effect, row.lesson.title, row.path, row.line) for row in check.effects]


def test_a_changed_definition_is_touched_and_one_that_is_gone_makes_its_lesson_stale(
    memory: Memory, code: Codebase
) -> None:
    memory.remember("put answers the stored value", files=["src/store.py"], symbols=["Store.put"])
    memory.remember("get never raises", files=["src/store.py"], symbols=["Store.get"])
    memory.remember("doubled takes numbers", files=["src/store.py"], symbols=["doubled"])
    memory.remember("rows are in src/store.py", files=["src/store.py"])
    code.edit("src/store.py", "        return self.rows[key]\n", "        return (key, self.rows.get(key, value))\n")
    code.edit("src/store.py", "def doubled(a, b):\n    total = a + b\n    return total * 2\n", "")
    code.commit("answer the key too")
    check = check_branch(memory)
    assert [(row.effect, row.lesson.title, row.path) for row in check.effects] == [
        ("stale", "Doubled takes numbers", "src/store.py"),
        ("touched", "Put answers the stored value", "src/store.py"),
    ]
    assert (check.files, check.lessons) == (("src/store.py",), 4)


def test_what_was_stale_before_the_branch_is_not_the_branch_s_doing(memory: Memory, code: Codebase) -> None:
    code.git("checkout", "-q", "main")
    memory.remember("put answers the stored value", files=["src/store.py"], symbols=["Store.put"])
    code.edit("src/store.py", "def put(", "def place(")
    code.edit("src/store.py", "return self.rows[key]", "return None")
    code.commit("on main")
    code.git("checkout", "-q", "-b", "later")
    code.write("src/other.py", "A = 1\n")
    assert effects(check_branch(memory, "main")) == []


def test_an_added_line_with_a_name_that_is_forbidden(memory: Memory, code: Codebase) -> None:
    memory.remember("Use `httpx` instead of `requests`.")
    memory.remember("Never call `time.sleep` in tests.", files=["tests/test_x.py"])
    memory.remember("Never call `retry` here.", files=["README.md"])
    code.write("src/more.py", "import requests\n\n# time.sleep(1)\nretry()\n")
    code.write("notes.md", "We dropped requests.\n")
    assert effects(check_branch(memory)) == [("contradicted", "Use `httpx` instead of `requests`", "src/more.py", 1)]


def test_a_line_that_was_there_before_contradicts_nothing(memory: Memory, code: Codebase) -> None:
    code.write("src/old.py", "import requests\n")
    code.git("checkout", "-q", "main")
    code.commit("old")
    code.git("checkout", "-q", "-b", "again")
    memory.remember("Use `httpx` instead of `requests`.")
    code.write("src/old.py", "A = 1\nimport requests\n")
    assert effects(check_branch(memory, "main")) == []


def test_a_private_lesson_and_one_s_own_are_left_out(memory: Memory, code: Codebase) -> None:
    memory.remember("Never use `requests`.", private=True)
    memory.remember("Never import `requests`.", scope="user")
    code.write("src/more.py", "import requests\n")
    assert check_branch(memory).effects == ()


def test_a_file_that_is_gone_makes_its_lessons_stale(memory: Memory, code: Codebase) -> None:
    memory.remember("fetch follows no redirects", files=["src/fetch.py"], symbols=["fetch"])
    (code.folder / "src/fetch.py").unlink()
    code.commit("gone")
    ((effect, _, path, line),) = effects(check_branch(memory))
    assert (effect, path, line) == ("stale", "src/fetch.py", 1)


def test_a_base_that_git_does_not_know(memory: Memory) -> None:
    with pytest.raises(InvalidValueError, match="no commit in common with 'nowhere'"):
        check_branch(memory, "nowhere")


@pytest.mark.parametrize(
    ("rule", "names"),
    [
        ("Use `httpx` instead of `requests`.", {"requests"}),
        ("Do not use math.ceil on a float.", {"math.ceil"}),
        ("Use pnpm, not npm.", {"npm"}),
        ("Don't add a file to src/generated/.", set()),
        ("Don't log names of customers.", set()),
        ("Use `httpx`.", set()),
        ("Tests must not assume `main`.", set()),
        ("`enable` never prompts when settings.json is there.", set()),
        ("Never call t.Parallel() in tests that change the working directory.", {"t.Parallel"}),
        ("Never use the GlobalState.", {"GlobalState"}),
    ],
)
def test_the_names_that_a_rule_forbids(rule: str, names: set[str]) -> None:
    assert forbidden_names(rule) == names


def test_the_three_forms_say_the_same(memory: Memory, code: Codebase) -> None:
    memory.remember("Use `httpx` instead of `requests`. @team look at `x`")
    code.write("src/a b.py", "import requests\n")
    check = check_branch(memory)
    text, markdown = "\n".join(check_text(check)), "\n".join(check_markdown(check))
    (result,) = check_sarif(check)["runs"][0]["results"]
    assert "src/a b.py:1" in text
    assert "`src/a b.py:1`" in markdown
    assert "@team" not in markdown.replace("`@team", "")
    assert result["ruleId"] == "lesson-contradicted"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "src/a%20b.py"
