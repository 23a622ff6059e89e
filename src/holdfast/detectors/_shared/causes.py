"""Finds the sentence that says why something failed, if it can be understood outside its session.

The sentence must give a cause and must be about what failed or was edited. It must not express doubt or plans, or
describe the speaker's own work in progress.

Only detectors load this module; hooks never do.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from holdfast.domain.event import Event
from holdfast.domain.lesson import Evidence
from holdfast.text.window import dangles, opening, quote, sentences, speaker_trust

SHORTEST, LONGEST = 40, 300
READ_LIMIT = 6_000
LEAST_WORDS = 7
LEAST_SHARED = 3
"""Words that a sentence without a name must share with the failure or the edit."""

_CAUSE = re.compile(
    r"\b(?:because|root cause|since|due to|so that|which (?:means|breaks|fails|causes)|(?:issue|problem|cause|culprit"
    r"|reason|bug|error|failure) (?:is|was)|caused by|turns out|(?:fails?|failed|failing|breaks?) (?:because|since|when"
    r"|as|if|unless|without)|doesn't|does not|isn't|is not|aren't|can't|cannot|won't|never|only|requires?|must(?: not)?"
    r"|needs? to be|has to|have to|instead of|rather than|overrides?|unless|without)\b",
    re.IGNORECASE,
)
_STRONG = re.compile(
    r"\b(?:because|root cause|due to|(?:issue|problem|cause|culprit|reason|bug) (?:is|was)|caused by|turns out"
    r"|(?:fails?|failed|breaks?) (?:because|since|when|if|unless|without)|requires?|must(?: not)?"
    r"|only (?:runs?|works?|applies|fires|happens|reads?|sees|sets|loads?|supports?|accepts?|holds?))\b",
    re.IGNORECASE,
)
_OWN_WORK = re.compile(
    # doubt and plans
    r"\b(?:might|maybe|may be|perhaps|probably|likely|seems?|looks like|could be|should be|not sure|let me|let's|i'll"
    r"|i will|i need|we need|i should|going to|want to|try(?:ing)? to|check (?:if|whether)|would"
    r"|next(?: steps?| i| we|(?=[,:]))"
    # the speaker's own work, or what this session just changed
    r"|i (?:was|had|have|forgot|missed|added|removed|changed|used|made|see|think|am)|i've|i'm|my|we (?:just|now|removed"
    r"|changed|added|renamed|decided|chose|agreed|have (?:removed|changed|added))|now|anymore|as expected"
    r"|needs? (?:to be )?(?:updat|chang"
    r"|adjust|fix|add|remov|import)\w*|pre-existing|unrelated|already (?:fixed|done|there)|earlier|just (?:added"
    r"|changed|removed)|new (?:code|test|function)|this (?:session|task|change|pr|branch)|(?:still|again) (?:fail|flag"
    r"|complain)\w*|line \d+)\b|\btests? (?:expects?|is looking for|was (?:checking|written)|checks?)\b",
    re.IGNORECASE,
)
_LEANS = opening(
    "good|great|perfect|ok(?:ay)?|yes|no|wait|hmm|here|there|first|second|one|looking",
    r"the (?:issue|problem|error|bug|failure|reason|test|tests|first|second|other|linter|lint|fix|build|other one)"
    r"(?: (?:here|is|was|fails?|failed))?\b(?! [`\w.]*`)",
)
_LEAD = re.compile(
    r"^(?:\*\*)?(?:(?:(?:the |this |that )?(?:tests?|build|linter|lint|run|job) (?:fails?|failed|is failing) (?:because"
    r"|since|as)|that (?:doesn't|does not|didn't) (?:help|work)|(?:the )?(?:root cause|actual (?:issue|problem|cause)"
    r"|issue|problem|cause|bug|reason)(?: here)?(?: is|:)(?: that)?)|(?:I see|found it|got it|ah|right|good catch"
    r"|interesting|aha|actually|turns out)[,:;.!\u2014-]*(?: that)?)(?:\*\*)?[:,]?\s+",
    re.IGNORECASE,
)
"""Openings that only announce a cause."""
_NAME = re.compile(
    r"`([^`\n]{2,80})`|\b([A-Za-z]+(?:_[A-Za-z0-9]+)+|[a-z]+[A-Z]\w+|[A-Z][a-z0-9]+[A-Z]\w+|\w+\.\w+\(\)|--[a-z][\w-]+)"
)
_WORD = re.compile(r"[A-Za-z_]\w{3,}")


def stated_cause(window: Sequence[Event], first: int, last: int, about: str) -> tuple[str, Evidence] | None:
    """Return (sentence, evidence) of the last stated cause between two positions; None if no sentence can stand alone.

    `about` holds the failure's text and what was edited: the sentence must share a name with it, or LEAST_SHARED words
    if it has no name. A person's sentence takes precedence over the agent's.
    """
    words = frozenset(word.lower() for word in _WORD.findall(about))
    causes = list(_causes(window[first + 1 : last], words))
    persons = [(sentence, evidence) for by_person, sentence, evidence in causes if by_person]
    chosen = persons or [(sentence, evidence) for _, sentence, evidence in causes]
    return chosen[-1] if chosen else None


def names_in(sentence: str) -> list[str]:
    """Return names of code in a sentence: quoted in backticks, or written like an identifier or a flag."""
    return [quoted or plain for quoted, plain in _NAME.findall(sentence)]


def _causes(span: Sequence[Event], about: frozenset[str]) -> Iterator[tuple[bool, str, Evidence]]:
    for event in span:
        if event.agent or event.kind not in ("reply", "prompt") or (event.kind == "prompt" and event.trust != "person"):
            continue
        for sentence, start in sentences(event.text[:READ_LIMIT]):
            if event.kind == "prompt" and speaker_trust(event.text, start) != "person":
                continue
            cause = standing(sentence)
            if cause and _is_about(cause, about):
                yield event.kind == "prompt", cause, quote(event, sentence, start)


def standing(sentence: str) -> str:
    """Return the sentence without its lead if it gives a cause and stands alone; otherwise an empty string."""
    lead = _LEAD.match(sentence)
    cause = (sentence[lead.end() :] if lead else sentence).strip(" *-:")
    fits = SHORTEST <= len(cause) <= LONGEST and len(cause.split()) >= LEAST_WORDS and not cause.endswith(("?", ":"))
    if (
        not fits
        or _OWN_WORK.search(cause)
        or _LEANS.match(cause)
        or dangles(cause)
        or "**" in cause
        or cause.count("`") % 2
    ):
        return ""
    strong = (bool(lead) and bool(_CAUSE.search(cause))) or bool(_STRONG.search(cause))
    return (
        cause[0].upper() + cause[1:] if strong and cause[0].isalpha() and cause.split()[0].isalpha() else cause * strong
    )


def _is_about(sentence: str, about: frozenset[str]) -> bool:
    """Return whether the sentence shares a name with `about`; a sentence without names must share several words."""
    names = names_in(sentence)
    words = {word.lower() for text in names or [sentence] for word in _WORD.findall(text)}
    return len(words & about) >= (1 if names else LEAST_SHARED)
