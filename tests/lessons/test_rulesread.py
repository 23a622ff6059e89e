from __future__ import annotations

import threading
from pathlib import Path

from holdfast.bootstrap import Memory
from holdfast.domain.vocabulary import SessionId
from holdfast.lessons.tuning import RULES_FILES
from holdfast.recall.written import files_read_by_host, note_files_read
from holdfast.service import hook
from holdfast.settings import load_settings

SESSION = SessionId("s1")


def memory(folder: Path, **settings: str) -> Memory:
    environment = {"HOME": str(folder), "HOLDFAST_HOME": str(folder / "home"), **settings}
    return Memory(str(folder), settings=load_settings(environment))


def test_the_files_a_host_says_it_read_are_noted_for_that_session(tmp_path: Path) -> None:
    with memory(tmp_path) as opened:
        for file in ("CLAUDE.md", ".claude/rules/db.md", "CLAUDE.md"):
            payload = {
                "hook_event_name": "InstructionsLoaded", "session_id": "s1", "cwd": str(tmp_path),
                "file_path": f"{tmp_path}/{file}", "memory_type": "Project", "load_reason": "session_start",
            }  # fmt: skip
            assert hook.answer(opened, "claude-code", payload) == "{}"
        read = files_read_by_host(opened.services, SESSION)
        assert read == (f"{tmp_path}/CLAUDE.md", f"{tmp_path}/.claude/rules/db.md")
        assert files_read_by_host(opened.services, SessionId("s2")) == ()


def test_odd_paths_are_left_out_and_the_first_files_stay(tmp_path: Path) -> None:
    with memory(tmp_path) as opened:
        note_files_read(opened.services, SESSION, ["", "  ", "/a\n/b", "/ünï 'quoted'.md"])
        note_files_read(opened.services, SESSION, [f"/{number}" for number in range(RULES_FILES)])
        read = files_read_by_host(opened.services, SESSION)
        assert (read[0], read[1], len(read)) == ("/ünï 'quoted'.md", "/0", RULES_FILES)


def test_hooks_that_run_at_once_lose_no_file(tmp_path: Path) -> None:
    with memory(tmp_path) as opened:
        notes = [
            threading.Thread(target=note_files_read, args=(opened.services, SESSION, [f"/{number}.md"]))
            for number in range(8)
        ]
        for note in notes:
            note.start()
        for note in notes:
            note.join()
        assert sorted(files_read_by_host(opened.services, SESSION)) == [f"/{number}.md" for number in range(8)]
