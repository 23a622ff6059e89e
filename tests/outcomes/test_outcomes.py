"""What followed a delivery decides what became of its lesson, and what became of lessons moves them."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.event import Event
from holdfast.domain.lesson import Lesson
from holdfast.domain.records import Outcome
from holdfast.domain.statefamilies import OUTCOMES_OPEN, OUTCOMES_POSITION
from holdfast.domain.vocabulary import SessionId
from holdfast.outcomes.standing import order_factors
from holdfast.outcomes.tuning import HORIZON
from holdfast.ports.store import LogFilter
from holdfast.testing.builders import make_delivery, make_event, make_lesson
from holdfast.text.signature import error_signature

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
        """A delivery; one with a file comes after the agent's call to read it."""
        if moment == "before_file":
            self.step("tool_result", files=(trigger,), tool="Read")
        self.at += timedelta(minutes=1)
        self.record(lesson, moment, trigger)

    def record(self, lesson: Lesson, moment: str, trigger: str) -> None:
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


def factor(memory: Memory, lesson: Lesson) -> float:
    return order_factors(memory.services.store, memory.location.project.id).get(lesson.id, 1.0)


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
    assert (outcome.moment, outcome.judge) == ("before_file", "judge/2")


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


def test_a_command_that_is_run_as_stated_is_heeded_and_a_longer_one_is_another(
    memory: Memory, session: Session
) -> None:
    lesson = keep(memory, "Run `mise run test:ci` before calling a change done.", kind="tooling")
    session.deliver(lesson, "before_command", "mise run test")
    session.run("mise run test:cinema")
    session.run("cd src && mise run test:ci | tail -3")
    session.end()
    assert verdict(memory, lesson) == "heeded"


def test_a_comment_behind_quoted_code_is_no_part_of_it(memory: Memory, session: Session) -> None:
    lesson = keep(memory, "Lint rejects it: add `//nolint:nilerr // reason` on the line.", kind="tooling")
    session.deliver(lesson, "before_file", "main.go")
    session.edit("main.go", "return nil //nolint:nilerr // it is gone anyway")
    session.end()
    assert verdict(memory, lesson) == "heeded"


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
    assert factor(memory, lesson) == 0.25


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


def test_a_report_whose_answer_memory_has_is_missed_unless_it_was_shown_before(memory: Memory) -> None:
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
    lesson = keep(memory, GETWD)
    for day in range(3):
        session_of_day = Session(memory, f"s{day}", BEGAN + timedelta(days=day))
        session_of_day.deliver(lesson)
        session_of_day.edit("src/tides.py", "paths.RepoRoot()")
        session_of_day.end()
    with Memory(str(project)) as other:
        marks = _StaleMarks(other)
        memory.settle_pending()
        marks.settle()
    assert [outcome.verdict for outcome in outcomes(memory, lesson)] == ["heeded"] * 3
    assert factor(memory, lesson) == 2.0


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
    lesson = keep(memory, GETWD, recorded_at=ahead)
    for day in range(3):
        play(memory, lesson, f"s{day}", "root = paths.RepoRoot()", day)
    assert [outcome.verdict for outcome in outcomes(memory, lesson)] == ["heeded"] * 3
    assert factor(memory, lesson) == 2.0


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


def test_outcomes_move_the_order_and_no_state(memory: Memory) -> None:
    doubtful, good = keep(memory, GETWD), keep(memory, "Use `paths.Root` for the top folder.")
    for day in range(3):
        play(memory, doubtful, f"a{day}", "root = os.Getwd()", day)
        play(memory, good, f"b{day}", "root = paths.Root()", 10 + day)
    assert (state(memory, doubtful), factor(memory, doubtful)) == ("active", 0.5)
    assert (state(memory, good), factor(memory, good)) == ("active", 2.0)
    assert [(lesson.id, words) for lesson, words in memory.for_review()] == [(doubtful.id, "3 overridden")]


def test_a_report_of_harm_counts_at_once_until_somebody_vouches_for_the_lesson(memory: Memory) -> None:
    lesson = keep(memory, GETWD)
    memory.feedback(lesson.id, "hurt", judge="agent")
    assert factor(memory, lesson) == 0.25
    assert [doubted.id for doubted, _ in memory.for_review()] == [lesson.id]
    memory.feedback(lesson.id, "helped")
    assert factor(memory, lesson) == 2.0
    assert memory.for_review() == []


def test_of_two_like_lessons_the_one_reported_as_harmful_is_recalled_last(memory: Memory) -> None:
    first = memory.remember("Drain the retry queue before shutdown of the harbour server.")
    memory.remember("Drain the retry queue of the harbour after each shutdown drill.")
    question = "drain the retry queue before shutdown of the harbour server"
    assert memory.recall(question).items[0].lesson.id == first.id
    memory.feedback(first.id, "hurt")
    assert [item.lesson.id for item in memory.recall(question).items][-1] == first.id


# Behaviour has to change


MIGRATE = "Before `make migrate`, run `make db up`: the migration fails without the database."


def test_the_command_that_a_lesson_is_delivered_before_is_no_sign_of_heeding(memory: Memory) -> None:
    """The lesson is ignored, and `make migrate` is simply run: four times, it was never heeded."""
    lesson = keep(memory, MIGRATE, kind="tooling")
    for day in range(4):
        session = Session(memory, f"s{day}", BEGAN + timedelta(days=day))
        session.deliver(lesson, "before_command", "make migrate")
        session.run("make migrate")
        session.run("make migrate")
        session.end()
    memory.settle_pending()
    assert {outcome.verdict for outcome in outcomes(memory, lesson)} <= {"unclear", "ignored"}


@pytest.mark.parametrize("moment", ["before_command", "after_failure"])
@pytest.mark.parametrize("reported_first", [True, False])
def test_a_call_that_failed_before_the_lesson_was_read_is_no_sign_of_failing(
    memory: Memory, moment: str, reported_first: bool
) -> None:
    """The call that caused the delivery fails; then the lesson is followed."""
    failure = "could not connect to the database: connection refused"
    lesson = keep(memory, MIGRATE, kind="tooling", error_signature=error_signature(failure), command="make migrate")
    session = Session(memory)
    trigger = "make migrate" if moment == "before_command" else failure
    if reported_first:
        session.run("make migrate", failure, code=2)
    session.deliver(lesson, moment, trigger)
    if not reported_first:
        session.run("make migrate", failure, code=2)
    session.run("make db up")
    session.run("make migrate")
    session.end()
    assert verdict(memory, lesson) == "heeded"


def test_the_same_failure_after_the_lesson_was_read_is_a_failure_unless_the_lesson_was_followed_since(
    memory: Memory,
) -> None:
    failure = "could not connect to the database: connection refused"
    lesson = keep(memory, MIGRATE, kind="tooling", error_signature=error_signature(failure), command="make migrate")
    for name, last in (("stubborn", "make migrate"), ("persuaded", "make db up")):
        session = Session(memory, name)
        session.deliver(lesson, "session_start", "")
        session.run("make migrate", failure, code=2)
        session.run(last)
        session.end()
    memory.settle_pending()
    assert {outcome.session: outcome.verdict for outcome in outcomes(memory, lesson)} == {
        "stubborn": "failed",
        "persuaded": "heeded",
    }


def test_a_rule_is_not_overridden_by_what_its_own_session_proves(memory: Memory) -> None:
    """A person's rule was judged against the lesson that the machine had learnt from it."""
    rule = keep(memory, "Run `make db up` before `make migrate`.", trust="person", kind="convention")
    session = Session(memory)
    session.deliver(rule, "session_start", "")
    session.run("make migrate", "could not connect to the database", code=2)
    session.run("make db up")
    session.run("make migrate")
    session.say("run make db up before make migrate, always")
    session.end()
    assert verdict(memory, rule) in ("heeded", "failed")
    assert factor(memory, rule) == 1.0


def test_a_command_that_untold_sessions_run_is_a_habit(memory: Memory) -> None:
    lesson = keep(memory, "Run `make check` before a push.", kind="tooling")
    for day in range(2):
        untold = Session(memory, f"untold{day}", BEGAN + timedelta(days=day))
        untold.run("make check")
        untold.end()
    informed = Session(memory, "informed", BEGAN + timedelta(days=9))
    informed.deliver(lesson, "session_start", "")
    informed.run("make check")
    informed.end()
    assert verdict(memory, lesson) == "unclear"


def test_the_session_that_taught_a_lesson_makes_no_habit_and_neither_do_those_that_were_shown_it(
    memory: Memory,
) -> None:
    lesson = keep(memory, "Run `make check` before a push.", kind="tooling", sessions_seen=("taught", "again"))
    for day, name in enumerate(("taught", "again", "s0", "s1", "s2")):
        session = Session(memory, name, BEGAN + timedelta(days=day))
        if name.startswith("s"):
            session.deliver(lesson, "session_start", "")
        session.run("make check")
        session.end()
    memory.settle_pending()
    assert [outcome.verdict for outcome in outcomes(memory, lesson)] == ["heeded"] * 3


def test_a_name_that_a_file_or_an_output_showed_is_no_proof_of_heeding(memory: Memory, session: Session) -> None:
    lesson = keep(memory, GETWD)
    session.deliver(lesson)
    session.run("cat src/harbour.py", "root = paths.RepoRoot()")
    session.edit("src/tides.py", "root = paths.RepoRoot()")
    session.end()
    assert verdict(memory, lesson) == "unclear"


def test_the_edit_that_caused_a_delivery_is_no_sign_of_anything(memory: Memory, session: Session) -> None:
    lesson = keep(memory, GETWD)
    session.deliver(lesson, "before_command", "none")  # so that no read comes first
    record = replace(memory.log()[0], id="edit", moment="before_file", trigger="src/tides.py")
    other = keep(memory, "Use `tide.Root`, never `os.Getwd`.")
    memory.services.store.record([replace(record, lesson=other.id)])
    session.edit("src/tides.py", "root = os.Getwd() or tide.Root()")
    session.end()
    assert verdict(memory, other) == "unclear"


# A session's sums, and the project's


def test_the_sums_of_a_session_say_what_it_was_shown_missed_and_taught(memory: Memory, session: Session) -> None:
    assert memory.session_sums() is None
    lesson, fact = keep(memory, GETWD), keep(memory, "`TideTable` holds heights in centimetres.")
    keep(memory, "Learnt here.", provenance=replace(lesson.provenance, session=session.name))
    session.deliver(lesson)
    session.deliver(fact)
    before = memory.session_sums()
    assert before is not None
    assert before.words == "told 2 (2 not judged yet), missed 0, learnt 1"
    session.edit("src/tides.py", "root = paths.RepoRoot()")
    session.end()
    memory.settle_pending()
    sums = memory.session_sums()
    assert sums is not None
    assert sums.words == "told 2 (1 heeded), missed 0, learnt 1"


def test_stats_count_what_was_delivered_and_what_was_withheld_apart(memory: Memory) -> None:
    lesson = keep(memory, GETWD, trust="person")
    for day in range(4):
        play(memory, lesson, f"s{day}", "root = paths.RepoRoot()" if day % 2 else "x = 1", day)
    held_back = Session(memory, "without", BEGAN + timedelta(days=9))
    held_back.say("mend the table")
    memory.services.store.record([
        Outcome(
            id="w", at=held_back.at, project=memory.location.project.id, session=held_back.name, lesson=lesson.id,
            verdict="withheld", judge="holdout/1", moment="session_start", withheld=True,
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
    assert (stats.effect_on_heeding, stats.effect_on_failures) == (None, None)  # one of ten
    assert memory.stats(all_projects=True)[0].name == "all projects"
