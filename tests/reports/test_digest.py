"""The digest says what a memory learnt, changed, contradicted and resolved in a period, and what waits."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from holdfast import Memory
from holdfast.domain.vocabulary import LessonId
from holdfast.errors import InvalidValueError
from holdfast.lessons.lookup import named_instant
from holdfast.rendering.views import report_json
from holdfast.reports.digest import MemoryDigest, SectionName, digest_of
from holdfast.reports.tuning import DIGEST_ITEMS
from holdfast.testing.builders import FixedClock
from tests.codebase import Codebase

BEGUN = datetime(2026, 6, 1, tzinfo=UTC)
DAY = timedelta(days=1)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(BEGUN)


@pytest.fixture
def timed(memory: Memory, clock: FixedClock) -> Memory:
    """The memory of a project, whose clock the test moves."""
    return memory.with_services(replace(memory.services, clock=clock))


def ids(digest: MemoryDigest, name: SectionName) -> list[LessonId]:
    return [item.lesson for item in digest.section(name).items]


def test_only_what_the_period_taught_is_learnt(timed: Memory, clock: FixedClock) -> None:
    timed.remember("The harbour closes at ten.")
    clock.advance(3 * 86_400)
    new = timed.remember("Ferries leave from pier two.")
    digest = timed.digest(since=BEGUN + 2 * DAY)
    assert ids(digest, "learnt") == [new.id]
    assert digest.section("learnt").items[0].short_id == new.id[-8:]
    assert timed.get(digest.section("learnt").items[0].short_id).id == new.id
    assert timed.digest(since=BEGUN - DAY).section("learnt").total == 2


@pytest.mark.parametrize("days", [1 / 24, 7, 365])
def test_a_period_may_be_hours_or_a_year(timed: Memory, clock: FixedClock, days: float) -> None:
    clock.advance(400 * 86_400)
    old = timed.remember("The harbour closes at ten.")
    clock.advance(days * 86_400)
    new = timed.remember("Ferries leave from pier two.")
    since = clock.at - timedelta(days=days) + timedelta(minutes=1)
    assert ids(timed.digest(since=since), "learnt") == [new.id]
    assert set(ids(timed.digest(since=since - timedelta(hours=1)), "learnt")) == {old.id, new.id}


def test_what_was_taken_back_in_the_period_is_not_in_it(timed: Memory) -> None:
    lesson = timed.remember("The harbour closes at ten.")
    timed.undo()
    digest = timed.digest(since=BEGUN)
    assert lesson.id not in ids(digest, "learnt") + ids(digest, "changed")


def test_a_revision_is_changed_and_names_what_it_replaces(timed: Memory, clock: FixedClock) -> None:
    old = timed.remember("The harbour closes at ten.", title="Harbour closes at ten")
    clock.advance(86_400)
    new = timed.revise(old.id, insight="The harbour closes at eleven.", title="Harbour closes at eleven")
    digest = timed.digest(since=BEGUN + timedelta(hours=1))
    (item,) = digest.section("changed").items
    assert (item.lesson, item.note) == (new.id, "replaces")
    assert [(other.lesson, other.title) for other in item.others] == [(old.id, "Harbour closes at ten")]
    assert ids(digest, "learnt") == []
    # In a period that has both, only the newest was learnt.
    assert ids(timed.digest(since=BEGUN - DAY), "learnt") == [new.id]


def test_an_edited_title_says_what_it_was(timed: Memory, clock: FixedClock) -> None:
    lesson = timed.remember("The harbour closes at ten.", title="Harbour closes at ten")
    clock.advance(86_400)
    timed.edit(lesson.id, title="The harbour closes at ten")
    (item,) = timed.digest(since=BEGUN + timedelta(hours=1)).section("changed").items
    assert (item.title, item.note) == ("The harbour closes at ten", "was: Harbour closes at ten")


def test_a_forgotten_lesson_is_named_without_its_words(timed: Memory, clock: FixedClock) -> None:
    lesson = timed.remember("The password hint is on pier two.")
    clock.advance(86_400)
    timed.forget(lesson.id)
    (item,) = timed.digest(since=BEGUN + timedelta(hours=1)).section("changed").items
    assert (item.lesson, item.note) == (lesson.id, "is no longer told: forgotten")
    assert "pier" not in repr(item)


def test_a_settled_contradiction_is_resolved_and_an_open_one_contradicted(timed: Memory, clock: FixedClock) -> None:
    npm = timed.remember("Install dependencies with npm.", trust="agent")
    port = timed.remember("The dev server listens on port 8080.")
    clock.advance(86_400)
    pnpm = timed.remember("Install dependencies with pnpm.")
    waiting = timed.remember("The dev server listens on port 9090.", trust="agent")
    digest = timed.digest(since=BEGUN + timedelta(hours=1))
    (resolved,) = digest.section("resolved").items
    assert (resolved.lesson, [other.lesson for other in resolved.others]) == (pnpm.id, [npm.id])
    (open_pair,) = digest.section("contradicted").items
    assert {open_pair.lesson, *(other.lesson for other in open_pair.others)} == {port.id, waiting.id}
    assert pnpm.id not in ids(digest, "learnt") + ids(digest, "changed")


def test_a_contradiction_that_was_settled_and_opened_again_is_not_resolved(timed: Memory, clock: FixedClock) -> None:
    always = timed.remember("Always open the harbour gate at noon")
    never = timed.remember("Never open the harbour gate at noon")
    clock.advance(60)
    timed.keep_both(never.id, always.id)
    clock.advance(60)
    assert ids(timed.digest(since=BEGUN), "resolved") != []
    timed.undo()
    clock.advance(60)
    digest = timed.digest(since=BEGUN)
    assert ids(digest, "resolved") == []
    assert len(ids(digest, "contradicted")) == 1


def test_a_lesson_that_outcomes_refute_is_contradicted(timed: Memory, clock: FixedClock) -> None:
    lesson = timed.remember("The harbour closes at ten.")
    clock.advance(86_400)
    timed.feedback(lesson.id, "hurt", "it closes at nine")
    digest = timed.digest(since=BEGUN + timedelta(hours=1))
    (item,) = digest.section("contradicted").items
    assert (item.lesson, item.note) == (lesson.id, "what followed speaks against it: 1 hurt")
    assert "nine" not in repr(digest)
    clock.advance(86_400)
    assert ids(timed.digest(since=clock.at - timedelta(hours=1)), "contradicted") == []


def test_a_lesson_that_waited_and_was_accepted_is_learnt(timed: Memory, clock: FixedClock) -> None:
    stated = timed.remember("The dev server listens on port 8080.")
    waiting = timed.remember("The dev server listens on port 9090.", trust="agent")
    clock.advance(86_400)
    before = timed.digest(since=BEGUN + timedelta(hours=1))
    assert ids(before, "waits") == [waiting.id]
    assert before.section("waits").note == ""
    assert timed.digest(since=BEGUN - DAY).section("waits").note == "1 of them is new"
    timed.forget(stated.id)
    timed.accept(waiting.id)
    after = timed.digest(since=BEGUN + timedelta(hours=1))
    assert ids(after, "learnt") == [waiting.id]
    assert after.section("learnt").items[0].note == "had waited for a decision"


def test_the_team_sees_nothing_private_nothing_of_the_user_and_nothing_unconfirmed(timed: Memory) -> None:
    shared = timed.remember("Ferries leave from pier two.")
    timed.remember("The harbour master owes me ten.", private=True)
    timed.remember("I like short commit messages.", kind="preference", scope="user")
    timed.remember("The dev server listens on port 8080.")
    timed.remember("The dev server listens on port 9090.", trust="agent")
    mine, others = timed.digest(since=BEGUN), timed.digest(since=BEGUN, audience="team")
    assert mine.section("learnt").total == 4
    assert [item.is_private for item in mine.section("learnt").items].count(True) == 1
    assert shared.id in ids(others, "learnt")
    assert others.section("learnt").total == 2
    assert others.section("waits").total == 0
    for words in ("owes", "commit messages", "9090"):
        assert words in repr(mine)
        assert words not in repr(others)


def test_a_revision_of_a_private_lesson_does_not_show_it_to_the_team(timed: Memory, clock: FixedClock) -> None:
    private = timed.remember("The harbour master owes me ten.", private=True)
    clock.advance(86_400)
    timed.revise(private.id, insight="The harbour closes at ten.", title="Harbour closes at ten", private=False)
    assert "owes" not in repr(timed.digest(since=BEGUN + timedelta(hours=1), audience="team"))


def test_a_reader_who_may_not_see_a_lesson_is_not_told_of_it(timed: Memory) -> None:
    seen, unseen = timed.remember("Ferries leave from pier two."), timed.remember("The harbour closes at ten.")
    digest = timed.digest(since=BEGUN, sees=lambda lesson: lesson.id != unseen.id)
    assert ids(digest, "learnt") == [seen.id]
    assert digest.section("learnt").total == 1


def test_the_most_important_comes_first_and_the_rest_is_counted(timed: Memory) -> None:
    for number in range(DIGEST_ITEMS["learnt"] + 5):
        timed.remember(f"Pier {number} is closed on day {number} of the month.", trust="verified")
    persons, pinned = (
        timed.remember("Ferries leave from pier two."),
        timed.remember("Ships have no wheels.", pinned=True),
    )
    section = timed.digest(since=BEGUN).section("learnt")
    assert [item.lesson for item in section.items[:2]] == [pinned.id, persons.id]
    assert len(section.items) == DIGEST_ITEMS["learnt"]
    assert section.more == 7


def test_an_empty_period_and_an_unknown_audience_are_refused(timed: Memory, clock: FixedClock) -> None:
    with pytest.raises(InvalidValueError, match="the period is empty"):
        timed.digest(since=clock.at + DAY)
    with pytest.raises(InvalidValueError, match="unknown audience"):
        timed.digest(since=BEGUN, audience="everybody")  # type: ignore[arg-type]


def test_a_memory_without_lessons_has_an_empty_digest(timed: Memory) -> None:
    assert timed.digest(since=BEGUN - DAY).is_empty


@pytest.mark.parametrize(("text", "hours"), [("36h", 36), ("7d", 168), ("2w", 336), ("1m", 720), ("1y", 8_760)])
def test_a_time_back_from_now_has_a_number_and_a_letter(text: str, hours: int) -> None:
    assert BEGUN - named_instant(text, BEGUN) == timedelta(hours=hours)


def test_a_longer_number_may_be_a_commit(home: object) -> None:
    with pytest.raises(InvalidValueError):
        named_instant("1234d", BEGUN)


def test_a_digest_that_came_as_json_is_the_same_digest(timed: Memory, clock: FixedClock) -> None:
    npm = timed.remember("Install dependencies with npm.", trust="agent")
    clock.advance(86_400)
    timed.remember("Install dependencies with pnpm.")
    digest = timed.digest(since=BEGUN + timedelta(hours=1))
    assert npm.id in repr(digest)
    assert digest_of(json.loads(json.dumps(report_json(digest)))) == digest


def test_a_page_reads_the_newest_of_a_large_memory_and_says_so(timed: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("holdfast.reports.digest.QUICK_CHANGES", 3)
    lessons = [timed.remember(f"Pier {number} is closed on day {number} of the month.") for number in range(5)]
    quick, whole = timed.digest(since=BEGUN - DAY, quick=True), timed.digest(since=BEGUN - DAY)
    assert set(ids(quick, "learnt")) == {lesson.id for lesson in lessons[-3:]}
    assert "the newest 3 were read" in quick.left_out
    assert (whole.section("learnt").total, whole.left_out) == (5, "")


# What went stale: git has times of its own, so the clock here is the real one


def test_a_lesson_whose_code_changed_in_the_period_went_stale(code: Codebase) -> None:
    with Memory(str(code.folder)) as memory:
        lesson = memory.remember("Stores keep what they are given.", files=["src/store.py"], symbols=["Store.put"])
        sound = memory.remember("Doubling doubles.", files=["src/store.py"], symbols=["doubled"])
        since = memory.services.clock.now()
        assert ids(memory.digest(since=since), "stale") == []
        code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value, value, key]")
        digest = memory.digest(since=since)
        assert ids(digest, "stale") == [lesson.id]
        assert sound.id not in ids(digest, "stale")
        (item,) = digest.section("stale").items
        assert "body changed" in item.note
        assert item.at >= lesson.recorded_at  # nobody committed the change: git's last commit is older than the lesson


def test_a_change_before_the_period_is_not_told_again(code: Codebase) -> None:
    with Memory(str(code.folder)) as memory:
        now = memory.services.clock.now()
        memory.remember("Stores keep what they are given.", files=["src/store.py"], symbols=["Store.put"])
        code.edit("src/store.py", "self.rows[key] = value", "self.rows[key] = [value, value, key]")
        code.commit("change", at=now - 30 * DAY)
        code.write("other.py", "A = 1\n")
        code.commit("other", at=now - 2 * DAY)
        assert ids(memory.digest(since=now - 7 * DAY), "stale") == []
        assert len(ids(memory.digest(since=now - 40 * DAY), "stale")) == 1
