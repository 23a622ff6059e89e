"""Replays real history: what becomes of every function, class and method between two releases, and what we say of it.

    python benchmarks/freshness.py --data DIR --repo flask=PATH --repo httpx=PATH [--json FILE] [--misses]

`--data` holds `freshness/stale_<repo>_<A>_<B>.json` (commits, and per symbol where it is at B and what changed);
`--repo` names a git directory per repository; a pair without one is left out. At A every symbol is anchored, at B the
verdicts are compared with the truth; rows on which its two tracers disagree are not scored. Stale is what the truth
calls changed (body or head) or deleted. Beside it, in the same run: file hash, text hash, name exists.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tests.contract.memorystore import MemoryStore

from holdfast.codeindex.local import LocalCodeIndex
from holdfast.codeindex.source import read_source, unnumbered
from holdfast.domain.lesson import Anchor
from holdfast.domain.project import Location
from holdfast.domain.symbol import Verdict
from holdfast.rendering.verdicts import verdict_words
from holdfast.stores.sqlite.indexfile import make_index
from holdfast.wiring import SystemClock
from holdfast.workspace.local import LocalWorkspace

FRESH, CHANGED, DELETED, UNSURE = "fresh", "changed", "deleted", "unsure"
OF_FRESHNESS = {
    "fresh": FRESH, "moved": FRESH, "drifted": CHANGED, "changed": CHANGED, "orphaned": DELETED, "unverified": UNSURE,
}  # fmt: skip
OF_CONTENT = {
    "same": FRESH, "cosmetic": FRESH, "annot": FRESH,
    "body": CHANGED, "sig": CHANGED, "sig+body": CHANGED, "deleted": DELETED,
}  # fmt: skip

Answer = tuple[str, str, str]
"""State, where it is now (`path::name`, or empty), words."""
Row = dict[str, Any]


def main() -> int:
    options = _options()
    repositories = dict(pair.split("=", 1) for pair in options.repo)
    results: dict[str, dict[str, list[tuple[Row, Answer]]]] = {}
    speed: dict[str, list[float]] = {"cold, in its file": [], "cold, not in its file": [], "kept": []}
    for file in sorted((options.data / "freshness").glob("stale_*.json")):
        truth = json.loads(file.read_text("utf-8"))
        repository = repositories.get(truth["meta"]["name"].split("_")[0])
        if repository is None:
            print(f"{file.stem}: left out, no --repo", file=sys.stderr)
            continue
        results[truth["meta"]["name"]] = _replay(truth, repository, speed)
    if not results:
        print("nothing to measure: no pair has its repository (--repo NAME=PATH)", file=sys.stderr)
        return 0
    report = _report(results, speed)
    _print(report)
    if options.misses:
        _print_misses(results)
    if options.json:
        options.json.write_text(json.dumps(report, indent=1) + "\n", "utf-8")
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--repo", action="append", default=[], metavar="NAME=PATH")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--misses", action="store_true", help="also print every row that is wrong")
    return parser.parse_args()


# One pair of releases


def _replay(truth: Row, repository: str, speed: dict[str, list[float]]) -> dict[str, list[tuple[Row, Answer]]]:
    """Every method's answers for the rows that are scored."""
    rows = [row for row in truth["rows"] if row["agree"]]
    with tempfile.TemporaryDirectory() as scratch:
        tree = Path(scratch) / "tree"
        _git(scratch, "clone", "-q", "--shared", "--no-checkout", repository, str(tree))
        then, now = (_git(tree, "rev-parse", truth["meta"][name]) for name in ("A", "B"))
        _git(tree, "checkout", "-q", "--detach", then)
        workspace = LocalWorkspace(MemoryStore(), SystemClock(), timeout_scale=20)
        with _code(workspace, scratch) as code:
            anchors = {row["id"]: _anchor(code, workspace.locate(str(tree)), row) for row in rows}
            texts = {row["id"]: _text(tree, row["id"]) for row in rows}
            _git(tree, "checkout", "-q", "--detach", now)
            location = workspace.locate(str(tree))
            code.refresh(location)
            verdicts = {name: _timed(code, location, anchor, speed) for name, anchor in anchors.items()}
        return {
            "holdfast": [(row, _told(verdicts[row["id"]])) for row in rows],
            "name exists": [(row, _by_name(tree, row["id"])) for row in rows],
            "text hash": [(row, _by_text(tree, row["id"], texts)) for row in rows],
            "file hash": [(row, _by_file(workspace, location, anchors[row["id"]], row["id"])) for row in rows],
        }


def _code(workspace: LocalWorkspace, scratch: str) -> LocalCodeIndex:
    index = make_index({"path": f"{scratch}/index.db"})
    return LocalCodeIndex(workspace, lambda location: index, SystemClock(), search_s=60)


def _anchor(code: LocalCodeIndex, location: Location, row: Row) -> Anchor:
    path, _, name = row["id"].partition("::")
    anchors = code.anchors(location, path, [name], None)
    if not anchors or anchors[0].symbol != name:
        anchors = code.anchors(location, path, [f"{name}#2"], None)  # redefined: the last one is what the name means
    return anchors[0]


def _timed(code: LocalCodeIndex, location: Location, anchor: Anchor, speed: dict[str, list[float]]) -> Verdict:
    """The verdict, timed with nothing parsed before, and again from what is kept."""
    code.forget_parsed()
    begun = time.perf_counter()
    verdict = code.verdict(location, anchor)
    in_place = verdict.freshness != "orphaned" and verdict.anchor.path == anchor.path
    in_place = in_place and unnumbered(verdict.anchor.symbol) == unnumbered(anchor.symbol)
    speed["cold, in its file" if in_place else "cold, not in its file"].append(time.perf_counter() - begun)
    begun = time.perf_counter()
    code.verdict(location, anchor)
    speed["kept"].append(time.perf_counter() - begun)
    return verdict


def _told(verdict: Verdict) -> Answer:
    state = OF_FRESHNESS[verdict.freshness]
    at = f"{verdict.anchor.path}::{unnumbered(verdict.anchor.symbol)}" if state in (FRESH, CHANGED) else ""
    return state, at, verdict_words(verdict)


# Baselines


def _by_name(tree: Path, name: str) -> Answer:
    return (FRESH, name, "") if _text(tree, name) is not None else (DELETED, "", "")


def _by_text(tree: Path, name: str, then: dict[str, bytes | None]) -> Answer:
    now = _text(tree, name)
    return (DELETED, "", "") if now is None else (FRESH if now == then[name] else CHANGED, name, "")


def _by_file(workspace: LocalWorkspace, location: Location, anchor: Anchor, name: str) -> Answer:
    blob = workspace.blob(location, anchor.path)
    return (FRESH if blob == anchor.blob else CHANGED, name, "") if blob else (DELETED, "", "")


def _text(tree: Path, name: str) -> bytes | None:
    """The source text of the definition `path::name`; None when there is none."""
    path, _, symbol = name.partition("::")
    file = tree / path
    source = read_source(path, file.read_bytes()) if file.is_file() else None
    group = source.by_name.get(symbol, []) if source else []
    return file.read_bytes()[group[-1].start : group[-1].end] if group else None


# What it comes to


def _report(results: dict[str, Any], speed: dict[str, list[float]]) -> Row:
    methods = next(iter(results.values())).keys()
    pairs = {pair: {method: _measure(by_method[method]) for method in methods} for pair, by_method in results.items()}
    pooled = {
        method: _measure([answer for by_method in results.values() for answer in by_method[method]])
        for method in methods
    }
    times = {
        name: {"p50_ms": _at(times_ms, 0.5), "p95_ms": _at(times_ms, 0.95)}
        for name, times_ms in speed.items()
        if times_ms
    }
    return {"pooled": pooled, "pairs": pairs, "verdict_speed": times}


def _measure(answers: list[tuple[Row, Answer]]) -> dict[str, float | None]:
    """The shares of `data/README`'s table; None where there is nothing to be right about."""
    scored = [(OF_CONTENT[row["content"]], row, answer) for row, answer in answers]
    stale = [(truth != FRESH, answer[0] in (CHANGED, DELETED)) for truth, _, answer in scored]
    undeleted = [(row, answer) for truth, row, answer in scored if truth != DELETED]
    in_place = [(truth, answer) for truth, row, answer in scored if row["loc"] == "same"]
    return {
        "symbols": len(scored),
        "stale_f1": _f1(stale),
        "stale_in_place_f1": _f1([(truth != FRESH, answer[0] == CHANGED) for truth, answer in in_place]),
        "changes_flagged": _share(answer[0] in (CHANGED, DELETED) for truth, _, answer in scored if truth == CHANGED),
        "untouched_flagged": _flagged(undeleted, "same"),
        "cosmetic_flagged": _flagged(undeleted, "cosmetic"),
        "annotation_flagged": _flagged(undeleted, "annot"),
        "annotation_told": _share(
            "annotations only" in answer[2] for row, answer in undeleted if row["content"] == "annot"
        ),
        "moved_followed": _share(answer[1] == row["t1"] for row, answer in undeleted if row["loc"] == "moved"),
        "renamed_followed": _share(answer[1] == row["t1"] for row, answer in undeleted if "renamed" in row["loc"]),
        "deleted_followed": _share(bool(answer[1]) for truth, _, answer in scored if truth == DELETED),
        "unverified": _share(answer[0] == UNSURE for _, _, answer in scored),
    }


def _flagged(answers: list[tuple[Row, Answer]], content: str) -> float | None:
    return _share(answer[0] in (CHANGED, DELETED) for row, answer in answers if row["content"] == content)


def _f1(pairs: list[tuple[bool, bool]]) -> float | None:
    hits = sum(truth and flagged for truth, flagged in pairs)
    total = sum(truth for truth, _ in pairs) + sum(flagged for _, flagged in pairs)
    return 2 * hits / total if total else None


def _share(flags: Iterator[bool]) -> float | None:
    values = list(flags)
    return sum(values) / len(values) if values else None


def _at(values: list[float], share: float) -> float:
    """That quantile, in milliseconds."""
    return round(sorted(values)[int(share * (len(values) - 1))] * 1000, 3)


def _print(report: Row) -> None:
    columns = list(next(iter(report["pooled"].values())))
    for pair, methods in (("all pairs", report["pooled"]), *report["pairs"].items()):
        print(f"\n{pair}: {next(iter(methods.values()))['symbols']} symbols")
        print(" " * 20 + "".join(f"{method:>14}" for method in methods))
        for column in columns[1:]:
            print(f"{column:<20}" + "".join(f"{_shown(figures[column]):>14}" for figures in methods.values()))
    print("\nverdict of one anchor: " + json.dumps(report["verdict_speed"]))


def _shown(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _print_misses(results: dict[str, Any]) -> None:
    for pair, by_method in results.items():
        for row, (state, at, words) in by_method["holdfast"]:
            truth = OF_CONTENT[row["content"]]
            right_place = at == row["t1"] if truth != DELETED else not at
            if (state == FRESH) != (truth == FRESH) or not right_place:
                print(f"{pair}  {row['id']}  {row['loc']}/{row['content']} {row['t1']}  ntok={row['ntok']}")
                print(f"      told: {state} {at} ({words})")


def _git(folder: Path | str, *arguments: str) -> str:
    ran = subprocess.run(["git", "-C", str(folder), *arguments], check=True, capture_output=True, text=True)
    return ran.stdout.strip()


if __name__ == "__main__":
    sys.exit(main())
