"""The shortest honest path of a hook: one clock reading, one redaction of each text, few transactions."""

from __future__ import annotations

import subprocess
from typing import Any

import pytest

from holdfast import Memory
from holdfast.capture import observe
from holdfast.service import hook
from holdfast.stores.sqlite.store import SqliteStore

PROMPT = "Should ledger amounts in harbour/tide.py round half up, with key sk-ant-REDACTED-FOR-TESTS?"


@pytest.fixture
def hooked(memory: Memory) -> Memory:
    """The memory of a repository that knows a lesson, and has answered before."""
    subprocess.run(["git", "init", "-q", memory.folder], check=True)
    memory = memory.at(memory.folder)
    memory.remember("Ledger amounts round half to even in harbour/tide.py", kind="constraint")
    for session in ("warm", "warmer"):
        answer(memory, session)
    return memory


def answer(memory: Memory, session: str = "s1") -> str:
    payload = {"session_id": session, "cwd": memory.folder, "hook_event_name": "UserPromptSubmit", "prompt": PROMPT}
    return hook.answer(memory.for_hooks(), "claude-code", payload)


def test_a_hook_reads_the_clock_once(hooked: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    readings: list[Any] = []
    clock = type(hooked.services.clock)
    now = clock.now
    monkeypatch.setattr(clock, "now", lambda self: readings.append(now(self)) or readings[-1])
    assert "half to even" in answer(hooked)
    assert len(readings) == 1


def test_a_hook_searches_each_of_its_texts_for_secrets_once(hooked: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    searched: list[str] = []
    redact, redact_to = observe.redact, observe.redact_to
    monkeypatch.setattr(observe, "redact", lambda text: searched.append(text) or redact(text))
    monkeypatch.setattr(observe, "redact_to", lambda text, limit: searched.append(text) or redact_to(text, limit))
    answer(hooked)
    assert searched.count(PROMPT) == 1


def test_a_prompt_costs_three_transactions_two_of_them_writes(hooked: Memory) -> None:
    store = hooked.services.store
    if not isinstance(store, SqliteStore):
        pytest.skip("only a database has transactions")
    statements: list[str] = []
    store._connection.sql.set_trace_callback(statements.append)
    assert "half to even" in answer(hooked)
    assert [words for words in statements if words.startswith("BEGIN")] == [
        "BEGIN IMMEDIATE",
        "BEGIN",
        "BEGIN IMMEDIATE",
    ]
