"""Whatever way in: after remember, import, revise, checkpoints, feedback, hooks and learning, no file of ours holds a
secret. The search is for the bytes, in every file under our home."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from holdfast.bootstrap import Memory

pytestmark = pytest.mark.needs_file("it looks for secrets in the file's bytes")

KEY = "gh" + "p_" + "q9W2e8R4t6Y1" * 3
WORDS = "password = 'Tr0ub4dor-and-3'"
UNSPOKEN = "the moon is full"
TEXT = f"Always deploy with {KEY} and {WORDS} <private>{UNSPOKEN}</private> because rates change"
FORBIDDEN = (KEY, KEY[-14:], "Tr0ub4dor", UNSPOKEN)


@pytest.fixture
def folder(home: Path, tmp_path: Path) -> Path:
    project = tmp_path / "app"
    project.mkdir()
    (project / "app.py").write_text("rate = 1\n")
    return project


def spill(home: Path) -> list[tuple[str, str]]:
    """(file, secret) of every secret found on the disk."""
    files = [path for path in home.rglob("*") if path.is_file()]
    assert files
    return [(path.name, word) for path in files for word in FORBIDDEN if word.encode() in path.read_bytes()]


def remember(memory: Memory) -> None:
    memory.remember(
        TEXT, title=KEY, why=TEXT, how=TEXT, snippets=[TEXT], tags=[KEY], files=["app.py"], symbols=[KEY],
        topic_key=f"deploy-{KEY}",
    )  # fmt: skip


def revise(memory: Memory) -> None:
    lesson = memory.remember("Always deploy from main")
    memory.revise(lesson.id, insight=TEXT, why=TEXT, how=TEXT, snippets=[TEXT], tags=[KEY], title=KEY)


def import_lessons(memory: Memory) -> None:
    quoted = {"evidence": [{"event": "e1", "quote": TEXT}]}
    line = {
        "kind": "fix", "insight": TEXT, "why": TEXT, "how": TEXT, "tags": [KEY], "snippets": [TEXT], "symbols": [KEY],
        "command": TEXT, "error_signature": TEXT, "anchors": [{"path": "app.py", "symbol": KEY}], "provenance": quoted,
    }  # fmt: skip
    assert memory.import_lessons([json.dumps(line)]).added == 1


def save_checkpoint(memory: Memory) -> None:
    memory.save_checkpoint(TEXT, done=(TEXT,), next=(TEXT,), open_questions=(TEXT,), task=f"t {KEY}")


def give_feedback(memory: Memory) -> None:
    memory.feedback(memory.remember("Always deploy from main").id, "hurt", note=TEXT)


def hook(**payload: Any) -> Callable[[Memory], None]:
    def answer(memory: Memory) -> None:
        memory.remember("Rates change: always deploy with the rate table", files=["app.py"])
        memory.answer_hook("claude-code", {"session_id": "s1", "cwd": memory.folder, "transcript_path": "", **payload})
        memory.learn("s1")  # type: ignore[arg-type]

    answer.__name__ = payload["hook_event_name"]
    return answer


PROMPT = hook(hook_event_name="UserPromptSubmit", prompt=f"Remember that {TEXT}. deploy rates")
BEFORE = hook(
    hook_event_name="PreToolUse",
    tool_name="Bash",
    tool_use_id="t1",
    tool_input={"command": f"deploy --rates --token {KEY}"},
)
AFTER = hook(
    hook_event_name="PostToolUse", tool_name="Bash", tool_use_id="t1", tool_input={"command": f"deploy --token {KEY}"},
    tool_response={"stdout": TEXT, "stderr": TEXT, "interrupted": False},
)  # fmt: skip
EDIT = hook(
    hook_event_name="PostToolUse", tool_name="Edit", tool_use_id="t2",
    tool_input={"file_path": "app.py", "old_string": TEXT, "new_string": TEXT}, tool_response={"filePath": "app.py"},
)  # fmt: skip
FAILED = hook(
    hook_event_name="PostToolUseFailure", tool_name="Bash", tool_use_id="t3", tool_input={"command": f"deploy {KEY}"},
    error=f"Exit code 1\nDeployError: rates for {TEXT}",
)  # fmt: skip
COMPACTED = hook(hook_event_name="PreCompact", trigger="manual", custom_instructions=TEXT)
STOPPED = hook(hook_event_name="Stop", stop_hook_active=False, last_assistant_message=f"I decided: {TEXT}")


@pytest.mark.parametrize(
    "act",
    [
        remember,
        revise,
        import_lessons,
        save_checkpoint,
        give_feedback,
        PROMPT,
        BEFORE,
        AFTER,
        EDIT,
        FAILED,
        COMPACTED,
        STOPPED,
    ],
    ids=lambda act: act.__name__,
)
def test_no_way_in_leaves_a_secret_on_the_disk(home: Path, folder: Path, act: Callable[[Memory], None]) -> None:
    with Memory(str(folder)) as memory:
        act(memory)
        assert spill(home) == []
    assert spill(home) == []


def test_a_whole_session_leaves_none(home: Path, folder: Path) -> None:
    with Memory(str(folder)) as memory:
        for act in (PROMPT, BEFORE, FAILED, EDIT, AFTER, STOPPED, COMPACTED):
            act(memory)
        assert spill(home) == []


def test_what_is_exported_holds_none(folder: Path) -> None:
    with Memory(str(folder)) as memory:
        remember(memory)
        exported = "\n".join(memory.export_lessons(all_projects=True))
    assert exported
    assert not any(word in exported for word in FORBIDDEN)
