"""Plays each host that is installed and prints what it did.

    python -m tests.hosts_live.run [HOST ...] [--write] [--payloads FOLDER] [--times FILE]

A host that is not installed is named with the reason. HOLDFAST_HOST_PROGRAMS names a folder with the programs, which
is looked in before the PATH. `--write` keeps the facts in results.json, from which docs/reference/hosts.md is made.
`--payloads` keeps what each host sent to its hooks. `--times` adds to a file how long each hook took as the host sees
it, beside a bare interpreter in the same minutes.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.hosts_live.lab import HookCall, Machine
from tests.hosts_live.programs import FOLDER, PROGRAMS, Program
from tests.hosts_live.story import COLUMNS, play

RESULTS = Path(__file__).with_name("results.json")


def main() -> int:
    """0 when every host that was played did what is in its row of results.json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hosts", nargs="*")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--payloads", type=Path)
    parser.add_argument("--times", type=Path)
    parser.add_argument("--verbose", action="store_true")
    options = parser.parse_args()
    results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    worse = []
    for program in PROGRAMS:
        if options.hosts and program.name not in options.hosts:
            continue
        if program.path() is None:
            print(f"{program.name}: SKIPPED, no program {program.command} in {FOLDER} or on the PATH")
            print(f"    npm install {program.package}")
            continue
        facts = play_apart(program, options.payloads, options.times, options.verbose)
        row = {"version": facts["version"], "date": f"{datetime.now(UTC):%Y-%m-%d}", **{k: facts[k] for k in COLUMNS}}
        worse += _worse(program.name, row, results.get(program.name, {}))
        results[program.name] = row
        print(f"{program.name} {row['version']}", flush=True)
        print("\n".join(f"    {row[name]:5} {title}" for name, title in COLUMNS.items()), flush=True)
        if options.write:
            RESULTS.write_text(json.dumps(results, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    print("\n".join(worse) or "hosts-live: nothing is worse than in results.json")
    return 1 if worse and not options.write else 0


def recorded_row(name: str) -> dict[str, str]:
    """What results.json says of a host; empty for one that was never played."""
    results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    return dict(results.get(name, {}))


def play_apart(program: Program, payloads: Path | None, times: Path | None, verbose: bool) -> dict[str, Any]:
    """The facts of a host on a scratch machine, which is removed."""
    with tempfile.TemporaryDirectory(prefix="holdfast-host-", ignore_cleanup_errors=True) as folder:
        machine = Machine(Path(folder).resolve(), program)
        bare = BareInterpreter()
        if times is not None:
            bare.start()
        try:
            facts = play(machine, record=payloads is not None or times is not None)
        finally:
            bare.over.set()
            machine.close()
        if payloads is not None:
            keep_payloads(machine, payloads / program.name)
        if times is not None:
            facts["stored"] = dict(Counter(event["kind"] for event in machine.events()))
            keep_times(times, program.name, facts, machine.hook_calls(), bare)
        if verbose:
            print(json.dumps({k: facts[k] for k in facts if k not in COLUMNS}, indent=1).replace("\\n", "\n    "))
            print(json.dumps(machine.events(), indent=1)[:6000])
    return facts


class BareInterpreter(threading.Thread):
    """Times `python -I -S -c pass` every other second, and reads the load, while a host is played."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.over = threading.Event()
        self.ms: list[float] = []
        self.loads: list[float] = []

    def run(self) -> None:
        """Time it until the host is done."""
        while not self.over.wait(2):
            begun = time.perf_counter()
            subprocess.run([sys.executable, "-I", "-S", "-c", "pass"], check=True)
            self.ms.append(1000 * (time.perf_counter() - begun))
            self.loads.append(os.getloadavg()[0])


def keep_times(file: Path, host: str, facts: dict[str, Any], calls: list[HookCall], bare: BareInterpreter) -> None:
    """Put the host's figures into the file."""
    figures = json.loads(file.read_text("utf-8")) if file.exists() else {}
    unit = statistics.median(bare.ms)
    moments = {"all": calls} | {event: [call for call in calls if call.event == event] for event, _, _ in calls}
    figures[host] = {
        "version": facts["version"],
        "events": facts["stored"],
        "load": [min(bare.loads), max(bare.loads)],
        "bare": _figures([HookCall("", ms, False) for ms in bare.ms], unit),
        "hooks": {event: _figures(some, unit) for event, some in moments.items()},
        "with_server": _figures([call for call in calls if not call.in_python], unit),
        "with_python": _figures([call for call in calls if call.in_python], unit),
    }
    file.write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


def _figures(calls: list[HookCall], unit: float) -> dict[str, float]:
    """Counts, and the median and 95th percentile in milliseconds and in bare interpreters."""
    times = sorted(call.ms for call in calls if call.ms is not None)
    figures: dict[str, float] = {"count": len(calls), "ended": len(times), "python": sum(c.in_python for c in calls)}
    if times:
        middle, high = statistics.median(times), times[min(len(times) - 1, int(0.95 * len(times)))]
        figures |= {"p50_ms": round(middle, 1), "p95_ms": round(high, 1)}
        figures |= {"p50": round(middle / unit, 2), "p95": round(high / unit, 2)}
    return figures


def keep_payloads(machine: Machine, target: Path) -> None:
    """The recorded payloads, one file each, without the scratch machine's paths."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    for number, payload in enumerate(machine.recorded(), 1):
        text = json.dumps(payload, ensure_ascii=False, indent=2)
        text = text.replace(str(machine.repository), "/home/ada/parcels").replace(str(machine.home), "/home/ada")
        name = f"{number:02}-{payload.get('hook_event_name', 'hook')}.json"
        (target / name).write_text(text + "\n", encoding="utf-8")


def _worse(name: str, row: dict[str, str], before: dict[str, str]) -> list[str]:
    return [
        f"worse: {name}: {title}: was {before[key]}, now {row[key]}"
        for key, title in COLUMNS.items()
        if before.get(key) == "yes" and row[key] != "yes"
    ]


if __name__ == "__main__":
    sys.exit(main())
