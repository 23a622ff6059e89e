"""One damaged row silences nobody: recall, deliveries and the learner go on with the rest."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from holdfast import Memory
from holdfast.domain.event import Event
from holdfast.domain.hookcall import HookCall
from holdfast.domain.statefamilies import LEARNED_POSITION
from holdfast.domain.vocabulary import SessionId
from holdfast.errors import HoldfastError

pytestmark = pytest.mark.needs_file("it damages rows of the file")

RULES = [f"Berth {number} is for pilots of district {number}" for number in range(6)]


def prompt(memory: Memory, text: str, session: str = "s1") -> Event:
    clock = memory.services.clock
    plain: dict[str, Any] = {"id": clock.new_id(), "key": clock.new_id(), "at": clock.now()}
    return Event(session=SessionId(session), host="claude-code", kind="prompt", text=text, **plain)


@pytest.fixture
def database(home: Path, project: Path) -> Path:
    """The file of a memory with lessons and events, closed."""
    with Memory(str(project)) as memory:
        for rule in RULES:
            memory.remember(rule, files=["src/tides.py"])
        memory.append([prompt(memory, "what about the tides"), prompt(memory, "Remember that pier 9 is closed.")])
        memory.save_checkpoint("Report the tides")
    return home / "memory.db"


def damage(database: Path, text: str) -> None:
    """Flip a bit of the first character wherever the text stands in the file."""
    content = bytearray(database.read_bytes())
    places = [at for at in range(len(content)) if content.startswith(text.encode(), at)]
    assert places
    for at in places:
        content[at] ^= 2
    database.write_bytes(content)


def test_recall_deliveries_and_lists_go_on_without_a_damaged_lesson(database: Path, project: Path) -> None:
    damage(database, f'"insight":"{RULES[2]}')
    with Memory(str(project)) as memory:
        answer = memory.recall("which berth is for pilots", limit=10)
        insights = {ranked.lesson.insight for ranked in answer.items}
        assert RULES[2] not in insights
        assert len(insights) >= 3
        assert answer.degraded == "1 damaged row left out: holdfast doctor"
        assert len(memory.lessons()) == 5
        call = HookCall(
            host="claude-code", name="H", session=SessionId("s2"), cwd=memory.folder, moment="before_file",
            paths=(f"{memory.folder}/src/tides.py",),
        )  # fmt: skip
        assert memory.inject(call).items
        assert memory.remember(RULES[2]).insight == RULES[2]


def test_the_learner_goes_on_without_a_damaged_event_and_with_a_damaged_mark(database: Path, project: Path) -> None:
    damage(database, '"text":"what about the tides"')
    with Memory(str(project)) as memory:
        memory.services.store.set_state(LEARNED_POSITION, "", "1x")
        assert memory.learn_pending().admitted == 1
        assert any("ier 9" in lesson.insight for lesson in memory.lessons())


def test_whatever_bits_are_flipped_nothing_but_our_errors_comes_out(database: Path, project: Path) -> None:
    sound = database.read_bytes()
    documents = [at for at in range(len(sound)) if sound.startswith(b'{"id":', at)]
    call = HookCall(
        host="claude-code", name="H", session=SessionId("s2"), cwd=str(project), moment="prompt", prompt="berth pilots"
    )
    for seed in range(12):
        chance, damaged = random.Random(seed), bytearray(sound)
        for _ in range(chance.randint(1, 30)):
            where = chance.choice(documents) + chance.randrange(400)
            damaged[where if chance.random() < 0.6 else chance.randrange(len(sound))] ^= 1 << chance.randrange(8)
        for name in ("memory.db-wal", "memory.db-shm"):
            (database.parent / name).unlink(missing_ok=True)
        database.write_bytes(damaged)
        try:
            with Memory(str(project)) as memory:
                _use(memory, call)
        except HoldfastError:
            continue


def _use(memory: Memory, call: HookCall) -> None:
    for job in (
        lambda: memory.recall("which berth is for pilots"),
        lambda: memory.inject(call),
        lambda: memory.learn_pending(),
        lambda: memory.lessons(states=()),
        lambda: list(memory.export_lessons()),
        lambda: memory.remember("A new rule"),
        lambda: memory.undo(),
        lambda: memory.checkpoint(),
        lambda: memory.verify(),
        lambda: memory.services.store.check(),
    ):
        try:
            job()
        except HoldfastError:
            continue
