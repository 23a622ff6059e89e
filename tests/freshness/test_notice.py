"""A session hears, once, that the code under a lesson has just changed: its own edits, and what it was shown."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast import Briefing, Memory
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.domain.statefamilies import LESSON_STATES
from holdfast.domain.vocabulary import EventId, LessonId, SessionId
from holdfast.freshness import notice
from holdfast.freshness.notice import keep_states, load_states
from holdfast.rendering.lines import OPENING, count_tokens
from holdfast.service import hook

TIDES = "High water is kept in centimetres above chart datum."
CODE = "def high_water(port):\n    level = gauge(port)\n    return round(level * 100)\n"
SIGNATURE = CODE.replace("(port):", "(port, datum=0):")
BODY = CODE.replace("* 100", "* 1000")
JUST = "the code it is about has just changed"


class Session:
    """Hooks of one session, as a host fires them; `edit` writes the file between the two."""

    def __init__(self, memory: Memory, name: str = "s1", agent: str = "") -> None:
        self.memory, self.name, self.agent = memory, name, agent
        self.calls = 0

    def fire(self, moment: str, **fields: Any) -> Briefing:
        return self.memory.inject(self.call(moment=moment, **fields))

    def call(self, **fields: Any) -> HookCall:
        folder, session = self.memory.folder, SessionId(self.name)
        return HookCall(host="claude-code", name="Hook", session=session, cwd=folder, agent=self.agent, **fields)

    def edit(self, text: str, name: str = "src/tides.py") -> Briefing:
        """What is delivered before the edit; then the file is written and the edit is told of."""
        before = self.open(name)
        Path(self.memory.folder, name).write_text(text)
        self.calls += 1
        key = f"{self.name}{self.agent}{self.calls}"
        event = Event(
            id=EventId(self.memory.services.clock.new_id()), session=SessionId(self.name), host="claude-code",
            kind="file_edit", at=self.memory.services.clock.now(), key=key, files=(name,), new=text, agent=self.agent,
        )  # fmt: skip
        hook.respond(self.memory, self.call(events=(event,)), _raise)
        return before

    def open(self, name: str = "src/tides.py") -> Briefing:
        return self.fire("before_file", paths=(f"{self.memory.folder}/{name}",))

    def run(self, command: str = "make tests") -> Briefing:
        return self.fire("before_command", command=command)


def _raise(step: str, exc: Exception) -> None:
    raise AssertionError(step) from exc


@pytest.fixture
def lesson(memory: Memory, project: Path) -> LessonId:
    (project / "src" / "tides.py").write_text(CODE)
    return memory.remember(TIDES, files=["src/tides.py"], symbols=["high_water"]).id


def news(briefing: Briefing) -> str:
    """The caveat of the one lesson told of; empty for none."""
    items = [item for item in briefing.items if JUST in item.caveat]
    assert len(items) <= 1
    assert (JUST in briefing.text) == bool(items)
    return items[0].caveat if items else ""


def test_an_edit_under_a_lesson_is_delivered_at_the_next_call_and_once(memory: Memory, lesson: LessonId) -> None:
    session = Session(memory)
    assert news(session.edit(SIGNATURE)) == ""
    briefing = session.run()
    assert "signature" in news(briefing)
    assert news(briefing).endswith("confirm, revise or forget it")
    assert [item.lesson.id for item in briefing.items] == [lesson]
    assert briefing.text.startswith(OPENING)
    assert briefing.tokens == count_tokens(briefing.text)
    assert news(session.run()) == ""
    assert news(session.open()) == ""
    assert news(session.fire("prompt", prompt="and now?")) == ""


@pytest.mark.parametrize(
    ("moment", "fields"),
    [
        ("prompt", {"prompt": "go on"}),
        ("after_failure", {"error": "E", "command": "x"}),
        ("before_command", {"command": "x"}),
    ],
)
def test_it_is_shown_at_whatever_call_comes_next(
    memory: Memory, lesson: LessonId, moment: str, fields: dict[str, str]
) -> None:
    session = Session(memory)
    session.edit(SIGNATURE)
    assert news(session.fire(moment, **fields)) != ""


def test_the_delivery_is_logged_with_its_reason(memory: Memory, lesson: LessonId) -> None:
    session = Session(memory)
    session.edit(SIGNATURE)
    session.run()
    delivery = memory.log()[0]
    assert (delivery.lesson, delivery.moment, delivery.reason) == (
        lesson,
        "before_command",
        "its code has just changed",
    )


def test_each_worse_state_is_delivered_once_and_a_better_one_never(memory: Memory, lesson: LessonId) -> None:
    session = Session(memory)
    deliveries = []
    for text in (BODY, SIGNATURE, CODE, BODY, SIGNATURE):
        session.edit(text)
        deliveries.append(bool(news(session.run())))
    assert deliveries == [True, True, False, False, False]


def test_an_edit_elsewhere_in_the_file_and_a_comment_are_no_news(memory: Memory, lesson: LessonId) -> None:
    session = Session(memory)
    session.edit("# levels\n" + CODE + "\n\ndef low_water():\n    return 0\n")
    assert news(session.run()) == ""
    assert load_states(memory.services, memory.location) == {}


def test_what_was_stale_before_the_session_is_no_news_of_its_edit(memory: Memory, lesson: LessonId) -> None:
    Path(memory.folder, "src/tides.py").write_text(BODY)
    session = Session(memory)
    session.edit(BODY + "\n\ndef low_water():\n    return 0\n")
    assert news(session.run()) == ""


def test_an_edit_taken_back_before_the_next_call_is_no_news(memory: Memory, lesson: LessonId) -> None:
    session = Session(memory)
    session.edit(SIGNATURE)
    Path(memory.folder, "src/tides.py").write_text(CODE)
    assert news(session.run()) == ""
    assert load_states(memory.services, memory.location) == {}


def test_a_lesson_that_was_forgotten_meanwhile_is_not_delivered(memory: Memory, lesson: LessonId) -> None:
    session = Session(memory)
    session.edit(SIGNATURE)
    memory.forget(lesson)
    assert news(session.run()) == ""
    session.edit(BODY)
    memory.purge(lesson)
    assert news(session.run()) == ""


def test_only_the_agent_that_edited_and_the_sessions_own_hear_of_it(memory: Memory, lesson: LessonId) -> None:
    for agent in ("sub-1", "sub-2", ""):
        Session(memory, agent=agent).open()
    Session(memory, agent="sub-1").edit(SIGNATURE)
    assert news(Session(memory, agent="sub-2").run()) == ""
    assert news(Session(memory, agent="sub-1").run()) != ""
    assert news(Session(memory).run()) != ""


def test_another_session_hears_of_it_only_if_it_was_shown_the_lesson(memory: Memory, lesson: LessonId) -> None:
    shown, not_shown = Session(memory, "s2"), Session(memory, "s3")
    shown.open()
    Session(memory).edit(SIGNATURE)
    assert news(shown.run()) != ""
    assert news(not_shown.run()) == ""


def test_without_a_watch_a_change_by_a_command_is_delivered_before_the_file_is_opened_again(
    memory: Memory, lesson: LessonId
) -> None:
    session = Session(memory)
    assert [item.lesson.id for item in session.open().items] == [lesson]
    Path(memory.folder, "src/tides.py").write_text(SIGNATURE)
    assert "signature" in news(session.open())
    assert news(session.open()) == ""


def test_with_a_watch_a_change_by_a_command_is_delivered_at_the_next_call(memory: Memory, lesson: LessonId) -> None:
    watch, session = memory.watch(), Session(memory)
    session.open()
    Path(memory.folder, "src/tides.py").write_text(SIGNATURE)
    assert len(watch.look() + watch.look()) == 1
    assert "signature" in news(session.run())


def test_what_a_watch_saw_is_news_only_to_who_was_shown_the_lesson(memory: Memory, lesson: LessonId) -> None:
    shown = Session(memory, "s2")
    shown.open()
    keep_states(memory.services, memory.location, {lesson: "changed"}, by="watch")
    Path(memory.folder, "src/tides.py").write_text(SIGNATURE)
    assert news(Session(memory).run()) == ""
    assert news(shown.run()) != ""


def test_a_branch_switch_is_news_only_to_who_was_shown_the_lesson(memory: Memory, lesson: LessonId) -> None:
    shown = Session(memory, "s2")
    shown.open()
    Path(memory.folder, "src/tides.py").write_text(SIGNATURE)
    keep_states(memory.services, memory.location, {lesson: "changed"}, by="checkout")
    assert news(Session(memory).run()) == ""
    assert news(shown.run()) != ""


def test_a_watch_that_is_quicker_than_the_hook_leaves_the_edit_to_its_session(memory: Memory, lesson: LessonId) -> None:
    watch = memory.watch()
    session = Session(memory, agent="sub-1")
    session.open()
    Path(memory.folder, "src/tides.py").write_text(SIGNATURE)
    assert len(watch.look() + watch.look()) == 1
    session.edit(SIGNATURE)
    (known,) = load_states(memory.services, memory.location).values()
    assert (known.by, known.agent) == ("s1", "sub-1")


@pytest.mark.parametrize("watched", [False, True])
def test_an_edit_that_there_was_no_time_to_judge_is_judged_at_the_next_call(
    memory: Memory, lesson: LessonId, monkeypatch: pytest.MonkeyPatch, watched: bool
) -> None:
    session = Session(memory)
    with monkeypatch.context() as hurry:
        hurry.setattr(notice, "JUDGED_S", -1.0)
        session.edit(SIGNATURE)
        assert [known.freshness for known in load_states(memory.services, memory.location).values()] == ["unverified"]
        assert news(session.run()) == ""
    if watched:
        memory.watch()
        assert news(Session(memory, "s2").run()) == ""
    assert news(session.run()) != ""
    assert news(session.run()) == ""


def test_what_was_not_known_before_an_edit_is_no_news_after_it(memory: Memory, lesson: LessonId) -> None:
    keep_states(memory.services, memory.location, {lesson: "unverified"})
    session = Session(memory)
    Path(memory.folder, "src/tides.py").write_text(BODY)
    keep_states(memory.services, memory.location, {lesson: "drifted"}, by="s1")
    assert news(session.run()) == ""


def test_one_state_that_cannot_be_read_does_not_hide_the_others(memory: Memory, lesson: LessonId) -> None:
    keep_states(memory.services, memory.location, {lesson: "changed"}, by="watch")
    owner, damaged = f"{memory.location.project.id}:{memory.location.root}", ',{"lesson":"x","at":"soon"}]'
    memory.services.store.edit_state(LESSON_STATES, owner, lambda text: text[:-1] + damaged)
    assert set(load_states(memory.services, memory.location)) == {lesson}
    keep_states(memory.services, memory.location, {lesson: "fresh", LessonId("x"): "drifted"})
    assert {known.lesson for known in load_states(memory.services, memory.location).values()} == {"x"}


def test_states_that_cannot_be_read_are_as_none(memory: Memory, lesson: LessonId) -> None:
    owner = f"{memory.location.project.id}:{memory.location.root}"
    for broken in ("{", "[1]", '{"a":1}', '[{"lesson":"x"}]'):
        memory.services.store.set_state(LESSON_STATES, owner, broken)
        assert load_states(memory.services, memory.location) == {}
    session = Session(memory)
    session.edit(SIGNATURE)
    assert news(session.run()) != ""


def test_a_session_is_shown_changed_code_twice_at_most(memory: Memory, lesson: LessonId) -> None:
    session = Session(memory)
    session.open()
    deliveries = 0
    for state in ("drifted", "changed", "orphaned", "changed", "orphaned"):
        keep_states(memory.services, memory.location, {lesson: "fresh"})
        Path(memory.folder, "src/tides.py").write_text(SIGNATURE)
        keep_states(memory.services, memory.location, {lesson: state}, by="checkout")  # type: ignore[dict-item]
        deliveries += news(session.run()) != ""
    assert deliveries <= 2
