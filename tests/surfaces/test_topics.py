"""`holdfast topics` on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast import Memory
from tests.surfaces.terminal import run, told, told_json


@pytest.fixture
def folder(project: Path, memory: Memory) -> str:
    for rule in ("Ferries leave from pier two.", "No ferries sail in a storm.", "Ferries carry no lorries."):
        memory.remember(rule)
    for number in range(3):
        memory.remember(f"The tide table of month {number + 2} is printed.")
    return str(project)


def test_topics_are_listed_with_their_counts_and_their_lessons(folder: str) -> None:
    result = run("topics", "-C", folder)
    assert "ferries" in result.stdout.lower()
    assert "topics; 0 of 6 lessons have none" in result.stderr
    topics = {topic["name"].lower(): topic["lessons"] for topic in told_json("topics", "-C", folder)["topics"]}
    assert topics["ferries"] == topics["tide table"] == 3
    assert told("topics", "show", "ferries", "-C", folder).lower().count("ferries") == 3


def test_a_topic_is_renamed_merged_and_split(folder: str) -> None:
    assert "ferries is now Ships" in told("topics", "rename", "ferries", "Ships", "-C", folder)
    merged = run("topics", "merge", "Ships", "tide table", "-C", folder)
    assert "tide table: 6 lessons, those of ferries among them" in merged.stdout
    assert "holdfast topics split 'tide table'" in merged.stderr
    told("topics", "split", "tide table", "-C", folder)
    assert {topic["lessons"] for topic in told_json("topics", "-C", folder)["topics"]} == {3}


def test_an_unknown_topic_is_an_error_with_what_is_like_it(folder: str) -> None:
    result = run("topics", "rename", "ferrys", "Ships", "-C", folder)
    assert result.exit_code == 1
    assert "did you mean ferries" in result.stderr
