"""The story of a lesson: the verdict first, then what a person decides by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.bootstrap import Memory as OpenMemory
from holdfast.domain.lesson import Anchor, Evidence, Lesson, Provenance
from holdfast.domain.project import Project
from holdfast.errors import LessonNotFoundError
from holdfast.reports.lessonstory import LessonStory, tell_lesson
from holdfast.testing.builders import START, make_delivery, make_event, make_lesson, make_outcome
from tests.codebase import Codebase

RULE = "Rows are kept by key; a second put of the same key replaces the row."


@pytest.fixture
def memory(code: Codebase) -> Iterator[Memory]:
    with Memory(str(code.folder)) as opened:
        yield opened


def story_of(memory: Memory, lesson: Lesson | str, **how: Any) -> LessonStory:
    """What somebody is told who looks now."""
    fresh = memory.at(memory.folder)
    return tell_lesson(fresh.services, fresh.location, lesson if isinstance(lesson, str) else lesson.id, **how)


def keep(memory: Memory, **fields: Any) -> Lesson:
    lesson = make_lesson(**{"project": memory.location.project.id, **fields})
    memory.services.store.put([lesson], {})
    return lesson


# The verdict


def test_a_change_is_told_with_what_changed_and_the_commit(memory: Memory, code: Codebase) -> None:
    lesson = memory.remember(RULE, files=["src/store.py::Store.put"])
    assert (story_of(memory, lesson).verdict.word, story_of(memory, lesson).verdict.advice) == ("Fresh", "")
    code.edit("src/store.py", "def put(self, key, value):", "def put(self, key, value, ttl=None):")
    uncommitted = story_of(memory, lesson).verdict
    assert uncommitted.reason == "src/store.py:Store.put: signature: ttl added, not committed yet."
    commit = code.commit("Let rows expire")
    verdict = story_of(memory, lesson).verdict
    assert (verdict.word, verdict.tone, verdict.advice) == ("Signature changed", "bad", "Does it still hold?")
    assert f"in commit {commit[:10]} of " in verdict.reason
    assert verdict.reason.endswith("“Let rows expire”.")


def test_code_that_moved_or_is_gone_is_told(memory: Memory, code: Codebase) -> None:
    moved = memory.remember("Doubling is on purpose.", files=["src/store.py::doubled"])
    gone = memory.remember("Lookups never raise.", files=["src/store.py::Store.get"])
    code.move_definition("doubled", "src/store.py", "src/printing.py")
    code.edit("src/store.py", "    def get(self, key):\n        return self.rows.get(key)\n", "")
    code.commit("Tidy up")
    story = story_of(memory, moved)
    assert (story.verdict.word, story.code.sides[0].now_name) == ("Moved", "src/printing.py:doubled")
    story = story_of(memory, gone)
    assert (story.verdict.word, story.verdict.advice) == ("Code gone", "Does it hold elsewhere, or is it over?")
    assert {row.sign for row in story.code.sides[0].rows if row.is_subject} == {"-"}


def test_code_of_another_project_is_not_shown(memory: Memory) -> None:
    other = keep(memory, project="elsewhere", anchors=(Anchor(path="src/queue.py", symbol="drain"),))
    story = story_of(memory, other)
    assert (story.verdict.word, story.code.sides, len(story.code.others)) == ("Not checked", (), 1)


def test_a_contradiction_comes_before_the_code(memory: Memory) -> None:
    lesson = memory.remember("The dev server listens on port 8080.", trust="agent", files=["src/store.py"])
    other = memory.remember("The dev server listens on port 9090.", trust="agent")
    assert other.state == "candidate"
    story = story_of(memory, lesson)
    assert (story.verdict.word, story.verdict.advice) == ("Contradicted", "Which one holds?")
    assert [(notice.text, notice.lesson) for notice in story.notices] == [
        ("Fresh. The code is as it was when this was recorded.", ""), ("It contradicts", other.id),
    ]  # fmt: skip
    assert [(each.relation, each.id) for each in story.related] == [("contradicts", other.id)]
    blind = story_of(memory, lesson, sees=lambda each: each.id == lesson.id)
    assert (blind.verdict.word, blind.related) == ("Fresh", ())


def test_a_lesson_out_of_use_says_since_when_and_by_whom(memory: Memory) -> None:
    lesson = memory.remember(RULE)
    memory.retire(lesson.id, "numpy>=3", author="ada")
    retired = story_of(memory, lesson)
    assert "by ada and is told no more. It waits for you again when numpy>=3." in retired.verdict.reason
    assert retired.undoable is not None
    assert (retired.undoable.words, retired.restorable) == ("retired", "")
    memory.undo()
    memory.forget(lesson.id)
    forgotten = story_of(memory, lesson)
    assert forgotten.verdict.word == "Forgotten"
    assert forgotten.undoable is not None
    assert forgotten.restorable == forgotten.undoable.id
    new = memory.revise(lesson.id, insight="Rows are never replaced.")
    assert "“Rows are never replaced” has taken its place" in story_of(
        memory, memory.get(lesson.id)
    ).verdict.reason or (story_of(memory, new).related[0].relation == "replaced")


def test_a_staged_and_a_private_lesson_say_so(memory: Memory) -> None:
    staged = replace(make_lesson(project=memory.location.project.id), private=True)
    staged = replace(staged, scope=replace(staged.scope, branch="wal"))
    memory.services.store.put([staged], {})
    texts = [notice.text for notice in story_of(memory, staged).notices]
    assert texts == [
        "It is told only on the branch wal, until that is merged.",
        "It is private: it never leaves this machine unsealed.",
    ]


def test_what_somebody_may_not_see_is_not_there(memory: Memory) -> None:
    lesson = memory.remember(RULE)
    with pytest.raises(LessonNotFoundError):
        story_of(memory, lesson, sees=lambda each: False)


# The code


def test_code_is_shown_in_its_file_with_the_lines_around(memory: Memory, code: Codebase) -> None:
    lesson = memory.remember(RULE, files=["src/store.py::Store.put"])
    code.edit("src/store.py", "self.rows[key] = value", "self.rows.setdefault(key, value)")
    [side] = story_of(memory, lesson).code.sides
    assert [(row.sign, row.old, row.new) for row in side.rows] == [
        ("", 0, 4), ("", 0, 5), ("", 0, 6), ("", 7, 7), ("", 8, 8), ("-", 9, 0), ("+", 0, 9), ("", 10, 10),
        ("", 0, 11), ("", 0, 12), ("", 0, 13),
    ]  # fmt: skip
    assert (side.is_changed, side.commit.words if side.commit else "") == (True, "not committed yet")


def test_the_worst_places_come_first_and_the_others_by_name(memory: Memory, code: Codebase) -> None:
    files = [f"src/part{number}.py" for number in range(5)]
    for file in files:
        code.write(file, f"NAME = '{file}'\n")
    code.commit("Add parts")
    lesson = memory.remember("Parts have names.", files=files)
    code.write(files[3], "NAME = 'other'\n")
    story = story_of(memory, lesson)
    assert [side.path for side in story.code.sides] == [files[3], files[0], files[1]]
    assert [side.path for side in story.code.others] == [files[2], files[4]]
    assert len(story_of(memory, lesson, whole="code").code.sides) == 5


def test_a_server_shows_what_the_session_wrote(memory: Memory) -> None:
    project = Project(id=memory.location.project.id, name="harbour", source="server")
    served = OpenMemory.over(memory.services, project, memory.settings)
    edit = make_event(
        project=project.id, kind="file_edit", files=("src/store.py",), new="def put(self):\n    pass", text="", key="e1"
    )
    memory.services.store.append_events([edit])
    source = Provenance(session=edit.session, detector="fail_fix/1")
    lesson = keep(memory, path="src/store.py", symbol="Store.put", provenance=source)
    story = tell_lesson(served.services, served.location, lesson.id)
    [side] = story.code.sides
    assert ([row.text for row in side.rows], side.has_then, side.has_now) == (
        ["def put(self):", "    pass"], True, False,
    )  # fmt: skip
    assert "A server has no clone, so the code now is not here." in [notice.text for notice in story.notices]


# The conversation


def test_the_quote_stands_between_what_was_said_before_and_after(memory: Memory) -> None:
    project = memory.location.project.id
    at = [START + timedelta(minutes=minute) for minute in range(7)]
    texts = ["too early", "no", "Please test the login.", "It failed.", "Seed the clock, always.", "Done.", "too late"]
    events = [
        make_event(project=project, kind="reply" if n % 2 else "prompt", text=text, key=f"{n}", at=at[n])
        for n, text in enumerate(texts)
    ]
    memory.services.store.append_events(events)
    evidence = Evidence(event=events[4].id, quote="Seed the  clock")
    lesson = keep(memory, provenance=Provenance(session=events[0].session, detector="explicit/1", evidence=(evidence,)))
    turns = story_of(memory, lesson).conversation.turns
    assert ["".join(piece.text for piece in turn.pieces) for turn in turns] == [
        "It failed.", "Seed the clock, always.", "Done.", "too late",
    ]  # fmt: skip
    assert [piece.text for turn in turns for piece in turn.pieces if piece.mark == "quote"] == ["Seed the clock"]
    assert [turn.speaker for turn in turns] == ["agent", "person", "agent", "person"]


def test_what_a_command_printed_is_quoted_with_the_command(memory: Memory) -> None:
    failure = make_event(
        project=memory.location.project.id, kind="tool_failure", command="make test", text="E: no clock", key="t1"
    )
    memory.services.store.append_events([failure])
    evidence = Evidence(event=failure.id, quote="no clock")
    lesson = keep(memory, provenance=Provenance(session=failure.session, detector="fail_fix/1", evidence=(evidence,)))
    [turn] = story_of(memory, lesson).conversation.turns
    assert (turn.speaker, "".join(piece.text for piece in turn.pieces)) == ("command", "$ make test\nE: no clock")


def test_a_session_that_is_not_recorded_leaves_the_quote(memory: Memory) -> None:
    evidence = Evidence(event="gone", quote="Seed the clock")  # type: ignore[arg-type]
    lesson = keep(memory, provenance=Provenance(session="gone", detector="explicit/1", evidence=(evidence,)))  # type: ignore[arg-type]
    conversation = story_of(memory, lesson).conversation
    assert (conversation.turns, conversation.quotes) == ((), ("Seed the clock",))
    assert "not recorded here any more" in conversation.note
    assert story_of(memory, memory.remember(RULE)).conversation.note == ""


# History, and where it was told


def test_history_tells_what_each_change_did_the_newest_first(memory: Memory) -> None:
    lesson = memory.remember("Retries are capped at 3.", author="ada", kind="constraint")
    memory.edit(lesson.id, commands=["make retry"], author="ben")
    new = memory.revise(lesson.id, insight="Retries are capped at 5.", author="chidi")
    editions = story_of(memory, new).editions
    assert [(each.words, each.actor, each.is_this) for each in editions] == [
        ("revised", "chidi", True), ("revised", "ben", False), ("stated", "ada", False),
    ]  # fmt: skip
    assert [change.field for change in editions[1].changes] == ["when commands"]
    rule = next(change for change in editions[0].changes if change.field == "rule")
    assert [(piece.text, piece.mark) for piece in rule.pieces if piece.mark] == [("3", "removed"), ("5", "added")] or [
        (piece.text, piece.mark) for piece in rule.pieces
    ] == [("Retries are capped at 3.", "removed"), ("Retries are capped at 5.", "added")]
    assert editions[-1].is_first


def test_a_session_is_one_entry_with_its_moments_and_what_followed(memory: Memory) -> None:
    lesson, project = memory.remember(RULE), memory.location.project.id
    later = START + timedelta(days=400)
    memory.services.store.record([
        make_delivery(
            lesson=lesson.id, project=project, session="s1", moment="session_start", trigger="Start", at=later
        ),
        make_delivery(
            lesson=lesson.id, project=project, session="s1", moment="before_command", trigger="make",
            at=later + timedelta(minutes=1),
        ),
        make_outcome(lesson=lesson.id, project=project, session="s1", judge="rules/1", at=later, note="did it"),
        make_outcome(
            lesson=lesson.id, project=project, session="s2", judge="rules/1", verdict="missed",
            at=later + timedelta(days=1),
        ),
    ])  # fmt: skip
    story = story_of(memory, lesson)
    missed, heeded = story.sessions
    assert (missed.session, missed.tellings, missed.followed[0].verdict) == ("s2", (), "missed")
    assert [(each.moment, each.trigger) for each in heeded.tellings] == [
        ("at the session's start", ""), ("before a command", "make"),
    ]  # fmt: skip
    assert (heeded.followed[0].verdict, heeded.followed[0].note, story.times_told) == ("heeded", "did it", 2)
    assert story.effect == "Told once, heeded 1."


def test_a_flag_taken_back_is_told_in_words(memory: Memory) -> None:
    lesson = memory.remember(RULE)
    memory.flag(lesson.id, "stale")
    memory.withdraw(lesson.id)
    followed = [each for session in story_of(memory, lesson).sessions for each in session.followed]
    assert [(each.verdict, each.is_statement) for each in followed] == [("taken back", True), ("hurt", True)]


def test_when_it_is_told_is_in_words(memory: Memory) -> None:
    lesson = memory.remember(RULE, files=["src/store.py::Store.put"], symbols=[], kind="constraint")
    memory.edit(lesson.id, commands=["make"], literals=["rows["], work=["test"], standing=True)
    words = {occasion.words: occasion.values for occasion in story_of(memory, lesson).occasions}
    assert words["before a command that begins with"] == ("make",)
    assert words["when an edit or a command contains"] == ("rows[",)
    assert words["for work of the kind"] == ("test",)
    assert "at every session's start, for all work" in words
    assert words["when one of these files is read or edited"] == ("src/store.py",)


def test_the_origin_says_who_and_what_it_rests_on(memory: Memory, tmp_path: Path) -> None:
    origins = {
        "Ada stated it.": Provenance(person_name="Ada"),
        "Claude worded what Ada typed.": Provenance(author="claude", person_name="Ada", quotes_person=True),
        "Learnt from a failure and its fix, in a session of Ada.": Provenance(detector="fail_fix/1", person_name="Ada"),
        "Read from CLAUDE.md#Tests.": Provenance(detector="rules/1", origin="CLAUDE.md#Tests"),
    }
    for words, provenance in origins.items():
        lesson = keep(memory, provenance=provenance, trust="person")
        assert story_of(memory, lesson).origin.words == words


def test_a_change_is_offered_to_be_undone_only_while_nothing_else_changed_since(memory: Memory) -> None:
    old = memory.remember("Retries are capped at 3.")
    new = memory.revise(old.id, insight="Retries are capped at 4.")
    first, second = story_of(memory, old).undoable, story_of(memory, new).undoable
    assert first is not None
    assert first == second
    memory.edit(new.id, commands=["make retry"])
    assert story_of(memory, old).undoable is None
    edited = story_of(memory, new).undoable
    assert edited is not None
    assert edited.id != first.id
    memory.undo(change=edited.id)
    assert story_of(memory, new).undoable == first
