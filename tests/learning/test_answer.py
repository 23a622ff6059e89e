"""How a model's answer is read: each field checked, each quote looked for where it is cited and then elsewhere."""

from __future__ import annotations

import json
from typing import Any

import pytest

from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson, Triggers
from holdfast.errors import ModelError
from holdfast.learning.digest import make_digest
from holdfast.learning.distil import WORK, Distilled, read_answer, render_prompt
from holdfast.testing.builders import make_event, make_lesson

QUOTE = "amounts are whole cents"
SAID = make_event(text=f"For money, {QUOTE} at all times.", trust="person", files=("src/ledger/money.py",))
REPLIED = make_event(kind="reply", text=f"Understood: {QUOTE} from now on.", trust="agent", files=("web/money.py",))
RAN = make_event(
    kind="tool_result", text="", command="git commit -m 'All  sums  are whole pence'", exit_code=0, trust="tool",
    files=("docs/a.md",),
)  # fmt: skip
EVENTS = (SAID, REPLIED, RAN)


def read(*entries: object, events: tuple[Event, ...] = EVENTS, known: tuple[Lesson, ...] = ()) -> Distilled:
    digest = make_digest(events)
    return read_answer(json.dumps({"lessons": list(entries)}), digest, events, known)


def taken(**over: Any) -> Candidate:
    """The candidate of an answer with one lesson."""
    [candidate] = read(entry(**over)).candidates
    return candidate


def entry(**over: Any) -> dict[str, Any]:
    return {"lesson": "Amounts are whole cents.", "kind": "constraint", "quote": QUOTE, "line": 0} | over


@pytest.mark.parametrize(
    ("line", "event"), [(0, SAID), (1, REPLIED), (2, SAID), (3, SAID), (-1, SAID), (True, SAID), ("1", SAID)]
)
def test_a_quote_is_looked_for_in_the_cited_line_and_then_from_the_first_on(line: object, event: Event) -> None:
    assert taken(line=line).evidence[0].event == event.id


def test_a_quote_of_a_command_is_found_whatever_its_blanks_are() -> None:
    evidence = taken(quote="All sums are\nwhole pence", line=2).evidence[0]
    assert (evidence.event, evidence.quote) == (RAN.id, "All  sums  are whole pence")
    assert RAN.command[evidence.start : evidence.end] == evidence.quote


@pytest.mark.parametrize(("line", "is_persons", "confidence"), [(0, True, 0.8), (1, False, 0.6)])
def test_what_a_person_typed_is_distinguished_from_what_the_agent_stated(
    line: int, is_persons: bool, confidence: float
) -> None:
    candidate = taken(line=line)
    assert (candidate.quotes_person, candidate.confidence) == (is_persons, confidence)
    assert candidate.trust == "agent"


@pytest.mark.parametrize(("grade", "salience"), [(3, 0.8), (2, 0.6), (None, 0.6), ("3", 0.6)])
def test_a_lesson_that_prevents_a_mistake_weighs_more(grade: object, salience: float) -> None:
    assert taken(grade=grade).salience == salience


def test_what_the_model_calls_marginal_is_dropped() -> None:
    answer = read(entry(grade=1))
    assert (answer.candidates, answer.dropped) == ((), ("the model calls it marginal",))


@pytest.mark.parametrize("answer", ["{}", "}{", "[1]", '{"lessons": {}}', "}", "{"])
def test_an_answer_without_a_list_of_lessons_is_an_error(answer: str) -> None:
    with pytest.raises(ModelError, match="not a JSON object"):
        read_answer(answer, make_digest(EVENTS), EVENTS, ())


def test_words_around_the_object_are_left_out() -> None:
    answer = f"Here: {json.dumps({'lessons': [entry()]})} Done."
    digest = make_digest(EVENTS)
    assert len(read_answer(answer, digest, EVENTS, ()).candidates) == 1


@pytest.mark.parametrize(
    ("over", "why"),
    [
        ({"lesson": " \n "}, "has no text"),
        ({"lesson": 3}, "has no text"),
        ({"kind": "checkpoint"}, "the kind 'checkpoint' is unknown"),
        ({"kind": "k" * 41}, "kind is longer than 40"),
        ({"kind": "k" * 40}, "is unknown"),
        ({"quote": " "}, "missing or too short"),
        ({"quote": "whole cents"}, "missing or too short"),
        ({"quote": "whole cents "}, "missing or too short"),
        ({"quote": "amounts are half cents"}, "not occur in the session"),
    ],
)
def test_a_lesson_that_does_not_hold_is_dropped_with_the_reason(over: dict[str, Any], why: str) -> None:
    answer = read(entry(**over), "no object", entry())
    assert len(answer.candidates) == 1
    [reason, other] = answer.dropped
    assert why in reason
    assert other == "the lesson is not a JSON object"


def test_a_lesson_keeps_its_texts_on_one_line() -> None:
    candidate = taken(lesson=" Whole \n cents. ", why="So\tit is.", command=" make  test ")
    assert (candidate.insight, candidate.why, candidate.command) == ("Whole cents.", "So it is.", "make test")
    assert taken(why=None).why == ""


@pytest.mark.parametrize(
    ("written", "file"),
    [
        ("src/ledger/money.py", "src/ledger/money.py"),
        ("./src/ledger/money.py", "src/ledger/money.py"),
        ("ledger/money.py", "src/ledger/money.py"),
        ("money.py", None),
        ("oney.py", None),
        ("a.md", "docs/a.md"),
        ("other.py", None),
    ],
)
def test_a_file_of_an_answer_is_the_one_of_the_session_that_ends_so(written: str, file: str | None) -> None:
    assert taken(files=[written]).files == ((file,) if file else ())


def test_a_file_written_whole_is_that_file_where_others_end_alike() -> None:
    events = (SAID, make_event(kind="reply", text="x", trust="agent", files=("money.py",)))
    [candidate] = read(entry(files=["money.py"]), events=events).candidates
    assert candidate.files == ("money.py",)


def test_lists_keep_each_text_once_and_leave_out_what_is_no_text() -> None:
    symbols = ["Ledger", 3, None, " Ledger ", "", "s" * 120, "s" * 121, "Money"]
    assert taken(symbols=symbols).symbols == ("Ledger", "s" * 120, "Money")
    assert taken(symbols="Ledger").symbols == ()


def test_triggers_leave_out_globs_of_everything_short_literals_and_unknown_work() -> None:
    when = {
        "paths": ["**/*", "src/**", "./*"], "symbols": ["Ledger"], "literals": ["--", "--x"], "commands": ["make"],
        "work": [*WORK, "dance"], "standing": True,
    }  # fmt: skip
    assert taken(when=when).when == Triggers(
        paths=("src/**",), symbols=("Ledger",), literals=("--x",), commands=("make",),
        work=("fix", "feature", "refactor", "test", "review", "operate"), standing=True,
    )  # fmt: skip
    assert taken(when="always").when == Triggers()
    assert not taken(when={"standing": "yes"}).when.standing


@pytest.mark.parametrize(
    ("relation", "link"),
    [
        ({"relation": "repeats", "id": "K1"}, ("duplicates", 0)),
        ({"relation": "refines", "id": "K2"}, ("refines", 1)),
        ({"relation": "refutes", "id": 2}, ("contradicts", 1)),
        ({"relation": "likes", "id": "K1"}, None),
        ({"relation": "repeats", "id": "K0"}, None),
        ({"relation": "repeats", "id": "K3"}, None),
        ({"relation": "repeats", "id": "first"}, None),
        ({"relation": "repeats"}, None),
        ("repeats K1", None),
    ],
)
def test_a_relation_to_a_known_lesson_is_a_link_to_it(relation: object, link: tuple[str, int] | None) -> None:
    known = (make_lesson(), make_lesson())
    [candidate] = read(entry(known=relation), known=known).candidates
    expected = [(link[0], known[link[1]].id)] if link else []
    assert [(each.kind, each.target) for each in candidate.links] == expected


def test_the_prompt_holds_what_is_queried_the_known_lessons_and_the_digest() -> None:
    digest = make_digest(EVENTS)
    text = render_prompt(digest, [make_lesson(title="One"), make_lesson(title="Two  lines")])
    assert f"KNOWN LESSONS\nK1: One\nK2: Two lines\n\n=== DIGEST BEGINS ===\n{digest.text}\n=== DIGEST" in text
    assert "At most 12 lessons" in text
    assert "fix, feature, refactor, test, review, operate" in text
    assert "constraint" in text
    assert "checkpoint" not in text.partition("KNOWN LESSONS")[0]


DENIED = make_event(text="For money we should not use floats in the ledger.", trust="person")


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("Keep amounts in whole cents", "Keep amounts in whole cents"),
        ("Amounts", "Amounts are whole cents"),
        ("Amounts are never whole cents", "Amounts are whole cents"),
        ("Amounts are 2 cents", "Amounts are whole cents"),
        ("Amounts " * 13, "Amounts are whole cents"),
        ("a" * 500, "Amounts are whole cents"),
        (7, "Amounts are whole cents"),
        ("", "Amounts are whole cents"),
    ],
)
def test_a_title_that_is_wrong_is_made_of_the_lessons_words(title: object, expected: str) -> None:
    assert taken(title=title).title == expected


def test_a_lesson_that_says_the_opposite_of_its_quote_is_replaced_by_the_quote() -> None:
    quote = "we should not use floats in the ledger"
    wrong = entry(lesson="We should use floats in the ledger.", title="Use floats in the ledger", quote=quote)
    [candidate] = read(wrong, events=(DENIED,)).candidates
    assert (candidate.insight, candidate.title) == (quote, "We should not use floats in the ledger")


def test_the_prompt_asks_for_titles() -> None:
    digest = make_digest(EVENTS)
    assert '"title": the verdict in at most 12 words' in render_prompt(digest, ())


@pytest.mark.parametrize(
    ("quote", "insight"),
    [
        ("why can't we just use whole cents in the ledger?", "Use whole cents in the ledger, never strings."),
        ("it does not clear the tide cache after a reset", "Clear the tide cache after a reset."),
    ],
)
def test_the_rule_against_a_fault_or_behind_a_question_is_no_reversal(quote: str, insight: str) -> None:
    event = make_event(text=quote, trust="person")
    [candidate] = read(entry(lesson=insight, quote=quote), events=(event,)).candidates
    assert candidate.insight == insight
