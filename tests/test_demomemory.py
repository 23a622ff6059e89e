"""The demo memory holds what its pages are to show."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from holdfast.domain.records import Delivery
from holdfast.ports.store import EventFilter, LogFilter
from tests.demomemory import make_demo


def test_the_demo_has_something_for_every_page(tmp_path: Path) -> None:
    demo = make_demo(tmp_path, datetime(2026, 5, 1, 12, tzinfo=UTC))
    with demo.open() as memory:
        lessons = memory.lessons()
        states = {memory.get(lesson.id).state for lesson in memory.lessons(states=("candidate", "forgotten"))}
        project = memory.location.project.id
        events = memory.services.store.find_events(EventFilter(project=project))
        deliveries = memory.services.store.find_records(Delivery, LogFilter(project=project))
        verdicts = {freshness for freshness, _ in memory.verdicts(lessons)}
    assert len({lesson.provenance.person for lesson in lessons} - {""}) == 3
    assert states == {"candidate", "forgotten"}
    assert {"fresh", "drifted", "moved", "unanchored"} <= verdicts
    assert len({event.session for _, event in events}) > 25
    assert {"tool_failure", "file_edit", "prompt", "reply"} <= {event.kind for _, event in events}
    assert len({delivery.lesson for delivery in deliveries}) > 15
