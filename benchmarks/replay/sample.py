"""Prints lessons and deliveries of a kept replay, drawn by a seed, to be read by eye.

    python -m benchmarks.replay.sample RECORD [--lessons 20] [--deliveries 20] [--state active] [--seed 11]

RECORD is the folder that `python -m benchmarks.replay --keep` wrote. Small differences between two runs' figures say
little: read a sample of each before believing them.
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path
from typing import Any

from benchmarks.replay.record import Delivery, Record, load


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("record", type=Path)
    parser.add_argument("--lessons", type=int, default=20)
    parser.add_argument("--deliveries", type=int, default=20)
    parser.add_argument("--state", default="active", help="state of the lessons that are drawn")
    parser.add_argument("--seed", type=int, default=11)
    options = parser.parse_args()
    try:
        record = load(options.record)
    except OSError as exc:
        print(exc, file=sys.stderr)
        return 1
    print(draw(record, options.lessons, options.deliveries, options.state, options.seed))
    return 0


def draw(record: Record, lessons: int, deliveries: int, state: str, seed: int) -> str:
    """The drawn lessons and deliveries, verbatim."""
    dice = random.Random(seed)
    pool = [lesson for lesson in record.lessons if lesson["state"] == state]
    chosen_lessons = dice.sample(pool, min(lessons, len(pool)))
    chosen_deliveries = dice.sample(record.deliveries, min(deliveries, len(record.deliveries)))
    heads = (
        f"{len(chosen_lessons)} of {len(pool)} {state} lessons",
        f"{len(chosen_deliveries)} of {len(record.deliveries)} deliveries",
    )
    return "\n\n".join([heads[0], *map(_lesson, chosen_lessons), heads[1], *map(_delivery, chosen_deliveries)])


def _lesson(lesson: dict[str, Any]) -> str:
    lines = [f"[{lesson['id'][-8:]}] {lesson['kind']}, {lesson['trust']}, {lesson['detector']}: {lesson['title']}"]
    lines += [f"  {name}: {lesson[name]}" for name in ("insight", "why", "how", "command", "files") if lesson[name]]
    lines += [f"  quote: {quote}" for quote in lesson["quote"]]
    return "\n".join(lines)


def _delivery(delivery: Delivery) -> str:
    return f"session {delivery.n}, line {delivery.e}, {delivery.event} {delivery.trigger}\n{delivery.text}"


if __name__ == "__main__":
    sys.exit(main())
