"""Three machines and a server agree in the end, whatever the network does, and nothing private reaches the server."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.publishing.remotemachines import Hub, Machine, settle_down
from tests.surfaces.rest.world import open_world

RULES = ("Retries are capped at 3", "Ids end with a check digit", "Tides are in metres")
PRIVATE = ("Zanzibar sails on Mondays", "Quokkas like strong tea")
SKEWS = (timedelta(hours=-1), timedelta(0), timedelta(days=1))
FAULTS = ("", "", "", "lost", "unanswered", "twice", "late", "dies")
VERBS = (
    "remember",
    "remember",
    "revise",
    "revise",
    "retire",
    "forget",
    "private",
    "own",
    "sync",
    "sync",
    "sync",
    "die",
)
moves = st.lists(
    st.tuples(
        st.integers(0, 2), st.sampled_from(VERBS), st.integers(0, 5), st.lists(st.sampled_from(FAULTS), max_size=5)
    ),
    min_size=4,
    max_size=20,
)
Move = tuple[int, str, int, list[str]]


def play(machine: Machine, verb: str, number: int, faults: list[str]) -> None:
    lessons = [lesson for lesson in machine.living() if not lesson.private and lesson.scope.level != "user"]
    lesson = lessons[number % len(lessons)] if lessons else None
    if verb == "remember":
        machine.remember(RULES[number % len(RULES)], why=f"reason {number % 2}")
    elif verb == "private":
        machine.remember(f"{PRIVATE[0]}, {number}", private=True)
    elif verb == "own":
        machine.remember(f"{PRIVATE[1]}, {number}", scope="user")
    elif verb == "sync":
        machine.sync(faults)
    elif verb == "die":
        machine.sync(faults, dies_at=number * 2 + 1)
    elif lesson is not None and verb == "revise":
        changes: list[dict[str, Any]] = [
            {"why": f"because {number}"}, {"insight": f"{lesson.insight} or {number}"}, {"tags": [f"t{number}"]},
        ]  # fmt: skip
        machine.revise(lesson, **changes[number % 3])
    elif lesson is not None and verb == "retire":
        machine.retire(lesson)
    elif lesson is not None and verb == "forget":
        machine.forget(lesson)


def check_agreement(hub: Hub, machines: list[Machine], *, with_inbox: bool = False) -> None:
    there = hub.rules()
    assert len(there) == len(set(there)), "nothing is there twice"
    for machine in machines:
        # what somebody forgot while it waited in the inbox does not come back there, whoever accepts it
        rejected = {rule for rule in machine.closed if rule not in machine.shared()} if with_inbox else set()
        assert machine.shared() == [rule for rule in there if rule not in rejected]
    stated = set().union(*(machine.stated for machine in machines))
    ended = set().union(*(machine.ended for machine in machines))
    closed = {rule for machine in machines for text in machine.closed for rule in RULES if text.startswith(rule)}
    lost = {text for text in stated - ended - set(there) if not text.startswith(tuple(closed))}
    assert not lost, "no rule is lost that nobody replaced or took out of use"
    content = hub.content()
    assert not any(word in content for word in ("Zanzibar", "Quokkas", "strong tea")), "nothing private is there"


@contextmanager
def open_machines(members: Sequence[str]) -> Iterator[tuple[Hub, list[Machine]]]:
    """Open a server and a machine for each of the members, with clocks that differ."""
    with tempfile.TemporaryDirectory() as scratch:
        project = Path(scratch, "harbour")
        Path(project, ".holdfast").mkdir(parents=True)
        Path(project, ".holdfast", "project.toml").write_text('id = "harbour"\n')
        with open_world(Path(scratch, "server")) as world:
            hub = Hub(world)
            machines = [
                Machine(hub, Path(scratch, f"home{number}"), project, member, SKEWS[number])
                for number, member in enumerate(members)
            ]
            try:
                yield hub, machines
            finally:
                for machine in machines:
                    machine.close()


@settings(max_examples=25)
@example([(0, "remember", 0, []), (0, "sync", 0, []), (1, "sync", 0, []), (0, "revise", 1, []), (1, "revise", 4, [])])
@example([(0, "remember", 0, []), (0, "revise", 1, []), (1, "remember", 0, []), (1, "sync", 0, ["", "", "unanswered"])])
@example([(1, "remember", 3, []), (1, "sync", 3, []), (1, "revise", 4, []), (1, "die", 5, [])])
@given(moves)
def test_machines_agree_whatever_the_network_does(what: list[Move]) -> None:
    with open_machines(("reviewer", "reviewer", "author")) as (hub, machines):
        for number, verb, detail, faults in what:
            play(machines[number], verb, detail, faults)
        settle_down(hub, machines)
        check_agreement(hub, machines)
        assert machines[0].own() == machines[1].own(), "one person's machines have the same private lessons"


@settings(max_examples=15)
@given(moves)
def test_what_writers_state_is_everywhere_once_it_is_reviewed(what: list[Move]) -> None:
    with open_machines(("reviewer", "writer", "proposer")) as (hub, machines):
        for number, verb, detail, faults in what:
            is_refused = machines[number].member != "reviewer" and verb in ("retire", "forget")
            if not is_refused:  # what only a reviewer may do has tests of its own
                play(machines[number], verb, detail, faults)
        settle_down(hub, machines, accept=True)
        check_agreement(hub, machines, with_inbox=True)


def test_a_purged_lesson_leaves_no_word_in_the_tables_and_is_forgotten_by_the_others() -> None:
    with open_machines(("reviewer", "author")) as (hub, machines):
        first, second = machines
        first.remember("The pilot of pier nine is Walburga")
        settle_down(hub, machines)
        [lesson] = first.living()
        first.memory.purge(lesson.id)
        first.reopen()
        files = [path.read_bytes() for path in Path(first.memory.settings.home).rglob("*") if path.is_file()]
        assert not any(b"Walburga" in content for content in files)
        settle_down(hub, machines)
        assert second.living() == []
        assert hub.rules() == []
        assert all(row["values"]["state"] == "forgotten" for row in hub.documents())
