"""How well the `statements` detector finds what was worth remembering in labelled transcripts.

    python benchmarks/detection.py --data DIR [--json FILE]

DIR holds `transcripts/`. Two kinds of rows must not be confused: *cross-validated* rows judge every repository
with weights fitted without it (honest), the *shipped* row judges the training data (optimistic; it shows that
the shipped path runs). Baselines: a list of trigger words, and TF-IDF with logistic regression in the same folds
when scikit-learn is installed, otherwise as the data set's README quotes it. Nothing is downloaded.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import sys
import time
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "scripts"))

import train_statements as training
from holdfast.detectors.statements import judge
from holdfast.detectors.statements._model import shipped

HONEST = "cross-validated by repository (honest)"
OPTIMISTIC = "shipped weights on their own training data (optimistic)"
TRIGGERS = re.compile(
    r"\b(?:root cause|turns out|because|instead of|rather than|decided|let's (?:use|keep|go with)|must|never|always|"
    r"should (?:be|not|use)|prefer|convention|make sure|don't|does(?:n't| not)|can(?:'t|not)|"
    r"the (?:issue|problem) (?:is|was)|"
    r"only works|by default|note that|important|workaround|didn't work)\b",
    re.IGNORECASE,
)
QUOTED = {
    "trigger words (quoted)": {
        "precision": 0.59, "recall": 0.42, "f1": 0.49, "lessons_caught": 0.53, "lenient_f1": 0.52,
    },
    "TF-IDF + logistic regression (quoted)": {
        "precision": 0.49, "recall": 0.58, "f1": 0.53, "ap": 0.53, "lessons_caught": 0.71,
        "lenient_f1": 0.59, "lenient_ap": 0.63,
    },
    "the same + 20 shape features (quoted)": {
        "precision": 0.44, "recall": 0.73, "f1": 0.55, "ap": 0.53, "lessons_caught": 0.83,
        "lenient_f1": 0.60, "lenient_ap": 0.64,
    },
    "aim": {"f1": 0.68, "ap": 0.70, "lessons_caught": 0.88, "lenient_f1": 0.75, "kind_accuracy": 0.55},
}  # fmt: skip
"""Figures of the data set's README, on its held-out part."""
COLUMNS = (
    ("precision", "P"), ("recall", "R"), ("f1", "F1"), ("ap", "AP"), ("lessons_caught", "caught"),
    ("lenient_f1", "len F1"), ("lenient_ap", "len AP"), ("macro_f1", "macro"), ("kind_accuracy", "kind"),
    ("kind_accuracy_main_turns", "kind*"), ("sentence_in_first_two", "sent@2"),
)  # fmt: skip


def main() -> int:
    """Run, print the tables, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds transcripts/")
    parser.add_argument("--json", type=Path, help="where to write the figures")
    options = parser.parse_args()
    result = run(options.data)
    print(render(result))
    if options.json:
        options.json.write_text(json.dumps(result, indent=2) + "\n", "utf-8")
    return 0


def run(folder: Path) -> dict[str, Any]:
    """All figures: rows by name, per kind, per repository, speed, and what they were measured on."""
    corpus = training.load_corpus(folder)
    out, five = training.by_repository(corpus), training.five_folds(corpus)
    honest = training.cross_validate(corpus, out)
    rows = {
        f"statements, leave one repository out: {HONEST}": training.measure(honest, corpus),
        f"statements, 5 folds: {HONEST}": training.measure(training.cross_validate(corpus, five), corpus),
        f"statements: {OPTIMISTIC}": training.measure(judge_shipped(corpus), corpus),
        "trigger words, nothing fitted": training.measure(judge_by_triggers(corpus), corpus),
    }
    if find_spec("sklearn"):
        rows["TF-IDF + logistic regression, leave one repository out"] = training.measure(
            judge_by_words(corpus, out), corpus
        )
        rows["TF-IDF + logistic regression, 5 folds"] = training.measure(judge_by_words(corpus, five), corpus)
    rows.update(QUOTED)
    return {
        "rows": rows,
        "by_kind": by_kind(honest),
        "by_repository": by_group(honest, "repository"),
        "by_role": by_group(honest, "role"),
        "ms_per_turn": speed(corpus),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "data_sha256": corpus.digest,
        "turns": len(corpus.rows()),
        "statements": sum(row.positive for row in corpus.rows()),
    }


def judge_shipped(corpus: training.Corpus) -> list[training.Judged]:
    return [judgement for session in corpus.sessions for judgement in training.judge_session(session, shipped())]


def judge_by_triggers(corpus: training.Corpus) -> list[training.Judged]:
    judged = []
    for row in corpus.rows():
        hits = len(TRIGGERS.findall(row.text))
        judged.append(training.Judged(row, float(hits), "constraint", hits > 0, 1 if row.quotes else 0))
    return judged


def judge_by_words(corpus: training.Corpus, folds: Sequence[Sequence[str]]) -> list[training.Judged]:
    from sklearn.feature_extraction.text import TfidfVectorizer
    from sklearn.linear_model import LogisticRegression

    pending: list[tuple[int, training.Judged]] = []
    for number, held_out in enumerate(folds):
        known = [row for row in corpus.rows() if row.repository not in held_out]
        unseen = [row for row in corpus.rows() if row.repository in held_out]
        words = TfidfVectorizer(sublinear_tf=True, min_df=2, ngram_range=(1, 2)).fit(row.text for row in known)
        model = LogisticRegression(C=4, class_weight="balanced", max_iter=1000)
        model.fit(words.transform(row.text for row in known), [row.positive for row in known])
        weighed = model.decision_function(words.transform(row.text for row in unseen))
        pending.extend(
            (number, training.Judged(row, float(weight), "constraint", False, 1 if row.quotes else 0))
            for row, weight in zip(unseen, weighed, strict=True)
        )
    return training.with_thresholds(pending)


def by_kind(judged: Sequence[training.Judged]) -> dict[str, dict[str, float]]:
    """Precision, recall and F1 of finding a statement *and* naming its kind."""
    figures = {}
    for kind in sorted({kind for judgement in judged for kind in judgement.row.kinds}):
        hits = sum(judgement.found and judgement.kind == kind and kind in judgement.row.kinds for judgement in judged)
        predicted = sum(judgement.found and judgement.kind == kind for judgement in judged)
        true = sum(kind in judgement.row.kinds for judgement in judged)
        figures[kind] = {
            "precision": hits / max(1, predicted),
            "recall": hits / max(1, true),
            "f1": 2 * hits / max(1, predicted + true),
        }
        figures[kind]["found_under_any_kind"] = sum(
            judgement.found and kind in judgement.row.kinds for judgement in judged
        ) / max(1, true)
    return figures


def by_group(judged: Sequence[training.Judged], field: str) -> dict[str, dict[str, float]]:
    figures = {}
    for name in sorted({getattr(judgement.row, field) for judgement in judged}):
        own = [judgement for judgement in judged if getattr(judgement.row, field) == name]
        lenient = training.precision_recall([judgement for judgement in own if not judgement.row.near])
        strict = training.precision_recall(own)
        figures[name] = {
            "turns": len(own), "statements": sum(judgement.row.positive for judgement in own),
            "precision": strict[0], "recall": strict[1], "f1": strict[2], "lenient_f1": lenient[2],
        }  # fmt: skip
    return figures


def speed(corpus: training.Corpus) -> float:
    """Milliseconds for one text turn: best of three runs of the shipped `judge` over all sessions."""
    spans = []
    for _ in range(3):
        begun = time.perf_counter()
        for session in corpus.sessions:
            judge(session.turns)
        spans.append(time.perf_counter() - begun)
    return 1000 * min(spans) / len(corpus.rows())


def render(result: dict[str, Any]) -> str:
    """The tables as text.

    kind*: on the turns that a lesson is quoted from; sent@2: the quoted sentence is one of the first two.
    """
    heads = [head for _, head in COLUMNS]
    lines = [f"{'':72}" + "".join(f"{head:>8}" for head in heads)]
    for name, figures in result["rows"].items():
        skipped = ("kind", "sentence") if name.startswith(("trigger", "TF-IDF")) else ()
        cells = (
            "" if key not in figures or key.startswith(skipped or ("-",)) else f"{figures[key]:.3f}"
            for key, _ in COLUMNS
        )
        lines.append(f"{name:72}" + "".join(f"{cell:>8}" for cell in cells))
    for title in ("by_kind", "by_repository", "by_role"):
        lines += ["", f"{title.replace('_', ' ')}, leave one repository out"]
        for name, figures in result[title].items():
            lines.append(f"  {name:34}" + "  ".join(f"{key} {value:.3g}" for key, value in figures.items()))
    lines.append(f"\n{result['ms_per_turn']:.3f} ms a turn; {result['turns']} turns, {result['statements']} statements")
    return "\n".join(lines)


if __name__ == "__main__":
    sys.exit(main())
