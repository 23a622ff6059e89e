"""Redaction at its limits: what lies inside is redacted or left, and what lies one beyond is not."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice, product
from string import punctuation

import pytest

from holdfast import redaction
from holdfast.redaction import forms, keys, names, redact, redact_to, tables, values

LETTERS = "".join("".join(sounds) for sounds in islice(product("bdfgkmnprtvz", "aiou", "bdfgkmnpr", "aou", "lmnr"), 99))
NO_WORDS = "kmqzrwtpbvnhgdsj" * 20
DIGITS = "4f7a9c2e5b8d1036" * 20
RANDOM = "Nq0HlxEDxCi5EEr30L00EyraCfTox5xo"


def rest_before_joint(size: int) -> str:
    """What stays of a literal in two halves whose name begins that many characters before the joint."""
    first = ('token = "' + NO_WORDS)[:size]
    return redact(f'x {first}" + "{DIGITS[:16]}"').removeprefix('x token = "[redacted:value]"')


def rest_behind_joint(size: int, joints: str = '" + "') -> str:
    """What stays of a literal whose last half has that many characters."""
    return redact(f'token = "kmqzrwtp{joints}{DIGITS[:size]}"').removeprefix('token = "[redacted:value]')


def rest_of_command(end: int) -> str:
    """What stays of a command's secret that ends at that character."""
    filler = "-" + "q" * (end - len("vault login - s3cr3tXy9"))
    return redact(f"vault login {filler} s3cr3tXy9").partition("[redacted:value]")[2]


def is_judged(text: str, size: int, last: str) -> bool:
    """Whether something is redacted where a value follows of letters, and of that character at the end."""
    return "[redacted:value]" in redact(text.format(LETTERS[: size - 1] + last))


def is_name_at(share: float) -> bool:
    """Whether letters are a name of which that share stands in runs of small letters."""
    spelt = round(share * 12)
    return values.is_name("QXQZQKQWQVQJ"[: 12 - spelt] + LETTERS[:spelt])


@pytest.mark.parametrize(
    ("limit", "beyond", "outcome_of", "inside", "outside"),
    [
        (redaction.NEAR, 1, lambda n: rest_before_joint(n) == "", True, False),
        (redaction.NEAR, 1, rest_behind_joint, '"', '4"'),
        (redaction.NEAR, 1, lambda n: rest_behind_joint(n, '" + "bvnh" + "'), '"', '4"'),
        (forms.COMMAND_SPAN, 1, rest_of_command, "", "9"),
        (tables.KEY_LENGTH, -1, lambda n: bool(keys.long_words(DIGITS[:n])), True, False),
        (names.JUDGED, 1, lambda n: is_judged("password: {}", n, "7"), True, False),
        (names.JUDGED, 1, lambda n: is_judged("passphrase: {}", n, "7"), True, False),
        (names.JUDGED, 1, lambda n: is_judged("--password={}", n, "("), False, True),
        (names.JUDGED, 1, lambda n: is_judged("--password {}", n, "("), False, True),
        (values.RANDOM_SPELT, -1 / 12, is_name_at, True, False),
    ],
)
def test_a_limit_decides_where_it_says(
    limit: float, beyond: float, outcome_of: Callable[[float], object], inside: object, outside: object
) -> None:
    assert outcome_of(limit) == inside
    assert outcome_of(limit + beyond) == outside


@pytest.mark.parametrize(
    ("inside", "outside"),
    [
        ("Nq0HlxEDxCi5EEr30L00EyraCfTox5xo", "NUmPQwhItN7kmDwtNdUatfQhwjKQKkjkttrrfjKr"),
        ("HPQByUGNTmTPUUmN0FPGFGUGCe1EVJGJmxCI", "ou1dpzz76infq86435YE71RXTPW66I48zadBPL14"),
        ("pgqumDmEcQpexgcPep63m9BxmuWddvCmQdduQCeW", "L8ntdfWVnnoyyAtbnrc95ve7rpmWdTcbdTJut89m"),
    ],
    ids=["entropy", "changes", "runs"],
)
def test_a_word_is_random_by_its_entropy_its_changes_and_its_runs(inside: str, outside: str) -> None:
    assert values.is_random(inside)
    assert not values.is_random(outside)


def test_the_longest_key_block_is_found_at_a_cut_in_the_head() -> None:
    block = f"-----BEGIN PRIVATE KEY-----{'harbour ' * 2_047}-----END PRIVATE KEY-----"
    text = f"{'x' * 700}{block}{'y' * 60_000}"
    assert "harbour" not in redact_to(text, 1_000)


def test_the_longest_key_block_is_found_at_a_cut_in_the_tail() -> None:
    block = f"-----BEGIN PRIVATE KEY-----{'harbour ' * 2_047}-----END PRIVATE KEY-----"
    text = f"{'y' * 60_000}{block}{'x' * 200}"
    assert "harbour" not in redact_to(text, 1_000)
    assert len(block) < redaction.BLOCK_MARGIN + redaction.MARGIN


def test_a_cut_says_how_much_is_left_out() -> None:
    assert "99000 characters left out" in redact_to("word " * 20_000, 1_000)


def test_what_a_replacement_uncovers_is_found_within_the_rounds() -> None:
    assert redaction.ROUNDS == 8
    assert redact("://s3cr3tXy9<private></private>@") == redact(redact("://s3cr3tXy9<private></private>@"))


COMMANDS = [
    ("vault login {}", ("vault", "login")),
    ("vault unseal {}", ("vault", "unseal")),
    ("kubectl exec vault-0 -- bao operator unseal {}", ("operator", "unseal")),
    ("rabbitmqctl add_user ann {}", ("rabbitmqctl", "add_user")),
    ("rabbitmqctl change_password ann {}", ("rabbitmqctl", "change_password")),
    ("rabbitmqctl authenticate_user ann {}", ("rabbitmqctl", "authenticate_user")),
    ("net user ann {}", ("net", "user")),
    ("htpasswd -b users ann {}", ("htpasswd",)),
    ("wpa_passphrase home {}", ("wpa_passphrase",)),
    ("npm set //registry/:_authToken {}", ("npm", "set")),
    ("pdftk a.pdf output b.pdf user_pw {}", ("pdftk", "user_pw")),
    ("pdftk a.pdf output b.pdf owner_pw {}", ("pdftk", "owner_pw")),
    ("pdftk a.pdf input_pw {}", ("pdftk", "input_pw")),
    ("redis-cli -h cache auth {}", ("redis-cli", "auth")),
    ("iwconfig wlan0 key {}", ("iwconfig", "key")),
]
"""A command for each row of `POSITIONS`, and the words by which it is known."""


@pytest.mark.parametrize(("command", "lead"), COMMANDS)
def test_a_commands_secret_is_the_word_at_its_position(command: str, lead: tuple[str, ...]) -> None:
    assert lead in dict(tables.POSITIONS)
    assert redact(command.format("s3cr3tXy9 tail9Ab")) == command.format("[redacted:value] tail9Ab")
    assert "s3cr3tXy9" in redact(command.format("plain s3cr3tXy9"))


def test_each_position_has_a_command() -> None:
    assert [lead for _, lead in COMMANDS] == [lead for lead, _ in tables.POSITIONS]


@pytest.mark.parametrize("code", range(256))
def test_a_key_is_looked_for_in_words_of_the_characters_that_keys_have(code: int) -> None:
    text = f"k1{'a' * 12}{chr(code)}k2{'b' * 12}"
    joins = chr(code).isascii() and (chr(code).isalnum() or chr(code) in "_+/.-~")
    assert keys.long_words(text) == ([text] if joins else [f"k1{'a' * 12}", f"k2{'b' * 12}"])


@pytest.mark.parametrize("sign", [".", "~"])
def test_the_parts_of_a_chain_are_judged_one_by_one(sign: str) -> None:
    assert redact(f"old.harbour{sign}{RANDOM}") == f"old.harbour{sign}[redacted:random]"


@pytest.mark.parametrize("sign", [*punctuation, " ", "\n", "\t", "\xe9"])
def test_a_word_that_announces_a_secret_ends_at_any_sign(sign: str) -> None:
    assert redact(f"CREATE USER ann{sign}IDENTIFIED BY 's3cr3t!Xy'").endswith("BY '[redacted:value]'")
