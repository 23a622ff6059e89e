"""Code is compared by lines and prose by words; what is shown is enough to decide and short enough to read."""

from __future__ import annotations

from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.reports.differences import (
    DiffRow,
    NumberedLines,
    Piece,
    cut_rows,
    line_rows,
    one_side,
    quoted_pieces,
    word_pieces,
)
from holdfast.reports.tuning import HEAD_LINES, LINE_LIMIT, MATCHED_LINES

texts = st.lists(st.sampled_from(["a", "b", "return x", "    if y:", ""]), max_size=12).map(tuple)
words = st.text(alphabet="ab 1.\n", max_size=40)


def code(*lines: str, first: int = 1) -> NumberedLines:
    return NumberedLines(lines=lines, first=first)


def signs(rows: tuple[DiffRow, ...]) -> list[tuple[str, int, int, str]]:
    return [(row.sign, row.old, row.new, row.text) for row in rows]


# Lines


def test_a_changed_line_stands_below_what_it_was_with_both_numbers() -> None:
    rows = line_rows(code("def f(a):", "    return a", first=10), code("def f(a, b):", "    return a", first=14))
    assert signs(rows) == [
        ("-", 10, 0, "def f(a):"), ("+", 0, 14, "def f(a, b):"), ("", 11, 15, "    return a"),
    ]  # fmt: skip
    assert rows[1].pieces == (Piece(text="def f(a"), Piece(text=", b", mark="added"), Piece(text="):"))


def test_lines_that_have_little_in_common_are_not_marked_within() -> None:
    removed, added = line_rows(code("alpha = 1"), code("return omega(7)"))
    assert (removed.pieces, added.pieces) == ((Piece(text="alpha = 1"),), (Piece(text="return omega(7)"),))


def test_equal_lines_far_from_a_change_are_left_out_but_not_the_first() -> None:
    lines = [f"line {number}" for number in range(30)]
    rows = line_rows(code(*lines), code(*lines[:20], "new", *lines[20:]))
    assert [row.text for row in rows if row.sign == ""] == ["line 0", *lines[17:23]]
    assert [(row.sign, row.left_out) for row in rows if row.sign == "gap"] == [("gap", 16), ("gap", 7)]


def test_a_gap_of_one_line_is_that_line() -> None:
    lines = [f"line {number}" for number in range(6)]
    assert "gap" not in {row.sign for row in line_rows(code(*lines), code(*lines[:5], "new", lines[5]))}


def test_unchanged_code_is_shown_from_its_beginning() -> None:
    lines = [f"line {number}" for number in range(HEAD_LINES + 5)]
    rows = line_rows(code(*lines), code(*lines))
    assert (len(rows), rows[-1].left_out) == (HEAD_LINES + 1, 5)


def test_the_lines_around_a_definition_are_shown_and_not_compared() -> None:
    then = NumberedLines(lines=("def f():",), first=5, before=("import a",))
    now = NumberedLines(lines=("def f():",), first=8, before=("import b",), after=("", "x = 1"))
    rows = line_rows(then, now)
    assert signs(rows) == [("", 0, 7, "import b"), ("", 5, 8, "def f():"), ("", 0, 9, ""), ("", 0, 10, "x = 1")]
    assert [row.is_subject for row in rows] == [False, True, False, False]


def test_a_long_change_shows_both_sides_a_few_lines_at_a_time() -> None:
    rows = line_rows(code(*(f"old {n} x" for n in range(20))), code(*(f"new {n} y" for n in range(20))))
    assert [row.sign for row in rows[:14]] == ["-"] * 6 + ["+"] * 6 + ["-"] * 2
    assert sum(row.sign == "-" for row in rows) == 20


def test_very_much_changed_code_is_replaced_as_a_whole() -> None:
    then, now = [f"a{n}" for n in range(MATCHED_LINES + 1)], [f"b{n}" for n in range(5)]
    rows = line_rows(code("head", *then, "end"), code("head", *now, "end"))
    assert (rows[0].text, rows[-1].text) == ("head", "end")
    assert sum(row.sign == "-" for row in rows) == MATCHED_LINES + 1


def test_code_of_one_side_has_numbers_on_that_side_alone() -> None:
    gone = one_side(code("def f():", first=7), "-", is_now=False)
    assert signs(gone) == [("-", 7, 0, "def f():")]
    assert signs(one_side(code("def f():", first=7), "", is_now=True)) == [("", 0, 7, "def f():")]


def test_a_long_line_is_cut_and_rows_that_are_left_out_are_counted_in_lines() -> None:
    (row,) = one_side(code("x" * 1_000), "", is_now=True)
    assert (len(row.text), row.text[-1]) == (LINE_LIMIT, "…")
    rows = (row, DiffRow(sign="gap", left_out=40), row)
    assert cut_rows(rows, 1) == ((row,), 41)
    assert cut_rows(rows, 9) == (rows, 0)


@given(texts, texts)
def test_both_versions_can_be_read_off_the_rows(then: tuple[str, ...], now: tuple[str, ...]) -> None:
    rows = line_rows(code(*then), code(*now), context=50)
    left_out = [row for row in rows if row.sign == "gap"]
    if not left_out:
        assert tuple(row.text for row in rows if row.old) == then
        assert tuple(row.text for row in rows if row.new) == now
    assert [row.old for row in rows if row.old] == sorted(row.old for row in rows if row.old)


# Words


def test_only_the_words_that_differ_are_marked() -> None:
    assert word_pieces("Retries are capped at 3.", "Retries are capped at 5.") == (
        Piece(text="Retries are capped at "), Piece(text="3", mark="removed"), Piece(text="5", mark="added"),
        Piece(text="."),
    )  # fmt: skip


def test_a_text_that_came_or_went_is_one_piece_and_no_text_none() -> None:
    assert word_pieces("", "new") == (Piece(text="new", mark="added"),)
    assert word_pieces("old", "") == (Piece(text="old", mark="removed"),)
    assert word_pieces("", "") == ()


def test_long_equal_parts_are_left_out() -> None:
    middle = " ".join(f"word{number}" for number in range(100))
    pieces = word_pieces(f"3 {middle} end", f"4 {middle} end.")
    assert [piece.mark for piece in pieces] == ["removed", "added", "", "gap", "", "added"]
    assert len("".join(piece.text for piece in pieces)) < 150


@given(words, words)
@example("a.a", "a a")
def test_both_texts_can_be_read_off_the_pieces(before: str, after: str) -> None:
    pieces = word_pieces(before, after, context=1_000)
    assert "".join(piece.text for piece in pieces if piece.mark != "added").split() == before.split()
    assert "".join(piece.text for piece in pieces if piece.mark != "removed").split() == after.split()


# Quotes


def test_a_quote_is_marked_whatever_blanks_stand_in_it() -> None:
    pieces = quoted_pieces("Well: never\n  mock the clock!", ["never mock the clock"], 100)
    assert pieces == (Piece(text="Well: "), Piece(text="never\n  mock the clock", mark="quote"), Piece(text="!"))


def test_a_long_text_is_shown_around_the_quote() -> None:
    pieces = quoted_pieces("before\n" * 300 + "never mock\n" + "after\n" * 300, ["never mock"], 90)
    assert [piece.mark for piece in pieces] == ["gap", "", "quote", "", "gap"]
    assert len("".join(piece.text for piece in pieces)) <= 90
    assert quoted_pieces("x" * 50, ["not there"], 10) == (Piece(text="x" * 10), Piece(text="", mark="gap"))


@given(st.text(alphabet="ab \n", max_size=60), st.lists(st.text(alphabet="ab ", max_size=6), max_size=3))
def test_marking_quotes_changes_no_text(text: str, quotes: list[str]) -> None:
    assert "".join(piece.text for piece in quoted_pieces(text, quotes, 1_000)) == text
