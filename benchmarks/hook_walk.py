"""Counts what a hook runs in a warm server: files, functions, calls, and transactions of each kind of hook.

    python -m benchmarks.hook_walk [--lessons 200] [--json FILE] [--transactions]

One scratch home with a repository and lessons (`benchmarks.hook.Bench`). Every kind of hook is answered a few times
first, so that nothing is imported while it is counted. A *climb* is a call to a file in a room above the caller's, by
the rows of the import contract in `pyproject.toml`. Nothing is timed and nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import tomllib
from collections import Counter
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from benchmarks.hook import Bench

import holdfast
from holdfast.bootstrap import Memory
from holdfast.service import hook
from holdfast.settings import load_settings

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = Path(holdfast.__file__).parent
WARM_UP = 3


class Walk:
    """The functions of the package that run while it is active, and who called them."""

    def __init__(self, floors: dict[str, int]) -> None:
        self._floors = floors
        self.functions: Counter[CodeType] = Counter()
        self.leaving = 0
        self.climbs = 0

    def __enter__(self) -> Walk:
        sys.setprofile(self._note)
        return self

    def __exit__(self, *exc: object) -> None:
        sys.setprofile(None)

    def _note(self, frame: FrameType, event: str, argument: Any) -> None:
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(str(PACKAGE)):
            return
        self.functions[code] += 1
        caller = frame.f_back
        while caller is not None and not caller.f_code.co_filename.startswith(str(PACKAGE)):
            caller = caller.f_back
        if caller is not None and caller.f_code.co_filename != code.co_filename:
            self.leaving += 1
            self.climbs += self._floor(code) > self._floor(caller.f_code)

    def _floor(self, code: CodeType) -> int:
        room = Path(code.co_filename).relative_to(PACKAGE).parts[0].removesuffix(".py")
        return self._floors.get(room, 0)

    def count(self, name: str) -> int:
        """How often functions of that qualified name ran."""
        return sum(times for code, times in self.functions.items() if code.co_qualname == name)

    def figures(self) -> dict[str, int]:
        """Files, functions, calls, calls that leave a file, and climbs."""
        return {
            "files": len({code.co_filename for code in self.functions}), "functions": len(self.functions),
            "calls": sum(self.functions.values()), "leaving": self.leaving, "climbs": self.climbs,
        }  # fmt: skip


def load_floors() -> dict[str, int]:
    """The floor of each room, counted from the lowest row of the contract."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    layers = next(contract["layers"] for contract in contracts if contract["type"] == "layers")
    return {room.strip(): floor for floor, row in enumerate(reversed(layers)) for room in row.split("|")}


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--lessons", type=int, default=200)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--transactions", action="store_true", help="list the statements between BEGIN and COMMIT")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(Path(scratch), options.lessons)
        with Memory(str(bench.repository), settings=load_settings(bench.env)) as memory:
            rows = _walk(bench, memory, options.transactions)
    names = list(next(iter(rows.values())))
    print("| hook | " + " | ".join(names) + " |\n|---|" + "---|" * len(names))
    for kind, row in rows.items():
        print(f"| {kind} | " + " | ".join(f"{row[name]:,}" for name in names) + " |")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")
    return 0


def _walk(bench: Bench, memory: Memory, shows: bool) -> dict[str, dict[str, int]]:
    floors = load_floors()
    for _ in range(WARM_UP):
        for payload in bench.payloads().values():
            _answer(memory, payload)
    rows: dict[str, dict[str, int]] = {}
    statements: list[str] = []
    memory.services.store._connection.sql.set_trace_callback(statements.append)  # type: ignore[attr-defined]
    for kind, payload in bench.payloads().items():
        statements.clear()
        with Walk(floors) as walk:
            text = _answer(memory, payload)
        begun = [statement for statement in statements if statement.startswith("BEGIN")]
        rows[kind] = walk.figures() | {
            "transactions": len(begun), "writes": begun.count("BEGIN IMMEDIATE"),
            "clock": walk.count("SystemClock.now"), "redactions": walk.count("redact") + walk.count("redact_to"),
            "characters": len(text),
        }  # fmt: skip
        if shows:
            print(f"# {kind}", *(" ".join(statement.split())[:150] for statement in statements), sep="\n    ")
    return rows


def _answer(memory: Memory, payload: dict[str, Any]) -> str:
    return hook.answer(memory.for_hooks(), "claude-code", payload)


if __name__ == "__main__":
    sys.exit(main())
