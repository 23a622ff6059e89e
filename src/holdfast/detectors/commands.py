"""Finds the commands that build, test, lint, format or start this project, and how often each passed.

There is one candidate for each command of a known purpose, with its counts in this session; `learning/commandcard` sums
the sessions up into one lesson a purpose. A command that names one test, one file or one machine's path is reported
without that part, or not at all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from holdfast.detectors._shared.cures import general_line, is_source_file, step_before
from holdfast.domain.candidate import Candidate, CommandRuns
from holdfast.domain.event import Event
from holdfast.domain.lesson import Evidence
from holdfast.text.attempts import Attempt, attempts, split_line
from holdfast.text.orders import reservation
from holdfast.text.purposes import is_preparing, purpose_of
from holdfast.text.shell import command_target
from holdfast.text.window import spoken

TOPIC = "commands/"
"""Start of the topic key of a card's lesson; the purpose follows."""
MOST = 24
"""Commands of one session."""
_RULES = (
    "AGENTS.md", "CLAUDE.md", "CONTRIBUTING.md", "README.md", "GEMINI.md", "DEVELOPMENT.md", "copilot-instructions.md",
)  # fmt: skip
_EVERYTHING = re.compile(r"^(?:\S+=\S+ )*go (?:test|build|vet)\b(?!.*\.\.\.)")
"""Go commands that name no package; they work on the current folder."""

_PACKAGE = re.compile(r"\s\./[\w./-]+/\.\.\.(?=\s|$)")
_NO_STEPS = ("test", "build", "lint", "format", "typecheck")
"""Purposes of commands that often run between a failure and a success without being the cure."""


class Commands:
    """Finds the commands used to work on a project."""

    id = "commands/1"

    def detect(self, window: Sequence[Event]) -> list[Candidate]:
        """Return one candidate for each command, with its counts, in the order of their first runs."""
        root = next((event.cwd for event in window if event.cwd), "")
        candidates: dict[str, Candidate] = {}
        broken: dict[str, Attempt] = {}
        prepared: Attempt | None = None
        for run in attempts(window):
            made = None if run.event.agent else _candidate(run, root)
            before = ""
            if run.passed and (failure := broken.pop(run.target, None)):
                before = _step(failure, run, prepared)
            if not run.passed:
                broken[run.target] = run
                prepared = None
            elif run.event.command and is_preparing(run.line):  # the line of another tool names it and its file
                prepared = run
            if made and made.runs:
                known = candidates.get(made.runs.line)
                candidates[made.runs.line] = _added(known, made, before)
        words = _said(window)
        return [_with_word(candidate, words) for candidate in list(candidates.values())[:MOST]]


def make(options: Mapping[str, str]) -> Commands:
    """Return the detector; it has no options."""
    return Commands()


def _candidate(run: Attempt, root: str) -> Candidate | None:
    """Return the run as a command of the project; None if it has no known purpose or no general form."""
    if not run.event.command or run.event.kind not in ("tool_result", "tool_failure"):
        return None
    purpose = purpose_of(run.line)
    whole = general_line(run.line, keep_files=True)
    line = general_line(run.line) if purpose == "test" else whole
    aimed = line != " ".join(run.line.split())
    if not purpose or not line or (purpose != "test" and any(map(is_source_file, line.split()))):
        return None
    if _PACKAGE.search(line):
        line, aimed = " ".join([*_PACKAGE.sub(" ", line).split(), "./..."]), True
    if _EVERYTHING.match(line):
        if purpose != "test" and len(line.split()) > 2:
            return None
        line, aimed = f"{line} ./...", True
    folder = _folder(run, root)
    line = f"cd {folder} && {line}" if folder else line
    if folder is None or reservation(line):
        return None
    counts = CommandRuns(purpose=purpose, line=line, passed=int(run.passed and not aimed),
                         failed=int(not run.passed and not aimed), aimed=int(run.passed and aimed))  # fmt: skip
    return Candidate(
        kind="tooling",
        insight=f"{purpose}: `{line}`",
        detector=Commands.id,
        evidence=(Evidence(event=run.event.id, quote=""),),
        command=command_target(run.line),
        tags=("command", purpose),
        topic_key=TOPIC + purpose,
        trust="verified",
        structured=True,
        runs=counts,
    )


def _folder(run: Attempt, root: str) -> str | None:
    """Return the project's folder in which it ran, empty for the root; None if outside or unknown."""
    name = root.replace("\\", "/").rstrip("/").rpartition("/")[2]
    here = run.event.cwd.replace("\\", "/")
    steps = [step.text.split() for step in split_line(run.event.command)]
    moves = [words[1].strip("'\"") for words in steps if words[:1] in (["cd"], ["pushd"]) and len(words) > 1]
    if len(moves) > 1 or any("$" in move for move in moves):
        return None
    place = moves[0].rstrip("/") if moves else here
    if moves and here.endswith("/" + place.removeprefix("./")):
        place = here  # the host recorded the folder after the command had run
    if moves and not place.startswith(("/", "~")) and ":" not in place:
        place = f"{here}/{place.removeprefix('./')}".removesuffix("/.")
    place = place.rstrip("/")
    if ".." in place or not name:
        return None if ".." in place else ""
    if place.endswith("/" + name) or not place:
        return ""
    inside = place.rpartition(f"/{name}/")[2] if f"/{name}/" in place else ""
    return inside if inside and "worktree" not in inside and len(inside) < 60 else None


def _step(failure: Attempt, run: Attempt, prepared: Attempt | None) -> str:
    """Return the step that had to run before, if a failure without it proves it; otherwise an empty string.

    The step is in the same line, or is the last preparing command between failure and success.
    """
    if step := step_before(failure, run):
        return step
    if (
        prepared
        and purpose_of(prepared.line) not in _NO_STEPS
        and failure.at < prepared.at < run.at
        and prepared.target != run.target
        and failure.line == run.line
    ):
        return general_line(prepared.line, keep_files=True)
    return ""


def _added(known: Candidate | None, made: Candidate, before: str) -> Candidate:
    """Return the command with one more run."""
    new = made.runs
    if known is None or known.runs is None or new is None:
        return replace(made, runs=replace(new, before=before)) if new else made
    old = known.runs
    counts = replace(
        old, passed=old.passed + new.passed, failed=old.failed + new.failed, aimed=old.aimed + new.aimed,
        before=old.before or before,
    )  # fmt: skip
    return replace(known, runs=counts, evidence=(*known.evidence[:1], *made.evidence))


def _said(window: Sequence[Event]) -> str:
    """Return what a person typed, and the project's rules and readme as far as the session read them."""
    texts = [spoken(event) for event in window if event.kind == "prompt"]
    texts += [event.text for event in window if event.files and event.files[0].endswith(_RULES)]
    return "\n".join(texts)


def _with_word(candidate: Candidate, words: str) -> Candidate:
    """Return the candidate with a note of whether a person or the project's rules name the command."""
    runs = candidate.runs
    return replace(candidate, runs=replace(runs, named=runs.line in words)) if runs else candidate
