"""Redaction: what it finds, what it takes for a secret that is none, and what it costs.

    python benchmarks/redaction.py [--each 40] [--seed 1] [--corpus DIR ...] [--gitleaks RULES.toml] [--json FILE]

Recall: made-up credentials of every format, `--each` of them, in changing texts; one counts as found when neither it
nor its last twelve characters are left. Then the ways in which people and programs write secrets down, by kind. With
`--gitleaks`, values drawn from the expressions of that scanner's rule file: keys with a shape of their own, and values
behind a vendor's name as the expression wants it. Rules whose drawn values are malformed are left out and named.
False alarms: texts that only look like secrets, and every span redacted in the standard library's sources (or the text
files under `--corpus`), of which a few are real examples of secrets; lines of more than one word that were altered.
Speed: milliseconds a KiB on those sources, on made-up tool output, and at worst on hostile repetition. The ratio
refers to reading the same text once with `str.split`. Our own forms, like the rules, have one author.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import sysconfig
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random

if not __package__:  # started as `python benchmarks/redaction.py`
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from tests import credentials

from benchmarks import rulevalues
from holdfast.redaction import redact, redact_to

SUFFIXES = (".py", ".md", ".txt", ".json", ".jsonl", ".js", ".toml", ".lock", ".yml", ".yaml", ".c", ".h", ".go", ".rs")
CORPUS_BYTES = 8_000_000
FILE_LIMIT = 200_000
MALFORMED = frozenset(
    (
        "curl-auth-header", "curl-auth-user", "hashicorp-tf-password", "jwt", "jwt-base64", "kubernetes-secret-yaml",
        "nuget-config-password", "private-key", "sourcegraph-access-token",
    )
)  # fmt: skip
"""Rules that describe whole texts, whose free parts a generator fills with noise, or that fit any commit id."""
HOSTILE = (
    "password=",
    "sk-",
    "eyJ.",
    "://a",
    "-----BEGIN RSA PRIVATE" + " KEY-----",
    "<private>",
    'password="',
    "A1ab",
)
CARRIERS = ("{}", "see {} there", 'run("{}")', "x: {}\n", "- `{}`,")
"""Texts around a key that say nothing about it."""
OUTPUT = (
    "tests/test_ledger.py::test_rounding[{n}] PASSED                     [ {n}%]\n"
    "2026-03-01T09:00:{n:02d}Z INFO app.store.writer wrote {n} rows in 0.{n} s request=req-{n} token_count={n}\n"
    '  File "/home/ann/app/src/ledger/rates.py", line {n}, in convert_amount\n'
    "commit 3f2a1b4c5d6e7f8091a2b3c4d5e6f708192a{n:04d}\n"
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--each", type=int, default=40, help="credentials of each format")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--corpus", type=Path, nargs="*", default=[Path(sysconfig.get_path("stdlib"))])
    parser.add_argument("--gitleaks", type=Path, help="a rule file of gitleaks, which is only read")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    texts = load_corpus(options.corpus)
    result = {
        "recall": recall(options.seed, options.each),
        "forms": forms(options.seed, max(1, options.each // 8)),
        "look_alikes": look_alikes(),
        "corpus": false_alarms(texts),
        "speed": speed(texts),
    }
    if options.gitleaks:
        result["rules"] = rules(options.gitleaks, options.seed)
    show(result)
    if options.json:
        options.json.write_text(json.dumps(result, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def recall(seed: int, each: int) -> dict[str, object]:
    hits: Counter[str] = Counter()
    total: Counter[str] = Counter()
    for name, text, secret in [*credentials.iter_keys(seed, each), *credentials.iter_assigned(seed, each)]:
        left = redact(text)
        total[name] += 1
        hits[name] += secret not in left and secret[-12:] not in left
    missed = {name: count - hits[name] for name, count in total.items() if hits[name] < count}
    return {
        "formats": len(total),
        "secrets": total.total(),
        "found": hits.total(),
        "share": round(hits.total() / total.total(), 5),
        "missed": missed,
    }


def forms(seed: int, each: int) -> dict[str, object]:
    """Share found by kind of our own forms, and the forms that were missed."""
    total: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for kind, form, text, gone in credentials.iter_forms(seed, each):
        left = redact(text)
        good = not any(part in left for part in gone)
        total[kind] += 1
        hits[kind] += good
        missed[form] += not good
    shares = {kind: round(hits[kind] / total[kind], 4) for kind in total}
    return {"forms": len(credentials.FORMS), "shares": shares, "missed": [form for form, n in missed.items() if n]}


def rules(path: Path, seed: int) -> dict[str, object]:
    """Share found of values drawn from a scanner's rules, of each five, and how often each rule's were missed."""
    usable, unusable = rulevalues.load_rules(path)
    random = Random(seed)
    total: Counter[str] = Counter()
    hits: Counter[str] = Counter()
    missed: Counter[str] = Counter()
    for rule in usable:
        if rule.name in MALFORMED:
            continue
        kind = "behind a vendor's name" if rule.announced else "with a shape of its own"
        for carrier in CARRIERS:
            text, secret = rulevalues.draw(rule, random)
            left = redact(text if rule.announced else carrier.format(text.strip()))
            good = secret not in left and (len(secret) < 16 or secret[-12:] not in left)
            total[kind] += 1
            hits[kind] += good
            missed[rule.name] += not good
    return {
        "shares": {kind: round(hits[kind] / total[kind], 4) for kind in total},
        "values": dict(total),
        "left_out": sorted([*unusable, *MALFORMED]),
        "missed": {name: count for name, count in missed.items() if count},
    }


def look_alikes() -> dict[str, object]:
    wrong = [text for text in credentials.LOOK_ALIKES if redact(text) != text]
    return {"texts": len(credentials.LOOK_ALIKES), "false_alarms": wrong}


def load_corpus(folders: Iterable[Path]) -> list[str]:
    """Texts of up to 8 MB in all, chosen by the seed of their sorted paths."""
    paths = sorted(path for folder in folders for path in folder.rglob("*") if path.suffix in SUFFIXES)
    Random(1).shuffle(paths)
    texts, size = [], 0
    for path in paths:
        if size > CORPUS_BYTES or not path.is_file():
            break
        texts.append(path.read_text(encoding="utf-8", errors="replace")[:FILE_LIMIT])
        size += len(texts[-1])
    return texts


def false_alarms(texts: list[str]) -> dict[str, object]:
    spans: Counter[str] = Counter()
    lines = altered = 0
    for text in texts:
        left = redact(text)
        before = text.split("\n")
        ordinary = set(before)
        lines += sum(len(line.split()) > 1 for line in before)
        altered += sum(line not in ordinary and len(line.split()) > 1 for line in left.split("\n"))
        for rule in left.split("[redacted:")[1:]:
            spans[rule.partition("]")[0]] += 1
    size = sum(map(len, texts))
    per_mb = round(spans.total() / (size / 1e6), 3) if size else None
    return {
        "texts": len(texts),
        "characters": size,
        "spans": dict(spans),
        "spans_per_MB": per_mb,
        "lines": lines,
        "altered_lines": altered,
    }


def speed(texts: list[str]) -> dict[str, object]:
    output = "".join(OUTPUT.format(n=n % 100) for n in range(200))
    hostile = {unit: ms_per_kib([unit * (30_000 // len(unit))], 1) for unit in HOSTILE}
    huge = output * (5_000_000 // len(output))
    begun = time.perf_counter()
    redact_to(huge, 16_000)
    five_mb = 1_000 * (time.perf_counter() - begun)
    sources = texts[:200]
    return {
        "tool_output_ms_per_KiB": ms_per_kib([output], 9),
        "sources_ms_per_KiB": ms_per_kib(sources, 3),
        "split_ms_per_KiB": ms_per_kib(sources, 3, str.split),
        "worst_hostile_ms_per_KiB": max(hostile.items(), key=lambda pair: pair[1]),
        "five_MB_event_ms": round(five_mb, 1),
        "python": sys.version.split()[0],
        "cores": os.cpu_count(),
    }


def ms_per_kib(texts: list[str], rounds: int, work: object = redact) -> float:
    """Median over the rounds."""
    kib = sum(map(len, texts)) / 1_024
    taken = []
    for _ in range(rounds):
        begun = time.perf_counter()
        for text in texts:
            work(text)  # type: ignore[operator]
        taken.append(1_000 * (time.perf_counter() - begun) / kib)
    return round(statistics.median(taken), 4)


def show(result: dict[str, dict[str, object]]) -> None:
    recalled, alike, corpus, fast = result["recall"], result["look_alikes"], result["corpus"], result["speed"]
    rows = [
        (
            "recall",
            f"{recalled['found']}/{recalled['secrets']} in {recalled['formats']} formats",
            f"missed {recalled['missed']}",
        ),
        ("forms", " ".join(f"{kind} {share:.0%}" for kind, share in result["forms"]["shares"].items()), ""),  # type: ignore[attr-defined]
        ("look-alikes", f"{len(alike['false_alarms'])}/{alike['texts']} redacted", ""),  # type: ignore[arg-type]
        ("sources", f"{corpus['spans_per_MB']} spans a MB", f"{corpus['spans']}"),
        ("lines", f"{corpus['altered_lines']}/{corpus['lines']} altered", "of more than one word"),
        ("tool output", f"{fast['tool_output_ms_per_KiB']} ms/KiB", "aim 0.1"),
        ("sources", f"{fast['sources_ms_per_KiB']} ms/KiB", f"str.split {fast['split_ms_per_KiB']}"),
        ("hostile", f"{fast['worst_hostile_ms_per_KiB']} ms/KiB", "the worst of them"),
        ("event of 5 MB", f"{fast['five_MB_event_ms']} ms", "cut to 16,000 characters"),
    ]
    for name, figure, note in rows:
        print(f"{name:<14} {figure:<34} {note}")
    for form in result["forms"]["missed"]:  # type: ignore[attr-defined]
        print(f"missed form    {form!r}")
    if "rules" in result:
        shares, values = result["rules"]["shares"], result["rules"]["values"]
        for kind, share in shares.items():  # type: ignore[attr-defined]
            print(f"rules          {share:.1%} of {values[kind]} values {kind}")  # type: ignore[index]
        print(f"rules missed   {result['rules']['missed']}")
        print(f"rules left out {result['rules']['left_out']}")


if __name__ == "__main__":
    main()
