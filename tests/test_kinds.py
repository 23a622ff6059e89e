"""Adding a kind of lesson is one row: nothing outside `domain/kinds` lists kinds or asks for one by name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

from holdfast.domain.kinds import KIND_PROFILES, LESSON_KINDS, family_of, profile_of
from holdfast.errors import InvalidValueError
from holdfast.ranking.aim import KIND_QUESTIONS, TASKS

SOURCE = Path(__file__).parents[1] / "src" / "holdfast"
AMBIGUOUS = {"fix", "decision", "checkpoint"}
"""Kinds whose names are everyday words too: a list with one of them and a single other kind is no list of kinds."""
LISTS_ALLOWED = {
    "domain/kinds.py": "the table",
    "domain/vocabulary.py": "the names, for type checkers",
    "detectors": "a detector says of which kind its finds are",
    "text/kindwords.py": "the words that show a kind",
    "importers": "an importer says which kind a foreign word means",
}
ROOMS_THAT_ASK = (
    "text", "compare", "ranking", "rendering", "lessons", "freshness", "outcomes", "curation", "recall", "publishing",
    "backfill", "installing", "upkeep", "surfaces", "service", "learning",
)  # fmt: skip
COMPARISONS_ALLOWED = {"learning/commitfinds.py": "it asks for the kind that it gave itself"}


def is_allowed(file: Path, allowed: dict[str, str]) -> bool:
    name = file.relative_to(SOURCE).as_posix()
    return name in allowed or name.partition("/")[0] in allowed


def kinds_in(node: ast.AST) -> set[str]:
    constants = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
    return {value for value in constants if isinstance(value, str) and value in KIND_PROFILES}


def lists_of_kinds(code: str) -> Iterator[int]:
    """The lines at which a literal or a subscript names two kinds or more."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Dict | ast.Tuple | ast.Set | ast.List):
            kinds = kinds_in(node)
            if len(kinds) >= 2 and kinds - AMBIGUOUS:
                yield node.lineno


def comparisons_with_kinds(code: str) -> Iterator[int]:
    """The lines at which an attribute `kind` is compared with the name of a kind."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Compare) and kinds_in(node):
            sides = (node.left, *node.comparators)
            if any(isinstance(side, ast.Attribute) and side.attr == "kind" for side in sides):
                yield node.lineno


def test_only_the_table_lists_kinds() -> None:
    lists = [
        f"{file.relative_to(SOURCE)}:{line}"
        for file in sorted(SOURCE.rglob("*.py"))
        if not is_allowed(file, LISTS_ALLOWED)
        for line in lists_of_kinds(file.read_text(encoding="utf-8"))
    ]
    assert lists == []


def test_use_cases_ask_the_table_and_not_for_a_kind_by_name() -> None:
    lists = [
        f"{file.relative_to(SOURCE)}:{line}"
        for room in ROOMS_THAT_ASK
        for file in sorted((SOURCE / room).rglob("*.py"))
        if not is_allowed(file, COMPARISONS_ALLOWED)
        for line in comparisons_with_kinds(file.read_text(encoding="utf-8"))
    ]
    assert lists == []


@pytest.mark.parametrize(
    "code",
    [
        'KINDS = ("tooling", "preference")',
        'MINUTES = {"bug_cause": 6, "fix": 4}',
        'KINDS = frozenset({"convention", "fix"})',
    ],
)
def test_a_list_of_kinds_is_seen(code: str) -> None:
    assert list(lists_of_kinds(code)) == [1]


@pytest.mark.parametrize("code", ['lesson.kind == "tooling"', '"fix" != one.kind', 'lesson.kind in ("fix",)'])
def test_a_comparison_with_a_kind_is_seen(code: str) -> None:
    assert list(comparisons_with_kinds(code)) == [1]


def test_every_name_for_type_checkers_has_its_row() -> None:
    tree = ast.parse((SOURCE / "domain" / "vocabulary.py").read_text(encoding="utf-8"))
    named = next(
        kinds_in(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "LessonKind" and kinds_in(node)
    )
    assert named == set(LESSON_KINDS)


def test_rows_name_tasks_and_questions_that_exist() -> None:
    profiles = KIND_PROFILES.values()
    assert {task for profile in profiles for task in profile.tasks} == set(TASKS)
    assert {question for profile in profiles for question in profile.questions} == set(KIND_QUESTIONS)


def test_no_two_kinds_share_a_place_in_a_file() -> None:
    places = sorted(profile.rules_order for profile in KIND_PROFILES.values() if profile.rules_order)
    assert places == list(range(1, len(places) + 1))


def test_an_unknown_kind_is_refused_with_the_known_ones() -> None:
    with pytest.raises(InvalidValueError, match="unknown kind 'rumour'") as caught:
        profile_of("rumour")  # type: ignore[arg-type]
    assert "convention" in caught.value.hint


def test_the_mcp_tools_offer_the_kinds_that_agents_may_state() -> None:
    from holdfast.surfaces.mcp.tools import Kind

    offered = {kind for kind, profile in KIND_PROFILES.items() if profile.is_stated_by_agents}
    assert set(get_args(Kind)) == offered


def test_kinds_without_a_family_stand_alone() -> None:
    assert family_of("bug_cause") == family_of("fix") != family_of("convention")
    assert family_of("exploration") == "exploration"


def test_each_row_says_what_the_kind_means() -> None:
    """The rows, so that a change of one is a change of this list too."""

    def kinds_where(field: str) -> set[str]:
        return {kind for kind, profile in KIND_PROFILES.items() if getattr(profile, field)}

    assert kinds_where("may_stand") == {"preference", "convention"}
    assert kinds_where("is_instruction") == {
        "constraint", "convention", "preference", "tooling", "failed_approach", "fix",
    }  # fmt: skip
    assert kinds_where("names_failure") == {"fix", "bug_cause", "failed_approach", "tooling"}
    assert kinds_where("tells_failure_class") == {
        "fix", "bug_cause", "failed_approach", "tooling", "constraint", "convention",
    }  # fmt: skip
    assert kinds_where("is_told_at_prompt") == set(LESSON_KINDS) - {"exploration"}
    assert kinds_where("is_told_at_command") == set(LESSON_KINDS) - {"decision", "checkpoint"}
    assert kinds_where("is_told_at_failure") == set(LESSON_KINDS) - {"decision", "checkpoint", "exploration"}
    assert kinds_where("is_stated_by_agents") == set(LESSON_KINDS) - {"checkpoint", "exploration"}
    assert kinds_where("rules_order") == set(LESSON_KINDS) - {"checkpoint", "exploration"}
    assert kinds_where("is_personal") == {"preference"}
    assert kinds_where("may_forbid_text") == kinds_where("is_staged_unanchored") == {"decision"}
    assert kinds_where("tells_command") == {"tooling"}
