"""The numbers that rendering goes by, each at its boundary."""

from __future__ import annotations

import pytest

from holdfast.rendering import lines
from holdfast.rendering.lines import compile_line
from holdfast.testing.builders import make_lesson

LINE = make_lesson(
    id="0193a1b2-0000-7000-8000-00000000beef", insight="Seed the clock before login tests.", trust="person"
)


def test_two_places_are_named() -> None:
    named = compile_line(make_lesson(paths=["src/a.py", "src/b.py", "src/c.py"]))
    assert lines.PATHS_SHOWN == 2
    assert "src/a.py, src/b.py" in named.text
    assert "src/c.py" not in named.text


@pytest.mark.parametrize(("tokens", "has_reason"), [(80, True), (81, False)])
def test_a_line_of_eighty_tokens_has_its_reason(tokens: int, has_reason: bool) -> None:
    assert lines.REASONED_TOKENS == 80
    bare = compile_line(LINE, places=False)
    short = make_lesson(id=LINE.id, insight=LINE.insight, trust="person", why="tide")
    one_word = compile_line(short, places=False).tokens - bare.tokens
    why = " ".join(["tide"] * (tokens - bare.tokens - one_word + 1))
    line = compile_line(make_lesson(id=LINE.id, insight=LINE.insight, trust="person", why=why), places=False)
    assert ("tide" in line.text.lower()) is has_reason
    assert line.tokens == (tokens if has_reason else bare.tokens)


@pytest.mark.parametrize(("shared", "is_left_out"), [(17, True), (16, False)])
def test_what_to_do_is_left_out_where_the_rule_has_85_hundredths_of_its_words(shared: int, is_left_out: bool) -> None:
    assert lines.REPEATED == 0.85
    rule = [f"quay{number}" for number in range(shared)]
    how = [*rule, *(f"pier{number}" for number in range(20 - shared))]
    line = lines.compile_line(make_lesson(insight=" ".join(rule), how=" ".join(how)), budget=400)
    assert ("pier0" not in line.text) is is_left_out
