"""Finds which commands a session ran, and whether each passed or failed.

An exit status describes the last command of a line. After `| tail`, `; echo` or `|| true` it says nothing about the
program in front. Probes (grep, test, diff, ls ...) use the exit status as an answer, so a non-zero status of a probe is
no failure. If a test runner's status is hidden, its closing report is read instead: whole lines of its documented
format, never words inside other text.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.domain.event import Event
from holdfast.text.purposes import is_probe
from holdfast.text.shell import command_target
from holdfast.text.signature import error_signature
from holdfast.text.window import ended_well, failed, refused
from holdfast.text.words import word_set

LINE_LIMIT = 4_000
"""Characters of a command line that are looked at."""
SIGNALS = (124, 130, 137, 143)
"""Exit statuses after a time-out, an interrupt or a kill. They do not show a fault in the command."""

_OPAQUE = word_set("for while until if case select function do done then else elif fi esac { } ( ) !")
_REDIRECTED = re.compile(r"(?:\s+\d?>+&?\s?(?:\d|/dev/null))+\s*$")
_HEREDOC = re.compile(r"<<-?\s*(['\"]?)([A-Za-z_][\w]*)\1")
_STEP = re.compile(
    r"""'[^']*'|"(?:\\.|[^"\\])*"|`[^`]*`|\\.|\$\(|[()]|&&|\|\||\|&|&>+|[|;\n&]|[<>]+(?:&[\d-]*)?"""
    r"""|[^'"`\\$()&|;\n<>]+|.""",
    re.DOTALL,
)

_TEST_PROGRAM = re.compile(
    r"(?:pytest|py\.test|unittest|nosetests|tox|nox|jest|vitest|mocha|ava|rspec|phpunit|ctest|karma|gotestsum"
    r"|(?:playwright|go|cargo) test|cypress run|cargo nextest|(?:npm|pnpm|yarn|bun|deno|mvn|gradle|gradlew|dotnet|swift"
    r"|mix|rake|rails|make|just|mise|task|sbt|lein|cabal)(?: run)? (?:tests?|check|verify)(?:[:-]\S*)?)(?=\s|$)"
)
_REPORT_FAILED = re.compile(
    r"^=+ .*?\b\d+ (?:failed|errors?)\b.* =+$|^\d+ failed\b.* in [\d.]+s|^--- FAIL: \S+|^FAIL\t\S+|^FAIL$"
    r"|^test result: FAILED\.|^[ \t]*Tests?:?\s+\d+ failed\b|^FAILED \((?:failures|errors)=|^[ \t]*\d+ failing$"
    r"|^\d+ examples?, [1-9]\d* failures?|^Tests: \d+, .*Failures: [1-9]|^BUILD FAILED|^[ \t]*[1-9]\d* fail$",
    re.M,
)
_REPORT_PASSED = re.compile(
    r"^=+ \d+ passed\b.* =+$|^\d+ passed\b.* in [\d.]+s|^ok\s+\S+\s+(?:[\d.]+s|\(cached\))|^PASS$|^test result: ok\."
    r"|^[ \t]*Tests?:?\s+\d+ passed\b|^OK(?: \(skipped=\d+\))?$|^[ \t]*\d+ passing\b|^\d+ examples?, 0 failures"
    r"|^BUILD SUCCESSFUL|^OK \(\d+ tests?",
    re.M,
)
_FAILING = re.compile(
    r"^(?:FAILED|ERROR) ([^\s(]\S*?)(?: - .*)?$|^[ \t]*--- FAIL: (\S+)|^test (\S+) \.\.\. FAILED$|^[ \t]*\u25cf (.+?)$"
    r"|^(?:FAIL|ERROR): (\w+) \(|^[ \t]*[\u2715\u00d7\u2717] (.+?)(?: \(\d+ ?ms\)| \d+ms)?$",
    re.M,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class SimpleCommand:
    """One simple command of a line and the operator in front of it (empty for the first)."""

    text: str
    joiner: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One run of something that can pass or fail."""

    at: int
    """Position in the window."""
    event: Event
    target: str
    """The normalised command (`command_target`); for other tools the tool and its file."""
    line: str
    """The part of the command line that ran the target, on one line, without redirections at its end."""
    passed: bool
    sure: bool = True
    """Whether the exit status shows the outcome. If false, a runner's report or the absence of an error shows it."""
    tests: bool = False
    """Whether a test runner ran."""
    alone: bool = True
    """Whether no other command of the line could have failed."""


def attempts(window: Sequence[Event]) -> list[Attempt]:
    """Return every run in the window whose outcome is known, in order. One event may hold several runs that passed."""
    runs: list[Attempt] = []
    for at, event in enumerate(window):
        if event.kind not in ("tool_result", "tool_failure") or refused(event):
            continue
        if event.command:
            runs += _of_command(at, event)
        elif event.files and (failed(event) or ended_well(event)):
            target = f"{event.tool} {event.files[0]}"
            runs.append(Attempt(at=at, event=event, target=target, line=target, passed=not failed(event)))
    return runs


def failing_tests(text: str) -> list[str]:
    """Return the names of the tests that a runner's report lists as failed, each once, at most 20."""
    names = (next(filter(None, match.groups()), "").strip() for match in _FAILING.finditer(text))
    return list(dict.fromkeys(name for name in names if name))[:20]


def reports_tests(text: str) -> bool:
    """Return whether the text holds a runner's closing report: the runner found tests and ran them."""
    return bool(_REPORT_FAILED.search(text) or _REPORT_PASSED.search(text))


def reports_failure(text: str) -> bool:
    """Return whether the text holds a runner's closing report of failed tests."""
    return bool(_REPORT_FAILED.search(text))


def is_test_run(line: str) -> bool:
    """Return whether the simple command runs tests."""
    return bool(_TEST_PROGRAM.match(command_target(line)))


def split_line(command: str) -> list[SimpleCommand]:
    """Return the simple commands of a line in order. Quotes, substitutions and here-documents stay in their command."""
    steps: list[SimpleCommand] = []
    text, joiner, depth = "", "", 0
    for piece in _pieces(command[:LINE_LIMIT]):
        depth += (piece in ("(", "$(")) - (piece == ")")
        if depth <= 0 and piece in ("&&", "||", "|", "|&", ";", "\n", "&"):
            if text.strip():
                steps.append(SimpleCommand(text=text.strip(), joiner=joiner))
                joiner = piece
            text = ""
        else:
            text += piece
    return [*steps, SimpleCommand(text=text.strip(), joiner=joiner)] if text.strip() else steps


def _pieces(command: str) -> list[str]:
    heredoc = _HEREDOC.search(command)
    if heredoc is None:
        return _STEP.findall(command)
    body = command.find("\n", heredoc.end())
    if body < 0:
        return _STEP.findall(command)
    end = re.compile(rf"^[ \t]*{re.escape(heredoc.group(2))}[ \t\r]*$", re.M).search(command, body)
    return _STEP.findall(command[:body]) + (_pieces(command[end.end() :]) if end else [])


def _of_command(at: int, event: Event) -> list[Attempt]:
    steps = split_line(event.command)
    if not steps or any(step.text.split(None, 1)[0] in _OPAQUE for step in steps):
        return []
    group = _last_group(steps)
    if any(step.joiner == "||" for step in group) or steps[-1].joiner == "&":
        return []
    pipes = _pipelines(group)
    pipefail = any("pipefail" in step.text for step in steps)
    if failed(event):
        return _failure(at, event, pipes, pipefail)
    if not ended_well(event):
        return []
    hidden = _pipelines([step for step in steps if step not in group])
    return [
        *(a for pipe in hidden for a in _success(at, event, pipe, status=False)),
        *(a for pipe in pipes for a in _success(at, event, pipe, status=pipefail or len(pipe) == 1)),
    ]


def _last_group(steps: list[SimpleCommand]) -> list[SimpleCommand]:
    """Return the steps that the exit status can describe: those after the last `;`, `&` or line end."""
    start = max((i for i, step in enumerate(steps) if step.joiner in (";", "\n", "&")), default=0)
    return steps[start:]


def _pipelines(group: list[SimpleCommand]) -> list[list[SimpleCommand]]:
    pipes: list[list[SimpleCommand]] = []
    for step in group:
        if pipes and step.joiner in ("|", "|&"):
            pipes[-1].append(step)
        else:
            pipes.append([step])
    return pipes


def _failure(at: int, event: Event, pipes: list[list[SimpleCommand]], pipefail: bool) -> list[Attempt]:
    """Return the run that failed, or nothing if a probe, a filter or a signal may have set the status."""
    if event.exit_code in SIGNALS or (is_probe(pipes[-1][-1].text) and not pipefail):
        return [a for pipe in pipes if is_test_run(pipe[0].text) for a in _success(at, event, pipe, status=False)]
    suspects = [pipe[0] for pipe in pipes if not is_probe(pipe[0].text)]
    if not suspects:
        return []
    line = suspects[-1].text
    tests = is_test_run(line)
    target = command_target(line)
    return [
        Attempt(
            at=at, event=event, target=target, line=_shown(line), passed=False, tests=tests, alone=len(suspects) == 1
        )
    ] if target else []  # fmt: skip


def _success(at: int, event: Event, pipe: list[SimpleCommand], *, status: bool) -> list[Attempt]:
    """Return the run as passed if the status says so. If the status is hidden, judge by the output."""
    line = pipe[0].text
    target = command_target(line)
    tests = is_test_run(line)
    if not target or is_probe(line):
        return []
    passed = True
    if not status:
        if tests:
            if _REPORT_FAILED.search(event.text):
                passed = False
            elif not _REPORT_PASSED.search(event.text):
                return []
        elif (len(pipe) > 1 and not _only_shortens(pipe[1:])) or error_signature(event.text):
            return []
    return [Attempt(at=at, event=event, target=target, line=_shown(line), passed=passed, sure=status, tests=tests)]


def _shown(line: str) -> str:
    return _REDIRECTED.sub("", " ".join(line.split()))


def _only_shortens(filters: list[SimpleCommand]) -> bool:
    return all(step.text.split(None, 1)[0] in ("tail", "head", "cat", "tee") for step in filters)
