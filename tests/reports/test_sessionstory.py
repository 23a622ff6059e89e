"""A session's story: what was asked, failed, edited, run, committed, told, taught and missed; short, and never more
than is stored."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from holdfast import Memory
from holdfast.domain.lesson import Evidence, Provenance
from holdfast.domain.records import Delivery, Outcome
from holdfast.domain.vocabulary import LessonId, Moment, SessionId, Verdict
from holdfast.errors import NotFoundError
from holdfast.lessons.ledger import write_change
from holdfast.outcomes.threads import load_threads
from holdfast.ports.store import EventFilter
from holdfast.reports.sessionstory import tell_session
from holdfast.reports.sessiontext import render_story
from holdfast.reports.tuning import PROMPT_SHOWN, PROMPTS_SHOWN, TEXT_WIDTH
from holdfast.testing.builders import START
from tests.stories import RED, Story, play


def worked() -> Story:
    story = (
        Story().asked("Mend the late test.").red().replied("**Found** it:\n# the clock").edited("pkg/a.go", "pkg/a.go")
    )
    story.edited("pkg/b.go").green().ran("git commit -m 'Mend the clock'", "[work 1a2] Mend the clock")
    return story.asked("Good. Now lint.").red("make lint", "pkg/a.go:3:4: unused value (unused)").replied("Later.")


def test_each_prompt_says_what_followed(memory: Memory) -> None:
    story = play(memory, worked()).session_story("s1")
    first, second = story.prompts
    assert (first.text, first.edits, first.files, first.commands, first.failures) == ("Mend the late test.", 3, 2, 3, 1)
    assert first.answer == "Found it: the clock"
    assert (second.text, second.edits, second.commands, second.answer) == ("Good. Now lint.", 0, 1, "Later.")


def test_failures_files_commands_and_commits(memory: Memory) -> None:
    story = play(memory, worked()).session_story("s1")
    lint, late = story.failures
    assert (lint.text, lint.standing, lint.cured_at) == ("make lint", "open", None)
    assert (late.text, late.error, late.standing, late.files) == (
        "TestLate", "expected 3, got 1", "cured", ("pkg/a.go", "pkg/b.go"),
    )  # fmt: skip
    assert [(file.path, file.edits, file.added, file.removed) for file in story.files] == [
        ("pkg/a.go", 2, 4, 2), ("pkg/b.go", 1, 2, 1),
    ]  # fmt: skip
    assert [(command.line, command.runs, command.failed, command.ended_well) for command in story.commands] == [
        ("make lint", 1, 1, False), ("go test ./pkg", 2, 1, True),
    ]  # fmt: skip
    assert [commit.subject for commit in story.commits] == ["Mend the clock"]


def test_a_failure_names_its_thread_and_other_sessions(memory: Memory) -> None:
    here = play(memory, Story("s0", -1).red(), worked())
    late = next(failure for failure in here.session_story("s1").failures if failure.text == "TestLate")
    assert late.other_sessions == 1
    assert late.thread


def told(memory: Memory, lesson: LessonId, moment: Moment = "session_start", minutes: int = 0) -> None:
    memory.services.store.record([
        Delivery(
            id=memory.services.clock.new_id(), at=START + timedelta(minutes=minutes), session=SessionId("s1"),
            project=memory.location.project.id, host="codex", moment=moment, lesson=lesson, rank=1, score=1, reason="",
        )
    ])  # fmt: skip


def came_to(memory: Memory, lesson: LessonId, verdict: Verdict, withheld: bool = False) -> None:
    memory.services.store.record([
        Outcome(
            id=memory.services.clock.new_id(), at=START, project=memory.location.project.id, session=SessionId("s1"),
            lesson=lesson, verdict=verdict, note=f"it was {verdict}", judge="judge/2", withheld=withheld,
            moment="before_command",
        )
    ])  # fmt: skip


def test_what_was_told_and_what_followed(memory: Memory) -> None:
    here = play(memory, worked())
    quiet, heeded = here.remember("Docks open at ten."), here.remember("Ferries leave from pier two.")
    told(here, quiet.id)
    told(here, heeded.id, "before_command", 3)
    told(here, heeded.id, "prompt", 1)
    came_to(here, heeded.id, "heeded")
    came_to(here, quiet.id, "unclear")
    first, second = here.session_story("s1").told
    assert (first.title, first.verdict, first.times, first.moment) == (heeded.title, "heeded", 2, "at a prompt")
    assert first.note == "it was heeded"
    assert (second.verdict, second.is_at_start, second.note) == ("", True, "")


def test_what_was_missed_told_too_late_or_withheld(memory: Memory) -> None:
    here = play(memory, worked())
    never, late, withheld = (here.remember(f"{what} wants a pilot.") for what in ("Ferry", "Barge", "Tug"))
    told(here, late.id, minutes=9)
    came_to(here, never.id, "missed")
    came_to(here, late.id, "missed")
    came_to(here, withheld.id, "heeded", withheld=True)
    came_to(here, withheld.id, "unclear", withheld=True)
    missed = {entry.title: entry.verdict for entry in here.session_story("s1").missed}
    assert missed == {never.title: "missed", late.title: "told too late", withheld.title: "withheld"}


def test_what_it_taught_waiting_lessons_too(memory: Memory) -> None:
    words = "Remember: tests run with make check from now on."
    here = play(memory, Story().asked(words).replied("Noted."))
    (taught,) = here.session_story("s1").taught
    assert taught.state in ("active", "candidate")
    assert "make check" in taught.title


def test_lessons_that_the_reader_may_not_see_are_left_out(memory: Memory) -> None:
    here = play(memory, Story().asked("Remember: tests run with make check from now on.").replied("Noted."))
    lesson = here.remember("Ferries leave from pier two.")
    told(here, lesson.id)
    came_to(here, lesson.id, "missed")
    story = tell_session(here.services, here.location, SessionId("s1"), sees=lambda lesson: False)
    assert (story.told, story.taught, story.missed, story.line.taught) == ((), (), (), 0)


def test_erased_texts_are_said_to_be_erased(memory: Memory) -> None:
    here = play(memory, worked())
    here.services.store.erase_event_texts(START + timedelta(days=1))
    story = here.session_story("s1")
    assert [prompt.is_erased for prompt in story.prompts] == [True, True]
    assert story.erased >= 2
    text = "\n".join(render_story(story))
    assert "(the text was erased)" in text
    assert "late test" not in text
    assert "expected 3" not in text


def test_a_purged_lessons_words_are_gone_from_the_story(memory: Memory) -> None:
    words = "Remember: the harbour master's gate code is told by phone only."
    here = play(memory, Story().asked(words).replied("Noted."))
    (taught,) = here.session_story("s1").taught
    here.purge(taught.lesson)
    text = "\n".join(render_story(here.session_story("s1")))
    assert "gate code" not in text


def test_a_purge_takes_the_words_of_threads_that_rest_on_the_event(memory: Memory) -> None:
    words = "want the harbour master's gate code, got nothing"
    here = play(memory, Story().red(output=RED.replace("expected 3, got 1", words)))
    ((_, event),) = here.services.store.find_events(EventFilter(project=here.location.project.id))
    lesson = here.remember(words)
    proof = Provenance(session=SessionId("s1"), evidence=(Evidence(event=event.id, quote=words),))
    after = replace(lesson, provenance=proof, recorded_at=lesson.recorded_at + timedelta(minutes=1))
    write_change(here.services, here.location, "remember", [after], {lesson.id: lesson.recorded_at})
    assert [thread.error for thread in load_threads(here.services, here.location)] == [words]
    here.purge(lesson.id)
    assert load_threads(here.services, here.location) == []


def test_a_long_session_is_short_and_its_parts_can_be_had_whole(memory: Memory) -> None:
    story = Story()
    for number in range(400):
        story.asked(f"Question {number} " + "about the clock " * 60).edited(f"pkg/file{number}.go")
        story.red(output=RED.replace("TestLate", f"TestLate{number}")).green().ran(
            "git commit -m x", f"[work 1a2] C{number}"
        )
    here = play(memory, story)
    short = here.session_story("s1")
    assert len(short.prompts) == PROMPTS_SHOWN
    assert short.prompts[-1].text.startswith("Question 399")
    assert all(len(prompt.text) <= PROMPT_SHOWN and prompt.is_cut for prompt in short.prompts)
    assert (short.counts["prompts"].total, short.counts["prompts"].more) == (400, 400 - PROMPTS_SHOWN)
    assert short.commits[-1].subject == "C399"
    whole = here.session_story("s1", whole="prompts")
    assert len(whole.prompts) == 400
    assert not whole.prompts[0].is_cut
    assert len(whole.files) == len(short.files)
    assert len("\n".join(render_story(short))) < 20_000


def test_the_text_fits_a_terminal(memory: Memory) -> None:
    story = worked().asked("https://example.com/" + "x" * 200).edited("very/" * 30 + "long.go")
    lines = render_story(play(memory, story).session_story("s1"))
    assert max(map(len, lines)) <= TEXT_WIDTH


def test_hidden_characters_are_not_printed(memory: Memory) -> None:
    story = play(memory, Story().asked("Mend\u202e it\x1b[31m now\u200b.")).session_story("s1")
    assert not {"\u202e", "\x1b", "\u200b"} & set("\n".join(render_story(story)))


@pytest.mark.parametrize("session", ["nowhere", "", "s1' OR 1=1"])
def test_an_unknown_session_is_an_error(memory: Memory, session: str) -> None:
    with pytest.raises(NotFoundError):
        play(memory, worked()).session_story(session)
