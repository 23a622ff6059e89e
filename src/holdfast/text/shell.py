"""Parses as much of a shell's grammar as is needed to tell what a command line runs.

`shlex` fails on an unclosed quote, and knows neither pipes nor here-documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from holdfast.text.words import word_set

COMMAND_LIMIT = 4_000
"""Characters of a command line that are looked at."""
TARGET_LIMIT = 200
TARGETS = 4
"""Positional words kept behind the program and its sub-command."""

_BREAKS = ("&&", "||", ";", "\n", "&")
_IDLE = word_set(
    """
    cd pushd popd export source . set unset echo printf true false sleep mkdir wait clear pwd exit alias trap ulimit
    umask shopt eval
    """
)
"""Programs that only prepare or report. They are the target only if nothing else runs."""
_KEYWORDS = word_set("if then else elif fi for while until do done case esac in")
_WRAPPERS = word_set("sudo time env nice nohup exec command stdbuf caffeinate xvfb-run npx bunx pnpx uvx doas")
_RUNNERS = frozenset({("uv", "run"), ("poetry", "run"), ("pipenv", "run"), ("hatch", "run"), ("pdm", "run"),
                      ("pnpm", "exec"), ("pnpm", "dlx"), ("yarn", "exec"), ("bundle", "exec"), ("rye", "run"),
                      ("npm", "exec"), ("conda", "run")})  # fmt: skip
_SUBCOMMANDS = word_set(
    """
    git npm pnpm yarn bun cargo go docker podman kubectl make pip pip3 uv poetry gh terraform dotnet mvn gradle
    gradlew rails bundle deno helm aws gcloud az systemctl brew apt apt-get rustup just task mix composer php
    flutter
    """
)
_SHELLS = frozenset({"bash", "sh", "zsh", "dash"})
_VALUE_FLAGS = word_set(
    """
    -k -m -n -p -W -o -j -C -c -f -t -u -e -x -I -L -D -i --maxfail --tb --timeout --cov --cov-report --prefix
    --config --rootdir --durations --log-level --features --package --jobs --directory --project --filter --reporter
    --format --message --output --file --manifest-path --target --profile --ignore --deselect --numprocesses --dist
    -run -count -timeout --context --namespace --env --python --with --extra --group --from
    """
)
"""Flags whose value is the next word. A value that belongs to no flag is a target."""
_BOOLEAN = {
    "pytest": word_set("-x -s -v -q -l -vv -i"),
    "grep": word_set("-n -i -l -o -c -v -r -E -L -I"),
    "rg": word_set("-n -i -l -o -c -v -u -L -F"),
    "git": word_set("-f -u -p -n -t -x -i"),
    "npm": word_set("-D -f"),
    "pip": word_set("-U -e"),
    "ls": word_set("-t -i -n -p -o -L"),
    "rm": word_set("-f -i -I"),
    "docker": word_set("-i -t"),
    "node": word_set("-i -p"),
    "make": word_set("-k -n -i -e -t"),
    "mypy": word_set("-v"),
    "python": word_set("-u -I -x -i"),
}  # fmt: skip
"""Flags that take no value in this program, although they are in the list above."""
_SEARCHERS = {
    "grep": "efABCmdD", "egrep": "efABCmdD", "fgrep": "efABCmdD", "git grep": "efABCm", "ag": "ABCmGWp", "ack": "ABCm",
    "rg": "efABCmMgtTrjdE",
}  # fmt: skip
"""Programs that search files for a pattern, each with its one-letter flags that take a value."""
_SEARCH_FLAGS = word_set(
    """
    --regexp --file --include --exclude --exclude-dir --glob --iglob --type --type-not --max-count --after-context
    --before-context --context --max-depth --depth --replace --sort --sortr --threads --colors --encoding --ignore
    --ignore-dir --max-columns --max-filesize --pre --match
    """
)
"""Their long flags whose value is the next word."""
_PATTERN_FLAGS = frozenset({"-e", "--regexp", "--match"})
_GLOB_FLAGS = frozenset({"-g", "--glob", "--iglob"})
_COLOURS = frozenset({"never", "always", "auto", "ansi"})
_NAME_TESTS = word_set("-name -iname -path -ipath -wholename -iwholename -regex -iregex")
"""Tests of `find` whose value says what is looked for."""


_QUOTED = re.compile(
    r"""(?:'(?P<single>[^']*)'|"(?P<double>[^"]*)"|`(?P<code>[^`]*)`)(?![^\W_])[.,;:)]*|(?P<plain>\S+)"""
)
_PIECE = re.compile(
    r"""(?P<quote>['"])(?P<quoted>.*?)(?:(?P=quote)|\Z)|\\(?P<escaped>.)|(?P<break>&&|\|\||\|&|[|;\n]|&(?!>))|(?P<blank>\s)
    |(?P<plain>[^\s'"\\|;&]+|.)""",
    re.DOTALL | re.VERBOSE,
)
_REDIRECTION = re.compile(r"[0-9&]*[<>]")
_BARE_REDIRECTION = re.compile(r"[0-9&<>-]+")


def quoted_words(line: str) -> Iterator[tuple[bool, str]]:
    """Yield each word and whether it was wholly in quotes; punctuation directly after a closing quote is dropped."""
    for match in _QUOTED.finditer(line):
        kind = match.lastgroup or "plain"
        yield kind != "plain", match[kind]


def command_target(line: str) -> str:
    """Return what a command line runs: program, sub-command and targets, without what does not change the work.

    Environment assignments, `cd X &&`, wrappers (`uv run`, `timeout 5`, `python -m`), flags, redirections and the rest
    of a pipe are dropped. Of a chain, the last part that does something counts. Empty for an empty command.
    """
    folder, best = "", ""
    if "<<" in line:
        line = line.split("\n", 1)[0]  # what follows is a here-document's text
    for words in _commands(line[:COMMAND_LIMIT]):
        if words[:1] == ["cd"] and len(words) > 1:
            folder = words[1].rstrip("/") + "/"
        target = _target(words, folder)
        if target and (not best or target.split(" ", 1)[0] not in _IDLE):
            best = target
    return best[:TARGET_LIMIT].rstrip()


def simple_commands(line: str) -> list[list[str]]:
    """Return a line's simple commands as words, without assignments, wrappers, redirections and the rest of pipes."""
    if "<<" in line:
        line = line.split("\n", 1)[0]
    commands = (_unwrapped(_without_redirections(words)) for words in _commands(line[:COMMAND_LIMIT]))
    return [words for words in commands if words]


def command_lines(line: str) -> list[str]:
    """Return a line's simple commands, each as words joined by single blanks."""
    return [" ".join(words) for words in simple_commands(line)]


def searched_pattern(command: str) -> str:
    """Return what a command line searches the code for: the pattern of `grep`, `rg`, `ag`, `git grep` or `find -name`.

    It is the first search's pattern as written, without quotes; empty if nothing is searched. A search in another
    command's output (`make | grep error`) does not count.
    """
    line = command[:COMMAND_LIMIT]
    for quote in "'\"":
        for bracket in "<>":  # in quotes it is text, not a redirection
            line = line.replace(f"{quote}{bracket}", f"{quote}\0{bracket}")
    for words in simple_commands(line):
        if pattern := _pattern_of(words):
            return pattern.replace("\0", "")[:TARGET_LIMIT]
    return ""


def _pattern_of(words: list[str]) -> str:
    program, rest = _program(words[0]), words[1:]
    if program in _SHELLS and len(rest) > 1 and rest[0] in ("-c", "-lc", "-ic", "-xc", "-ec"):
        return searched_pattern(rest[1])
    if program == "find":
        return next((rest[i] for i in range(1, len(rest)) if rest[i - 1] in _NAME_TESTS), "")
    if program == "git":
        rest = _after_flags(rest)  # `-C folder`
        program, rest = " ".join(["git", *rest[:1]]), rest[1:]
    return _searched(rest, _SEARCHERS[program]) if program in _SEARCHERS else ""


def _searched(words: list[str], valued: str) -> str:
    """Return the pattern among a searching program's arguments; `valued`: its one-letter flags that take a value."""
    lists_files = "--files" in words
    naming = _GLOB_FLAGS if lists_files else _PATTERN_FLAGS
    first = before = ""
    rest = iter(words)
    for word in rest:
        if word == "--":
            first = first or next(rest, "")
            break
        if not word.startswith("-") or word == "-":
            if not (before == "--color" and word in _COLOURS):
                first = first or word
            before = word
            continue
        flag, value = _flag(word, valued)
        if value == "":
            value = next(rest, "")
        if value is not None and flag in naming:
            return value
        if value is not None and flag in ("-f", "--file"):
            return ""  # the patterns are in a file
        before = word
    return "" if lists_files else first


def _flag(word: str, valued: str) -> tuple[str, str | None]:
    """Return a flag and its value: None if it takes none, empty if the next word is the value."""
    if word.startswith("--"):
        flag, equals, value = word.partition("=")
        return flag, value if equals else "" if flag in _SEARCH_FLAGS else None
    for i, letter in enumerate(word[1:], 1):
        if letter in valued:
            return f"-{letter}", word[i + 1 :]
    return word, None


def _commands(line: str) -> list[list[str]]:
    """Return the simple commands of a line as words; only the first of each pipe."""
    commands: list[list[str]] = [[]]
    piped = False
    for word in _split(line):
        if word in _BREAKS:
            commands.append([])
            piped = False
        elif word in ("|", "|&"):
            piped = True
        elif not piped:
            commands[-1].append(word)
    return [words for words in commands if words]


def _split(line: str) -> list[str]:
    """Return words and operators. Quotes are removed; an operator inside quotes is text."""
    words: list[str] = []
    word, begun = "", False
    for piece in _PIECE.finditer(line):
        operator = piece["break"] if not (piece["break"] == "&" and word.endswith((">", "<"))) else None
        if operator or piece["blank"]:
            words += ([word] if begun else []) + ([operator] if operator else [])
            word, begun = "", False
        else:
            word += piece["quoted"] or (piece["escaped"] or "").strip() or piece["plain"] or piece["break"] or ""
            begun = True
    return [*words, word] if begun else words


def _target(words: list[str], folder: str) -> str:
    words = _unwrapped(_without_redirections(words))
    if not words:
        return ""
    program = _program(words[0])
    if program in _SHELLS and len(words) > 2 and words[1] in ("-c", "-lc", "-ic", "-xc", "-ec"):
        return command_target(words[2])
    if program == "python" and len(words) > 2 and words[1] == "-m":
        return _target(words[2:], folder)
    if program in ("python", "node") and words[1:2] in (["-c"], ["-e"], ["-"]):
        return f"{program} {words[1]}"
    positional = _positional(words[1:], program, folder)
    most = 1 + TARGETS if program in _SUBCOMMANDS else TARGETS
    return " ".join([program, *positional[:most]])


def _without_redirections(words: list[str]) -> list[str]:
    plain: list[str] = []
    rest = iter(words)
    for word in rest:
        if not _REDIRECTION.match(word):
            plain.append(word)
        elif _BARE_REDIRECTION.fullmatch(word):
            next(rest, None)
    return plain


def _unwrapped(words: list[str]) -> list[str]:
    """Return the words without leading assignments, wrappers with their flags, and brackets."""
    rest = [word for word in words if word not in ("(", ")", "{", "}", "!")]
    while rest and rest[0] in _KEYWORDS:
        rest = rest[1:] if rest[0] not in ("for", "case", "done", "fi", "esac") else []
    while rest:
        head = rest[0].lstrip("(")
        name, equals, _ = head.partition("=")
        if equals and name.isidentifier():
            rest = rest[1:]
        elif head in _WRAPPERS:
            rest = _after_flags(rest[1:])
        elif head in ("timeout", "gtimeout"):
            rest = _after_flags(rest[1:])[1:]
        elif tuple(rest[:2]) in _RUNNERS:
            rest = _after_flags(rest[2:])
        else:
            return [head.rstrip(")"), *rest[1:]] if head else rest[1:]
    return []


def _after_flags(words: list[str]) -> list[str]:
    i = 0
    while i < len(words) and words[i].startswith("-") and words[i] != "-":
        i += 2 if words[i] in _VALUE_FLAGS else 1
    return words[i:]


def _program(word: str) -> str:
    """Return the program's name without its folder and version: `/usr/bin/python3.11` as python."""
    name = word.replace("\\", "/").rpartition("/")[2].removesuffix(".exe")
    if name.startswith("python") and not name[6:].replace(".", "").strip("0123456789"):
        return "python"
    return name


def _positional(words: list[str], program: str, folder: str) -> list[str]:
    """Return the words that are neither flags nor their values; paths are relative to the folder of the line's `cd`."""
    positional: list[str] = []
    plain = _BOOLEAN.get(program, frozenset())
    skip = False
    for word in words:
        if skip:
            skip = False
            continue
        if word.startswith(("-", "+")) and len(word) > 1:
            skip = word in _VALUE_FLAGS and word not in plain
        elif not word.isdigit():
            inside = word.removeprefix(folder) if folder and word.startswith(folder) else word
            bare = inside.rstrip(")")
            positional.append(bare.removeprefix("./") if bare != "./..." else bare)
    return positional
