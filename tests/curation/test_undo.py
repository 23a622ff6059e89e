"""The last change can be taken back, whatever it was, except a purge."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast import Memory
from holdfast.errors import InvalidValueError, StaleWriteError


def content(memory: Memory) -> dict[str, tuple[str, str, str, bool]]:
    """What memory says, apart from when it came to say so; a retired lesson says nothing."""
    lessons = memory.lessons(states=())
    return {x.id: (x.insight, x.why, x.state, x.pinned) for x in lessons if x.state != "retired"}


def test_nothing_to_undo_is_reported(memory: Memory) -> None:
    with pytest.raises(InvalidValueError, match="nothing to undo"):
        memory.undo()


def test_a_new_lesson_is_retired(memory: Memory) -> None:
    lesson = memory.remember("Seed the clock first")
    change = memory.undo()
    assert (change.verb, change.lessons) == ("undo", (lesson.id,))
    assert memory.get(lesson.id).state == "retired"
    assert memory.lessons() == []


def test_a_refreshed_lesson_is_as_before(memory: Memory) -> None:
    lesson = memory.remember("Seed the clock first")
    memory.remember("Seed the clock first", why="midnight")
    memory.undo()
    assert memory.get(lesson.id).why == ""
    assert memory.get(lesson.id).state == "active"


def test_a_revision_is_taken_back_on_both_sides(memory: Memory) -> None:
    old = memory.remember("Retries are capped at 3")
    new = memory.revise(old.id, insight="Retries are capped at 5")
    memory.undo()
    back = memory.get(old.id)
    assert (back.state, back.validity) == ("active", old.validity)
    assert memory.get(new.id).state == "retired"


def test_an_accepted_lesson_waits_again_and_a_rejected_one_too(memory: Memory) -> None:
    lesson = memory.remember("Push on Fridays", trust="tool")
    memory.accept(lesson.id)
    memory.undo()
    assert memory.get(lesson.id).state == "candidate"
    assert memory.get(lesson.id).trust == "tool"
    memory.reject(lesson.id)
    memory.undo()
    assert [waiting.id for waiting in memory.inbox()] == [lesson.id]


def test_a_whole_import_is_one_change(memory: Memory) -> None:
    earlier = memory.remember("Seed the clock first")
    memory.import_lessons((f'{{"kind": "fix", "insight": "Rule number {i}"}}' for i in range(1200)), accept=True)
    assert len(memory.undo().lessons) == 1200
    assert [lesson.id for lesson in memory.lessons()] == [earlier.id]


def test_undo_goes_back_step_by_step(memory: Memory) -> None:
    first = memory.remember("One rule")
    memory.revise(first.id, insight="Another rule")
    memory.undo()
    memory.undo()
    assert memory.lessons() == []
    with pytest.raises(InvalidValueError, match="nothing to undo"):
        memory.undo()


def test_a_forgotten_lesson_comes_back(memory: Memory) -> None:
    lesson = memory.remember("Seed the clock first", why="midnight")
    memory.forget(lesson.id)
    memory.undo()
    back = memory.get(lesson.id)
    assert (back.state, back.insight, back.why) == ("active", lesson.insight, "midnight")
    memory.undo()
    assert memory.lessons() == []


def test_what_was_forgotten_since_stays_forgotten(memory: Memory) -> None:
    lesson = memory.remember("Seed the clock first")
    memory.forget(lesson.id)
    memory.remember("Another rule")
    memory.undo()
    memory.undo()
    memory.forget(lesson.id)
    memory.undo()
    assert memory.get(lesson.id).state == "active"


def test_purging_is_final_and_what_came_before_it_can_be_taken_back(memory: Memory) -> None:
    gone, stays = memory.remember("Seed the clock first"), memory.remember("Another rule")
    memory.purge(gone.id)
    with pytest.raises(InvalidValueError, match="purge, which is final"):
        memory.undo()
    memory.undo(past_purges=True)
    assert memory.get(stays.id).state == "retired"


def test_a_lesson_purged_meanwhile_is_left_out(memory: Memory) -> None:
    report = memory.import_lessons(
        ['{"kind": "fix", "insight": "One"}', '{"kind": "fix", "insight": "Two"}'], accept=True
    )
    assert report.added == 2
    gone, stays = memory.lessons()
    memory.services.store.purge([gone.id])
    assert memory.undo().lessons == (stays.id,)


STEPS = st.lists(
    st.sampled_from(["remember", "refresh", "revise", "accept", "reject", "import", "tell", "forget"]), max_size=6
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(STEPS)
def test_taking_back_every_change_leaves_what_was_there_before(memory: Memory, steps: list[str]) -> None:
    before, count = content(memory), len(memory.changes(10_000))
    for number, step in enumerate(steps):
        _do(memory, step, f"{number} of {len(memory.lessons(states=(), limit=10_000))}")
    for _ in range(len(memory.changes(10_000)) - count):
        memory.undo()
    assert content(memory) == before


def _do(memory: Memory, step: str, name: str) -> None:
    active, waiting = memory.lessons(), memory.inbox()
    if step == "remember":
        memory.remember(f"Rule {name}")
    elif step == "tell":
        memory.remember(f"Hearsay {name}", trust="tool")
    elif step == "import":
        memory.import_lessons([f'{{"kind": "fix", "insight": "Import {name}"}}'], accept=True)
    elif step == "refresh" and active:
        memory.remember(active[0].insight, kind=active[0].kind, why=f"because {name}")
    elif step == "revise" and active:
        memory.revise(active[0].id, insight=f"Better rule {name}")
    elif step == "forget" and active:
        memory.forget(active[0].id)
    elif step == "accept" and waiting:
        memory.accept(waiting[0].id)
    elif step == "reject" and waiting:
        memory.reject(waiting[0].id)


# Exactly one change


def change_of(memory: Memory, lesson: str) -> str:
    """The id of the lesson's newest change."""
    return next(change.id for change in memory.changes() if lesson in change.lessons)


def test_one_change_is_taken_back_exactly_whatever_others_changed_since(memory: Memory) -> None:
    lesson = memory.remember("Retries are capped at 3")
    memory.retire(lesson.id)
    retired = change_of(memory, lesson.id)
    other = memory.remember("Times are UTC")
    assert memory.undo(change=retired).undone == retired
    assert (memory.get(lesson.id).state, memory.get(other.id).state) == ("active", "active")
    assert memory.undo(past_purges=True).lessons == (other.id,)


def test_a_change_is_not_taken_back_over_a_later_one_of_the_same_lesson(memory: Memory) -> None:
    lesson = memory.remember("Retries are capped at 3")
    memory.edit(lesson.id, standing=False)
    first = change_of(memory, lesson.id)
    memory.edit(lesson.id, commands=["make"])
    second = change_of(memory, lesson.id)
    with pytest.raises(StaleWriteError, match="changed again since"):
        memory.undo(change=first)
    assert memory.get(lesson.id).when.commands == ("make",)
    memory.undo(change=second)
    memory.undo(change=first)
    assert (memory.get(lesson.id).when.commands, memory.get(lesson.id).when.standing) == ((), True)
    with pytest.raises(InvalidValueError, match="undone already"):
        memory.undo(change=second)


def test_an_earlier_change_taken_back_later_stands_in_the_way_too(memory: Memory) -> None:
    lesson = memory.remember("Retries are capped at 3")
    stated = change_of(memory, lesson.id)
    other = memory.revise(lesson.id, insight="Retries are capped at 5")
    memory.undo()
    memory.undo(change=stated)
    memory.accept(lesson.id)
    accepted = change_of(memory, lesson.id)
    memory.undo(change=accepted)
    assert (memory.get(lesson.id).state, memory.get(other.id).state) == ("retired", "retired")


def test_an_unknown_change_a_purge_and_an_undo_are_not_taken_back(memory: Memory) -> None:
    lesson = memory.remember("Retries are capped at 3")
    undone = memory.undo()
    with pytest.raises(InvalidValueError, match="no such change"):
        memory.undo(change=undone.id)
    with pytest.raises(InvalidValueError, match="no such change"):
        memory.undo(change="0" * 36)
    memory.purge(lesson.id)
    purge = next(change for change in memory.changes() if change.verb == "purge")
    with pytest.raises(InvalidValueError, match="purge, which is final"):
        memory.undo(change=purge.id)
