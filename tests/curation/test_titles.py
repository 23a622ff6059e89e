"""A lesson's title: stated, made, changed, and refused where it does not say what the lesson says."""

from __future__ import annotations

import pytest

from holdfast.bootstrap import Memory
from holdfast.errors import IllegalTransitionError, InvalidValueError

RULE = "Retries of the gateway are capped at 3, because the bank bans us otherwise"


def test_a_title_is_made_of_the_words_and_a_persons_own_stays(memory: Memory) -> None:
    assert memory.remember(RULE).title == "Retries of the gateway are capped at 3"
    assert memory.remember("Never log ids", title="Ids are never logged").title == "Ids are never logged"


@pytest.mark.parametrize(
    ("title", "fault"),
    [
        ("Gateway retries", "topic"),
        ("Retries of the gateway are capped at 4", "number 4"),
        ("Retries of the gateway are not capped", "denies"),
        ("Retries " + "again " * 12, "13 words"),
        ("\U0001f389\U0001f389", "no words"),
        ("Call `retry_all` 3 times", "retry_all"),
    ],
)
def test_a_persons_bad_title_is_refused_everywhere_and_changes_nothing(memory: Memory, title: str, fault: str) -> None:
    with pytest.raises(InvalidValueError, match=fault) as refused:
        memory.remember(RULE, title=title)
    assert "at most 12 words" in refused.value.hint
    assert memory.lessons() == []
    lesson = memory.remember(RULE)
    for change in (memory.edit, memory.revise):
        with pytest.raises(InvalidValueError, match=fault):
            change(lesson.id, title=title)
    assert memory.lessons() == [lesson]


def test_an_agents_bad_title_is_not_used(memory: Memory) -> None:
    stated = memory.remember(RULE, title="Gateway retries", trust="agent", author="agent")
    assert stated.title == "Retries of the gateway are capped at 3"
    revised = memory.revise(
        stated.id, trust="agent", author="agent", insight="Retries are capped at 5", title="Retries"
    )
    assert revised.title == "Retries are capped at 5"


def test_an_insight_that_reverses_its_own_quote_is_refused(memory: Memory) -> None:
    with pytest.raises(InvalidValueError, match="opposite of its quote"):
        memory.remember(
            "We should log the customer_id", quote="we should not log the customer_id", trust="agent", author="agent"
        )


def test_edit_changes_the_title_alone_and_an_empty_one_is_made_anew(memory: Memory) -> None:
    lesson = memory.remember(RULE, how="back off")
    named = memory.edit(lesson.id, title="The bank bans us otherwise; cap retries at 3")
    assert (named.id, named.title, named.insight, named.when) == (
        lesson.id, "The bank bans us otherwise; cap retries at 3", RULE, lesson.when,
    )  # fmt: skip
    assert memory.edit(named.id, commands=("curl",)).title == named.title
    assert memory.edit(named.id, title="").title == lesson.title
    with pytest.raises(InvalidValueError, match="nothing to edit"):
        memory.edit(named.id, title="")
    memory.forget(named.id)
    with pytest.raises(IllegalTransitionError):
        memory.edit(named.id, title="Cap retries at 3")


def test_a_revision_makes_the_title_of_new_words_and_keeps_it_otherwise(memory: Memory) -> None:
    lesson = memory.edit(memory.remember(RULE).id, title="Cap retries of the gateway at 3")
    assert memory.revise(lesson.id, how="back off").title == "Cap retries of the gateway at 3"
    newest = next(iter(memory.lessons()))
    assert memory.revise(newest.id, insight="Retries are capped at 5").title == "Retries are capped at 5"
