"""Which turns answer a question, and with which of their words."""

from __future__ import annotations

from datetime import timedelta

from holdfast.domain.vocabulary import ProjectId, SessionId
from holdfast.ports.store import SpokenTurn, TurnMatch, TurnMatches
from holdfast.ranking.passages import choose, passages, split, with_cosines, without_narration
from holdfast.testing.builders import PROJECT, START

ANSWER = "The harbour log is kept in the cellar, below the lighthouse, in a green box."


def turn(
    reply: str, prompt: str = "", row: int = 1, session: str = "one", score: float = 1.0, days: int = 0
) -> TurnMatch:
    made = SpokenTurn(
        project=ProjectId(PROJECT), session=SessionId(session), host="codex", branch="main",
        at=START + timedelta(days=days), prompt=prompt, reply=reply,
    )  # fmt: skip
    return TurnMatch(row=row, turn=made, score=score)


def found(*matches: TurnMatch) -> TurnMatches:
    return TurnMatches(matches=matches, terms=(("harbour", 2), ("log", 2)), turns=20)


def shown(*matches: TurnMatch, question: str = "where is the harbour log?", limit: int = 3) -> list[str]:
    return [passage.text for passage in choose(passages(found(*matches), question), limit)]


def test_the_passage_that_answers_is_shown_without_what_the_agent_does_next() -> None:
    reply = f"Let me look at the harbour log.\n\n{ANSWER} Now I'll run the tests."
    assert shown(turn(reply)) == [ANSWER]


def test_what_only_repeats_the_question_is_no_answer() -> None:
    assert shown(turn("", prompt="so where is the harbour log?")) == []


def test_the_users_statement_is_an_answer_too() -> None:
    assert shown(turn("Understood.", prompt=ANSWER)) == [ANSWER]


def test_a_passage_that_only_asks_counts_less() -> None:
    asks = turn("Shall the harbour log go to the museum, or the harbour log be burnt?", row=1)
    assert shown(asks, turn(ANSWER, row=2))[0] == ANSWER


def test_a_turn_without_a_telling_word_is_not_shown() -> None:
    counts = TurnMatches(
        matches=(turn("The world of files is large and full of errors."),), terms=(("world", 1),), turns=9
    )
    assert passages(counts, "who won the football world cup of the islands?") == []
    assert passages(TurnMatches(), "harbour") == []


def test_copies_are_shown_once_and_sessions_take_turns() -> None:
    same = turn(ANSWER + " It is old.", row=2, session="two")
    assert len(shown(turn(ANSWER, row=1), same)) == 1
    later = turn("A harbour log names ships, captains, cargo, weather and every tide since spring.", row=3)
    other = turn(
        "Nobody reads a harbour log; pilots write theirs by hand on loose leaves.", row=4, session="two", score=0.9
    )
    assert shown(turn(ANSWER, row=1, score=1.2), later, other)[1].startswith("Nobody")


def test_newer_turns_come_first_among_equals() -> None:
    old, new = (
        turn("Old harbour log: cellar, third shelf.", row=1),
        turn("New harbour log: tower, first floor.", row=2, days=1),
    )
    assert shown(old, new, limit=1) == ["New harbour log: tower, first floor."]


def test_cosines_move_the_order() -> None:
    ranked = passages(found(turn("Old harbour log: cellar, third shelf.", row=1), turn(ANSWER, row=2)), "harbour log")
    cosines = [float(passage.text == ANSWER) for passage in ranked]
    assert with_cosines(ranked, cosines)[0].text == ANSWER


def test_a_long_text_is_split_between_lines_or_sentences() -> None:
    assert split("\n".join(["- eight words stand in this line of text"] * 20)) != []
    assert all(len(piece.split()) <= 60 for piece in split(" ".join(["Six words make this one sentence."] * 40)))
    assert split("") == []


def test_lists_and_code_stay_when_narration_goes() -> None:
    assert (
        without_narration("- let me\n    i will = 1\nLet me see: it works. It does.")
        == "- let me\n    i will = 1\nIt does."
    )
