"""A store of an older version: what it learnt by words alone is judged again, once, and can be brought back.

`before_worth.db.gz` was written by the version before the judge of worth: three sessions in which an agent repeats
status reports, a person's rule, and a lesson that a person accepted.
"""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.domain.hookcall import HookCall
from holdfast.domain.vocabulary import STATES, SessionId
from holdfast.errors import InvalidValueError
from holdfast.learning.rejudge import last_rejudging
from holdfast.settings import load_settings
from holdfast.surfaces.hooks import learner
from tests.surfaces.terminal import told, told_json

pytestmark = pytest.mark.needs_file("it reads a file of an older version")

OLD = Path(__file__).parents[1] / "golden" / "stores" / "before_worth.db.gz"
JUNK = ("All tests pass", "Now I understand the issue")
ACCEPTED, STATED = "The remaining steps", "Never use floats"
GOOD = ("The root cause was that TideCache.key()", "We must never call open_gate")


@pytest.fixture
def folder(home: Path, tmp_path: Path) -> Path:
    home.mkdir()
    with gzip.open(OLD) as packed, open(home / "memory.db", "wb") as database:
        shutil.copyfileobj(packed, database)
    project = tmp_path / "harbour"
    (project / ".holdfast").mkdir(parents=True)
    (project / ".holdfast" / "project.toml").write_text('id = "harbour-of-old"\n')
    with Memory(str(project)) as memory:
        memory.services.workspace.accept_claim(str(project))
    return project


@pytest.fixture
def memory(folder: Path) -> Iterator[Memory]:
    with Memory(str(folder)) as opened:
        yield opened


def states(memory: Memory) -> dict[str, str]:
    return {lesson.insight: lesson.state for lesson in memory.lessons(states=STATES)}


def state_of(memory: Memory, beginning: str) -> str:
    return next(state for insight, state in states(memory).items() if insight.startswith(beginning))


def test_the_old_store_is_as_the_older_version_left_it(memory: Memory) -> None:
    assert [state_of(memory, words) for words in (*JUNK, ACCEPTED, STATED, *GOOD)] == ["active"] * 5 + ["candidate"]


def test_what_is_not_worth_keeping_is_retired_and_the_rest_falls_to_where_it_would_begin_today(memory: Memory) -> None:
    report = memory.rejudge()
    assert [state_of(memory, words) for words in JUNK] == ["retired", "retired"]
    assert [state_of(memory, words) for words in GOOD] == ["probation", "candidate"]
    assert {lesson.insight[:14] for lesson in report.retired} >= {words[:14] for words in JUNK}


def test_what_a_person_stated_or_accepted_stays(memory: Memory) -> None:
    memory.rejudge()
    assert [state_of(memory, words) for words in (ACCEPTED, STATED)] == ["active", "active"]


def test_one_undo_brings_everything_back_also_after_later_changes(memory: Memory) -> None:
    before = states(memory)
    memory.rejudge()
    later = memory.remember("Keep the tide tables in the ledger folder.", kind="convention")
    memory.undo_rejudging()
    after = states(memory)
    assert after.pop(later.insight) == "active"
    assert after == before
    with pytest.raises(InvalidValueError, match="no rejudge to undo"):
        memory.undo_rejudging()


def test_it_happens_once_by_itself_and_an_undo_is_not_done_over(memory: Memory) -> None:
    assert memory.rejudge_once() is not None
    memory.undo_rejudging()
    before = states(memory)
    assert memory.rejudge_once() is None
    assert states(memory) == before


def test_without_the_texts_of_the_events_a_lesson_is_judged_by_its_own_words(memory: Memory) -> None:
    memory.services.store.erase_event_texts(memory.services.clock.now())
    memory.rejudge()
    assert [state_of(memory, words) for words in JUNK] == ["retired", "retired"]
    assert state_of(memory, GOOD[0]) == "probation"


def test_the_learner_does_it_after_a_session_and_opening_the_store_does_not(folder: Path) -> None:
    with Memory(str(folder), cold=True) as cold:
        assert state_of(cold, JUNK[0]) == "active"
    learner.learn_all(
        load_settings(), HookCall(host="claude-code", name="SessionEnd", session=SessionId("s"), cwd=str(folder))
    )
    with Memory(str(folder)) as memory:
        assert state_of(memory, JUNK[0]) == "retired"
        assert last_rejudging(memory.services, memory.location)[0] >= 2


def test_the_command_says_what_it_does_and_status_tells_of_it(folder: Path) -> None:
    dry = told_json("-C", str(folder), "rejudge", "--dry-run")
    assert len(dry["retired"]) >= 2
    assert "rejudged" not in told("-C", str(folder), "status")
    output = told("-C", str(folder), "rejudge")
    assert "of an older version judged again" in output
    assert "All tests pass" in output
    assert "holdfast rejudge --undo" in told("-C", str(folder), "status")
    assert told_json("-C", str(folder), "rejudge", "--undo")["brought_back"] >= 3
    assert "rejudged" not in told("-C", str(folder), "status")
