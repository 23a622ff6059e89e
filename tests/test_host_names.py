"""What is true of one host stands in `hosts/`: no other code names one, but in help texts and where a reason is given.

Docstrings and comments may name hosts: they say where a fact is from.
"""

from __future__ import annotations

import ast
import re
import runpy
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from holdfast import plugins

ROOT = Path(__file__).parents[1]
FOLDERS = (ROOT / "src" / "holdfast", ROOT / "scripts")
NAMES = {
    form
    for name in (*plugins.builtin_names("hosts"), *plugins.HOSTS_ELSEWHERE)
    for form in (name.replace("-", "_"), name.replace("_", "-"))
}
EVERYDAY = {"amp", "cursor", "goose", "pi"}
"""Hosts whose names mean something else in code: they are looked for in texts alone."""
ALLOWED = {
    "src/holdfast/lean/hostmarks.py": "made from the hosts' profiles",
    "src/holdfast/importers/_shared/passages.py": "a sentence that rules files of many hosts begin with",
    "src/holdfast/importers/_shared/rules.py": "folders of rules, of agents without an adapter too",
    "src/holdfast/plugins.py": "the table of hosts in another distribution",
    "src/holdfast/surfaces/cli/proof.py": "the proof plays one host's hooks",
    "src/holdfast/testing/builders.py": "the host of a made-up event",
    "src/holdfast/text/purposes.py": "a tool for migrations of the same name",
    "scripts/render_hosts_docs.py": "prose of a page about hosts",
    "scripts/render_screens.py": "the screens show one host's hooks",
}
_IN_TEXT = re.compile(
    r"(?<![a-z0-9])(?:" + "|".join(re.escape(name) for name in sorted(NAMES, key=len, reverse=True)) + r")(?![a-z0-9])",
    re.IGNORECASE,
)


def host_names(code: str) -> Iterator[tuple[int, str]]:
    """Line and name for each host that the code names in a text, which is no docstring or help, or in an identifier."""
    tree = ast.parse(code)
    passed = {id(node) for helping in _texts_for_people(tree) for node in ast.walk(helping)}
    for node in ast.walk(tree):
        if id(node) in passed:
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from ((node.lineno, name) for name in _IN_TEXT.findall(node.value))
        for identifier in _identifiers(node):
            yield from ((node.lineno, name) for name in _names_in(identifier))  # type: ignore[attr-defined]


def _texts_for_people(tree: ast.AST) -> Iterator[ast.AST]:
    """Docstrings, help, examples and hints."""
    for node in ast.walk(tree):
        match node:
            case ast.Expr(value=ast.Constant() as text):
                yield text
            case ast.keyword(arg="help" | "epilog" | "hint", value=text):
                yield text
            case ast.Assign(targets=[ast.Name(id="hint")], value=text):
                yield text
            case ast.Call(func=ast.Name(id="examples")):
                yield node


def _identifiers(node: ast.AST) -> Iterator[str]:
    for field in ("id", "attr", "name", "module", "arg"):
        value = getattr(node, field, None)
        if isinstance(value, str):
            yield value


@cache
def _names_in(identifier: str) -> set[str]:
    """The hosts named by a word of the identifier, or by two neighbours."""
    words = re.split(r"[._]+", identifier.lower())
    return {*words, *("_".join(pair) for pair in pairwise(words))} & (NAMES - EVERYDAY)


def test_only_hosts_and_their_importers_name_hosts() -> None:
    names_by_file: dict[str, list[str]] = {}
    for folder in FOLDERS:
        for file in sorted(folder.rglob("*.py")):
            own = {file.stem, file.stem.replace("_", "-")} if file.parent.name == "importers" else set()
            lines = [f"{line} {name}" for line, name in host_names(file.read_text("utf-8")) if name not in own]
            if lines and folder / "hosts" not in file.parents:
                names_by_file[file.relative_to(ROOT).as_posix()] = lines
    assert {name: lines for name, lines in names_by_file.items() if name not in ALLOWED} == {}
    assert set(ALLOWED) <= set(names_by_file), "an exception that is not needed"


@pytest.mark.parametrize(
    "code",
    ['if host == "codex": ...', 'def approve_in_codex(): ...', 'FOLDER = ".cursor/rules"', 'f"{x} claude-code"',
     "from holdfast.hosts import gemini_cli"],
)  # fmt: skip
def test_a_hosts_name_is_seen(code: str) -> None:
    assert list(host_names(code))


@pytest.mark.parametrize(
    "code",
    ['"""Codex skips hooks."""', "cursor = sql.execute(text)  # codex", 'option("--trust", help="Approve in Codex.")',
     'examples("holdfast setup codex")', 'text = "a precursor"'],
)  # fmt: skip
def test_what_only_explains_is_passed_over(code: str) -> None:
    assert list(host_names(code)) == []


def test_the_table_of_marks_is_made_from_the_profiles() -> None:
    pytest.importorskip("holdfast_hosts", reason="the table has its hosts too")
    render = runpy.run_path(str(ROOT / "scripts" / "render_host_marks.py"))["render"]
    assert (ROOT / "src/holdfast/lean/hostmarks.py").read_text(encoding="utf-8") == render()


def test_no_two_hosts_share_a_mark() -> None:
    marks = [plugins.load("hosts", name).profile.marks for name in plugins.names("hosts")]
    started = [mark for mark in marks if mark.started]
    assert len({mark.started_rank for mark in started}) == len(started)
    variables = [value for mark in marks for value in (mark.started, mark.session, mark.folder) if value]
    assert len(set(variables)) == len(variables)


def test_a_client_name_is_no_hosts_own() -> None:
    clients = [
        client for name in plugins.names("hosts") for client in plugins.load("hosts", name).profile.marks.client_names
    ]
    assert len(set(clients)) == len(clients)
    assert not set(clients) & NAMES
