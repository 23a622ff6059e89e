"""Applying a proposal: what the lesson that stays takes over, what is refused, and that undo restores everything."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from holdfast.bootstrap import Memory
from holdfast.domain.lesson import Anchor, Evidence, Lesson, Provenance, Triggers
from holdfast.domain.statefamilies import TIDY_PROPOSAL, without_lesson
from holdfast.domain.vocabulary import FLOATED
from holdfast.errors import InvalidValueError
from holdfast.upkeep.tidying import tidy
from holdfast.upkeep.tidying.checks import check, is_persons
from holdfast.upkeep.tidying.proposal import Proposal, Step, dump, load, render_diff
from holdfast.upkeep.tidying.tidy import apply, current, keep, living, pending, propose, undo
from tests.upkeep.tidying.stand_in import FLOATS, FLOATS_TOO, StandInModel, put


def proposal_of(memory: Memory, *steps: Step) -> Proposal:
    return Proposal(at=memory.services.clock.now(), living=len(living(memory.services, memory.location)), steps=steps)


def carry_out(memory: Memory, *steps: Step) -> Any:
    return apply(memory.services, memory.location, proposal_of(memory, *steps))


def content(lesson: Lesson) -> Lesson:
    """The lesson without when its version was recorded."""
    return replace(lesson, recorded_at=lesson.validity.valid_from, retracted_at=None)


def test_the_lesson_that_stays_keeps_its_words_and_takes_over_what_is_known_of_the_others(memory: Memory) -> None:
    (stays,) = put(
        memory, FLOATS, why="rounding", sessions_seen=("s1",), anchors=(Anchor(path="src/a.py"),),
        provenance=Provenance(session="s1", evidence=(Evidence(event="e1", quote="cents"),)),
    )  # fmt: skip
    (gone,) = put(
        memory, FLOATS_TOO, why="another reason", how="use Decimal", sessions_seen=("s1", "s2"),
        tags=(FLOATED, "money"),
        anchors=(Anchor(path="src/b.py"),), when=Triggers(commands=("make bill",)), error_signature="sig",
        command="make bill", provenance=Provenance(session="s2", evidence=(Evidence(event="e2", quote="floats"),)),
    )  # fmt: skip
    change = carry_out(memory, Step(verb="merge", lesson=stays.id, replaces=(gone.id,))).change
    after, closed = memory.get(stays.id), memory.get(gone.id)
    assert (after.title, after.insight, after.why, after.how) == (stays.title, stays.insight, "rounding", "")
    assert after.paths == ("src/a.py", "src/b.py")
    assert after.when.commands == ("make bill",)
    assert (after.error_signature, after.command) == ("sig", "make bill")
    assert [span.quote for span in after.provenance.evidence] == ["cents", "floats"]
    assert set(after.sessions_seen) == {"s1", "s2"}
    assert after.tags == ("money",)
    assert closed.state == "superseded"
    assert [(link.kind, link.target) for link in after.links] == [("supersedes", gone.id)]
    assert (change.verb, change.summary) == ("tidy", "1 merged")


def test_triggers_that_a_person_chose_stay(memory: Memory) -> None:
    (stays,) = put(memory, FLOATS, when=Triggers(paths=("src/**",), edited=True))
    (gone,) = put(memory, FLOATS_TOO, when=Triggers(commands=("make bill",)))
    carry_out(memory, Step(verb="merge", lesson=stays.id, replaces=(gone.id,)))
    assert memory.get(stays.id).when == stays.when


def test_several_steps_about_the_lesson_that_stays_add_up(memory: Memory) -> None:
    first, second, third = put(memory, FLOATS, FLOATS_TOO, f"{FLOATS}, ever")
    carry_out(
        memory,
        Step(verb="merge", lesson=first.id, replaces=(second.id,)),
        Step(verb="merge", lesson=first.id, replaces=(third.id,)),
        Step(verb="retitle", lesson=first.id, title="Store money as integer cents, never as floats"),
    )
    after = memory.get(first.id)
    assert {link.target for link in after.links} == {second.id, third.id}
    assert after.title == "Store money as integer cents, never as floats"


def test_a_step_whose_lesson_changed_since_is_left_out_and_named(memory: Memory) -> None:
    stays, gone, once = put(memory, FLOATS, FLOATS_TOO, "The banner typo was mended in May")
    steps = [Step(verb="merge", lesson=stays.id, replaces=(gone.id,)), Step(verb="retire", lesson=once.id)]
    fresh = propose(memory.services, memory.location)
    known = {lesson.id: lesson for lesson in living(memory.services, memory.location)}
    proposal = replace(fresh, steps=check(steps, known)[0])
    keep(memory.services, memory.location, proposal)
    memory.edit(once.id, title="The typo was mended in May")
    waiting = pending(memory.services, memory.location)
    assert waiting is not None
    assert [step.verb for step in waiting.steps] == ["merge"]
    tidied = apply(memory.services, memory.location, proposal)
    assert [step.verb for step in tidied.steps] == ["merge"]
    assert "its words changed since it was proposed" in tidied.refused[0]
    assert memory.get(once.id).state == "active"


def test_a_proposal_that_is_applied_twice_does_nothing_the_second_time(memory: Memory) -> None:
    put(memory, FLOATS, FLOATS_TOO)
    proposal = propose(memory.services, memory.location)
    apply(memory.services, memory.location, proposal)
    with pytest.raises(InvalidValueError, match="out of date"):
        apply(memory.services, memory.location, proposal)


def test_there_is_nothing_to_take_back_before_and_after_an_undo(memory: Memory) -> None:
    put(memory, FLOATS, FLOATS_TOO)
    with pytest.raises(InvalidValueError, match="no tidy to undo"):
        undo(memory.services, memory.location)
    apply(memory.services, memory.location, propose(memory.services, memory.location))
    undo(memory.services, memory.location)
    with pytest.raises(InvalidValueError, match="no tidy to undo"):
        undo(memory.services, memory.location)


def test_a_stored_proposal_is_read_again_and_a_purge_of_one_of_its_lessons_empties_it(memory: Memory) -> None:
    put(memory, FLOATS, FLOATS_TOO)
    proposal = propose(memory.services, memory.location)
    assert load(dump(proposal)) == proposal
    assert load("") is None
    assert load("0 {}") is None
    assert load("1 {") is None
    assert without_lesson(dump(proposal), proposal.steps[0].replaces[0]) == ""
    keep(memory.services, memory.location, proposal)
    assert current(memory.services, memory.location) == proposal
    memory.services.store.set_state(TIDY_PROPOSAL, memory.location.project.id, "broken")
    assert current(memory.services, memory.location) is None


def test_the_diff_shows_what_goes_what_stays_and_what_is_new(memory: Memory) -> None:
    stays, gone, once = put(memory, FLOATS, FLOATS_TOO, "The banner typo was mended in May")
    title = "Store money as integer cents, never as floats"
    steps = (
        Step(verb="merge", lesson=stays.id, replaces=(gone.id,), title=title, reason="same"),
        Step(verb="retire", lesson=once.id, reason="done", by="m"),
    )
    lines = list(render_diff(proposal_of(memory, *steps), {entry.id: entry for entry in (stays, gone, once)}))
    assert [line[0] for line in lines] == ["@", "-", "-", "+", "@", "-"]
    assert lines[0] == "@@ merge (rule): same"
    assert lines[3].endswith(title)


def test_lessons_of_the_user_of_branches_and_of_the_command_card_are_not_looked_at(memory: Memory) -> None:
    put(memory, FLOATS)
    put(memory, FLOATS_TOO, branch="topic")
    put(memory, "Run the tests with `make test`", topic_key="commands/test")
    memory.remember(f"{FLOATS}?", scope="user")
    assert [lesson.insight for lesson in living(memory.services, memory.location)] == [FLOATS]


APPLY = """
import sys
from holdfast.bootstrap import Memory
from holdfast.errors import HoldfastError
from holdfast.upkeep.tidying.tidy import apply, current
with Memory(sys.argv[1]) as memory:
    proposal = current(memory.services, memory.location)
    sys.stdin.readline()
    try:
        print(apply(memory.services, memory.location, proposal).change.summary)
    except HoldfastError as exc:
        print(exc)
"""


@pytest.mark.needs_processes("two processes apply one proposal")
@pytest.mark.needs_file("the processes share a store")
def test_of_two_processes_that_apply_one_proposal_one_does(memory: Memory, project: Path) -> None:
    put(memory, FLOATS, FLOATS_TOO)
    keep(memory.services, memory.location, propose(memory.services, memory.location))
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", APPLY, str(project)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env=os.environ.copy(),
        )
        for _ in range(2)
    ]  # fmt: skip
    answers = [process.communicate("go\n")[0].strip() for process in processes]
    assert sorted(answer.splitlines()[0] for answer in answers) == ["1 merged", "the proposal is out of date:"]
    assert len(living(memory.services, memory.location)) == 1


WORDS = ["gateway", "retries", "ledger", "cents", "floats", "harbour", "tides", "metres", "never", "cache"]
RULES = st.lists(st.sampled_from(WORDS), min_size=3, max_size=7, unique=True).map(" ".join)
DRAWN = st.tuples(RULES, st.sampled_from(["agent", "person", "verified"]), st.booleans())
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["merge", "retire", "retitle"]), st.integers(0, 9), st.lists(st.integers(0, 9), max_size=3)
    ),
    max_size=12,
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(drawn=st.lists(DRAWN, min_size=2, max_size=10, unique_by=lambda draw: frozenset(draw[0].split())), steps=STEPS)
def test_undo_restores_every_lesson_and_every_closed_lesson_is_cited_or_retired_with_a_reason(
    home: Path, drawn: list[tuple[str, str, bool]], steps: list[tuple[str, int, list[int]]]
) -> None:
    with tempfile.TemporaryDirectory() as folder, Memory(folder) as memory:
        lessons = [
            put(memory, f"{insight}.", trust=trust, pinned=pinned, tags=(f"t{number}",))[0]
            for number, (insight, trust, pinned) in enumerate(drawn)
        ]
        before = [content(lesson) for lesson in living(memory.services, memory.location)]
        size = len(lessons)
        proposed = [
            Step(
                verb=verb, lesson=lessons[at % size].id, reason="drawn", by="drawn",
                replaces=tuple(lessons[other % size].id for other in others) if verb == "merge" else (),
                title="Never cache the tides" if verb == "retitle" else "",
            )
            for verb, at, others in steps
        ]  # fmt: skip
        by_rules = propose(memory.services, memory.location)
        try:
            tidied = carry_out(memory, *by_rules.steps, *proposed)
        except InvalidValueError:
            assert [content(lesson) for lesson in living(memory.services, memory.location)] == before
            return
        after = {lesson.id: lesson for lesson in living(memory.services, memory.location)}
        cited = {link.target for lesson in after.values() for link in lesson.links}
        retired = {step.lesson for step in tidied.steps if step.verb == "retire" and step.reason}
        assert {lesson.id for lesson in lessons} - set(after) <= cited | retired
        persons = {lesson.id for lesson in lessons if is_persons(lesson)}
        by_persons = {link.target for lesson in after.values() if lesson.id in persons for link in lesson.links}
        assert persons - set(after) <= by_persons
        undo(memory.services, memory.location)
        assert sorted(map(str, before)) == sorted(
            str(content(lesson)) for lesson in living(memory.services, memory.location)
        )


@pytest.mark.parametrize(("factor", "most"), [(1.51, 4), (1.5, 10)])
def test_a_model_is_instructed_to_leave_less_than_half_once_the_brief_is_outgrown(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, factor: float, most: int
) -> None:
    """`tidy.SHARE_KEPT`: 0.45 of ten lessons."""
    put(memory, *(f"Berth {n} closes when gauge {n} reports {n} metres" for n in range(10)))
    monkeypatch.setattr(tidy, "outgrown", lambda lessons: factor)
    model = StandInModel({})
    propose(memory.services, memory.location, lambda: model)
    assert f"at most {most} of these should stay" in model.prompts[0]


def test_only_the_newest_lessons_are_looked_at(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """`tidy.LIVING_MOST`."""
    assert tidy.LIVING_MOST == 2_000
    monkeypatch.setattr(tidy, "LIVING_MOST", 1)
    put(memory, FLOATS, FLOATS_TOO)
    assert len(living(memory.services, memory.location)) == 1


@pytest.mark.parametrize(("name", "most"), [("EVIDENCE_KEPT", 12), ("SESSIONS_KEPT", 50)])
def test_the_lesson_that_stays_takes_over_so_much(memory: Memory, name: str, most: int) -> None:
    """`tidy.EVIDENCE_KEPT` and `tidy.SESSIONS_KEPT`."""
    evidence = [tuple(Evidence(event=f"{side}{n}", quote=f"{side} {n}") for n in range(8)) for side in "ab"]
    sessions = [tuple(f"{side}{n}" for n in range(30)) for side in "ab"]
    (stays,) = put(memory, FLOATS, provenance=Provenance(evidence=evidence[0]), sessions_seen=sessions[0])
    (gone,) = put(memory, FLOATS_TOO, provenance=Provenance(evidence=evidence[1]), sessions_seen=sessions[1])
    carry_out(memory, Step(verb="merge", lesson=stays.id, replaces=(gone.id,)))
    after = memory.get(stays.id)
    assert {"EVIDENCE_KEPT": len(after.provenance.evidence), "SESSIONS_KEPT": len(after.sessions_seen)}[name] == most
    assert set(sessions[0]) <= set(after.sessions_seen)
