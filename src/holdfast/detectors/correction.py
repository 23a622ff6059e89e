"""Finds rules in the words with which a user rejects or redirects the agent's work just done.

Only what a person typed counts, only its first sentences, and only a sentence that says what to do or not to do. A bare
"no", a question, an answer to the agent's own question, a pasted log and a new task are not reported.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from holdfast.detectors._shared.statedrules import is_at_hand
from holdfast.detectors._shared.wording import headline, is_norm, stand_alone
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.lesson import TITLE_LIMIT
from holdfast.text.kindwords import kind_of
from holdfast.text.verbs import VERBS
from holdfast.text.window import capital, clip, interrupted, quote, refused, sentences, speaker_trust, spoken, unmasked
from holdfast.text.words import terms

PROMPT_LIMIT, LINE_LIMIT = 1_500, 14
"""Characters and line ends of a prompt; longer ones are tasks or pasted text, not corrections."""
LOOKED_AT = 4
"""Sentences from the start of a prompt that may correct."""
SENTENCE_LIMIT = 280
"""Characters of a sentence that corrects."""
LEAST_TERMS = 3
"""Telling words a rule needs to be understood without the conversation."""

_ORDER = (
    r"(?:please )?(?:don't|do not|dont|never|use|keep|leave|put|make|move|call|name|write|run|follow|avoid|stick to"
    r"|always|we (?:want|use|never|don't|do not|should|need|always|only|have)|it (?:should|must|has to)"
    r"|they (?:should|must)|(?:the|all|every|this|these) [^,.;]{2,60} (?:should|must|has to|have to|needs? to|stays?)\b"
    r"|you (?:should|shouldn't|must|need to)|let's|only)"
)
_REJECTED = re.compile(
    r"(?:no|nope|nah|stop|wrong|wait|hold on|not (?:like that|that|this)"
    r"|that's (?:not (?:right|it|what)[^,.;!]*|wrong))\b[\s,.!:;-]+"
    rf"(?:(?:no|wait|please|just|that's wrong|but)[\s,]+)*(?P<rule>{_ORDER}\b.*)",
    re.IGNORECASE,
)
_ORDERED = re.compile(r"(?:no|nope|wrong)\b[\s,.!:;-]+(?P<rule>(?P<verb>[a-z]+) .+)", re.IGNORECASE)
_SHOULD = re.compile(r"(?:no|nope|wrong)\b[\s,.!:;-]+(?P<rule>\S+ (?:should|must)\b.*)", re.IGNORECASE)
_ACTUALLY = re.compile(rf"actually[\s,]+(?P<rule>{_ORDER}\b.*)", re.IGNORECASE)
_NOT = re.compile(
    r"(?P<rule>(?:please )?(?:don't|do not|dont|never|stop \w+ing|let's not|avoid"
    r"|you (?:shouldn't|should not|must not))\b.*)",
    re.IGNORECASE,
)
_INSTEAD = re.compile(
    r"(?P<rule>(?:[\w' ]{0,40}\b)?(?:use|using|prefer|put|call|do|keep|go with)\b.+?"
    r"(?:\binstead of\b|\brather than\b|, not?\b).+|instead of .+|(?:use|using|prefer|go with)\b.+\binstead\b.*)",
    re.IGNORECASE,
)
_NAMELESS = re.compile(
    r"(?:the|this|that) (?:function|method|class|code|test|comment|variable|field|file|line|change|parameter|check"
    r"|logic|calculation|implementation)\b(?! of\b)",
    re.IGNORECASE,
)
"""A subject that nobody knows in another session; most such sentences are pasted from a review."""
_MODAL = re.compile(
    r"(?P<rule>[^,;:?]{3,80}\b(?:must|should) (?:never|always|only)\b.*|[^,;:?]{3,80}\bmust not\b.*)", re.I
)
_SAID = re.compile(
    r"(?P<rule>(?:as )?I (?:already )?(?:said|told you|asked (?:you )?(?:for|to)|meant|wanted)\b.*)", re.IGNORECASE
)
_WE = re.compile(
    r"(?P<rule>(?:in this (?:repo|project|codebase),? )?we (?:never|always|don't|do not|only|no longer)\b.*)",
    re.IGNORECASE,
)

_GENERAL = (_WE, _SAID, _MODAL)
"""Forms that are rules even after a question of the agent."""
_LED = (_NOT, _INSTEAD, _WE, _SAID, _MODAL)
"""Forms that may follow an opening word."""
_FORMS = (_REJECTED, _SHOULD, _ACTUALLY, _WE, _SAID, _NOT, _INSTEAD, _MODAL)

_HARMLESS = re.compile(
    r"no (?:problem|worries|need|idea|rush|hurry|thanks|thank you|changes?|errors?|more|longer|matter|one|way|such"
    r"|matching)\b|no[,.]? thanks|not (?:sure|yet|bad|really|now)|wait for\b|never ?mind|stop (?:here|there|now)\b"
    r"|(?:no,? )?(?:I )?(?:don't|do not) (?:worry|know|think|see|understand|care|remember|mind|have|get|need to)"
    r"|we (?:don't|do not) (?:know|have|see|think|need)\b|no,? (?:that's|it's|this is) (?:fine|ok|okay|good|great)",
    re.IGNORECASE,
)
_PASSING = re.compile(
    r"\b(?:just yet|for now|right now|for the moment|at the moment|this time|in this (?:branch|pr|commit|change)|today"
    r"|just (?:the|this|that)|until (?:i|we)|before (?:i|we) (?:decide|discuss)|let's see)\b",
    re.IGNORECASE,
)
_VERB = re.compile(r"^(?:be|is|with|want|again|said|wanted|meant)[\s,:]+", re.IGNORECASE)
_TOLD = re.compile(r"^(?:as )?I (?:already )?(?:said|told you|asked you) (?:to |that )?", re.IGNORECASE)
_STANDING = re.compile(r"\b(?:always|never|in this (?:repo|repository|project|codebase|code base))\b", re.IGNORECASE)
"""Words that say explicitly that the rule holds from now on."""
_NO_THING = (
    r"(?!(?:but|and|must|should|can|could|may|will|would|do|does|did|is|are|was|were|be|been|has|have|to|it|that|this)"
    r"\b)"
)
_THING = r"[`'\"]?(?P<{0}>" + _NO_THING + r"[\w@.:/+#-]+(?: " + _NO_THING + r"[\w@.:/+#-]+){{0,2}}?)[`'\"]?"
_RIGHT, _WRONG = _THING.format("right"), _THING.format("wrong")
_END = r"(?=[\s]*(?:[.,;:!?)]|$|(?:in|for|here|please|because|since|when|everywhere|as|from)\b))"
_PAIRS = tuple(
    re.compile(rf"(?P<words>{form}){_END}", re.IGNORECASE)
    for form in (
        rf"\b(?:use|using|prefer|call|with|want|be|is|say|write) {_RIGHT}(?:,)? (?:instead of|rather than|and not"
        rf"|not|over) {_WRONG}",
        rf"\b(?:don't|do not|dont|never|stop) (?:use|using|call|calling|write|writing|say) {_WRONG}[,;:. -]+"
        rf"(?:but |always |please )?(?:use|call|write|say|prefer) {_RIGHT}",
        rf"\bwrong:? {_WRONG}[,;.]? +(?:right|correct):? {_RIGHT}",
        rf"(?:^|[:,;] ?|\b(?:again|said|wanted|meant) ){_RIGHT},? not {_WRONG}",
        rf"\bnot {_WRONG},? but {_RIGHT}",
    )
)
"""Forms that name both what was wrong and what is right."""
_LEAD = re.compile(
    r"(?:(?:no|nope|wait|again|actually|please|ok(?:ay)?|so|and|but|well|hmm+|omf?g|ffs|dude|hey|I think"
    r"|also)[\s,.!:;-]+)+",
    re.IGNORECASE,
)


class Correction:
    """Finds rules in what the user says against the agent's last work."""

    id = "correction/3"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """Return at most one candidate for each prompt, in order."""
        candidates: list[Candidate] = []
        turn: list[Event] = []
        for event in window:
            prompt = spoken(event)
            if prompt:
                candidate = _correction(event, prompt, turn)
                candidates += [candidate] if candidate else []
                turn = []
            elif event.kind != "session_start":
                turn.append(event)
        return candidates


def make(options: Mapping[str, str]) -> Correction:
    """Return the detector; it has no options."""
    return Correction()


def _correction(event: Event, prompt: str, turn: Sequence[Event]) -> Candidate | None:
    worked = [done for done in turn if done.kind == "file_edit" or done.command or refused(done)]
    own = unmasked(prompt).strip()
    if not worked or len(own) > PROMPT_LIMIT or own.count("\n") > LINE_LIMIT:
        return None
    answers_question = _asked(turn)
    for n, (sentence, start) in enumerate(sentences(prompt)):
        if n >= LOOKED_AT:
            break
        rule = _rule(sentence, answers_question=answers_question)
        pair = _pair(sentence) if not answers_question else None
        if rule or pair:
            is_persons = speaker_trust(prompt, start) == "person"
            return _candidate(event, (rule, pair), (sentence, start), turn) if is_persons else None
    return None


def _pair(sentence: str) -> re.Match[str] | None:
    """Return where the sentence names what was wrong and what is right; None if it does not name both."""
    if (
        len(sentence) > SENTENCE_LIMIT
        or sentence.rstrip().endswith("?")
        or _PASSING.search(sentence)
        or is_at_hand(sentence)
    ):
        return None
    pairs = (form.search(sentence) for form in _PAIRS)
    return next((pair for pair in pairs if pair and terms(pair["wrong"]) and terms(pair["right"])), None)


def _asked(turn: Sequence[Event]) -> bool:
    """Return whether the agent's last words were a question that the prompt answers."""
    last = next((done for done in reversed(turn) if done.kind == "reply"), None)
    return last is not None and "?" in last.text.rstrip()[-200:]


def _rule(sentence: str, *, answers_question: bool) -> str:
    """Return the part of the sentence that says what to do; empty if there is none or it cannot stand alone."""
    if (
        _NAMELESS.match(sentence)
        or len(sentence) > SENTENCE_LIMIT
        or _PASSING.search(sentence)
        or _HARMLESS.match(sentence)
        or is_at_hand(sentence)
    ):
        return ""
    question = sentence.rstrip().endswith("?")
    for form in _GENERAL if answers_question else _FORMS:
        if question and form is not _INSTEAD:
            continue
        match = form.match(_polite(sentence) if form in _LED else sentence)
        if match and len(terms(match["rule"])) >= LEAST_TERMS:
            return match["rule"].strip()
    ordered = None if question or answers_question else _ORDERED.match(sentence)
    is_order = ordered is not None and ordered["verb"].lower() in VERBS and len(terms(ordered["rule"])) >= LEAST_TERMS
    return ordered["rule"].strip() if ordered is not None and is_order else ""


def _polite(sentence: str) -> str:
    lead = _LEAD.match(sentence)
    return sentence[lead.end() :] if lead else sentence


def _candidate(
    event: Event, rule_and_pair: tuple[str, re.Match[str] | None], span: tuple[str, int], turn: Sequence[Event]
) -> Candidate | None:
    rule, pair = rule_and_pair
    edits = [done for done in reversed(turn) if done.kind == "file_edit" or refused(done)]
    edited = list(dict.fromkeys(file for edit in edits for file in edit.files))
    named = [file for file in edited if file.rpartition("/")[2] in event.text]
    files = tuple((named or edited)[:5])
    insight = stand_alone(_TOLD.sub("", rule)).text or (
        capital(_VERB.sub("", pair["words"].strip(" ,;:"))) if pair else ""
    )
    if not insight:
        return None
    standing = bool(_STANDING.search(insight)) and is_norm(insight)
    stopped = any(interrupted(done) for done in turn)
    after = f"edits of {', '.join(files[:3])}" if files else f"`{_last_command(turn)}`"
    return Candidate(
        kind=kind_of(insight),
        title=headline(insight, TITLE_LIMIT),
        insight=insight,
        detector=Correction.id,
        evidence=(quote(event, *span),),
        why=f"The user said so after {after}.",
        how=f"wrong: {pair['wrong']}, right: {pair['right']}" if pair else "",
        files=files,
        trust="person",
        structured=True,
        confidence=0.8 if standing else round(0.45 + 0.1 * stopped, 2),
        salience=0.6,
    )


def _last_command(turn: Sequence[Event]) -> str:
    return next((clip(done.command.replace("\n", " "), 120) for done in reversed(turn) if done.command), "")
