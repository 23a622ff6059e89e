"""What a failure complains of."""

from __future__ import annotations

import pytest

from holdfast.text.complaints import complaint, could_not_begin
from holdfast.text.complaints import test_complaint as complaint_of_test

GO = """\
=== RUN   TestLate
    late_test.go:9: Phase 1: begin
    late_test.go:12: expected 3 points, got 1
--- FAIL: TestLate (0.02s)
=== RUN   TestEarly
--- FAIL: TestEarly (0.00s)
    early_test.go:4: log of the test
    early_test.go:7: want "a", got "b"
FAIL
"""
PYTEST = """\
E       KeyError: 'id'
=========================== short test summary info ============================
FAILED tests/test_api.py::test_retry - KeyError: 'id'
FAILED tests/test_api.py::test_other - assert 1 == 2
========================= 2 failed, 3 passed in 0.12s ==========================
"""


def test_a_test_says_what_stands_nearest_to_its_name() -> None:
    assert complaint_of_test(GO, "TestLate", is_only=False) == "expected 3 points, got 1"
    assert complaint_of_test(GO, "TestEarly", is_only=False) == 'want "a", got "b"'
    assert complaint_of_test(PYTEST, "tests/test_api.py::test_retry", is_only=False) == "KeyError: 'id'"


def test_another_tests_words_are_not_repeated() -> None:
    assert complaint_of_test(PYTEST, "tests/test_api.py::test_lost", is_only=False) == ""
    assert complaint_of_test(PYTEST, "tests/test_api.py::test_lost", is_only=True) == "KeyError: 'id'"


@pytest.mark.parametrize(
    ("output", "words"),
    [
        ("pkg/a.go:3:4: undefined: late", "undefined: late"),
        ("remote: error: GH006: Protected branch update failed", "GH006: Protected branch update failed"),
        ("usage: tool [-h]\n", "usage: tool [-h]"),
        ("all is well", ""),
    ],
)
def test_complaint(output: str, words: str) -> None:
    assert complaint(output) == words


@pytest.mark.parametrize(
    "output",
    ["zsh: command not found: gotest", "no Go files in /home/dev/app", "error: unknown flag: --lat",
     "ERROR: file or directory not found: tests/x.py", "FAIL\tapp/pkg [setup failed]"],
)  # fmt: skip
def test_a_command_that_could_not_begin(output: str) -> None:
    assert could_not_begin(output)
    assert not could_not_begin("--- FAIL: TestLate (0.02s)")
