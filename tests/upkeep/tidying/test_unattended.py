"""When the learner tidies by itself, what it leaves for a person, and that it repeats nothing that was taken back."""

from __future__ import annotations

import json
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from holdfast.backfill.distilrecord import spent
from holdfast.bootstrap import Memory
from holdfast.domain.hookcall import parse_errand
from holdfast.domain.statefamilies import TIDYING
from holdfast.errors import ModelError
from holdfast.lean.plain import render_instant
from holdfast.lean.texts import dumps
from holdfast.settings import load_settings
from holdfast.surfaces.hooks import learner
from holdfast.upkeep.tidying import tidy as unattended
from holdfast.upkeep.tidying.tidy import VERB, keep, living, pending, propose, tidy_when_due, undo
from tests.surfaces.terminal import start, told
from tests.upkeep.tidying.stand_in import FLOATS, FLOATS_TOO, StandInModel, put


@pytest.fixture
def grown(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> Memory:
    """A memory whose two lessons count as more than a brief holds."""
    monkeypatch.setattr("holdfast.upkeep.tidying.tidy.OUTGROWN", 0.0)
    put(memory, FLOATS, FLOATS_TOO)
    return memory


def count(memory: Memory) -> int:
    return len(living(memory.services, memory.location))


def make_due(memory: Memory, hours: float, lessons: int) -> None:
    at = memory.services.clock.now() - timedelta(hours=hours)
    record = dumps({"at": render_instant(at), "living": lessons})
    memory.services.store.set_state(TIDYING, memory.location.project.id, record)


@pytest.mark.parametrize(("factor", "is_due"), [(1.51, True), (1.49, False)])
def test_a_memory_is_tidied_once_it_has_outgrown_the_brief_by_half(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, factor: float, is_due: bool
) -> None:
    """`tidy.OUTGROWN`."""
    put(memory, FLOATS, FLOATS_TOO)
    monkeypatch.setattr(unattended, "outgrown", lambda lessons: factor)
    assert (tidy_when_due(memory.services, memory.location) is not None) == is_due


@pytest.mark.parametrize(
    ("hours", "lessons", "is_due"), [(24.1, 10, True), (23.9, 10, False), (24.1, 11, False), (0.1, 0, False)]
)
def test_it_is_tidied_again_after_a_day_and_a_fifth_more_lessons(
    grown: Memory, hours: float, lessons: int, is_due: bool
) -> None:
    """`unattended.PAUSE` and `unattended.GROWN`."""
    put(grown, *(f"Berth {n} closes when gauge {n} reports {n} metres" for n in range(10)))
    make_due(grown, hours, lessons)
    assert (tidy_when_due(grown.services, grown.location) is not None) == is_due


def test_the_own_memory_is_tidied_at_once_and_not_twice(grown: Memory) -> None:
    assert tidy_when_due(grown.services, grown.location) is not None
    assert count(grown) == 1
    assert grown.changes()[0].verb == VERB
    assert pending(grown.services, grown.location) is None
    assert tidy_when_due(grown.services, grown.location) is None


def test_what_a_person_took_back_is_not_done_again(grown: Memory) -> None:
    tidy_when_due(grown.services, grown.location)
    undo(grown.services, grown.location)
    make_due(grown, 25, count(grown))
    assert tidy_when_due(grown.services, grown.location) is None
    assert count(grown) == 2


def test_closing_a_persons_rule_waits_for_a_person(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.upkeep.tidying.tidy.OUTGROWN", 0.0)
    memory.remember(FLOATS)
    put(memory, FLOATS_TOO, trust="person")
    put(memory, f"{FLOATS_TOO} anywhere")
    tidy_when_due(memory.services, memory.location)
    assert {lesson.trust for lesson in living(memory.services, memory.location)} == {"person"}
    assert count(memory) == 2
    waiting = pending(memory.services, memory.location)
    assert waiting is not None
    assert waiting.counts == "1 merged"


def test_a_model_that_fails_leaves_the_rules_part_and_is_queried_again_the_next_day(grown: Memory) -> None:
    model = StandInModel(ModelError("not logged in"))
    proposal = tidy_when_due(grown.services, grown.location, lambda: model)
    assert proposal is not None
    assert proposal.failure == "not logged in"
    assert count(grown) == 1
    make_due(grown, 25, 0)
    assert tidy_when_due(grown.services, grown.location, lambda: model) is not None
    assert len(model.prompts) == 2


def test_a_damaged_record_of_the_last_time_counts_as_none(grown: Memory) -> None:
    grown.services.store.set_state(TIDYING, grown.location.project.id, '{"at": 3}')
    assert tidy_when_due(grown.services, grown.location) is not None


@pytest.fixture
def learning(home: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("holdfast.upkeep.tidying.tidy.OUTGROWN", 0.0)
    monkeypatch.setattr(learner, "_leave_the_host", lambda: None)
    with Memory(str(project)) as memory:
        put(memory, FLOATS, FLOATS_TOO, "The tide tables are in metres above chart datum")
    return project


@pytest.mark.needs_processes("doctor is a process")
def test_the_learner_tidies_the_sessions_project_by_rules_where_no_model_is_allowed(learning: Path) -> None:
    learner.main([f"{learning}\tclaude-code\ts1\t"])
    with Memory(str(learning)) as memory:
        assert count(memory) == 2
    assert "tidied today: 1 merged; holdfast tidy --undo" in told("status", "-C", str(learning))
    assert "tidied today: 1 merged" in told("-C", str(learning))
    assert "tidied today: 1 merged" in start("doctor", "--no-proof", "--json", cwd=learning).stdout


def test_the_learner_asks_the_users_model_within_the_limits_of_a_day(learning: Path, home: Path) -> None:
    answer = {"retire": [{"lesson": "T2", "reason": "done"}]}
    words = json.dumps([sys.executable, "-I", "-c", f"print({json.dumps(answer)!r})"])
    told("distil", "use", "agent", f"command={words}", "id=stand-in", "--yes")
    told("learn", "--on")
    learner.main([f"{learning}\tclaude-code\ts1\t"])
    with Memory(str(learning)) as memory:
        assert count(memory) == 2
        assert memory.changes()[0].summary == "1 merged"
        waiting = pending(memory.services, memory.location)  # what a model thinks needless is a person's to retire
        assert waiting is not None
        assert [step.verb for step in waiting.steps] == ["retire"]
        now = memory.services.clock.now()
        assert spent(load_settings(), now).calls == 1
        put(memory, FLOATS_TOO + " at all", "Release tags are cut from the stable branch", "Berth 7 is closed in May")
        make_due(memory, 25, 0)
    config = home / "config.toml"
    config.write_text(config.read_text() + "\ncalls_a_day = 1\n")
    learner.main([f"{learning}\tclaude-code\ts1\t"])
    with Memory(str(learning)) as memory:
        assert spent(load_settings(), memory.services.clock.now()).calls == 1
    assert "the limit is calls_a_day" in (home / "hooks.log").read_text()


def test_a_learner_leaves_a_folder_alone_that_is_gone(home: Path, tmp_path: Path) -> None:
    learner._tidy(load_settings(), parse_errand(f"{tmp_path}/gone\tclaude-code\ts1\t"), 0.0)
    assert not (home / "memory.db").exists()


def test_a_proposal_that_waits_is_delivered_until_its_lessons_change(memory: Memory, project: Path) -> None:
    lessons = put(memory, FLOATS, FLOATS_TOO)
    keep(memory.services, memory.location, propose(memory.services, memory.location))
    assert "a proposal waits: 1 merged; holdfast tidy --show" in told("status", "-C", str(project))
    memory.forget(lessons[0].id)
    assert "a proposal waits" not in told("status", "-C", str(project))
