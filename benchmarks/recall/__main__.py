"""Recall on data sets from outside, through the shipped path, beside plain baselines in the same run.

    python -m benchmarks.recall --data DIR [--set NAME ...] [--ablate] [--embedder NAME] [--json FILE]

Sets: locomo, transcripts, project_history, precision. `--embedder none` asks
without vectors; without the option the configured default is used. Nothing is downloaded.
"""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import tempfile
from pathlib import Path
from typing import Any

from benchmarks.recall import precision
from benchmarks.recall.cases import MissingSetError
from benchmarks.recall.report import print_tables, told
from benchmarks.recall.trials import Options, run

SETS = ("locomo", "transcripts", "project_history", "precision")


def main() -> int:
    parser = _parser()
    arguments = parser.parse_args()
    options = Options(
        embedder=arguments.embedder,
        embedder_options=tuple(tuple(pair.split("=", 1)) for pair in arguments.embedder_option),
        ablate=arguments.ablate,
        baselines=not arguments.no_baselines,
        controls=not arguments.no_controls,
        seed=arguments.seed,
        limit=arguments.limit,
    )
    results: dict[str, Any] = {}
    for name in arguments.set:
        try:
            results |= measure(name, arguments.data, options)
        except MissingSetError as exc:
            print(exc, file=sys.stderr)
            return 1
    if arguments.json:
        document = {"seed": arguments.seed, "embedder": arguments.embedder, "limit": arguments.limit, "sets": results}
        arguments.json.write_text(json.dumps(_rounded(document), indent=1) + "\n", encoding="utf-8")
    return 0


def measure(name: str, folder: Path, options: Options) -> dict[str, Any]:
    """The results of a set's trials, printed as they come."""
    results: dict[str, Any] = {}
    if name == "precision":  # cases with a protocol of their own
        with tempfile.TemporaryDirectory() as scratch:
            results[name] = precision.measure(folder, Path(scratch))
        precision.print_table(results[name])
        return results
    for trial in importlib.import_module(f"benchmarks.recall.{name}").load(folder, options.seed):
        with tempfile.TemporaryDirectory() as scratch:
            outcome = run(trial, options, Path(scratch))
        results[trial.name] = told(trial, outcome, options.seed)
        print_tables(trial.name, results[trial.name])
        sys.stdout.flush()
    return results


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _rounded(item) for key, item in value.items()}
    return round(value, 4) if isinstance(value, float) else value


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.recall", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder with the data sets")
    parser.add_argument("--set", nargs="+", choices=SETS, default=list(SETS))
    parser.add_argument("--ablate", action="store_true", help="also rank without each retriever")
    parser.add_argument("--no-baselines", action="store_true")
    parser.add_argument("--no-controls", action="store_true", help="put no unrelated questions")
    parser.add_argument("--embedder", default="", help="name of an embedder, or none")
    parser.add_argument("--embedder-option", nargs="+", default=[], metavar="KEY=VALUE")
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--limit", type=int, default=0, help="most questions of each corpus")
    parser.add_argument("--json", type=Path)
    return parser


if __name__ == "__main__":
    sys.exit(main())
