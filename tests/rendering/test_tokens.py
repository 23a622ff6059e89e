from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from holdfast.rendering.lines import count_tokens


def test_words_marks_and_wide_characters_cost() -> None:
    assert count_tokens("") == 0
    assert count_tokens("one two") == 2
    assert count_tokens("internationalisation") == 4
    assert count_tokens("f(x)") == 4
    assert count_tokens("接続") == 2


@given(st.text(max_size=60), st.text(max_size=60))
def test_a_whole_never_costs_more_than_its_parts(text: str, other: str) -> None:
    assert max(count_tokens(text), count_tokens(other)) <= count_tokens(f"{text}\n{other}")
    assert count_tokens(text + other) <= count_tokens(text) + count_tokens(other)
