"""Records, texts and numbers as rows hold them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from holdfast.domain.vocabulary import LessonId
from holdfast.stores._shared.rows import EPOCH, LeftOut, instant, micros
from holdfast.stores.sqlite import rows
from holdfast.stores.sqlite.rows import scope_token, text_of
from holdfast.stores.sqlite.store import SqliteStore
from holdfast.testing.builders import START, make_lesson

pytestmark = pytest.mark.needs_file("it is about rows of the file")


def test_a_text_that_is_no_utf8_begins_with_a_zero_and_keeps_its_bytes() -> None:
    assert text_of("é".encode()) == "é"
    assert text_of(b'{"a":"\xff"}') == '\0{"a":"ÿ"}'


@pytest.mark.parametrize(
    "number", [0, 1, 999_999, 1_000_000, -1, 86_400_000_000, -86_400_000_001, 1_772_355_600_000_007]
)
def test_an_instant_is_microseconds_since_1970(number: int) -> None:
    at = instant(number)
    assert micros(at) == number
    assert at.timestamp() == pytest.approx(number / 1_000_000, abs=1e-6)


def test_1970_is_zero_and_a_start_is_what_it_was() -> None:
    assert (micros(EPOCH), micros(START)) == (0, 1_772_355_600_000_000)


def test_an_owner_has_a_word_of_its_own_that_no_stemmer_touches() -> None:
    assert scope_token("") == "zu0"
    assert scope_token("ab") == "zp61620"
    assert len({scope_token(owner) for owner in ("", "a", "b", "ab", "é", "0")}) == 6


def test_rows_left_out_are_counted_once_each_and_separated_by_table() -> None:
    left_out = LeftOut()
    assert left_out.but("lessons", "row") == "1"
    for table, row in (("lessons", 5), ("lessons", 3), ("events", 5), ("lessons", 5)):
        left_out.add(table, row)
    assert left_out.but("lessons", "l.row") == "l.row NOT IN (3, 5)"
    assert left_out.but("changes", "position") == "1"
    assert len(left_out) == 3


def test_only_replacing_what_can_be_stored_makes_another_record(store: SqliteStore) -> None:
    plain = make_lesson(insight="plain \\u0000 text")
    odd = replace(plain, id=LessonId("odd"), insight="odd \0 text")
    store.put([plain, odd], {})
    assert [lesson.insight for lesson in store.get([plain.id, odd.id])] == [plain.insight, "odd \ufffd text"]


def test_the_codes_of_tokens_are_those_of_older_files() -> None:
    assert rows.SOURCE_CODES == {
        "error": 1.0, "command": 1.0, "topic": 1.0, "symbol": 0.9, "path": 0.8, "file": 0.6, "mention": 0.5,
        "part": 0.4,
    }  # fmt: skip
