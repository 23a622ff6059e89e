"""The edges of freshness: what is just inside, and what is not."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.briefing import Ranked, Why
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Anchor, Lesson
from holdfast.domain.symbol import Verdict
from holdfast.domain.vocabulary import Freshness, LessonId, SessionId
from holdfast.freshness.check import FreshnessCheck, caveat, worst
from holdfast.freshness.compare import spans_of
from holdfast.freshness.notice import (
    FOUND,
    SWITCHED,
    WATCHED,
    find_news,
    found_states,
    keep_states,
    load_states,
    may_have_news,
)
from holdfast.freshness.verify import reindex
from holdfast.testing.builders import FixedClock, make_delivery, make_lesson

HERE = Anchor(path="src/a.py", symbol="Store.put")
ID = LessonId("lesson-1")


def keep(memory: Memory, **fields: Any) -> Lesson:
    lesson = make_lesson(project=memory.location.project.id, **fields)
    memory.services.store.put([lesson], {lesson.id: None})
    return lesson


# Words for what became of code


def said(detail: str, freshness: Freshness = "changed") -> str:
    return caveat(HERE, Verdict(freshness=freshness, reason="body", detail=detail, anchor=HERE))


def test_a_caveat_says_what_it_is_about_once_in_a_hundred_and_sixty_characters() -> None:
    assert said("") == "Store.put body changed"
    assert said("", "unverified") == "Store.put not verified: body changed"
    assert said(" of Store.put") == "body changed of Store.put"
    assert said(" in src/a.py") == "body changed in src/a.py"
    assert said("", "fresh") == ""
    room = 160 - len(said(""))
    assert said("x" * room) == said("") + "x" * room
    assert said("x" * (room + 1)) == said("") + "x" * (room - 1) + "…"


def test_the_worst_of_several_anchors_is_delivered_and_the_first_of_equals() -> None:
    def look(name: str, freshness: Freshness, reason: str) -> tuple[Anchor, Verdict]:
        anchor = Anchor(path=name)
        return anchor, Verdict(freshness=freshness, reason=reason, anchor=anchor)

    fresh = look("a", "fresh", "same")
    gone, lost = look("b", "orphaned", "file_gone"), look("c", "orphaned", "file_gone")
    assert worst([fresh, gone, lost]) == ("orphaned", "b is gone")
    assert worst([fresh]) == ("fresh", "")
    assert worst([]) == ("unanchored", "")


# How long is looked


class Index:
    """A code index that calls everything changed, and takes its time."""

    def __init__(self, clock: FixedClock, takes_s: float) -> None:
        self.clock, self.takes_s = clock, takes_s

    def verdict(self, place: object, anchor: Anchor) -> Verdict:
        self.clock.advance(self.takes_s)
        return Verdict(freshness="changed", reason="body", anchor=anchor)


def test_without_a_code_index_the_file_tells(memory: Memory, project: Path) -> None:
    services = replace(memory.services, codeindex=lambda: None)
    file = project / "src" / "tides.py"
    recorded = Anchor(path="src/tides.py", blob=memory.services.workspace.blob(memory.location, "src/tides.py"))
    other = replace(recorded, blob="sha512:" + "0" * 40)

    def judged(anchor: Anchor) -> tuple[str, str]:
        lesson = make_lesson(project=memory.location.project.id, anchors=(anchor,))
        [(_, verdict)] = FreshnessCheck(services, memory.location).anchor_verdicts(lesson)
        return verdict.freshness, verdict.reason

    assert judged(recorded) == ("fresh", "same")
    file.write_text("HIGH = 5\n")
    assert judged(recorded) == ("drifted", "file_changed")
    assert judged(other) == ("unverified", "no_fingerprint")
    assert judged(Anchor(path="src/tides.py")) == ("unverified", "not_recorded")
    file.unlink()
    assert judged(recorded) == ("orphaned", "file_gone")
    file.mkdir()
    assert judged(recorded) == ("unverified", "unreadable")


def test_a_glance_names_the_anchor_whose_file_differs(memory: Memory, project: Path) -> None:
    workspace = memory.services.workspace
    anchors = tuple(
        Anchor(path=name, blob=workspace.blob(memory.location, name)) for name in ("README.md", "src/tides.py")
    )
    (project / "src" / "tides.py").write_text("HIGH = 5\n")
    check = FreshnessCheck(replace(memory.services, low_latency=True), memory.location)
    freshness, words = check.quick_check(make_lesson(project=memory.location.project.id, anchors=anchors))
    assert freshness == "unverified"
    assert "src/tides.py" in words


@pytest.mark.parametrize(
    ("symbol", "kind", "spans"),
    [
        ("high", "function", [(1, 2)]),
        ("level#2", "function", [(6, 7)]),
        ("level", "group", [(4, 5), (6, 7)]),
        ("gone", "function", [(0, 0)]),
        ("", "", [(0, 0)]),
    ],
)
def test_the_lines_of_an_anchor_are_those_of_its_definitions(
    memory: Memory, project: Path, symbol: str, kind: str, spans: list[tuple[int, int]]
) -> None:
    source = "def high():\n    return 4\n\ndef level(a):\n    return a\ndef level(a, b):\n    return b\n"
    (project / "src" / "tides.py").write_text(source)
    anchor = Anchor(path="src/tides.py", symbol=symbol, symbol_kind=kind)
    assert spans_of(memory.services, memory.location, anchor) == spans
    assert spans_of(memory.services, memory.location, replace(anchor, path="src/none.py")) == [(0, 0)]
    assert spans_of(replace(memory.services, codeindex=lambda: None), memory.location, anchor) == [(0, 0)]


# What is kept of states


@pytest.mark.parametrize(
    ("before", "after", "expected_state"),
    [
        ((), ("drifted", "s1"), ("drifted", "s1")),
        (("drifted", WATCHED, 29.9), ("drifted", "s1"), ("drifted", "s1")),
        (("drifted", SWITCHED, 29.9), ("drifted", "s1"), ("drifted", "s1")),
        (("drifted", WATCHED, 30.1), ("drifted", "s1"), ("drifted", WATCHED)),
        (("drifted", FOUND, 1), ("drifted", "s1"), ("drifted", FOUND)),
        (("drifted", WATCHED, 1), ("drifted", FOUND), ("drifted", WATCHED)),
        (("drifted", "s1", 1), ("changed", "s2"), ("changed", "s2")),
        (("changed", "s1", 1), ("drifted", "s2"), ("drifted", FOUND)),
        (("unverified", "s1", 1), ("drifted", WATCHED), ("drifted", "s1")),
        (("unverified", WATCHED, 1), ("drifted", "s1"), ("drifted", FOUND)),
        (("drifted", "s1", 1), ("fresh", "s1"), None),
        (("drifted", "s1", 1), ("moved", "s1"), None),
        ((), ("unanchored", "s1"), None),
    ],
)
def test_a_state_is_news_of_who_saw_it_get_worse(
    memory: Memory, before: tuple[Any, ...], after: tuple[Any, ...], expected_state: tuple[str, str] | None
) -> None:
    clock = FixedClock()
    services = replace(memory.services, clock=clock)
    if before:
        keep_states(services, memory.location, {ID: before[0]}, by=before[1])
        clock.advance(before[2])
    keep_states(services, memory.location, {ID: after[0]}, by=after[1])
    states = load_states(services, memory.location)
    assert (states and (states[ID].freshness, states[ID].by)) == (expected_state or {})


@pytest.mark.parametrize(
    ("known", "read", "expected"),
    [("", "fresh", ""), ("", "unverified", "unverified"), ("drifted", "unverified", "drifted"),
     ("drifted", "fresh", ""), ("", "changed", "changed")],
)  # fmt: skip
def test_what_a_delivery_read_is_stored_unless_it_says_less_than_is_known(
    memory: Memory, known: Any, read: Any, expected: str
) -> None:
    lesson = make_lesson(id=ID)
    if known:
        keep_states(memory.services, memory.location, {lesson.id: known})
    ranked = Ranked(lesson=lesson, rank=1, score=0.0, why=Why(words=""), freshness=read, caveat="")
    keep_states(memory.services, memory.location, found_states(memory.services, memory.location, [ranked]))
    assert found_states(memory.services, memory.location, []) == {}
    states = load_states(memory.services, memory.location)
    assert (states[ID].freshness if states else "") == expected


@pytest.mark.parametrize(
    ("state", "by", "agent", "told_s", "is_news"),
    [
        ("drifted", "s1", "", -1, True),
        ("changed", WATCHED, "", -1, True),
        ("unverified", "s1", "", -1, True),
        ("unverified", "s2", "", -1, False),
        ("unverified", WATCHED, "", -1, False),
        ("changed", FOUND, "", -1, False),
        ("changed", "s1", "helper", -1, True),
        ("changed", WATCHED, "", 1, False),
    ],
)
def test_a_worse_state_is_news_to_who_was_shown_the_lesson_before(
    memory: Memory, project: Path, state: Freshness, by: str, agent: str, told_s: int, is_news: bool
) -> None:
    clock = FixedClock(memory.services.clock.now())
    services = replace(memory.services, clock=clock, codeindex=lambda: Index(clock, 0.0))
    anchor = Anchor(path="src/tides.py", symbol="high", blob="git1:" + "0" * 40)
    lesson = keep(memory, anchors=(anchor,))
    keep_states(services, memory.location, {ID: "drifted"}, by="elsewhere")
    keep_states(services, memory.location, {lesson.id: state}, by=by, agent=agent)
    delivery = make_delivery(
        lesson=lesson.id, at=clock.at + timedelta(seconds=told_s), project=memory.location.project.id
    )
    call = HookCall(host="claude-code", name="Hook", session=SessionId("s1"), cwd=str(project), moment="prompt")
    news = find_news(services, memory.location, call, [delivery])
    assert (news is not None) is is_news
    assert find_news(services, memory.location, call, []) is None
    calls = replace(call, moment="session_start"), call, call
    told_before = [delivery], [], [delivery]
    may_be = [may_have_news(services, memory.location, *case) for case in zip(calls, told_before, strict=True)]
    assert may_be == [False, False, True]


# The code index


def test_without_a_code_index_nothing_is_complete(memory: Memory) -> None:
    services = replace(memory.services, codeindex=lambda: None)
    assert reindex(memory.services, memory.location).complete
    assert not reindex(services, memory.location).complete
