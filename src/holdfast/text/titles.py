"""Makes and checks titles: at most twelve words of a lesson that state its verdict, never its topic.

`make_title` only leaves words out. A title is one clause of the lesson, shortened by what explains it: lead-ins,
parentheses, reasons, fillers, articles. Negations, exceptions, numbers and names of that clause stay. A clause that
cannot be shortened so stays longer, or loses its middle, marked by "…".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from holdfast.domain.lesson import TITLE_LIMIT
from holdfast.text.meaning import is_name, is_negation, limits, opposes
from holdfast.text.verbs import AFTER_VERB, COMPOUNDS, INSIDE, NOUNS_TOO, ORDERS, VERBS
from holdfast.text.words import word_set

WORDS_MOST = 12
"""Words of a title. `make_title` counts the words of code, too; in a stated title, a piece of code is one word."""
CHARACTERS_MOST = TITLE_LIMIT
READ_LIMIT = 1_200
"""Characters of an insight that are read: the verdict stands at the beginning."""
CLAUSES_MOST = 12
PARTNERS = 3
"""Clauses after the first one that may share its title."""
TOPIC_WORDS = 7
"""Words up to which a text without a verb is a topic; a longer one is rarely only a name."""

_CODE = re.compile(r"`[^`\n]+`")
_ELLIPSIS = "\u2026"
_MARKS = re.compile(r"^[^\S\n]*(?:[-*+\u2022]\s+|#{1,6}\s+|>\s+|\d{1,2}[.)]\s+)", re.MULTILINE)
_STRONG = re.compile(r"(?<![\w*/])\*\*([^*\s](?:[^*\n]*[^*\s])?)\*\*(?![\w*/])")
"""Emphasis of Markdown. Two asterisks alone are none: `2**53`, `**kwargs`, `src/**/*.py`."""
_LEAD = re.compile(
    r"^(?:(?:note|remember|keep in mind|be aware|important|caution|warning|rule|lesson|fyi|tip|nb|key (?:point|insight)"
    r"|the (?:user|team) (?:said|says|wants|asked|prefers)|we (?:decided|agreed)|it turns out|it was decided)"
    r"(?:\s+(?:that|to)\b|\s*[:!,\u2014-])\s*(?:that\s+)?"
    r"|(?:so|therefore|thus|hence|also|and|then|please|actually|basically|additionally|furthermore|moreover)\b[,:]?\s+"
    r"|(?:I|we) (?:think|believe|found|noticed|realized|realised|learned|learnt)(?: that| out that)?\s+"
    r"|the (?:issue|problem|bug|root cause|cause|reason) (?:is|was) that\s+)+",
    re.IGNORECASE,
)
"""Beginnings that no title needs."""
_SETTING = re.compile(
    r"^(?:currently|generally|in general|in this (?:repo|repository|project|code ?base)|in the (?:repo|project)|here"
    r"|as a result|consequently|finally|however|but)\b[,:]?\s+",
    re.IGNORECASE,
)
"""Beginnings that are left out where there is no room."""
_PARENTHESIS = re.compile(r"\s+\((?!\))[^()]*\)(?=[\s.,;:!?]|$)")
_HARD = re.compile(
    r"(?<=[.!?])(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<!vs\.)(?<!cf\.)[\"')`]*\s+(?=[A-Z`\"'(*\d])|\s*\n\s*|;\s+|\s+[\u2014\u2013]+\s+|\s+--?\s+|:\s+"
)
"""Ends of a clause that can be read without what follows."""
_REASON = re.compile(
    r",?\s+\b(?:because|so that|since(?= (?:the|it|they|a|an|we|both|each|every|all)\b)|otherwise|or else|else|e\.g\."
    r"|i\.e\.|for example|for instance|in case|in order|to (?:avoid|prevent|make sure|ensure|keep|allow|guard))\b"
    r"|,\s+(?:so|since|as|which|where|even|thus|hence|making|causing|leading|giving|whose|such as|like|including"
    r"|to|and (?:it|they|this|that|then)|but (?:it|they|this)|not because)\b",
    re.IGNORECASE,
)
"""Beginnings of a reason, a consequence or an aside; what follows may be left out."""
_COMMAND = re.compile(r"\S+ (?:\S+ )?(?:--?\w|\./)")
"""A beginning that is a command: its program keeps its lower case."""
_FILLERS = word_set(
    "really simply actually basically please also certainly obviously clearly however therefore respectively"
)
_ARTICLES = frozenset({"a", "an", "the"})
_JOINTS = re.compile(r",\s+|\s+(?=(?:and|or|plus)\b)")
_CONTRAST = re.compile(r",?\s+(?:not|never|rather than|instead of)\s+[^,;:.]+$|,\s+(?:not|never)\s.+$", re.IGNORECASE)
_ALL = re.compile(r"\b(?:all|every|each|any|everything|always|never|no|not|anything|everywhere)\b", re.IGNORECASE)
_TURNS = re.compile(
    r"\s+(?=(?:for|with|from|by|via|as|after|before|during|while|whenever|where|per|through|into|so|and|then|that"
    r"|which|using|rather|like|in|on|at|to|of)\b)"
)
"""Beginnings of phrases that a title can end before, marked as cut."""
_DANGLING = word_set(
    """
    a an the and or but nor of to in on at for with from by via as is are was were be been has have had must should
    can could would will may might does do did than that which when where while if into onto per its their our your
    this these those both either not no never only without unless except always before after using between also then
    whether because so i.e e.g through about over under any every each all instead rather still just even exactly
    more most other same such too whose who how why what until there here very own which whether another plus both
    """
)
"""Words that no title may end with."""
_LEANS = re.compile(
    r"(?:it|this|that|these|those|they|them|he|she|its|their|which|otherwise|else|because|since|such|both|neither"
    r"|instead|same|e\.g|i\.e|as|later|there|example|or|nor|than|right|wrong|even|whereas)\b",
    re.IGNORECASE,
)
"""Beginnings of clauses that need the one before."""
_EXCEPTS = re.compile(
    r"(?:but|except|unless|however|although|though|until|apart"
    r"|(?:only|not|never) (?:if|when|for|on|in|after|before|with)|(?:the )?exceptions?)\b",
    re.IGNORECASE,
)
"""Beginnings of a clause that limits the one before."""
_CONDITION = re.compile(r"(?:when|if|whenever|while|before|after|once|unless|until|without|where|to)\b")
_NORM = re.compile(
    r"\b(?:must|never|always|should|cannot|can't|don't|do not|not|needs?|only|instead of|rather than|no longer"
    r"|requires?|has to|have to|avoid|prefer|wants?|no)\b",
    re.IGNORECASE,
)

_QUESTION = re.compile(r"(?:how|what|where|why|who|which) (?!.*[,:])", re.IGNORECASE)
_POINTS_BACK = re.compile(
    r"\b(?:it|its|them|they|their|theirs|those|these|this|that(?= (?:\w+ )?(?:is|was|must|should|can|does|package|file"
    r"|branch|case|way|commit|function|test|key|step|one)\b)"
    r"|(?:keep|use|leave|delete|update|call|avoid|read|run|see) that"
    r"|the (?:tag|latter|former|other|others|same|rest|flag|first|second)|there|so|such|one|ones|both|above|below)\b",
    re.IGNORECASE,
)
"""Words in a later clause that stand for something named before it."""
_VERDICT = re.compile(
    r"\b(?:not|no|never|none|only|always|instead|without|before|after|must|first|last|than|forbidden|required|optional"
    r"|deprecated|mandatory|wrong|unless|except|missing|unsafe|dangerous|n't|protected)\b|->|\u2192|=>|[<>=]=|\d\s?%"
    r"|\b(?:at|to|within|after|every|least|most) \d",
    re.IGNORECASE,
)


class _Clause(NamedTuple):
    text: str
    at: int
    """Its number in the lesson."""
    next: str
    """The clause after it in the same sentence or the next one."""


_CONDITION = re.compile(r"(?:When|Whenever|If|Before|After|While|Where)\b[^,;:.]{3,160}, (?=\w)")
"""The condition with which a sentence begins, up to the rule."""
_WRONG = re.compile(
    r"(?:^|(?<=[;:.] ))wrong: [^;\n]*(?:; *(?=right:)|;|$)|\bright: (?=\S)", re.IGNORECASE | re.MULTILINE
)
"""What a correction says is wrong, which no title may state."""
_CONTRAST_AT_END = re.compile(r"[,;] (?:and )?(?:not|no|never|without|instead of|rather than)\b[^,;]*$", re.IGNORECASE)
LEAST_WORDS = 4
"""Words that a shortened title has at least."""


def make_title(insight: str, quote: str = "") -> str:
    """Return a title made of the insight's own words; of the quote's if the insight only names a topic.

    It has at most WORDS_MOST words, unless no such part of the words keeps their meaning, and never more than
    CHARACTERS_MOST characters. It is empty only if the insight is.
    """
    title = _best(insight)
    if quote and (not title or is_topic(title)):
        other = _best(quote)
        if other and not is_topic(other) and len(other.split()) <= WORDS_MOST:
            return other
    return title or insight.strip()[:CHARACTERS_MOST]


def kept_title(title: str, insight: str, quote: str = "") -> str:
    """Return the title that a rule of ours wrote, shortened if it is too long, or one made of the insight."""
    plain = " ".join(title.split())
    if plain and not is_weak(plain) and len(plain) <= CHARACTERS_MOST:
        return plain
    if plain and not is_topic(plain) and not plain.endswith((_ELLIPSIS, "...")):
        short = make_title(plain)
        if len(short.split()) <= WORDS_MOST:
            return short
    return make_title(insight, quote)


def settled_title(title: str, insight: str, quote: str = "", why: str = "") -> str:
    """Return the title if nothing is wrong with it, else without what is; else one made of the insight.

    What can go are articles, and a last part that denies what the lesson does not deny in these words. An insight that
    begins with its condition may need the whole title for that: then the rule behind it is the title.
    """
    source = f"{insight}\n{quote}\n{why}"
    plain = " ".join(title.split())
    affirmed = _CONTRAST_AT_END.sub("", plain)
    for form in dict.fromkeys((plain, _tidy(_without_articles(plain)), affirmed)) if plain else ():
        if not fault_of(form, source) and len(form.split()) >= min(LEAST_WORDS, len(plain.split())):
            return form
    made = make_title(insight, quote)
    condition = _CONDITION.match(insight) if made.endswith(_ELLIPSIS) else None
    rule = make_title(insight[condition.end() :]) if condition else ""
    is_whole = bool(rule) and not rule.endswith(_ELLIPSIS) and not re.search(r"\b(?:it|its|they|them)\b", rule, re.I)
    return rule if is_whole and not fault_of(rule, source) else made


def fault_of(title: str, source: str) -> str:
    """Return what is wrong with a title that somebody wrote, in a few words; empty for a good one.

    `source` is what it stands for: the insight and everything else that the lesson says.
    """
    plain = title.strip()
    if not any(char.isalnum() for char in plain):
        return "it has no words"
    if len(plain) > CHARACTERS_MOST or "\n" in plain:
        return f"a title is one line of at most {CHARACTERS_MOST} characters"
    if _count(plain) > WORDS_MOST:
        return f"it has {_count(plain)} words, and a title has at most {WORDS_MOST}"
    if is_topic(plain):
        return "it only names a topic"
    return opposes(plain, source)


def clipped(title: str) -> str:
    """Return the first line of a stated title, cut between words to as many characters as are allowed."""
    plain = " ".join(title.strip().split("\n", 1)[0].split())
    if len(plain) <= CHARACTERS_MOST:
        return plain
    head = plain[: CHARACTERS_MOST - 1]
    return (head.rsplit(" ", 1)[0] if " " in head[40:] else head) + _ELLIPSIS


def is_weak(title: str) -> bool:
    """Return whether a stored title is to be made anew: too long, cut, or merely a topic."""
    plain = title.strip()
    return _count(plain) > WORDS_MOST or plain.endswith((_ELLIPSIS, "...")) or is_topic(plain)


def _count(title: str) -> int:
    return len(_CODE.sub("code", title).split())


def is_topic(title: str) -> bool:
    """Return whether a title merely names a subject: no verb and no verdict, or an open question.

    Only English is judged; another language's title is taken for a verdict.
    """
    plain = title.strip().rstrip(".!")
    if any(char.isalpha() and not char.isascii() and char not in "\u2019\u2026" for char in plain):
        return False
    if _QUESTION.match(plain) or plain.endswith("?"):
        return True
    head, colon, rest = plain.partition(": ")
    if colon and len(head.split()) <= 4 and rest.startswith("`") and rest.count("`") == 2 and rest.endswith("`"):
        return True  # "Tests: `make test`"
    words = [(raw, raw.strip("\"'`()[]{}<>,;:!?.*\u2026\u201c\u201d").lower()) for raw in plain.split()]
    if len(words) == 1:
        return True
    if not any(char.isalpha() for char in plain) or len(words) > TOPIC_WORDS or _VERDICT.search(plain):
        return not any(char.isalnum() for char in plain)
    return not any(_is_verb(words, at) for at in range(len(words)))


def _is_verb(words: list[tuple[str, str]], at: int) -> bool:
    """Return whether the word there is a verb, as far as its form and the next word show."""
    raw, word = words[at]
    word = word.replace("\u2019", "'")
    if "`" in raw or (word not in VERBS and not (word.endswith("n't") or _is_formed(word, at))):
        return False
    if word not in NOUNS_TOO and not (word.endswith("ed") and at == 0):
        return True
    follows = words[at + 1][0] if at + 1 < len(words) else ""
    if word in (ORDERS if at == 0 else INSIDE) and words[at + 1 : at + 2]:
        return words[at + 1][1] not in COMPOUNDS
    if not follows or raw.endswith((":", ",")):
        return False
    plain = follows.strip("\"'(),;:.").lower()
    return plain in AFTER_VERB or plain.endswith("ly") or follows[:1] in "`'\"(" or is_name(plain) or plain.isdigit()


def _is_formed(word: str, at: int) -> bool:
    """Return whether a word that is not in the list has a verb's ending: `-ises`, `-izes`, `-ifies`; `-ed` inside."""
    return word.endswith(("izes", "ises", "ifies", "ize", "ise", "ify")) or (
        at > 0 and len(word) > 4 and word.endswith("ed")
    )


def _best(text: str) -> str:
    """Return the best title that one of the text's clauses gives; empty for a text without words."""
    clauses = _clauses(text)
    scored = [(_worth(title, clause), -number, title) for number, (title, clause) in enumerate(_titles(clauses))]
    return max(scored, default=(0.0, 0, ""))[2]


def _clauses(text: str) -> list[_Clause]:
    lines = [line for line in text[:READ_LIMIT].split("\n") if line.strip() and not line.lstrip().startswith("```")]
    joined = "\n".join(lines).replace("``", "`")
    unmarked = _STRONG.sub(lambda match: match[0] if _in_code(joined, match.start()) else match[1], joined)
    plain = _WRONG.sub("", _outside_code(_MARKS, unmarked).strip()).rstrip(" ;:,")
    spans, start = [], 0
    for match in _HARD.finditer(plain):
        if _is_inside(plain, match.start()):
            continue
        spans.append(plain[start : match.start() + 1] if match[0][:1] in ";:" else plain[start : match.start()])
        start = match.end()
    spans.append(plain[start:])
    pieces = [" ".join(span.split()) for span in spans if any(char.isalnum() for char in span)][:CLAUSES_MOST]
    return [_Clause(piece, at, pieces[at + 1] if at + 1 < len(pieces) else "") for at, piece in enumerate(pieces)]


def _is_inside(text: str, at: int) -> bool:
    """Return whether the position is inside a code span, parentheses or quotation marks."""
    before = text[:at]
    return before.count("`") % 2 == 1 or before.count("(") > before.count(")") or before.count('"') % 2 == 1


def _titles(clauses: list[_Clause]) -> Iterator[tuple[str, _Clause]]:
    """Yield each clause in as few words as it takes, and the first one with each of the next that fits beside it."""
    if not clauses:
        return
    first = clauses[0]
    short = [_shortened(clause.text) for clause in clauses]
    yield from zip(short, clauses, strict=True)
    if len(clauses) > 1 and first.text.endswith(":") and not _has_verb(first.text):  # a label
        yield _shortened(f"{first.text} {first.next}"), clauses[1]._replace(at=0)
    for rest, clause in list(zip(short, clauses, strict=True))[1 : 1 + PARTNERS]:
        joint = f"{short[0]}{':' if first.text.endswith(':') and clause.at == 1 else ';'} {_within(rest, clause.text)}"
        fits = _fits(joint) and _ELLIPSIS not in joint and _has_verb(short[0]) and _has_verb(rest)
        if fits and (_is_order(rest) or not _POINTS_BACK.search(rest)):
            yield joint, clause._replace(at=0)


def _within(title: str, clause: str) -> str:
    """Return a clause's title as a sentence's second part begins."""
    word = title.split(" ", 1)[0].rstrip(",")
    is_plain = word[1:].islower() and (word.lower() in VERBS or word.lower() in AFTER_VERB)
    return title[:1].lower() + title[1:] if is_plain or clause[:1].islower() else title


def _shortened(clause: str) -> str:
    """Return the clause in as few steps as it takes to fit."""
    text = _tidy(_without(_LEAD, clause))
    for step in (_without_setting, _without_parentheses, _without_reason, _without_fillers):
        if _fits(text):
            return text
        text = _tidy(step(text))
    if _fits(text):
        return text
    bare = _tidy(_without_articles(text))
    if _fits(bare):
        return bare
    forms = [form for form in (_without_contrast(bare), _cut_at(bare, _JOINTS), _cut_at(bare, _TURNS)) if _fits(form)]
    return max(forms, key=lambda form: len(form.split()), default="") or _elided(bare)


def _fits(text: str) -> bool:
    return bool(text) and len(text.split()) <= WORDS_MOST and len(text) <= CHARACTERS_MOST


def _tidy(text: str) -> str:
    """Return the words as a title: no final stop, a capital first unless it is a name."""
    text = " ".join(text.split()).rstrip(" .,;:\u2014\u2013-") if not text.endswith("...") else text
    if text.startswith("(") and text.endswith(")") and text.count("(") == 1:
        text = text[1:-1]
    first = text.split(" ", 1)[0].rstrip(",;:")
    plain = first.replace("'", "").isalpha() and first.islower() and not _COMMAND.match(text)
    return text[:1].upper() + text[1:] if plain else text


def _without(opening: re.Pattern[str], text: str) -> str:
    rest = text[match.end() :] if (match := opening.match(text)) else text
    return rest if len(rest.split()) > 2 else text


def _without_setting(text: str) -> str:
    return _without(_SETTING, text)


def _without_parentheses(text: str) -> str:
    return _outside_code(_PARENTHESIS, text)


def _outside_code(pattern: re.Pattern[str], text: str) -> str:
    """Return the text without what matches, except in code and where it names an exception."""
    return pattern.sub(lambda match: match[0] if _excepts(match[0]) or _in_code(text, match.start()) else "", text)


def _in_code(text: str, at: int) -> bool:
    return text.count("`", 0, at) % 2 == 1


def _excepts(text: str) -> bool:
    """Return whether the text names an exception or a limit of what stands before it."""
    return any(
        word.strip(".,;:()").lower() in ("except", "unless", "only", "never", "until", "but") for word in text.split()
    )


def _without_reason(text: str) -> str:
    """Return the text without the first reason that leaves a statement, unless it holds an exception."""
    for match in _REASON.finditer(text):
        head, tail = text[: match.start()], text[match.start() :]
        whole = len(head.split()) > 2 and head.rsplit(" ", 1)[-1].lower() not in _DANGLING  # "only because"
        if whole and not _is_inside(text, match.start()) and _states(head) and not _excepts(tail):
            return head
    return text


def _without_fillers(text: str) -> str:
    words = text.split()
    plain = ["", *(word.strip(",").lower() for word in words)]
    return " ".join(
        word for at, word in enumerate(words) if plain[at + 1] not in _FILLERS or is_negation(plain[at])
    )  # "not really used" is not "not used"


def _without_articles(text: str) -> str:
    words = text.split()
    inside = [sum(word.count("`") for word in words[:at]) % 2 for at in range(len(words))]
    return " ".join(word for at, word in enumerate(words) if inside[at] or word.lower() not in _ARTICLES)


def _cut_at(text: str, ends: re.Pattern[str]) -> str:
    """Return the longest beginning up to such an end that fits and is a statement; empty if what is cut limits it."""
    for match in reversed(list(ends.finditer(text))):
        head, tail = text[: match.start()].rstrip(" ,;:"), text[match.start() :]
        if not _fits(f"{head}{_ELLIPSIS}") or len(head.split()) < 5 or _is_inside(text, match.start()):
            continue
        last = head.rsplit(" ", 1)[-1].lower()
        if not limits(tail) and last not in _DANGLING and not is_negation(last) and _states(head):
            return f"{head}{_ELLIPSIS}"
    return ""


def _states(head: str) -> bool:
    """Return whether the beginning of a clause is a statement, and not only its condition or purpose."""
    if not _CONDITION.match(head.lower()):
        return _has_verb(head)
    return ", " in head and _has_verb(head.rpartition(", ")[2])


def _without_contrast(text: str) -> str:
    """Return the text before a final ", not X" or "rather than X": the affirmed half says the same, if it says not all.

    After "every" or "always" such a part is an exception, and stays.
    """
    match = _CONTRAST.search(text)
    if not match or _ALL.search(text[: match.start()]) or len(text[: match.start()].split()) < 5:
        return ""
    head = text[: match.start()]
    return f"{head}{_ELLIPSIS}" if _has_verb(head) and not _is_inside(text, match.start()) else ""


def _cut_anywhere(text: str) -> str:
    """Return the first words up to the limit, if what is cut limits nothing."""
    words = text.split()
    head = words[:WORDS_MOST]
    while len(head) > 5 and head[-1].strip(",").lower() in _DANGLING:
        head.pop()
    short = " ".join(head).rstrip(" ,;:")
    whole = _balanced(short) and _states(short) and len(short) < CHARACTERS_MOST
    return short + _ELLIPSIS if whole and not limits(" ".join(words[len(head) :])) else ""


def _elided(text: str) -> str:
    """Return the beginning, "…", and from the last limiting word on; else as much of the whole as is allowed.

    What the words between contain may be left out only if it limits nothing.
    """
    words = text.split()
    spots = [at for at, word in enumerate(words) if limits(word)]
    if spots and len(words) - spots[0] < WORDS_MOST - 2:
        room = WORDS_MOST - 1 - (len(words) - spots[0])
        head = words[:room]
        while head and head[-1].strip(",").lower() in _DANGLING:
            head.pop()
        short = " ".join([*head, _ELLIPSIS, *words[spots[0] :]])
        if head and _balanced(short) and len(short) <= CHARACTERS_MOST:
            return short
    if short := _cut_anywhere(text):
        return short
    if len(text) <= CHARACTERS_MOST:
        return text
    return _first_part(text)


def _first_part(text: str) -> str:
    """Return as many whole words as a title may have characters, and not half of a negated phrase."""
    head = text[: CHARACTERS_MOST - 1]
    head = (head.rsplit(" ", 1)[0] if " " in head[30:] else head).rstrip(" ,;:")
    spots = [match.start() for match in re.finditer(r"\S+", head) if limits(match[0])]
    if limits(text[len(head) :]) and spots and spots[-1] > CHARACTERS_MOST * 3 // 5:
        head = head[: spots[-1]].rstrip(" ,;:")
    while len(head.split()) > 3 and (head.rsplit(" ", 1)[-1].lower() in _DANGLING or limits(head.rsplit(" ", 1)[-1])):
        head = head.rsplit(" ", 1)[0].rstrip(" ,;:")
    return head + _ELLIPSIS


def _balanced(text: str) -> bool:
    return text.count("`") % 2 == 0 and text.count("(") == text.count(")")


def _has_verb(text: str) -> bool:
    words = [(raw, raw.strip("\"'`()[]{}<>,;:!?.*\u2026\u201c\u201d").lower()) for raw in text.split()]
    if len(words) > TOPIC_WORDS and any(word in VERBS and "`" not in raw for raw, word in words[1:]):
        return True
    return bool(re.search(r"->|\u2192|=|: (?:\S+ ){0,2}(?:`|-|\./)", text)) or any(
        _is_verb(words, at) for at in range(len(words))
    )


def _worth(title: str, clause: _Clause) -> float:
    """Return how well a title states the verdict; the clauses' titles are compared by it."""
    words = title.split()
    worth = 2.5 if clause.at == 0 else max(-2.0, -0.4 * clause.at)
    worth += 2.0 if _NORM.search(title) else 0.0
    worth += 1.0 if _is_order(title) else 0.0
    worth -= 6.0 if is_topic(title) or not _has_verb(title) else 0.0
    worth -= 4.0 if clause.at and (_LEANS.match(clause.text) or _POINTS_BACK.search(title)) else 0.0
    worth -= 2.5 if _EXCEPTS.match(clause.next) else 0.0
    worth += 0.5 if "`" in title or any(is_name(word.strip(",.:;()")) for word in words) else 0.0
    worth += 0.12 * min(len(words), WORDS_MOST) - max(0, (6 if clause.at else 4) - len(words)) * 1.2
    worth -= 3.0 + 0.3 * (len(words) - WORDS_MOST) if len(words) > WORDS_MOST else 0.0
    worth -= (2.0 if title.endswith(_ELLIPSIS) else 3.0) if _ELLIPSIS in title else 0.0
    worth -= 1.0 if clause.text.endswith(":") else 0.0
    return worth - (3.0 if not _balanced(title) else 0.0)


def _is_order(title: str) -> bool:
    """Return whether the title begins as an order does."""
    words = [(raw, raw.strip("\"'`(),;:.").lower()) for raw in title.split()]
    return bool(words) and (
        words[0][1] in ("do", "don't", "never", "always") or (words[0][1] in VERBS and _is_verb(words, 0))
    )
