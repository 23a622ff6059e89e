"""Who names a lesson gets it, and what it is linked to; what only shares a word with the question stays away."""

from __future__ import annotations

from holdfast import Memory
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Lesson, Link
from holdfast.testing.builders import SESSION, make_lesson

PILOTS = "Keep the roster in one place."
QUEUE = "Drain before shutdown; pending jobs are lost otherwise."


def keep(memory: Memory, **fields: object) -> Lesson:
    lesson = make_lesson(project=memory.location.project.id, **fields)
    memory.services.store.put([lesson], {lesson.id: None})
    return lesson


def asked(memory: Memory, text: str) -> list[str]:
    return [item.lesson.insight for item in memory.recall(text).items]


def test_a_name_is_enough_whatever_else_the_question_says(memory: Memory) -> None:
    keep(memory, insight=QUEUE, tags=("dead letters",))
    long = "I have been thinking about last week's meeting and wonder how the team should treat a dead letter " * 2
    assert asked(memory, long) == [QUEUE]


def test_who_names_a_lesson_does_not_want_one_that_mentions_the_word(memory: Memory) -> None:
    mention = "The walrus cache is warmed by the nightly import."
    keep(memory, insight=mention)
    assert asked(memory, "what is the walrus for?") == [mention]
    named = keep(memory, insight="Walrus plays jazz on Fridays.", topic_key="walrus")
    assert asked(memory, "what is the walrus for?") == [named.insight]


def test_a_prompt_that_names_a_lesson_is_given_it(memory: Memory) -> None:
    keep(memory, insight=QUEUE, tags=("dead letters",))
    call = HookCall(host="claude-code", name="x", session=SESSION, cwd="", moment="prompt", prompt="empty dead letters")
    assert [item.lesson.insight for item in memory.inject(call).items] == [QUEUE]


def test_what_a_named_lesson_is_linked_to_comes_along(memory: Memory) -> None:
    target = keep(memory, insight=PILOTS)
    keep(memory, insight=QUEUE, tags=("dead letters",), links=(Link(kind="relates_to", target=target.id),))
    briefing = memory.recall("the dead letters")
    assert [item.lesson.insight for item in briefing.items] == [QUEUE, PILOTS]
    assert briefing.items[1].why.words == "linked to a lesson that the question names"


def test_links_to_what_may_not_be_seen_or_is_gone_are_not_followed(memory: Memory) -> None:
    foreign = make_lesson(project="elsewhere", insight=PILOTS)
    retired = make_lesson(project=memory.location.project.id, insight=PILOTS, state="retired")
    memory.services.store.put([foreign, retired], {foreign.id: None, retired.id: None})
    gone = make_lesson().id
    links = tuple(Link(kind="relates_to", target=target) for target in (foreign.id, retired.id, gone))
    keep(memory, insight=QUEUE, tags=("dead letters",), links=links)
    assert asked(memory, "the dead letters") == [QUEUE]


def test_an_everyday_tag_pushes_nothing(memory: Memory) -> None:
    keep(memory, insight=QUEUE, tags=("tests",))
    assert asked(memory, "the tests fail, please look at why the page is blue") == []
