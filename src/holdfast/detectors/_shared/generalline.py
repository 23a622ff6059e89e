"""Generalises a command line: removes what only one run needed, such as ids, branches, selectors and temporary paths.

A lesson about a line is useful only if the line works in the next run too. A line that depends on one-off words (a
script in a temporary folder, a here-document, a personal path) has no general form.

Only detectors load this module; hooks never do.
"""

from __future__ import annotations

import re

from holdfast.text.words import word_set

LINE_LIMIT = 120
"""Characters of a general line; a longer one is a script of one occasion."""

_OPAQUE = re.compile(r"\$\(|`|<<|[\n\r]|\$\{|;;|\bEOF\b|<[a-z]+>")
_REDIRECTION = re.compile(r"\s*(?:\d|&)?>{1,2}&?\s?(?:\d\b|\S+)|\s*<\s?\S+")
_PERSONAL = re.compile(
    r"(?:^|[\s='\":])(?:/tmp\b|/var/folders|/private/|/Users/|/home/|/root/|/mnt/|/d/|/c/|~/|\$HOME|\$TMP|\$[A-Z_]{2,}"
    r"|[A-Za-z]:[\\/])|scratchpad",
)
"""Paths of one machine, one person or one occasion."""
_ONE_OFF = re.compile(
    r"^(?:#?\d+|v?\d+(?:\.\d+){1,3}|[0-9a-f]{7,40}|[0-9a-f]{8}-[0-9a-f-]{27}|\S*\d{4}-\d\d-\d\d\S*|\S*\d{8,}\S*"
    r"|HEAD(?:[~^@]\S*)?|https?://\S+|\w\S*@\S+|\w\S*\.\.\S+)$"
)
"""Numbers of pull requests, revisions, ids, times, addresses."""
_SECRET = re.compile(
    r"(?i)\b\w*(?:token|secret|password|passwd|api_?key|credential)\w*\b|\[redacted|REDACTED|\b\w{32,}\b"
)
_SELECTING = word_set(
    """
    -run --run -k -t --testnamepattern --testpathpattern --grep -g -bench --filter --test-name --example -e --only
    --spec --match -m --message --body --title -b --head --base -timeout --timeout --jq -q --json --field -f --search
    -count --limit -l -n --label --author
    """
)
"""Flags whose value belongs to one run."""
_NOISE = word_set(
    "-v -vv -vvv --verbose -q --quiet -x -s --short --tb=short --tb=long --no-coverage --nocapture --color --no-color"
    " --watch=false --watchall=false --silent --reporter=verbose --reporter=dot --runinband --progress -count=1"
)
"""Flags that only change how much is shown."""
_FILE = re.compile(
    r"^(?:\./)?(?:[\w@.()\[\]-]+/)*[\w@.()\[\]-]+\.(?:go|py|pyi|rs|tsx?|jsx?|mjs|cjs|rb|java|kt|cs|php|exs?"
    r"|swift|c|cc|cpp|h|vue|svelte|md|mdx|json|ya?ml|toml|sql|sh|txt|css|html)(?:::\S*|:\d+)?$"
)
_CONFIGURATION = re.compile(r"\.(?:json|ya?ml|toml|txt)$|\.config\.|manage\.py$|docker-compose")
_FOLDER = re.compile(r"^(?:\./)?[\w@.-]+(?:/[\w@.-]+)*/(?:\.\.\.|\*\*?)?$|^(?:\./)?[\w@.-]+(?:/[\w@.-]+)+$")
_ALWAYS = word_set("-run --run -timeout --timeout --grep --testnamepattern --testpathpattern")
_PARTS_OF = {"pnpm": ("--filter", "-F"), "turbo": ("--filter",), "npm": ("-w", "--workspace"), "nx": ("-t",)}
"""Flags that select a part of the project; other programs use them to select a test."""
_ASSIGNMENT = re.compile(r"^[A-Za-z_]\w*=")
_BRANCHED = word_set("git gh")
"""Programs whose positional words behind the sub-command name branches, revisions and requests."""
_GH_DEPTH, _GIT_DEPTH = 3, 2


def general_line(line: str, *, keep_files: bool = False) -> str:
    """Return the line as it would be typed on another day; empty if nothing general is left or it holds a secret.

    Files and folders that it names as targets are removed, unless `keep_files`.
    """
    if _OPAQUE.search(line) or _SECRET.search(line):
        return ""
    words = [word for word in _REDIRECTION.sub(" ", f" {line}").split() if word != "\\"]
    if not words or _PERSONAL.search(" ".join(words)):
        return ""
    general = _kept(words, keep_files=keep_files)
    text = " ".join(general).removesuffix(" --")
    bare = [word for word in general if not _ASSIGNMENT.match(word)]
    balanced = text.count('"') % 2 == 0 and text.count("'") % 2 == 0
    if text.startswith(("(", "command ")) or "--list" in text:
        return ""
    return text if bare and balanced and len(text) <= LINE_LIMIT and not bare[0].startswith("-") else ""


def is_personal(text: str) -> bool:
    """Return whether the text names a path of one machine, one person or one occasion."""
    return bool(_PERSONAL.search(text))


def is_source_file(word: str) -> bool:
    """Return whether the word names a source file, not a configuration file."""
    return bool(_FILE.match(word)) and not _CONFIGURATION.search(word)


def is_one_off(word: str) -> bool:
    """Return whether the word is a number, a revision, an id, a time or an address."""
    return bool(_ONE_OFF.match(word.strip("'\"")))


def _kept(words: list[str], *, keep_files: bool) -> list[str]:
    general: list[str] = []
    skip, positional = False, 0
    program = next((word for word in words if not _ASSIGNMENT.match(word)), "")
    depth = (_GH_DEPTH if program == "gh" else _GIT_DEPTH) if program in _BRANCHED else 0
    for word in words:
        if skip:
            skip = False
            continue
        if word == "--" and not keep_files and program not in ("mise", "nix", "npx") and general[-1:] != ["exec"]:
            break  # what follows is handed to another program, for this run
        flag, equals, _ = word.partition("=")
        if word.startswith("-") and len(word) > 1:
            aims = not keep_files or depth > 0 or flag.lower() in _ALWAYS
            selecting = (
                aims
                and flag.lower() in _SELECTING
                and flag not in _PARTS_OF.get(program, ())
                and not (program == "make" or (flag == "-m" and "python" in program))
            )
            skip = selecting and not equals
            if selecting or word.lower() in _NOISE:
                continue
        elif not _ASSIGNMENT.match(word):
            if _ONE_OFF.match(word.strip("'\"")):
                continue
            if depth and positional >= depth:
                continue
            if not keep_files and positional and (_FILE.match(word) or _FOLDER.match(word)) and "..." not in word:
                continue
            positional += 1
        general.append(word)
    return general
