"""Whose words a prompt holds: cases from recorded sessions, and what holds for every text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.text.prompts import read_prompt

PERSONS = [
    "yes",
    "can you also add a single retry?",
    'How about instead of "1 other session(s) will also be restored" - "These other session(s) will also be restored"',
    "1. no\n2. we show the active checkpoints in the current branch\n3. yes",
    "I think we should also keep agent lines at each prompt start",
    "Question: I realized we have a bit of a naming conflict:\n\n- Checkpoints are used for Resume\n"
    "- Sessions are on top of individual checkpoints\n\nSo checkpoints are both, any suggestions?",
    "I also meant:\n  - handleSessionStart() in hooks_claudecode_handlers.go\n"
    "  - handleGeminiSessionStart() in hooks_geminicli_handlers.go",
    "However, `sketch.js` has a lot of code that is still checking `activeZone` and `isZonePaintingActive`, which were"
    " removed, and the buttons in `index.vue` should be hidden. Limit the fixes to `sketch.js` and leave others alone.",
    "ALWAYS start with local files (ripgrep, `ast_grep`). The dependency graph in `backstage.json` should be read only"
    " when a call crosses a service, and `business_context.md` only when the task has complex logic or is unclear.",
    "\u0441\u043c\u043e\u0442\u0440\u0438 " * 9
    + "\n\nHTTP: search HttpClient, Controller. "
    + "Kafka: search ProduceAsync. " * 6,
    "",
    "   \n",
]

MACHINES = [
    ("continuation", "This session is being continued from a previous conversation that ran out of context."),
    ("plan", "Implement the following plan:\n\n# Plan: Change the default\n\nAlways ask first."),
    ("hook", "Operation stopped by hook: Another session is active: \"let's start\"\n\nYou can continue here."),
    ("interrupt", "[Request interrupted by user for tool use]"),
    ("notice", "<task-notification>\n<status>completed</status>\nAgent finished.\n</task-notification>"),
    ("command", "<local-command-stdout>Bye!</local-command-stdout>"),
    ("command", "<command-name>/exit</command-name>\n<command-message>exit</command-message>"),
    ("command", "<bash-input>code .</bash-input>"),
    (
        "review",
        "TrackCommandDetached unconditionally calls spawnDetachedAnalytics, but spawnDetachedAnalytics is only"
        " implemented in detached_unix.go behind a build tag. This will cause build failures for non-Unix targets;"
        " consider adding a stub in a separate file.",
    ),
    (
        "review",
        "Shadow branch migration can overwrite other sessions' checkpoints\n\nMedium Severity\n\n"
        "The migrateShadowBranchIfNeeded function creates the new reference without checking if it exists.",
    ),
    (
        "output",
        "=== Step 17: Session validation ===\nSession count: 2\nSession IDs: [\n  \"1eab90f9\",\n  \"5df98c99\"\n]",
    ),
]  # fmt: skip

MIXED = [
    (
        "ok, it generally works now but I think line numbers are off:\n\n=== Step 1: Create ===\nBuilt: /tmp/entire\n"
        "Found: 12\n=== Step 2: Check ===",
        "ok, it generally works now but I think line numbers are off:",
    ),
    (
        "=== Step 11: Check ===\n{\n  \"checkpoint_id\": \"12fdf1a002eb\"\n}\n\nThat should have lines attribution or?",
        "That should have lines attribution or?",
    ),
    ("test are failing, not locally:\n\"\"\"\n--- FAIL: TestEnable (0.00s)\n\"\"\"", "test are failing, not locally:"),
    (
        "when running:\n\u276f entire enable\n\n\u2713 Enabled (manual-commit)\n\nI'd like us to show more.",
        "when running: I'd like us to show more.",
    ),
    (
        "this change:\n-\t\tstate, err = s.init(repo)\n+\t\t// by hook\n+\t\tstate, err = s.init(repo, id, 1)\n\n"
        "Can you explain when that value would be set then?",
        "this change: Can you explain when that value would be set then?",
    ),
    (
        "I got this feedback for the changes in manual_commit_hooks.go:281 \"Truncating the string by byte index can"
        " break multi-byte UTF-8 characters. If the prompt contains non-ASCII characters, slicing could split a"
        " character. Consider using utf8.RuneCountInString for checking the length.\"\n\nCan you address this?",
        "I got this feedback for the changes in manual_commit_hooks.go:281 Can you address this?",
    ),
    (
        "The attribution calculation silently fails if any step in the chain returns an error (headRef, headCommit,"
        " shadowTree). While this follows a pattern seen elsewhere (like TokenUsage), consider logging when it fails so"
        " there's visibility into why attribution data is missing. Can we add logging?",
        "Can we add logging?",
    ),
    (
        "I also got this feedback:\n\nConsider adding an integration test that reproduces the bug scenario.\n\n"
        "But I also wonder: a test that checks that nothing is made feels a bit strange.",
        "I also got this feedback: But I also wonder: a test that checks that nothing is made feels a bit strange.",
    ),
    (
        "<ide_selection>The user selected the lines 200 to 200 from money.py</ide_selection>\nyeah let's add the type",
        "yeah let's add the type",
    ),
    (
        "<command-message>plan</command-message>\n<command-name>/plan</command-name>\n"
        "<command-args>keep the `exporter` as it is</command-args>",
        "keep the `exporter` as it is",
    ),
    ("[Request interrupted by user]\nuse the id package", "use the id package"),
    ("how about this:\n```\n[ba5e] \"move it\"\n```\nthe date goes first", "how about this: the date goes first"),
]  # fmt: skip
HOSTILE = [
    "a-" * 20_000, "{\n" * 20_000, "<ide_selection>" * 5_000, '"' * 40_000, "`" * 40_000, "x: " * 20_000, "a." * 20_000,
    "say: x " * 8_000, "\n\nA b_c " * 8_000, " " * 60_000, ("x" + " " * 200) * 200, "Consider addX addY. " * 3_000,
]  # fmt: skip


@pytest.mark.parametrize("text", PERSONS)
def test_what_a_person_typed_is_left_whole(text: str) -> None:
    prompt = read_prompt(text)
    assert (prompt.origin, prompt.own, prompt.parts) == ("person", text, ())


@pytest.mark.parametrize(("kind", "text"), MACHINES)
def test_what_no_person_typed_is_the_machines(kind: str, text: str) -> None:
    prompt = read_prompt(text)
    assert prompt.origin == "machine"
    assert kind in {part.kind for part in prompt.parts}


@pytest.mark.parametrize(("text", "own"), MIXED)
def test_the_persons_part_of_a_mixed_prompt_is_delivered(text: str, own: str) -> None:
    prompt = read_prompt(text)
    assert prompt.origin == "mixed"
    assert " ".join(prompt.own.split()) == own


def test_the_persons_words_keep_their_places() -> None:
    text = "look:\n```\nx = 1\n```\nnever do that again"
    at = text.find("never")
    assert read_prompt(text).own[at:] == text[at:]


def test_a_long_paste_is_one_part_whatever_stands_in_it() -> None:
    step = "=== Step ===\nBuilt: /tmp/x\nsome words\nFound: 12\nand now we say more here\n"
    noise = (step * 20).removesuffix("and now we say more here\n")
    prompt = read_prompt(f"it is slow, can you look?\n\n{noise}")
    assert prompt.own.strip() == "it is slow, can you look?"
    assert len(prompt.parts) == 1


PIECES = [
    "yes please", "```\nx\n```", "=== a ===", "Built: /tmp/x", "    at f (a.js:1:2)", "\n", "\n\n", " ",
    "<ide_selection>s</ide_selection>",
]  # fmt: skip


@given(st.one_of(st.text(), st.lists(st.sampled_from(PIECES)).map("\n".join)))
def test_own_words_and_parts_make_up_the_text(text: str) -> None:
    prompt = read_prompt(text)
    assert len(prompt.own) == len(text)
    covered = {at for part in prompt.parts for at in range(part.start, part.end)}
    assert all(mine == whole or at in covered for at, (mine, whole) in enumerate(zip(prompt.own, text, strict=True)))
    assert all(prompt.own[at].isspace() for at in covered)


@pytest.mark.parametrize("text", HOSTILE, ids=lambda text: repr(text[:12]))
def test_texts_that_repeat_themselves_are_read_in_reasonable_time(text: str) -> None:
    assert len(read_prompt(text).own) == len(text)  # what is quadratic would take minutes
