"""Extracts from a lesson what actions can be compared with: names, commands, files, tests.

Advice is read from the lesson's words: code in backquotes, paths, identifiers and flags, each affirmed or denied by its
clause. A lesson that only describes has names too, but nobody can fail to follow it: `is_order` is false.
Only the learner loads this module, never a hook.
"""

from __future__ import annotations

import re

from holdfast.domain.kinds import profile_of
from holdfast.lean.records import Frozen
from holdfast.outcomes.tuning import (
    DENIAL_REACH,
    LONGEST_NAME,
    MOST_NAMES,
    SHORTEST_NAME,
)
from holdfast.text.occasions import habit_of, lint_languages, linters_in
from holdfast.text.signature import command_target

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.domain.lesson import Lesson

TESTS, TEST_FIRST, ELSEWHERE = "tests with the change", "failing test first", "look elsewhere too"
"""Habits that a session's actions can show."""

_CODE = re.compile(
    r"`(?P<quoted>[^`\n]{2,120})`"
    r"|(?<![\w./`-])(?P<bare>(?:[\w.-]+/)+[\w.-]+\.\w+|--[a-z][\w-]+|[A-Za-z]\w*\.[A-Za-z]\w+(?:\.\w+)*"
    r"|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[A-Za-z]\w*_\w+)"
)
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n")
_CUE = re.compile(
    r"(?P<deny>\b(?:not|never|don't|dont|doesn't|didn't|avoid|without|instead of|rather than|stop|forbid\w*|nor"
    r"|unlike|cannot|can't|mustn't|shouldn't|isn't|no longer|banned|no)\b)"
    r"|(?P<affirm>\b(?:use|uses|using|run|runs|call|calls|prefer|keep|go with|put|write)\b)"
    r"|(?P<turn>[,:\u2014]|\b(?:but|instead(?! of)|then|because|since|and)\b)",
    re.IGNORECASE,
)
_ORDER = re.compile(
    r"\b(?:must|should|always|never|don't|do not|avoid|prefer|use|run|add|keep|make sure|ensure|call|put|write|wrap"
    r"|have to|has to|needs? to|only|check|instead of|rather than|remember|want|wants)\b",
    re.IGNORECASE,
)
_TESTS = re.compile(
    r"\b(?:add|write|include|needs?|cover\w*|extend|bring)\b[^.\n]{0,50}\btests?\b"
    r"|\btests? (?:with|for|to) (?:every|each|all|any)\b|\bregression tests?\b|\btests? first\b",
    re.IGNORECASE,
)
_NO_TESTS = re.compile(r"\b(?:no|without|don't|do not|never|skip)\b[^.\n]{0,30}\btests?\b", re.IGNORECASE)
_DEMAND = re.compile(
    r"^(?:\W*(?:always|never|please|to [^,]{3,60},)?\s*)"
    r"(?:use|call|wrap|prefer|return|add|keep|put|check|go through|make|derive|run|pass)\b"
    r"|\b(?:must|should|have to|has to|always|never|only with|only through|instead of|rather than)\b",
    re.IGNORECASE,
)
"""A sentence that tells its reader to use the names in it."""
_PROGRAM = re.compile(r"[a-z][\w.-]*$|\./[\w./-]+$")
_PATH = re.compile(r"(?:[\w.-]+/)*[\w-][\w.-]*\.[A-Za-z]\w{0,5}$")


class Advice(Frozen):
    """What a lesson asks for and warns of."""

    names: tuple[str, ...] = ()
    """Code that it affirms, to be used."""
    ordered: tuple[str, ...] = ()
    """Those of the names that a sentence tells the reader to use."""
    denied: tuple[str, ...] = ()
    """Code that it denies, not to be used."""
    commands: tuple[str, ...] = ()
    denied_commands: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Files it is about or names, relative to the project or as in its words; editing one may require another."""
    wants_tests: bool = False
    habit: str = ""
    """The habit of work that it asks for, one of `text.occasions.HABITS`."""
    linters: tuple[str, ...] = ()
    """Linters that it is about."""
    is_order: bool = False
    """It says what to do, so that it can be ignored."""
    signature: str = ""
    """Signature of the failure that it answers."""
    failing: str = ""
    """The command whose failure it answers."""


def advice_of(lesson: Lesson) -> Advice:
    """Return everything in the lesson that actions can be compared with."""
    profile = profile_of(lesson.kind)
    sayings = dict.fromkeys((lesson.title, lesson.insight, lesson.how))
    text = "\n".join(filter(None, sayings))
    names: dict[str, bool] = {}
    ordered: set[str] = set()
    for name, affirmed, is_demand in _names_in(text):
        names.setdefault(name, affirmed)
        ordered |= {name} if is_demand else set()
    habit = habit_of(lesson.insight) if profile.may_stand else ""
    listed = list(names.items())[:MOST_NAMES]
    commands = [(name, affirmed) for name, affirmed in listed if _is_command(name)]
    paths = [name for name, _ in listed if _PATH.match(name) and not _is_call(name)]
    code = [(name, affirmed) for name, affirmed in listed if not _is_command(name) and name not in paths]
    return Advice(
        names=tuple(name for name, affirmed in code if affirmed),
        denied=tuple(name for name, affirmed in code if not affirmed),
        commands=tuple(name for name, affirmed in commands if affirmed),
        denied_commands=tuple(name for name, affirmed in commands if not affirmed),
        ordered=tuple(name for name, affirmed in code if affirmed and name in ordered),
        files=tuple(dict.fromkeys([*lesson.paths, *paths])),
        wants_tests=habit == TESTS or (bool(_TESTS.search(text)) and not _NO_TESTS.search(text)),
        habit=habit,
        linters=linters_in(text) if lint_languages(lesson) else (),
        is_order=bool(habit) or bool(_ORDER.search(text)),
        signature=lesson.error_signature,
        failing=lesson.command if profile.names_failure else "",
    )


def _names_in(text: str) -> Iterator[tuple[str, bool, bool]]:
    """Yield (code, whether it is affirmed, whether its sentence demands something), in order."""
    for sentence in _SENTENCE_END.split(text):
        is_demand = bool(_DEMAND.search(sentence))
        for match in _CODE.finditer(sentence):
            name = " ".join((match["quoted"] or match["bare"]).split()).partition(" // ")[0].strip(" .,;:")
            if SHORTEST_NAME <= len(name) <= LONGEST_NAME and _is_distinctive(name):
                yield name, _is_affirmed(sentence[: match.start()]), is_demand


def _is_distinctive(name: str) -> bool:
    """Return whether it is code and not an ordinary word that somebody put into backquotes."""
    has_letters = any(char.isalpha() for char in name)
    return has_letters and (not name.isalpha() or name[1:] != name[1:].lower())


def _is_affirmed(lead: str) -> bool:
    """Return whether the text after these words is affirmed: the last denial or verb before it decides.

    A verb right after a denial is denied itself: `never use`.
    """
    affirmed, denied_at = True, -DENIAL_REACH - 1
    for cue in _CUE.finditer(lead):
        if cue["deny"]:
            affirmed, denied_at = False, cue.end()
        elif cue["turn"]:
            # A list continues as it began: `do not use A, B or C`.
            affirmed = affirmed if cue["turn"] in (",", "and") else True
        elif cue.start() - denied_at > DENIAL_REACH:
            affirmed = True
    return affirmed


def _is_command(name: str) -> bool:
    """Return whether it has several words of which the first may be a program: `git rev-parse --git-dir`."""
    first, _, rest = name.partition(" ")
    plain = not any(char in name for char in "(){}=<>;\"'…") and bool(_PROGRAM.match(first))
    return bool(rest) and plain and bool(command_target(name))


def _is_call(name: str) -> bool:
    """Return whether it is a call such as `exec.Command(` or `os.Getwd`, not a file's name with a short ending."""
    ending = name.rpartition(".")[2]
    return "/" not in name and (not ending.islower() or name.count(".") > 1)
