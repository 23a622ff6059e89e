"""An outcome as JSON and as tables for people."""

from __future__ import annotations

from typing import Any

from benchmarks.recall.cases import Trial
from benchmarks.recall.metrics import percentile, summary
from benchmarks.recall.trials import PUSHED, SHIPPED, SHOWN, Outcome

COLUMNS = ("recall@1", "recall@3", "recall@5", "recall@10", "hit@1", "hit@3", "hit@5", "mrr", "ndcg@10")


def told(trial: Trial, outcome: Outcome, seed: int) -> dict[str, Any]:
    """Everything that was measured, by variant."""
    variants = list(dict.fromkeys(variant for variant, _, _ in outcome.scores))
    return {
        "sha256": dict(trial.hashes),
        "lessons": outcome.stored,
        "stored_per_second": round(outcome.stored / outcome.stored_s) if outcome.stored_s else None,
        "variants": {variant: _variant(outcome, variant, seed) for variant in variants},
        "false_delivery": _false(outcome),
    }


def _variant(outcome: Outcome, variant: str, seed: int) -> dict[str, Any]:
    by_system: dict[str, dict[str, list[dict[str, float]]]] = {}
    for (named, category, system), rows in outcome.scores.items():
        if named == variant:
            by_system.setdefault(system, {})[category] = rows
    systems = {}
    for system, categories in by_system.items():
        every = [row for rows in categories.values() for row in rows]
        parts = {name: summary(rows, seed) for name, rows in sorted(categories.items()) if name}
        times = outcome.seconds.get((variant, system))
        systems[system] = {"all": summary(every, seed), "by_category": parts, "latency_ms": _latency(times)}
    return {"systems": systems, "tokens": _tokens(outcome.tokens.get(variant, [])), "kept": _kept(by_system)}


def _latency(times: list[float] | None) -> dict[str, float] | None:
    if not times:
        return None
    return {"p50": percentile(times, 0.5) * 1000, "p95": percentile(times, 0.95) * 1000}


def _tokens(rows: list[dict[str, float]]) -> dict[str, float]:
    """Means over the questions that were answered; savings of the sums."""
    answered = [row for row in rows if row["answered"]]
    if not answered:
        return {"answered": 0.0}
    sums = {name: sum(row[name] for row in answered) for name in answered[0]}
    return {
        "answered": len(answered) / len(rows),
        "recall": sums["recall"] / len(answered),
        "compiled": sums["compiled"] / len(answered),
        "whole": sums["whole"] / len(answered),
        "file": sums["file"] / len(answered),
        "below_whole": 1 - sums["compiled"] / sums["whole"],
        "below_file": 1 - sums["compiled"] / sums["file"],
    }


def _kept(by_system: dict[str, dict[str, list[dict[str, float]]]]) -> float | None:
    """Share of the unfiltered recall@3 that is left of what is pushed."""

    def mean(system: str) -> float:
        rows = [row[f"recall@{SHOWN}"] for scores in by_system[system].values() for row in scores]
        return sum(rows) / len(rows)

    if PUSHED not in by_system or not mean(SHIPPED):
        return None
    return mean(PUSHED) / mean(SHIPPED)


def _false(outcome: Outcome) -> dict[str, dict[str, float]]:
    shares: dict[str, dict[str, float]] = {}
    for (kind, moment), deliveries in outcome.false.items():
        shares.setdefault(kind, {})[moment] = sum(deliveries) / len(deliveries)
        shares[kind]["questions"] = len(deliveries)
    return shares


def print_tables(name: str, results: dict[str, Any]) -> None:
    """One table a variant, then what unrelated questions were given."""
    for variant, figures in results["variants"].items():
        first = next(iter(figures["systems"].values()))
        print(f"\n{name}: {variant} ({first['all']['questions']} questions, {results['lessons']} lessons)")
        print(f"{'':34}" + "".join(f"{column:>10}" for column in COLUMNS) + f"{'p50 ms':>9}{'p95 ms':>9}")
        for system, scores in figures["systems"].items():
            _print_row(system, scores["all"], scores["latency_ms"])
            if system == SHIPPED:
                for category, means in scores["by_category"].items():
                    _print_row(f"  {category} ({means['questions']})", means, None)
        _print_tokens(figures)
    for kind, shares in results["false_delivery"].items():
        print(f"unrelated, {kind}: pushed {shares['prompt']:.3f}, asked {shares['on_demand']:.3f}")


def _print_row(label: str, means: dict[str, Any], latency: dict[str, float] | None) -> None:
    cells = "".join(f"{means[column]['mean']:10.3f}" for column in COLUMNS)
    times = f"{latency['p50']:9.2f}{latency['p95']:9.2f}" if latency else ""
    print(f"{label:34}{cells}{times}")


def _print_tokens(figures: dict[str, Any]) -> None:
    tokens = figures["tokens"]
    if tokens.get("compiled"):
        print(
            f"tokens of {SHOWN}: {tokens['compiled']:.0f} compiled, {tokens['whole']:.0f} whole"
            f" ({tokens['below_whole']:.0%} less), {tokens['file']:.0f} the file ({tokens['below_file']:.1%} less);"
            f" answered {tokens['answered']:.3f}"
        )
    if figures["kept"] is not None:
        print(f"of the unfiltered recall@{SHOWN}, pushed keeps {figures['kept']:.3f}")
