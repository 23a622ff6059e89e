"""The edges of learning: what is just inside, and what is not."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast.bootstrap import Memory
from holdfast.domain.lesson import Evidence
from holdfast.domain.project import Person
from holdfast.domain.vocabulary import EventId, SessionId
from holdfast.learning.commitfinds import CommitFind, find_all, is_routine, subject_files
from holdfast.learning.digest import make_digest
from holdfast.learning.distil import read_answer, render_prompt
from holdfast.learning.learn import LearnReport, admit_from
from holdfast.testing.builders import START, make_event, make_id, make_lesson
from tests.learning.test_commandcard import cards, ran
from tests.learning.test_distillation import lesson, story
from tests.learning.test_git_history import commit
from tests.learning.test_learn import ONE, RULE, TWO, Says, admitted, all_lessons, make_candidate, say, use, works_here


@pytest.fixture
def memory(home: Path, tmp_path: Path) -> Iterator[Memory]:
    folder = tmp_path / "app"
    (folder / "tests").mkdir(parents=True)
    (folder / "tests" / "conftest.py").write_text("import time\n")
    with Memory(str(folder)) as opened:
        yield opened


# What a commit's sentence is worth

REST = "in `pairs_list` so that `json_dumps` sees each `port_name` in the order of days."
MUST = f"The readings must be kept {REST}"


def finds(message: str, **fields: Any) -> list[CommitFind]:
    return find_all([commit(message, **fields)])


def test_a_commit_keeps_four_files_code_before_tests_before_documents() -> None:
    assert subject_files(["README.md", "tests/test_a.py", "a.py", "b.py", "c.py"]) == (
        "a.py", "b.py", "c.py", "tests/test_a.py",
    )  # fmt: skip
    assert subject_files(["CHANGELOG", "docs/x.rst", "a_test.go"]) == ("a_test.go", "CHANGELOG", "docs/x.rst")


def test_a_short_reason_takes_the_sentence_before_it_along() -> None:
    before = "The readings of every harbour are kept in one file that all ports share."
    [find] = finds(f"Keep readings as pairs\n\n{before} So `port_name` must be in it, because tides differ.")
    assert find.quote.startswith("The readings")
    [alone] = finds(f"Keep readings as pairs\n\n{before} {MUST}")
    assert alone.quote == MUST


def test_reasons_behind_the_best_one_come_along_and_other_sentences_do_not() -> None:
    more = "Every reader must keep the pairs sorted."
    [find] = finds(f"Keep readings as pairs\n\n{MUST} {more} The sky is blue today.")
    assert find.quote == f"{MUST} {more}"


def test_a_message_of_less_than_fifty_characters_is_routine_and_so_is_a_release() -> None:
    assert is_routine(commit("x" * 49))
    assert not is_routine(commit("x" * 50))
    assert is_routine(commit("chore: bump the version because " + "x" * 50))
    assert is_routine(commit("x" * 50, email="49699333+dependabot[bot]@users.noreply.github.com"))


# What a model answers


def taken(**over: Any) -> list[Any]:
    events = story()
    digest = make_digest(events)
    return list(
        read_answer(json.dumps({"lessons": [lesson(**over)]}), digest, events, [make_lesson(id="k")]).candidates
    )


@pytest.mark.parametrize(
    ("fields", "count"),
    [
        ({"lesson": "x" * 400}, 1), ({"lesson": "x" * 401}, 0), ({"why": "x" * 300}, 1), ({"why": "x" * 301}, 0),
        ({"quote": "don't use fl"}, 1), ({"quote": "don't use f"}, 0), ({"command": "x" * 120}, 1),
        ({"command": "x" * 121}, 0), ({"kind": "checkpoint"}, 0), ({"lesson": ""}, 0), ({"line": 99}, 1),
        ({"line": -1}, 1), ({"line": True}, 1),
    ],
)  # fmt: skip
def test_a_lesson_of_an_answer_is_taken_up_to_its_lengths(fields: dict[str, Any], count: int) -> None:
    assert len(taken(**fields)) == count


@pytest.mark.parametrize(
    ("relation", "kind"),
    [("repeats", "duplicates"), ("refines", "refines"), ("refutes", "contradicts"), ("adores", "")],
)
def test_a_relation_to_a_known_lesson_is_a_link(relation: str, kind: str) -> None:
    [candidate] = taken(known={"id": "K1", "relation": relation})
    assert [link.kind for link in candidate.links] == ([kind] if kind else [])


@pytest.mark.parametrize("number", ["K0", "K2", "x", ""])
def test_a_lesson_that_was_not_shown_is_not_linked(number: str) -> None:
    assert taken(known={"id": number, "relation": "refines"})[0].links == ()


def test_what_a_person_stated_is_surer_than_what_the_agent_did() -> None:
    [person] = taken()
    [agent] = taken(quote="I split it with float division.", line=1)
    assert (person.confidence, person.quotes_person) == (0.8, True)
    assert (agent.confidence, agent.quotes_person) == (0.6, False)


def test_the_known_lessons_of_a_prompt_are_numbered_from_one() -> None:
    digest = make_digest(())
    assert "K1: First\nK2: Second" in render_prompt(
        digest, [make_lesson(insight="First."), make_lesson(insight="Second.")]
    )
    assert "(none)" in render_prompt(digest, ())


# What becomes of a find


@pytest.mark.parametrize(
    ("fields", "state"),
    [
        ({"structured": True, "trust": "verified", "confidence": 0.7}, "active"),
        ({"structured": True, "trust": "verified", "confidence": 0.69}, "candidate"),
        ({"structured": False, "trust": "verified", "confidence": 0.9}, "candidate"),
        ({"structured": True, "trust": "agent", "confidence": 0.9}, "candidate"),
        ({"written": True, "trust": "agent", "confidence": 0.7}, "active"),
        ({"written": True, "trust": "agent", "confidence": 0.69}, "candidate"),
        ({"written": True, "trust": "repository", "confidence": 0.9}, "candidate"),
        ({"written": True, "trust": "tool", "confidence": 0.9}, "candidate"),
        ({"explicit": True, "trust": "person"}, "active"),
        ({"explicit": True, "trust": "agent"}, "candidate"),
        ({"quotes_person": True, "trust": "agent"}, "active"),
    ],
)
def test_a_find_begins_where_its_source_and_its_worth_put_it(
    memory: Memory, fields: dict[str, Any], state: str
) -> None:
    admitted(memory, make_candidate(files=(), **fields))
    assert [lesson.state for lesson in all_lessons(memory)] == ([state] if state else [])


# Command cards


def test_a_card_names_further_commands_that_have_a_twentieth_of_the_passes(memory: Memory) -> None:
    for session in ("one", "two"):
        ran(memory, SessionId(session), *["pytest"] * 20, "ctest")
    assert "Also used: `ctest`" in cards(memory)["commands/test"].insight
    ran(memory, SessionId("three"), "pytest")
    assert "Also used" not in cards(memory)["commands/test"].insight


# Words of the repository


def test_what_rests_on_a_repositorys_words_is_the_repositorys(memory: Memory) -> None:
    event = make_event(session=ONE, text=RULE, project="", cwd=memory.folder, trust="repository", at=START)
    memory.append([event])
    span = Evidence(event=event.id, quote=RULE, start=0, end=len(RULE))
    use(memory, Says(explicit=True, structured=True, trust="person", scope_level="user"))
    memory.learn(ONE)
    [stored] = all_lessons(memory)
    assert (stored.trust, stored.scope.level, stored.state) == ("repository", "project", "candidate")
    assert stored.provenance.evidence == (span,)
    say(memory, SessionId("session-two"), RULE)
    use(memory, Says(trust="person"))


@pytest.mark.parametrize(
    ("insight", "fields", "is_repeated"),
    [
        ("Seed the `clock` first", {}, True),
        ("Seed the clock", {"files": ()}, False),
        ("Seed the harbour clock before login tests begin", {"files": ()}, True),
        ("Seed the clock before login begins", {"files": ()}, False),
    ],
)
def test_what_agents_say_everywhere_is_no_sighting(
    memory: Memory, insight: str, fields: dict[str, Any], is_repeated: bool
) -> None:
    for session in (ONE, SessionId("session-two")):
        admitted(memory, make_candidate(insight=insight, trust="agent", **fields), session=session)
    states = {lesson.state for lesson in all_lessons(memory)}
    assert ("active" in states) is is_repeated


def test_a_short_reason_that_comes_first_has_no_sentence_before_it() -> None:
    reason = "It must be so, because `load_all` fails in every harbour."
    [find] = finds(f"Keep readings as pairs of ports\n\n{reason} The rest was tidied up a bit.")
    assert find.quote == reason


def test_without_events_or_finds_nothing_is_admitted(memory: Memory) -> None:
    event = make_event(session=ONE, text=RULE)
    assert admit_from(memory.services, memory.location, [make_candidate()], ONE, []) == LearnReport()
    assert admit_from(memory.services, memory.location, [], ONE, [event]) == LearnReport()


def test_a_card_of_a_person_is_not_counted_on(memory: Memory) -> None:
    ran(memory, ONE, "pytest", "pytest")
    card = cards(memory)["commands/test"]
    stated = replace(card, trust="person", recorded_at=card.recorded_at + timedelta(days=900))
    memory.services.store.put([stated], {card.id: card.recorded_at})
    ran(memory, SessionId("two"), "pytest", "pytest")
    assert cards(memory)["commands/test"].insight == card.insight


@pytest.mark.parametrize(("kind", "state"), [("preference", "active"), ("decision", "candidate")])
def test_two_persons_may_differ_in_taste_and_not_in_decisions(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, kind: str, state: str
) -> None:
    for session, name, rule in ((ONE, "a", "Always squash commits first"), (TWO, "b", "Never squash commits first")):
        works_here(memory, monkeypatch, Person(id=name * 16, name=name))
        sure = {"structured": True, "trust": "person", "confidence": 0.9}
        admitted(memory, make_candidate(kind=kind, insight=rule, files=(), **sure), session=session)
    assert [lesson.state for lesson in all_lessons(memory) if lesson.insight.startswith("Never")] == [state]


def test_a_lesson_that_names_its_failure_takes_no_other_from_the_same_words(memory: Memory) -> None:
    words = "`render` fails because `split` in ledger.py gives floats"
    span = Evidence(event=EventId(make_id()), quote=words, start=0, end=len(words))
    for detector, error in (("one/1", "ValueError: one"), ("two/1", "ValueError: two")):
        admitted(memory, make_candidate(
            kind="bug_cause", insight=f"{words}, says {detector[:3]}", evidence=(span,), detector=detector,
            error_signature=error, command="pytest",
        ))  # fmt: skip
    assert [lesson.error_signature for lesson in all_lessons(memory)] == ["ValueError: one"]
