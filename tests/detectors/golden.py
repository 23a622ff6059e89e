"""Windows of events and what a detector finds in them. Events of a case are numbered e1, e2, ... in order."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

from holdfast import plugins
from holdfast.domain.event import Event
from holdfast.lean.plain import to_plain
from holdfast.testing.builders import START, make_event

ROOT = Path(__file__).parents[1] / "golden" / "detectors"
DETECTORS = (
    "commands", "correction", "explicit", "fail_fix", "host_memory", "lint_rules", "red_green",
    "reverted_work",
)  # fmt: skip


def cases(kind: str) -> list[Path]:
    """The case files of one kind, `finds` or `quiet`, of every detector of this folder."""
    return sorted(path for name in DETECTORS for path in (ROOT / name / kind).glob("*.json"))


def window(case: Path) -> list[Event]:
    """The case's events; what a case does not say is a plain event of one session."""
    rows = json.loads(case.read_text("utf-8"))["events"]
    return [
        make_event(
            **{"text": "", "trust": "person" if event["kind"] == "prompt" else "tool", **event},
            id=f"e{n}",
            at=START + timedelta(seconds=n),
        )
        for n, event in enumerate(map(_tuples, rows), 1)
    ]


def actual(case: Path) -> list[dict[str, Any]]:
    """What the detector finds, as plain values."""
    detector = plugins.load("detectors", case.parents[1].name)
    return [to_plain(candidate) for candidate in detector.detect(window(case))]


def expected(case: Path) -> list[dict[str, Any]]:
    """The reviewed result."""
    reviewed: list[dict[str, Any]] = json.loads(case.read_text("utf-8"))["expect"]
    return reviewed


def refresh(case: Path) -> bool:
    """Write what the detector finds now into the case; whether that is news."""
    content = json.loads(case.read_text("utf-8"))
    text = json.dumps({**content, "expect": actual(case)}, ensure_ascii=False, indent=1) + "\n"
    if case.read_text("utf-8") == text:
        return False
    case.write_text(text, "utf-8")
    return True


def _tuples(event: dict[str, Any]) -> dict[str, Any]:
    return {**event, "files": tuple(event.get("files", ()))}
