from __future__ import annotations

import pytest

from holdfast.text.shell import COMMAND_LIMIT, TARGET_LIMIT, searched_pattern


@pytest.mark.parametrize(
    ("command", "pattern"),
    [
        ("rg foo src", "foo"),
        ("rg -g '*.py' -tpy --type-not js put", "put"),
        ("rg --files -g '*.toml'", "*.toml"),
        ("rg --glob='!x' 'a|b' x", "a|b"),
        ("rg -- -x src", "-x"),
        ("grep -rn 'def put' src/", "def put"),
        ('grep -rn "<Button" src', "<Button"),
        ("grep -A3 -e pat file", "pat"),
        ("grep -rne put src", "put"),
        ("grep --regexp=put src", "put"),
        ("grep --color put .", "put"),
        ("grep --color never put .", "put"),
        ("/usr/bin/grep -r put .", "put"),
        ("sudo egrep -i put /etc > out.txt", "put"),
        ("ag -f put", "put"),
        ("git grep -n put -- src", "put"),
        ("git -C sub grep -n put", "put"),
        ("find . -type f -iname '*.PY'", "*.PY"),
        ("cd x && rg put", "put"),
        ("bash -lc 'rg put src'", "put"),
    ],
)
def test_a_search_in_the_code_is_recognised(command: str, pattern: str) -> None:
    assert searched_pattern(command) == pattern


@pytest.mark.parametrize(
    "command",
    ["", "grep", "rg --files src", "grep -f patterns.txt src", "make | grep error", "git log --grep=put", "cat a.py",
     "find src -type f", "find . -name", "rg -e", "\0", "'" * 50, "bash -c", "(" * 5_000],
)  # fmt: skip
def test_everything_else_searches_for_nothing(command: str) -> None:
    assert searched_pattern(command) == ""


def test_a_long_pattern_is_cut_and_a_long_line_is_read_to_its_limit() -> None:
    assert searched_pattern(f"rg {'x' * 1_000}") == "x" * TARGET_LIMIT
    assert searched_pattern(f"{' ' * COMMAND_LIMIT}rg put") == ""
