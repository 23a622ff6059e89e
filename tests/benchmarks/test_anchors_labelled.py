"""The labels of anchors are whole, and answers are counted as they say."""

from __future__ import annotations

import csv
import re

import pytest
from benchmarks.anchors_labelled import LABELS, SHARES, Answer, Label

from holdfast.domain.lesson import Anchor
from holdfast.domain.symbol import Verdict

LABEL = Label("Go", "a+b", "1" * 40, "2" * 40, "renamed", "a.go", "f", "b.go::g")


def test_every_label_names_two_commits_and_says_where_the_definition_is() -> None:
    with LABELS.open(encoding="utf-8", newline="") as file:
        labels = [Label(*row) for row in list(csv.reader(file, delimiter="\t"))[1:]]
    assert len(labels) > 300
    assert {label.kind for label in labels} == set(SHARES)
    assert all(re.fullmatch("[0-9a-f]{40} [0-9a-f]{40}", f"{label.before} {label.after}") for label in labels)
    assert [label for label in labels if bool(label.now) == (label.kind == "deleted")] == []
    places = [(label.before, label.after, label.path, label.symbol) for label in labels]
    assert len(places) == len(set(places))


@pytest.mark.parametrize(
    ("kind", "freshness", "symbol", "is_right"),
    [
        ("renamed", "moved", "g", True),
        ("renamed", "drifted", "g#2", True),
        ("renamed", "moved", "h", False),
        ("renamed", "unverified", "g", False),
        ("deleted", "orphaned", "g", True),
        ("deleted", "moved", "g", False),
        ("untouched", "fresh", "g", True),
        ("layout", "changed", "g", False),
    ],
)
def test_an_answer_is_right_where_it_names_the_place_and_raises_no_false_alarm(
    kind: str, freshness: str, symbol: str, is_right: bool
) -> None:
    now = "" if kind == "deleted" else LABEL.now
    verdict = Verdict(freshness=freshness, anchor=Anchor(path="b.go", symbol=symbol))  # type: ignore[arg-type]
    assert Answer(LABEL._replace(kind=kind, now=now), verdict).is_right == is_right


def test_what_cannot_be_anchored_is_not_followed() -> None:
    assert not Answer(LABEL, None).is_right
