"""Retires what older versions picked by its words alone and nobody confirmed: on sessions of strangers it was noise.

Older versions made a lesson of each likely sentence of a conversation, a comment, a commit's message or a summary.
Those that a person accepted, changed or pinned stay, and so do those that a second session confirmed. The result is
one change, which `undo` reverts. It is done once for each project.
"""

from __future__ import annotations

from holdfast.domain.lesson import in_state
from holdfast.domain.records import Change
from holdfast.domain.statefamilies import SENTENCES_RETIRED
from holdfast.lean.plain import render_instant
from holdfast.lean.records import replace
from holdfast.lessons.ledger import with_retries, write_change
from holdfast.ports.filters import LessonFilter, LogFilter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.domain.lesson import Lesson
    from holdfast.domain.project import Location
    from holdfast.ports.services import Services

DETECTORS = ("statements/", "answers/", "code_comment/", "commit_text/", "compaction_summary/", "decision_record/")
"""Beginnings of the ids of the detectors that did so; their versions follow."""
VERB = "expire"
BY_MACHINE = ("learn", "reanchor", "stage", "merge", "undo", "rejudge", VERB)
"""Verbs of changes that no person made."""


def retire_sentences(services: Services, location: Location) -> int:
    """Retire them, unless this was done here before; return how many lessons were retired."""
    if services.store.get_state(SENTENCES_RETIRED, location.project.id):
        return 0

    def step() -> int:
        lessons = [lesson for lesson in _waiting(services, location) if not _is_persons(services, lesson)]
        if lessons:
            at = services.clock.now()
            after = [in_state(lesson, "retired", at=at) for lesson in lessons]
            expected = {lesson.id: lesson.recorded_at for lesson in lessons}
            write_change(services, location, VERB, after, expected, summary="picked by its words, confirmed by nobody")
        return len(lessons)

    count = with_retries(step)
    services.store.set_state(SENTENCES_RETIRED, location.project.id, render_instant(services.clock.now()))
    return count


def _waiting(services: Services, location: Location) -> Iterator[Lesson]:
    """Yield the project's unconfirmed lessons of those detectors."""
    where = LessonFilter(project=location.project.id, states=("candidate",))
    while page := services.store.find(where):
        yield from (
            lesson for lesson in page if lesson.provenance.detector.startswith(DETECTORS) and lesson.scope.project
        )
        where = replace(where, offset=where.offset + len(page))


def _is_persons(services: Services, lesson: Lesson) -> bool:
    """Return whether a person pinned or changed the lesson."""
    changes = services.store.find_records(Change, LogFilter(lesson=lesson.id))
    return lesson.pinned or any(change.verb not in BY_MACHINE for change in changes)
