"""The aim of a question besides its subject: the kind of task that it begins, and the time that it names.

Both only change the order of lessons that match (see `multipliers`), unless the question names nothing but a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from holdfast.domain.kinds import KIND_PROFILES, profile_of
from holdfast.domain.lesson import Lesson
from holdfast.domain.vocabulary import LessonKind
from holdfast.ranking.tuning import AIM_CHARACTERS
from holdfast.text.timespan import TIME_WORDS
from holdfast.text.words import STOP_WORDS, word_set

TASKS: dict[str, frozenset[str]] = {
    "fix": word_set(
        "fix fixes fixing bug bugs broken breaks crash crashes crashed debug error errors exception traceback failing "
        "fails failed wrong regression hang hangs flaky"
    ),
    "test": word_set("test tests testing coverage fixture fixtures mock mocks unittest pytest"),
    "refactor": word_set("refactor refactoring rename extract simplify restructure cleanup tidy split dedupe inline"),
    "review": word_set("review reviewing audit critique pr"),
    "operate": word_set("deploy deploying release publish install run start setup configure upgrade migrate ci docker"),
    "feature": word_set("add implement build create support introduce feature design extend"),
}
"""Words that indicate a task, the most reliable task first."""

ASKING = STOP_WORDS | word_set(
    "learn learnt learned decide decided decision decisions lesson lessons know known happen happened work worked "
    "change changed remember memory find found discover discovered"
)
"""Words that ask for lessons, whatever their subject."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """The task that a question begins (empty: unknown) and the time that it names, [since, until)."""

    task: str = ""
    since: datetime | None = None
    until: datetime | None = None

    def is_for(self, lesson: Lesson) -> bool:
        """Return whether the task prefers lessons of this kind."""
        return self.task in profile_of(lesson.kind).tasks

    def names_time_of(self, lesson: Lesson) -> bool:
        """Return whether the lesson was learnt in the time that the question names."""
        at = lesson.validity.valid_from
        named = self.since is not None or self.until is not None
        return named and (self.since is None or at >= self.since) and (self.until is None or at < self.until)


def task_of(text: str) -> str:
    """Return the first task with a word in the first AIM_CHARACTERS of the text; empty without one."""
    words = _words(text[:AIM_CHARACTERS])
    return next((task for task, cues in TASKS.items() if words & cues), "")


def says_only_when(text: str) -> bool:
    """Return whether the text names a time and no subject: `what did we decide last week?`."""
    return all(word in ASKING or word in TIME_WORDS or not word.isalpha() for word in _words(text))


def _words(text: str) -> frozenset[str]:
    return frozenset(raw.strip(".,;:!?()\"'`*").lower() for raw in text.split())


KIND_QUESTIONS: dict[str, tuple[str, ...]] = {
    "failures": (
        "what failed before", "what has failed before", "what went wrong before", "what did not work", "failed before",
        "what didn't work", "what was tried", "what did we try", "what have we tried", "failed approaches",
        "failed attempts", "known failures", "what failed", "dead ends",
    ),
    "constraints": (
        "which constraints", "what constraints", "any constraints", "constraints", "what must i not",
        "what is forbidden", "what is not allowed", "which limits",
    ),
    "decisions": (
        "what did we decide", "what was decided", "what have we decided", "which decisions", "what decisions",
        "any decisions", "why did we choose", "why did we decide", "decisions",
    ),
    "preferences": (
        "any preferences", "which preferences", "what preferences", "what does the user prefer", "preferences",
        "what do i prefer", "what are my preferences",
    ),
    "conventions": (
        "which conventions", "what conventions", "any conventions", "conventions", "which rules", "what rules",
        "any rules", "style rules",
    ),
    "causes": (
        "what caused", "known bugs", "which bugs", "any bugs", "root causes", "root cause",
    ),
    "commands": (
        "which commands", "what commands", "which tools", "what tools", "tooling",
    ),
}  # fmt: skip
"""Beginnings of questions for lessons of some kinds, by the question's name; the longest wordings come first."""
_JOINING = word_set(
    "about with for on of in to the a an regarding concerning do does did we i you have are there is was were any be"
)


def kinds_asked(text: str) -> tuple[tuple[LessonKind, ...], str]:
    """Return the kinds of lessons that a short question asks for, and its remaining text; both may be empty.

    `what failed before with the migration?` asks for failed approaches about `migration`.
    """
    plain = " ".join(text.lower().replace("\u2019", "'").split())
    if not plain or len(plain) > AIM_CHARACTERS:
        return (), ""
    for question, wordings in KIND_QUESTIONS.items():
        for wording in wordings:
            if plain.startswith(wording) and not plain[len(wording) : len(wording) + 1].isalnum():
                start = len(wording)
                rest = " ".join(text.split())[start:].strip(" ?!.:,")
                kinds = tuple(kind for kind, profile in KIND_PROFILES.items() if question in profile.questions)
                return kinds, _without_joining(rest)
    return (), ""


TOOL_VERBS = {
    "linter": "lint", "linters": "lint", "linting": "lint", "formatter": "format", "formatters": "format",
    "compiler": "compile", "bundler": "bundle", "installer": "install", "builder": "build", "checker": "check",
    "runner": "run", "migrator": "migrate", "deployer": "deploy", "releaser": "release",
}  # fmt: skip
"""Names of tools and what they do, as lessons about commands say it: no stem brings `linter` and `lint` together."""


def with_verbs(text: str) -> str:
    """Return the question with what tools do in place of their names."""
    words = text[:AIM_CHARACTERS].split()
    return " ".join(TOOL_VERBS.get(word.strip(".,;:!?()\"'`*").lower(), word) for word in words)


def _without_joining(text: str) -> str:
    """Return the text without the small words at its beginning."""
    words = text.split()
    while words and words[0].lower() in _JOINING:
        words = words[1:]
    return " ".join(words)
