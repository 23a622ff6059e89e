"""What a run checks, and which run includes another."""

from __future__ import annotations

import pytest

from holdfast.text.checks import RunScope, includes, is_whole, ran_tests, runs_program, scope_of, selects


@pytest.mark.parametrize(
    ("line", "command", "expected"),
    [
        ("go test ./pkg -run TestA -v", "", ("test", "go test pkg", "", "", "TestA")),
        ("go test -tags=late -run='^TestA$' ./pkg/...", "", ("test", "go test pkg/...", "", "tags=late", "^TestA$")),
        ("go test -tags integration ./pkg", "", ("test", "go test pkg", "", "tags=integration", "")),
        ("go test -race ./pkg", "", ("test", "go test pkg", "", "race", "")),
        ("uv run pytest tests/a.py -k 'late and not b'", "", ("test", "pytest tests/a.py", "", "", "late and not b")),
        ("mise run test -- -run TestA", "", ("test", "mise run test", "", "", "TestA")),
        ("go test -v", "cd pkg && go test -v", ("test", "go test", "pkg", "", "")),
        ("go test -v", "cd /home/dev/app/pkg && go test -v", ("test", "go test", "pkg", "", "")),
        ("go test -v", "cd /somewhere/else && go test -v", ("test", "go test", "", "", "")),
        ("go test -v", "go test -v && cd pkg", ("test", "go test", "", "", "")),
        ("make lint", "", ("lint", "make lint", "", "", "")),
        ("cargo test --features late", "", ("test", "cargo test", "", "features=late", "")),
        ("./run.sh", "", ("", "run.sh", "", "", "")),
    ],
)  # fmt: skip
def test_scope(line: str, command: str, expected: tuple[str, ...]) -> None:
    scope = scope_of(line, command or line, "/home/dev/app")
    assert (scope.purpose, scope.target, scope.folder, scope.mode, scope.selection) == expected


@pytest.mark.parametrize(
    ("wide", "narrow"),
    [
        ("go test ./...", "go test ./pkg"),
        ("go test ./...", "go test ./pkg -run TestA"),
        ("go test ./pkg/...", "go test ./pkg/inner/..."),
        ("go test ./pkg", "go test ./pkg -run TestA"),
        ("pytest", "pytest tests/test_a.py::test_late"),
        ("pytest tests", "pytest tests/test_a.py"),
        ("pytest tests/test_a.py", "pytest tests/test_a.py::test_late"),
        ("make lint", "make lint"),
    ],
)
def test_a_wider_run_includes_a_narrower_one(wide: str, narrow: str) -> None:
    assert includes(scope_of(wide), scope_of(narrow))


@pytest.mark.parametrize(
    ("wide", "other"),
    [
        ("go test ./pkg -run TestA", "go test ./pkg"),
        ("go test ./pkg -run TestA", "go test ./pkg -run TestB"),
        ("go test ./pkg", "go test ./other"),
        ("go test ./pkg", "go test -tags=integration ./pkg"),
        ("mise run test", "mise run test:integration"),
        ("go test", "go test ./pkg"),
        ("go build ./...", "go test ./..."),
        ("make test", "make lint"),
        ("pytest tests/test_a.py", "pytest tests/test_ab.py"),
    ],
)
def test_a_run_does_not_include_what_it_does_not_surely_run(wide: str, other: str) -> None:
    assert not includes(scope_of(wide), scope_of(other))


def test_a_run_in_another_folder_includes_nothing_here() -> None:
    there = scope_of("go test ./...", "cd inner && go test ./...")
    assert not includes(there, scope_of("go test ./pkg"))
    assert includes(there, there)


def test_selects() -> None:
    assert selects(scope_of("go test ./pkg -run 'TestLate|TestEarly'"), "TestLate")
    assert selects(scope_of("pytest tests/test_a.py::test_late"), "tests/test_a.py::test_late")
    assert selects(scope_of("pytest -k '['"), "test_[a]")  # no pattern, but text
    assert not selects(scope_of("go test ./pkg"), "TestLate")
    assert not selects(scope_of("go test ./pkg -run TestEarly"), "TestLate")


def test_a_runner_that_found_no_test_ran_none() -> None:
    assert not ran_tests("ok  \tapp/pkg\t0.3s [no tests to run]")
    assert ran_tests("ok  \tapp/pkg\t0.3s [no tests to run]\nok  \tapp/other\t0.3s")
    assert not ran_tests("collected 0 items\n\n== no tests ran in 0.01s ==")
    assert ran_tests("== 3 passed in 0.01s ==")


def test_is_whole() -> None:
    assert all(is_whole(scope_of(line)) for line in ("make test", "go test ./...", "pytest", "mise run test:ci"))
    assert not any(is_whole(scope_of(line)) for line in ("go test ./pkg", "pytest tests/a.py", "make test -k late"))
    assert not is_whole(RunScope(purpose="test", target="make test", folder="inner"))


def test_runs_program() -> None:
    assert all(map(runs_program, ("python tools/load.py", "python -c 'print(1)'", "./load.sh", "go run ./cmd/app")))
    assert not any(map(runs_program, ("git rebase main", "gh pr view", "exit 1")))
