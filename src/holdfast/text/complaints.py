"""Reads from a failure's output what it complains of: the words that a person would repeat to somebody else."""

from __future__ import annotations

import re
from collections.abc import Sequence

from holdfast.text.signature import error_signature
from holdfast.text.window import clip

HEAD = 20_000
"""Characters of an output that are looked at."""
COMPLAINT_LIMIT = 160
"""Characters of a complaint."""
AROUND_TEST = 60
"""Lines below and above a failing test's name among which its messages stand."""

DIAGNOSTIC = re.compile(r"^(?:\[[\w:-]+\] )?\S+?:\d+(?::\d+)?: (?!:)(.{12,160})$", re.MULTILINE)
"""A checker's or a compiler's message about a place in a file."""
SLIP = re.compile(
    r"undefined: |declared and not used|imported and not used|is not defined|cannot find (?:name|symbol|module)"
    r"|\bTS\d{4,5}\b|cannot use |syntax error|SyntaxError|expected [';(]|unused|mismatched types|not enough arguments"
    r"|too many arguments|could not apply|CONFLICT|Merge conflict|missing import|error\[E\d+\]|IndentationError"
    r"|NameError",
    re.IGNORECASE,
)
"""Messages of a compiler about a slip in new code, or of git about a conflict; only that one edit cures it."""
_USAGE = re.compile(
    r"^(?:[\w./-]+: )*(?:error: |fatal: )?(?:unknown|unrecognized|invalid|illegal|unexpected|no such|bad|unsupported)"
    r" (?:\w+ )?(?:option|flag|switch|argument|arguments|command|subcommand|field|parameter)\b|^usage: ",
    re.IGNORECASE | re.MULTILINE,
)
_REFUSED = re.compile(
    r"^(?:remote: (?:error|fatal): |GraphQL: |[ \t]*! \[remote rejected\] |HTTP 4\d\d: )(.{8,160}?)[ \t\r]*$",
    re.MULTILINE,
)
"""Refusals of a server; its rules are worth knowing before the next try."""
_ABSENT = re.compile(
    r"command not found|: not found$|No such file or directory|no such file or directory|No module named"
    r"|no Go files in|is not in (?:std|GOROOT)|cannot find (?:module|package|main module)|no required module provides"
    r"|matched no packages|directory not found|does not contain main module|\[setup failed\]|can't open file"
    r"|no tests ran|collected 0 items|ERROR: file or directory not found|Missing script|Unknown (?:command|task)"
    r"|no such (?:task|recipe|target)|No rule to make target|not a git repository",
    re.MULTILINE,
)
"""Messages about a command that could not begin: its program, its folder or its file is not there."""
_PLACED = re.compile(r"^[ \t]+\S+_test\.go:\d+: (.{6,400})$")
"""A message of one of Go's tests, above or below its name."""
_BORDER = re.compile(r"^(?:--- |=== |FAIL|ok[ \t]|PASS)")
_OBJECTS = re.compile(
    r"\b(?:expect\w*|got|want|should|fail\w*|error|unexpected|not|missing|cannot|could not|mismatch)\b", re.IGNORECASE
)
"""Words of a message that objects; a test's log has others."""


def complaint(text: str) -> str:
    """Return what a failure says: a server's refusal, its signature, a checker's first message or a usage error."""
    head = text[:HEAD]
    refused = _REFUSED.search(head)
    if refused:
        return refused.group(1).rstrip(".")
    if signature := error_signature(text):
        return as_printed(text, signature)
    diagnostic = DIAGNOSTIC.search(head)
    if diagnostic:
        return diagnostic.group(1).strip().rstrip(".")
    misuse = _USAGE.search(head)
    return clip(head[misuse.start() :].partition("\n")[0], COMPLAINT_LIMIT) if misuse else ""


def test_complaint(text: str, test: str, *, is_only: bool) -> str:
    """Return what a test's failure says; of the only test that failed, otherwise what its output complains of.

    pytest's summary has the words behind the name, and Go's report has them in the lines below or above it.
    """
    rest = clip(complaint(text), COMPLAINT_LIMIT) if is_only else ""
    lines = text[-HEAD:].splitlines()
    for number, line in enumerate(lines):
        before, dash, words = line.partition(f"{test} - ")
        if dash and before.strip() in ("FAILED", "ERROR"):
            return clip(words, COMPLAINT_LIMIT)
        if line.lstrip().startswith(f"--- FAIL: {test} "):
            words = _objection(lines[number + 1 :]) or _objection(lines[:number][::-1])
            return clip(words, COMPLAINT_LIMIT) or rest
    return rest


def _objection(lines: Sequence[str]) -> str:
    """Return the message nearest to a test's name that objects to something; empty if none does."""
    messages: list[str] = []
    for line in lines[:AROUND_TEST]:
        if _BORDER.match(line):
            break
        placed = _PLACED.match(line)
        if placed and _OBJECTS.search(placed[1]):
            messages.append(placed[1].strip())
    return messages[0] if messages else ""


def could_not_begin(text: str) -> bool:
    """Return whether the output says that the command did not begin its work: it was misspelt, or in a wrong folder."""
    head = text[:HEAD]
    return bool(_ABSENT.search(head) or _USAGE.search(head))


def as_printed(text: str, signature: str) -> str:
    """Return the line that gave the signature; the signature itself if it masks nothing."""
    if "<" not in signature:
        return signature
    lines = (line.strip() for line in text[:HEAD].splitlines())
    return next(
        (line.removeprefix("E ").strip() for line in lines if line and error_signature(line) == signature), "an error"
    )
