"""What doctor and status say of each host."""

from __future__ import annotations

import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from holdfast.bootstrap import Memory
from holdfast.capture.sessionevents import HostActivity, activity
from holdfast.domain.hookcall import HookCall
from holdfast.domain.vocabulary import SessionId
from holdfast.lean.texts import uuid7
from holdfast.ports.host import HostProfile
from holdfast.recall.deliver import prepare
from holdfast.surfaces.cli.hostcheck import cut_of, judge
from holdfast.testing.builders import make_event
from holdfast.wiring import load_host
from tests.codebase import Codebase
from tests.surfaces.terminal import run

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
HOOKED = HostProfile(title="Some host", hooks="~/.some/hooks.json")


@pytest.mark.parametrize(
    ("profile", "heard", "level", "words"),
    [
        (HOOKED, HostActivity(), "note", "no event yet: start a session"),
        (HostProfile(title="Mute"), HostActivity(), "ok", "holdfast backfill"),
        (HOOKED, HostActivity(heard_at=NOW - timedelta(days=9), kinds=("prompt",)), "note", "9 days ago (prompt)"),
        (HOOKED, HostActivity(heard_at=NOW, kinds=("tool_result",), commands=14), "note",
         "14 commands were reported and none failed"),
        (HOOKED, HostActivity(heard_at=NOW, kinds=("session_start", "tool_failure"), commands=14, failures=1,
                              delivered_at=NOW - timedelta(hours=3)), "ok", "(start, failure); last delivery 3 h ago"),
        (HOOKED, HostActivity(heard_at=NOW, kinds=("prompt",), commands=9), "ok", "nothing delivered yet"),
    ],
)  # fmt: skip
def test_a_host_is_judged_by_what_was_heard(profile: HostProfile, heard: HostActivity, level: str, words: str) -> None:
    finding = judge("some", profile, heard, NOW)
    assert finding.status == level
    assert words in finding.what


def test_activity_counts_only_commands_whose_end_is_known(code: Codebase, home: Path) -> None:
    with Memory(str(code.folder)) as memory:
        memory.services.store.append_events([
            make_event(host="codex", kind="tool_result", command="a", exit_code=0),
            make_event(host="codex", kind="tool_result", command="b", exit_code=None),
            make_event(host="codex", kind="tool_failure", command="c", exit_code=1),
            make_event(host="gemini-cli", kind="prompt"),
        ])  # fmt: skip
        heard = activity(memory.services.store)
    assert (heard["codex"].commands, heard["codex"].failures) == (2, 1)
    assert heard["gemini-cli"].kinds == ("prompt",)


class Narrow:
    """A host that accepts little at a session's start."""

    name = "narrow"

    def __init__(self, tokens: int, characters: int) -> None:
        self.profile = HostProfile(
            title="Narrow", moments=("session_start",), start_tokens=tokens, start_characters=characters
        )


@pytest.mark.parametrize(
    ("tokens", "characters", "words"),
    [
        (2_300, 9_000, ""),
        (109, 400, ""),
        (108, 9_000, "cut to 1 of 3 lessons because Narrow accepts 108 tokens and 9,000 characters"),
        (2_300, 330, "cut to 1 of 3 lessons because Narrow accepts 2,300 tokens and 330 characters"),
    ],
)
def test_a_start_that_a_host_would_cut_is_mentioned(
    code: Codebase, home: Path, tokens: int, characters: int, words: str
) -> None:
    with Memory(str(code.folder)) as memory:
        for rule in ("Answer in British English.", "Always answer briefly.", "Never use emojis in answers."):
            memory.remember(rule, kind="preference")
        services = replace(memory.services, host=lambda _: Narrow(tokens, characters))
        cut = cut_of(services, memory.location, "narrow")
        assert cut == (f"a session's start is {words}" if words else "")
        call = HookCall(host="narrow", name="start", session=SessionId("s1"), cwd=memory.folder, moment="session_start")
        delivered = prepare(services, memory.location, call).briefing
        assert 0 < len(delivered.text) <= characters


def test_a_sub_agent_is_shown_what_matters_at_its_start() -> None:
    payload = {"session_id": "s1", "cwd": "/a", "hook_event_name": "SubagentStart", "agent_id": "g1"}
    call = load_host("claude-code").parse_hook(payload, NOW, lambda: "e1")
    assert (call.moment, call.agent, call.events) == ("session_start", "g1", ())


def test_without_a_command_a_host_that_fell_silent_raises_an_alarm(code: Codebase, home: Path) -> None:
    (home.parent / ".claude").mkdir()
    assert run("setup", "claude-code", "-C", str(code.folder)).exit_code == 0
    long_ago = datetime.now(UTC) - timedelta(days=9)
    with Memory(str(code.folder)) as memory:
        memory.remember("Seed the clock first")
        memory.services.store.append_events([
            make_event(id=uuid7(int(long_ago.timestamp() * 1000), bytes(10)), host="claude-code", at=long_ago),
        ])  # fmt: skip
    os.utime(home / "manifest.json", (long_ago.timestamp(), long_ago.timestamp()))
    glance = run("-C", str(code.folder)).stdout
    assert "claude-code: No event for 9 days" in glance
    assert "1 confirmed, 0 unconfirmed" in glance


def test_a_misspelt_host_is_answered_with_the_names_like_it() -> None:
    assert "did you mean claude-code or claude-desktop?" in run("setup", "claude").stderr
    assert "there are: aider, amp" in run("setup", "zzzz").stderr


def test_silence_counts_from_setup_and_from_hooks_never_from_transcripts(code: Codebase, home: Path) -> None:
    (home.parent / ".claude").mkdir()
    now = datetime.now(UTC)
    assert run("setup", "claude-code", "-C", str(code.folder)).exit_code == 0
    manifest = home / "manifest.json"
    with Memory(str(code.folder)) as memory:
        made_now = memory.services.clock.new_id
        old = [make_event(id=made_now(), host="claude-code", at=now - timedelta(days=days)) for days in (301, 9)]
        memory.services.store.append_events(old)
        assert memory.heartbeat() == []
        assert len(memory.newest_events()) == 1
        assert activity(memory.services.store) == {}
    assert "alarm" not in run("-C", str(code.folder)).stdout
    assert "no hook event was received yet" in run("-C", str(code.folder), "doctor").stdout

    with Memory(str(code.folder)) as memory:  # a hook reported it when it happened
        at = now - timedelta(days=9)
        received = uuid7(int(at.timestamp() * 1000), bytes(10))
        memory.services.store.append_events([make_event(id=received, host="claude-code", at=at)])
    assert "alarm" not in run("-C", str(code.folder)).stdout
    set_up = (now - timedelta(days=5)).timestamp()
    os.utime(manifest, (set_up, set_up))
    assert "claude-code: No event for 5 days" in run("-C", str(code.folder)).stdout
