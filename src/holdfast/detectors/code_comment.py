"""Finds comments with a reason that an agent added to code, and anchors them to the symbol below.

Only lines that the edit added count. Comments in tests describe the test and are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from holdfast.detectors._writing import (
    best,
    evidence_of,
    fits,
    gives_reason,
    is_status,
    leans,
    name_kind,
    names_cause,
    sentences,
    states_duty,
    worth_of,
)
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.text.mentions import symbols_named
from holdfast.text.window import capital, is_test_file

MOST = 8
"""Lessons of one session, the likeliest."""

_LINE = re.compile(r"[ \t]*(?://+|#+(?!!)|--|\*(?!/)|/\*+|;;+)[ \t]?(.*?)(?:\*/)?[ \t]*$")
_NO_CODE = (".md", ".mdx", ".mdc", ".rst", ".txt", ".json", ".html", ".css", ".svg", ".csv", ".adoc")
_MARK = re.compile(r"(?:NOTE|IMPORTANT|WARNING|CAUTION|CRITICAL|HACK|SAFETY|XXX|FIXME)\b[ :!(]*", re.IGNORECASE)
_TODO = re.compile(
    r"(?:TODO|@\w+|eslint|nolint|noqa|type:|pylint|prettier|Step \d|\d+[.)]|Example|e\.g\.)", re.IGNORECASE
)
_STEP = re.compile(r"\s\d{1,2}[.)]\s")
"""The beginning of a list of steps inside a comment."""
_DEFINES = re.compile(
    r"[ \t]*(?:(?:export|default|pub(?:\([a-z]+\))?|public|private|protected|internal|static|async|abstract|final"
    r"|override|readonly|unsafe|inline|virtual|declare)\s+){0,5}"
    r"(?:func\s+(?:\([^)]{0,80}\)\s*)?|def\s+|fn\s+|function\s*\*?\s*|class\s+|struct\s+|interface\s+|enum\s+|trait\s+"
    r"|impl\s+|type\s+|const\s+|let\s+|var\s+|val\s+)(\w{2,60})"
)


class _Comment(NamedTuple):
    """A run of comment lines: characters [start, end) of the edit's new text."""

    start: int
    end: int
    text: str
    symbol: str


class CodeComment:
    """Finds reasons for code in comments beside it."""

    id = "code_comment/1"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """Return the likeliest comments of the session, each wording once, in the order they were written."""
        candidates: list[Candidate] = []
        for event in window:
            if event.kind == "file_edit" and event.files and not event.agent and _is_code(event.files[0]):
                candidates += filter(None, (_candidate(event, comment) for comment in _comments(event)))
        return best(candidates, MOST)


def make(options: Mapping[str, str]) -> CodeComment:
    """Return the detector; it has no options."""
    return CodeComment()


def _is_code(path: str) -> bool:
    return not is_test_file(path) and not path.lower().endswith(_NO_CODE)


def _comments(event: Event) -> Iterator[_Comment]:
    """Yield the comments that the edit added."""
    old = {line.strip() for line in event.old.splitlines()}
    rows = event.new.split("\n")
    start, texts, begin, end = 0, list[str](), 0, 0
    inside = False
    for row in [*rows, ""]:
        match = _LINE.match(row) if row.strip() else None
        if match and row.lstrip().startswith("*") and not inside:
            match = None
        inside = bool(match) and (inside or row.lstrip().startswith("/*")) and not row.rstrip().endswith("*/")
        if match and row.strip() not in old:
            begin = begin if texts else start + match.start(1)
            end = start + match.end(1)
            if match[1].strip():
                texts = _with_line(texts, match[1].strip())
        elif texts:
            defines = _DEFINES.match(row)
            yield _Comment(begin, end, " ".join(texts), defines[1] if defines else "")
            texts = []
        start += len(row) + 1


def _with_line(texts: list[str], line: str) -> list[str]:
    """Return the comment with one more line; without a full stop, a line before a capital letter ends a sentence."""
    if texts and (texts[-1][-1:].isalnum() or texts[-1].endswith(")")) and line[:1].isupper() and line[1:2].islower():
        texts[-1] += "."
    return [*texts, line]


def _candidate(event: Event, comment: _Comment) -> Candidate | None:
    text = _STEP.split(_MARK.sub("", comment.text, count=1))[0]
    if _TODO.match(text) or not names_cause(text):
        return None
    statement = _telling(text)
    subject = comment.symbol
    if leans(statement) and not subject:
        return None
    insight = f"{subject}: {statement}" if subject and subject not in statement else statement
    if not fits(insight) or is_status(statement):
        return None
    return Candidate(
        kind=name_kind(statement, "constraint"),
        insight=insight if subject else capital(insight),
        detector=CodeComment.id,
        evidence=(evidence_of(event, event.new, comment.start, comment.end),),
        files=event.files[:1],
        symbols=tuple(dict.fromkeys(filter(None, (subject, *symbols_named(statement))))),
        trust="agent",
        confidence=worth_of("comment", insight),
        calibrated=True,
        written=True,
    )


def _telling(text: str) -> str:
    """Return the comment, or if it is long its sentences that give a reason or a rule."""
    if fits(text):
        return text
    parts = [part for part in sentences(text) if gives_reason(part) or states_duty(part)]
    while parts and len(" ".join(parts)) > 400:
        parts.pop()
    return " ".join(parts)
