"""Each limit of the command line at its boundary; what a user sees of it is written out."""

from __future__ import annotations

import json
import os
import sys
import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import click
import pytest
from click.testing import CliRunner

from holdfast import Memory
from holdfast.capture.heartbeat import HostActivity
from holdfast.curation.adopt import PassageOutcome
from holdfast.domain.lesson import Evidence, Provenance
from holdfast.domain.vocabulary import EventId
from holdfast.home.runfiles import COUNTS
from holdfast.lean.files import FileLock
from holdfast.lean.texts import short_id
from holdfast.learning.gitbackfill import GitReport
from holdfast.lessons import lookup
from holdfast.settings import load_settings
from holdfast.surfaces.cli import (
    _completions,
    _dashboard,
    _firstrun,
    call,
    checkpoint,
    export,
    hostcheck,
    log,
    main,
    proof,
    review,
    serverproof,
    status,
)
from holdfast.surfaces.cli._completions import lesson_ids
from holdfast.surfaces.cli._gitbackfill import tell_git
from holdfast.surfaces.cli.checkups import check_capture, check_switches, mend_store
from holdfast.surfaces.cli.hostcheck import alarm_of, version_of
from holdfast.surfaces.cli.main import cli
from holdfast.surfaces.cli.proof import _Story
from holdfast.surfaces.cli.rows import table, wrapped
from holdfast.surfaces.cli.serverproof import start_server
from holdfast.testing.builders import make_event, make_lesson
from tests.codebase import Codebase
from tests.surfaces.terminal import run, told, told_json
from tests.surfaces.test_backfill_distil import use


@pytest.fixture
def project(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder we are in."""
    folder = tmp_path / "harbour"
    folder.mkdir()
    monkeypatch.chdir(folder)
    return folder


def remember(count: int, **fields: Any) -> list[str]:
    """Short ids of new lessons, oldest first."""
    with Memory(os.getcwd()) as memory:
        return [
            short_id(memory.remember(f"Count tide number {number} of the harbour in whole hours", **fields).id)
            for number in range(count)
        ]


# Exit codes


def failing(error: BaseException) -> click.Command:
    def fail() -> None:
        raise error

    return click.Command("status", callback=fail)


@pytest.mark.parametrize(
    ("error", "code"),
    [(OSError("gone"), 1), (click.UsageError("which?"), 2), (ZeroDivisionError(), 70), (KeyboardInterrupt(), 130)],
    ids=["EXIT_FAILED", "EXIT_USAGE", "EXIT_BUG", "EXIT_INTERRUPTED"],
)
def test_the_exit_code_says_what_went_wrong(
    home: Path, monkeypatch: pytest.MonkeyPatch, error: BaseException, code: int
) -> None:
    monkeypatch.setattr(main.Holdfast, "get_command", lambda *_: failing(error))
    assert CliRunner().invoke(cli, ["status"]).exit_code == code


def test_stale_lessons_make_a_check_exit_with_one(code: Codebase, monkeypatch: pytest.MonkeyPatch) -> None:
    """`verify.EXIT_STALE`."""
    monkeypatch.chdir(code.folder)
    (code.folder / "quay.txt").write_text("depth 4\n")
    told("remember", "The quay is four fathoms deep", "--file", "quay.txt")
    assert run("verify", "--check").exit_code == 0
    (code.folder / "quay.txt").unlink()
    assert run("verify", "--check").exit_code == 1
    assert run("verify").exit_code == 0


# Lists


def test_forty_ids_are_offered(project: Path) -> None:
    """`_completions.OFFERED`: those of the newest lessons."""
    ids = remember(41)
    offered = lesson_ids(click.Context(cli), click.Option(["--id"]), "")
    assert [item.value for item in offered] == ids[:0:-1]


def test_the_newest_lessons_are_looked_through_for_ids(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`_completions.NEWEST`."""
    first, second = remember(2)
    monkeypatch.setattr(_completions, "NEWEST", 1)
    context = click.Context(cli)
    assert [item.value for item in lesson_ids(context, click.Option(["--id"]), second)] == [second]
    assert lesson_ids(context, click.Option(["--id"]), first) == []


def test_the_first_screen_shows_three_lessons_of_each_sort(project: Path) -> None:
    """`_dashboard.SHOWN`."""
    remember(4)
    shown = told()
    assert [f"number {number} " in shown for number in range(4)] == [False, True, True, True]
    with Memory(os.getcwd()) as memory:
        place = memory.location.project.id
        memory.services.store.put([make_lesson(project=place, state="candidate") for _ in range(4)], {})
    assert "and 1 more: holdfast review" in told()


def test_the_newest_lessons_are_checked_for_the_first_screen(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`_dashboard.CHECKED`."""
    (project / "quay.txt").write_text("depth 4\n")
    remember(1, files=["quay.txt"])
    told("remember", "Oil the crane on Mondays")
    (project / "quay.txt").unlink()
    monkeypatch.setattr(_dashboard, "CHECKED", 2)
    assert "orphaned" in told()
    monkeypatch.setattr(_dashboard, "CHECKED", 1)
    assert "orphaned" not in told()


def test_the_first_screen_names_four_hosts(project: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`_dashboard.NAMED_HOSTS`."""
    monkeypatch.setenv("PATH", "/nowhere")
    for folder in (".claude", ".codex", ".cursor", ".junie", ".kiro"):
        (home.parent / folder).mkdir()
    [hosts_line] = [line for line in told().splitlines() if line.startswith("found")]
    assert hosts_line.count(",") == 3
    assert "and 1 more; not set up yet" in hosts_line


@pytest.mark.parametrize("limit", [2, 3])
def test_every_lesson_is_counted(project: Path, monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    """`call.EVERYTHING`, `lookup.COUNTED_LESSONS`."""
    assert call.EVERYTHING > 100_000
    assert lookup.COUNTED_LESSONS == 100_000
    remember(3)
    monkeypatch.setattr(lookup, "COUNTED_LESSONS", limit)
    monkeypatch.setattr(status, "EVERYTHING", limit)
    assert f"{limit} confirmed, 0 unconfirmed" in told()
    assert told_json("status")["lessons"]["by_state"] == {"active": limit}


def test_so_many_checkpoints_are_read(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`checkpoint.EVERY`."""
    for goal in ("first", "second"):
        told("checkpoint", "save", "--task", goal, "--goal", goal)
    assert [saved["goal"] for saved in told_json("checkpoint", "list")["checkpoints"]] == ["second", "first"]
    monkeypatch.setattr(checkpoint, "EVERY", 1)
    assert [saved["goal"] for saved in told_json("checkpoint", "list")["checkpoints"]] == ["second"]


def test_so_many_lessons_are_in_a_markdown_text(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`export.MOST_READABLE`."""
    remember(2)
    assert told("export", "--format", "markdown").count("Count tide number") >= 2
    monkeypatch.setattr(export, "MOST_READABLE", 1)
    assert "number 0 " not in told("export", "--format", "markdown")


def test_restored_checkpoints_are_looked_for_among_so_many(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`log.CHECKPOINTS`."""
    for goal in ("first", "second"):
        told("checkpoint", "save", "--task", goal, "--goal", goal)
    first = told_json("checkpoint", "list")["checkpoints"][1]["id"]
    with Memory(os.getcwd()) as memory:
        assert log._titles(memory, [first])[first] == "(checkpoint) first"
        monkeypatch.setattr(log, "CHECKPOINTS", 1)
        assert log._titles(memory, [first])[first] == "(erased)"


def test_twenty_bad_lines_are_told(project: Path) -> None:
    """`import_.TOLD`."""
    (project / "lessons.jsonl").write_text('{"insight": 1}\n' * 21)
    talk = run("import", "lessons.jsonl").stderr
    assert [f"line {number}: " in talk for number in (1, 20, 21)] == [True, True, False]
    assert "and 1 more bad lines" in talk


def test_five_titles_of_commits_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    """`_gitbackfill.SHOWN`."""
    steps = tuple(
        PassageOutcome(label="commit c0ffee", section="", verb="added", title=f"Lesson {number}", lesson=str(number))
        for number in range(6)
    )
    tell_git(GitReport(steps=steps), dry_run=True)
    out = capsys.readouterr().out
    assert [f"Lesson {number}" in out for number in (0, 4, 5)] == [True, True, False]
    assert "... and 1 more" in out


def test_the_first_sentence_of_a_command_is_shown_whole() -> None:
    """`call.WHOLE`."""
    sentence = "word " * 190 + "end"
    group = call.Group("tides", commands={"count": click.Command("count", help=sentence)})
    shown = " ".join(CliRunner().invoke(group, ["--help"]).output.split())
    assert sentence in shown


# Widths


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    return monkeypatch


def test_a_cell_keeps_twelve_columns(terminal: pytest.MonkeyPatch) -> None:
    """`rows.LEAST_CELL`."""
    terminal.setenv("COLUMNS", "10")
    assert table([["x" * 40, "y" * 13, "z" * 12]]) == [f"{'x' * 11}…  {'y' * 11}…  {'z' * 12}"]


@pytest.mark.parametrize(("columns", "lines"), [(25, 3), (24, 1)])
def test_a_text_is_wrapped_where_it_has_twenty_columns(terminal: pytest.MonkeyPatch, columns: int, lines: int) -> None:
    """`rows.LEAST_ROOM`: beside an indent of five."""
    terminal.setenv("COLUMNS", str(columns))
    assert len(wrapped("word " * 10 + "end", 5)) == lines


@pytest.mark.parametrize(("length", "shown"), [(60, "x" * 60), (61, "x" * 59 + "…")])
def test_a_title_beside_what_became_of_the_code_has_sixty_characters(project: Path, length: int, shown: str) -> None:
    """`verify.WIDTH`."""
    (project / "tides.txt").write_text("high 4\n")
    told("remember", "Count the tides", "--title", f"Use {'x' * (length - 4)}", "--file", "tides.txt")
    assert told("verify", "--all").split("\t")[2] == f"Use {shown[4:]}"


@pytest.mark.parametrize(("length", "shown"), [(120, "x" * 120), (121, "x" * 119 + "…")])
def test_a_version_shows_120_characters_of_a_field(project: Path, length: int, shown: str) -> None:
    """`history.TEXT_SHOWN`."""
    short = told_json("remember", "x" * length, "--title", "Use it")["short_id"]
    assert told("history", short).splitlines()[1] == f"    active: {shown}"


@pytest.mark.parametrize(("length", "shown"), [(280, "x" * 280), (281, "x" * 279 + "…")])
def test_the_evidence_beside_a_lesson_has_280_characters(length: int, shown: str) -> None:
    """`review.TURN_SHOWN`."""
    evidence = (Evidence(event=EventId("e"), start=0, end=9, quote="x" * length),)
    card = review._card(make_lesson(provenance=Provenance(evidence=evidence)), "", "")
    assert any(f'"{shown}"' in line for line in card)


def test_what_a_finding_says_begins_in_the_nineteenth_column(project: Path) -> None:
    """`doctor.INDENT`."""
    lines = [line for line in told_or_bad("doctor", "--no-proof") if line.strip()]
    mended = [line for line in lines if line.strip().startswith("mend: ")]
    assert mended
    assert {len(line) - len(line.lstrip()) for line in mended} == {19}
    assert all(line[18] == " " != line[19] for line in lines)


def told_or_bad(*arguments: str) -> list[str]:
    return run(*arguments).stdout.splitlines()


# Hosts, logs and backfills


@pytest.mark.parametrize(("commands", "alarms"), [(9, False), (10, True)])
def test_ten_commands_without_a_failure_are_an_alarm(commands: int, alarms: bool) -> None:
    """`hostcheck.COMMANDS`."""
    now = datetime(2026, 3, 1, tzinfo=UTC)
    activity = HostActivity(heard_at=now, commands=commands)
    assert bool(alarm_of(activity, now)) is alarms
    assert alarm_of(HostActivity(heard_at=now, commands=commands, failures=1), now) == ""


@pytest.mark.parametrize(("days", "is_told"), [(7, True), (8, False)])
def test_late_answers_of_seven_days_are_told(home: Path, days: int, is_told: bool) -> None:
    """`checkups.COUNTED_DAYS`."""
    settings = load_settings()
    Path(settings.run_path).mkdir(parents=True)
    at = datetime.now(UTC) - timedelta(days=days)
    (Path(settings.run_path) / COUNTS).write_text(f"{at:%Y-%m-%dT23:59:59Z}\tcodex\tlate\n")
    assert any("1 late" in finding.what for finding in check_capture(settings)) is is_told


def test_three_lines_of_the_hooks_log_are_shown(home: Path) -> None:
    """`checkups.LOG_LINES`."""
    settings = load_settings()
    Path(settings.log_path).parent.mkdir(parents=True, exist_ok=True)
    Path(settings.log_path).write_text("first\nsecond\nthird\nfourth\n")
    assert [finding.what for finding in check_switches(settings)] == ["second", "third", "fourth"]


def test_a_locked_database_is_waited_for_three_seconds(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`checkups.WAIT_S`."""
    with Memory(str(home.parent)) as memory:
        memory.remember("Count the tides")
        settings = memory.settings
    slept = [0.0]

    def sleep(seconds: float) -> None:
        slept[0] += seconds

    other = FileLock(settings.database_path + ".lock")
    assert other.take(0.0, 0.0)
    with monkeypatch.context() as patched:
        patched.setattr("time.monotonic", lambda: slept[0])
        patched.setattr("time.sleep", sleep)
        [finding] = mend_store(settings)
    other.close()
    assert "locked" in finding.what
    assert 3.0 <= slept[0] < 3.005


def script(folder: Path, name: str, text: str) -> Path:
    program = folder / name
    program.write_text(f"#!{sys.executable}\n{text}\n")
    program.chmod(0o755)
    return program


@pytest.mark.skipif(sys.platform == "win32", reason="the slow program is a script")
@pytest.mark.parametrize(("seconds", "number"), [(0.05, ""), (60.0, "1.2.3")])
def test_a_host_that_does_not_tell_its_version_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, number: str
) -> None:
    """`hostcheck.VERSION_TIMEOUT_S`."""
    script(tmp_path, "slowhost", "import time; time.sleep(1); print('slowhost 1.2.3')")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(hostcheck, "VERSION_TIMEOUT_S", seconds)
    profile = SimpleNamespace(headless=SimpleNamespace(program="slowhost"))
    version, error = version_of(cast("Any", profile))
    assert (version, "timed out" in error) == (number, not number)


@pytest.mark.parametrize(("seconds", "answer"), [(0.05, "no answer in 0 s"), (60.0, "")])
def test_a_server_that_does_not_answer_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, answer: str
) -> None:
    """`serverproof.START_TIMEOUT_S`."""
    monkeypatch.setattr(serverproof, "START_TIMEOUT_S", seconds)
    late = "import time; time.sleep(1); print('{\"serverInfo\": {}}')"
    assert start_server([sys.executable, "-c", late], str(tmp_path)) == answer


@pytest.mark.parametrize(("seconds", "learns"), [(0.05, False), (60.0, True)])
def test_the_proof_waits_for_its_learner(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float, learns: bool
) -> None:
    """`proof.LEARN_TIMEOUT_S`."""
    monkeypatch.setattr(proof, "LEARN_TIMEOUT_S", seconds)
    story = _Story(str(tmp_path))

    def learn() -> None:
        with Memory(story.folder, settings=load_settings(story.environment)) as memory:
            memory.remember(f"The {proof.MARK} is counted in whole hours")

    if learns:
        late = threading.Timer(0.3, learn)
        late.start()
        assert story.wait_for_learner() == "the rule became a lesson"
        late.join()
    else:
        with pytest.raises(ValueError, match="no lesson was learnt"):
            story.wait_for_learner()


@pytest.mark.parametrize("seconds", [0.001, 60.0])
def test_the_proof_ends_a_program_that_takes_too_long(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seconds: float
) -> None:
    """`proof.STEP_TIMEOUT_S`."""
    monkeypatch.setattr(proof, "STEP_TIMEOUT_S", seconds)
    story = _Story(str(tmp_path))
    command = [sys.executable, "-c", "import time; time.sleep(0.3); print('answered')"]
    if seconds < 1:
        with pytest.raises(proof.subprocess.TimeoutExpired):
            story._run(command, "")
    else:
        assert story._run(command, "") == "answered\n"


def test_setup_reads_commits_for_twenty_seconds(code: Codebase, monkeypatch: pytest.MonkeyPatch) -> None:
    """`_firstrun.SECONDS`."""
    spans: list[float] = []
    learn = Memory.backfill_git

    def record(memory: Memory, how: Any, *more: Any) -> GitReport:
        spans.append(how.seconds)
        return learn(memory, how, *more)

    monkeypatch.setattr(Memory, "backfill_git", record)
    here = call.Call()
    here.folder = str(code.folder)
    _firstrun.begin(here, load_settings(), [], from_git=True, yes=True)
    assert spans == [20.0]


def test_three_failures_in_a_row_end_a_distillation(project: Path) -> None:
    """`_distilbackfill.FAILURES_IN_A_ROW`."""
    with Memory(os.getcwd()) as memory:
        for session in ("s1", "s2", "s3", "s4"):
            where: dict[str, Any] = {"session": session, "project": "", "cwd": str(project)}
            memory.append([
                make_event(**where, key="p", trust="person", text=f"Please never use floats for money in {session}."),
                *(make_event(**where, key=f"r{n}", kind="reply", text=f"Step {n} is done.") for n in range(3)),
                make_event(**where, key="e", kind="file_edit", files=("a.py",)),
            ])  # fmt: skip
    use(project, "raise SystemExit(1)")
    result = CliRunner().invoke(cli, ["-C", str(project), "backfill", "--distil", "--yes", "--json"])
    assert "stopped: 3 failures in a row" in result.stderr
    assert len([row for row in json.loads(result.stdout)["sessions"] if "failed" in row]) == 3
