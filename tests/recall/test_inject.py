from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast import Briefing, Memory
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Anchor, Lesson
from holdfast.domain.moments import MOMENT_PROFILES
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import StoreCorruptError
from holdfast.recall.deliver import inject
from holdfast.rendering.lines import count_tokens
from holdfast.service import hook
from holdfast.testing.builders import make_checkpoint, make_lesson

QUEUE = "Drain the retry queue before shutdown; pending jobs are lost otherwise."
TIDES = "High water is kept in centimetres above chart datum."
MISSING = "ModuleNotFoundError: No module named 'greenlet'"
OUTPUT = f"Traceback (most recent call last):\n  File 'x.py', line 3\n{MISSING}\n"


def keep(memory: Memory, insight: str, **fields: Any) -> Lesson:
    lesson = make_lesson(project=memory.location.project.id, insight=insight, **fields)
    memory.services.store.put([lesson], {lesson.id: None})
    return lesson


def deliver(memory: Memory, moment: str, session: str = "s1", agent: str = "", **fields: Any) -> Briefing:
    call = HookCall(
        host="claude-code",
        name="Hook",
        session=SessionId(session),
        cwd=memory.folder,
        moment=moment,
        agent=agent,
        **fields,
    )  # type: ignore[arg-type]
    return memory.inject(call)


def shown(briefing: Briefing) -> list[str]:
    return [item.lesson.insight for item in briefing.items]


def test_a_prompt_is_given_what_fits_it_and_an_unrelated_one_nothing(memory: Memory) -> None:
    keep(memory, QUEUE)
    assert deliver(memory, "prompt", prompt="write a haiku about autumn leaves") == Briefing(moment="prompt")
    briefing = deliver(memory, "prompt", prompt="why does the retry queue lose jobs at shutdown?")
    assert shown(briefing) == [QUEUE]
    assert briefing.text.startswith("<holdfast-memory>\n")
    assert briefing.text.endswith("\n</holdfast-memory>")


def test_a_delivery_that_comes_too_late_is_not_logged_so_that_the_next_asker_gets_it(memory: Memory) -> None:
    keep(memory, QUEUE)
    call = HookCall(
        host="claude-code", name="UserPromptSubmit", session=SessionId("s1"), cwd=memory.folder, moment="prompt",
        prompt="why does the retry queue lose jobs at shutdown?",
    )  # fmt: skip
    late = memory.inject(call, until_s=memory.services.clock.elapsed_s() - 1)
    assert (late.text, memory.log()) == ("", [])
    assert shown(memory.inject(call)) == [QUEUE]


def test_a_call_whose_events_a_slow_server_stored_is_still_answered_alone(memory: Memory) -> None:
    keep(memory, QUEUE)
    prompt = "why does the retry queue lose jobs at shutdown?"
    payload = {"session_id": "s1", "cwd": memory.folder, "hook_event_name": "UserPromptSubmit", "prompt": prompt}
    memory.observe(hook.parse(memory, "claude-code", payload))
    call = hook.parse(memory, "claude-code", payload)
    assert hook.respond(memory, call) == "{}", "a hook that fired twice delivers once"
    assert "retry queue" in hook.respond(memory, call, again=True)


def test_before_a_file_its_own_lessons_come_and_no_neighbours(memory: Memory, project: Path) -> None:
    blob = memory.services.workspace.blob(memory.location, "src/tides.py")
    keep(memory, TIDES, anchors=(Anchor(path="src/tides.py", blob=blob),))
    keep(memory, QUEUE, path="src/queue.py")
    keep(memory, "Python files in src are formatted with four spaces.", globs=("src/*.py",))
    (project / "src" / "tides.py").write_text("HIGH = 5\n")
    briefing = deliver(memory, "before_file", paths=(f"{project}/src/tides.py",))
    assert shown(briefing) == ["Python files in src are formatted with four spaces.", TIDES]
    assert "High water is kept in centimetres above chart datum (code changed)" in briefing.text
    assert shown(deliver(memory, "before_file", session="s2", paths=(f"{project}/README.md",))) == []
    assert shown(deliver(memory, "before_file", session="s2", paths=("/etc/passwd",))) == []


def test_before_a_command_its_known_failure_comes(memory: Memory) -> None:
    keep(memory, "Run uv sync --extra async before these tests.", kind="fix", command="pytest tests/test_async.py")
    command = "cd /x && PYTHONPATH=. python -m pytest tests/test_async.py -q"
    assert len(deliver(memory, "before_command", command=command).items) == 1
    assert deliver(memory, "before_command", session="s2", command="pytest tests/test_other.py").items == ()
    assert deliver(memory, "before_command", session="s2", command="").items == ()


def test_after_a_failure_what_answered_it_before_comes(memory: Memory) -> None:
    keep(memory, "Run uv sync --extra async.", kind="fix", error_signature=MISSING)
    briefing = deliver(memory, "after_failure", error=OUTPUT, command="pytest -q")
    assert shown(briefing) == ["Run uv sync --extra async."]
    assert briefing.items[0].why.words == "answers this failure"


def test_the_fix_of_another_missing_module_is_not_offered(memory: Memory) -> None:
    keep(memory, "Run uv sync --extra async.", kind="fix", error_signature=MISSING)
    other = OUTPUT.replace("greenlet", "yaml")
    assert deliver(memory, "after_failure", error=other, command="pytest -q").items == ()
    assert deliver(memory, "after_failure", error="exit status 1", command="").items == ()


def test_after_a_failure_lessons_of_the_same_command_or_words_come_too(memory: Memory) -> None:
    keep(memory, "Start the database first.", kind="tooling", command="make test")
    keep(memory, "The harbour socket refuses pilots until the lighthouse daemon has announced its beacon.")
    assert shown(
        deliver(memory, "after_failure", error="make: *** [Makefile:3: test] Error 2", command="make test")
    ) == ["Start the database first."]
    words = "PilotError: harbour socket refused, lighthouse daemon without beacon"
    assert len(deliver(memory, "after_failure", session="s2", error=words, command="./run").items) == 1


def test_a_lesson_is_shown_once_to_each_agent_of_a_session(memory: Memory) -> None:
    keep(memory, QUEUE)
    prompt = "the retry queue loses jobs at shutdown"
    assert shown(deliver(memory, "prompt", prompt=prompt)) == [QUEUE]
    assert shown(deliver(memory, "prompt", prompt=prompt)) == []
    assert shown(deliver(memory, "prompt", prompt=prompt, agent="sub-1")) == [QUEUE]
    assert shown(deliver(memory, "prompt", prompt=prompt, session="s2")) == [QUEUE]


def test_after_a_compaction_lessons_may_be_shown_again(memory: Memory, project: Path) -> None:
    keep(memory, TIDES, path="src/tides.py")
    path = f"{project}/src/tides.py"
    assert shown(deliver(memory, "before_file", paths=(path,))) == [TIDES]
    saved = memory.save_checkpoint("chart the harbour", files=["src/tides.py"], session=SessionId("s1"))
    restored = deliver(memory, "after_compaction")
    assert TIDES.rstrip(".") in restored.text
    assert "goal: chart the harbour" in restored.checkpoint_text
    fresh = {"session": "s1", "paths": (path,), "edits": True, "writes": ("HIGH = 5",)}
    assert shown(deliver(memory, "before_file", **fresh)) == []
    assert saved.id in [delivery.lesson for delivery in memory.log()]


def test_what_was_not_restored_after_a_compaction_may_come_again_at_its_place(memory: Memory, project: Path) -> None:
    keep(memory, QUEUE)
    prompt = "the retry queue loses jobs at shutdown"
    assert shown(deliver(memory, "prompt", prompt=prompt)) == [QUEUE]
    memory.save_checkpoint("chart the harbour", session=SessionId("s1"))
    deliver(memory, "after_compaction")
    assert shown(deliver(memory, "prompt", prompt=prompt)) == [QUEUE]


def test_a_session_starts_with_the_task_and_everything_that_fits(memory: Memory) -> None:
    lessons = [
        keep(memory, TIDES, path="src/tides.py"),
        keep(memory, "Use uv instead of pip here.", kind="preference", trust="person"),
        keep(memory, "The lighthouse was painted in spring.", kind="exploration"),
    ]
    memory.save_checkpoint("chart the harbour", next=["sound the basin"], files=["src/tides.py"])
    briefing = deliver(memory, "session_start")
    assert {entry.id for entry in briefing.entries} == {lesson.id for lesson in lessons}
    assert "next: sound the basin" in briefing.text
    assert " more: " not in briefing.text


def test_a_session_with_nothing_known_starts_in_silence(memory: Memory) -> None:
    assert deliver(memory, "session_start") == Briefing(moment="session_start")


@pytest.mark.parametrize("over", [{"closed": True}, {"branch": "another"}, {"project": "another"}, {"age_days": 30}])
def test_a_checkpoint_that_is_closed_old_or_of_elsewhere_is_not_restored(memory: Memory, over: dict[str, Any]) -> None:
    fields = dict(over)
    at = memory.services.clock.now() - timedelta(days=fields.pop("age_days", 0))
    project = fields.pop("project", memory.location.project.id)
    memory.services.store.record([make_checkpoint(at=at, project=project, **fields)])
    assert deliver(memory, "session_start").text == ""


def test_the_first_prompt_brings_the_checkpoint_when_the_start_delivered_nothing(memory: Memory) -> None:
    memory.save_checkpoint("chart the harbour", session=SessionId("before"))
    first = deliver(memory, "prompt", prompt="yes, go ahead")
    assert "goal: chart the harbour" in first.text
    assert deliver(memory, "prompt", prompt="yes, go ahead").text == ""
    deliver(memory, "session_start", session="s2")
    assert deliver(memory, "prompt", session="s2", prompt="yes, go ahead").text == ""


def test_a_prompt_never_restores_what_its_own_session_saved(memory: Memory) -> None:
    memory.save_checkpoint("chart the harbour", session=SessionId("s1"))
    assert deliver(memory, "prompt", prompt="yes, go ahead").text == ""


@pytest.mark.parametrize(
    "moment", ["session_start", "prompt", "before_file", "before_command", "after_failure", "after_compaction"]
)
def test_no_delivery_exceeds_the_moments_budget(memory: Memory, project: Path, moment: str) -> None:
    for n in range(9):
        keep(
            memory, f"{QUEUE} {'It has long reasons. ' * 40} Number {n}.", title=f"Rule {n}", kind="fix",
            trust="person", path="src/tides.py", command="make test", error_signature=MISSING, pinned=True,
            why="because " * 90,
        )  # fmt: skip
    memory.save_checkpoint("chart " * 90, next=["sound the basin"] * 40, files=["src/tides.py"], session=SessionId("x"))
    briefing = deliver(
        memory,
        moment,
        prompt="retry queue shutdown",
        paths=(f"{project}/src/tides.py",),
        command="make test",
        error=OUTPUT,
    )
    assert briefing.text
    assert count_tokens(briefing.text) == briefing.tokens <= MOMENT_PROFILES[moment].budget_tokens  # type: ignore[index]


def test_every_delivery_is_logged_with_its_reason_and_trigger(memory: Memory) -> None:
    lesson = keep(memory, QUEUE)
    deliver(memory, "prompt", prompt="the retry\nqueue loses jobs at shutdown")
    (delivery,) = memory.log()
    assert (delivery.lesson, delivery.moment, delivery.session, delivery.rank) == (lesson.id, "prompt", "s1", 1)
    assert delivery.trigger == "the retry queue loses jobs at shutdown"
    assert "retry" in delivery.reason
    assert delivery.tokens > 0


def test_a_channel_that_is_switched_off_stays_silent(memory: Memory) -> None:
    keep(memory, QUEUE)
    services = replace(memory.services, deliver=("session_start",))
    call = HookCall(
        host="claude-code", name="Hook", session=SessionId("s1"), cwd=memory.folder, moment="prompt",
        prompt="the retry queue loses jobs at shutdown",
    )  # fmt: skip
    assert inject(services, memory.location, call).text == ""
    assert inject(services, memory.location, replace(call, moment=None)).text == ""
    assert memory.log() == []


class BrokenStore:
    """The real store after its file was damaged: no search works."""

    def __init__(self, store: object) -> None:
        self._store = store

    def _refuse(self, *_args: object) -> object:
        raise StoreCorruptError("the file is not a database")

    def __getattr__(self, name: str) -> object:
        return self._refuse if name.startswith(("match_", "list_")) else getattr(self._store, name)


def test_a_broken_store_gives_silence_and_says_why(memory: Memory) -> None:
    services = replace(memory.services, store=BrokenStore(memory.services.store))
    call = HookCall(
        host="claude-code", name="Hook", session=SessionId("s1"), cwd=memory.folder, moment="prompt", prompt="queue"
    )
    briefing = inject(services, memory.location, call)
    assert (briefing.text, briefing.degraded) == ("", "the file is not a database")


@pytest.mark.parametrize(
    ("origin", "trust", "is_told"),
    [
        ("CLAUDE.md#Queues", "agent", False),
        ("services/jobs/CLAUDE.md#", "agent", False),
        (".cursor/rules/jobs.mdc#Queues", "agent", True),
        ("docs/adr/0007-queues.md#Queues", "agent", True),
        ("CLAUDE.md#Queues", "person", True),
    ],
)
def test_what_an_agent_wrote_into_a_rules_file_that_the_host_reads_is_not_delivered_again(
    memory: Memory, origin: str, trust: str, is_told: bool
) -> None:
    lesson = make_lesson(project=memory.location.project.id, insight=QUEUE, trust=trust)
    lesson = replace(lesson, provenance=replace(lesson.provenance, origin=origin))
    memory.services.store.put([lesson], {lesson.id: None})
    briefing = deliver(memory, "prompt", prompt="why does the retry queue lose jobs at shutdown?")
    assert shown(briefing) == ([QUEUE] if is_told else [])


def test_a_resumed_session_is_not_shown_what_it_taught_itself(memory: Memory) -> None:
    taught = make_lesson(project=memory.location.project.id, insight=QUEUE)
    taught = replace(taught, provenance=replace(taught.provenance, session=SessionId("s1")))
    memory.services.store.put([taught], {taught.id: None})
    question = "why does the retry queue lose jobs at shutdown?"
    assert shown(deliver(memory, "prompt", prompt=question)) == []
    assert shown(deliver(memory, "prompt", agent="helper", prompt=question)) == [QUEUE]
    assert shown(deliver(memory, "prompt", session="s2", prompt=question)) == [QUEUE]
