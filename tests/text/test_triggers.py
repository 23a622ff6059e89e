from __future__ import annotations

import pytest

from holdfast.domain.lesson import Triggers
from holdfast.text.triggers import beginning_of, begins, derive_triggers, key_of, restated, stands_in, united


@pytest.mark.parametrize(
    ("insight", "literals"),
    [
        ("Lint does not accept plain exec.Command: use exec.CommandContext.", ("exec.Command",)),
        ("os.Getwd() is forbidden in production code: use paths.RepoRoot().", ("os.Getwd(",)),
        ("Use a constant instead of `[:7]`.", ("[:7]",)),
        ("Do not pass --stat to gh; the diff is cut.", ("--stat",)),
        ("`gh pr diff <n> --stat` does not exist.", ()),
        ("`gh pr diff` has no `--stat`: use `--name-only`.", ()),
        ("Never use `--no-verify`.", ("--no-verify",)),
        ("paths.RepoRoot() caches the root.", ()),
        ("Never write `<name>` or `...` into it.", ()),
        ("Do not edit metadata.json by hand.", ()),
        ('Do not hard-code "Blue Whale" in texts: ask the ship.', ("Blue Whale",)),
        ('Do not loosen an assertion ("Empty is fine").', ()),
        ('Write "Blue Whale", never "it".', ()),
    ],
)
def test_code_that_a_rule_denies_is_a_literal(insight: str, literals: tuple[str, ...]) -> None:
    assert derive_triggers("constraint", "agent", insight).literals == literals


def test_what_only_tells_how_something_is_gives_no_literal() -> None:
    assert derive_triggers("exploration", "agent", "`a.b` is not set by init.").literals == ()
    assert derive_triggers("bug_cause", "agent", "`a.b` is not set by init.").literals == ()


def test_text_that_a_persons_decision_rules_out_is_a_literal() -> None:
    words = 'This will not say "Blue Whale" but the name of the ship; `a.b` is not set.'
    assert derive_triggers("decision", "person", words).literals == ("Blue Whale",)
    assert derive_triggers("decision", "agent", words).literals == ()


def test_quoted_commands_are_where_a_rule_belongs() -> None:
    when = derive_triggers("tooling", "agent", "Run `make check` and `gh pr diff <n>`; `pytest` alone is too little.")
    assert when.commands == ("make check", "gh pr diff")


def test_a_standing_rule_is_marked_so() -> None:
    assert derive_triggers("preference", "person", "Write plainly.").standing
    assert not derive_triggers("preference", "agent", "Write plainly.").standing


def test_a_beginning_ends_before_flags_and_placeholders() -> None:
    assert beginning_of("go test -run X ./...") == ""
    assert beginning_of("gh pr diff -R a/b") == "gh pr diff"
    assert beginning_of("mise run test:integration -- -run X") == "mise run test:integration"
    assert beginning_of("pytest") == ""
    assert beginning_of("the quick fox") == ""
    assert begins("gh pr diff 3", "gh pr diff")
    assert not begins("gh pr difference", "gh pr diff")


def test_a_literal_is_no_part_of_a_longer_word() -> None:
    assert stands_in("exec.Command", "x := exec.Command(name)")
    assert not stands_in("exec.Command", "x := exec.CommandContext(ctx, name)")
    assert stands_in("exec.Command", "exec.CommandContext(a); exec.Command(b)")
    assert stands_in("[:7]", "sha[:7]")
    assert key_of("exec.Command(") == "command"
    assert key_of("[:7]") == ""


def test_words_that_change_take_their_own_triggers_along_and_no_others() -> None:
    before, after = Triggers(literals=("a.b",)), Triggers(literals=("c.d",))
    stated = Triggers(literals=("a.b", "mine("), paths=("src/**",))
    assert restated(stated, before, after) == Triggers(literals=("mine(", "c.d"), paths=("src/**",))
    assert united(before, after).literals == ("a.b", "c.d")
