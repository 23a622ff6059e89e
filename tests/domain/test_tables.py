"""The tables of kinds, moments and hosts fit together; `scripts/check_house.py` checks that there is one of each."""

from __future__ import annotations

import ast
from collections import Counter
from pathlib import Path
from typing import get_args

import pytest

from holdfast import plugins
from holdfast.domain import vocabulary
from holdfast.domain.kinds import KIND_PROFILES, LESSON_KINDS, family_of, profile_of
from holdfast.domain.moments import MOMENT_PROFILES
from holdfast.errors import InvalidValueError
from holdfast.ranking.aim import KIND_QUESTIONS, TASKS
from holdfast.surfaces.mcp.tools import Kind


@pytest.mark.parametrize(("name", "rows"), [("LessonKind", KIND_PROFILES), ("Moment", MOMENT_PROFILES)])
def test_every_name_for_type_checkers_has_its_row(name: str, rows: dict[str, object]) -> None:
    code = Path(vocabulary.__file__).read_text("utf-8")
    literals = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Assign)]
    [value] = [node.value for node in literals if ast.unparse(node).startswith(f"{name} = Literal")]
    assert {node.value for node in ast.walk(value) if isinstance(node, ast.Constant)} == set(rows)


def test_rows_name_tasks_and_questions_that_exist() -> None:
    profiles = KIND_PROFILES.values()
    assert {task for profile in profiles for task in profile.tasks} == set(TASKS)
    assert {question for profile in profiles for question in profile.questions} == set(KIND_QUESTIONS)


def test_no_two_kinds_share_a_place_in_a_file_and_no_two_moments_the_name_of_a_check() -> None:
    places = sorted(profile.rules_order for profile in KIND_PROFILES.values() if profile.rules_order)
    assert places == list(range(1, len(places) + 1))
    names = Counter(name for profile in MOMENT_PROFILES.values() for name in profile.check_names)
    assert set(names.values()) == {1}


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidValueError, match="rumour") as caught:
        profile_of("rumour")  # type: ignore[arg-type]
    assert all(kind in caught.value.hint for kind in LESSON_KINDS)


def test_kinds_without_a_family_stand_alone() -> None:
    assert family_of("bug_cause") == family_of("fix") != family_of("convention")
    assert family_of("exploration") == "exploration"


def test_the_mcp_tools_offer_the_kinds_that_agents_may_state() -> None:
    assert set(get_args(Kind)) == {kind for kind, profile in KIND_PROFILES.items() if profile.is_stated_by_agents}


def test_no_two_hosts_share_a_mark() -> None:
    marks = [plugins.load("hosts", name).profile.marks for name in plugins.builtin_names("hosts")]
    ranks = [mark.started_rank for mark in marks if mark.started]
    variables = [value for mark in marks for value in (mark.started, mark.session, mark.folder) if value]
    clients = [client for mark in marks for client in mark.client_names]
    for values in (ranks, variables, clients):
        assert len(set(values)) == len(values)
    assert not set(clients) & set(plugins.builtin_names("hosts"))
