"""Changes single decisions of the source and counts how many changes the tests notice.

    python scripts/mutate.py --seed 7 --count 60
    python scripts/mutate.py --only src/holdfast/ranking/fuse.py:41
    python scripts/mutate.py --seed 8 --count 200 --json benchmarks/results/mutants.json

A mutant is one changed number, word of a closed set, comparison, `and`/`or`, `not`, `min`/`max`, guard or returned
value (`mutants.py`). Each is written into a scratch copy of the tree and run against the tests that reach it, the
nearest first. Which tests reach which line is measured once (`reached_lines.py`) and again with --measure; measure
again when tests or lines have moved. Tests that start a process of their own run the code unchanged, so the share
told here is a lower bound. `mutants_equivalent.toml` names the changes that cannot be noticed, each with its reason.
"""

from __future__ import annotations

import argparse
import ast
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import coverage

from mutants import Mutant, find_closed_sets, find_mutants

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "src" / "holdfast"
EQUIVALENT = ROOT / "scripts" / "mutants_equivalent.toml"
REACHED = ROOT / "build" / "mutants"
ROOMS = ("ranking", "learning", "freshness", "recall", "stores")
TESTS = (
    "ranking", "learning", "freshness", "recall", "stores", "curation", "lessons", "outcomes", "capture", "service",
    "publishing", "rendering", "compare", "surfaces/test_branches.py", "surfaces/test_cli_commands.py",
    "surfaces/test_cli_conflicts.py", "surfaces/test_cli_index.py", "surfaces/test_cli_verify.py",
    "surfaces/test_crossing.py", "surfaces/test_mcp.py",
)  # fmt: skip
"""The tests that reach the rooms without starting processes of their own."""
COPIED = ("src", "tests", "scripts", "benchmarks", "docs", "examples", "plugins")
START_S, SLOWER = 120.0, 8.0
"""A run may take so long to start, and so many times what its tests took when they were measured."""
FIRST = 40
"""So many tests, the nearest, are run before the others: most mutants end there."""
TESTS_S = 25.0
"""The tests of one mutant, the nearest first, take at most this long together when measured."""
WORD = re.compile(r"\w+")
TIME = "time"
OUTCOMES = ("killed", "survived", "equivalent")
"""What becomes of a mutant; equivalent is one that nothing can notice."""


@dataclass(frozen=True)
class Result:
    """What became of one mutant."""

    room: str
    place: str
    kind: str
    before: str
    after: str
    source_line: str
    outcome: str
    tests: int
    told_by: str
    """The first test that failed, TIME for a run that did not end, or why the mutant is equivalent."""


def main() -> int:
    """0 once every drawn mutant is decided."""
    options = _parse_options()
    for entry in _idle_equivalents():
        print(f"mutants_equivalent.toml: no such mutant any more: {entry}", file=sys.stderr)
    if options.measure or not (REACHED / "reached.db").exists():
        _measure()
    drawn = _draw(options)
    equivalent = _load_equivalent()
    results: list[Result] = []
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        reach = Reach()
        tree = Tree(Path(folder), reach.durations)
        for number, mutant in enumerate(drawn, 1):
            if mutant.key in equivalent:
                result = _decided(mutant, "equivalent", 0, equivalent[mutant.key])
            else:
                result = tree.try_out(mutant, reach.tests(mutant))
            results.append(result)
            print(f"{number}/{len(drawn)} {result.outcome:10} {result.place}  {result.before} -> {result.after}"
                  f"  [{result.tests} tests; {result.told_by}]", flush=True)  # fmt: skip
            if options.json:
                _write(options.json, str(options.seed), results)
    print(render_table(results))
    return 0


def _parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", type=int, default=1, help="the same seed draws the same mutants of the same source")
    parser.add_argument("--count", type=int, default=60, help="how many, spread evenly over the rooms")
    parser.add_argument("--room", action="append", choices=ROOMS, help="only this room; may be given again")
    parser.add_argument(
        "--only", action="append", metavar="FILE:LINE", help="every mutant of this line; as often as needed"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="keep the results there, beside those of other seeds")
    parser.add_argument("--measure", action="store_true", help="measure again which tests reach which line")
    return parser.parse_args()


def _measure() -> None:
    """Run the tests once and write down what each reaches."""
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:randomly"]
    measuring = ["-p", "reached_lines", "--reached", str(REACHED)]
    tests = [f"tests/{name}" for name in TESTS]
    subprocess.run([*pytest, *measuring, *tests], cwd=ROOT, env={**os.environ, "PYTHONPATH": "scripts"}, check=True)


def _draw(options: argparse.Namespace) -> list[Mutant]:
    """The mutants of this run: those of the named lines, or as many of each room as the count allows."""
    following = find_closed_sets([file.read_text("utf-8") for file in PACKAGE.rglob("*.py")])

    def places(file: Path) -> list[list[Mutant]]:
        return find_mutants(file.relative_to(ROOT).as_posix(), file.read_text("utf-8"), following)

    if options.only:
        lines = [line.rpartition(":") for line in options.only]
        return [m for path, _, line in lines for place in places(ROOT / path) for m in place if m.line == int(line)]
    rooms = options.room or list(ROOMS)
    draw = random.Random(options.seed)
    drawn: list[Mutant] = []
    for number, room in enumerate(rooms):
        share = options.count // len(rooms) + (number < options.count % len(rooms))
        of_room = [place for file in sorted((PACKAGE / room).rglob("*.py")) for place in places(file)]
        drawn += [draw.choice(place) for place in draw.sample(of_room, min(share, len(of_room)))]
    return drawn


def _idle_equivalents() -> Iterator[str]:
    """Entries whose line is gone or was reworded: they explain nothing any more."""
    following = find_closed_sets([file.read_text("utf-8") for file in PACKAGE.rglob("*.py")])
    drawn: dict[str, set[tuple[str, str, str, str]]] = {}
    for path, line, before, after in _load_equivalent():
        if path not in drawn and (ROOT / path).exists():
            places = find_mutants(path, (ROOT / path).read_text("utf-8"), following)
            drawn[path] = {mutant.key for place in places for mutant in place}
        if (path, line, before, after) not in drawn.get(path, ()):
            yield f"{path}: {line}"


def _load_equivalent() -> dict[tuple[str, str, str, str], str]:
    """The reason of each mutant that no test can notice."""
    if not EQUIVALENT.exists():
        return {}
    entries = tomllib.loads(EQUIVALENT.read_text("utf-8"))["equivalent"]
    return {(entry["path"], entry["line"], entry["before"], entry["after"]): entry["reason"] for entry in entries}


class Reach:
    """Which tests reach a change, as measured."""

    def __init__(self) -> None:
        self.lines = coverage.CoverageData(str(REACHED / "reached.db"))
        self.lines.read()
        self.durations: dict[str, float] = json.loads((REACHED / "durations.json").read_text("utf-8"))
        self.of_file: dict[str, list[str]] = defaultdict(list)
        for nodeid in self.durations:
            self.of_file[nodeid.partition("::")[0]].append(nodeid)
        self.words_of_file = {file: set(WORD.findall((ROOT / file).read_text("utf-8"))) for file in self.of_file}
        self.contexts: dict[str, dict[int, list[str]]] = {}
        self.mentions, self.made_of = _find_mentions()

    def tests(self, mutant: Mutant) -> list[str]:
        """The tests that reach this change, the nearest first, up to TESTS_S."""
        if mutant.names:
            lines = [place for name in self._spread(mutant.names) for place in self.mentions[name]]
        else:
            lines = [(mutant.path, line) for line in range(mutant.lines[0], mutant.lines[1] + 1)]
        reaching = {nodeid for path, line in lines for nodeid in self._tests_of_line(path, line)}
        for file, words in self.words_of_file.items():
            if words & mutant.names:  # a test may hand a constant over itself
                reaching.update(self.of_file[file])
        chosen: list[str] = []
        left = TESTS_S
        for nodeid in sorted(reaching, key=lambda nodeid: (_distance(mutant.path, nodeid), self.durations[nodeid])):
            left -= self.durations[nodeid]
            if left < 0:
                break
            chosen.append(nodeid)
        return chosen

    def _spread(self, names: frozenset[str]) -> set[str]:
        """These names, and the constants that are made of them."""
        spread, size = set(names), 0
        while size != len(spread):
            size = len(spread)
            spread |= {made for made, parts in self.made_of.items() if spread & parts}
        return spread

    def _tests_of_line(self, path: str, line: int) -> Iterator[str]:
        if path not in self.contexts:
            self.contexts[path] = self.lines.contexts_by_lineno(str(ROOT / path))
        for reacher in self.contexts[path].get(line, ()):
            if reacher in self.durations:
                yield reacher
            else:  # a file, whose shared fixture reaches the line; "" is the time before the first test
                yield from self.of_file.get(reacher, ())


def _find_mentions() -> tuple[dict[str, list[tuple[str, int]]], dict[str, set[str]]]:
    """For each name the lines inside functions that mention it; for each constant the names that its value mentions."""
    mentions: dict[str, list[tuple[str, int]]] = defaultdict(list)
    made_of: dict[str, set[str]] = defaultdict(set)
    for file in PACKAGE.rglob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        path = file.relative_to(ROOT).as_posix()
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef):
                for statement in node.body:
                    for name, line in _names_in(statement):
                        mentions[name].append((path, line))
        for assigned in tree.body:
            if isinstance(assigned, ast.Assign | ast.AnnAssign) and assigned.value is not None:
                targets = assigned.targets if isinstance(assigned, ast.Assign) else [assigned.target]
                parts = {name for name, _ in _names_in(assigned.value)}
                for name in (name for target in targets for name, _ in _names_in(target)):
                    made_of[name] |= parts
    return mentions, made_of


def _names_in(tree: ast.AST) -> Iterator[tuple[str, int]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Name):
            yield node.id, node.lineno
        elif isinstance(node, ast.Attribute):
            yield node.attr, node.lineno


def _distance(path: str, nodeid: str) -> int:
    """0 for the tests named after the module, 1 for the room's, 2 for all others."""
    room, stem = path.split("/")[2], Path(path).stem
    file = nodeid.partition("::")[0]
    return 0 if stem in Path(file).stem else 1 if file.startswith(f"tests/{room}/") else 2


class Tree:
    """A scratch copy of the tree, in which one file at a time is changed and changed back."""

    def __init__(self, folder: Path, durations: dict[str, float]) -> None:
        self.folder, self.durations = folder, durations
        for name in COPIED:
            shutil.copytree(ROOT / name, folder / name, symlinks=True)
        for file in (*ROOT.glob("*.toml"), *ROOT.glob("*.md"), ROOT / "Makefile", ROOT / "LICENSE"):
            shutil.copy2(file, folder / file.name)
        self.environment = {**os.environ, "PYTHONPATH": str(folder / "src"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        self.environment.pop("PYTHONDONTWRITEBYTECODE", None)  # most of a short run is compiling the tests
        self.tried = 0
        self.sound: set[str] = set()
        """Tests that have passed here without a change."""

    def try_out(self, mutant: Mutant, tests: Sequence[str]) -> Result:
        """Run the tests with this change; a failure counts only when the test passes without it."""
        if not tests:
            return _decided(mutant, "survived", 0, "no test reaches it")
        file = self.folder / mutant.path
        source, times = file.read_bytes(), file.stat()
        file.write_bytes(mutant.applied(source))
        self.tried += 1  # a time of its own, so that what an earlier mutant was compiled to is not taken for this one
        os.utime(file, (times.st_atime, times.st_mtime - 2 * self.tried))
        try:
            failed = self._run(tests[:FIRST])
            if failed is None and tests[FIRST:]:
                failed = self._run(tests[FIRST:])
        finally:
            file.write_bytes(source)
            os.utime(file, ns=(times.st_atime_ns, times.st_mtime_ns))  # its compiled form stays valid
        if failed is None:
            return _decided(mutant, "survived", len(tests), "")
        if failed == TIME and self._run(tests) == TIME:
            return _decided(mutant, "survived", len(tests), "the tests take too long unchanged, too")
        if failed in tests and failed not in self.sound:
            if self._run([failed]) is not None:
                return self.try_out(mutant, [nodeid for nodeid in tests if nodeid != failed])
            self.sound.add(failed)
        return _decided(mutant, "killed", len(tests), failed)

    def _run(self, tests: Sequence[str]) -> str | None:
        """The first test that fails, TIME when they do not end, None when all pass."""
        listed = self.folder / "tests.txt"
        listed.write_text("\n".join(tests), encoding="utf-8")
        options = ["-x", "-q", "-p", "no:cacheprovider", "--assert=plain", "--tb=no"]
        seeded = ["-p", "_hypothesis_pytestplugin", "--hypothesis-seed=0"]
        running = subprocess.Popen(
            [sys.executable, "-m", "pytest", *options, *seeded, f"@{listed}"],
            cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            text=True, start_new_session=True,
        )  # fmt: skip
        limit_s = START_S + SLOWER * sum(self.durations[nodeid] for nodeid in tests)
        try:
            output, _ = running.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()
            return TIME
        if running.returncode == 0:
            return None
        if running.returncode > 2:
            raise SystemExit(f"the tests cannot be run; after a change of tests: --measure\n{output[-2000:]}")
        failed = [line.partition(" ")[2] for line in output.splitlines() if line.startswith(("FAILED ", "ERROR "))]
        named = [nodeid for nodeid in tests if failed and failed[0].startswith(nodeid)]
        return max(named, key=len) if named else f"pytest ended with {running.returncode}"


def _decided(mutant: Mutant, outcome: str, tests: int, told_by: str) -> Result:
    return Result(
        mutant.path.split("/")[2], f"{mutant.path}:{mutant.line}", mutant.kind, mutant.before, mutant.after,
        mutant.source_line, outcome, tests, told_by,
    )  # fmt: skip


def _write(file: Path, seed: str, results: Sequence[Result]) -> None:
    """Put this run beside those of other seeds."""
    runs = json.loads(file.read_text("utf-8")) if file.exists() else {}
    runs[seed] = {"figures": figures(results), "mutants": [asdict(result) for result in results]}
    file.write_text(json.dumps(runs, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def figures(results: Sequence[Result]) -> dict[str, dict[str, int]]:
    """How many were drawn and what became of them, by room and in all."""
    by_room: dict[str, Counter[str]] = {room: Counter() for room in (*dict.fromkeys(r.room for r in results), "all")}
    for result in results:
        for room in (result.room, "all"):
            by_room[room].update(["drawn", result.outcome])
    return {room: {name: count[name] for name in ("drawn", *OUTCOMES)} for room, count in by_room.items()}


def render_table(results: Sequence[Result]) -> str:
    """The figures as a Markdown table; the share is that of the mutants that can be noticed."""
    lines = ["| room | drawn | killed | survived | equivalent | share killed |", "|---|---|---|---|---|---|"]
    for room, count in figures(results).items():
        noticeable = count["killed"] + count["survived"]
        share = f"{count['killed'] / noticeable:.0%}" if noticeable else "-"
        lines.append(f"| {room} | " + " | ".join(str(number) for number in count.values()) + f" | {share} |")
    return "\n".join(lines)


if __name__ == "__main__":
    raise SystemExit(main())
