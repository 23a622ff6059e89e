"""Text-preserving edits: whatever the document looks like, what is put in comes out again to the byte."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import HostConfigError
from holdfast.installing.jsonfile import insert, plain, remove
from holdfast.ports.host import ConfigEdit

OURS = "holdfast/entry.py"


def hook_edit(event: str) -> ConfigEdit:
    group = {"matcher": "*", "hooks": [{"type": "command", "command": f"python {OURS} x", "timeout": 5}]}
    return ConfigEdit(file="f", path=("hooks", event), value=group, ours=OURS)


def server_edit(*path: str) -> ConfigEdit:
    return ConfigEdit(file="f", path=path, key="holdfast", value={"command": "p", "args": ["-m", OURS]}, ours=OURS)


EDITS = [hook_edit("Stop"), hook_edit("PreToolUse"), server_edit("mcpServers"), server_edit("projects", "/a b", "mcp")]

scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8)
values: st.SearchStrategy[Any] = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3)
)
groups = st.fixed_dictionaries({"hooks": st.lists(st.fixed_dictionaries({"command": st.text(max_size=9)}), max_size=2)})
hooks = st.dictionaries(st.sampled_from(["Stop", "PreToolUse", "Other"]), st.lists(groups, max_size=2), max_size=3)
servers = st.dictionaries(st.sampled_from(["a", "b"]), values, max_size=2)
documents = st.builds(
    lambda other, known: {**other, **known},
    st.dictionaries(st.text(max_size=6).filter(lambda key: key not in ("hooks", "mcpServers", "projects")), values),
    st.fixed_dictionaries({}, optional={"hooks": hooks, "mcpServers": servers, "projects": st.just({"/a b": {}})}),
)
blanks = st.sampled_from(["", " ", "\n", "\r\n", "\t", "\n\n    "])


@st.composite
def texts(draw: st.DrawFn) -> str:
    """A document as anybody may have formatted it."""
    document = draw(documents)
    style = draw(st.sampled_from(["tidy", "dense", "odd"]))
    if style == "odd":
        return draw(blanks) + _odd(draw, document) + draw(blanks)
    indent = draw(st.sampled_from([2, 4, "\t"])) if style == "tidy" else None
    text = json.dumps(document, indent=indent, ensure_ascii=draw(st.booleans()))
    return text.replace("\n", draw(st.sampled_from(["\n", "\r\n"]))) + draw(blanks)


def _odd(draw: st.DrawFn, value: Any) -> str:
    if isinstance(value, dict):
        members = [
            f"{json.dumps(key)}{draw(blanks)}:{draw(blanks)}{_odd(draw, member)}" for key, member in value.items()
        ]
        return "{" + draw(blanks) + f"{draw(blanks)},{draw(blanks)}".join(members) + draw(blanks) + "}"
    if isinstance(value, list):
        parts = [_odd(draw, member) for member in value]
        return "[" + draw(blanks) + f"{draw(blanks)},{draw(blanks)}".join(parts) + draw(blanks) + "]"
    return json.dumps(value)


@given(texts())
def test_remove_is_the_inverse_of_insert_to_the_byte(text: str) -> None:
    assert remove(insert(text, EDITS), EDITS, text) == text


@given(texts())
def test_insert_adds_our_entries_and_nothing_else(text: str) -> None:
    before, after = json.loads(text), json.loads(insert(text, EDITS))
    assert after["hooks"]["Stop"][-1] == EDITS[0].value
    assert after["hooks"]["Stop"][:-1] == before.get("hooks", {}).get("Stop", [])
    assert after["mcpServers"] == {**before.get("mcpServers", {}), "holdfast": EDITS[2].value}
    for key in before.keys() - {"hooks", "mcpServers", "projects"}:
        assert after[key] == before[key]


@given(texts(), values, st.data())
def test_an_edit_of_the_user_in_between_survives(text: str, value: Any, drawn: st.DataObject) -> None:
    added = f'"user\'s own": {json.dumps(value)}'

    def edited(document: str) -> str:
        start = document.index("{") + 1
        comma = "" if document[start:].lstrip().startswith("}") else ","
        return document[:start] + added + comma + document[start:]

    before, after = json.loads(text), json.loads(remove(edited(insert(text, EDITS)), EDITS, text))
    assert after == {"user's own": value, **before}
    if before:
        assert remove(edited(insert(text, EDITS)), EDITS, text) == edited(text)


@given(texts())
def test_insert_after_remove_is_insert(text: str) -> None:
    once = insert(text, EDITS)
    assert insert(remove(once, EDITS, text), EDITS) == once


def test_entries_that_the_user_moved_beside_their_own_are_cut_out_of_the_group() -> None:
    text = f'{{"hooks": {{"Stop": [{{"hooks": [{{"command": "mine"}}, {{"command": "python {OURS}"}}]}}]}}}}'
    assert remove(text, EDITS, text) == '{"hooks": {"Stop": [{"hooks": [{"command": "mine"}]}]}}'


def test_what_the_user_added_behind_ours_stays_as_it_was_typed() -> None:
    text = insert('{\n  "a": 1\n}\n', [hook_edit("Stop")])
    mine = '{"hooks": [{"command":"mine"}]}'
    text = text.replace("      }\n    ]", "      },\n      " + mine + "\n    ]")
    assert remove(text, [hook_edit("Stop")], '{"a": 1}') == (
        '{\n  "a": 1,\n  "hooks": {\n    "Stop": [\n      ' + mine + "\n    ]\n  }\n}\n"
    )


def test_entries_of_an_older_version_go_from_every_event() -> None:
    text = insert("{}", [hook_edit("Retired"), hook_edit("Stop")])
    assert remove(text, [hook_edit("Stop")], "{}") == "{}"


def test_an_emptied_list_that_was_the_users_stays() -> None:
    before = '{"hooks": { "Stop": [ ], "Other": [] } }'
    assert remove(insert(before, EDITS), EDITS, before) == before


def test_a_server_of_the_same_name_that_is_not_ours_is_never_replaced() -> None:
    text = '{"mcpServers": {"holdfast": {"command": "something else"}}}'
    assert remove(text, EDITS, text) == text
    with pytest.raises(HostConfigError, match="already exists and is not Holdfast's"):
        insert(text, EDITS)


@pytest.mark.parametrize(
    "text",
    ["[]", "3", "null", "{", '{"a": }', '// note\n{"a": 1}', '{"hooks": []}', '{"hooks": {"Stop": {}}}', "{} {}",
     '{"hooks": "x"}', '{"mcpServers": null}', '{"projects": {"/a b": 7}}', '{"a":' * 50_000, "\0"],
)  # fmt: skip
def test_a_document_we_cannot_edit_is_refused_with_a_hint(text: str) -> None:
    with pytest.raises(HostConfigError) as refused:
        insert(text, EDITS)
    assert refused.value.hint


def test_comments_are_named_as_the_reason() -> None:
    with pytest.raises(HostConfigError, match="comments"):
        insert('{\n  // mine\n  "a": 1\n}', EDITS)


def test_an_empty_file_becomes_a_document() -> None:
    assert json.loads(insert(" \n", EDITS[:1])) == {"hooks": {"Stop": [EDITS[0].value]}}


def test_the_indentation_and_line_ends_of_the_file_are_preserved() -> None:
    text = insert('{\r\n\t"a": [],\r\n\t"hooks": {}\r\n}\r\n', [hook_edit("Stop")])
    assert '\r\n\t"hooks": {\r\n\t\t"Stop": [\r\n\t\t\t{\r\n\t\t\t\t"matcher": "*",\r\n' in text
    assert "\n" not in text.replace("\r\n", "")


WITH_COMMENTS = [
    '// mine\n{\n  // "context": {}\n  "mcpServers": { "a": {"command": "x // y"}, /* last */ }, // why\n}\n',
    '{\r\n\t"hooks": {"Stop": [{"hooks": [{"command": "a"},]},],},\r\n\t/* "mcpServers": 1 */\r\n}',
    '{ /* nothing yet */ }',
    '{"a": "\\"//\\"", "b": 1, // end\n}',
]  # fmt: skip


@pytest.mark.parametrize("text", WITH_COMMENTS)
def test_comments_and_trailing_commas_stay_where_the_host_takes_them(text: str) -> None:
    edits = [replace(edit, comments=True) for edit in EDITS]
    made = insert(text, edits)
    document = json.loads(plain(made))
    assert document["mcpServers"]["holdfast"] == EDITS[2].value
    assert document["hooks"]["Stop"][-1] == EDITS[0].value
    assert remove(made, edits, text) == text


def test_comments_are_refused_where_the_host_does_not_take_them() -> None:
    with pytest.raises(HostConfigError, match="comments"):
        insert(WITH_COMMENTS[0], EDITS)


def test_a_key_that_is_there_twice_is_refused() -> None:
    with pytest.raises(HostConfigError, match="2 times"):
        insert('{"mcpServers": {}, "mcpServers": {}}', EDITS)
