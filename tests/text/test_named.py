from __future__ import annotations

import pytest

from holdfast.text.named import NAMED_COMMANDS, NAMED_PLACES, named_in
from holdfast.text.triggers import ACT_WORDS, acts_in, begins


@pytest.mark.parametrize(
    ("rule", "commands"),
    [
        ("Always use pnpm in this repo, never npm", ("pnpm", "npm")),
        ("We never deploy on Fridays", ("deploy",)),
        ("No deployments on Fridays", ("deploy",)),
        ("Ask before a release", ("release",)),
        ("Always run make lint before you say that you are done", ("make lint",)),
        ("Start it with make redis first", ("make redis",)),
        ("Make sure that nothing is logged", ()),
        ("Use make", ("make",)),
        ("Paint it black", ()),
        ("Use `black`, not yapf", ("black",)),
        ("Write commit messages in the imperative mood", ("git commit",)),
        ("Never push to main", ("git push",)),
        ("The customer id is never logged", ()),
    ],
)
def test_programs_and_acts_that_a_rule_names_are_its_commands(rule: str, commands: tuple[str, ...]) -> None:
    assert named_in(rule).commands == commands


def test_dependencies_are_added_with_many_programs() -> None:
    commands = named_in("Never add new dependencies without asking me").commands
    assert {"npm install", "pnpm add", "pip install", "uv add", "go get", "cargo add"} <= set(commands)
    assert len(commands) == NAMED_COMMANDS


@pytest.mark.parametrize(
    ("rule", "paths"),
    [
        ("Don't edit files under src/generated, they are built", ("src/generated/**",)),
        ("Never touch anything in vendor/", ("vendor/**",)),
        ("Leave the migrations folder alone", ("**/migrations/**",)),
        ("Keep package.json sorted", ("**/package.json",)),
        ("Add endpoints to docs/api.md", ("docs/api.md",)),
        ("Never edit *.gen.go by hand", ("**/*.gen.go",)),
        ("Run tests and/or lint; see https://x.example/a/b", ()),
        ("Look into /etc/hosts", ()),
        ("This folder is read and written", ()),
    ],
)
def test_files_that_a_rule_names_are_globs(rule: str, paths: tuple[str, ...]) -> None:
    assert named_in(rule).paths == paths


@pytest.mark.parametrize(
    ("rule", "symbols"),
    [
        ("Never log customer_id", ("customer_id",)),
        ("Call closeAll() in teardown", ("closeAll",)),
        ("Use `StoreLockedError`", ("StoreLockedError",)),
        ("Use GitHub and TypeScript for APIs", ()),
        ("Always write plainly", ()),
    ],
)
def test_names_of_code_are_symbols(rule: str, symbols: tuple[str, ...]) -> None:
    assert named_in(rule).symbols == symbols


def test_kinds_of_commands_come_from_words() -> None:
    assert named_in("The tests need a running redis").work == ("test",)
    assert named_in("Commits and PRs name a ticket").work == ("commit", "pr")


def test_globs_and_symbols_are_limited() -> None:
    rule = " ".join(f"src/a{n}/b.py name_{n}" for n in range(NAMED_PLACES + 1))
    assert (len(named_in(rule).paths), len(named_in(rule).symbols)) == (NAMED_PLACES, NAMED_PLACES)


@pytest.mark.parametrize("rule", ["", "`", "\0", "/ // . .. *", "né 🚀 " * 50, "a" * 100_000])
def test_odd_rules_name_nothing(rule: str) -> None:
    assert named_in(rule).commands == named_in(rule).paths == named_in(rule).symbols == ()


@pytest.mark.parametrize(
    ("command", "fits"),
    [
        ("deploy", True),
        ("deploy prod", True),
        ("make deploy", True),
        ("npm run deploy:staging", True),
        ("bash scripts/deploy.sh prod", True),
        ("mise run -q deploy", True),
        ("echo a b c deploy", False),
        ("kubectl apply -f x.yml", False),
        ("make deployments", False),
    ],
)
def test_an_act_matches_a_command_that_does_it(command: str, fits: bool) -> None:
    assert begins(command, "deploy") is fits
    assert ("deploy" in acts_in(command)) is fits


def test_only_the_first_words_of_a_command_tell_its_act() -> None:
    front = " ".join("x" for _ in range(ACT_WORDS - 1))
    assert acts_in(f"{front} deploy") == ["deploy"]
    assert acts_in(f"{front} x deploy") == []


def test_a_program_is_not_looked_for_inside_a_command() -> None:
    assert begins("npm install lodash", "npm")
    assert not begins("echo npm", "npm")
