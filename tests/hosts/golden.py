"""Recorded payloads and transcripts, and what the adapter makes of them."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from holdfast.bootstrap import load_host
from holdfast.domain.briefing import Briefing
from holdfast.domain.plain import to_plain

ROOT = Path(__file__).parents[1] / "golden" / "hosts"
AT = datetime(2026, 11, 21, 8, 45, 29, tzinfo=UTC)


def cases() -> list[Path]:
    """Every host's recorded cases: a folder each with a payload or a transcript."""
    return sorted({file.parent for name in ("payload.json", "transcript.*") for file in ROOT.glob(f"*/*/{name}")})


def ids() -> Callable[[], str]:
    """1, 2, 3, ... as ids."""
    numbers = itertools.count(1)
    return lambda: f"event-{next(numbers)}"


def expected(case: Path) -> Any:
    return json.loads((case / "expected.json").read_text("utf-8"))


def actual(case: Path) -> Any:
    host = load_host(case.parent.name)
    transcript = case / "transcript.jsonl"
    if transcript.exists():
        with transcript.open(encoding="utf-8", newline="\n") as lines:
            return [to_plain(event) for event in host.parse_transcript(lines, "by-file-name", ids())]
    call = host.parse_hook(json.loads((case / "payload.json").read_text("utf-8")), AT, ids())
    answer = host.render(call, Briefing(text="what was learnt"))
    return {"call": to_plain(call), "answer": json.loads(answer) if answer.startswith("{") else answer}


def refresh(case: Path) -> bool:
    """Write what the adapter makes of the case now; whether that is news."""
    text = json.dumps(actual(case), ensure_ascii=False, indent=2) + "\n"
    file = case / "expected.json"
    if file.exists() and file.read_text("utf-8") == text:
        return False
    file.write_text(text, "utf-8")
    return True
