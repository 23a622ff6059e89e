"""Tells what a person's rule rules out: an earlier rule of the same person, or a command that agents ran.

`overrules` is for two explicit rules of one person: the later one holds where both are about the same subject. Rules
with words of their own are about different things: "use bun for the scripts" leaves "always use pnpm" as it is.

Only the learner loads this module; hooks never do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from holdfast.compare.claims import VALUES
from holdfast.compare.contradiction import OPEN_SLOTS, relation
from holdfast.text.named import programs_in
from holdfast.text.shell import simple_commands
from holdfast.text.words import terms, word_set

OTHER_WORDS = 4
"""Telling words beside the command in a rule that only says to run it."""

_DENIERS = word_set("never not no don't dont avoid stop without over")
_BETWEEN = word_set("use using used run running call calling ever to the plain bare with `")
"""Words that may stand between a denial and the program that it denies."""
_CONDITIONS = word_set("without unless except before until if when while inside for on from after during")
"""Words after a denied program that make the denial one of certain occasions."""
_ANYWHERE = word_set("in here anymore again directly at any this our the repo repository project codebase and or but")
_GENERIC = word_set(
    """
    use uses using we i you always never not from now on in this our the a an here repo repository
    project codebase instead of rather than no longer and or please only ever run runs with to for
    everything any more anymore it is are code base want prefer package packages manager managers
    install installs installing dependencies tests test runner
    """
)
"""Words that say nothing about where a rule on a tool holds."""
_CALLED = re.compile(
    r"^(?:our|the)?\s*(?P<what>.{3,60}?) (?P<verb>(?:is|are) (?:called|named|hosted|deployed|stored|located)"
    r"|lives?|runs?)\b\s*(?:in|at|on)?\s*(?P<value>.+)$",
    re.IGNORECASE,
)

_ALLOWS = re.compile(r"(?:you|we|agents) (?:may|can|are allowed to)(?: now| again)? (?P<act>.+)", re.IGNORECASE)
_FORBIDS = re.compile(
    r"(?:(?:you|we|agents) )?(?:never|must not|must never|may not|do not ever|don't ever|do not|don't) (?P<act>.+)",
    re.IGNORECASE,
)


def forbids(rule: str, line: str) -> bool:
    """Return whether the rule rules out the command line, wherever and whenever it runs."""
    commands = simple_commands(line)
    denied = list(forbidden_in(rule))
    if any(words[: len(beginning)] == beginning for words in commands for beginning in denied):
        return True
    tools = _affirmed_tools(rule)
    others = (VALUES.get(words[0].lower()) for words in commands if words)
    is_scoped = bool(_own_words(rule))
    return not is_scoped and any(value and value[0] in tools and value[1] not in tools[value[0]] for value in others)


def says_to_run(rule: str, line: str) -> bool:
    """Return whether the rule itself names the command line, and little else."""
    words = [word.strip(".,;:!\"'()") for word in rule.replace("`", " ").split()]
    own = line.split()
    holds = any(words[at : at + len(own)] == own for at in range(len(words) - len(own) + 1))
    return bool(own) and holds and len(set(terms(rule)) - set(terms(line))) <= OTHER_WORDS


def forbidden_in(rule: str) -> Iterator[list[str]]:
    """Yield the beginnings of commands that the rule denies altogether: `npm`, or `npm publish`."""
    words = _words(rule)
    for at, program in programs_in(words):
        if not _is_denied(words, at):
            continue
        following = words[at + 1 : at + 2]
        rest = [word.lower() for word in words[at + 1 : at + 4]]
        if rest and rest[0] in _CONDITIONS:
            continue
        if rest[:1] == ["in"] and rest[1:2] not in (["this"], ["our"], ["the"], ["here"]):
            continue
        is_subcommand = bool(following) and following[0].isalpha() and rest[0] not in _ANYWHERE | {"`", ",", ";"}
        if is_subcommand and len(rest) > 1 and rest[1] in _CONDITIONS:
            continue
        yield [program, following[0]] if is_subcommand else [program]


def overrules(later: str, earlier: str) -> bool:
    """Return whether the later of two explicit rules of one person replaces the earlier one."""
    between = relation(later, earlier)
    if between.kind == "contradicts":
        return between.is_sure or (between.slot not in OPEN_SLOTS and _own_words(later) == _own_words(earlier))
    if _permits(later, earlier):
        return True
    if between.kind == "same":
        return False
    tools, before = _affirmed_tools(later), _affirmed_tools(earlier)
    if any(not tools[slot] & before[slot] for slot in tools.keys() & before.keys()):
        return _own_words(later) == _own_words(earlier)
    return _is_renamed(later, earlier)


def _words(rule: str) -> list[str]:
    spread = re.sub(r"([`,;:])", r" \1 ", rule)
    return [word for raw in spread.split() if (word := raw.strip(".!?()\"'"))]


def _is_denied(words: Sequence[str], at: int) -> bool:
    """Return whether a denial stands directly before that word, or `instead of` or `rather than`."""
    place = at - 1
    while place >= 0 and words[place].lower() in _BETWEEN:
        place -= 1
    if place < 0:
        return False
    pair = " ".join(words[max(0, place - 1) : place + 1]).lower()
    return words[place].lower() in _DENIERS or pair in ("instead of", "rather than")


def _affirmed_tools(rule: str) -> dict[str, set[str]]:
    """Return the tools that the rule says to use, by their slot: `package manager`, `test runner`."""
    words = _words(rule)
    tools: dict[str, set[str]] = {}
    for at, word in enumerate(words):
        value = VALUES.get(word.lower())
        if value and not _is_denied(words, at) and any(w.lower() in ("use", "using", "prefer") for w in words[:at]):
            tools.setdefault(value[0], set()).add(value[1])
    return {slot: names for slot, names in tools.items() if len(names) == 1}


def _own_words(rule: str) -> set[str]:
    """Return the words that tell where the rule holds: neither tools nor words that every such rule has."""
    return {
        low for word in _words(rule) if (low := word.lower()).isalnum() and low not in _GENERIC and low not in VALUES
    }


def _permits(later: str, earlier: str) -> bool:
    """Return whether the later rule allows what the earlier one forbids: `you may add X` after `never add X`."""
    allowed, forbidden = _ALLOWS.match(later), _FORBIDS.match(earlier)
    if allowed is None or forbidden is None:
        return False
    new, old = (set(terms(match["act"])) for match in (allowed, forbidden))
    return bool(new) and (new <= old or old <= new)


def _is_renamed(later: str, earlier: str) -> bool:
    """Return whether both name the same thing, and differently: `our database is called A`, then `... B`."""
    new, old = _CALLED.match(later), _CALLED.match(earlier)
    if new is None or old is None:
        return False
    verbs = {re.sub(r"named", "called", match["verb"].lower()) for match in (new, old)}
    return (
        len(verbs) == 1
        and new["what"].lower().split() == old["what"].lower().split()
        and new["value"].strip(" .").lower() != old["value"].strip(" .").lower()
    )
