"""Reads the state of a task from the events of one session: what was wanted, what was done, what still fails.

A session may work on several branches. The state of a branch rests on the events there; a request that was made before
the branch was checked out counts too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from holdfast.curation.tuning import (
    ASKED_TEXT,
    CHECKPOINT_FILES,
    CHECKPOINT_ITEMS,
    CLOSING_WORDS,
    FAILURE_TEXT,
    QUESTION_CHARACTERS,
    QUOTED_WORDS,
    REPLY_END,
    SUBSTANTIAL_WORDS,
)
from holdfast.domain.event import Event
from holdfast.text.commits import commits_in
from holdfast.text.occasions import command_kinds
from holdfast.text.shell import command_target
from holdfast.text.signature import error_signature
from holdfast.text.speech import spoken_text
from holdfast.text.window import before_paste, failed
from holdfast.text.words import word_set

GOING_ON = ("continue", "resume", "go on with", "carry on", "pick up where", "where we left")
"""Phrases with which a user goes on with an earlier task."""
ASKING = (
    "where did we leave", "where did i leave", "where did you leave", "where we left", "where i left", "where you left",
    "where did we stop", "where did i stop", "where did you stop", "where we stopped", "where were we",
    "what do you remember", "what do you still remember", "do you remember what we", "do you remember where we",
    "what did we do last", "what did i do last", "what did you do last", "what have we done last",
    "what happened last time", "what happened in the last session", "what was done last", "what were we doing",
    "what were we working", "what was i working", "what were you working", "what are we working on",
    "what is left to do", "what's left to do", "what remains to be done", "the last session left",
)  # fmt: skip
"""Phrases that ask for the state of a task."""

SIGNS = {"[x] ": "done", "[>] ": "next", "[ ] ": "next"}
"""Signs of items in hosts' to-do lists, with the field of a checkpoint that takes them."""
WORKING = word_set(
    "make just task go cargo npm npx pnpm yarn bun mvn gradle gradlew dotnet mix composer rake bundle nx turbo bazel"
    " sbt swift flutter cmake ninja tsc docker docker-compose terraform helm kubectl ansible-playbook alembic mise uv"
    " poetry hatch invoke deno mypy pyright"
)
"""Programs whose runs say something about a task, besides tests and linters: they build, check, deploy or migrate."""
INTERPRETERS = word_set("python python3 node ruby php perl bash sh zsh Rscript")
"""Programs that do so when they run a file."""

RULE_WORDS = word_set("always never remember")
THANKS = word_set("thanks thank thx danke merci merged lgtm")
NOT_CLOSING = word_set("now but also next then please can could would add fix do run still instead why how what")
"""Words of a short prompt that asks for more, whatever else it says."""
DONE = ("done", "completed", "finished", "complete", "implemented", "committed", "fixed", "merged", "all set")
NOT_DONE = (
    "not done", "not yet", "remaining", "next step", "still ", "todo", "left to do", "want me to", "shall i",
    "should i", "would you like", "incomplete", "unfinished", "let me know",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """The state of a task on one branch, according to one session's events."""

    goal: str = ""
    """The first real request of the task; empty if the session only went on with an earlier one."""
    asked: str = ""
    done: tuple[str, ...] = ()
    next: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    """Files edited, the last one last."""
    failure: str = ""
    began: datetime
    ended: datetime
    edited_last: datetime | None = None
    worked: bool = False
    """The session did more than to answer questions."""
    is_committed: bool = False
    """A commit followed the last edit."""
    says_done: bool = False
    """The last reply says that the work is done."""
    thanked: bool = False
    """The user's last words close the task."""


def branches_of(events: Sequence[Event]) -> list[str]:
    """Return the branches of the events, the one worked on last at the end; "" stands for none."""
    return list(dict.fromkeys(branch for branch, _ in reversed(list(_placed(events)))))[::-1]


def read_state(events: Sequence[Event], branch: str) -> SessionState | None:
    """Return the state on that branch from a session's events in order of time; None if nothing was asked or done."""
    placed = list(_placed(events))
    here = [event for where, event in placed if where == branch]
    own = [event for event in here if not event.agent]
    if not own:
        return None
    first = next(number for number, (where, _) in enumerate(placed) if where == branch)
    before = [event for _, event in placed[:first] if not event.agent]
    begun_before = own[0].kind != "prompt"  # the branch was checked out for a request made elsewhere
    prompts = _prompts(own)
    requests = [*(_requests(_prompts(before))[-1:] if begun_before else ()), *_requests(prompts)]
    files = tuple(dict.fromkeys(path for event in reversed(here) for path in reversed(_edited(event))))[::-1]
    if not (requests or prompts or files):
        return None
    listed, failure = _listed(own), _failure(own)
    commits = [(event.at, subject) for event, subject in commits_in(own)]
    edits = [event.at for event in here if _edited(event)]
    last_commit = max((at for at, _ in commits), default=None)
    wishes = [words for _, words in prompts if words[0] != "/" and not _closes(words)]
    last_words = requests[-1][1] if requests else wishes[-1] if wishes else ""
    return SessionState(
        goal=_goal(requests, [at for at, _ in commits]),
        asked=last_words,
        done=listed["done"] or _worked(files, own, commits),
        next=listed["next"],
        files=files[-CHECKPOINT_FILES:],
        failure=failure,
        began=here[0].at,
        ended=here[-1].at,
        edited_last=edits[-1] if edits else None,
        worked=bool(files or failure or commits or listed["next"]),
        is_committed=last_commit is not None and (not edits or last_commit >= edits[-1]),
        says_done=_says_done(own),
        thanked=bool(prompts) and _closes(prompts[-1][1]),
    )


def _placed(events: Sequence[Event]) -> Iterator[tuple[str, Event]]:
    """Yield each event with its branch; an event that names none happened on the branch of the one before it."""
    branch = next((event.branch for event in events if event.branch), "")
    for event in events:
        branch = event.branch or branch
        yield ("" if branch == "HEAD" else branch), event


def _prompts(events: Sequence[Event]) -> list[tuple[datetime, str]]:
    """Return what the user typed, without pasted text."""
    spoken = [(event.at, spoken_text(event.text).strip()) for event in events if event.kind == "prompt"]
    lines = ((at, _own_line(before_paste(words))) for at, words in spoken if words)
    return [(at, line) for at, line in lines if line]


def _own_line(words: str) -> str:
    """Return the first line of a prompt, up to a quotation: what follows may be somebody else's text.

    Empty for a line that would have to be cut and states a rule, because the rule's exception may be in what is cut.
    """
    line = next((line.strip() for line in words.splitlines() if line.strip()), "")
    head, quote, rest = line.replace("\u201c", '"').partition('"')
    if quote and len(rest.partition('"')[0].split()) > QUOTED_WORDS:
        line = head.strip()
    if line.startswith("<!--") or (len(line) > ASKED_TEXT and states_rule(line)):
        return ""
    return line if len(line) <= ASKED_TEXT else line[: ASKED_TEXT - 1] + "…"


def states_rule(text: str) -> bool:
    """Return whether the text commands for good, which a to-do item or an error's text has no right to."""
    words = {word.strip(".,;:!?()'\"") for word in text.lower().split()}
    return bool(RULE_WORDS.intersection(words)) or "from now on" in text.lower()


def _requests(prompts: Sequence[tuple[datetime, str]]) -> list[tuple[datetime, str]]:
    """Return those of the prompts that state a goal; `yes`, `continue where we left off` and `/compact` do not."""
    return [
        (at, words)
        for at, words in prompts
        if len(words.split()) >= SUBSTANTIAL_WORDS
        and words[0] != "/"
        and not _closes(words)
        and not answers_where_left_off(words)
        and not words.lower().startswith(GOING_ON)
    ]


def _goal(requests: Sequence[tuple[datetime, str]], commits: Sequence[datetime]) -> str:
    """Return the first request of the task that goes on: one that follows a commit begins another task."""
    goal, since = "", None
    for at, words in requests:
        if since is None or any(since < commit <= at for commit in commits):
            goal, since = words, at
    return goal


def _closes(words: str) -> bool:
    """Return whether the user's words only say that a task is over."""
    said_words = [word.strip(".,;:!?()'\"") for word in words.lower().split()]
    if len(said_words) > CLOSING_WORDS or "?" in words or NOT_CLOSING.intersection(said_words):
        return False
    ends = said_words if len(said_words) <= CLOSING_WORDS // 2 else [*said_words[:2], *said_words[-2:]]
    return bool(THANKS.intersection(ends))


def _says_done(events: Sequence[Event]) -> bool:
    """Return whether the last turn's reply says that the work is done, and neither asks nor names something left."""
    last = ""
    for event in events:
        if event.kind == "reply" and event.text.strip():
            last = event.text.lower()
        elif event.kind == "prompt" and not _closes(spoken_text(event.text)):
            last = ""
    ends = f"{last[:REPLY_END]} {last[-REPLY_END:]}"
    if last.rstrip().endswith("?") or any(phrase in ends for phrase in NOT_DONE):
        return False
    words = " ".join("".join(c if c.isalnum() else " " for c in ends).split())
    return any(f" {phrase} " in f" {words} " for phrase in DONE)


def _listed(events: Sequence[Event]) -> dict[str, tuple[str, ...]]:
    """Return the items of the last to-do list, by field."""
    listed: dict[str, list[str]] = {"done": [], "next": []}
    lists = [event.text for event in events if event.kind == "tool_result" and event.text.startswith(tuple(SIGNS))]
    for line in lists[-1].splitlines() if lists else ():
        sign = SIGNS.get(line[:4])
        if sign and not states_rule(line):
            listed[sign].append(line[4:])
    return {
        sign: tuple(items[-CHECKPOINT_ITEMS:] if sign == "done" else items[:CHECKPOINT_ITEMS])
        for sign, items in listed.items()
    }


def _worked(files: Sequence[str], events: Sequence[Event], commits: Sequence[tuple[datetime, str]]) -> tuple[str, ...]:
    """Return what was done according to the events: files edited, commands whose last run passed, and commits."""
    passed: dict[str, None] = {}
    for event in events:
        target = _target(event)
        if not target:
            continue
        passed.pop(target, None)
        if event.kind == "tool_result" and event.exit_code == 0:
            passed[target] = None
    third = CHECKPOINT_ITEMS // 3
    edited = [f"edited {path}" for path in files[-third:]]
    ran = [f"ran {target}" for target in list(passed)[-third:]]
    committed = dict.fromkeys(f"committed {subject}" for _, subject in commits if subject)
    return (*edited, *ran, *list(committed)[-third:])


def _failure(events: Sequence[Event]) -> str:
    """Return the last command that failed and has not passed since, with its error."""
    failures: dict[str, str] = {}
    for event in events:
        target = _target(event)
        if not target:
            continue
        if _failed(event):
            failures.pop(target, None)
            lines = [line.strip() for line in event.text.splitlines() if line.strip()]
            error = error_signature(event.text) or (lines[-1] if lines else "")
            failures[target] = "failed" if not error or states_rule(error) else error
        elif event.kind == "tool_result" and event.exit_code == 0:
            for other in [other for other in failures if f"{other} ".startswith(f"{target} ")]:
                del failures[other]  # a run of everything includes the part that had failed
    if not failures:
        return ""
    target, error = list(failures.items())[-1]
    text = f"{target}: {error}"
    return text if len(text) <= FAILURE_TEXT else text[: FAILURE_TEXT - 1] + "…"


def _failed(event: Event) -> bool:
    if event.kind != "tool_failure" and not event.exit_code:
        return False
    return failed(event)


def _target(event: Event) -> str:
    """Return what the event's command works on; empty without one, and for one that says nothing about the task."""
    if not event.command or event.kind not in ("tool_result", "tool_failure"):
        return ""
    target = command_target(event.command)
    program, _, rest = target.partition(" ")
    file = rest.partition(" ")[0]
    runs_file = program in INTERPRETERS and "." in file and not file.startswith("/dev/")
    works = runs_file or program in WORKING or program.startswith("./")
    return target if works or {"test", "lint"}.intersection(command_kinds(event.command)) else ""


def _edited(event: Event) -> tuple[str, ...]:
    return event.files if event.kind == "file_edit" else ()


def answers_where_left_off(text: str) -> bool:
    """Return whether the text asks where a task was left off, or what happened last time."""
    low = text[:QUESTION_CHARACTERS].lower().replace("\u2019", "'")
    words = " ".join(low.split())
    return any(phrase in words for phrase in ASKING)
