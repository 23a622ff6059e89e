"""Refuses names the glossary rules out, in what this repository defines (not in what it calls).

    python scripts/check_names.py

Exit 1 with one line a finding. The words and the reasons are in docs/reference/glossary.md.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("src", "packages", "scripts", "benchmarks", "examples", "tests")
SKIPPED = ("examples/ledger/repository", "tests/golden", "packages/holdfast-hosts/tests/golden")

NEVER_PART = frozenset({"manager", "helper", "helpers", "utils", "util", "smart", "engine"})
"""Refused as any part of a name."""
NEVER_BARE = frozenset({"told", "held", "given", "found", "kept", "said", "asked", "one"})
"""Refused as the name of a variable or a parameter: they say neither its type nor its role. Fields of records may have
them: `bill.told` says what `told` alone does not."""
NEVER_FILE = NEVER_PART | NEVER_BARE | {"base", "common", "data", "info", "misc", "stuff"}
REPLACED = frozenset({
    "Parts", "Place", "LaneShare", "Bar", "Chance", "Fit", "Draw", "Found", "Desk", "Retelling", "Heard", "Wiring",
    "Views",
    "Told",
})  # fmt: skip
"""Class names that the field's words replaced."""
REPLACED_FILES = frozenset({"parts", "place", "bar", "desk", "retelling", "gitcalm"})
OF_TWO = frozenset({"Memory", "Checkpoint"})
"""Class names that the package has twice: `Memory` is wired by its sub-class, `Checkpoint` is a record and a tool."""
SPLIT = re.compile(r"_|(?<=[a-z0-9])(?=[A-Z])")


def main() -> int:
    """The number of findings, at most 1."""
    findings = [*(finding for file in _files() for finding in _check(file)), *_of_two()]
    print("\n".join(findings) if findings else "names: fine", file=sys.stderr if findings else sys.stdout)
    return min(1, len(findings))


def _files() -> list[Path]:
    files = (file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
    return sorted(file for file in files if not file.relative_to(ROOT).as_posix().startswith(SKIPPED))


def _check(file: Path) -> Iterator[str]:
    where = file.relative_to(ROOT).as_posix()
    if file.stem in NEVER_FILE | REPLACED_FILES:
        yield f"{where}: a module named {file.stem}"
    in_package = where.startswith("src/") and not file.stem.startswith("_")
    if in_package and file.stem in sys.stdlib_module_names:
        yield f"{where}: a module named like the standard library's {file.stem}"
    tree = ast.parse(file.read_text(encoding="utf-8"))
    for name, line in (*_callables(tree), *_variables(tree)):
        if NEVER_PART.intersection(part.lower() for part in SPLIT.split(name)):
            yield f"{where}:{line}: {name}"
    yield from (f"{where}:{line}: {name}" for name, line in _variables(tree) if name in NEVER_BARE)


def _of_two() -> Iterator[str]:
    """Public classes of the package that have another one's name."""
    first: dict[str, str] = {}
    for file in (file for file in _files() if file.is_relative_to(ROOT / "src")):
        where = file.relative_to(ROOT).as_posix()
        for name, line in _classes(ast.parse(file.read_text(encoding="utf-8"))):
            if name in first and not name.startswith("_") and name not in OF_TWO:
                yield f"{where}:{line}: {name} is also in {first[name]}"
            first.setdefault(name, where)


def _classes(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every class that is defined, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name, node.lineno


def _callables(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every function, method and class that is defined, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name, node.lineno


def _variables(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every variable and parameter, with its line; the fields of records are left out."""
    fields = {
        id(field.target)
        for record in ast.walk(tree) if isinstance(record, ast.ClassDef)
        for field in record.body if isinstance(field, ast.AnnAssign)
    }  # fmt: skip
    for node in ast.walk(tree):
        if isinstance(node, ast.arg):
            yield node.arg, node.lineno
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in fields:
            yield node.id, node.lineno


if __name__ == "__main__":
    sys.exit(main())
