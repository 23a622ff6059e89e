"""The moments at which a lesson was learnt: which are kept, what of them is stored, and what erases them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.event import Event
from holdfast.domain.lesson import Evidence, Lesson, Provenance
from holdfast.domain.records import LearningMoment
from holdfast.domain.statefamilies import LEARNING_MOMENTS
from holdfast.domain.vocabulary import EventId, SessionId
from holdfast.errors import InvalidValueError
from holdfast.lean.plain import from_plain, to_plain
from holdfast.lean.texts import dumps, loads
from holdfast.lessons.learningmoments import find_moments, keep_moments, load_moments
from holdfast.testing.builders import SESSION, START, make_event, make_lesson

REQUEST = "Add a package that pads strings on the left"
RULE = "Remember: install packages with pnpm, never with npm."


def happened(*acts: dict[str, Any]) -> list[Event]:
    return [
        make_event(**{"project": "", "at": START + timedelta(minutes=at), **fields}) for at, fields in enumerate(acts)
    ]


def prompt(text: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "prompt", "trust": "person", "text": text, **fields}


def ran(command: str, **fields: Any) -> dict[str, Any]:
    return {"kind": "tool_result", "tool": "Bash", "trust": "tool", "command": command, "text": "", **fields}


def edited(file: str) -> dict[str, Any]:
    return {"kind": "file_edit", "tool": "Edit", "files": (file,), "text": "", "new": "x"}


def read(file: str, tool: str = "Read", text: str = "") -> dict[str, Any]:
    return {"kind": "tool_result", "tool": tool, "trust": "tool", "files": (file,), "text": text}


def resting_on(event: Event, **fields: Any) -> Lesson:
    evidence = (Evidence(event=event.id, quote=event.text[:40]),)
    return make_lesson(provenance=Provenance(session=event.session, evidence=evidence), **fields)


def around(events: list[Event], at: int) -> list[tuple[str, str]]:
    return [(moment.kind, moment.text) for moment in find_moments(resting_on(events[at]), events)]


def test_a_lesson_keeps_its_request_the_nearest_file_and_the_nearest_command() -> None:
    events = happened(
        prompt("Say hello"), edited("old.py"), prompt(REQUEST), edited("src/pad.py"), ran("make lint"),
        ran("npm install left-pad"), {"kind": "reply", "text": "npm is not allowed here"}, read("src/far.py"),
    )  # fmt: skip
    assert around(events, 6) == [("prompt", REQUEST), ("file", "src/far.py"), ("command", "npm install left-pad")]
    assert around(events, 4) == [("prompt", REQUEST), ("file", "src/pad.py"), ("command", "make lint")]


def test_the_request_of_a_correction_is_the_one_that_was_worked_on() -> None:
    events = happened(prompt(REQUEST), ran("npm install left-pad"), prompt(RULE), ran("pnpm add left-pad"))
    assert around(events, 2) == [("prompt", REQUEST), ("command", "npm install left-pad")]


def test_a_rule_that_opens_a_session_is_its_own_request() -> None:
    assert around(happened(prompt(RULE)), 0) == [("prompt", RULE)]


def test_a_search_is_stored_where_it_is_nearer_than_a_command() -> None:
    events = happened(prompt(REQUEST), ran("make"), read("a.py", "Grep", "pad_left\n(nothing found)"), edited("b.py"))
    assert around(events, 3) == [("prompt", REQUEST), ("file", "b.py"), ("search", "pad_left")]


def test_a_command_that_failed_keeps_the_line_that_names_its_error() -> None:
    output = "collecting\nTraceback\nModuleNotFoundError: No module named 'pilot'\n"
    events = happened(prompt(REQUEST), ran("pytest", kind="tool_failure", exit_code=1, text=output))
    command = find_moments(resting_on(events[1]), events)[-1]
    assert (command.kind, command.text) == ("command", "pytest")
    assert "pilot" in command.error


@pytest.mark.parametrize(
    "other",
    [
        prompt("<system-reminder>mind the tide</system-reminder>"),
        prompt("Sub-task", agent="a1"),
        prompt("<private></private>"),
        prompt("tool text", trust="tool"),
    ],
)
def test_only_what_a_person_requested_is_a_request(other: dict[str, Any]) -> None:
    events = happened(prompt(REQUEST), other, edited("a.py"))
    assert around(events, 2)[0] == ("prompt", REQUEST)


def test_commands_of_memory_itself_and_lessons_without_their_event_keep_nothing() -> None:
    events = happened(ran("holdfast remember x"))
    assert around(events, 0) == []
    assert find_moments(make_lesson(), events) == ()


@pytest.mark.parametrize("text", ["a\0b \ud800 c\x1b[31m", "\u200b\u202e tide", "\ufffd\ufffd"])
def test_odd_characters_are_stored_and_read_again(memory: Memory, text: str) -> None:
    [event] = happened(prompt(f"harbour {text}"))
    lesson = resting_on(event)
    keep_moments(memory.services, [lesson], [event])
    [moment] = load_moments(memory.services.store, lesson.id)
    assert moment.text.startswith("harbour")
    assert "\0" not in moment.text


def test_secrets_and_private_words_are_not_stored(memory: Memory) -> None:
    secret = "ghp_" + "a1B2" * 9
    [event] = happened(prompt(f"Push with {secret} <private>to the admiral</private> at dawn"))
    lesson = resting_on(event)
    keep_moments(memory.services, [lesson], [event])
    value = memory.services.store.get_state(LEARNING_MOMENTS, lesson.id)
    assert "at dawn" in value
    assert secret not in value
    assert "admiral" not in value


def test_an_entirely_private_request_is_no_moment() -> None:
    [event] = happened(prompt("<private>sail at dawn</private>"))
    assert find_moments(resting_on(event), [event]) == ()


# Learnt, stated


def test_a_lesson_that_is_learnt_has_moments_and_a_second_session_adds_none_beyond_three(memory: Memory) -> None:
    events = happened(prompt(REQUEST), edited("src/pad.py"), ran("npm install left-pad"), prompt(RULE))
    memory.append(events)
    memory.learn(SESSION)
    [lesson] = memory.lessons()
    moments = load_moments(memory.services.store, lesson.id)
    assert [moment.text for moment in moments] == [REQUEST, "src/pad.py", "npm install left-pad"]
    assert {moment.session for moment in moments} == {SESSION}
    second = SessionId("session-2")
    later = START + timedelta(days=1)
    again = happened(prompt("Bump axios", session=second, at=later), prompt(RULE, session=second, at=later))
    memory.append(again)
    memory.learn(second)
    [lesson] = memory.lessons()
    assert lesson.sessions_seen == (SESSION, second)
    assert load_moments(memory.services.store, lesson.id) == moments


def test_a_second_session_adds_its_moments_where_there_is_room(memory: Memory) -> None:
    second = SessionId("session-2")
    for session, request, at in ((SESSION, REQUEST, START), (second, "Bump axios", START + timedelta(days=1))):
        memory.append(happened(prompt(request, session=session, at=at), prompt(RULE, session=session, at=at)))
        memory.learn(session)
    [lesson] = memory.lessons()
    assert [moment.text for moment in load_moments(memory.services.store, lesson.id)] == [REQUEST, "Bump axios"]


@pytest.mark.parametrize(("minutes", "is_kept"), [(9, True), (11, False)])
def test_what_is_stated_during_a_session_keeps_what_went_on(memory: Memory, minutes: int, is_kept: bool) -> None:
    at = memory.services.clock.now() - timedelta(minutes=minutes)
    memory.append(happened(prompt(REQUEST, at=at), ran("npm install left-pad", at=at)))
    lesson = memory.remember("Packages are installed with pnpm alone.", trust="agent")
    moments = [moment.text for moment in load_moments(memory.services.store, lesson.id)]
    assert moments == ([REQUEST, "npm install left-pad"] if is_kept else [])


def test_what_is_stated_with_a_quote_keeps_what_went_on_around_it(memory: Memory) -> None:
    events = happened(prompt(REQUEST), prompt("We install packages with pnpm alone."), prompt("Thanks", session="s2"))
    memory.append(events)
    lesson = memory.remember(
        "Packages are installed with pnpm.", trust="agent", quote="We install packages with pnpm alone."
    )
    assert [moment.text for moment in load_moments(memory.services.store, lesson.id)] == [REQUEST]


# Kept, erased


def learnt(memory: Memory, *acts: dict[str, Any], at: int = -1, **fields: Any) -> Lesson:
    """A lesson that rests on one of the events, with its moments."""
    events = happened(*acts)
    memory.append(events)
    lesson = resting_on(events[at], project=memory.location.project.id, **fields)
    memory.services.store.put([lesson], {lesson.id: None})
    keep_moments(memory.services, [lesson], events)
    return lesson


def test_moments_outlive_the_texts_of_events_and_the_expiry_of_states(memory: Memory) -> None:
    lesson = learnt(memory, prompt(REQUEST), edited("a.py"))
    before = load_moments(memory.services.store, lesson.id)
    memory.services.store.erase_event_texts(START + timedelta(days=900))
    memory.services.store.expire_states(memory.services.clock.now() + timedelta(days=9_000))
    assert load_moments(memory.services.store, lesson.id) == before != ()


def test_purging_a_lesson_erases_its_moments_and_its_words_in_those_of_others(memory: Memory) -> None:
    rule = "The admiral sails with the evening tide"
    gone = learnt(memory, prompt(f"{REQUEST}, and note that {rule}"), ran("make"), insight=f"{rule}.")
    stays = learnt(memory, prompt(f"{rule}, so hurry"), prompt("Then paint it"), edited("b.py"), insight="Paint b.py")
    cut = learnt(memory, prompt("x " * 130 + rule), edited("c.py"), insight="The files are sorted")
    assert "The admiral sails with" in memory.services.store.get_state(LEARNING_MOMENTS, cut.id)
    elsewhere = learnt(memory, prompt(rule, session="s9"), edited("d.py"), insight="Elsewhere", at=0)
    assert memory.purge(gone.id)["state"] >= 2
    texts = {
        lesson.id: [moment.text for moment in load_moments(memory.services.store, lesson.id)]
        for lesson in (gone, stays, cut, elsewhere)
    }
    assert texts == {gone.id: [], stays.id: ["Then paint it", "b.py"], cut.id: ["c.py"], elsewhere.id: [rule, "d.py"]}


def test_purging_erases_moments_of_others_that_are_the_event_it_rests_on(memory: Memory) -> None:
    events = happened(prompt("Sort the berths by tide"), edited("a.py"))
    memory.append(events)
    gone, stays = (
        resting_on(event, project=memory.location.project.id, insight=insight)
        for event, insight in zip(events, ("The berths are sorted", "a.py is sorted"), strict=True)
    )
    memory.services.store.put([gone, stays], {})
    keep_moments(memory.services, [gone, stays], events)
    memory.purge(gone.id)
    assert [moment.text for moment in load_moments(memory.services.store, stays.id)] == ["a.py"]


def test_a_forgotten_lesson_has_its_moments_again_when_that_is_taken_back(memory: Memory) -> None:
    lesson = learnt(memory, prompt(REQUEST))
    memory.forget(lesson.id)
    memory.undo()
    assert load_moments(memory.services.store, lesson.id) != ()


def test_exports_and_shared_lessons_hold_no_moment(memory: Memory) -> None:
    learnt(memory, prompt(f"{REQUEST} for the admiral"), insight="Sort the berths")
    [line] = memory.export_lessons()
    assert "Sort the berths" in line
    assert "admiral" not in line


@pytest.mark.parametrize(
    "value", ["not json", "{}", "[1]", '[{"kind":"prompt"}]', '[{"event":"e","session":"s","kind":"tide","text":"x"}]']
)
def test_damaged_moments_count_as_none_and_new_ones_replace_them(memory: Memory, value: str) -> None:
    lesson = learnt(memory, ran("holdfast list"))
    memory.services.store.set_state(LEARNING_MOMENTS, lesson.id, value)
    assert load_moments(memory.services.store, lesson.id) == ()
    [event] = happened(prompt(REQUEST))
    keep_moments(memory.services, [replaced := resting_on(event, id=lesson.id)], [event])
    assert [moment.text for moment in load_moments(memory.services.store, replaced.id)] == [REQUEST]
    memory.services.store.set_state(LEARNING_MOMENTS, lesson.id, value)
    memory.purge(lesson.id)
    assert memory.services.store.get_state(LEARNING_MOMENTS, lesson.id) == ""


def test_a_moment_is_of_a_known_kind_and_has_a_text() -> None:
    plain = {"event": EventId("e"), "session": SESSION}
    with pytest.raises(InvalidValueError, match="unknown kind"):
        LearningMoment(kind="tide", text="x", **plain)
    with pytest.raises(InvalidValueError, match="needs a text"):
        LearningMoment(kind="file", text="", **plain)
    moment = LearningMoment(kind="file", text="a.py", is_edit=True, **plain)
    assert from_plain(LearningMoment, loads(dumps(to_plain(moment)))) == moment
