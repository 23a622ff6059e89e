"""Refuses names the glossary rules out, in what this repository defines (not in what it calls).

    python scripts/check_names.py

Exit 1 with one line a finding. The words and the reasons are in docs/reference/glossary.md.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Mapping
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
    findings = list(find_all({file: ast.parse(file.read_text(encoding="utf-8")) for file in iter_files()}))
    print("\n".join(findings) if findings else "names: fine", file=sys.stderr if findings else sys.stdout)
    return min(1, len(findings))


def iter_files() -> list[Path]:
    """Every Python file of this repository whose names are checked."""
    files = (file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
    return sorted(file for file in files if not file.relative_to(ROOT).as_posix().startswith(SKIPPED))


def find_all(trees: Mapping[Path, ast.Module]) -> Iterator[str]:
    """One line for each name that is refused."""
    for file, tree in trees.items():
        yield from _check(file, tree)
    yield from _of_two({file: tree for file, tree in trees.items() if file.is_relative_to(ROOT / "src")})


def _check(file: Path, tree: ast.Module) -> Iterator[str]:
    where = file.relative_to(ROOT).as_posix()
    if file.stem in NEVER_FILE | REPLACED_FILES:
        yield f"{where}: a module named {file.stem}"
    in_package = where.startswith("src/") and not file.stem.startswith("_")
    if in_package and file.stem in sys.stdlib_module_names:
        yield f"{where}: a module named like the standard library's {file.stem}"
    callables, variables = _names(tree)
    for name, line in (*callables, *variables):
        if NEVER_PART.intersection(part.lower() for part in SPLIT.split(name)):
            yield f"{where}:{line}: {name}"
    yield from (f"{where}:{line}: {name}" for name, line in variables if name in NEVER_BARE)


def _of_two(trees: Mapping[Path, ast.Module]) -> Iterator[str]:
    """Public classes of the package that have another one's name."""
    first: dict[str, str] = {}
    for file, tree in trees.items():
        where = file.relative_to(ROOT).as_posix()
        for name, line in _classes(tree):
            if name in first and not name.startswith("_") and name not in OF_TWO:
                yield f"{where}:{line}: {name} is also in {first[name]}"
            first.setdefault(name, where)


def _classes(tree: ast.AST) -> Iterator[tuple[str, int]]:
    """Every class that is defined, with its line."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            yield node.name, node.lineno


def _names(tree: ast.AST) -> tuple[list[tuple[str, int]], list[tuple[str, int]]]:
    """What is defined, and every variable and parameter, each with its line; the fields of records are left out."""
    callables: list[tuple[str, int]] = []
    variables: list[tuple[str, int]] = []
    fields: set[int] = set()
    for node in ast.walk(tree):  # a class comes before its fields
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            callables.append((node.name, node.lineno))
            if isinstance(node, ast.ClassDef):
                fields |= {id(field.target) for field in node.body if isinstance(field, ast.AnnAssign)}
        elif isinstance(node, ast.arg):
            variables.append((node.arg, node.lineno))
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and id(node) not in fields:
            variables.append((node.id, node.lineno))
    return callables, variables


if __name__ == "__main__":
    sys.exit(main())
