"""Compares a failed command with one that passed, and states the difference as a rule for later sessions.

A difference counts only if it generalises: a wrapper or a variable in front, another flag, another folder, a step that
must run before. Another file, branch or test does not count, nor does a corrected typing error.

Only detectors load this module; hooks never do.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from holdfast.text.attempts import Attempt, split_line
from holdfast.text.purposes import is_preparing
from holdfast.text.shell import command_target
from holdfast.text.window import clip, status
from holdfast.text.words import word_set

ABSENT_STATUS = 127
"""What a shell returns for a command it cannot find."""
MOST_WORDS = 4
"""Words in front of a command that are a wrapper."""
REPAIRS = 2
"""Preparing commands beyond which nobody can say which one mattered."""
_ABSENT = re.compile(
    r"command not found: (?P<zsh>\S+)|(?:^|[\s:])(?P<sh>[\w.-]+): (?:command )?not found$"
    r"|No module named '?(?P<module>[\w.]+)'?",
    re.MULTILINE,
)
_UNKNOWN_FLAG = re.compile(
    r"(?:unknown|unrecognized|invalid|illegal|unexpected|no such|bad|unsupported) (?:\w+ )?"
    r"(?:option|flag|switch|argument|arguments)s?:?(?: provided but not defined:)?\s+[`'\"]?(?P<flag>--?[\w-]+)"
    r"|flag provided but not defined: (?P<go>--?[\w-]+)|(?P<bun>--[\w-]+) is not (?:a|an) (?:known|valid|supported)",
    re.IGNORECASE,
)
_PROTECTED = re.compile(
    r"GH006|GL-HOOK-ERR: You are not allowed to push|protected branch (?:hook declined|update failed)", re.IGNORECASE
)
_UNKNOWN_FIELD = re.compile(r'Unknown JSON field: "(?P<field>\w+)"')
_BRANCH = re.compile(r"refs/heads/(?P<branch>[\w./-]+)")
_RISKY = re.compile(
    r"^--(?:no-verify|force|force-with-lease|no-check|ignore-scripts|no-sandbox|insecure|skip|allow|legacy)|^-f$|^-F$"
)
"""Flags that bypass a check; only a person may recommend them."""
_ASSIGNMENT = re.compile(r"^([A-Za-z_]\w*)=(\S*)$")
_WRAPPERS = word_set(
    """
    mise npx pnpm yarn bun bunx uv uvx poetry pipenv hatch pdm rye bundle rbenv pyenv asdf direnv nix devbox conda pipx
    docker podman vagrant corepack python python3 sudo wsl rustup fnm nvm volta proto make just task
    """
)
"""Programs that run another program."""
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
_BRANCHED = word_set("git gh")
"""Programs whose positional words behind the sub-command name branches, revisions and requests."""
_GH_DEPTH, _GIT_DEPTH = 3, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Cure:
    """A rule that states what made the command pass."""

    rule: str
    """A sentence that stands alone, without a full stop."""
    how: str
    """What to type, or what to do first."""
    sort: str
    """How the rule was found: `absent`, `variable`, `flag` or `protected`."""


def form_cure(failure: Attempt, run: Attempt) -> Cure | None:
    """Return the rule that another form of a command shows by passing; None if the forms differ only for this run."""
    if not failure.event.command:
        return None
    refused = _protected(failure, run)
    if refused or not failure.alone:
        return refused
    return _absent(failure, run) or _variable(failure, run) or _flag(failure, run)


def step_before(failure: Attempt, run: Attempt) -> str:
    """Return the preparing step in front of the command on its line, if the command failed without it; empty if none.

    More than REPAIRS such steps count as none: nobody can say which one mattered.
    """
    steps = [step for step in split_line(run.event.command) if step.joiner not in ("|", "|&")]
    own = next((n for n, step in enumerate(steps) if " ".join(step.text.split()).startswith(run.line)), 0)
    tried = " ".join(failure.event.command.split())
    lines = [general_line(step.text, keep_files=True) for step in steps[:own]]
    lines = [line for line in lines if line and is_preparing(line) and line not in tried]
    target = general_line(run.line, keep_files=True)
    return lines[0] if 0 < len(lines) <= REPAIRS and target and target not in lines else ""


def _protected(failure: Attempt, run: Attempt) -> Cure | None:
    if not failure.target.startswith("git push") or not run.line.startswith(("git push", "gh pr create")):
        return None
    if not _PROTECTED.search(failure.event.text):
        return None
    branch = _BRANCH.search(failure.event.text)
    subject = f"`{branch['branch'].rstrip('.')}`" if branch else "The branch"
    return Cure(
        rule=f"{subject} is protected: push a branch and open a pull request",
        how="git push -u origin HEAD, then gh pr create", sort="protected",
    )  # fmt: skip


def _absent(failure: Attempt, run: Attempt) -> Cure | None:
    """Return a rule if the program does not exist under that name, but under another name or a wrapper."""
    match = _ABSENT.search(failure.event.text)
    if not (match or status(failure.event) == ABSENT_STATUS):
        return None
    wanted, got = _without(failure.line).split(), _without(run.line).split()
    named = (match and (match["zsh"] or match["sh"] or match["module"])) or wanted[0]
    program = wanted[0].rpartition("/")[2]
    if is_personal(wanted[0]) or "$" in wanted[0]:
        return None
    if match and match["module"]:
        return _module(failure, run, named, program)
    if named != program or got == wanted:
        return None
    if program in got[1 : MOST_WORDS + 1]:
        prefix = " ".join(got[: got.index(program)])
        if got[0] not in _WRAPPERS or is_personal(prefix) or "$" in prefix:
            return None
        return Cure(
            rule=f"`{program}` is not on PATH here: prefix with `{prefix}`", how=f"{prefix} {program}", sort="absent"
        )
    if got[1:] and got[1:] == wanted[1:] and "/" not in got[0]:
        return Cure(rule=f"`{program}` is not there: use `{got[0]}`", how=got[0], sort="absent")
    return None


def _module(failure: Attempt, run: Attempt, module: str, program: str) -> Cure | None:
    """Return a rule if the program or `python -m X` lacks a module that another interpreter or runner has."""
    name = command_target(failure.line).split(" ", 1)[0]
    same = command_target(run.line).split(" ", 1)[0] == name
    mine, theirs = _front(failure.line, name), _front(run.line, name)
    if not same or mine == theirs or not theirs or is_personal(theirs) or "$" in theirs:
        return None
    return Cure(rule=f"`{mine or name}` lacks the module {module}: run `{theirs}`", how=theirs, sort="absent")


def _front(line: str, name: str) -> str:
    """Return the line's words up to and including the program's name."""
    words = line.split()
    places = [n for n, word in enumerate(words) if word.rpartition("/")[2] == name]
    return " ".join(words[: places[0] + 1]) if places else ""


def _variable(failure: Attempt, run: Attempt) -> Cure | None:
    """Return a rule if the passing command is the same one with variables in front."""
    mine, theirs = _assignments(failure.line), _assignments(run.line)
    added = {name: value for name, value in theirs.items() if mine.get(name) != value}
    if not added or len(added) > REPAIRS or _without(failure.line) != _without(run.line):
        return None
    words, target = _subject(run.line), general_line(_without(run.line))
    if not words:
        return None
    if any(is_personal("=" + value) or not value for value in added.values()):
        names = " and ".join(f"`{name}`" for name in added)
        return Cure(rule=f"`{words}` needs {names} set here", how="", sort="variable")
    shown = " ".join(f"{name}={value}" for name, value in added.items())
    return Cure(rule=f"`{words}` needs `{shown}` in front here", how=f"{shown} {target or words}", sort="variable")


def _assignments(line: str) -> dict[str, str]:
    values: dict[str, str] = {}
    for word in line.split():
        match = _ASSIGNMENT.match(word)
        if not match:
            break
        values[match[1]] = match[2]
    return values


def _without(line: str) -> str:
    words = line.split()
    return " ".join(word.strip("'\"") for word in words[len(_assignments(line)) :])


def _flag(failure: Attempt, run: Attempt) -> Cure | None:
    """Return a rule if the command does not know a flag or field, and the passing form uses another one."""
    subject = _subject(failure.line)
    if not subject or _subject(run.line) != subject:
        return None
    wanted, got = _flags(failure.line), _flags(run.line)
    added = [flag for flag in got if flag not in wanted and not _RISKY.match(flag)]
    field = _UNKNOWN_FIELD.search(failure.event.text)
    if field:
        return _field(failure, run, subject, field["field"])
    unknown = _UNKNOWN_FLAG.search(failure.event.text)
    if unknown:
        flag = unknown["flag"] or unknown["go"] or unknown["bun"]
        if flag not in {word.partition("=")[0] for word in wanted} or flag in got or len(added) != 1:
            return None
        return Cure(rule=f"`{subject}` has no `{flag}`: use `{added[0]}`", how=f"{subject} {added[0]}", sort="flag")
    return None


def _field(failure: Attempt, run: Attempt, subject: str, field: str) -> Cure | None:
    """Return a rule that names an unknown field of gh, and the field requested in its place."""
    failed_fields, got = ({f for word in line.split() for f in word.split(",")} for line in (failure.line, run.line))
    added = [name for name in got - failed_fields if name.isalpha()]
    if field not in failed_fields or field in got or len(added) != 1:
        return None
    rule = f"`{subject} --json` has no field `{field}`: use `{added[0]}`"
    return Cure(rule=rule, how=f"{subject} --json {added[0]}", sort="flag")


def _subject(line: str) -> str:
    """Return the program with its sub-commands, up to the first flag or one-off word."""
    words: list[str] = []
    for word in line.split()[len(_assignments(line)) :]:
        if (
            word.startswith("-")
            or is_one_off(word)
            or not word.replace("-", "").replace(":", "").isalpha()
            or len(words) == 3
        ):
            break
        words.append(word)
    return " ".join(words)


def _flags(line: str) -> list[str]:
    return [word.strip("'\"") for word in line.split() if word.startswith("-") and len(word) > 1 and word != "--"]


def shown_failure(text: str, limit: int = 140) -> str:
    """Return a failure's message as printed, on one line; empty if it holds a path of one machine or is too long."""
    message = " ".join(text.split())
    return "" if is_personal(message) or len(message) > limit else clip(message, limit).rstrip(" .:;")


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
