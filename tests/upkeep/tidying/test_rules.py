"""What rules find without a model, and what they leave alone."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.bootstrap import Memory
from holdfast.domain.vocabulary import LessonKind
from holdfast.testing.builders import make_lesson
from holdfast.text.titles import is_weak
from holdfast.upkeep.tidying import rules
from holdfast.upkeep.tidying.tidy import propose
from tests.codebase import Codebase
from tests.upkeep.tidying.stand_in import FLOATS, FLOATS_TOO, put


def verbs(memory: Memory) -> list[tuple[str, str]]:
    steps = propose(memory.services, memory.location).steps
    return [(step.verb, memory.get(step.lesson).insight) for step in steps]


def test_equal_rules_in_two_wordings_are_merged(memory: Memory) -> None:
    put(memory, FLOATS, FLOATS_TOO, "The tide tables are in metres above chart datum")
    (step,) = propose(memory.services, memory.location).steps
    assert (step.verb, len(step.replaces), step.by) == ("merge", 1, "rule")


@pytest.mark.parametrize(
    ("first", "other"),
    [
        (FLOATS, FLOATS.replace("never as floats", "as floats")),
        ("Wait 250 ms between retries of the gateway client", "Wait 500 ms between retries of the gateway client"),
        ("Call `make lint` before the commit of a harbour change", "Call `tox` before the commit of a harbour change"),
    ],
)
def test_near_rules_that_differ_in_a_negation_a_number_or_a_name_stay(memory: Memory, first: str, other: str) -> None:
    put(memory, first, other)
    assert verbs(memory) == []


def test_a_failed_approach_is_no_other_wording_of_a_convention(memory: Memory) -> None:
    put(memory, FLOATS)
    put(memory, FLOATS_TOO, kind="failed_approach")
    assert verbs(memory) == []


def test_the_lesson_with_more_names_stays(memory: Memory) -> None:
    short = "Run the slow harbour suite nightly against the staging database"
    long = "Run the slow harbour suite nightly against the staging database with `make slow`"
    put(memory, short, long)
    assert verbs(memory) == [("merge", long)]


def test_a_persons_wording_stays(memory: Memory) -> None:
    memory.remember(FLOATS)
    put(memory, FLOATS_TOO, sessions_seen=("s1", "s2", "s3"))
    assert verbs(memory) == [("merge", FLOATS)]


def test_what_the_readme_says_is_retired_but_not_what_holdfast_wrote_there(memory: Memory, project: Path) -> None:
    rule = "Deploy the harbour service with the blue pipeline after the nightly backup"
    put(memory, rule)
    block = f"<!-- holdfast:begin rules (kept by holdfast) -->\n- {rule}\n<!-- holdfast:end -->\n"
    (project / "README.md").write_text(f"# harbour\n{block}")
    assert verbs(memory) == []
    (project / "README.md").write_text(f"# harbour\n{block}\n{rule}.\n")
    assert verbs(memory) == [("retire", rule)]


def test_a_persons_rule_stays_even_if_the_readme_says_it(memory: Memory, project: Path) -> None:
    rule = "Deploy the harbour service with the blue pipeline after the nightly backup"
    memory.remember(rule)
    (project / "README.md").write_text(f"# harbour\n{rule}.\n")
    assert verbs(memory) == []


def test_weak_titles_are_made_anew(memory: Memory) -> None:
    put(memory, FLOATS, title="Amounts of money")
    (step,) = propose(memory.services, memory.location).steps
    assert step.verb == "retitle"
    assert not is_weak(step.title)


@pytest.mark.parametrize(
    ("kind", "how", "expected"),
    [
        ("fix", "committed", True),
        ("decision", "committed", False),
        ("failed_approach", "committed", False),
        ("fix", "uncommitted", False),
        ("fix", "on a branch", False),
        ("fix", "one of two files", False),
    ],
)
def test_a_lesson_goes_with_its_code_once_all_of_it_left_the_main_line(
    code: Codebase, kind: LessonKind, how: str, expected: bool
) -> None:
    code.write("src/tides.py", "HIGH = 4\n")
    code.write("src/other.py", "LOW = 1\n")
    code.commit("tides")
    files = ["src/tides.py", "src/other.py"][: 2 if how == "one of two files" else 1]
    with Memory(str(code.folder)) as memory:
        memory.remember("Restart the tide gauge when the cache is cold", kind=kind, files=files, trust="agent")
    if how == "on a branch":
        code.git("checkout", "-q", "-b", "topic")
    (code.folder / "src" / "tides.py").unlink()
    if how != "uncommitted":
        code.commit("drop tides")
    with Memory(str(code.folder)) as memory:
        assert ("retire" in {verb for verb, _ in verbs(memory)}) == expected


STEMS = ["gateway", "retries", "ledger", "cents", "floats", "harbour", "tides", "metres", "cache", "berth"]


@given(st.lists(st.lists(st.sampled_from(STEMS), min_size=4, max_size=8, unique=True), max_size=12))
def test_no_near_pair_is_missed_by_comparing_few(drawn: list[list[str]]) -> None:
    lessons = [make_lesson(insight=" ".join(words)) for words in drawn]
    expected = {
        (first.id, other.id)
        for at, first in enumerate(lessons)
        for other in lessons[at + 1 :]
        if len(rules._telling(first) & rules._telling(other))
        >= rules.ALIKE * len(rules._telling(first) | rules._telling(other))
    }
    assert {(first.id, other.id) for first, other in rules._near_pairs(lessons)} == expected
