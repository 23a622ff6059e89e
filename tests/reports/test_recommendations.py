"""Recommendations are few, each with evidence, and gone for good once they are dismissed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Lesson, Provenance
from holdfast.domain.records import Outcome
from holdfast.domain.statefamilies import RECOMMENDATIONS_DISMISSED
from holdfast.domain.vocabulary import LessonKind, SessionId
from holdfast.errors import NotFoundError
from holdfast.outcomes.trouble import store_trouble
from holdfast.reports.recommendations import Recommendation
from holdfast.testing.builders import make_delivery, make_event, make_lesson, make_outcome
from tests.codebase import Codebase


@pytest.fixture
def harbour(code: Codebase) -> Iterator[Memory]:
    with Memory(str(code.folder)) as memory:
        yield memory


def state(memory: Memory, rule: str, session: str, **over: object) -> Lesson:
    """Store a rule that a person stated in that session."""
    lesson = make_lesson(
        insight=rule, project=memory.location.project.id, trust="person",
        provenance=Provenance(session=SessionId(session), person_name="Ada"), **over,
    )  # fmt: skip
    memory.services.store.put([lesson], {lesson.id: None})
    return lesson


def tell(memory: Memory, lesson: Lesson, sessions: int, verdicts: Sequence[str] = ()) -> None:
    """Log that so many sessions were told it before they edited its file, and what came of it."""
    project = memory.location.project.id
    records: list[object] = [
        make_delivery(project=project, lesson=lesson.id, session=SessionId(f"told-{number}"), moment="before_file")
        for number in range(sessions)
    ]
    records += [
        make_outcome(id=f"{lesson.id}-{number}", project=project, lesson=lesson.id, verdict=verdict, judge="judge/1")
        for number, verdict in enumerate(verdicts)
    ]
    memory.services.store.record(records)  # type: ignore[arg-type]


def of_kind(memory: Memory, kind: str) -> list[Recommendation]:
    return [row for row in memory.recommendations() if row.kind == kind]


# Rules files

TESTS = (
    "Every fix of the harbour brings a regression test.",
    "Each harbour fix brings its regression test.",
    "A fix in the harbour brings a regression test without being asked.",
)


def test_a_rule_stated_in_three_sessions_belongs_into_a_rules_file(harbour: Memory) -> None:
    stated = [state(harbour, rule, f"s{number}") for number, rule in enumerate(TESTS)]
    (row,) = of_kind(harbour, "rules_file")
    assert {ref.lesson for ref in row.lessons} == {lesson.id for lesson in stated}
    assert row.session_count == 3
    assert set(row.sessions) == {"s0", "s1", "s2"}
    assert "3 lessons of 3 sessions by Ada" in row.why
    assert row.rule in TESTS


def test_two_sessions_and_one_session_thrice_are_not_enough(harbour: Memory) -> None:
    for session, rule in zip(("s0", "s1", "s1"), TESTS, strict=True):
        state(harbour, rule, session)
    assert of_kind(harbour, "rules_file") == []


def test_a_rule_that_a_rules_file_says_is_not_recommended(harbour: Memory, code: Codebase) -> None:
    for number, rule in enumerate(TESTS):
        state(harbour, rule, f"s{number}")
    code.write("AGENTS.md", "# Rules\n\n- Every fix of the harbour brings a regression test.\n")
    assert of_kind(harbour, "rules_file") == []


@pytest.mark.parametrize("over", [{"private": True}, {"level": "user"}, {"kind": "bug_cause"}])
def test_what_is_not_a_rule_for_everybody_is_not_recommended(harbour: Memory, over: dict[str, object]) -> None:
    for number, rule in enumerate(TESTS):
        state(harbour, rule, f"s{number}", **over)
    assert of_kind(harbour, "rules_file") == []


# The code


def beside(memory: Memory, rule: str, kind: LessonKind = "constraint", symbol: str = "Store.put") -> Lesson:
    return memory.remember(rule, kind=kind, files=["src/store.py"], symbols=[symbol])


def test_a_lesson_that_forbids_code_and_was_told_in_vain_could_be_a_lint_rule(harbour: Memory, code: Codebase) -> None:
    code.write("src/clock.py", "import time\n\nNOW = time.time()\n")
    code.commit()
    lesson = harbour.remember("Use harbour.now(), never time.time(), for the tides.")
    tell(harbour, lesson, 4, ["ignored", "overridden"])
    (row,) = of_kind(harbour, "lint_rule")
    assert "time.time(" in row.title
    assert "told at its place in 4 sessions, 2 times in vain; 1 files have it now" in row.why


def test_a_lesson_that_was_heeded_is_no_lint_rule(harbour: Memory) -> None:
    lesson = harbour.remember("Use harbour.now(), never time.time(), for the tides.")
    tell(harbour, lesson, 9, ["heeded", "heeded"])
    assert of_kind(harbour, "lint_rule") == []


def test_what_a_linter_demands_is_checked_already(harbour: Memory) -> None:
    lesson = harbour.remember("The linter flags it: use harbour.now(), never time.time().")
    tell(harbour, lesson, 4, ["ignored", "overridden"])
    assert of_kind(harbour, "lint_rule") == []


def test_a_lesson_told_again_and_again_at_one_definition_could_be_a_comment_there(harbour: Memory) -> None:
    lesson = beside(harbour, "Keys are lower-cased by every caller, so a mixed one never matches a row.")
    tell(harbour, lesson, 6)
    (row,) = of_kind(harbour, "comment")
    assert row.place == "src/store.py::Store.put"
    assert row.lessons[0].lesson == lesson.id
    assert row.session_count == 6
    assert len(row.sessions) == 5


def test_a_lesson_that_contradicts_another_is_not_recommended(harbour: Memory) -> None:
    lesson = beside(harbour, "The dev server listens on port 8080.")
    tell(harbour, lesson, 6)
    assert of_kind(harbour, "comment")
    harbour.remember("The dev server listens on port 9090.", trust="agent")
    assert harbour.conflicts()
    assert of_kind(harbour, "comment") == []


def test_a_lesson_told_a_few_times_only_stays_a_lesson(harbour: Memory) -> None:
    tell(harbour, beside(harbour, "Keys are lower-cased by every caller, so a mixed one never matches a row."), 5)
    assert harbour.recommendations() == []


def test_what_the_file_says_already_is_no_comment(harbour: Memory, code: Codebase) -> None:
    lesson = beside(harbour, "Keys are lower-cased by every caller, so a mixed one never matches a row.")
    tell(harbour, lesson, 6)
    code.edit(
        "src/store.py", "LIMIT = 3", "# Every caller lower-cases keys: a mixed one never matches a row.\nLIMIT = 3"
    )
    assert of_kind(harbour, "comment") == []


def test_a_lesson_whose_code_changed_may_be_untrue_and_is_no_comment(harbour: Memory, code: Codebase) -> None:
    lesson = beside(harbour, "Keys are lower-cased by every caller, so a mixed one never matches a row.")
    tell(harbour, lesson, 6)
    code.edit("src/store.py", "self.rows[key] = value", "for row in self.rows:\n            row.lock(key, value)")
    assert of_kind(harbour, "comment") == []


def test_a_cause_of_a_defect_that_no_test_names_could_be_a_test(harbour: Memory, code: Codebase) -> None:
    lesson = beside(
        harbour, "A mixed key never matched a row, because callers lower-case keys.", "bug_cause", "doubled"
    )
    tell(harbour, lesson, 6)
    (row,) = of_kind(harbour, "test")
    assert "no test names doubled" in row.why
    code.write("tests/test_store.py", "from src.store import doubled\n")
    code.commit()
    assert [each.kind for each in harbour.recommendations()] == ["comment"]


# Trouble


def fail(memory: Memory, session: str, *paths: str) -> None:
    """Settle a session in which a command failed, whose output names the files."""
    project, where = memory.location.project.id, SessionId(session)
    events = [
        make_event(project=project, session=where, kind="tool_failure", exit_code=1, command="python -m pytest",
                   text=f'File "{path}", line 3, in put\nKeyError: 3')
        for path in paths
    ]  # fmt: skip
    store_trouble(memory.services.store, project, where, events, ())


def test_a_file_that_fails_again_and_again_without_a_lesson_is_worth_one(harbour: Memory) -> None:
    fail(harbour, "s0", "src/store.py", "src/other.py")
    for session in ("s1", "s2"):
        fail(harbour, session, "src/store.py")
    (row,) = of_kind(harbour, "lesson")
    assert (row.place, row.session_count) == ("src/store.py", 3)
    assert "3 failed commands name it in 3 sessions" in row.why
    beside(harbour, "Keys are lower-cased by every caller.")
    assert of_kind(harbour, "lesson") == []


def test_a_longer_name_of_the_file_is_the_same_file(harbour: Memory, code: Codebase) -> None:
    for session, path in (("s0", "src/store.py"), ("s1", f"{code.folder}/src/store.py"), ("s2", "src/store.py")):
        fail(harbour, session, path)
    assert [row.place for row in of_kind(harbour, "lesson")] == ["src/store.py"]


def test_a_file_that_is_gone_is_no_trouble(harbour: Memory) -> None:
    for session in ("s0", "s1", "s2"):
        fail(harbour, session, "src/gone.py")
    assert harbour.recommendations() == []


# Dismissing


def test_what_is_dismissed_stays_so_also_when_there_is_more_evidence(harbour: Memory) -> None:
    stated = [state(harbour, rule, f"s{number}") for number, rule in enumerate(TESTS)]
    (row,) = harbour.recommendations()
    assert harbour.dismiss_recommendation(row.key).is_dismissed
    state(harbour, "Bring a regression test with every fix of the harbour.", "s4")
    assert harbour.recommendations() == []
    (shown,) = harbour.recommendations(dismissed=True)
    assert shown.is_dismissed
    harbour.restore_recommendation(shown.key)
    assert len(harbour.recommendations()) == 1
    assert stated[0].id in {ref.lesson for ref in shown.lessons}


def test_a_dismissal_leaves_what_is_about_another_file(harbour: Memory, code: Codebase) -> None:
    code.write("src/other.py", "A = 1\n")
    for session in ("s0", "s1", "s2"):
        fail(harbour, session, "src/store.py", "src/other.py")
    keys = {row.place: row.key for row in harbour.recommendations()}
    harbour.dismiss_recommendation(keys["src/store.py"])
    assert [row.place for row in harbour.recommendations()] == ["src/other.py"]


def test_an_unknown_key_is_an_error(harbour: Memory) -> None:
    with pytest.raises(NotFoundError, match="no recommendation"):
        harbour.dismiss_recommendation("rules_file:00000000")


def test_purging_a_lesson_forgets_that_it_was_dismissed(harbour: Memory) -> None:
    stated = [state(harbour, rule, f"s{number}") for number, rule in enumerate(TESTS)]
    (row,) = harbour.recommendations()
    harbour.dismiss_recommendation(row.key)
    harbour.purge(stated[0].id)
    text = harbour.services.store.get_state(RECOMMENDATIONS_DISMISSED, harbour.location.project.id)
    assert stated[0].id not in text
    assert stated[1].id in text


def test_outcomes_of_withheld_lessons_are_no_evidence(harbour: Memory) -> None:
    lesson = harbour.remember("Use harbour.now(), never time.time(), for the tides.")
    tell(harbour, lesson, 2)
    project = harbour.location.project.id
    withheld: list[Outcome] = [
        make_outcome(id=f"w{number}", project=project, lesson=lesson.id, verdict="ignored", withheld=True)
        for number in range(3)
    ]
    harbour.services.store.record(withheld)
    assert harbour.recommendations() == []
