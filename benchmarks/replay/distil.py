"""`python -m benchmarks.replay.distil --data DIR`: recorded answers to the distillation prompt, held against the gold.

Each answer in `distilled/` goes through the shipped reader: a lesson whose quote does not stand in the session is
dropped, and one that repeats a known lesson is no new one. What remains is scored as the replay scores lessons. `by a
reader` adds what `judged.json` says of lessons that this comparison by words does not match. `digest` says which gold
quotes a model is shown: at least DIGEST_SHARE of their words within one line. The model itself is not asked.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

from holdfast.domain.candidate import Candidate
from holdfast.learning.digest import make_digest
from holdfast.learning.distil import read_answer
from holdfast.wiring import SystemClock, load_host

ANSWERS = Path(__file__).with_name("distilled")
JUDGED = Path(__file__).with_name("judged.json")
DIGEST_SHARE = 0.8
"""Share of a quote's words that one line of a digest must have."""
FAMILIES = {
    "constraint": "rule", "convention": "rule", "preference": "rule", "decision": "rule", "bug_cause": "cause",
    "failed_approach": "cause", "tooling": "how-to", "fix": "how-to", "exploration": "how-to",
}  # fmt: skip
WORD = re.compile(r"[a-z0-9_]{3,}")
SHARE, LEAST = 0.6, 4
"""Share of the quote's or the lesson's words, and the least number of them, that make two statements one."""


def words(text: str) -> set[str]:
    return set(WORD.findall(text.lower()))


def says(candidate: Candidate, lesson: dict[str, Any]) -> bool:
    """Whether the candidate says what the gold lesson says, by the replay's measure."""
    own = words(" ".join([candidate.insight, candidate.why, *(span.quote for span in candidate.evidence)]))
    quote, wording = words(lesson["quote"]), words(lesson["lesson"])
    shared = len(quote & own)
    by_quote = shared >= LEAST and shared >= SHARE * min(len(quote), len(own))
    return by_quote or len(wording & own) >= SHARE * max(1, len(wording))


def measure(folder: Path, repository: Path) -> dict[str, Any]:
    catalog = {row["n"]: row for row in map(json.loads, (folder / "replay/catalog.jsonl").read_text().splitlines())}
    gold = json.loads((folder / "replay/gold/numbered.json").read_text())
    counts: Counter[str] = Counter()
    hit_ids: set[str] = set()
    shown = {least: [0, 0] for least in (1, 2, 3)}
    host, clock = load_host("claude-code"), SystemClock()
    sessions = sorted(int(path.stem) for path in ANSWERS.glob("*.json"))
    for number in sessions:
        blob = subprocess.run(
            ["git", f"--git-dir={repository}", "cat-file", "blob", catalog[number]["blob"]],
            capture_output=True,
            check=True,
        ).stdout.decode("utf-8", "replace")
        events = list(host.parse_transcript(blob.splitlines(), catalog[number]["sid"], clock.new_id))
        digest = make_digest(events)
        lines = [words(line) for line in re.split(r"\n(?=\[\d+\] )", digest.text)]
        for lesson in (g for g in gold if g["s"] == number):
            quote = words(lesson["quote"])
            is_shown = any(len(quote & line) >= DIGEST_SHARE * len(quote) for line in lines)
            for least in (1, 2, 3):
                shown[least][0] += is_shown and lesson["grade"] >= least
                shown[least][1] += lesson["grade"] >= least
        everything = json.loads((ANSWERS / f"{number:03d}.json").read_text("utf-8"))["lessons"]
        new = [entry for entry in everything if (entry.get("known") or {}).get("relation") != "repeats"]
        counts["repeats"] += len(everything) - len(new)
        answer = read_answer(json.dumps({"lessons": new}), digest, events, [])
        counts["dropped"] += len(answer.dropped)
        for candidate in answer.candidates:
            hits = [g for g in gold if g["s"] == number and says(candidate, g)]
            good = any(g["grade"] >= 2 for g in hits)
            counts["lessons"] += 1
            counts["gold"] += good
            counts["matched"] += bool(hits)
            counts["same family"] += any(FAMILIES[g["kind"]] == FAMILIES[candidate.kind] for g in hits)
            counts["quote a person"] += candidate.quotes_person
            counts["quote a person, gold"] += candidate.quotes_person and good
            hit_ids |= {g["id"] for g in hits}
    by_id = {g["id"]: g for g in gold}
    judged = [row["same"] for row in json.loads(JUDGED.read_text("utf-8")) if row["same"] and not row["matched"]]
    recall, by_reader = {}, {"gold": counts["gold"] + sum(by_id[id_]["grade"] >= 2 for id_ in judged)}
    for least in (2, 3):
        wanted = [g for g in gold if g["s"] in sessions and g["grade"] >= least]
        recall[f"grade >= {least}"] = [sum(g["id"] in hit_ids for g in wanted), len(wanted)]
        by_reader[f"recall of grade >= {least}"] = sum(g["id"] in hit_ids | {*judged} for g in wanted)
    digest_recall = {f"grade >= {least}": counted for least, counted in shown.items()}
    return {"sessions": len(sessions), **counts, "recall": recall, "by a reader": by_reader, "digest": digest_recall}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--repository", type=Path, help="the bare repository; default: DATA/replay/repo")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args()
    figures = measure(options.data, options.repository or options.data / "replay/repo")
    for name, value in figures.items():
        print(f"{name}: {value}")
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
