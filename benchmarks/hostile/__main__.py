"""What Holdfast does when its processes are killed, its files are damaged and many hooks run at once.

    python -m benchmarks.hostile NAME|all [--quick] [--busy N] [--python PATH] [--json FILE|FOLDER]

Every module of this package whose name does not begin with an underscore is one NAME. Each works in scratch homes of
its own, starts the commands that `holdfast setup` registers as real processes, prints tables, and with --json writes
them: to that file, or as hostile_NAME.json to that folder. Nothing is asserted.

An event or lesson counts as lost when it is not in the store after everything has settled: after `holdfast status`
and a learner have run.
"""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

if not __package__:  # started as `python benchmarks/hostile`
    sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from benchmarks.hostile._report import print_result, result_of, write_result


def names() -> list[str]:
    """The measurements of this package."""
    modules = pkgutil.iter_modules([str(Path(__file__).parent)])
    return sorted(module.name for module in modules if not module.name.startswith("_"))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name", choices=[*names(), "all"])
    parser.add_argument("--quick", action="store_true", help="few rounds: a check that it runs, not a figure")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="keep N processes busy beside it: a load")
    parser.add_argument("--python", default=sys.executable, help="the interpreter that has Holdfast installed")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    for name in names() if options.name == "all" else [options.name]:
        print(f"\n== hostile {name}", flush=True)
        result = measure(name, options.quick, options.python, options.busy)
        print_result(result)
        if options.json:
            write_result(result, options.json, single=options.name != "all")
    return 0


def measure(name: str, quick: bool, python: str = sys.executable, busy: int = 0) -> dict[str, Any]:
    """The result of one measurement: its tables and the circumstances."""
    module = importlib.import_module(f"benchmarks.hostile.{name}")
    load_before = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="hf", ignore_cleanup_errors=True) as folder, busy_processes(busy):
        tables = module.run(Path(folder), quick, python)
    return result_of(name, quick, busy, load_before, tables)


@contextmanager
def busy_processes(count: int) -> Iterator[None]:
    """That many processes that only reckon, while a measurement runs."""
    spinners = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for spinner in spinners:
            spinner.kill()
            spinner.wait()


if __name__ == "__main__":
    sys.exit(main())
