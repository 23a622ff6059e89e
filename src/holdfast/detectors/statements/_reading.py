"""Reads a turn's own words: its sentences, with their exact place in the text.

Code blocks, shell prompts, logs, tables and text that a host injects are skipped, since they state nothing by
themselves. Every repetition in a pattern that could backtrack is bounded, and only the first `READ_LIMIT` characters
are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

READ_LIMIT = 12_000
"""Characters of a turn that are read; a statement further down is not found."""
SENTENCE_LIMIT = 160
"""Sentences of a turn that are read."""
SENTENCE_LENGTH = 800
"""Characters of the longest sentence; what is longer is no sentence."""
CURLED = "\u2019"
"""The curly apostrophe that some keyboards and models write."""
IDENTIFIER = "§"
"""Replaces a code span, a path, or a dotted or camel-case name among a sentence's words."""

_INJECTED = re.compile(
    r"\s*(?:<(?:system-reminder|command-|local-command|task-notification|bash-|ide_|environment_context|thinking"
    r"|INSTRUCTIONS|user_instructions|teammate|holdfast)|\[Request interrupted|@agent\b"
    r"|This session is being continued|Another Claude session|Caveat: The messages below)"
)
_FENCE = re.compile(r"[ \t]*(?:```|~~~)")
_LANGUAGE_WORD = re.compile(r"(?:diff|bash|sh|ts|js|json|ya?ml|python|go|typescript|javascript|markdown)\s*\n")
_SHELL = re.compile(r"\s*(?:[\w.-]+@[\w.-]+[^$%#>\n]{0,40}[$%#>] |[\u276f\u279c$>%] |\w+:\S+ \w+\$)")
_LOG = re.compile(
    r"(?:\s{4,}\S|\s*at \S+[ (]|\s*\| |\s*[✓✗✘\u00d7●]|\s*\d+ ?\| |\[[\w:.-]+\] "
    r"|\s*(?:modified|deleted|new file|create mode|Author|Date|commit [0-9a-f]{7,}|index [0-9a-f]{7}|diff --git"
    r"|@@|\+\+\+|---)"
    r"|\s*[+-] ?[{}()\w][^\n]*[;{})]\s*$|[\w./-]+\.\w+:\d+|[^\n]{0,80}\b(?:level=|INFO |WARN |DEBUG )"
    r"|[^\na-z\u0400-\u04ff\u3040-\u9fff\uac00-\ud7af]{0,3}$)"
)
_MARK = re.compile(r"[\s>]*(?:(#{1,6}\s+)|((?:[-*•+]|\d{1,3}[.)])\s+))?")
_BREAK = re.compile(
    r"(?<=[.!?])(?<!\.\.\.)(?<!e\.g\.)(?<!i\.e\.)(?<!etc\.)(?<!vs\.)[\"')*`\]]*\s+(?=[^\s])|(?<=[\u3002])"
)
_WORD = re.compile(
    r"`[^`\n]{1,80}`"
    r"|[\w~@.-]{0,40}(?:/[\w.@-]{1,40}){1,20}|\w{2,40}(?:\.\w{2,40}){1,9}(?:\(\))?|[A-Za-z]\w{0,40}_\w{1,40}"
    r"|[a-z]{1,40}[A-Z]\w{0,40}|\w{1,40}\(\)"
    r"|[^\W\d_]{1,40}(?:['\u2019][^\W\d_]{1,20}){0,3}"
    r"|[,?!:;\u2192\u2014\u2013]"
)
_PLAIN_WORD = re.compile(r"[^\W\d_]+(?:['\u2019][^\W\d_]+)*|[,?!:;\u2192\u2014\u2013]")
_FILLERS = frozenset({
    "ok", "okay", "good", "great", "perfect", "excellent", "right", "yes", "now", "next", "first", "then", "also",
    "finally", "so", "and", "but", "hmm", "ah", "oh", "sure", "alright", "exactly", "absolutely", "wait",
    "actually", "done", "correct", "nice", "cool", ",", "!", ":", ";", "\u2014", "\u2013",
})  # fmt: skip
_INTENTS = (
    "let me,let's,lets,let us,i'll,i will,i need to,i should,i must,i am going to,i'm going to,i'm now,i want to,"
    "we need to,we'll,going to,time to,here's the,here is the,here's a,here's what,updating,checking,running"
)
_ACTIONS = tuple(tuple(phrase.split()) for phrase in _INTENTS.split(","))
_BARE_VERBS = frozenset({
    "update", "add", "fix", "check", "run", "create", "replace", "remove", "wrap", "build", "commit", "push",
    "test", "verify",
})  # fmt: skip


class Sentence(NamedTuple):
    """One sentence: characters [start, end) of the turn's text."""

    start: int
    end: int
    form: str
    """`plain`, `bullet` or `heading`."""
    words: tuple[str, ...]
    """Lower-cased words and some signs; every identifier is `IDENTIFIER`."""
    announces: bool
    """Whether it says what the speaker is about to do, asks, or introduces what follows."""


class OwnSentences(NamedTuple):
    """A turn's own sentences, and how many of its lines are code or log."""

    sentences: tuple[Sentence, ...]
    injected: bool
    lines: int
    code_lines: int
    log_lines: int


def read(text: str) -> OwnSentences:
    """Return the sentences of a turn, in order; none if a host injected the turn."""
    text = text[:READ_LIMIT]
    if _INJECTED.match(text):
        return OwnSentences((), True, text.count("\n") + 1, 0, 0)
    sentences: list[Sentence] = []
    counted = {"all": 0, "code": 0, "log": 0}
    for start, line in _own_lines(text, counted):
        if len(sentences) < SENTENCE_LIMIT:
            sentences.extend(_sentences_of(line, start))
    return OwnSentences(tuple(sentences[:SENTENCE_LIMIT]), False, counted["all"], counted["code"], counted["log"])


def _own_lines(text: str, counted: dict[str, int]) -> Iterator[tuple[int, str]]:
    in_code = _opens_inside_code(text)
    start = 0
    for line in text.split("\n"):
        counted["all"] += 1
        if _FENCE.match(line):
            in_code = not in_code
        elif in_code:
            counted["code"] += 1
        elif _SHELL.match(line) or line.count("|") >= 3 or (line.strip() and _LOG.match(line)):
            counted["log"] += 1
        elif line.strip():
            yield start, line
        start += len(line) + 1


def _opens_inside_code(text: str) -> bool:
    """Return whether the turn starts inside a code block: some exports cut turns there and leave half a fence."""
    if _LANGUAGE_WORD.match(text):
        return True
    odd = (text.count("```") + text.count("~~~")) % 2 == 1
    return odd and _SHELL.match(text) is not None


def _sentences_of(line: str, offset: int) -> Iterator[Sentence]:
    mark = _MARK.match(line)
    begin = mark.end() if mark else 0
    form = "heading" if mark and mark.group(1) else "bullet" if mark and mark.group(2) else "plain"
    for end, after in _breaks(line, begin):
        piece = line[begin:end]
        if 6 <= len(piece.strip()) <= SENTENCE_LENGTH:
            lead = len(piece) - len(piece.lstrip())
            yield _sentence(piece.strip(), offset + begin + lead, form)
        begin = after


def _breaks(line: str, begin: int) -> Iterator[tuple[int, int]]:
    for match in _BREAK.finditer(line, begin):
        yield match.start() + len(match.group().rstrip()), match.end()
    yield len(line), len(line)


def _sentence(piece: str, start: int, form: str) -> Sentence:
    words = tuple(_words(piece))
    announces = piece.endswith((":", "?")) or opens_with_intent(words)
    return Sentence(start, start + len(piece), form, words, announces)


def _words(piece: str) -> Iterator[str]:
    for match in _WORD.finditer(piece):
        token = match.group()
        yield token.lower().replace(CURLED, "'") if _PLAIN_WORD.fullmatch(token) and _is_word(token) else IDENTIFIER


def _is_word(token: str) -> bool:
    """Return whether the token is a word, not camel case: `iPhone` is rare, `fooBar` is not."""
    return (
        len(token) == 1
        or token[1:].islower()
        or token.isupper()
        or "'" in token
        or CURLED in token
        or not token.isascii()
    )


def opens_with_intent(words: tuple[str, ...]) -> bool:
    """Return whether the sentence announces the next step ("Now let me check", "I'm reading", "Add tests")."""
    at = 0
    while at < len(words) and words[at] in _FILLERS:
        at += 1
    rest = words[at : at + 4]
    if not rest:
        return True
    if rest[0] in _BARE_VERBS or (rest[0] == "i'm" and len(rest) > 1 and rest[1].endswith("ing")):
        return True
    return any(rest[: len(action)] == action for action in _ACTIONS)
