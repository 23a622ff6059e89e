"""Topics are a few names that a person recognises; what a person renames or merges stays so."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Scope
from holdfast.domain.statefamilies import TOPIC_NAMES
from holdfast.errors import InvalidValueError, NotFoundError
from holdfast.reports.tuning import TOPICS_MOST
from holdfast.testing.builders import make_lesson
from holdfast.text.phrases import pairs_in, words_in

RULES = (
    "Shadow branches are deleted after a rebase of pier {}.",
    "A shadow branch never holds the lights of pier {}.",
    "Write every shadow branch before the tide of day {}.",
    "Integration tests need the tide table of day {}.",
    "Integration tests of pier {} run without a network.",
    "The tide table of month {} is read at the start.",
    "Seed the clock in integration tests of day {}.",
    "Ferries leave from pier {}.",
    "Ferries of line {} carry no lorries.",
    "Lights are tested before ferries of line {} leave.",
)


@pytest.fixture
def harbour(memory: Memory, project: Path) -> Memory:
    (project / "lighthouse").mkdir()
    for number in range(4):
        (project / "lighthouse" / f"lamp{number}.py").write_text("A = 1\n")
        memory.remember(f"Lamp {number} turns once a minute.", files=[f"lighthouse/lamp{number}.py"])
    for number, rule in enumerate(RULES):
        memory.remember(rule.format(number + 2))
    return memory


def names(memory: Memory) -> dict[str, int]:
    return {topic.name.lower(): topic.lessons for topic in memory.topics().topics}


def test_topics_are_pairs_of_words_folders_and_words_that_several_lessons_share(harbour: Memory) -> None:
    known = names(harbour)
    assert known["integration tests"] == 3
    assert known["shadow branch"] == 3
    assert known["ferries"] == 3
    assert known["lighthouse"] == 4
    assert "the" not in known
    assert len(known) <= TOPICS_MOST


def test_a_topic_has_its_lessons_newest_first(harbour: Memory) -> None:
    topic = harbour.topics().named("Ferries")
    insights = [harbour.get(id_).insight for id_ in topic.ids]
    assert len(insights) == topic.lessons == 3
    assert all("erries" in insight for insight in insights)
    assert harbour.get(topic.ids[0]).recorded_at == topic.newest


def test_lessons_that_are_not_confirmed_or_not_seen_make_no_topic(harbour: Memory) -> None:
    (first, *_) = harbour.topics().named("ferries").ids
    unseen = harbour.topics(sees=lambda lesson: lesson.id != first)
    assert first not in {id_ for topic in unseen.topics for id_ in topic.ids}


def test_a_name_that_a_person_gave_lasts_while_lessons_come_and_go(harbour: Memory) -> None:
    harbour.rename_topic("ferries", "Ships")
    assert names(harbour)["ships"] == 3
    assert "ferries" not in names(harbour)
    harbour.remember("Ferries of line 9 are painted white.")
    assert names(harbour)["ships"] == 4
    for id_ in harbour.topics().named("Ships").ids[1:]:
        harbour.forget(id_)
    assert names(harbour)["ships"] == 1  # a named topic stays as long as one lesson has it
    assert harbour.topics().named("ships").also == ("Ferries",)


def test_a_merged_topic_has_the_lessons_of_both(harbour: Memory) -> None:
    merged = harbour.merge_topics("ferries", "shadow branch")
    topic = merged.named("shadow branch")
    assert topic.lessons == 6
    assert [each.lower() for each in topic.also] == ["ferries"]
    assert names(harbour)["shadow branch"] == 6
    split = harbour.split_topic("shadow branch")
    assert (split.named("shadow branch").lessons, split.named("ferries").lessons) == (3, 3)


def test_a_renamed_topic_can_be_renamed_and_merged_again(harbour: Memory) -> None:
    harbour.rename_topic("ferries", "Ships")
    harbour.rename_topic("ships", "Boats")
    harbour.merge_topics("shadow branch", "boats")
    assert names(harbour)["boats"] == 6
    assert not {"ferries", "ships", "shadow branch"} & set(names(harbour))


def test_impossible_names_are_refused_with_a_hint(harbour: Memory) -> None:
    with pytest.raises(NotFoundError, match="no topic") as unknown:
        harbour.rename_topic("ferriess", "x")
    assert "ferries" in unknown.value.hint
    for new in ("", "  ", "x" * 41):
        with pytest.raises(InvalidValueError, match="1 to 40 characters"):
            harbour.rename_topic("ferries", new)
    with pytest.raises(InvalidValueError, match="another topic") as taken:
        harbour.rename_topic("ferries", "Shadow  Branch")
    assert "merge" in taken.value.hint
    with pytest.raises(InvalidValueError, match="itself"):
        harbour.merge_topics("ferries", "Ferries")
    with pytest.raises(InvalidValueError, match="nobody renamed"):
        harbour.split_topic("ferries")


def test_names_that_cannot_be_read_are_no_names(harbour: Memory) -> None:
    harbour.services.store.set_state(TOPIC_NAMES, harbour.location.project.id, "{")
    assert names(harbour)["ferries"] == 3
    harbour.rename_topic("ferries", "Ships")
    assert names(harbour)["ships"] == 3


def test_a_memory_without_lessons_has_no_topics(memory: Memory) -> None:
    assert memory.topics().topics == ()


def test_many_lessons_have_few_topics(memory: Memory) -> None:
    subjects = [f"{first} {second}" for first in ("cargo", "crane", "rope", "anchor", "sail") for second in
                ("winch", "crate", "manifest", "invoice", "pilot", "buoy", "chart", "ledger", "sensor")]  # fmt: skip
    project = memory.location.project.id
    rules = [f"Inspect the {subject} on day {number}." for number in range(3) for subject in subjects]
    lessons = [make_lesson(insight=rule, title=rule, scope=Scope(project=project)) for rule in rules]
    memory.services.store.put(lessons, {lesson.id: None for lesson in lessons})
    known = names(memory)
    assert 10 <= len(known) <= TOPICS_MOST


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("SessionState is kept.", ["Session", "State", "is", "kept", ""]),
        ("src/tide_table.py", ["src", "", "tide", "table", "", "py"]),
        ("Use GitHub, not HTTPServer", ["Use", "GitHub", "", "not", "HTTP", "Server"]),
        ("7 lights", ["", "lights"]),
    ],
)
def test_text_is_cut_into_words_of_names_and_clauses(text: str, words: list[str]) -> None:
    assert words_in(text) == words


def test_no_pair_reaches_over_the_end_of_a_clause_or_a_name() -> None:
    pairs = set(pairs_in(words_in("Seed the clock. Login tests of tide/table fail")))
    assert ("Login", "tests") in pairs
    assert ("clock", "Login") not in pairs
    assert ("tide", "table") not in pairs
