"""Reads an error's output: its signature, its class, and whether a lesson answers it.

Programs word one failure in many ways: `zsh: command not found: go`, `go: command not found`, `exec: "go": executable
file not found in $PATH`. The class says which failure it is, and the subject what it is about.
"""

from __future__ import annotations

from dataclasses import dataclass

from holdfast.domain.kinds import profile_of
from holdfast.domain.lesson import Lesson
from holdfast.text.shell import command_target, quoted_words
from holdfast.text.signature import alike, error_signature

CLASSES: dict[str, tuple[str, ...]] = {
    "protected branch": (
        "protected branch", "gh006", "gh013", "must be made through a pull request", "repository rule violations",
    ),
    "missing command": (
        "command not found", "executable file not found", "is not recognized as an internal or external command",
        "is not recognized as the name of a cmdlet", "is not recognized as a name of a cmdlet",
    ),
    "missing module": (
        "no module named", "cannot find module", "cannot import name", "modulenotfounderror", "importerror",
        "can't resolve '", "unresolved import", "no required module provides package", "cannot find package",
    ),
    "permission": (
        "permission denied", "operation not permitted", "access is denied", "eacces", "eperm", "permissionerror",
    ),
    "missing file": ("no such file or directory", "enoent", "filenotfounderror", "cannot find the file"),
    "timeout": ("timed out", "timeouterror", "deadline exceeded", "etimedout", "timeout exceeded", "timeout of"),
    "connection": (
        "connection refused", "econnrefused", "connection reset", "econnreset", "could not resolve host",
        "network is unreachable",
    ),
}  # fmt: skip
"""The wordings of each class of failures, in lower case; the most specific class first."""
SUBJECTLESS = ("protected branch",)
"""Classes in which the subject does not matter."""
TAIL_LINES, LINE_LIMIT, WORDS_LIMIT = 60, 400, 300
"""Lines from the end of an output in which a class is looked for, and characters of a line and of the words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """What was read from an error's output."""

    signature: str = ""
    target: str = ""
    """What the failed command runs; empty if unknown."""
    kind: str = ""
    """The class, one of CLASSES; empty for other failures."""
    subject: str = ""
    """The command, module or file that the class is about, in lower case; empty if the output names none."""
    words: str = ""
    """Text for a comparison by words: the signature, the line that names the class, or the last line."""


def read_failure(error: str, command: str = "") -> Failure:
    """Return what the output says about the failure."""
    signature = error_signature(error)
    kind, line = classify(signature) if signature else ("", "")
    lines = [line.strip()[:LINE_LIMIT] for line in error[-LINE_LIMIT * TAIL_LINES :].splitlines() if line.strip()]
    if not kind:
        tail = map(classify, reversed(lines[-TAIL_LINES:]))
        kind, line = next((classified for classified in tail if classified[0]), ("", ""))
    words = signature or line or (lines[-1] if lines else "")
    description = words if not kind or kind in words.lower() else f"{words} {kind}"
    return Failure(
        signature=signature,
        target=command_target(command),
        kind=kind,
        subject=_subject(kind, line),
        words=description[: WORDS_LIMIT + len(kind) + 1] if error.strip() else "",
    )


def classify(line: str) -> tuple[str, str]:
    """Return the class that a line names, and the line; two empty strings for no class."""
    plain = line.lower().replace("\u2019", "'")
    for kind, wordings in CLASSES.items():
        if any(wording in plain for wording in wordings):
            return kind, line
    return "", ""


def answers_failure(failure: Failure, lesson: Lesson) -> bool:
    """Return whether the lesson is about this failure: nearly the same error, or the same class and subject.

    Many causes can share a class, so the class alone is not enough: the subject, or the program, must be the same too.
    """
    stored = lesson.error_signature
    if stored and failure.signature and alike(failure.signature, stored):
        return True
    if not failure.kind or not (stored or profile_of(lesson.kind).tells_failure_class):
        return False
    text = stored or f"{lesson.title}. {lesson.insight}"
    kind, line = classify(text)
    if kind != failure.kind:
        return False
    subject = _subject(kind, line) if stored else ""
    if failure.subject and subject:
        return failure.subject == subject
    if failure.subject and not stored:
        return failure.subject in text.lower().replace("`", " ").replace("'", " ").replace(":", " ").split()
    if kind in SUBJECTLESS:
        return True
    return bool(failure.target and lesson.command) and _program(failure.target) == _program(lesson.command)


def _program(target: str) -> str:
    return " ".join(target.split()[:2])


def _subject(kind: str, line: str) -> str:
    """Return what the line of that class is about: a command, a module or a file's name; empty if it names none."""
    if kind in ("", "protected branch", "timeout", "connection"):
        return ""
    quoted = [word for is_quoted, word in quoted_words(line) if is_quoted]
    if kind == "missing command":
        return _command(line, quoted)
    if kind == "missing module":
        return quoted[0].lower() if quoted else _after(line, ("named ", "package "))
    named = quoted or [word for word in (raw.strip(":,;()") for raw in line.split()) if _is_file(word)]
    return named[-1].replace("\\", "/").rstrip("/:").rpartition("/")[2].lower() if named else ""


def _is_file(word: str) -> bool:
    before, dot, ending = word.rpartition(".")
    return "/" in word.strip("/") or "\\" in word or bool(dot and before and ending.isalnum())


def _command(line: str, quoted: list[str]) -> str:
    before, separator, name = line.partition("command not found")
    if separator and name.startswith(": ") and name[2:].strip():
        return name[2:].split()[0].lower()
    if separator:
        return before.rstrip(": ").rpartition(": ")[2].strip().lower()
    return quoted[0].lower() if quoted else ""


def _after(line: str, leads: tuple[str, ...]) -> str:
    for lead in leads:
        name = line.partition(lead)[2].split()
        if name:
            return name[0].strip("'\"`.,;:").lower()
    return ""
