"""Every number that the SQLite store goes by, most of them bounds of cost that show in no answer.

A change of one has to be written here, too; where it decides, the tests named after its module hold it.
"""

from __future__ import annotations

import ast
from importlib import import_module
from pathlib import Path
from types import ModuleType

import pytest

from holdfast.stores import sqlite
from holdfast.stores.sqlite import (
    connection,
    copying,
    derived,
    failures,
    fulltext,
    indexrows,
    lessons,
    matching,
    rows,
    states,
    triggers,
    turns,
    vectorindex,
    vectors,
    visible,
)

NUMBERS: dict[ModuleType, dict[str, float]] = {
    connection: {
        "SCHEMA": 8, "LONGEST_NAP_S": 0.004, "CACHE": -16_000, "WRITES_BEFORE_SHRINK": 200, "LOG_LIMIT": 1_000_000,
    },
    copying: {"NAP_S": 0.05},
    failures: {"IOERR_WRITE": 778, "IOERR_SHMSIZE": 4_874},
    fulltext: {
        "CHOSEN": 3_000, "CHOSEN_BY_COMMON": 500, "WIDER": 8, "COUNTED": 40_000, "TERM_LIMIT": 64, "COMMON_LIMIT": 20,
        "LEFT_OUT_AFTERWARDS": 15, "FEW_OTHERS": 500, "COMMON": 1_000, "COMMON_SHARE": 0.02,
    },
    indexrows: {
        "VERDICTS_KEPT": 20_000, "PRUNE_EVERY": 1_024, "SPARE_OUTLINES": 4_000, "ASKED_AT_ONCE": 500, "NARROW": 20,
    },
    lessons: {"ASKED_AT_ONCE": 500},
    matching: {"BESIDE": 500},
    states: {"DAY": 86_400_000_000},
    triggers: {"CODE_LIMIT": 200_000, "WORDS_LIMIT": 4_000, "SLICE": 500},
    turns: {"EVENTS_AT_ONCE": 5_000},
    vectorindex: {"EXACT_BELOW": 5_000, "SCANNED_AT_ONCE": 16_384, "READ_AT_ONCE": 5_000, "REPLACED": 0},
    vectors: {"RESCORED": 500, "RESCORED_FOR_EACH": 8, "WIDER": 4, "ERASED_AT_ONCE": 2_000},
    visible: {"LOOKED_UP": 500},
}  # fmt: skip


def names_assigned(path: Path) -> set[str]:
    """The constants of a module, by its source."""
    targets = [
        target
        for statement in ast.parse(path.read_text("utf-8")).body
        if isinstance(statement, ast.Assign)
        for target in statement.targets
    ]
    nodes = [node for target in targets for node in ast.walk(target) if isinstance(node, ast.Name)]
    return {node.id for node in nodes if node.id.isupper()}


def numbers_of(module: ModuleType) -> dict[str, float]:
    assert module.__file__ is not None
    values = {name: getattr(module, name) for name in names_assigned(Path(module.__file__))}
    return {name: value for name, value in values.items() if type(value) in (int, float)}


@pytest.mark.parametrize("module", NUMBERS, ids=lambda module: module.__name__.rpartition(".")[2])
def test_no_number_moves_unnoticed(module: ModuleType) -> None:
    numbers = numbers_of(module)
    numbers.pop("OPEN", None)  # the system's own
    assert numbers == NUMBERS[module]


def test_the_codes_of_tokens_are_those_of_older_files() -> None:
    assert rows.SOURCE_CODES == {
        "error": 1.0, "command": 1.0, "topic": 1.0, "symbol": 0.9, "path": 0.8, "file": 0.6, "mention": 0.5,
        "part": 0.4,
    }  # fmt: skip
    assert derived.SEARCHABLE == ("candidate", "active", "superseded", "retired", "quarantined")


def test_every_module_with_a_number_is_in_the_table() -> None:
    listed = {module.__name__.rpartition(".")[2] for module in NUMBERS}
    modules = [import_module(f"{sqlite.__name__}.{path.stem}") for path in Path(sqlite.__path__[0]).glob("[a-z]*.py")]
    assert {module.__name__.rpartition(".")[2] for module in modules if numbers_of(module)} == listed
