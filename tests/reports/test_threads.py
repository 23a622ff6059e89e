"""The list of threads: the open ones first, tests of one run as one line, slips left out, the lesson that is left."""

from __future__ import annotations

from holdfast import Memory
from holdfast.reports.sessiontext import render_threads
from holdfast.reports.threads import ThreadChoice
from holdfast.reports.tuning import TEXT_WIDTH
from holdfast.text.complaints import complaint
from tests.stories import RED, Story, play

BOTH = RED.replace("FAIL\tapp", "--- FAIL: TestEarly (0.01s)\nFAIL\tapp")


def texts(memory: Memory, **choice: object) -> list[str]:
    return [thread.text for thread in memory.threads(ThreadChoice(**choice)).threads]  # type: ignore[arg-type]


def named(name: str) -> str:
    return RED.replace("TestLate", name)


def test_open_ones_come_first_then_the_newest(memory: Memory) -> None:
    story = Story().red(output=named("TestOpen")).red(output=named("TestOpen"))
    for name in ("TestOld", "TestNew"):
        story.red("go test ./other", named(name)).edited("a.go").red("go test ./other", named(name)).green(
            "go test ./other"
        )
    here = play(memory, story)
    assert texts(here) == ["TestOpen", "TestNew", "TestOld"]
    assert here.threads().counts == {"open": 1, "cured": 2, "not seen again": 0}
    assert texts(here, standing="open") == ["TestOpen"]


def test_what_failed_once_and_passed_is_left_out_unless_it_is_asked_for(memory: Memory) -> None:
    here = play(memory, Story().red().edited("a.go").green().red("go test ./b", named("TestB")))
    assert texts(here) == ["TestB"]
    assert here.threads().slips == 1
    assert texts(here, with_slips=True) == ["TestB", "TestLate"]


def test_a_command_that_failed_once_is_no_open_thread(memory: Memory) -> None:
    here = play(memory, Story().red("python load.py", "Traceback (most recent call last):\nKeyError: 'name'"))
    assert texts(here) == []
    assert here.threads().counts["open"] == 0
    assert texts(here, with_slips=True) == ["python load.py"]


def test_tests_of_the_same_runs_are_one_line(memory: Memory) -> None:
    here = play(memory, Story().red(output=BOTH).red(output=BOTH).edited("a.go").green())
    (thread,) = here.threads().threads
    assert (thread.text, thread.others, thread.runs) == ("TestLate", ("TestEarly",), 2)
    assert thread.cure is not None
    assert thread.cure.files == ("a.go",)


def test_by_branch_and_by_key(memory: Memory) -> None:
    here = play(memory, Story("a", 0).red(), Story("b", 1, branch="main").red("go test ./b", named("TestMain")))
    assert texts(here, branch="main") == ["TestMain"]
    key = here.threads(ThreadChoice(branch="work")).threads[0].key
    assert texts(here, key=key) == ["TestLate"]
    assert texts(here, key="lost") == []


def test_pages(memory: Memory) -> None:
    story = Story()
    for number in range(5):
        story.red(output=named(f"Test{number}"))
    here = play(memory, story)
    first = here.threads(ThreadChoice(limit=3, with_slips=True))
    rest = here.threads(ThreadChoice(limit=3, with_slips=True, beyond=first.older))
    assert [thread.text for thread in (*first.threads, *rest.threads)] == [
        f"Test{number}" for number in (4, 3, 2, 1, 0)
    ]
    assert not rest.older


def test_the_lesson_that_it_left(memory: Memory) -> None:
    error = "Traceback (most recent call last):\nKeyError: 'HARBOUR'"
    story = Story().red("python tools/load.py", error).ran("HARBOUR=1 python tools/load.py", "loaded")
    here = play(memory, story)
    (thread,) = here.threads(ThreadChoice(with_slips=True)).threads
    assert thread.standing == "cured"
    assert thread.cure is not None
    assert thread.cure.is_other_form
    assert [lesson.title for lesson in thread.lessons]
    assert complaint(error) == "KeyError: 'HARBOUR'"


def test_the_text_fits_a_terminal_and_says_how_it_ended(memory: Memory) -> None:
    here = play(memory, Story().red(output=BOTH).edited("very/" * 30 + "a.go").red(output=BOTH).green())
    lines = render_threads(here.threads(), here.services.clock.now())
    assert max(map(len, lines)) <= TEXT_WIDTH
    text = " ".join(" ".join(lines).split())
    assert "cured TestLate and 1 more: expected 3, got 1" in text
    assert "passed today" in text
