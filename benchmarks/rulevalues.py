"""Values that fit a regular expression, drawn at random: made-up credentials from somebody else's rules.

Used by `redaction.py` with a scanner's rule file, which is read from a path and is no part of this repository.
"""

from __future__ import annotations

import re
import re._constants as sre
import re._parser as parser
import string
import tomllib
import warnings
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

ALNUM = string.ascii_letters + string.digits
MOST = 24
"""Characters that an open repetition adds to its least number."""

GO_CLASSES = {"[:alnum:]": "a-zA-Z0-9", "[:alpha:]": "a-zA-Z", "[:digit:]": "0-9", "[:xdigit:]": "0-9a-fA-F"}
ANNOUNCED = r"[\w.-]{0,50}?"
"""What an expression begins with that wants a name before the value."""


class Rule(NamedTuple):
    """One usable rule: its name, whether a vendor's name announces the value, its parsed expression, its group."""

    name: str
    announced: bool
    tree: Any
    group: int


def load_rules(path: Path) -> tuple[list[Rule], list[str]]:
    """The rules with an expression that Python can parse, and the names of the others."""
    rules, unusable = [], []
    for entry in tomllib.loads(path.read_text(encoding="utf-8"))["rules"]:
        source = entry.get("regex", "")
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = parser.parse(_translate(source))
        except (re.error, OverflowError):
            source = ""
        if not source:
            unusable.append(entry["id"])
            continue
        group = entry.get("secretGroup") or (1 if tree.state.groups > 1 else 0)
        rules.append(Rule(entry["id"], ANNOUNCED in source[:20], tree, group))
    return rules, unusable


def _translate(source: str) -> str:
    r"""Go's syntax as Python's: classes in names, `\z`, and flags in the middle, which only widen what may match."""
    for name, characters in GO_CLASSES.items():
        source = source.replace(name, characters)
    source = source.replace(r"\z", r"\Z")
    source = re.sub(r"\(\?-?[ims]+\)", "", source)
    return re.sub(r"\(\?-?[ims]+:", "(?:", source)


def draw(rule: Rule, random: Random) -> tuple[str, str]:
    """(a text that fits the whole expression, the secret in it)."""
    groups: dict[int, str] = {}
    text = "".join(_draw(rule.tree, random, groups))
    if rule.group and rule.group not in groups:
        secret = max(groups.values(), key=len, default=text)
    else:
        secret = groups[rule.group] if rule.group else text
    return text, secret


def _draw(tree: Any, random: Random, groups: dict[int, str]) -> Iterator[str]:
    for kind, argument in tree:
        yield _draw_one(kind, argument, random, groups)


def _draw_one(kind: Any, argument: Any, random: Random, groups: dict[int, str]) -> str:
    if kind is sre.LITERAL:
        return chr(argument)
    if kind is sre.IN:
        return random.choice(_members(argument))
    if kind is sre.ANY:
        return "."  # most often a dot that its author forgot to escape
    if kind is sre.NOT_LITERAL:
        return random.choice(ALNUM)
    if kind is sre.SUBPATTERN:
        text = "".join(_draw(argument[3], random, groups))
        if argument[0]:
            groups[argument[0]] = text
        return text
    if kind is sre.BRANCH:
        return "".join(_draw(random.choice(argument[1]), random, groups))
    if kind in (sre.MAX_REPEAT, sre.MIN_REPEAT):
        least, most, part = argument
        times = random.randint(least, min(most, least + MOST))
        return "".join("".join(_draw(part, random, groups)) for _ in range(times))
    if kind is sre.GROUPREF:
        return groups.get(argument, "")
    return ""  # anchors and assertions


def _members(parts: Any) -> str:
    kinds = {sre.CATEGORY_WORD: ALNUM + "_", sre.CATEGORY_DIGIT: string.digits, sre.CATEGORY_SPACE: " "}
    kinds[sre.CATEGORY_NOT_SPACE] = ALNUM + "_-"
    members, negated = "", False
    for kind, argument in parts:
        if kind is sre.NEGATE:
            negated = True
        elif kind is sre.LITERAL:
            members += chr(argument)
        elif kind is sre.RANGE:
            members += "".join(map(chr, range(argument[0], argument[1] + 1)))
        elif kind is sre.CATEGORY:
            members += kinds.get(argument, ALNUM)
    return "".join(sorted(set(ALNUM + "_-. ") - set(members))) if negated else members
