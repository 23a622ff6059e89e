"""Plays each host that is installed and prints what it did.

    python -m tests.hosts_live.run [HOST ...] [--write] [--payloads FOLDER]

A host that is not installed is named with the reason. HOLDFAST_HOST_PROGRAMS names a folder with the programs, which
is looked in before the PATH. `--write` keeps the facts in results.json, from which docs/reference/hosts.md is made.
`--payloads` keeps what each host sent to its hooks.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.hosts_live.lab import Machine
from tests.hosts_live.programs import FOLDER, PROGRAMS, Program
from tests.hosts_live.story import COLUMNS, play

RESULTS = Path(__file__).with_name("results.json")


def main() -> int:
    """0 when every host that was played did what is in its row of results.json."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("hosts", nargs="*")
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--payloads", type=Path)
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
        facts = play_apart(program, options.payloads, options.verbose)
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


def play_apart(program: Program, payloads: Path | None, verbose: bool) -> dict[str, Any]:
    """The facts of a host on a scratch machine, which is removed."""
    with tempfile.TemporaryDirectory(prefix="holdfast-host-", ignore_cleanup_errors=True) as folder:
        machine = Machine(Path(folder).resolve(), program)
        try:
            facts = play(machine, record=payloads is not None)
        finally:
            machine.close()
        if payloads is not None:
            keep_payloads(machine, payloads / program.name)
        if verbose:
            print(json.dumps({k: facts[k] for k in facts if k not in COLUMNS}, indent=1).replace("\\n", "\n    "))
            print(json.dumps(machine.events(), indent=1)[:6000])
    return facts


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
