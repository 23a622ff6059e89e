"""What is told when: standing rules, cards, triggers, caps, and what is left unsaid."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

from holdfast import Briefing, Memory
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.domain.lesson import Anchor, Lesson, Provenance, Triggers
from holdfast.domain.records import Outcome
from holdfast.domain.vocabulary import EventId, SessionId
from holdfast.lean.records import replace
from holdfast.recall.moments import context
from holdfast.recall.moments import files as turn_files
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


def edit(memory: Memory, path: str, new: str = "x", old: str = "", session: str = "s1") -> Briefing:
    return deliver(
        memory, "before_file", session, paths=(f"{memory.location.root}/{path}",), edits=True, writes=(new,),
        excerpts=(old,) if old else (),
    )  # fmt: skip


def happened(memory: Memory, kind: str, session: str = "s1", **fields: Any) -> None:
    at = memory.services.clock.now()
    key = fields.pop("key", f"{kind}:{memory.services.clock.new_id()}")
    event = Event(
        id=EventId(memory.services.clock.new_id()), session=SessionId(session), host="claude-code", kind=kind,  # type: ignore[arg-type]
        at=at, key=key, project=memory.location.project.id, **fields,
    )  # fmt: skip
    memory.services.store.append_events([event])


# Standing rules


def test_a_session_starts_with_a_few_standing_rules_pinned_ones_first_then_the_oldest(memory: Memory) -> None:
    for n in range(6):
        keep(memory, f"Rule of day {n + 1} is kept by everybody.", recorded_at=START + timedelta(days=n))
    keep(memory, "Pinned rules go first.", recorded_at=START + timedelta(days=9), pinned=True)
    assert shown(deliver(memory, "session_start")) == [
        "Pinned rules go first.", "Rule of day 1 is kept by everybody.", "Rule of day 2 is kept by everybody.",
        "Rule of day 3 is kept by everybody.",
    ]  # fmt: skip


def test_a_rule_that_three_sessions_needed_goes_before_older_ones(memory: Memory) -> None:
    keep(memory, PLAIN)
    young = keep(memory, "Ask before you rename.", recorded_at=START + timedelta(days=1))
    for n in range(3):
        memory.services.store.record([Outcome(
            id=f"o{n}", at=START, project=memory.location.project.id, session=SessionId(f"earlier{n}"), lesson=young.id,
            verdict="heeded",
        )])  # fmt: skip
    assert shown(deliver(memory, "session_start")) == ["Ask before you rename.", PLAIN]


def test_what_names_code_or_was_said_by_an_agent_is_no_standing_rule(memory: Memory) -> None:
    keep(memory, "Call `close` twice.")
    keep(memory, "Agents like long names.", trust="agent")
    keep(memory, "Told as one by hand.", trust="agent", kind="tooling", when=Triggers(standing=True))
    assert shown(deliver(memory, "session_start")) == ["Told as one by hand."]


def test_a_group_is_one_line_and_every_member_counts_as_told(memory: Memory) -> None:
    first = keep(memory, TESTS)
    second = keep(memory, "New functionality is expected to come with tests.", recorded_at=START + timedelta(days=1))
    briefing = deliver(memory, "session_start")
    assert shown(briefing) == [TESTS]
    assert {(row.lesson, row.rank) for row in memory.log()} == {(first.id, 1), (second.id, 1)}
    assert shown(deliver(memory, "before_command", command="pytest -q")) == []


def test_a_standing_rule_about_commits_waits_for_the_first_commit(memory: Memory) -> None:
    keep(memory, "Never commit unless asked.")
    assert shown(deliver(memory, "session_start")) == []
    assert shown(deliver(memory, "before_command", command="git status")) == []
    assert shown(deliver(memory, "before_command", command="git commit -m x")) == ["Never commit unless asked."]
    assert shown(deliver(memory, "before_command", command="git commit -m y")) == []


def test_who_commits_code_without_a_test_is_reminded_once(memory: Memory) -> None:
    keep(memory, TESTS)
    assert shown(deliver(memory, "session_start")) == [TESTS]
    happened(memory, "file_edit", files=("src/tides.py",))
    assert shown(deliver(memory, "before_command", command="git commit -m x")) == [TESTS]
    assert shown(deliver(memory, "before_command", command="git commit -m x")) == []


def test_who_edited_a_test_is_not_reminded(memory: Memory) -> None:
    keep(memory, TESTS)
    deliver(memory, "session_start")
    happened(memory, "file_edit", files=("src/tides.py",))
    happened(memory, "file_edit", files=("tests/test_tides.py",))
    assert shown(deliver(memory, "before_command", command="gh pr create")) == []


# Cards


def test_a_lint_card_comes_once_with_the_first_edit_of_its_language_what_bit_most_first(memory: Memory) -> None:
    linting = {"kind": "tooling", "trust": "verified"}
    first, second = "govet reports shadowed names here.", "staticcheck is run with every check on."
    keep(memory, first, **linting)
    keep(memory, second, recorded_at=START + timedelta(days=1), **linting)
    again = keep(memory, "Here staticcheck reads tests too.", recorded_at=START + timedelta(days=2), **linting)
    assert edit(memory, "src/tides.py").items == ()
    assert deliver(memory, "before_file", paths=(f"{memory.location.root}/main.go",)).items == ()
    briefing = edit(memory, "main.go")
    assert shown(briefing) == [second, first]
    assert briefing.items[0].also == (again.id,)
    assert edit(memory, "other.go").items == ()


def test_a_linter_of_one_rule_waits_for_the_code_that_it_looks_at(memory: Memory) -> None:
    linting = {"kind": "tooling", "trust": "verified"}
    keep(memory, WRAPCHECK, **linting)
    keep(memory, ERRCHECK, recorded_at=START + timedelta(days=1), **linting)
    assert edit(memory, "main.go", new="x := 1").items == ()
    assert edit(memory, "main.go", old="_ = f()", new="_ = g()").items == ()
    assert shown(edit(memory, "main.go", new="_ = f()")) == [ERRCHECK]
    assert memory.log()[0].reason == "a linter looks at: _ ="
    assert shown(edit(memory, "main.go", new="if err != nil {\n\treturn nil, err\n}")) == [WRAPCHECK]
    assert edit(memory, "main.go", new="_ = h()").items == ()


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


def test_a_command_card_with_a_step_before_its_command_is_told_to_who_runs_it(memory: Memory) -> None:
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


def test_a_place_that_no_person_named_is_not_enough_without_words_that_agree(memory: Memory) -> None:
    for number in range(12):  # words are rare only where there are others
        keep(memory, f"Berth {number} is for vessels of class {number}.", kind="constraint")
    words = "soundings plotter fathoms datum swell squall barometer lantern"
    named = keep(memory, f"Of depth: {words}.", kind="constraint", when=Triggers(paths=("src/depth.py",)))
    assert edit(memory, "src/depth.py", new="x = 1").items == ()
    assert shown(edit(memory, "src/depth.py", new=words)) == [named.insight]
    assert memory.log()[0].reason == "trigger: src/depth.py"


def test_a_person_edits_when_a_lesson_is_told_and_an_export_takes_it_along(memory: Memory) -> None:
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


def test_a_linters_lesson_with_a_glob_of_its_language_is_not_told_at_every_file_of_it(memory: Memory) -> None:
    when = Triggers(paths=("**/*.go",))
    keep(memory, ERRCHECK, kind="convention", trust="verified", when=when)
    assert shown(edit(memory, "main.go")) == []
    assert shown(edit(memory, "main.go", new="_ = f()")) == [ERRCHECK]
    stated = keep(memory, "Close rows before the next query.", kind="convention", when=replace(when, edited=True))
    assert shown(edit(memory, "other.go")) == [stated.insight]


def test_who_takes_a_lessons_triggers_away_is_obeyed(memory: Memory) -> None:
    rule = memory.remember(PLAIN, kind="preference")
    memory.edit(rule.id, standing=False)
    assert shown(deliver(memory, "session_start")) == []
    code = memory.remember("Do not call exec.Command; use exec.CommandContext.", kind="constraint")
    assert memory.get(code.id).when.literals == ("exec.Command",)
    memory.edit(code.id, literals=[])
    assert shown(edit(memory, "a.py", new="exec.Command(name)")) == []
    assert memory.undo().verb == "undo"
    assert shown(edit(memory, "a.py", new="exec.Command(name)")) != []


def test_words_that_a_person_revises_bring_their_own_triggers(memory: Memory) -> None:
    code = memory.remember("Do not call exec.Command; use exec.CommandContext.", kind="constraint")
    revised = memory.revise(code.id, insight="Do not call os.Getwd(); use the root.")
    assert revised.when.literals == ("os.Getwd(",)


# What is left unsaid


def test_ten_lines_are_all_that_a_session_is_told(memory: Memory) -> None:
    for n in range(30):
        when = Triggers(literals=(f"call{n:02}(",))
        keep(memory, f"Rule {n} about something of its own, number {n}.", kind="constraint", when=when)
    for n in range(6):
        keep(memory, f"Standing rule of captain {n} and all.")
    lines = len(deliver(memory, "session_start").items)
    for n in range(30):
        lines += len(deliver(memory, "before_command", command=f"call{n:02}(x)").items)
        lines += len(edit(memory, "a.py", new=f"call{29 - n:02}(x)").items)
    assert lines <= context.SESSION_LIMIT


def test_what_is_told_again_after_a_compaction_takes_no_room(memory: Memory) -> None:
    for n in range(4):
        keep(memory, f"Standing rule of captain {n} and all.")
    for n in range(10):
        keep(memory, f"Rule {n} about something of its own.", kind="constraint", when=Triggers(literals=(f"f{n}(x",)))
    assert len(deliver(memory, "session_start").items) == 4
    assert len(deliver(memory, "after_compaction").items) == 4
    counts = [len(deliver(memory, "before_command", command=f"f{n}(x)").items) for n in range(10)]
    assert sum(counts) == turn_files.TRIGGER_LINES


def test_a_session_is_not_told_what_it_taught_itself(memory: Memory) -> None:
    keep(memory, PLAIN, provenance=Provenance(session=SessionId("s1")))
    assert shown(deliver(memory, "session_start")) == []
    assert shown(deliver(memory, "session_start", session="s2")) == [PLAIN]


def test_a_resumed_session_remembers_and_a_sub_agent_counts_by_itself(memory: Memory) -> None:
    keep(memory, PLAIN)
    assert shown(deliver(memory, "session_start")) == [PLAIN]
    assert shown(deliver(memory, "session_start")) == []
    assert shown(deliver(memory, "session_start", agent="sub-1")) == [PLAIN]


def test_what_the_session_or_a_rules_file_says_is_not_told(memory: Memory, project: Path) -> None:
    rule = "Harbour pilots announce every lighthouse beacon before sunset."
    keep(memory, rule)
    happened(memory, "prompt", text="Please remember: harbour pilots announce every lighthouse beacon before sunset!")
    assert shown(deliver(memory, "session_start")) == []
    assert shown(deliver(memory, "session_start", session="s2")) == [rule]
    (project / "AGENTS.md").write_text("# Rules\n\n- Harbour pilots announce every lighthouse beacon before sunset.\n")
    assert shown(deliver(memory, "session_start", session="s3")) == []


def test_a_machines_prompt_is_given_nothing(memory: Memory) -> None:
    keep(memory, "Drain the retry queue before shutdown; pending jobs are lost otherwise.", kind="constraint")
    words = "why does the retry queue lose jobs at shutdown?"
    for opening in ("Implement the following plan:", "This session is being continued from a previous conversation"):
        assert shown(deliver(memory, "prompt", prompt=f"{opening}\n{words}")) == []
    assert len(shown(deliver(memory, "prompt", prompt=words))) == 1


def test_one_lesson_a_prompt(memory: Memory) -> None:
    for n in range(4):
        keep(memory, f"Drain the retry queue {n} before shutdown; pending jobs are lost.", kind="constraint")
    assert len(shown(deliver(memory, "prompt", prompt="why does the retry queue lose jobs at shutdown?"))) == 1


def test_a_second_lesson_comes_with_a_prompt_that_plainly_asks_for_both(memory: Memory) -> None:
    for n in range(40):
        keep(memory, f"Captain {n} charts basin number {n} by hand.", kind="constraint")
    keep(memory, "Drain the retry queue before shutdown; pending ledger jobs vanish.", kind="constraint")
    keep(memory, "A retry queue keeps its ledger jobs in order; shutdown flushes pending writes.", kind="decision")
    question = "why do pending ledger jobs vanish from the retry queue at shutdown?"
    assert len(shown(deliver(memory, "prompt", prompt=question))) == 2


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


def test_a_standing_rule_is_told_in_plain_words_with_its_source_and_date(memory: Memory) -> None:
    keep(memory, TESTS, why="so it does not break again", path="src/tides.py")
    assert (
        "A bug fix is to come with a regression test, so it does not break again. (user, "
        in deliver(memory, "session_start").text
    )


def test_with_few_lessons_a_prompt_that_names_what_a_lesson_names_is_answered(memory: Memory) -> None:
    rule = memory.remember("Never change the `name: amount` line format of render_report: a script reads it.")
    for number in range(6):
        memory.remember(f"Rule number {number} about amounts of item {number}")
    task = "Put a currency sign before each amount that render_report prints."
    assert [item.lesson.id for item in deliver(memory, "prompt", prompt=task).items] == [rule.id]
    assert not deliver(memory, "prompt", session="s2", prompt="What is the weather like in Lisbon?").items


def test_a_linters_rule_waits_for_an_edit(memory: Memory) -> None:
    text = "golangci-lint `nolintlint` is on here: a //nolint names its linter."
    rule = keep(memory, text, kind="convention", anchors=(Anchor(path="cmd/main.go"),))
    happened(memory, "prompt", text="golangci-lint nolintlint complains about a //nolint", trust="person")
    assert not deliver(memory, "before_file", paths=(f"{memory.location.root}/cmd/main.go",)).items
    assert rule.insight in memory.recall("nolintlint").text
