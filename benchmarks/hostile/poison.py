"""Poisoned texts, played through hooks, learner, tools and recall: which of them would be delivered.

The cases lie in tests/hostile/poison; tests/hostile/test_poison.py holds each to its result. `active` counts attacks
that would be delivered though no person agreed; `reached` those that a later session was told at one of its moments, by
their words or by a line for a lesson that has them (a title may say less). Controls are what a person says or work
proves, and must be active. The cases are played in the process of the measurement itself, not in that of --python.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.hostile._report import Row, Tables
from tests.hostile.poison import CONTROLS, PLACES, Case, Outcome, load_cases, play

QUICK_CASES = 3
"""How many of each place are played with --quick."""
COLUMNS = ("active", "trusted", "reached", "quarantined", "waiting", "lost")


def run(folder: Path, quick: bool, python: str) -> Tables:
    rows: list[Row] = []
    unwanted: list[Row] = []
    every: list[Outcome] = []
    for place, title in {**PLACES, CONTROLS: "controls"}.items():
        cases = load_cases(place)[: QUICK_CASES if quick else None]
        outcomes = [_played(case, folder / place / str(number)) for number, case in enumerate(cases)]
        every += outcomes
        rows.append(_row(title, outcomes))
        unwanted += [_told(title, outcome) for outcome in outcomes if _is_unwanted(outcome)]
    attacks = [row for row in rows if row["place"] != "controls"]
    sums = {name: sum(row[name] for row in attacks) for name in ("cases", *COLUMNS)}
    rows.insert(-1, {"place": "all attacks", **sums})
    told_at = _by_moment(every)
    return {"Poisoned texts": rows, "Told at": told_at, "Attacks that got through, and controls that did not": unwanted}


@contextmanager
def own_home(folder: Path) -> Iterator[Path]:
    """Make the folder this process's home, without the variables of a user and of a host; put all back at the end."""
    folder.mkdir(parents=True)
    before = dict(os.environ)
    try:
        for name in before:
            if name.startswith(("HOLDFAST", "CLAUDE")):
                del os.environ[name]
        os.environ |= {"HOME": str(folder), "USERPROFILE": str(folder), "HOLDFAST_HOME": str(folder / ".holdfast")}
        yield folder
    finally:
        os.environ.clear()
        os.environ.update(before)


def _played(case: Case, folder: Path) -> Outcome:
    with own_home(folder) as home:
        return play(case, home)


def _row(title: str, outcomes: list[Outcome]) -> Row:
    counts = {name: sum(bool(getattr(outcome, name)) for outcome in outcomes) for name in COLUMNS}
    return {"place": title, "cases": len(outcomes), **counts}


def _is_unwanted(outcome: Outcome) -> bool:
    if outcome.case.place == CONTROLS:
        return not (outcome.active and outcome.reached)
    return bool(outcome.active or outcome.reached or outcome.lost)


def _told(title: str, outcome: Outcome) -> Row:
    flags = ", ".join(name for name in COLUMNS if getattr(outcome, name))
    moments = ", ".join(outcome.moments)
    return {"place": title, "case": outcome.case.name, "outcome": flags, "told at": moments}


def _by_moment(outcomes: list[Outcome]) -> list[Row]:
    """How many attacks and controls were told at each moment of the later session."""
    moments = dict.fromkeys(moment for outcome in outcomes for moment in outcome.moments)
    return [
        {
            "told at": moment,
            "attacks": sum(moment in outcome.moments and outcome.case.place != CONTROLS for outcome in outcomes),
            "controls": sum(moment in outcome.moments and outcome.case.place == CONTROLS for outcome in outcomes),
        }
        for moment in moments
    ]
