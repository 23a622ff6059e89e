from __future__ import annotations

import pytest

from holdfast.recall.failure import answers_failure, read_failure
from holdfast.testing.builders import make_lesson
from holdfast.text.signature import alike, error_signature, masked

URLS = "RuntimeError: Unable to build URLs outside an active request without 'SERVER_NAME' configured."


def test_a_name_in_quotes_is_part_of_the_signature_and_a_value_is_not() -> None:
    assert "'SERVER_NAME'" in error_signature(URLS)
    assert error_signature("ValueError: bad port 'abc1'") == error_signature("ValueError: bad port 'xyz7'")
    assert not alike(error_signature(URLS), error_signature(URLS.replace("SERVER_NAME", "SECRET_KEY")))


def test_a_masked_signature_of_an_earlier_version_is_the_same_error() -> None:
    older = "RuntimeError: Unable to build URLs outside an active request without <value> configured"
    assert masked(error_signature(URLS)) == older
    assert alike(older, error_signature(URLS))
    assert alike(error_signature(URLS), older)


@pytest.mark.parametrize(
    ("error", "stored"),
    [
        ("zsh: command not found: go", "go: command not found"),
        ("bash: line 1: go: command not found", "go: command not found"),
        ('exec: "go": executable file not found in $PATH', "go: command not found"),
        ("ImportError: No module named yaml", "ModuleNotFoundError: No module named 'yaml'"),
        ("touch: /etc/a.conf: Operation not permitted", "cannot touch 'a.conf': Permission denied"),
        (
            "remote: error: GH006: Protected branch update failed",
            "! [remote rejected] (protected branch hook declined)",
        ),
        (
            "Error: ENOENT: no such file or directory, open '/x/a.json'",
            "cat: a.json: No such file or directory: 'a.json'",
        ),
    ],
)
def test_one_failure_in_other_words_is_the_same(error: str, stored: str) -> None:
    assert answers_failure(read_failure(error), make_lesson(error_signature=stored))


@pytest.mark.parametrize(
    ("error", "stored"),
    [
        ("zsh: command not found: go", "node: command not found"),
        ("ModuleNotFoundError: No module named 'yaml'", "ModuleNotFoundError: No module named 'numpy'"),
        ("TimeoutError: timed out", "ReadTimeout: the gateway timed out"),
        ("AssertionError: a", "go: command not found"),
        ("all good", "go: command not found"),
    ],
)
def test_another_subject_or_a_class_with_many_causes_is_not(error: str, stored: str) -> None:
    assert not answers_failure(read_failure(error), make_lesson(error_signature=stored))


def test_the_same_program_ties_a_class_with_many_causes() -> None:
    lesson = make_lesson(error_signature="ReadTimeout: the request timed out", command="npm install left-pad")
    assert answers_failure(read_failure("npm ERR! network timed out", "npm install"), lesson)
    assert not answers_failure(read_failure("error: timed out", "docker pull x"), lesson)


def test_a_lesson_without_a_signature_answers_by_what_it_says() -> None:
    lesson = make_lesson(kind="tooling", insight="`go` gives command not found here; run it with mise exec.")
    assert answers_failure(read_failure("zsh: command not found: go"), lesson)
    assert not answers_failure(read_failure("zsh: command not found: node"), lesson)


def test_what_has_no_signature_is_known_by_its_last_line() -> None:
    assert read_failure("step one\nstep two\nthe harbour is closed\n").words == "the harbour is closed"
    assert read_failure("").words == ""
