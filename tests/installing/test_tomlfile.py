from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import HostConfigError
from holdfast.installing.tomlfile import insert, remove
from holdfast.ports.host import ConfigEdit

OURS = "holdfast.surfaces.mcp"
VALUE = {"command": "/usr/bin/py thon", "args": ["-m", OURS], "startup_timeout_sec": 30, "env": {"A B": 'q"\\'}}
EDIT = ConfigEdit(file="config.toml", path=("mcp_servers",), key="holdfast", value=VALUE, ours=OURS)

DOCUMENTS = [
    "",
    'model = "o"\n',
    'model = "o"',
    '# mine\r\nmodel = "o"\r\n\r\n[mcp_servers.other]\r\ncommand = "x" # why\r\n',
    '[mcp_servers]\n[mcp_servers.other]\nargs = [\n  "[not.a.table]",\n]\n[projects."/a b"]\ntrust = "trusted"\n\n\n',
    's = """\n[mcp_servers.holdfast]\n"""\n',
]


@pytest.mark.parametrize("text", DOCUMENTS)
def test_what_is_put_in_says_what_was_requested_and_comes_out_to_the_byte(text: str) -> None:
    made = insert(text, [EDIT])
    document = tomllib.loads(made)
    assert document["mcp_servers"].pop("holdfast") == VALUE
    assert made.startswith(text)
    if "[mcp_servers.holdfast]\n" not in text:
        assert remove(made, [EDIT]).rstrip("\r\n") == text.rstrip("\r\n")


@given(st.dictionaries(st.text(min_size=1, max_size=5), st.text(max_size=8) | st.integers(0, 9) | st.booleans()))
def test_any_value_survives(value: dict[str, object]) -> None:
    edit = ConfigEdit(file="f", path=("a b",), key="c", value={**value, "ours": OURS}, ours=OURS)
    made = insert("x = 1\n", [edit])
    assert tomllib.loads(made)["a b"]["c"] == edit.value
    assert tomllib.loads(remove(made, [edit])) == {"x": 1}


def test_what_others_added_after_ours_stays() -> None:
    made = insert('model = "o"\n', [EDIT]) + '\n[mcp_servers.holdfast.env2]\nA = "1"\n\n[tui]\ntheme = "dark"\n'
    assert tomllib.loads(remove(made, [EDIT])) == {"model": "o", "tui": {"theme": "dark"}}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("model = ", "not valid TOML"),
        ("mcp_servers = 3\n", "not a table"),
        ("mcp_servers = { other = { command = 'x' } }\n", "no table can be added"),
        ('[mcp_servers.holdfast]\ncommand = "mine"\n', "already exists"),
    ],
)
def test_a_file_that_cannot_take_it_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(HostConfigError, match=why):
        insert(text, [EDIT])


def test_somebody_elses_table_of_our_name_stays() -> None:
    text = '[mcp_servers.holdfast]\ncommand = "mine"\n'
    assert remove(text, [EDIT]) == text
