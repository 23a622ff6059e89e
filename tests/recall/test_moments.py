"""What is told when: commands and linters, triggers, and what a session is not told again."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import timedelta
from typing import Any

from holdfast import Briefing, Memory
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Anchor, Lesson, Provenance, Triggers
from holdfast.domain.vocabulary import EventId, SessionId
from holdfast.testing.builders import START, make_lesson

TESTS = "A bug fix is to come with a regression test."
PLAIN = "Write plain sentences."
ERRCHECK = "errcheck rejects errors that are dropped with a blank."
WRAPCHECK = "wrapcheck wants errors of other packages wrapped."


def keep(memory: Memory, insight: str, **fields: Any) -> Lesson:
    fields = {"kind": "preference", "trust": "person", **fields}
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


def briefed(memory: Memory, briefing: Briefing) -> list[str]:
    """Return the rules of the lessons that a brief tells, in its order."""
    return [memory.get(entry.id).insight for entry in briefing.entries]


def edit(memory: Memory, path: str, new: str = "x", old: str = "", session: str = "s1") -> Briefing:
    return deliver(
        memory, "before_file", session, paths=(f"{memory.location.root}/{path}",), edits=True, writes=(new,),
        excerpts=(old,) if old else (),
    )  # fmt: skip


def happened(memory: Memory, kind: str, session: str = "s1", **fields: Any) -> None:
    at = memory.services.clock.now()
    spoken = f"{kind}:" if kind in ("prompt", "reply") else "use:"
    key = fields.pop("key", f"{spoken}{memory.services.clock.new_id()}")
    event = Event(
        id=EventId(memory.services.clock.new_id()), session=SessionId(session), host="claude-code", kind=kind,  # type: ignore[arg-type]
        at=at, key=key, project=memory.location.project.id, **fields,
    )  # fmt: skip
    memory.services.store.append_events([event])


# Commands and linters


def test_a_command_line_comes_once_before_the_first_command_of_its_kind(memory: Memory) -> None:
    how = "`make check` runs every test; `make test` leaves half of them out."
    keep(memory, how, kind="tooling", trust="agent", when=Triggers(commands=("make check", "make test")))
    assert shown(deliver(memory, "before_command", command="ls")) == []
    assert shown(deliver(memory, "before_command", command="pytest -q")) == [how]
    assert shown(deliver(memory, "before_command", command="make test")) == []


def test_the_command_card_says_nothing_to_who_runs_its_command(memory: Memory) -> None:
    card = keep(
        memory, "Tests run here with make test.", kind="tooling", trust="verified", topic_key="commands/test",
        command="make test",
    )  # fmt: skip
    assert shown(deliver(memory, "before_command", command="make test 2>&1 | tail")) == []
    assert shown(deliver(memory, "before_command", command="go test ./...")) == [card.insight]


def test_the_command_card_says_nothing_where_one_of_its_commands_runs_or_failed(memory: Memory) -> None:
    card = keep(
        memory, "The build here is go build ./... Also used: make build.", kind="tooling", trust="verified",
        topic_key="commands/build", command="go build ./...", when=Triggers(commands=("go build ./...", "make build")),
    )  # fmt: skip
    for line in ("go build ./... 2>&1 | head -50", "make fmt && make build 2>&1", "cd a && go build ./..."):
        assert shown(deliver(memory, "before_command", command=line)) == [], line
        assert shown(deliver(memory, "after_failure", command=line, error=f"{card.insight} failed")) == [], line


def test_a_command_card_with_a_step_before_its_command_is_delivered_to_who_runs_it(memory: Memory) -> None:
    card = keep(
        memory, "Tests run here with make test; run make db first.", kind="tooling", trust="verified",
        topic_key="commands/test", command="make test", how="make db && make test",
    )  # fmt: skip
    assert shown(deliver(memory, "before_command", command="make test")) == [card.insight]


def test_the_projects_own_command_card_goes_before_other_lessons_on_the_kind(memory: Memory) -> None:
    keep(memory, "Run `make check` at last.", kind="tooling", when=Triggers(commands=("make check",)))
    keep(
        memory, "Tests run here with make test.", kind="tooling", trust="verified", topic_key="commands/test",
        command="make test", recorded_at=START + timedelta(days=3),
    )  # fmt: skip
    assert shown(deliver(memory, "before_command", command="pytest")) == ["Tests run here with make test."]


# Triggers


def test_code_that_a_lesson_forbids_brings_the_lesson_when_it_is_about_to_be_written(memory: Memory) -> None:
    rule = "Do not call exec.Command; use exec.CommandContext."
    memory.remember(rule, kind="constraint")
    assert shown(edit(memory, "a.py", new="exec.CommandContext(ctx)")) == []
    briefing = edit(memory, "a.py", new="x := exec.Command(name)")
    assert shown(briefing) == [rule]
    assert memory.log()[0].reason == "trigger: exec.Command"
    assert shown(edit(memory, "a.py", new="exec.Command(b)")) == []


def test_code_that_stood_there_before_is_no_reason(memory: Memory) -> None:
    memory.remember("Do not call exec.Command; use exec.CommandContext.", kind="constraint")
    assert shown(edit(memory, "a.py", old="exec.Command(a)", new="exec.Command(a, b)")) == []


def test_stated_triggers_count_globs_commands_and_pieces_of_commands(memory: Memory) -> None:
    keep(memory, "Ports are charted by hand.", kind="constraint", when=Triggers(paths=("src/**",), edited=True))
    keep(memory, "Ask for the pages.", kind="constraint", when=Triggers(literals=("--paginate",)))
    keep(memory, "Give a ref.", kind="constraint", when=Triggers(commands=("gh workflow run",)))
    assert shown(deliver(memory, "before_file", paths=(f"{memory.location.root}/README.md",))) == []
    path = f"{memory.location.root}/src/tides.py"
    assert shown(deliver(memory, "before_file", paths=(path,))) == ["Ports are charted by hand."]
    assert shown(deliver(memory, "before_command", command="foo --paginate x")) == ["Ask for the pages."]
    assert shown(deliver(memory, "before_command", command="cd x && gh workflow run ci")) == ["Give a ref."]


def test_a_person_edits_when_a_lesson_is_delivered_and_an_export_takes_it_along(memory: Memory) -> None:
    lesson = memory.remember("Ports are charted by hand.", kind="constraint")
    memory.edit(lesson.id, paths=["src/**"], literals=["chart("])
    path = f"{memory.location.root}/src/tides.py"
    assert shown(deliver(memory, "before_file", paths=(path,))) == ["Ports are charted by hand."]
    (line,) = memory.export_lessons()
    when = json.loads(line)["when"]
    assert when == {"paths": ["src/**"], "literals": ["chart("], "edited": True}
    memory.purge(lesson.id)
    memory.import_lessons([line])
    assert memory.get(lesson.id).when == Triggers(paths=("src/**",), literals=("chart(",), edited=True)


def test_words_that_a_person_revises_bring_their_own_triggers(memory: Memory) -> None:
    code = memory.remember("Do not call exec.Command; use exec.CommandContext.", kind="constraint")
    revised = memory.revise(code.id, insight="Do not call os.Getwd(); use the root.")
    assert revised.when.literals == ("os.Getwd(",)


def test_who_takes_a_lessons_triggers_away_is_obeyed(memory: Memory) -> None:
    rule = memory.remember(PLAIN, kind="preference")
    assert deliver(memory, "session_start").entries[0].reason == "rule of the brief"
    memory.edit(rule.id, standing=False)
    assert deliver(memory, "session_start", session="s2").entries[0].reason == "title of the brief"
    code = memory.remember("Do not call exec.Command; use exec.CommandContext.", kind="constraint")
    assert memory.get(code.id).when.literals == ("exec.Command",)
    memory.edit(code.id, literals=[])
    assert shown(edit(memory, "a.py", new="exec.Command(name)")) == []
    assert memory.undo().verb == "undo"
    assert shown(edit(memory, "a.py", new="exec.Command(name)")) != []


def test_a_linters_lesson_comes_once_with_the_first_edit_of_its_language_and_never_with_a_reading(
    memory: Memory,
) -> None:
    linting = {"kind": "tooling", "trust": "verified"}
    first, second = "govet reports shadowed names here.", "staticcheck is run with every check on."
    keep(memory, first, **linting)
    keep(memory, second, valid_from=START + timedelta(days=1), **linting)
    assert edit(memory, "src/tides.py").items == ()
    assert deliver(memory, "before_file", paths=(f"{memory.location.root}/main.go",)).items == ()
    assert shown(edit(memory, "main.go")) == [second, first]
    assert {row.reason for row in memory.log()} == {"title; first command to edit go"}
    assert edit(memory, "other.go").items == ()


def test_a_linters_lesson_with_a_glob_of_its_language_waits_for_an_edit(memory: Memory) -> None:
    keep(memory, ERRCHECK, kind="convention", trust="verified", when=Triggers(paths=("**/*.go",)))
    keep(memory, WRAPCHECK, kind="convention", anchors=(Anchor(path="cmd/main.go"),), globs=("**/*.go",))
    keep(memory, "Close rows before the next query.", kind="convention", when=Triggers(paths=("**/*.go",)))
    read = deliver(memory, "before_file", paths=(f"{memory.location.root}/a.go",))
    assert shown(read) == ["Close rows before the next query."]
    assert ERRCHECK in shown(edit(memory, "a.go"))


# What a session is told, and what not


def test_a_session_is_not_shown_what_it_taught_itself(memory: Memory) -> None:
    queue = "Drain the retry queue before shutdown; pending jobs are lost otherwise."
    keep(memory, queue, kind="constraint", provenance=Provenance(session=SessionId("s1")))
    prompt = "why does the retry queue lose jobs at shutdown?"
    assert shown(deliver(memory, "prompt", prompt=prompt)) == []
    assert shown(deliver(memory, "prompt", session="s2", prompt=prompt)) == [queue]


def test_a_resumed_session_is_shown_what_is_new_and_a_sub_agent_everything(memory: Memory) -> None:
    keep(memory, PLAIN)
    assert briefed(memory, deliver(memory, "session_start")) == [PLAIN]
    assert deliver(memory, "session_start") == Briefing(moment="session_start")
    keep(memory, TESTS)
    assert briefed(memory, deliver(memory, "session_start")) == [TESTS]
    assert sorted(briefed(memory, deliver(memory, "session_start", agent="sub-1"))) == [TESTS, PLAIN]


def test_a_title_comes_once_in_full_and_a_rule_that_was_delivered_in_full_does_not_come_again(memory: Memory) -> None:
    command = keep(memory, "The basin gate sticks.", kind="fix", trust="agent", command="make basin")
    keep(memory, "Never commit unless asked.")
    parts = {entry.id: entry.reason for entry in deliver(memory, "session_start").entries}
    assert parts[command.id] == "title of the brief"
    assert shown(deliver(memory, "before_command", command="make basin")) == ["The basin gate sticks."]
    assert shown(deliver(memory, "before_command", command="make basin")) == []
    assert shown(deliver(memory, "before_command", command="git commit -m x")) == []


def test_a_sessions_tokens_bound_what_it_is_shown_and_a_compaction_counts_anew(memory: Memory) -> None:
    for number in range(12):
        when = Triggers(literals=(f"call{number:02}(",))
        keep(memory, f"Rule {number} about something of its own.", kind="constraint", trust="agent", when=when)
    memory.services = replace(memory.services, session_tokens=200)
    counts = [len(deliver(memory, "before_command", command=f"call{number:02}(x)").items) for number in range(6)]
    assert 0 < sum(counts) < 6
    assert sum(row.tokens for row in memory.log()) <= 200
    assert deliver(memory, "after_compaction").entries


def test_a_prompt_that_a_program_wrote_is_looked_at_for_its_subject(memory: Memory) -> None:
    queue = "Drain the retry queue before shutdown; pending jobs are lost otherwise."
    keep(memory, queue, kind="constraint")
    plan = "Implement the following plan:\nthe retry queue loses jobs at shutdown"
    assert shown(deliver(memory, "prompt", prompt=plan)) == [queue]
    assert shown(deliver(memory, "prompt", session="s2", prompt=f"{plan[:30]}{'x ' * 300}{plan[30:]}")) == []


def test_a_checkpoint_is_restored_again_only_where_its_task_goes_on(memory: Memory) -> None:
    memory.save_checkpoint("chart the harbour basin", session=SessionId("before"))
    happened(memory, "session_end", session="before", key="end:1")
    assert "chart the harbour" in deliver(memory, "session_start").text
    assert deliver(memory, "prompt", session="s2", prompt="rename the login form").text == ""
    assert "chart the harbour" in deliver(memory, "prompt", session="s3", prompt="continue please").text


def test_a_checkpoint_is_restored_once_to_others(memory: Memory) -> None:
    memory.save_checkpoint("chart the harbour basin", session=SessionId("before"))
    assert "chart the harbour" in deliver(memory, "session_start").text
    assert deliver(memory, "session_start", session="s2").text == ""


def test_with_few_lessons_a_prompt_that_names_what_a_lesson_names_is_answered(memory: Memory) -> None:
    rule = memory.remember("Never change the `name: amount` line format of render_report: a script reads it.")
    for number in range(6):
        memory.remember(f"Rule number {number} about amounts of item {number}")
    task = "Put a currency sign before each amount that render_report prints."
    assert [item.lesson.id for item in deliver(memory, "prompt", prompt=task).items] == [rule.id]
    assert not deliver(memory, "prompt", session="s2", prompt="What is the weather like in Lisbon?").items
