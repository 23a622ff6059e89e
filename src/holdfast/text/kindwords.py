"""Names the kind of a lesson by the words in which it is stated: the first of the forms below that occurs. English."""

from __future__ import annotations

import re

from holdfast.domain.vocabulary import LessonKind

_FORMS: dict[LessonKind, str] = {
    "failed_approach":
    r"\b(?:didn'?t|did not|doesn'?t|does not) (?:help|work|scale|pay off)\b.*\b(?:tried|because|since)\b"
    r"|\b(?:tried|attempted)\b.{3,}\b(?:abandoned|gave up|given up|dropped|reverted|rolled back|backed out"
    r"|backfired|(?:didn'?t|did not|doesn'?t|does not|never) (?:work|help|scale|fix|hold)|failed|(?:went|switched"
    r"|moved) back|made it (?:worse|slower)|too (?:slow|flaky|fragile|brittle|complex|expensive))\b",
    "bug_cause":
    r"\broot cause\b|\b(?:was|were|is|are|been) (?:actually |really |mostly )?(?:caused|triggered) by\b|\b(?:bugs?"
    r"|crash(?:es|ed)?|failures?|outages?|incidents?|leaks?|deadlocks?|hangs?|flak(?:es?|iness)|timeouts?|errors?"
    r"|slowness|corruption)\b.{0,60}?\b(?:was|were|is|comes? from|came from|happen(?:s|ed)?|occur(?:s"
    r"|red)?)\b.{0,30}\b(?:because|due to|from|when)\b|\b(?:failed|broke|crashed|leaked|hung|died|blew up"
    r"|deadlocked|went down|was (?:broken|wrong|missing))\b.{0,40}\bbecause\b",
    "decision":
    r"\bwe(?:'ve| have)? (?:\w+ )?(?:decided|agreed|settled|standardi[sz]ed|opted|chose|chosen|picked|switched"
    r"|moved|migrated|dropped|replaced|ditched)\b|\bdeliberate(?:ly)?\b|\bon purpose\b|\bintentional(?:ly)?\b"
    r"|\bwe went with\b|\bthe decision (?:is|was)\b",
    "preference": r"\b[Ii](?:'d| would)? (?:\w+ )?(?:prefer|rather|like|hate|love|want)\b"
    r"|\bmy (?:personal )?(?:preference|style|taste)\b|\b(?:answer|reply|explain|talk|write) (?:to )?me\b"
    r"|\bto me\b|\bme first\b|\b(?:your|the) (?:answers?|replies|explanations?|summaries|responses?)\b"
    r"|^(?:always )?(?:answer|reply|respond|explain)\b|\b(?:asking|telling|checking with|ask|tell) me\b",
    "constraint":
    r"\b(?:must(?:n't)?|never|cannot|can't|can not|not allowed|forbidden|off[- ]limits|banned|prohibited|don't"
    r"|do not|dont|no one|nobody|no more than|at most|at least|up to \d|only (?:if|when|after|from|with|on)"
    r"|limit(?:ed)? (?:is|of|to)|requires? (?:approval|review|a review|sign-?off)|may not|read-?only|frozen)\b",
    "tooling":
    r"\b(?:needs? \w+ set|run|runs|running|install|start|starts|started|deploy(?:s|ed)?|build|builds|built|compile"
    r"|port|env|environment|docker|container|database|db|server|cluster|staging|command|script|binary|cli|version"
    r"|registry|queue|bucket|hosted|token|tokens|rotated?|expires?|cron|ci|vpn|logs (?:are|live)|localhost)\b"
    r"|\bneeds? (?:a|an|the)? ?(?:running )?\w+ (?:running|started|up)\b|`[^`]+`",
}  # fmt: skip
_PATTERNS = tuple((kind, re.compile(form, re.IGNORECASE)) for kind, form in _FORMS.items())


def kind_of(words: str, usual: LessonKind = "convention") -> LessonKind:
    """Return the kind that the words show, otherwise the usual kind of their source."""
    return next((kind for kind, form in _PATTERNS if form.search(words)), usual)
