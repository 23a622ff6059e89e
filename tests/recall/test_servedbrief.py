"""The brief of a team's server: kept while its lessons are as they were, and never with words that are gone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta

import pytest

from holdfast.bootstrap import Memory
from holdfast.domain.lesson import Lesson
from holdfast.domain.project import Person, Project
from holdfast.domain.statefamilies import BRIEF
from holdfast.domain.vocabulary import ProjectId
from holdfast.freshness.notice import owner_of
from holdfast.ports.store import Store
from holdfast.recall import servedbrief
from holdfast.recall.brief import CHANGES_READ, changed_since_prepared
from holdfast.recall.tuning import CHANGES_BEFORE_PREPARED, SERVED_S
from holdfast.settings import load_settings
from holdfast.testing.builders import START, FixedClock, make_lesson
from holdfast.wiring import RequestServices

Open = Callable[[str], Memory]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The briefs that were made, by project."""
    names: list[str] = []
    preview = servedbrief.served_brief

    def count(services: object, location: object, make: Callable[[], object]) -> object:
        def counted() -> object:
            names.append(location.project.id)  # type: ignore[attr-defined]
            return make()

        return preview(services, location, counted)  # type: ignore[arg-type]

    monkeypatch.setattr("holdfast.recall.servedbrief.served_brief", count)
    return names


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock(START + timedelta(days=9))


@pytest.fixture
def team(store: Store, clock: FixedClock) -> Open:
    settings = load_settings({"HOME": "/nonexistent"})

    def open_as(name: str) -> Memory:
        services = RequestServices(settings).over(store, Person(id=name, name=name))
        services = replace(services, clock=clock, embedder=lambda: None)
        return Memory.over(services, Project(id=ProjectId("shop"), name="shop", source="server"), settings)

    return open_as


def save(store: Store, insight: str, **fields: object) -> Lesson:
    lesson = make_lesson(insight=insight, project="shop", kind="decision", **fields)
    store.put([lesson], {})
    return lesson


def text_of(memory: Memory) -> str:
    (briefing,) = memory.brief()
    return briefing.text


def test_a_brief_is_made_once_and_its_lines_are_prepared(store: Store, team: Open, made: list[str]) -> None:
    save(store, "Round the ledger half even.")
    first = text_of(team("ada"))
    assert "ledger half even" in first
    assert text_of(team("ada")) == first
    assert made == ["shop"]
    memory = team("ada")
    assert store.get_state(BRIEF, owner_of(memory.location))
    assert changed_since_prepared(memory.services, memory.location) == 0


def test_a_new_a_revised_and_a_forgotten_lesson_are_noticed_at_once(
    store: Store, team: Open, made: list[str], clock: FixedClock
) -> None:
    old = save(store, "Round the ledger half even.")
    text_of(team("ada"))
    new = save(store, "Ship the crate before noon.", recorded_at=clock.advance(1))
    assert "crate before noon" in text_of(team("ada"))
    revised = replace(new, title="Ship at dusk", insight="Ship the crate at dusk.", recorded_at=clock.advance(1))
    store.put([revised], {new.id: new.recorded_at})
    text = text_of(team("ada"))
    assert "dusk" in text
    assert "noon" not in text
    team("ada").forget(old.id)
    assert "ledger half even" not in text_of(team("ada"))
    assert len(made) == 4


def test_words_of_a_purged_lesson_are_not_told(store: Store, team: Open) -> None:
    lesson = save(store, "Round the ledger half even.")
    save(store, "Ship the crate before noon.", recorded_at=START + timedelta(days=1))
    assert "ledger half even" in text_of(team("ada"))
    store.purge([lesson.id])  # by another process: nothing here is told
    text = text_of(team("ada"))
    assert "ledger" not in text
    assert "crate before noon" in text


def test_members_and_contents_have_briefs_of_their_own(store: Store, team: Open, made: list[str]) -> None:
    save(store, "Round the ledger half even.")
    text_of(team("ada"))
    text_of(team("bo"))
    text_of(team("ada"))
    assert len(made) == 2


def test_other_changes_are_noticed_after_a_while(store: Store, team: Open, made: list[str], clock: FixedClock) -> None:
    save(store, "Round the ledger half even.")
    text_of(team("ada"))
    clock.elapsed += SERVED_S - 1
    text_of(team("ada"))
    assert len(made) == 1
    clock.elapsed += 1
    text_of(team("ada"))
    assert len(made) == 2


def test_lines_are_prepared_again_when_many_lessons_have_changed(store: Store, team: Open, clock: FixedClock) -> None:
    memory = team("ada")
    assert changed_since_prepared(memory.services, memory.location) == CHANGES_READ
    save(store, "Round the ledger half even.")
    text_of(memory)
    for number in range(CHANGES_BEFORE_PREPARED):
        save(store, f"Check crate {number} before noon.", recorded_at=clock.advance(1))
    text_of(memory)
    assert changed_since_prepared(memory.services, memory.location) == CHANGES_BEFORE_PREPARED
    save(store, "Ship the crate at dusk.", recorded_at=clock.advance(1))
    text_of(memory)
    assert changed_since_prepared(memory.services, memory.location) == 0


def test_the_briefs_that_are_kept_are_bounded(
    store: Store, team: Open, made: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(servedbrief, "SERVED_KEPT", 2)
    save(store, "Round the ledger half even.")
    for name in ("ada", "bo", "cy", "cy", "bo", "ada"):
        text_of(team(name))
    assert len(made) == 4
    assert len(servedbrief._SERVED._briefs) <= 2


def test_what_a_session_does_first_is_not_kept(store: Store, team: Open, made: list[str]) -> None:
    save(store, "Round the ledger half even.")
    assert len(team("ada").brief(prompt="round the ledger")) == 2
    assert made == []
