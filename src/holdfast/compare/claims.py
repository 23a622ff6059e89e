"""Reads a lesson's text into a claim: its significant words, each with the part it plays in a comparison.

Words are stemmed crudely, in the same way for every text. Names, paths, numbers and code must match exactly. Denied
words, conditions and filled slots are kept apart from the rest, since two texts contradict each other only if exactly
these differ.

The module is loaded when a lesson is saved and on request, never by a hook.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, pairwise

from holdfast.text.words import word_set

_SLOTS = {
    "package manager": (
        "npm, pnpm, yarn, bun",
        "pip, pip-tools, pipenv, poetry, uv, pdm, conda",
        "govendor, go modules, glide",
    ),
    "test runner": (
        "jest, vitest, mocha, jasmine, bun test, node test",
        "pytest, unittest",
        "nunit, xunit, mstest",
        "junit, testng",
        "rspec, minitest",
        "phpunit, pest",
    ),
    "browser tests": ("playwright, cypress, selenium, puppeteer, webdriverio, nightwatch",),
    "database": (
        "postgresql/postgres, mysql, mariadb, sqlite, mongodb/mongo, oracle, cockroachdb, dynamodb, h2,"
        " sql server/mssql, cassandra, firestore, duckdb",
        "redis, memcached, valkey",
    ),
    "linter": ("eslint, biome, oxlint, tslint", "flake8, pylint, ruff", "golangci-lint, staticcheck"),
    "formatter": ("prettier, dprint", "black, yapf", "gofmt, gofumpt, goimports"),
    "type checker": ("mypy, pyright, pyre, basedpyright",),
    "build tool": ("maven, gradle, sbt", "cmake, meson, xmake, autotools"),
    "bundler": ("webpack, vite, rollup, esbuild, parcel, turbopack, rspack, tsup",),
    "docs generator": ("sphinx, mkdocs, docusaurus, vitepress, jekyll, hugo, mdbook, antora",),
    "hosting": (
        "vercel, netlify, heroku, fly.io, cloudflare pages, github pages, railway, cloud run, app engine,"
        " firebase hosting",
    ),
    "object storage": (
        "s3/aws s3, r2/cloudflare r2, gcs/google cloud storage, azure blob storage, minio, backblaze b2",
    ),
    "runtime": ("node/node.js, deno",),
    "TLS library": ("openssl, rustls, boringssl, native-tls, gnutls, schannel",),
    "default branch": ("main, master",),
    "CI": ("github actions, travis/travis ci, circleci, jenkins, gitlab ci, buildkite, azure pipelines",),
    "module format": ("commonjs/cjs, esm/pure esm/es modules, umd",),
    "time zone": ("utc, local time",),
    "number type": ("float/floats, decimal/decimals, integer/integers/integer cents/cents",),
    "indentation": ("tabs, spaces",),
    "naming": ("snake_case, camelcase, kebab-case, pascalcase",),
}
"""Each slot's values, one string for each ecosystem: a project of two languages has two package managers. A slash
precedes another name of the same value."""

VALUES: dict[str, tuple[str, str]] = {
    name.strip(): (f"{slot} {number}" if number else slot, names.split("/")[0].strip())
    for slot, texts in _SLOTS.items()
    for number, values in enumerate(texts)
    for names in values.split(",")
    for name in names.split("/")
}
"""The slot of each known name, and the value that it names."""

_OPPOSITES = """
    before after, enable disable, allow deny, allow forbid, allow refuse, allow ignore, allow reject,
    accept reject, accept refuse, true false, sync async, synchronous asynchronous, up down, min max,
    minimum maximum, public private, required optional, mandatory optional, upper lower, uppercase lowercase,
    tabs spaces, single double, keep delete, keep remove, keep drop, include exclude, open closed, start stop,
    all none, local remote, above below, increase decrease, merge rebase, squash rebase, squash merge,
    safe unsafe, mutable immutable, lenient strict, ascending descending, past present, random deterministic,
    fail succeed, sequential parallel, serial parallel, blocking nonblocking, eager lazy, relative absolute,
    show hide, visible hidden, signed unsigned, inclusive exclusive, oldest newest, encrypted plain,
    always never, singular plural
    """

OPPOSITES: tuple[tuple[str, ...], ...] = tuple(tuple(pair.split()) for pair in _OPPOSITES.split(","))
"""Pairs of words that cannot both hold of one thing."""

READ_KEPT = 4_096
"""Texts that are kept as they were read: saving a lesson compares it with all the others several times."""
LONGEST = 1_000
"""Characters that are read: the rule stands at the beginning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Denial:
    """A part of a text that says what does not hold, or no longer holds."""

    subject: frozenset[str] = frozenset()
    predicate: frozenset[str] = frozenset()
    ends: bool = False
    """Whether the text says that it held before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignment:
    """What a text says of one thing: "sessions live in Redis", "passwords are hashed with bcrypt"."""

    subject: frozenset[str]
    act: str
    """The stem of the verb; `be` for all verbs that only say where or what something is."""
    by: str
    """How the value stands: `means` (with, by, via ...), `place` (in, on, from, to), `time` (at)."""
    value: frozenset[str]
    shown: str
    """The value as the text has it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A text prepared for comparison: its significant words, by the part they play."""

    text: str
    words: frozenset[str] = frozenset()
    """Stems and exact names, without those of exceptions."""
    denied: frozenset[str] = frozenset()
    """The words of all denied predicates."""
    affirmed: frozenset[str] = frozenset()
    """The words that are not denied."""
    subject: frozenset[str] = frozenset()
    """The words that characterise the subject."""
    poles: frozenset[str] = frozenset()
    """The affirmed words that have an opposite."""
    exact: frozenset[str] = frozenset()
    """Names, paths, numbers and code; they must match exactly."""
    names: frozenset[str] = frozenset()
    """Words that are used as names: exact ones, known values, capitals within a sentence, and what follows `with`."""
    assignment: Assignment | None = None
    """What the text says of its subject: where it is, what it is done with. None if it says, or denies, more."""
    denials: tuple[Denial, ...] = ()
    conditions: tuple[frozenset[str], ...] = ()
    """For each part that says where, when or for what the text holds, its words."""
    has_denier: bool = False
    """Whether a word such as `not` occurs anywhere, conditions included."""
    is_limited: bool = False
    """Whether the text names an exception, or says that it holds only for something."""
    numbers: tuple[str, ...] = ()
    sequence: tuple[str, ...] = ()
    """All words of the first sentence, lower-cased."""
    slots: tuple[tuple[str, frozenset[str]], ...] = ()
    """The single-valued slots that the text fills, each with its values."""
    order: tuple[frozenset[str], frozenset[str]] | None = None
    """What comes first or is preferred, and what comes after it."""
    switch: str = ""
    """`on` or `off` if the text says that something is; otherwise empty."""
    tells_version: bool = False
    tells_value: bool = False


TOKEN = re.compile(r"`[^`\n]+`|[^\s`]+")
_EDGE = "\"'()[]{}<>,;:!?\u201c\u201d"
_ANSWER = re.compile(r"^\s*(?:(?:no|nope|yes|ok|okay|well|actually|hey|please|so|also)[,.!:;]+\s+)+", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?;])\s+|(?<=,)\s+(?=(?:use|not|never|instead|it|so|but|don't|do not)\b)|\s+\u2014\s+")
DENIERS = word_set(
    """not no never don't dont doesn't didn't isn't aren't wasn't can't cannot won't shouldn't mustn't avoid stop
    stopped prevent prevents forbid forbids nor neither none without hardly"""
)
_OVER = word_set("gone removed deprecated dropped obsolete unsupported discontinued abolished retired ditched out")
"""Words that, after a form of `be`, deny the whole clause and say that it held before."""
_DROPS = word_set("drop drops dropped remove removes removed deprecate deprecates abandoned ditch ditched")
"""Verbs that deny what follows and say that it held before."""
_GOT_RID = re.compile(
    r"\b(?:(?:rip|ripped|rips|throw|threw|thrown|tear|tore|torn|kick|kicked|pull|pulled|take|took|taken) out"
    r"|(?:get|got|gotten|getting) rid of|(?:mov|migrat|switch)(?:e|ed|ing)? (?:off|away from))\b(?: of)?",
    re.IGNORECASE,
)
"""Phrases that say of what follows, or of the subject of a passive, that it has ended."""
_BE = word_set("is are was were been be got")
_ADVERBS = word_set("now previously also since already been fully finally long completely meanwhile")
_DETERMINERS = word_set("a an the any each every this that")
_AFTER_OBJECT = word_set("for because since so and")
"""Words after what was dropped: `for` names its successor, except in `support for`."""
_TAKE = word_set("use prefer choose take call")
_IF = word_set("if when while whether where until whenever")
_ENDING = re.compile(
    r"\bno longer\b|\b(?:any ?more|anymore)\b|\bnot any ?more\b|\bused to\b|\b(?:switch|mov|migrat|chang)(?:ed|ing)\b"
    r".{0,60}\bfrom\b|\breplac(?:ed|es|ing)\b|\binstead of\b|\b(?:is|are) gone\b"
    r"|\b(?:was|were) (?:removed|dropped|retired)\b|\bdropped\b|\b(?:is|are) deprecated\b|\bstopped\b|\bditched\b",
    re.IGNORECASE,
)
_SWITCH = re.compile(
    r"\b(?:switch|mov|migrat|chang|convert)\w*\b(?:\.(?=\S)|[^.;]){0,60}?\bfrom\b(?P<old>(?:\.(?=\S)|[^.;]){1,60}?)\bto\b",
    re.IGNORECASE,
)
_REPLACED = re.compile(r"\breplac(?:ed|ing|e)\b(?P<old>(?:\.(?=\S)|[^.;]){1,60}?)\b(?:with|by)\b", re.IGNORECASE)
_INSTEAD = re.compile(
    r"(?:\binstead of|\brather than|\bin place of|\bin favou?r over)\b(?P<old>(?:\.(?=\S)|[^.;,]){1,80})", re.IGNORECASE
)
_EXCEPTION = re.compile(r",?\s*\b(?:except|unless|other than|but not (?:when|where|in))\b[^.;]*", re.IGNORECASE)
_CONDITION = re.compile(
    r"\b(?:when|while|if|during|under|until|where|whenever|only|that|which|whose)\b[^,.;]*"
    r"|\b(?:in|on|for|at|per|inside|within)\b(?:(?!\b(?:in|on|for|at|with|to|from|as)\b)[^,.;])*",
    re.IGNORECASE,
)
_ONLY = re.compile(r"\bonly\b", re.IGNORECASE)
_EMPTY = word_set(
    """
    a an the this that these those it its is are was were be been being of in on at by for and to with as we you i our
    your my us me should must shall would will need needs please just really very also so then there here do does did
    have has had always ever every each any all both only still now more longer alike either or but than from into onto
    through over them they their he she who what which where when while if because since until unless except either
    may might can could own other others another one's unless up out off down per yet already too even not no never
    """
)
_LIGHT = word_set(
    """
    use uses used using make makes made making call calls called calling pass passes passed passing set sets setting
    take takes took taking get gets give given gives hand handed put run runs ran running come comes came live lives
    keep keeps kept support supports supported allow way thing character value argument method function package
    library project tool option version command file files work item type kind sure by hand mean means newer later
    older old new least most minimum maximum default need needed require required instead rather switched moved
    migrated replaced replace we unless told otherwise nothing back yourself itself want wants choose prefer
    preferred
    """
)
"""Words that say little of the subject. Two texts may differ in them and still have the same subject."""
_IRREGULAR = {
    "built": "build", "written": "write", "wrote": "write", "sent": "send", "kept": "keep", "held": "hold",
    "done": "do", "found": "find", "begun": "begin", "began": "begin", "left": "leave", "lost": "lose",
    "chosen": "choose", "stood": "stand", "meant": "mean", "read": "read", "ran": "run", "took": "take",
    "indices": "index", "dependencies": "dependency", "children": "child",
}  # fmt: skip
_COUNTS = {
    "once": "1", "twice": "2", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
    "eight": "8", "nine": "9", "ten": "10", "dozen": "12",
}  # fmt: skip
_NUMBER = re.compile(r"^v?\d[\d.,_]*(?:x|[a-z%]{1,3})?$", re.IGNORECASE)

_VERSION_CUE = re.compile(
    r"\b(?:or|and) (?:newer|later|above|up)\b|\bat least\b|\bminimum\b|\boldest\b|\bsupports?\b|\brequires?d?\b"
    r"|\bneeds?\b|\btargets?\b|\bruns? on\b|\bversion\b|\bpinned?\b|\bdropp?(?:s|ed)?\b|\bupgrad",
    re.IGNORECASE,
)
_VALUE_CUE = re.compile(
    r"(?:\b(?:is|are|to|at|of|by|than|most|least|max|maximum|minimum|limit|after|every|within|over|under|port"
    r"|(?<=\w )status)|[=:])\s+\d|\d\s?(?:%|(?:ms|s|sec|seconds?|minutes?|min|hours?|days?|weeks?|times|retries"
    r"|attempts|repeats|[kmg]i?b|bytes|bits|spaces|columns|characters|lines|threads|workers|connections|entries|items"
    r"|files)\b)|\b(?:two|three|four|five|six|eight|ten) (?:times|spaces|workers|days|hours|minutes|seconds|retries)\b",
    re.IGNORECASE,
)

_SWITCHED = re.compile(r"\b(?:is|are|be|turns?|turned|switch|switched|stays?)\s+(?:\w+\s+)?(on|off)\b", re.IGNORECASE)

_BETWEEN = re.compile(
    r"^(?P<left>.+?)\s(?P<word>before|after|over|instead of|rather than|wins? over)\s(?P<right>.+)$", re.I
)
_FIRST = re.compile(r"^(?P<word>before|after)\s(?P<right>[^,]+),\s*(?P<left>.+)$", re.I)


@lru_cache(maxsize=READ_KEPT)
def read_claim(text: str) -> Claim:
    """Return the text prepared for comparison."""
    plain = _ANSWER.sub("", " ".join(text.replace("\u2019", "'").split())[:LONGEST])
    plain = _GOT_RID.sub("dropped", plain)
    unconditional = _EXCEPTION.sub("", plain)
    read = _read_words(unconditional)
    denials = [denial for sentence in filter(None, _SENTENCE.split(unconditional)) for denial in _denials_of(sentence)]
    words = frozenset(word for word, _ in read)
    denied: frozenset[str] = frozenset().union(*(denial.predicate for denial in denials))
    numbers = tuple(word for word, _ in read if _NUMBER.match(word))
    conditions = tuple(frozenset(telling(part)) for part in _CONDITION.findall(unconditional))
    first = re.split(r"(?<=[.;!?])\s", unconditional, maxsplit=1)[0]
    switched = _SWITCHED.search(plain)
    return Claim(
        text=plain,
        words=words,
        denied=denied,
        affirmed=words - denied,
        subject=heavy(words),
        poles=(words - denied) & POLES,
        exact=frozenset(word for word, exact in read if exact),
        names=frozenset(word for word, exact in read if exact) | _names_in(plain),
        denials=tuple(denials),
        assignment=None if denials else _assignment(first),
        conditions=conditions,
        has_denier=bool(denials) or any(bare(raw) in DENIERS for raw in TOKEN.findall(unconditional)),
        is_limited=unconditional != plain or bool(_ONLY.search(unconditional)),
        numbers=numbers,
        sequence=tuple(token for token in (bare(raw) for raw in TOKEN.findall(first)) if token),
        slots=_slots(plain, denied),
        order=_ordered(plain),
        switch=switched[1].lower() if switched else "",
        tells_version=bool(_VERSION_CUE.search(plain)),
        tells_value=bool(_VALUE_CUE.search(plain)),
    )


_ASSIGNMENT = re.compile(
    r"^(?:the |our |all |every )?(?P<subject>[\w' /-]{3,60}?) (?:(?:is|are) (?:now )?)?"
    r"(?P<act>lives?|sits?|runs?|goe?s?|comes?|starts?|happens?|based|stored|kept|saved|hashed|deployed|hosted|served|built"
    r"|tested|formatted|linted|sent|handled|rendered|managed|read|written|signed|encrypted|queued|logged|is|are)"
    r"(?: now)? (?:(?P<by>in|on|at|as|with|by|through|via|from|to|using) )?(?:the |a |an )?"
    r"(?P<value>[^\s,;]+(?: [^\s,;]+){0,2}?)(?: now| these days| instead)?"
    r"(?: (?:utc|gmt))?(?:,? (?:because|since|so|and|as)\b.*|[.!]?)$",
    re.IGNORECASE,
)
_FOR = re.compile(
    r"^(?:we |always )?(?:use|prefer) (?P<value>[^\s,;]+) (?:for|as) (?:the |our |all )?"
    r"(?P<subject>[\w' -]{3,40}?)[.!]?$",
    re.IGNORECASE,
)
_WAYS = {"in": "place", "on": "place", "from": "place", "to": "place", "at": "time"}
_WAYS |= dict.fromkeys(("with", "by", "through", "via", "using"), "means")
_STATIC = word_set("live lives sit sits stored kept saved is are based hosted")
_NO_VALUE = word_set("it this that them there here done fine first last same one all each every any some more less")


def _assignment(sentence: str) -> Assignment | None:
    """Return what the sentence says of its subject, if that is all that it says."""
    tool = _FOR.match(sentence)
    match = tool or _ASSIGNMENT.match(sentence)
    if match is None:
        return None
    by, act = ("with", "be") if tool else ((match["by"] or "").lower(), match["act"].lower())
    subject, value = frozenset(telling(match["subject"])), frozenset(telling(match["value"]))
    way = _WAYS.get(by, "")
    if not heavy(subject) or not value or value & _NO_VALUE or not way:
        return None
    return Assignment(
        subject=subject,
        act="be" if act in _STATIC or by in ("from", "on") or way == "means" else stem(act),
        by=way,
        value=value,
        shown=match["value"].lower().rstrip(".!"),
    )


def _denials_of(sentence: str) -> Iterator[Denial]:
    """Yield what the sentence denies: a change's old value, the alternative after `instead of`, what a word denies."""
    ends = bool(_ENDING.search(sentence))
    for pattern in (_SWITCH, _REPLACED):
        match = pattern.search(sentence)
        if match and not DENIERS & {bare(token) for token in sentence[: match.start()].split()}:
            yield Denial(predicate=frozenset(telling(match["old"])), ends=True)
            return
    while match := _INSTEAD.search(sentence):
        before = sentence[: match.start()]
        is_order = bare(before.split(" ", 1)[0]) in _TAKE  # `use X instead of Y`: X is the new value, not the subject
        subject = frozenset(word for word, exact in _read_words(before) if not is_order and not exact)
        yield Denial(subject=subject, predicate=frozenset(telling(match["old"])), ends=ends)
        sentence = before + sentence[match.end() :]
    tokens = TOKEN.findall(sentence)
    words = ["" if token.startswith("`") else bare(token) for token in tokens]
    denials = (denial for at in range(len(tokens)) if (denial := _denial_at(tokens, words, at, ends)))
    yield from islice(denials, 1)


def _denial_at(tokens: list[str], words: list[str], at: int, ends: bool) -> Denial | None:
    """Return what the word at that position denies, or None. Code is represented by an empty word."""
    word = words[at]
    before = [earlier for earlier in words[:at] if earlier not in _ADVERBS]
    last = before[-1] if before else ""
    if word in _OVER and last in _BE:
        return Denial(predicate=_words_of(tokens[_last_comma(tokens, at) : at]), ends=True)
    if word == "deprecated" and last in _DETERMINERS:
        return Denial(predicate=_words_of(tokens[at + 1 : at + 3]), ends=True)
    if word in _DROPS and last not in _DETERMINERS:
        return Denial(predicate=_words_of(tokens[at + 1 : _end_of_object(tokens, words, at + 1)]), ends=True)
    if word not in DENIERS or (word == "no" and words[at + 1 : at + 2] in (["more"], ["matter"])):
        return None
    if _IF & {*words[_last_comma(tokens, at) : at]}:
        return None  # a condition that something is not so denies nothing
    predicate = [token for token in tokens[at + 1 :] if bare(token) not in ("longer", "any", "anymore")]
    return Denial(subject=_words_of(tokens[:at]), predicate=_words_of(predicate), ends=ends)


_TOOL = re.compile(r"\b(?:with|via|through|use|uses|using) ([^\s,;]+?)(?=[,;.!]|$| (?:for|to|in|and)\b)", re.IGNORECASE)


def _names_in(text: str) -> frozenset[str]:
    """Return the stems of known values, and of words with a capital that begins no sentence."""
    tokens = TOKEN.findall(text)
    capitals = {
        bare(raw) for last, raw in pairwise(tokens) if raw.strip(_EDGE)[:1].isupper() and last[-1] not in ".!?:"
    }
    tools = {bare(raw) for raw in _TOOL.findall(text)}
    return frozenset(stem(word) for word in capitals | tools | {word for word in map(bare, tokens) if word in VALUES})


def _end_of_object(tokens: list[str], words: list[str], start: int) -> int:
    """Return where what was dropped ends: at a comma, at its successor or at the reason."""
    for at in range(start, len(tokens) if "older" not in words[start:] else start):  # older versions of it have ended
        if words[at] in _AFTER_OBJECT and words[at - 1] != "support":
            return at
        if tokens[at].endswith((",", ";")):
            return at + 1
    return len(tokens)


def _words_of(tokens: list[str]) -> frozenset[str]:
    return frozenset(telling(" ".join(tokens)))


def _last_comma(tokens: list[str], at: int) -> int:
    """Return the position after the last comma before that token."""
    return next((n + 1 for n in range(at - 1, -1, -1) if tokens[n].endswith(",")), 0)


def telling(text: str) -> list[str]:
    """Return the stems and exact names of the significant words, in order."""
    return [word for word, _ in _read_words(text)]


def _read_words(text: str) -> list[tuple[str, bool]]:
    """Return the significant words in order, each with whether it is an exact name."""
    telling_words: list[tuple[str, bool]] = []
    for raw in TOKEN.findall(text):
        word = bare(raw)
        if raw.startswith("`") or _is_exact(raw):
            telling_words.append((word, True))
        elif word in _COUNTS:
            telling_words.append((_COUNTS[word], True))
        elif word and word not in _EMPTY:
            telling_words.append((stem(word), False))
    return [(word, exact) for word, exact in telling_words if len(word) > 1 or word.isdigit()]


def bare(raw: str) -> str:
    """Return the word or the code in lower case, without surrounding punctuation."""
    word = raw.strip(_EDGE).strip("`*").strip(_EDGE).rstrip(".").removesuffix("...").removesuffix("()").rstrip("=.")
    word = word.lower()
    return word[:-2] if word.endswith("'s") else word


def _is_exact(word: str) -> bool:
    """Return whether the word is a number, a path or an identifier rather than a word of the language."""
    bare = word.strip("`\"'()[]{}<>,;:!?.*\u201c\u201d")
    inner = bare[1:]
    return (
        any(c.isdigit() for c in bare)
        or any(c in "_/\\@$+#=" for c in bare)
        or "." in bare
        or bare.startswith("--")
        or (inner != inner.lower() and not bare.isupper())
    )


def stem(word: str) -> str:
    """Return the word without a plural or verb ending; crude, and the same for both texts.

    This is not `ranking.relevance.stem`: with that function fewer contradictions are recognised correctly (ADR 38).
    """
    word = _IRREGULAR.get(word, word)
    for ending in ("ies", "ied"):
        if word.endswith(ending) and len(word) > 4:
            return word[:-3] + "y"
    for ending in ("ing", "ed", "es", "s"):
        rest = word[: -len(ending)]
        if word.endswith(ending) and len(rest) >= 3 and not word.endswith(("ss", "us")) and _has_vowel(rest):
            word = rest
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lse":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def _has_vowel(word: str) -> bool:
    return any(c in "aeiouy" for c in word)


_LIGHT_STEMS = frozenset(stem(word) for word in _LIGHT)
PAIRS = frozenset(frozenset(stem(word) for word in pair) for pair in OPPOSITES)
"""Stems of opposites: only one of each pair can hold of one thing."""
POLES = frozenset().union(*PAIRS)


def heavy(words: frozenset[str]) -> frozenset[str]:
    """Return the words without those that say little of the subject."""
    return words - _LIGHT_STEMS


def _ordered(text: str) -> tuple[frozenset[str], frozenset[str]] | None:
    """Return what comes first or is preferred, and what comes after it; None if the text states no order."""
    sentence = re.split(r"[.;]\s|[.;]$", text, maxsplit=1)[0]
    match = _FIRST.match(sentence) or _BETWEEN.match(sentence)
    if match is None:
        return None
    left, right = (frozenset(telling(match[name])) - _LIGHT_STEMS for name in ("left", "right"))
    return (right, left) if match["word"].lower() == "after" else (left, right)


def _slots(text: str, denied: frozenset[str]) -> tuple[tuple[str, frozenset[str]], ...]:
    names: dict[str, set[str]] = {}
    words = [bare(raw) for raw in TOKEN.findall(text)]
    spoken = f" {' '.join(words)} "
    for value in {word for word in words if word in VALUES} | {value for value in _PHRASES if value in spoken}:
        if f" {value} " in spoken and not parts_of(value) & denied:
            slot, name = VALUES[value]
            names.setdefault(slot, set()).add(name)
    return tuple((slot, frozenset(values)) for slot, values in sorted(names.items()))


_PHRASES = tuple(value for value in VALUES if " " in value)


def parts_of(value: str) -> frozenset[str]:
    """Return the words of a slot's value in the form in which a claim holds them."""
    return frozenset(stem(part) if part.isalpha() else part for part in value.split())
