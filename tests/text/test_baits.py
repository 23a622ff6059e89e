"""What linters look for in code."""

from __future__ import annotations

import pytest

from holdfast.text.baits import bait_of, has_many_rules, known_linters


@pytest.mark.parametrize(
    ("linter", "code", "words"),
    [
        ("errcheck", "_ = file.Sync()", "_ ="),
        ("errcheck", "name, _ := read()", ", _ :="),
        ("errcheck", "for _, name := range names {", ""),
        ("wrapcheck", "\tif err != nil {\n\t\treturn nil, err\n\t}", "return err"),
        ("wrapcheck", '\treturn fmt.Errorf("open: %w", err)', ""),
        ("nilerr", "if err != nil {\n\t// nothing to do\n\treturn nil\n}", "an error that becomes nil"),
        ("nilerr", "if err != nil {\n\tlog(err)\n\treturn nil\n}", "an error that becomes nil"),
        ("nilerr", "if err != nil {\n\tlog(err)\n}\nreturn nil", ""),
        ("nilerr", "if err != nil {\n\treturn nil, err\n}", ""),
        ("nilnil", "return nil, nil", "return nil, nil"),
        ("goconst", 'a("claude")\nb("claude")\nc("claude")', "a repeated string"),
        ("goconst", 'a("claude")\nb("claude")', ""),
        ("maintidx", "func run() {\n" + "\tstep()\n" * 70 + "}\n", "a long function"),
        ("maintidx", ("func run() {\n" + "\tstep()\n" * 40 + "}\n") * 2, ""),
        ("ruff", "import os", ""),
    ],
)
def test_code_that_a_linter_looks_at_is_named(linter: str, code: str, words: str) -> None:
    assert bait_of(linter, code) == words


def test_what_stood_there_as_often_before_is_no_bait() -> None:
    for linter in known_linters():
        code = "_ = f()\nreturn err\nreturn nil, nil\nswitch x {\n"
        assert bait_of(linter, code, code) == ""


def test_linters_of_many_rules_are_told_apart_from_those_of_one_and_from_runners() -> None:
    assert all(map(has_many_rules, ("ruff", "eslint", "staticcheck", "clippy")))
    assert not any(map(has_many_rules, (*known_linters(), "ireturn", "golangci-lint")))
