"""What a call may still be told: the session's budget, groups, doubted lessons, and which checkpoint goes on."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.briefing import Briefing
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Anchor, Lesson, Provenance, Triggers
from holdfast.domain.vocabulary import LessonId, SessionId
from holdfast.recall.situation import Situation, read_situation, since_compaction
from holdfast.testing.builders import START, make_checkpoint, make_delivery
from tests.recall.test_moments import TESTS, deliver, edit, happened, keep, shown

QUEUE = "Drain the retry queue before shutdown; pending jobs are lost otherwise."


def turn_of(memory: Memory, moment: Any = "prompt", **fields: Any) -> Situation:
    plain = {"host": "claude-code", "name": "Hook", "session": SessionId("s1"), "cwd": memory.folder, "moment": moment}
    return read_situation(memory.services, memory.location, HookCall(**{**plain, **fields}), moment)


def told_before(memory: Memory, lesson: str, at: int, **fields: Any) -> None:
    """A delivery of this session, so many minutes after its start."""
    memory.services.store.record([make_delivery(
        lesson=LessonId(lesson), at=START + timedelta(minutes=at), project=memory.location.project.id,
        **{"session": SessionId("s1"), **fields},
    )])  # fmt: skip


# Budget


@pytest.mark.parametrize(
    ("moment", "agent", "earlier", "budget"),
    [
        ("prompt", "", (), 400),
        ("prompt", "", ((100, "session_start"),), 400),
        ("prompt", "", ((100, "prompt"),), 100),
        ("before_file", "", ((3_800, "prompt"),), 200),
        ("before_command", "", ((4_100, "prompt"),), 0),
        ("before_command", "helper", ((4_100, "prompt"),), 300),
        ("before_command", "", ((4_100, "prompt"), (2_000, "after_compaction"), (100, "prompt")), 300),
        ("session_start", "", ((3_900, "prompt"),), 2_300),
        ("session_start", "helper", (), 800),
    ],
)
def test_a_call_has_its_moments_budget_within_what_is_left_of_the_sessions_since_the_last_compaction(
    memory: Memory, moment: str, agent: str, earlier: tuple[tuple[int, str], ...], budget: int
) -> None:
    for minute, (tokens, at) in enumerate(earlier):
        told_before(memory, f"l{minute}", minute, moment=at, tokens=tokens)
    assert turn_of(memory, moment, agent=agent).budget == budget


def test_lines_are_counted_by_moment_and_reason(memory: Memory) -> None:
    told_before(memory, "a", 1, moment="prompt", reason="trigger: x")
    told_before(memory, "b", 1, moment="prompt", reason="trigger: x")
    told_before(memory, "c", 2, moment="before_file", reason="trigger: y")
    told_before(memory, "d", 3, moment="before_file", reason="about this file")
    told_before(memory, "e", 4, moment="before_file", reason="trigger: z", rank=0)
    context = turn_of(memory).log
    counts = (context.count(), context.count("prompt"), context.count("before_file"), context.count(reason="trigger"),
              context.count("before_file", "trigger"), context.count("after_failure"))  # fmt: skip
    assert counts == (3, 1, 2, 2, 1, 0)


@pytest.mark.parametrize(
    ("moments", "known"),
    [
        (("prompt", "before_file"), "10"),
        (("prompt", "after_compaction", "before_file"), "21"),
        (("after_compaction", "prompt", "after_compaction"), "2"),
        (("after_compaction",), "0"),
    ],
)
def test_an_agent_still_has_what_it_was_shown_since_the_last_compaction(
    memory: Memory, moments: tuple[str, ...], known: str
) -> None:
    rows = [
        make_delivery(lesson=LessonId(str(n)), moment=moment, at=START + timedelta(minutes=n))
        for n, moment in enumerate(moments)
    ]
    assert "".join(row.lesson for row in since_compaction(reversed(rows))) == known


def test_what_was_delivered_together_with_the_restored_state_is_still_known() -> None:
    rows = [make_delivery(lesson=LessonId(name), moment="after_compaction", at=START) for name in "ab"]
    earlier = make_delivery(lesson=LessonId("c"), at=START - timedelta(seconds=1))
    assert [row.lesson for row in since_compaction([*rows, earlier])] == ["a", "b"]


# Groups


def test_a_group_is_one_line_of_a_delivery(memory: Memory) -> None:
    linting = {"kind": "tooling", "trust": "agent", "when": Triggers(literals=("_ =",))}
    for day, insight in enumerate(("errcheck rejects dropped errors.", "Here errcheck reads tests, too.")):
        keep(memory, insight, valid_from=START + timedelta(days=day), **linting)
    assert len(edit(memory, "main.go", new="_ = f()").items) == 1


def test_a_lesson_that_may_not_be_delivered_does_not_stand_for_its_group(memory: Memory) -> None:
    linting = {"kind": "tooling", "trust": "agent", "when": Triggers(literals=("_ =",))}
    keep(memory, "errcheck rejects dropped errors.", sessions_seen=(SessionId("s1"),), **linting)
    keep(memory, "Here errcheck reads tests, too.", **linting)
    assert shown(edit(memory, "main.go", new="_ = f()")) == ["Here errcheck reads tests, too."]


@pytest.mark.parametrize(
    ("fields", "call", "may_tell"),
    [
        ({}, {}, True),
        ({"sessions_seen": (SessionId("s1"),)}, {}, False),
        ({"provenance": Provenance(session=SessionId("s1"))}, {}, False),
        ({"sessions_seen": (SessionId("s1"),)}, {"agent": "helper"}, True),
        ({"sessions_seen": (SessionId("s1"),)}, {"session": SessionId("s2")}, True),
        ({"trust": "agent", "provenance": Provenance(origin="CLAUDE.md#Tests")}, {}, False),
        ({"trust": "person", "provenance": Provenance(origin="CLAUDE.md#Tests")}, {}, True),
        ({"trust": "agent", "provenance": Provenance(origin="docs/other.md#Tests")}, {}, True),
        ({"trust": "agent", "provenance": Provenance(origin="")}, {}, True),
    ],
)
def test_a_session_is_not_shown_what_it_taught_nor_what_its_host_reads(
    memory: Memory, fields: dict[str, Any], call: dict[str, Any], may_tell: bool
) -> None:
    lesson = keep(memory, TESTS, **fields)
    assert turn_of(memory, **call).may_tell(lesson) is may_tell


@pytest.mark.parametrize(("moment", "may_tell"), [("after_compaction", True), ("prompt", False)])
def test_a_session_that_lost_its_context_may_be_shown_what_it_taught(
    memory: Memory, moment: str, may_tell: bool
) -> None:
    lesson = keep(memory, TESTS, sessions_seen=(SessionId("s1"),))
    told_before(memory, "other", 1, moment=moment)
    assert turn_of(memory).may_tell(lesson) is may_tell


def test_the_files_of_a_call_are_those_of_the_project_each_once(memory: Memory) -> None:
    root = memory.location.root
    paths = ("/etc/passwd", f"{root}/src/tides.py", f"{root}/README.md", f"{root}/src/tides.py")
    assert turn_of(memory, paths=paths).files() == ("src/tides.py", "README.md")


# Unconfirmed lessons


@pytest.mark.parametrize(
    ("fields", "moment", "call"),
    [
        ({"command": "make basin"}, "before_command", {"command": "make basin"}),
        ({"error_signature": "KeyError: 'gate'"}, "after_failure", {"error": "KeyError: 'gate'", "command": "x"}),
        ({"tags": ("mooring plan",)}, "prompt", {"prompt": "what is the mooring plan?"}),
        ({}, "prompt", {"prompt": "why does the retry queue lose jobs at shutdown?"}),
        ({"trust": "person"}, "session_start", {}),
    ],
)
def test_what_nobody_confirmed_is_not_delivered_unasked(
    memory: Memory, fields: dict[str, Any], moment: str, call: dict[str, Any]
) -> None:
    lesson = keep(memory, QUEUE, **{"state": "candidate", "trust": "agent", "kind": "fix", **fields})
    assert not ids_told(deliver(memory, moment, **call))
    memory.accept(lesson.id)
    assert ids_told(deliver(memory, moment, session="s2", **call)) == [lesson.id]


def ids_told(briefing: Briefing) -> list[str]:
    """The lessons of a delivery, whatever its moment."""
    return [entry.id for entry in briefing.entries] or [item.lesson.id for item in briefing.items]


# The delivery


def test_a_reason_that_a_moment_gives_goes_before_what_the_search_says(memory: Memory) -> None:
    keep(memory, "The basin gate sticks.", kind="fix", command="make basin")
    assert deliver(memory, "before_command", command="make basin").items[0].why.words == "about this command"
    keep(memory, QUEUE, trust="agent", kind="constraint")
    answer = deliver(memory, "prompt", session="s2", prompt="why does the retry queue lose jobs at shutdown?")
    assert "shares retry, queue" in answer.items[0].why.words


# Checkpoints


def checkpoint(memory: Memory, session: str = "s0", at: datetime | None = None, **fields: Any) -> None:
    made = make_checkpoint(
        project=memory.location.project.id, session=SessionId(session), at=at or memory.services.clock.now(),
        **{"goal": "chart the basin of pilots", "task": "chart", **fields},
    )  # fmt: skip
    memory.services.store.record([made])


def restored(memory: Memory, moment: str = "session_start", session: str = "s1", **fields: Any) -> bool:
    return bool(deliver(memory, moment, session, **fields).checkpoint_text)


def test_an_open_task_goes_on_in_the_next_session_and_is_taken_up_once(memory: Memory) -> None:
    checkpoint(memory)
    assert restored(memory)
    assert not restored(memory)
    assert not restored(memory, session="s2")


def test_a_sessions_own_task_is_restored_at_its_start_and_not_with_its_prompts(memory: Memory) -> None:
    checkpoint(memory, session="s1")
    assert not restored(memory, "prompt", prompt="chart the basin of pilots")
    assert restored(memory, "session_start")


@pytest.mark.parametrize(
    ("prompt", "is_restored"),
    [("paint the lighthouse", False), ("chart the basin of pilots", True), ("please go on with it", True)],
)
def test_a_task_that_a_session_was_shown_goes_on_where_the_prompt_is_about_it(
    memory: Memory, prompt: str, is_restored: bool
) -> None:
    happened(memory, "session_end", session="s0", text="x")
    checkpoint(memory)
    assert restored(memory)
    assert restored(memory, "prompt", session="s2", prompt=prompt) is is_restored


def test_a_prompt_restores_nothing_where_the_start_delivered_something(memory: Memory) -> None:
    checkpoint(memory)
    told_before(memory, "a", 1, moment="session_start")
    assert not restored(memory, "prompt", prompt="chart the basin of pilots")
    told_before(memory, "a", 1, moment="before_file", session=SessionId("s2"))
    assert restored(memory, "prompt", session="s2", prompt="chart the basin of pilots")


# A worse state


def test_a_lesson_whose_code_changed_says_to_check_it(memory: Memory) -> None:
    blob = memory.services.workspace.blob(memory.location, "src/tides.py")
    fields: dict[str, Any] = {"kind": "constraint", "anchors": (Anchor(path="src/tides.py", blob=blob),)}
    lesson: Lesson = keep(memory, "High water is kept in centimetres above the chart datum.", **fields)
    happened(memory, "prompt", text="is high water kept in centimetres above the chart datum?")
    fresh = edit(memory, "src/tides.py", "HIGH = high water in centimetres above chart datum")
    assert [item.lesson.id for item in fresh.items] == [lesson.id]
    assert "check before relying" not in fresh.text
    with open(f"{memory.location.root}/src/tides.py", "w", encoding="utf-8") as file:
        file.write("HIGH = 5\n")
    happened(memory, "prompt", session="s2", text="is high water kept in centimetres above the chart datum?")
    stale = edit(memory, "src/tides.py", "HIGH = high water in centimetres above chart datum", session="s2")
    assert "changed since: check before relying on it" in stale.text
