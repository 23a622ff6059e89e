"""Every detector against its recorded windows; a false alarm costs trust, so quiet cases outnumber finds."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast import plugins
from holdfast.domain.event import Event
from holdfast.testing.builders import make_event
from tests.detectors.golden import DETECTORS, actual, cases, expected, window


@pytest.mark.parametrize("name", DETECTORS)
def test_lessons_are_found_as_reviewed_and_nothing_where_nothing_was_learnt(name: str) -> None:
    finds, quiet = ([case for case in cases(kind) if case.parents[1].name == name] for kind in ("finds", "quiet"))
    assert len(quiet) > len(finds) > 0
    for case in finds:
        assert actual(case) == expected(case) != [], case
        check_evidence(case)
    for case in quiet:
        assert actual(case) == expected(case) == [], case
        check_evidence(case)


def check_evidence(case: Path) -> None:
    """Evidence quotes the events to the letter."""
    events = {event.id: event for event in window(case)}
    for name in DETECTORS:
        for candidate in plugins.load("detectors", name).detect(window(case)):
            assert candidate.evidence
            for span in candidate.evidence:
                event = events[span.event]
                texts = (event.text, event.command, event.new)
                assert span.quote in [text[span.start : span.end] for text in texts], case


def test_one_repair_is_found_by_one_detector() -> None:
    for case in cases("finds"):
        failures = [
            candidate.evidence[0].event
            for name in ("fail_fix", "red_green")
            for candidate in plugins.load("detectors", name).detect(window(case))
        ]
        assert len(failures) == len(set(failures))


texts = st.text(max_size=120) | st.sampled_from(
    [
        "no, use tabs instead of spaces",
        "Error: boom",
        "FAILED tests/test_a.py::test_b - AssertionError",
        "# remember this",
        "4. Errors and fixes:\n   - a\n      - Fixed by b, because `c",
        "MEMORY.md\n---\ntype: user\n---\n- **Why:** d",
    ]
)
events = st.builds(
    make_event,
    kind=st.sampled_from(
        ["prompt", "reply", "tool_result", "tool_failure", "file_edit", "commit", "session_start", "compaction"]
    ),
    tool=st.sampled_from(["Bash", "Edit", "memory"]),
    text=texts,
    command=st.sampled_from(
        [
            "",
            "pytest tests",
            "make lint",
            "git checkout -- a.py",
            "git",
            "|",
            "a && 'b",
            "x <<E\n",
            "git commit -m \"$(cat <<'EOF'\nfix: a\n\nb broke because c\nEOF",
            "git commit -m 'a",
            'gh pr create -b "\\',
        ]
    ),
    exit_code=st.sampled_from([None, 0, 1, 127]),
    files=st.sampled_from([(), ("a.py",), ("tests/test_a.py",), ("CLAUDE.md",), ("docs/adr/0001-a.md",)]),
    old=st.sampled_from(["", "one = 1234567890", "two"]),
    new=st.sampled_from(["", "one = 1234567890", "two", "# a\n\n## Decision\n\n- b must c because d", "/* a\n * b */"]),
)


@given(st.lists(events, max_size=14))
def test_any_window_is_read_without_an_error_and_twice_the_same(window: list[Event]) -> None:
    for name in DETECTORS:
        detector = plugins.load("detectors", name)
        assert detector.detect(window) == detector.detect(window)
