"""Lessons that may have gone stale are shown to a person, a few a day, after those that wait."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Lesson, Validity
from holdfast.domain.records import Delivery
from holdfast.domain.statefamilies import AUDIT_DIARY
from holdfast.testing.builders import make_id, make_lesson
from tests.codebase import Codebase
from tests.surfaces.terminal import run, told, told_json
from tests.surfaces.test_cli_review import Come, come  # noqa: F401

NOW = datetime.now(UTC)


@pytest.fixture
def harbour(code: Codebase, monkeypatch: pytest.MonkeyPatch) -> Codebase:
    monkeypatch.chdir(code.folder)
    return code


def put(memory: Memory, insight: str, age_days: float = 1, **over: Any) -> Lesson:
    at = NOW - timedelta(days=age_days)
    over = {"trust": "agent", "confidence": 0.8, "project": memory.location.project.id, **over}
    lesson = make_lesson(insight=insight, **over)
    lesson = replace(lesson, recorded_at=at, validity=Validity(valid_from=at))
    memory.services.store.put([lesson], {})
    return lesson


def forget_file(harbour: Codebase, memory: Memory) -> Lesson:
    """A lesson about a file that is gone."""
    harbour.write("gone.py", "def read_buoys():\n    return 7\n")
    harbour.commit("add")
    lesson = memory.remember("The reader knows the buoys", files=["gone.py"])
    (harbour.folder / "gone.py").unlink()
    harbour.commit("remove")
    return lesson


def tell(memory: Memory, lesson: Lesson, days_ago: float) -> None:
    memory.services.store.record([
        Delivery(id=make_id(), at=NOW - timedelta(days=days_ago), project=memory.location.project.id, session="s",  # type: ignore[arg-type]
                 host="codex", moment="prompt", lesson=lesson.id, rank=1, score=1.0, reason="")
    ])  # fmt: skip


def reasons(memory: Memory) -> dict[str, tuple[str, ...]]:
    return {finding.lesson.insight: finding.names for finding in memory.audit()}


def test_each_reason_is_found_and_a_sound_lesson_is_not(harbour: Codebase) -> None:
    with Memory() as memory:
        put(memory, "The lighthouse is lit at dusk")
        told_lately = put(memory, "Pilots board at buoy seven", 200)
        tell(memory, told_lately, 10)
        told_long_ago = put(memory, "The ferry has priority", 200)
        tell(memory, told_long_ago, 120)
        put(memory, "Nobody was told this", 40)
        put(memory, "Old and never told", 100)
        put(memory, "Perhaps the crane is slow", confidence=0.3)
        put(memory, "Always check the mooring lines before leaving")
        put(memory, "Always check the mooring lines before leaving the quay", 2)
        put(memory, "The harbour master keeps the ledger", 400, pinned=True)
        drifting = memory.remember("Values are kept in rows", files=["src/store.py::Store.put"])
        gone = forget_file(harbour, memory)
        harbour.write("src/store.py", "class Store:\n    def put(self, key, value):\n        return None\n")
        by_insight = reasons(memory)
    assert "The lighthouse is lit at dusk" not in by_insight
    assert "Pilots board at buoy seven" not in by_insight
    assert "The harbour master keeps the ledger" not in by_insight
    assert by_insight["The ferry has priority"] == ("old",)
    assert by_insight["Nobody was told this"] == ("never told",)
    assert set(by_insight["Old and never told"]) == {"never told", "old"}
    assert by_insight["Perhaps the crane is slow"] == ("low confidence",)
    assert by_insight["Always check the mooring lines before leaving the quay"] == ("duplicate",)
    assert "Always check the mooring lines before leaving" not in by_insight
    assert by_insight[drifting.insight] == ("drifted",)
    assert by_insight[gone.insight] == ("orphaned",)


def test_best_candidates_come_first(harbour: Codebase) -> None:
    with Memory() as memory:
        put(memory, "Old and never told", 100)
        put(memory, "Unsure, old and never told", 100, confidence=0.2)
        forget_file(harbour, memory)
        weights = [finding.weight for finding in memory.audit()]
        first = memory.audit()[0].lesson.insight
    assert weights == sorted(weights, reverse=True)
    assert first == "The reader knows the buoys"


def test_what_was_confirmed_or_put_off_is_not_shown_again_until_it_changes(harbour: Codebase) -> None:
    with Memory() as memory:
        kept_lesson, later, other = (
            put(memory, f"Rule of the {name} quay", 100) for name in ("north", "south", "east")
        )
        memory.keep(kept_lesson.id)
        memory.put_off(later.id)
        assert list(reasons(memory)) == [other.insight]
        assert memory.left_today() == 3
        memory.undo()
        assert kept_lesson.insight in reasons(memory)


def test_an_unconfirmed_lesson_that_is_confirmed_is_accepted(harbour: Codebase) -> None:
    with Memory() as memory:
        lesson = put(memory, "Perhaps the crane is slow", state="candidate", confidence=0.4)
        memory.keep(lesson.id)
        accepted = memory.get(lesson.id)
        assert (accepted.state, accepted.trust) == ("active", "person")
        assert reasons(memory) == {}


def test_a_lesson_whose_code_is_gone_cannot_be_confirmed_as_it_stands(harbour: Codebase) -> None:
    with Memory() as memory:
        gone = forget_file(harbour, memory)
    result = run("review", "--accept", gone.id)
    assert result.exit_code == 1
    assert "no longer exists: " in result.stderr


def test_a_list_and_json_say_why(harbour: Codebase) -> None:
    with Memory() as memory:
        lesson = put(memory, "Old and never told", 100)
    assert "no session received it in 100 days" in told("review", "--list")
    (finding,) = told_json("review")["in_doubt"]
    assert finding["lesson"]["id"] == lesson.id
    assert set(finding["reasons"]) == {"never told", "old"}


def test_answers_can_be_options(harbour: Codebase) -> None:
    with Memory() as memory:
        kept_lesson, forgotten, later = (
            put(memory, f"Rule of the {name} quay", 100) for name in ("north", "south", "east")
        )
    told("review", "--accept", kept_lesson.id, "--reject", forgotten.id, "--later", later.id)
    assert told("review", "--list") == ""
    with Memory() as memory:
        assert memory.get(forgotten.id).state == "forgotten"
    assert run("review", "--accept", kept_lesson.id, "--reject", "ffffffff").exit_code == 1


def test_one_key_a_lesson_at_a_terminal(
    harbour: Codebase,
    come: Come,  # noqa: F811
) -> None:
    with Memory() as memory:
        names = ("north", "south", "east", "west", "inner", "outer")
        lessons = {
            name: put(memory, f"Rule of the {name} quay", 100 + 10 * number) for number, name in enumerate(names)
        }
    person = come("review")
    first = person.read_until(b"q quit").decode()
    assert "in doubt 1 of 5" in first  # a day's share, the oldest first
    assert "Rule of the outer quay" in first
    assert "no session received it" in first
    person.type("a")
    person.read_until(b"q quit")
    person.type("r")
    person.read_until(b"q quit")
    person.type("l")
    person.read_until(b"q quit")
    person.type("q")
    code, rest = person.leave()
    assert code == 0
    assert b"1 kept, 1 forgotten, 1 later" in rest
    with Memory() as memory:
        assert memory.get(lessons["inner"].id).state == "forgotten"
        assert memory.left_today() == 2
        assert len(memory.audit()) == 3
    told("undo")
    with Memory() as memory:
        assert memory.get(lessons["inner"].id).state == "active"


@pytest.mark.parametrize("mark", ["{", "[]", '{"hidden": 3}', '{"hidden": {"x": []}}', '{"decided": "many"}'])
def test_a_damaged_diary_is_an_empty_one(harbour: Codebase, mark: str) -> None:
    with Memory() as memory:
        lesson = put(memory, "Old and never told", 100)
        memory.services.store.set_state(AUDIT_DIARY, memory.location.project.id, mark)
        assert len(memory.audit()) == 1
        memory.put_off(lesson.id)
        assert memory.audit() == []
