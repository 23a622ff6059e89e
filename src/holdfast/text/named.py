"""Finds what a person's rule names: programs, acts, files and identifiers. They tell when the rule is needed.

"never add dependencies without asking me" is needed before `npm install`, "we never deploy on Fridays" before
`make deploy`, "don't edit files under src/generated" before an edit there. Only what the words name counts.

Hooks import this module, so it uses no regular expressions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdfast.domain.lesson import Triggers
from holdfast.lean.texts import has_drive
from holdfast.text.words import word_set

ACTS = frozenset({"deploy", "release", "publish", "migrate", "rollback", "seed", "backfill"})
"""One-word triggers that stand for an act: they match a command that has the word, such as `make deploy`."""
NAMED_COMMANDS, NAMED_PLACES = 16, 6
"""Most commands, and most globs and symbols each, that the words of a rule give."""
NAMED_PROGRAMS = word_set(
    """
    git npm pnpm yarn bun npx bunx deno pip pip3 pipx uv poetry pipenv conda cargo rustup gem bundler composer maven mvn
    gradle gradlew sbt docker docker-compose podman kubectl helm terraform tofu ansible pulumi aws gcloud az brew apt
    apt-get pytest unittest tox nox jest vitest mocha rspec phpunit playwright cypress ruff mypy pyright eslint prettier
    black biome golangci-lint gofmt tsc ssh scp rsync curl wget psql mysql mongosh redis-cli sqlite3 alembic prisma
    flyway systemctl sudo gh glab make cmake ninja bazel dotnet swift flutter rails rake mix webpack vite esbuild chmod
    rm sed nvm mise asdf volta pre-commit
    """
)
"""Programs whose bare names mean nothing else in a rule, or only with the word `make`, `rm` ... in code."""
_ALSO_WORDS = word_set("make rails swift rake mix black bun conda gem az apt flutter prisma vite deno helm uv")
"""Programs that are words, too: they count in backticks, before the name of a task, or after `use` or `never`."""
_TASKS = word_set("test tests lint build check fmt format deploy install run up down start dev release ci gen generate")
_RUNNERS = word_set("make rake mix")
_NO_TASKS = word_set("sure it the a an that this them these in to for and or first before here instead only")
_BEFORE = word_set("use run call using running never not with via through prefer always and or")
_PROGRAMS_OF: dict[str, tuple[str, ...]] = {
    "dependencies": (
        "npm install", "npm i", "pnpm add", "pnpm install", "yarn add", "bun add", "pip install", "uv add",
        "uv pip install", "poetry add", "go get", "cargo add", "gem install", "bundle add", "composer require",
        "dotnet add",
    ),
    "commit": ("git commit",),
    "push": ("git push",),
    "merge": ("git merge", "gh pr merge"),
    "rebase": ("git rebase",),
    "pr": ("gh pr create",),
    "branch": ("git branch", "git checkout -b", "git switch -c"),
    "tag": ("git tag",),
    "stash": ("git stash",),
}  # fmt: skip
_SUBJECTS: dict[str, str] = {
    "dependency": "dependencies", "dependencies": "dependencies", "libraries": "dependencies",
    "commit": "commit", "commits": "commit", "committing": "commit", "committed": "commit",
    "push": "push", "pushes": "push", "pushing": "push", "force-push": "push", "pushed": "push",
    "merge": "merge", "merging": "merge", "merges": "merge", "rebase": "rebase", "rebasing": "rebase",
    "pr": "pr", "prs": "pr", "branch": "branch", "branches": "branch", "tags": "tag", "stash": "stash",
}  # fmt: skip
_WORK: dict[str, str] = {
    "test": "test", "tests": "test", "lint": "lint", "linter": "lint", "commit": "commit", "commits": "commit",
    "pr": "pr", "prs": "pr", "review": "review", "reviews": "review",
}  # fmt: skip
"""Kinds of commands, `text/occasions.COMMAND_KINDS`, that a word names."""
_ACT_WORDS: dict[str, str] = {
    form: act
    for act in ACTS
    for form in (
        act, act + "s", act + "ing", act + "ed", act + "ment", act + "ments", act.removesuffix("e") + "ing",
        act + "d", act.removesuffix("e") + "ion", act.removesuffix("e") + "ions", act + "es",
    )
}  # fmt: skip
_PLACES = word_set("under in inside within below from into at")
_FOLDERS = word_set("folder directory dir folders directories")
_ENDINGS = word_set(
    """
    go py ts tsx js jsx rs java kt rb php cs c h cpp swift sql json yaml yml toml md txt lock cfg ini env proto graphql
    css scss html vue svelte tf sh mod sum xml gradle
    """
)
_EITHER_OR = word_set("and/or yes/no on/off i/o ci/cd client/server read/write input/output w/o n/a he/she a/b tcp/ip")
_NAMES = frozenset({
    "GitHub", "GitLab", "TypeScript", "JavaScript", "PostgreSQL", "MySQL", "MongoDB", "GraphQL", "OpenAPI", "FastAPI",
    "NextJS", "DevOps", "MacOS", "macOS", "iOS", "IntelliJ", "CircleCI", "YouTube", "LinkedIn", "SQLite", "NumPy",
    "PyTorch", "OAuth", "WebSocket", "JSDoc",
})  # fmt: skip
"""Products whose names look like identifiers."""
PATHS, SYMBOLS = 5, 12
"""Most of each that are followed."""
_SOURCE_ENDINGS = word_set(
    """
    py js ts tsx jsx mjs go rs java kt rb php c h cc cpp hpp cs swift scala sh sql toml yaml yml json md css scss html
    vue svelte proto tf lua ex exs cfg ini lock gradle
    """
)


def named_in(rule: str) -> Triggers:
    """Return the triggers of what the rule names."""
    words = [word.strip(".,;:!?()[]\"'") for word in rule.replace("`", " ` ").split()]
    words = [word for word in words if word]
    return Triggers(
        paths=tuple(dict.fromkeys(_globs(words)))[:NAMED_PLACES],
        symbols=tuple(dict.fromkeys(_symbols(words)))[:NAMED_PLACES],
        commands=tuple(dict.fromkeys(_commands(words)))[:NAMED_COMMANDS],
        work=tuple(dict.fromkeys(_WORK[word.lower()] for word in words if word.lower() in _WORK)),
    )


def programs_in(words: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Yield the place and the name of each program among the words."""
    for at, word in enumerate(words):
        if word not in NAMED_PROGRAMS:
            continue
        before = words[at - 1].lower() if at else ""
        after = words[at + 1].lower() if at + 1 < len(words) else ""
        if word not in _ALSO_WORDS or after in _TASKS or before in _BEFORE or before == "`":
            yield at, word


def _commands(words: Sequence[str]) -> Iterator[str]:
    for at, program in programs_in(words):
        after = words[at + 1] if at + 1 < len(words) else ""
        is_task = after in _TASKS or (program in _RUNNERS and after.isalpha() and after not in _NO_TASKS)
        yield f"{program} {after}" if is_task and program in _ALSO_WORDS else program
    for word in words:
        low = word.lower()
        if low in _SUBJECTS:
            yield from _PROGRAMS_OF[_SUBJECTS[low]]
        if low in _ACT_WORDS:
            yield _ACT_WORDS[low]


def _globs(words: Sequence[str]) -> Iterator[str]:
    for at, word in enumerate(words):
        before = words[at - 1].lower() if at else ""
        after = words[at + 1].lower() if at + 1 < len(words) else ""
        plain = word.removeprefix("./")
        if "://" in plain or plain.lower() in _EITHER_OR or plain.startswith(("/", "~", "-", "@", "<")):
            continue
        ending = plain.rpartition(".")[2].lower() if "." in plain.lstrip(".") else ""
        if ("*" in plain and (ending in _ENDINGS or "/" in plain)) or (
            ending in _ENDINGS and plain.replace(".", "").replace("/", "").replace("-", "").replace("_", "").isalnum()
        ):
            yield plain if "/" in plain else f"**/{plain}"
        elif ("/" in plain.rstrip("/") and _is_path(plain) and (before in _PLACES or plain.count("/") > 1)) or (
            plain.endswith("/") and _is_path(plain)
        ):
            yield f"{plain.rstrip('/')}/**"
        elif after in _FOLDERS and before in (*_PLACES, "the") and _is_path(plain) and plain not in ("this", "that"):
            yield f"**/{plain}/**"


def _is_path(word: str) -> bool:
    return all(part.replace("-", "").replace("_", "").replace(".", "").isalnum() for part in word.strip("/").split("/"))


def _symbols(words: Sequence[str]) -> Iterator[str]:
    for word in words:
        name = word.removesuffix("(").removesuffix("()") if word.endswith(("(", "()")) else word
        if "/" in name or not name.replace("_", "").replace(".", "").isalnum() or not name[:1].isalpha():
            continue
        if name.rpartition(".")[2].lower() in _ENDINGS and "." in name:
            continue
        inner = name[1:]
        camel = any(c.isupper() for c in inner) and any(c.islower() for c in inner[:-1]) and not _is_plural(name)
        if "_" in name.strip("_") or (camel and name.isalnum() and name not in _NAMES):
            yield name


def _is_plural(name: str) -> bool:
    """Return whether the name is an abbreviation in the plural: `APIs`, `PRs`."""
    return name.endswith("s") and name[:-1].isupper()


@dataclass(frozen=True, slots=True, kw_only=True)
class Clues:
    """Files and identifiers as the text names them."""

    paths: tuple[str, ...] = ()
    symbols: tuple[str, ...] = ()


def clues_in(text: str) -> Clues:
    """Return the first few paths (with a folder or a known ending) and identifiers (camelCase, snake_case, `f()`)."""
    paths: dict[str, None] = {}
    symbols: dict[str, None] = {}
    for raw in text.split():
        word = raw.strip("`'\"()[]{}<>,;:!?*").rstrip(".")
        if len(word) < 3 or len(word) > 200:
            continue
        called = "()" in raw
        file = _before_line(word.removeprefix("@"))
        if _is_file(file):
            paths[file] = None
        elif called or _is_identifier(word):
            symbols[word.partition("(")[0].removesuffix("()")] = None
    return Clues(paths=tuple(paths)[:PATHS], symbols=tuple(symbols)[:SYMBOLS])


def _before_line(word: str) -> str:
    """Return the word up to its first colon, not counting a drive's."""
    drive = word[:2] if has_drive(word) else ""
    return drive + word[len(drive) :].partition(":")[0]


def _is_file(word: str) -> bool:
    """Return whether the word is a file: it has a folder and an ending, or an ending of source files."""
    if "://" in word or "\\\\" in word:
        return False
    name = word.replace("\\", "/").rpartition("/")[2]
    stem, dot, ending = name.rpartition(".")
    if not (stem and dot and ending.isalnum()):
        return False
    return ("/" in word or "\\" in word) or ending in _SOURCE_ENDINGS


def _is_identifier(word: str) -> bool:
    """Return whether the word names code: an underscore or a hump inside, or dotted parts that are names."""
    parts = word.split(".")
    if not all(part.isidentifier() for part in parts):
        return False
    if any("_" in part.strip("_") for part in parts):
        return True
    if any(not part.isupper() and any(c.isupper() for c in part[1:]) for part in parts):
        return True
    return len(parts) > 1 and all(len(part) > 2 for part in parts)
