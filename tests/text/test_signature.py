from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.shell import command_target
from holdfast.text.signature import SIGNATURE_LIMIT, alike, error_signature
from holdfast.text.words import terms

TRACEBACK = """Traceback (most recent call last):
  File "{root}/app/main.py", line {line}, in <module>
    import {module}
ModuleNotFoundError: No module named '{module}'
"""


def test_an_error_has_one_signature_on_every_machine_and_line() -> None:
    signature = error_signature(TRACEBACK.format(root="/home/ada/x", line=3, module="greenlet"))
    other = error_signature(TRACEBACK.format(root="C:/work", line=77, module="greenlet"))
    assert signature == other == "ModuleNotFoundError: No module named 'greenlet'"


def test_what_an_error_is_about_is_part_of_its_signature() -> None:
    signature = error_signature(TRACEBACK.format(root="/x", line=3, module="greenlet"))
    other = error_signature(TRACEBACK.format(root="/x", line=3, module="yaml"))
    assert signature != other
    assert not alike(signature, other)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("E   AssertionError: assert 3 == 4\nFAILED t.py - AssertionError: a...", "AssertionError: assert <n> == <n>"),
        ("error[E0308]: mismatched types\n --> src/main.rs:3:5", "error[E0308]: mismatched types"),
        ("src/x.ts(3,5): error TS2322: Type 'string' is wrong", "error TS2322: Type 'string' is wrong"),
        ("foo.c:12:5: error: expected ';' before 'return'", "error: expected <value> before <value>"),
        ("bash: line 1: foo: command not found", "foo: command not found"),
        ("fatal: not a git repository", "fatal: not a git repository"),
        ("OperationalError: locked for 5.01 s at 0x7f3a2b1c", "OperationalError: locked for <n> s at <hex>"),
        ("ValueError: bad id 123e4567-e89b-12d3-a456-426614174000", "ValueError: bad id <hex>"),
        ("ValueError: late by 2026-11-21T10:00:00Z", "ValueError: late by <time>"),
        ("FileNotFoundError: [Errno 2] gone: '/tmp/a1/b.yaml'", "FileNotFoundError: [Errno 2] gone: 'b.yaml'"),
        ("./main.go:12:3: undefined: foo", "undefined: foo"),
        ("Error: Cannot find module 'express'\nRequire stack:", "Error: Cannot find module 'express'"),
        ("thread 'main' panicked at src/a.rs:1:5:\nindex out of bounds", "panicked: index out of bounds"),
        ("KeyboardInterrupt", "KeyboardInterrupt"),
        ("java.lang.IllegalStateException: closed", "IllegalStateException: closed"),
    ],
)  # fmt: skip
def test_the_line_that_names_the_error_is_its_signature(text: str, expected: str) -> None:
    assert error_signature(text) == expected


@pytest.mark.parametrize(
    "text",
    ["", "all good\n12 passed", "I had an error yesterday", "except ValueError: pass", "we saw no failure", "0 errors"],
)
def test_text_without_an_error_has_no_signature(text: str) -> None:
    assert error_signature(text) == ""


def test_the_last_exception_of_a_chain_is_the_error() -> None:
    chain = "KeyError: 'a'\n\nDuring handling of the above exception, another exception occurred:\n\nRuntimeError: no a"
    assert error_signature(chain) == "RuntimeError: no a"


def test_a_huge_output_is_looked_at_from_its_ends() -> None:
    assert error_signature("x\n" * 2_000_000 + "TypeError: too big") == "TypeError: too big"


def test_signatures_are_alike_when_nearly_all_of_their_words_are() -> None:
    assert alike(
        "TypeError: f() takes <n> arguments but <n> were given",
        "TypeError: f() takes <n> arguments but more were given",
    )
    assert not alike("TypeError: a", "ValueError: a")
    assert not alike("", "")


@pytest.mark.parametrize(
    ("command", "target"),
    [
        ("cd /a && PYTHONPATH=. python -m pytest tests/test_x.py -q", "pytest tests/test_x.py"),
        ("pytest tests/test_x.py", "pytest tests/test_x.py"),
        (".venv/bin/pytest -k 'a or b' tests/test_x.py 2>&1 | tail -20", "pytest tests/test_x.py"),
        ("cd /a && pytest /a/tests/test_x.py", "pytest tests/test_x.py"),
        ("uv run pytest -n 4 tests/test_x.py --maxfail 1", "pytest tests/test_x.py"),
        ("bash -lc 'cd /x && timeout 60 pytest tests/test_x.py'", "pytest tests/test_x.py"),
        ("npm install && npm test", "npm test"),
        ("npm run build -- --watch", "npm run build"),
        ("git commit -m 'two words'", "git commit"),
        ("go test ./... -run TestX -count 1", "go test ./..."),
        ("make -j 8 test; echo done", "make test"),
        ("python3.11 -u scripts/run.py --n 4 > out.txt", "python scripts/run.py"),
        ("python - <<'EOF'\nimport x && y\nEOF", "python -"),
        ("(cd x && make)", "make"),
        ("sudo -u bob env A=1 systemctl restart nginx", "systemctl restart nginx"),
        ("echo 'a && b'", "echo a && b"),
        ("", ""),
        ("   ", ""),
    ],
)  # fmt: skip
def test_a_command_is_known_by_what_it_runs(command: str, target: str) -> None:
    assert command_target(command) == target


@given(st.text(alphabet="ab /'\"&|;>-=\n()<", max_size=60) | st.text(max_size=60))
def test_any_command_and_output_can_be_read(text: str) -> None:
    assert len(error_signature(text)) <= SIGNATURE_LIMIT
    assert len(command_target(text)) <= 200


@given(st.integers(0, 10**9), st.integers(0, 10**9))
def test_numbers_make_no_difference(number: int, other: int) -> None:
    text = "TimeoutError: gave up after {} ms"
    assert error_signature(text.format(number)) == error_signature(text.format(other))
    assert terms(error_signature(text.format(number)))
