"""Two texts contradict each other only where their difference is the contradiction."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.compare.contradiction import relation

WORDS = (
    "use", "never", "not", "instead", "of", "before", "after", "npm", "pnpm", "port", "8080", "9090", "tests", "in",
    "production", "the", "cache", "`parse_args`", "no", "longer", "switched", "from", "to", "is", "on", "off", "unless",
)  # fmt: skip
rules = st.lists(st.sampled_from(WORDS), max_size=9).map(" ".join)


@pytest.mark.parametrize(
    ("text", "other", "slot", "values"),
    [
        ("Install dependencies with npm.", "Install dependencies with pnpm.", "package manager", ("npm", "pnpm")),
        ("The tests run on pytest.", "Tests run on unittest.", "test runner", ("pytest", "unittest")),
        ("The data is in PostgreSQL.", "The data is in MySQL.", "database", ("postgresql", "mysql")),
        ("The dev server listens on port 8080.", "The dev server listens on port 9090.", "port", ("8080", "9090")),
        ("Amounts are integer cents.", "Amounts are floats.", "number type", ("integer", "float")),
        ("Retry at most 3 times.", "Retry at most 5 times.", "number", ("3", "5")),
        ("We need Go 1.21 or newer.", "We need at least Go 1.23.", "version", ("1.21", "1.23")),
        ("Enable the cache in the importer", "Disable the cache in the importer", "opposites", ("enabl", "disabl")),
        ("The parser is `strict` by default.", "The parser is `loose` by default.", "value", ("strict", "loose")),
    ],
)
def test_a_contradiction_names_its_slot_and_both_values(
    text: str, other: str, slot: str, values: tuple[str, str]
) -> None:
    answer = relation(text, other)
    assert (answer.kind, answer.slot, answer.values) == ("contradicts", slot, values)


def test_a_rule_that_offers_the_others_value_among_several_agrees_with_it() -> None:
    rule = "Prices are integers in cents, never floats."
    assert relation(rule, "Never use floats for money, use Decimal or integers.").kind != "contradicts"
    assert relation(rule, "Prices are decimals, never floats.").kind == "contradicts"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Pass `proxies` to the client.", "The client no longer takes `proxies`."),
        ("Lint with flake8.", "We replaced flake8 with ruff."),
        ("Dependencies are managed by poetry.", "We switched from poetry to uv for dependencies."),
        ("CI installs macFUSE for the desktop build.", "CI installs FUSE-T instead of macFUSE for the desktop build."),
        ("The client supports PHP 5.", "The client dropped PHP 5."),
        ("Read the version from `lib.__version__`.", "`lib.__version__` is gone."),
    ],
)
def test_what_has_ended_contradicts_what_was_so(old: str, new: str) -> None:
    answer = relation(old, new)
    assert answer.kind == "contradicts"
    assert answer.ends == (False, True)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Use jest for tests.", "Use pytest for tests."),  # two languages of one project
        ("Cache entries are in Redis.", "Accounts are in PostgreSQL."),
        ("The frontend runs on port 3000.", "The agent service runs on port 3001."),
        ("Call `t.Parallel()` in tests.", "Don't call `t.Parallel()` in tests that change the working directory."),
        ("Set `verify=False` for the local server.", "Never set `verify=False` in production."),
        ("On Windows the separator is a backslash.", "On Linux the separator is a slash."),
        ("Pier 3 is slow at noon.", "Pier 5 is slow at noon."),
        ("Don't use app.run in production.", "The production server of app.run logs to a file."),
        ("If the port is not 80, send the Host header.", "If the port is 80, send the Host header."),
        ("", ""),
        ("Not never no.", "`"),
        ("Passwords are hashed with bcrypt.", "Tokens are hashed with sha256."),
        ("Sessions live in Redis for 30 minutes.", "Sessions live in Redis, keyed by user."),
        ("Migrations run at 03:00 on staging.", "Migrations run at 05:30 on production."),
        ("Docker images are based on alpine.", "Docker images are scanned with trivy."),
        ("Update to Go 1.21.", "Update to Go 1.18, drop older Go version support, and update modules."),
        ("The API listens on port 8000.", "The admin listens on port 9000."),
        ("We support Python 3.9.", "We dropped Python 3.8."),
    ],
)
def test_rules_for_different_things_are_unrelated(text: str, other: str) -> None:
    assert relation(text, other).kind == "unrelated"
    assert relation(other, text).kind == "unrelated"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("We use the ORM for all queries.", "We ripped out the ORM, queries are plain SQL now."),
        ("Deploys go through Jenkins.", "We got rid of Jenkins; deploys are GitHub Actions now."),
        ("We log with loguru.", "We ditched loguru for structlog."),
        ("Feature flags come from LaunchDarkly.", "LaunchDarkly is out, flags are in config/flags.yaml."),
        ("Use Celery for background jobs.", "Celery was thrown out; background jobs run in arq."),
        ("Frontend state is in Redux.", "We replaced Redux with Zustand."),
        ("Config is read from `.env`.", "Config comes from environment variables only, `.env` is gone."),
    ],
)
def test_what_was_taken_out_contradicts_its_use_in_whatever_words(old: str, new: str) -> None:
    for first, second in ((old, new), (new, old)):
        assert relation(first, second).kind == "contradicts"


@pytest.mark.parametrize(
    ("text", "other", "values"),
    [
        ("Passwords are hashed with bcrypt.", "Passwords are hashed with argon2id.", ("bcrypt", "argon2id")),
        ("The job queue runs on Redis.", "The job queue runs on Postgres now.", ("redis", "postgres")),
        ("Sessions live in Redis.", "Sessions are kept in Postgres.", ("redis", "postgres")),
        ("Backups run at 03:00.", "Backups run at 05:30.", ("03:00", "05:30")),
        ("Docker images are based on alpine.", "Docker images are based on debian slim because musl broke numpy.",
         ("alpine", "debian slim")),
        ("Use moment for dates.", "Dates are handled with date-fns.", ("moment", "date-fns")),
    ],
)  # fmt: skip
def test_two_values_of_one_thing_contradict_each_other_and_wait_for_a_person(
    text: str, other: str, values: tuple[str, str]
) -> None:
    answer = relation(text, other)
    assert (answer.kind, answer.slot, answer.values, answer.is_sure) == ("contradicts", "value", values, False)


def test_paraphrases_are_the_same_and_longer_rules_refine() -> None:
    assert relation("Run `make fmt` before every commit.", "Before you commit, always run `make fmt`.").kind == "same"
    assert relation("Never log private keys.", "Never log private keys, not even at debug level.").kind == "refines"
    assert relation("Hidden files are not searched.", "Hidden files are not searched unless asked.").kind == "refines"


def test_only_known_slots_and_nearly_equal_words_are_sure() -> None:
    assert relation("Install dependencies with npm.", "Install dependencies with pnpm.").is_sure
    assert relation("Use app.run in production.", "Don't use app.run in production.").is_sure
    assert not relation("We use npm.", "We use pnpm.").is_sure  # nothing says that both are about one folder
    assert not relation("Install dependencies with npm.", "Lint with ruff.").is_sure


@given(rules, rules)
def test_swapping_the_texts_swaps_the_answer_and_changes_nothing_else(text: str, other: str) -> None:
    there, back = relation(text, other), relation(other, text)
    assert (there.kind, there.slot) == (back.kind, back.slot)
    assert there.values == back.values[::-1]
    assert there.ends == back.ends[::-1]


@given(rules)
def test_a_rule_does_not_contradict_itself(rule: str) -> None:
    assert relation(rule, rule).kind != "contradicts"


@given(st.text(max_size=120), st.text(max_size=120))
def test_any_text_has_an_answer(text: str, other: str) -> None:
    assert relation(text, other).kind == relation(other, text).kind
