"""A retired lesson waits for a person again when a dependency's version in a lock file becomes another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.curation.revival import READERS, find_versions, parse_condition, version_key
from holdfast.domain.records import Change
from holdfast.errors import HoldfastError, InvalidValueError
from holdfast.ports.store import LogFilter
from tests.codebase import Codebase
from tests.surfaces.terminal import run, told, told_json

NPM3 = """{"name": "quay", "lockfileVersion": 3, "packages": {
  "": {"name": "quay", "version": "1.0.0", "dependencies": {"lodash": "^4.17.20"}},
  "node_modules/@babel/core": {"version": "7.24.0", "resolved": "https://example.org/core-7.24.0.tgz"},
  "node_modules/lodash": {"version": "4.17.21", "integrity": "sha512-x"},
  "node_modules/old": {"version": "1.0.0"},
  "node_modules/old/node_modules/lodash": {"version": "3.10.1"}}}"""
NPM1 = '{"lockfileVersion": 1, "dependencies": {"lodash": {"version": "4.17.21", "requires": {"x": "1"}}}}'
UV = """version = 1
requires-python = ">=3.11"

[[package]]
name = "numpy"
version = "1.26.4"
source = { registry = "https://example.org/simple" }

[[package]]
name = "quay"
source = { virtual = "." }
"""
POETRY = """[[package]]
name = "typing-extensions"
version = "4.9.0"
optional = false

[metadata]
lock-version = "2.0"
"""
CARGO = """version = 3

[[package]]
name = "serde"
version = "1.0.197"
source = "registry+https://example.org/index"

[[package]]
name = "syn"
version = "1.0.109"

[[package]]
name = "syn"
version = "2.0.52"
"""
PIP = """# made by pip-compile
numpy==1.26.4 \\
    --hash=sha256:00
Typing_Extensions[docs] == 4.9.0 ; python_version < "3.12"
requests>=2
-e .
"""


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("package-lock.json", NPM3, {"lodash": {"4.17.21"}, "@babel/core": {"7.24.0"}, "old": {"1.0.0"}}),
        ("npm-shrinkwrap.json", NPM1, {"lodash": {"4.17.21"}}),
        ("uv.lock", UV, {"numpy": {"1.26.4"}}),
        ("poetry.lock", POETRY, {"typing-extensions": {"4.9.0"}}),
        ("Cargo.lock", CARGO, {"serde": {"1.0.197"}, "syn": {"1.0.109", "2.0.52"}}),
        ("requirements.txt", PIP, {"numpy": {"1.26.4"}, "typing-extensions": {"4.9.0"}}),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 25 else "",
)
def test_each_lock_file_tells_its_versions(name: str, text: str, expected: dict[str, set[str]]) -> None:
    assert find_versions(name, text) == expected
    assert find_versions(name, text.replace("\n", "\r\n")) == expected


@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize(
    "text", ["", "\0", "<<<<<<< HEAD\n=======\n>>>>>>> x\n", "[]", "{", "packages:\n  - x\n", '{"packages": 3}']
)
def test_a_broken_lock_file_names_nothing(name: str, text: str) -> None:
    assert find_versions(name, text) == {}


def test_versions_are_in_their_order() -> None:
    ordered = [
        "1.0.0-alpha",
        "1.0.0-rc1",
        "1.0.0-rc2",
        "1.0",
        "1.0.post1",
        "1.0.1",
        "v1.2.0",
        "1.10.0",
        "2.0.0+incompatible",
    ]
    assert sorted(ordered, key=version_key) == ordered
    assert version_key("v1.0") == version_key("1.0.0")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("numpy>=2", "numpy>=2"),
        ("numpy >= 2.0, < 3", "numpy>=2.0, <3"),
        ("@babel/core != 7.24.0", "@babel/core!=7.24.0"),
        ("serde>1.0.197 in tools/Cargo.lock", "serde>1.0.197 in tools/Cargo.lock"),
        ("numpy", "numpy"),
    ],
)
def test_a_condition_is_read(text: str, expected: str) -> None:
    assert parse_condition(text).text == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "   ",
        ">=2",
        "numpy ~> 2",
        "numpy>=two",
        "numpy when it is out",
        "numpy>=2 in ../uv.lock",
        "numpy>=2 in setup.py",
        "x" * 400,
    ],
)
def test_what_is_no_condition_is_refused(text: str) -> None:
    with pytest.raises(InvalidValueError):
        parse_condition(text)


@pytest.fixture
def harbour(code: Codebase, monkeypatch: pytest.MonkeyPatch) -> Codebase:
    monkeypatch.chdir(code.folder)
    code.write("uv.lock", UV)
    return code


def test_it_wakes_when_the_version_changes_and_its_history_says_why(harbour: Codebase) -> None:
    with Memory() as memory:
        lesson = memory.remember("Vectorising the tide table is slower", kind="failed_approach")
        retired = memory.revive_when(lesson.id, "numpy", retire=True)
        assert (retired.state, retired.revival) == ("retired", "numpy!=1.26.4")
        assert memory.wake_retired() == []
        harbour.write("uv.lock", UV.replace("1.26.4", "2.1.0"))
        (woken,) = memory.wake_retired()
        assert (woken.lesson.state, woken.lesson.revival, woken.lesson.validity.valid_to) == ("candidate", "", None)
        assert woken.reason == "numpy 2.1.0 in uv.lock (numpy!=1.26.4)"
        assert memory.wake_retired() == []
        change = memory.services.store.find_records(Change, LogFilter(lesson=lesson.id))[0]
        assert (change.verb, change.summary) == ("wake", woken.reason)
        memory.undo()
        assert memory.get(lesson.id).state == "retired"


def test_a_person_who_retires_it_again_is_not_prompted_again(harbour: Codebase) -> None:
    with Memory() as memory:
        lesson = memory.remember("Vectorising the tide table is slower", revive_when="numpy>=1")
        assert lesson.revival == "numpy>=1"
        assert lesson.state == "active"
        assert memory.remember("Vectorising the ferry table is slower").revival == ""
        said_again = memory.remember("Vectorising the ferry table is slower", revive_when="numpy>=3")
        assert said_again.revival == "numpy>=3"
        memory.revive_when(lesson.id, "numpy>=1.0", retire=True)
        assert len(memory.wake_retired()) == 1
        memory.reject(lesson.id)
        assert memory.wake_retired() == []


@pytest.mark.parametrize(
    ("condition", "version", "wakes"),
    [
        ("numpy>=2", "1.99", False),
        ("numpy>=2", "2.0.0", True),
        ("numpy>=2, <3", "3.1", False),
        ("numpy==2.0", "2.0.0", True),
        ("pandas>=2", "2.0.0", False),
    ],
)
def test_it_wakes_only_where_the_condition_holds(harbour: Codebase, condition: str, version: str, wakes: bool) -> None:
    with Memory() as memory:
        lesson = memory.remember("Vectorising the tide table is slower")
        memory.revive_when(lesson.id, condition, retire=True)
        harbour.write("uv.lock", UV.replace("1.26.4", version))
        assert bool(memory.wake_retired()) is wakes


def test_the_lock_file_nearest_to_the_lessons_files_counts(harbour: Codebase) -> None:
    harbour.write("packages/tide/requirements.txt", "numpy==2.1.0\n")
    harbour.write("packages/tide/table.py", "ROWS = 3\n")
    with Memory() as memory:
        near = memory.remember("Vectorising the tide table is slower", files=["packages/tide/table.py"])
        far = memory.remember("Vectorising the ferry table is slower")
        for lesson in (near, far):
            memory.revive_when(lesson.id, "numpy>=2", retire=True)
        assert [woken.lesson.id for woken in memory.wake_retired()] == [near.id]


def test_a_bare_name_that_no_lock_file_has_is_refused(harbour: Codebase) -> None:
    with Memory() as memory:
        lesson = memory.remember("Vectorising the tide table is slower")
        with pytest.raises(InvalidValueError, match="pandas is not in"):
            memory.revive_when(lesson.id, "pandas")
        memory.forget(lesson.id)
        with pytest.raises(HoldfastError, match="cannot wake"):
            memory.revive_when(lesson.id, "numpy")


def test_the_command_line_sets_it_and_verify_wakes(harbour: Codebase) -> None:
    lesson = told_json("remember", "Vectorising the tide table is slower", "--revive-when", "numpy")["id"]
    assert "revived when numpy!=1.26.4" in told("edit", lesson, "--retire")
    assert "revive when" in told("show", lesson)
    harbour.write("uv.lock", UV.replace("1.26.4", "2.1.0"))
    plain = told_json("verify")
    assert [woken["reason"] for woken in plain["woken"]] == ["numpy 2.1.0 in uv.lock (numpy!=1.26.4)"]
    shown = told("show", lesson)
    assert "candidate" in shown
    assert "wake  numpy 2.1.0 in uv.lock" in shown
    assert run("edit", lesson, "--revive-when", "nonsense >").exit_code == 1


def test_the_sessions_end_wakes_it(harbour: Codebase, tmp_path: Path) -> None:
    from holdfast.domain.hookcall import HookCall
    from holdfast.domain.vocabulary import SessionId
    from holdfast.settings import load_settings
    from holdfast.surfaces.hooks.learner import learn_all

    with Memory() as memory:
        lesson = memory.remember("Vectorising the tide table is slower")
        memory.revive_when(lesson.id, "numpy", retire=True)
    harbour.write("uv.lock", UV.replace("1.26.4", "2.1.0"))
    learn_all(load_settings(), HookCall(host="", name="", session=SessionId(""), cwd=str(harbour.folder)))
    with Memory() as memory:
        assert memory.get(lesson.id).state == "candidate"
