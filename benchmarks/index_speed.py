"""First index of a real repository against ctags over the same files, the second run, and a recall after an edit.

    python benchmarks/index_speed.py --repo PATH [--ctags ctags] [--rounds 5] [--json FILE]

The repository is copied to a scratch folder and committed there. ctags writes symbol lines only; the index has spans
and fingerprints of heads and bodies besides. The ratio is of wall time in one run (best of the
rounds, taking turns); processor time is beside it because parsing uses all cores and ctags one. Aims: at most 3 times
ctags; a second run that reads nothing; a recall after one edit that costs under 50 ms more. Nothing is asserted.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from holdfast.bootstrap import Memory
from holdfast.codeindex import languages
from holdfast.codeindex import refresh as workers
from holdfast.codeindex.refresh import Refresh
from holdfast.codeindex.walk import walk
from holdfast.settings import load_settings
from holdfast.stores.sqlite.indexfile import SqliteIndex, make_index

LESSONS = 20


def spent(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of wall time and of processor time, children included."""

    def cpu() -> float:
        both = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(usage.ru_utime + usage.ru_stime for usage in both)

    begun, cpu_begun = time.perf_counter(), cpu()
    work()
    return time.perf_counter() - begun, cpu() - cpu_begun


def copy_of(repository: Path, folder: Path) -> Path:
    """The repository's files in a scratch repository with one commit."""
    copy = folder / "repo"
    shutil.copytree(repository, copy, ignore=shutil.ignore_patterns(".git"), symlinks=True)
    git = ["git", "-C", str(copy), "-c", "user.name=bench", "-c", "user.email=bench@example.com"]
    for arguments in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "start"]):
        subprocess.run([*git, *arguments], check=True)
    long_ago = time.time() - 3600
    for path in walk(str(copy)).files:
        os.utime(copy / path, (long_ago, long_ago))
    return copy


class Bench:
    """One repository's measurements."""

    def __init__(self, folder: Path, repository: Path, ctags: str) -> None:
        self.folder = folder
        self.root = copy_of(repository, folder)
        self.ctags = shutil.which(ctags) or ""
        self.files = sorted(path for path in walk(str(self.root)).files if languages.for_path(path))
        self.list = folder / "files.txt"
        self.list.write_text("".join(f"{path}\n" for path in self.files))
        self.made = 0

    def size(self) -> dict[str, int]:
        """Source files, their lines and bytes."""
        contents = [(self.root / path).read_bytes() for path in self.files]
        return {
            "files": len(contents),
            "lines": sum(content.count(b"\n") for content in contents),
            "bytes": sum(map(len, contents)),
        }

    def run_ctags(self) -> None:
        """Tags of the same files."""
        command = [self.ctags, "-f", str(self.folder / "tags"), "--quiet", "-L", str(self.list)]
        subprocess.run(command, cwd=self.root, check=True, stderr=subprocess.DEVNULL)

    def new_index(self) -> SqliteIndex:
        """An empty index in a file of its own."""
        self.made += 1
        return make_index({"path": str(self.folder / f"index{self.made}.db")})

    def first(self, alone: bool) -> None:
        """A first index; `alone`: without worker processes."""
        worth = workers.worth
        if alone:
            workers.worth = lambda files: 0
        try:
            with self.new_index() as index:
                Refresh(index, str(self.root)).run()
        finally:
            workers.worth = worth

    def compare(self, rounds: int) -> dict[str, object]:
        """Best wall and processor time of each, in turns."""
        cases: dict[str, Callable[[], None]] = {
            "index": lambda: self.first(alone=False),
            "index, one process": lambda: self.first(alone=True),
        }
        if self.ctags:
            cases["ctags"] = self.run_ctags
        taken: dict[str, list[tuple[float, float]]] = {}
        for _ in range(rounds):
            for name, case in cases.items():
                taken.setdefault(name, []).append(spent(case))
        figures: dict[str, object] = {
            name: {"wall_s": min(wall for wall, _ in times), "cpu_s": min(cpu for _, cpu in times)}
            for name, times in taken.items()
        }
        return figures

    def again(self, rounds: int) -> dict[str, float]:
        """Milliseconds of a second run, and of one after an edit: of the whole tree, and of the one file."""
        with self.new_index() as index:
            Refresh(index, str(self.root)).run()
            unchanged = [spent(Refresh(index, str(self.root)).run)[0] for _ in range(rounds)]
            whole: list[float] = []
            single: list[float] = []
            for number, path in enumerate(self.pick(2 * rounds)):
                self.edit(path)
                begun = time.perf_counter()
                report = Refresh(index, str(self.root)).run([path] if number % 2 else None)
                (single if number % 2 else whole).append(time.perf_counter() - begun)
                assert report.parsed == 1, path
        return {
            "second_run_ms": min(unchanged) * 1000,
            "after_an_edit_ms": statistics.median(whole) * 1000,
            "the_edited_file_alone_ms": statistics.median(single) * 1000,
        }

    def recalls(self, rounds: int) -> dict[str, float]:
        """Median milliseconds of a recall about a file, before and right after that file was edited."""
        settings = load_settings({"HOME": str(self.folder), "HOLDFAST_HOME": str(self.folder / "home")})
        before, after = [], []
        with Memory(str(self.root), settings=settings) as memory:
            index = memory.services.codeindex()
            assert index is not None
            index.refresh(memory.location)
            paths = self.pick(LESSONS)
            for path in paths:
                symbol = next(
                    (definition.name for definition in index.outline(path, (self.root / path).read_bytes()).symbols), ""
                )
                memory.remember(f"Mind the order of calls in {path}", files=[path], symbols=[symbol] if symbol else [])
            for path in (paths * rounds)[: max(LESSONS, rounds)]:
                memory.recall("order of calls", paths=[path])
                before.append(spent(partial(memory.recall, "order of calls", paths=[path]))[0])
                self.edit(path)
                after.append(spent(partial(memory.recall, "order of calls", paths=[path]))[0])
        figures = {
            "recall_ms": statistics.median(before) * 1000,
            "recall_after_an_edit_ms": statistics.median(after) * 1000,
        }
        extra = [late - early for early, late in zip(before, after, strict=True)]
        return figures | {
            "extra_ms": statistics.median(extra) * 1000,
            "extra_p95_ms": sorted(extra)[int(len(extra) * 0.95)] * 1000,
        }

    def pick(self, count: int) -> list[str]:
        """Source files of middle size, spread over the tree."""
        middling = [path for path in self.files if 4_000 < (self.root / path).stat().st_size < 60_000] or self.files
        return middling[:: max(1, len(middling) // count)][:count]

    def edit(self, path: str) -> None:
        """Change the file's last line."""
        with open(self.root / path, "ab") as file:
            file.write(b"\n" + b" " * (time.perf_counter_ns() % 97) + b"\n")


def table(size: dict[str, int], compared: dict[str, dict[str, float]], rest: dict[str, float]) -> Sequence[str]:
    lines = [f"{size['files']} files, {size['lines']} lines, {size['bytes'] / 1e6:.1f} MB, {os.cpu_count()} cores"]
    tags = compared.get("ctags")
    for name, row in compared.items():
        ratio = f"{row['wall_s'] / tags['wall_s']:8.1f} x{row['cpu_s'] / tags['cpu_s']:8.1f} x cpu" if tags else ""
        lines.append(f"{name:28}{row['wall_s']:8.2f} s{row['cpu_s']:8.2f} s cpu{ratio}")
    if not tags:
        lines.append("ctags is not installed: no ratio (universal-ctags)")
    return lines + [f"{name.removesuffix('_ms').replace('_', ' '):28}{value:8.1f} ms" for name, value in rest.items()]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--repo", type=Path, required=True, help="a folder of source code, for example an unpacked sdist"
    )
    parser.add_argument("--ctags", default="ctags", help="the ctags program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(Path(folder), options.repo, options.ctags)
        size, compared = bench.size(), bench.compare(options.rounds)
        rest = bench.again(options.rounds) | bench.recalls(options.rounds)
    print("\n".join(table(size, compared, rest)))  # type: ignore[arg-type]
    if options.json:
        report = {"size": size, "first_index": compared, "then": rest, "cores": os.cpu_count()}
        options.json.write_text(json.dumps(report, indent=2) + "\n")


if __name__ == "__main__":
    main()
