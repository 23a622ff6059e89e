"""A check of a branch as text, as Markdown for a pull request, and as SARIF 2.1.0 for code hosts.

SARIF: OASIS, Static Analysis Results Interchange Format, version 2.1.0.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from holdfast._version import __version__
from holdfast.lean.texts import short_id
from holdfast.publishing.publication import publishable
from holdfast.reports.changecheck import EFFECTS, ChangeCheck, ChangeEffect, Effect

TITLES: dict[Effect, str] = {
    "stale": "Made stale: does it still hold?",
    "contradicted": "Contradicted by a line of this branch",
    "touched": "Touched: the definition changed",
}
LEVELS: dict[Effect, str] = {"stale": "warning", "contradicted": "warning", "touched": "note"}
SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


def check_text(check: ChangeCheck) -> list[str]:
    """Return lines for a terminal: each effect with its place, reason and id."""
    lines: list[str] = []
    for effect in EFFECTS:
        rows = [row for row in check.effects if row.effect == effect]
        if rows:
            lines += [*([""] if lines else []), TITLES[effect]]
        for row in rows:
            lines += [
                f"  {short_id(row.lesson.id)}  {row.lesson.title}",
                f"            {row.path}:{row.line}  {row.reason}",
            ]
    return lines


def check_markdown(check: ChangeCheck) -> list[str]:
    """Return lines of Markdown that work as a comment on a pull request: no reference, no instruction, no fence."""
    lines: list[str] = []
    for effect in EFFECTS:
        rows = [row for row in check.effects if row.effect == effect]
        if rows:
            lines += [*([""] if lines else []), f"**{TITLES[effect]}**", ""]
        lines += [
            f"- {publishable(row.lesson.title)} (`{short_id(row.lesson.id)}`): `{row.path}:{row.line}`,"
            f" {publishable(row.reason)}"
            for row in rows
        ]
    return lines


def check_sarif(check: ChangeCheck) -> dict[str, Any]:
    """Return the check as one run of a SARIF log; each lesson is a result of one of three rules."""
    rules = [
        {
            "id": f"lesson-{effect}",
            "shortDescription": {"text": TITLES[effect]},
            "defaultConfiguration": {"level": LEVELS[effect]},
        }
        for effect in EFFECTS
    ]
    driver = {"name": "Holdfast", "version": __version__, "rules": rules}
    return {
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": [_result(effect) for effect in check.effects]}],
    }


def _result(row: ChangeEffect) -> dict[str, Any]:
    message = f"{publishable(row.lesson.insight)} ({publishable(row.reason)}; holdfast show {short_id(row.lesson.id)})"
    location = {"artifactLocation": {"uri": quote(row.path)}, "region": {"startLine": row.line}}
    return {
        "ruleId": f"lesson-{row.effect}",
        "ruleIndex": EFFECTS.index(row.effect),
        "level": LEVELS[row.effect],
        "message": {"text": message},
        "locations": [{"physicalLocation": location}],
        "partialFingerprints": {"lesson/v1": f"{row.effect}:{row.lesson.id}"},
    }
