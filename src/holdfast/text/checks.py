"""Tells what a run checks, and whether one run includes another: `go test ./...` includes one package's tests.

A run's *scope* is its target (`text.shell.command_target`), the folder it was started in, its mode (build tags change
which tests there are), and its selection of tests. Nothing is guessed: where two scopes differ in a way that is not
known here, neither includes the other.
"""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass

from holdfast.text.purposes import is_wrapper, purpose_of
from holdfast.text.shell import command_target, simple_commands
from holdfast.text.words import word_set

CHECKING = ("test", "build", "lint", "typecheck", "generate", "migrate")
"""Purposes of commands whose failure is work to do; `text.purposes` names them all."""
PATTERN_LIMIT = 300
"""Characters of a selection of tests that are looked at."""
_SELECTS = frozenset({
    "-run", "--run", "-k", "-t", "--testnamepattern", "--testpathpattern", "--grep", "-g", "--filter", "--tests",
    "--only", "--example", "-m", "--test-name-pattern",
})  # fmt: skip
"""Flags whose value selects tests."""
_MODES = frozenset({"-tags", "--tags", "--features", "-F", "-race", "--all-features", "--release", "--profile", "-P"})
"""Flags that change which code is built. The first ones take a value."""
_PLAIN_MODES = frozenset({"-race", "--all-features", "--release"})
_EVERYTHING = frozenset({"./...", "...", "."})
"""Paths that stand for everything below."""
_ALONE = frozenset({"go test", "go build", "go vet"})
"""Commands that mean the folder they stand in if they name none."""
_NO_TESTS = re.compile(r"\[no tests to run\]|no tests ran|\b0 passed|Ran 0 tests|No tests found|collected 0 items")
_SOME_TESTS = re.compile(
    r"^ok\s+\S+\s+(?:[\d.]+s|\(cached\))(?![^\n]*\[no tests to run\])|\b[1-9]\d* passed", re.MULTILINE
)
_INTERPRETERS = word_set("python python3 node ruby php perl bash sh zsh Rscript deno bun java")


@dataclass(frozen=True, slots=True, kw_only=True)
class RunScope:
    """What one run of a command checks."""

    purpose: str = ""
    """One of `text.purposes.PURPOSES`; empty for any other command."""
    target: str
    folder: str = ""
    """Relative to where the agent works; empty for there."""
    mode: str = ""
    selection: str = ""
    """The pattern by which tests are selected; empty: all of the target."""


def scope_of(line: str, command: str = "", cwd: str = "") -> RunScope:
    """Return the scope of a simple command, which stands in that whole command line, called in that folder."""
    words = (simple_commands(line) or [[]])[0]
    rest, selection, mode = _divided(words)
    target = command_target(shlex.join(rest)) if rest else ""
    return RunScope(
        purpose=purpose_of(line), target=target or command_target(line), folder=_folder(command, line, cwd),
        mode=" ".join(sorted(mode)), selection="|".join(selection)[:PATTERN_LIMIT],
    )  # fmt: skip


def _divided(words: list[str]) -> tuple[list[str], list[str], list[str]]:
    """Return the words that name the target, the selections of tests, and the flags of the mode."""
    rest: list[str] = []
    selection: list[str] = []
    mode: list[str] = []
    following = iter(words)
    for number, word in enumerate(following):
        flag, equals, value = word.partition("=")
        if not word.startswith("-") or number == 0:
            rest.append(word)
        elif flag.lower() in _SELECTS and not (flag == "-m" and words[0].startswith("python")):
            selection.append(value if equals else next(following, ""))
        elif flag in _MODES:
            mode.append(word if flag in _PLAIN_MODES or equals else f"{flag}={next(following, '')}")
        else:
            rest.append(word)
    return rest, [part for part in selection if part], [part.lstrip("-") for part in mode]


def _folder(command: str, line: str, cwd: str) -> str:
    """Return the folder into which the command line changes before it runs the line."""
    folder = ""
    for words in simple_commands(command):
        if words[0] == "cd" and len(words) > 1:
            folder = words[1]
        elif line and " ".join(words) in line:
            break
    root = cwd.rstrip("/")
    if root and (folder == root or folder.startswith(f"{root}/")):
        folder = folder[len(root) :].lstrip("/")
    return "" if folder.startswith(("/", "~", "$")) else folder.removeprefix("./").rstrip("/.")


def includes(wide: RunScope, narrow: RunScope) -> bool:
    """Return whether a run of `wide` runs everything that a run of `narrow` does."""
    if (wide.purpose, wide.mode) != (narrow.purpose, narrow.mode):
        return False
    if wide.selection not in ("", narrow.selection) or wide.folder not in ("", narrow.folder):
        return False
    if wide.target == narrow.target and wide.folder == narrow.folder:
        return True
    return _is_wider(wide, narrow)


def _is_wider(wide: RunScope, narrow: RunScope) -> bool:
    wide_words, narrow_words = wide.target.split(), narrow.target.split()
    if wide.folder != narrow.folder:
        narrow_words = [*narrow_words, narrow.folder]
    if wide.target in _ALONE or wide_words[:1] != narrow_words[:1]:
        return False
    rest = [word for word in narrow_words if word not in wide_words]
    others = [word for word in wide_words if word not in narrow_words]
    if not others:
        return bool(rest) and all("/" in word or "::" in word or "." in word for word in rest)
    is_held = all(any(_holds(word, inner) for word in others) for inner in rest)
    return is_held and all(word in _EVERYTHING or any(_holds(word, inner) for inner in rest) for word in others)


def _holds(path: str, inner: str) -> bool:
    """Return whether a path of a target contains another one: `./...` all of Go's, `tests` a file of that folder."""
    if path in _EVERYTHING:
        return True
    if path.endswith("/..."):
        return f"{inner.removesuffix('...').rstrip('/')}/".startswith(path[:-3])
    return inner.startswith((f"{path.rstrip('/')}/", f"{path}::"))


def selects(scope: RunScope, test: str) -> bool:
    """Return whether the run was asked for tests of that name."""
    last = test.rpartition("::")[2]
    if "::" in test and test in scope.target:
        return True
    if not scope.selection:
        return False
    try:
        return bool(re.search(scope.selection, last))
    except re.error:
        return scope.selection in last


def ran_tests(text: str) -> bool:
    """Return whether a test runner's output shows that there was a test to run."""
    return bool(_SOME_TESTS.search(text)) or not _NO_TESTS.search(text)


def is_whole(scope: RunScope) -> bool:
    """Return whether the run names no part: a project's own script, or a tool with one further word."""
    words = [word for word in scope.target.split() if word not in _EVERYTHING]
    has_path = any("/" in word or "::" in word for word in words)
    return not (scope.selection or scope.folder or has_path) and (is_wrapper(scope.target) or len(words) <= 2)


def runs_program(line: str) -> bool:
    """Return whether the command runs code of a project: a file of it, a piece of code, or `run` of a tool."""
    program = command_target(line).partition(" ")[0]
    return program in _INTERPRETERS or line.startswith("./") or purpose_of(line) == "run"
