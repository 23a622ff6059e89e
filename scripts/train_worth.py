"""Train the judge of worth and write its weights; `--evaluate` reports cross-validated figures without writing.

    python scripts/train_worth.py --mirror DIR [--replay DIR] [--evaluate] [--curve]

DIR holds bare copies of the labelled repositories; `--replay` adds the development gold. Whole sessions, and in the
second figure whole repositories, are left out of training when they are judged. Needs scikit-learn.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import scipy.sparse as sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import average_precision_score
from sklearn.model_selection import GroupKFold

from holdfast.detectors.statements._model import CLIP
from holdfast.detectors.statements._worth import VERSION, grams
from holdfast.domain.event import Event
from worth_rows import GOOD, Row, digest_of, find_span, load_blob, load_sessions, parse_events, rows_of

WEIGHTS = Path(__file__).parents[1] / "src/holdfast/detectors/statements/worth.json"
DENSE_WEIGHT = 0.15
"""Scale of the standardised features beside the words' unit vectors."""
PENALTY = 0.3
"""Inverse strength of the L2 penalty."""
FOLDS = 10
CEILING = {"user": 0.6, "agent": 0.65}
"""Share that the readers found worth keeping among the likeliest finds: no higher probability is claimed."""
SECOND_READER = {"user": 0.0, "agent": 0.6}
"""Log-odds added to the calibration on the labels. A second reader judged 240 finds blind: of what persons said the
share worth keeping was that of the labels, of what agents said it was about twice as high, since readers who list the
lessons of a whole session list few of the agent's explanations."""
RARE = 3
"""A word or pair that fewer sentences hold is left out."""


class Model:
    """Words and features to log-odds, fitted by scikit-learn; stored in the shape that `_worth` reads."""

    def __init__(self, rows: list[Row]) -> None:
        self.words = TfidfVectorizer(analyzer=grams, min_df=RARE, sublinear_tf=True)
        self.names = sorted({name for row in rows for name in row.features})
        dense = self._dense(rows)
        self.mean, self.deviation = dense.mean(axis=0), dense.std(axis=0)
        varying = self.deviation > 1e-6
        self.names = [name for name, keep in zip(self.names, varying, strict=True) if keep]
        self.mean, self.deviation = self.mean[varying], self.deviation[varying]
        x = sparse.hstack([self.words.fit_transform([row.words for row in rows]), self._scaled(rows)]).tocsr()
        y = np.array([row.grade >= GOOD for row in rows])
        self.regression = LogisticRegression(C=PENALTY, max_iter=500).fit(x, y)

    def _dense(self, rows: list[Row]) -> Any:
        return np.array([[row.features.get(name, 0.0) for name in self.names] for row in rows])

    def _scaled(self, rows: list[Row]) -> Any:
        scaled = np.clip((self._dense(rows) - self.mean) / self.deviation, -CLIP, CLIP)
        return sparse.csr_matrix(DENSE_WEIGHT * scaled)

    def weigh(self, rows: list[Row]) -> Any:
        """Log-odds of the rows."""
        x = sparse.hstack([self.words.transform([row.words for row in rows]), self._scaled(rows)]).tocsr()
        return self.regression.decision_function(x)

    def stored(self, calibration: dict[str, list[float]]) -> dict[str, Any]:
        """The model as JSON."""
        weights = self.regression.coef_[0]
        terms = self.words.get_feature_names_out()
        count = len(terms)
        words = {
            term: [round(float(idf), 3), round(float(weight), 4)]
            for term, idf, weight in zip(terms, self.words.idf_, weights[:count], strict=True)
            if abs(weight) > 0.004
        }
        features = {
            name: [round(float(m), 5), round(float(d), 5), round(float(w) * DENSE_WEIGHT, 5)]
            for name, m, d, w in zip(self.names, self.mean, self.deviation, weights[count:], strict=True)
        }
        return {
            "version": VERSION, "bias": round(float(self.regression.intercept_[0]), 5), "calibration": calibration,
            "features": features, "grams": words,
        }  # fmt: skip


def gather(mirror: Path, replay: Path | None) -> list[Row]:
    """Rows of all labelled sessions; of events that the readers were not shown, none."""
    rows: list[Row] = []
    for session in load_sessions():
        repository, blob = session["repo"], session["blob"]
        events = parse_events(load_blob(mirror, repository, blob), blob, session["host"])
        labels = [label for label in session["labels"] if _fits(events, label)]
        if len(labels) < len(session["labels"]):
            print(f"{repository} {blob[:8]}: some labels do not fit any more", file=sys.stderr)
        shown = frozenset([*session["shown"], *(label["event"] for label in labels)])
        rows += rows_of(events, repository, blob, labels, shown)
    return rows + (gather_gold(mirror, replay) if replay else [])


def _fits(events: list[Event], label: dict[str, Any]) -> bool:
    """Whether the span still holds the text that was labelled."""
    text = events[label["event"]].text if label["event"] < len(events) else ""
    return bool(digest_of(text[label["start"] : label["end"]]) == label["digest"])


def gather_gold(mirror: Path, replay: Path) -> list[Row]:
    """Rows of the development replay."""
    gold = json.loads((replay / "gold" / "numbered.json").read_text("utf-8"))
    rows: list[Row] = []
    for line in (replay / "catalog.jsonl").read_text("utf-8").splitlines():
        session = json.loads(line)
        events = parse_events(load_blob(mirror, "entireio/cli", session["blob"]), session["sid"], "claude-code")
        labels = []
        for lesson in (lesson for lesson in gold if lesson["s"] == session["n"]):
            if span := find_span(events, lesson["quote"]):
                labels.append({"event": span[0], "start": span[1], "end": span[2], **lesson})
        rows += rows_of(events, "entireio/cli", session["sid"], labels)
    return rows


def cross_validate(rows: list[Row], groups: list[str], folds: int) -> Any:
    """Log-odds of every row by models that never saw its group."""
    weighed = np.zeros(len(rows))
    for train, test in GroupKFold(folds).split(rows, groups=groups):
        model = Model([rows[i] for i in train if rows[i].grade != 1])
        weighed[test] = model.weigh([rows[i] for i in test])
    return weighed


def calibrate(rows: list[Row], weighed: Any) -> dict[str, list[float]]:
    """Platt's sigmoid for each speaker, on log-odds of unseen rows."""
    fitted = {}
    for role in ("user", "agent"):
        chosen = [i for i, row in enumerate(rows) if row.role == role and row.grade != 1]
        x = np.array([[weighed[i]] for i in chosen])
        y = np.array([rows[i].grade >= GOOD for i in chosen])
        regression = LogisticRegression(C=1e6).fit(x, y)
        offset = float(regression.intercept_[0]) + SECOND_READER[role]
        fitted[role] = [round(float(regression.coef_[0][0]), 4), round(offset, 4), CEILING[role]]
    return fitted


def report(name: str, rows: list[Row], weighed: Any) -> None:
    """Average precision and precision at several depths, for each speaker and together."""
    for role in ("user", "agent", "both"):
        chosen = [i for i, row in enumerate(rows) if row.grade != 1 and role in (row.role, "both")]
        y = np.array([rows[i].grade >= GOOD for i in chosen])
        scores = np.array([weighed[i] for i in chosen])
        if not y.any():
            continue
        order = np.argsort(-scores, kind="stable")
        depths = [d for d in (25, 50, 100, 200, 400, 800) if d <= len(order)]
        at = " ".join(f"P@{d} {y[order[:d]].mean():.2f}" for d in depths)
        print(
            f"{name} {role}: {len(chosen)} sentences, {y.sum()} good, AP {average_precision_score(y, scores):.3f}, {at}"
        )


def main() -> None:
    """Train or evaluate."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mirror", type=Path, required=True)
    parser.add_argument("--replay", type=Path)
    parser.add_argument("--evaluate", action="store_true")
    parser.add_argument(
        "--curve", action="store_true", help="also with a quarter, half and three quarters of the sessions"
    )
    options = parser.parse_args()
    rows = gather(options.mirror, options.replay)
    sessions = [f"{row.repository} {row.session}" for row in rows]
    repositories = [row.repository for row in rows]
    print(
        f"{len(set(sessions))} sessions, {len(rows)} sentences, {sum(row.grade >= GOOD for row in rows)} good, "
        f"{len({(s, row.label) for s, row in zip(sessions, rows, strict=True) if row.grade >= GOOD})} lessons"
    )
    weighed = cross_validate(rows, sessions, FOLDS)
    report("sessions left out", rows, weighed)
    if len(set(repositories)) > 1:
        report("repositories left out", rows, cross_validate(rows, repositories, len(set(repositories))))
    if options.curve:
        names = sorted(set(sessions))
        for share in (4, 2, 1.333):
            chosen = set(names[:: int(share)] if share >= 2 else [n for i, n in enumerate(names) if i % 4])
            part = [row for row, s in zip(rows, sessions, strict=True) if s in chosen]
            groups = [s for s in sessions if s in chosen]
            report(f"{len(chosen)} sessions", part, cross_validate(part, groups, FOLDS))
    if not options.evaluate:
        stored = Model([row for row in rows if row.grade != 1]).stored(calibrate(rows, weighed))
        WEIGHTS.write_text(json.dumps(stored, ensure_ascii=False) + "\n", "utf-8")
        print(f"{WEIGHTS}: {WEIGHTS.stat().st_size / 1e6:.2f} MB, {len(stored['grams'])} words")


if __name__ == "__main__":
    main()
