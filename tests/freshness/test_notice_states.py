"""Which states of lessons are kept, which of them are news, and how much is asked for that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.briefing import Ranked, Why
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Anchor, Lesson
from holdfast.domain.project import Location
from holdfast.domain.records import Delivery
from holdfast.domain.statefamilies import LESSON_STATES
from holdfast.domain.symbol import Verdict
from holdfast.domain.vocabulary import EventId, Freshness, LessonId, SessionId
from holdfast.freshness.notice import (
    FOUND,
    SWITCHED,
    WATCHED,
    KnownState,
    find_news,
    found_states,
    keep_states,
    load_states,
    may_have_news,
    note_edits,
    owner_of,
    parse_plain,
)
from holdfast.ports.services import Services
from holdfast.testing.builders import FixedClock, make_delivery, make_lesson

ELSEWHERE = "git1:" + "0" * 40
ONE, TWO = LessonId("lesson-1"), LessonId("lesson-2")


class Index:
    """A code index that calls every anchor the same and takes its time."""

    def __init__(self, clock: FixedClock, freshness: Freshness = "changed", takes_s: float = 0.0) -> None:
        self.clock, self.freshness, self.takes_s = clock, freshness, takes_s

    def verdict(self, place: object, anchor: Anchor) -> Verdict:
        self.clock.advance(self.takes_s)
        return Verdict(freshness=self.freshness, reason="body", anchor=anchor)


def keep_found(services: Services, location: Location, ranked: Sequence[Ranked]) -> None:
    """Store what a delivery read, as a hook does after its answer."""
    if states := found_states(services, location, ranked):
        keep_states(services, location, states)


class Counting:
    """A store that counts how often a state is read and edited."""

    def __init__(self, store: Any) -> None:
        self.store = store
        self.calls: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        self.calls[name] += 1
        return getattr(self.store, name)


class Desk:
    """A memory on a clock that stands, a code index that is told what to say, and calls of session `s1`."""

    def __init__(self, memory: Memory) -> None:
        self.location = memory.location
        self.clock = FixedClock(memory.services.clock.now())
        self.store = Counting(memory.services.store)
        self.services = replace(memory.services, clock=self.clock, store=self.store)
        self.index()

    def index(self, freshness: Freshness = "changed", takes_s: float = 0.0) -> None:
        self.services = replace(self.services, codeindex=lambda: Index(self.clock, freshness, takes_s))

    def lesson(self, path: str = "src/tides.py", symbol: str = "high", **fields: Any) -> Lesson:
        """A stored lesson whose file is not as it was."""
        anchor = Anchor(path=path, symbol=symbol, blob=ELSEWHERE)
        lesson = make_lesson(**{"project": self.location.project.id, "anchors": (anchor,), **fields})
        self.services.store.put([lesson], {})
        return lesson

    def keep(self, *, by: str = FOUND, agent: str = "", **states: Freshness) -> None:
        keep_states(self.services, self.location, {LessonId(name): state for name, state in states.items()}, by, agent)

    def know(self, lesson: Lesson, state: Freshness, by: str, agent: str = "") -> None:
        keep_states(self.services, self.location, {lesson.id: state}, by, agent)

    def states(self) -> dict[LessonId, tuple[Freshness, str, str]]:
        return {
            lesson: (known.freshness, known.by, known.agent)
            for lesson, known in load_states(self.services, self.location).items()
        }

    def call(self, **fields: Any) -> HookCall:
        plain = {"host": "claude-code", "name": "Hook", "session": SessionId("s1"), "cwd": self.location.root}
        return HookCall(**{**plain, "moment": "prompt", **fields})

    def edit(self, *files: str, kind: Any = "file_edit", agent: str = "") -> None:
        event = Event(
            id=EventId("e1"), session=SessionId("s1"), host="claude-code", kind=kind, key="e1",
            at=self.clock.now(), files=files,
        )  # fmt: skip
        note_edits(self.services, self.location, self.call(events=(event,), agent=agent))

    def shown(self, lesson: Lesson, after_s: float = -60, **fields: Any) -> Delivery:
        at = self.clock.at + timedelta(seconds=after_s)
        return make_delivery(**{"lesson": lesson.id, "at": at, "project": self.location.project.id, **fields})

    def news(self, *deliveries: Delivery, **call: Any) -> Ranked | None:
        return find_news(self.services, self.location, self.call(**call), deliveries)


@pytest.fixture
def desk(memory: Memory) -> Desk:
    return Desk(memory)


# What is kept


def test_a_sound_lesson_is_taken_out_whatever_else_was_judged_with_it(desk: Desk) -> None:
    desk.keep(a="drifted", b="changed")
    desk.keep(a="fresh", x="fresh")
    assert set(desk.states()) == {"b"}
    desk.keep(c="drifted", x="moved")
    desk.keep(x="unanchored", b="orphaned", c="fresh")
    assert desk.states() == {"b": ("orphaned", "", "")}
    desk.keep(b="moved")
    assert desk.services.store.get_state(LESSON_STATES, owner_of(desk.location)) == ""


def test_nothing_is_written_where_nothing_differs(desk: Desk) -> None:
    desk.keep(by="s1", a="drifted")
    desk.store.calls.clear()
    desk.keep(by="s2", a="drifted", b="fresh")
    desk.keep()
    assert desk.store.calls == {"get_state": 2}
    assert desk.states() == {"a": ("drifted", "s1", "")}


def test_what_is_known_longest_goes_first_when_there_are_too_many(desk: Desk) -> None:
    desk.keep(**{f"n{number}": "drifted" for number in range(499)})  # type: ignore[arg-type]
    desk.keep(last="drifted")
    assert len(desk.states()) == 500
    desk.keep(n0="changed")
    desk.keep(newest="drifted")
    states = desk.states()
    assert len(states) == 500
    assert {"n0", "n2", "last", "newest"} <= set(states)
    assert "n1" not in states


@pytest.mark.parametrize("text", ["", "[]", "{", "3", '{"a": 1}', '["a"]', '[{"at": "now"}]'])
def test_a_text_that_holds_no_states_is_none(text: str) -> None:
    assert parse_plain(text) == {}


@pytest.mark.parametrize(("seconds", "by"), [(29.999_998, "s1"), (29.999_999, WATCHED)])
def test_an_edit_is_its_sessions_when_a_watch_saw_it_less_than_thirty_seconds_before(
    desk: Desk, seconds: float, by: str
) -> None:
    desk.keep(by=WATCHED, a="drifted")
    desk.clock.advance(seconds)  # the clock moves on a microsecond by itself
    desk.keep(by="s1", agent="sub", a="drifted")
    assert desk.states()["a"][1] == by
    assert desk.states()["a"][2] == ("sub" if by == "s1" else "")


@pytest.mark.parametrize("by", [FOUND, WATCHED, SWITCHED])
def test_what_was_not_judged_and_not_seen_by_a_session_is_nobodys_later(desk: Desk, by: str) -> None:
    desk.keep(by=by, a="unverified")
    desk.keep(by="s2", agent="sub", a="drifted")
    assert desk.states() == {"a": ("drifted", FOUND, "")}


def test_what_a_session_had_no_time_to_judge_is_its_own_when_somebody_else_judges_it(desk: Desk) -> None:
    desk.keep(by="s1", agent="sub", a="unverified")
    desk.keep(by=WATCHED, a="drifted")
    assert desk.states() == {"a": ("drifted", "s1", "sub")}


def test_a_state_that_got_better_is_no_news_and_its_agent_is_forgotten(desk: Desk) -> None:
    desk.keep(by="s1", agent="sub", a="changed")
    desk.keep(by="s2", agent="other", a="drifted")
    assert desk.states() == {"a": ("drifted", FOUND, "")}


# What an edit does


def test_lessons_about_an_edited_file_are_judged_and_stored_as_the_agents(desk: Desk) -> None:
    lesson, other = desk.lesson(), desk.lesson("README.md", symbol="")
    desk.lesson(state="candidate")
    desk.edit("src/tides.py", agent="sub")
    assert desk.states() == {lesson.id: ("changed", "s1", "sub")}
    desk.edit("README.md")
    assert desk.states()[other.id] == ("changed", "s1", "")


def test_what_was_not_edited_in_the_project_is_not_judged(desk: Desk) -> None:
    desk.lesson()
    desk.edit("src/tides.py", kind="tool_use")
    desk.edit("/etc/passwd")
    desk.edit()
    assert desk.states() == {}


def test_a_hooks_edit_is_judged_for_a_quarter_of_a_second_also_where_its_host_waits(desk: Desk) -> None:
    desk.index(takes_s=0.125)
    for symbol in "abcd":
        desk.lesson(symbol=symbol)
    desk.services = replace(desk.services, low_latency=True)
    desk.edit("src/tides.py")
    assert Counter(state for state, _, _ in desk.states().values()) == {"changed": 3, "unverified": 1}


# What is news


def test_news_are_delivered_first_with_the_reason_they_are_logged_under(desk: Desk) -> None:
    lesson = desk.lesson()
    desk.know(lesson, "changed", WATCHED)
    news = desk.news(desk.shown(lesson))
    assert news is not None
    assert (news.lesson, news.rank, news.score, news.freshness) == (lesson, 1, 0.0, "changed")
    assert news.why.words == "its code has just changed"
    assert news.caveat == "the code it is about has just changed: high body changed; confirm, revise or forget it"


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        ("drifted", "its code has just drifted"),
        ("changed", "its code has just changed"),
        ("orphaned", "its code has just gone"),
    ],
)
def test_each_state_has_a_reason_of_its_own(desk: Desk, state: Freshness, reason: str) -> None:
    assert KnownState(lesson=ONE, freshness=state, at=desk.clock.now()).reason == reason


def test_a_state_is_delivered_once_under_its_reason_and_not_what_was_shown_since(desk: Desk) -> None:
    lesson = desk.lesson()
    desk.know(lesson, "changed", WATCHED)
    [known] = load_states(desk.services, desk.location).values()
    shown = desk.shown(lesson)
    assert desk.news(replace(shown, at=known.at - timedelta(microseconds=1))) is not None
    assert desk.news(replace(shown, at=known.at)) is None, "the hook that found it has just told it"
    assert desk.news(shown, replace(shown, reason="its code has just changed")) is None
    assert desk.news(shown, replace(shown, reason="its code has just drifted")) is not None


def test_a_lesson_that_was_not_shown_is_no_news_whatever_else_was(desk: Desk) -> None:
    lesson, other = desk.lesson(), desk.lesson("README.md")
    desk.know(lesson, "changed", WATCHED)
    assert desk.news(desk.shown(other)) is None
    assert desk.news(desk.shown(other), desk.shown(lesson)) is not None


def test_a_session_hears_of_it_twice_at_most(desk: Desk) -> None:
    lesson, other = desk.lesson(), desk.lesson("README.md")
    desk.know(lesson, "changed", WATCHED)
    before = [desk.shown(other, reason=f"its code has just {word}") for word in ("drifted", "gone", "changed")]
    assert desk.news(desk.shown(lesson), *before[:1]) is not None
    assert desk.news(desk.shown(lesson), *before[:2]) is None
    assert desk.news(desk.shown(lesson), *before) is None


@pytest.mark.parametrize(
    ("by", "agent", "asks", "is_news"),
    [
        (WATCHED, "", "sub", True), (SWITCHED, "", "", True), (FOUND, "", "", False), ("s2", "x", "sub", True),
        ("s1", "sub", "sub", True), ("s1", "sub", "", True), ("s1", "sub", "other", False), ("s1", "", "other", False),
    ],
)  # fmt: skip
def test_a_sessions_own_edit_is_news_to_its_main_agent_and_the_one_that_edited(
    desk: Desk, by: str, agent: str, asks: str, is_news: bool
) -> None:
    lesson = desk.lesson()
    desk.know(lesson, "changed", by, agent)
    assert (desk.news(desk.shown(lesson), agent=asks) is not None) is is_news


def test_the_newest_change_is_delivered_first(desk: Desk) -> None:
    old, new = desk.lesson(), desk.lesson("README.md")
    for lesson in (new, old):
        desk.know(lesson, "drifted", WATCHED)
        desk.clock.advance(1)
    desk.know(new, "changed", WATCHED)
    news = desk.news(desk.shown(old), desk.shown(new))
    assert news is not None
    assert news.lesson == new


def test_a_file_that_differs_somewhere_is_no_news_of_a_lesson_about_all_of_it(desk: Desk) -> None:
    lesson = desk.lesson(symbol="")
    desk.know(lesson, "drifted", WATCHED)
    for freshness, is_news in (("drifted", False), ("changed", True), ("orphaned", True)):
        desk.index(freshness)  # type: ignore[arg-type]
        assert (desk.news(desk.shown(lesson)) is not None) is is_news
    assert desk.states() == {lesson.id: ("drifted", WATCHED, "")}
    about_a_part = desk.lesson()
    desk.know(about_a_part, "drifted", WATCHED)
    desk.index("drifted")
    assert desk.news(desk.shown(about_a_part)) is not None


def test_what_there_was_no_time_to_judge_stays_known_and_what_is_fresh_again_does_not(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    lesson = desk.lesson()
    desk.know(lesson, "changed", "s1")
    with monkeypatch.context() as hurry:
        hurry.setattr("holdfast.freshness.notice.JUDGED_S", -1.0)
        assert desk.news(desk.shown(lesson)) is None
    assert desk.states() == {lesson.id: ("changed", "s1", "")}
    desk.index("fresh")
    assert desk.news(desk.shown(lesson)) is None
    assert desk.states() == {}


# Before a file


def test_before_a_file_only_shown_lessons_about_it_are_judged_again(desk: Desk) -> None:
    shown, not_shown, elsewhere = desk.lesson(), desk.lesson(), desk.lesson("README.md")
    deliveries = desk.shown(shown), desk.shown(elsewhere)
    conditions: dict[str, Any] = {"moment": "before_file", "paths": ("src/tides.py",)}
    assert desk.news(*deliveries, moment="prompt", paths=("src/tides.py",)) is None
    assert desk.states() == {}
    news = desk.news(*deliveries, **conditions)
    assert news is not None
    assert (news.lesson, desk.states()) == (shown, {shown.id: ("changed", WATCHED, "")})
    assert not_shown.id not in desk.states()


def test_before_a_file_a_state_that_is_over_is_forgotten(desk: Desk, memory: Memory) -> None:
    blob = memory.services.workspace.blob(memory.location, "src/tides.py")
    lesson = desk.lesson(anchors=(Anchor(path="src/tides.py", blob=blob),))
    desk.know(lesson, "changed", WATCHED)
    assert desk.news(desk.shown(lesson), moment="before_file", paths=("src/tides.py",)) is None
    assert desk.states() == {}


def test_before_a_file_that_is_as_it_was_or_that_cannot_be_judged_nothing_is_stored(
    desk: Desk, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    blob = memory.services.workspace.blob(memory.location, "README.md")
    same, touched = desk.lesson(anchors=(Anchor(path="README.md", blob=blob),)), desk.lesson()
    desk.store.calls.clear()
    assert desk.news(desk.shown(same), moment="before_file", paths=("README.md",)) is None
    assert desk.store.calls == {"get_state": 1, "find": 1}
    monkeypatch.setattr("holdfast.freshness.notice.JUDGED_S", -1.0)
    assert desk.news(desk.shown(touched), moment="before_file", paths=("src/tides.py",)) is None
    assert desk.states() == {}


def test_before_a_file_outside_of_the_project_no_lesson_is_judged(desk: Desk) -> None:
    lesson = desk.lesson()
    assert desk.news(desk.shown(lesson), moment="before_file", paths=("/etc/passwd",)) is None
    assert desk.states() == {}


# What a delivery read


def read(lesson: LessonId, freshness: Freshness) -> Ranked:
    ranked = make_lesson(id=lesson)
    return Ranked(lesson=ranked, rank=1, score=0.0, why=Why(words=""), freshness=freshness, caveat="")


def test_what_a_delivery_read_is_stored_where_it_differs_and_nothing_is_queried_without_one(desk: Desk) -> None:
    def calls_of(*ranked: Ranked) -> dict[str, int]:
        desk.store.calls.clear()
        keep_found(desk.services, desk.location, ranked)
        return desk.store.calls

    assert calls_of() == {}
    assert calls_of(read(ONE, "fresh"), read(TWO, "moved")) == {"get_state": 1}
    assert calls_of(read(ONE, "unverified"), read(TWO, "fresh"))["edit_state"] == 1
    assert calls_of(read(ONE, "unverified")) == {"get_state": 1}
    assert set(desk.states()) == {ONE}
    keep_found(desk.services, desk.location, [read(ONE, "fresh"), read(TWO, "drifted")])
    assert set(desk.states()) == {TWO}


@pytest.mark.parametrize(
    ("moment", "by", "is_shown", "may_be"),
    [
        ("prompt", WATCHED, True, True), ("prompt", WATCHED, False, False), ("prompt", FOUND, True, False),
        ("before_file", FOUND, True, True), ("before_file", FOUND, False, False),
        ("session_start", WATCHED, True, False), (None, WATCHED, True, False),
    ],
)  # fmt: skip
def test_there_may_be_news_where_lessons_were_shown_and_somebody_saw_a_state_come_about(
    desk: Desk, moment: Any, by: str, is_shown: bool, may_be: bool
) -> None:
    lesson = desk.lesson()
    desk.know(lesson, "changed", by)
    deliveries = [desk.shown(lesson)] if is_shown else []
    assert may_have_news(desk.services, desk.location, desk.call(moment=moment), deliveries) is may_be
