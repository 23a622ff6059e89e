"""Nothing of one project is seen from another, on any read path; a person may ask for siblings, unless one is closed.

The quay's lessons all hold the word `zanzibar`, and so does every file, prompt and command of its work. The ferry's
project asks with the same words, the same file names and the same error.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from mcp import Client

from holdfast import Memory
from holdfast.domain.lesson import Lesson, Triggers
from holdfast.domain.statefamilies import CLOSED_PROJECTS
from holdfast.domain.vocabulary import STATES
from holdfast.surfaces.mcp.opening import MemoryOnce
from holdfast.surfaces.mcp.server import build
from holdfast.testing.builders import make_lesson
from tests.codebase import Codebase
from tests.surfaces.hookcalls import PATIENT_COMMAND
from tests.surfaces.terminal import run, told, told_json

WORD = "zanzibar"
ERROR = "KeyError: 'zanzibar pilot'"
QUESTION = "zanzibar tide tables in cents for pilots"


def run_hook(payload: dict[str, object]) -> subprocess.CompletedProcess[str]:
    """The hook's answer, waited for as long as a busy machine needs."""
    command = [*PATIENT_COMMAND, "claude-code"]
    return subprocess.run(command, input=json.dumps(payload), capture_output=True, text=True, check=False)


@pytest.fixture
def quay(home: Path, tmp_path: Path) -> Codebase:
    """The project whose lessons must not be seen."""
    code = Codebase(tmp_path / "quay")
    code.write("src/tide.py", "def read():\n    return 1\n")
    with Memory(str(code.folder)) as memory:
        project = memory.location.project.id
        memory.remember(f"The {WORD} tide tables are in cents, for pilots", files=["src/tide.py"], kind="constraint")
        memory.remember(f"Never call {WORD}_open twice", kind="failed_approach", why=f"{WORD} locks", pinned=True)
        memory.remember(f"Pilots of {WORD} are asked first", kind="convention", when=Triggers(standing=True))
        memory.remember(f"Run make {WORD} before git push", kind="tooling")
        lessons = [
            replace(make_lesson(project=project, insight=f"{WORD} {state}", state=state), error_signature=ERROR)
            for state in ("candidate", "quarantined", "retired")
        ]
        memory.services.store.put(lessons, {})
        memory.save_checkpoint(f"Move the {WORD} pilots", next=(f"ask {WORD}",))
    prompt = {
        "session_id": "q",
        "cwd": str(code.folder),
        "hook_event_name": "UserPromptSubmit",
        "prompt": f"From now on always salute the {WORD} flag",
    }
    run_hook(prompt)
    return code


@pytest.fixture
def ferry(quay: Codebase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Codebase:
    """The project that asks."""
    code = Codebase(tmp_path / "ferry")
    code.write("src/tide.py", "def read():\n    return 1\n")
    code.commit("tide")
    (code.folder / ".holdfast").mkdir(exist_ok=True)
    (code.folder / ".holdfast" / "checks.yaml").write_text("checks:\n- {edit: src/tide.py, tokens: 100}\n")
    monkeypatch.chdir(code.folder)
    told("remember", "The ferry leaves at noon", "--file", "src/tide.py")
    return code


def lessons_of(quay: Codebase) -> list[Lesson]:
    with Memory(str(quay.folder)) as memory:
        return memory.lessons(states=STATES)


COMMANDS = [
    (),
    ("recall", QUESTION),
    ("recall", "--path", "src/tide.py"),
    ("recall", "--error", ERROR),
    ("recall", "--command", f"make {WORD}"),
    ("recall", "--json", QUESTION),
    ("recall", "--as-of", "yesterday", QUESTION),
    ("recall", "--state", "retired", QUESTION),
    ("list",),
    ("list", "--state", "all"),
    ("list", "--json"),
    ("review", "--list"),
    ("review", "--json"),
    ("status",),
    ("status", "--json"),
    ("checkpoint", "show"),
    ("checkpoint", "list"),
    ("log",),
    ("log", "--changes"),
    ("log", "--json"),
    ("stats",),
    ("stats", "--json"),
    ("verify", "--all"),
    ("review", "--list"),
    ("review", "--json"),
    ("export",),
    ("export", "--state", "all"),
    ("export", "--format", "markdown"),
    ("rules", "show"),
    ("rules", "status"),
    ("share", "--all", "--dry-run"),
    ("sync", "--dry-run"),
    ("check",),
    ("check", "--json"),
    ("history", "--file", "src/tide.py"),
    ("project", "show"),
]


def test_no_command_tells_of_another_project(ferry: Codebase) -> None:
    for command in COMMANDS:
        shown = run(*command)
        assert shown.exit_code in (0, 1), shown.output
        answer = (shown.stdout + shown.stderr).lower().replace(QUESTION, "").replace(ERROR.lower(), "")
        assert WORD not in answer, command


def test_no_command_takes_another_projects_short_id(quay: Codebase, ferry: Codebase) -> None:
    extra = {"revise": ("--insight", "x"), "feedback": ("hurt",), "edit": ("--standing",)}
    before = lessons_of(quay)
    for command in ("show", "why", "diff", "confirm", "forget", "revise", "edit", "feedback"):
        for lesson in before:
            shown = run(command, lesson.id[-8:], *extra.get(command, ()))
            assert shown.exit_code == 1
            assert WORD not in shown.output
    assert lessons_of(quay) == before


HOOKS = {
    "SessionStart": {"source": "startup"},
    "UserPromptSubmit": {"prompt": QUESTION},
    "PreToolUse edit": {
        "tool_name": "Edit",
        "tool_input": {"file_path": "src/tide.py", "old_string": "1", "new_string": f"{WORD}_open("},
    },
    "PreToolUse read": {"tool_name": "Read", "tool_input": {"file_path": "src/tide.py"}},
    "PreToolUse command": {"tool_name": "Bash", "tool_input": {"command": f"make {WORD} && git push"}},
    "PostToolUseFailure": {
        "tool_name": "Bash",
        "tool_use_id": "t",
        "tool_input": {"command": "pytest"},
        "error": ERROR,
    },
    "SessionStart compact": {"source": "compact"},
}


def test_no_hook_delivers_another_projects_lesson(quay: Codebase, ferry: Codebase) -> None:
    for hook, fields in HOOKS.items():
        payload = {"session_id": hook, "cwd": str(ferry.folder), "hook_event_name": hook.split()[0], **fields}
        done = run_hook(payload)
        assert WORD not in done.stdout.lower(), hook
        assert done.returncode == 0


def test_the_hooks_of_the_project_itself_do_deliver(quay: Codebase, ferry: Codebase) -> None:
    payload = {
        "session_id": "own",
        "cwd": str(quay.folder),
        "hook_event_name": "PreToolUse",
        **HOOKS["PreToolUse read"],
    }
    assert WORD in run_hook(payload).stdout.lower()


def test_no_tool_resource_prompt_or_completion_tells_of_another_project(quay: Codebase, ferry: Codebase) -> None:
    lessons = lessons_of(quay)

    async def ask() -> list[str]:
        memory = MemoryOnce(str(ferry.folder))
        answers = []
        try:
            async with Client(build(memory)) as client:
                answers.append(str(client.instructions))
                answers.append(str(await client.call_tool("recall", {"query": QUESTION, "files": ["src/tide.py"]})))
                answers.append(str(await client.call_tool("checkpoint", {})))
                for lesson in lessons:
                    for tool, more in (
                        ("expand", {}),
                        ("feedback", {"verdict": "hurt"}),
                        ("revise", {"insight": "x y"}),
                    ):
                        answers.append(str(await client.call_tool(tool, {"id": lesson.id, **more})))
                for uri in ("holdfast://brief", "holdfast://checkpoint"):
                    answers.append(str(await client.read_resource(uri)))
                for lesson in lessons:
                    try:
                        answers.append(str(await client.read_resource(f"holdfast://lesson/{lesson.id}")))
                    except Exception as exc:
                        answers.append(str(exc))
                for prompt in (await client.list_prompts()).prompts:
                    arguments = {argument.name: "tide tables" for argument in prompt.arguments or ()}
                    try:
                        answers.append(str(await client.get_prompt(prompt.name, arguments)))
                    except Exception as exc:
                        answers.append(str(exc))
        finally:
            memory.close()
        return answers

    answers = asyncio.run(ask())
    assert len(answers) > 10
    assert not [answer for answer in answers if WORD in answer.lower().replace(QUESTION, "")]
    assert lessons_of(quay) == lessons


def reads(memory: Memory) -> Iterator[Callable[[], object]]:
    yield lambda: memory.recall(QUESTION).items
    yield lambda: memory.recall(QUESTION).near
    yield lambda: memory.recall(paths=["src/tide.py"], error=ERROR, limit=50).items
    yield lambda: memory.lessons(states=STATES)
    yield lambda: memory.inbox()
    yield lambda: memory.log(limit=1000)
    yield lambda: memory.changes(1000)
    yield lambda: memory.checkpoints()
    yield lambda: memory.checkpoint()
    yield lambda: memory.for_review()
    yield lambda: memory.audit()
    yield lambda: memory.verify(waiting=True)
    yield lambda: memory.shareable()
    yield lambda: list(memory.export_lessons(states=STATES))
    yield lambda: memory.rivals(make_lesson(project=memory.location.project.id, insight=f"Call {WORD}_open twice"))
    yield lambda: memory.stats()
    yield lambda: memory.session_sums()


def test_no_method_of_the_sdk_tells_of_another_project(ferry: Codebase) -> None:
    with Memory(str(ferry.folder)) as memory:
        for read in reads(memory):
            assert WORD not in repr(read()).lower()


def test_siblings_are_recalled_below_ones_own_with_their_project_on_request(quay: Codebase, ferry: Codebase) -> None:
    told("remember", "The tide tables of the ferry are in minutes")
    plain = told_json("recall", "--across", "tide tables for pilots in cents")
    titles = [item["lesson"]["title"] for item in plain["items"]]
    own = [at for at, title in enumerate(titles) if WORD not in title]
    siblings = [at for at, title in enumerate(titles) if WORD in title]
    assert own
    assert siblings
    assert max(own) < min(siblings)
    first = plain["items"][siblings[0]]
    assert first["caveat"] == "from quay"
    assert {"name": "sibling", "factor": 0.5} in first["why"]["multipliers"]
    assert "from quay" in told("recall", "--across", "tide tables for pilots in cents")
    assert not [title for title in titles if "candidate" in title]


def test_a_closed_project_is_seen_from_nowhere_else(quay: Codebase, ferry: Codebase) -> None:
    lesson = next(stored for stored in lessons_of(quay) if stored.state == "active")
    assert WORD in told("recall", "--across", QUESTION).lower()
    assert run("show", lesson.id).exit_code == 0  # a person who has the whole id
    assert told_json("project", "close", "-C", str(quay.folder))["closed"]
    for command in (
        ("recall", "--across", QUESTION),
        ("recall", "--all-projects", QUESTION),
        ("list", "--all-projects"),
    ):
        shown = run(*command)
        assert WORD not in (shown.stdout + shown.stderr).lower().replace(QUESTION, "")
    assert run("show", lesson.id).exit_code == 1
    assert WORD in told("list", "-C", str(quay.folder))  # at home nothing changes
    assert WORD not in told("-C", str(quay.folder), "recall", "--across", "ferry noon")
    told("project", "open", "-C", str(quay.folder))
    assert WORD in told("recall", "--across", QUESTION).lower()


def test_damage_opens_no_closed_project(quay: Codebase, ferry: Codebase) -> None:
    told("project", "close", "-C", str(quay.folder))
    with Memory() as memory:
        memory.services.store.set_state(CLOSED_PROJECTS, "", "{")
    shown = run("recall", "--across", QUESTION)
    assert shown.exit_code == 1
    assert WORD not in shown.stdout.lower()


def test_siblings_keep_to_the_budget(quay: Codebase, ferry: Codebase) -> None:
    with Memory() as memory:
        wide = memory.recall(QUESTION, across=True, limit=10)
        tight = memory.recall(QUESTION, across=True, limit=10, budget_tokens=30)
        assert len(tight.items) < len(wide.items)
        assert tight.tokens <= 30


def test_a_lesson_of_two_projects_is_proposed_for_all_and_promoted_by_a_person_alone(
    quay: Codebase, ferry: Codebase, tmp_path: Path
) -> None:
    rule = "Always rebase before pushing to a shared branch"
    for folder in (quay.folder, ferry.folder):
        told("remember", rule, "-C", str(folder))
    third = tmp_path / "third"
    third.mkdir()
    assert rule not in told("list", "-C", str(third))  # nothing happens by itself
    findings = told_json("review")["in_doubt"]
    (finding,) = [finding for finding in findings if finding["lesson"]["insight"] == rule]
    assert finding["reasons"] == ["recurs"]
    told("project", "close", "-C", str(quay.folder))
    assert not [finding for finding in told_json("review")["in_doubt"] if finding["lesson"]["insight"] == rule]
    told("project", "open", "-C", str(quay.folder))
    told("review", "--promote", finding["lesson"]["id"])
    assert rule in told("list", "-C", str(third))
    for folder in (quay.folder, ferry.folder):
        active = told_json("list", "-C", str(folder))["lessons"]
        assert [row["scope"]["level"] for row in active if row["insight"] == rule] == ["user"]
    assert not [finding for finding in told_json("review")["in_doubt"] if finding["lesson"]["insight"] == rule]
    told("undo")
    assert rule not in told("list", "-C", str(third))
    assert rule in told("list", "-C", str(quay.folder))


def test_what_is_about_a_projects_files_is_not_for_all(quay: Codebase, ferry: Codebase) -> None:
    rule = "The reader returns a number, never text"
    for folder in (quay.folder, ferry.folder):
        told("remember", rule, "--file", str(folder / "src/tide.py"), "-C", str(folder))
    findings = told_json("review")["in_doubt"]
    assert not [row for row in findings if row["lesson"]["insight"] == rule]
    lesson = next(row["id"] for row in told_json("list")["lessons"] if row["insight"] == rule)
    assert run("review", "--promote", lesson).exit_code == 1
