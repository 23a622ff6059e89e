"""`holdfast recommend` on the command line."""

from __future__ import annotations

import pytest

from holdfast import Memory
from holdfast.domain.vocabulary import SessionId
from holdfast.outcomes.trouble import store_trouble
from holdfast.testing.builders import make_event
from tests.codebase import Codebase
from tests.surfaces.terminal import run, told, told_json


@pytest.fixture
def folder(code: Codebase) -> str:
    with Memory(str(code.folder)) as memory:
        project = memory.location.project.id
        for number in range(3):
            session = SessionId(f"session-{number}")
            failure = make_event(
                project=project, session=session, kind="tool_failure", exit_code=1, command="python -m pytest",
                text="src/store.py:3: KeyError",
            )  # fmt: skip
            store_trouble(memory.services.store, project, session, [failure], ())
    return str(code.folder)


def test_a_recommendation_names_its_evidence_and_is_dismissed_by_its_key(folder: str) -> None:
    text = told("recommend", "-C", folder)
    assert "Trouble that no lesson explains" in text
    assert "3 failed commands name it in 3 sessions" in text
    (row,) = told_json("recommend", "-C", folder)["recommendations"]
    assert row["key"] == "lesson:src/store.py"
    assert "dismissed" in told("recommend", "dismiss", row["key"], "-C", folder)
    assert "nothing to recommend" in run("recommend", "-C", folder).stderr
    assert "(dismissed)" in told("recommend", "--all", "-C", folder)
    told("recommend", "restore", row["key"], "-C", folder)
    assert told_json("recommend", "-C", folder)["recommendations"]


def test_an_unknown_key_is_an_error_with_a_hint(folder: str) -> None:
    result = run("recommend", "dismiss", "lesson:nothing", "-C", folder)
    assert result.exit_code == 1
    assert "recommend --all" in result.stderr
