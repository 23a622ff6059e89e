"""Finds what a user explicitly asks to remember, and standing rules. They become active at once.

Nobody reviews these lessons, so the request must be meant. Only text that a person typed counts, and only a form that
asks for memory ("remember that ...", "from now on ...", a leading `#`, "always ... in this repo"), that shows by itself
that it holds beyond the task (`_shared/statedrules`), or that is a whole message of rules which the agent only answered
(`_shared/barerules`). A rule stands until the person says otherwise. Questions,
quotes, code, headings, requests about what is at hand and prompts with a pasted review never count.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from holdfast.compare.claims import VALUES
from holdfast.detectors._shared.barerules import bare_rules
from holdfast.detectors._shared.statedrules import LEAD, FormSort, announced, is_at_hand, stated_rule
from holdfast.detectors._shared.wording import headline
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.lesson import TITLE_LIMIT, Triggers
from holdfast.domain.vocabulary import Trust
from holdfast.text.kindwords import kind_of
from holdfast.text.named import named_in
from holdfast.text.prompts import read_prompt
from holdfast.text.speech import MASK
from holdfast.text.triggers import united
from holdfast.text.window import capital, quote, sentences, speaker_trust, spoken, unmasked
from holdfast.text.words import terms

PROMPT_LIMIT = 2_500
"""Characters of a prompt; longer ones are pasted text or a task's whole description."""
STANDING_LIMIT = 400
"""Characters of a prompt. In a longer one "always ..." is a line of the task, unless it says where it always holds."""
RULE_LIMIT = 500
"""Characters of a rule with its exceptions."""
LEAST_TERMS = 2
"""Telling words a rule needs."""
WORK = ("tool_use", "tool_result", "tool_failure", "file_edit", "commit")
"""Events of an agent that does more than answer."""
TURN_FILES = 3
"""Files edited last that a rule may be about."""

_ASKED = re.compile(
    rf"{LEAD}(?:(?:can|could|would|will) you )?(?:please )?"
    r"(?P<verb>remember|memori[sz]e|keep in mind|don't forget|do not forget|make a note|take note|note to self"
    r"|note for the future|for future reference|for the record)"
    r"(?![\s,]+this (?:is|was|will|has|can|should|must|does)\b)"  # of what is at hand
    r"(?P<that>(?:\s+(?:that|this)\b(?!\s+(?:time|when|one)\b))?\s*[:,-]?\s+(?:to (?=\w))?)(?P<rule>.+)",
    re.IGNORECASE,
)
_CASUAL = re.compile(r"keep in mind|for the record", re.IGNORECASE)
"""Verbs that people also use for the task at hand: a duty must follow."""
_DUTY = re.compile(r"\b(?:must(?: not)?|never|always|only|do not|don't|not allowed|forbidden)\b", re.IGNORECASE)
_FROM_NOW = re.compile(
    rf"{LEAD}(?:from now on|from here on(?: out)?|going forward|for all future \w+|as a (?:general )?rule)[\s,:]+"
    r"(?P<rule>.+)",
    re.IGNORECASE,
)
_FROM_NOW_LAST = re.compile(rf"{LEAD}(?P<rule>.{{10,}}?)[\s,]+(?:from now on|going forward)\W*$", re.IGNORECASE)
_IN_FUTURE = re.compile(
    rf"{LEAD}(?:in (?:the )?future[\s,:]+(?P<rule>.+)|(?P<last>.{{10,}}?)[\s,]+in (?:the )?future\W*$)", re.IGNORECASE
)
"""Used for plans as often as for rules."""
_SUBJECT = re.compile(r"(?:I|we|you|he|she|it|they|this|that|there|the|a|an)\b", re.IGNORECASE)
_HERE = re.compile(
    rf"{LEAD}(?P<rule>in (?:this|the|our) (?:repo|repository|project|codebase|code base),? "
    r"(?:we )?(?:always|never)\b.{6,}"
    r"|(?:always|never)\b.{6,}\bin (?:this|our) (?:repo|repository|project|codebase|code base)\b.*)",
    re.IGNORECASE,
)
_STANDING = re.compile(
    rf"{LEAD}(?P<rule>(?:always|never(?! ?mind| again))\b.{{6,}}|(?:you (?:must|should) (?:always|never))\b.{{6,}}"
    r"|don't ever\b.{6,}|(?:we|I) (?:always|never) (?:want|use|do)\b.{6,})",
    re.IGNORECASE,
)
_REQUESTED = re.compile(
    rf"{LEAD}(?:can|could|would|will) (?:we|you) (?:please |plz |pls )?(?P<rule>(?:always|never) (?:use|keep|wrap"
    rf"|run|write"
    r"|add|put|name|call|prefer|log|store|ask|return|test|format|make|start|check|commit|document|mock|import|answer"
    r"|reply|respond|explain|show|include|speak)\b.{6,})",
    re.IGNORECASE,
)
_TAKES_BACK = re.compile(
    r"[-*\u2022(\s]*(?:but|except|unless|only|not|no longer|never|however|although|though|apart from"
    r"|that (?:is|was)|this (?:is|was)|it (?:is|was)|which|or (?:else|not)|otherwise|until)\b",
    re.IGNORECASE,
)
"""Openings of a sentence that narrows or denies the one before."""
_SHORTCUT = re.compile(r"#(?!#)\s*(?P<rule>[A-Za-z][^\n]{8,300})\s*\Z")
_NOT_SHORTCUT = re.compile(
    r"#(?:include|define|ifdef|ifndef|endif|pragma|if|else|region|!)\b|#\w+\s*\Z|#[0-9a-f]{3,8}\b"
    # What an editor inserts for "#name": a selection, a file, a tool's answer.
    r"|#(?:selection|editor|codebase|changes|problems|fetch|usages|githubRepo|vscodeAPI|terminal\w*)\b|#\w+:\S",
    re.IGNORECASE,
)
_VERB = re.compile(
    r"\b(?:is|are|was|were|should|must|has|have|had|needs?|use[sd]?|runs?|can|cannot|can't|will|won't|only|always|never"
    r"|don't|doesn't|do not|does not|lives?|belongs?|goes|means?|requires?|expects?|breaks?|fails?)\b",
    re.IGNORECASE,
)
"""Words that make a fact of "remember ..." without `that`, `to` or a colon."""

_PAST = re.compile(
    r"(?:when|how|what|where|why|who|if|whether|the time|last time|me\b|(?:also )?you\b|us\b|i'm\b|i am\b|to ask"
    r"|correctly|right)\b",
    re.IGNORECASE,
)
"""What follows "remember" if somebody only recalls."""
_STATE = re.compile(
    r"(?:always|never) (?:been|had|seen|the (?:same|case)|works?|worked|fails?|failed|heard|happened|did)\b",
    re.IGNORECASE,
)
"""Words of a report of how things were, which is no rule."""
_EVERYWHERE = re.compile(
    r"\b(?:in (?:all|every|any) (?:of )?(?:my |our )?(?:projects?|repos?|repositories)"
    r"|across (?:all )?(?:my |our )?projects|for me(?: personally)?\b|everywhere I work|my (?:personal )?preference)\b",
    re.IGNORECASE,
)
_THIS_PACKAGE = re.compile(r"\b(?:in|from) this package\b", re.IGNORECASE)


class Rule(NamedTuple):
    """What a sentence asks to remember."""

    text: str
    is_standing: bool
    """It is a rule only by "always" or "never"."""
    sort: FormSort = "rule"


class Explicit:
    """Finds what the user asked to remember."""

    id = "explicit/3"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """Return one candidate for each request, in order."""
        candidates: list[Candidate] = []
        files: tuple[str, ...] = ()
        for at, event in enumerate(window):
            prompt = spoken(event)
            if prompt and len(unmasked(prompt)) <= PROMPT_LIMIT and not _has_review(event):
                requests = _asked_in(event, prompt, files)
                is_apart = not files and _is_only_answered(window[at + 1 :])  # after an edit, it may correct that
                candidates += requests or (_laid_down(event, prompt) if is_apart else [])
            if prompt:
                files = ()
            elif event.kind == "file_edit":
                files = tuple(dict.fromkeys((*event.files, *files)))[:TURN_FILES]
        return candidates


def make(options: Mapping[str, str]) -> Explicit:
    """Return the detector; it has no options."""
    return Explicit()


def _has_review(event: Event) -> bool:
    """Return whether a reviewer's remarks are pasted in the prompt: then nothing in it is surely the user's."""
    return any(part.kind == "review" for part in read_prompt(event.text).parts)


def _is_only_answered(following: Sequence[Event]) -> bool:
    """Return whether the agent only answered the prompt before these events: it read, ran and edited nothing."""
    for event in following:
        if event.kind in ("reply", "prompt"):
            return True
        if event.kind in WORK:
            return False
    return False


def _laid_down(event: Event, prompt: str) -> list[Candidate]:
    """Return the rules of a message that says nothing else."""
    if MASK in prompt or prompt.lstrip().startswith("#"):
        return []
    return [
        candidate
        for rule, start in bare_rules(prompt)
        if _says_enough(rule) and speaker_trust(prompt, start) == "person"
        for candidate in _candidate(event, Rule(rule, is_standing=True), (rule, start), ())
    ]


def _asked_in(event: Event, prompt: str, files: tuple[str, ...]) -> list[Candidate]:
    own = unmasked(prompt).strip()
    shortcut = _SHORTCUT.match(own) if own == event.text.strip() else None  # a host's heading has a block below it
    if shortcut and not _NOT_SHORTCUT.match(own):
        return _candidate(event, Rule(shortcut["rule"], False), (own, prompt.find(own)), files)
    if own.startswith("#"):
        return []  # a heading: pasted text
    candidates: list[Candidate] = []
    is_short = len(own) <= STANDING_LIMIT
    in_short = (_STANDING, _REQUESTED) if is_short else ()
    forms = (_ASKED, _FROM_NOW, _FROM_NOW_LAST, _HERE, *in_short, _IN_FUTURE)
    spoken_sentences = list(sentences(prompt))
    for at, (sentence, start) in enumerate(spoken_sentences):
        stated = _rule(sentence, forms) or (_stated(sentence) if is_short else None)
        if stated is None:
            continue
        rule = stated.text
        rest, end = _exceptions(prompt, start + len(sentence), spoken_sentences[at + 1 :])
        if end < 0 or len(rule) + len(rest) > RULE_LIMIT:
            continue
        rule = f"{rule.rstrip('.!')}. {rest}" if rest else rule
        # "Always ..." in a later paragraph is as likely pasted text as the user's rule.
        doubtful = stated.is_standing and "\n\n" in prompt[:start].strip()
        trust = "tool" if doubtful else speaker_trust(prompt, start)
        candidates += _candidate(
            event,
            stated._replace(text=rule),
            (event.text[start : max(end, start + len(sentence))], start),
            files,
            trust,
        )
    return candidates


def _exceptions(prompt: str, end: int, following: Sequence[tuple[str, int]]) -> tuple[str, int]:
    """Return the sentences directly after a rule that restrict it, and where they end; -1 if they cannot be read.

    A rule is kept with its exceptions or not at all.
    """
    rest: list[str] = []
    for sentence, start in following:
        if not _TAKES_BACK.match(sentence) or prompt[end:start].strip(" \n\t"):
            break
        rest.append(sentence)
        end = start + len(sentence)
    unread = prompt[end : end + 40].lstrip()
    return " ".join(rest), -1 if not rest and _TAKES_BACK.match(unread) else end


def _rule(sentence: str, forms: Sequence[re.Pattern[str]]) -> Rule | None:
    """Return what to remember; None if the sentence asks for nothing."""
    if sentence.endswith("?") and not (_ASKED.match(sentence) or _REQUESTED.match(sentence)):
        return None
    if _is_quoted(sentence):
        return None
    for form in forms:
        match = form.match(sentence)
        if match and not _STATE.search(sentence) and (form is not _ASKED or _is_request(match)):
            if form in (_ASKED, _STANDING, _REQUESTED) and is_at_hand(sentence):
                return None
            rule = (match["rule"] or match.groupdict().get("last", "")).strip().rstrip("?").strip()
            is_casual = _is_plan(match) if form is _IN_FUTURE else form is _ASKED and _is_casual(match)
            if is_casual:
                return _stated(rule)
            return Rule(rule, form in (_STANDING, _REQUESTED)) if _says_enough(rule) else None
    return None


def _stated(sentence: str) -> Rule | None:
    """Return the rule, fact or decision in an everyday form; None if there is none or it belongs to a document."""
    stated = None if _is_quoted(sentence) else stated_rule(sentence) or announced(sentence)
    if stated is None or not _says_enough(stated.text):
        return None
    return Rule(stated.text, is_standing=True, sort=stated.sort)


def _says_enough(rule: str) -> bool:
    """Return whether the rule has telling words enough; the name of a known tool is enough: "use bun"."""
    words = terms(rule)
    return len(words) >= LEAST_TERMS or any(word in VALUES for word in words)


def _is_plan(match: re.Match[str]) -> bool:
    """Return whether "in future" is said of what may come, not of what is to be done each time."""
    return not match["rule"] or bool(_SUBJECT.match(match["rule"]))


def _is_casual(match: re.Match[str]) -> bool:
    """Return whether "remember" may concern the task at hand only: nothing shows that a fact or a duty follows."""
    verb = match["verb"].lower()
    if _EVERYWHERE.search(match["rule"]) or _DUTY.search(match["rule"]):
        return False
    return bool(_CASUAL.match(verb)) or (verb == "remember" and not match["that"].strip(" ,-"))


def _is_request(match: re.Match[str]) -> bool:
    """Return whether a fact or a task to keep follows "remember", not something recalled."""
    if _PAST.match(match["rule"]):
        return False
    return bool(match["that"].strip(" ,-")) or bool(_VERB.search(match["rule"]))


def _is_quoted(sentence: str) -> bool:
    """Return whether the sentence is a list item, a heading or quoted, and so belongs to a document."""
    return sentence.startswith(("-", "*", "#", "|", '"', "\u201c", "//", "/*", "<")) or bool(
        re.match(r"\d+[.)]", sentence)
    )


def _candidate(
    event: Event, stated: Rule, span: tuple[str, int], files: tuple[str, ...], trust: Trust = "person"
) -> list[Candidate]:
    everywhere = bool(_EVERYWHERE.search(span[0]))
    is_of_package = bool(_THIS_PACKAGE.search(stated.text))  # then it is about the files just edited
    named = tuple(file for file in files if is_of_package or file.rpartition("/")[2] in event.text)
    insight = capital(stated.text)
    return [
        Candidate(
            kind="decision" if stated.sort == "decision" else kind_of(stated.text),
            title=headline(insight, TITLE_LIMIT),
            insight=insight,
            detector=Explicit.id,
            evidence=(quote(event, *span),),
            files=() if everywhere else named,
            trust=trust,
            confidence=0.9 if trust == "person" else 0.3,
            salience=0.8,
            scope_level="user" if everywhere else "project",
            explicit=True,
            when=united(named_in(insight), Triggers(standing=stated.sort == "rule"))
            if trust == "person"
            else Triggers(),
        )
    ]
