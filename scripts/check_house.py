"""Checks the rules of the house that no linter knows, over one parse of the repository's Python.

    python scripts/check_house.py

- Names are those that the glossary allows (`check_names`).
- One table lists the kinds of lessons and one the moments; what is true of one kind or one host is asked of the table.
- A room's numbers are in its `tuning.py`, each with a sentence, and something uses each.
- A room's `__init__` says what the room is for, what it may touch and where to begin.
- No regular expression tries a run of line ends from each of its lines.
- The documents install our distribution and show commands and options that exist. Generated files are up to date.
- No property test has a deadline: a busy machine must not fail a property.

Exit 1 with one line a finding.
"""

from __future__ import annotations

import ast
import re
import shlex
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from pathlib import Path

import click

import check_names
import render_map
import render_rest_docs
from holdfast import plugins
from holdfast.domain.kinds import KIND_PROFILES
from holdfast.domain.moments import MOMENT_PROFILES
from holdfast.surfaces.cli.main import COMMANDS, cli

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "src/holdfast/"

EVERYDAY_KINDS = {"fix", "decision", "checkpoint"}
"""Kinds whose names are everyday words too: with one of them a second kind makes no list of kinds."""
EVENTS_TOO = {"session_start", "prompt"}
"""Moments that are kinds of events too: a list of these alone is no list of moments."""
KIND_LISTS = {
    "domain/kinds.py": "the table",
    "domain/vocabulary.py": "the names, for type checkers",
    "detectors/": "a detector says of which kind its finds are",
    "text/kindwords.py": "the words that show a kind",
    "importers/": "an importer says which kind a foreign word means",
}
MOMENT_LISTS = {
    "domain/moments.py": "the table",
    "domain/vocabulary.py": "the names, for type checkers",
    "hosts/": "a host says at which moments it takes a delivery",
}
KIND_COMPARISONS = {
    "learning/commitfinds.py": "it asks for the kind that it gave itself",
    **dict.fromkeys(("domain/", "detectors/", "importers/", "hosts/", "stores/"), "they know kinds"),
}
HOST_NAMES = {
    "src/holdfast/hosts/": "the hosts themselves",
    "src/holdfast/lean/hostmarks.py": "made from the hosts' profiles",
    "src/holdfast/client/": "the host of its calls, and the cursor of a page",
    "src/holdfast/importers/": "an importer is named after the tool whose files it reads",
    "src/holdfast/surfaces/cli/proof.py": "the proof plays one host's hooks",
    "src/holdfast/surfaces/rest/": "a cursor is where a page of a list ended",
    "src/holdfast/testing/builders.py": "the host of a made-up event",
    "src/holdfast/text/purposes.py": "a tool for migrations of the same name",
    "scripts/render_hosts_docs.py": "prose of a page about hosts",
    "scripts/render_rest_docs.py": "a cursor is where a page of a list ended",
    "scripts/render_screens.py": "the screens show one host's hooks",
    "scripts/check_house.py": "the exceptions of this rule",
}
EVERYDAY_HOSTS = {"amp", "cursor", "goose", "pi"}
"""Hosts whose names mean something else in code: they are looked for in texts alone."""
NUMBERS_ELSEWHERE = {
    "capture/observe.py", "capture/sessionevents.py", "curation/checkpoint.py", "lessons/staging.py",
    "recall/surroundings.py", "recall/failure.py", "lessons/material.py",
}  # fmt: skip
"""Files of rooms with a `tuning.py` whose numbers stay with the code: they limit how much of a text it reads."""
NO_TUNING = {"FULL_ID", "FAR", "SEED", "_WORD", "WORD", "SIBLING", "UNNAMED", "EVERYDAY_NAME", "TELLING", "LOWEST",
             "HIGHEST", "EXACT_FLOOR", "BEGINNING"}  # fmt: skip
"""Numbers of a format, codes, and what follows from other numbers."""

_WRONG_INSTALL = re.compile(
    r"(?:pip3?|pipx|uv tool|uv pip) (?:install|run|upgrade|uninstall)\b"
    r"[^\n#;|]*?[ '\"]holdfast(?!-memory)(?=[\s'\"\[=<>`]|$)"
    r"|\bholdfast\[[a-z]+\]|\buvx (?:--\S+ )*holdfast(?!-memory)\b"
)
_SHOWN = re.compile(r"```(?:sh|console)?\n(.*?)```|`(holdfast [^`\n]+)`", re.DOTALL)
_DEADLINE = re.compile(r"^ *@settings\(.*\bdeadline", re.MULTILINE)


@dataclass(frozen=True)
class Source:
    """A Python file with its tree."""

    where: str
    text: str
    tree: ast.Module

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """All nodes of the tree."""
        return list(ast.walk(self.tree))

    @property
    def place(self) -> str:
        """The path in the package; empty for files outside."""
        return self.where.removeprefix(PACKAGE) if self.where.startswith(PACKAGE) else ""


def main() -> int:
    """The number of findings, at most 1."""
    sources = load_sources()
    findings = [*check_names.find_all({ROOT / source.where: source.tree for source in sources})]
    for source in sources:
        findings += check_source(source)
    findings += [*_check_tuning(sources), *_check_documents(), *_check_generated()]
    print("\n".join(findings) if findings else "house: fine", file=sys.stderr if findings else sys.stdout)
    return min(1, len(findings))


def load_sources() -> list[Source]:
    """Every Python file that the names are checked of, parsed once."""
    texts = ((file, file.read_text("utf-8")) for file in check_names.iter_files())
    return [Source(file.relative_to(ROOT).as_posix(), text, ast.parse(text)) for file, text in texts]


def check_source(source: Source) -> Iterator[str]:
    """The findings about one file by itself."""
    if source.place:
        yield from _check_lists(source, KIND_PROFILES, EVERYDAY_KINDS, KIND_LISTS, "kinds")
        yield from _check_lists(source, MOMENT_PROFILES, EVENTS_TOO, MOMENT_LISTS, "moments")
        yield from _check_comparisons(source)
        yield from _check_expressions(source)
        if source.place.count("/") == 1 and source.place.endswith("/__init__.py"):
            yield from _check_room(source)
    if source.where.startswith((PACKAGE, "scripts/")) and not source.where.startswith(tuple(HOST_NAMES)):
        yield from (f"{source.where}:{line}: names the host {name}" for line, name in find_host_names(source))
    if source.where.startswith("tests/") and _DEADLINE.search(source.text):
        yield f"{source.where}: a property with a deadline"


# Kinds, moments and hosts


def _texts(node: ast.AST, known: Iterable[str]) -> set[str]:
    constants = (each.value for each in ast.walk(node) if isinstance(each, ast.Constant))
    return {value for value in constants if isinstance(value, str) and value in known}


def _check_lists(
    source: Source, known: Iterable[str], everyday: set[str], allowed: Iterable[str], what: str
) -> Iterator[str]:
    if source.place.startswith(tuple(allowed)):
        return
    for node in source.nodes:
        if isinstance(node, ast.Dict | ast.Tuple | ast.Set | ast.List):
            names = _texts(node, known)
            if len(names) >= 2 and names - everyday:
                yield f"{source.where}:{node.lineno}: a list of {what} outside of their table"


def _check_comparisons(source: Source) -> Iterator[str]:
    if source.place.startswith(tuple(KIND_COMPARISONS)):
        return
    for node in source.nodes:
        if isinstance(node, ast.Compare) and _texts(node, KIND_PROFILES):
            sides = (node.left, *node.comparators)
            if any(isinstance(side, ast.Attribute) and side.attr == "kind" for side in sides):
                yield f"{source.where}:{node.lineno}: asks for a kind by name"


HOSTS = {form for name in plugins.builtin_names("hosts") for form in (name, name.replace("_", "-"))}
_HOST = re.compile(
    r"(?<![a-z0-9])(?:" + "|".join(sorted(map(re.escape, HOSTS), key=len, reverse=True)) + r")(?![a-z0-9])",
    re.IGNORECASE,
)


def find_host_names(source: Source) -> Iterator[tuple[int, str]]:
    """Line and name for each host in a text, which is no docstring, help or hint, or in an identifier."""
    passed = {id(node) for text in _texts_for_people(source.nodes) for node in ast.walk(text)}
    for node in source.nodes:
        if id(node) in passed:
            continue
        line = getattr(node, "lineno", 0)
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from ((line, name) for name in _HOST.findall(node.value))
        for field in ("id", "attr", "name", "module", "arg"):
            identifier = getattr(node, field, None)
            if isinstance(identifier, str):
                words = re.split(r"[._]+", identifier.lower())
                pairs = ("_".join(pair) for pair in pairwise(words))
                yield from ((line, name) for name in {*words, *pairs} & (HOSTS - EVERYDAY_HOSTS))


def _texts_for_people(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Docstrings, help, examples and hints."""
    for node in nodes:
        match node:
            case ast.Expr(value=ast.Constant() as text):
                yield text
            case ast.keyword(arg="help" | "epilog" | "hint", value=text):
                yield text
            case ast.Assign(targets=[ast.Name(id="hint")], value=text):
                yield text
            case ast.Call(func=ast.Name(id="command" | "group"), args=examples):
                yield from examples


# Rooms, numbers and expressions


def _check_room(source: Source) -> Iterator[str]:
    purpose, _, rest = (ast.get_docstring(source.tree) or "").partition("\n\n")
    begin = rest.partition("\nBegin with `")[2].partition("`")[0]
    folder = (ROOT / source.where).parent
    if not (purpose and rest.startswith("It may touch: ") and begin):
        yield f"{source.where}: a room says what it is for, what it may touch and where to begin"
    elif not ((folder / begin).exists() or (folder / f"{begin}.py").exists()):
        yield f"{source.where}: begins with `{begin}`, which is not there"


def _check_expressions(source: Source) -> Iterator[str]:
    """`^\\s*` tries a run of line ends from each of its lines on; `^[ \\t]*` does not."""
    for node in source.nodes:
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "re.compile":
            pattern, *flags = (ast.unparse(argument) for argument in node.args)
            is_multiline = "(?m)" in pattern or any(re.search(r"re\.M(?:ULTILINE)?\b", flag) for flag in flags)
            if is_multiline and re.search(r"\^\\+s[*+]", pattern):
                yield f"{source.where}:{node.lineno}: blanks over lines are tried at each line"


def iter_numbers(source: Source) -> Iterator[tuple[str, str]]:
    """Each name that a module assigns a number or a table of numbers, with the text that stands below it."""
    body = source.tree.body
    for statement, following in zip(body, [*body[1:], None], strict=True):
        if not isinstance(statement, ast.Assign | ast.AnnAssign) or statement.value is None:
            continue
        values = [node.value for node in ast.walk(statement.value) if isinstance(node, ast.Constant)]
        if any(type(value) in (int, float) for value in values):
            text = following.value if isinstance(following, ast.Expr) else None
            sentence = str(text.value) if isinstance(text, ast.Constant) else ""
            targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
            yield from ((n.id, sentence) for target in targets for n in ast.walk(target) if isinstance(n, ast.Name))


def _check_tuning(sources: list[Source]) -> Iterator[str]:
    ours = [source for source in sources if source.place]
    words = {source.where: set(re.findall(r"\w+", source.text)) for source in ours}
    for tuning in (source for source in ours if source.place.endswith("/tuning.py")):
        names = dict(iter_numbers(tuning))
        used = set().union(*(each for where, each in words.items() if where != tuning.where))
        pair = dict(zip(names, [*list(names)[1:], ""], strict=True))
        for name, sentence in names.items():
            if not sentence.strip().endswith(".") and not names.get(pair[name], "").strip():
                yield f"{tuning.where}: {name} needs a sentence"
            if name not in used:
                yield f"{tuning.where}: nothing uses {name}"
        folder = tuning.where.removesuffix("tuning.py")
        for other in ours:
            if other.where.startswith(folder) and other is not tuning and other.place not in NUMBERS_ELSEWHERE:
                stray = {name for name, _ in iter_numbers(other)} - NO_TUNING
                yield from (f"{other.where}: {name} belongs into the room's tuning.py" for name in sorted(stray))


# Documents and generated files


def _check_documents() -> Iterator[str]:
    folders = ("src", "docs", "plugins", "scripts", "examples", "benchmarks", ".github")
    files = [file for folder in folders for file in (ROOT / folder).rglob("*") if file.suffix in (".py", ".md", ".yml")]
    pages = [*ROOT.glob("*.md"), ROOT / "Makefile", ROOT / "pyproject.toml"]
    for file in (*files, *pages):
        for match in _WRONG_INSTALL.finditer(text := file.read_text("utf-8")):
            yield f"{file.relative_to(ROOT)}: installs another product: {match.group()}"
        if file.name == "README.md" or ("docs" in file.parts and file.suffix == ".md" and file.name != "cli.md"):
            for line in _iter_commands(text):
                yield from (f"{file.relative_to(ROOT)}: {problem}: {line}" for problem in _check_command(line))


def _iter_commands(text: str) -> Iterator[str]:
    """Each holdfast command that a page prints, without comments."""
    for block, inline in _SHOWN.findall(text):
        lines = [inline] if inline else block.splitlines()
        if any(line.startswith("$ ") for line in lines):  # the others are what the commands print
            lines = [line for line in lines if line.startswith("$ ")]
        for line in lines:
            command = line.removeprefix("$ ").split(" # ")[0].split("  #")[0].strip()
            if command.startswith("holdfast "):
                yield command


def _check_command(line: str) -> Iterator[str]:
    words = shlex.split(line.replace("…", "x").split(" | ")[0].split(" > ")[0].split(" && ")[0], posix=True)[1:]
    command: click.Command = cli
    known = _options(cli) | {"--help", "-h"}
    while words and isinstance(command, click.Group):
        with click.Context(command) as context:
            below = command.get_command(context, words[0])
        if below is None:
            if command is cli and not words[0].startswith(("-", "<")):
                yield "no such command"
            break
        command, words = below, words[1:]
        known |= _options(command)
    unknown = [word for word in words if re.match(r"--?[a-z]", word) and word.partition("=")[0] not in known]
    if unknown and (command is not cli or words[0] not in COMMANDS):
        yield f"no option {', '.join(unknown)}"


def _options(command: click.Command) -> set[str]:
    return {option for param in command.params for option in param.opts + param.secondary_opts}


def _check_generated() -> Iterator[str]:
    for path, text in render_map.render().items():
        if not render_map.is_current(path, text):
            yield f"{path.relative_to(ROOT)} is out of date: make map"
    if render_rest_docs.TARGET.read_text("utf-8") != render_rest_docs.render():
        yield f"{render_rest_docs.TARGET.relative_to(ROOT)} is out of date: make docs"


if __name__ == "__main__":
    sys.exit(main())
