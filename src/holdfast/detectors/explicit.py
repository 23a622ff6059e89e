"""Explicit: the user asks in so many words to remember something, or states a standing rule. Active at once.

Because these need no second look, they must be meant: only what a person typed, only a form that asks for memory
("remember that ...", "from now on ...", a leading `#`, "always ... in this repo"), never questions about the past,
quotes, code, headings or long pasted text.
"""

from __future__ import annotations

import re

from holdfast.domain.candidate import Candidate
from holdfast.domain.window import capital, quote, sentences, speaker_trust, spoken, unmasked
from holdfast.ranking.words import terms

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from holdfast.domain.event import Event
    from holdfast.domain.vocabulary import LessonKind, Trust

PROMPT_LIMIT = 2_500
"""Longer prompts are pasted text or a task's whole description."""
STANDING_LIMIT = 400
"""In a longer prompt "always ..." is a line of the task, unless it says where it always holds."""
RULE_LIMIT = 500
LEAST_TERMS = 2
"""Telling words a rule needs."""
TURN_FILES = 3

_LEAD = r"(?:(?:ok(?:ay)?|also|and|so|but|please|hey|btw|note|great|thanks|yes|no|claude)[\s,.!:;-]+)*"
_ASKED = re.compile(
    rf"{_LEAD}(?:(?:can|could|would|will) you )?(?:please )?"
    r"(?:remember|memori[sz]e|keep in mind|don't forget|do not forget|make a note|take note|note to self"
    r"|note for the future|for future reference|for the record)"
    r"(?![\s,]+this (?:is|was|will|has|can|should|must|does)\b)"  # of what is at hand
    r"(?P<that>(?:\s+(?:that|this)\b(?!\s+(?:time|when|one)\b))?\s*[:,-]?\s+(?:to (?=\w))?)(?P<rule>.+)",
    re.IGNORECASE,
)
_FROM_NOW = re.compile(
    rf"{_LEAD}(?:from now on|from here on(?: out)?|going forward|in (?:the )?future|for all future \w+"
    r"|as a (?:general )?rule)[\s,:]+(?P<rule>.+)",
    re.IGNORECASE,
)
_FROM_NOW_LAST = re.compile(
    rf"{_LEAD}(?P<rule>.{{10,}}?)[\s,]+(?:from now on|going forward|in (?:the )?future)\W*$", re.IGNORECASE
)
_HERE = re.compile(
    rf"{_LEAD}(?P<rule>in (?:this|the|our) (?:repo|repository|project|codebase|code base),? "
    r"(?:we )?(?:always|never)\b.{6,}"
    r"|(?:always|never)\b.{6,}\bin (?:this|our) (?:repo|repository|project|codebase|code base)\b.*)",
    re.IGNORECASE,
)
_STANDING = re.compile(
    rf"{_LEAD}(?P<rule>(?:always|never)\b.{{6,}}|(?:you (?:must|should) (?:always|never))\b.{{6,}}|don't ever\b.{{6,}}"
    r"|(?:we|I) (?:always|never) (?:want|use|do)\b.{6,})",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(
    r"[-*\u2022(\s]*(?:but|except|unless|only|not|no longer|never|however|although|though|apart from"
    r"|that (?:is|was)|this (?:is|was)"
    r"|it (?:is|was)|which|or (?:else|not)|otherwise|until)\b",
    re.IGNORECASE,
)
"""How a sentence begins that narrows or denies the one before it."""
_SHORTCUT = re.compile(r"#(?!#)\s*(?P<rule>[A-Za-z][^\n]{8,300})\s*\Z")
_NOT_SHORTCUT = re.compile(
    r"#(?:include|define|ifdef|ifndef|endif|pragma|if|else|region|!)\b|#\w+\s*\Z|#[0-9a-f]{3,8}\b"
    # What an editor puts in for "#name": a selection, a file, a tool's answer.
    r"|#(?:selection|editor|codebase|changes|problems|fetch|usages|githubRepo|vscodeAPI|terminal\w*)\b|#\w+:\S",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|should|must|has|have|had|needs?|use[sd]?|runs?|can|cannot|can't|will|won't|only|always|never"
    r"|don't|doesn't|do not|does not|lives?|belongs?|goes|means?|requires?|expects?|breaks?|fails?)\b",
    re.IGNORECASE,
)
"""What makes a fact of a bare "remember ..." without that, to or a colon."""

_PAST = re.compile(
    r"(?:when|how|what|where|why|who|if|whether|the time|last time|me\b|you\b|us\b|i'm\b|i am\b|to ask|correctly"
    r"|right)\b",
    re.IGNORECASE,
)
"""What follows "remember" when somebody only recalls."""
_STATE = re.compile(
    r"(?:always|never) (?:been|had|seen|the (?:same|case)|works?|worked|fails?|failed|heard|happened|did)\b",
    re.IGNORECASE,
)
"""A report of how things were, not a rule."""
_EVERYWHERE = re.compile(
    r"\b(?:in (?:all|every|any) (?:of )?(?:my |our )?(?:projects?|repos?|repositories)"
    r"|across (?:all )?(?:my |our )?projects|for me(?: personally)?\b|everywhere I work|my (?:personal )?preference)\b",
    re.IGNORECASE,
)
_PREFERENCE = re.compile(r"\b(?:I|me|my|prefer|like|want|style|tone|answer|reply|explain)\b")
_TOOLING = re.compile(
    r"`[^`]+`|\b(?:run|command|install|start|deploy|build|port|env|environment|version)\b", re.IGNORECASE
)
_LAW = re.compile(r"\b(?:never|must not|must|don't|do not|forbidden|not allowed|cannot)\b", re.IGNORECASE)


class Explicit:
    """Finds what the user asked to remember."""

    id = "explicit/1"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """One candidate for each thing asked, in order."""
        found: list[Candidate] = []
        files: tuple[str, ...] = ()
        for event in window:
            said = spoken(event)
            if said and len(unmasked(said)) <= PROMPT_LIMIT:
                found += _asked_in(event, said, files)
            if said:
                files = ()
            elif event.kind == "file_edit":
                files = tuple(dict.fromkeys((*event.files, *files)))[:TURN_FILES]
        return found


def make(options: Mapping[str, str]) -> Explicit:
    """The detector; it has no options."""
    return Explicit()


def _asked_in(event: Event, said: str, files: tuple[str, ...]) -> list[Candidate]:
    own = unmasked(said).strip()
    shortcut = _SHORTCUT.match(own) if own in said else None
    if shortcut and not _NOT_SHORTCUT.match(own):
        return _candidate(event, shortcut["rule"], (own, said.find(own)), files)
    if own.startswith("#"):
        return []  # a heading: pasted text
    found: list[Candidate] = []
    forms = (_ASKED, _FROM_NOW, _FROM_NOW_LAST, _HERE, *((_STANDING,) if len(own) <= STANDING_LIMIT else ()))
    spoken_sentences = list(sentences(said))
    for at, (sentence, start) in enumerate(spoken_sentences):
        rule, asked = _rule(sentence, forms)
        if not rule:
            continue
        rest, end = _exceptions(said, start + len(sentence), spoken_sentences[at + 1 :])
        if end < 0 or len(rule) + len(rest) > RULE_LIMIT:
            continue
        rule = f"{rule.rstrip('.!')}. {rest}" if rest else rule
        # "Always ..." in a later paragraph is as likely a line of something pasted as the user's rule.
        doubtful = not asked and "\n\n" in said[:start].strip()
        trust = "tool" if doubtful else speaker_trust(said, start)
        found += _candidate(event, rule, (event.text[start : max(end, start + len(sentence))], start), files, trust)
    return found


def _exceptions(said: str, end: int, following: Sequence[tuple[str, int]]) -> tuple[str, int]:
    """The sentences right behind a rule that take some of it back, and where they end; -1 when they cannot be read.

    A rule is kept with its exceptions or not at all.
    """
    rest: list[str] = []
    for sentence, start in following:
        if not _TAKES_BACK.match(sentence) or said[end:start].strip(" \n\t"):
            break
        rest.append(sentence)
        end = start + len(sentence)
    unread = said[end : end + 40].lstrip()
    return " ".join(rest), -1 if not rest and _TAKES_BACK.match(unread) else end


def _rule(sentence: str, forms: Sequence[re.Pattern[str]]) -> tuple[str, bool]:
    """What is to be remembered, or an empty string, and whether the user asked for memory in so many words."""
    if sentence.endswith("?") and not re.match(rf"{_LEAD}(?:can|could|would|will) you", sentence, re.IGNORECASE):
        return "", False
    if _is_quoted(sentence):
        return "", False
    for form in forms:
        match = form.match(sentence)
        if match and not _STATE.search(sentence) and (form is not _ASKED or _is_request(match)):
            rule = match["rule"].strip().rstrip("?").strip()
            fits = len(terms(rule)) >= LEAST_TERMS and len(rule) <= RULE_LIMIT
            return rule if fits else "", form is not _STANDING
    return "", False


def _is_request(match: re.Match[str]) -> bool:
    """The words behind "remember" are a fact or a task to keep, not something recalled."""
    if _PAST.match(match["rule"]):
        return False
    return bool(match["that"].strip(" ,-")) or bool(_VERB.search(match["rule"]))


def _is_quoted(sentence: str) -> bool:
    """List items, headings and quoted sentences belong to a document, not to the conversation."""
    return sentence.startswith(("-", "*", "#", "|", '"', "\u201c", "//", "/*", "<")) or bool(
        re.match(r"\d+[.)]", sentence)
    )


def _candidate(
    event: Event, rule: str, span: tuple[str, int], files: tuple[str, ...], trust: Trust = "person"
) -> list[Candidate]:
    everywhere = bool(_EVERYWHERE.search(span[0]))
    named = tuple(file for file in files if file.rpartition("/")[2] in event.text)
    insight = capital(rule)
    return [
        Candidate(
            kind=_kind(rule),
            insight=insight,
            detector=Explicit.id,
            evidence=(quote(event, *span),),
            files=() if everywhere else named,
            trust=trust,
            confidence=0.9 if trust == "person" else 0.3,
            salience=0.8,
            scope_level="user" if everywhere else "project",
            explicit=True,
        )
    ]


def _kind(rule: str) -> LessonKind:
    if _PREFERENCE.search(rule):
        return "preference"
    if _LAW.search(rule):
        return "constraint"
    return "tooling" if _TOOLING.search(rule) else "convention"
