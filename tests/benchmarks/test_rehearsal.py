"""The figure of rehearsed lessons: it counts what is told, and falls when titles move to other lessons."""

from __future__ import annotations

from pathlib import Path

from benchmarks.rehearsal import CONDITIONS, measure, render
from benchmarks.replay.shipped import open_shipped

from holdfast import Memory
from holdfast.domain.learningmoment import LearningMoment
from holdfast.domain.statefamilies import LEARNING_MOMENTS
from holdfast.domain.vocabulary import EventId, SessionId
from holdfast.lean.plain import to_plain
from holdfast.lean.texts import dumps

CAUSES = (
    "The walrus ferry ran aground because its keel was too deep",
    "Lighthouse beacons failed because salt corroded their cables",
    "The crane dropped a container because its brake was wet",
    "Pilots missed the tide because the almanac was out of date",
    "The customs scanner restarts because of a leaking socket",
)


def test_the_share_told_falls_when_titles_are_shuffled(tmp_path: Path) -> None:
    home, folder = tmp_path / "home", tmp_path / "harbour"
    home.mkdir()
    folder.mkdir()
    with open_shipped(home, folder) as shipped:
        with Memory(str(folder)) as memory:
            for cause in CAUSES:
                lesson = memory.remember(cause, kind="bug_cause")
                moment = LearningMoment(event=EventId("e"), session=SessionId("s"), kind="file", text="quay.py")
                memory.services.store.set_state(LEARNING_MOMENTS, lesson.id, dumps([to_plain(moment)]))
        figures = {name: measure(shipped, **condition) for name, condition in CONDITIONS.items()}
    shares = [row["told"] for row in figures.values()]
    assert shares[:2] == [1.0, 0.0]
    assert shares[2] <= 0.4
    assert figures["start and moments"]["counts"]["start"] == len(CAUSES)
    assert "1.00 of 5 lessons (start 5)" in render(figures)
