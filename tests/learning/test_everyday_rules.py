"""What a person types in passing is stored, confirmed and with its triggers; what only concerns the hour is not.

Each prompt comes as the hook's payload, and the learner reads the session when it has ended.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.hookcall import parse_errand
from holdfast.domain.lesson import Lesson
from holdfast.surfaces.hooks import learner

DEPENDENCIES = ("npm install", "pip install", "go get", "cargo add")
TEN: dict[str, tuple[str, dict[str, Any]]] = {
    "remember that we never deploy on Fridays": (
        "We never deploy on Fridays", {"standing": True, "commands": ("deploy",)},
    ),
    "always use pnpm in this repo, never npm": (
        "Always use pnpm in this repo, never npm", {"standing": True, "commands": ("pnpm", "npm")},
    ),
    "No, the tests need a running redis, start it with make redis first": (
        "The tests need a running redis, start it with make redis first", {"work": ("test",)},
    ),
    "From now on write commit messages in the imperative mood": (
        "Write commit messages in the imperative mood", {"standing": True, "commands": ("git commit",)},
    ),
    "remember: the customer id is never logged": ("The customer id is never logged", {"standing": True}),
    "please don't edit files under src/generated, they are built by the codegen": (
        "Don't edit files under src/generated, they are built by the codegen",
        {"standing": True, "paths": ("src/generated/**",)},
    ),
    "our staging database is called blue-heron": ("Our staging database is called blue-heron", {}),
    "we decided to use Postgres instead of MySQL because of jsonb": (
        "We decided to use Postgres instead of MySQL because of jsonb", {},
    ),
    "I want you to always run make lint before you say that you are done": (
        "Always run make lint before you say that you are done", {"standing": True, "commands": ("make lint",)},
    ),
    "never add new dependencies without asking me": (
        "Never add new dependencies without asking me", {"standing": True, "commands": DEPENDENCIES},
    ),
}  # fmt: skip
"""Each prompt with the lesson's words, and triggers among those that it has."""

TWENTY = (
    "in this project we never mock the database in tests",
    "when you add a new endpoint, always add it to docs/api.md too",
    "our CI runs on node 18, so don't use anything newer",
    "don't ever force push to main",
    "no, we use tabs in this codebase, not spaces",
    "every migration must have a rollback",
    "stop using print for debugging, use the logger",
    "I prefer small commits, one per logical change",
    "we agreed to drop support for python 3.8 because nobody uses it",
    "use yarn, never npm",
    "you must always ask before you delete a branch",
    "please don't change anything in vendor/, it gets overwritten",
    "our production logs live in datadog under the service name orca",
    "whenever you touch the schema, regenerate the client with make gen",
    "never use any in typescript",
    "we've settled on vitest over jest since it's faster with vite",
    "wrong, the linter requires go 1.22, install it with mise first",
    "going forward all dates are stored in UTC",
    "make sure you never log passwords or tokens",
    "for every bug fix I want a regression test first",
)

FACTS_DECISIONS_AND_CAUSES = {
    "can we always use the structured logger pls, no more print": "convention",
    "the tests need a running redis": "tooling",
    "dont touch src/generated its built by protoc": "constraint",
    "the auth token gets rotated every 24 hours": "tooling",
    "we decided to use msgpack instead of json for the cache because json was too slow": "decision",
    "we tried celery for this and abandoned it because tasks got lost on deploy": "failed_approach",
    "the nightly crash was caused by two workers writing the same lock file": "bug_cause",
    "i prefer short answers, no summaries at the end": "preference",
    "all money amounts are integer cents, never floats": "constraint",
    "python 3.9 is the minimum, customers still use it": "convention",
    "for db access we only go through the repository layer": "tooling",
    "you need to run make gen after changing anything in proto/": "tooling",
}
"""What people type without a form that asks for memory, with its kind."""

OF_THE_HOUR = (
    "never mind, leave it",
    "remember to run the tests before you commit this",
    "the tests need a fix",
    "the modal needs to close when you press escape",
    "lets go with postgres then",
    "yes do 1",
    "add a flag --dry-run that never writes anything",
    "it must not crash when the file is empty, please handle that",
    'the readme says "always run make setup first", is that still true?',
    "can you check that we always close the file?",
    "is this really an issue: we never close the reader",
    "I think we don't set up the remote properly, can you check?",
    "should we always use pnpm in this repo?",
    "please fix the test",
    "don't touch that now",
    "don't change the signature",
    "stop the server",
    "remember to close the file in this function",
    "remember also you have LSP tool access",
    "remember that you have LSP tool access",
    "Fixed. I was editing files in a different path",
    "our tests are failing again",
    "always the same error",
    "the handler is never called",
    "we never call Close here, so it leaks",
    "every time you run it, it fails",
    "I prefer the second option",
    "we decided to do that later",
    "no, the button needs to be red",
    "all tests must pass before I merge this branch",
    "you must not change this function",
    "we should never have merged this",
    "our build is broken on main",
    "we use this everywhere, not just here",
    "# AGENTS.md instructions for /srv/app\n\n<INSTRUCTIONS>\nAlways use pnpm.\n</INSTRUCTIONS>",
)

REVIEW = (
    "never log the customer id\n\n"
    "The function `getSession()` should also be checked for consistency, because `setSession()` ignores the error that"
    " `loadState()` may return, resulting in a stale cache. Consider adding unit tests for `getSession()`."
)


@pytest.fixture
def memory(home: Path, tmp_path: Path) -> Any:
    (tmp_path / "app").mkdir()
    with Memory(str(tmp_path / "app")) as opened:
        yield opened


def session(memory: Memory, name: str, *prompts: str, runs: tuple[str, ...] = ()) -> None:
    """Type the prompts and run the commands in a session of Claude Code, and end it."""

    def hook(event: str, **fields: Any) -> None:
        payload = {"session_id": name, "cwd": memory.folder, "hook_event_name": event, **fields}
        memory.answer_hook("claude-code", payload)

    hook("SessionStart", source="startup")
    for prompt in prompts:
        hook("UserPromptSubmit", prompt=prompt)
    for number, command in enumerate(runs):
        call = {"tool_name": "Bash", "tool_use_id": f"{name}-{number}", "tool_input": {"command": command}}
        hook("PreToolUse", **call)
        hook("PostToolUse", tool_response={"stdout": "ok", "stderr": "", "interrupted": False}, **call)
    hook("SessionEnd", reason="exit")
    learner.learn_all(memory.settings, parse_errand(""))


def confirmed(memory: Memory) -> dict[str, Lesson]:
    return {lesson.insight: lesson for lesson in memory.lessons(states=("active",)) if lesson.trust == "person"}


def test_ten_everyday_rules_of_one_session_are_confirmed_with_their_triggers(memory: Memory) -> None:
    session(memory, "one", *TEN)
    lessons = confirmed(memory)
    assert sorted(lessons) == sorted(words for words, _ in TEN.values())
    for words, triggers in TEN.values():
        when = lessons[words].when
        for field, least in triggers.items():
            actual = getattr(when, field)
            assert actual == least if isinstance(least, bool) else set(least) <= set(actual), (words, when)


def test_facts_decisions_and_causes_are_confirmed_with_their_kind(memory: Memory) -> None:
    session(memory, "one", *FACTS_DECISIONS_AND_CAUSES)
    kinds = {lesson.provenance.evidence[0].quote: lesson.kind for lesson in confirmed(memory).values()}
    assert kinds == FACTS_DECISIONS_AND_CAUSES


def test_further_rules_in_other_words_are_confirmed_in_the_user_s_words(memory: Memory) -> None:
    session(memory, "one", *TWENTY)
    quotes = {lesson.provenance.evidence[0].quote: lesson for lesson in confirmed(memory).values()}
    assert sorted(quotes) == sorted(TWENTY)
    for quote, lesson in quotes.items():
        assert lesson.insight.lower() in quote.lower()


@pytest.mark.parametrize("prompt", OF_THE_HOUR)
def test_what_concerns_the_hour_is_not_confirmed(memory: Memory, prompt: str) -> None:
    session(memory, "one", "look at the loader first", prompt)
    assert confirmed(memory) == {}


def test_nothing_in_a_prompt_with_a_pasted_review_is_the_user_s_rule(memory: Memory) -> None:
    session(memory, "one", REVIEW)
    assert confirmed(memory) == {}


def test_a_rule_stated_in_several_sessions_is_one_confirmed_lesson(memory: Memory) -> None:
    for name in ("one", "two", "three"):
        session(memory, name, "use pnpm, never npm")
    [lesson] = confirmed(memory).values()
    assert (lesson.insight, lesson.when.commands) == ("Use pnpm, never npm", ("pnpm", "npm"))
    assert lesson.sessions_seen == ("one", "two", "three")


@pytest.mark.parametrize(
    ("earlier", "later", "words"),
    [
        ("always use pnpm", "from now on use bun", "Use bun"),
        ("always use pnpm in this repo, never npm", "from now on use bun", "Use bun"),
        ("we never deploy on Fridays", "from now on we deploy on Fridays", "We deploy on Fridays"),
        (
            "our staging database is called blue-heron", "our staging database is called red-fox",
            "Our staging database is called red-fox",
        ),
        (
            "never add new dependencies without asking me", "from now on you may add dependencies without asking me",
            "You may add dependencies without asking me",
        ),
    ],
)  # fmt: skip
def test_a_later_rule_on_the_same_subject_closes_the_earlier_one(
    memory: Memory, earlier: str, later: str, words: str
) -> None:
    session(memory, "one", earlier)
    session(memory, "two", later)
    assert list(confirmed(memory)) == [words]
    assert len(memory.lessons(states=("superseded",))) == 1


def test_a_rule_for_a_part_leaves_the_general_one(memory: Memory) -> None:
    session(memory, "one", "always use pnpm")
    session(memory, "two", "from now on use bun for the scripts folder")
    assert sorted(confirmed(memory)) == ["Always use pnpm", "Use bun for the scripts folder"]


def test_a_command_that_a_person_forbids_makes_no_card(memory: Memory) -> None:
    session(memory, "one", "use pnpm, never npm", runs=("npm install", "npm install"))
    assert [lesson.title for lesson in memory.lessons() if lesson.topic_key] == []
    session(memory, "two", runs=("pnpm install", "pnpm install"))
    assert [lesson.how for lesson in memory.lessons() if lesson.topic_key] == ["pnpm install"]


def test_a_card_is_retired_when_a_person_forbids_its_command_and_another_one_takes_its_place(memory: Memory) -> None:
    session(memory, "one", runs=("npm install", "npm install"))
    assert [lesson.how for lesson in memory.lessons() if lesson.topic_key] == ["npm install"]
    session(memory, "two", "always use pnpm in this repo, never npm")
    assert [lesson.how for lesson in memory.lessons() if lesson.topic_key] == []
    session(memory, "three", runs=("pnpm install", "pnpm install", "npm install", "npm install", "npm install"))
    assert [lesson.how for lesson in memory.lessons() if lesson.topic_key] == ["pnpm install"]


# One rule, one lesson; said twice is behaviour

WHOLE, FLOATS = "Amounts are whole cents, never floats", "never use floats for amounts, use whole cents"


def living(memory: Memory) -> list[Lesson]:
    return memory.lessons(states=("active", "candidate", "quarantined"))


@pytest.mark.parametrize("first", ["remember", "type"])
@pytest.mark.parametrize("second", ["remember", "type"])
def test_one_rule_in_two_wordings_is_one_lesson(memory: Memory, first: str, second: str) -> None:
    for name, way, rule in (("one", first, WHOLE), ("two", second, FLOATS)):
        if way == "remember":
            memory.remember(rule)
        else:
            session(memory, name, rule)
    assert len(living(memory)) == 1


def test_a_command_that_a_person_says_to_run_makes_no_card(memory: Memory) -> None:
    session(memory, "one", "run the tests", runs=("make test", "make test"))
    assert [lesson.topic_key for lesson in living(memory)] == ["commands/test"]
    memory.remember("Run the tests with make test")
    session(memory, "two", "run the tests", runs=("make test", "make test"))
    assert [lesson.insight for lesson in living(memory)] == ["Run the tests with make test"]


def correct(memory: Memory, name: str, *corrections: str) -> None:
    """A session in which the user says this after an edit of the agent each time."""

    def hook(event: str, **fields: Any) -> None:
        payload = {"session_id": name, "cwd": memory.folder, "hook_event_name": event, **fields}
        memory.answer_hook("claude-code", payload)

    for number, correction in enumerate(corrections):
        file = f"{memory.folder}/app.py"
        edit = {"file_path": file, "old_string": f"x = {number}", "new_string": f"x = {number + 1}"}
        call = {"tool_name": "Edit", "tool_use_id": f"{name}-{number}", "tool_input": edit}
        hook("PreToolUse", **call)
        hook("PostToolUse", tool_response={"filePath": file}, **call)
        hook("UserPromptSubmit", prompt=correction)
    hook("SessionEnd", reason="exit")
    learner.learn_all(memory.settings, parse_errand(""))


def test_a_correction_waits_until_it_is_stated_again_in_whatever_words(memory: Memory) -> None:
    correct(memory, "one", "don't use moment, use date-fns")
    [once] = living(memory)
    assert (once.state, once.how) == ("candidate", "wrong: moment, right: date-fns")
    correct(memory, "two", "again: date-fns, not moment!")
    [twice] = living(memory)
    assert (twice.id, twice.state, twice.trust) == (once.id, "active", "person")


def test_a_correction_that_is_stated_twice_in_one_session_is_confirmed(memory: Memory) -> None:
    correct(memory, "one", "use date-fns instead of moment please", "I told you to use date-fns instead of moment")
    assert [lesson.state for lesson in living(memory)] == ["active"]


@pytest.mark.parametrize(
    ("prompt", "how"),
    [
        ("wrong: `requests`, right: `httpx`", "wrong: requests, right: httpx"),
        ("that is wrong, it should be httpx not requests", "wrong: requests, right: httpx"),
        ("no, use the fake clock instead of sleep", "wrong: sleep, right: the fake clock"),
    ],
)
def test_a_correction_that_names_both_keeps_what_was_wrong_and_what_is_right(
    memory: Memory, prompt: str, how: str
) -> None:
    correct(memory, "one", prompt)
    [lesson] = living(memory)
    assert lesson.how == how
    assert set(lesson.insight.lower().strip(".").split()) <= set(prompt.lower().strip(".").split())


@pytest.mark.parametrize(
    "prompt",
    [
        "should it be httpx, not requests?",
        "use the second file instead of the first for now",
        "I think we don't set up the remote properly, can you check?",
        "remember also you have LSP tool access",
        "don't change the signature, just the body",
    ],
)
def test_questions_and_wishes_of_the_hour_correct_nothing(memory: Memory, prompt: str) -> None:
    correct(memory, "one", prompt)
    assert living(memory) == []
