"""A moment is one row, its function and the hosts' hooks for it: nothing else lists moments."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast.domain.moments import CHANNELS, MOMENT_PROFILES
from holdfast.domain.vocabulary import Moment
from holdfast.recall.inject import _chooser

SOURCE = Path(__file__).parents[1] / "src" / "holdfast"
EVENTS_TOO = {"session_start", "prompt"}
"""Names of moments that are kinds of events too: a list of these alone is no list of moments."""
LISTS_ALLOWED = {
    "domain/moments.py": "the table",
    "domain/vocabulary.py": "the names, for type checkers",
    "hosts": "a host says at which moments it takes a delivery",
}


def moments_in(node: ast.AST) -> set[str]:
    constants = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
    return {value for value in constants if isinstance(value, str) and value in MOMENT_PROFILES}


def lists_of_moments(code: str) -> Iterator[int]:
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Dict | ast.Tuple | ast.Set | ast.List):
            moments = moments_in(node)
            if len(moments) >= 2 and moments - EVENTS_TOO:
                yield node.lineno


def is_allowed(file: Path) -> bool:
    name = file.relative_to(SOURCE).as_posix()
    return name in LISTS_ALLOWED or name.partition("/")[0] in LISTS_ALLOWED


def test_only_the_table_lists_moments() -> None:
    lists = [
        f"{file.relative_to(SOURCE)}:{line}"
        for file in sorted(SOURCE.rglob("*.py"))
        if not is_allowed(file)
        for line in lists_of_moments(file.read_text(encoding="utf-8"))
    ]
    assert lists == []


@pytest.mark.parametrize("code", ['NOTICED = ("prompt", "before_file")', 'B = {"after_failure": 3, "prompt": 4}'])
def test_a_list_of_moments_is_seen(code: str) -> None:
    assert list(lists_of_moments(code)) == [1]


def test_a_list_of_kinds_of_events_is_none_of_moments() -> None:
    assert list(lists_of_moments('KINDS = ("session_start", "prompt", "reply")')) == []


def test_every_name_for_type_checkers_has_its_row() -> None:
    tree = ast.parse((SOURCE / "domain" / "vocabulary.py").read_text(encoding="utf-8"))
    named = next(
        moments_in(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "Moment" and moments_in(node)
    )
    assert named == set(MOMENT_PROFILES)


@pytest.mark.parametrize("moment", CHANNELS)
def test_every_pushed_moment_has_a_function_of_its_own_but_that_a_compaction_is_like_a_start(moment: Moment) -> None:
    assert _chooser(moment).__name__ == ("session_start" if moment == "after_compaction" else moment)


def test_no_two_moments_share_the_name_of_a_check() -> None:
    names = [name for profile in MOMENT_PROFILES.values() for name in profile.check_names]
    assert len(names) == len(set(names))


def test_each_row_says_what_the_moment_means() -> None:
    """The rows, so that a change of one is a change of this list too."""

    def moments_where(field: str) -> set[str]:
        return {moment for moment, profile in MOMENT_PROFILES.items() if getattr(profile, field)}

    assert moments_where("is_pushed") == set(MOMENT_PROFILES) - {"on_demand"}
    assert moments_where("is_particular") == {"prompt", "before_file", "before_command", "after_failure"}
    assert moments_where("is_patient") == {"session_start", "after_compaction", "prompt"}
    assert moments_where("restores_task") == {"session_start", "after_compaction"}
    assert {moment: profile.budget_tokens for moment, profile in MOMENT_PROFILES.items()} == {
        "session_start": 2_300, "prompt": 400, "before_file": 300, "before_command": 300, "after_failure": 300,
        "after_compaction": 2_300, "before_end": 100, "on_demand": 2_000,
    }  # fmt: skip
