"""Rules that say the same merge; opposite, different or merely similar ones never do."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.compare.sameness import opposed, same, same_choice

NOUNS = ("clock", "parser", "importer", "worker", "fixture", "schema", "cache", "linter", "migration", "gateway")
TAILS = ("in login tests", "for the web folder", "before a release", "on the build server", "in the importer", "")
words = st.sampled_from(NOUNS)
tails = st.sampled_from(TAILS)
numbers = st.integers(min_value=2, max_value=9999)
identifiers = st.sampled_from(("parse_args", "src/app.py", "HttpClient", "utf8", "v2.1", "--no-verify", "API_KEY"))


@given(st.lists(words, min_size=1, max_size=6), tails)
def test_a_rule_is_the_same_as_itself_and_not_its_opposite(nouns: list[str], tail: str) -> None:
    rule = f"Keep the {' and the '.join(nouns)} small {tail}"
    assert same(rule, rule)
    assert not opposed(rule, rule)


@given(words, words, tails)
def test_use_and_do_not_use_are_never_the_same(word: str, other: str, tail: str) -> None:
    for denial in ("Don't use", "Never use", "Do not use", "Avoid"):
        left, right = f"Use the {word} {other} {tail}", f"{denial} the {word} {other} {tail}"
        assert not same(left, right)
        assert opposed(left, right)


@given(words, words, tails)
def test_swapping_what_is_wanted_and_what_is_not_is_the_opposite(word: str, other: str, tail: str) -> None:
    if word == other:
        return
    for between in ("instead of", "rather than", "over", "not", "before"):
        left, right = f"Prefer {word} {between} {other} {tail}", f"Prefer {other} {between} {word} {tail}"
        assert not same(left, right)
        assert opposed(left, right)


@given(words, tails, numbers, numbers)
def test_different_numbers_are_different_rules(noun: str, tail: str, number: int, other: int) -> None:
    rule = "The {} holds at most {} open connections {}"
    assert same(rule.format(noun, number, tail), rule.format(noun, other, tail)) == (number == other)


@given(words, tails, identifiers, identifiers)
def test_different_identifiers_are_different_rules(noun: str, tail: str, identifier: str, other: str) -> None:
    rule = "The {} is configured by {} alone {}"
    assert same(rule.format(noun, identifier, tail), rule.format(noun, other, tail)) == (identifier == other)


@given(st.lists(words, min_size=2, max_size=5, unique=True), words)
def test_one_word_exchanged_for_another_is_another_rule(nouns: list[str], other: str) -> None:
    if other in nouns:
        return
    changed = [other, *nouns[1:]]
    assert not same(f"Restart {' '.join(nouns)}", f"Restart {' '.join(changed)}")


@given(st.text(max_size=80), st.text(max_size=80))
def test_the_order_of_asking_does_not_matter(text: str, other: str) -> None:
    assert same(text, other) == same(other, text)
    assert opposed(text, other) == opposed(other, text)


@given(st.text(max_size=80), st.text(max_size=80))
def test_nothing_is_both_the_same_and_the_opposite(text: str, other: str) -> None:
    assert not (same(text, other) and opposed(text, other))


rule_words = st.lists(
    st.sampled_from((*NOUNS, "not", "never", "use", "instead", "of", "before", "after", "5", "a_b")), max_size=9
)


@given(rule_words, rule_words)
def test_rule_like_texts_are_never_both(rule: list[str], other: list[str]) -> None:
    left, right = " ".join(rule), " ".join(other)
    assert same(left, right) == same(right, left)
    assert opposed(left, right) == opposed(right, left)
    assert not (same(left, right) and opposed(left, right))


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Seed the clock before login tests", "Seed the clock before the login tests."),
        ("Always run `make fmt` before committing", "Run `make fmt` before committing"),
        ("We use pnpm in the web folder", "Use pnpm in the web folder, please"),
        ("Tests need the fake clock", "The tests need a fake clock everywhere"),
    ],
)
def test_the_same_rule_in_other_clothes(text: str, other: str) -> None:
    assert same(text, other)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Run the linter before you push the branch", "Run the linter after you push the branch"),
        ("Enable the cache in the importer", "Disable the cache in the importer"),
        ("Indent the templates with tabs", "Indent the templates with spaces"),
        ("Import the parser in the worker", "Never import the parser in the worker"),
        ("The pool holds 8 workers at most", "The pool holds 16 workers at most"),
        ("Merge main into the branch", "Rebase main into the branch"),
    ],
)
def test_what_cannot_both_hold_is_opposed(text: str, other: str) -> None:
    assert opposed(text, other)
    assert not same(text, other)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Seed the clock in login tests", "The staging database is read only on Mondays"),
        ("Use pnpm in the web folder", "Don't commit the coverage report"),
        ("", ""),
    ],
)
def test_unrelated_rules_are_neither(text: str, other: str) -> None:
    assert not same(text, other)
    assert not opposed(text, other)


@pytest.mark.parametrize(
    ("text", "other", "is_same"),
    [
        ("Amounts are whole cents, never floats", "Never use floats for amounts; use whole cents", True),
        ("Use date-fns instead of moment", "Don't use moment, use date-fns.", True),
        ("date-fns, not moment", "Use date-fns rather than moment please", True),
        ("Amounts are whole cents, never floats", "Amounts are floats, never whole cents", False),
        ("Use pnpm, never npm", "Use npm, never pnpm", False),
        ("Use pnpm in web, never npm", "Use pnpm, never npm", False),
        ("Wait 3 seconds, never 5", "Wait 5 seconds, never 3", False),
        ("Run lint before tests, never after", "Run tests before lint, never after", False),
        ("Use tabs for python and spaces for go", "Use spaces for python and tabs for go", False),
        ("Never use floats", "Never use floats", False),
        ("", "", False),
    ],
)
def test_a_choice_in_other_words_is_the_same_and_another_choice_is_not(text: str, other: str, is_same: bool) -> None:
    assert same_choice(text, other) is same_choice(other, text) is is_same
