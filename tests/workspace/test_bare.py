"""A memory of a project on a server: everything works without a work tree, and nothing is said about code."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.bootstrap import Memory
from holdfast.domain.project import Person, Project
from holdfast.domain.vocabulary import ProjectId
from holdfast.errors import InvalidValueError
from holdfast.ports.store import Store
from holdfast.settings import load_settings
from holdfast.wiring import RequestServices
from holdfast.workspace.bare import BareWorkspace, server_location

SHOP = Project(id=ProjectId("6f1c"), name="shop", source="git")


@pytest.fixture
def served(home: Path, store: Store) -> Memory:
    serving = RequestServices(load_settings())
    return Memory.over(serving.over(store, Person(id="ada", name="Ada")), SHOP, serving.settings)


def test_a_lesson_about_a_file_is_saved_recalled_revised_and_forgotten(served: Memory) -> None:
    saved = served.remember("Retries are capped at 3", files=["src/gateway.py"])
    assert saved.paths == ("src/gateway.py",)
    assert saved.provenance.person == "ada"
    (item,) = served.recall("how many retries").items
    assert (item.lesson.id, item.freshness) == (saved.id, "unverified")
    assert "there is no code here" in item.caveat
    revised = served.revise(saved.id, insight="Retries are capped at 5")
    assert served.forget(revised.id).state == "forgotten"
    assert served.lessons() == []


def test_confirming_keeps_the_anchors_because_nothing_can_be_compared(served: Memory) -> None:
    saved = served.remember("Retries are capped at 3", files=["src/gateway.py"])
    assert served.confirm(saved.id).anchors == saved.anchors


def test_a_path_that_leads_out_of_the_project_is_refused(served: Memory) -> None:
    for path in ("/etc/passwd", "../secret", "a/../../b", "C:/Windows/x"):
        with pytest.raises(InvalidValueError):
            served.remember("Never read it", files=[path])


@pytest.mark.parametrize(
    ("path", "short"), [("a/./b.py", "a/b.py"), ("a\\b.py", "a/b.py"), ("a/x/../b.py", "a/b.py"), ("..", ""), ("", "")]
)
def test_paths_are_relative_with_forward_slashes(path: str, short: str) -> None:
    assert BareWorkspace(Person()).relative(server_location(SHOP), path) == short


def test_closing_it_leaves_the_store_open(served: Memory) -> None:
    with served:
        served.remember("Retries are capped at 3")
    assert len(served.lessons()) == 1
