"""Secrets of every known format go, what only looks like one stays, nothing takes long."""

from __future__ import annotations

import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.redaction import MARGIN, redact, redact_to
from holdfast.redaction.forms import TRIGGERS
from holdfast.redaction.tables import KEYS, NAMES, PROGRAMS
from tests import credentials

SEED = 20
EACH = 40


def test_every_key_with_a_prefix_is_redacted_wherever_it_stands() -> None:
    missed = Counter(
        name
        for name, text, key in credentials.iter_keys(SEED, EACH)
        if key in redact(text) or key[-12:] in redact(text)
    )
    assert not [name for name in missed if not name.startswith("random")], missed
    assert sum(missed.values()) <= 2, missed


def test_every_value_that_a_name_or_a_header_announces_is_redacted() -> None:
    left = [(text, redact(text)) for _, text, secret in credentials.iter_assigned(SEED, EACH) if secret in redact(text)]
    assert left == []


@pytest.mark.parametrize("text", credentials.LOOK_ALIKES)
def test_a_text_that_only_looks_like_a_secret_stays(text: str) -> None:
    assert redact(text) == text


FLOORS = {
    "header": 1.0, "url": 0.98, "environment": 0.98, "code": 0.97, "flag": 0.95, "manifest": 0.97, "broken": 0.95,
    "sentence": 0.95, "other": 0.95,
}  # fmt: skip
"""Least share of each kind's forms that is found; raise one when it has become better, never lower it."""


def test_every_kind_of_form_is_found_as_often_as_its_floor_says() -> None:
    total: Counter[str] = Counter()
    redacted: Counter[str] = Counter()
    for kind, _, text, gone in credentials.iter_forms(SEED, 4):
        total[kind] += 1
        redacted[kind] += not any(part in redact(text) for part in gone)
    assert total.keys() == FLOORS.keys()
    assert {kind: redacted[kind] / total[kind] for kind in FLOORS if redacted[kind] / total[kind] < FLOORS[kind]} == {}


@pytest.mark.parametrize("text", credentials.QUIET)
def test_an_ordinary_line_stays(text: str) -> None:
    assert redact(text) == text


def test_a_key_is_seen_in_a_file_name() -> None:
    key = "AK" + "IA" + "Q3T5" * 4
    assert redact(f"notes/f-{key}.txt") == "notes/f-[redacted:aws].txt"
    assert redact(f"notes/f_{key}.txt") == "notes/f_[redacted:aws].txt"


def test_what_reads_a_programs_flags_knows_every_program_that_wakes_it() -> None:
    for program in PROGRAMS:
        assert program.replace("_", "-").partition("-")[0] in TRIGGERS


def test_the_text_around_a_secret_stays() -> None:
    key = "gh" + "p_" + "a1B2" * 9
    assert redact(f"before {key} after") == "before [redacted:github] after"
    assert redact("mysql://ann:p4ssw0rdX@db/app") == "mysql://ann:[redacted:url]@db/app"
    assert redact('{"password": "hunter22", "port": 1}') == '{"password": "[redacted:value]", "port": 1}'


@pytest.mark.parametrize("newline", ["\n", "\\n", "\r\n", "\n+", "\n    12→"])
@pytest.mark.parametrize("kind", ["RSA ", "", "OPENSSH ", "ENCRYPTED ", "EC "])
def test_a_private_key_block_goes_whole(kind: str, newline: str) -> None:
    block = credentials.make_pem(SEED, kind, newline=newline)
    assert redact(f"a {block} b") == "a [redacted:pem] b"


@pytest.mark.parametrize("newline", ["\n", "\\n", "\r\n"])
def test_a_private_key_block_that_was_cut_off_goes_as_far_as_it_reaches(newline: str) -> None:
    block = credentials.make_pem(SEED, newline=newline)[:700]
    left = redact(block)
    assert left == "[redacted:pem]"
    assert redact("a\n" + credentials.make_pem(SEED).rsplit("\n", 1)[0] + "\n\nThe rest stays.").endswith("rest stays.")


def test_a_pgp_private_block_goes() -> None:
    block = credentials.make_pem(SEED, "PGP ").replace("KEY-----", "KEY BLOCK-----")
    assert redact(block) == "[redacted:pem]"


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a <private>b</private> c", "a [private] c"),
        ("a <PRIVATE>b\n\nb</Private> c", "a [private] c"),
        ("a <private>b <private>c</private> d</private> e", "a [private] e"),
        ("a <private>never closed", "a [private]"),
        ("<private></private>", "[private]"),
        ("a </private> b", "a </private> b"),
        ("İ <private>b</private> İ", "İ [private] İ"),
    ],
)
def test_private_spans_vanish(text: str, left: str) -> None:
    assert redact(text) == left


@pytest.mark.parametrize("name", sorted({name for name in NAMES if name.isalpha()} - {"token", "key"}))
def test_a_name_in_any_case_announces_its_value(name: str) -> None:
    for written in (name, name.upper(), name.title(), "db_" + name, "my" + name.title()):
        assert "a1b2c3d4e5" not in redact(f'{written} = "a1b2c3d4e5"'), written


def test_no_rule_is_named_like_something_that_announces_a_secret() -> None:
    rules = {rule for rule, *_ in KEYS} | {"value", "header", "cookie", "url", "random", "pem", "jwt"}
    assert not [rule for rule in rules for name in NAMES if name in rule]


def test_odd_texts_are_no_trouble() -> None:
    key = "gh" + "p_" + "a1B2" * 9
    assert redact("") == ""
    assert redact(f"\x00{key}\x00") == "\x00[redacted:github]\x00"
    assert redact(f"\r\nk={key}\r\n") == "\r\nk=[redacted:github]\r\n"
    assert redact(f"\ud800 {key} \U0001f600") == "\ud800 [redacted:github] \U0001f600"
    assert redact(f"日本語{key}日本語") == "日本語[redacted:github]日本語"


PIECES = st.sampled_from(
    ["password", "=", ": ", '"', "'", "\\", "\n", " ", "token", "sk-", "eyJ", "AKIA", "://", "@", "<private>",
     "</private>", "-----BEGIN RSA PRIVATE" + " KEY-----", "-----END RSA PRIVATE" + " KEY-----", "Bearer ",
    "Cookie: ",
     "a1B2c3D4e5F6", "[redacted:value]", "[private]", "hunter22", "--", "authorization", "curl -u ann:", "{", "}",
    "é",
     "İ", "x" * 20, "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"]
)  # fmt: skip


@given(st.lists(PIECES | st.text(max_size=6), max_size=25).map("".join))
def test_redacting_twice_is_redacting_once(text: str) -> None:
    once = redact(text)
    assert redact(once) == once


@given(st.integers(0, 10**6), st.integers(0, 6_000), st.integers(0, 39))
def test_a_cut_never_leaves_a_part_of_a_secret(seed: int, lead: int, which: int) -> None:
    keys = [key for name, _, key in credentials.iter_keys(seed, 1) if "random" not in name]
    key = keys[which % len(keys)]
    text = ("lorem ipsum " * 600)[:lead] + f" key {key} " + "dolor sit amet " * 900
    cut = redact_to(text, 4_000)
    assert not any(key[at : at + 12] in cut for at in range(len(key) - 11))


@given(st.integers(0, 9_000))
def test_a_cut_through_a_block_leaves_nothing_of_it(lead: int) -> None:
    block = credentials.make_pem(SEED, lines=60)
    text = ("lorem ipsum " * 800)[:lead] + block + " <private>unspoken words</private> " + "dolor sit amet " * 900
    cut = redact_to(text, 4_000)
    assert not any(line in cut for line in block.split("\n"))
    assert "unspoken" not in cut


def test_a_long_text_keeps_its_beginning_and_its_end() -> None:
    text = "first\n" + "x y z\n" * 20_000 + "last"
    cut = redact_to(text, 1_000)
    assert cut.startswith("first\n")
    assert cut.endswith("last")
    assert "characters left out" in cut
    assert len(cut) < 1_100


def test_a_text_just_over_the_limit_is_cut_too() -> None:
    assert len(redact_to("x y z\n" * 200, 1_000)) <= 1_000 + 60
    assert redact_to("short", 1_000) == "short"
    assert len(redact_to("ab " * (500 + MARGIN), 1_000)) <= 1_000 + 60


@pytest.mark.parametrize(
    "unit",
    ["password=", "password", "sk-", "eyJ", "eyJ.", "://a", "-----BEGIN ", "-----BEGIN RSA PRIVATE" + " KEY-----",
     "<private>", "<private></private>", 'password="', 'password=\\\\"', "a", "A1ab", "AKIA ", "cookie:", "basic ",
     "authorization: ", "curl -u ", " ", "\n", "xoxb-", "token: a1", "=", "--password ", "login password ",
    "\\", '"'],
)  # fmt: skip
def test_hostile_repetition_ends(unit: str) -> None:
    text = unit * (60_000 // len(unit))
    once = redact(text)
    assert redact(once) == once


HOSTILE = (
    "AKIA", "AKIA-", "-----BEGIN PRIVATE" + " KEY-----\n\n\n", "-----END PRIVATE" + " KEY-----\n", "password,\n",
    "|password|\n", "kind: secret\ndata:\n a: b\n", '" + "', "a\\\n", "mysql -p", "a1b2c3d4e5f6g7.", "pw ",
    "passwords:\n- a\n", "identified by ", "414b4941", "a\u200b", "\x1b[",
    "123456789012345|a1b2c3d4e5f6g7h8i9j0k1l2m3n4",
)  # fmt: skip


def test_a_quarter_of_a_megabyte_of_each_hostile_unit_ends() -> None:
    """What is quadratic takes hours at this size; what is linear takes seconds, and a busy machine a few minutes."""
    script = (
        "import sys; from holdfast.redaction import redact_to\n"
        "for unit in eval(sys.stdin.read()):\n"
        "    redact_to(unit * (250_000 // len(unit)), 100_000)\n"
    )
    subprocess.run(
        [sys.executable, "-I", "-c", _path() + script], input=repr(HOSTILE), text=True, check=True, timeout=3_000
    )


def test_five_megabytes_of_tool_output_are_cut_to_size() -> None:
    key = "gh" + "p_" + "a1B2" * 9
    text = f"start {key}\n" + "line of output = 1\n" * 260_000 + f"\nend {key}"
    cut = redact_to(text, 16_000)
    assert key not in cut
    assert cut.count("[redacted:github]") == 2
    assert len(cut) < 16_100


def _path() -> str:
    import holdfast

    return f"import sys; sys.path.insert(0, {str(holdfast.__path__[0])[: -len('/holdfast')]!r});"
