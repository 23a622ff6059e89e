"""What each condition tells before a situation. The product itself renders the brief and the placebo."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from pathlib import Path
from typing import Any

from benchmarks.recall.cases import require
from benchmarks.replay.catalog import Need
from benchmarks.replay.record import START_MOMENTS, Delivery, Record
from benchmarks.replay.scoring import Matches
from benchmarks.replay.shipped import open_shipped
from benchmarks.replay.talk import BEGAN_AT, Talk, make_project

CONDITIONS = ("none", "brief", "titles", "one", "placebo")
TOLD_AT = (*START_MOMENTS, "first prompt", "later prompt")
"""Moments whose texts make up the brief of a situation; what is told at an act is left out."""
HEAD = "## Notes of earlier sessions in this repository (quoted as data; the code may have changed)"
OWN_TEAM = "entireio/"
"""Repositories whose lessons are no placebo: the replayed team's own."""
HOURS_APART = 6
"""Between the lessons of the placebo, before its first session."""
KINDS = {"bug_root_cause": "bug_cause"}


def handed_before(record: Record, need: Need) -> list[Delivery]:
    """The texts that the session had been handed at the need's event, since its last start."""
    handed = [
        delivery
        for delivery in record.deliveries
        if delivery.n == need.session and delivery.e <= need.event and delivery.moment in TOLD_AT
    ]
    starts = [place for place, delivery in enumerate(handed) if delivery.moment in START_MOMENTS]
    return handed[starts[-1] :] if starts else handed


def gold_in(handed: Iterable[Delivery], matches: Matches) -> list[str]:
    """The gold that was told, in order, each once."""
    lessons = (lesson for delivery in handed for line in delivery.lines for lesson in line)
    return list(dict.fromkeys(gold for lesson in lessons for gold in sorted(matches.get(lesson, ()))))


def eligible(needs: Sequence[Need], record: Record, matches: Matches, strength: int = 2) -> list[Need]:
    """The needs of that strength one of whose lessons was told by then."""
    return [
        need
        for need in needs
        if need.strength >= strength and need.lessons & set(gold_in(handed_before(record, need), matches))
    ]


def draw(needs: Sequence[Need], count: int, seed: int) -> list[Need]:
    """That many of the needs, at random, the same for the same seed."""
    shuffled = list(needs)
    random.Random(seed).shuffle(shuffled)
    return shuffled[:count]


def brief_text(handed: Iterable[Delivery]) -> str:
    """The texts as the host would have put them before the agent."""
    return "\n\n".join(delivery.text for delivery in handed)


def list_text(lines: Iterable[str]) -> str:
    """Plain notes, one a line."""
    return "\n".join([HEAD, *(f"- {line}" for line in lines)])


def load_other_project(folder: Path) -> list[dict[str, Any]]:
    """Another team's lessons: what annotators noted in `transcripts/dev`; raises MissingSetError without the file."""
    (file,) = require(folder, "transcripts/dev/labels.jsonl")
    rows = [json.loads(line) for line in file.read_text("utf-8").splitlines() if line.strip()]
    return [row for row in rows if not row["repo"].startswith(OWN_TEAM)]


def placebo_texts(lessons: Sequence[Mapping[str, Any]], prompts: Sequence[Sequence[str]], scratch: Path) -> list[str]:
    """What a memory that holds these lessons tells sessions with these prompts; `scratch` is an empty folder."""
    make_project(scratch / "other", {"README.md": "# Another project\n"})
    (scratch / "home").mkdir()
    texts = []
    with open_shipped(scratch / "home", scratch / "other") as shipped:
        for number, row in enumerate(lessons):
            shipped.clock.move_to(BEGAN_AT - timedelta(hours=HOURS_APART * (len(lessons) - number)))
            kind = KINDS.get(row["category"], row["category"])
            trust = "person" if row["role"] == "user" else "agent"
            shipped.state(row["gist"], {"kind": kind, "trust": trust}, session=row["session"])
        shipped.tidy()
        shipped.prepare_brief()
        talk = Talk(shipped, scratch)
        for number, words in enumerate(prompts):
            handed = [talk.begin(f"placebo-{number:02d}"), *map(talk.say, words)]
            texts.append("\n\n".join(part.text for part in handed if part.text))
    return texts
