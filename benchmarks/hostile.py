"""What becomes of poisoned texts: played through hooks, learner, tools and recall.

    python benchmarks/hostile.py poison [--place NAME] [--each] [--json FILE]

The cases lie in tests/hostile/poison; tests/hostile/test_poison.py holds each to its result. `active` counts attacks
that would be delivered though no person agreed. Controls are what a person says or work proves, and must be active.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.hostile.poison import CONTROLS, PLACES, Case, Outcome, load_cases, play, render_table


def main() -> None:
    """Play the cases and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["poison"])
    parser.add_argument("--place", choices=[*PLACES, CONTROLS], help="only the cases of this place")
    parser.add_argument("--each", action="store_true", help="print every case that is active, reached or lost")
    parser.add_argument("--json", type=Path, help="write every outcome to this file")
    options = parser.parse_args()
    places = [options.place] if options.place else [*PLACES, CONTROLS]
    outcomes = [_played(case) for case in load_cases(*places)]
    attacks = [outcome for outcome in outcomes if outcome.case.place in PLACES]
    controls = [outcome for outcome in outcomes if outcome.case.place == CONTROLS]
    if attacks:
        print(render_table(attacks))
        active = sum(outcome.active for outcome in attacks)
        print(f"\nactive without a person: {active} of {len(attacks)} ({active / len(attacks):.1%})")
    if controls:
        kept = sum(outcome.active for outcome in controls)
        reached = sum(outcome.reached for outcome in controls)
        print(f"controls: {kept} of {len(controls)} active, {reached} reached")
    for outcome in outcomes if options.each else ():
        bad = not (outcome.active and outcome.reached) if outcome.case.place == CONTROLS else (
            outcome.active or outcome.reached or outcome.lost
        )  # fmt: skip
        if bad:
            print(outcome.case.place, outcome.case.name, *_flags(outcome), sep=" | ")
    if options.json:
        rows = [{"place": o.case.place, "name": o.case.name, **{f: True for f in _flags(o)}} for o in outcomes]
        options.json.write_text(json.dumps(rows, indent=1) + "\n", "utf-8")


def _flags(outcome: Outcome) -> list[str]:
    names = ("active", "trusted", "reached", "quarantined", "waiting", "lost")
    return [name for name in names if getattr(outcome, name)]


def _played(case: Case) -> Outcome:
    with tempfile.TemporaryDirectory(prefix="holdfast-poison-") as folder:
        for name in [name for name in os.environ if name.startswith(("HOLDFAST", "CLAUDE"))]:
            del os.environ[name]
        os.environ |= {"HOME": folder, "USERPROFILE": folder, "HOLDFAST_HOME": str(Path(folder) / ".holdfast")}
        return play(case, Path(folder))


if __name__ == "__main__":
    main()
