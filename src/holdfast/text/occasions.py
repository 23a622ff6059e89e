"""Tells from a lesson's form when it is useful, and which lessons state one rule in different words.

A standing rule holds for all work: a person stated it as a preference or a convention, and it names no code. A lesson
about a linter is delivered before the first edit in the linter's language. A lesson about a kind of command (test,
lint, commit, pull request, review) is delivered before the first such command. Lessons about one linter, one command or
one habit form a group: one delivery counts for the whole group.

Hooks import this module, so it uses no regular expressions.
"""

from __future__ import annotations

from collections.abc import Iterator

from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import LessonKind, Trust
from holdfast.text.shell import simple_commands
from holdfast.text.words import word_set

COMMAND_KINDS = ("test", "lint", "commit", "pr", "review", "release")
"""Kinds of commands before which lessons are delivered."""
CARDS = "commands/"
"""Prefix of the topic keys of a project's command card, which has one lesson for each purpose."""

_GO = word_set(
    """
    errcheck nilerr nilnil wrapcheck goconst gosec staticcheck maintidx exhaustive exhaustruct forbidigo govet unparam
    ineffassign gocritic gocyclo gocognit cyclop nolintlint errorlint ireturn noctx bodyclose depguard testifylint
    perfsprint gofumpt gofmt goimports golangci-lint golangci
    """
)
_PYTHON = word_set("ruff flake8 pylint mypy pyright isort bandit pydocstyle pycodestyle vulture")
_SCRIPT = word_set("eslint prettier tsc biome stylelint oxlint jshint tslint")
_OTHER: dict[str, str] = {
    "clippy": "rs", "rustfmt": "rs", "shellcheck": "sh", "shfmt": "sh", "rubocop": "rb", "phpstan": "php",
    "psalm": "php", "checkstyle": "java", "spotbugs": "java", "ktlint": "kt", "detekt": "kt", "swiftlint": "swift",
    "hadolint": "dockerfile", "yamllint": "yaml", "actionlint": "yaml", "markdownlint": "md", "clang-tidy": "cpp",
    "cppcheck": "cpp", "sqlfluff": "sql",
}  # fmt: skip
LINTERS: dict[str, str] = (
    dict.fromkeys(_GO, "go") | dict.fromkeys(_PYTHON, "py") | dict.fromkeys(_SCRIPT, "ts") | _OTHER
)
"""Linters whose names mean nothing else, with the ending of the files that they read."""
_ENDINGS = {
    "tsx": "ts", "js": "ts", "jsx": "ts", "mjs": "ts", "cjs": "ts", "vue": "ts", "svelte": "ts", "pyi": "py",
    "bash": "sh", "kts": "kt", "yml": "yaml", "cc": "cpp", "c": "cpp", "h": "cpp", "hpp": "cpp", "cxx": "cpp",
}  # fmt: skip
"""Endings of files that count as another ending's language."""
SOURCES = frozenset(LINTERS.values()) | {"cs", "scala", "ex", "lua", "dart", "zig"}
_LINT_WORDS = frozenset({"lint", "linter", "linters", "linting"})

_Alternatives = tuple[frozenset[str], ...]
HABITS: dict[str, _Alternatives] = {
    "failing test first": (
        word_set("test tests test-first tdd"), word_set("failing fails fail red test-first tdd reproduce prove"),
        word_set("first before until then test-first tdd"),
    ),
    "tests with the change": (
        word_set("test tests unit-tests"),
        word_set("come comes expected add deliver unasked together cover"),
        word_set("new fix fixes bug bugs change changes functionality behaviour behavior feature package code"),
    ),
    "look elsewhere too": (
        word_set("search check look grep scan find replace"),
        word_set("elsewhere everywhere places pattern siblings occurrences codebase"),
    ),
    "reuse what is there": (
        word_set("existing already exists reuse library"),
        word_set("helper helpers utility utilities function functions package packages code"),
        word_set("before check search reuse first"),
    ),
    "reply to reviews": (
        word_set("review reviews reviewer copilot comment comments thread threads"),
        word_set("answer reply replies respond"),
    ),
}  # fmt: skip
"""Habits that people request in many wordings. A rule must have a word of each set."""

_TESTERS = word_set("pytest jest vitest mocha tox nox rspec phpunit ctest ava playwright cypress gotestsum nextest")
_LINT_PROGRAMS = frozenset(LINTERS) | {"pre-commit"}
RUNNERS = frozenset({"golangci-lint", "golangci", "pre-commit"})
"""Programs that run linters. Their names say nothing about a particular linter."""
_DENIALS = word_set("not never no don't avoid few prefer")
_HABIT_WORDS = 24
"""Words of a rule that are looked at for its habit: the rule comes first, its exceptions later."""


_OF_THE_MOMENT = ("last time", "this time", "for now", "right now", "at the moment", "this session", "this branch")
"""Words of a request that is about the work at hand."""


def is_standing(lesson: Lesson) -> bool:
    """Return whether the lesson is a rule for all work: it is marked so, or its speaker and form show it."""
    if lesson.when.standing or lesson.when.edited:
        return lesson.when.standing
    return is_standing_rule(lesson.kind, lesson.trust, lesson.insight)


def is_standing_rule(kind: LessonKind, trust: Trust, insight: str) -> bool:
    """Return whether a person stated a rule for all work, of a kind that may stand, that names no code."""
    if not profile_of(kind).may_stand or trust != "person" or names_code(insight):
        return False
    words = list(plain_words(insight))
    return "also" not in words[:3] and not any(times in " ".join(words) for times in _OF_THE_MOMENT)


def names_code(text: str) -> bool:
    """Return whether the text names a file, an identifier, a flag or a piece of code."""
    return "`" in text or any(map(_is_code, text.split()))


def linters_in(text: str) -> tuple[str, ...]:
    """Return the linters that the text names, each once, in order."""
    return tuple(dict.fromkeys(word for word in plain_words(text) if word in LINTERS))


def language_of(path: str) -> str:
    """Return the ending that represents a source file's language; empty for other files."""
    name = path.replace("\\", "/").rpartition("/")[2].lower()
    ending = name.rpartition(".")[2]
    ending = _ENDINGS.get(ending, ending)
    return ending if ending in SOURCES else ""


def lint_languages(lesson: Lesson) -> frozenset[str]:
    """Return the languages whose linters the lesson is about; empty if it is not about a linter."""
    if not profile_of(lesson.kind).is_instruction:
        return frozenset()
    text = f"{lesson.title} {lesson.insight}"
    named = frozenset(LINTERS[linter] for linter in linters_in(text))
    if named or not _LINT_WORDS.intersection(plain_words(text)):
        return named
    return frozenset(filter(None, map(language_of, (*lesson.paths, *lesson.when.paths))))


def habit_of(text: str) -> str:
    """Return the habit that a rule requests; empty for other rules."""
    words = list(plain_words(text))[:_HABIT_WORDS]
    if _DENIALS.intersection(words[:3]):
        return ""
    return next((name for name, sets in HABITS.items() if all(choices.intersection(words) for choices in sets)), "")


def group_keys(lesson: Lesson) -> frozenset[str]:
    """Return the keys of the groups that the lesson belongs to; only its own id if it belongs to none.

    A lesson counts as delivered when all its keys were.
    """
    if lint_languages(lesson):
        linters = linters_in(f"{lesson.title} {lesson.insight}")
        single = [name for name in linters if name not in RUNNERS]
        if single:
            return frozenset(f"linter {name}" for name in single)
    if lesson.topic_key.startswith(CARDS):
        return frozenset({lesson.topic_key})
    if profile_of(lesson.kind).may_stand and (habit := habit_of(lesson.insight)):
        return frozenset({f"habit {habit}"})
    commands = () if is_standing(lesson) else how_to_commands(lesson)  # rules that name one program are different rules
    if commands:
        return frozenset({f"command {commands[0]}"})
    return frozenset({lesson.id})


def how_to_commands(lesson: Lesson) -> tuple[str, ...]:
    """Return the commands that a lesson on tooling says to run; the first is the one it is about."""
    profile = profile_of(lesson.kind)
    if not profile.is_instruction:
        return ()
    commands = (lesson.command, *lesson.when.commands) if profile.tells_command else lesson.when.commands
    return tuple(dict.fromkeys(filter(None, commands)))


def command_kinds(line: str) -> tuple[str, ...]:
    """Return the kinds of the commands in a line, of COMMAND_KINDS, each once."""
    kinds: dict[str, None] = {}
    for words in simple_commands(line):
        kind = _kind_of(words)
        if kind:
            kinds[kind] = None
    return tuple(kinds)


def occasions(lesson: Lesson) -> tuple[str, ...]:
    """Return the kinds of commands at which the lesson is useful, by its words and commands; `standing` for a rule.

    A standing rule about commits, pull requests or reviews waits for such a command; others belong to a session's
    start. `edit <language>` stands for the first edit in a linter's language.
    """
    kinds: dict[str, None] = {}
    if lesson.topic_key.startswith(CARDS):
        purpose = lesson.topic_key.removeprefix(CARDS)
        return (purpose,) if purpose in COMMAND_KINDS else ()
    for command in how_to_commands(lesson):
        kinds.update(dict.fromkeys(command_kinds(command)))
    kinds.update(dict.fromkeys(work for work in lesson.when.work if work in COMMAND_KINDS))
    if is_standing(lesson):
        waits = _waits_for(lesson.insight)
        kinds.update(dict.fromkeys(waits or ("standing",)))
    for language in sorted(lint_languages(lesson)):
        kinds[f"edit {language}"] = None
    return tuple(kinds)


def _waits_for(insight: str) -> tuple[str, ...]:
    """Return the kind of command that a standing rule is about; empty for a rule about the work before it."""
    words = list(plain_words(insight))[:_HABIT_WORDS]
    if habit_of(insight) in ("failing test first", "tests with the change", "look elsewhere too"):
        return ()
    for kind, cues in _CUES:
        if cues.intersection(words):
            return (kind,)
    return ()


_CUES = (
    ("review", word_set("review reviews reviewer thread threads copilot bugbot")),
    ("pr", word_set("pr prs pull merge merges push")),
    ("commit", word_set("commit commits committing")),
)


def plain_words(text: str) -> Iterator[str]:
    """Yield the words of a text in lower case, without surrounding punctuation."""
    for raw in text.lower().replace("`", " ").replace("(", " ").replace("/", " ").replace(",", " ").split():
        word = raw.strip(".,;:!?()[]{}\"'*_")
        if word:
            yield word.removesuffix("'s")


_EITHER_OR = word_set(
    "and/or input/output before/after read/write yes/no on/off client/server he/she his/her add/remove i/o ci/cd tcp/ip"
    " true/false if/else try/catch start/stop open/close w/o n/a copy/paste push/pull up/down in/out get/set a/b"
)
"""Words with a slash that are no paths."""


def _is_code(raw: str) -> bool:
    word = raw.strip(".,;:!?\"'[]{}*").rstrip(")").lstrip("(")
    if raw.rstrip(".,;:!?\"'").endswith("()") or word.startswith("--"):
        return True
    if "/" in word and word.lower() not in _EITHER_OR:
        return True
    if "_" in word.strip("_") or "://" in word:
        return True
    head, dot, tail = word.rpartition(".")
    if dot and len(head) > 1 and head[-1].isalnum() and tail.isalnum() and not word.replace(".", "").isdigit():
        return True
    inner = word[1:].replace("-", "")
    return inner.isalpha() and any(c.isupper() for c in inner) and any(c.islower() for c in inner[:-1]) and not (
        word.endswith("s") and word[:-1].isupper()
    ) and "-" not in word  # fmt: skip


def _kind_of(words: list[str]) -> str:
    """Return the kind of one simple command, whose words come without wrappers."""
    program = words[0].replace("\\", "/").rpartition("/")[2]
    rest = [word.lower() for word in words[1:] if not word.startswith("-")]
    if program == "git":
        return "commit" if rest[:1] == ["commit"] else ""
    if program == "gh":
        return _github(rest)
    if _releases(program, rest):
        return "release"
    if program in _TESTERS:
        return "test"
    if program in _LINT_PROGRAMS:
        return "lint"
    if program in ("python", "python3") and words[1:2] == ["-m"] and len(words) > 2:
        return _kind_of(words[2:])
    if program not in _TASK_RUNNERS:
        return ""
    task = rest[1] if rest[:1] == ["run"] and len(rest) > 1 else rest[0] if rest else ""
    parts = task.replace(":", " ").replace("-", " ").replace("_", " ").split()
    if "test" in parts or "tests" in parts:
        return "test"
    return "lint" if _LINT_WORDS.intersection(parts) or task in ("clippy", "vet", "check") else ""


_TASK_RUNNERS = word_set(
    "go cargo npm pnpm yarn bun make mise just task mvn gradle gradlew dotnet deno mix composer rake bundle nx turbo uv"
    " poetry hatch invoke bazel swift flutter sbt"
)


def _releases(program: str, rest: list[str]) -> bool:
    """Return whether the command publishes a version of the project."""
    if program in ("npm", "pnpm", "yarn", "cargo", "poetry", "uv", "flit", "hatch", "lerna", "bun"):
        return "publish" in rest[:2]
    if program == "twine":
        return rest[:1] == ["upload"]
    return program in ("goreleaser", "semantic-release", "release-it") or rest[:1] == ["release"]


def _github(rest: list[str]) -> str:
    if rest[:2] == ["release", "create"]:
        return "release"
    if rest[:1] == ["pr"]:
        return "pr" if rest[1:2] in (["create"], ["edit"], ["merge"], ["ready"]) else "review"
    if rest[:1] == ["api"] and any("pulls/" in word or "/comments" in word or word == "graphql" for word in rest[1:]):
        return "review"
    return ""
