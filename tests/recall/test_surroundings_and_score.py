"""What is around the files in play, and how often a list of lessons is weighed anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.briefing import RetrieverShare
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Lesson
from holdfast.domain.symbol import Neighbour
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import StoreLockedError
from holdfast.ranking.relevance import LexicalOverlap
from holdfast.recall.retrieve import RetrievedLesson, score_matches
from holdfast.recall.surroundings import TEXT_LIMIT, linked_files, symbols_at, way_to
from tests.recall.test_moments import keep

CODE = "def high():\n    return 4\n\n\ndef low():\n    return 1\n"


def call(memory: Memory, **fields: Any) -> HookCall:
    return HookCall(host="claude-code", name="Hook", session=SessionId("s1"), cwd=memory.folder, **fields)


@pytest.mark.parametrize(
    ("fields", "symbols"),
    [
        ({}, ()),
        ({"lines": (0, 0)}, ()),
        ({"lines": (1, 2)}, ("high",)),
        ({"lines": (5, 6)}, ("low",)),
        ({"lines": (1, 6)}, ("high", "low")),
        ({"excerpts": ("    return 1",)}, ("low",)),
        ({"excerpts": ("    return 4", "    return 1")}, ("high", "low")),
        ({"excerpts": ("nowhere", "    return 1")}, ("low",)),
        ({"excerpts": ("    return 1",), "lines": (1, 2)}, ("high",)),
    ],
)
def test_the_definitions_in_hand_are_those_of_the_lines_or_else_of_the_excerpts(
    memory: Memory, project: Path, fields: dict[str, Any], symbols: tuple[str, ...]
) -> None:
    (project / "src" / "tides.py").write_text(CODE)
    assert set(symbols_at(memory.services, memory.location, "src/tides.py", call(memory, **fields))) == set(symbols)


def test_a_file_that_is_gone_empty_or_huge_has_no_definition_in_hand(memory: Memory, project: Path) -> None:
    read = call(memory, lines=(1, 2))
    assert symbols_at(memory.services, memory.location, "src/none.py", read) == ()
    (project / "src" / "tides.py").write_text("")
    assert symbols_at(memory.services, memory.location, "src/tides.py", read) == ()
    (project / "src" / "tides.py").write_text(CODE.ljust(TEXT_LIMIT, "\n"))
    assert symbols_at(memory.services, memory.location, "src/tides.py", read) == ("high",)
    (project / "src" / "tides.py").write_text(CODE.ljust(TEXT_LIMIT + 1, "\n"))
    assert symbols_at(memory.services, memory.location, "src/tides.py", read) == ()


class Links:
    """A code index with links of one relation to each file."""

    def __init__(self, fails: bool = False, **relations: str) -> None:
        self.fails, self.relations = fails, relations

    def neighbours(self, place: object, path: str) -> list[Neighbour]:
        if self.fails:
            raise StoreLockedError("locked")
        return [Neighbour(path="x", weight=0.5, relation=self.relations[path])]


def test_of_two_links_of_equal_weight_the_first_gives_the_relation(memory: Memory) -> None:
    services = replace(memory.services, codeindex=lambda: Links(a="edited_together", b="read_before"))
    [link] = linked_files(services, memory.location, ("a", "b"))
    assert (link.relation, link.weight) == ("edited_together", 0.75)
    assert way_to([link], ("x",)) == "about x, often edited with it"


def test_an_index_that_fails_or_is_missing_links_nothing(memory: Memory) -> None:
    assert linked_files(replace(memory.services, codeindex=lambda: Links(fails=True)), memory.location, ("a",)) == ()
    assert linked_files(replace(memory.services, codeindex=lambda: None), memory.location, ("a",)) == ()


def found(lesson: Lesson, share: float) -> RetrievedLesson:
    retriever = RetrieverShare(lane="text", rank=1, raw=1.0, share=share)
    return RetrievedLesson(
        lesson=lesson, shares=(retriever,), overlap=LexicalOverlap(matched=("tides",)), stems=frozenset()
    )


def test_lessons_are_ordered_by_their_score_then_by_their_id(memory: Memory) -> None:
    lessons = [keep(memory, f"Rule {n}.") for n in range(3)]
    matches = [found(lessons[2], 0.5), found(lessons[1], 0.5), found(lessons[0], 0.9)]
    weighed = score_matches(memory.services, memory.location, matches)
    assert [ranked.lesson.id for ranked, _ in weighed] == [lesson.id for lesson in lessons]
    assert [match.lesson.id for _, match in weighed] == [lesson.id for lesson in lessons]
    assert {ranked.rank for ranked, _ in weighed} == {1}


@pytest.mark.parametrize(
    ("via", "because", "words"),
    [
        ("", "", "shares tides"),
        ("", "about this command", "about this command"),
        ("linked to it", "about this command", "linked to it; shares tides"),
    ],
)
def test_how_a_lesson_was_reached_goes_before_the_moments_reason(
    memory: Memory, via: str, because: str, words: str
) -> None:
    match = replace(found(keep(memory, "Rule."), 0.5), via=via)
    [(ranked, _)] = score_matches(memory.services, memory.location, [match], because=because)
    assert ranked.why.words == words
