"""Train the classifier of the `statements` detector on labelled transcripts and write its weights.

    python scripts/train_statements.py --data DIR [--out FILE]

DIR holds `transcripts/dev` (sessions, labels). Everything is deterministic: no random numbers, sorted input,
Newton's method to convergence. `statement_turns.json` beside this script adds labels, as turn numbers, for
sessions that the data set leaves unlabelled. The cross-validation leaves one repository out at a time.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from holdfast.detectors.statements import Turn
from holdfast.detectors.statements._features import (
    VERSION,
    Utterance,
    describe_sentence,
    describe_session,
    describe_topic,
    mute,
)
from holdfast.detectors.statements._model import CLIP, MUTED, ModelWeights, judge, parse_weights, rank_sentences

WEIGHTS_FILE = Path(__file__).parents[1] / "src/holdfast/detectors/statements/weights.json"
ADDED_LABELS = Path(__file__).with_name("statement_turns.json")
KINDS = {
    "constraint": "constraint", "bug_root_cause": "bug_cause", "decision": "decision", "tooling": "tooling",
    "preference": "preference", "convention": "convention", "failed_approach": "failed_approach",
}  # fmt: skip
"""The data set's categories and our kinds of lesson."""
TURN_PENALTY, KIND_PENALTY, SENTENCE_PENALTY = 60.0, 60.0, 30.0
"""L2 penalties (half of this times the squared weights), on standardised features."""
NEARLY_BEST = 0.985
"""A threshold is the middle of those whose F1 is at least this share of the best: the peak alone is noise."""

_EDITS = re.compile(r"edit|write|patch|replace|create_file|insert", re.IGNORECASE)
_FAILS = re.compile(r"\berror\b|\bfail(?:ed|ure)?\b|exit code [1-9]|traceback|not found|panic", re.IGNORECASE)

Described = tuple[Utterance, dict[str, float]]


class Row(NamedTuple):
    """One text turn with its labels."""

    session: str
    repository: str
    number: int
    role: str
    text: str
    utterance: Utterance
    features: dict[str, float]
    positive: bool
    near: bool
    kinds: tuple[str, ...]
    """Kinds of the lessons it states, the one it is the main turn of first."""
    quotes: tuple[str, ...]
    """Evidence quoted from this very turn."""
    added: bool
    """Labelled by us: for training, never for measuring."""


class Session(NamedTuple):
    """One session: its turns as the detector sees them, and a row for each text turn (by place)."""

    name: str
    repository: str
    turns: list[Turn]
    rows: dict[int, Row]


class Lesson(NamedTuple):
    """One labelled lesson and the turns that state it."""

    session: str
    turns: tuple[int, ...]


class Corpus(NamedTuple):
    """The labelled sessions, the added ones, the lessons and the hash of the files they came from."""

    sessions: list[Session]
    added: list[Session]
    lessons: list[Lesson]
    digest: str

    def rows(self) -> list[Row]:
        """Rows that may be measured on."""
        return [row for session in self.sessions for row in session.rows.values()]

    def all_rows(self) -> list[Row]:
        """Rows that may be trained on."""
        return self.rows() + [row for session in self.added for row in session.rows.values()]


# ---------------------------------------------------------------- reading the data set


def load_corpus(folder: Path) -> Corpus:
    """Read `transcripts/dev` under the folder."""
    dev = folder / "transcripts" / "dev"
    digest = hashlib.sha256()
    about = _read_lines(dev / "sessions.jsonl", digest)
    labels = _read_lines(dev / "labels.jsonl", digest)
    added = json.loads(ADDED_LABELS.read_text("utf-8"))
    sessions: list[Session] = []
    extra: list[Session] = []
    for session in sorted(about, key=lambda session: session["session"]):
        name = session["session"]
        if session["labelled"] or name in added:
            turns = _read_lines(dev / "sessions" / f"{name}.jsonl", digest)
            own = [label for label in labels if label["session"] == name]
            (sessions if session["labelled"] else extra).append(_session(session, turns, own, added.get(name)))
    lessons = [Lesson(label["session"], (label["turn"], *label["also_turns"])) for label in labels]
    return Corpus(sessions, extra, lessons, digest.hexdigest()[:16])


def _read_lines(path: Path, digest: Any) -> list[dict[str, Any]]:
    content = path.read_bytes()
    digest.update(content)
    return [json.loads(line) for line in content.decode("utf-8").splitlines() if line.strip()]


def _session(
    about: dict[str, Any], recorded: list[dict[str, Any]], labels: list[dict[str, Any]], added: dict[str, Any] | None
) -> Session:
    chosen = [turn for turn in recorded if turn["kind"] in ("text", "tool")]
    turns = [_turn(turn) for turn in chosen]
    positive, near = set(about["positive_turns"]), set(about["near_turns"])
    skipped: set[int] = set()
    if added:
        positive, near = set(added["pos"]), set(added["near"])
        skipped = {number for first, last in added["skip"] for number in range(first, last + 1)}
    rows = {}
    for at, (turn, described) in enumerate(zip(chosen, describe_session(turns), strict=True)):
        if described is None or turn["turn"] in skipped:
            continue
        utterance, features = described
        number = turn["turn"]
        own = sorted((label for label in labels if number in (label["turn"], *label["also_turns"])),
                     key=lambda label: label["turn"] != number)  # fmt: skip
        rows[at] = Row(
            about["session"], about["repo"], number, turn["role"], turn["text"], utterance, features,
            number in positive, number in near, tuple(KINDS[label["category"]] for label in own),
            tuple(span["quote"] for label in own if label["turn"] == number for span in label["evidence"]),
            added is not None,
        )  # fmt: skip
    return Session(about["session"], about["repo"], turns, rows)


def _turn(recorded: dict[str, Any]) -> Turn:
    if recorded["role"] != "tool":
        return Turn(recorded["role"], recorded["text"])
    result = recorded["text"].split("--- result ---")[-1][:3000]
    edits = bool(_EDITS.search(recorded["tool"] or ""))
    return Turn("tool", "", edits=edits, failed=bool(_FAILS.search(result)))


# ---------------------------------------------------------------- fitting linear models


def fit_logistic(
    described: Sequence[Mapping[str, float]], labels: Sequence[bool], penalty: float, *, balance: float = 1.0
) -> dict[str, Any]:
    """A logistic regression with an L2 penalty, in its stored form; Newton's method, numpy only.

    `balance` is the power of negatives over positives by which a positive weighs more: 0 not at all, 1 in full.
    """
    names = sorted({name for features in described for name in features})
    values = np.array([[features.get(name, 0.0) for name in names] for features in described])
    mean, deviation = values.mean(axis=0), values.std(axis=0)
    varying = deviation > 1e-9
    names = [name for name, keep in zip(names, varying, strict=True) if keep]
    mean, deviation = mean[varying], deviation[varying]
    z = np.clip((values[:, varying] - mean) / deviation, -CLIP, CLIP)
    x = np.hstack([z, np.ones((len(z), 1))])
    y = np.array(labels, float)
    weight = np.where(y == 1, ((len(y) - y.sum()) / max(1.0, y.sum())) ** balance, 1.0)
    weight *= len(y) / weight.sum()
    ridge = np.diag([penalty] * len(names) + [1e-6])
    beta = np.zeros(x.shape[1])
    for _ in range(50):
        p = 1 / (1 + np.exp(-np.clip(x @ beta, -30, 30)))
        gradient = x.T @ (weight * (p - y)) + ridge @ beta
        hessian = (x * (weight * p * (1 - p))[:, None]).T @ x + ridge
        step = np.linalg.solve(hessian, gradient)
        beta -= step
        if np.abs(step).max() < 1e-8:
            break
    features = {
        name: [_rounded(mean[i]), _rounded(deviation[i]), _rounded(beta[i])] for i, name in enumerate(names)
    }  # fmt: skip
    return {"bias": _rounded(beta[-1]), "features": features}


def _rounded(value: float) -> float:
    return float(f"{value:.5g}")


def fit_weights(rows: Sequence[Row]) -> dict[str, Any]:
    """The three models on these rows, in stored form, with threshold and calibration still open."""
    heard = [row for row in rows if not mute(row.utterance) and not (row.added and row.near)]
    stating = [row for row in rows if row.positive and row.kinds and not mute(row.utterance)]
    topics = [describe_topic(row.utterance, row.features) for row in stating]
    kinds = {}
    for kind in sorted({row.kinds[0] for row in stating}):
        kinds[kind] = fit_logistic(topics, [row.kinds[0] == kind for row in stating], KIND_PENALTY, balance=0.5)
    sentences, chosen = _sentence_rows(rows)
    return {
        "provenance": {"features": VERSION},
        "turn": fit_logistic([row.features for row in heard], [row.positive for row in heard], TURN_PENALTY),
        "threshold": 0.0,
        "slope": 1.0,
        "offset": 0.0,
        "kinds": kinds,
        "sentence": fit_logistic(sentences, chosen, SENTENCE_PENALTY),
    }


def _sentence_rows(rows: Iterable[Row]) -> tuple[list[dict[str, float]], list[bool]]:
    described: list[dict[str, float]] = []
    chosen: list[bool] = []
    for row in rows:
        if not row.quotes:
            continue
        hits = quoted_sentences(row)
        if any(hits):
            described.extend(describe_sentence(row.utterance, at) for at in range(len(hits)))
            chosen.extend(hits)
    return described, chosen


def quoted_sentences(row: Row) -> list[bool]:
    """For each sentence of the turn whether it overlaps a quoted evidence."""
    quotes = [_squeezed(quote) for quote in row.quotes]
    hits = []
    for sentence in row.utterance.reading.sentences:
        own = _squeezed(row.text[sentence.start : sentence.end])
        hits.append(any(own and (quote in own or (len(own) > 15 and own in quote)) for quote in quotes))
    return hits


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


# ---------------------------------------------------------------- thresholds and cross-validation


def pick_threshold(weighed: Sequence[float], positive: Sequence[bool]) -> float:
    """The threshold in the middle of those that give nearly the best F1."""
    order = np.argsort(-np.array(weighed), kind="stable")
    caught = np.cumsum(np.array(positive, float)[order])
    f1 = 2 * caught / (np.arange(1, len(order) + 1) + sum(positive))
    good = np.flatnonzero(f1 >= f1.max() * NEARLY_BEST)
    middle = round(float(np.average(good, weights=f1[good] - f1.max() * NEARLY_BEST + 1e-6)))
    return float(np.array(weighed)[order[middle]])


def calibrate(weighed: Sequence[float], positive: Sequence[bool]) -> tuple[float, float]:
    """Slope and offset of Platt's sigmoid (1999), without class balancing, on log-odds of unseen turns."""
    heard = [(w, p) for w, p in zip(weighed, positive, strict=True) if w > MUTED / 2]
    x = np.array([[w, 1.0] for w, _ in heard])
    y = np.array([p for _, p in heard], float)
    beta = np.array([1.0, -1.0])
    for _ in range(50):
        p = 1 / (1 + np.exp(-x @ beta))
        beta -= np.linalg.solve((x * (p * (1 - p))[:, None]).T @ x + 1e-6 * np.eye(2), x.T @ (p - y))
    return _rounded(beta[0]), _rounded(beta[1])


class Judged(NamedTuple):
    """What a classifier made of one row that it was not trained on."""

    row: Row
    weight: float
    kind: str
    found: bool
    picked: int
    """Rank, from 1, of the first quoted sentence among the turn's; 0 when the turn quotes nothing."""


def by_repository(corpus: Corpus) -> list[list[str]]:
    """Folds that leave one repository out."""
    return [[name] for name in sorted({session.repository for session in corpus.sessions})]


def five_folds(corpus: Corpus) -> list[list[str]]:
    """Five folds of whole repositories, of like sizes: the protocol of the data set's own baselines."""
    sizes = Counter(row.repository for row in corpus.rows())
    folds: list[list[str]] = [[] for _ in range(5)]
    for name in sorted(sizes, key=lambda name: (-sizes[name], name)):
        min(folds, key=lambda fold: sum(sizes[other] for other in fold)).append(name)
    return folds


def cross_validate(
    corpus: Corpus,
    folds: Sequence[Sequence[str]],
) -> list[Judged]:
    """Judge every labelled turn with weights fitted without its repository, threshold included.

    A fold's threshold comes from the unseen turns of the other folds.
    """
    pending: list[tuple[int, Judged]] = []
    for number, held_out in enumerate(folds):
        stored = fit_weights([row for row in corpus.all_rows() if row.repository not in held_out])
        weights = parse_weights(stored)
        for session in corpus.sessions:
            if session.repository in held_out:
                pending.extend((number, judged) for judged in judge_session(session, weights))
    return with_thresholds(pending)


def with_thresholds(pending: Sequence[tuple[int, Judged]]) -> list[Judged]:
    """The judged rows of numbered folds, each found or not by the threshold that suits the other folds."""
    thresholds = {}
    for number in {number for number, _ in pending}:
        others = [judgement for fold, judgement in pending if fold != number]
        thresholds[number] = pick_threshold(
            [judgement.weight for judgement in others], [judgement.row.positive for judgement in others]
        )
    return [judgement._replace(found=judgement.weight >= thresholds[number]) for number, judgement in pending]


def judge_session(session: Session, weights: ModelWeights) -> list[Judged]:
    """The shipped path, `judge`, over one session; `found` by the weights' own threshold."""
    judged = []
    for at, verdict in enumerate(judge(session.turns, weights)):
        row = session.rows.get(at)
        if verdict is None or row is None:
            continue
        picked = 0
        if row.quotes and any(hits := quoted_sentences(row)):
            ranked = rank_sentences(row.utterance, weights.sentence)
            places = {sentence: place for place, sentence in enumerate(row.utterance.reading.sentences)}
            picked = next(rank for rank, (_, sentence) in enumerate(ranked, 1) if hits[places[sentence]])
        judged.append(Judged(row, verdict.weight, verdict.kind, verdict.found, picked))
    return judged


# ---------------------------------------------------------------- figures


def measure(judged: Sequence[Judged], corpus: Corpus) -> dict[str, float]:
    """Precision, recall, F1, AP (strict and lenient), lessons caught, kind accuracy, macro F1 by repository."""
    strict = precision_recall(judged)
    lenient_rows = [judgement for judgement in judged if not judgement.row.near]
    lenient = precision_recall(lenient_rows)
    stating = [judgement for judgement in judged if judgement.row.positive and judgement.row.kinds]
    quoting = [judgement for judgement in stating if judgement.row.quotes]
    quoted = [judgement for judgement in judged if judgement.picked]
    repositories = sorted({judgement.row.repository for judgement in judged if judgement.row.positive})
    macro = [
        precision_recall([judgement for judgement in judged if judgement.row.repository == name])[2]
        for name in repositories
    ]
    return {
        "precision": strict[0],
        "recall": strict[1],
        "f1": strict[2],
        "ap": average_precision(judged),
        "lessons_caught": lessons_caught(judged, corpus),
        "lenient_precision": lenient[0],
        "lenient_f1": lenient[2],
        "lenient_ap": average_precision(lenient_rows),
        "macro_f1": sum(macro) / len(macro),
        "kind_accuracy": sum(judgement.kind == judgement.row.kinds[0] for judgement in stating) / len(stating),
        "kind_accuracy_main_turns": sum(judgement.kind == judgement.row.kinds[0] for judgement in quoting)
        / len(quoting),
        "kind_accuracy_any": sum(judgement.kind in judgement.row.kinds for judgement in stating) / len(stating),
        "sentence_in_first": sum(judgement.picked == 1 for judgement in quoted) / len(quoted),
        "sentence_in_first_two": sum(judgement.picked <= 2 for judgement in quoted) / len(quoted),
    }


def precision_recall(judged: Sequence[Judged]) -> tuple[float, float, float]:
    """Precision, recall and F1 of `found`."""
    hits = sum(judgement.found and judgement.row.positive for judgement in judged)
    predicted, positive = (
        sum(judgement.found for judgement in judged),
        sum(judgement.row.positive for judgement in judged),
    )
    precision, recall = hits / max(1, predicted), hits / max(1, positive)
    return precision, recall, 2 * hits / max(1, predicted + positive)


def average_precision(judged: Sequence[Judged]) -> float:
    """Mean precision at every positive, best weight first; ties keep their order."""
    hits, total = 0, 0.0
    for rank, judgement in enumerate(sorted(judged, key=lambda judgement: -judgement.weight), 1):
        if judgement.row.positive:
            hits += 1
            total += hits / rank
    return total / max(1, hits)


def lessons_caught(judged: Sequence[Judged], corpus: Corpus) -> float:
    """Share of lessons, of those that a text turn states, with a stating turn found."""
    is_found = {(judgement.row.session, judgement.row.number): judgement.found for judgement in judged}
    verdicts = []
    for lesson in corpus.lessons:
        stated = [is_found[lesson.session, turn] for turn in lesson.turns if (lesson.session, turn) in is_found]
        if stated:
            verdicts.append(any(stated))
    return sum(verdicts) / len(verdicts)


def train(corpus: Corpus) -> dict[str, Any]:
    """The weights to ship: fitted on everything, threshold and calibration from unseen turns."""
    unseen = cross_validate(corpus, by_repository(corpus))
    weighed, positive = [judgement.weight for judgement in unseen], [judgement.row.positive for judgement in unseen]
    stored = fit_weights(corpus.all_rows())
    stored["threshold"] = _rounded(pick_threshold(weighed, positive))
    stored["slope"], stored["offset"] = calibrate(weighed, positive)
    rows = corpus.rows()
    stored["provenance"] = {
        "features": VERSION,
        "data_sha256": corpus.digest,
        "sessions": len(corpus.sessions),
        "turns": len(rows),
        "statements": sum(row.positive for row in rows),
        "added_sessions": len(corpus.added),
        "added_turns": len(corpus.all_rows()) - len(rows),
        "repositories": dict(sorted(Counter(row.repository for row in rows).items())),
        "leave_one_repository_out": _figures(unseen, corpus),
        "five_folds_by_repository": _figures(cross_validate(corpus, five_folds(corpus)), corpus),
    }
    return stored


def _figures(judged: Sequence[Judged], corpus: Corpus) -> dict[str, float]:
    return {name: round(value, 3) for name, value in measure(judged, corpus).items()}


def main() -> int:
    """Train and write the weights."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds transcripts/")
    parser.add_argument("--out", type=Path, default=WEIGHTS_FILE, help="where to write the weights")
    options = parser.parse_args()
    stored = train(load_corpus(options.data))
    options.out.write_text(json.dumps(stored, indent=1, sort_keys=True, ensure_ascii=False) + "\n", "utf-8")
    print(json.dumps(stored["provenance"], indent=2))
    return 0


if __name__ == "__main__":
    sys.exit(main())
