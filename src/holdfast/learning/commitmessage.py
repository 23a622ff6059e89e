"""Reads a commit's message as its author's own statements: a subject and the paragraphs below it.

Trailers, templates, checklists, headings with their links, quoted text, code and logs are left out. The message of a
squashed pull request lists the messages of its commits as bullets; each of them is a separate statement.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdfast.learning.tuning import MESSAGE_LINES

_TRAILER = re.compile(
    r"(?:[A-Z][\w-]{1,40}(?:-[Bb]y|-[Ii]d|-[Ii]D|-Checkpoint|-Session|-Attribution|-Metadata)|Entire-[\w-]+|Change-Id"
    r"|Cc|CC|Bug|BUG|Issue|PR|Ticket|Ref|Refs|References?|See|Link|Closes|Fixes|Resolves|Relates(?: to)?|Signed|Test"
    r"|Tests|Docs|Release-note|Changelog|cherry[- ]picked)\s*:\s|\(cherry picked from"
    r"|(?:closes?|closed|fix(?:es|ed)?|resolves?|resolved|refs?|see|part of|relates to|addresses)"
    r"(?: issue)?:? +(?:[\w./-]*#\d+|https?://|[A-Z]{2,10}-\d+)[\s.,#\d]*$",
    re.IGNORECASE,
)
_CHECKLIST = re.compile(r"\s*[-*+] ?\[[ xX]\]")
_HEADING = re.compile(r"\s{0,3}(?:#{1,6}\s+\S|(?:\*\*)?[A-Z][\w /&'-]{1,40}(?:\*\*)?:(?:\*\*)?\s*$)")
_TEMPLATE = re.compile(
    r"test plan|testing|tests?\b|how to test|checklist|verification|screenshots?|type of change|review(?:er)?s?\b"
    r"|release notes?|changelog|related issues?|files? (?:changed|modified)|benchmarks?|results?\b|todo|follow[- ]ups?",
    re.IGNORECASE,
)
"""Headings of sections that say nothing about the code."""
_FENCE = re.compile(r"\s*(?:```|~~~)")
_NOISE = re.compile(
    r"\s*(?:https?://\S+\s*$|>|\||\$ |<!--|@@ |diff --git|index [0-9a-f]{7}|[-=_*~]{3,}\s*$|On branch "
    r"|Your branch |Conflicts:|#\s)"
    r"|\s{4,}\S|\t\S|\s*at \S+\(|.{0,80}Generated with|.{0,20}\U0001f916|\s*bumps? .{0,80} from \S+ to \S+"
)
_BULLET = re.compile(r"(\s{0,8})(?:[-*+•]|\d{1,2}[.)])\s+(?=\S)")
_PREFIX = re.compile(r"(?:revert:\s+)?(?P<type>[a-zA-Z]{2,12})(?:\((?P<scope>[^)\n]{1,60})\))?!?:\s+(?=\S)")
_NUMBER = re.compile(
    r"\s*\((?:[A-Za-z-]*\s*)?(?:#|gh-|!)\d+(?:,\s*#\d+)*\)\s*$|\s*\[[A-Z]{2,10}-\d+(?:[,\s][^\]]*)?\]\s*$"
)
_TICKET = re.compile(r"^\s*(?:\[?[A-Z]{2,10}-\d+\]?[:\s-]+|\[[^\]\n]{1,30}\]\s*)")
_REVERT = re.compile(r"^revert(?:s|ed|ing)?\b[:(\s]", re.IGNORECASE)
_REVERTED = re.compile(r"[Tt]his (?:partially )?reverts commit\s+([0-9a-f]{7,40})[^\n]*")
_QUOTED = re.compile(r'["“](.{3,200}?)["”]')
TYPES = frozenset({
    "feat", "feature", "fix", "bugfix", "hotfix", "chore", "docs", "doc", "style", "refactor", "perf", "test", "tests",
    "build", "ci", "revert", "deps", "release", "bench", "security", "internal",
})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class MessagePart:
    """One statement of a message: the commit itself, or a commit squashed into it."""

    subject: str
    """What was done, without type, ticket and pull request number; with the scope in front if that adds a word."""
    type: str
    """The Conventional Commits type in lower case: fix, feat, …; empty for none."""
    paragraphs: tuple[str, ...]
    """The paragraphs and bullets below it, each on one line."""
    reverts: str
    """The id of the commit that it reverts; empty for none."""
    is_revert: bool


def read_message(message: str) -> tuple[MessagePart, ...]:
    """Return the statements of a commit's message, in order; none for an empty one."""
    text = message.replace("\r\n", "\n").replace("\r", "\n").strip()
    first, _, body = text.partition("\n")
    if not first:
        return ()
    lines = list(_own_lines(body.split("\n")[:MESSAGE_LINES]))
    squashed = _is_squash(lines)
    parts: list[MessagePart] = []
    subject = first
    below: list[str] = []
    for line in lines:
        if squashed and line.startswith("* "):
            parts.append(_part(subject, below, text if not parts else ""))
            subject, below = line[2:], []
        else:
            below.append(line)
    parts.append(_part(subject, below, text if not parts else ""))
    return tuple(_once(parts))


def _is_squash(lines: Sequence[str]) -> bool:
    """Return whether the lines are a squashed pull request's: `* subject` for each commit, between empty lines."""
    heads = [at for at, line in enumerate(lines) if line.startswith("* ")]
    return bool(heads) and all(at == 0 or not lines[at - 1].strip() for at in heads)


def _own_lines(lines: Sequence[str]) -> Iterator[str]:
    """Yield the author's own lines. Left-out lines leave an empty line, so that no paragraph spans them."""
    fenced = skipped = False
    for line in lines:
        if _FENCE.match(line):
            fenced = not fenced
            yield ""
            continue
        if fenced:
            continue
        if _HEADING.match(line):
            skipped = bool(_TEMPLATE.search(line))
            yield ""
        elif skipped or _CHECKLIST.match(line) or _TRAILER.match(line.strip()) or _is_noise(line):
            yield ""
        else:
            yield line


def _is_noise(line: str) -> bool:
    """Return whether the line is code, a log, a link or a rule, and does not continue a bullet."""
    return bool(_NOISE.match(line)) and not (line[:1] == " " and _BULLET.match(line))


def _part(subject: str, lines: Sequence[str], whole: str) -> MessagePart:
    prefix = _PREFIX.match(subject)
    known = prefix is not None and prefix["type"].lower() in TYPES
    kind = prefix["type"].lower() if prefix and known else ""
    reverted = _REVERTED.search(whole)
    is_revert = bool(reverted) or kind == "revert" or bool(_REVERT.match(subject))
    paragraphs = tuple(_paragraphs([_REVERTED.sub("", line) for line in lines]))
    return MessagePart(
        subject=_headline(subject, prefix if known else None),
        type=kind,
        paragraphs=paragraphs,
        reverts=reverted.group(1) if reverted else "",
        is_revert=is_revert,
    )


def _headline(subject: str, prefix: re.Match[str] | None) -> str:
    text = subject[prefix.end() :] if prefix else subject
    text = _NUMBER.sub("", _NUMBER.sub("", text.strip()))
    text = _TICKET.sub("", text).strip().rstrip(".").strip()
    scope = (prefix["scope"] or "").strip() if prefix else ""
    if scope and len(scope) <= 30 and scope.casefold() not in text.casefold():
        return f"{scope}: {text}" if text else scope
    return text[:1].upper() + text[1:]


def _paragraphs(lines: Sequence[str]) -> Iterator[str]:
    """Yield paragraphs and bullets, each joined to one line."""
    paragraph: list[str] = []
    for line in [*lines, ""]:
        bullet = _BULLET.match(line)
        if (not line.strip() or bullet) and paragraph:
            yield " ".join(" ".join(paragraph).split())
            paragraph = []
        if line.strip():
            paragraph.append(line[bullet.end() :] if bullet else line)


def _once(parts: Sequence[MessagePart]) -> Iterator[MessagePart]:
    """Yield the parts without a squash's first part if its only commit repeats it, with a longer body."""
    for at, part in enumerate(parts):
        after = parts[at + 1] if at + 1 < len(parts) else None
        if after is not None and not part.paragraphs and after.subject.casefold() == part.subject.casefold():
            continue
        yield part


def quoted_subject(subject: str) -> str:
    """Return the subject that a revert names in quotes, without its type; empty for none."""
    match = _QUOTED.search(subject)
    return _headline(match.group(1), _PREFIX.match(match.group(1))) if match else ""
