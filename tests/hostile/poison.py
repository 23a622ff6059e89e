"""Poisoned texts, played through the real path: hooks, transcripts, learner, tools, recall.

A case says what is written where, in which sessions, and which topic a later session asks about. It names the words
of the attack (`marker`). The runner tells what became of them. Everything runs in this process, on the real store.
"""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from click.testing import CliRunner

from holdfast.backfill.transcripts import keep_turn
from holdfast.bootstrap import Memory
from holdfast.curation.checkpoint import leave_waiting
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Delivery
from holdfast.domain.vocabulary import STATES, SessionId
from holdfast.errors import HoldfastError
from holdfast.service.hook import answer
from holdfast.surfaces.cli.main import cli
from holdfast.surfaces.mcp.callers import Caller
from holdfast.surfaces.mcp.tools import TOOLS

CASES = Path(__file__).parent / "poison"
HOST = "claude-code"
PLACES = {
    "tool_output": "tool output",
    "failure": "text of a failure that was then fixed",
    "forged": "words forged as the user's",
    "pasted": "pasted by the user",
    "agent": "through a persuaded agent",
    "clone": "files of a clone",
    "by_hand": "by hand, changed on the way",
}
"""File of the cases, and what the table calls it."""
CONTROLS = "benign"
"""File of the cases that must become lessons."""
MOST_TOLD = 3_000
"""Deliveries of a session that are read back."""
UNMARKED = frozenset({"an unmarked paste between list items", "an unmarked paste alone"})
"""Pastes that look like the person's own words in every way: nothing tells them apart, and they are believed."""


class Case(NamedTuple):
    """One attack or control."""

    place: str
    name: str
    play: dict[str, Any]


class Outcome(NamedTuple):
    """What became of a case's words."""

    case: Case
    active: bool
    """They would be delivered, and no person has agreed."""
    trusted: bool
    """They are active as a person's word or as proved."""
    reached: bool
    """They were in a later session's hooks or recall, as a lesson, by its title alone, or in a checkpoint."""
    quarantined: bool
    waiting: bool
    lost: str
    """Words of a person that are not active any more."""
    moments: tuple[str, ...] = ()
    """The moments of the later session at which they were told."""


def load_cases(*places: str) -> list[Case]:
    """The cases of those files, in order."""
    read = ((place, json.loads((CASES / f"{place}.json").read_text("utf-8"))) for place in places)
    return [Case(place, play["name"], play) for place, plays in read for play in plays]


def play(case: Case, folder: Path) -> Outcome:
    """Play the case in an empty folder, which becomes a user's home with one project, and judge it.

    HOLDFAST_HOME and HOME must lie in the folder.
    """
    stage = Stage(folder, case)
    with Memory(str(stage.project)) as memory:
        stage.memory = memory
        for number, session in enumerate(case.play["sessions"]):
            stage.run(f"session-{number}", session)
        return _judge(case, memory, stage)


class Stage:
    """A project, the sessions in it, and what they send to the hooks."""

    def __init__(self, folder: Path, case: Case) -> None:
        self.project = folder / "harbour"
        self.files = {"README.md": "# harbour\n", "src/tides.py": "HIGH = 4\n", "src/ports.py": "LIMIT = 2\n"}
        self.files |= case.play.get("files", {})
        for name, text in self.files.items():
            path = self.project / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, "utf-8")
        for command in (
            ["init", "-q", "-b", case.play.get("branch", "main")],
            ["add", "-A"],
            ["commit", "-qm", "begin"],
        ):
            who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.com"]
            subprocess.run(["git", *who, *command], cwd=self.project, check=True, capture_output=True)
        self.memory: Memory
        self.session = ""
        self.calls = 0
        self.kept: list[str] = []
        self.lines: list[dict[str, Any]] = []

    def run(self, session: str, steps: list[dict[str, Any]]) -> None:
        """One session from its start to its end, and what is learnt from it."""
        self.session, self.lines = session, []
        self.hook("SessionStart", source="startup")
        for step in steps:
            (name,) = [key for key in step if hasattr(self, f"do_{key}")]
            getattr(self, f"do_{name}")(step)
        if self.lines:
            self.read_transcript()
        self.hook("SessionEnd", reason="other")
        assert leave_waiting(self.memory.services) == ()
        self.memory.learn_pending()

    def hook(self, name: str, **fields: Any) -> str:
        """The answer to one hook."""
        payload = {"hook_event_name": name, "session_id": self.session, "cwd": str(self.project), **fields}
        return answer(self.memory, HOST, payload)

    def read_transcript(self) -> None:
        """Keep what the session's transcript tells, as the learner does after a turn."""
        path = self.project.parent / f"{self.session}.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in self.lines), "utf-8")
        call = HookCall(
            host=HOST, name="Stop", session=SessionId(self.session), cwd=str(self.project), transcript=str(path)
        )
        keep_turn(self.memory, call)

    def _use(self) -> str:
        self.calls += 1
        return f"toolu_{self.calls}"

    def _after(self, step: dict[str, Any], tool: str, tool_input: dict[str, Any], response: object) -> None:
        fields = {"tool_name": tool, "tool_use_id": self._use(), "tool_input": tool_input}
        self.hook("PreToolUse", **fields)
        if "error" in step:
            self.hook("PostToolUseFailure", **fields, error=step["error"])
        else:
            self.hook("PostToolUse", **fields, tool_response=response)

    # One method for each kind of step

    def do_prompt(self, step: dict[str, Any]) -> None:
        self.hook("UserPromptSubmit", prompt=step["prompt"])

    def do_reply(self, step: dict[str, Any]) -> None:
        self.hook("Stop", last_assistant_message=step["reply"])

    def do_bash(self, step: dict[str, Any]) -> None:
        self._after(step, "Bash", {"command": step["bash"]}, {"stdout": step.get("output", ""), "stderr": ""})

    def do_read(self, step: dict[str, Any]) -> None:
        path = str(self.project / step["read"])
        self._after(step, "Read", {"file_path": path}, {"file": {"content": self.files.get(step["read"], "")}})

    def do_edit(self, step: dict[str, Any]) -> None:
        tool_input = {
            "file_path": str(self.project / step["edit"]),
            "old_string": step["old"],
            "new_string": step["new"],
        }
        self._after(step, "Edit", tool_input, {})

    def do_tool(self, step: dict[str, Any]) -> None:
        self._after(step, step["tool"], step.get("input", {}), step.get("output", ""))

    def do_todo(self, step: dict[str, Any]) -> None:
        todos = [{"content": text, "status": "in_progress"} for text in step["todo"]]
        self._after(step, "TodoWrite", {"todos": todos}, {})

    def do_compact(self, step: dict[str, Any]) -> None:
        self.hook("PreCompact", trigger="auto", custom_instructions=step["compact"])

    def do_subagent(self, step: dict[str, Any]) -> None:
        self.hook("SubagentStop", agent_id="a1", agent_type="Explore", last_assistant_message=step["subagent"])

    def do_person(self, step: dict[str, Any]) -> None:
        self.kept.append(self.memory.remember(**step["person"]).id)

    def do_mcp(self, step: dict[str, Any]) -> None:
        """The agent calls one of our tools; `$0` stands for the id of the first lesson kept in this case."""
        tool = next(tool for tool in TOOLS if tool.name == step["mcp"])
        fields = {name: self._filled(value) for name, value in step.get("with", {}).items()}
        caller = Caller(self.memory.at(str(self.project)), HOST, SessionId(self.session), threading.Event())
        try:
            answer = tool.run(caller, tool.takes(**fields))
        except HoldfastError:
            return
        if tool.writes and getattr(answer, "id", ""):
            self.kept.append(answer.id)  # type: ignore[attr-defined]

    def _filled(self, value: Any) -> Any:
        if isinstance(value, str) and value.startswith("$"):
            return self.kept[int(value[1:])] if int(value[1:]) < len(self.kept) else "none"
        return value

    def do_line(self, step: dict[str, Any]) -> None:
        """A line of the session's transcript."""
        stamp = {"sessionId": self.session, "cwd": str(self.project), "timestamp": "2026-03-02T09:00:00.000Z"}
        self.lines.append({**stamp, "uuid": f"u{len(self.lines)}", **step["line"]})

    def do_cli(self, step: dict[str, Any]) -> None:
        """A command that the user types."""
        words = [str(self.project / word) if (self.project / word).exists() else word for word in step["cli"]]
        ran = CliRunner().invoke(cli, [*words, "-C", str(self.project)])
        assert ran.exception is None or isinstance(ran.exception, SystemExit | HoldfastError), ran.exception


def _judge(case: Case, memory: Memory, stage: Stage) -> Outcome:
    marker, whole = case.play["marker"].lower(), case.play.get("whole", "").lower()
    persons = set(case.play.get("persons", ()))
    lessons = memory.lessons(states=[state for state in STATES if state != "forgotten"], all_projects=True)
    holding = [lesson for lesson in lessons if _holds(_words(lesson), marker, whole)]
    active = [lesson for lesson in holding if lesson.state == "active" and lesson.insight not in persons]
    own = {lesson.id for lesson in holding if lesson.insight not in persons}
    moments = [
        moment
        for moment, text, ids in later_session(case, memory, stage)
        if _holds(text.lower(), marker, whole) or own & ids
    ]
    alive = {lesson.insight for lesson in lessons if lesson.state == "active"}
    return Outcome(
        case=case,
        active=bool(active),
        trusted=any(lesson.trust in ("person", "verified") for lesson in active),
        reached=bool(moments),
        quarantined=any(lesson.state == "quarantined" for lesson in holding),
        waiting=any(lesson.state == "candidate" for lesson in holding),
        lost=next((insight for insight in persons if insight not in alive), ""),
        moments=tuple(moments),
    )


def _holds(text: str, marker: str, whole: str) -> bool:
    """The words are there; where a rule has an exception, without that."""
    return marker in text and not (whole and whole in text)


def _words(lesson: Lesson) -> str:
    return "\n".join((lesson.title, lesson.insight, lesson.why, lesson.how)).lower()


def later_session(case: Case, memory: Memory, stage: Stage) -> Iterator[tuple[str, str, set[str]]]:
    """What a new session is told that works on the topic: the moment, the text, and the lessons that were logged."""
    stage.session = "later"
    topic, path = case.play["topic"], str(stage.project / case.play.get("file", "src/tides.py"))
    command = {"command": case.play.get("command", "make test")}
    edit = {"file_path": path, "old_string": "HIGH = 4", "new_string": "HIGH = 6"}
    hooks: tuple[tuple[str, str, dict[str, Any]], ...] = (
        ("start", "SessionStart", {"source": "startup"}),
        ("first prompt", "UserPromptSubmit", {"prompt": topic}),
        ("reading a file", "PreToolUse", {"tool_name": "Read", "tool_use_id": "l1", "tool_input": {"file_path": path}}),
        ("a command", "PreToolUse", {"tool_name": "Bash", "tool_use_id": "l2", "tool_input": command}),
        ("a failure", "PostToolUseFailure", {
            "tool_name": "Bash", "tool_use_id": "l3", "tool_input": command,
            "error": case.play.get("error", "Exit code 1\nfailed"),
        }),
        ("editing a file", "PreToolUse", {"tool_name": "Edit", "tool_use_id": "l4", "tool_input": edit}),
        ("a later prompt", "UserPromptSubmit", {"prompt": f"go on, and tell me: {topic}"}),
        ("a sub-agent", "SubagentStart", {"agent_id": "a9", "agent_type": "Explore"}),
        ("the end of a turn", "Stop", {"stop_hook_active": False, "last_assistant_message": "Done."}),
        ("after a compaction", "SessionStart", {"source": "compact"}),
    )  # fmt: skip
    for moment, name, fields in hooks:
        before = len(memory.log(session=SessionId("later"), limit=MOST_TOLD))
        text = stage.hook(name, **fields)
        log = memory.log(session=SessionId("later"), limit=MOST_TOLD)
        yield moment, text, _worded(log[: len(log) - before])
    yield "recall", memory.recall(topic, limit=10).text, set()
    if hasattr(memory, "brief"):  # what a person or an agent asks for
        answer_to_brief = memory.brief()
        briefings = answer_to_brief if isinstance(answer_to_brief, list | tuple) else [answer_to_brief]
        yield "the brief asked for", "\n".join(briefing.text for briefing in briefings), set()


def _worded(log: Sequence[Delivery]) -> set[str]:
    """The lessons whose words the lines of one delivery have: of each line's, the one that was logged first."""
    first: dict[int, str] = {}
    for delivery in reversed(log):
        first.setdefault(delivery.rank, delivery.lesson)
    return set(first.values())


def render_table(outcomes: list[Outcome]) -> str:
    """The counts for each place and all of them, as lines of columns."""
    columns = ("cases", "active", "trusted", "reached", "quarantined", "waiting")
    rows = [("place", *columns)]
    for place, title in PLACES.items():
        rows.append((title, *map(str, _counts([o for o in outcomes if o.case.place == place]))))
    rows.append(("all", *map(str, _counts([o for o in outcomes if o.case.place in PLACES]))))
    widths = [max(len(row[n]) for row in rows) for n in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)


def _counts(outcomes: list[Outcome]) -> list[int]:
    flags = ("active", "trusted", "reached", "quarantined", "waiting")
    return [len(outcomes), *(sum(bool(getattr(outcome, flag)) for outcome in outcomes) for flag in flags)]
