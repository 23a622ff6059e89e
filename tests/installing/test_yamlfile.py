from __future__ import annotations

import pytest
import yaml

from holdfast.errors import HostConfigError
from holdfast.installing.yamlfile import insert, remove
from holdfast.ports.host import ConfigEdit

OURS = "holdfast.surfaces.mcp"
VALUE = {"enabled": True, "cmd": "/usr/bin/py thon", "args": ["-m", OURS], "envs": {}, "bundled": None}
ENTRY = ConfigEdit(file="config.yaml", path=("extensions",), key="holdfast", value=VALUE, ours=OURS)
ITEM = ConfigEdit(file="config.yaml", path=("mcpServers",), value={"name": "holdfast", "args": [OURS]}, ours=OURS)

DOCUMENTS = [
    "",
    "# mine\nGOOSE_MODEL: o\n",
    "GOOSE_MODEL: o",
    "extensions:\n    developer:\n        enabled: true   # yes\n        args: [a, b]\n\n# after\nGOOSE_MODEL: o\n",
    "mcpServers:\n- name: docs\n  command: npx\nname: mine\r\n",
    "mcpServers:\n  - name: docs\n\n    # why\n    command: npx\n",
    '"extensions": # none yet\nx: |\n  extensions:\n    holdfast: no\n',
]


@pytest.mark.parametrize("edit", [ENTRY, ITEM], ids=["mapping", "list"])
@pytest.mark.parametrize("text", DOCUMENTS)
def test_an_entry_goes_in_and_comes_out_to_the_byte(text: str, edit: ConfigEdit) -> None:
    made = insert(text, [edit])
    holder = yaml.safe_load(made)[edit.path[0]]
    assert (holder["holdfast"] if edit.key else holder[-1]) == edit.value
    assert remove(made, [edit], text).rstrip("\r\n") == text.rstrip("\r\n")


def test_what_others_added_after_ours_stays() -> None:
    made = insert("a: 1\n", [ENTRY]) + "  other:\n    enabled: true\nb: 2\n"
    assert yaml.safe_load(remove(made, [ENTRY])) == {"a": 1, "extensions": {"other": {"enabled": True}}, "b": 2}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("a: [", "not valid YAML"),
        ("- a\n", "not a YAML mapping"),
        ("extensions: {other: {enabled: true}}\n", "no lines can be added"),
        ("extensions: text\n", "something unexpected"),
        ("extensions:\n  holdfast:\n    enabled: false\n", "already exists"),
    ],
)
def test_a_file_that_cannot_take_it_is_refused_with_the_reason(text: str, why: str) -> None:
    with pytest.raises(HostConfigError, match=why):
        insert(text, [ENTRY])


def test_somebody_elses_entry_of_our_name_stays() -> None:
    text = "extensions:\n  holdfast:\n    enabled: false\n"
    assert remove(text, [ENTRY]) == text
