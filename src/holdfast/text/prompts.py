"""Separates the person's words in a prompt from text that a program wrote or that was pasted.

Hosts write summaries, plans, notices and results of their own commands into the user's place; people paste output,
differences, code and reviews. `read_prompt` names these parts and returns the person's words at the same offsets, so
that quotes from them hold for the whole text. It judges form, never topic. In doubt the words stay the person's: single
lines of output, and a reviewer's short remarks without a mark.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

Origin = Literal["person", "mixed", "machine"]
PartKind = Literal["continuation", "plan", "notice", "command", "interrupt", "hook", "code", "output", "review"]

OPENINGS: tuple[tuple[str, PartKind], ...] = (
    ("This session is being continued from a previous conversation", "continuation"),
    ("Implement the following plan:", "plan"),
    ("Operation stopped by hook", "hook"), ("Stop hook feedback", "hook"), ("PreToolUse:", "hook"),
    ("PostToolUse:", "hook"), ("UserPromptSubmit operation blocked by hook", "hook"),
    ("Base directory for this skill:", "command"), ("Caveat: The messages below", "command"),
    ("Another Claude session sent", "notice"), ("API Error", "notice"), ("[SYSTEM NOTIFICATION", "notice"),
)  # fmt: skip
"""Openings of texts that a host wrote completely."""

TAGS: dict[str, PartKind] = {
    "task-notification": "notice", "agent-message": "notice", "teammate-message": "notice", "system-reminder": "notice",
    "user-prompt-submit-hook": "hook", "ide_opened_file": "notice", "ide_selection": "notice",
    "local-command-caveat": "command", "local-command-stdout": "command", "local-command-stderr": "command",
    "command-name": "command", "command-message": "command", "bash-input": "command", "bash-stdout": "command",
    "bash-stderr": "command", "holdfast-memory": "notice",
}  # fmt: skip
"""Blocks that a host writes, from a line's beginning or directly after another block. What a person typed after a slash
command is in `<command-args>` and is the person's."""

OUTPUT_RUN = 3
"""Lines of output in a row that are a paste; fewer belong to the sentence around them."""
SURE_RUN = 2
"""The same for lines that no person writes: drawn ones, rulers, changed lines of code."""
LINE_LENGTH = 1_000
"""Characters of a line that are looked at."""
GAP = 2
"""Other lines between two lines of output, at most, that belong to the paste."""
LONG_PASTE = 20
"""Lines of output from which all between the first and the last of them is the paste, whatever it says."""
REVIEW_LENGTH = 160
"""Characters from which a paragraph in a reviewer's manner is taken for pasted."""
LONG_REVIEW = 300
"""Characters from which a reviewer's phrase is enough, though no code is named."""
REVIEW_NAMES = 2
"""Names of code that such a paragraph holds at least."""
LEAD_LENGTH = 220
"""Characters within which the words stand that introduce a paste: "I got this feedback: ..."."""

_TAG = re.compile(rf"<({'|'.join(map(re.escape, TAGS))})\b[^<>\n]*>")
_ARGUMENTS = re.compile(r"</?command-args>")
_INTERRUPT = re.compile(r"\[Request interrupted by user[^\]\n]*\]")
_QUOTED = re.compile(r"```.*?(?:```|\Z)|\"\"\".*?\"\"\"", re.DOTALL)
_DRAWN = "\u2502\u2503\u256d\u2570\u251c\u2514\u23bf\u2a2f\u2717\u2718\u2713\u2714\u25cf\u25b8\u276f\u25b6\u23fa"
"""Frames, ticks and prompts that programs draw."""
_OUTPUT = re.compile(
    rf"""
    \s*(?:[{_DRAWN}|]|>\s*(?:[{_DRAWN}v*>o]|\[|$)|={{3,}}|-{{3,}}|\*{{3,}}|@@\s)
    |.*\S\s{{10,}}$                                       # a terminal's line, copied with its width
    |\s*at\s+\S+.*[(:]\S*\d+                            # a frame of a stack
    |\s*File\s".+",\sline\s\d+
    |[+-](?:\s{{2,}}|\t).*                               # a changed line of code
    |\s*\S+@\S+[\s:].*[$%>\#]\s
    |[$%]\s\S
    |\s*(?:---\s)?(?:FAIL|PASS|ok|FAILED|ERROR|WARN(?:ING)?|INFO|DEBUG|panic|Traceback|error|fatal|warning)\b[\s:].*
    |\s*[\w./-]+\.\w{{1,5}}:\d+(?::\d+)?:?(?:\s.*)?$     # file.go:12:3: ...
    |\s*\d{{4}}-\d\d-\d\d[T\s]\d\d:\d\d.*
    |\s*[\]\[{{}}]+,?\s*$
    |\s*"[^"]+"\s*:\s.*                                 # a line of JSON
    |\s*"[^"]*",?\s*$
    |\s*(?:\w+[\s-]){{0,3}}\w+:\s+(?:/\S+|\d[\d.,%]*|true|false|null|[0-9a-f]{{7,40}})\s*$   # name: value
    |\s*(?:create|delete)\smode\s\d+
    |\s*\^[~^]*\s*$
    |\s{{4,}}\S.*
    """,
    re.VERBOSE,
)
_SURE = re.compile(rf"\s*(?:[{_DRAWN}]|={{3,}}\s)|[+-](?:\s{{2,}}|\t)|\s*(?:ERROR|FAIL)\b")
_TO_SOMEBODY = re.compile(
    r"\b(?:I|I'm|I've|I'd|me|my|we|we're|we've|our|us|you|your|let's|lets)\b|\?|\A\W*(?:please|thanks?|ok|okay|hmm|yeah"
    r"|yes|no|(?:how|what) about|what if|why|however|but|also|and|so)\b|\b(?-i:ALWAYS|NEVER|MUST)\b",
    re.IGNORECASE,
)
"""Words by which people speak to each other, go on speaking or state rules. Reviewers and programs do not use them."""
_NAME = re.compile(
    r"`[^`\n]+`|\b[a-z]+[A-Z]\w*|\b[A-Z][a-z0-9]+[A-Z]\w*|\b\w+_\w+\b|\b\w+\([^)\n]*\)"
    r"|\b[\w/-]{1,120}\.(?:go|py|ts|js|rs|java|rb|c|h|cpp|md|json|ya?ml|sh)\b"
)
_PHRASE = re.compile(
    r"\bconsider (?:\w+ly )?\w+ing\b|\bfor consistency\b|\b(?:is|are) (?:inconsistent|misleading|inaccurate|unused)\b"
    r"|\b(?:should|could|can) (?:also )?(?:be|lead|cause|still)\b|\b(?:resulting in|causing|unit tests|edge cases)\b",
    re.IGNORECASE,
)
"""Phrases of reviewers."""
_SEVERITY = re.compile(r"^[^\w\n]*(?:(?:Low|Medium|High|Critical) Severity|Severity: \w+)\s*$", re.MULTILINE)
_INTRODUCES = re.compile(r"\b(?:feedback|review|finding|findings|copilot)\b", re.IGNORECASE)
_ASKS_ABOUT = re.compile(r"\b(?:comment|check|look at|address|fix this|was just fixed)\b", re.IGNORECASE)
_COLON = re.compile(r":(?=\s|\Z)")
_QUOTE = re.compile(r"\"(?=[A-Z])")
_IN_QUOTES = re.compile(r"\"[^\"\n]*\"")
_SENTENCE_END = re.compile(r"(?<=[.?!\"])\s+(?=[A-Z])")
_PARAGRAPH = re.compile(r"\S.*?(?=\n[^\S\n]*\n|\Z)", re.DOTALL)
_FOREIGN = re.compile(r"[^\W\d_a-zA-Z]")
_WORD = re.compile(r"[^\W\d_]{2,}|\d")


@dataclass(frozen=True, slots=True, kw_only=True)
class PromptPart:
    """A stretch of a prompt that is not the person's."""

    start: int
    end: int
    kind: PartKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompt:
    """A text in the user's place, divided by origin."""

    origin: Origin
    own: str
    """The person's words at their offsets; all else is blank."""
    parts: tuple[PromptPart, ...] = ()


def read_prompt(text: str) -> Prompt:
    """Return who wrote which part of a text in the user's place."""
    opening = text.lstrip()
    for beginning, kind in OPENINGS:
        if opening.startswith(beginning):
            return Prompt(origin="machine", own=" " * len(text), parts=(PromptPart(start=0, end=len(text), kind=kind),))
    parts = list(_by_marks(text))
    parts += _outputs(_blanked(text, parts))
    parts += _reviews(_blanked(text, parts))
    own = _blanked(text, parts)
    if not parts:
        return Prompt(origin="person", own=text)
    parts.sort(key=lambda part: part.start)
    return Prompt(origin="mixed" if _WORD.search(own) else "machine", own=own, parts=tuple(parts))


def _by_marks(text: str) -> Iterator[PromptPart]:
    """Yield the parts between marks: the host's blocks, fences and triple quotes."""
    yield from _blocks(text)
    marks: tuple[tuple[re.Pattern[str], PartKind], ...] = (
        (_ARGUMENTS, "command"), (_INTERRUPT, "interrupt"), (_QUOTED, "code"),
    )  # fmt: skip
    for pattern, kind in marks:
        yield from (PromptPart(start=mark.start(), end=mark.end(), kind=kind) for mark in pattern.finditer(text))


def _blocks(text: str) -> Iterator[PromptPart]:
    """Yield the host's blocks that have a closing tag."""
    end, unclosed = 0, set[str]()
    for tag in _TAG.finditer(text):
        if tag.start() < end or tag[1] in unclosed or not _begins_line(text, tag.start()):
            continue
        closing = f"</{tag[1]}>"
        closed_at = text.find(closing, tag.end())
        if closed_at < 0:
            unclosed.add(tag[1])
        else:
            end = closed_at + len(closing)
            yield PromptPart(start=tag.start(), end=end, kind=TAGS[tag[1]])


def _begins_line(text: str, at: int) -> bool:
    """Return whether only blanks or the end of another block precede that position in its line."""
    before = text[text.rfind("\n", 0, at) + 1 : at].rstrip()
    return not before or before.endswith(">")


def _outputs(own: str) -> Iterator[PromptPart]:
    """Yield runs of lines in the form of a program's output; if there are many, one part from the first to the last."""
    runs: list[list[tuple[int, int]]] = [[]]
    gap = 0
    for start, line in _lines(own):
        if line.strip() and _OUTPUT.match(line[:LINE_LENGTH]) and not _is_said(line):
            runs[-1].append((start, start + len(line)))
            gap = 0
        elif line.strip():
            gap += 1
            if gap > GAP or _is_said(line):
                runs.append([])
    pastes = [run for run in runs if len(run) >= (SURE_RUN if all(_is_sure(own, line) for line in run) else OUTPUT_RUN)]
    if sum(map(len, pastes)) >= LONG_PASTE:
        pastes = [[line for run in pastes for line in run]]
    for run in pastes:
        yield PromptPart(start=run[0][0], end=run[-1][1], kind="output")


def _is_sure(own: str, span: tuple[int, int]) -> bool:
    return bool(_SURE.match(own[span[0] : span[1]]))


def _is_said(line: str) -> bool:
    """Return whether a line is a person's sentence: several words, addressed to somebody, not indented."""
    return (
        len(line.split()) >= 4 and line[:1] not in (" ", "\t", "+", "-", ">", "|") and bool(_TO_SOMEBODY.search(line))
    )


def _speaks(text: str) -> bool:
    """Return whether the text, without its quotations, is addressed to somebody."""
    return bool(_TO_SOMEBODY.search(_IN_QUOTES.sub("", text.strip())))


def _reviews(own: str) -> Iterator[PromptPart]:
    """Yield long paragraphs in a reviewer's manner, about named code and addressed to nobody, and what belongs to them.

    A text that is mostly in another language yields nothing: the words that distinguish people from reviewers are
    English.
    """
    if len(_FOREIGN.findall(own)) > len(own) // 20:
        return
    follows = bool(_SEVERITY.search(own))
    for start, paragraph in _paragraphs(own):
        begin, end = _inner(paragraph)
        body = paragraph[begin:end]
        if _is_review(body) or (follows and body and not _speaks(body)):
            yield PromptPart(start=start + begin, end=start + end, kind="review")
            follows = True
        elif _INTRODUCES.search(paragraph) and paragraph.endswith(":"):
            follows = True


def _inner(paragraph: str) -> tuple[int, int]:
    """Return where the reviewer's words may be: after an introduction, before a person's last sentences."""
    begin = 0
    colon, mark = _COLON.search(paragraph, 0, LEAD_LENGTH), _QUOTE.search(paragraph, 0, LEAD_LENGTH)
    if colon and (_INTRODUCES.search(paragraph, 0, colon.start()) or _ASKS_ABOUT.search(paragraph, 0, colon.start())):
        begin = colon.end()
    elif mark and _INTRODUCES.search(paragraph, 0, mark.start()):
        begin = mark.start()
    end = len(paragraph)
    breaks = [gap.start() for gap in _SENTENCE_END.finditer(paragraph, begin)]
    while breaks and _speaks(paragraph[breaks[-1] : end]):
        end = breaks.pop()
    return begin, end


def _is_review(body: str) -> bool:
    names, phrase = len(_NAME.findall(body)), bool(_PHRASE.search(body))
    return (
        len(body.strip()) >= REVIEW_LENGTH
        and not _speaks(body)
        and body.strip(' "\n')[:1].isupper()
        and (names >= REVIEW_NAMES or (phrase and (names > 0 or len(body) >= LONG_REVIEW)))
    )


def _paragraphs(text: str) -> Iterator[tuple[int, str]]:
    for paragraph in _PARAGRAPH.finditer(text):
        yield paragraph.start(), paragraph.group().rstrip()


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.splitlines(keepends=True):
        yield start, line.rstrip("\r\n")
        start += len(line)


def _blanked(text: str, parts: Sequence[PromptPart]) -> str:
    """Return the text with the parts replaced by blanks; line ends stay."""
    for part in parts:
        inside = re.sub(r"[^\n]", " ", text[part.start : part.end])
        text = text[: part.start] + inside + text[part.end :]
    return text
