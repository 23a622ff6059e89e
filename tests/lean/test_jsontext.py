from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import InvalidValueError
from holdfast.lean.texts import dumps, loads

texts = st.text(st.characters(exclude_categories=()))
values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_it_reads_and_writes_what_the_standard_module_does(value: Any) -> None:
    written = dumps(value)
    assert written == json.dumps(value, ensure_ascii=False, separators=(",", ":"))
    assert loads(written) == value
    assert loads(json.dumps(value, indent=2)) == value


@pytest.mark.parametrize(
    "text",
    ["", " ", "{", "[1,]", '{"a":}', '{"a" 1}', '"open', "nul", "1 2", "{}x", "[" * 100_000, "9" * 5_000, "\x00"],
    ids=lambda text: text[:8],
)
def test_what_is_not_json_is_an_invalid_value(text: str) -> None:
    with pytest.raises(InvalidValueError):
        loads(text)


def test_control_characters_in_strings_and_a_byte_order_mark_are_read() -> None:
    assert loads('\ufeff {"a": "tab\there\x00"}\r\n') == {"a": "tab\there\x00"}


def test_numbers_that_json_does_not_have_read_as_none_and_are_not_written() -> None:
    assert loads('[NaN, Infinity, -Infinity, "NaN"]') == [None, None, None, "NaN"]
    with pytest.raises(InvalidValueError):
        dumps(float("nan"))


@pytest.mark.parametrize("value", [object(), {"a": {1, 2}}, b"bytes", {(1, 2): 3}])
def test_what_json_cannot_say_is_an_invalid_value(value: object) -> None:
    with pytest.raises(InvalidValueError):
        dumps(value)


def test_a_list_within_itself_is_refused_and_the_next_one_is_written() -> None:
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(InvalidValueError):
        dumps(loop)
    assert dumps([1]) == "[1]"
