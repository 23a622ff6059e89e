"""What contradicts a lesson is settled by who said it, waits, or is shown as a conflict; nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Link
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import InvalidValueError
from holdfast.testing.builders import make_event, make_lesson

NPM, PNPM = "Install dependencies with npm.", "Install dependencies with pnpm."


def kinds(memory: Memory) -> list[tuple[str, str]]:
    """State and insight of every lesson, in order of the words."""
    return sorted((lesson.insight, lesson.state) for lesson in memory.lessons(states=()))


@pytest.mark.parametrize("trust", ["agent", "verified"])
def test_a_persons_word_closes_what_an_agent_or_a_run_stated(memory: Memory, trust: str) -> None:
    old = memory.remember(NPM, trust=trust)  # type: ignore[arg-type]
    new = memory.remember(PNPM)
    assert [(link.kind, link.target) for link in new.links] == [("supersedes", old.id)]
    closed = memory.get(old.id)
    assert (closed.state, closed.validity.valid_to) == ("superseded", new.recorded_at)
    assert memory.conflicts() == []


def test_a_settlement_is_a_change_of_its_own_that_undo_takes_back(memory: Memory) -> None:
    old, new = memory.remember(NPM, trust="agent"), memory.remember(PNPM)
    assert [change.verb for change in memory.changes()] == ["settle", "remember", "remember"]
    assert "package manager; a person's word comes before the agent's word" in memory.changes()[0].summary
    memory.undo()
    assert {lesson.id for lesson in memory.lessons()} == {old.id, new.id}
    assert [(pair.better.id, pair.worse.id) for pair in memory.conflicts()] == [(new.id, old.id)]
    memory.undo()
    assert [lesson.id for lesson in memory.lessons()] == [old.id]


def test_an_agents_word_waits_whatever_it_contradicts(memory: Memory) -> None:
    stated = memory.remember(NPM)
    waiting = memory.remember("We switched from npm to pnpm to install dependencies.", trust="agent")
    assert waiting.state == "candidate"
    assert waiting.links == (Link(kind="contradicts", target=stated.id),)
    assert memory.get(stated.id).state == "active"
    agents = memory.remember("The dev server listens on port 8080.", trust="agent")
    assert memory.remember("The dev server listens on port 9090.", trust="agent").state == "candidate"
    assert memory.get(agents.id).state == "active"


def test_verified_code_closes_an_agents_lesson_and_never_a_persons(memory: Memory) -> None:
    agents = memory.remember(NPM, trust="agent")
    persons = memory.remember("The dev server listens on port 8080.")
    memory.remember(PNPM, trust="verified")
    assert memory.get(agents.id).state == "superseded"
    assert memory.remember("The dev server listens on port 9090.", trust="verified").state == "candidate"
    assert memory.get(persons.id).state == "active"


def test_the_same_persons_newer_value_and_what_has_ended_close_the_old_one(memory: Memory) -> None:
    memory.remember("Retries are capped at 3")
    memory.remember("Retries are capped at 5")
    memory.remember("Pass `proxies` to the client.")
    memory.remember("The client no longer takes `proxies`.")
    assert kinds(memory) == [
        ("Pass `proxies` to the client.", "superseded"), ("Retries are capped at 3", "superseded"),
        ("Retries are capped at 5", "active"), ("The client no longer takes `proxies`.", "active"),
    ]  # fmt: skip


def test_a_persons_opposite_words_and_another_persons_value_are_a_conflict(memory: Memory) -> None:
    memory.remember("Call `t.Parallel` in every test")
    memory.remember("Don't call `t.Parallel` in tests")
    theirs = make_lesson(project=memory.location.project.id, insight=NPM, trust="person")
    theirs = replace(theirs, provenance=replace(theirs.provenance, person="somebody else"))
    memory.services.store.put([theirs], {theirs.id: None})
    mine = memory.remember(PNPM)
    assert mine.links == ()
    assert [(pair.slot, pair.reason) for pair in memory.conflicts()] == [
        ("package manager", "is newer"), ("polarity", "is newer"),
    ]  # fmt: skip
    assert [pair.difference for pair in memory.conflicts()] == [
        "package manager: pnpm or npm", "one denies what the other says",
    ]  # fmt: skip
    assert len(memory.lessons()) == 4


def test_what_is_pinned_or_on_a_branch_is_not_closed(memory: Memory) -> None:
    memory.remember(NPM, trust="agent", pinned=True)
    memory.remember(PNPM)
    staged = make_lesson(
        project=memory.location.project.id,
        branch="next",
        trust="person",
        insight="The dev server listens on port 9090.",
    )
    memory.services.store.put([staged], {staged.id: None})
    memory.remember("The dev server listens on port 8080.", trust="person")
    assert {lesson.state for lesson in memory.lessons(states=())} == {"active"}


def test_rules_for_other_files_or_projects_are_no_conflict(memory: Memory, project: Path) -> None:
    (project / "web").mkdir()
    (project / "web" / "app.ts").write_text("run()\n")
    memory.remember("Retries are capped at 3", files=["src/tides.py"], trust="agent")
    memory.remember("Retries are capped at 5", files=["web/app.ts"])
    memory.remember("Indent with tabs", scope="user")
    memory.remember("Indent with spaces")
    assert memory.conflicts() == []
    assert len(memory.lessons()) == 4


def test_the_same_in_other_words_adds_nothing(memory: Memory) -> None:
    first = memory.remember("Run `make fmt` before every commit.")
    assert memory.remember("Before you commit, always run `make fmt`.", tags=["habit"]).id == first.id
    assert memory.get(first.id).tags == ("habit",)
    assert memory.remember("Before a commit on Windows, run `make fmt`.").id != first.id  # it says more


def test_keeping_one_closes_the_other_and_keeping_both_ends_the_conflict(memory: Memory) -> None:
    lesson = memory.remember("Call `t.Parallel` in every test")
    other = memory.remember("Don't call `t.Parallel` in tests")
    assert len(memory.conflicts()) == 1
    memory.keep_both(lesson.id, other.id)
    assert memory.conflicts() == []
    memory.undo()
    assert len(memory.conflicts()) == 1
    settled = memory.settle(lesson.id)
    assert (settled.state, memory.get(other.id).state) == ("active", "superseded")
    assert memory.conflicts() == []
    memory.undo()
    assert memory.get(other.id).state == "active"
    with pytest.raises(InvalidValueError, match="no such conflict"):
        memory.settle(lesson.id, over=[memory.remember("Something else entirely").id])
    with pytest.raises(InvalidValueError, match="with itself"):
        memory.keep_both(lesson.id, lesson.id)


def test_a_waiting_proposal_is_a_conflict_that_a_person_decides(memory: Memory) -> None:
    stated = memory.remember(NPM)
    waiting = memory.remember(PNPM, trust="agent")
    assert [(pair.better.id, pair.worse.id) for pair in memory.conflicts()] == [(stated.id, waiting.id)]
    settled = memory.settle(waiting.id)
    assert (settled.state, settled.trust) == ("active", "person")
    assert [(link.kind, link.target) for link in settled.links] == [("supersedes", stated.id)]
    assert memory.get(stated.id).state == "superseded"


def test_accepting_a_proposal_settles_what_it_surely_contradicts(memory: Memory) -> None:
    agents = memory.remember(NPM, trust="agent")
    waiting = memory.remember(PNPM, trust="agent")
    assert memory.accept(waiting.id).state == "active"
    assert memory.get(agents.id).state == "superseded"


SAVE = """
import sys
from holdfast import Memory

folder, trust, *insights = sys.argv[1:]
with Memory(folder) as memory:
    print("ready", flush=True)
    sys.stdin.readline()
    for insight in insights:
        memory.remember(insight, trust=trust)
"""


@pytest.mark.needs_processes("several processes share the store")
@pytest.mark.parametrize("trusts", [("person", "person"), ("person", "agent")])
def test_two_processes_that_save_contradicting_lessons_at_once_lose_nothing(
    memory: Memory, project: Path, trusts: tuple[str, str]
) -> None:
    ports = [[f"The {name} server listens on port {port}." for name in NAMES] for port in (8080, 9090)]
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", SAVE, str(project), trust, *insights],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for trust, insights in zip(trusts, ports, strict=True)
    ]  # fmt: skip
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    for writer in writers:
        assert writer.communicate()[0] == ""
        assert writer.returncode == 0
    lessons = memory.lessons(states=())
    assert {lesson.insight for lesson in lessons} == {*ports[0], *ports[1]}
    # Of each pair one is active and names the other one, or both are active, or one waits: never are both closed.
    for name in NAMES:
        states = [lesson.state for lesson in lessons if f"The {name} " in lesson.insight]
        assert "active" in states, states
    by_id = {lesson.id: lesson for lesson in lessons}
    for lesson in lessons:
        for link in lesson.links:
            if link.kind == "supersedes":
                assert by_id[link.target].state == "superseded"
    assert sum(lesson.state == "superseded" for lesson in lessons) == sum(
        link.kind == "supersedes" for lesson in lessons for link in lesson.links
    )


NAMES = ("dev", "test", "proxy", "metrics", "admin", "mail")


def say(memory: Memory, session: str, text: str) -> None:
    """A session in which the user says so; it is learnt from."""
    name = SessionId(session)
    memory.append([make_event(session=name, project=memory.location.project.id, cwd=memory.location.root, text=text)])
    memory.learn(name)


def test_what_a_user_asks_a_session_to_remember_closes_an_agents_lesson(memory: Memory) -> None:
    old = memory.remember(NPM, trust="agent")
    say(memory, "s1", "Remember that we switched from npm to pnpm to install dependencies.")
    (new,) = memory.lessons()
    assert "pnpm" in new.insight
    assert [(link.kind, link.target) for link in new.links] == [("supersedes", old.id)]
    assert memory.get(old.id).state == "superseded"
    assert [change.verb for change in memory.changes()][:2] == ["settle", "learn"]
