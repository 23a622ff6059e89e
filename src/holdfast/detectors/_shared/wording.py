"""Rewords what somebody said in a conversation as a sentence that stands alone, or finds that this is impossible.

A lesson is read without the conversation that it comes from. So openings such as "ok, so I think" are dropped, and
requests and questions that state a rule become statements ("can we use A instead of B?": "Use A instead of B"). A
sentence that depends on the one before is joined to it, or rejected. Nothing is added that nobody said, and no
negation, number or name is lost (`text.meaning`): a sentence that has no other form stays as it was said. English only;
other languages stay unchanged.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from holdfast.text.meaning import keeps_meaning, without_talk
from holdfast.text.window import PRONOUNS

LENGTH = 300
"""Characters of a sentence with the one before it."""
BEFORE_LENGTH = 200
EARLY = 5
"""Words from the start among which a pronoun has nothing in its own sentence to stand for."""
CLAUSE_LEAST = 20
"""Characters of a part of a sentence that can stand for the whole."""


class Wording(NamedTuple):
    """A sentence that stands alone; `text` is empty if there is none."""

    text: str
    with_before: bool = False
    """Whether the sentence before it was needed."""
    is_asked: bool = False
    """Whether it was a question or a request."""


_LEAD = re.compile(
    r"(?:(?:ok(?:ay)?|so|and|but|also|then|please|actually|basically|honestly|hmm+|note that|btw|however|additionally"
    r"|moreover|furthermore)\b[\s,.!:;\u2014\u2013-]*\s|(?:yes|yeah|yep|no|nope|no wait|wait|right|well|ah|oh|now|sorry"
    r"|fyi|good|great|perfect|excellent|note|important|hey|claude|q|just to be sure|stop for a second|hold on"
    r"|in general|got it|i see|you're right|key insight|on top of that|in fact|(?:the|my|your) (?:point|answer"
    r"|rule) is)\s*(?:[,.!:;]|[\u2014\u2013-](?=\s))+\s*|I (?:can )?see(?: that| the (?:issue|problem))?\b\s*(?:[,.:;]"
    r"|[\u2014\u2013-](?=\s))*\s+|the (?:(?:real|actual|main) )?(?:issue|problem|bug|root cause) (?:is|was) that\s+"
    r"|looking at [^,]{2,60},\s+|I (?:think|mean|believe|feel like|feel)(?: that)?,?\s+|(?:for )?(?:[0-9]{1,2}"
    r"|[A-Da-d])[.):]\s+)+",
    re.IGNORECASE,
)
_TAIL = re.compile(
    r"(?:[\s,;.-]+(?:right|or|yeah|no|ok(?:ay)?|correct|isn't it|agreed|does (?:this|that|it) make sense)\s*\?[?!.]*"
    r"|\s*[,;.-]+\s*(?:right|or|yeah|no|ok(?:ay)?|agreed|please|thanks?|thank you)[!.]*"
    r"|[\s,;.-]+can you (?:take a look|check|confirm|fix (?:it|this|that)|do (?:it|this|that))\s*[?!.]*"
    r"|\s*\((?:does (?:this|that) make sense|right)\?*\)|\s+(?::-?[)|(D]|;-?\)))+$",
    re.IGNORECASE,
)
_ASIDE = re.compile(r"\s*\((?:does (?:this|that) make sense|right)\?*\)", re.IGNORECASE)

_CAN = re.compile(
    r"(?:can|could|would|will|may) (?:we|you) (?:(?:please|also|maybe|just|now|perhaps|then|at least) )*"
    r"(?P<no>not )?(?:(?:please|just) )*(?P<verb>[a-z]+)\b(?P<rest>.*)",
    re.IGNORECASE,
)
_RULE_VERBS = frozenset({
    "use", "keep", "avoid", "prefer", "stop", "leave", "stick", "always", "never", "follow", "name", "call", "put",
    "treat",
})  # fmt: skip
"""Verbs of requests that state how something is to be, not only what to do next."""
_EVERYWHERE = re.compile(
    r"\b(?:everywhere|always|in (?:all|every|each) \w+|every time|each time|whenever|from now on|in (?:the )?future"
    r"|by default)\b",
    re.IGNORECASE,
)
_WHY_NOT = re.compile(
    r"why (?:not|don't (?:we|you)|couldn't we)(?: just| simply)? (?P<rest>(?!not |never ).+)",
    re.IGNORECASE,
)
_SHOULD_WE = re.compile(
    r"(?P<wondered>(?:I(?:'m| am)? |we )?wonder(?:ing)?(?: now)? (?:if|whether) )?"
    r"(?:(?P<asked>should(?:n't| not)? we)|we should) (?:(?:rather|maybe|also|perhaps|just) )*(?P<rest>.+)",
    re.IGNORECASE,
)
_DENIED = re.compile(r"(?:not|never|no)\b|.* not$", re.IGNORECASE)
_SHOULD_BE = re.compile(
    r"should(?:n't| not)? (?P<subject>(?:the|all|every|each|our|any|no) [^,;?]{2,60}?) (?P<verb>(?:always |only "
    r"|never )?(?:be|have|use|go|return|live|contain|include|come|stay|start|end|call|take))\b(?P<rest>.*)",
    re.IGNORECASE,
)
_GERUNDS = {
    "using": "use", "adding": "add", "making": "make", "having": "have", "putting": "put", "removing": "remove",
    "moving": "move", "writing": "write", "naming": "name", "keeping": "keep", "calling": "call", "storing": "store",
    "returning": "return", "checking": "check", "running": "run", "setting": "set", "passing": "pass",
    "reusing": "reuse", "sharing": "share", "testing": "test", "logging": "log", "showing": "show",
    "doing": "do", "summarising": "summarise", "summarizing": "summarize", "supporting": "support",
}  # fmt: skip

_THIS_PROJECT = re.compile(
    r"th(?:is|ese) (?:repo|repository|project|code ?base|package|monorepo|workspace|team|company|machine)\b",
    re.IGNORECASE,
)
_LEANS = re.compile(
    rf"(?:[0-9]+(?=,)|(?:{PRONOUNS})|which|whose|here|therefore|thus|hence|otherwise|instead[,.]|because|both|neither"
    r"|same|the same"
    r"|one of|the (?:first|second|third|latter|former|other|last|previous|next) (?:one|part|point|option|approach"
    r"|case|two)|ditto|as (?:above|before|said)|not (?:as|that|like)|like if|for example|e\.g\.|what we more)\b",
    re.IGNORECASE,
)
"""Beginnings of sentences that cannot be understood without the one before."""
_POINTS = re.compile(
    r"\b(?:the (?:above|below|following)|(?:above|below|following) (?:is|are)|option [0-9A-C]\b|(?:item|point|step"
    r"|issue|finding|comment|phase) #?[0-9]+|as (?:mentioned|discussed|described)|the two(?=[,.;]|$)|this (?:is|was|one"
    r"|way|change|line|function|method|file|test|error|issue|branch|commit|pr|session|case|thing|approach|plan)\b"
    r"|(?:your|the) (?:last|previous|latest) (?:\w+ )?(?:message|change|commit|edit)|you (?:did|made|just|added|wrote"
    r"|said|mentioned|were|have (?:just )?(?:done|made|added)))",
    re.IGNORECASE,
)
"""Words that refer to the conversation, or to what its participants look at."""
_MOMENT = re.compile(
    r"\b(?:I(?:'ll| will|'m going to| am going to| was| just| did| had| have just|'ve just| want to see| need you)"
    r"|let me|let's (?:see|look|check|start|do|try|go|discuss)|right now|at the moment|for now|just now|today|yesterday"
    r"|first,? let|next,? I|tests? (?:is|are) (?:now |still )?(?:failing|passing)"
    r"|still (?:fails?|failing|broken|seeing|not working))\b",
    re.IGNORECASE,
)
"""Words that describe the moment: no rule, and soon untrue."""
_NOUN = re.compile(r"^(?i:the|a|an|our|each|every|all|any|no|some)$|[`_./\\]|[a-z][A-Z]|\d")
_BEFORE_THAT = frozenset({
    "now", "so", "given", "such", "sure", "ensure", "note", "provided", "know", "means", "mean", "remember", "assume",
    "says", "said", "say", "seems", "is", "was", "check", "verify", "fact", "except", "prefer", "want", "like",
})  # fmt: skip
"""Words after which "that" joins two clauses and is no pronoun."""
_WORD = re.compile(r"\S+")
_MAIN = re.compile(
    r"(?:[,;]|\s[\u2014\u2013-])\s+(?:and |so |but )*(?P<main>(?:we|always|never|use|don't|do not)\b.+)", re.IGNORECASE
)
_CONDITION = re.compile(
    r"(?P<main>(?:use|do not|don't|never|always|keep|avoid|run|prefer|we should|we must) [^,;:()]{8,110}?)"
    r" (?P<condition>(?:if|when|unless) [^,;:()]{8,80})",
    re.IGNORECASE,
)
_BREAKS = (
    ". ", "; ", " \u2014 ", " \u2013 ", ", because ", " because ", ", since ", ", so that ", " so that ", ", which ",
    ", so ", ", otherwise ",
)  # fmt: skip
"""Ends of a statement, before a reason or an aside."""
_BRACKETED = re.compile(r"\s*\([^()]*\)")

_NORM = re.compile(
    r"(?<!if )(?<!so )(?<!that )(?<!where )(?<!when )(?<!because )(?<!since )(?<!what )(?<!why )(?<!how )"
    r"\bwe (?:(?:also|really|still|explicitly|generally|only|all) )?(?:should(?:n't| not)?|must(?:n't| not)?"
    r"|never|always"
    r"|don't|do not|only|use|want(?: to)?|don't want|need to (?:make sure|ensure|support|accept|keep|be able)"
    r"|no longer|prefer)\b"
    r"|^(?:never|always|do not|don't|avoid|prefer)\b|^use\b.+\b(?:instead of|rather than|not|everywhere|whenever)\b",
    re.IGNORECASE,
)
_ONCE = re.compile(
    r"\bshould (?:now |then )?(?:add|update|start|include|make|create|write|fix|change|remove|delete|do|look|try|check"
    r"|test|go|merge|move|rename|implement|build|run|see|find|get|ask)\b|^(?:do not|don't) (?:fix|change|edit|touch"
    r"|implement|write|create|start|do|make|run)\b|\b(?:properly|correctly)\b",
    re.IGNORECASE,
)
"""Forms of a rule that ask for one change, or describe one fault."""
_GENERAL = re.compile(r"\b(?:any|every|each|all|always|never|wherever|whenever|everywhere)\b", re.IGNORECASE)
_DOUBT = re.compile(
    r"\b(?:guess|wonder(?:ing)?|maybe|perhaps|might|not sure|unsure|could be|probably|I suppose|seems?"
    r"|don't (?:know|have|see|think|need|understand|remember|get|always)|if you)\b|\?|\.\.\.",
    re.IGNORECASE,
)


def stand_alone(sentence: str, before: str = "") -> Wording:
    """Return the sentence in a form that can be read alone; `before` is the sentence directly before it, if any.

    Both are plain text on one line.
    """
    wording = _worded(sentence, before)
    source = f"{without_talk(before)} {without_talk(sentence)}" if wording.with_before else sentence
    if not wording.text or keeps_meaning(source, wording.text):
        return wording
    words = _NUMBERED.sub("", " ".join(sentence.split()))
    as_said = "" if "?" in words or _leans(words) else _finished(words)
    return Wording(as_said if keeps_meaning(words, as_said) else "")


_NUMBERED = re.compile(r"^(?:[0-9]{1,2}|[A-Da-d])[.):]\s+|No,\s+", re.IGNORECASE)
"""A list's number, or an answer, before a sentence that is kept as it was said."""


def _worded(sentence: str, before: str) -> Wording:
    """Return the sentence in another form; its meaning is not checked yet."""
    words, is_asked = _stated(sentence)
    if not words or words.endswith((":", ",", "...", "\u2026")):
        return Wording("")
    if not _leans(words):
        return Wording(_finished(words), is_asked=is_asked)
    clause = _MAIN.search(words)
    if clause and len(clause["main"]) >= CLAUSE_LEAST and is_norm(clause["main"]) and not _leans(clause["main"]):
        return Wording(_finished(clause["main"]), is_asked=is_asked)
    first, asked_before = _stated(before) if before else ("", False)
    fits = bool(first) and len(before) <= BEFORE_LENGTH and len(first) + len(words) < LENGTH
    if not fits or asked_before or first.endswith((":", ",")) or _leans(first) or _POINTS.search(words):
        return Wording("")
    return Wording(f"{_finished(first)} {_finished(words)}", with_before=True, is_asked=is_asked)


def is_norm(text: str) -> bool:
    """Return whether a sentence that stands alone states, without doubt, how things are done here."""
    once = _ONCE.search(text) and not _GENERAL.search(text)
    return bool(_NORM.search(text)) and not once and not _DOUBT.search(text) and not _MOMENT.search(text)


def headline(text: str, limit: int) -> str:
    """Return the text's first statement within the limit, cut before a reason or an aside, otherwise at a word."""
    if len(text) <= limit:
        return text
    text = _BRACKETED.sub("", text)
    if len(text) <= limit:
        return text
    ends = [text.find(sign, limit // 3, limit + len(sign)) for sign in _BREAKS]
    whole = max((end for end in ends if 0 <= end <= limit), default=-1)
    if whole > 0:
        return text[:whole].rstrip(" ,;:")
    head = text[: limit - 1]
    return (head.rsplit(" ", 1)[0] if " " in head[limit // 3 :] else head).rstrip(" ,;:") + "\u2026"


def _stated(sentence: str) -> tuple[str, bool]:
    """Return what the sentence states, without opening and closing words, and whether it was a question or request."""
    words = sentence.strip()
    lead = _LEAD.match(words)
    words = _ASIDE.sub("", words[lead.end() :] if lead else words)
    is_question = words.rstrip().endswith("?")
    words = _TAIL.sub("", words).strip()
    stated = _rule_asked_for(words.rstrip("? "), is_question)
    if stated is not None:
        return stated, True
    return ("", True) if "?" in words else (words, is_question)


def _rule_asked_for(words: str, is_question: bool) -> str | None:
    """Return the rule in a question or request; empty for a task or a mere question, None for anything else."""
    if request := _CAN.match(words):
        verb, rest = request["verb"].lower(), request["rest"]
        if request["no"]:
            return f"Do not {verb}{rest}"
        return f"{verb}{rest}" if verb in _RULE_VERBS or _EVERYWHERE.search(rest) else ""
    if question := _WHY_NOT.match(words):
        if not is_question or words.startswith("Why Not"):
            return ""  # a heading over reasons against it
        return _imperative(question["rest"])
    if question := _SHOULD_WE.match(words):
        rest = question["rest"]
        if _DENIED.match(rest):  # a statement stays as it is; "should we not X?" can mean both
            return "" if question["asked"] or question["wondered"] else None
        rest = _imperative(rest.removeprefix("be ")) if rest.startswith("be ") else rest
        return f"We should {rest}" if rest else ""
    question = _SHOULD_BE.match(words)
    if question and not _DENIED.search(question["subject"]):
        return f"{question['subject']} should {question['verb']}{question['rest']}"
    return None


def _imperative(rest: str) -> str:
    """Return a request's words from its verb on; empty if the form is not known."""
    verb, blank, object_ = rest.partition(" ")
    verb = _GERUNDS.get(verb.lower(), "" if verb.endswith("ing") else verb)
    return f"{verb}{blank}{object_}" if verb else ""


def _leans(words: str) -> bool:
    """Return whether the sentence needs another one, or its moment, to be understood."""
    rest = _THIS_PROJECT.sub("the project", words)
    if _LEANS.match(rest) or _POINTS.search(rest) or _MOMENT.search(rest):
        return True
    before = ""
    for token in _WORD.findall(rest)[:EARLY]:
        plain = token.strip(".,;:!?()'\"")
        if _NOUN.search(plain) or token[:1] in "`'\"":
            return False
        joins = plain.lower() == "that" and before.lower() in _BEFORE_THAT
        if re.fullmatch(PRONOUNS, plain.lower()) and not joins:
            return True
        before = plain
    return False


def _finished(words: str) -> str:
    """Return the words as a written sentence, with its condition first."""
    words = words.strip().strip("()") if words.startswith("(") and words.endswith(")") else words.strip()
    bare = words.rstrip(" .!;,-")
    if conditional := _CONDITION.fullmatch(bare):
        main, condition = conditional["main"], conditional["condition"]
        if not re.search(rf"\b(?:{PRONOUNS})\b", condition, re.IGNORECASE):
            bare = f"{condition}, {main[:1].lower() + main[1:]}"
    first = bare.split(" ", 1)[0].rstrip(",;")
    plain = first.replace("'", "").isalpha() and (len(first) == 1 or first[1:].replace("'", "").islower())
    ending = "" if bare.endswith((")", "`", '"')) and bare.count(" ") < 3 else "."
    return (bare[:1].upper() + bare[1:] if plain else bare) + ending
