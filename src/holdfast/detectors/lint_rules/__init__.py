"""Finds lint rules that this session broke and then fixed. The lesson states the rule, not the place.

A rule counts if a command reported it and, after an edit, the linter passed or ran on. One session makes it probable, a
second session active. Of compilers and type checkers only messages of a project's strict settings count; their other
errors concern one place.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from holdfast.detectors.lint_rules._sentences import COMPILERS, SENTENCES, SLIPS
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.domain.lesson import Evidence, Triggers
from holdfast.text.orders import instructs
from holdfast.text.window import clip, edits_between, ended_well, failed

WORTH, SALIENCE = 0.7, 0.5
"""Estimated share of finds worth keeping (read by eye, five repositories), and their importance, 0 to 1."""
MESSAGE_LIMIT = 140
"""Characters of a linter's message that are told."""
LEAST_WORDS = 4
"""Words that a message must keep when details are left out of it."""
MOST_RULES = 6
"""Rules of one session; a first run over an old code base reports dozens, and they are nobody's lesson."""
READ_LIMIT = 16_000
"""Characters of an output that are read."""

_GO = re.compile(
    r"^\s{0,8}(?P<file>[\w./-]{1,200}\.\w{1,5}):\d+:\d+:? "
    r"(?P<message>[^\n]{8,400}?) \((?P<rule>[a-z][a-z0-9-]{2,30})\)$"
)
_PART = re.compile(r"^(?P<part>G\d{3}|[a-z]\w*[A-Z]\w*|[a-z]+-[a-z-]+|[a-z]{4,20}): (?P<message>.{8,})")
"""A single rule of a linter with many rules: gosec's G104, gocritic's appendAssign."""
_PLACES = re.compile(r"\b\d+(?:-\d+)?\b(?= lines)|\((?:line )\d+\)|(?<=lines )\d+-\d+")
_CODE = re.compile(
    r"^(?P<file>[\w./-]{1,200}\.py):\d+:\d+:? (?P<rule>[A-Z]{1,4}\d{3,4})(?: \[\*\])? (?P<message>[^\n]{8,300})$"
)
_ESLINT = re.compile(
    r"^\s{1,8}\d+:\d+\s{1,8}(?:error|warning)\s{1,8}(?P<message>[^\n]{8,300}?)\s{2,12}(?P<rule>@?[a-z][\w@/-]{3,60})$"
)
_RUBOCOP = re.compile(
    r"^(?P<file>[\w./-]{1,200}\.rb):\d+:\d+: [CWEF]: (?:\[\w+\] )?(?P<rule>[A-Z]\w+/\w+): (?P<message>[^\n]{8,300})$"
)
_SHELLCHECK = re.compile(r"^\s{0,4}\^-{2,} (?P<rule>SC\d{4})(?: \(\w+\))?: (?P<message>[^\n]{8,300})$")
_CLIPPY = re.compile(r"^\s*= (?:note|help): [^\n]{0,120}#(?:\[\w+\()?(?P<rule>clippy::\w+)")
_CLIPPY_HEAD = re.compile(r"^(?:warning|error): (?P<message>[^\n]{8,300})$")
_BIOME = re.compile(r"^(?P<file>[\w./-]{1,200}):\d+:\d+ (?P<rule>lint/\w{3,20}/\w{3,60})\b[^\n]{0,120}$")
_TSC = re.compile(
    r"^(?P<file>[\w./-]{1,200}\.[cm]?tsx?)(?:\(\d+,\d+\)|:\d+:\d+)(?:: | - )"
    r"error (?P<rule>TS\d{4,5}): (?P<message>[^\n]{8,400})$"
)
_MYPY = re.compile(
    r"^(?P<file>[\w./-]{1,200}\.pyi?):\d+(?::\d+)?: error: (?P<message>[^\n]{8,400}?)"
    r"  ?\[(?P<rule>[a-z][a-z-]{3,40})\]$"
)
_LINES = ((_GO, "golangci-lint"), (_CODE, ""), (_ESLINT, "eslint"), (_RUBOCOP, "rubocop"), (_SHELLCHECK, "shellcheck"),
          (_BIOME, "biome"), (_TSC, "tsc"), (_MYPY, "mypy"))  # fmt: skip

_NOT_LINT = frozenset({"typecheck", "test", "tests", "error", "fail", "deprecated", "cached", "unused-ignore"})
"""Words in parentheses at the end of other tools' lines."""
_WAIVERS = ("nolint", "noqa", "eslint-disable", "rubocop:disable", "shellcheck disable", "allow(clippy", "biome-ignore")
_QUOTED = re.compile(r"`[^`\n]{1,120}`|'[^'\n]{1,40}'|\"[^\"\n]{1,40}\"")
_LANGUAGES = {
    "go": "go", "py": "py", "rb": "rb", "rs": "rs", "sh": "sh", "ts": "ts", "tsx": "tsx", "js": "js", "jsx": "jsx",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Report:
    """A rule as a linter reported it."""

    at: int
    rule: str
    tool: str
    message: str
    file: str
    start: int
    end: int


class LintRules:
    """Finds the lint rules that a session broke and then followed."""

    id = "lint_rules/2"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """Return one candidate a rule, in the order of their first reports."""
        first: dict[str, _Report] = {}
        last_at: dict[str, int] = {}
        for at, event in enumerate(window):
            if event.command and not event.agent:
                for report in _reports(at, event):
                    first.setdefault(report.rule, report)
                    last_at[report.rule] = at
        cured = [report for rule, report in first.items() if _is_cured(window, last_at[rule])]
        return [] if len(cured) > MOST_RULES else [_candidate(window, report, last_at[report.rule]) for report in cured]


def make(options: object) -> LintRules:
    """Return the detector; it has no options."""
    return LintRules()


def _reports(at: int, event: Event) -> Iterator[_Report]:
    """Yield the rules that the event's output reports; the first line of each."""
    start, seen, head = 0, set[str](), ""
    for line in event.text[:READ_LIMIT].split("\n"):
        match, tool = _match(line)
        head = opening["message"] if (opening := _CLIPPY_HEAD.match(line)) else head
        if match and match["rule"] not in seen and match["rule"] not in _NOT_LINT:
            seen.add(match["rule"])
            groups = match.groupdict()
            message = groups.get("message") or head
            part = _PART.match(message) if tool == "golangci-lint" else None
            rule, message = (f"{match['rule']} {part['part']}", part["message"]) if part else (match["rule"], message)
            message = SENTENCES.get(rule) or SENTENCES.get(match["rule"], message)
            if message and not (
                bool({match["rule"], rule} & SLIPS) or (tool in ("tsc", "mypy") and rule not in COMPILERS)
            ):
                yield _Report(
                    at=at, rule=rule, tool=tool, message=message.strip(), file=groups.get("file") or "",
                    start=start, end=start + len(line),
                )  # fmt: skip
        start += len(line) + 1


def _match(line: str) -> tuple[re.Match[str] | None, str]:
    if len(line) > 600:
        return None, ""
    for pattern, tool in _LINES:
        if match := pattern.match(line):
            return match, tool
    return _CLIPPY.match(line), "clippy"


def _is_cured(window: Sequence[Event], last: int) -> bool:
    """Return whether somebody edited after the last report, and the same program then ran again."""
    edited = False
    words = window[last].command.split()
    for event in window[last + 1 :]:
        edited = edited or event.kind == "file_edit"
        if edited and event.command and ended_well(event) and _shares_program(words, event.command):
            return True
        if edited and event.command and failed(event) and _shares_program(words, event.command):
            return True  # it ran again and reports other rules: this rule is fixed
    return False


def _shares_program(words: Sequence[str], command: str) -> bool:
    own = {word for word in words if len(word) > 2 and not word.startswith("-")}
    return bool(own & set(command.split()))


def _candidate(window: Sequence[Event], report: _Report, last: int) -> Candidate:
    event = window[report.at]
    message = clip(report.message.rstrip("."), MESSAGE_LIMIT)
    waiver = _waiver(window, last, report.rule)
    how = waiver
    suffix = report.file.rsplit(".", 1)[-1] if "." in report.file else ""
    pattern = (f"**/*.{_LANGUAGES[suffix]}",) if suffix in _LANGUAGES else ()
    is_known = report.rule in SENTENCES or report.rule.split(" ")[0] in SENTENCES
    sentence = message if is_known else _general(message)
    name = f"{report.tool} `{report.rule}`" if report.tool else f"Lint `{report.rule}`"
    where = f"; where it is meant: `{waiver}`" if waiver and "nolint" not in sentence else ""
    return Candidate(
        kind="convention",
        title=clip(f"{name}: {sentence}", 100),
        insight=f"{name} is on here: {sentence}{where}.",
        how=how,
        detector=LintRules.id,
        evidence=(
            Evidence(event=event.id, quote=event.text[report.start : report.end], start=report.start, end=report.end),
        ),
        tags=("lint",),
        topic_key=f"lint:{report.rule.replace(' ', ':')}",
        # Orders in a message may come from an attacker: it waits for a person, however often it is repeated.
        trust="verified" if is_known or not instructs(message) else "tool",
        confidence=WORTH,
        salience=SALIENCE,
        when=Triggers(paths=pattern),
        structured=True,
    )


def _general(message: str) -> str:
    """Return the message without details of one place: line numbers, short quoted names, text after a colon."""
    message = " ".join(_PLACES.sub("", message).split())
    plain = " ".join(_QUOTED.sub("…", message).split())
    message = message if len(plain.replace("…", "").split()) < LEAST_WORDS else plain
    head, _, _ = message.partition(": ")
    return head if len(head.split()) >= LEAST_WORDS else message


def _waiver(window: Sequence[Event], last: int, rule: str) -> str:
    """Return the waiver that an edit after the report wrote for the rule; empty if the code was changed instead."""
    end = min(len(window), last + 60)
    short = rule.split(" ")[0].rsplit("/", 1)[-1].removeprefix("clippy::")
    for edit in edits_between(window, last, end):
        for line in edit.new.splitlines():
            if short in line and line not in edit.old and any(mark in line for mark in _WAIVERS):
                mark = min(line.find(mark) for mark in _WAIVERS if mark in line)
                return _without_reason(line[max(0, mark - 2) :].strip(" /#*{}"))
    return ""


def _without_reason(waiver: str) -> str:
    """Return the waiver with a placeholder for the reason it was written for."""
    directive, mark, _ = waiver.partition(" //")
    directive, dashes, _ = directive.partition(" -- ")
    sign = "//" if directive.startswith("nolint") else ""
    return f"{sign}{directive.strip()}{' // reason' if mark else ' -- reason' if dashes else ''}"[:100]
