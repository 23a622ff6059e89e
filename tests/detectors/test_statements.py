"""The `statements` detector: what it finds, what it must leave alone, and what it costs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast import plugins
from holdfast.detectors.statements import Turn, judge, judge_turn
from holdfast.detectors.statements._model import parse_weights, shipped
from holdfast.detectors.statements._reading import READ_LIMIT, read
from holdfast.domain.candidate import Candidate
from holdfast.domain.event import Event
from holdfast.errors import InvalidValueError
from holdfast.testing.builders import make_event
from tests.detectors.golden import window

GOLDEN = Path(__file__).parents[1] / "golden/detectors/statements"
FINDS = sorted((GOLDEN / "finds").glob("*.json"))
QUIET = sorted((GOLDEN / "quiet").glob("*.json"))
STATEMENT = "The root cause is that `flush()` never runs, because the timer stops before the queue is empty."


def detect(events: list[Event]) -> list[Candidate]:
    candidates: list[Candidate] = plugins.load("detectors", "statements").detect(events)
    return candidates


def stem(case: Path) -> str:
    return case.stem


@pytest.mark.parametrize("case", FINDS, ids=stem)
def test_a_statement_is_found_as_reviewed(case: Path) -> None:
    expected: list[dict[str, Any]] = json.loads(case.read_text("utf-8"))["expect"]
    candidates = [
        {
            "kind": candidate.kind,
            "trust": candidate.trust,
            "insight": candidate.insight,
            "files": list(candidate.files),
            "symbols": list(candidate.symbols),
        }
        for candidate in detect(window(case))
    ]
    assert candidates == expected
    assert candidates


def test_what_the_agent_says_of_its_work_is_about_the_files_it_just_edited() -> None:
    events = [
        make_event(kind="prompt", text="Please mend the flaky upload."),
        make_event(kind="file_edit", files=("src/queue.py",), text=""),
        make_event(kind="reply", text=STATEMENT),
    ]
    (candidate,) = detect(events)
    assert candidate.files == ("src/queue.py",)


@pytest.mark.parametrize("case", QUIET, ids=stem)
def test_nothing_is_found_where_nothing_is_stated(case: Path) -> None:
    assert detect(window(case)) == []


def test_quiet_cases_outnumber_finds() -> None:
    assert len(QUIET) > len(FINDS) > 0


@pytest.mark.parametrize("case", FINDS, ids=stem)
def test_evidence_quotes_the_turn_to_the_letter(case: Path) -> None:
    events = {event.id: event for event in window(case)}
    for candidate in detect(window(case)):
        (span,) = candidate.evidence
        assert events[span.event].text[span.start : span.end] == span.quote
        assert candidate.insight
        assert len(candidate.insight) <= 300


def test_an_insight_is_one_line_without_markdown() -> None:
    text = f"## Summary\n\n- **The root cause** is that [`flush()`](src/a.py) never runs, {STATEMENT[4:]}"
    insights = [candidate.insight for candidate in detect([make_event(kind="reply", text=text, trust="agent")])]
    assert insights
    assert not any(mark in insight for insight in insights for mark in ("**", "`", "](", "\n", "#"))


def test_the_same_session_gives_the_same_verdicts() -> None:
    turns = [Turn("user", "why is it empty?"), Turn("assistant", STATEMENT), Turn("tool", edits=True)]
    assert judge(turns) == judge(list(turns))
    assert judge(turns)[2] is None


def test_the_shipped_weights_separate_a_statement_from_a_step() -> None:
    assert judge_turn(STATEMENT).found
    assert not judge_turn("Let me check the timer first.").found
    assert 0 < judge_turn("Let me check the timer first.").probability < judge_turn(STATEMENT).probability < 1


def test_the_shipped_weights_name_every_kind_a_statement_can_have() -> None:
    assert sorted(shipped().kinds) == sorted(
        ["bug_cause", "constraint", "convention", "decision", "failed_approach", "preference", "tooling"]
    )


def test_weights_for_other_features_are_refused() -> None:
    with pytest.raises(InvalidValueError):
        parse_weights({"provenance": {"features": "0"}})


def test_a_tool_cannot_state_anything() -> None:
    with pytest.raises(InvalidValueError):
        judge_turn(STATEMENT, "tool")


def test_a_prompt_is_a_persons_word_unless_the_host_says_otherwise() -> None:
    rule = "imports must use the alias rather than relative paths, because the bundler does not resolve them"
    prompts = [make_event(text=rule, trust=trust) for trust in ("person", "tool", "repository")]
    assert [detect([event])[0].trust for event in prompts] == ["person", "tool", "repository"]


def test_files_are_those_named_and_those_edited_next() -> None:
    events = [
        make_event(kind="file_edit", files=("lib/queue.py",), trust="tool", text=""),
        make_event(kind="reply", text=f"{STATEMENT[:-1]} in `queue.py`.", trust="agent"),
        make_event(kind="file_edit", files=("lib/timer.py",), trust="tool", text=""),
        make_event(kind="prompt", text="ok", trust="person"),
        make_event(kind="file_edit", files=("lib/other.py",), trust="tool", text=""),
    ]
    assert detect(events)[0].files == ("lib/queue.py", "lib/timer.py")


def test_a_sentence_is_found_where_it_stands() -> None:
    text = "Intro line here.\n\n1. First point stays. Second one never does!\n* other words, e.g. these ones"
    assert [text[s.start : s.end] for s in read(text).sentences] == [
        "Intro line here.",
        "First point stays.",
        "Second one never does!",
        "other words, e.g. these ones",
    ]


@pytest.mark.parametrize(
    "filler",
    ["a", "a.", "a/", "a_", "aA", " ", "\n", "`", "(", "[", "**", "a b ", "The issue is that it must. ", "ü", ".)"],
)
def test_a_huge_turn_is_read_in_part(filler: str) -> None:
    text = f"{STATEMENT}\n{filler * (200_000 // len(filler))}"
    sentences = read(text).sentences
    assert sentences[0].words[:3] == ("the", "root", "cause")
    assert all(sentence.end <= READ_LIMIT for sentence in sentences)
    assert len(detect([make_event(kind="reply", text=text, trust="agent")])) <= 2


def test_judging_needs_nothing_but_the_standard_library() -> None:
    program = (
        "import sys\n"
        "for name in ('numpy', 'sklearn', 'scipy'): sys.modules[name] = None\n"
        "from holdfast.detectors.statements import judge_turn\n"
        f"assert judge_turn({STATEMENT!r}).found\n"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=180)


events = st.builds(
    make_event,
    kind=st.sampled_from(["prompt", "reply", "tool_result", "tool_failure", "file_edit", "session_start"]),
    text=st.text(max_size=200) | st.sampled_from([STATEMENT, "- a\n- **b**: must never, because", "```\nx", "yes"]),
    files=st.sampled_from([(), ("a.py",)]),
)


@settings(max_examples=80)
@given(st.lists(events, max_size=12))
def test_any_window_is_read_without_an_error_and_quoted_exactly(window: list[Event]) -> None:
    candidates = detect(window)
    assert candidates == detect(window)
    texts = {event.id: event.text for event in window}
    for candidate in candidates:
        (span,) = candidate.evidence
        assert texts[span.event][span.start : span.end] == span.quote


def test_two_statements_of_one_reply_each_have_their_own_kind() -> None:
    reply = (
        "The label was wrong because `band_of` compares grams with kilograms, so a 2 kg parcel got band 1. "
        "We decided to keep all bands in one tuple in parcel/price.py, because the table is printed from it."
    )
    kinds = {
        candidate.insight.split()[0]: candidate.kind for candidate in detect([make_event(kind="reply", text=reply)])
    }
    assert kinds["We"] == "decision"
    assert kinds["The"] != "decision"
