"""The edges of curation: what is just inside, and what is not."""

from __future__ import annotations

import pytest

from holdfast import Memory
from holdfast.curation.checkpoint import leave
from holdfast.curation.sessionstate import branches_of, read_state
from holdfast.curation.tuning import CLOSING_WORDS, QUOTED_WORDS, REPLY_END, STATE_EVENTS
from holdfast.domain.records import Checkpoint
from holdfast.testing.builders import make_event
from tests.curation.test_checkpoint import S, happen

# Checkpoints


def left(memory: Memory, *events: dict[str, object]) -> Checkpoint:
    for event in ({"text": "chart the whole basin"}, *events):
        happen(memory, {**event, "at": memory.services.clock.now()})
    (checkpoint,) = leave(memory.services, memory.location, S)
    return checkpoint


EDIT = {"kind": "file_edit", "files": ("src/a.py",), "text": ""}


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
