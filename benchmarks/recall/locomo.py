"""LoCoMo (Maharana et al., ACL 2024): long conversations; which turns are the evidence for a question.

One conversation is a project, one turn a lesson: what was said, with the caption of a shared picture and the date; its
time and session are the conversation session's. Recall is the share of the evidence found. The variant `session` asks
for the sessions the evidence is in: ranked turns, each session at its first turn. In `session whole` one lesson holds
a whole session.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from benchmarks.recall.cases import Ask, Corpus, Item, Trial, hashes_of, require, split_long

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
EVIDENCE = re.compile(r"D(\d+):(\d+)")
SESSION = re.compile(r"session_(\d+)")


def load(folder: Path, seed: int) -> list[Trial]:
    """Turns as lessons, and whole sessions as lessons."""
    files = require(folder / "locomo", "locomo_dev4.json")
    conversations = json.loads(files[0].read_text("utf-8"))
    hashes = hashes_of(files)
    turns = tuple(corpus_of(conversation) for conversation in conversations)
    return [Trial("locomo", turns, hashes), Trial("locomo sessions", tuple(map(by_session, turns)), hashes)]


def corpus_of(conversation: dict[str, Any]) -> Corpus:
    """The turns in order, and each question asked for turns and for sessions."""
    items = tuple(_turns(conversation["conversation"]))
    groups = {item.name: item.session for item in items}
    asks: list[Ask] = []
    for n, question in enumerate(conversation["qa"]):
        gold = _evidence(question) & groups.keys()
        if gold:
            category = CATEGORIES[question["category"]]
            asks.append(Ask(f"q{n}", question["question"], frozenset(gold), "turn", category))
            sessions = frozenset(groups[name] for name in gold)
            asks.append(Ask(f"q{n}", question["question"], sessions, "session", category, by_group=True))
    last = max(item.at for item in items)
    name = str(conversation.get("sample_id", "conversation"))
    return Corpus(name, items, tuple(asks), at=last + timedelta(days=1), groups=groups)


def by_session(corpus: Corpus) -> Corpus:
    """One lesson a session, its turns as lines; the first characters are the insight, the rest snippets."""
    turns_by_session: dict[str, list[Item]] = {}
    for item in corpus.items:
        turns_by_session.setdefault(item.session, []).append(item)
    items = []
    for session, turns in turns_by_session.items():
        head, rest = split_long("\n".join(turn.insight.rpartition(" (")[0] for turn in turns))
        title = f"Conversation of {turns[0].at:%d %B %Y}"
        items.append(Item(session, head, title=title, snippets=rest, at=turns[0].at, session=session))
    asks = [replace(ask, variant="session whole", by_group=False) for ask in corpus.asks if ask.by_group]
    return Corpus(corpus.name, tuple(items), tuple(asks), at=corpus.at)


def _turns(conversation: dict[str, Any]) -> Iterator[Item]:
    numbers = sorted(int(match[1]) for key in conversation if (match := SESSION.fullmatch(key)))
    for number in numbers:
        at = _time(conversation[f"session_{number}_date_time"])
        for n, turn in enumerate(conversation[f"session_{number}"]):
            shared = f" [shares {turn['blip_caption']}]" if turn.get("blip_caption") else ""
            text = f"{turn['speaker']}: {turn['text']}{shared}"
            yield Item(turn["dia_id"], f"{text} ({at:%d %B %Y})", at=at + timedelta(seconds=n), session=f"D{number}")


def _time(text: str) -> datetime:
    """`1:56 pm on 8 May, 2023`, taken as UTC."""
    return datetime.strptime(text, "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)


def _evidence(question: dict[str, Any]) -> set[str]:
    """The turns named; some strings hold two, some are malformed."""
    return {f"D{int(a)}:{int(b)}" for text in question.get("evidence", ()) for a, b in EVIDENCE.findall(str(text))}
