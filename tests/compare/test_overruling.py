from __future__ import annotations

import pytest

from holdfast.compare.overruling import forbids, overrules, says_to_run


@pytest.mark.parametrize(
    ("rule", "line", "is_forbidden"),
    [
        ("Use pnpm, never npm", "npm install lodash", True),
        ("Use pnpm, never npm", "cd web && npm ci", True),
        ("Use pnpm, never npm", "pnpm install", False),
        ("Always use pnpm", "npm install", True),
        ("Use bun instead of npm", "npm test", True),
        ("Don't use npm in this repo", "npm test", True),
        ("Never npm publish", "npm publish", True),
        ("Never npm publish", "npm install", False),
        ("Never run npm install without asking me", "npm install", False),
        ("Never use npm in tests", "npm install", False),
        ("Always use pnpm in the web folder", "npm install", False),
        ("Never add new dependencies without asking me", "npm install", False),
        ("We never deploy on Fridays", "make deploy", False),
        ("Use pytest", "go test ./...", False),
        ("", "", False),
    ],
)
def test_a_rule_rules_out_commands_that_it_denies_everywhere(rule: str, line: str, is_forbidden: bool) -> None:
    assert forbids(rule, line) is is_forbidden


@pytest.mark.parametrize(
    ("later", "earlier", "is_replaced"),
    [
        ("Use bun", "Always use pnpm", True),
        ("Use bun", "Always use pnpm in this repo, never npm", True),
        ("Use bun for the scripts folder", "Always use pnpm", False),
        ("Use bun", "Always use pnpm in the web folder", False),
        ("Use spaces, not tabs", "We use tabs, not spaces", True),
        ("We deploy on Fridays", "We never deploy on Fridays", True),
        ("Our database is called red-fox", "Our database is called blue-heron", True),
        ("Our cache is called red-fox", "Our database is called blue-heron", False),
        ("You may add dependencies", "Never add dependencies without asking me", True),
        ("You may add tests", "Never add dependencies without asking me", False),
        ("Always use pnpm", "Always use pnpm", False),
        ("Never log customer ids", "Never add dependencies", False),
    ],
)
def test_the_later_of_two_rules_on_one_subject_holds(later: str, earlier: str, is_replaced: bool) -> None:
    assert overrules(later, earlier) is is_replaced


@pytest.mark.parametrize(
    ("rule", "line", "says"),
    [
        ("Run the tests with make test", "make test", True),
        ("Always run `make lint` before you say that you are done", "make lint", True),
        ("Run the tests with make test-all", "make test", False),
        ("Run make test on the staging cluster after each migration of the orders table", "make test", False),
        ("Run the tests", "", False),
    ],
)
def test_a_rule_that_says_little_more_than_to_run_a_command_says_to_run_it(rule: str, line: str, says: bool) -> None:
    assert says_to_run(rule, line) is says
