"""Outlines of odd content: never an error, never for long, and a note that says what is missing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.codeindex import languages
from holdfast.codeindex.source import outline
from tests.codeindex.golden import cases

DEF = b"def f(a):\n    return a\n"


def names(content: bytes, path: str = "a.py") -> list[str]:
    return [symbol.name for symbol in outline(path, content).symbols]


def test_an_empty_file_has_an_empty_outline() -> None:
    outlined = outline("a.py", b"")
    assert (outlined.language, outlined.symbols, outlined.note) == ("python", (), "")


def test_a_file_of_no_known_language_is_known_as_a_whole() -> None:
    outlined = outline("a.xyz", DEF)
    assert (outlined.language, outlined.symbols, outlined.note) == ("", (), "")
    assert outlined.blob.startswith("git1:")


def test_the_blob_is_gits_own() -> None:
    assert outline("a.txt", b"hello\n").blob == "git1:ce013625030ba8dba906f756967f9e9ca394464a"


@pytest.mark.parametrize(
    ("content", "note"),
    [
        (b"x = 1;" * 1_700_000, "too large: 10,200,000 bytes"),
        (DEF + b"# " + b"x" * 1_000_000, "too large: 1,000,025 bytes"),
        (b"var a=1;" * 5_000, "minified"),
        (DEF + b"\0\0\0", "binary"),
    ],
    ids=["ten megabytes", "one megabyte", "minified", "binary"],
)
def test_what_is_not_parsed_says_why(content: bytes, note: str) -> None:
    outlined = outline("a.py", content)
    assert (outlined.symbols, outlined.note) == ((), note)


def test_a_long_line_in_a_file_of_many_lines_is_not_minified() -> None:
    assert names(DEF + b"x = '" + b"x" * 30_000 + b"'\n" + b"y = 1\n" * 10) == ["f"]


def test_definitions_around_a_syntax_error_are_found() -> None:
    outlined = outline("a.py", DEF + b"x = = 1\n" + DEF.replace(b"f(", b"g("))
    assert [symbol.name for symbol in outlined.symbols] == ["f", "g"]
    assert outlined.note == "syntax error"


@pytest.mark.parametrize(
    "expression",
    [
        b"1 +\n" * 50_000 + b"1",
        b"(" * 10_000 + b"1" + b")" * 10_000,
        b"[" * 20_000,
        b"not\n" * 100_000 + b"1",
        b"a.\n" * 50_000 + b"b",
        b"[" + b"1,\n" * 50_000 + b"]",
        b"'a'\n" * 50_000,
    ],
    ids=["sum", "parentheses", "open brackets", "nots", "attributes", "list", "joined strings"],
)
def test_an_expression_of_a_hundred_thousand_tokens_is_no_trouble(expression: bytes) -> None:
    assert names(DEF + b"x = (\n" + expression + b"\n)\n")[:1] == ["f"]


def test_deeply_nested_definitions_are_no_trouble() -> None:
    content = b"".join(b" " * depth + b"def f():\n" for depth in range(300)) + b" " * 300 + b"pass\n"
    outlined = outline("a.py", content)
    assert outlined.symbols[0].name == "f"


def test_text_that_is_not_utf_8_is_outlined() -> None:
    outlined = outline("a.py", "# größe\n".encode("latin-1") + DEF + "x = 'größe'\n".encode("latin-1"))
    assert [symbol.name for symbol in outlined.symbols] == ["f"]
    assert outlined.note == "not UTF-8"


def test_a_byte_order_mark_changes_nothing() -> None:
    assert names(b"\xef\xbb\xbf" + DEF) == ["f"]


def test_windows_line_ends_change_no_line_number() -> None:
    plain, windows = outline("a.py", DEF + DEF), outline("a.py", (DEF + DEF).replace(b"\n", b"\r\n"))
    lines = [
        [(symbol.name, symbol.start_line, symbol.end_line, symbol.body_hash) for symbol in outlined.symbols]
        for outlined in (plain, windows)
    ]
    assert lines[0] == lines[1]


def test_lines_and_bytes_are_those_of_the_definition_with_its_decorators() -> None:
    content = b"import os\n\n\n@cache\ndef f(a):\n    return a\n\n\nx = 1\n"
    symbol = outline("a.py", content).symbols[0]
    assert (symbol.start_line, symbol.end_line) == (4, 6)
    assert content[symbol.start_byte : symbol.end_byte] == b"@cache\ndef f(a):\n    return a"
    assert symbol.signature == "def f(a)"


@given(
    st.sampled_from(languages.names()),
    st.binary(max_size=200) | st.text(max_size=200).map(lambda text: text.encode("utf-8", "surrogatepass")),
)
def test_any_bytes_are_outlined_in_any_language(name: str, content: bytes) -> None:
    language = languages.load(name)
    path = "a" + language.suffixes[0] if language.suffixes else language.filenames[0]
    assert outline(path, content) == outline(path, content)


@given(st.data())
def test_real_code_cut_anywhere_is_outlined(drawn: st.DataObject) -> None:
    file = next(drawn.draw(st.sampled_from(cases())).glob("source*"))
    content = file.read_bytes()
    start, end = sorted((drawn.draw(st.integers(0, len(content))), drawn.draw(st.integers(0, len(content)))))
    outlined = outline(file.name, content[:start] + content[end:])
    assert all(0 <= symbol.start_byte <= symbol.end_byte <= len(content) for symbol in outlined.symbols)


def test_a_default_that_is_a_secret_is_no_part_of_the_signature() -> None:
    key = "AK" + "IA" + "Q3T5" * 4
    plain, secret = (
        outline("a.py", f"def connect(key='{text}'):\n    pass\n".encode()).symbols[0] for text in ("x", key)
    )
    assert secret.signature == "def connect(key='[redacted:aws]')"
    assert secret.signature_hash != plain.signature_hash
