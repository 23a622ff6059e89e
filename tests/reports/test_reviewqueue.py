"""The review queue: what is in it, in which order, and that what somebody decided is not shown again."""

from __future__ import annotations

from pathlib import Path

from holdfast.bootstrap import Memory
from holdfast.domain.lesson import Link
from holdfast.domain.vocabulary import LessonId
from holdfast.reports.reviewqueue import QueueItem, ReviewItem, collect, collect_quickly, grouped, look_at
from holdfast.testing.builders import make_delivery
from tests.codebase import STORE, Codebase
from tests.upkeep.tidying.stand_in import put

NPM, PNPM = "Install dependencies with npm.", "Install dependencies with pnpm."


def opposed(memory: Memory) -> tuple[LessonId, LessonId]:
    """Two confirmed rules that contradict each other: the better one, and the other one."""
    first = memory.remember(NPM, trust="agent")
    second = memory.remember(PNPM)
    memory.undo()  # the settlement, so that both stand
    return second.id, first.id


def queue_of(memory: Memory) -> list[QueueItem]:
    return collect(memory.services, memory.location)


def looks_of(memory: Memory) -> list[ReviewItem]:
    return look_at(memory.services, memory.location, queue_of(memory))


def kinds_of(memory: Memory) -> list[str]:
    return [look.kind for look in looks_of(memory)]


def test_contradictions_come_first_then_what_is_told_most_then_what_is_probably_worth_keeping(memory: Memory) -> None:
    better, worse = opposed(memory)
    (dim,) = put(memory, "Use tabs in Makefiles.", state="candidate")
    (bright,) = put(memory, "Bump the schema by hand.", state="candidate", salience=0.9)
    (known,) = put(memory, "Bump the schema with a script, never by hand, and never twice a day.", state="active")
    (revision,) = put(
        memory, "Bump the schema with a script, at night.", state="candidate",
        links=(Link(kind="refines", target=known.id),),
    )  # fmt: skip
    here = memory.location.project.id
    memory.services.store.record([make_delivery(project=here, lesson=known.id) for _ in range(3)])
    queue = [item for item in queue_of(memory) if item.kind in ("contradiction", "waiting")]
    assert [item.lessons for item in queue] == [(better, worse), (revision.id,), (bright.id,), (dim.id,)]
    assert [item.told for item in queue] == [0, 3, 0, 0]


def test_a_contradiction_shows_both_rules_with_what_they_differ_in_and_which_is_newer(memory: Memory) -> None:
    better, worse = opposed(memory)
    (look,) = looks_of(memory)
    assert [lesson.id for lesson in look.lessons] == [better, worse]
    assert [lesson.source for lesson in look.lessons] == ["user", "agent"]
    assert (look.slot, look.values) == ("package manager", ("pnpm", "npm"))
    assert look.difference == "package manager: pnpm or npm"
    assert look.newer == 0
    assert look.reason == "a person's word comes before the agent's word"


def test_a_lesson_of_a_contradiction_is_not_listed_a_second_time(memory: Memory) -> None:
    memory.remember(NPM)
    memory.remember("We switched from npm to pnpm to install dependencies.", trust="agent")
    assert kinds_of(memory) == ["contradiction"]


def test_what_is_decided_is_not_shown_by_a_list_that_was_made_before(memory: Memory) -> None:
    better, worse = opposed(memory)
    accepted, rejected, left = put(
        memory, "Use tabs in Makefiles.", "Sort imports.", "Name the port.", state="candidate"
    )
    queue = queue_of(memory)
    memory.accept(accepted.id)
    memory.reject(rejected.id)
    memory.settle(better, [worse])
    assert [look.lessons[0].id for look in look_at(memory.services, memory.location, queue)] == [left.id]


def test_what_is_taken_back_is_shown_again(memory: Memory) -> None:
    opposed(memory)
    put(memory, "Use tabs in Makefiles.", state="candidate")
    queue = queue_of(memory)
    for item in queue:
        decide = memory.accept if item.kind == "waiting" else memory.settle
        decide(item.lessons[0])
        assert item.key not in {look.key for look in look_at(memory.services, memory.location, queue)}
        memory.undo()
        assert item.key in {look.key for look in look_at(memory.services, memory.location, queue)}


def test_both_kept_is_decided_too(memory: Memory) -> None:
    better, worse = opposed(memory)
    queue = queue_of(memory)
    memory.keep_both(better, worse)
    assert look_at(memory.services, memory.location, queue) == []


def test_a_revision_that_waits_shows_what_it_would_change(memory: Memory) -> None:
    (old,) = put(memory, "Keep lines under 100 characters.")
    put(
        memory, "Keep lines under 120 characters.", state="candidate", links=(Link(kind="refines", target=old.id),),
        title="Lines have at most 120 characters",
    )  # fmt: skip
    (look,) = looks_of(memory)
    (line,) = look.diff
    assert (line.mark, line.text) == ("±", "Keep lines under 120 characters.")
    assert [(piece.mark, piece.text) for piece in line.pieces if piece.mark] == [("removed", "100"), ("added", "120")]
    assert (look.replaces, look.replaced) == (old.id[-8:], old.id)


def test_a_lesson_whose_code_changed_is_shown_with_the_changed_lines_until_somebody_decides(
    home: Path, tmp_path: Path
) -> None:
    code = Codebase(tmp_path / "code")
    with Memory(str(code.folder)) as memory:
        lesson = memory.remember("Doubled sums are rounded by the caller.", files=["src/store.py"], symbols=["doubled"])
        assert looks_of(memory) == []
        code.write("src/store.py", STORE.replace("total * 2", "total * 3"))
        queue = queue_of(memory)
        (look,) = look_at(memory.services, memory.location, queue)
        assert (look.kind, look.lessons[0].freshness) == ("stale", "drifted")
        changed = [(line.mark, line.text.strip()) for line in look.lessons[0].code if line.mark in "+-"]
        assert changed == [("-", "return total * 2"), ("+", "return total * 3")]
        memory.put_off(lesson.id)
        assert look_at(memory.services, memory.location, queue) == []
        memory.bring_back(lesson.id)
        assert [look.key for look in look_at(memory.services, memory.location, queue)] == [queue[0].key]
        memory.keep(lesson.id)
        assert look_at(memory.services, memory.location, queue) == []
        memory.undo()
        assert [look.key for look in look_at(memory.services, memory.location, queue)] == [queue[0].key]


def test_lesser_doubts_are_listed_a_few_a_day(memory: Memory) -> None:
    put(memory, *(f"Rule {number} of the port {7000 + number} of server {number}." for number in range(8)),
        confidence=0.3)  # fmt: skip
    assert [item.kind for item in queue_of(memory)] == ["doubt"] * 5


def test_groups_stay_together_in_the_order_of_their_first_item(memory: Memory) -> None:
    for name in ("src/api/a.py", "docs/b.md", "src/api/c.py", "docs/d.md"):
        put(memory, f"Mind {name}.", state="candidate", path=name, salience=0.9 if name.startswith("docs/b") else 0.5)
    queue = queue_of(memory)
    assert queue[0].area == "docs"
    assert [item.area for item in grouped(queue, "area")] == ["docs", "docs", "src/api", "src/api"]
    assert grouped(queue, "") == queue


def test_the_quick_list_has_what_waits_before_anything_was_compared(memory: Memory) -> None:
    opposed(memory)
    (lesson,) = put(memory, "Use tabs in Makefiles.", state="candidate")
    assert [item.lessons for item in collect_quickly(memory.services, memory.location)] == [(lesson.id,)]
