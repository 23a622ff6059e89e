"""The uptake trial: which needs and texts it takes, what a reader and a judge see, and how answers are counted."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.recall.cases import MissingSetError
from benchmarks.replay.catalog import Need
from benchmarks.replay.record import Delivery, Record
from benchmarks.uptake.conditions import (
    brief_text,
    draw,
    eligible,
    gold_in,
    handed_before,
    list_text,
    load_other_project,
    placebo_texts,
)
from benchmarks.uptake.situations import EVENT_LIMIT, LAST_EVENTS, LAST_PROMPTS, PROMPT_LIMIT, before, render
from benchmarks.uptake.verdicts import AnswerError, blind_file, read_answer, shuffled, table

MATCHES = {"a": frozenset({"L1"}), "b": frozenset({"L2"})}


def delivery(event: int, moment: str, *lessons: str, session: int = 1) -> Delivery:
    lines = [[lesson] for lesson in lessons]
    return Delivery(session, event, "s", "", "hook", "{}", f"text of {moment} at {event}", lines, moment=moment)


def need(event: int, *gold: str, strength: int = 2, **about: Any) -> Need:
    return Need(1, event, about.pop("moment", "prompt"), strength, frozenset(gold), **about)


def transcript(*rows: dict[str, Any]) -> str:
    return "\n".join(map(json.dumps, rows))


def message(role: str, content: Any, **row: Any) -> dict[str, Any]:
    return {"type": role, "message": {"role": role, "content": content}, **row}


def test_a_situation_has_the_texts_of_start_and_prompts_until_the_event_and_since_the_last_start() -> None:
    record = Record(
        deliveries=[
            delivery(-1, "start", "a"), delivery(0, "first prompt", "b"), delivery(3, "before a file", "b"),
            delivery(5, "after a compaction", "b"), delivery(7, "later prompt", "a"), delivery(9, "later prompt", "b"),
            delivery(6, "later prompt", "a", session=2),
        ]
    )  # fmt: skip
    assert [handed.e for handed in handed_before(record, need(4))] == [-1, 0]
    assert [handed.e for handed in handed_before(record, need(7))] == [5, 7]
    assert brief_text(handed_before(record, need(7))) == "text of after a compaction at 5\n\ntext of later prompt at 7"
    assert gold_in(handed_before(record, need(7)), MATCHES) == ["L2", "L1"]


def test_only_needs_of_that_strength_whose_lesson_was_told_by_then_are_taken() -> None:
    record = Record(deliveries=[delivery(-1, "start", "a"), delivery(8, "later prompt", "b")])
    needs = [need(4, "L1"), need(4, "L2"), need(8, "L2"), need(4, "L1", strength=1), need(9, "L9")]
    assert eligible(needs, record, MATCHES) == [needs[0], needs[2]]
    assert draw(needs, 3, 7) == draw(needs, 3, 7)
    assert len(draw(needs, 3, 7)) == 3


def test_what_happened_before_the_event_is_read_from_the_transcript() -> None:
    text = transcript(
        message("user", "mend it"),
        message("user", "<command-name>/clear</command-name>"),
        message("assistant", [{"type": "text", "text": "I look."}, {"type": "tool_use", "input": {"command": "make"}}]),
        message("user", [{"type": "tool_result", "content": "boom", "is_error": True}]),
        message("assistant", [{"type": "tool_use", "input": {"file_path": "a.py"}}]),
        message("user", "from a sub-agent", isSidechain=True),
        message("user", [{"type": "text", "text": "and now?"}]),
        message("assistant", [{"type": "text", "text": "Later."}]),
    )
    past = before(need(6), text)
    assert [(event.line, event.what) for event in past] == [
        (0, "USER"), (2, "YOU SAID"), (2, "RAN"), (3, "FAILED"), (4, "FILE"), (6, "USER"),
    ]  # fmt: skip
    assert before(need(2), "no object\n" + text)[-1].text == "mend it"


def test_a_reader_sees_the_first_and_the_last_prompts_the_last_events_and_the_notes_before_them() -> None:
    rows = [message("user", f"prompt {number} " + "x" * 2 * PROMPT_LIMIT) for number in range(20)]
    past = before(need(19), transcript(*rows))
    text = render(3, need(19, moment="before_file", file="a.py"), past, "the notes")
    assert text.startswith("# Situation 03")
    assert text.index("the notes") < text.index("prompt 0")
    assert text.count("\n- prompt") == LAST_PROMPTS + 1
    assert text.count("[USER]") == LAST_EVENTS
    quoted, _, happened = text.partition("## The last things")
    assert "x" * PROMPT_LIMIT not in quoted
    assert "x" * EVENT_LIMIT not in happened
    assert "You are about to work on the file a.py." in text


@pytest.mark.parametrize(
    ("moment", "words"),
    [("prompt", "has just spoken"), ("before_command", "a command like: make"), ("after_failure", "just failed")],
)
def test_the_question_says_what_is_about_to_happen(moment: str, words: str) -> None:
    assert words in render(0, need(0, moment=moment, command="make"), [], "")


def test_the_judge_sees_the_answers_by_letter_without_the_ids_of_notes() -> None:
    case = {"case": 4, "moment": "prompt", "because": "lint was red", "lessons": ["Run the linter."]}
    text = blind_file(case, ["I follow [a1b2c3d4] and lint.", "I go on."])
    assert text.startswith("# Case 04 (prompt)")
    assert "- Run the linter." in text
    assert "## Response A\nI follow  and lint." in text
    assert "## Response B\nI go on." in text
    assert "04.json" in text
    assert "brief" not in text


def test_the_order_of_the_conditions_differs_by_case_and_is_the_same_again() -> None:
    orders = [shuffled(("none", "brief", "one"), case, 3) for case in range(12)]
    assert orders == [shuffled(("none", "brief", "one"), case, 3) for case in range(12)]
    assert len({tuple(order) for order in orders}) > 1
    assert all(sorted(order) == ["brief", "none", "one"] for order in orders)


def test_a_judges_answer_is_read_by_condition() -> None:
    answer = {"A": {"score": 2, "wasted": 1}, "B": 0}
    assert read_answer(answer, ["brief", "none"], 0) == {"brief": (2, 1), "none": (0, 0)}


@pytest.mark.parametrize(
    "answer", [{"A": {"score": 3}}, {}, [], {"A": {"score": 2, "wasted": -1}}, {"A": {"score": 2, "wasted": True}}]
)
def test_an_impossible_answer_names_its_case(answer: Any) -> None:
    with pytest.raises(AnswerError, match="case 07"):
        read_answer(answer, ["brief"], 7)


def test_the_table_has_means_of_one_waste_and_what_was_better_or_worse_than_nothing() -> None:
    verdicts = {0: {"none": (0, 0), "brief": (2, 0)}, 1: {"none": (2, 0), "brief": (1, 3)}}
    figures = table(verdicts, ("none", "brief", "one"))
    assert figures["cases"] == 2
    assert "one" not in figures
    assert figures["none"]["mean"] == 0.5
    assert figures["brief"] == {
        "mean": 0.75, "clearly": 1, "partly": 1, "not": 0, "wasted steps": 3, "cases with waste": 1,
        "better than none": 1, "worse than none": 1,
    }  # fmt: skip


def test_notes_are_a_list_under_one_heading() -> None:
    assert list_text(["Lint first.", "Never push."]).splitlines()[1:] == ["- Lint first.", "- Never push."]


def test_the_placebo_is_what_the_product_tells_from_another_projects_lessons(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "transcripts" / "dev"
    folder.mkdir(parents=True)
    row = {
        "repo": "ada/shop", "session": "shop-01", "role": "user", "category": "preference",
        "gist": "Never use default exports in the shop's modules.",
    }  # fmt: skip
    own = row | {"repo": "entireio/cli", "gist": "Our own team's rule."}
    (folder / "labels.jsonl").write_text(json.dumps(row) + "\n" + json.dumps(own) + "\n")
    lessons = load_other_project(tmp_path / "data")
    assert [lesson["gist"] for lesson in lessons] == [row["gist"]]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    (text,) = placebo_texts(lessons, [["how do default exports work in the modules?"]], scratch)
    assert "default exports" in text


def test_a_missing_set_of_another_project_is_named(tmp_path: Path) -> None:
    with pytest.raises(MissingSetError, match=r"labels\.jsonl"):
        load_other_project(tmp_path)
