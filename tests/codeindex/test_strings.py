"""Strings in fingerprints: what a formatter may change in them, and what it may not."""

from __future__ import annotations

import pytest

from holdfast.codeindex.source import outline

ALIKE = [
    ("a.rb", "def f\n  'plain'\nend\n", 'def f\n  "plain"\nend\n'),
    ("a.rb", "def f\n  '#5'\nend\n", 'def f\n  "#5"\nend\n'),
    ("a.rb", "def f\n  x <<~T\n    a\n      b\n  T\nend\n", "def f\n  x <<~T\n        a\n          b\n      T\nend\n"),
    ("a.rb", 'def f\n  "a" \\\n    "b"\nend\n', 'def f\n  "a" \\\n  "b"\nend\n'),
    ("a.php", "<?php function f() { return 'a'; }", '<?php function f() { return "a"; }'),
    ("a.sh", 'f() {\n  echo "$(one |\n    two)"\n}\n', 'f() {\n  echo "$(one \\\n      | two)"\n}\n'),
    ("a.sh", "f() { echo 'a'; }\n", 'f() { echo "a"; }\n'),
    ("a.py", 'def f():\n    x = """a\nb"""\n', 'def f():\r\n    x = """a\r\nb"""\r\n'),
]
DIFFERENT = [
    ("a.rb", "def f\n  '#{a}'\nend\n", 'def f\n  "#{a}"\nend\n'),
    ("a.rb", "def f\n  '\\n'\nend\n", 'def f\n  "\\n"\nend\n'),
    ("a.rb", "def f\n  x <<~T\n    a\n    b\n  T\nend\n", "def f\n  x <<~T\n    a\n      b\n  T\nend\n"),
    ("a.php", "<?php function f() { return '$a'; }", '<?php function f() { return "$a"; }'),
    ("a.sh", 'f() { echo "$a $(b)"; }\n', 'f() { echo "$a$(b)"; }\n'),
    ("a.sh", 'f() { echo "$(b  c) d"; }\n', 'f() { echo "$(b  c)  d"; }\n'),
    ("a.sh", "f() {\n  x <<E\nhello $(b)\nE\n}\n", "f() {\n  x <<E\nbye $(b)\nE\n}\n"),
    ("a.sh", "f() { echo '$a'; }\n", 'f() { echo "$a"; }\n'),
]


@pytest.mark.parametrize(("path", "text", "other"), ALIKE)
def test_strings_that_mean_the_same_have_one_fingerprint(path: str, text: str, other: str) -> None:
    assert body(path, text) == body(path, other)


@pytest.mark.parametrize(("path", "text", "other"), DIFFERENT)
def test_strings_that_mean_something_else_do_not(path: str, text: str, other: str) -> None:
    assert body(path, text) != body(path, other)


def test_marks_of_a_conflict_in_a_string_are_text() -> None:
    text = 'def f():\n    return """\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> other\n"""\n'
    assert outline("a.py", text.encode()).note == ""


def test_both_sides_of_a_conflict_are_read() -> None:
    text = (
        "def f():\n    return 1\n<<<<<<< HEAD\ndef g():\n    return 2\n=======\ndef h():\n    return 3\n>>>>>>> other\n"
    )
    outlined = outline("a.py", text.encode())
    assert outlined.note == "syntax error"
    assert [symbol.name for symbol in outlined.symbols] == ["f", "g", "h"]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.py", "CAFE = 'caf\xe9'\n"),
        ("a.rb", "CAFE = 'caf\xe9'\n"),
        ("a.swift", 'let cafe = "caf\xe9"\n'),
        ("a.cs", 'class A { const string Cafe = "caf\xe9"; }\n'),
    ],
)
def test_text_that_is_not_utf8_is_outlined(path: str, text: str) -> None:
    outlined = outline(path, text.encode("latin-1"))
    other = outline(path, text.replace("caf\xe9", "caf\xe8").encode("latin-1"))
    assert outlined.note == "not UTF-8"
    assert outlined.symbols[-1].kind == "constant"
    assert outlined.symbols[-1].body_hash != other.symbols[-1].body_hash


def body(path: str, text: str) -> str:
    outlined = outline(path, text.encode())
    assert outlined.note == ""
    return outlined.symbols[0].body_hash
