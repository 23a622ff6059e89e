"""The placebo: sessions whose agents never saw a line, although deliveries are logged, must give no heeded lesson.

The sessions are made up after recorded ones: an agent reads, searches, edits, runs the project's commands again and
again, fails, finds the cause by itself and goes on. Each lesson states something that such a session does anyway.
"""

from __future__ import annotations

from datetime import timedelta

import pytest

from holdfast import Memory
from holdfast.domain.records import Outcome
from holdfast.outcomes.standing import order_factors
from holdfast.ports.store import LogFilter
from holdfast.text.signature import error_signature
from tests.outcomes.test_outcomes import BEGAN, Session, keep

REFUSED = "ConnectionError: could not connect to the database at 5433"
LINT = "src/tides.go:12:3: error returned from external package is unwrapped (wrapcheck)"
LESSONS = (
    ("Run the tests with `mise run test`.", "before_command", "mise run test", {"kind": "tooling"}),
    ("Run `mise run lint` before a commit.", "session_start", "", {"kind": "tooling"}),
    ("Run `make db up` before `make migrate`.", "before_command", "make migrate", {"kind": "tooling"}),
    ("Start the database with `make db up`.", "after_failure", REFUSED,
     {"kind": "fix", "error_signature": error_signature(REFUSED), "command": "make migrate"}),
    ("Use `tides.Load`, never `os.Open`.", "before_file", "src/tides.go", {}),
    ("`wrapcheck`: wrap errors of other packages with fmt.Errorf.", "before_file", "src/tides.go", {}),
    ("Add a test with every fix.", "session_start", "", {"kind": "preference"}),
    ("Tides and moons change together.", "before_file", "src/tides.go", {"paths": ("src/tides.go", "src/moon.go")}),
    ("After a rename search the whole code base for the old name.", "session_start", "", {"kind": "preference"}),
)  # fmt: skip


def play(memory: Memory, name: str, day: int) -> Session:
    """One session, to which every lesson is logged as told at its moment, but whose agent does what it always does."""
    session = Session(memory, name, BEGAN + timedelta(days=day))
    lessons = {words: keep_once(memory, words, fields) for words, _, _, fields in LESSONS}

    def log(moment: str, trigger: str) -> None:
        for words, at, cause, _ in LESSONS:
            if (at, cause) == (moment, trigger):
                session.at += timedelta(seconds=1)
                session.record(lessons[words], moment, trigger)

    log("session_start", "")
    session.say("please mend the tide table, it opens the wrong file")
    session.step("tool_result", files=("README.md",), tool="Read", text="Build with make. Lint: `mise run lint`.")
    session.step("tool_result", files=("src/harbour.go",), tool="Read", text="t, err := tides.Load(path)")
    log("before_file", "src/tides.go")
    session.step("tool_result", files=("src/tides.go",), tool="Read", text="f, err := os.Open(path)")
    session.edit("src/tides.go", "t, err := tides.Load(path)", old="f, err := os.Open(path)")
    session.edit("src/moon.go", "m, err := tides.Load(path)")
    log("before_command", "mise run test")
    session.run("mise run test", "ok")
    log("before_command", "make migrate")
    session.run("make migrate", REFUSED, code=1)
    log("after_failure", REFUSED)
    session.run("cat Makefile", "migrate:\n\t./migrate\n# the database: make db up\n")
    session.run("make db up")
    session.run("make migrate")
    session.edit("src/tides_test.go", "func TestLoad(t *testing.T) {}")
    session.run("mise run test", "ok")
    session.run("mise run lint", LINT, code=1)
    session.run("grep -rn wrapcheck .", "docs/lint.md: wrap with fmt.Errorf")
    session.edit("src/tides.go", 'return fmt.Errorf("tides: %w", err)', old="return err")
    session.run("grep -rn oldTides src")
    session.run("mise run lint", "0 issues.")
    session.end()
    return session


def keep_once(memory: Memory, words: str, fields: dict[str, object]):  # type: ignore[no-untyped-def]
    known = [lesson for lesson in memory.lessons() if lesson.insight == words]
    return known[0] if known else keep(memory, words, **fields)


@pytest.mark.parametrize("sessions", [1, 6])
def test_agents_that_never_saw_a_line_have_heeded_none(memory: Memory, sessions: int) -> None:
    for day in range(sessions):
        play(memory, f"s{day}", day)
    memory.settle_pending()
    outcomes = memory.services.store.find_records(Outcome, LogFilter(project=memory.location.project.id))
    judged = [outcome for outcome in outcomes if outcome.id.startswith("judged:")]
    assert len(judged) == len(LESSONS) * sessions
    assert [(outcome.note, outcome.moment) for outcome in judged if outcome.verdict == "heeded"] == []
    missed = {outcome.lesson for outcome in outcomes if outcome.verdict == "missed"}
    rising = order_factors(memory.services.store, memory.location.project.id)
    assert {lesson for lesson, factor in rising.items() if factor > 1} <= missed
    (stats,) = memory.stats()
    assert (stats.heeded.count, stats.effect_on_heeding) == (0, None)
