"""What followed a delivery decides what became of its lesson, and what became of lessons moves them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Change, Outcome
from holdfast.domain.statefamilies import OUTCOMES_OPEN, OUTCOMES_POSITION
from holdfast.domain.vocabulary import SessionId
from holdfast.lean.records import replace
from holdfast.outcomes.tuning import HORIZON
from holdfast.ports.store import LogFilter
from holdfast.testing.builders import make_delivery, make_event, make_lesson

BEGAN = datetime(2026, 3, 2, 9, tzinfo=UTC)
KNOWN_SINCE = BEGAN - timedelta(days=30)
GETWD = "Use `paths.RepoRoot` for the root of the repository, never `os.Getwd`."


class Session:
    """One made-up session: every step is a minute after the one before."""

    def __init__(self, memory: Memory, name: str = "s1", begins: datetime = BEGAN) -> None:
        self.memory, self.name, self.at = memory, SessionId(name), begins

    def step(self, kind: str, **fields: Any) -> Event:
        self.at += timedelta(minutes=1)
        plain = {"project": self.memory.location.project.id, "cwd": self.memory.folder, "text": "", **fields}
        event = make_event(session=self.name, kind=kind, at=self.at, **plain)
        self.memory.append([event])
        return event

    def say(self, text: str) -> Event:
        return self.step("prompt", text=text, trust="person")

    def edit(self, file: str, new: str, old: str = "") -> Event:
        return self.step("file_edit", files=(file,), new=new, old=old, tool="Edit")

    def run(self, command: str, text: str = "", code: int = 0) -> Event:
        return self.step(
            "tool_failure" if code else "tool_result", command=command, exit_code=code, text=text, tool="Bash"
        )

    def deliver(self, lesson: Lesson, moment: str = "before_file", trigger: str = "src/tides.py") -> None:
        self.at += timedelta(minutes=1)
        record = make_delivery(
            at=self.at, project=self.memory.location.project.id, session=self.name, lesson=lesson.id, moment=moment,
            trigger=trigger, tokens=40,
        )  # fmt: skip
        self.memory.services.store.record([record])

    def end(self) -> None:
        self.step("session_end")


@pytest.fixture
def session(memory: Memory) -> Session:
    return Session(memory)


def keep(memory: Memory, insight: str, **fields: Any) -> Lesson:
    plain = {"trust": "agent", "recorded_at": KNOWN_SINCE, "project": memory.location.project.id}
    lesson = make_lesson(insight=insight, **{**plain, **fields})
    memory.services.store.put([lesson], {lesson.id: None})
    return lesson


def outcomes(memory: Memory, lesson: Lesson) -> list[Outcome]:
    return memory.services.store.find_records(Outcome, LogFilter(lesson=lesson.id))


def verdict(memory: Memory, lesson: Lesson) -> str:
    memory.settle_pending()
    (outcome,) = outcomes(memory, lesson)
    return outcome.verdict


def state(memory: Memory, lesson: Lesson) -> str:
    return memory.services.store.get([lesson.id])[0].state


def play(memory: Memory, lesson: Lesson, name: str, text: str, day: int) -> None:
    """A session that is told the lesson and writes that text into the file."""
    session = Session(memory, name, BEGAN + timedelta(days=day))
    session.say("please mend the tide table")
    session.deliver(lesson)
    session.edit("src/tides.py", text)
    session.end()
    memory.settle_pending()


# What became of a lesson


def test_a_name_that_the_lesson_brought_and_the_next_edit_uses_is_heeded(memory: Memory, session: Session) -> None:
    lesson = keep(memory, GETWD)
    session.say("find the root of the repository")
    session.deliver(lesson)
    edit = session.edit("src/tides.py", "root = paths.RepoRoot()")
    session.end()
    memory.settle_pending()
    (outcome,) = outcomes(memory, lesson)
    assert (outcome.verdict, outcome.note, outcome.evidence) == ("heeded", "used paths.RepoRoot", (edit.id,))
    assert (outcome.moment, outcome.judge) == ("before_file", "judge/1")


def test_a_name_that_the_session_had_before_is_no_proof_of_heeding(memory: Memory, session: Session) -> None:
    lesson = keep(memory, GETWD)
    session.say("use paths.RepoRoot here")
    session.deliver(lesson)
    session.edit("src/tides.py", "root = paths.RepoRoot()")
    session.end()
    assert verdict(memory, lesson) == "unclear"


def test_the_opposite_that_stands_is_an_override(memory: Memory, session: Session) -> None:
    lesson = keep(memory, GETWD)
    session.deliver(lesson)
    session.edit("src/tides.py", "root = os.Getwd()")
    session.end()
    assert verdict(memory, lesson) == "overridden"


def test_the_opposite_that_is_taken_out_again_is_the_failure_it_warned_of(memory: Memory, session: Session) -> None:
    lesson = keep(memory, GETWD)
    session.deliver(lesson)
    session.edit("src/tides.py", "root = os.Getwd()")
    session.edit("src/tides.py", "root = top", old="root = os.Getwd()")
    session.end()
    assert verdict(memory, lesson) == "failed"


def test_a_command_that_is_run_as_told_is_heeded_and_a_longer_one_is_another(memory: Memory, session: Session) -> None:
    lesson = keep(memory, "Run `mise run test:ci` before calling a change done.", kind="tooling")
    session.deliver(lesson, "before_command", "mise run test")
    session.run("mise run test:cinema")
    session.run("cd src && mise run test:ci | tail -3")
    session.end()
    assert verdict(memory, lesson) == "heeded"


def test_a_rule_that_new_code_comes_with_tests_is_judged_in_any_words(memory: Memory, session: Session) -> None:
    lesson = keep(memory, "New functionality is expected to come with unit tests.", kind="preference")
    session.deliver(lesson, "session_start", "")
    for n in range(3):
        session.edit("src/tides.py", f"x = {n}")
    session.end()
    assert verdict(memory, lesson) == "ignored"


def test_a_test_that_fails_before_the_code_changes_keeps_the_rule_of_tests_first(
    memory: Memory, session: Session
) -> None:
    lesson = keep(memory, "Prove a finding with a test that fails first, and only then fix it.", kind="preference")
    session.deliver(lesson, "session_start", "")
    session.edit("tests/test_tides.py", "def test_tide(): assert tide() == 3")
    session.run("pytest -q", "1 failed", code=1)
    session.edit("src/tides.py", "tide = 3")
    session.end()
    assert verdict(memory, lesson) == "heeded"


def test_a_test_that_fails_after_the_code_changed_says_nothing_of_tests_first(memory: Memory, session: Session) -> None:
    lesson = keep(memory, "Prove a finding with a test that fails first, and only then fix it.", kind="preference")
    session.deliver(lesson, "session_start", "")
    session.edit("src/tides.py", "tide = 3")
    session.edit("tests/test_tides.py", "def test_tide(): assert tide() == 3")
    session.run("pytest -q", "1 failed", code=1)
    session.end()
    assert verdict(memory, lesson) == "unclear"


@pytest.mark.parametrize(
    ("search", "expected"), [("grep -rn old_height src", "heeded"), ("grep -rn basin .", "unclear")]
)
def test_a_search_for_what_was_just_changed_keeps_the_rule_to_look_elsewhere(
    memory: Memory, session: Session, search: str, expected: str
) -> None:
    rule = "After fixing a bug, search the whole codebase for the same pattern."
    lesson = keep(memory, rule, kind="preference")
    session.deliver(lesson, "session_start", "")
    session.edit("src/tides.py", "level = new_height(x)", old="level = old_height(x)")
    session.run(search)
    session.end()
    assert verdict(memory, lesson) == expected


@pytest.mark.parametrize(
    ("new", "command", "text", "expected"),
    [
        ("_ = file.Sync()", "make lint", "", "heeded"),
        ("_ = file.Sync()", "make lint | tail", "0 issues.", "heeded"),
        ("_ = file.Sync()", "make lint | tail", "", "unclear"),
        ("_ = file.Sync()", "make lint | tail", "10 issues.", "unclear"),
        ("_ = file.Sync()", "make lint", "main.go:3:2: unchecked error (errcheck)", "failed"),
        ("x := 1", "make lint", "", "unclear"),
    ],
)
def test_a_linters_lesson_is_judged_by_its_code_and_the_next_run(
    memory: Memory, session: Session, new: str, command: str, text: str, expected: str
) -> None:
    lesson = keep(memory, "errcheck rejects errors that are dropped with a blank.", kind="tooling")
    session.deliver(lesson, "before_file", "main.go")
    session.edit("main.go", new)
    session.run(command, text)
    session.end()
    assert verdict(memory, lesson) == expected


def test_a_comment_behind_quoted_code_is_no_part_of_it(memory: Memory, session: Session) -> None:
    lesson = keep(memory, "Lint rejects it: add `//nolint:nilerr // reason` on the line.", kind="tooling")
    session.deliver(lesson, "before_file", "main.go")
    session.edit("main.go", "return nil //nolint:nilerr // it is gone anyway")
    session.end()
    assert verdict(memory, lesson) == "heeded"


def test_the_other_file_of_a_pair_and_a_test_count_as_heeded(memory: Memory, session: Session) -> None:
    pair = keep(memory, "A change of tides must be made in both files.", paths=("src/tides.py", "src/moon.py"))
    tests = keep(memory, "Add a test with every fix.", kind="preference")
    session.deliver(pair)
    session.deliver(tests, "session_start", "")
    session.edit("src/tides.py", "HIGH = 5")
    session.edit("src/moon.py", "FULL = 1")
    session.edit("tests/test_tides.py", "def test_high(): ...")
    session.end()
    assert (verdict(memory, pair), verdict(memory, tests)) == ("heeded", "heeded")


def test_a_linter_that_reports_what_the_lesson_names_is_a_failure_all_the_same(
    memory: Memory, session: Session
) -> None:
    lesson = keep(memory, "nilerr: do not return nil after an error was checked.", kind="tooling")
    session.deliver(lesson)
    session.run("mise run lint", "cmd/a.go:12:3: error is not nil but it returns nil (nilerr)\n", code=1)
    session.end()
    assert verdict(memory, lesson) == "failed"


def test_an_order_without_a_trace_in_much_work_is_ignored_and_a_description_is_not(
    memory: Memory, session: Session
) -> None:
    order, fact = keep(memory, GETWD), keep(memory, "`TideTable` holds heights in centimetres.")
    session.deliver(order)
    session.deliver(fact)
    for n in range(4):
        session.edit("src/tides.py", f"HIGH = {n}")
    session.end()
    assert (verdict(memory, order), verdict(memory, fact)) == ("ignored", "unclear")


def test_the_user_who_states_the_opposite_overrules(memory: Memory, session: Session) -> None:
    lesson = keep(memory, "Use tabs in the Makefile of the harbour project.")
    session.deliver(lesson)
    session.edit("Makefile", "all:")
    session.say("no, use spaces in the Makefile of the harbour project, not tabs")
    session.end()
    assert verdict(memory, lesson) == "overridden"


@pytest.mark.parametrize(
    "words", ["that note is wrong", "The memory about tides is outdated.", "please ignore that lesson"]
)
def test_a_user_who_calls_a_note_wrong_counts_as_a_person_who_states_it(
    memory: Memory, session: Session, words: str
) -> None:
    lesson = keep(memory, GETWD)
    session.say("hello")
    session.deliver(lesson)
    session.say(words)
    session.end()
    memory.settle_pending()
    assert {(outcome.verdict, outcome.judge) for outcome in outcomes(memory, lesson)} >= {("hurt", "")}
    assert state(memory, lesson) == "retired"


def test_a_complaint_about_one_of_several_notes_names_nobody_without_an_id(memory: Memory, session: Session) -> None:
    told_lesson, other = keep(memory, GETWD), keep(memory, "Tide tables are written by hand.")
    session.deliver(told_lesson)
    both = replace(memory.log()[0], id="again", lesson=other.id)
    memory.services.store.record([both])
    session.say("that note is wrong")
    session.end()
    memory.settle_pending()
    assert not [
        outcome for lesson in (told_lesson, other) for outcome in outcomes(memory, lesson) if outcome.verdict == "hurt"
    ]


# What was missed


def test_a_rule_that_the_user_has_to_say_though_memory_has_it_is_missed(memory: Memory, session: Session) -> None:
    lesson = keep(memory, "Seed the clock before the login tests.")
    session.edit("tests/test_login.py", "def test_login(): ...")
    prompt = session.say("no, seed the clock before the login tests")
    session.end()
    memory.settle_pending()
    (outcome,) = outcomes(memory, lesson)
    assert (outcome.verdict, outcome.evidence, outcome.moment) == ("missed", (prompt.id,), "prompt")


def test_a_report_whose_answer_memory_has_is_missed_unless_it_was_told_before(memory: Memory) -> None:
    lesson = keep(memory, "errcheck rejects blank assignments here; add a nolint comment.", kind="tooling")
    report = "cmd/a.go:12:3: error return value is not checked (errcheck)\n"
    untold = Session(memory, "untold")
    untold.run("mise run lint", report, code=1)
    untold.end()
    informed = Session(memory, "informed")
    informed.deliver(lesson)
    informed.run("mise run lint", report, code=1)
    informed.end()
    memory.settle_pending()
    assert {outcome.session: outcome.verdict for outcome in outcomes(memory, lesson)} == {
        "untold": "missed",
        "informed": "failed",
    }


def test_what_a_session_itself_taught_or_what_came_later_is_not_missed(memory: Memory, session: Session) -> None:
    late = keep(
        memory, "errcheck rejects blank assignments here.", kind="tooling", recorded_at=BEGAN + timedelta(days=1)
    )
    session.run("mise run lint", "cmd/a.go:12:3: error return value is not checked (errcheck)\n", code=1)
    session.end()
    memory.settle_pending()
    assert outcomes(memory, late) == []


# Once, whatever happens


def test_a_session_judged_twice_counts_once(memory: Memory, session: Session) -> None:
    lesson = keep(memory, GETWD)
    session.deliver(lesson)
    session.edit("src/tides.py", "root = os.Getwd()")
    session.end()
    memory.settle_pending()
    first = outcomes(memory, lesson)
    memory.services.store.set_state(
        OUTCOMES_POSITION, "", ""
    )  # as for a learner that was killed before it kept how far it came
    report = memory.settle_pending()
    assert (report.sessions, report.outcomes) == (1, 0)
    assert outcomes(memory, lesson) == first


def test_a_damaged_mark_loses_nothing(memory: Memory, session: Session) -> None:
    lesson = keep(memory, GETWD)
    session.deliver(lesson)
    session.edit("src/tides.py", "root = os.Getwd()")
    memory.services.store.set_state(OUTCOMES_POSITION, "", "many")
    memory.services.store.set_state(OUTCOMES_OPEN, "", "{")
    session.end()
    assert verdict(memory, lesson) == "overridden"


def test_two_learners_at_once_count_once(memory: Memory, session: Session, project: Path) -> None:
    lesson = keep(memory, GETWD, state="probation")
    for day in range(2):
        session_of_day = Session(memory, f"s{day}", BEGAN + timedelta(days=day))
        session_of_day.deliver(lesson)
        session_of_day.edit("src/tides.py", "paths.RepoRoot()")
        session_of_day.end()
    with Memory(str(project)) as other:
        marks = _StaleMarks(other)
        memory.settle_pending()
        marks.settle()
    assert [outcome.verdict for outcome in outcomes(memory, lesson)] == ["heeded", "heeded"]
    changes = memory.services.store.find_records(Change, LogFilter(lesson=lesson.id))
    assert [change.verb for change in changes] == ["outcome"]
    assert state(memory, lesson) == "active"


class _StaleMarks:
    """A learner that read how far everybody came before the other one wrote it."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory
        self.position = memory.services.store.get_state(OUTCOMES_POSITION)

    def settle(self) -> None:
        self.memory.services.store.set_state(OUTCOMES_POSITION, "", self.position)
        self.memory.settle_pending()


def test_a_session_that_still_runs_waits_and_is_judged_at_its_end(memory: Memory) -> None:
    lesson = keep(memory, GETWD)
    running = Session(memory, "s1", datetime.now(UTC) - timedelta(minutes=10))
    running.deliver(lesson)
    running.edit("src/tides.py", "x = 1")
    memory.settle_pending()
    assert outcomes(memory, lesson) == []
    running.edit("src/tides.py", "root = paths.RepoRoot()")
    running.end()
    assert verdict(memory, lesson) == "heeded"


def test_a_session_that_never_ends_is_judged_piece_by_piece(memory: Memory) -> None:
    lesson, later = keep(memory, GETWD), keep(memory, "Use `tide.Table` for tables.")
    endless = Session(memory, "s1", datetime.now(UTC) - timedelta(minutes=HORIZON + 30))
    endless.deliver(lesson)
    endless.edit("src/tides.py", "root = paths.RepoRoot()")
    for n in range(HORIZON):
        endless.edit("src/tides.py", f"HIGH = {n}")
    endless.deliver(later)
    memory.settle_pending()
    assert [outcome.verdict for outcome in outcomes(memory, lesson)] == ["heeded"]
    assert outcomes(memory, later) == []
    memory.settle_pending()
    assert len(outcomes(memory, lesson)) == 1


def test_a_clock_that_jumps_back_loses_no_outcome(memory: Memory) -> None:
    ahead = datetime.now(UTC) + timedelta(days=400)
    lesson = keep(memory, GETWD, recorded_at=ahead, state="probation")
    for day in range(2):
        play(memory, lesson, f"s{day}", "root = paths.RepoRoot()", day)
    assert state(memory, lesson) == "active"
    assert [outcome.verdict for outcome in outcomes(memory, lesson)] == ["heeded", "heeded"]


def test_a_purged_lesson_leaves_no_outcome_and_stops_nobody(memory: Memory, session: Session) -> None:
    gone, stays = keep(memory, "Tide tables are written by hand, never generated."), keep(memory, GETWD)
    session.deliver(gone)
    session.deliver(stays)
    session.edit("src/tides.py", "root = paths.RepoRoot()")
    session.end()
    memory.purge(gone.id)
    assert verdict(memory, stays) == "heeded"
    assert outcomes(memory, gone) == []
    memory.purge(stays.id)
    assert outcomes(memory, stays) == []
    assert memory.stats()[0].delivered == 0


def test_a_detector_that_raises_keeps_nobody_from_being_judged(memory: Memory, session: Session) -> None:
    class Breaks:
        id = "breaks/1"

        def detect(self, window: object) -> list[Any]:
            raise RuntimeError("no idea")

    memory.services = replace(memory.services, detectors=lambda: (Breaks(),))
    lesson = keep(memory, GETWD)
    session.deliver(lesson)
    session.edit("src/tides.py", "root = paths.RepoRoot()")
    session.end()
    assert verdict(memory, lesson) == "heeded"


# What outcomes move


def test_two_heeded_uses_confirm_a_lesson_on_probation(memory: Memory) -> None:
    lesson = keep(memory, GETWD, state="probation")
    play(memory, lesson, "s0", "root = paths.RepoRoot()", 0)
    assert state(memory, lesson) == "probation"
    play(memory, lesson, "s1", "root = paths.RepoRoot()", 1)
    assert state(memory, lesson) == "active"


def test_overrides_retire_a_lesson_and_undo_starts_the_count_anew(memory: Memory) -> None:
    lesson = keep(memory, GETWD)
    for day in range(2):
        play(memory, lesson, f"s{day}", "root = os.Getwd()", day)
    assert state(memory, lesson) == "retired"
    memory.undo()
    assert state(memory, lesson) == "active"
    memory.settle_pending()
    play(memory, lesson, "s2", "root = os.Getwd()", 2)
    assert state(memory, lesson) == "active"


def test_what_a_person_stated_is_never_closed_by_outcomes_but_put_up_for_review(memory: Memory) -> None:
    lesson = keep(memory, GETWD, trust="person")
    for day in range(3):
        play(memory, lesson, f"s{day}", "root = os.Getwd()", day)
    assert state(memory, lesson) == "active"
    assert [(doubted.id, words) for doubted, words in memory.for_review()] == [
        (lesson.id, "3 overridden; a person decides")
    ]


def test_a_statement_counts_more_than_what_is_inferred_and_at_once(memory: Memory) -> None:
    liked, disliked = keep(memory, GETWD, state="probation"), keep(memory, "Tide tables are written by hand.")
    memory.feedback(liked.id, "helped")
    memory.feedback(disliked.id, "hurt", judge="agent")
    assert (state(memory, liked), state(memory, disliked)) == ("active", "retired")


def test_the_bill_of_a_session_says_what_it_was_told_missed_and_taught(memory: Memory, session: Session) -> None:
    assert memory.bill() is None
    lesson, fact = keep(memory, GETWD), keep(memory, "`TideTable` holds heights in centimetres.")
    keep(memory, "Learnt here.", provenance=replace(lesson.provenance, session=session.name))
    session.deliver(lesson)
    session.deliver(fact)
    before = memory.bill()
    assert before is not None
    assert before.words == "told 2 (2 not judged yet), missed 0, learnt 1"
    session.edit("src/tides.py", "root = paths.RepoRoot()")
    session.end()
    memory.settle_pending()
    bill = memory.bill()
    assert bill is not None
    assert bill.words == "told 2 (1 heeded), missed 0, learnt 1"


def test_stats_count_what_was_told_and_what_was_withheld_apart(memory: Memory) -> None:
    lesson = keep(memory, GETWD, trust="person")
    for day in range(4):
        play(memory, lesson, f"s{day}", "root = paths.RepoRoot()" if day % 2 else "x = 1", day)
    held_back = Session(memory, "without", BEGAN + timedelta(days=9))
    held_back.say("mend the table")
    memory.services.store.record([
        Outcome(
            id="w", at=held_back.at, project=memory.location.project.id, session=held_back.name, lesson=lesson.id,
            verdict="withheld", judge="holdout/1", moment="before_file", trigger="src/tides.py", withheld=True,
        )
    ])  # fmt: skip
    held_back.edit("src/tides.py", "root = os.Getwd()")
    held_back.edit("src/tides.py", "root = top", old="root = os.Getwd()")
    held_back.end()
    memory.settle_pending()
    (stats,) = memory.stats()
    assert (stats.delivered, stats.tokens, stats.withheld, stats.sessions) == (4, 160, 1, 5)
    assert (stats.heeded.count, stats.heeded.of) == (2, 4)
    assert (stats.failed.count, stats.failed_without.count, stats.failed_without.of) == (0, 1, 1)
    assert stats.effect_on_failures.difference == -1
    assert memory.stats(all_projects=True)[0].name == "all projects"
