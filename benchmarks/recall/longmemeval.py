"""LongMemEval (Wu et al., ICLR 2025), where its file is given: which sessions answer a question.

Every question has a history of its own: one corpus each. A turn of the user's or the assistant's is a lesson; the
sessions are ranked by their first turn. Questions without an answer in the history are left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.recall.cases import Ask, Corpus, Item, MissingSetError, Trial, hashes_of, split_long


def load(folder: Path, seed: int) -> list[Trial]:
    """One corpus a question, of every file that is there."""
    files = sorted((folder / "longmemeval").glob("*.json"))
    if not files:
        raise MissingSetError(f"{folder / 'longmemeval'} holds no *.json: nothing is downloaded")
    trials = []
    for file in files:
        entries = [entry for entry in json.loads(file.read_text("utf-8")) if not entry["question_id"].endswith("_abs")]
        trials.append(Trial(file.stem, tuple(map(corpus_of, entries)), hashes_of([file])))
    return trials


def corpus_of(entry: dict[str, Any]) -> Corpus:
    """One question with its own history, oldest session first."""
    items = tuple(sorted(_turns(entry), key=lambda item: item.at))
    gold = frozenset(entry["answer_session_ids"])
    ask = Ask(entry["question_id"], entry["question"], gold, "session", entry["question_type"], by_group=True)
    groups = {item.name: item.session for item in items}
    return Corpus(entry["question_id"], items, (ask,), at=_time(entry["question_date"]), groups=groups)


def _turns(entry: dict[str, Any]) -> Iterator[Item]:
    histories = zip(entry["haystack_session_ids"], entry["haystack_dates"], entry["haystack_sessions"], strict=True)
    for session, date, turns in histories:
        for n, turn in enumerate(turns):
            if turn["content"].strip():
                head, rest = split_long(f"{turn['role']}: {turn['content']}")
                at = _time(date) + timedelta(seconds=n)
                yield Item(f"{session}:{n}", head, snippets=rest, at=at, session=session)


def _time(text: str) -> datetime:
    """`2023/05/20 (Sat) 02:21`, taken as UTC."""
    date, _, rest = text.partition(" (")
    clock = rest.partition(") ")[2] or "00:00"
    return datetime.strptime(f"{date} {clock}", "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
