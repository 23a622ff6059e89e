"""How results are printed and kept: tables of rows, and the circumstances they were taken in."""

from __future__ import annotations

import json
import os
import statistics
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

Row = dict[str, Any]
Tables = dict[str, list[Row]]


def result_of(name: str, quick: bool, busy: int, load_before: float, tables: Tables) -> dict[str, Any]:
    """What is printed and written; `load` is the machine's before and after, `busy` the processes that made some."""
    return {
        "name": f"hostile.{name}", "quick": quick, "busy": busy, "python": sys.version.split()[0],
        "cpus": os.cpu_count(), "load": [round(load_before, 1), round(os.getloadavg()[0], 1)], "tables": tables,
    }  # fmt: skip


def print_result(result: dict[str, Any]) -> None:
    for title, rows in result["tables"].items():
        print(f"\n{title}\n")
        print_table(rows)
    before, after = result["load"]
    print(
        f"\nload {before} before, {after} after; {result['busy']} busy processes; {result['cpus']} processors",
        flush=True,
    )


def print_table(rows: Sequence[Row]) -> None:
    """The rows in Markdown, with every column that a row has."""
    columns = list(dict.fromkeys(column for row in rows for column in row))
    print("| " + " | ".join(column.replace("_", " ") for column in columns) + " |")
    print("|" + "---|" * len(columns))
    for row in rows:
        print("| " + " | ".join(_cell(row.get(column, "")) for column in columns) + " |")


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def write_result(result: dict[str, Any], path: Path, single: bool) -> None:
    """Write to that file, or into that folder where several results are written."""
    if not single or path.is_dir():
        path.mkdir(parents=True, exist_ok=True)
        path = path / f"{result['name'].replace('.', '_')}.json"
    path.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(len(values) * share))]


def seconds(values: Sequence[float]) -> Row:
    """Columns of how long calls took."""
    if not values:
        return {"median_s": "", "p99_s": "", "longest_s": "", "over_half_s": ""}
    return {
        "median_s": round(statistics.median(values), 3), "p99_s": round(percentile(values, 0.99), 3),
        "longest_s": round(max(values), 3), "over_half_s": sum(value > 0.5 for value in values),
    }  # fmt: skip
