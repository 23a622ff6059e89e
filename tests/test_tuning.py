"""The numbers that steer the program: each explained and used, and no new one out of everybody's sight."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "holdfast"
TUNED = sorted(PACKAGE.rglob("tuning.py"))


HOT = ("capture/observe.py", "capture/sessionevents.py", "curation/taskstate.py", "lessons/staged.py")
"""Files that hooks load of rooms of which they load little else: a module of numbers more would cost each hook time."""
READERS = ("recall/enclosing.py", "recall/failure.py", "lessons/language.py")
"""Files that read text: their numbers limit how much of it they read."""


def place(file: Path) -> str:
    return file.relative_to(PACKAGE).as_posix()


def numeric_constants(file: Path) -> Iterator[tuple[str, str]]:
    """Each name that a module assigns a number or a table of numbers, with the text that stands below it."""
    body = ast.parse(file.read_text("utf-8")).body
    for statement, following in zip(body, [*body[1:], None], strict=False):
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
            continue
        values = [node.value for node in ast.walk(statement.value) if isinstance(node, ast.Constant)]
        if any(type(value) in (int, float) for value in values):
            text = following.value if isinstance(following, ast.Expr) else None
            sentence = str(text.value) if isinstance(text, ast.Constant) else ""
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            yield from ((n.id, sentence) for target in targets for n in ast.walk(target) if isinstance(n, ast.Name))


def words_by_file() -> dict[Path, frozenset[str]]:
    """Every word of the Python files of the package and its tests."""
    files = (*PACKAGE.rglob("*.py"), *(ROOT / "tests").rglob("*.py"))
    ours = (file for file in files if "golden" not in file.parts)
    return {file: frozenset(re.findall(r"\w+", file.read_text("utf-8"))) for file in ours}


def test_every_number_of_a_room_is_explained_and_steers_something() -> None:
    words = words_by_file()
    assert len(TUNED) >= 7
    for file in TUNED:
        used = frozenset().union(
            *(known for other, known in words.items() if PACKAGE in other.parents and other != file)
        )
        for name, sentence in numeric_constants(file):
            assert sentence.strip().endswith("."), f"{file}: {name} needs a sentence"
            assert name in used, f"{file}: nothing uses {name}"


def test_no_number_is_seen_by_its_own_module_alone() -> None:
    """Put it into the room's tuning.py with a test at its boundary, or let a test of its module name it."""
    words = words_by_file()
    unseen = set()
    for file in (file for file in PACKAGE.rglob("*.py") if place(file) not in HOT):
        module = file.parent.name if file.stem == "__init__" else file.stem
        others = [known for other, known in words.items() if other != file and module in known]
        for name, _ in numeric_constants(file):
            if not any(name in known for known in others):
                unseen.add(f"{place(file)} {name}")
    assert unseen == set(), "numbers that nothing else mentions"


@pytest.mark.parametrize("file", TUNED, ids=lambda file: file.parent.name)
def test_a_rooms_numbers_are_in_its_tuning_and_nowhere_else(file: Path) -> None:
    """But for those that are a format's, such as the length of an id, codes, and what follows from the others."""
    formats = {"FULL_ID", "FAR", "SEED", "_WORD", "WORD", "SIBLING"}
    codes = {"UNNAMED", "EVERYDAY_NAME", "TELLING"}
    derived = {"LOWEST", "HIGHEST", "EXACT_FLOOR"}
    others = (other for other in file.parent.rglob("*.py") if other != file and place(other) not in (*HOT, *READERS))
    assert {name for other in others for name, _ in numeric_constants(other)} <= formats | codes | derived
