"""Every command that asks, keeps and tends lessons, through click's own runner."""

from __future__ import annotations

import json
import os
from pathlib import Path

import click
import pytest

from holdfast import Memory
from holdfast.domain.lesson import Lesson
from holdfast.lean.plain import field_names
from holdfast.surfaces.cli.frame import host_names, lesson_ids
from holdfast.surfaces.cli.main import GROUPS
from holdfast.surfaces.cli.screen import pairs, table
from holdfast.testing.builders import make_delivery
from tests.surfaces.terminal import run, told, told_json


@pytest.fixture(autouse=True)
def project(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder we are in, with one file."""
    folder = tmp_path / "harbour"
    folder.mkdir()
    (folder / "tides.py").write_text("HIGH = 4\n")
    monkeypatch.chdir(folder)
    return folder


def remember(*more: str) -> str:
    """The short id of a new lesson."""
    short: str = told_json("remember", *(more or ("Seed the clock before login tests", "--file", "tides.py")))[
        "short_id"
    ]
    return short


def test_what_is_remembered_is_listed_recalled_and_shown() -> None:
    short = remember()
    assert told("list").split("\t") == [short, "convention", "Seed the clock before login tests", "tides.py", "fresh\n"]
    assert told("recall", "login", "clock").startswith(f"1\t{short}\tconvention\tSeed the clock")
    assert told("recall", "--path", "tides.py").startswith(f"1\t{short}")
    shown = told("show", short)
    assert "title     Seed the clock before login tests" in shown
    assert "freshness fresh" in shown
    assert "change" in shown


def test_the_result_is_on_stdout_and_talk_on_stderr() -> None:
    remember()
    result = run("recall", "login clock")
    assert len(result.stdout.splitlines()) == 1
    assert result.stderr.startswith("1 of 1 lesson, ")
    empty = run("recall", "zeppelins")
    assert empty.stdout == ""
    assert empty.stderr.startswith("No lesson passed the threshold")
    assert empty.exit_code == 0


def test_why_recomputes_the_score_from_its_parts() -> None:
    remember()
    lines = told("recall", "login clock", "--why").splitlines()
    score = told_json("recall", "login clock")["items"][0]["score"]
    assert lines[-1].strip() == f"= {score:.6f}"


def test_json_of_a_recalled_lesson_lets_anyone_recompute_its_score() -> None:
    remember()
    (item,) = told_json("recall", "login clock")["items"]
    score = sum(share["share"] for share in item["why"]["shares"])
    for multiplier in item["why"]["multipliers"]:
        score *= multiplier["factor"]
    assert score == pytest.approx(item["score"], rel=1e-9)
    assert item["freshness"] == "fresh"
    assert set(item["lesson"]) >= {*field_names(Lesson), "short_id", "memory_type", "files", "symbols"}


@pytest.mark.parametrize(
    "question", ["x", "?!...", "'; DROP TABLE lessons; --", 'a OR "NEAR(', "-- ;", "a\0b", "💥", "z" * 100_000, "قارب"]
)
def test_any_question_is_answered_or_met_with_nothing(question: str) -> None:
    nothing = run("recall", "-", typed=question)
    told("remember", "Seed the clock before login tests.")
    assert (nothing.exit_code, nothing.stdout) == (0, "")
    result = run("recall", "-", typed=question)
    assert (result.exit_code, result.stdout) == (0, "")
    assert "No lesson passed the threshold" in result.stderr


@pytest.mark.parametrize("question", ["鍵", "鍵の回転", "回転"])
def test_a_question_in_another_script_finds_its_lesson(question: str) -> None:
    told("remember", "リリース前に鍵の回転を済ませる")
    assert "鍵の回転" in told("recall", question)


def test_a_lesson_can_be_determined_through_stdin() -> None:
    told("remember", "-", "--kind", "decision", typed="Store in SQLite\n")
    assert told_json("list")["lessons"][0]["insight"] == "Store in SQLite"
    told("remember", "Login fails near midnight", "--why", "the clock")
    assert told_json("recall", "-", typed="login near midnight")["items"]
    assert run("recall", "--error", "-", typed=b"\xff\x00 not text").exit_code == 0


def test_a_missing_file_is_mentioned_and_one_outside_refused() -> None:
    assert "gone.py does not exist now" in run("remember", "A rule about it", "--file", "gone.py").stderr
    result = run("remember", "Another rule", "--file", "/etc/passwd")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("error: /etc/passwd is outside of the project")
    assert "hint: " in result.stderr


def test_a_revision_closes_the_old_lesson() -> None:
    old = remember()
    new = told_json("revise", old, "--insight", "Freeze the clock before login tests", "--pin")
    assert (new["state"], new["pinned"], new["links"][0]["kind"]) == ("active", True, "supersedes")
    assert "superseded" in told("list", "--state", "superseded")
    assert run("revise", new["short_id"]).exit_code == 1
    assert told_json("list", "--as-of", "2020-01-01")["lessons"] == []


def test_forgetting_names_every_lesson_and_checks_them_first() -> None:
    first, second = remember(), remember("Another rule")
    assert run("forget", first, "dead").exit_code == 1
    assert len(told_json("list")["lessons"]) == 2
    assert told("forget", first, second) == f"{first}  forgotten\n{second}  forgotten\n"
    erased = told_json("forget", first, "--purge")["purged"][0]["erased"]
    assert erased["lessons"] == 2
    assert run("show", first).exit_code == 1


def test_a_purge_names_the_files_that_still_hold_the_words(home: Path) -> None:
    short = remember("Zeppelins need ballast before they rise")
    copy = home / "backups" / "AGENTS.md-1"
    copy.parent.mkdir(parents=True)
    copy.write_text("- Zeppelins need ballast before they rise\n")
    told("forget", short)
    result = run("forget", short, "--purge")
    assert f"its words are still in {copy}" in result.stderr
    assert "not searched" in result.stderr


def test_a_purge_names_nothing_where_no_file_holds_the_words() -> None:
    assert told_json("forget", remember("Zeppelins need ballast before they rise"), "--purge")["copies"] == []


def test_undo_names_what_it_took_back() -> None:
    short = remember()
    assert told("undo").startswith("undone: remember of ")
    assert told("list") == ""
    result = run("undo")
    assert (result.exit_code, result.stderr.splitlines()[0]) == (1, "error: nothing to undo in project harbour")
    changes = told("log", "--changes").splitlines()
    assert [line.split()[2] for line in changes] == ["undo", "remember"]
    assert short in changes[1]


def test_the_inbox_is_listed_accepted_and_rejected_without_a_terminal(project: Path) -> None:
    with Memory(str(project)) as memory:
        ids = [memory.remember(f"Hearsay {name}", trust="tool").id[-8:] for name in ("one", "two", "three")]
    assert len(told_json("review")["lessons"]) == 3
    assert told("review", "--list").count("candidate") == 3
    done = told_json("review", "--accept", ids[0], "--accept", ids[1], "--reject", ids[2])["lessons"]
    assert [lesson["state"] for lesson in done] == ["active", "active", "retired"]
    result = run("review")
    assert (result.exit_code, result.stderr.splitlines()[1]) == (1, "hint: holdfast review --list")


def test_deliveries_are_logged_with_their_reason(project: Path) -> None:
    short = remember()
    with Memory(str(project)) as memory:
        lesson = memory.get(short)
        shown = make_delivery(project=memory.location.project.id, lesson=lesson.id, trigger="tides.py", session="s1")
        memory.services.store.record([shown])
    line = told("log", "--session", "s1")
    for word in ("before_file", short, "Seed the clock", "tides.py", "anchored to src/app.py", shown.host, "s1"):
        assert word in line
    assert told("log", "--session", "s2") == ""
    assert told_json("log", "--lesson", short)["deliveries"][0]["reason"] == "anchored to src/app.py"
    assert told_json("feedback", short, "helped", "--note", "twice")["session"] == "s1"
    assert "helped  twice" in told("show", short)


def test_recall_answers_where_a_task_was_left_off() -> None:
    told("checkpoint", "save", "--goal", "Migrate billing to FastAPI", "--next", "move refunds")
    answer = told("recall", "Where did we leave off with the FastAPI migration?")
    assert answer.startswith("State of task main, saved ")
    assert "\ngoal: Migrate billing to FastAPI\nnext: move refunds\n" in answer
    assert "FastAPI" in told_json("recall", "what do you remember?")["left_off"]
    assert "left_off" not in told_json("recall", "login clock")


def test_a_checkpoint_is_saved_shown_and_closed() -> None:
    assert run("checkpoint", "show").exit_code == 1
    told("checkpoint", "save", "--goal", "make login work", "--next", "fix logout", "--open", "why midnight?")
    shown = told("checkpoint", "show")
    assert "goal  make login work" in shown
    assert "next  fix logout" in shown
    assert told_json("checkpoint", "show")["next"] == ["fix logout"]
    told("checkpoint", "done")
    assert run("checkpoint", "show").exit_code == 1


def test_lessons_go_out_and_come_in(project: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    remember()
    remember("Nobody may see this", "--private")
    exported = told("export")
    assert len(exported.splitlines()) == 1
    told("export", "-o", "lessons.jsonl")
    assert (project / "lessons.jsonl").read_text() == exported
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "other"))
    assert told("import", "lessons.jsonl", "--accept") == "1 added, 0 revised, 0 unchanged, 0 failed\n"
    assert told_json("import", "-", typed=exported)["unchanged"] == 1
    again, before = json.loads(told("export")), json.loads(exported)
    assert again.pop("seal") != before.pop("seal")
    assert again == before


def test_lines_that_nobody_vouches_for_wait_and_that_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remember()
    exported = told("export")
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "other"))
    result = run("import", "-", typed=exported)
    assert result.exit_code == 0
    assert "1 line exported by another Holdfast home" in result.stderr
    assert "1 lesson waits in the inbox, since anyone can write such a file" in result.stderr
    assert told_json("list")["lessons"] == []
    assert told_json("import", "-", "--accept", typed=exported)["revised"] == 1
    assert len(told_json("list")["lessons"]) == 1


def test_a_line_that_was_changed_after_its_export_is_named() -> None:
    remember()
    changed = told("export").replace('"insight":"', '"insight":"Never ')
    result = run("import", "-", typed=changed)
    assert result.exit_code == 1
    assert "line 1: it was changed after this home exported it" in result.stderr


def test_bad_lines_of_an_import_are_named_and_cost_the_exit_code() -> None:
    good = '{"kind": "fix", "insight": "Restart the pump"}'
    dirty = b'\xef\xbb\xbf{"kind": "fix", "insight": "CRLF"}\r\n\xff\xfe{\n{"kind": "fix", "insight": "caf\xe9"}\n'
    result = run(
        "import", "-", "--accept", typed=dirty + b'{"kind": "fix", "x": 1}\n' + b"y" * 5_000_000 + b"\n" + good.encode()
    )
    assert result.exit_code == 1
    assert result.stdout == "3 added, 0 revised, 0 unchanged, 3 failed\n"
    assert "line 2: not JSON" in result.stderr
    assert "line 4: insight is missing" in result.stderr
    assert "line 5: longer than 1,000,000 characters" in result.stderr
    assert "bad bytes replaced, in line 2, 3" in result.stderr
    assert [lesson["insight"] for lesson in told_json("list")["lessons"]] == ["Restart the pump", "caf�", "CRLF"]


def test_status_tells_where_things_are(home: Path) -> None:
    remember()
    lines = told("status")
    for word in (
        "harbour (known by its path)",
        str(home / "memory.db"),
        "1 confirmed, 0 unconfirmed",
        "embedder",
        "none from any hook",
    ):
        assert word in lines
    plain = told_json("status")
    assert plain["lessons"] == {"by_state": {"active": 1}, "by_kind": {"convention": 1}}
    assert plain["store"]["bytes"] == os.path.getsize(home / "memory.db")


def test_another_folder_can_be_queried(tmp_path: Path) -> None:
    remember()
    (tmp_path / "elsewhere").mkdir()
    elsewhere = str(tmp_path / "elsewhere")
    assert told("-C", elsewhere, "list") == told("list", "-C", elsewhere) == ""
    assert told_json("list", "-C", elsewhere, "--all-projects")["lessons"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_complete_holdfast(shell: str) -> None:
    assert "_HOLDFAST_COMPLETE" in told("completion", shell)


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["rmember", "x"], 2, "did you mean 'remember'?"),
        (["recall", "--limit", "many"], 2, "--limit"),
        (["recall", "x", "--as-of", "soon"], 1, "not a time"),
        (["remember"], 2, "TEXT"),
        (["remember", " "], 1, "needs an insight"),
        (["show", "zz12"], 1, "no lesson zz12 in project harbour"),
        (["-C", "/nowhere", "list"], 2, "/nowhere"),
        (["import", "nowhere.jsonl"], 2, "nowhere.jsonl"),
        (["export", "-o", "/nowhere/lessons.jsonl"], 2, "/nowhere/lessons.jsonl"),
    ],
)
def test_an_error_is_one_line_with_a_hint(arguments: list[str], code: int, words: str) -> None:
    result = run(*arguments)
    assert result.exit_code == code
    assert result.stdout == ""
    error, hint = result.stderr.splitlines()
    assert error.startswith("error: ")
    assert words in error
    assert hint.startswith("hint: ")


def test_all_json_is_one_document() -> None:
    short = remember()
    for command in (["list"], ["show", short], ["recall", "x"], ["status"], ["review"], ["log"], ["log", "--changes"]):
        assert isinstance(json.loads(told(*command, "--json")), dict)


def test_an_anchor_of_a_whole_file_has_every_key_of_an_anchor_in_json(project: Path) -> None:
    (project / "notes.md").write_text("one\n")
    told("remember", "Keep the notes short", "--file", "notes.md")
    (lesson,) = json.loads(told("list", "--json"))["lessons"]
    (anchor,) = lesson["anchors"]
    assert (anchor["path"], anchor["symbol"], anchor["also"]) == ("notes.md", "", [])


def test_without_a_command_a_new_user_is_shown_what_to_type_and_a_folder_with_memory_is_reported_at_a_glance() -> None:
    first = run()
    assert (first.exit_code, len(first.stdout.splitlines()) <= 10) == (0, True)
    assert "no coding agent" in first.stdout
    assert [line.split()[:3] for line in first.stdout.splitlines()][-3][:3] == ["first", "holdfast", "setup"]
    short = remember()
    told("remember", "Push on Fridays", "--kind", "preference")
    glance = run()
    assert (glance.exit_code, "2 confirmed, 0 unconfirmed" in glance.stdout) == (0, True)
    assert f"{short}  Seed the clock before login tests" in glance.stdout
    assert "none received yet" in glance.stdout


@pytest.mark.parametrize("group", ["checkpoint", "rules", "project"])
def test_a_group_alone_prints_its_help_and_is_no_error(group: str) -> None:
    result = run(group)
    assert result.exit_code == 0
    assert "error" not in result.output


def test_every_command_stands_in_one_group_of_the_help() -> None:
    listed = [name for commands in GROUPS.values() for name in commands]
    assert sorted(listed) == sorted(set(listed))
    assert [
        line.split()[0] for line in told("--help").splitlines() if line.split()[:1] in [[n] for n in listed]
    ] == listed


def test_lessons_are_listed_by_tag_source_and_time() -> None:
    told("remember", "Tag releases from main", "--tag", "Release")
    remember()
    assert [row["tags"] for row in told_json("list", "--tag", "release")["lessons"]] == [["Release"]]
    assert len(told_json("list", "--since", "yesterday", "--trust", "person")["lessons"]) == 2
    assert told_json("list", "--trust", "agent")["lessons"] == []
    assert told_json("list", "--host", "codex")["lessons"] == []
    assert len(told_json("list", "--since", "yesterday", "--limit", "1")["lessons"]) == 1
    assert run("list", "--since", "soon").exit_code == 1


def test_saved_states_of_tasks_are_listed() -> None:
    told("checkpoint", "save", "--goal", "mend login", "--task", "login")
    told("checkpoint", "save", "--goal", "mend login and logout", "--task", "login")
    told("checkpoint", "save", "--goal", "tag the release", "--task", "release")
    told("checkpoint", "done", "--task", "release")
    rows = [line.split("\t")[1:] for line in told("checkpoint", "list").splitlines()]
    assert [(row[0], row[-1]) for row in rows] == [
        ("release", "closed"),
        ("release", "earlier"),
        ("login", "open"),
        ("login", "earlier"),
    ]
    assert len(told_json("checkpoint", "list", "--task", "login")["checkpoints"]) == 2


def test_a_table_has_heads_on_a_terminal_and_tabs_in_a_pipe(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [["1f0c9a2b", "fix", "word " * 40, "a\tb"]]
    assert table(rows, ("id", "kind", "title", "where")) == ["1f0c9a2b\tfix\t" + ("word " * 40).strip() + "\ta b"]
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "60")
    heads, row = (click.unstyle(line) for line in table(rows, ("id", "kind", "title", "where")))
    assert heads.split() == ["id", "kind", "title", "where"]
    assert len(row) <= 60
    assert "…" in row


def test_a_long_value_is_wrapped_between_words_beside_its_label(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setenv("COLUMNS", "40")
    lines = pairs([("title", "seed the clock " * 6), ("kind", "fix")])
    assert all(len(line) <= 40 for line in lines)
    assert lines[1].startswith("       ")
    assert " ".join(" ".join(lines[:-1]).split()) == "title " + ("seed the clock " * 6).strip()


def test_a_briefing_is_as_long_as_its_lessons_and_is_shown_in_a_line() -> None:
    remember()
    with Memory(os.getcwd()) as memory:
        briefing = memory.recall("login clock")
        assert (len(briefing), [item.lesson.title for item in briefing]) == (1, ["Seed the clock before login tests"])
        assert repr(briefing) == "Briefing(on_demand: 'Seed the clock before login tests')"
        assert memory.recall("zeppelins")


def test_a_program_gets_its_errors_as_json() -> None:
    result = run("show", "dead", "--json")
    error = json.loads(result.stderr)
    assert (result.exit_code, result.stdout, error["exit_code"]) == (1, "", 1)
    assert "dead" in error["error"]
    assert error["hint"].startswith("holdfast list")
    assert json.loads(run("list", "--nonsense", "--json").stderr)["exit_code"] == 2


def test_a_shell_completes_ids_with_their_titles_and_hosts() -> None:
    short = remember()
    context = click.Context(click.Command("show"))
    (item,) = lesson_ids(context, click.Argument(["ref"]), short[:3])
    assert (item.value, item.help) == (short, "Seed the clock before login tests")
    assert lesson_ids(context, click.Argument(["ref"]), "zz") == []
    assert "claude-code" in [item.value for item in host_names(context, click.Argument(["host"]), "cl")]


def test_saving_the_opposite_of_an_active_lesson_names_it() -> None:
    known = remember("Use app.run in production")
    result = run("remember", "Don't use app.run in production")
    assert f"note: it contradicts {known}, which is confirmed too: Use app.run in production" in result.stderr
    assert "hint: holdfast review --keep" in result.stderr
    assert "contradicts" not in run("remember", "Wheels are built on tags").stderr
    listed = told_json("remember", "Never use app.run in production")["contradicts"]
    assert [lesson[-8:] for lesson in listed] == [known]


def test_a_revision_is_not_stated_to_contradict_what_it_replaces() -> None:
    known = remember("Use app.run in production")
    assert "contradicts" not in run("revise", known, "--insight", "Don't use app.run in production").stderr
