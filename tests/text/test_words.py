from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.words import CHUNK_LIMIT, STOP_WORDS, duplicate_key, expand, terms

texts = st.text(max_size=80) | st.text(alphabet="aZ_.-/:9 é語データ'#+", max_size=60)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fetchUserName", ["fetchusername", "fetch", "user", "name"]),
        ("HTTPServer", ["httpserver", "http", "server"]),
        ("max_retry_count", ["max_retry_count", "max", "retry", "count"]),
        ("src/app/user_service.py", ["src/app/user_service.py", "src", "app", "user_service", "user", "service", "py"]),
        ("os.path.join", ["os.path.join", "os", "path", "join"]),
        ("C++ and c#", ["c++", "c#"]),
        ("Python 3.11", ["python", "3.11", "11"]),
        ("the tests are with us", ["tests"]),
        ("and/or", []),
        ("数据库连接", ["数据", "据库", "库连", "连接"]),
        ("连接", ["连接"]),
        ("库", ["库"]),
        ("使用pytest运行", ["使用", "pytest", "运行"]),
        ("ship it🚀now ✅", ["ship", "🚀"]),
        ("كِتَاب", ["كتاب"]),
    ],
)
def test_identifiers_and_paths_come_whole_and_in_parts(text: str, expected: list[str]) -> None:
    unique = terms(text)
    assert [term for term in expected if term not in unique] == []
    if text.isascii() and "/" not in text and "_" not in text:
        assert unique == [term for term in unique if term in expected]


@given(texts)
def test_terms_are_lower_cased_unique_and_tell_something(text: str) -> None:
    unique = terms(text)
    assert len(unique) == len(set(unique))
    assert not set(unique) & STOP_WORDS
    assert all(term and not any(c.isspace() for c in term) for term in unique)
    assert all(term == term.lower() for term in unique)


@given(texts, texts)
def test_more_text_never_loses_a_term(text: str, other: str) -> None:
    assert set(terms(text)) <= set(terms(f"{text} {other}"))


@given(texts)
def test_any_text_can_be_expanded_and_keyed(text: str) -> None:
    assert isinstance(expand(text), str)
    assert duplicate_key(text) == duplicate_key(f"  {text} ")


def test_endless_runs_are_no_terms() -> None:
    assert terms("a" * 5_000) == []
    assert all(len(term) <= CHUNK_LIMIT for term in terms("/".join(["abc"] * 500)))


def test_expansion_holds_what_an_index_cannot_see() -> None:
    assert expand("call parseHTTPBody before plain words") == "parse http body"
    assert expand("日本語のログ").split() == ["日本", "本語", "語の", "のロ", "ログ", "グ"]
    assert expand("nothing to split here") == ""


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Use uv for installs.", "use uv, for installs"),
        ("You should always run the linter", "Run linter"),
        ("Don't mock the database", "never mock the database!"),
        ("Do not mock the database", "Don\u2019t mock database"),
    ],
)
def test_one_statement_in_two_wordings_has_one_key(text: str, other: str) -> None:
    assert duplicate_key(text) == duplicate_key(other)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("use tabs", "don't use tabs"),
        ("use yarn, not npm", "use npm, not yarn"),
        ("timeout is 30 s", "timeout is 60 s"),
        ("call get_user first", "call get_users first"),
        ("compare with ==", "compare with !="),
        ("run with --cache", "run with --no-cache"),
        ("write it in C", "write it in C++"),
    ],
)
def test_opposite_or_different_statements_have_different_keys(text: str, other: str) -> None:
    assert duplicate_key(text) != duplicate_key(other)
