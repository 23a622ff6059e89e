"""Each number that curation goes by, at its boundary; it is written out, so that it cannot move alone."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast import Memory
from holdfast.curation.audit import audit, keep, left_today, put_off
from holdfast.curation.checkpoint import capture, leave
from holdfast.curation.edit import triggers_of
from holdfast.curation.sessionstate import branches_of, read_state
from holdfast.curation.tuning import ASKED_TEXT, CLOSING_WORDS, FAILURE_TEXT, QUOTED_WORDS, REPLY_END, STATE_EVENTS
from holdfast.domain.records import Checkpoint, Delivery
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import InvalidValueError
from holdfast.lean.records import replace
from holdfast.testing.builders import FixedClock, make_delivery, make_event, make_lesson
from tests.curation.test_checkpoint import S, happen


@pytest.mark.parametrize(
    ("stated", "fits"),
    [
        ({"literals": ["abc"]}, True), ({"literals": ["ab"]}, False), ({"literals": ["a" * 200]}, True),
        ({"literals": ["a" * 201]}, False), ({"commands": [f"make {n}" for n in range(20)]}, True),
        ({"commands": [f"make {n}" for n in range(21)]}, False), ({"work": ["fix"]}, True),
        ({"work": ["dance"]}, False), ({"standing": True}, True), ({"standing": 1}, False), ({"wheels": ["x"]}, False),
    ],
)  # fmt: skip
def test_triggers_have_their_lengths(stated: dict[str, Any], fits: bool) -> None:
    if fits:
        triggers_of(stated)
    else:
        with pytest.raises(InvalidValueError):
            triggers_of(stated)


@pytest.mark.parametrize(
    ("trust", "confidence"), [("person", 0.95), ("agent", 0.7), ("repository", 0.5), ("tool", 0.3)]
)
def test_a_statement_is_as_sure_as_who_made_it(memory: Memory, trust: Any, confidence: float) -> None:
    lesson = memory.remember(f"Seed the clock of the {trust} first.", trust=trust, author=trust)
    assert (lesson.confidence, lesson.salience) == (confidence, 0.7)


def test_an_accepted_lesson_is_at_least_nine_tenths_sure(memory: Memory) -> None:
    waiting = memory.remember("Seed the clock before the login tests.", trust="repository", author="x")
    assert memory.accept(waiting.id).confidence == 0.9


# Checkpoints


def test_a_text_of_a_checkpoint_is_cut_at_six_hundred_characters(memory: Memory) -> None:
    assert memory.save_checkpoint("a" * 600).goal == "a" * 600
    assert memory.save_checkpoint("a" * 601).goal == "a" * 599 + "…"


def test_a_captured_checkpoint_keeps_a_dozen_files_and_a_goal_of_four_words(memory: Memory) -> None:
    edits = [{"kind": "file_edit", "files": (f"src/f{number:02}.py",), "text": ""} for number in range(14)]
    happen(memory, {"text": "chart the whole basin"}, {"text": "go on please"}, *edits)
    captured = capture(memory.services, memory.location, S)
    assert captured is not None
    assert captured.goal == "chart the whole basin"
    assert captured.files == tuple(f"src/f{number:02}.py" for number in range(2, 14))


def left(memory: Memory, *events: dict[str, object]) -> Checkpoint:
    for event in ({"text": "chart the whole basin"}, *events):
        happen(memory, {**event, "at": memory.services.clock.now()})
    (checkpoint,) = leave(memory.services, memory.location, S)
    return checkpoint


EDIT = {"kind": "file_edit", "files": ("src/a.py",), "text": ""}


def test_what_was_asked_last_and_a_failure_are_cut(memory: Memory) -> None:
    failing = {"kind": "tool_failure", "command": "make all", "exit_code": 2, "text": "e" * 500}
    state = left(memory, EDIT, failing, {"text": "a " * 400})
    assert len(state.asked) == ASKED_TEXT
    assert len(state.failure) == FAILURE_TEXT


@pytest.mark.parametrize(("count", "is_whole"), [(QUOTED_WORDS, True), (QUOTED_WORDS + 1, False)])
def test_a_quotation_of_a_few_words_is_a_name(memory: Memory, count: int, is_whole: bool) -> None:
    request = left(memory, EDIT, {"text": f'rename all of "{" ".join("x" * count)}" now'}).asked
    assert request.endswith("now") is is_whole


@pytest.mark.parametrize(
    ("words", "closes"),
    [
        ("thanks " + "x " * (CLOSING_WORDS - 1), True),
        ("thanks " + "x " * CLOSING_WORDS, False),
        ("a b c thanks d e f", False),
    ],
)
def test_a_short_word_of_thanks_closes_a_task(memory: Memory, words: str, closes: bool) -> None:
    assert left(memory, EDIT, {"text": words}).closed is closes


@pytest.mark.parametrize(("before", "is_said"), [(REPLY_END - 6, True), (REPLY_END, False)])
def test_a_reply_says_at_its_ends_that_the_work_is_done(before: int, is_said: bool) -> None:
    prompt = make_event(text="chart the whole basin")
    text = "x" * before + " done " + "x" * REPLY_END
    reply = make_event(kind="reply", text=text)
    state = read_state([prompt, reply], branches_of([prompt])[0])
    assert state is not None
    assert state.says_done is is_said


def test_a_state_rests_on_the_last_events_of_a_session(memory: Memory) -> None:
    assert STATE_EVENTS == 10_000
    now = memory.services.clock.now()
    happen(memory, {"text": "chart the whole basin", "at": now})
    happen(memory, *({"kind": "reply", "text": "ok", "at": now} for _ in range(STATE_EVENTS)))
    assert leave(memory.services, memory.location, S) == ()


# What is worth a look


def told(memory: Memory, lesson: str, days_ago: float) -> None:
    at = memory.services.clock.now() - timedelta(days=days_ago)
    delivery: Delivery = make_delivery(
        at=at, lesson=lesson, project=memory.location.project.id, session=SessionId("s1")
    )  # fmt: skip
    memory.services.store.record([delivery])


@pytest.mark.parametrize(
    ("age_days", "told_days_ago", "fields", "reasons"),
    [
        (29, None, {}, ()), (31, None, {}, ("never told",)), (91, None, {}, ("never told", "old")),
        (89, None, {}, ("never told",)), (200, 89, {}, ()), (200, 91, {}, ("old",)),
        (1, None, {"confidence": 0.49}, ("low confidence",)), (1, None, {"confidence": 0.5}, ()),
        (400, None, {"pinned": True}, ()),
    ],
)  # fmt: skip
def test_a_lesson_is_doubtful_after_a_month_untold_and_old_after_three(
    memory: Memory, age_days: int, told_days_ago: int | None, fields: dict[str, Any], reasons: tuple[str, ...]
) -> None:
    at = memory.services.clock.now() - timedelta(days=age_days, hours=1)
    lesson = make_lesson(project=memory.location.project.id, recorded_at=at, valid_from=at, **fields)
    memory.services.store.put([lesson], {lesson.id: None})
    if told_days_ago is not None:
        told(memory, lesson.id, told_days_ago)
    assert tuple(name for finding in audit(memory.services, memory.location) for name in finding.names) == reasons


def test_a_kept_lesson_is_hidden_for_ninety_days_and_one_put_off_for_seven(memory: Memory) -> None:
    clock = FixedClock(memory.services.clock.now())
    services = replace(memory.services, clock=clock)
    old = clock.at - timedelta(days=100)
    kept_lesson, later = (
        make_lesson(project=memory.location.project.id, recorded_at=old, valid_from=old, confidence=0.4)
        for _ in range(2)
    )
    services.store.put([kept_lesson, later], {kept_lesson.id: None, later.id: None})
    assert left_today(services, memory.location) == 5
    keep(services, memory.location, kept_lesson.id, author="ada")
    put_off(services, memory.location, later.id)
    assert left_today(services, memory.location) == 3

    def shown() -> set[str]:
        return {finding.lesson.id for finding in audit(services, memory.location)}

    assert shown() == set()
    clock.advance(6.9 * 86_400)
    assert shown() == set()
    clock.advance(0.2 * 86_400)
    assert shown() == {later.id}
    clock.advance(82.8 * 86_400)
    assert shown() == {later.id}
    clock.advance(0.2 * 86_400)
    assert shown() == {later.id, kept_lesson.id}


def test_reasons_weigh_as_much_as_they_say_and_add_up(memory: Memory) -> None:
    at = memory.services.clock.now() - timedelta(days=100)
    lesson = make_lesson(project=memory.location.project.id, recorded_at=at, valid_from=at, confidence=0.4)
    memory.services.store.put([lesson], {lesson.id: None})
    [finding] = audit(memory.services, memory.location)
    assert finding.names == ("low confidence", "never told", "old")
    assert finding.weight == 1.5 + 1.0 + 1.0
