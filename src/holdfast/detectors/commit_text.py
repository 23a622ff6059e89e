"""Finds reasons in an agent's commit messages, pull request texts and answers to reviews.

Git shows what changed; the lesson is why. It is the paragraph or item that gives a reason, under the message's subject,
anchored to the files edited before. A commit counts only if it did not fail.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from holdfast.detectors._writing import (
    FILES_LIMIT,
    TextPiece,
    best,
    evidence_of,
    fits,
    is_status,
    joined,
    leans,
    name_kind,
    names_cause,
    read_pieces,
    sentences,
    worth_of,
)
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.lean.records import replace
from holdfast.text.mentions import files_named, symbols_named
from holdfast.text.window import capital, clip

MOST = 3
"""Lessons of one message."""
MOST_PER_SESSION = 12
"""Lessons of one session, the likeliest."""
LONG_TEXT = 14
"""Words from which a lesson has the message's subject as its title."""
EDITS_BEFORE = 3
"""Edited files that are taken when the text names none."""

_COMMIT = re.compile(r"\bgit\s+(?:-\S+(?:\s+[^-\s]\S*)?\s+){0,4}commit\b")
_FORGE = re.compile(
    r"\bgh\s+(?:(?:pr|issue)\s+(?:create|edit|comment|review|close)|api\s[^\n]{0,300}(?:comments|replies|reviews|issues|pulls))"
    r"|\bglab\s+(?:mr|issue)\s+(?:create|update|note)\b"
)
_HEREDOC = re.compile(r"<<-?\s*(?:'(\w+)'|\"(\w+)\"|\\?(\w+))[^\n]*\n")
_TAKES_TEXT = re.compile(
    r"(?<!\S)(?:-a?m|-F|-b|-f|--(?:message|file|body|body-file|notes|field|raw-field|input|description))(?![\w-])"
)
_ARGUMENT = re.compile(
    r"(?:(?<!\S)(?:-m|-am|--message|-b|--body|-t|--title)(?:\s+|=)|(?<!\S)(?:-f|-F|--field|--raw-field)\s+body=)"
    r"(?:\"((?:[^\"\\]|\\.){0,4000})\"|'([^']{0,4000})')",
    re.DOTALL,
)
_SUBJECT_TYPE = re.compile(
    r"(?:(?:feat|fix|chore|docs|refactor|test|tests|perf|style|build|ci|revert)(?:\([^)\n]{1,40}\))?!?:\s*)",
    re.IGNORECASE,
)
_TRAILER = re.compile(
    r"^(?:[A-Z][A-Za-z-]{2,30}-[A-Za-z-]{2,30}: |🤖|Generated with|Signed-off|Co-Authored"
    r"|Fixes:? #|Closes:? #|Refs:? )[^\n]*$",
    re.MULTILINE | re.IGNORECASE,
)
_NOT_REASONS = re.compile(
    r"test plan|checklist|testing|how to test|verification|screenshots?|todo|files changed", re.IGNORECASE
)
_OF_A_REVIEW = re.compile(r"\b(?:review|feedback|comments?|wip|misc|merge|updates?|cleanup|changes)\b", re.IGNORECASE)
"""Words of a subject that name the occasion instead of the change."""
_ANSWER = re.compile(
    r"(?:already|reconsidered|fixed|done|addressed|added|agreed|good (?:catch|point)|updated|removed|thanks|resolved"
    r"|this|nice|implemented|changed|moved|renamed|refactored|acknowledged|won't fix)\b",
    re.IGNORECASE,
)
"""Openings of answers that report what was done about a remark."""
_MENDS = re.compile(r"fix|bug|regress|revert|hotfix|correct|prevent|avoid", re.IGNORECASE)


class _Message(NamedTuple):
    """A message in a command: characters [start, end) of it."""

    start: int
    end: int


class CommitText:
    """Finds the reasons that an agent gave when it committed, opened a pull request or answered a review."""

    id = "commit_text/1"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """Return at most three lessons a message, in the order in which they were written."""
        candidates: list[Candidate] = []
        edited: list[str] = []
        for event in window:
            if event.kind == "file_edit" and not event.agent:
                edited += event.files
            elif event.command and not event.agent and _is_done(event):
                for message in _messages(event.command):
                    candidates += _reasons(event, message, edited, window)
                if _COMMIT.search(event.command):
                    edited = []
        return best(candidates, MOST_PER_SESSION)


def make(options: Mapping[str, str]) -> CommitText:
    """Return the detector; it has no options."""
    return CommitText()


def _is_done(event: Event) -> bool:
    """Return whether the command committed or sent something, and did not fail."""
    written = _COMMIT.search(event.command) or _FORGE.search(event.command)
    return bool(written) and event.kind == "tool_result" and event.exit_code in (0, None)


def _messages(command: str) -> Iterator[_Message]:
    """Yield the texts in a command: here-documents, and arguments that hold a message."""
    spans: list[_Message] = []
    for opening in _HEREDOC.finditer(command):
        line = command[command.rfind("\n", 0, opening.start()) + 1 : opening.end()]
        if not _TAKES_TEXT.search(line):
            continue  # this here-document is a file or another program's input
        word = next(filter(None, opening.groups()))
        closing = re.compile(rf"^[ \t]*{re.escape(word)}[ \t]*$", re.MULTILINE).search(command, opening.end())
        spans.append(_Message(opening.end(), closing.start() if closing else len(command)))
    for argument in _ARGUMENT.finditer(command):
        group = 1 if argument[1] is not None else 2
        inside = any(span.start <= argument.start() < span.end for span in spans)
        wraps = any(argument.start() <= span.start < argument.end() for span in spans)
        if not inside and not wraps and argument[group].strip():
            spans.append(_Message(argument.start(group), argument.end(group)))
    yield from sorted(spans)


def _reasons(event: Event, message: _Message, edited: Sequence[str], window: Sequence[Event]) -> list[Candidate]:
    source = event.command[: message.end].replace("\\`", " `").replace('\\"', ' "')
    text = _TRAILER.sub(lambda trailer: " " * len(trailer.group()), source[message.start :])
    subject, after = _subject(text, bool(_COMMIT.search(event.command)))
    pieces = [piece for piece in read_pieces(text) if piece.start >= after]
    candidates: list[Candidate] = []
    before: TextPiece | None = None
    for piece in pieces:
        candidate = _candidate(event, message.start, piece, subject, edited, window)
        if candidate is None:
            before = None
        elif before and leans(piece.text) and candidates and not candidates[-1].why:
            # "Without this, ..." gives the reason of the sentence above.
            candidates[-1] = replace(candidates[-1], why=piece.text)
        else:
            candidates.append(candidate)
            before = piece
    return best(candidates, MOST)


def _subject(text: str, commits: bool) -> tuple[str, int]:
    """Return the subject without its type, and where the body begins; a comment on a forge has no subject."""
    stripped = text.lstrip()
    begin = len(text) - len(stripped)
    line, _, rest = stripped.partition("\n")
    if not commits or (rest.strip() and rest[:1] not in ("\n", "-", "*", "\r")):
        return "", 0
    return _SUBJECT_TYPE.sub("", line.strip(), count=1), begin + len(line)


def _candidate(
    event: Event, offset: int, piece: TextPiece, subject: str, edited: Sequence[str], window: Sequence[Event]
) -> Candidate | None:
    if any(_NOT_REASONS.search(name) for name in piece.above) or is_status(piece.text):
        return None
    if not names_cause(piece.text) or _ANSWER.match(piece.text):
        return None
    statement = _telling(piece.text)
    about = "" if _OF_A_REVIEW.search(subject) else subject
    insight = joined(about, statement) if leans(statement) else statement
    if not fits(insight) or leans(insight):
        return None
    named = files_named(piece.text, window)
    mends = bool(_MENDS.search(subject))
    return Candidate(
        kind=name_kind(statement, "bug_cause" if mends else "decision"),
        title=clip(capital(about), 100) if about and len(statement.split()) > LONG_TEXT else "",
        insight=capital(insight),
        detector=CommitText.id,
        evidence=(evidence_of(event, event.command, offset + piece.start, offset + piece.end),),
        files=tuple(dict.fromkeys([*named, *list(dict.fromkeys(reversed(edited)))[:EDITS_BEFORE]]))[:FILES_LIMIT],
        symbols=symbols_named(f"{subject} {piece.text}"),
        trust="agent",
        confidence=worth_of("commit", insight),
        calibrated=True,
        written=True,
    )


def _telling(text: str) -> str:
    """Return the paragraph, or if it is long its sentences with a reason, each with the sentence it depends on."""
    if fits(text):
        return text
    parts = sentences(text)
    taken: list[str] = []
    for at, part in enumerate(parts):
        if names_cause(part) and not is_status(part):
            taken += [parts[at - 1], part] if at and leans(part) and parts[at - 1] not in taken else [part]
    return " ".join(taken[:3])
