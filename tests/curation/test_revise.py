"""A revision closes the old lesson and adds its successor in one step."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.errors import IllegalTransitionError, InvalidValueError, LessonNotFoundError, StaleWriteError


def test_the_old_lesson_is_superseded_and_the_new_one_links_to_it(memory: Memory) -> None:
    old = memory.remember("Retries are capped at 3", kind="constraint", why="the gateway bans us", tags=["net"])
    new = memory.revise(old.id, insight="Retries are capped at 5")
    assert (new.insight, new.title, new.why, new.tags) == (
        "Retries are capped at 5", "Retries are capped at 5", "the gateway bans us", ("net",),
    )  # fmt: skip
    assert new.links[0].target == old.id
    closed = memory.get(old.id)
    assert (closed.state, closed.validity.valid_to) == ("superseded", new.validity.valid_from)
    assert memory.get(old.id, as_of=new.recorded_at - timedelta(microseconds=1)).state == "active"


def test_a_candidate_is_active_once_a_person_has_revised_it(memory: Memory) -> None:
    old = memory.remember("Push on Fridays", trust="tool")
    new = memory.revise(old.id, insight="Never push on Fridays")
    assert (new.state, new.trust) == ("active", "person")


def test_restating_a_lesson_anchors_it_to_the_code_as_it_is_now(memory: Memory, project: Path) -> None:
    old = memory.remember("High water is a constant", files=["src/tides.py"])
    (project / "src" / "tides.py").write_text("HIGH = 5\n")
    assert memory.verdicts([old])[0][0] == "drifted"
    assert memory.verdicts([memory.revise(old.id, tags=["sea"])])[0][0] == "drifted"
    revised = memory.revise(memory.lessons()[0].id, why="still true")
    assert memory.verdicts([revised])[0][0] == "fresh"


def test_files_and_symbols_are_replaced_and_each_alone_keeps_the_other(memory: Memory) -> None:
    old = memory.remember("High water is a constant", files=["src/tides.py", "docs/*"], symbols=["HIGH"])
    new = memory.revise(old.id, symbols=["High.water"])
    assert (new.paths, new.symbols, new.globs) == (("src/tides.py",), ("High.water",), ("docs/*",))
    assert memory.revise(new.id, files=["README.md"]).paths == ("README.md",)


def test_a_forgotten_lesson_can_be_restated_but_not_patched(memory: Memory) -> None:
    old = memory.remember("Retries are capped at 3")
    memory.forget(old.id)
    with pytest.raises(InvalidValueError, match="no words left"):
        memory.revise(old.id, why="because")
    new = memory.revise(old.id, insight="Retries are capped at 4")
    assert new.state == "active"
    assert memory.get(old.id).state == "forgotten"


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"state": "active"}, "state cannot be revised"),
        ({"insight": "Retries are capped at 3"}, "nothing to revise"),
        ({}, "nothing to revise"),
        ({"kind": "rumour"}, "unknown kind"),
        ({"confidence": 2.0}, "outside 0..1"),
        ({"insight": ""}, "needs an insight"),
        ({"why": 7}, "why must be a text"),
    ],
)
def test_an_impossible_revision_changes_nothing(memory: Memory, changes: dict, words: str) -> None:
    old = memory.remember("Retries are capped at 3")
    with pytest.raises(InvalidValueError, match=words):
        memory.revise(old.id, **changes)
    assert memory.lessons(states=()) == [old]


def test_a_superseded_lesson_points_to_its_successor_instead(memory: Memory) -> None:
    old = memory.remember("Retries are capped at 3")
    memory.revise(old.id, insight="Retries are capped at 5")
    with pytest.raises(IllegalTransitionError, match="superseded already"):
        memory.revise(old.id, insight="Retries are capped at 7")


def test_an_unknown_id_is_not_found(memory: Memory) -> None:
    with pytest.raises(LessonNotFoundError):
        memory.revise("dead", insight="x")


def test_a_race_with_a_learner_is_repeated_with_what_the_learner_wrote(memory: Memory) -> None:
    old = memory.remember("Retries are capped at 3")
    store, put = memory.services.store, memory.services.store.put
    seen = replace(old, sessions_seen=("s1",), recorded_at=memory.services.clock.now())

    def put_after_the_learner(lessons, expected, change):  # type: ignore[no-untyped-def]
        store.put = put  # type: ignore[method-assign]
        put([seen], {old.id: old.recorded_at})
        put(lessons, expected, change)

    store.put = put_after_the_learner  # type: ignore[method-assign]
    new = memory.revise(old.id, insight="Retries are capped at 5")
    assert new.sessions_seen == ("s1",)
    assert memory.get(old.id).state == "superseded"


def test_a_version_that_somebody_has_changed_meanwhile_is_not_revised(memory: Memory) -> None:
    read = memory.remember("Retries are capped at 3")
    memory.edit(read.id, standing=False)
    with pytest.raises(StaleWriteError, match="meanwhile"):
        memory.revise(read, insight="Retries are capped at 5")
    assert memory.get(read.id).state == "active"
    new = memory.revise(memory.get(read.id), insight="Retries are capped at 5")
    assert (new.insight, new.when.standing) == ("Retries are capped at 5", False)


def test_words_and_triggers_change_together_in_one_change(memory: Memory) -> None:
    old = memory.remember("Retries are capped at 3")
    new = memory.revise(old.id, insight="Retries are capped at 5", when={"commands": ["make retry"], "standing": True})
    assert (new.when.commands, new.when.standing, new.when.edited) == (("make retry",), True, True)
    memory.undo()
    assert (memory.get(old.id).state, memory.get(new.id).state) == ("active", "retired")
    again = memory.revise(old.id, when={"paths": ["src/**"]})
    assert (again.insight, again.when.paths) == (old.insight, ("src/**",))
    with pytest.raises(InvalidValueError, match="nothing to revise"):
        memory.revise(again.id, when={"paths": ["src/**"]})
    with pytest.raises(InvalidValueError, match="almost any text"):
        memory.revise(again.id, when={"literals": ["x"]})


def test_retiring_is_one_word_with_or_without_a_condition(memory: Memory) -> None:
    lesson = memory.remember("Pin numpy below 2")
    assert (memory.retire(lesson.id, "numpy>=3").state, memory.get(lesson.id).revival) == ("retired", "numpy>=3")
