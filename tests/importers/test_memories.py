"""What agents keep: Claude Code's auto memory, decision records, mem0's answers, the reference memory server."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from holdfast.ports.plugins import Passage
from tests.importers.conftest import Read, Write, insights, reasons

TOPIC = """---
name: feedback_real_database
description: Integration tests use the real database
metadata:
  node_type: memory
  type: feedback
  originSessionId: 5da15695-411e-4859-a37b-b739ede023ae
  modified: 2026-07-30T07:40:18.191Z
---

Integration tests must hit a real database, **not** mocks.

**Why:** mocked tests passed and the migration failed in production.

**How to apply:** start the container in `tests/conftest.py`. Related: [[container_setup]].
"""

MADR = """---
status: {status}
date: 2025-03-04
---

# ADR-0002: Use PostgreSQL for bookings

## Context and Problem Statement

Bookings need row locks.

## Considered Options

* PostgreSQL
* SQLite

## Decision Outcome

Chosen option: "PostgreSQL", because it locks rows. Supersedes [ADR-1](0001-use-sqlite.md).

### Consequences

* Good, because two clerks can book at once
"""

NYGARD = """# 1. Use SQLite for bookings

Date: 2024-01-02

## Status

Superseded by [2. Use PostgreSQL](0002-use-postgresql.md)

## Context

One clerk books.

## Decision

We will keep bookings in SQLite.

## Consequences

No server is needed.
"""


def test_a_topic_of_the_auto_memory_is_one_lesson_with_its_reason(read: Read, write: Write, project: Path) -> None:
    slug = "".join(c if c.isalnum() else "-" for c in str(project))
    folder = f"~/.claude/projects/{slug}/memory"
    (topic,) = read(write(f"{folder}/feedback_real_database.md", TOPIC))
    assert isinstance(topic, Passage)
    assert topic == replace(
        topic,
        insight="Integration tests must hit a real database, not mocks.",
        why="mocked tests passed and the migration failed in production.",
        how="start the container in `tests/conftest.py`. Related: [[container_setup]].",
        names=("feedback_real_database",),
        links=(("relates_to", "container_setup"),),
        title="Integration tests use the real database",
        trust="agent",
        scope="project",
        project=slug,
        said_at=datetime(2026, 7, 30, 7, 40, 18, 191000, tzinfo=UTC),
    )
    index = "# Memory\n\n- [Real](feedback_real_database.md) — no mocks\n- Deploys run from the release branch only\n"
    parts = read(write(f"{folder}/MEMORY.md", index))
    assert insights(parts) == ["Deploys run from the release branch only"]
    assert reasons(parts) == ["1 entries point to files that are imported themselves"]


def test_decision_records_of_both_forms_keep_context_status_and_links(read: Read, write: Write, project: Path) -> None:
    write("docs/adr/0001-use-sqlite.md", NYGARD)
    write("docs/adr/0002-use-postgresql.md", MADR.format(status="accepted"))
    write("docs/adr/template.md", MADR.format(status="proposed"))
    write("docs/adr/README.md", "# Decisions\n")
    nygard, madr = read(project)
    assert isinstance(nygard, Passage)
    assert isinstance(madr, Passage)
    assert (nygard.state, nygard.why, nygard.how) == ("superseded", "One clerk books.", "No server is needed.")
    assert (nygard.kind, nygard.title, nygard.names) == ("decision", "Use SQLite for bookings", ("adr 1",))
    assert nygard.said_at == datetime(2024, 1, 2, tzinfo=UTC)
    assert madr.insight.startswith('Chosen option: "PostgreSQL", because it locks rows.')
    assert (madr.state, madr.why, madr.title) == ("active", "Bookings need row locks.", "Use PostgreSQL for bookings")
    assert (madr.how, madr.links) == ("* Good, because two clerks can book at once", (("supersedes", "adr 1"),))


@pytest.mark.parametrize(
    ("status", "state"),
    [
        ("proposed", "candidate"),
        ("deprecated", "retired"),
        ("rejected", "retired"),
        ("superseded by ADR-9", "superseded"),
        ("accepted, supersedes ADR-1", "active"),
        ('"[x] Accepted, [ ] Superseded"', "active"),
        ("superceded by 9", "superseded"),
    ],
)
def test_the_status_of_a_record_is_respected(status: str, state: str, read: Read, write: Write) -> None:
    (part,) = read(write("docs/decisions/0002-db.md", MADR.format(status=status)))
    assert isinstance(part, Passage)
    assert part.state == state


def test_a_long_decision_becomes_parts_with_the_reason_at_the_first(read: Read, write: Write) -> None:
    decision = "\n\n".join(f"We will do step {n} of the plan as it was agreed." for n in range(60))
    first, second = read(
        write("adr/0009-plan.md", f"# 9. Plan\n\n## Context\n\nWhy not.\n\n## Decision\n\n{decision}\n")
    )
    assert isinstance(first, Passage)
    assert isinstance(second, Passage)
    assert (first.why, first.names, second.names) == ("Why not.", ("adr 9",), ())
    assert (second.why, second.section) == ("", "9. Plan, part 2")


def test_a_record_with_its_status_in_bold_and_one_without_a_decision(read: Read, write: Write) -> None:
    (part,) = read(write("adr/0003-x.md", "# Format\n\n__Status__: Deprecated\n\n## Decision\n\nWe write records.\n"))
    assert isinstance(part, Passage)
    assert part.state == "retired"
    assert reasons(read(write("adr/0004-y.md", "# Nothing\n\n## Context\n\nWe talked.\n"))) == [
        "a record without a decision"
    ]


def test_mem0_gives_each_memorys_last_words_in_both_forms(read: Read, write: Write) -> None:
    answer = {"results": [{"id": "m1", "memory": "Prefers spaces", "categories": ["user_preferences"], "score": 0.8},
                          {"id": "m2"}]}  # fmt: skip
    parts = read(write("mem0.json", json.dumps(answer)))
    assert (insights(parts), reasons(parts)) == (["Prefers spaces"], ["not a memory"])
    export = (
        "---\nid: abc\ncreated_at: 2024-01-01T00:00:00Z\ntype: anti_patterns\n---\nNever poll the gauge.\n"
        "\n---\nid: def\ntype: decision\n---\nThe gauge pushes its readings.\n"
    )
    parts = read(write("mem0-export-2024.md", export))
    assert insights(parts) == ["Never poll the gauge.", "The gauge pushes its readings."]
    assert [part.kind for part in parts if isinstance(part, Passage)] == ["failed_approach", "decision"]


def test_the_reference_memory_server_gives_observations_and_relations(read: Read, write: Write) -> None:
    lines = [
        {
            "type": "entity",
            "name": "tide_gauge",
            "entityType": "service",
            "observations": ["Answers in local time", "", 3],
        },
        {"type": "entity", "name": "Clerk", "entityType": "role", "observations": ["The Clerk books at night only"]},
        {"type": "relation", "from": "Clerk", "to": "tide_gauge", "relationType": "reads"},
    ]
    text = "\n".join(map(json.dumps, lines)) + "\nhalf a {line\n"
    parts = read(write("memory.jsonl", text))
    assert insights(parts) == ["tide gauge: Answers in local time", "The Clerk books at night only"]
    gauge, clerk = (part for part in parts if isinstance(part, Passage))
    assert (gauge.names, gauge.tags) == (("tide_gauge",), ("tide_gauge", "service"))
    assert clerk.links == (("relates_to", "tide_gauge"),)
    assert reasons(parts) == ["not an entity or a relation", "too short"]
