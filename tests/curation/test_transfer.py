"""Whole lessons go out and come in as lines; twice is once; a bad line does not cost the good ones."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast import Memory
from holdfast.curation.transfer import KEYS, ImportReport
from holdfast.curation.tuning import LINE_LIMIT
from holdfast.domain.lesson import Evidence, Lesson, Provenance
from holdfast.domain.vocabulary import EventId, SessionId

FULL = {
    "kind": "constraint",
    "title": "Retries are capped",
    "insight": "Retries are capped at 3",
    "why": "the gateway bans us",
    "how": "queue the rest",
    "snippets": ["RETRIES = 3"],
    "files": ["src/tides.py", "docs/*.md"],
    "symbols": ["HIGH"],
    "tags": ["net"],
    "topic_key": "retries",
    "created_at": "2025-11-03T10:00:00Z",
}


def lines(*stated: object) -> Iterator[str]:
    return (line if isinstance(line, str) else json.dumps(line) for line in stated)


@pytest.fixture
def other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """The memory of another machine, with the same project."""
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "other-machine"))
    with Memory(str(tmp_path / "harbour")) as opened:
        yield opened


def test_every_key_of_a_line_is_stored(memory: Memory) -> None:
    assert memory.import_lessons(lines(FULL), accept=True) == ImportReport(added=1)
    (lesson,) = memory.lessons()
    assert (lesson.kind, lesson.title, lesson.why, lesson.how) == (
        "constraint", "Retries are capped", "the gateway bans us", "queue the rest",
    )  # fmt: skip
    assert (lesson.paths, lesson.globs, lesson.symbols) == (("src/tides.py",), ("docs/*.md",), ("HIGH",))
    assert (lesson.snippets, lesson.tags, lesson.topic_key) == (("RETRIES = 3",), ("net",), "retries")
    assert lesson.recorded_at == lesson.validity.valid_from == datetime(2025, 11, 3, 10, tzinfo=UTC)
    assert (lesson.state, lesson.trust) == ("active", "person")
    assert memory.verdicts([lesson])[0][0] == "fresh"


def test_lines_that_contradict_what_is_here_are_counted_as_conflicts(memory: Memory) -> None:
    memory.remember("Call `t.Parallel` in every test")
    against = {"kind": "convention", "insight": "Don't call `t.Parallel` in tests"}
    other = {"kind": "convention", "insight": "Tides are in metres"}
    assert memory.import_lessons(lines(other), accept=True).conflicts == 0
    assert memory.import_lessons(lines(against), accept=True, dry=True).conflicts == 0
    assert memory.import_lessons(lines(against), accept=True).conflicts == len(memory.conflicts()) == 1
    assert memory.import_lessons(lines(against), accept=True).conflicts == 0


def test_only_kind_and_insight_are_required(memory: Memory) -> None:
    assert memory.import_lessons(lines({"kind": "fix", "insight": "Restart the pump"}), accept=True).added == 1
    assert memory.lessons()[0].title == "Restart the pump"


def test_the_same_twice_is_once_in_one_file_and_in_two(memory: Memory) -> None:
    assert memory.import_lessons(lines(FULL, FULL), accept=True) == ImportReport(added=1, unchanged=1)
    assert memory.import_lessons(lines(FULL), accept=True) == ImportReport(unchanged=1)
    assert len(memory.changes()) == 1


def test_more_about_a_known_rule_is_added_to_it(memory: Memory) -> None:
    memory.import_lessons(lines({"kind": "fix", "insight": "Restart the pump"}), accept=True)
    more = {"kind": "fix", "insight": "restart the pump.", "why": "it jams", "files": ["README.md"]}
    assert memory.import_lessons(lines(more), accept=True) == ImportReport(revised=1)
    assert memory.import_lessons(lines(more), accept=True) == ImportReport(unchanged=1)
    (lesson,) = memory.lessons()
    assert (lesson.why, lesson.paths) == ("it jams", ("README.md",))


def test_what_was_revised_rejected_or_forgotten_here_does_not_come_back(memory: Memory) -> None:
    stated = [{"kind": "fix", "insight": f"Rule {name}"} for name in ("alpha", "beta")]
    memory.import_lessons(lines(*stated), accept=True)
    beta, alpha = memory.lessons()
    memory.revise(alpha.id, insight="Rule gamma")
    exported = list(memory.export_lessons())
    memory.forget(beta.id)
    assert memory.import_lessons(lines(stated[0]), accept=True).added == 0
    assert memory.import_lessons(exported) == ImportReport(unchanged=2)
    assert [lesson.insight for lesson in memory.lessons()] == ["Rule gamma"]


def test_an_export_keeps_ids_states_and_provenance_on_another_machine(memory: Memory, other: Memory) -> None:
    evidence = (Evidence(event=EventId("e1"), quote="cap the retries", start=3, end=18),)
    lesson = memory.remember("Retries are capped at 3", kind="constraint", files=["src/tides.py"], pinned=True)
    detected = replace(
        lesson,
        provenance=Provenance(host="claude-code", session=SessionId("s1"), detector="explicit/1", evidence=evidence),
        recorded_at=memory.services.clock.now(),
        trust="verified",
    )
    memory.services.store.put([detected], {lesson.id: lesson.recorded_at})
    memory.revise(memory.remember("One").id, insight="Two")
    memory.remember("Maybe", trust="tool")
    exported = list(memory.export_lessons(states=()))
    assert other.import_lessons(exported, accept=True) == ImportReport(added=4)
    assert bare(other) == bare(memory)
    assert unsealed(other.export_lessons(states=())) == unsealed(exported)
    assert other.import_lessons(exported, accept=True) == ImportReport(unchanged=4)
    assert memory.import_lessons(exported) == ImportReport(unchanged=4)


def unsealed(exported: Iterable[str]) -> list[dict[str, Any]]:
    return [{key: value for key, value in json.loads(line).items() if key != "seal"} for line in exported]


def bare(memory: Memory) -> dict[str, Lesson]:
    """Lessons by id, in whichever project."""
    lessons = memory.lessons(states=())
    return {x.id: replace(x, scope=replace(x.scope, project="p")) for x in lessons}  # type: ignore[arg-type]


def test_the_version_that_was_known_later_wins(memory: Memory, other: Memory) -> None:
    lesson = memory.remember("Restart the pump", kind="fix")
    first = list(memory.export_lessons())
    other.import_lessons(first, accept=True)
    memory.remember("Restart the pump", kind="fix", why="it jams")
    second = list(memory.export_lessons())
    assert other.import_lessons(second, accept=True) == ImportReport(revised=1)
    assert other.import_lessons(first, accept=True) == ImportReport(unchanged=1)
    assert other.get(lesson.id).why == "it jams"


def test_private_lessons_stay(memory: Memory) -> None:
    memory.remember("My password scheme is odd", private=True)
    memory.remember("Restart the pump")
    assert len(list(memory.export_lessons())) == 1


def test_lines_of_all_projects_name_theirs(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    memory.at(str(tmp_path / "elsewhere")).remember("Restart the pump")
    memory.remember("Seed the clock first")
    assert len(list(memory.export_lessons())) == 1
    everything = [json.loads(line) for line in memory.export_lessons(all_projects=True)]
    assert len({line["project"] for line in everything}) == 2
    assert all(set(line) <= set(KEYS) for line in everything)


def test_bad_lines_are_delivered_and_the_good_ones_are_stored(memory: Memory) -> None:
    report = memory.import_lessons(
        lines(
            "\ufeff" + json.dumps(FULL) + "\r\n",
            "",
            '{"kind": "fix", "insight": "half a',
            "[1, 2]",
            {"kind": "fix"},
            {"insight": "No kind"},
            {"kind": "rumour", "insight": "Bad kind"},
            {"kind": "fix", "insight": 7},
            {"kind": "fix", "insight": "Bad time", "created_at": "yesterday"},
            {"kind": "fix", "insight": "Outside", "files": ["../../etc/passwd"]},
            {"kind": "fix", "insight": "Bad number", "confidence": "high"},
            {"kind": "fix", "insight": "Bad mark", "pinned": "yes"},
            {"kind": "fix", "insight": "Bad anchors", "anchors": ["src"]},
            {"kind": "fix", "insight": "Bad link", "links": {"a": 1}},
            '{"kind": "fix", "insight": "' + "x" * LINE_LIMIT + '"}',
            "[" * 100_000,
            {"kind": "fix", "insight": "Nul \u0000 and \ud800 alone"},
        ),
        accept=True,
    )
    assert report.added == 2
    assert [line for line, _ in report.failed] == [3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16]
    assert all(reason for _, reason in report.failed)
    assert dict(report.failed)[5] == "insight is missing"


def test_unknown_keys_and_foreign_ids_are_ignored_and_counted(memory: Memory) -> None:
    stated = {"kind": "fix", "insight": "Restart the pump", "mood": "good", "id": 42}
    assert memory.import_lessons(lines(stated, stated), accept=True) == ImportReport(
        added=1, unchanged=1, ignored=(("id", 2), ("mood", 2))
    )


def test_secrets_are_redacted_coming_in_and_going_out(memory: Memory) -> None:
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    memory.import_lessons(
        lines({"kind": "fix", "insight": f"Use {key} today", "why": f"<private>{key}</private>"}), accept=True
    )
    (lesson,) = memory.lessons()
    assert key not in repr(lesson)
    leaky = replace(lesson, how=f"with {key}", recorded_at=memory.services.clock.now())
    memory.services.store.put([leaky], {lesson.id: lesson.recorded_at})
    assert key not in "".join(memory.export_lessons())


def test_a_time_to_come_is_now(memory: Memory) -> None:
    memory.import_lessons(lines({**FULL, "created_at": "2999-01-01T00:00:00Z"}), accept=True)
    (lesson,) = memory.lessons()
    assert lesson.recorded_at.year < 2999
    assert memory.revise(lesson.id, why="now").state == "active"


def test_progress_and_batches_cover_every_line(memory: Memory) -> None:
    progress: list[int] = []
    stated = [{"kind": "fix", "insight": f"Rule number {i % 1100}"} for i in range(1300)]
    assert memory.import_lessons(lines(*stated), progress=progress.append, accept=True) == ImportReport(
        added=1100, unchanged=200
    )
    assert progress == [500, 1000, 1300]
    assert len(list(memory.export_lessons())) == 1100


TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc", "Cf"]), max_size=40)
STATED = st.fixed_dictionaries(
    {"kind": st.sampled_from(["fix", "constraint"]), "insight": st.sampled_from(["Rule alpha", "Rule beta"])},
    optional={"why": TEXTS, "how": TEXTS, "tags": st.lists(TEXTS, max_size=2), "files": st.just(["README.md"])},
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.lists(STATED, max_size=6))
def test_importing_anything_twice_changes_nothing_the_second_time(memory: Memory, stated: list[dict]) -> None:
    memory.import_lessons(lines(*stated), accept=True)
    before = memory.lessons(states=())
    again = memory.import_lessons(lines(*stated), accept=True)
    assert (again.added, again.revised, again.failed) == (0, 0, ())
    assert memory.lessons(states=()) == before
