"""Extracts from a lesson what actions can be compared with: names, commands, files, tests.

Advice is read from the lesson's words: code in backquotes, paths, identifiers and flags, each affirmed or denied by its
clause. A lesson that only describes has names too, but nobody can fail to follow it: `is_order` is false.
Only the learner loads this module, never a hook.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Lesson
from holdfast.outcomes.tuning import (
    DENIAL_REACH,
    LONGEST_NAME,
    MOST_NAMES,
    SHORTEST_NAME,
)
from holdfast.text.shell import command_target

_CODE = re.compile(
    r"`(?P<quoted>[^`\n]{2,120})`"
    r"|(?<![\w./`-])(?P<bare>(?:[\w.-]+/)+[\w.-]+\.\w+|--[a-z][\w-]+|[A-Za-z]\w*\.[A-Za-z]\w+(?:\.\w+)*"
    r"|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|[A-Za-z]\w*_\w+)"
)
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|\n")
_CUE = re.compile(
    r"(?P<need>\b(?:fail\w*|break\w*|errors?|crash\w*|not work\w*|never) without\b)"
    r"|(?P<deny>\b(?:not|never|don't|dont|doesn't|didn't|avoid|without|instead of|rather than|stop|forbid\w*|nor"
    r"|unlike|cannot|can't|mustn't|shouldn't|isn't|no longer|banned|no)\b)"
    r"|(?P<occasion>\b(?:before|after|when|whenever|if|until|unless|while)\b)"
    r"|(?P<affirm>\b(?:us(?:e|es|ing)|run|runs|running|start|calls?|calling|prefer|keep|go with|put|write|with|via)\b)"
    r"|(?P<turn>[,:\u2014]|\b(?:but|instead(?! of)|then|because|since|and)\b)",
    re.IGNORECASE,
)
_SUBJECT = re.compile(r"\W*(?:you|we|they|agents?|somebody)?\W*$", re.IGNORECASE)
"""What may stand between a word such as `before` and the verb of its clause: `before you run`."""
_ORDER = re.compile(
    r"\b(?:must|should|always|never|don't|do not|avoid|prefer|use|run|add|keep|make sure|ensure|call|put|write|wrap"
    r"|have to|has to|needs? to|only|check|instead of|rather than|remember|want|wants)\b",
    re.IGNORECASE,
)
_DEMAND = re.compile(
    r"^(?:\W*(?:always|never|please|to [^,]{3,60},)?\s*)"
    r"(?:use|call|wrap|prefer|return|add|keep|put|check|go through|make|derive|run|pass)\b"
    r"|\b(?:must|should|have to|has to|always|never|only with|only through|instead of|rather than)\b",
    re.IGNORECASE,
)
"""A sentence that tells its reader to use the names in it."""
_PROGRAM = re.compile(r"[a-z][\w.-]*$|\./[\w./-]+$")
_PATH = re.compile(r"(?:[\w.-]+/)*[\w-][\w.-]*\.[A-Za-z]\w{0,5}$")


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """What a lesson asks for and warns of."""

    names: tuple[str, ...] = ()
    """Code that it affirms, to be used."""
    ordered: tuple[str, ...] = ()
    """Those of the names that a sentence tells the reader to use."""
    denied: tuple[str, ...] = ()
    """Code that it denies, not to be used."""
    commands: tuple[str, ...] = ()
    """Commands that it asks for; not those that only name its occasion: `before make migrate`."""
    denied_commands: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Files it is about or names, relative to the project or as in its words; editing one may require another."""
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
    stances: dict[str, str] = {}
    ordered: set[str] = set()
    for name, stance, is_demand in _names_in(text):
        if stances.get(name, "stated") in ("stated", "occasion"):  # the first clause that asks or denies decides
            stances[name] = stance
        ordered |= {name} if is_demand else set()
    listed = list(stances.items())[:MOST_NAMES]
    commands = [(name, stance) for name, stance in listed if _is_command(name)]
    paths = [name for name, _ in listed if _PATH.match(name) and not _is_call(name)]
    code = [(name, stance) for name, stance in listed if not _is_command(name) and name not in paths]
    return Advice(
        names=tuple(name for name, stance in code if stance in ("asked", "stated")),
        denied=tuple(name for name, stance in code if stance == "denied"),
        commands=tuple(name for name, stance in commands if stance == "asked"),
        denied_commands=tuple(name for name, stance in commands if stance == "denied"),
        ordered=tuple(name for name, stance in code if stance in ("asked", "stated") and name in ordered),
        files=tuple(dict.fromkeys([*lesson.paths, *paths])),
        is_order=bool(_ORDER.search(text)),
        signature=lesson.error_signature,
        failing=lesson.command if profile.names_failure else "",
    )


def _names_in(text: str) -> Iterator[tuple[str, str, bool]]:
    """Yield (code, what its clause says of it, whether its sentence demands something), in order."""
    for sentence in _SENTENCE_END.split(text):
        is_demand = bool(_DEMAND.search(sentence))
        for match in _CODE.finditer(sentence):
            name = " ".join((match["quoted"] or match["bare"]).split()).partition(" // ")[0].strip(" .,;:")
            if SHORTEST_NAME <= len(name) <= LONGEST_NAME and _is_distinctive(name):
                is_first = sentence[match.end() :].lstrip().startswith("first")
                yield name, "asked" if is_first else _stance(sentence[: match.start()]), is_demand


def _is_distinctive(name: str) -> bool:
    """Return whether it is code and not an ordinary word that somebody put into backquotes."""
    has_letters = any(char.isalpha() for char in name)
    return has_letters and (not name.isalpha() or name[1:] != name[1:].lower())


def _stance(lead: str) -> str:
    """Return what a clause that begins with these words says of the name that follows.

    The last denial, occasion or verb before the name decides. A verb right after a denial is denied itself (`never
    use`), and one right after an occasion belongs to it (`before you run`).
    """
    stance, denied_at, occasion_at = "stated", -DENIAL_REACH - 1, -1
    for cue in _CUE.finditer(lead):
        if cue["need"]:
            stance = "asked"
        elif cue["deny"]:
            stance, denied_at = "denied", cue.end()
        elif cue["occasion"]:
            stance, occasion_at = "occasion", cue.end()
        elif cue["turn"]:
            # A list continues as it began: `do not use A, B or C`.
            stance = stance if cue["turn"] in (",", "and") else "stated"
        elif occasion_at >= 0 and _SUBJECT.match(lead, occasion_at, cue.start()):
            continue
        elif cue.start() - denied_at > DENIAL_REACH:
            stance = "asked"
    return stance


def _is_command(name: str) -> bool:
    """Return whether it has several words of which the first may be a program: `git rev-parse --git-dir`."""
    first, _, rest = name.partition(" ")
    plain = not any(char in name for char in "(){}=<>;\"'…") and bool(_PROGRAM.match(first))
    return bool(rest) and plain and bool(command_target(name))


def _is_call(name: str) -> bool:
    """Return whether it is a call such as `exec.Command(` or `os.Getwd`, not a file's name with a short ending."""
    ending = name.rpartition(".")[2]
    return "/" not in name and (not ending.islower() or name.count(".") > 1)
